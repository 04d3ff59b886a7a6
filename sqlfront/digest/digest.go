// Package digest takes the digests of statements.
//
// A statement's digest is its text with each literal replaced by '?': statements that differ in their values
// only share a plan. It is taken by a scanner of our own in a few hundred nanoseconds, where the parser takes
// some microseconds. The scanner refuses whatever it is not sure about (comments, variables, introducers,
// hexadecimal literals, several statements in one text); the statement then goes the general way, so a
// refusal costs time and never correctness.
package digest

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"moka/sqlfront/eval"
	"moka/sqlfront/mysqlproto"
)

// Digest is a statement without its values.
type Digest struct {
	Text   []byte
	Values []eval.Literal
	// Width is how many of the values belong to one row, if there are several; see ScanRows.
	Width int
}

// Release forgets what the next statement need not have room for.
func (d *Digest) Release() {
	if cap(d.Values) > keptValues {
		d.Values = nil
	}
}

// keptValues are as many literals as a connection keeps room for.
const keptValues = 4096

// maxDigestText bounds the texts that are looked at: a longer one is a bulk load, whose rows are its cost.
const maxDigestText = 4096

// Scan takes the digest of text; false if it is not a statement for a plan.
func (d *Digest) Scan(text string, ansiQuotes bool) bool {
	d.Text, d.Values, d.Width = d.Text[:0], d.Values[:0], 0
	if len(text) > maxDigestText {
		return false
	}
	by := false    // in the list of ORDER BY or GROUP BY
	shown := false // in the select list
	query := beginsWith(text, "select")
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
			if j < len(text) && text[j] == '(' && isSized(text[i:j]) {
				j += arguments(text[j:])
			}
			by = listsPositions(text[i:j], by)
			if query {
				shown = lists(text[i:j], shown)
			}
			d.Text = append(d.Text, text[i:j]...)
			i = j
		case by && isDigit(c) && d.atElement():
			j := i + 1
			for j < len(text) && isDigit(text[j]) {
				j++
			}
			d.Text = append(d.Text, text[i:j]...)
			i = j
		case c >= '0' && c <= '9', c == '.' && i+1 < len(text) && isDigit(text[i+1]) && !afterName(d.Text):
			n, ok := d.number(text[i:])
			if !ok {
				return false
			}
			if shown && n <= maxShown {
				d.keep(text[i : i+n])
			}
			i += n
		case c == '\'' || c == '"' && !ansiQuotes:
			n, ok := d.quoted(text[i:])
			if !ok {
				return false
			}
			if shown && n <= maxShown {
				d.keep(text[i : i+n])
			}
			i += n
			// 'a' 'b' is one literal.
			for i < len(text) && isSpace(text[i]) {
				d.Text = append(d.Text, text[i])
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
			d.Text = append(d.Text, text[i:j+1]...)
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
			d.Text = append(d.Text, c)
			i++
		}
	}
	return true
}

// maxShown is up to which length a literal in a select list stays in the text. A column has its name and its
// type from it: 1 AS one is no ? AS one. Longer ones are values, of which there may be as many as statements.
const maxShown = 12

// keep puts the literal that was read last back into the text.
func (d *Digest) keep(text string) {
	d.Values = d.Values[:len(d.Values)-1]
	d.Text = append(d.Text[:len(d.Text)-1], text...)
}

// lists reports whether a select list goes on behind a word.
func lists(word string, before bool) bool {
	switch len(word) {
	case 6:
		return before || strings.EqualFold(word, "select")
	case 4:
		return before && !strings.EqualFold(word, "from")
	}
	return before
}

func beginsWith(text, word string) bool {
	return len(text) > len(word) && strings.EqualFold(text[:len(word)], word)
}

// listsPositions reports whether what follows a word may be a list of positions in the select list: ORDER BY
// 1 is not ORDER BY ?, which orders nothing. Where it is unsure the answer is yes: the number then stays in
// the text, which costs another plan.
func listsPositions(word string, before bool) bool {
	switch len(word) {
	case 2:
		return before || strings.EqualFold(word, "by")
	case 5:
		return before && !strings.EqualFold(word, "limit")
	case 6:
		return before && !strings.EqualFold(word, "having")
	}
	return before
}

