package sqlfront_test

import (
	"slices"
	"strings"
	"testing"
)

// TestNearestNumbers: what has no room in a column of numbers is the nearest value there is, and not what is
// left of it when it goes round the other way: '300abc' was 44 in a TINYINT, '-5abc' 251 in an unsigned one,
// '9223372036854775808' the least BIGINT, with no error even in strict mode, and '1e999' an infinite DOUBLE.
func TestNearestNumbers(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table n (k int auto_increment primary key, v varchar(40), a tinyint, u tinyint unsigned, "+
			"b bigint, bu bigint unsigned, f float, d double, y year)",
		"create table m like n", "create trigger x before insert on m for each row set @x = 1")
	for _, q := range []struct{ value, ints, bigs, doubles, year, strict string }{
		{"'300abc'", "127 255", "300 300", "300 300", "0", "a u y b bu f d"},
		{"'-300abc'", "-128 0", "-300 0", "-300 -300", "0", "a u y b bu f d"},
		{"'9223372036854775808'", "127 255", "9223372036854775807 9223372036854775808",
			"9.223372e+18 9.223372036854776e+18", "0", "a u y b"},
		{"9223372036854775808e0", "127 255", "9223372036854775807 9223372036854775808",
			"9.223372e+18 9.223372036854776e+18", "0", "a u y b"},
		{"'-9223372036854775809.5'", "-128 0", "-9223372036854775808 0",
			"-9.223372e+18 -9.223372036854776e+18", "0", "a u y b bu"},
		{"'1e999'", "127 255", "9223372036854775807 18446744073709551615",
			"3.4028235e+38 1.7976931348623157e+308", "0", "a u y b bu f d"},
		{"'-1e999'", "-128 0", "-9223372036854775808 0",
			"-3.4028235e+38 -1.7976931348623157e+308", "0", "a u y b bu f d"},
		{"2.5e0", "2 2", "2 2", "2.5 2.5", "2002", ""}, {"2.5", "3 3", "3 3", "2.5 2.5", "2003", ""},
		{"'2.5'", "3 3", "3 3", "2.5 2.5", "2003", ""},
		{"'12x'", "12 12", "12 12", "12 12", "2012", "a u y b bu f d"},
		{"'0'", "0 0", "0 0", "0 0", "2000", ""}, {"0", "0 0", "0 0", "0 0", "0", ""},
		{"200", "127 200", "200 200", "200 200", "0", "a y"},
	} {
		run(t, c, "set sql_mode = ''")
		for _, table := range []string{"n", "m"} {
			run(t, c, "delete from n", "delete from m",
				"insert into "+table+" (v, a, u, b, bu, f, d, y) values ("+q.value+
					strings.Repeat(", "+q.value, 7)+")")
			want := q.ints + " " + q.bigs + " " + q.doubles + " " + q.year
			read := "select a, u, b, bu, f, d, y+0 from " + table
			if got := results(t, c, read); got != want {
				t.Errorf("insert of %s into %s: %s, want %s", q.value, table, got, want)
			}
			run(t, c, "update "+table+
				" set a = null, u = null, b = null, bu = null, f = null, d = null, y = null")
			run(t, c, "update "+table+" set a = "+q.value+", u = "+q.value+", b = "+q.value+", bu = "+q.value+
				", f = "+q.value+", d = "+q.value+", y = "+q.value)
			if got := results(t, c, read); got != want {
				t.Errorf("update of %s to %s: %s, want %s", table, q.value, got, want)
			}
		}
		run(t, c, "set sql_mode = default", "delete from n", "insert into n (k) values (1)")
		for _, column := range strings.Fields("a u b bu f d y") {
			refused := slices.Contains(strings.Fields(q.strict), column)
			for _, write := range []string{"insert into n (" + column + ") values (" + q.value + ")",
				"insert into m (" + column + ") values (" + q.value + ")",
				"update n set " + column + " = " + q.value + " where k = 1",
				"insert into n (k) values (1) on duplicate key update " + column + " = " + q.value} {
				if _, err := c.ExecContext(t.Context(), write); (err != nil) != refused {
					t.Errorf("%s: %v", write, err)
				}
			}
		}
	}
}

// TestBits: a BIT that has no room is refused by its column's name, and all ones where that is no error; it
// was 0.
func TestBits(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table b (a bit(4), l bit(64))")
	for _, v := range []string{"16", "'ab'", "-1", "1e3", "b'10000'", "15.7"} {
		wantError(t, c, "insert into b (a) values ("+v+")", 1406)
	}
	run(t, c, "set sql_mode = ''",
		"insert into b values (16, 1e30), (-1, -1), ('ab', '123456789'), (3.5, 3.5)",
		"insert into b values (0, 0)", "update b set a = 99 where a = 0")
	want(t, c, "select hex(a), hex(l) from b", "F FFFFFFFFFFFFFFFF; F FFFFFFFFFFFFFFFF; F FFFFFFFFFFFFFFFF; "+
		"4 4; F 0")
}

// TestFractionsOfMembers: an ENUM or SET takes of a number what is before the point, TRUE is 1, and spaces at
// the end of an ENUM's text do not count; 1.5 was the second member, and TRUE and 'A ' none.
func TestFractionsOfMembers(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table m (e enum('a','b','c'), s set('a','b','c'))",
		"insert into m values (1.5, 1.5), (2.5e0, 2.5e0), (true, true), ('A ', 'b')")
	want(t, c, "select e, s from m", "a a; b b; a a; a b")
}

