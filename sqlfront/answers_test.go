package sqlfront_test

import "testing"

// TestDatesAsConditions: a date or a time is true unless all of it is zero. 1970-01-01 was false, whose
// nanoseconds are 0, and a TIME no condition at all.
func TestDatesAsConditions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, d date, dt datetime(3), ts timestamp null, tm time)",
		`insert into t values (1, '1970-01-01', '1970-01-01 00:00:00', '1970-01-01 00:00:01', '00:00:00'),
			(2, null, null, null, null), (3, '2020-02-02', '2020-02-02 00:00:01', '2020-01-01', '00:00:01')`)
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 3 {
			script{
				{"select id from t where d order by id", "1;3"},
				{"select id from t where dt order by id", "1;3"},
				{"select id from t where not d", ""},
				{"select id from t where tm order by id", "3"},
				{"select id from t where d and id < 3", "1"},
				{"select id, d x from t having x order by id", "1 1970-01-01;3 2020-02-02"},
				{"select a.id, b.id from t a join t b on b.d order by 1, 2", "1 1;1 3;2 1;2 3;3 1;3 3"},
				{"select id, not d, d is true, d is false, d is not true from t order by id",
					"1 0 1 0 0;2 NULL 0 0 1;3 0 1 0 0"},
				{"select id, d and 1, d or 0, d xor 1, if(dt, 1, 2), case when ts then 1 else 2 end from " +
					"t order by id",
					"1 1 1 0 1 1;2 NULL NULL NULL 2 2;3 1 1 0 1 1"},
				{"select id, (select 1 from t x where x.id = t.id and x.d) from t order by id",
					"1 1;2 NULL;3 1"},
				{"select not date'1970-01-01', date'1970-01-01' is true, not timestamp'1970-01-01 00:00:00'",
					"0 1 0"},
				{"select not time'00:00:00', time'00:00:00' is true, time'00:00:01' is true", "1 0 1"},
				{"select 1 where date'1970-01-01'", "1"},
				{"select 1 where time'00:00:00'", ""},
			}.run(t, c)
		}
	}
	run(t, c, "set sql_mode = ''", "insert into t values (4, '0000-00-00', '0000-00-00', '0000-00-00', 0)")
	script{
		{"select id, not d, not dt, not ts from t where id = 4", "4 1 1 1"},
		{"delete from t where d", ""},
		{"select id from t order by id", "2;4"},
	}.run(t, c)
}

// TestOrderOfUnionsOfConstants: ORDER BY of a set operation whose first query is a constant without a name
// sorted by that constant, so not at all.
func TestOrderOfUnionsOfConstants(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"select 1 union select 2 order by 1 desc", "2;1"},
		{"select 1 union select 2 order by 1 desc limit 1", "2"},
		{"select 1 union all select 2 order by `1` desc", "2;1"},
		{"(select 'a') union (select 'b') order by 1 desc", "b;a"},
		{"select 1, 2 union all select 1, 5 union select 1, 4 order by 1, 2 desc", "1 5;1 4;1 2"},
		{"select date'2020-01-01' union all select date'2021-01-01' order by 1 desc",
			"2021-01-01;2020-01-01"},
		{"select x from (select 'a' x union select 'b' order by 1 desc limit 1) q", "b"},
		{"select (select 1 union select 2 order by 1 desc limit 1)", "2"},
		{"with w as (select 1 union select 3 order by 1 desc limit 1) select * from w", "3"},
		{"select 5 union all select * from (select 1 union select 9) q order by 1", "1;5;9"},
	}.run(t, c)
}

