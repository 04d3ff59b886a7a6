package parse

import "strings"

// afterStatement is how much is looked at of what follows the first of several statements: an error shows
// some of it.
const afterStatement = 1024

// firstStatement returns where the first statement of a text of several ends, behind its semicolon, so that
// those behind it need not be gone through for each of them. ok is unset where only the grammar knows: in the
// definition of a routine semicolons are within the statement.
func firstStatement(text string, ansi bool) (end int, ok bool) {
	l := &lexer{s: text, ansi: ansi}
	t := l.next()
	defines := l.is(t, "create") || l.is(t, "alter")
	if !defines && !l.isByte(t, '(') && !(t.kind == word && simple[strings.ToLower(l.text(t))]) {
		return 0, false
	}
	for ; !l.isByte(t, ';'); t = l.next() {
		if t.kind == eof || defines && t.kind == word && compound[strings.ToLower(l.text(t))] {
			return 0, false
		}
	}
	return t.end, true
}

// simple are the first words of statements that no semicolon is within.
var simple = words(`
	analyze call check checksum commit deallocate delete desc describe do drop execute explain flush grant
	insert kill load lock optimize prepare release rename replace revoke rollback savepoint select set show
	start table truncate unlock update use values with`)

// compound are words of definitions that semicolons may be within.
var compound = words(`procedure function trigger event observer begin`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}
