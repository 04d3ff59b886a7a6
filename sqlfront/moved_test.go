package sqlfront_test

import (
	"strings"
	"testing"
)

// TestDatesMovedFar: a date that is moved out of its years is NULL, with a warning. It was another date: the
// library counts in the nanoseconds of an int64.
func TestDatesMovedFar(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table t (d date, dt datetime(3), s varchar(30), n bigint, x double)",
		"insert into t values ('2020-02-29', '2020-02-29 12:00:00', '2020-02-29 12:00:00', "+
			"9223372036854775807, 1e300)")
	for _, unit := range strings.Fields("microsecond second minute hour day week month quarter year") {
		for _, n := range []string{
			"9223372036854775807", "-9223372036854775807", "99999999999999999999999.5", "1e300",
			"'9223372036854775807'", "'-99999999999999999999'", "n", "x", "-n",
		} {
			for _, at := range []string{"d", "dt", "s", "'2020-02-29'"} {
				q := strings.NewReplacer("$a", at, "$n", n, "$u", unit)
				want(t, c, q.Replace("select $a + interval $n $u, date_add($a, interval $n $u), "+
					"date_sub($a, interval $n $u), $a - interval $n $u, timestampadd($u, $n, $a) from t"),
					"NULL NULL NULL NULL NULL")
				if got := results(t, c, "show warnings"); !strings.Contains(got, "1441 Datetime function") {
					t.Errorf("%s, %s, %s: %s", at, n, unit, got)
				}
			}
		}
	}
	for _, q := range []struct{ of, date string }{
		{"d + interval 1000000000 minute", "3921-06-27 10:40:00"},
		{"s - interval 1000000000 minute", "0118-11-03 01:20:00"},
		{"dt + interval 80000000 hour", "NULL"}, {"dt + interval 50000000 hour", "7724-02-19 20:00:00.000"},
		{"d + interval 100000000000 second", "5189-01-13 09:46:40"},
		{"dt + interval 100000000000000000 microsecond", "5189-01-13 21:46:40.000000"},
		{"'2020-02-29' + interval 100000000000000000 microsecond", "5189-01-13 09:46:40"},
		{"d + interval '1000000000 1:1:1' day_second", "NULL"},
		{"dt + interval '99999999999999999999-1' year_month", "NULL"},
		{"dt + interval '9223372036854775807 1:1:1.5' day_microsecond", "NULL"},
		{"s + interval '1 1:1:1' day_second", "2020-03-01 13:01:01"},
		{"dt - interval '1000000 1' day_hour", "NULL"}, {"d + interval 7979 year", "9999-02-28"},
		{"d + interval 7980 year", "NULL"}, {"d - interval 2020 year", "NULL"},
		{"cast('0001-01-01' as date) - interval 1 day", "NULL"}, {"d + interval '1x' day", "2020-03-01"},
		{"adddate(d, 9223372036854775807)", "NULL"}, {"subdate(d, 9223372036854775807)", "NULL"},
		{"d + interval 18446744073709551615 day", "NULL"}, {"from_days(3652424)", "9999-12-31"},
		{"from_days(9223372036854775807)", "0000-00-00"}, {"from_days(3652425)", "0000-00-00"},
		{"period_add(202001, 9223372036854775807)", "201912"},
	} {
		want(t, c, "select "+q.of+" from t", q.date)
	}
	want(t, c, "select count(*) from t where d + interval n second is null and "+
		"dt < d + interval n - n second + interval 1 day", "1")
}