// atElement reports whether an element of a list begins where the digest ends. (1) is a position as 1 is.
func (d *Digest) atElement() bool {
	t := d.Text
	for len(t) > 0 && (isSpace(t[len(t)-1]) || t[len(t)-1] == '(') {
		t = t[:len(t)-1]
	}
	n := len(t)
	return n > 0 && t[n-1] == ',' || n > 2 && strings.EqualFold(string(t[n-2:]), "by") && !isNamePart(t[n-3])
}

// isSized reports whether a name is one of a type that has arguments, as in CAST(? AS DECIMAL(12,2)): they
// are part of what the statement is.
func isSized(name string) bool {
	switch len(name) {
	case 3, 4, 5, 6, 7, 8:
		return slices.ContainsFunc(sizedTypes, func(t string) bool { return strings.EqualFold(t, name) })
	}
	return false
}

var sizedTypes = []string{
	"dec", "char", "time", "year", "float", "nchar", "fixed", "double", "binary", "decimal", "numeric",
	"varchar", "datetime",
}

// arguments is the length of (n) or (n, n) at the beginning of a text, 0 if there is neither.
func arguments(text string) int {
	if text == "" || text[0] != '(' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == ')':
			return i + 1
		case !isDigit(c) && c != ',' && c != ' ':
			return 0
		}
	}
	return 0
}

// afterName reports whether a point that follows belongs to a qualified name (t.1a).
func afterName(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	last := text[len(text)-1]
	return isNamePart(last) || last == '`' || last == '"'
}

// number reads digits[.digits][e[sign]digits].
func (d *Digest) number(text string) (int, bool) {
	if afterName(d.Text) || len(d.Text) > 0 && d.Text[len(d.Text)-1] == '.' {
		return 0, false
	}
	kind := eval.LiteralInt
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i < len(text) && text[i] == '.' {
		kind = eval.LiteralDecimal
		for i++; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		kind = eval.LiteralFloat
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
	d.add(eval.Literal{Kind: kind, Text: text[:i]})
	return i, true
}

// quoted reads a string literal, with the two escapes of its quote.
func (d *Digest) quoted(text string) (int, bool) {
	quote := text[0]
	i := 1
	for i < len(text) && text[i] != quote && text[i] != '\\' {
		i++
	}
	if i >= len(text) {
		return 0, false
	}
	if text[i] == quote && (i+1 >= len(text) || text[i+1] != quote) {
		d.add(eval.Literal{Kind: eval.LiteralString, Text: text[1:i]})
		return i + 1, true
	}
	b := append(make([]byte, 0, i+32), text[1:i]...) // what follows may be megabytes of others
	for i < len(text) {
		switch c := text[i]; {
		case c == quote:
			if i+1 < len(text) && text[i+1] == quote {
				b = append(b, quote)
				i += 2
				continue
			}
			d.add(eval.Literal{Kind: eval.LiteralString, Text: string(b)})
			return i + 1, true
		case c == '\\':
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

func (d *Digest) add(l eval.Literal) {
	d.Text = append(d.Text, '?')
	d.Values = append(d.Values, l)
}

func isNameStart(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNamePart(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Bind takes the values of a prepared statement; false if one of them is of a kind that has no literal here.
func (d *Digest) Bind(text string, params []mysqlproto.Param) bool {
	d.Text, d.Values, d.Width = append(d.Text[:0], text...), d.Values[:0], 0
	for _, p := range params {
		l := eval.Literal{Text: p.Text}
		switch p.Kind {
		case mysqlproto.KindNull:
			l.Kind = eval.LiteralNull
		case mysqlproto.KindInt:
			l.Kind = eval.LiteralInt
		case mysqlproto.KindFloat:
			l.Kind = eval.LiteralDecimal
			if strings.ContainsAny(p.Text, "eE") {
				l.Kind = eval.LiteralFloat
			}
		case mysqlproto.KindDecimal:
			l.Kind = eval.LiteralDecimal
		case mysqlproto.KindText, mysqlproto.KindBytes:
			l.Kind = eval.LiteralString
		case mysqlproto.KindDate, mysqlproto.KindDatetime:
			l.Kind = eval.LiteralTime
		default:
			return false
		}
		d.Values = append(d.Values, l)
	}
	return true
}

// Parameter is the name of the i-th parameter, from 0.
func Parameter(i int) string {
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
