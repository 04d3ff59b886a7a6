package sqlfront_test

import (
	"context"
	"testing"
)

// TestDeclaredDigits: TIME(n), FLOAT(M,D) and DOUBLE(M,D) keep their digits, in both protocols, by the
// planner and by the plan cache.
func TestDeclaredDigits(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, a time comment 'hi', b time(3), c time(6), f float(7,4), g double(10,2), h float, key (b))",
		"insert into t values (1, '10:11:12.6', '10:11:12.3456', '-10:11:12.3456', 13.37, 2.345, 0.1)")
	const row = "1 10:11:13 10:11:12.346 -10:11:12.345600 13.37 2.35 0.1"
	for range 3 {
		want(t, c, "select * from t where id = 1", row)
		want(t, c, "select * from t as x where x.id = ?", "1 10:11:13 10:11:12.346 -10:11:12.345600 13.37 2.35 0.1", 1)
	}
	want(t, c, "select x.b, x.f from d.t as x join t y on x.id = y.id", "10:11:12.346 13.37")
	want(t, c, "select id from t where b = '10:11:12.346'", "1")
	want(t, c, "select count(*) from t where b > '10:11:12.3455' and b < '10:11:12.3465'", "1")
	run(t, c, "update t set b = '1:2:3.0005', f = 1.23456 where id = 1")
	want(t, c, "select b, f from t", "01:02:03.001 1.2346")
	want(t, c, "select column_type, column_comment, ifnull(datetime_precision, numeric_scale) from information_schema.columns where table_schema = 'd' order by ordinal_position",
		"int  0; time hi 0; time(3)  3; time(6)  6; float(7,4)  4; double(10,2)  2; float  NULL")
	_, err := c.ExecContext(context.Background(), "update t set f = 1000")
	wantErr(t, "too large", err, 1264, "22003")
	_, err = c.ExecContext(context.Background(), "create table u (a time(7))")
	wantErr(t, "seven digits", err, 1426, "42000")
	_, err = c.ExecContext(context.Background(), "create table u (a float(3,4))")
	wantErr(t, "more digits than digits", err, 1427, "42000")
	// They stay with the column, and change with it.
	run(t, c, "create table u like t", "alter table u rename column b to bb", "alter table u alter column g set default 1.5")
	want(t, c, "select group_concat(column_type order by ordinal_position) from information_schema.columns where table_name = 'u'",
		"int,time,time(3),time(6),float(7,4),double(10,2),float")
	run(t, c, "alter table t modify c time(1)", "alter table t modify f float")
	want(t, c, "select c, f from t", "-10:11:12.3 1.2346")
	// Another server over the same store.
	other := d.serve().conn("d")
	want(t, other, "select * from t", "1 10:11:13 01:02:03.001 -10:11:12.3 1.2346 2.35 0.1")
	want(t, other, "select cast('10:11:12.567' as time(1)), cast('10:11' as time) as x, cast('1:1:1.5' as time(2)) < '01:01:02', cast('2020-01-01 10:11:12' as time(6))",
		"10:11:12.6 10:11:00 1 10:11:12.000000")
}
