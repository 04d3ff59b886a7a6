package digest

import (
	"strings"

	"moka/sqlfront/eval"
)

const (
	// MinRowsText is from which length on an INSERT is worth being looked at for many rows.
	MinRowsText = 512
	// maxHead is how long what stands before the rows may be.
	maxHead = 4096
	// maxRowsValues bounds what is kept of one statement; a literal takes as much as twenty digits.
	maxRowsValues = 1 << 18
)

// ScanRows takes the digest of an INSERT … VALUES of rows of literals: that of the statement with one row of
// parameters, whatever the rows are how many. Width is how many values a row has. It is false for any other
// statement.
func (d *Digest) ScanRows(text string) bool {
	d.Width = 0
	head := headOf(text)
	if head == 0 || !d.Scan(text[:head], true) || len(d.Values) > 0 {
		return false
	}
	for i := head; ; {
		n := d.tuple(text[i:])
		if n == 0 {
			return false
		}
		i += n
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		switch rest := text[i:]; {
		case strings.Trim(rest, "; \t\r\n") == "":
			return true
		case rest[0] != ',':
			return false
		}
		for i++; i < len(text) && isSpace(text[i]); i++ {
		}
	}
}

// headOf is where the first row begins; 0 if the statement is no INSERT INTO t … VALUES.
func headOf(text string) int {
	if len(text) < 6 || !strings.EqualFold(text[:6], "insert") {
		return 0
	}
	for i, depth := 6, 0; i < min(len(text), maxHead); i++ {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '`':
			j := strings.IndexByte(text[i+1:], '`')
			if j < 0 {
				return 0
			}
			i += j + 1
		case depth == 0 && c|0x20 == 'v' && !isNamePart(text[i-1]) && text[i-1] != '.':
			if len(text) < i+6 || !strings.EqualFold(text[i:i+6], "values") {
				continue
			}
			if i += 6; i < len(text) && isNamePart(text[i]) {
				continue
			}
			for i < len(text) && isSpace(text[i]) {
				i++
			}
			if i < len(text) && text[i] == '(' {
				return i
			}
			return 0
		}
	}
	return 0
}

// tuple reads (literal, …) and returns its length; 0 if it is something else, or of another width than the
// rows before.
func (d *Digest) tuple(text string) int {
	if text == "" || text[0] != '(' {
		return 0
	}
	before, first, width := len(d.Text), d.Width == 0, 0
	for i := 1; ; {
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		n := d.literal(text[i:])
		if n == 0 || len(d.Values) > maxRowsValues {
			return 0
		}
		i, width = i+n, width+1
		for i < len(text) && isSpace(text[i]) {
			i++
		}
		if i == len(text) || text[i] != ',' && text[i] != ')' {
			return 0
		}
		i++
		if text[i-1] == ',' {
			continue
		}
		d.Text = d.Text[:before]
		if first {
			d.Width = width
			d.Text = append(append(d.Text, '('), strings.Repeat(",?", width)[1:]...)
			d.Text = append(d.Text, ')')
		}
		if width != d.Width {
			return 0
		}
		return i
	}
}

// literal reads a number, a text or NULL and returns its length.
func (d *Digest) literal(text string) int {
	if text == "" {
		return 0
	}
	d.Text = append(d.Text, ',') // what a number stands behind
	switch c := text[0]; {
	case c == '\'':
		n, ok := d.quoted(text)
		if !ok {
			return 0
		}
		return n
	case c == '-' && len(text) > 1 && (isDigit(text[1]) || text[1] == '.'):
		n, ok := d.number(text[1:])
		if !ok {
			return 0
		}
		d.Values[len(d.Values)-1].Text = text[:n+1]
		return n + 1
	case isDigit(c), c == '.' && len(text) > 1 && isDigit(text[1]):
		n, ok := d.number(text)
		if !ok {
			return 0
		}
		return n
	case len(text) > 4 && strings.EqualFold(text[:4], "null") && !isNamePart(text[4]):
		d.add(eval.Literal{Kind: eval.LiteralNull})
		return 4
	}
	return 0
}
