package parse

import (
	"bytes"
	"strings"
)

// serverVersion is the MySQL whose executable comments are executed: 8.0.40.
const serverVersion = 80040

// Unwrap makes code of the executable comments of a text, /*!40101 … */, and plain comments of those that
// are for younger servers or for MariaDB. It is done once with what a client sends, before anything else
// looks at it, as what runs must be what was counted, checked and recognized; a text without such comments
// comes back as it is. A comment that is not closed stays, and is the parser's error.
func Unwrap(text string, ansiQuotes bool) string {
	text, _ = unwrap(text, ansiQuotes)
	return text
}

// unwrap is Unwrap. The text stays as long as it is, so that no place in it moves: marks become spaces, and
// a comment that is not executed loses its exclamation mark. open is where an executable comment begins that
// is not closed, or is not negative only then. The rules are those of MySQL's scanner: a version has five
// digits, or six before white space, and what looks like another version is code; within an executed comment
// there may be plain ones, but its first end is the end; one that is not executed is passed to its end as if
// it had no strings, with one level of comments within.
func unwrap(s string, ansi bool) (text string, open int) {
	if strings.IndexByte(s, '!') < 0 || !strings.Contains(s, "/*!") && !strings.Contains(s, "/*M!") {
		return s, -1
	}
	var out []byte
	change := func(from, to int) {
		if out == nil {
			out = []byte(s)
		}
		for i := from; i < to; i++ {
			out[i] = ' '
		}
	}
	open = -1
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = skipString(s, i, c != '`' && !(c == '"' && ansi))
		case (c == '#' || c == '-') && lineComment(s[i:]):
			if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(s)
			}
		case open >= 0 && strings.HasPrefix(s[i:], "*/"):
			change(i, i+2)
			i, open = i+2, -1
		case !strings.HasPrefix(s[i:], "/*"):
			i++
		case strings.HasPrefix(s[i:], "/*!"):
			digits, runs := version(s[i+3:])
			if runs {
				if open < 0 {
					open = i
				}
				change(i, i+3+digits)
				i += 3 + digits
				continue
			}
			change(i+2, i+3)
			end := passNewer(s, i+3, change)
			if end < 0 {
				if open < 0 {
					open = i
				}
				end = len(s)
			}
			i = end
		default:
			end := strings.Index(s[i+2:], "*/")
			if end < 0 {
				i = len(s)
				continue
			}
			if strings.HasPrefix(s[i:], "/*M!") {
				change(i+3, i+4)
			}
			i += end + 4
		}
	}
	if out == nil {
		return s, open
	}
	if open >= 0 {
		copy(out[open:], s[open:])
	}
	if len(bytes.TrimSpace(out)) == 0 { // which is no error, as an empty statement would be
		copy(out, "/**/")
	}
	return string(out), open
}

// version reads what follows /*!: how many digits of it are a version, and whether that is run.
func version(s string) (digits int, runs bool) {
	n := 0
	for digits < len(s) && digits < 6 && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	switch {
	case digits < 5:
		return 0, true
	case digits == 6 && (len(s) == 6 || !isSpace(s[6])):
		digits = 5
	}
	for _, c := range []byte(s[:digits]) {
		n = 10*n + int(c-'0')
	}
	return digits, n <= serverVersion
}

// passNewer returns the place behind the end of a comment that is not executed, whose text begins at i,
// negative if it has none. Ends of the comments within would be its own, so they are taken away.
func passNewer(s string, i int, change func(from, to int)) (end int) {
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			k := strings.Index(s[i+2:], "*/")
			if k < 0 {
				return -1
			}
			change(i, i+2) // in /*/ is an end
			change(i+2+k, i+k+4)
			i += k + 4
		case strings.HasPrefix(s[i:], "*/"):
			return i + 2
		default:
			i++
		}
	}
	return -1
}

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
		case lineComment(s[i:]):
			if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(s)
			}
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

// lineComment reports whether a comment begins that ends with the line.
func lineComment(s string) bool {
	return s[0] == '#' || strings.HasPrefix(s, "--") && (len(s) == 2 || isSpace(s[2]))
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
