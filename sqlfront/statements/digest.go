package statements

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxDigestText is where the text of a digest ends, as MySQL's max_digest_length. What follows is not looked
// at: two statements that differ only behind it are one.
const maxDigestText = 1024

// DigestText is the statement without its values.
func DigestText(query string) string {
	var b strings.Builder
	b.Grow(min(len(query), maxDigestText))
	space := false // is owed before the next token
	put := func(s string) {
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteString(s[:min(len(s), maxDigestText+utf8.UTFMax)]) // which is cut in the end
	}
	for i := 0; i < len(query) && b.Len() < maxDigestText; {
		switch c := query[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			space = true
			i++
		case c == '#' || c == '-' && strings.HasPrefix(query[i:], "--") &&
			(i+2 >= len(query) || query[i+2] <= ' '):
			space = true
			if n := strings.IndexByte(query[i:], '\n'); n >= 0 {
				i += n + 1
			} else {
				i = len(query)
			}
		case c == '/' && strings.HasPrefix(query[i:], "/*") && !strings.HasPrefix(query[i:], "/*!") &&
			!strings.HasPrefix(query[i:], "/*+"):
			space = true
			if n := strings.Index(query[i+2:], "*/"); n >= 0 {
				i += n + 4
			} else {
				i = len(query)
			}
		case c == '\'' || c == '"':
			i = skipQuoted(query, i)
			put("?")
		case c == '`':
			j := skipQuoted(query, i)
			put(query[i:j])
			i = j
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(query) && query[i+1] >= '0' && query[i+1] <= '9' &&
			!endsName(b.String()):
			i = skipNumber(query, i)
			put("?")
		case isName(c) || c == '@':
			j := i + 1
			for j < len(query) && (isName(query[j]) || query[j] >= '0' && query[j] <= '9' ||
				query[j] == '@') {
				j++
			}
			if j < len(query) && query[j] == '\'' && c != '@' { // x'41', _latin1'a'
				i = skipQuoted(query, j)
				put("?")
				continue
			}
			put(query[i:j])
			i = j
		default:
			put(query[i : i+1])
			i++
		}
	}
	return foldLists(strings.TrimRight(cut(b.String()), " ;"))
}

func cut(s string) string {
	if len(s) <= maxDigestText {
		return s
	}
	n := maxDigestText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func isName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// endsName reports whether a point that follows belongs to a qualified name.
func endsName(s string) bool {
	return s != "" && (isName(s[len(s)-1]) || s[len(s)-1] == '`' || s[len(s)-1] >= '0' && s[len(s)-1] <= '9')
}

// skipQuoted returns the place behind the quoted text at i. Backslashes escape in strings, whatever the SQL
// mode: at worst two digests are one.
func skipQuoted(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && q != '`':
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

func skipNumber(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z', c == '.', c == '_':
			i++
		case (c == '+' || c == '-') && s[i-1]|0x20 == 'e':
			i++
		default:
			return i
		}
	}
	return i
}

// foldLists makes (?, ?, ?) into (...) and VALUES (...), (...) into VALUES (...), so that the number of
// values does not matter.
func foldLists(s string) string {
	if !strings.Contains(s, ",") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == '(' {
			if end, ok := valueList(s, i); ok {
				b.WriteString("(...)")
				i = end
				for {
					j := skipBlank(s, i)
					if j >= len(s) || s[j] != ',' {
						break
					}
					j = skipBlank(s, j+1)
					if j >= len(s) || s[j] != '(' {
						break
					}
					if end, ok = valueList(s, j); !ok {
						break
					}
					i = end
				}
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// valueList reads a list of two values or more: question marks, NULL, DEFAULT.
func valueList(s string, i int) (end int, ok bool) {
	n := 0
	for i = skipBlank(s, i+1); i < len(s); i = skipBlank(s, i+1) {
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i = skipBlank(s, i+1)
		}
		switch {
		case i >= len(s):
			return 0, false
		case s[i] == '?':
			i++
		case len(s) >= i+4 && strings.EqualFold(s[i:i+4], "null"):
			i += 4
		case len(s) >= i+7 && strings.EqualFold(s[i:i+7], "default"):
			i += 7
		default:
			return 0, false
		}
		n++
		if i = skipBlank(s, i); i >= len(s) {
			return 0, false
		}
		if s[i] == ')' {
			return i + 1, n > 1
		}
		if s[i] != ',' {
			return 0, false
		}
	}
	return 0, false
}

func skipBlank(s string, i int) int {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i
}

// hashOf names a digest.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
