package sqlfront_test

import (
	"strings"
	"testing"
)

// TestNothingLeaks: somebody with few rights asks in all the ways there are; the secret must not be in any
// answer.
func TestNothingLeaks(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key, a int, secret varchar(20), key (secret))", "insert into t values (1, 10, 'hushhush'), (2, 11, 'hushhush2')",
		"create table k (id int primary key, secret varchar(20))", "insert into k values (1, 'hushhush')", "analyze table t", "analyze table k",
		"create table pub (id int primary key, v varchar(20), fulltext (v))", "insert into pub values (1, 'x')", "create user c", "grant select (id, a), insert (id), update (a) on d.t to c", "grant select, insert, update, delete on d.pub to c", "grant create view, create routine, trigger, event, execute, create on d.* to c",
		"set @x = 'hushhush'")
	for range 3 { // into the plan cache
		results(t, root, "select secret from d.t where id = 1")
		results(t, root, "select secret from d.k where id = 1")
	}
	c := s.open("c", "d", "")
	c.SetMaxOpenConns(1)
	for _, q := range []string{
		"select secret from d.t where id = 1", "select secret from d.k where id = 1", "select secret from d.t use index (secret)", "select * from t natural join pub", "select * from pub natural join t",
		"select secret from t as of timestamp now()", "select secret from t for share", "select t.secret from t as t", "select d.t.secret from d.t", "select `secret` from (t)", "select secret from (t, pub)",
		"select max(secret) from t", "select min(secret) from t", "select group_concat(secret) from t", "select distinct secret from t", "select secret from t limit 1", "select count(distinct secret), id from t group by id",
		"select row_number() over (order by secret) from t", "select first_value(secret) over w from t window w as (order by id)", "select json_arrayagg(secret) from t", "select x.* from t as x", "select x.s from (select secret as s from t) x",
		"select * from information_schema.column_statistics", "select * from information_schema.statements_summary", "select * from moka.jobs", "select * from performance_schema.events_statements_summary_by_digest",
		"select * from performance_schema.user_variables_by_thread", "select * from information_schema.processlist", "select * from mysql.user", "select * from mysql.tables_priv", "select * from mysql.db", "show create table k", "show columns from k", "show index from k",
		"table t", "values row((select secret from t where id = 1))", "select (select secret from t where id = 1)", "select if((select count(*) from t where secret like 'h%'), 'hushhush', '')", "select 'hushhush' from t where secret like 'h%'",
		"select 'hushhush' from pub where exists (select 1 from k)", "select 'hushhush' from t order by length(secret)", "select 'hushhush' from pub left join t on t.secret like 'h%'",
		"insert into pub select id + 10, secret from t", "insert into pub values (20, (select secret from k where id = 1))", "replace into pub select id + 10, secret from t", "insert into pub values (1, 'x') on duplicate key update v = (select secret from k where id = 1)",
		"update pub set v = (select max(secret) from t)", "update pub join t on t.id = pub.id set v = secret", "update pub, k set v = secret", "update pub set v = 'hushhush' where (select secret from t where id = 1) = 'hushhush'",
		"delete from pub where (select secret from t where id = 1) = 'hushhush'", "delete pub from pub join k on k.id = pub.id", "create view v1 as select secret from t", "select * from v1", "create view v2 as select * from k", "select * from v2",
		"create table copy as select secret from k", "select * from copy", "create table copy2 like k", "create procedure p1() select secret from k", "call p1()", "create procedure p2() begin declare x varchar(20); select secret into x from t where id = 1; select x; end", "call p2()",
		"create procedure p3() begin declare c cursor for select secret from t; declare continue handler for not found begin end; open c; fetch c into @s; select @s; end", "call p3()",
		"create function f1() returns varchar(20) return (select secret from k where id = 1)", "select f1()", "create trigger tr before insert on pub for each row set new.v = (select secret from k where id = 1)", "insert into pub (id) values (30)", "select v from pub where id = 30",
		"create event e1 on schedule every 1 second do insert into pub select id + 100, secret from k", "prepare p from 'select secret from t'", "execute p", "prepare p from 'select secret from k'", "execute p", "set @s = (select secret from k where id = 1)", "select @s", "select secret into @s from t where id = 1", "select @s",
		"do (select @s := secret from k where id = 1)", "select @s", "explain analyze select * from k", "explain select * from t where secret = 'hushhush'", "explain format=tree select 'hushhush' from k", "checksum table k", "check table k", "admin check table k", "show table status",
		"load data infile '/etc/passwd' into table pub", "select secret into outfile '/tmp/x' from k", "handler k open", "lock tables k read", "notify k where secret = 'hushhush'", "create observer o after insert on k for each row insert into pub values (new.id + 500, new.secret)", "create observer o2 after insert on pub for each row insert into pub select id + 900, secret from k",
		"show observers", "select * from moka.observers", "with recursive r as (select secret, 1 as n from k union all select secret, n + 1 from r where n < 2) select * from r", "select * from pub where match(v) against ((select secret from k where id = 1))",
		"select * from json_table((select json_arrayagg(secret) from k), '$[*]' columns (s varchar(20) path '$')) j", "select * from pub, lateral (select secret from k) x", "(select secret from t) union all (select 1)", "select 1 union select secret from k", "select v from pub union select v from (select secret as v from t) y",
		"select 1 except select secret from k", "select secret from k intersect select secret from k", "select 1 from pub having (select max(secret) from k) = 'hushhush'", "select 1; select secret from k", "set sql_select_limit = (select length(secret) from k where id = 1)", "select @@sql_select_limit", "kill (select length(secret) from k limit 1)",
		"select id, v from pub", "show warnings", "show errors", "show grants for root@localhost", "show create user root@localhost", "show variables like 'secret'", "select sleep(length((select max(secret) from k)))",
	} {
		if got := results(t, c, q); strings.Contains(got, "hush") || strings.Contains(got, "bad connection") {
			t.Errorf("%s: %s", q, got)
		}
	}
	want(t, root, "select count(*) from d.pub where v like '%hush%'", "0")
}
