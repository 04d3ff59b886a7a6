package parse

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Strings that follow each other are one, and the grammar's scanner calls itself for each: twelve megabytes
// of them ended the process, for anybody who could log in. Now they are one before it sees them.
func TestAdjacentStringsInRow(t *testing.T) {
	const n = 3_000_000
	for name, c := range map[string]struct{ text, want string }{
		"single":  {"select 'a'" + strings.Repeat(" 'a'", n), strings.Repeat("a", n+1)},
		"lines":   {"select 'a'" + strings.Repeat("\n'a'", 100_000), strings.Repeat("a", 100_001)},
		"empty":   {"select 'it''s'" + strings.Repeat(` ''`, 100_000), "it's"},
		"escapes": {"select ''" + strings.Repeat(` '\'"'`, 100_000), strings.Repeat(`'"`, 100_000)},
		"prefixed": {"select _utf8mb4'a'" + strings.Repeat(" 'b'", 100_000),
			"a" + strings.Repeat("b", 100_000)},
	} {
		stmt, _, err := New(Hooks{}).ParseOneWithOptions(ctx, c.text, ast.ParserOptions{})
		if err != nil {
			t.Errorf("%s: %.200v", name, err)
			continue
		}
		if got := onlyString(stmt); got != c.want {
			t.Errorf("%s: %d bytes, want %d: %.60q", name, len(got), len(c.want), got)
		}
	}
	for name, text := range map[string]string{
		"alternating":  "select 'a'" + strings.Repeat(` "a" 'a'`, 100_000),
		"no space":     "select 'a'" + strings.Repeat(`"a"'a'`, 100_000),
		"unterminated": "select 'a'" + strings.Repeat(` 'a'`, 100_000) + " 'a",
		"half escaped": "select 'a'" + strings.Repeat(` 'a'`, 100_000) + ` 'a\'`,
	} {
		_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, text, ast.ParserOptions{})
		if e, ok := err.(*mysql.SQLError); !ok || e.Num != 1436 && e.Num != 1064 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	// the library alone, of texts that were cut out of what a client wrote
	if _, err := Grammar(ctx, "select 'a'"+strings.Repeat(" 'a'", 100_000), ast.ParserOptions{}); err != nil {
		t.Errorf("%.200v", err)
	}
}

func onlyString(stmt ast.Statement) (text string) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if v, ok := n.(*ast.SQLVal); ok && v.Type == ast.StrVal {
			text += string(v.Val)
		}
		return true, nil
	}, stmt)
	return text
}

// Texts whose parentheses were looked for from each of them took minutes and did not hear KILL: 300 KB of
// EXISTS (EXISTS (… took a minute. Each is gone through once; what took a second for each kilobyte takes less
// for a megabyte.
func TestNestedTextIsReadOnce(t *testing.T) {
	const n = 50_000
	for name, text := range map[string]string{
		"EXISTS":        "select " + strings.Repeat("exists(", n) + "select 1" + strings.Repeat(")", n),
		"open EXISTS":   "select " + strings.Repeat("exists(", n),
		"parentheses":   strings.Repeat("(", n) + "select 1" + strings.Repeat(")", n),
		"ANY":           "select " + strings.Repeat("a < any(select ", n) + "1" + strings.Repeat(")", n),
		"open ANY":      "select " + strings.Repeat("a < any(select ", n),
		"open INTERVAL": "select interval(1,2" + strings.Repeat(", interval(1,2", n),
		"no unit":       "select 1" + strings.Repeat(" + interval 1", n),
		"old names":     "select 1, " + strings.Repeat("moka_units(", n) + strings.Repeat(")", n),
	} {
		p := New(Hooks{})
		_, _, err := p.ParseOneWithOptions(ctx, text, ast.ParserOptions{})
		if err == nil && name != "parentheses" {
			t.Errorf("%s: no error", name)
		}
	}
}

