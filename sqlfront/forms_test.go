package sqlfront_test

import "testing"

// TestMoreForms: literals of bits as 0b11, TRIM of one side's blanks, and SOUNDS LIKE.
func TestMoreForms(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, sounds varchar(9), x varchar(9))",
		"insert into t values (1, 'abc', 'robert'), (2, 'rupert', 'rupert')")
	want(t, c, "select 0b11 + 0, hex(0b11111111), 0b01000001, 0b0 + 0, `0b11` from (select 5 as `0b11`) x",
		"3 FF A 0 5")
	want(t, c, "select concat('[', trim(leading from ' x '), trim(trailing from ' x '), "+
		"trim(both from ' x '), trim(leading 'a' from 'aba'), ']')", "[x  xxba]")
	want(t, c, "select 'hello' sounds like 'hallo', 'a' sounds like 'b', null sounds like 'a', "+
		"'a' sounds like 'a' and 0, not 'a' sounds like 'b', 'robert' sounds like concat('rup', 'ert')",
		"1 0 NULL 0 1 1")
	want(t, c, "select id, sounds like 'a%', sounds sounds like x, t.sounds sounds like x from t order by id",
		"1 1 0 0; 2 0 1 1")
	want(t, c, "select id from t where x sounds like 'rupert' and sounds sounds like x", "2")
	run(t, c, "create view v as select id, x sounds like 'rupert' y, 0b11 + 0 z, "+
		"trim(leading from ' a') w from t",
		"create function f(a text) returns int return a sounds like 'rupert'")
	want(t, c, "select *, f('robert') from v order by id", "1 1 3 a 1; 2 1 3 a 1")
}
