package sqlfront_test

import "testing"

// TestNextTransaction: SET TRANSACTION is about the next transaction, which a statement in autocommit is if
// it looks at a table, and about no other. The answers are MariaDB's, whose names of the variables are
// others; those of a function are MySQL's, which refuses what MariaDB takes.
func TestNextTransaction(t *testing.T) {
	s := newDatabase(t).serve()
	c, other := s.conn(""), s.conn("")
	run(t, c, "create database d")
	run(t, other, "use d")
	const levels = "select isolation_level from moka.transactions"
	for _, part := range []script{{
		{"use d", ""}, {"create table a (i int primary key)", ""},
		{"create function f() returns int begin set transaction read only; return 1; end", ""},
		{"create procedure p() begin set transaction read only; insert into a values (90); end", ""},
	}, { // it ends with the first statement that looks at a table
		{"set transaction read only", ""}, {"insert into a values (1)", "error 1792"},
		{"select 'still'", "still"},
		{"insert into a values (2)", "error 1792"}, {"select count(*) from a", "0"},
		{"insert into a values (3)", ""},
		{"select @@transaction_read_only, @@transaction_isolation", "0 REPEATABLE-READ"},
	}, { // with COMMIT, of nothing, and of a transaction
		{"set transaction read only", ""}, {"commit", ""}, {"insert into a values (4)", ""},
		{"set transaction read only", ""}, {"begin", ""}, {"set transaction read write", "error 1568"},
		{"set @@transaction_isolation = 'serializable'", "error 1568"},
		{"insert into a values (5)", "error 1792"}, {"commit", ""},
		{"insert into a values (6)", ""},
	}, { // variables without a scope are the same, those of the session are not
		{"set @@transaction_read_only = 1", ""}, {"select @@transaction_read_only", "0"},
		{"insert into a values (7)", "error 1792"}, {"rollback", ""}, {"insert into a values (8)", ""},
		{"set @@transaction_read_only = on", ""}, {"set @@transaction_read_only = default", ""},
		{"insert into a values (9)", ""}, {"set @@transaction_isolation = 'none'", "error 1231"},
		{"set @@transaction_read_only = null", "error 1231"}, {"set transaction = 'read only'", "error 1193"},
		{"set transaction_read_only = 1", ""}, {"insert into a values (10)", "error 1792"},
		{"select i from a where i = 3", "3"}, {"insert into a values (10)", "error 1792"},
		{"create table b (i int)", "error 1792"}, {"start transaction read write", ""},
		{"insert into a values (10)", ""},
		{"commit and chain", ""}, {"insert into a values (11)", ""}, {"commit", ""},
		{"insert into a values (12)", "error 1792"}, {"set transaction read write", ""},
		{"insert into a values (12)", ""},
		{"insert into a values (13)", "error 1792"}, {"set @@session.transaction_read_only = 0", ""},
	}, { // a schema change is a transaction by itself, which ends what was before it
		{"set transaction read only", ""}, {"create table b (i int)", "error 1792"},
		{"select i from a where i = 3", "3"},
		{"set transaction isolation level serializable", ""}, {"create table b (i int)", ""},
		{"drop table b", ""},
		{"begin", ""}, {"select count(*) from a where i = 3", "1"}, {levels, "REPEATABLE READ"},
		{"commit", ""},
	}, { // CHAIN goes on with it
		{"set transaction read only", ""}, {"commit and chain", ""},
		{"insert into a values (20)", "error 1792"},
		{"commit and chain", ""}, {"insert into a values (20)", "error 1792"}, {"commit", ""},
		{"insert into a values (20)", ""},
		{"set transaction isolation level serializable, read only", ""}, {"begin", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "SERIALIZABLE"}, {"rollback and chain", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "SERIALIZABLE"},
		{"insert into a values (21)", "error 1792"},
		{"rollback", ""}, {"begin", ""}, {"select count(*) from a where i = 3", "1"},
		{levels, "REPEATABLE READ"},
		{"begin", ""}, {"insert into a values (21)", ""}, {"rollback", ""},
		{"set transaction isolation level read committed", ""}, {"start transaction read only", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "READ COMMITTED"},
		{"insert into a values (21)", "error 1792"},
		{"start transaction read write", ""}, {"insert into a values (21)", ""}, {levels, "REPEATABLE READ"},
		{"rollback", ""},
	}, { // without autocommit a transaction begins with the first look at a table
		{"set autocommit = 0", ""}, {"set transaction read only", ""}, {"select 1", "1"},
		{"set transaction read write", ""}, {"set transaction isolation level read committed", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "READ COMMITTED"},
		{"set transaction read only", "error 1568"},
		{"set session transaction isolation level serializable", ""}, {levels, "READ COMMITTED"},
		{"commit", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "SERIALIZABLE"}, {"commit", ""},
		{"set session transaction isolation level repeatable read", ""},
		{"select count(*) from a where i = 3", "1"}, {levels, "REPEATABLE READ"}, {"commit", ""},
		{"set autocommit = 1", ""},
	}, { // bodies, and prepared statements
		{"select f()", "error 1568"}, {"call p()", "error 1792"}, {"select i from a where i = 3", "3"},
		{"insert into a values (30)", ""}, {"prepare q from 'set transaction read only'", ""},
		{"insert into a values (31)", ""}, {"execute q", ""}, {"insert into a values (32)", "error 1792"},
		{"rollback", ""}, {"insert into a values (32)", ""},
		{"set @v = 1", ""}, {"prepare q from 'set @@transaction_read_only = ?'", ""},
		{"execute q using @v", ""},
		{"insert into a values (33)", "error 1792"}, {"rollback", ""},
		{"set @x = 1, @@transaction_isolation = 'READ-COMMITTED', @y = 2", ""}, {"begin", ""},
		{"select count(*), @x, @y from a where i = 3", "1 1 2"}, {levels, "READ COMMITTED"}, {"rollback", ""},
	}} {
		part.run(t, c)
	}
}
