package parse

import "strings"

type kind uint8

const (
	eof    kind = iota
	word        // identifier or keyword
	quoted      // `identifier`, and "identifier" under ANSI_QUOTES
	str         // 'string'
	num
	variable // @x, @@x
	param    // ?, :v1
	punct    // one byte of anything else
)

// token is a piece of the statement by its place; the text stays in the statement.
type token struct {
	kind       kind
	start, end int
}

// lexer walks over a statement the way MySQL does, only coarser: it must never mistake the inside of a
// string or a comment for code, and needs to know nothing else. The marks of executable comments are gone
// (unwrap).
type lexer struct {
	s    string
	pos  int
	ansi bool // double quotes quote identifiers
}

// next returns the next token; at the end of the text it returns eof tokens for ever.
func (l *lexer) next() token {
	l.skipBlank()
	if l.pos >= len(l.s) {
		return token{eof, len(l.s), len(l.s)}
	}
	start, c := l.pos, l.s[l.pos]
	switch {
	case c == '\'' || c == '"' && !l.ansi:
		l.pos = skipString(l.s, start, true)
		return token{str, start, l.pos}
	case c == '`' || c == '"':
		l.pos = skipString(l.s, start, false)
		return token{quoted, start, l.pos}
	case c >= '0' && c <= '9':
		l.word()
		return token{num, start, l.pos}
	case isWord(c):
		l.word()
		return token{word, start, l.pos}
	case c == '@':
		l.pos++
		for l.pos < len(l.s) && (l.s[l.pos] == '@' || l.s[l.pos] == '.' || isWord(l.s[l.pos])) {
			l.pos++
		}
		if l.pos < len(l.s) && (l.s[l.pos] == '`' || l.s[l.pos] == '\'' || l.s[l.pos] == '"') {
			l.pos = skipString(l.s, l.pos, l.s[l.pos] != '`')
		}
		return token{variable, start, l.pos}
	case c == '?':
		l.pos++
		return token{param, start, l.pos}
	case c == ':' && start+1 < len(l.s) && isWord(l.s[start+1]):
		l.pos++
		l.word()
		return token{param, start, l.pos}
	}
	l.pos++
	return token{punct, start, l.pos}
}

func (l *lexer) word() {
	for l.pos < len(l.s) && isWord(l.s[l.pos]) {
		l.pos++
	}
}

// skipBlank passes white space and comments.
func (l *lexer) skipBlank() {
	for l.pos < len(l.s) {
		rest := l.s[l.pos:]
		switch c := rest[0]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			l.pos++
		case lineComment(rest):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				l.pos += i + 1
			} else {
				l.pos = len(l.s)
			}
		case strings.HasPrefix(rest, "/*"):
			if i := strings.Index(rest[2:], "*/"); i >= 0 {
				l.pos += i + 4
			} else {
				l.pos = len(l.s)
			}
		default:
			return
		}
	}
}

// skipString returns the place behind the quoted text that starts at i. A doubled quote stands for itself.
func skipString(s string, i int, backslash bool) int {
	q := s[i]
	for i++; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] == q:
			if i+1 < len(s) && s[i+1] == q {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// is reports whether the token is the keyword w (given in lower case).
func (l *lexer) is(t token, w string) bool { return t.kind == word && fold(l.s[t.start:t.end], w) }

// isByte reports whether the token is the punctuation c.
func (l *lexer) isByte(t token, c byte) bool { return t.kind == punct && l.s[t.start] == c }

// text is the token's text as written.
func (l *lexer) text(t token) string { return l.s[t.start:t.end] }

// name is the identifier that the token stands for.
func (l *lexer) name(t token) string {
	s := l.text(t)
	if t.kind == quoted && len(s) >= 2 {
		q := s[:1]
		return strings.ReplaceAll(strings.TrimSuffix(s[1:], q), q+q, q)
	}
	return s
}

// fold compares an ASCII keyword in lower case with text in any case.
func fold(s, lower string) bool {
	return len(s) == len(lower) && foldPrefix(s, lower)
}

func foldPrefix(s, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := 0; i < len(lower); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Token is a piece of a text by its place: a word that is not quoted, one byte of punctuation, or another.
type Token struct {
	Start, End  int
	Word, Punct bool
}

// Tokens are the pieces of a text whose executable comments are code (Unwrap).
func Tokens(text string, ansiQuotes bool) (all []Token) {
	l := &lexer{s: text, ansi: ansiQuotes}
	for t := l.next(); t.kind != eof; t = l.next() {
		all = append(all, Token{t.start, t.end, t.kind == word, t.kind == punct})
	}
	return all
}
