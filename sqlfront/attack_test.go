package sqlfront_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestAttackAsTriggerUser is what a user tried by hand, for an hour, who may INSERT into one table and have
// TRIGGERs on it, and nothing else. The first part is what he gained then: what defaults and triggers made of
// a row, rows that were there, triggers of other tables, bodies of events.
func TestAttackAsTriggerUser(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "use hid", "create table secret (id int primary key, v varchar(50))", "insert into secret values (1, 'hush')",
		"create procedure p() select v from secret", "create function f() returns varchar(50) return (select max(v) from hid.secret)", "create view vw as select v from secret",
		"create database shop", "use shop", "create table inbox (id int auto_increment primary key, n int, msg varchar(200), secret varchar(50) default 'hush')",
		"insert into inbox values (1, 1, 'first', 'hush')", "create table parent (id int primary key, v varchar(10))", "create trigger inbox before insert on parent for each row set @a = 1",
		"create event ev on schedule every 1 day do delete from hid.secret", "create user tess", "grant insert, trigger on inbox to tess")
	tess := s.open("tess", "shop", "")
	mysql.RegisterReaderHandler("attack", func() io.Reader { return strings.NewReader("1\tmine\n") })
	t.Cleanup(func() { mysql.DeregisterReaderHandler("attack") })
	gained := script{
		{"load data local infile 'Reader::attack' replace into table inbox (id, msg)", "error 1142"},
		{"insert into inbox (n) values (1) returning secret", "error 1142"},
		{"insert into inbox (n) values (1) returning *", "error 1142"},
		{"drop trigger inbox", "error 1142"}, // which is of another table and has the name of his
		{"show events", "error 1044"},
		{"show create event ev", "error 1044"},
		{"select event_name from information_schema.events", ""},
		{"analyze table inbox", "error 1142"},
		{"analyze table inbox update histogram on secret using data '{}'", "error 1142"},
		{"analyze table inbox drop histogram on secret", "error 1142"},
	}
	gained.run(t, tess)
	want(t, root, "select msg from shop.inbox where id = 1", "first")
	want(t, root, "select count(*) from information_schema.triggers", "1")

	// Who may do it does it.
	script{
		{"create trigger own before insert on inbox for each row set @mine = 1", ""},
		{"drop trigger own", ""},
		{"drop trigger if exists own", ""},
		{"load data local infile 'Reader::attack' ignore into table inbox (id, msg)", ""},
	}.run(t, tess)
	run(t, root, "grant select (id, secret), delete on inbox to tess", "grant event on shop.* to tess", "create user all_of_it", "grant select, insert on inbox to all_of_it")
	tess = s.open("tess", "shop", "")
	script{
		{"insert into inbox (id, n) values (10, 1) returning secret", "hush"},
		{"insert into inbox (id, n) values (11, 1) returning id + 1, secret as s", "12 hush"},
		{"insert into inbox (n) values (1) returning n", "error 1143"},
		{"insert into inbox (n) values (1) returning concat(secret, n)", "error 1143"},
		{"insert into inbox (n) values (1) returning *", "error 1142"},
		{"insert into inbox (n) values (1) returning id, (select v from hid.secret)", "error 1142"},
		{"load data local infile 'Reader::attack' replace into table inbox (id, msg)", ""},
		{"select event_name from information_schema.events", "ev"},
	}.run(t, tess)
	script{
		{"insert into inbox (id, n) values (20, 1) returning *", "20 1 NULL hush"},
		{"analyze table inbox", "inbox analyze status OK"},
	}.run(t, s.open("all_of_it", "shop", ""))
	run(t, root, "revoke select (id, secret), delete on inbox from tess", "revoke event on shop.* from tess")
	tess = s.open("tess", "shop", "")
	gained.run(t, tess)

	// What he tried besides, in a statement of his own and in the bodies of a trigger and of an observer.
	theft := "error 1142"
	for _, from := range []string{
		"hid.secret", "HID.SECRET", "`hid`.`secret`", "hid . secret", "(hid.secret)", "hid.vw", "(select v from hid.secret) d", "hid.secret as inbox", "hid.secret as of '__lock:update'",
		"hid.secret join hid.secret s2 using (v)", "(with c as (select v from hid.secret) select v from c) d",
		"json_table((select max(v) from hid.secret), '$' columns (v int path '$')) jt",
	} {
		for _, q := range []string{
			"insert into inbox (msg) select v from " + from, "insert into inbox (msg) values ((select max(v) from " + from + "))", "set @a = (select max(v) from " + from + ")",
			"do (select max(v) from " + from + ")", "explain select v from " + from, "show variables where (select max(v) from " + from + ") = 'hush'", "prepare s from 'select v from " + strings.ReplaceAll(from, "'", "''") + "'",
			"select 1 from dual where exists (select v from " + from + ")", "create trigger own before insert on inbox for each row set @a = (select max(v) from " + from + ")",
			"create trigger own before insert on inbox for each row begin declare exit handler for sqlexception begin end; insert into inbox (msg) select v from " + from + "; end",
			"create trigger own before insert on inbox for each row begin declare c cursor for select v from " + from + "; open c; end",
		} {
			if got := results(t, tess, q); got != theft {
				t.Errorf("%s: %q, want %q", q, got, theft)
			}
		}
	}
	for _, column := range []string{"new.secret", "NEW . `secret`", "/*x*/new/**/./**/secret"} {
		for _, body := range []string{
			"set @a = %", "begin if % = 'hush' then set @a = 1; end if; end", "begin declare x varchar(50) default %; set @a = x; end", "begin select % into @a; end", "set @a = (select count(*) from dual where % is null)",
			"begin case % when 'hush' then set @a = 1; end case; end", "insert into inbox (msg) values (%)", "set new.msg = %",
		} {
			if got, q := results(t, tess, "create trigger own before insert on inbox for each row "+strings.ReplaceAll(body, "%", column)), body; got != "error 1143" {
				t.Errorf("%s of %s: %q", q, column, got)
			}
		}
	}
	for _, clause := range []string{"root@localhost", "`root`@`localhost`", "tess@localhost", "`root@localhost`@`%`", "'TESS'@'%'", "`tess@%`@localhost"} {
		for _, q := range []string{"create definer = " + clause + " trigger own before insert on inbox for each row set @a = 1", "create /*!50017 definer = " + clause + " */ trigger own before insert on inbox for each row set @a = 1"} {
			if got := results(t, tess, q); got != "error 1227" {
				t.Errorf("%s: %q", q, got)
			}
		}
	}
	want(t, root, "select count(*) from information_schema.triggers", "1")

	// A trigger of his has his rights, whoever fires it.
	for _, c := range []struct{ body, want string }{
		{"set global max_connections = 1", "error 1227"},
		{"set persist max_connections = 1", "error 1227"},
		{"begin select 1 into outfile '/tmp/x'; end", "error 1227"},
		{"set @a = (select count(*) from information_schema.user_privileges where grantee not like '%tess%')", "0"},
		{"set @a = (select count(*) from information_schema.tables where table_schema in ('hid', 'mysql'))", "0"},
		{"set @a = (select count(*) from information_schema.routines)", "0"},
		{"set @a = (select count(*) from information_schema.events)", "0"},
		{"set @a = current_user()", "tess@%"},
	} {
		run(t, tess, "create trigger own before insert on inbox for each row "+c.body)
		got := results(t, root, "insert into shop.inbox (n) values (1)")
		if got == "" {
			got = results(t, root, "select @a")
		}
		if got != c.want {
			t.Errorf("root fires %s: %q, want %q", c.body, got, c.want)
		}
		run(t, tess, "drop trigger own")
	}
}