// TestBytesAsNumbers: VARBINARY, BLOB and what functions make of bytes are the numbers that their texts begin
// with. They were numbers by their bytes, as a hexadecimal literal, and that alone, is.
func TestBytesAsNumbers(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table b (id int primary key, x varbinary(10), bl blob, bi binary(3), key (x))",
		"insert into b values (1, '12', '12', '12'), (2, '7', '7', '7'), (3, '1e1x', '1e1x', '1x'), (4, "+
			"null, null, null)")
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache)
		for range 3 {
			script{
				{"select sum(x), avg(x), sum(bl), sum(bi), max(x + 0) from b where id < 3",
					"19 9.5 19 19 12"},
				{"select distinct sum(bl) over (), avg(x) over () from b where id < 3", "19 9.5"},
				{"select x + 0, bl * 1, -bi, x - 1, x div 1, x % 5, x / 2, x | 0 from b order by id",
					"12 12 -12 11 12 2 6 12;7 7 -7 6 7 2 3.5 7;10 10 -1 9 10 0 5 10;NULL NULL NULL NULL " +
						"NULL NULL NULL NULL"},
				{"select abs(x), round(x), sqrt(bl + 4), floor(x), mod(x, 5), truncate(x, 0), pow(x, 1), " +
					"ceil(bi) from b where id = 1",
					"12 12 4 12 2 12 12 12"},
				{"select sqrt(x), sign(bi), exp(x) > 1, cast(x as double), cast(x as decimal(5,1)) from b " +
					"where id = 2",
					"2.6457513110645907 1 1 7 7.0"},
				{"select id from b where x > 6 order by id", "1;2;3"},
				{"select id from b where 6 < bl order by id", "1;2;3"},
				{"select id from b where x = 12", "1"},
				{"select id from b where bl in (12, 7) order by id", "1;2"},
				{"select id from b where bl between 6 and 11 order by id", "2;3"},
				{"select id from b where x in (select 7 union select 12) order by id", "1;2"},
				{"select id from b where 7 in (select x from b)", "1;2;3;4"},
				{"select id from b where x > (select 8) order by id", "1;3"},
				{"select id from b where x > all (select 5) order by id", "1;2;3"},
				{"select l.id, r.id from b l join b r on l.id = r.bi", "1 3"},
				{"select id from b where x = '12' or x = x'37' order by id", "1;2"},
				{"select case x when 12 then 'y' else 'n' end, nullif(x, 12), x <=> 7 from b where id < 3 " +
					"order by id",
					"y NULL 0;n 7 1"},
			}.run(t, c)
		}
	}
	script{
		{"select x'41' + 0, b'101' + 0, 0x41 + 1, x'41' | 0, -x'41', x'41' > 64, x'41' = 'A', sum(x'41'), " +
			"floor(x'41')",
			"65 5 66 65 -65 1 1 65 65"},
		{"select unhex('3132') + 0, cast('12' as binary) + 0, _binary'12' + 0, concat(x'31') + 0, " +
			"sum(char(65))",
			"12 12 12 1 0"},
		{"select 1 where unhex('3132') = 12", "1"},
		{"select 1 where unhex('3132') > 13", ""},
		{"select char(70) in (select 0), 1 in (select char(49)), char(70) in (select 'F')", "1 1 1"},
		{"set @b = x'3132'", ""},
		{"select @b + 0, @b > 5", "12 1"},
		{"create table n (i int, d double, c decimal(10,2), u bigint unsigned)", ""},
		{"insert into n select x, x, x, x from b where id < 3 order by id", ""},
		{"insert into n values (unhex('3133'), unhex('3133'), unhex('3133'), " +
			"unhex('39393939393939393939'))", ""},
		{"insert into n values (x'41', x'41', x'41', x'41')", ""},
		{"insert into n (i) select x from b where id = 3", "error 1265"},
		{"update n set i = (select x from b where id = 2), u = unhex('35') where i = 12", ""},
		{"select * from n order by d", "7 7 7.00 7;7 12 12.00 5;13 13 13.00 9999999999;65 65 65.00 65"},
	}.run(t, c)
}

// TestAggregatesOfTexts: SUM and AVG over a window of nothing are NULL, and the aggregates of bits take texts
// for numbers, also over windows.
func TestAggregatesOfTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, v varchar(10), f double, "+
		"n int)",
		"insert into t values (1, null, null, null), (2, '1.5', 1.5, 1), (3, null, null, null), (4, null, "+
			"null, null), (5, '7abc', 7, 6)")
	script{
		{"select sum(v) over w, avg(v) over w, sum(f) over w, avg(f) over w from t window w as (order by " +
			"id rows 1 preceding) order by id",
			"NULL NULL NULL NULL;1.5 1.5 1.5 1.5;1.5 1.5 1.5 1.5;NULL NULL NULL NULL;7 7 7 7"},
		{"select distinct sum(v) over (), avg(f) over () from t where id = 1", "NULL NULL"},
		{"select bit_and(v), bit_or(v), bit_xor(v), bit_or('12abc') from t where v is not null", "2 7 5 12"},
		{"select id, bit_or(n) over (order by id), bit_and(n) over (order by id rows 1 preceding), " +
			"bit_xor(n) over () from t where id in (2, 5)",
			"2 1 1 7;5 7 0 7"},
	}.run(t, c)
}

