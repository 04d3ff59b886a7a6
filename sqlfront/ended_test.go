package sqlfront_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestWhatEndedConnections: statements at which the library fell over, and the connection ended with its open
// transaction, or that took a processor for hours.
func TestWhatEndedConnections(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table p (a int primary key)",
		"create table t (a int primary key, b int, foreign key (b) references p (a))",
		"insert into p values (1)", "prepare s from 'select 1'")
	chain := "select sum(a) over w0 from (select 1 a) t window "
	for i := range 500 {
		chain += fmt.Sprintf("w%d as (w%d), ", i, i+1)
	}
	for q, want := range map[string]uint16{
		"create table k (a text, check (match(a) against('x')))":         3814, // all-4
		"create table k (a text, g int as (match(a) against('x')))":      3763,
		"create table k (a text, b int default (match(a) against('x')))": 3770,
		"create table k (a text, key k((match(a) against('x'))))":        3758,
		"alter table p add check (match(a) against('x'))":                3814,
		"prepare x from 'execute s'":                                     1295, // usage-6
		"prepare x from 'prepare y from ''select 1'''":                   1295,
		"prepare x from 'deallocate prepare s'":                          1295,
		chain + "w500 as (order by a)":                                   1235, // usage-2
		"set sql_mode = 'NO_BACKSLASH_ESCAPES'":                          1231, // trig-5
		"set sql_mode = 'ANSI,no_backslash_escapes'":                     1231,
		"set global sql_mode = 'NO_BACKSLASH_ESCAPES'":                   1231,
		"set sql_mode = 'ANSI,high_not_precedence'":                      1231, // was taken, and did nothing
		"set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'":                       1231,
		"set global sql_mode = 'TIME_TRUNCATE_FRACTIONAL'":               1231,
		"set sql_mode = 1048576":                                         1231,
		"set sql_mode = (select concat('NO_BACKSLASH', '_ESCAPES'))":     1231,
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantNumber(t, fmt.Sprintf("%.80s", q), err, want)
	}
	exists := strings.TrimSuffix(strings.Repeat("exists (select 1) and ", 70), " and ")
	for q, want := range map[string]uint16{
		"select 1 where " + exists:                                1116, // usage-6 of the first trial
		"select " + strings.Repeat("9", 200_000) + " is null":     1367,
		"savepoint " + strings.Repeat("n", 65):                    1059, // usage-5 of the first trial
		"prepare " + strings.Repeat("n", 65) + " from 'select 1'": 1059,
		"set @" + strings.Repeat("n", 65) + " = 1":                3061,
		"select @" + strings.Repeat("n", 65) + " := 1":            3061,
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantNumber(t, fmt.Sprintf("%.80s", q), err, want)
	}
	want(t, c, "select count(*) from (select 1 a union select 2) t group by 'x'", "2")
	want(t, c, "select count(*) from (select 1 a union select 2) t group by 1.5", "2")
	want(t, c, "select count(*) from (select 1 a union select 2) t group by null", "2")
	// SHOW PROCESSLIST without FULL shows a hundred characters (usage-6 of the first trial).
	long := "show processlist -- " + strings.Repeat("ä", 200)
	if rows := text(t, c, long); strings.Count(rows, "ä") != 80 {
		t.Errorf("the list has %d characters of the text", strings.Count(rows, "ä"))
	}
	rows := text(t, c, "show full processlist -- "+strings.Repeat("ä", 200))
	if strings.Count(rows, "ä") != 200 {
		t.Errorf("the full list has %d characters of the text", strings.Count(rows, "ä"))
	}
	// Of a table with a foreign key in a READ ONLY transaction (trig-7).
	run(t, c, "start transaction read only")
	for _, q := range []string{"insert into t values (1, 1)", "update t set b = 2", "delete from t",
		"delete from p", "insert into t select a, a from p"} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, 1792, "25006")
	}
	run(t, c, "rollback")
	// EXECUTE as a statement of the binary protocol (usage-6).
	for _, q := range []string{"execute s", "prepare x from 'select 1'", "deallocate prepare s"} {
		_, err := c.PrepareContext(context.Background(), q)
		wantNumber(t, "COM_STMT_PREPARE of "+q, err, 1295)
	}
	// Frames with an offset beyond any partition (usage-4).
	for frame, rows := range map[string]string{
		"1 following and 9223372036854775807 following":                   "2; 1; 0",
		"9223372036854775807 preceding and 9223372036854775807 following": "3; 3; 3",
		"9223372036854775807 following and 9223372036854775807 following": "0; 0; 0",
		"9223372036854775807 preceding and 1 preceding":                   "0; 1; 2",
		"9223372036854775807 preceding and 9223372036854775807 preceding": "0; 0; 0",
	} {
		want(t, c, "select count(1) over (order by a rows between "+frame+
			") from (select 1 a union select 2 union select 3) t", rows)
	}
	want(t, c, "select sum(a) over (order by a rows between 1 following and 9223372036854775807 following) "+
		"from (select 1 a union select 2 union select 3) t", "5; 3; NULL")
	if got := text(t, c, "select @@sql_mode"); strings.Contains(got, "BACKSLASH") {
		t.Errorf("sql_mode is %s", got)
	}
}

func wantNumber(t *testing.T, what string, err error, number uint16) {
	t.Helper()
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != number {
		t.Errorf("%s: %v, want %d", what, err, number)
	}
}

// TestOddSQLModes: sql_mode beside values of any type is a value that it can have, or 1231.
func TestOddSQLModes(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	for _, v := range []string{"1.5", "-1", "NULL", "TRUE", "x'41'", "0x01", "b'1'", "1e300",
		"cast('{}' as json)",
		"date '2020-01-01'", "time '10:00:00'", "timestamp '2020-01-01 00:00:00'", "''", "' '", "','",
		"'ANSI,'", "18446744073709551615", "99999999999999999999", "-9223372036854775808", "1.0", "true + 1",
		"(select 1)", "(select 1 from dual where 1 = 0)", "cast(1 as decimal)", "cast('a' as binary)",
		"@nosuch",
		"@@sql_mode", "json_array(1)", "now()", "uuid()", "'ALLOW_INVALID_DATES'", "year(now())"} {
		for _, q := range []string{"set sql_mode = " + v, "set @@session.sql_mode = " + v,
			"set global sql_mode = " + v, "select @@sql_mode = " + v, "select @@sql_mode in (" + v + ", 'a')",
			"select coalesce(" + v + ", @@sql_mode)", "select @@sql_mode + " + v,
			"select concat(@@sql_mode, " + v + ")",
			"select @@sql_mode between " + v + " and " + v, "select if(1, @@sql_mode, " + v + ")",
			"select @@sql_mode union select " + v, "select greatest(@@sql_mode, " + v + ")",
			"select case " + v + " when @@sql_mode then 1 end", "select find_in_set(" + v + ", @@sql_mode)"} {
			rows, err := c.QueryContext(context.Background(), q)
			if err == nil {
				for rows.Next() {
				}
				err = rows.Err()
				_ = rows.Close()
			}
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s: %v", q, err)
				c = s.conn("")
			}
		}
	}
	run(t, c, "set global sql_mode = default", "set sql_mode = default")
}
