package textfile

import (
	"slices"
	"strings"
	"testing"
)

func TestRecords(t *testing.T) {
	tabs := Format{Fields: "\t", Lines: "\n", Escaped: '\\', HasEscaped: true}
	commas := Format{Fields: ",", Lines: "\r\n", Enclosed: '"', HasEnclosed: true, Escaped: '\\',
		HasEscaped: true}
	starting := Format{Fields: ",", Lines: "\n", Starting: ">>"}
	for _, tt := range []struct {
		format Format
		text   string
		want   []string // fields in brackets, NULL for none
	}{
		{tabs, "1\ta\n2\t\\N\n", []string{"[1][a]", "[2]NULL"}},
		{tabs, "1\ta\\\tb\n2\tc\\\nd", []string{"[1][a\tb]", "[2][c\nd]"}},
		{tabs, "NULL\t\n", []string{"[NULL][]"}}, // nothing encloses: it is a word
		{commas, "\"a,b\",\"c\"\"d\"\r\nNULL,\"NULL\"\r\n", []string{`[a,b][c"d]`, "NULL[NULL]"}},
		{commas, "\"a\r\nb\",1\r\n", []string{"[a\r\nb][1]"}},
		{starting, "x>>1,2\nno\n>>3,4\n", []string{"[1][2]", "[3][4]"}},
		{tabs, "", nil},
	} {
		var records Records
		r := NewReader(strings.NewReader(tt.text), tt.format)
		for {
			more, err := r.Next(&records)
			if err != nil {
				t.Fatalf("%q: %v", tt.text, err)
			}
			if !more {
				break
			}
		}
		var got []string
		for i := range records.Ends {
			var line strings.Builder
			for _, f := range records.Record(i) {
				if f.Null {
					line.WriteString("NULL")
				} else {
					line.WriteString("[" + records.TextOf(f) + "]")
				}
			}
			got = append(got, line.String())
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}
