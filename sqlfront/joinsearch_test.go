package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestJoinsOfManyTables joins as many tables as the library would try all orders of, and more: on one key, in
// a chain, all with all, by names, and beside outer joins and subqueries. Orders are bounded, and rows are
// those that they were: each table has its own id once, and what is written of several tables is heard.
func TestJoinsOfManyTables(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table k (id int primary key, a int, b int, key a (a))",
		"create table h (id int, a int, b int)",
		"insert into k values (1, 1, 2), (2, 2, 3), (3, 3, 1), (4, null, 4)",
		"insert into h values (1, 1, 2), (2, 2, 3), (3, 3, 1), (4, null, 4)")
	tables := func(n int, sep string, of ...string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%s t%d", of[i%len(of)], i))
		}
		return strings.Join(all, sep)
	}
	conds := func(n int, cond func(i, j int) string) string {
		var all []string
		for i := range n {
			for j := range i {
				if c := cond(i, j); c != "" {
					all = append(all, c)
				}
			}
		}
		return strings.Join(all, " and ")
	}
	star := func(i, j int) string {
		if j > 0 {
			return ""
		}
		return fmt.Sprintf("t0.a = t%d.a", i)
	}
	chain := func(i, j int) string {
		if j != i-1 {
			return ""
		}
		return fmt.Sprintf("t%d.b = t%d.a", j, i)
	}
	all := func(i, j int) string { return fmt.Sprintf("t%d.id = t%d.id", i, j) }
	for _, n := range []int{5, 11, 13, 15, 17, 40} {
		for _, of := range [][]string{{"k"}, {"h"}, {"h", "k"},
			{"(select 1 id, 1 a, 2 b union select 2, 2, 3 union select 3, 3, 1)"}} {
			from := fmt.Sprintf("select count(*), sum(t0.id), max(t%d.id) from ", n-1) +
				tables(n, ", ", of...) + " where "
			script{
				{from + conds(n, star), "3 6 3"},
				{from + conds(n, chain), "3 6 3"},
				{from + conds(n, star) + fmt.Sprintf(" and t2.id + t%d.id <= 4", n-1), "2 3 2"},
				{from + conds(n, chain) + fmt.Sprintf(" and t1.id + t%d.id = 1", n-1), "0 NULL NULL"},
				{"select * from (select t0.id, t1.a, t2.b, t3.id z from " + tables(n, ", ", of...) +
					" where " + conds(n, star) + ") x order by 1", "1 1 2 1;2 2 3 2;3 3 1 3"},
			}.run(t, c)
		}
	}
	for _, n := range []int{9, 12} {
		script{
			{"select count(*) from " + tables(n, ", ", "k", "h") + " where " + conds(n, all), "4"},
			{"select count(*) from " + tables(n, " natural join ", "k", "h"), "3"},
		}.run(t, c)
	}
	script{
		{"select * from " + tables(13, ", ", "h") + " where " + conds(13, star) + " and t4.id = 2",
			strings.TrimSpace(strings.Repeat("2 2 3 ", 13))},
		{"select count(*), count(l.id) from " + tables(13, " join ", "h", "k") +
			" left join k l on l.id = t3.id + 1 where " + conds(13, star), "3 3"},
		{"select count(*), count(l.id) from " + tables(13, " join ", "h", "k") +
			" left join k l on l.id = t3.id + 2 where " + conds(13, star) + " and t4.id > 1", "2 1"},
		{"select count(*) from k t where " + strings.Repeat("t.a in (select a from h) and ", 14) +
			"not exists (select 1 from h where h.id = t.id + 3)", "2"},
		{"select count(*) from " + tables(13, ", ", "h", "k") + " where " + conds(13, star) +
			" and t5.id = (select max(x.id) from k x where x.a = t7.a)", "3"},
	}.run(t, c)
	run(t, c, "update "+tables(12, ", ", "h", "k")+" set t1.b = t11.id + 10 where "+conds(12, star))
	script{{"select id, b from k order by 1", "1 11;2 12;3 13;4 4"}}.run(t, c)
	run(t, c, "delete t1 from "+tables(12, ", ", "h", "k")+" where "+conds(12, star)+" and t6.id < 3")
	script{{"select id, b from k order by 1", "3 13;4 4"}}.run(t, c)
}
