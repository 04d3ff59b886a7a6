package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestValuesRows: VALUES ROW(…), ROW(…) is a union of its rows, whose types go together. To the library a
// column's type was that of its first value, mostly, and a NULL among decimals ended the connection.
func TestValuesRows(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int, b varchar(9))")
	for _, q := range []struct{ query, want string }{
		{"values row(0.5), row(null)", "0.5;NULL"}, {"values row(null), row(0.5)", "NULL;0.5"},
		{"values row(1), row(1 / 0)", "1.0000;NULL"},
		{"values row(1), row(18446744073709551615)", "1;18446744073709551615"},
		{"values row(null), row(date '2020-01-02')", "NULL;2020-01-02"},
		{"values row(1, 'a'), row(-1.5, 2)", "1.0 a;-1.5 2"},
		{"select count(*) from (select 1" + strings.Repeat(" union all select 1", 800) + ") d", "801"},
		{"select count(*) from (select 1" + strings.Repeat(" union select 2", 800) + ") d", "2"},
		{"values row(1, 2)", "1 2"}, {"values row(1, 2), row(3)", "error 1136"},
		{"values row(1), row(2) order by column_0 desc limit 1", "2"},
		{"select b + 1, a from (values row(1, 2), row(null, 3)) d (a, b) order by a desc", "3 1;4 NULL"},
		{"with c (x) as (values row(1), row(2.5)) select sum(x) from c", "3.5"},
		{"select y.column_0 from (select 1 a) x, lateral (values row(x.a), row(x.a + 1)) y", "1;2"},
		{"insert into t values row(1, 'x'), row(2, default)", ""},
		{"select * from t order by a", "1 x;2 NULL"},
		{"create view v as select * from (values row(1), row(300)) d", ""}, {"select * from v", "1;300"},
		{"values row(1)" + strings.Repeat(", row(7000)", 1500), "1" + strings.Repeat(";7000", 1500)},
		{"values row(1)" + strings.Repeat(", row(7000)", 9000), "error 1235"},
		{"values row(1" + strings.Repeat(", 1", 5000) + ")", "error 1235"},
		// What is refused here was planned for minutes, in which KILL was not heard.
		{"values row(1" + strings.Repeat(", 1", 4095) + "), row('a'" + strings.Repeat(", 'a'", 4095) + ")",
			"error 1235"},
		{"select count(*) from " + many("values row(1"+strings.Repeat(", 1", 999)+"), row('a'"+
			strings.Repeat(", 'a'", 999)+")", 5), "error 1235"},
		{"select count(*) from " + many("values row(1, 2)"+strings.Repeat(", row(3, 4)", 8999), 30),
			"error 1235"},
		{"select count(*) from " + many("values row(1)"+strings.Repeat(", row(2.5)", 8999), 20) + " where 0",
			"0"},
		{"prepare s from 'values row(?, 1), row(2, ?)'", ""}, {"set @a = 'x', @b = 2.5", ""},
		{"execute s using @a, @b", "x 1.0;2 2.5"}, {"execute s using @b, @a", "2.5 1;2.0 x"},
		{"with t (a) as (select 1)" + strings.Repeat(", t as (select 1)", 1000) + " select 1", "error 1235"},
		// It took the square of the length, minutes for this, and KILL was not heard.
		{"select extract(hour_minute from repeat('0', 200000))", "NULL"},
		{"select extract(hour from '10:11:12'), extract(hour_minute from '2020-01-02 03:04:05')", "10 304"},
		{"select unix_timestamp(_utf16 0x0041)", "0.000000"},
		{"select json_value('1', '', null)", "error 1064"}, {"select json_value('1', '')", "error 3143"},
		{"select json_value('[7]', '$[0]', 'signed')", "7"},
	} {
		if got := results(t, c, q.query); got != q.want {
			t.Errorf("%.60s: %.80s, want %.80s", q.query, got, q.want)
		}
	}
}

// many are n derived tables of a query.
func many(query string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("(%s) d%d", query, i))
	}
	return strings.Join(all, ", ")
}
