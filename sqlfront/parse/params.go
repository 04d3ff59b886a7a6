package parse

import "strings"

// Params counts the parameters (question marks) of a text. ansi says that double quotes quote identifiers.
func Params(s string, ansi bool) (n int) {
	l := lexer{s: s, ansi: ansi}
	for t := l.next(); t.kind != eof; t = l.next() {
		if t.kind == param && s[t.start] == '?' {
			n++
		}
	}
	return n
}

// Second finds where a second statement begins in a text that may have only one. In the definition of a
// routine, whose body has semicolons of its own, it looks for none.
func Second(s string, ansi bool) (at int, found bool) {
	l := lexer{s: s, ansi: ansi}
	first := l.next()
	if l.is(first, "create") || l.is(first, "alter") {
		return 0, false
	}
	ended := false
	for t := first; t.kind != eof; t = l.next() {
		if l.isByte(t, ';') {
			ended = true
		} else if ended {
			return t.start, true
		}
	}
	return 0, false
}

// Aliased finds the table that a statement calls by another name: FROM [db.]table [AS] alias.
func Aliased(s, alias string) (table string, ok bool) {
	l := lexer{s: s}
	var seen [3]token // before t, the last first
	for t := l.next(); t.kind != eof; seen[2], seen[1], seen[0], t = seen[1], seen[0], t, l.next() {
		if t.kind != word && t.kind != quoted || !strings.EqualFold(l.name(t), alias) {
			continue
		}
		name, lead := seen[0], seen[1]
		if l.is(name, "as") {
			name, lead = seen[1], seen[2]
		}
		if name.kind != word && name.kind != quoted || l.is(name, "from") {
			continue
		}
		if l.is(lead, "from") || l.is(lead, "join") || l.is(lead, "straight_join") || l.is(lead, "update") ||
			lead.kind == punct && strings.IndexByte(",.(", l.s[lead.start]) >= 0 {
			return l.name(name), true
		}
	}
	return "", false
}

// Spelling finds a name as the statement spells it: the last identifier that differs from it at most in case.
// It is not found in a statement that has no capital letters.
func Spelling(s, name string) (string, bool) {
	if strings.IndexFunc(s, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return "", false
	}
	l, found := lexer{s: s}, ""
	for t := l.next(); t.kind != eof; t = l.next() {
		if t.kind == word || t.kind == quoted {
			if n := l.name(t); strings.EqualFold(n, name) {
				if n == name {
					return n, true // spelled so somewhere: it may be the table itself
				}
				found = n
			}
		}
	}
	return found, found != ""
}
