package parse

import (
	"strings"

	"moka/sqlfront/expr"
)

// intervals makes of INTERVAL '1:30' MINUTE_SECOND, whose units the grammar does not know, INTERVAL
// moka_units('1:30', 'minute_second') SECOND, and of INTERVAL(n, a, b), which is a function, a call of one.
func (r *rewriter) intervals() {
	if !mentionsInterval(r.src) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	for t := l.next(); t.kind != eof; t = l.next() {
		if !l.is(t, "interval") {
			continue
		}
		ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
		start := ahead.next()
		if ahead.isByte(start, '(') {
			if p := r.pairs().of(start); p.comma.kind != eof && p.closing.kind != eof {
				r.edits.replace(t.start, t.end, expr.IntervalFunction)
				r.moved = true
				continue
			}
		}
		r.unit(&ahead, start)
	}
}

// maxUnitDistance is how many words and signs of an INTERVAL, beside what is in parentheses, are looked at
// for its unit.
const maxUnitDistance = 1000

// unit looks for the unit of an INTERVAL whose value begins with start, and writes one that the grammar
// does not know.
func (r *rewriter) unit(l *lexer, start token) {
	n := start
	for range maxUnitDistance {
		switch {
		case n.kind == eof, l.isByte(n, ';'), l.isByte(n, ')'), l.isByte(n, ','):
			return
		case l.isByte(n, '('):
			l.pos = r.pairs().of(n).closing.end
		case n.kind == word && n != start:
			unit := strings.ToLower(l.text(n))
			if smallest, ok := expr.SmallestUnit(unit); ok {
				r.edits.replace(start.start, start.start, expr.UnitsFunction+"(")
				r.edits.replace(n.start, n.end, ", '"+unit+"') "+smallest)
				r.moved = true
				return
			}
			if simpleUnits[unit] {
				return
			}
		}
		n = l.next()
	}
}

var simpleUnits = map[string]bool{
	"microsecond": true, "second": true, "minute": true, "hour": true, "day": true, "week": true,
	"month": true, "quarter": true, "year": true,
}

func mentionsInterval(s string) bool {
	for i := 0; i+8 <= len(s); i++ {
		if s[i]|0x20 == 'i' && foldPrefix(s[i:], "interval") {
			return true
		}
	}
	return false
}
