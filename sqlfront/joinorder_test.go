package sqlfront_test

import "testing"

// TestOuterJoinsLoseNoCondition joins tables where a condition compares with the nullable side of an outer
// join that stands beside it (W, wrong rows of four tables): whatever order the planner takes, a hinted one
// included, each condition is heard. Expected rows are MariaDB's.
func TestOuterJoinsLoseNoCondition(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table a (y int, n int)", "create table b (z int, n int)", "create table c (x int, y int)",
		"create table d (x int, z int)", "insert into a values (1, 1), (2, 2), (null, 3)", "insert into b values (1, 1), (2, 2), (null, 3)",
		"insert into c values (1, 1), (2, 2), (3, 1)", "insert into d values (1, 2), (2, 1), (2, null)")
	const rows = "1 2 1 2;2 1 2 1"
	script{
		{"select a.y, b.z, c.y, d.z from a join b join (c left join d on c.x = d.x) on a.y = c.y and b.z = d.z order by 1", rows},
		{"select a.y, b.z, c.y, d.z from a, b, c left join d on c.x = d.x where a.y = c.y and b.z = d.z order by 1", rows},
		{"select /*+ JOIN_ORDER(a, c, b, d) */ a.y, b.z, c.y, d.z from a join b join (c left join d on c.x = d.x) on a.y = c.y and b.z = d.z order by 1", rows},
		{"select /*+ JOIN_ORDER(b, a, c, d) LEFT_DEEP() */ a.y, b.z, c.y, d.z from a join b join (c left join d on c.x = d.x) on a.y = c.y and b.z = d.z order by 1", rows},
		{"select count(*) from a join (c left join d on c.x = d.x) on a.y = c.y and a.n = d.z", "0"},
		{"select count(*) from a join (c left join d on c.x = d.x) on a.y = c.y and a.n <> d.z", "2"},
		{"select a.y, c.x, d.z from a join (c left join d on c.x = d.x) on a.y = c.y and ifnull(d.z, a.n) = a.n order by 2", "2 2 NULL;1 3 NULL"},
		{"select a.n, b.n, c.x, d.z from a left join b on a.y = b.z join (d right join c using (x)) on b.z = d.z and a.y = c.y order by 3", ""},
	}.run(t, c)
	run(t, c, "create index x on d (x)", "create index z on d (z)", "create index y on a (y)", "create index z on b (z)", "create index y on c (y)")
	script{
		{"select a.y, b.z, c.y, d.z from a join b join (c left join d on c.x = d.x) on a.y = c.y and b.z = d.z order by 1", rows},
		{"select a.y, b.z, c.y, d.z from a, b, c left join d on c.x = d.x where a.y = c.y and b.z = d.z order by 1", rows},
	}.run(t, c)
}