// TestAttackAsNobody is what a user tried by hand, for an hour, who may log in and nothing else (S1-S18);
// what he took from others is in engine.TestSleepersLeaveRoom and beside it.
func TestAttackAsNobody(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "create table hid.secret (id int primary key, v varchar(50))",
		"insert into hid.secret values (1, 'hush')", "create procedure hid.p() select v from hid.secret",
		"create function hid.f() returns varchar(50) return 'hush'", "create role boss", "grant all on *.* to boss", "create user adm identified by 'a'", "grant all on *.* to adm with grant option",
		"create user nobody1 identified by 'pw'")
	id := results(t, root, "select connection_id()")
	c := s.open("nobody1:pw", "", "")
	for number, tries := range map[string][]string{
		"1142": {"show create table hid.secret", "describe hid.secret",
			"table hid.secret", "do (select v from hid.secret)", "explain select * from hid.secret", "checksum table hid.secret", "values row((select v from hid.secret))", "select user from mysql.user", "delete from mysql.user",
			"insert into mysql.user (user, host) values ('x', '%')", "lock tables hid.secret read", "create index i on hid.secret (v)", "drop table hid.secret", "rename table hid.secret to hid.s", "truncate hid.secret",
			"load data local infile '/etc/hostname' into table hid.secret", "update hid.secret s, (select 1) d set s.v = 'x'", "delete a from hid.secret a join (select 1) b", "create trigger hid.tr before insert on hid.secret for each row set @a = 1",
			"prepare s from 'select * from hid.secret'", "select * from performance_schema.processlist", "create table mysql.t (a int)", "with c as (select v from hid.secret) select * from c"},
		"1044": {"use hid", "show tables from hid", "show grants for adm", "show create user adm", "create database evil", "drop database hid", "analyze table hid.secret",
			"create procedure hid.g() select 1", "create event hid.e on schedule every 1 second do select 1", "flush privileges", "create temporary table hid.t (a int)"},
		"1227": {"create user evil", "drop user adm", "rename user nobody1 to adm2", "alter user adm identified by 'x'", "set password for adm = 'x'", "alter user current_user() require none", "alter user nobody1 account unlock", "grant boss to nobody1",
			"set global max_connections = 1", "set persist max_connections = 1", "set @@global.init_connect = 'x'", "select 1 into outfile 'x'", "show engine innodb status", "flush logs", "show binary logs", "binlog 'AAAA'", "lock instance for backup"},
		"3530": {"set role boss", "set default role boss to nobody1", "show grants for nobody1 using boss"},
		"1370": {"call hid.p()", "select hid.f()"},
		"1305": {"show create procedure hid.p", "show create function hid.f"},
		"1095": {"kill " + id, "kill query " + id, "/*!50000 kill " + id + " */"},
		"1298": {"set time_zone = '../../etc/passwd'", "set time_zone = 'Europe/../../../etc/passwd'"},
	} {
		for _, q := range tries {
			if got := results(t, c, q); got != "error "+number {
				t.Errorf("%s: %q, want error %s", q, got, number)
			}
		}
	}
	script{
		{"select count(*) from information_schema.processlist where user <> 'nobody1'", "0"},
		{"select count(*) from information_schema.user_privileges where grantee not like '%nobody1%'", "0"},
		{"select count(*) from information_schema.tables where table_schema in ('hid', 'mysql')", "0"},
		{"select count(*) from information_schema.columns where table_schema in ('hid', 'mysql')", "0"},
		{"select count(*) from information_schema.routines", "0"},
		{"select count(*) from information_schema.statistics", "0"},
		{"select count(*) from information_schema.schemata where schema_name = 'hid'", "0"},
		{"select load_file('/etc/passwd')", "NULL"},
		{"show grants", "GRANT USAGE ON *.* TO `nobody1`@`%`"},
	}.run(t, c)
}

