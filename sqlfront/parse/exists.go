package parse

import "strings"

// comparedExists puts parentheses around an EXISTS that stands beside an operator: to the grammar it is a
// condition, and no value.
func (r *rewriter) comparedExists() {
	if !mentionsExists(r.src) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var before token
	for t := l.next(); t.kind != eof; before, t = t, l.next() {
		if !l.is(t, "exists") {
			continue
		}
		ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
		open := ahead.next()
		if !ahead.isByte(open, '(') {
			continue
		}
		n := r.pairs().of(open).closing
		if n.kind == eof {
			continue
		}
		ahead.pos = n.end
		if l.isOperator(before) || l.isOperator(ahead.next()) {
			r.edits.replace(t.start, t.start, "(")
			r.edits.replace(n.end, n.end, ")")
			r.moved = true
		}
	}
}

func mentionsExists(s string) bool {
	for i := 0; i+6 <= len(s); i++ {
		if s[i]|0x20 == 'e' && foldPrefix(s[i:], "exists") {
			return true
		}
	}
	return false
}

// isOperator knows the first and last characters of those that take values.
func (l *lexer) isOperator(t token) bool {
	return t.kind == punct && strings.IndexByte("=<>!+-*/%^", l.s[t.start]) >= 0
}
