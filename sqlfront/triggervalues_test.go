package sqlfront_test

import (
	"strings"
	"testing"
)

// TestGuardsSeeWhatIsStored: a trigger BEFORE INSERT sees values as their columns will hold them. Without
// strict mode and under IGNORE it saw those of the statement, so 'adminX' passed a guard of a VARCHAR(5)
// against 'admin' and became one; a CHAR kept its spaces for it in every mode.
func TestGuardsSeeWhatIsStored(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d",
		"create table t (id int auto_increment primary key, v varchar(5), c char(6), u tinyint unsigned, "+
			"e enum('a', 'b'), d date, n int not null)",
		`create trigger guard before insert on t for each row begin
			if new.v = 'admin' or new.c = 'admin' or new.u = 255 or new.e = '' or new.d = '0000-00-00' then
				signal sqlstate '45000' set message_text = 'no';
			end if;
			if new.n is null then set new.n = 7; end if;
		end`,
		"create trigger guardu before update on t for each row begin "+
			"if new.c = 'admin' then signal sqlstate '45000' set message_text = 'no'; end if; end",
		"insert into t (v, n) values ('is', 1)")
	for _, q := range []string{
		"insert %s into t (v, n) values ('adminX', 1)",
		"insert %s into t (u, n) values (256, 1)",
		"insert %s into t (e, n) values ('x', 1)",
		"insert %s into t (d, n) values ('2024-02-30', 1)",
		"insert %s into t (v, n) select 'admin!', 1",
		"insert %s into t (id, v, n) values (1, 'adminX', 1) on duplicate key update u = 1",
		"insert %s into t (c, n) values ('admin ', 1)",
	} {
		for _, mode := range []string{"", "ignore"} {
			run(t, root, "set sql_mode = ''")
			if mode == "ignore" {
				run(t, root, "set sql_mode = default")
			}
			_, err := root.ExecContext(t.Context(), strings.Replace(q, "%s", mode, 1))
			wantErr(t, q+" "+mode, err, 1644, "45000")
		}
	}
	run(t, root, "set sql_mode = default")
	for _, q := range []string{
		"insert into t (c, n) values ('admin ', 1)", // a plan's
		"replace into t (c, n) values ('admin ', 1)",
		"update t set c = 'admin ' where id = 1",
		"update t set c = concat('admin', ' ')",
		"insert into t (id, n) values (1, 1) on duplicate key update c = 'admin '",
	} {
		_, err := root.ExecContext(t.Context(), q)
		wantErr(t, q, err, 1644, "45000")
	}
	// What the statement has no value for is NULL to the trigger, in every mode.
	run(t, root, "set sql_mode = ''", "insert into t (v) values ('long enough')")
	want(t, root, "select v, n from t order by id", "is 1; long  7")
}

// TestIgnoredRowsKeepWhatTriggersWrote: what a trigger BEFORE INSERT has written, an audit's word of the
// attempt, stays when IGNORE leaves the row out. What follows the attempt goes with it.
func TestIgnoredRowsKeepWhatTriggersWrote(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d",
		"create table t (id int primary key, a int unique, check (a < 100))",
		"create table log (n int auto_increment primary key, x varchar(20))",
		"create trigger b before insert on t for each row insert into log (x) values (concat('B', new.id))",
		"create trigger a after insert on t for each row insert into log (x) values (concat('A', new.id))",
		"insert ignore into t values (1, 1), (2, 1), (3, 3), (4, 1000), (5, 5)")
	want(t, root, "select id from t order by id", "1; 3; 5")
	want(t, root, "select x from log order by n", "B1; A1; B2; B3; A3; B4; B5; A5")
	// An error that IGNORE does not forgive takes all of them back.
	run(t, root, "delete from log", "create trigger c after insert on t for each row "+
		"if new.id = 9 then signal sqlstate '45000'; end if")
	_, err := root.ExecContext(t.Context(), "insert ignore into t values (7, 1), (8, 8), (9, 9)")
	wantErr(t, "SIGNAL", err, 1644, "45000")
	want(t, root, "select count(*) from log", "0")
	want(t, root, "select id from t order by id", "1; 3; 5")
}

// TestNumbersThatTriggersSet: AUTO_INCREMENT goes on behind a number that a trigger has chosen.
func TestNumbersThatTriggersSet(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int auto_increment primary key, a int)",
		"create trigger b before insert on t for each row if new.a = 1 then set new.id = 500; end if",
		"insert into t (a) values (1)", "insert into t (a) values (2)", "insert into t (a) select 3")
	want(t, root, "select id, a from t order by id", "500 1; 501 2; 502 3")
}

// TestShowCreateTriggerHasItsMode: a dump makes a trigger again under the mode that SHOW CREATE TRIGGER
// has. It was empty: guards of a restored dump ran without strict mode, and one with "names" ended the
// restoring.
func TestShowCreateTriggerHasItsMode(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (a int)",
		"set sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES'",
		`create trigger "x" before insert on "t" for each row set @a = "a"`, "set sql_mode = ''",
		"create trigger y before insert on t for each row set @a = 1", "set sql_mode = default")
	for name, mode := range map[string]string{"x": "ANSI_QUOTES,STRICT_ALL_TABLES", "y": ""} {
		var got [7]string
		to := make([]any, len(got))
		for i := range got {
			to[i] = &got[i]
		}
		err := root.QueryRowContext(t.Context(), "show create trigger "+name).Scan(to...)
		if err != nil || got[1] != mode {
			t.Errorf("%s: %q, %v", name, got[1], err)
		}
	}
}

