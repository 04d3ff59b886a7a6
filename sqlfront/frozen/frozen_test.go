package frozen_test

import (
	"context"
	"strings"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/frozen"
	"moka/sqlfront/parse"
)

func reader() frozen.Reader {
	tables := map[string][]string{"t": {"id", "a"}, "u": {"id", "b"}, "w": {"x y", "b`c"}}
	return frozen.Reader{
		Query: func(create string) ast.SelectStatement {
			stmt, _, _, err := parse.New(parse.Hooks{}).ParseWithOptions(context.Background(), create, ';',
				false, ast.ParserOptions{})
			d, ok := stmt.(*ast.DDL)
			if err != nil || !ok || d.ViewSpec == nil {
				return nil
			}
			return d.ViewSpec.ViewExpr
		},
		Columns: func(t ast.TableExpr) ([]string, bool) {
			if a, ok := t.(*ast.AliasedTableExpr); ok {
				if name, ok := a.Expr.(ast.TableName); ok {
					columns, ok := tables[name.Name.String()]
					return columns, ok
				}
			}
			return nil, false
		},
	}
}

// TestFrozen: what a query stands for is in its text, and nothing else of the text is another.
func TestFrozen(t *testing.T) {
	for _, c := range []struct{ query, frozen string }{
		{"select a*2, count(*), 2*3, 1.*2, '*', `*` from t", ""},
		{"select t.table, t.natural from t", ""}, {"select * from t", "select `t`.`id`, `t`.`a` from t"},
		{"SELECT*FROM t -- *\n where a*2 > 1", "SELECT`t`.`id`, `t`.`a`FROM t -- *\n where a*2 > 1"},
		{"select /*!50000 distinct * */ from t", "select /*!50000 distinct `t`.`id`, `t`.`a` */ from t"},
		{"select 1, x.*, q . * from d.t x, (select b from u) q",
			"select 1, `x`.`id`, `x`.`a`, `q`.`b` from d.t x, (select b from u) q"},
		{"select d.t.* from d.t", "select `d`.`t`.`id`, `d`.`t`.`a` from d.t"},
		{"select * from w", "select `w`.`x y`, `w`.`b``c` from w"},
		{"select t.a x, q.* from t, (select *, a+1 from t) q",
			"select t.a x, `q`.`id`, `q`.`a`, `q`.`a+1` from t, (select `t`.`id`, `t`.`a`, a+1 from t) q"},
		{"select 1 from t where exists (select * from u) and id in (select * from (select id from u) q)",
			"select 1 from t where exists (select * from u) and id in (select `q`.`id` from " +
				"(select id from u) q)"},
		{"with c as (select * from t) select * from c",
			"with c as (select `t`.`id`, `t`.`a` from t) select `c`.`id`, `c`.`a` from c"},
		{"select * from t union all (select * from u limit 1)",
			"select `t`.`id`, `t`.`a` from t union all (select `u`.`id`, `u`.`b` from u limit 1)"},
		{"select * from t natural join u where a > 1",
			"select `t`.`id`, `t`.`a`, `u`.`b` from t  join u USING (`id`) where a > 1"},
		{"select a from (t natural left join u x) natural join (select id from u) q, w",
			"select a from (t  left join u x USING (`id`))  join (select id from u) q USING (`id`), w"},
		{"select exists (select * from u), (select * from (select id from u) q) s from t",
			"select exists (select * from u), (select `q`.`id` from (select id from u) q) s from t"},
		{"table t", "select `t`.`id`, `t`.`a` from t"},
		{"select 1 union (table d.u)", "select 1 union (select `d`.`u`.`id`, `d`.`u`.`b` from d.u)"},
		{"select 1 from t natural join w", "select 1 from t  join w ON TRUE"},
		{"select * from t join u using (id)", "select `t`.`id`, `t`.`a`, `u`.`b` from t join u using (id)"},
		{"select * from t full join u using (id)", "select coalesce(`t`.`id`, `u`.`id`) AS `id`, `t`.`a`, " +
			"`u`.`b` from t full join u using (id)"},
	} {
		if c.frozen == "" {
			c.frozen = c.query
		}
		const head = "create algorithm = merge view v as "
		create, query, err := reader().View(head+c.query+" with check option", c.query)
		if err != nil || create != head+c.frozen+" with check option" || query != c.frozen {
			t.Errorf("%s:\n got %s\nwant %s (%v)", c.query, query, c.frozen, err)
		}
	}
}

// TestNotFrozen: what nobody can say is refused.
func TestNotFrozen(t *testing.T) {
	for _, query := range []string{
		"select * from t, u", "select (select * from (select id from u) q) from t", "select * from unknown",
		"select * from t natural join unknown", "select `moka star 0`, * from t",
		"select * from (" + strings.Repeat("select * from t union all ", 4096) + "select * from t) q",
	} {
		if create, _, err := reader().View("create view v as "+query, query); err == nil {
			t.Errorf("%.80s: %.200s", query, create)
		}
	}
}