// TestBodiesLendVariables: a trigger changes how its own statements are read, and not those of the session
// that fires it. Who may have a trigger on a table switched off strict mode, autocommit and the character set
// of whoever wrote to the table. It is the same for routines, as in MySQL.
func TestBodiesLendVariables(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database shop", "use shop", "create table inbox (n int)", "create table log (n int, m varchar(200))",
		"create procedure lenient() begin set sql_mode = ''; set names latin1; set lock_wait_timeout = 7; insert into log values (1, @@sql_mode); end",
		"create procedure nested() begin set sql_mode = 'ANSI'; call lenient(); insert into log values (2, instr(@@sql_mode, 'ANSI_QUOTES') > 0); end",
		"create procedure commits() set autocommit = 0", "create function f() returns int begin set sql_mode = ''; return 1; end")
	const state = "select @@sql_mode like '%STRICT_TRANS_TABLES%', @@character_set_client, @@collation_connection, @@autocommit"
	was := results(t, root, state)
	for _, body := range []string{"set sql_mode = ''", "set @@session.sql_mode = 'ANSI'", "set names latin1", "set character_set_client = latin1", "set collation_connection = latin1_bin", "call lenient()", "set @a = f()"} {
		run(t, root, "create trigger tr before insert on inbox for each row "+body, "insert into inbox values (1)", "insert into inbox values (2)")
		if now := results(t, root, state); now != was {
			t.Errorf("after a trigger with %s: %s, was %s", body, now, was)
		}
		run(t, root, "drop trigger tr")
	}
	run(t, root, "delete from log", "call nested()", "call nested()")
	if now := results(t, root, state); now != was {
		t.Errorf("after CALL: %s, was %s", now, was)
	}
	want(t, root, "select m from log order by n", "; ; 1; 1")
	want(t, root, "select @@lock_wait_timeout", "7") // the others stay, as in MySQL
	// Under another mode than that of the body.
	run(t, root, "set sql_mode = 'NO_ENGINE_SUBSTITUTION'", "set names latin1", "call nested()")
	want(t, root, "select @@sql_mode, @@character_set_client", "NO_ENGINE_SUBSTITUTION latin1")
	// A procedure sets the others for who calls it; what runs unasked does not, nor what that calls.
	run(t, root, "create procedure blinds() set sql_select_limit = 0, foreign_key_checks = 0", "create function blind() returns int begin set sql_select_limit = 0, foreign_key_checks = 0; return 1; end")
	const others = "select @@sql_select_limit, @@foreign_key_checks, @@max_execution_time, @@moka_snapshot, @@transaction_isolation, @@timestamp > 1e9, @@lock_wait_timeout"
	was = results(t, root, others)
	for _, body := range []string{"set sql_select_limit = 0", "set session foreign_key_checks = 0", "set max_execution_time = 1000000", "set moka_snapshot = '2020-01-01'", "set session transaction isolation level serializable",
		"set timestamp = 1", "set @@lock_wait_timeout = 1", "call blinds()", "set @a = blind()", "begin set sql_select_limit = 0; call lenient(); end"} {
		run(t, root, "create trigger tr before insert on inbox for each row "+body, "insert into inbox values (1)", "insert into inbox values (2)")
		if now := results(t, root, others); now != was {
			t.Errorf("after a trigger with %s: %s, was %s", body, now, was)
		}
		run(t, root, "drop trigger tr")
	}
	run(t, root, "do blind()")
	want(t, root, others, was)
	run(t, root, "call blinds()")
	want(t, root, "select @@foreign_key_checks", "")
	run(t, root, "set sql_select_limit = default")
	want(t, root, "select @@foreign_key_checks", "0")
	for _, body := range []string{"set autocommit = 0", "set @@autocommit = 0", "set @@session.autocommit = off", "set session autocommit = 1", "set @a = 1, autocommit = 0", "call commits()"} {
		run(t, root, "create trigger tr before insert on inbox for each row "+body)
		script{{"insert into inbox values (1)", "error 1445"}, {"select @@autocommit", "1"}, {"drop trigger tr", ""}}.run(t, root)
	}
	script{{"call commits()", ""}, {"select @@autocommit", "0"}}.run(t, root)
}