// TestPrepareOfStoredTexts: EXECUTE of CREATE TRIGGER was a panic, and of CREATE VIEW an internal error:
// their text was read off that of EXECUTE.
func TestPrepareOfStoredTexts(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (a int)")
	for _, q := range []string{"create trigger x before insert on t for each row set @a = 1",
		"create view v as select 1"} {
		_, err := root.ExecContext(t.Context(), "prepare p from '"+q+"'")
		wantErr(t, q, err, 1295, "HY000")
		_, err = root.ExecContext(t.Context(), "execute p")
		wantErr(t, "EXECUTE", err, 1243, "HY000")
	}
	want(t, root, "select count(*) from information_schema.triggers where trigger_schema = 'd'", "0")
}

// TestShowTriggersFromAnotherDatabase: FROM was not heard while there was a current database.
func TestShowTriggersFromAnotherDatabase(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (a int)", "create database e",
		"create table e.u (a int)", "create trigger x before insert on t for each row set @a = 1",
		"create trigger e.y before insert on e.u for each row set @a = 1")
	for q, name := range map[string]string{"show triggers": "x", "show triggers from e": "y",
		"show triggers in e like 'u'": "y", "show triggers from d": "x"} {
		if got := results(t, root, q); !strings.HasPrefix(got, name+" ") {
			t.Errorf("%s: %s", q, got)
		}
	}
	_, err := root.ExecContext(t.Context(), "show triggers from nosuch")
	wantErr(t, "FROM nosuch", err, 1049, "42000")
}

// TestGreetingInQuotingSets: a client that greets with gbk escapes by it. A backslash that is the second
// byte of a character was taken for one that escapes the quote behind it, where an application had checked
// a stranger's text.
func TestGreetingInQuotingSets(t *testing.T) {
	s := newDatabase(t).serve()
	for collation, c := range map[string]string{"gbk_chinese_ci": "\xbf\x5c", "big5_chinese_ci": "\xa5\x5c",
		"sjis_japanese_ci": "\x95\x5c", "cp932_japanese_ci": "\x95\x5c"} {
		pool := s.open("root", "", "?collation="+collation)
		var got, other string
		err := pool.QueryRow("select '"+c+"', ' or 1=1 -- '").Scan(&got, &other)
		if err != nil || got != c || other != " or 1=1 -- " {
			t.Errorf("%s: %q %q %v", collation, got, other, err)
		}
		set, _, _ := strings.Cut(collation, "_")
		want(t, pool, "select @@character_set_client, @@character_set_results", set+" "+set)
	}
}

// TestTriggersSeeDigits: what a TIME(n), FLOAT(M,D) or DOUBLE(M,D) is rounded to is seen by triggers, which
// saw what the statement had. What is expected is what MariaDB 10.11 gives with TIME_ROUND_FRACTIONAL, as
// MySQL rounds.
func TestTriggersSeeDigits(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d",
		"create table t (id int primary key, a time, b time(3), c datetime, f float(6,2), h double(8,1))",
		"create table l (n int auto_increment primary key, x varchar(300))")
	for name, at := range map[string]string{
		"bi": "before insert", "ai": "after insert", "bu": "before update", "au": "after update",
	} {
		run(t, root, "create trigger "+name+" "+at+" on t for each row insert into l (x) values "+
			"(concat_ws('|', '"+name+"', new.a, new.b, new.c, new.f, new.h))")
	}
	run(t, root, "create table s (id int primary key, a time, b time(3), f float(6,2))",
		`create trigger s1 before insert on s for each row set new.b = '01:01:01.23456', new.a = new.b + 0.3,
			new.f = 1.237`,
		`create trigger s2 before insert on s for each row insert into l (x) values
			(concat_ws('|', 's2', new.a, new.b, new.b + 0, new.f))`)
	for _, cache := range []string{"0", "1"} {
		run(t, root, "set moka_plan_cache = "+cache)
		for range 3 {
			run(t, root, "delete from l", "delete from t", "delete from s",
				"insert into t values (1, '01:02:03.6', '01:02:03.4567', '2020-01-01 23:59:59.7', 1.237, 1.27)",
				"insert into t select 2, a + 0.7, b + 0.0006, c, 1.237, 1.27 from t",
				"update t set a = '01:02:03.6', b = '01:02:04.4567', f = 2.237, h = 2.27 where id = 1",
				"insert into t (id, a) values (1, 0) on duplicate key update a = '05:05:05.5', b = 1.23456",
				"replace into t (id, a, b) values (2, 10203.6, 10203.45678)",
				"insert into s (id) values (1)")
			want(t, root, "select x from l order by n", strings.Join([]string{
				"bi|01:02:04|01:02:03.457|2020-01-02 00:00:00|1.24|1.3",
				"ai|01:02:04|01:02:03.457|2020-01-02 00:00:00|1.24|1.3",
				"bi|01:02:05|01:02:03.458|2020-01-02 00:00:00|1.24|1.3",
				"ai|01:02:05|01:02:03.458|2020-01-02 00:00:00|1.24|1.3",
				"bu|01:02:04|01:02:04.457|2020-01-02 00:00:00|2.24|2.3",
				"au|01:02:04|01:02:04.457|2020-01-02 00:00:00|2.24|2.3",
				"bi|00:00:00",
				"bu|05:05:06|00:00:01.235|2020-01-02 00:00:00|2.24|2.3",
				"au|05:05:06|00:00:01.235|2020-01-02 00:00:00|2.24|2.3",
				"bi|01:02:04|01:02:03.457", "ai|01:02:04|01:02:03.457",
				"s2|01:01:02|01:01:01.235|10101.235|1.24",
			}, "; "))
			want(t, root, "select a, b, f from s", "01:01:02 01:01:01.235 1.24")
		}
	}
}