// TestNumbersInTexts: a number that is too long for its CHAR is cut as a text is; it was ”.
func TestNumbersInTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table c (a char(3), v varchar(3), b varbinary(3))",
		"set sql_mode = ''", "insert into c values (123456, 1234.5, 123456), (-123456, true, x'31323334'), "+
			"(x'3132333435', cast(123456 as unsigned), -1234)")
	want(t, c, "select a, v, b from c", "123 123 123; -12 1 123; 123 123 -12")
	run(t, c, "update c set a = 98765, v = 9876.5")
	want(t, c, "select distinct a, v from c", "987 987")
}

// TestCountedTexts: a text that is given to an AUTO_INCREMENT column is the number that it is; '90.6' was
// none.
func TestCountedTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table a (id int auto_increment primary key, v int)",
		"insert into a values ('90.6', 1), (null, 2), (95.5, 3), ('0', 4), (98.5e0, 5)")
	want(t, c, "select id from a order by v", "91; 92; 96; 97; 98")
	wantError(t, c, "insert into a values ('x', 1)", 1366)
	wantError(t, c, "insert into a values ('99999999999', 1)", 1264)
}

// TestLargeTexts: a text beyond the largest DOUBLE is that DOUBLE, with a warning, to functions of numbers.
func TestLargeTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	want(t, c, "select sqrt('1e400')", "1.3407807929942596e+154")
	for _, q := range []string{"abs('1e400')", "cast('1e400' as double)", "'1e400' + 0"} {
		want(t, c, "select "+q, "1.7976931348623157e+308")
		want(t, c, "show warnings", "Warning 1292 Truncated incorrect DOUBLE value: '1e400'")
	}
}

// TestSignedLiterals: an integer that is written down has a sign, whether or not a type without one is
// smaller: SET @a = 200 made @a - 300 error 1690, and CREATE TABLE … SELECT 200 a TINYINT UNSIGNED.
func TestSignedLiterals(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d")
	for _, n := range []string{"200", "40000", "3000000000"} {
		run(t, c, "set @a = "+n)
		want(t, c, "select @a - 3000000001 < 0", "1")
		want(t, c, "select @b := "+n+", @b - 3000000001 < 0", n+" 1")
		want(t, c, "select coalesce("+n+", 1) - 3000000001 < 0", "1")
	}
	run(t, c, "create table t as select 200 as x, 1 as y, 40000 as z, 3000000000 as b, "+
		"9223372036854775808 as u, -200 as n")
	want(t, c, "select column_name, column_type from information_schema.columns where table_name = 't' "+
		"order by ordinal_position", "x int; y int; z int; b bigint; u bigint unsigned; n int")
	run(t, c, "create table s (x tinyint unsigned) select 200 as x")
	want(t, c, "select column_type, (select x from s) from information_schema.columns where table_name = 's'",
		"tinyint unsigned 200")
}

// TestTimesAsIntegers: a TIME or DATETIME is rounded to seconds before it is an integer: 59.6 seconds were 60
// of them.
func TestTimesAsIntegers(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table i (k int, n bigint, d datetime(6), t time(6))",
		"insert into i values (1, timestamp'2024-12-31 23:59:59.5', '2024-01-01 10:00:59.6', '10:00:59.6')",
		"insert into i select 2, d, null, null from i",
		"insert into i select 3, t, null, null from i where k = 1")
	want(t, c, "select n from i order by k", "20250101000000; 20240101100100; 100100")
	run(t, c, "update i set n = t where k = 1")
	want(t, c, "select n, cast(d as signed), cast(t as unsigned) from i where k = 1",
		"100100 20240101100100 100100")
	want(t, c, "select cast(cast('2024-01-01 10:00:00.6' as datetime(6)) as signed)", "20240101100001")
}

// TestTimesOfTexts: what a TIME is of texts and numbers. '2024-1-5' was 23:58:55, '--5' five seconds; the
// errors had no number of MySQL's.
func TestTimesOfTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table s (t time(2))", "create table r like s",
		"create trigger x before insert on r for each row set @x = 1")
	for _, q := range []struct {
		value, want string
		fits        bool
	}{
		{"'2024-1-5'", "00:20:24.00", false}, {"'--5'", "00:00:00.00", false},
		{"'1e3'", "00:00:00.00", false},
		{"'1_000'", "00:00:01.00", false}, {"'10:11:12x'", "10:11:12.00", false},
		{"' 12 '", "00:00:12.00", true},
		{"'2024-01-05 10:11:12.345'", "10:11:12.35", true}, {"'20240105101112'", "10:11:12.00", true},
		{"20240105101112", "10:11:12.00", true}, {"160", "00:00:00.00", false},
		{"'1 10'", "34:00:00.00", true},
		{"10112.567", "01:01:12.57", true}, {"9e6", "838:59:59.00", false}, {"''", "00:00:00.00", false},
		{"'-839:00:00'", "-838:59:59.00", false},
	} {
		for _, table := range []string{"s", "r"} {
			insert := "insert into " + table + " values (" + q.value + ")"
			run(t, c, "delete from "+table, "set sql_mode = ''", insert)
			want(t, c, "select t from "+table, q.want)
			run(t, c, "update "+table+" set t = null", "update "+table+" set t = "+q.value)
			want(t, c, "select t from "+table, q.want)
			run(t, c, "set sql_mode = default")
			for _, write := range []string{insert, "update " + table + " set t = " + q.value} {
				if q.fits {
					run(t, c, write)
				} else {
					wantError(t, c, write, 1292)
				}
			}
		}
	}
}
