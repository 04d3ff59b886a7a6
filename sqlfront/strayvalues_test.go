package sqlfront_test

import "testing"

// TestStrayValues: what is no value where it stands is refused when the statement is first seen. Each of
// these ended the connection: those of bodies the connections of others, who came to the table.
func TestStrayValues(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int primary key)")
	for _, q := range []string{
		"select binary interval 1 day + now()", "select adddate(now(), 1 ^ interval 1 day)",
		"select now() + interval interval 1 day day", "select date_add(now(), interval (interval 1 day) day)",
		"select interval 1 day - now()", "select (interval 1 day)", "select if(1, interval 1 day, 2)",
		"select 1 from t where a = interval 1 day", "select concat(interval 1 day)",
		"create procedure p() begin if if(1, 1, default) then set @a = 1; end if; end",
		"create procedure p() begin while default do set @a = 1; end while; end",
		"create procedure p() begin repeat set @a = 1; until 1 + default end repeat; end",
		"create procedure p() begin case default when 1 then set @a = 1; end case; end",
		"create procedure p() begin case 1 when interval 1 day then set @a = 1; end case; end",
		"create procedure p() begin declare i int default if(1, 1, default); end",
		"create trigger x before insert on t for each row if if(1, 1, default) then set @a = 1; end if",
	} {
		wantError(t, c, q, 1064)
	}
	for _, q := range []string{
		"select ``", "select `` union select 1", "values row(``), row(1)", "values row(1), row(``)",
		"select cast(`` as json)", "values row(``)", "insert into t values (values(``))",
		"select case `` when 1 then 2 end", "select t.`` from t", "select 1 from t order by ``",
		"create procedure p() case `` when 1 then set @a = 1; else set @a = 2; end case",
		"create trigger x before insert on t for each row case `` when 1 then set @a = 1; end case",
		"create trigger x before insert on t for each row set @a = ``",
	} {
		wantError(t, c, q, 1054)
	}
	run(t, c, "set sql_mode = 'PIPES_AS_CONCAT'")
	wantError(t, c, "select now() + interval 1 day || 'x'", 1064)
	run(t, c, "set sql_mode = default")
	for _, q := range []struct{ query, want string }{
		{"select interval 1 day + '2024-01-01'", "2024-01-02"},
		{"select '2024-01-01' - interval '1:1' hour_minute", "2023-12-31 22:59:00"},
		{"select date_sub('2024-01-02', interval 1 day), subdate('2024-01-02', 1)", "2024-01-01 2024-01-01"},
		{"select date_add('2024-01-02', interval (1 + 1) day)", "2024-01-04"},
		{"select count(*) over (order by d range between interval 1 day preceding and current row) " +
			"from (select date '2024-01-01' d union select date '2024-01-02' " +
			"union select date '2024-01-05') x", "1;2;1"},
		{"select hex(convert(st_geomfromtext('POINT(1 2)') using swe7)) is null", "1"},
	} {
		if got := results(t, c, q.query); got != q.want {
			t.Errorf("%s: %s, want %s", q.query, got, q.want)
		}
	}
}

// TestValuesThatAreNoneYet: a value that is no number or text is rounded when it is the column's. A trigger
// on a table with TIME(n), FLOAT(M,D) or DOUBLE(M,D) ended the connections of those who brought one.
func TestValuesThatAreNoneYet(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table a (t time(1), f float(5,1), d double(5,1))",
		"create table b like a", "create trigger x before insert on b for each row set @x = 1",
		"create trigger y after insert on b for each row set @x = 1")
	for _, verb := range []string{"insert", "replace", "insert ignore"} {
		for _, values := range []string{
			"x'31', null, null", "cast('10:11:12.56' as binary), '1.25', 1.25", "null, x'31', x'32'",
			"cast('10:11:12.56' as json), null, null", "null, cast(1.25 as json), cast('1.25' as json)",
		} {
			run(t, c, "delete from a", "delete from b")
			of := func(table string) string {
				return results(t, c, verb+" into "+table+" values ("+values+")") + "; " +
					results(t, c, "select * from "+table)
			}
			if plain, fired := of("a"), of("b"); plain != fired {
				t.Errorf("%s (%s): %s with triggers, %s without", verb, values, fired, plain)
			}
		}
	}
}
