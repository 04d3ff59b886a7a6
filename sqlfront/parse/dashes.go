package parse

import "strings"

// dashes makes the text one in which what the grammar takes for a comment is one. The grammar takes every --
// for the beginning of a comment, and // too: "UPDATE t SET a = a--1 WHERE id = 1" changed all rows. In MySQL
// -- begins a comment before white space only; elsewhere it is two minus signs, which are a plus of the same
// length, so that no place in the text moves. (A control character behind it begins a comment for MySQL's
// server and none for its client, so that who restores a dump would run what the server had not: it begins
// none here.) // is an error, which the parenthesis makes of it wherever it stands.
func dashes(s string, ansi bool) string {
	if !strings.Contains(s, "--") && !strings.Contains(s, "//") {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = skipString(s, i, c != '`' && !(c == '"' && ansi))
		case c == '#', strings.HasPrefix(s[i:], "--") && (i+2 == len(s) || isSpace(s[i+2])):
			if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(s)
			}
		case strings.HasPrefix(s[i:], "/*!"): // what is in it may be executed
			i += 3
		case strings.HasPrefix(s[i:], "*/"):
			i += 2
		case strings.HasPrefix(s[i:], "/*"):
			if k := strings.Index(s[i+2:], "*/"); k >= 0 {
				i += k + 4
			} else {
				i = len(s)
			}
		case strings.HasPrefix(s[i:], "--"), strings.HasPrefix(s[i:], "//"):
			if out == nil {
				out = []byte(s)
			}
			if copy(out[i:], " +"); c == '/' {
				copy(out[i:], "/)")
			}
			i += 2
		default:
			i++
		}
	}
	if out == nil {
		return s
	}
	return string(out)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
