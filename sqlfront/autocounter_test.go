package sqlfront_test

import "testing"

// TestCounterGoesOnBehindRows: a number that is taken is no next one. What is expected is what MariaDB 10.11
// gives.
func TestCounterGoesOnBehindRows(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table a (id int auto_increment primary key, v int)",
		"insert into a (v) values (1), (2), (3)", "alter table a auto_increment = 2",
		"insert into a (v) values (4)", "alter table a auto_increment = 100", "insert into a (v) values (5)",
		"delete from a where id > 3", "alter table a auto_increment = 1", "insert into a (v) values (6)",
		"create table b (v int, n tinyint unsigned auto_increment, key (n))",
		"insert into b values (1, 250), (2, 7)", "alter table b auto_increment = 3",
		"insert into b (v) values (3)",
		"create table e (id bigint unsigned auto_increment primary key)", "alter table e auto_increment = 5",
		"insert into e values ()")
	script{
		{"select * from a order by id", "1 1;2 2;3 3;4 6"}, {"select * from b order by v", "1 250;2 7;3 251"},
		{"select * from e", "5"},
	}.run(t, c)
}

// TestAggregatesWithoutGroups: they are refused wherever there are no rows.
func TestAggregatesWithoutGroups(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table a (v int)", "create procedure p(x int) select x")
	for _, q := range []string{
		"do std(max(1))", "do max(1)", "set @a = std(max(1))", "set @a = 1 + sum(1)",
		"do 1, if(1, avg(sum(2)), 3)",
	} {
		_, err := c.ExecContext(t.Context(), q)
		wantErr(t, q, err, 1111, "HY000")
	}
	run(t, c, "do (select max(v) from a)", "set @a = (select std(v) from a)")
}
