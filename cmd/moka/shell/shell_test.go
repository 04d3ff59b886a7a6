package shell

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func split(text string) (all []Statement) {
	var s Splitter
	for line := range strings.Lines(text) {
		all = append(all, s.Line(strings.TrimSuffix(line, "\n"))...)
	}
	return append(all, s.Rest()...)
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][]Statement{
		"select 1; select 2\n;\n":                     {{"select 1", 1, false}, {"select 2", 1, false}},
		"-- none;\n# nor; this\n\n/* or; \n this; */": nil,
		"select 'a;''b\\';' /* ; */;\nselect `;`": {{"select 'a;''b\\';' /* ; */", 1, false},
			{"select `;`", 2, false}},
		"select 1\\G\nselect 2\\g":   {{"select 1", 1, true}, {"select 2", 2, false}},
		"select 1 -- one; two\n, 2;": {{"select 1 -- one; two\n, 2", 1, false}},
		"select 1--1;select 2":       {{"select 1--1", 1, false}, {"select 2", 1, false}},
		"delimiter $$\nbegin; end$$\nDELIMITER ;\ndo 1;": {
			{"begin; end", 2, false}, {"do 1", 4, false}},
		"/*!40101 SET x = 1 */;\n/* c */ do 1;;": {{"/*!40101 SET x = 1 */", 1, false},
			{"/* c */ do 1", 2, false}},
		"insert into t values ('a\nb');do 2": {{"insert into t values ('a\nb')", 1, false},
			{"do 2", 2, false}},
	} {
		if got := split(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%+v, want\n%+v", text, got, want)
		}
	}
}

func TestOutput(t *testing.T) {
	cols := []column{{name: "n", number: true}, {name: "text"}, {name: "b", binary: true}}
	rows := [][]cell{{[]byte("1"), []byte("日\t'\"<"), []byte{0, 255}}, {[]byte("20"), nil, []byte("x")}}
	for format, want := range map[string]string{
		Table: "+----+---------+--------+\n| n  | text    | b      |\n+----+---------+--------+\n" +
			"|  1 | 日\t'\"<  | 0x00FF |\n| 20 | NULL    | x      |\n+----+---------+--------+\n",
		Vertical: "*************************** 1. row ***************************\n" +
			"   n: 1\ntext: 日\t'\"<\n   b: 0x00FF\n" +
			"*************************** 2. row ***************************\n   n: 20\ntext: NULL\n   b: x\n",
		JSON: `[` + "\n" + `{"n": 1, "text": "日\t'\"<", "b": "0x00FF"},` + "\n" +
			`{"n": 20, "text": null, "b": "x"}` + "\n]\n",
		CSV: "n,text,b\n1,\"日\t'\"\"<\",0x00FF\n20,,x\n",
		TSV: "n\ttext\tb\n1\t日\\t'\"<\t0x00FF\n20\tNULL\tx\n",
	} {
		var b strings.Builder
		w := bufio.NewWriter(&b)
		p := newPrinter(format, w, cols)
		for _, r := range rows {
			if err := p.row(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.end(); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		got, want := b.String(), want
		if format == Table { // a tab is as wide as the terminal makes it
			got, want = strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(want, " ", "")
			got, want = strings.ReplaceAll(got, "-", ""), strings.ReplaceAll(want, "-", "")
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
		}
	}
}

// A table of many rows is not kept whole.
func TestTableIsBounded(t *testing.T) {
	p := &table{w: bufio.NewWriter(io.Discard), cols: []column{{name: "a"}}}
	for i := range 10 * measured {
		if err := p.row([]cell{fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
		if len(p.kept) > measured {
			t.Fatalf("%d rows kept", len(p.kept))
		}
	}
}

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := loadHistory(file)
	h.remember("select 1,\n   2;")
	h.remember("create user x identified by 'secret';")
	h.remember("select 'a  b'\n;")
	if err := h.save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	h = loadHistory(file)
	if want := []string{"select 1, 2;", "select 'a  b'", ";"}; !reflect.DeepEqual(h.lines, want) {
		t.Errorf("%q, want %q", h.lines, want)
	}
	for i := range 3 * historyLines {
		h.remember(fmt.Sprint("select ", i))
	}
	if h.Len() != historyLines || h.At(0) != fmt.Sprint("select ", 3*historyLines-1) {
		t.Errorf("%d lines, the last %q", h.Len(), h.At(0))
	}
}

// typed are the lines of a person.
type typed struct {
	lines   []string
	prompts []string
}

func (p *typed) SetPrompt(s string) { p.prompts = append(p.prompts, s) }

func (p *typed) ReadLine() (string, error) {
	if len(p.lines) == 0 {
		return "", io.EOF
	}
	l := p.lines[0]
	p.lines = p.lines[1:]
	if l == "^C" {
		return "", io.EOF
	}
	return l, nil
}

// What needs no server: prompts, leaving, and forgetting what was begun.
func TestConverse(t *testing.T) {
	for _, c := range []struct {
		lines   []string
		prompts string
	}{
		{[]string{"quit"}, "moka> "},
		{[]string{"exit;", "never"}, "moka> "},
		{[]string{"select 'a", "b", "^C", "select 1", `\c`, "/* c", "*/ do", "quit"},
			"moka> |    '> |    '> |moka> |   -> |moka> |   /*> |   -> |   -> |moka> "},
	} {
		in, s := &typed{lines: c.lines}, &Shell{}
		var out strings.Builder
		s.converse(t.Context(), in, &out, &history{})
		if got := strings.Join(in.prompts, "|"); got != c.prompts {
			t.Errorf("%q: prompts\n%q, want\n%q", c.lines, got, c.prompts)
		}
		if !strings.HasSuffix(out.String(), "Bye\n") {
			t.Errorf("%q: %q", c.lines, out.String())
		}
	}
}
