package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"moka/kv/kvtest"
)

// TestImplicitCommit goes through the list of MySQL 8.0's manual ("Statements That Cause an Implicit
// Commit"): what is before the statement is committed, whether or not the statement then succeeds. What Moka
// refuses as syntax is not on it.
func TestImplicitCommit(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key)", "create table u (id int primary key, v int)", "insert into u values (1, 1)",
		"create view w as select * from u", "create procedure fails() create table t (id int)", "create procedure works() create table made (id int)")
	ids := 0
	committed := func(c *sql.Conn, begin string, statements ...string) bool {
		t.Helper()
		ids++
		run(t, c, begin, fmt.Sprintf("insert into d.t values (%d)", ids))
		for _, q := range statements {
			_, _ = c.ExecContext(context.Background(), q) // also if it fails
		}
		run(t, c, "rollback", "set autocommit = 1", "unlock tables", "use d")
		return text(t, c, fmt.Sprintf("select count(*) from d.t where id = %d", ids)) == "1"
	}
	for _, list := range []struct {
		commits    bool
		statements string
	}{
		{true, `ALTER EVENT e DISABLE
			CREATE DATABASE d2
			ALTER DATABASE d2 CHARACTER SET latin1
			DROP DATABASE d2
			CREATE DATABASE d
			DROP DATABASE nowhere
			CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1
			DROP EVENT e
			CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1
			CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1
			DROP FUNCTION f
			CREATE PROCEDURE p() SELECT 1
			DROP PROCEDURE p
			DROP PROCEDURE p
			CREATE TABLE x (id INT PRIMARY KEY, v INT)
			CREATE TABLE x (id INT PRIMARY KEY)
			CREATE TABLE y LIKE x
			CREATE TABLE y LIKE x
			CREATE TABLE z AS SELECT 1 AS a
			CREATE INDEX i ON x (v)
			CREATE INDEX i ON x (v)
			CREATE INDEX i ON nowhere (v)
			DROP INDEX i ON x
			ALTER TABLE x ADD COLUMN w INT
			ALTER TABLE x ADD COLUMN w INT
			ALTER TABLE nowhere ADD COLUMN w INT
			RENAME TABLE y TO y2
			RENAME TABLE y TO y2
			TRUNCATE TABLE x
			TRUNCATE TABLE nowhere
			CREATE VIEW v AS SELECT * FROM x
			CREATE VIEW v AS SELECT * FROM x
			ALTER VIEW v AS SELECT id FROM x
			DROP VIEW v
			DROP VIEW v
			CREATE TRIGGER g BEFORE INSERT ON x FOR EACH ROW SET NEW.v = 1
			DROP TRIGGER g
			DROP TRIGGER g
			DROP TABLE x, y2, z
			DROP TABLE x
			CREATE OBSERVER o AFTER INSERT ON u FOR EACH ROW SET @a = 1
			DROP OBSERVER o
			CREATE ROLE r
			DROP ROLE r
			CREATE USER a IDENTIFIED BY 'a'
			CREATE USER a IDENTIFIED BY 'a'
			ALTER USER a IDENTIFIED BY 'b'
			GRANT SELECT ON d.* TO a
			GRANT SELECT ON d.* TO nobody
			REVOKE SELECT ON d.* FROM a
			RENAME USER a TO b
			DROP USER b
			DROP USER b
			BEGIN
			START TRANSACTION
			START TRANSACTION READ ONLY
			LOCK TABLES t WRITE
			LOCK TABLES nowhere WRITE
			ANALYZE TABLE u
			OPTIMIZE TABLE u
			CHECK TABLE u
			FLUSH TABLES
			FLUSH PRIVILEGES
			FLUSH STATUS
			FLUSH LOGS
			CALL fails()
			CALL works()`},
		{false, `SELECT * FROM u
			UPDATE u SET v = 2
			INSERT INTO u VALUES (1, 1)
			CREATE TEMPORARY TABLE tmp (id INT)
			CREATE TEMPORARY TABLE tmp2 LIKE u
			DROP TEMPORARY TABLE tmp
			DROP TEMPORARY TABLE tmp2
			EXPLAIN SELECT * FROM u
			SHOW TABLES
			SHOW CREATE TABLE u
			SHOW CREATE VIEW w
			SELECT * FROM w
			INSERT INTO w VALUES (7, 7)
			USE mysql
			SET @a = 1
			SET SESSION sql_mode = DEFAULT
			SET autocommit = 0
			UNLOCK TABLES
			DO 1
			SAVEPOINT s
			PREPARE p FROM 'create table t (id int)'
			NOTIFY u
			LOCK INSTANCE FOR BACKUP
			CREATE TABLE syntax error
			SELECT * FROM nowhere
			CALL nothing()`},
	} {
		for q := range strings.Lines(list.statements) {
			q = strings.TrimSpace(q)
			for _, begin := range []string{"begin", "set autocommit = 0"} {
				if q == "SET autocommit = 0" && begin != "begin" {
					continue
				}
				if got := committed(c, begin, q); got != list.commits {
					t.Errorf("%s; …; %s: committed: %v", begin, q, got)
				}
				_, _ = c.ExecContext(context.Background(), "drop table if exists made")
			}
		}
	}
	if !committed(c, "set autocommit = 0", "set autocommit = 1") {
		t.Error("SET autocommit = 1 does not commit")
	}
	// UNLOCK TABLES commits if there is something to unlock.
	run(t, c, "lock tables t write", "set autocommit = 0", "insert into t values (-1)", "unlock tables", "rollback", "set autocommit = 1")
	want(t, c, "select count(*) from t where id = -1", "1")
	// Prepared statements, of both kinds.
	if !committed(c, "begin", "prepare p from 'create table t (id int)'", "execute p") {
		t.Error("EXECUTE of a statement that commits does not")
	}
	p, err := c.PrepareContext(context.Background(), "drop table if exists nowhere")
	if err != nil {
		t.Fatal(err)
	}
	run(t, c, "begin", "insert into t values (-2)")
	if _, err := p.Exec(); err != nil {
		t.Fatal(err)
	}
	run(t, c, "rollback")
	want(t, c, "select count(*) from t where id = -2", "1")
	if committed(c, "begin", "prepare p from 'create table t (id int)'", "prepare q from 'select 1'", "execute q") {
		t.Error("preparing commits")
	}
	// Of a transaction that is READ ONLY the statement is refused, and the transaction goes on.
	run(t, c, "start transaction read only")
	for _, q := range []string{"create table x (id int)", "drop table u", "create user x"} {
		_, err := c.ExecContext(context.Background(), q)
		if errorNumber(err) != 1792 {
			t.Errorf("%s in a transaction that is READ ONLY: %v", q, err)
		}
	}
	run(t, c, "rollback")
	// A transaction that cannot commit says so, and the statement is not run.
	o := s.conn("d")
	run(t, c, "set moka_txn_mode = optimistic", "begin", "update u set v = 10")
	run(t, o, "update u set v = 11")
	_, err = c.ExecContext(context.Background(), "create table never (id int)")
	wantErr(t, "CREATE TABLE behind a conflict", err, 1213, "40001")
	want(t, c, "select count(*) from information_schema.tables where table_name = 'never'", "0")
}