// TestForeignKeysOfOthers is finds all-1 and all-2: tables of another database, on which the user had no
// right, lost their parents. TRUNCATE, and DELETE without a condition, did not look at them, and ALTER
// TABLE took the key away that they need.
func TestForeignKeysOfOthers(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database app", "create database hid", "use app",
		"create table par (id int primary key, s varchar(10), n int, unique key u (n, s))",
		"insert into par values (1, 'a', 1), (2, 'b', 2)",
		"create table hid.c (id int primary key, pid int, constraint c_p foreign key (pid) "+
			"references app.par (id) on update cascade)", "insert into hid.c values (300, 2)",
		"create table hid.d (id int primary key, n int, constraint d_p foreign key (n) "+
			"references app.par (n) on delete cascade)", "insert into hid.d values (1, 1)",
		"create user few", "grant all on app.* to few", "create user sees", "grant all on app.* to sees",
		"grant select on hid.* to sees")
	script{
		{"truncate par", "error 1217"},
		{"/* one */ truncate table par", "error 1217"},
		{"delete from par", "error 1217"},
		{"delete from app.par where id = 2", "error 1217"},
		{"replace into par values (2, 'c', 2)", "error 1217"},
		{"update par set n = 9 where id = 1", "error 1217"},
		{"alter table par drop primary key", "error 1553"},
		{"alter table par drop primary key, add primary key (s, id)", "error 1553"},
		{"alter table par drop column id", "error 1217"},
		{"alter table par drop column n", "error 1828"},
		{"alter table par drop index u", "error 1553"},
		{"alter table par modify id bigint", "error 1832"},
		{"alter table par drop primary key, add primary key (id, s)", ""},
		{"alter table par drop column s", ""},
		{"update par set id = 20 where id = 2", ""},
		{"delete from par where id = 1", ""},
	}.run(t, s.open("few", "app", ""))
	script{{"truncate par", "error 1701"}, {"delete from par", "error 1451"},
		{"alter table par drop column id", "error 1829"}}.run(t, s.open("sees", "app", ""))
	script{
		{"select * from par", "20 2"}, {"select * from hid.c", "300 20"}, {"select count(*) from hid.d", "0"},
		{"insert into hid.c values (1, 20)", ""}, {"insert into hid.c values (2, null)", ""},
		{"create table self (id int primary key, up int, foreign key (up) references self (id))", ""},
		{"insert into self values (1, null), (2, 1)", ""},
		{"alter table self change up above int, add constraint own foreign key (above) references self (id)",
			""},
		{"alter table self drop column id", "error 1829"}, {"truncate self", ""},
		{"select count(*) from self", "0"},
		{"set foreign_key_checks = 0", ""}, {"truncate par", ""}, {"alter table par drop primary key", ""},
		{"alter table par drop column id", "error 1829"},
	}.run(t, root)
}

