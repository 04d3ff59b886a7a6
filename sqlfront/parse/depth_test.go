package parse

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// What the library would answer by running out of stack, which ends the process, is refused: 1436.
func TestDepth(t *testing.T) {
	const n = 200_000
	for name, query := range map[string]string{
		"sum":           "select 1" + strings.Repeat(" + 1", n),
		"chain of XORs": "select 1" + strings.Repeat(" xor a", n),
		"NOT":           "select " + strings.Repeat("not ", n) + "1",
		"FOR":           "select " + strings.Repeat("for /**/ ", n),
		"unary":         "select " + strings.Repeat("~", n) + "1",

		// These were too much for the grammar itself, and the end of the process.
		"long unary":       "select " + strings.Repeat("~", 8<<20) + "1",
		"long parentheses": "select " + strings.Repeat("(", 4<<20) + "1" + strings.Repeat(")", 4<<20),
		"long row":         "select " + strings.Repeat("row(1, ", 1<<20) + "1" + strings.Repeat(")", 1<<20),

		"CASE":      "select " + strings.Repeat("case when 1 then ", n) + "1" + strings.Repeat(" end", n),
		"UNION":     "select 1" + strings.Repeat(" union select 1", n),
		"default":   "create table t (a int default (1" + strings.Repeat(" + 1", n) + "))",
		"check":     "create table t (a int, check (a" + strings.Repeat(" + 1", n) + "))",
		"procedure": "create procedure p() begin select 1" + strings.Repeat(" + 1", n) + "; end",
		"trigger": "create trigger r before insert on t for each row set new.a = 1" +
			strings.Repeat(" + 1", n),
		"view":   "create view v as select 1" + strings.Repeat(" + 1", n),
		"insert": "insert into t values (1" + strings.Repeat(" + 1", n) + ")",
	} {
		_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, query, ast.ParserOptions{})
		if e, ok := err.(*mysql.SQLError); !ok || e.Num != 1436 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestChainsDoNotAddUp: chains just below the bound were planned in the square of their length, twenty
// seconds each, as many as fit a text, and KILL was not heard (usage-3). Those of a thousand are good, one
// or two.
func TestChainsDoNotAddUp(t *testing.T) {
	for name, chain := range map[string]func(n int) string{
		"interval": func(n int) string {
			return "date '2020-01-01'" + strings.Repeat(" + interval 1 day", n)
		},
		"NOT": func(n int) string { return strings.Repeat("not ", n) + "1" },
		"sum": func(n int) string { return "1" + strings.Repeat(" + 1", n) },
		"CASE": func(n int) string {
			return strings.Repeat("case when 1 then ", n/4) + "1" + strings.Repeat(" end", n/4)
		},
		"quotient": func(n int) string { return "1" + strings.Repeat("/3", n/3) },
	} {
		for query, good := range map[string]bool{
			"select " + chain(1000) + " /* " + strings.Repeat("x", maxDepth) + " */": true,
			"select " + chain(9000):                                             false,
			"select " + chain(4000):                                             false,
			"select " + strings.Repeat(chain(1000)+", ", 20) + "1":              false,
			"select " + strings.Repeat(chain(60)+", ", 2000) + "1":              true,
			strings.Repeat("select "+chain(60)+" union all ", 500) + "select 1": true,
		} {
			_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, query, ast.ParserOptions{})
			if e, ok := err.(*mysql.SQLError); good && err != nil || !good && (!ok || e.Num != 1436) {
				t.Errorf("%s, %d bytes: %v", name, len(query), err)
			}
		}
	}
}

// Long is not deep.
func TestDepthOfLongStatements(t *testing.T) {
	for _, query := range []string{
		"select a from t where a in (1" + strings.Repeat(", 1", 50_000) + ")",
		"insert into t values (1, 'not for')" + strings.Repeat(", (1, 'not for')", 50_000),
		"select a from t where a = 1" + strings.Repeat(" or a = 1", 65_536),
		"select 1" + strings.Repeat(" and a", 65_536),
		"select 1 from t where " + strings.Repeat("(", 100) + "a = 1" +
			strings.Repeat(strings.Repeat(" or b = 2", 300)+")", 100),
		"create table t (a int" + strings.Repeat(", a int", 5_000) + ")",
		"create procedure p() begin " + strings.Repeat("if not a then set a = 1; end if; ", 5_000) + "end",
	} {
		stmt, _, err := New(Hooks{}).ParseOneWithOptions(ctx, query, ast.ParserOptions{})
		if err != nil {
			t.Errorf("%.40s…: %v", query, err)
			continue
		}
		if d, _ := depthOf(stmt); d < 2 || d > 200 {
			t.Errorf("%.40s… is %d deep", query, d)
		}
	}
}

// What is made a tree has its operands in their order, and is the same to who reads it.
func TestLevelChains(t *testing.T) {
	var parts []string
	for i := range 3000 {
		parts = append(parts, "a = "+strconv.Itoa(i))
	}
	for _, op := range []string{" or ", " and "} {
		stmt, _, err := New(Hooks{}).ParseOneWithOptions(ctx,
			"select 1 from t where "+strings.Join(parts, op), ast.ParserOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := ast.String(stmt.(*ast.Select).Where.Expr); got != strings.Join(parts, op) {
			t.Errorf("%s: %.200s…", op, got)
		}
	}
}

// Constants of spatial types as defaults, and local variables of these types, are refused: nobody
// would look at their bytes.
func TestBlindGeometry(t *testing.T) {
	for query, code := range map[string]int{
		"create table d (g geometry default x'00000000010700000010ffffff')":                      1101,
		"alter table d add column g point default 'x'":                                           1101,
		"create table d (g geometry default null, h point default (point(1, 2)))":                0,
		"create procedure p(g point) select 1":                                                   1235,
		"create procedure p() begin declare g point; set g = x'00'; end":                         1235,
		"create procedure p() begin if 1 then begin declare a, b multipolygon; end; end if; end": 1235,
		"create trigger r before insert on t for each row begin declare g geometry; end":         1235,
		"create event e on schedule every 1 day do begin declare g geometry; end":                1235,
		"create procedure p() begin declare a blob; select st_astext(point(1, 2)); end":          0,
	} {
		_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, query, ast.ParserOptions{})
		e, _ := err.(*mysql.SQLError)
		if code == 0 && err != nil || code != 0 && (e == nil || e.Num != code) {
			t.Errorf("%s: %v", query, err)
		}
	}
}
