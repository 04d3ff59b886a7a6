package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestListsDoNotMultiply: what conditions on several columns of an index multiply to is bounded. A range was
// made of each combination of values, a billion of those below, without hearing KILL, until the memory was
// gone.
func TestListsDoNotMultiply(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	list := func(n, from int) string {
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprint(from+i))
		}
		return "(" + strings.Join(texts, ",") + ")"
	}
	either := func(column string, n int) string {
		all := strings.ReplaceAll(strings.Trim(list(n, 0), "()"), ",", " or "+column+"=")
		return "(" + column + "=" + all + ")"
	}
	run(t, c, "create table t (id int primary key, a int, b int, c int, key (a, b, c), unique (c, a, b), "+
		"key (b, id))",
		"insert into t with recursive n as (select 0 as i union all select i + 1 from n where i < 999) "+
			"select i, i % 10, i div 10 % 10, i div 100 from n")
	in := func(n int) string {
		return fmt.Sprintf("a in %s and b in %[1]s and c in %[1]s", list(n, 0))
	}
	apart := func(n int) string {
		return fmt.Sprintf("a not in %s and b not in %s and c not in %[2]s", list(n, 5000), list(n, 7000))
	}
	var unequal []string
	for i := range 1000 {
		unequal = append(unequal, fmt.Sprintf("a <> %d", 3+i))
	}
	script{
		{"select count(*) from t where " + in(1000), "1000"},
		{"select count(*) from t where " + in(5), "125"},
		{"select count(*) from t where " + either("a", 300) + " and " + either("b", 5) + " and " +
			either("c", 300), "500"},
		{"select count(*) from t where " + apart(1000), "1000"},
		{"select count(*) from t where a not in " + list(1000, 8) + " and a not in " + list(1000, 5), "500"},
		{"select count(*) from t where " + strings.Join(unequal, " and "), "300"},
		{"select count(*) from t where (" + in(1000) + ") or c = 5", "1000"},
		{"select count(*) from t x join t y on x.id = y.id where x.a in " + list(900, 0) + " and x.b in " +
			list(900, 4) + " and x.c in " + list(900, 4), "360"},
		{"select count(*) from t x left join t y on x.id = y.id and y.b in " + list(900, 4) + " and y.c in " +
			list(900, 4) + " and y.a in " + list(900, 4) + " where y.id is null", "784"},
		{"delete from t where id < 10 and " + in(1000), ""}, {"select count(*) from t", "990"},
		{"update t set b = 77 where id < 20 and " + in(1000), ""},
		{"select count(*) from t where b = 77", "10"},
		{"begin", ""}, {"update t set id = id + 5000 where " + apart(1000), ""},
		{"select count(*) from t where id >= 5000", "990"},
		{"rollback", ""}, {"begin", ""}, {"delete from t where " + in(1000), ""},
		{"select count(*) from t", "0"},
		{"rollback", ""},
		// One list multiplies nothing, and looks its rows up.
		{"select count(*) from t where id in " + list(5000, 20) + " and b in (1, 2, 3)", "290"},
	}.run(t, c)
	rows, err := c.QueryContext(t.Context(),
		"explain select * from t where id in "+list(20, 0)+" and b in "+list(100, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if plan := strings.Join(lines(t, rows), "\n"); !strings.Contains(plan, "range PRIMARY PRIMARY") {
		t.Fatalf("%.300s", plan)
	}
}