// TestDeepJSON is find usage-2: documents that functions put into each other doubled their depth with
// each statement, until the stack of whoever looked into one was full, which ends the process.
func TestDeepJSON(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create user uma")
	uma, err := s.open("uma", "information_schema", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer uma.Close()
	const nested = "cast(concat(repeat('[', 60), '1', repeat(']', 60)) as json)"
	script{
		{"set @j = " + nested, ""},
		{"select json_depth(@j)", "61"},
		{"set @k = json_replace(@j, concat('$', repeat('[0]', 60)), @j)", "error 3157"},
		{"select json_set(@j, concat('$', repeat('[0]', 60)), @j)", "error 3157"},
		{"select json_array_append(@j, concat('$', repeat('[0]', 59)), @j)", "error 3157"},
		{"select json_array_insert(@j, concat('$', repeat('[0]', 60)), @j)", "error 3157"},
		{"select json_depth(json_merge_preserve(@j, @j))", "61"},
		{"select json_depth(json_object('a', json_object('a', " +
			"json_replace(@j, concat('$', repeat('[0]', 20)), @j))))", "83"},
		{"set @j = cast(concat(repeat('[', 100), '1', repeat(']', 100)) as json)", ""},
		{"select json_array(@j)", "error 3157"},
		{"select json_object('a', @j)", "error 3157"},
		{"set @j = (select json_arrayagg(@j))", "error 3157"},
		{"set @j = (select json_objectagg('a', @j))", "error 3157"},
		{"select (select json_arrayagg(@j)) into @j", "error 3157"},
		{"set @j = cast(concat(repeat('[', 9000), '1', repeat(']', 9000)) as json)", "error 3157"},
	}.run(t, uma)
	run(t, root, "create database d", "use d")
	script{{"with recursive r as (select 1 as n, cast('1' as json) as j " +
		"union all select n + 1, json_array(j) from r where n < 200) " +
		"select count(*) from r", "error 3157"}}.run(t, root)
}

// TestReadersDoNotLock is find all-10: SELECT … FOR UPDATE took SELECT alone, so who may read held up who
// writes.
func TestReadersDoNotLock(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database hid", "use hid", "create table t (id int primary key, n int)",
		"insert into t values (1, 1)", "create view v as select id from t", "create user reads",
		"grant select on hid.* to reads", "create user one", "grant select (id) on hid.t to one",
		"create user locks",
		"grant select, lock tables on hid.* to locks", "create user deletes",
		"grant select, delete on hid.t to deletes",
		"create user writes", "grant select, update (n) on hid.t to writes", "create user through",
		"grant select, update on hid.v to through")
	const lock = "select id from t where id = 1 for update"
	for user, want := range map[string]string{"reads": "error 1142", "one": "error 1142", "locks": "1",
		"deletes": "1",
		"writes":  "1"} {
		c := s.open(user, "hid", "")
		for range 3 { // by the plan of the first
			script{{lock, want}}.run(t, c)
		}
		script{{"select id from t where id = 1 for share", "1"}, {"select id from t where id = 1", "1"},
			{"select a.id from t a join (select 1 as x) b for update of b", "1"}}.run(t, c)
	}
	reads := s.open("reads", "hid", "")
	script{{"select id from v for update", "error 1142"}, {"(select id from t) union (select 1) for update",
		"error 1142"},
		{"select * from (select id from t for update) d", "error 1142"},
		{"with c as (select id from t) select * from c for update", "1"}}.run(t, reads)
	script{{"select id from v for update", "1"}}.run(t, s.open("through", "hid", ""))
}

