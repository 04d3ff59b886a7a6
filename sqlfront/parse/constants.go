package parse

import (
	"strings"

	"moka/sqlfront/expr"
)

// constants writes such constants as the grammar takes for others: DATE'…' and its like are plain texts
// to it, and '\%' a '%'.
func (r *rewriter) constants() {
	if !mentionsConstants(r.src) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var prev, before token
	declares := false // DEFAULT of a variable is any expression, of a column it is a text
	for t := l.next(); t.kind != eof; t = l.next() {
		declares = (declares || l.is(t, "declare")) && !l.isByte(t, ';')
		if t.kind == str {
			if function := r.temporalWord(l, prev, before, declares); function != "" {
				start, end := prev.start, t.end
				if l.isByte(before, '{') { // {d '…'}, as ODBC and JDBC write it
					if n := l.next(); l.isByte(n, '}') {
						start, end = before.start, n.end
					}
				}
				r.edits.replace(start, end, function+"("+wildcards(l.text(t))+")")
				r.moved = true
			} else if text := wildcards(l.text(t)); text != l.text(t) {
				r.edits.replace(t.start, t.end, text)
				r.moved = true
			}
		}
		before, prev = prev, t
	}
}

// temporalWord is the function that makes a date or time of the text behind word, if that is what the two
// are.
func (r *rewriter) temporalWord(l *lexer, word, before token, declares bool) string {
	odbc := l.isByte(before, '{')
	switch {
	case l.isByte(before, '.') || l.is(before, "default") && !declares:
	case l.is(before, "of") || l.is(before, "as"):
	case l.is(word, "date") || odbc && l.is(word, "d"):
		return expr.DateFunction
	case l.is(word, "time") || odbc && l.is(word, "t"):
		return expr.TimeFunction
	case l.is(word, "timestamp") || odbc && l.is(word, "ts"):
		return expr.TimestampFunction
	}
	return ""
}

// wildcards keeps the backslash before % and _, which stands for itself there.
func wildcards(text string) string {
	if !strings.Contains(text, `\%`) && !strings.Contains(text, `\_`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '%' || text[i+1] == '_' {
				b.WriteByte('\\')
			}
			b.WriteByte('\\')
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// mentionsConstants is a quick look for a statement that may have such constants.
func mentionsConstants(s string) bool {
	if strings.Contains(s, `\%`) || strings.Contains(s, `\_`) {
		return true
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' && s[i] != '"' {
			continue
		}
		j := i
		for j > 0 && s[j-1] <= ' ' {
			j--
		}
		if j > 0 {
			switch s[j-1] | 0x20 {
			case 'd', 't', 's', 'e', 'p': // {d, {t, {ts, DATE, TIME, TIMESTAMP
				return true
			}
		}
	}
	return false
}
