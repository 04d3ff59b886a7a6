package sqlfront_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestJoinsByOtherTypes: a row is joined with those that compare equal, and not with that which the key of an
// index says after it was rounded: 1.50 found the row 2.
func TestJoinsByOtherTypes(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table j1 (id int primary key, n int)",
		`insert into j1 with recursive s as (select 1 as n union all select n + 1 from s where n < 30)
			select n, n from s`,
		"create table j2 (id int primary key, w decimal(12,2), f double, s varchar(9), b bigint unsigned)",
		`insert into j2 values (1, 1.50, 1.5, '1.5', 1), (2, 2.40, 2.4, '2x', 18446744073709551615), 
		(3, 3, 3, '3', 3)`,
		"analyze table j1, j2")
	nulls := "1 NULL;2 NULL;3 3"
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 2 {
			script{
				{"select j2.id, j1.id from j2 join j1 on j1.id = j2.w order by 1, 2", "3 3"},
				{"select j2.id, j1.id from j2 left join j1 on j1.id = j2.w order by 1, 2", nulls},
				{"select j2.id, j1.id from j2 join j1 on j1.id = j2.f order by 1, 2", "3 3"},
				{"select j2.id, j1.id from j2 join j1 on j1.id = j2.s order by 1, 2", "2 2;3 3"},
				{"select j2.id, j1.id from j2 join j1 on j1.id = j2.b order by 1, 2", "1 1;3 3"},
				{"select j2.id from j2 where exists (select 1 from j1 where j1.id = j2.w) order by 1", "3"},
				{"select j2.id from j2 where j2.w in (select id from j1) order by 1", "3"},
				{"select id from j2 where not exists (select 1 from j1 where id = w) order by 1", "1;2"},
				{"update j1 set n = id", ""},
				{"select id from j1 where id = (select w from j2 where id = 1)", ""},
				{"select j2.id, (select n from j1 where j1.id = j2.w) from j2 order by 1", nulls},
				{"update j1 join j2 on j1.id = j2.w set j1.n = 99", ""},
				{"select id from j1 where n = 99 order by id", "3"},
				{"update j1 set n = id", ""},
				{"update j1 set n = 98 where exists (select 1 from j2 where j2.w = j1.id)", ""},
				{"select id from j1 where n = 98 order by id", "3"},
				{"begin", ""},
				{"delete j1 from j1 join j2 on j1.id = j2.w", ""},
				{"select count(*) from j1", "29"},
				{"rollback", ""},
				{"begin", ""},
				{"delete from j1 where exists (select 1 from j2 where j2.w = j1.id)", ""},
				{"select count(*) from j1", "29"},
				{"rollback", ""},
			}.run(t, c)
		}
	}
}

// TestJoinsOfAllTypes: for each two types of columns a join by an index finds the pairs of which = says that
// they are equal.
func TestJoinsOfAllTypes(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	numbers := "0, 1, 2, 3, 12, 1.5, 2.4, 2.5, 20240101, '2x', ' 3', '1e0', 1.251, 1.25, 255"
	moments := "'2024-01-01', '2024-01-01 10:00:00', '2024-01-01 10:00:00.25', 20240101, '00:00:12'"
	kinds := []struct{ kind, values string }{
		{"int", numbers}, {"bigint unsigned", numbers}, {"tinyint", numbers}, {"decimal(6,2)", numbers},
		{"decimal(10,3)", numbers}, {"double", numbers},
		{"varchar(30)", numbers + ", " + moments + ", 'x', 'X', 'x '"},
		{"char(12) collate utf8mb4_bin", "'x', 'X', '2', '2024-01-01'"},
		{"date", moments}, {"datetime", moments},
		{"datetime(2)", moments}, {"timestamp", moments}, {"varbinary(12)", "'x', 'X', '2', '2.0', 'x '"},
		{"year", "2024, 2001, 0"}, {"enum('x','2','y')", "'x', '2'"}, {"time", "'00:00:12', '10:00:00'"},
	}
	for i, k := range kinds {
		run(t, c, "set sql_mode = ''",
			fmt.Sprintf("create table t%d (id int auto_increment primary key, k %s, key (k))", i, k.kind))
		for _, v := range strings.Split(k.values, ", ") {
			run(t, c, fmt.Sprintf("insert into t%d (k) values (%s)", i, v))
		}
		run(t, c, fmt.Sprintf("insert into t%d (k) select null from t%d", i, i),
			fmt.Sprintf("analyze table t%d", i))
	}
	hints := []string{"", "/*+ LOOKUP_JOIN(a,b) */", "/*+ LOOKUP_JOIN(b,a) */", "/*+ HASH_JOIN(a,b) */",
		"/*+ MERGE_JOIN(a,b) */"}
	for i, a := range kinds {
		for j, b := range kinds {
			pairs, err := joined(t, c, fmt.Sprintf("select a.id, b.id, a.k = b.k from t%d a, t%d b", i, j))
			if err != nil {
				continue // two that may not be compared
			}
			var equal []string
			for _, p := range pairs {
				if p, is := strings.CutSuffix(p, " 1"); is {
					equal = append(equal, p)
				}
			}
			for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
				run(t, c, cache)
				for _, hint := range hints {
					got, err := joined(t, c,
						fmt.Sprintf("select %s a.id, b.id from t%d a join t%d b on a.k = b.k", hint, i, j))
					if err != nil || !slices.Equal(got, equal) {
						t.Errorf("%s = %s,%s: %v, %v; equal are %v", a.kind, b.kind, hint, got, err, equal)
					}
				}
			}
		}
	}
}

// joined are the rows of a query, in order.
func joined(t *testing.T, c runner, query string) ([]string, error) {
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := lines(t, rows)
	slices.Sort(out)
	return out, rows.Err()
}