// TestKillHearsWindows: functions over windows and joins of VALUES end when they are to end (usage-9), and
// what windows make is charged: 80 GB of an array of 100,000 numbers for each row (usage-7).
func TestKillHearsWindows(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	rows := "values row(0)" + strings.Repeat(", row(1)", 2999)
	numbers := "with recursive r as (select 1 x union all select x + 1 from r where x < 100000) "
	script{
		{"set cte_max_recursion_depth = 100000", ""},
		{numbers + "select max(a) from (select json_length(json_arrayagg(x) over (order by x)) a from r) z",
			"error 3170"},
		{"set max_execution_time = 1000", ""},
		{"select count(*) from (" + rows + ") a(x), (" + rows + ") b(y), (" + rows + ") c(z) where x + y < 0",
			"error 3024"},
		{numbers + "select sum(a) from (select max(x) over (order by x rows between 50000 preceding and " +
			"50000 following) a from r) z", "error 3024"},
		{"set max_execution_time = 0", ""},
		{"select sum(a) from (select max(x) over (order by x) a from (values row(1), row(2)) t(x)) z", "3"},
	}.run(t, root)
}

// TestLongFormats: the format of a date was read in the square of its length (usage-8), the text of a
// statement anew for each column of its result (usage-12).
func TestLongFormats(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	columns := strings.TrimSuffix(strings.Repeat("A.x,B.x,", 2000), ",")
	script{
		{"select length(date_format('2020-01-02 03:04:05', repeat('%H-', 1000000)))", "3000000"},
		{"select length(time_format('03:04:05', repeat('%H%%', 1000000)))", "3000000"},
		{"select right(date_format('2020-01-02 03:04:05', concat(repeat('x', 1023), 'é%Y')), 5)", "é2020"},
	}.run(t, root)
	query := "/* " + strings.Repeat("x", 2<<20) + " */ select " + columns +
		" from (select 1 x) A, (select 2 x) B"
	rows, err := root.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	if names, err := rows.Columns(); err != nil || len(names) != 4000 {
		t.Errorf("%d columns, %v", len(names), err)
	}
}

// TestPartsOfValuesAreCopied: a variable that has a part of a long value kept all of it, charged as the part
// (usage-11).
func TestPartsOfValuesAreCopied(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "set @a = 1")
	for _, q := range []string{
		"trim(concat(repeat(' ', 4000000), 'a'))", "ltrim(concat(repeat(' ', 4000000), 'a'))",
		"substring_index(repeat('x,', 2000000), ',', 1)", "cast(repeat('x', 4000000) as char(1))",
		"cast(repeat('x', 4000000) as binary(1))", "regexp_substr(concat('a', repeat(' ', 4000000)), 'a')",
	} {
		run(t, c, "set @v0 = null, @v1 = null, @v2 = null, @v3 = null")
		before := heapInUse()
		for i := range 4 {
			run(t, c, fmt.Sprintf("set @v%d = %s", i, q))
		}
		want(t, c, "select length(@v0)", "1")
		if kept := heapInUse() - before; kept > 6<<20 {
			t.Errorf("%s: %d bytes are kept of four variables", q, kept)
		}
	}
}

