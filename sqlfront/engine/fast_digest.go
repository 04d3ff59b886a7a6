package engine

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// A statement's digest is its text with each literal replaced by '?': statements that differ in their values only share a
// plan. It is taken by a scanner of our own in a few hundred nanoseconds, where the parser takes some microseconds. The
// scanner refuses whatever it is not sure about (comments, variables, introducers, hexadecimal literals, several statements in
// one text); the statement then goes the general way, so a refusal costs time and never correctness.

// literalKind is the type of a value as it was written. It decides which conversions are exact.
type literalKind uint8

const (
	literalNull    literalKind = iota
	literalInt                 // digits, with a sign when it came as a parameter
	literalDecimal             // digits and a point; a floating point parameter too, which the parser takes for the same
	literalFloat               // with an exponent
	literalString
	literalTime // a value of a temporal type, in the words of a string
)

// literal is one value. text is what is in the quotes, or the digits.
type literal struct {
	kind literalKind
	text string
	// collation is that of a text that has one of its own, which a literal has not.
	collation sql.CollationID
}

// digest is a statement without its values.
type digest struct {
	text   []byte
	values []literal
}

// maxDigestText bounds the texts that are looked at: a longer one is a bulk load, whose rows are its cost.
const maxDigestText = 4096

// scan takes the digest of text; false if it is not a statement for a plan.
func (d *digest) scan(text string, backslash, ansiQuotes bool) bool {
	d.text, d.values = d.text[:0], d.values[:0]
	if len(text) > maxDigestText {
		return false
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case isNameStart(c):
			j := i + 1
			for j < len(text) && isNamePart(text[j]) {
				j++
			}
			// x'41', b'1', n'text', _latin1'text': the name belongs to the literal.
			if j < len(text) && (text[j] == '\'' || text[j] == '"' && !ansiQuotes) {
				return false
			}
			d.text = append(d.text, text[i:j]...)
			i = j
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' && !afterName(d.text):
			n, ok := d.number(text[i:])
			if !ok {
				return false
			}
			i += n
		case c == '\'' || c == '"' && !ansiQuotes:
			n, ok := d.quoted(text[i:], backslash)
			if !ok {
				return false
			}
			i += n
			// 'a' 'b' is one literal.
			for i < len(text) && isSpace(text[i]) {
				d.text = append(d.text, text[i])
				i++
			}
			if i < len(text) && (text[i] == '\'' || text[i] == '"') {
				return false
			}
		case c == '`' || c == '"':
			j := i + 1
			for j < len(text) && text[j] != c {
				j++
			}
			if j >= len(text) {
				return false
			}
			d.text = append(d.text, text[i:j+1]...)
			i = j + 1
		case c == ';':
			for j := i + 1; j < len(text); j++ {
				if !isSpace(text[j]) && text[j] != ';' {
					return false
				}
			}
			return true
		case c == '?' || c == '@' || c == ':' || c == '#' || c == 0 || c == '\\',
			c == '/' && i+1 < len(text) && text[i+1] == '*',
			c == '-' && i+1 < len(text) && text[i+1] == '-':
			return false
		default:
			d.text = append(d.text, c)
			i++
		}
	}
	return true
}

// afterName reports whether a point that follows belongs to a qualified name (t.1a).
func afterName(text []byte) bool {
	return len(text) > 0 && (isNamePart(text[len(text)-1]) || text[len(text)-1] == '`' || text[len(text)-1] == '"')
}

// number reads digits[.digits][e[sign]digits].
func (d *digest) number(text string) (int, bool) {
	if afterName(d.text) || len(d.text) > 0 && d.text[len(d.text)-1] == '.' {
		return 0, false
	}
	kind := literalInt
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i < len(text) && text[i] == '.' {
		kind = literalDecimal
		for i++; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		kind = literalFloat
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if i >= len(text) || text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
	}
	if i < len(text) && (isNamePart(text[i]) || text[i] == '.') {
		return 0, false // 0x10, 1abc
	}
	d.add(literal{kind: kind, text: text[:i]})
	return i, true
}

// quoted reads a string literal, with the two escapes of its quote.
func (d *digest) quoted(text string, backslash bool) (int, bool) {
	quote := text[0]
	i := 1
	for i < len(text) && text[i] != quote && (text[i] != '\\' || !backslash) {
		i++
	}
	if i >= len(text) {
		return 0, false
	}
	if text[i] == quote && (i+1 >= len(text) || text[i+1] != quote) {
		d.add(literal{kind: literalString, text: text[1:i]})
		return i + 1, true
	}
	b := append(make([]byte, 0, len(text)), text[1:i]...)
	for i < len(text) {
		switch c := text[i]; {
		case c == quote:
			if i+1 < len(text) && text[i+1] == quote {
				b = append(b, quote)
				i += 2
				continue
			}
			d.add(literal{kind: literalString, text: string(b)})
			return i + 1, true
		case c == '\\' && backslash:
			if i+1 >= len(text) {
				return 0, false
			}
			e, ok := unescape(text[i+1])
			if !ok {
				return 0, false
			}
			b = append(b, e)
			i += 2
		default:
			b = append(b, c)
			i++
		}
	}
	return 0, false
}

// unescape knows the escapes whose meaning nobody disputes.
func unescape(c byte) (byte, bool) {
	switch c {
	case '0':
		return 0, true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'b':
		return '\b', true
	case 'Z':
		return 26, true
	case '\\', '\'', '"':
		return c, true
	}
	return 0, false
}

func (d *digest) add(l literal) {
	d.text = append(d.text, '?')
	d.values = append(d.values, l)
}

func isNameStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isNamePart(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// bind takes the values of a prepared statement, v1 … vn; false if one of them is of a type that has no literal here.
func (d *digest) bind(text string, vars map[string]*querypb.BindVariable) bool {
	d.text, d.values = append(d.text[:0], text...), d.values[:0]
	for i := range len(vars) {
		v, ok := vars[bindName(i)]
		if !ok || v == nil {
			return false
		}
		l := literal{text: string(v.Value)}
		switch t := v.Type; {
		case t == sqltypes.Null:
			l.kind = literalNull
		case sqltypes.IsIntegral(t):
			l.kind = literalInt
		case sqltypes.IsFloat(t) || t == sqltypes.Decimal:
			l.kind = literalDecimal
			if bytes.ContainsAny(v.Value, "eE") {
				l.kind = literalFloat
			}
		case sqltypes.IsQuoted(t):
			l.kind = literalString
		default:
			return false
		}
		d.values = append(d.values, l)
	}
	return true
}

func bindName(i int) string {
	if i < len(bindNames) {
		return bindNames[i]
	}
	return "v" + strconv.Itoa(i+1)
}

var bindNames = func() (names [64]string) {
	for i := range names {
		names[i] = "v" + strconv.Itoa(i+1)
	}
	return names
}()
