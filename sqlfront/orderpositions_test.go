package sqlfront_test

import (
	"fmt"
	"testing"
)

// TestOrderByPositionsOfAJoin: ORDER BY 1, 2 orders the rows of a join, from the plan cache too.
func TestOrderByPositionsOfAJoin(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table pl (id int primary key, a int, b varchar(10))",
		"create table pk (id int primary key, a int, key (a))")
	for i := range 30 {
		run(t, c, fmt.Sprintf("insert into pl values (%d, 2, %d)", i, i%5),
			fmt.Sprintf("insert into pk values (%d, %d)", i, i%6))
	}
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 4 {
			script{
				{"select pl.id, pk.id from pl join pk on pl.a = pk.a where b = '2' order by 1, 2 limit 6",
					"2 2;2 8;2 14;2 20;2 26;7 2"},
				{"select pl.id, pk.id from pl join pk on pl.a = pk.a order by 1, 2 limit 4",
					"0 2;0 8;0 14;0 20"},
				{"select pl.id, pk.id from pl join pk on pl.a = pk.a order by pl.id, pk.id limit 4",
					"0 2;0 8;0 14;0 20"},
				{"select pl.id, pk.id from pl join pk on pl.a = pk.a order by 1 desc, 2 limit 4",
					"29 2;29 8;29 14;29 20"},
				{"select pl.id as x, pk.id as y from pl join pk on pl.a = pk.a order by x, y desc limit 3",
					"0 26;0 20;0 14"},
				{"select b, count(*) from pl group by 1 order by 1 desc", "4 6;3 6;2 6;1 6;0 6"},
				{"select count(*), b from pl group by 2 having count(*) > 1 order by 2 limit 2", "6 0;6 1"},
				{"select distinct pk.a, b from pl join pk using (id) where id < 9 order by 2, 1 desc limit 3",
					"5 0;0 0;1 1"},
			}.run(t, c)
		}
	}
}
