package namedjoin_test

import (
	"strings"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/namedjoin"
	"moka/sqlfront/sqlerr"
)

var tables = map[string]string{"t1": "a b c", "t2": "a c d", "t3": "a e", "u": "x"}

func columns(t ast.TableExpr) ([]string, bool) {
	a, ok := t.(*ast.AliasedTableExpr)
	if !ok {
		return nil, false
	}
	names, ok := tables[a.Expr.(ast.TableName).Name.String()]
	return strings.Fields(names), ok
}

// TestRewrite looks at what statements become (W, USING and NATURAL JOIN): those that MariaDB has not, and
// that the tree which is given stays.
func TestRewrite(t *testing.T) {
	for _, c := range [][2]string{
		{"select * from (t1 join t2 using (a)), t3",
			"select t1.a, t1.b, t1.c, t2.c, t2.d, t3.* from (t1 join t2 on t1.a = t2.a), t3"},
		{"select a, c, T1.a from t1 natural right join t2 where a = 1",
			"select t2.a, t2.c, T1.a from t1 right join t2 on t2.a = t1.a and t2.c = t1.c where t2.a = 1"},
		{"select * from t3 natural left join u", "select t3.a, t3.e, u.x from t3 left join u on true"},
		{"select * from t3 natural join u", "select t3.a, t3.e, u.x from t3 join u"},
		{
			"select *, a from t1 full outer join t2 using (a) order by a",
			"select coalesce(t1.a, t2.a) as a, t1.b, t1.c, t2.c, t2.d, coalesce(t1.a, t2.a) as a from t1 " +
				"full outer join t2 on t1.a = t2.a order by a asc",
		},
		{
			"select a from t1 full outer join t2 using (a) join t3 using (a)",
			"select coalesce(t1.a, t2.a) as a from t1 full outer join t2 on t1.a = t2.a join t3 on " +
				"coalesce(t1.a, t2.a) = t3.a",
		},
		{
			"select 1 from t1 join t2 using (a), lateral (select a from u where x = d) l where l.a = 1",
			"select 1 from t1 join t2 on t1.a = t2.a, lateral (select t1.a from u where x = d) as l where " +
				"l.a = 1",
		},
		{
			"select a from t1 join t2 using (a) join json_table(b, '$' columns (a int path '$', k int path " +
				"'$')) as j using (a)",
			"select t1.a from t1 join t2 on t1.a = t2.a join json_table(b, '$' columns(a int path '$', k " +
				"int path '$')) as j on t1.a = j.a",
		},
		{"select -b as a from t1 join t2 using (a) having a > 1 order by a",
			"select -b a from t1 join t2 on t1.a = t2.a having a > 1 order by a asc"},
		{"select b from t1 join t2 using (a) having a > 1 order by a + 1",
			"select b from t1 join t2 on t1.a = t2.a having t1.a > 1 order by t1.a + 1 asc"},
		{"select a from u, t3 where exists (select a from t1 join t2 using (a))",
			"select a from u, t3 where exists (select t1.a from t1 join t2 on t1.a = t2.a)"},
		{"select 1 from t1 join t2 using (a) where (select max(a) from t3) = (select x + a from u)",
			"select 1 from t1 join t2 on t1.a = t2.a where (select max(a) from t3) = (select x + t1.a from " +
				"u)"},
		{"update t1 join t2 using (a) set a = d where a = 1",
			"update t1 join t2 on t1.a = t2.a set t1.a = d where t1.a = 1"},
		{"delete t1 from t1 join t2 using (a) where a = 1",
			"delete t1 from t1 join t2 on t1.a = t2.a where t1.a = 1"},
		{"select * from t1 join nothere using (a)", "select * from t1 join nothere using (a)"},
	} {
		stmt, err := ast.Parse(c[0])
		if err != nil {
			t.Fatal(c[0], err)
		}
		before := ast.String(stmt)
		if !namedjoin.Uses(stmt) {
			t.Errorf("%s: not seen", c[0])
		}
		out, err := namedjoin.Rewrite(stmt, columns)
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if got := strings.ReplaceAll(ast.String(out), "`", ""); got != c[1] {
			t.Errorf("%s\n got: %s\nwant: %s", c[0], got, c[1])
		}
		if ast.String(stmt) != before {
			t.Errorf("%s has become %s", before, ast.String(stmt))
		}
	}
}

// TestRefused looks at errors that depend on columns.
func TestRefused(t *testing.T) {
	for q, code := range map[string]int{
		"select 1 from t1 join t2 using (b)":                                                    sqlerr.BadField,
		"select 1 from t1 join t2 on t1.a = t2.a join t3 using (a)":                             sqlerr.NonUniqueColumn,
		"select 1 from t3 natural join (t1 join t2 on t1.a = t2.a)":                             sqlerr.NonUniqueColumn,
		"select 1 from t1 join t1 using (a)":                                                    sqlerr.NonUniqueTable,
		"select 1 from t1 join t2 using (a) where exists (select a from u t1 where t1.x = 1)":   sqlerr.UnsupportedFeature,
		"with q as (select 1 from t1 natural join (t2 join t3 on t2.a = t3.a)) select 1 from q": sqlerr.NonUniqueColumn,
	} {
		stmt, err := ast.Parse(q)
		if err != nil {
			t.Fatal(q, err)
		}
		if _, err = namedjoin.Rewrite(stmt, columns); sqlerr.Code(err) != code {
			t.Errorf("%s: %v", q, err)
		}
	}
}
