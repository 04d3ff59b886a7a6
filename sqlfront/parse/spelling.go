package parse

import (
	"strings"

	"moka/sqlfront/expr"
	"moka/sqlfront/inband"
)

// Names that stood in stored texts of columns, keys and checks before these were spelled as MySQL spells
// them.
const (
	oldIntervalFunction = "moka_interval"
	oldUnitsFunction    = "moka_units"
)

// Spelled is the text of an expression as a client may write it: expressions print the functions that the
// parser made of INTERVAL (n, a) and of INTERVAL x MINUTE_SECOND.
func Spelled(text string) string {
	if !inband.In(text) {
		return text
	}
	return spelled(text, expr.IntervalFunction, expr.UnitsFunction, func(s string, _ int) string { return s })
}

// spelled writes INTERVAL for the functions of these names. fill makes a text as long as what it replaces,
// where places are to stay.
func spelled(text, interval, units string, fill func(s string, n int) string) string {
	l := &lexer{s: text}
	var e edits
	parens := pairsOf(text, false)
	for t := l.next(); t.kind != eof; t = l.next() {
		after := *l
		open := after.next()
		if t.kind != word || !after.isByte(open, '(') {
			continue
		}
		switch {
		case l.is(t, interval):
			e.replace(t.start, t.end, fill("INTERVAL", t.end-t.start))
		case l.is(t, units):
			call := parens.of(open)
			after.pos = call.closing.end
			small := after.next()
			comma, unit := lastArgument(text, call)
			if unit != "" && small.kind == word {
				e.replace(t.start, open.end, fill("", open.end-t.start))
				e.replace(comma, small.end, fill(" "+strings.ToUpper(unit), small.end-comma))
			}
		}
	}
	return e.apply(text)
}

// lastArgument is the text of the last argument of a call, a string, and where the comma before it is.
func lastArgument(text string, call pair) (comma int, argument string) {
	l := &lexer{s: text, pos: call.comma.end}
	last := l.next()
	if call.comma.kind == eof || last.kind != str || l.next() != call.closing {
		return 0, ""
	}
	return call.comma.start, strings.Trim(l.text(last), `'"`)
}

func padded(s string, n int) string { return s + strings.Repeat(" ", max(0, n-len(s))) }

// mentionsOldNames is a quick look for texts that an older release has stored.
func mentionsOldNames(s string) bool {
	for i := 0; i+len(oldUnitsFunction) <= len(s); i++ {
		if (s[i]|0x20) == 'm' && (foldPrefix(s[i:], oldIntervalFunction) ||
			foldPrefix(s[i:], oldUnitsFunction)) {
			return true
		}
	}
	return false
}
