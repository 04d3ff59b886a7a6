package sqlfront_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"moka/sqlfront/inband"
	"moka/sqlfront/parse"
)

// TestClientsWriteNoMarks: texts that parts of the server once told each other something by are a client's
// like any other.
func TestClientsWriteNoMarks(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		`create table x (a int, index (a) comment '\0descending 0\0hi')`,
		`create table o (a int) comment '\0options\0row_format=compressed\0\0hello'`,
		`create table dg (t time comment '\0digits 3,0\0x')`,
		`create table ft (a varchar(10), key (a) comment '\0fulltext\0')`,
		"create table g (id int primary key, v varchar(100))",
		`insert into g values (1, 'a'), (2, ''), (3, '\0moka: no text\0'), (4, null), (5, '\0'), (6, '\00'), (7, '\01'), (8, '')`,
		"create table ck (a int, constraint `\\x00d.v` check (a > 1))")
	for _, x := range [][2]string{{"x", "DESC)"}, {"o", "ROW_FORMAT"}, {"dg", "time(3)"}, {"ft", "FULLTEXT"}} {
		if got := strings.Join(query(t, c, "show create table "+x[0]), "\n"); strings.Contains(got, x[1]) || !strings.Contains(got, `\0`) {
			t.Errorf("a comment was taken for a declaration: %s", got)
		}
	}
	for q, want := range map[string]string{
		"select hex(group_concat(v order by id separator '')) from g":     "61" + "006D6F6B613A206E6F207465787400" + "00" + "0030" + "0031",
		`select hex(group_concat(v order by id separator '\0')) from g`:   "610000" + "006D6F6B613A206E6F207465787400" + "000000" + "0030" + "00" + "0031" + "00",
		"select hex(group_concat(distinct v order by id)) from g":         "612C2C" + "006D6F6B613A206E6F207465787400" + "2C002C00302C0031",
		`select hex(group_concat(v separator '\00')) from g where id = 2`: "",
	} {
		if got := strings.Join(query(t, c, q), "\n"); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	wantError(t, c, "insert into ck values (0)", 3819)
	for _, lock := range []string{"update", "update nowait", "share", "past", "unbound"} {
		wantError(t, c, "select * from g as of '__lock:"+lock+"'", 1525)
	}
	wantError(t, c, "select id, count(*) from g group by id, moka_rollup()", 1305)
	for _, name := range []string{"any", "all", "char", "operator", "values", "own", "names", "assign", "variable", "grouping", "date", "time", "timestamp"} {
		wantError(t, c, "select moka_"+name+"('limit', id) from g", 1305)
		wantError(t, c, "select moka_"+name+"('2020-01-01')", 1305)
	}
	wantError(t, c, "create table h (`!hidden!x` int)", 1166)
	wantError(t, c, "create table h (`!functional!x` int)", 1166)
	wantError(t, c, "alter table g add column `!hidden!x` int", 1166)
	wantError(t, c, "alter table ck alter check `a=b` not enforced", 3821)
}

// TestMarksAreNotShown: the word in them is nobody's business. Stored texts have MySQL's words, and those of
// older releases are understood.
func TestMarksAreNotShown(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		`create table a (id int primary key, i int as (interval(id, 1, 2)) stored, e datetime default ('2020-01-01' + interval '1:30' minute_second),
			k time comment 'hello', check (interval(id, 5, 6) < 3), key ((interval(id, 2, 3))), d date default (date'2020-01-01'), f double(5,2), index x (id desc) comment 'y') row_format=compressed`,
		"create table old (id int primary key, i int as (moka_interval(id, 1, 2)), e datetime default ('2020-01-01' + interval moka_units('1:30', 'minute_second') second))",
		"insert into a (id) values (2)", "insert into old (id) values (2)", "create view v as select * from a where id > 1 with check option",
		"create table cc as select interval(1, 2, 3), date'2020-01-01'")
	for _, table := range []string{"a", "old"} {
		if got := query(t, c, "select id, i, e from "+table); len(got) != 1 || got[0] != "2 2 2020-01-01 00:01:30" {
			t.Errorf("%s: %q", table, got)
		}
		text := strings.Join(query(t, c, "show create table "+table), "\n")
		for _, want := range []string{"INTERVAL(`id`,1,2)", "INTERVAL '1:30' MINUTE_SECOND"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is not in %s", want, text)
			}
		}
		_, again, _ := strings.Cut(text, "CREATE TABLE")
		run(t, c, "drop table if exists again", strings.Replace("CREATE TABLE"+again, "`"+table+"`", "`again`", 1), "insert into again (id) values (2)")
	}
	for _, q := range []string{
		"show create table a", "show create table again", "show create table cc", "show columns from a", "show full columns from a", "show index from a", "show table status",
		"select * from information_schema.columns where table_schema = 'd'", "select * from information_schema.check_constraints",
		"select * from information_schema.statistics where table_schema = 'd'", "select * from information_schema.tables where table_schema = 'd'",
		"explain select id, id > any (select 1), interval(id, 2, 3) from a group by id with rollup",
		"explain format=tree select id, id > any (select 1), interval(id, 2, 3), date'2020-01-01' from a group by id with rollup",
		"explain format=tree select * from a where interval(id, 1, 2) > 1 for update", "explain format=json select * from a where id = 1 for update",
		"explain analyze select id, interval(id, 1, 2) from a where interval(id, 1, 2) > 1 for update", "explain format=tree update v set f = 1 where id > interval(1, 2)",
		"select * from (select interval(1, 2, 3), id > any (select 1), ~1, date'2020-01-01' from a) q", "select interval(1, 2, 3) union select 2",
		"select id from a where interval(id, 1, 2) and nosuch = 3", "select interval(1, nosuch)", "update v set id = 0", "select date'x'", "select @n := 1, @n + id from a",
		"select id, grouping(id), count(*) c from a group by id with rollup having c > 0", "select * from a as of 'x'", "insert into v (id) values (0)",
		"create table bad (id int, check (id > any (select 1)))", "create table bad (id int default (char(1 using utf8mb4)), check (~id > 1))",
		"select count(*) from a where moka_interval(id, 1, 2) and e > now() + interval moka_units('1:2', 'minute_second') second", "show warnings",
	} {
		rows, err := c.QueryContext(context.Background(), q)
		if err != nil {
			if inband.In(err.Error()) {
				t.Errorf("%s: %v", q, err)
			}
			continue
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(lines(t, rows), columns...) {
			if inband.In(text) {
				t.Errorf("%s: %s", q, text)
			}
		}
	}
	if len(inband.All()) < 20 || !inband.In(parse.LockForUpdate) {
		t.Errorf("marks: %q", inband.All())
	}
}

func query(t *testing.T, c runner, q string) []string {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), q)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return lines(t, rows)
}

func wantError(t *testing.T, c runner, q string, code uint16) {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), q)
	if err == nil {
		lines(t, rows)
		err = rows.Err()
	}
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != code {
		t.Errorf("%s: %v, want error %d", q, err, code)
	}
}
