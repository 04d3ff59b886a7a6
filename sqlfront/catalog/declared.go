package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"moka/sqlfront/inband"
)

// Digits is how many digits behind the point a TIME, FLOAT or DOUBLE was declared with, which the engine's
// types do not know; ok is false where none are declared.
func (d Type) Digits() (n int, ok bool) {
	switch d.Kind {
	case "time":
		return int(d.Precision), d.Length == 1
	case "float", "double":
		return int(d.Scale), d.Precision > 0
	}
	return 0, false
}

// DigitsText is the type in MySQL's words, for types of which Digits is ok.
func (d Type) DigitsText() string {
	switch {
	case d.Kind != "time":
		text := fmt.Sprintf("%s(%d,%d)", d.Kind, d.Precision, d.Scale)
		if d.Unsigned {
			text += " unsigned"
		}
		return text
	case d.Precision > 0:
		return fmt.Sprintf("time(%d)", d.Precision)
	}
	return "time"
}

// A column's declared digits travel from the parser to the catalog in its comment: the planner
// hands that on as it is.
var digitsMark = inband.New("digits")

// MarkDigits puts digits in front of a comment.
func MarkDigits(comment string, precision, scale int) string {
	return fmt.Sprintf("%s%d,%d\x00%s", digitsMark, precision, scale, comment)
}

// TakeDigits takes them out again and gives them to the type.
func TakeDigits(comment string, d *Type) (rest string, found bool) {
	text, ok := strings.CutPrefix(comment, digitsMark)
	if !ok {
		return comment, false
	}
	text, rest, _ = strings.Cut(text, "\x00")
	p, s, _ := strings.Cut(text, ",")
	precision, _ := strconv.ParseUint(p, 10, 8)
	scale, _ := strconv.ParseUint(s, 10, 8)
	switch d.Kind {
	case "time":
		d.Precision, d.Length = uint8(precision), 1
	case "float", "double":
		d.Precision, d.Scale = uint8(precision), uint8(scale)
	}
	return rest, true
}

// descendingMark is in front of the comment of an index of which columns descend, followed by their
// places and a zero byte.
var descendingMark = inband.New("descending")

// MarkDescending puts the places of the columns that descend in front of a comment.
func MarkDescending(comment string, which []int) string {
	var b strings.Builder
	b.WriteString(descendingMark)
	for i, n := range which {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteByte(0)
	b.WriteString(comment)
	return b.String()
}

// TakeDescending takes them out again and gives them to the columns.
func TakeDescending(comment string, columns []IndexColumn) (rest string) {
	text, ok := strings.CutPrefix(comment, descendingMark)
	if !ok {
		return comment
	}
	text, rest, _ = strings.Cut(text, "\x00")
	for n := range strings.SplitSeq(text, ",") {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(columns) {
			columns[i].Descending = true
		}
	}
	return rest
}

// fullTextMark is in front of the comment of an index that was declared FULLTEXT, on its way to the catalog:
// the library would make tables for it.
var fullTextMark = inband.New("fulltext")

// MarkFullText puts the mark in front of a comment.
func MarkFullText(comment string) string { return fullTextMark + comment }

// TakeFullText takes it away again.
func TakeFullText(comment string) (rest string, found bool) {
	return strings.CutPrefix(comment, fullTextMark)
}
