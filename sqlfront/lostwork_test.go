package sqlfront_test

import "testing"

// TestNoHandlerHidesALostTransaction: what rolls the whole transaction back is no condition for a handler of
// a trigger or a function, as in MySQL: the statement fails. A trigger's handler made a success of it, and
// rows that were acknowledged, and committed, were gone.
func TestNoHandlerHidesALostTransaction(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	a, b := s.conn("d"), s.conn("d")
	run(t, a, "create table a (id int primary key auto_increment, k int)", "create table b like a",
		"create table cnt (id int primary key, n int, m int)", "insert into cnt values (1, 0, 0)",
		`create trigger ta after insert on a for each row begin
			declare continue handler for sqlexception begin set @no = 1; end;
			update cnt set n = n + 1 where id = 1;
		end`,
		`create function fa() returns int begin
			declare exit handler for sqlexception return 0;
			update cnt set n = n + 1 where id = 1; return 1;
		end`,
		`create procedure pa() begin
			declare exit handler for sqlstate '40001' begin end;
			update cnt set n = n + 1 where id = 1;
		end`,
		"create trigger tb after insert on b for each row begin if new.k = 7 then call pa(); end if; end",
	)
	for _, loses := range []string{
		"insert into a(k) values (1)", "set @x = fa()", "insert into b(k) values (fa())",
		"insert into b(k) values (7)",
	} {
		run(t, a, "begin", "insert into b(k) values (100)", "select n from cnt where id = 1")
		run(t, b, "update cnt set m = m + 1 where id = 1")
		script{{loses, "error 1213"}, {"rollback", ""}}.run(t, a)
		want(t, a, "select count(*) from b", "0")
	}
	// A procedure's own handler hears of it, as in MySQL.
	run(t, a, "begin", "insert into b(k) values (100)", "select n from cnt where id = 1")
	run(t, b, "update cnt set m = m + 1 where id = 1")
	run(t, a, "call pa()", "rollback")
	script{{"select count(*) from b", "0"}, {"select n from cnt", "0"}}.run(t, a)
}
