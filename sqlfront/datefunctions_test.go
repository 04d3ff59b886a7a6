package sqlfront_test

import (
	"strings"
	"testing"
)

// TestNumbersAsDates: functions of dates and times take numbers, and texts that are no dates make NULL. What
// is expected is what MariaDB 10.11 gives.
func TestNumbersAsDates(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table n (id int primary key, n int, b bigint, s varchar(30), w decimal(20,2))",
		"insert into n values (1, 20240102, 20240102030405, '2024-2-30', 20240102030405.25)",
		"insert into n values (2, 240231, 123456, '24/1/2', 0)")
	for range 2 {
		script{
			{"select year(n), month(n), day(n), date(n), to_days(n), quarter(n), dayname(n) from n",
				"2024 1 2 2024-01-02 739252 1 Tuesday;NULL NULL NULL NULL NULL NULL NULL"},
			{"select hour(b), minute(b), second(b), time(b) from n", "3 4 5 03:04:05;12 34 56 12:34:56"},
			{"select date(b), date_add(n, interval 1 day), date_format(n, '%Y/%m') from n where id = 1",
				"2024-01-02 2024-01-03 2024/01"},
			{"select datediff(n, '2024-01-01'), timestampdiff(day, n, '2024-02-01'), last_day(n) from n",
				"1 30 2024-01-31;NULL NULL NULL"},
			{"select unix_timestamp(n) > 0, extract(month from n), cast(n as date) from n where id = 1",
				"1 1 2024-01-02"},
			{"select date_format(w, '%H:%i:%s.%f') from n", "03:04:05.250000;00:00:00.000000"},
			{"select year(s), cast(s as date), to_days(s), timestampdiff(day, s, '2024-01-01') from n",
				"NULL NULL NULL NULL;2024 2024-01-02 739252 -1"},
		}.run(t, c)
	}
	script{
		{"select cast('2000-02-30' as date), to_seconds('2000-02-30'), year('2024-13-01')", "NULL NULL NULL"},
		{"select timestampdiff(hour, 'abc', '2024-01-01'), date_format('abc', '%Y')", "NULL NULL"},
		{"select datediff('9999-12-31', '2024-01-02'), extract(week from '2024-01-01')", "2913172 0"},
		{"select date_format('0000-00-00', '%Y-%m-%d %H'), date_format('0000-00-00', '%M')",
			"0000-00-00 00 NULL"},
		{"select to_days('0000-00-00'), dayofweek('0000-00-00'), year('0000-00-00')", "NULL NULL 0"},
		{"select hour('2 03:04:05'), cast('2 03:04:05' as time)", "51 51:04:05"},
		{"select timestamp('2024-03-10 12:34:56.789', '1:00')", "2024-03-10 13:34:56.789"},
		{"select str_to_date(null, '%Y'), str_to_date(20240102, '%Y%m%d')", "NULL 2024-01-02"},
	}.run(t, c)
	script{{"select year('2000-02-30')", "NULL"},
		{"show warnings", "Warning 1292 Incorrect datetime value: '2000-02-30'"}}.run(t, c)
}

// TestEndsOfNumbers: the functions of numbers at the ends of their types.
func TestEndsOfNumbers(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table n (i int, s smallint, b bigint, u bigint unsigned, w decimal(30,10))",
		`insert into n values (-2147483648, -32768, 9223372036854775807, 18446744073709551615,
			12345678901234567890.5)`)
	script{
		{"select abs(i), abs(s), abs(b), abs(-128) from n", "2147483648 32768 9223372036854775807 128"},
		{"select bin(s), bit_count(u), bit_count(i), hex(u), hex(-0.005), oct(-1) from n",
			strings.Repeat("1", 49) + strings.Repeat("0", 15) +
				" 64 33 FFFFFFFFFFFFFFFF 0 1777777777777777777777"},
		{"select format(b, 0), format(u, 2), format(w, 1), format(-0.001, 2) from n",
			"9,223,372,036,854,775,807 18,446,744,073,709,551,615.00 12,345,678,901,234,567,890.5 0.00"},
		{"select w % 7, mod(255, 0.005), b % 0.1, mod(w, 0) from n", "1.5000000000 0.000 0.0 NULL"},
		{"select coalesce(10, -1.5), ifnull(255, 2.45), coalesce(s, 1.5) from n", "10.0 255.00 -32768.0"},
		{"select inet_ntoa(-1), inet_ntoa(4294967296), inet_ntoa(16909060), inet_aton('1.2'), " +
			"inet_aton('1.2.3.256')",
			"NULL NULL 1.2.3.4 16777218 NULL"},
		{"select from_base64('-3'), from_base64('YW\nJj'), json_value('[\"x\"]', '$[0]')", "NULL abc x"},
		{`select json_unquote('{"k\\"":1}'), json_unquote('"a\\tb"')`, `{"k\"":1} ` + "a\tb"},
		{"select 'é' regexp '^[[:alpha:]]$', 'é' regexp '\\\\W', '日本' regexp '^\\\\w+$'", "1 0 1"},
	}.run(t, c)
	wantError(t, c, "select abs(-9223372036854775808)", 1690)
	script{
		{"select left(i, 3), right(i, 3), reverse(b), substring(u, 2, 3), mid(s, 1, 2) from n",
			"-21 648 7085774586302733229 844 -3"},
		{"select left(12, 1), substring(1.5, 1, 2), reverse(1.25), crc32(1.5), left(true, 1)",
			"1 1. 52.1 2270993338 1"},
	}.run(t, c)
}