// TestLockTables: what the session that has locked tables may do with which, by what name.
func TestLockTables(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "create table o (id int primary key, v int)", "create table log (id int auto_increment primary key)", "create trigger g after insert on o for each row insert into log values ()",
		"create table child (id int primary key, p int, foreign key (p) references o (id))", "create view w as select id, v from o", "create procedure p() select count(*) from log",
		"create temporary table tmp (id int)", "insert into o values (1, 1)")
	for _, q := range []string{"select * from t", "select count(*) from t where id = 1", "select * from t where id = 1"} {
		s.do("a", q, q) // into the plan cache
	}
	type try struct {
		number    uint16
		statement string
	}
	for locks, tries := range map[string][]try{
		"lock tables t read": {
			{0, "select * from t"}, {0, "select * from t where id = 1"}, {0, "select * from d.t"}, {0, "explain select * from t"}, {0, "select (select max(id) from t)"}, {0, "with o as (select 1 as a) select * from o"},
			{1099, "insert into t values (9, 9, 9, 9)"}, {1099, "update t set v = 1"}, {1099, "delete from t"}, {1099, "truncate table t"}, {1099, "alter table t add column z int"}, {1099, "drop table t"},
			{1099, "replace into t values (1, 1, 1, 1)"}, {1100, "select * from o"}, {1100, "select * from t x"}, {1100, "insert into o values (5, 5)"}, {1100, "select * from t, o"},
			{1100, "select * from t where id in (select id from o)"}, {1100, "select * from t where id in (select id from t)"}, {1100, "select * from w"}, {1100, "create table n (id int)"},
			{1192, "create database d9"}, {1192, "drop view w"}, {1192, "create view w2 as select 1"}, {1100, "call p()"},
			{0, "insert into tmp values (1)"}, {0, "select * from tmp"}, {0, "create temporary table tmp3 (id int)"}, {0, "drop temporary table tmp3"}, {0, "select count(*) from information_schema.tables"}, {0, "select 1"}, {0, "show tables"},
			{0, "set @a = 1"}, {0, "commit"}, {1100, "select * from o"},
		},
		"lock tables t as x read, t write, o low_priority write": {
			{0, "insert into t select id + 10, v, u + 10, x from t as x"}, {0, "delete from t where id > 10"}, {0, "update t, o set t.v = 3, o.v = 3 where t.id = o.id"}, {0, "update t, o set u = 1 where t.id = 99"},
			{1099, "update t as x set v = 1"}, {0, "update o, t as x set o.v = x.v where o.id = x.id"}, {1099, "update o, t as x set x.v = o.v where o.id = x.id"},
			{0, "delete o from o, t as x where o.id = x.id and o.id > 50"}, {1099, "delete x from o, t as x where o.id = x.id"}, {1100, "select * from t as y"}, {1100, "select * from x"},
			{0, "insert into o values (2, 2)"}, // its trigger writes to log
			{0, "alter table t add column z int"}, {0, "alter table t drop column z"}, {1100, "select * from log"},
			{0, "prepare p1 from 'insert into o values (?, 1)'"}, {0, "set @a = 70"}, {0, "execute p1 using @a"}, {0, "prepare p2 from 'select * from log'"}, {1100, "execute p2"},
		},
		"lock tables child write":      {{0, "insert into child values (1, 1)"}, {1452, "insert into child values (2, 1000)"}, {0, "delete from child"}},
		"lock tables w read":           {{0, "select * from w"}, {1099, "insert into w values (8, 8)"}, {1100, "select * from o"}},
		"lock tables w write":          {{0, "insert into w values (8, 8)"}, {0, "delete from w where id = 8"}},
		"lock tables log read, t read": {{0, "call p()"}},
	} {
		s.do("a", locks)
		for _, q := range tries {
			if _, err := s.in("a").ExecContext(context.Background(), q.statement); errorNumber(err) != q.number {
				t.Errorf("%s; %s: %v, want %d", locks, q.statement, err, q.number)
			}
		}
		s.do("a", "unlock tables", "select * from log", "select * from t")
	}
	s.fails("a", 1066, "lock tables t read, t write")
	s.fails("a", 1146, "lock tables nowhere read")
	s.do("a", "select * from o")
	// Dumps of all databases lock those that nobody can write to.
	s.do("a", "lock tables moka.locks read", "select * from moka.locks", "unlock tables")
	s.fails("a", 3989, "lock tables moka.locks write")
	// A new LOCK TABLES, BEGIN, and a new session let go; ROLLBACK does not.
	s.do("a", "lock tables t read", "lock tables o read")
	s.fails("a", 1100, "select * from t")
	s.do("a", "start transaction", "select * from t", "rollback", "lock tables o read", "begin", "select * from t", "rollback", "lock tables o read", "rollback")
	s.fails("a", 1100, "select * from t")
	s.do("a", "unlock tables")

	// Other sessions: who locks waits for who has locked; statements of those who do not are not held up.
	s.do("a", "lock tables t write")
	s.do("c", "select * from t", "update t set v = v where id = 3")
	s.blocks("b", "lock tables o read, t read")
	s.want("c", "select table_name, row_key, lock_mode, lock_status from moka.locks where lock_status = 'WAITING'", "t LOCK TABLES S WAITING")
	s.do("a", "insert into t values (50, 50, 50, 50)", "unlock tables")
	s.ends("b 0")
	s.want("b", "select count(*) from t where id = 50", "1")
	s.do("a", "lock tables t read", "unlock tables")
	s.blocks("a", "lock tables t write")
	if err := s.in("b").Raw(func(c any) error { return c.(interface{ Close() error }).Close() }); err != nil {
		t.Fatal(err)
	}
	s.ends("a 0")
	s.do("a", "unlock tables")
	s.do("c", "set lock_wait_timeout = 1")
	s.do("a", "lock tables t read")
	s.fails("c", 1205, "lock tables t write")
	s.do("c", "select * from o", "lock tables t read")
	s.wg.Wait()
}
