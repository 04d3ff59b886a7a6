package shell

import (
	"bufio"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Formats of results.
const (
	Table    = "table"
	Vertical = "vertical"
	JSON     = "json"
	CSV      = "csv"
	TSV      = "tsv"
)

// Formats are all of them.
var Formats = []string{Table, Vertical, JSON, CSV, TSV}

// column of a result.
type column struct {
	name   string
	number bool
	binary bool
}

// cell is a value as the server sent it: nil for NULL.
type cell = []byte

// printer writes one result. Rows are valid until the next one.
type printer interface {
	row(cells []cell) error
	end() error
}

func newPrinter(format string, w *bufio.Writer, cols []column) printer {
	switch format {
	case Vertical:
		return &vertical{w: w, cols: cols}
	case JSON:
		return &jsonRows{w: w, cols: cols}
	case CSV:
		c := csv.NewWriter(w)
		p := &csvRows{c, cols}
		p.write(func(i int) string { return cols[i].name })
		return p
	case TSV:
		p := &tsvRows{w, cols}
		p.write(func(i int) string { return tabEscapes.Replace(cols[i].name) })
		return p
	}
	return &table{w: w, cols: cols}
}

// text is a value for people: bytes that are no text are in hexadecimals.
func (c column) text(v cell) string {
	switch {
	case v == nil:
		return "NULL"
	case !utf8.Valid(v) || c.binary && !printable(v):
		return "0x" + strings.ToUpper(hex.EncodeToString(v))
	}
	return string(v)
}

func printable(v cell) bool {
	for _, r := range string(v) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// columnsOf is how wide a text is on a terminal.
func columnsOf(s string) (n int) {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
	}
	return n
}

// measured is how many rows of a table are kept to find the widths of its columns; later rows make wider
// cells if they have to.
const measured = 1000

type table struct {
	w      *bufio.Writer
	cols   []column
	kept   [][]string
	widths []int
	begun  bool
}

func (t *table) row(cells []cell) error {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = t.cols[i].text(c)
	}
	if t.begun {
		return t.print(texts, true)
	}
	if t.kept = append(t.kept, texts); len(t.kept) >= measured {
		return t.begin()
	}
	return nil
}

func (t *table) begin() error {
	t.begun, t.widths = true, make([]int, len(t.cols))
	names := make([]string, len(t.cols))
	for i, c := range t.cols {
		names[i] = c.name
		t.widths[i] = columnsOf(c.name)
		for _, r := range t.kept {
			for line := range strings.Lines(r[i]) {
				t.widths[i] = max(t.widths[i], columnsOf(strings.TrimRight(line, "\n")))
			}
		}
	}
	t.rule()
	if err := t.print(names, false); err != nil {
		return err
	}
	t.rule()
	for _, r := range t.kept {
		if err := t.print(r, true); err != nil {
			return err
		}
	}
	t.kept = nil
	return nil
}

func (t *table) rule() {
	for _, n := range t.widths {
		t.w.WriteString("+" + strings.Repeat("-", n+2))
	}
	t.w.WriteString("+\n")
}

func (t *table) print(texts []string, values bool) error {
	for i, s := range texts {
		pad := strings.Repeat(" ", max(0, t.widths[i]-columnsOf(s)))
		if strings.Contains(s, "\n") {
			pad = ""
		}
		if values && t.cols[i].number {
			t.w.WriteString("| " + pad + s + " ")
		} else {
			t.w.WriteString("| " + s + pad + " ")
		}
	}
	_, err := t.w.WriteString("|\n")
	return err
}

func (t *table) end() error {
	if !t.begun && len(t.kept) > 0 {
		if err := t.begin(); err != nil {
			return err
		}
	}
	if t.begun {
		t.rule()
	}
	return nil
}

type vertical struct {
	w    *bufio.Writer
	cols []column
	rows int
}

func (v *vertical) row(cells []cell) error {
	v.rows++
	stars := strings.Repeat("*", 27)
	fmt.Fprintf(v.w, "%s %d. row %s\n", stars, v.rows, stars)
	most := 0
	for _, c := range v.cols {
		most = max(most, columnsOf(c.name))
	}
	for i, c := range v.cols {
		v.w.WriteString(strings.Repeat(" ", most-columnsOf(c.name)) + c.name + ": " + c.text(cells[i]) + "\n")
	}
	return nil
}

func (v *vertical) end() error { return nil }

// jsonRows are an array of objects. Numbers are numbers; everything else is a string, NULL is null.
type jsonRows struct {
	w    *bufio.Writer
	cols []column
	rows int
}

func (j *jsonRows) row(cells []cell) error {
	sep := "[\n"
	if j.rows > 0 {
		sep = ",\n"
	}
	j.w.WriteString(sep)
	j.rows++
	for i, c := range j.cols {
		sep := ", "
		if i == 0 {
			sep = "{"
		}
		j.w.WriteString(sep)
		j.w.Write(quoted(c.name))
		j.w.WriteString(": ")
		switch v := cells[i]; {
		case v == nil:
			j.w.WriteString("null")
		case c.number && json.Valid(v):
			j.w.Write(v)
		default:
			j.w.Write(quoted(c.text(v)))
		}
	}
	_, err := j.w.WriteString("}")
	return err
}

func (j *jsonRows) end() error {
	text := "\n]\n"
	if j.rows == 0 {
		text = "[]\n"
	}
	_, err := j.w.WriteString(text)
	return err
}

func quoted(s string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

// csvRows has a line of names first; NULL is empty.
type csvRows struct {
	w    *csv.Writer
	cols []column
}

func (c *csvRows) write(text func(i int) string) error {
	line := make([]string, len(c.cols))
	for i := range line {
		line[i] = text(i)
	}
	return c.w.Write(line)
}

func (c *csvRows) row(cells []cell) error {
	return c.write(func(i int) string {
		if cells[i] == nil {
			return ""
		}
		return c.cols[i].text(cells[i])
	})
}

func (c *csvRows) end() error {
	c.w.Flush()
	return c.w.Error()
}

// tsvRows are as the mysql client prints them into a file.
type tsvRows struct {
	w    *bufio.Writer
	cols []column
}

var tabEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)

func (t *tsvRows) write(text func(i int) string) error {
	for i := range t.cols {
		if i > 0 {
			t.w.WriteByte('\t')
		}
		t.w.WriteString(text(i))
	}
	return t.w.WriteByte('\n')
}

func (t *tsvRows) row(cells []cell) error {
	return t.write(func(i int) string { return tabEscapes.Replace(t.cols[i].text(cells[i])) })
}

func (t *tsvRows) end() error { return nil }