// TestExtractAndStrToDate: parts of times by EXTRACT, and dates by STR_TO_DATE, as MySQL has them.
func TestExtractAndStrToDate(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"select extract(hour_second from '10:11:12'), extract(hour from '-100:02:03'), " +
			"extract(day_minute from '2024-01-02 03:04:05'), extract(minute_microsecond from '10:11:12.5')",
			"101112 -100 20304 1112500000"},
		{"select extract(day_microsecond from '2024-01-02 03:04:05.123456'), " +
			"extract(hour_second from 101112), extract(hour_second from time'-10:11:12'), " +
			"extract(hour from 'abc'), extract(minute from null)",
			"2030405123456 101112 -101112 NULL NULL"},
		{"select str_to_date('9','%m'), str_to_date('02,5,2013','%d,%m,%Y'), " +
			"str_to_date('May 1, 2013','%M %d,%Y'), str_to_date('09:30:17a','%h:%i:%s')",
			"NULL 2013-05-02 2013-05-01 09:30:17"},
		{"select str_to_date('200442 Monday','%X%V %W'), str_to_date('2004 42 1','%x %v %w'), " +
			"str_to_date('2004 42 Sun','%Y %U %a'), str_to_date('2004 42 Sun','%Y %u %a'), " +
			"str_to_date('2004 42 Sun','%X %U %a')",
			"2004-10-18 2004-10-11 2004-10-17 2004-10-17 NULL"},
		{"select str_to_date('2024 60','%Y %j'), str_to_date('31-02-2024','%d-%m-%Y'), " +
			"str_to_date('70-01-01','%y-%m-%d'), str_to_date('13:11:12 AM','%r'), " +
			"str_to_date('10:11:12 PM','%r'), str_to_date('2 10','%d %H')",
			"2024-02-29 NULL 1970-01-01 NULL 22:11:12 58:00:00"},
		{"select str_to_date('22nd sep 2024','%D %b %Y'), str_to_date('2024--01..02','%Y%.%m%.%d'), " +
			"str_to_date('2024-01-02 10.5','%Y-%m-%d %H.%f'), str_to_date('','%Y')",
			"2024-09-22 2024-01-02 2024-01-02 10:00:00.500000 NULL"},
	}.run(t, c)
}

// TestCastsToIntegers: CAST to integers rounds and ends as MySQL's.
func TestCastsToIntegers(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table bytes (id int primary key, v varbinary(10))",
		"insert into bytes values (1, '12')")
	script{
		{"select cast(-3.0 as unsigned), cast(-3.7 as unsigned), cast(-0.4 as unsigned), " +
			"cast(-3 as unsigned)",
			"0 0 0 18446744073709551613"},
		{"select cast(2.5e0 as signed), cast(3.5e0 as signed), cast(-2.5e0 as signed), " +
			"cast(2.5 as signed), cast(-2.5 as signed)", "2 4 -2 3 -3"},
		{"select cast('99999999999999999999' as signed), cast('-99999999999999999999' as signed), " +
			"cast('99999999999999999999' as unsigned), cast('9223372036854775808' as signed)",
			"-1 -9223372036854775808 18446744073709551615 -9223372036854775808"},
		{"select cast(18446744073709551615 as signed), cast(18446744073709551615.4 as unsigned), " +
			"cast(18446744073709551616.4 as unsigned), cast(1e30 as signed), cast(' 12abc' as signed)",
			"-1 18446744073709551615 18446744073709551615 9223372036854775807 12"},
		{"select cast(v as signed), cast(x'41' as unsigned), cast('-5' as unsigned) from bytes",
			"12 65 18446744073709551611"},
	}.run(t, c)
}
