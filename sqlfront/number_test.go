package sqlfront_test

import "testing"

// TestTextsAsDecimals puts texts that are no plain numbers where DECIMALs are (P: '12e', '1e4294967296' and
// -UUID() ended the connection, '1e3000000' and three million digits held a processor for minutes): compared,
// in indexes and joins, in arithmetic, casts and columns. A text is the number it begins with, in the range
// that there is. Expected values are MariaDB's.
func TestTextsAsDecimals(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, d decimal(10,2), key (d))", "insert into t values (1, 12), (2, 0), (3, 12.34), (4, 99999999.99), (5, -1)",
		"create table s (id int primary key, v varchar(100))",
		"insert into s values (1, '12e'), (2, '1e4294967296'), (3, '12'), (4, '-1e-4294967296'), (5, 'abc'), (7, '1e3000000'), (8, '12.5xyz'), (9, '1e'), (10, '0x1f'), (11, '1_000'), (12, 'inf')")
	script{
		{"select id from t where d = '12e'", "1"},
		{"select id from t where d < '1e4294967296' order by id", "1;2;3;4;5"},
		{"select id from t where d > '1e3000000'", ""},
		{"select id from t where d in ('12e', 'abc', '1e99999999') order by id", "1;2"},
		{"select id from t where d between '0' and '1e99999999' order by id", "1;2;3;4"},
		{"select id from t where d < 99999999999999999999.5 order by id", "1;2;3;4;5"},
		{"select id from t where d in (12, 1e30)", "1"},
		{"select id from t where (d, id) = ('12e', 1)", "1"},
		{"select id, cast(v as decimal), cast(v as decimal(10,2)) from s order by id", "1 12 12.00;2 9999999999 99999999.99;3 12 12.00;4 0 0.00;5 0 0.00;" +
			"7 9999999999 99999999.99;8 13 12.50;9 1 1.00;10 0 0.00;11 1 1.00;12 0 0.00"},
		{"select id, -v, v + 1.5 from s where id in (1, 3, 4, 5, 8, 9, 10, 11, 12) order by id", "1 -12 13.5;3 -12 13.5;4 0 1.5;5 0 1.5;8 -12.5 14;9 -1 2.5;10 0 1.5;11 -1 2.5;12 0 1.5"},
		{"select id from s where v > 1.50 order by id", "1;2;3;7;8"},
		{"select s.id, t.id from s join t on s.v = t.d order by 1, 2", "1 1;3 1;4 2;5 2;10 2;12 2"},
		{"select s.id, t.id from t join s on s.v <=> t.d order by 1, 2", "1 1;3 1;4 2;5 2;10 2;12 2"},
		{"select id, case v when 12.0 then 'x' else 'y' end, nullif(v, 12.0) from s where id < 4 order by id", "1 x NULL;2 y 1e4294967296;3 x NULL"},
		{"select id from t where d in (select v from s) order by id", "1;2"},
		{"select id from s where v in (select d from t) order by id", "1;3;4;5;10;12"},
		{"select id from t where d = any (select v from s) order by id", "1;2"},
		{"select id from t where d = (select v from s where id = 1)", "1"},
		{"select id from t where (d, id) in (select v, id from s)", "1"},
		{"select sum(v), avg(v) from s where id in (1, 3, 5, 8)", "36.5 9.125"},
		{"select -'1e3000000' < -1e300, -'12e', length(-uuid()) > 0", "1 -12 1"},
		{"select cast(repeat('9', 3000000) as decimal), cast(concat('0.', repeat('9', 3000000)) as decimal(10,2))", "9999999999 1.00"},
		{"select cast('-1e20' as decimal(10,2)), cast(1e300 as decimal(10,2))", "-99999999.99 99999999.99"},
		{"select cast(1 as decimal(66,1))", "error 1426"},
		{"select cast(timestamp'2021-02-03 04:05:06.789' as decimal(20,3)), cast(date'2020-01-02' as decimal)", "20210203040506.789 20200102"},
		{"insert into t values (10, '12e')", "error 1265"},
		{"insert into t values (11, '1e4294967296')", "error 1264"},
		{"insert into t values (12, 'abc')", "error 1366"},
		{"update t set d = '12e' where id = 1", "error 1265"},
		{"update t set d = '1e3000000' where id = 1", "error 1264"},
		{"insert ignore into t values (12, '12e'), (13, '1e4294967296'), (14, '-1e4294967296'), (15, 'abc'), (16, '1e-4294967296'), (17, 1e30)", ""},
		{"update ignore t set d = '1e3000000' where id = 1", ""},
		{"select id, d from t where id = 1 or id >= 10 order by id", "1 99999999.99;12 12.00;13 99999999.99;14 -99999999.99;15 0.00;16 0.00;17 99999999.99"},
		{"alter table s modify v decimal(10,2)", "error 1265"},
		{"set @d = cast('12' as decimal(5,1))", ""},
		{"select @d = '12e', @d in ('12e'), @d between '1e' and '13e'", "1 1 1"},
		{"prepare p from 'select id from t where d = ?'", ""},
		{"set @v = '12e'", ""},
		{"execute p using @v", "12"},
	}.run(t, c)
}
