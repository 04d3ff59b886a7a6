package sqlfront_test

import "testing"

// TestDashes: -- begins a comment before white space only, // never does: what was behind them was not
// executed, the WHERE of an UPDATE for one. An executable comment that does not end is an error: who restored
// a dump of such a trigger ran what followed in it.
func TestDashes(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	script{
		{"create table t (id int primary key, a int)", ""},
		{"insert into t values (1, 1), (2, 2), (3, 3)", ""},
		{"update t set a = a--1 where id = 2", ""}, {"select * from t", "1 1;2 3;3 3"},
		{"select 5--1, 5---1, --2, 5 - -1, '5--1', `a` from t where id = 1 -- and id = 2", "6 4 2 6 5--1 1"},
		{"select 1 --\n + 1", "2"}, {"select 1 --\t + 1", "1"}, {"select 2 --", "2"},
		{"select 2 #--1\n+1", "3"},
		{"select /* a--1 // */ 3", "3"}, {"select /*! 4--1 */", "5"},
		{"update t set a = 9 // where id = 2", "error 1064"}, {"select 6//2", "error 1064"},
		{"select 1 --\x01 + 1", "error 1064"}, {"select '//', '--x' -- //", "// --x"},
		{"create view v as select a--1 as b from t where id = 2", ""}, {"select b from v", "4"},
		{"create trigger g before insert on t for each row set new.a = new.a--1", ""},
		{"insert into t values (4, 4)", ""}, {"select a from t where id = 4", "5"},
		{"create trigger z after insert on t for each row set @a=1 --\x01'\n, @c=2 --\x01' ;select 1 /*",
			"error 1064"},
		{"create /*!50003 trigger z after insert on t for each row set @a=1", "error 1064"},
		{"create /*!50003 trigger z after insert on t for each row set @a=1 -- */", "error 1064"},
		{"/*!50003 create*/ /*!50003 trigger z after insert on t for each row set @a=1 # */", "error 1064"},
		{"/*!50003 create*/ /*!50003 trigger z after insert on t for each row set @a=1 */", ""},
		{"select 1 /*!50000 + 1", "error 1064"}, {"select 1 /*!99999 + 1", "error 1064"},
		{"select * from t where id < 3", "1 1;2 3"},
	}.run(t, c)
}

// TestDashesOfPreparedStatements: what is prepared reads -- as other statements do, by either protocol. It
// was the beginning of a comment there: DELETE lost the end of its WHERE, and a parameter behind it was not
// one.
func TestDashesOfPreparedStatements(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	script{
		{"create table t (id int primary key, a int)", ""},
		{"insert into t values (1, 1), (2, 2), (3, 3), (6, 6)", ""},
		{"prepare p from 'delete from t where 5--1 and id = 77'", ""}, {"execute p", ""},
		{"select count(*) from t", "4"},
		{"prepare p from 'select id from t where id = 5--? and a = 6'", ""}, {"set @x = 1", ""},
		{"execute p using @x", "6"}, {"set @x = 2", ""}, {"execute p using @x", ""},
		{"set @s = 'select 7--1 -- ?'", ""}, {"prepare p from @s", ""}, {"execute p", "8"},
		{"prepare p from 'select 6//2'", "error 1064"},
		{"prepare p from ''", "error 1065"}, {"prepare p from ' -- nothing'", "error 1065"},
	}.run(t, c)
	for _, q := range []struct {
		text string
		args []any
	}{
		{"delete from t where id = ?--? and a = 77", []any{5, 1}},
		{"update t set a = a--? where id = ?", []any{2, 6}},
	} {
		if _, err := c.ExecContext(t.Context(), q.text, q.args...); err != nil {
			t.Fatalf("%s: %v", q.text, err)
		}
	}
	var n, a int
	row := c.QueryRowContext(t.Context(), "select count(*), max(a)--? from t where 1--? -- ?", 1, 1)
	err := row.Scan(&n, &a)
	if err != nil || n != 4 || a != 9 {
		t.Fatalf("%d rows, %d, %v", n, a, err)
	}
}