// TestKillHearsJSONTable is find usage-8: nothing ended a statement that reads JSON_TABLE.
func TestKillHearsJSONTable(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database d", "use d", "set max_execution_time = 100")
	const numbers = "json_table(concat('[', repeat('1,', 19999), '1]'), '$[*]' " +
		"columns (n for ordinality, x int path '$'))"
	script{
		{"select count(*) from " + numbers + " a, " + numbers + " b", "error 3024"},
		{"select max(a.x) from " + numbers + " a, " + numbers + " b group by b.n", "error 3024"},
		{"set max_execution_time = 0", ""},
		{"select count(*), sum(x) from " + numbers + " a", "20000 20000"},
	}.run(t, root)
}

// TestKillHearsJoinsOfDerivedTables: a join of derived tables goes over rows that it has in memory, and heard
// of nothing: it ran on when it was killed, when its client had gone, and while the server stopped.
func TestKillHearsJoinsOfDerivedTables(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	const derived = "(select a, 1 x from t where a < 300)"
	join := func(how string, n int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "select count(*) from %s d0", derived)
		for i := range n {
			fmt.Fprintf(&b, " "+how, derived, i+1)
		}
		return b.String()
	}
	run(t, root, "create database d", "use d", "create table t (id int primary key, a int)", "insert into t "+
		"with recursive r as (select 1 x union all select x + 1 from r where x < 300) select x, x from r")
	script{
		{"set max_execution_time = 200", ""},
		{join("join %s d%d", 8), "error 3024"},
		{join("natural join (select x from %s y) d%d", 8), "error 3024"},
		{join("left join %s d%[2]d on d%[2]d.x = d0.x", 8), "error 3024"},
		{join("left join %s d%[2]d using (x)", 8), "error 3024"},
		{strings.ReplaceAll(join("join %s d%d", 8), derived, "(select a, count(*) from t group by a)"),
			"error 3024"},
		{"set max_execution_time = 0", ""},
		{join("join %s d%[2]d on d%[2]d.x = d0.x and d0.a + d%[2]d.a < 0", 1), "0"},
		{join("join %s d%[2]d on d%[2]d.a = d0.a", 2), "299"},
		{join("left join %s d%[2]d on d%[2]d.a = d0.a + 298", 1), "299"},
		{"select count(*) from t where a not in (select a from " + derived + " y where a < 200)", "101"},
		{"select count(*) from t where a + 1000 not in (select nullif(a, 7) from " + derived + " y)", "0"},
	}.run(t, root)
}

// TestKillHearsSorts: the library evaluates the keys of a sort for each comparison and looks at nothing
// meanwhile. Five KILLed statements of a user with USAGE alone went on for minutes, on both cores.
func TestKillHearsSorts(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	const numbers = "with recursive r as (select 1 n union all select n + 1 from r where n < 2000) "
	const key = "concat(repeat('q', 1000000), n)"
	script{
		{"set cte_max_recursion_depth = 2000", ""},
		{"set group_concat_max_len = 100000", ""},
		{"set max_execution_time = 300", ""},
		{numbers + "select n from r order by " + key, "error 3024"},
		{numbers + "select n from r order by " + key + " limit 1900", "error 3024"},
		{numbers + "select n from r union select -n from r order by " + key, "error 3024"},
		{numbers + "select max(x) from (select row_number() over (order by " + key + ") x from r) z",
			"error 3024"},
		{numbers + "select max(x) from (select count(*) over (partition by " + key + ") x from r) z",
			"error 3024"},
		{numbers + "select length(group_concat(n order by " + key + ")) from r", "error 3024"},
		{numbers + "select length(group_concat(distinct n order by " + key + ")) from r", "error 3024"},
		{"set max_execution_time = 0", ""},
		{"select n from (select 2 n union select 10) r order by concat(n, 'é') desc", "2;10"},
		{"select group_concat(n order by concat(n, 'x')) from (select 2 n union select 10) r", "10,2"},
		{"select n, rank() over (partition by n % 2 order by concat(n, 'x')) k " +
			"from (select 2 n union select 10 union select 3) r order by n", "2 2;3 1;10 1"},
	}.run(t, root)
}