// TestCastsToLengths: CAST to a text or to bytes of a length cuts, also what has the type without a length.
func TestCastsToLengths(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (x longtext, b longblob)", "insert into t "+
		"values ('é€xyz', 'abcd')")
	script{
		{"select cast(cast('2024-02-29' as char) as char(3)), convert('abcdef', char(3)), cast('ab' as " +
			"nchar(1)), cast(12345 as char(2))",
			"202 abc a 12"},
		{"select cast(x as char(2)), hex(cast(b as binary(2))), hex(cast(b as binary(5))), cast(x as " +
			"char) from t",
			"é€ 6162 6162636400 é€xyz"},
		{"select cast(x as char(0)), cast(null as char(2)), cast(date'2020-02-02' as char(4)) from t",
			" NULL 2020"},
		{"prepare p from 'select cast(? as char(2))'", ""},
		{"set @x = 'xyz'", ""},
		{"execute p using @x", "xy"},
		{"create procedure q() select cast(x as char(3)) from t", ""},
		{"call q()", "é€x"},
	}.run(t, c)
}

// TestGeometryInTexts: a geometry is its bytes to a column of texts or bytes, which has no more of them than
// it is long, and none that its character set does not have.
func TestGeometryInTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table g (id int primary key, b binary(3), vb varbinary(3), c char(5), v varchar(40), t "+
			"tinytext, bl blob)",
		"insert into g (id) values (1)")
	script{
		{"insert into g (id, b) values (2, point(1, 2))", "error 1406"},
		{"insert into g (id, vb) values (2, point(1, 2))", "error 1406"},
		{"insert into g (id, c) values (2, point(1, 2))", "error 1406"},
		{"insert into g (id, v) values (2, point(1, 2))", "error 1366"},
		{"insert into g (id, t) values (2, point(1, 2))", "error 1366"},
		{"update g set vb = point(1, 2)", "error 1406"},
		{"update g set t = point(1, 2)", "error 1366"},
		{"insert into g (id, vb) select 2, point(1, 2)", "error 1406"},
		{"insert into g (id, v) values (1, null) on duplicate key update v = point(1, 2)", "error 1366"},
		{"insert into g (id, bl) values (2, point(1, 2))", ""},
		{"select hex(bl) from g where id = 2", "000000000101000000000000000000F03F0000000000000040"},
		{"set sql_mode = ''", ""},
		{"insert into g (id, c) values (4, point(1, 2))", ""},
		{"select hex(c) from g where id = 4", "0000000001"},
		{"insert into g (id, vb, v, t) values (3, point(1, 2), point(1, 2), point(1, 2))", ""},
		{"select length(vb), char_length(v) <= 25 from g where id = 3", "3 1"},
	}.run(t, c)
}

// TestOddComparisons: FIELD with a number among its arguments compares numbers, GREATEST and LEAST of dates
// and numbers, too, and of JSON texts.
func TestOddComparisons(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"select field('abc', 5, 0), field(1.0, 2, 1), field('1', 1.00), field('a', 'b', 'A'), field(3, " +
			"1, 3), field(null, 0)",
			"2 2 1 2 2 0"},
		{"select least(timestamp'1999-12-31 12:34:56', 20240229123456), greatest(date'2024-01-01', 20240229)",
			"1999-12-31 12:34:56 20240229"},
		{"select greatest(cast('\"b\"' as json), cast('\"a\"' as json)), greatest(time'10:00:00', " +
			"time'11:00:00')",
			"\"b\" 11:00:00"},
		{"select concat(mod(-2.5, 1e-5)), mod(5.5, 2e0), mod(5, 0e0), 7 % 2.5",
			"-0.000009999999999795493 1.5 NULL 2.0"},
		{"select concat(1.7e19), cast(1.7e19 as char), concat(1e15), concat(1e14), concat_ws(',', 1e-20, " +
			"1.5e0), concat(0.00001e0)",
			"1.7e19 1.7e19 1e15 100000000000000 1e-20,1.5 0.00001"},
	}.run(t, c)
}

