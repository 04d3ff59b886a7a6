package parse

// comparedExists puts parentheses around an EXISTS that something is compared with: to the grammar it is a condition, and no value.
func (r *rewriter) comparedExists() {
	if !mentionsExists(r.src) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var before token
	for t := l.next(); t.kind != eof; before, t = t, l.next() {
		if !l.is(t, "exists") || !l.isByte(before, '=') && !l.isByte(before, '<') && !l.isByte(before, '>') {
			continue
		}
		ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
		depth := 0
		for n := ahead.next(); n.kind != eof; n = ahead.next() {
			switch {
			case ahead.isByte(n, '('):
				depth++
			case ahead.isByte(n, ')'):
				depth--
			}
			if depth <= 0 {
				if ahead.isByte(n, ')') {
					r.edits.replace(t.start, t.start, "(")
					r.edits.replace(n.end, n.end, ")")
					r.moved, r.renamed = true, true
				}
				break
			}
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
