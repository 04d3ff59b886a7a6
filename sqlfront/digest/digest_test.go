package digest

import (
	"strconv"
	"strings"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/eval"
)

// TestDigest pins what the scanner takes for a value, and what it does not touch at all.
func TestDigest(t *testing.T) {
	for _, c := range []struct{ text, want, values string }{
		{"select c from t where id=5", "select c from t where id=?", "5"},
		{"select t1.c2 from t1 where a = -7 and b > 1.5e3",
			"select t1.c2 from t1 where a = -? and b > ?", "7|1.5e3"},
		{`insert into t values ('it''s', "a\nb", '')`, "insert into t values (?, ?, ?)", "it's|a\nb|"},
		{"select `a 1` from `t'` where x=.5 ;", "select `a 1` from `t'` where x=? ", ".5"},
		{"select a, b from t where a = 1 group by 1, 2 having b > 3 Order By 2 desc, 1 limit 4, 5",
			"select a, b from t where a = ? group by 1, 2 having b > ? Order By 2 desc, 1 limit ?, ?",
			"1|3|4|5"},
		{"select a from t order by a + 1, 'x', 2", "select a from t order by a + ?, ?, 2", "1|x"},
		{"select a, b from t order by (2), ( (1) ) desc, abs(3)",
			"select a, b from t order by (2), ( (1) ) desc, abs(?)", "3"},
		{"select goodby 1", "select goodby 1", ""},
		{"select 1 as one, 'a''b', 'longer than that' from t where a = 1 and b in " +
			"(select 2 from u where c = 3)",
			"select 1 as one, 'a''b', ? from t where a = ? and b in (select 2 from u where c = ?)",
			"longer than that|1|3"},
		{"Select if(count(*) > 10, 1.5, -1) From t limit 5",
			"Select if(count(*) > 10, 1.5, -1) From t limit ?", "5"},
		{"insert into t select 1, 'a' from u", "insert into t select ?, ? from u", "1|a"},
		{"select 'a' 'b'", "", ""},
		{"select x'41'", "", ""},
		{"select _latin1'a'", "", ""},
		{"select 0x41", "", ""},
		{"select 1; select 2", "", ""},
		{"select @a", "", ""},
		{"select /*+ hint */ 1", "", ""},
		{"select 1 -- end", "", ""},
		{"select '", "", ""},
		{`select 'a\%'`, "", ""},
		{"select ?", "", ""},
	} {
		var d Digest
		if !d.Scan(c.text, false) {
			if c.want != "" {
				t.Errorf("%s: refused", c.text)
			}
			continue
		}
		var values []string
		for _, v := range d.Values {
			values = append(values, v.Text)
		}
		if string(d.Text) != c.want || strings.Join(values, "|") != c.values {
			t.Errorf("%s: %s with %q", c.text, d.Text, values)
		}
	}
}

// FuzzDigest: a text and its digest with the values put back are the same statement to the parser.
func FuzzDigest(f *testing.F) {
	for _, s := range []string{
		"select c from t where id = 5", "insert into t (a, b) values (1, 'x''y'), (-2, \"q\\\"r\")",
		"update t set a = a + 1.50 where b in (1, 2e5)",
		"delete from t where a between 'a\\\\' and 'b'",
		"select t.1a from t", "select .5, 1.e3, 5.", "select a'b'",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d Digest
		if !d.Scan(text, false) {
			return
		}
		want, err := ast.Parse(text)
		if err != nil {
			return // the digest may be a statement; the plan is not used before the text has run
		}
		got, err := ast.Parse(string(d.Text))
		if err != nil {
			return
		}
		// The parser folds a sign into a literal, the compiler of plans takes minus and refuses plus.
		if !plain(want) || strings.Contains(string(d.Text), "+") {
			return
		}
		_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
			v, ok := n.(*ast.SQLVal)
			if !ok || v.Type != ast.ValArg {
				return true, nil
			}
			i, err := strconv.Atoi(strings.TrimPrefix(string(v.Val), ":v"))
			if err != nil || i < 1 || i > len(d.Values) {
				t.Fatalf("%q: parameter %s of %d values", text, v.Val, len(d.Values))
			}
			l := d.Values[i-1]
			v.Val = []byte(l.Text)
			switch l.Kind {
			case eval.LiteralInt:
				v.Type = ast.IntVal
			case eval.LiteralString:
				v.Type = ast.StrVal
			default:
				v.Type = ast.FloatVal
			}
			return true, nil
		}, got)
		if a, b := ast.String(want), ast.String(got); a != b {
			t.Fatalf("%q\nis     %s\ndigest %s", text, a, b)
		}
	})
}

// plain reports whether the statement is of the kinds that the compiler looks at, without expressions whose
// text the parser keeps.
func plain(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.Insert, *ast.Update, *ast.Delete:
		return true
	case *ast.Select:
		for _, e := range s.SelectExprs {
			if a, ok := e.(*ast.AliasedExpr); ok {
				if _, ok := a.Expr.(*ast.ColName); !ok {
					return false
				}
			}
		}
		return true
	}
	return false
}
