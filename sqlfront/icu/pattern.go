// Package icu writes the patterns of ICU, which MySQL's regular expressions are, as those of the machine
// here. Where ICU means the letters and digits of all scripts, the machine's \w, \d, \s and [:alpha:] mean
// those of ASCII.
package icu

import "strings"

const (
	word  = `\p{L}\p{M}\p{Nd}\p{Pc}`
	space = `\t\n\v\f\r\p{Z}`
)

// classes are the POSIX classes that are more than ASCII, in brackets.
var classes = map[string]string{
	"alpha": `\p{L}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{Nd}`,
	"punct": `\p{P}`, "space": space, "word": word,
	"^alpha": `\P{L}`, "^upper": `\P{Lu}`, "^lower": `\P{Ll}`, "^digit": `\P{Nd}`, "^punct": `\P{P}`,
}

// Pattern is the machine's pattern for one of ICU. What is wrong stays wrong.
func Pattern(p string) string {
	if !strings.ContainsAny(p, `\[`) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); {
		switch {
		case strings.HasPrefix(p[i:], `\Q`):
			end := strings.Index(p[i:], `\E`)
			if end < 0 {
				end = len(p) - i - 2
			}
			b.WriteString(p[i : i+end+2])
			i += end + 2
		case p[i] == '\\' && i+1 < len(p):
			b.WriteString(escaped(p[i:i+2], false))
			i += 2
		case p[i] == '[':
			i += bracket(&b, p[i:])
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return b.String()
}

// escaped is a letter behind a backslash.
func escaped(e string, inside bool) string {
	open, shut := "[", "]"
	if inside {
		open, shut = "", ""
	}
	switch e[1] {
	case 'd':
		return `\p{Nd}`
	case 'D':
		return `\P{Nd}`
	case 'w':
		return open + word + shut
	case 's':
		return open + space + shut
	case 'W', 'S':
		if !inside { // which the machine could not say within another class
			return "[^" + map[byte]string{'W': word, 'S': space}[e[1]] + "]"
		}
	}
	return e
}

// bracket writes the class that p begins with, and returns its length.
func bracket(b *strings.Builder, p string) int {
	i := 1
	for _, c := range "^]" { // a ] that stands first is one of the characters
		if i < len(p) && rune(p[i]) == c {
			i++
		}
	}
	b.WriteString(p[:i])
	for i < len(p) {
		switch {
		case p[i] == ']':
			b.WriteByte(']')
			return i + 1
		case p[i] == '\\' && i+1 < len(p):
			b.WriteString(escaped(p[i:i+2], true))
			i += 2
		case strings.HasPrefix(p[i:], "[:"):
			name, _, named := strings.Cut(p[i+2:], ":]")
			if unicode, ok := classes[name]; ok && named {
				b.WriteString(unicode)
			} else if named && strings.Trim(name, "^abcdefghijklmnopqrstuvwxyz") == "" {
				b.WriteString("[:" + name + ":]")
			} else {
				b.WriteByte('[')
				i++
				break
			}
			i += len("[::]") + len(name)
		default:
			b.WriteByte(p[i])
			i++
		}
	}
	return i
}