// TestOddTimes: parts and texts of times beyond a day and below zero, of dates with zeros, and fractions in
// intervals of several units.
func TestOddTimes(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"select cast('2024-1-5' as time), cast('2024-01-05' as time), cast('10:11:12' as time), " +
			"cast('-10:11:12' as time)",
			"00:20:24 00:20:24 10:11:12 -10:11:12"},
		{"select time_format('100:11:12', '%H %k %h %l'), time_format(time'-10:11:12.5', '%H %i'), " +
			"time_format('5:11:12', '%k %l')",
			"100 100 04 4 -10 11 5 5"},
		{"select time_format('13:05:09.25', '%r|%T|%f|%p|%I|%s|%%|%x'), time_format('13:05:09.25', " +
			"'%r|%T|%f|%p|%I|%s|%%|%q')",
			"NULL 01:05:09 PM|13:05:09|250000|PM|01|09|%|q"},
		{"select time_format('2024-01-02 10:11:12', '%H:%i'), time_format(null, '%H'), " +
			"time_format('10:11:12', null)",
			"10:11 NULL NULL"},
		{"select date_sub('2024-01-01', interval '1' hour_microsecond), date_add('2024-01-01', interval " +
			"'1.5' second_microsecond)",
			"2023-12-31 23:59:59.900000 2024-01-01 00:00:01.500000"},
		{"select date_add('2024-01-01', interval '1:000002' minute_microsecond)",
			"2024-01-01 00:00:01.000002"},
		{"select quarter('2024-00-00'), month('2024-00-00'), day('2024-05-00'), year('2024-00-00'), " +
			"dayofmonth('2024-05-00'), month('2024-05-06'), month('x'), quarter('2024-11-00')",
			"0 0 0 2024 0 5 NULL 4"},
	}.run(t, c)
}

// TestTimesOfVariables: a variable, a parameter and a result of TIME(n) have n digits.
func TestTimesOfVariables(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		`create procedure p() begin declare x time; declare z time(2) default '1:00:00.555';
			set x = '10:11:12.56'; select x, z, x + 0, z + 0; end`,
		"create function f(x time) returns time(1) deterministic return addtime(x, '0:0:0.26')")
	script{
		{"call p()", "10:11:13 01:00:00.56 101113 10000.56"},
		{"select f('1:00:00.7')", "01:00:01.3"},
	}.run(t, c)
}

// TestWhatFunctionsLeaveOut: UNCOMPRESS was NULL of all beyond 32 KiB, FORMAT 0.00 of doubles from 2^63 on,
// and DATE_FORMAT's %y of 2005 5.
func TestWhatFunctionsLeaveOut(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"select length(uncompress(compress(repeat('abcd', 8192)))), md5(uncompress(compress(repeat('q', " +
			"1000000))))", "32768 d1eb8f494cdb49716f8a7d6296d5f965"},
		{"select uncompress(compress('')) = '', uncompress('abc'), uncompress(concat(0x01000000, " +
			"substring(compress('xyz'), 5))), uncompress(concat(0x03000000, 'junk'))", "1 NULL NULL NULL"},
		{"select format(1e20, 2), format(-9.3e18, 0), format(9223372036854775808e0, 1), format(2.5e0, 1)",
			"100,000,000,000,000,000,000.00 -9,300,000,000,000,000,000 9,223,372,036,854,776,000.0 2.5"},
		{"select length(format(1.5e300, 0)), format(1234.5e0, 3), format(-0.4e0, 0)", "401 1,234.500 0"},
		{"select date_format('2005-03-04 01:02:03', '%y|%Y|%#|%.|%%|%'), date_format('0099-01-01', " +
			"'%X %x %y')",
			"05|2005|#|.|%|% 0098 0099 99"},
	}.run(t, c)
}
