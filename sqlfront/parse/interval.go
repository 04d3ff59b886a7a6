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
		depth, comma := 0, false
		for n := start; n.kind != eof && !ahead.isByte(n, ';'); n = ahead.next() {
			switch {
			case ahead.isByte(n, '('):
				depth++
			case ahead.isByte(n, ')'):
				depth--
			case ahead.isByte(n, ','):
				comma = comma || depth == 1 && ahead.isByte(start, '(')
			}
			if depth < 0 || depth == 0 && ahead.isByte(n, ',') {
				break
			}
			if depth == 0 && ahead.isByte(n, ')') && comma {
				r.edits.replace(t.start, t.end, expr.IntervalFunction)
				r.moved = true
				break
			}
			if depth == 0 && n.kind == word && n != start {
				unit := strings.ToLower(ahead.text(n))
				if smallest, ok := expr.SmallestUnit(unit); ok {
					r.edits.replace(start.start, start.start, expr.UnitsFunction+"(")
					r.edits.replace(n.start, n.end, ", '"+unit+"') "+smallest)
					r.moved = true
					break
				}
				if simpleUnits[unit] {
					break
				}
			}
		}
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
