package digest

import (
	"strings"
	"testing"

	"moka/sqlfront/eval"
)

func TestScanRows(t *testing.T) {
	for _, c := range []struct {
		text, digest, values string
		width                int
	}{
		{"insert into t values (1,'a'),( -2.5 , NULL ) , (3e2,'it''s; (x')", "insert into t values (?,?)",
			"1|a|-2.5|NULL|3e2|it's; (x", 2},
		{"INSERT INTO `values (` (`a`, b) VALUES\n(1, 2);",
			"INSERT INTO `values (` (`a`, b) VALUES\n(?,?)", "1|2", 2},
		{"insert into values_ values('a\\'b')", "insert into values_ values(?)", "a'b", 1},
		{"insert into t values (1),(2,3)", "", "", 0},
		{"insert into t values (1),(now())", "", "", 0},
		{"insert into t values (1),(2) on duplicate key update a = 1", "", "", 0},
		{"insert into t values (1),(2),", "", "", 0},
		{"insert into t values (1),(2); drop table t", "", "", 0},
		{"insert into t values (1), ('a' 'b')", "", "", 0},
		{"insert into t values (x'41')", "", "", 0},
		{"insert into t values (0x41)", "", "", 0},
		{"insert into t values (1 + 1)", "", "", 0},
		{"insert into t values (- 1)", "", "", 0},
		{"insert into t values (null_)", "", "", 0},
		{"insert into t values ()", "", "", 0},
		{"insert into t values (1", "", "", 0},
		{"insert into t select 'values (1)'", "", "", 0},
		{"insert into t (a) select 5 union values (1)", "", "", 0},
		{"insert /* values (1) */ into t values (1)", "", "", 0},
		{"insert into t values (\"a\")", "", "", 0},
		{"replace into t values (1)", "", "", 0},
	} {
		var d Digest
		ok := d.ScanRows(c.text)
		if ok != (c.width > 0) {
			t.Errorf("%s: %v", c.text, ok)
			continue
		}
		var values []string
		for _, v := range d.Values {
			if v.Kind == eval.LiteralNull {
				v.Text = "NULL"
			}
			values = append(values, v.Text)
		}
		if ok && (string(d.Text) != c.digest || strings.Join(values, "|") != c.values || d.Width != c.width) {
			t.Errorf("%s: %s %s %d", c.text, d.Text, strings.Join(values, "|"), d.Width)
		}
	}
}

func FuzzScanRows(f *testing.F) {
	f.Add("insert into t values (1,'a'),(null,-2)")
	f.Fuzz(func(t *testing.T, text string) {
		var d Digest
		if d.ScanRows(text) && (d.Width == 0 || len(d.Values)%d.Width != 0) {
			t.Errorf("%q: %d values in rows of %d", text, len(d.Values), d.Width)
		}
	})
}
