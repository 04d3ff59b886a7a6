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
