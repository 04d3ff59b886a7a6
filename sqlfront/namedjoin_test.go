package sqlfront_test

import "testing"

// TestNamedJoinsAsk joins by names of columns as somebody who may read some of them, or none (W, USING and
// NATURAL JOIN): the statement is written anew from the columns of the tables, and whoever may not read those
// learns nothing of them.
func TestNamedJoinsAsk(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int, a int, secret int)", "create table u (id int, b int, secret int)",
		"insert into t values (1, 10, 100)", "insert into u values (1, 20, 100), (2, 21, 100)", "create user c, n", "grant select (id, a) on d.t to c", "grant select on d.u to c, n",
		"create view v as select a, b from t join u using (id)", "grant select on d.v to n")
	c := s.open("c", "d", "")
	script{
		{"select id, a, b from u join t using (id)", "1 10 20"},
		{"select id, a, b from t right join u using (id) order by id", "1 10 20;2 NULL 21"},
		{"select u.* from t join u using (id)", "1 20 100"},
		{"select t.* from t join u using (id)", "error 1142"},
		{"select * from t join u using (id)", "error 1142"},
		{"select b from t join u using (secret)", "error 1143"},
		{"select b from t natural join u", "error 1143"},
		{"select b from t join u using (nope)", "error 1054"},
	}.run(t, c)
	n := s.open("n", "d", "")
	script{
		{"select * from v", "10 20"},
		{"select b from t join u using (id)", "error 1142"},
		{"select b from u natural join t", "error 1142"},
		{"select b from u join t using (nope)", "error 1142"},
		{"select b from u join t using (b)", "error 1142"},
	}.run(t, n)
}

// TestFullJoinUsing joins both ways, which MariaDB has not: a common column is the one that is there.
func TestFullJoinUsing(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (k int, a int)", "create table u (b int, k int)", "insert into t values (1, 10), (2, 11)", "insert into u values (20, 2), (21, 3)")
	script{
		{"select * from t full outer join u using (k) order by k", "1 10 NULL;2 11 20;3 NULL 21"},
		{"select k, b from t natural full join u where k > 1 order by k desc", "3 21;2 20"},
		{"select k, count(*) from t full join u using (k) group by k having k <> 2 order by k", "1 1;3 1"},
	}.run(t, c)
}
