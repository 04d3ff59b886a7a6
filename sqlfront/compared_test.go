package sqlfront_test

import (
	"database/sql"
	"testing"
)

// TestTextsBesideNumbers: texts, numbers and ENUMs that are compared with each other, by themselves, in
// lists, in BETWEEN and by subqueries. What is expected is what MariaDB 10.11 gives.
func TestTextsBesideNumbers(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d default collate utf8mb4_general_ci")
	c := s.conn("d")
	run(t, c, `create table n (id int primary key, v int, s varchar(10), e enum('b','a','c'), d decimal(10,2),
		f double, key (v))`,
		"insert into n values (1, -2, 'a', 'a', 1.5, 1.5), (2, 2, 'b', 'b', 2, 2)",
		"insert into n values (3, 0, '1.5', 'c', 0, 0), (4, null, null, null, null, null)",
		`create table w (id int primary key, k varchar(6), e enum('b','a','c'), n int, u set('x','y'),
			key (e))`,
		"insert into w values (1, 'B', 'b', 1, 'x'), (2, 'b ', 'a', 2, 'y'), (3, '19', 'c', 3, 'x,y')",
		"insert into w values (4, '', 'a', null, ''), (5, null, null, 0, null), (6, 'q', 'b', 7, 'x')",
		"create table l (k int, e enum('a','b','c'), s varchar(5))",
		"insert into l values (1, 'a', 'b'), (2, 'b', '1'), (null, 'c', 'c'), (null, null, null)")
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 3 {
			for _, x := range []struct{ from, where, want string }{
				{"n", "id <> '1.5'", "1;2;3;4"}, {"n", "id not in ('1.5', '2.5')", "1;2;3;4"},
				{"n", "v <> '1.5'", "1;2;3"}, {"n", "v >= '1.5'", "2"}, {"n", "v < '1.5'", "1;3"},
				{"n", "id not between '1.5' and '2.5'", "1;3;4"}, {"n", "not id <=> '1.5'", "1;2;3;4"},
				{"n", "e = 1.5", ""}, {"n", "e = 0.75", ""}, {"n", "e in (1.5, 3)", "3"},
				{"n", "e not in (1.5, 3)", "1;2"}, {"n", "e > 1.5", "1;3"}, {"n", "e = d", ""},
				{"n", "e = 2", "1"}, {"n", "e between 1 and 2", "1;2"}, {"n", "e in (1, 'b')", "2"},
				{"n", "e between 1 and 'b'", ""}, {"n", "e between 'a' and 'b'", "1;2"},
				{"n", "s between 'b' and 11", "1;2;3"}, {"n", "s between 1 and 'b'", ""},
				{"n", "s in (1.5, 'b')", "2;3"}, {"n", "s not in (35, '10', 'x')", "1;2;3"},
				{"w", "k in ('b ', 'a', 19, '')", "1;2;3;4"},
				{"w", "k not in ('é', 'ab', -5, 'b ')", "3;4;6"},
				{"w", "k in (null, 'b', null, 2)", "1;2"}, {"w", "e = 'b '", "1;6"},
				{"w", "e <> 'b '", "2;3;4"},
				{"w", "e in ('b ', 'c')", "1;3;6"}, {"w", "e not in ('b ')", "2;3;4"},
				{"w", "e <=> 'b '", "1;6"},
				{"w", "u = 'y,x'", ""}, {"w", "u in ('x', 'y,x')", "1;6"}, {"w", "u = 3", "3"},
				{"w", "k in (select e from l)", "1;2"}, {"w", "k = any (select e from l)", "1;2"},
				{"w", "k in (select e from l where l.k = w.n)", "2"},
				{"w", "k not in (select e from l where e is not null)", "3;4;6"},
				{"w", "exists (select 1 from l where w.k = l.e)", "1;2"},
				{"w", "e in (select s from l)", "1;3;6"}, {"w", "e in (select k from l)", "1;2;4;6"},
			} {
				script{{"select id from " + x.from + " where " + x.where + " order by id", x.want}}.run(t, c)
			}
		}
	}
	script{
		{"select w.id from w join l on w.k = l.e order by 1", "1;2"},
		{"update n set f = 7 where s between 1 and 'b'", ""}, {"select count(*) from n where f = 7", "0"},
		{"delete from n where id <> '1.5' and id < 2", ""}, {"select count(*) from n", "3"},
	}.run(t, c)
	wantPrepared(t, c)
}

// wantPrepared: parameters, of which nobody knows the types before they come.
func wantPrepared(t *testing.T, c *sql.Conn) {
	t.Helper()
	run(t, c, "prepare p from 'select id from w where k between ? and ? order by id'",
		"prepare q from 'select id from w where id <> ? order by id'", "set @one = 1, @b = 'b', @x = '1.5'")
	script{
		{"execute p using @one, @b", ""}, {"execute p using @b, @one", "1;2;4;6"},
		{"execute p using @b, @b", "1;2"}, {"execute q using @x", "1;2;3;4;5;6"},
		{"execute q using @one", "2;3;4;5;6"},
	}.run(t, c)
}

// TestMomentsBesideNumbers: where a date or time may also be a number, the value is a text.
func TestMomentsBesideNumbers(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table m (id int primary key, d date, t datetime(3))",
		"insert into m values (1, '2024-01-02', '2024-01-01 01:02:03.000'), (2, null, null)")
	script{
		{"select coalesce(d, 0.0), coalesce(d, 0), ifnull(d, 1.5) from m",
			"2024-01-02 2024-01-02 2024-01-02;0.0 0 1.5"},
		{"select coalesce(t, 11), ifnull(t, 2e3) from m where id = 1",
			"2024-01-01 01:02:03.000 2024-01-01 01:02:03.000"},
		{"select if(id = 1, t, 1) from m", "2024-01-01 01:02:03.000;1"},
	}.run(t, c)
}

// TestAveragesAreRoundedOnce: 82/11 is 7.454545…, which is no 7.4546 because 7.45455 lies between.
func TestAveragesAreRoundedOnce(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table a (id int primary key, v int, w decimal(10,2))",
		`insert into a values (1, 82, 0.82), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0),
			(8, 0, 0), (9, 0, 0), (10, 0, 0), (11, 0, 0)`)
	script{
		{"select avg(v), avg(-v), avg(w), avg(distinct v) from a", "7.4545 -7.4545 0.074545 41.0000"},
		{"select avg(v + 0), avg(w * 100) from a where id + 0 > 0", "7.4545 7.454545"},
		{"select avg(v) over () from a limit 1", "7.4545"},
		{"select avg(x.v) from a x join a y using (id)", "7.4545"},
		{"select avg(v) from a where id < 4", "27.3333"},
	}.run(t, c)
}