// A text of many statements is cut at the first, so that reading all of them takes as long as the text is:
// 200 KB took 46 seconds.
func TestManyStatementsAreReadOnce(t *testing.T) {
	p := New(Hooks{})
	text, n := strings.Repeat("select 1;\n", 20_000), 0
	for rest := text; rest != ""; n++ {
		stmt, parsed, remainder, err := p.ParseWithOptions(ctx, rest, ';', true, ast.ParserOptions{})
		if err != nil || stmt == nil || parsed != "select 1" {
			t.Fatalf("%d: %q %v", n, parsed, err)
		}
		rest = remainder
	}
	if n != 20_000 {
		t.Fatal(n)
	}
}

// What the cut must not change: where statements end, and what is in the text of an error.
func TestFirstStatement(t *testing.T) {
	for text, want := range map[string][]string{
		"select ';' ; select 2":                 {"select ';'", "select 2"},
		"select 1 -- ;\n; select 2;":            {"select 1 --", "select 2"},
		"select `a;b` from t; /* ; */ select 2": {"select `a;b` from t", "/* ; */ select 2"},
		"create table t (a int); insert into t values (1); select 3": {"create table t (a int)",
			"insert into t values (1)", "select 3"},
		"create procedure p() begin select 1; select 2; end; select 3": {
			"create procedure p() begin select 1; select 2; end", "select 3"},
		"create trigger r before insert on t for each row begin set new.a = 1; end; select 3": {
			"create trigger r before insert on t for each row begin set new.a = 1; end", "select 3"},
		"/*!40101 set @a = 1 */; /*!40101 set @b = ';' */; select 1": {
			" set @a = 1", " set @b = ';'", "select 1"},
		"(select 1); select 2": {"(select 1)", "select 2"},
	} {
		var got []string
		p := New(Hooks{})
		for rest := text; strings.TrimSpace(rest) != ""; {
			_, parsed, remainder, err := p.ParseWithOptions(ctx, rest, ';', true, ast.ParserOptions{})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			got, rest = append(got, strings.TrimSpace(parsed)), remainder
		}
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q", text, got)
		}
	}
	_, _, _, err := New(Hooks{}).ParseWithOptions(sql.NewEmptyContext(), "select 1 form t; select 2",
		';', true, ast.ParserOptions{})
	if err == nil || !strings.Contains(err.Error(), "near 't; select 2'") {
		t.Error(err)
	}
}

// TestOperandsDoNotMultiply: what asks for an operand more than once asks 2^n times for that of the innermost
// of n, and KILL was not heard meanwhile. Beside one another they do not multiply, however many there are.
func TestOperandsDoNotMultiply(t *testing.T) {
	nested := func(n int, before, behind string) string {
		return "select " + strings.Repeat(before, n) + "a" + strings.Repeat(behind, n) + " from t"
	}
	beside := "select 1 from t where a in (select b from u where b in (select c from v where c in (select " +
		"d from w))) and a between 1 and 2" + strings.Repeat(" or nullif(a, 1) between case b when 1 then 2 "+
		"end and 3 and a in (select b from u)", 200)
	for query, good := range map[string]bool{
		nested(12, "(", " between 0 and 2)"): true, nested(24, "(", " between 0 and 2)"): false,
		nested(7, "nullif(", ", 7)"): true, nested(24, "nullif(", ", 7)"): false,
		nested(7, "case ", " when 1 then 2 when 3 then 1 when 4 then 1 end"): true,
		nested(24, "case ", " when 1 then 2 when 3 then 1 end"):              false,
		nested(7, "1 in (select ", " from t)"):                               true,
		nested(24, "1 = any (select ", " from t)"):                           false,
		nested(24, "1 not in (select ", " from t)"):                          false,
		nested(24, "case when ", " then 2 when 3 then 1 end"):                true,
		nested(24, "(1 between 0 and ", ")"):                                 true,
		"create view v as " + nested(24, "(", " between 0 and 2)"):           false,
		"select case a" + strings.Repeat(" when 1 then 2", 9000) + " end":    true,
		beside: true,
	} {
		_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, query, ast.ParserOptions{})
		if e, ok := err.(*mysql.SQLError); good && err != nil || !good && (!ok || e.Num != 1436) {
			t.Errorf("%.120s: %v", query, err)
		}
	}
}
