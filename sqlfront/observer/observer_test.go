package observer_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moka/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// account is what most tests observe, and log is where their bodies write.
const (
	account = "create table account (id int primary key, owner varchar(20) default '-', balance int not " +
		"null default 0, note text)"
	logs = "create table log (n int primary key auto_increment, what varchar(10), id int, was int, " +
		"is_now int)"
)

func TestEachEventSeesOldAndNew(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs,
		"create observer i after insert on account for each row insert into log (what, id, is_now) values "+
			"('insert', new.id, new.balance)",
		"create observer u after update on account for each row insert into log (what, id, was, is_now) "+
			"values ('update', new.id, old.balance, new.balance)",
		"create observer x after delete on account for each row insert into log (what, id, was) values "+
			"('delete', old.id, old.balance)",
	)
	const seen = "select what, id, was, is_now from log order by n"
	c.exec("insert into account (id, balance) values (1, 10)")
	c.eventually(seen, "insert 1 NULL 10")
	c.exec("update account set balance = 11 where id = 1")
	c.eventually(seen, "insert 1 NULL 10; update 1 10 11")
	c.exec("delete from account where id = 1")
	c.eventually(seen, "insert 1 NULL 10; update 1 10 11; delete 1 11 NULL")
	c.rest()
	// An UPDATE that changes nothing is no change; a row that moves to another key is one that
	// goes and one that comes.
	c.exec("insert into account (id, balance) values (2, 5)")
	c.rest()
	c.exec("delete from log", "update account set balance = 5 where id = 2")
	c.rest()
	c.want(seen, "")
	c.exec("update account set id = 3 where id = 2")
	c.rest()
	c.want("select what, id, was, is_now from log order by what", "delete 2 5 NULL; insert 3 NULL 5")
}

// TestOldAfterCollection: OLD is as old as the last acknowledgement, which may be much older than what
// garbage collection keeps. A row that was the same all the time is known; of one that has changed behind the
// observer's back the run is parked, and NULL if one says so.
func TestOldAfterCollection(t *testing.T) {
	n, c := start(t)
	collector, err := txn.NewClient(n.mem, n.clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	collect := func() {
		t.Helper()
		// A background read of the node may be under way at an older snapshot; it fails and comes again.
		ts, err := n.clock.Next(t.Context())
		if err == nil {
			_, err = collector.CollectGarbage(t.Context(), ts, txn.GarbageOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.exec(account, logs, "insert into account (id, balance) values (1, 10), (2, 20), (3, 30)",
		"create observer u after update or delete on account for each row insert into log (what, was) "+
			"values ('changed', old.balance)",
		"update account set balance = balance + 1")
	const seen = "select count(*), count(was), coalesce(sum(was), 0) from log"
	c.eventually(seen, "3 3 60")
	c.rest()
	collect()
	c.exec("update account set balance = 100 where id = 1", "delete from account where id = 2")
	c.eventually(seen, "5 5 92") // + 11 + 21
	c.rest()
	c.exec("alter observer u disable", "update account set balance = 200")
	collect()
	c.exec("alter observer u enable", "update account set balance = 300 where id = 3")
	// What it was at the last acknowledgement, nobody knows any more: an aggregate would be wrong for ever.
	c.eventually("select parked, error like '%OLD%has been removed by garbage%' from moka.observer_errors",
		"1 1")
	c.want(seen, "5 5 92")
	c.exec("alter observer u with (forgotten_old = 'null')", "alter observer u retry failed")
	c.eventually(seen, "6 5 92")
	c.rest()
	c.exec("update account set balance = 301 where id = 3")
	c.eventually(seen, "7 6 392")
}

// Columns that are computed and keys over expressions are added without touching a row, so
// observers have nothing to see.
func TestVirtualColumnsAreNoChange(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "insert into account (id, balance) values (1, 10), (2, 20)",
		"create observer o after insert or update on account for each row insert into log (what, id) "+
			"values ('seen', new.id)",
		"create index twice on account ((balance * 2))",
		"alter table account add column more bigint as (balance + 1) virtual, add key (more)",
		"insert into account (id, balance) values (3, 30)")
	c.eventually("select group_concat(id) from log", "3")
	c.rest()
	c.want("select group_concat(id) from log", "3")
	c.want("select id from account where more = 21", "2")
}

func TestUpdateOfListensToItsColumnsOnly(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "insert into account (id, owner, balance) values (1, 'ann', 1)",
		"create observer o after update of Balance, note on account for each row insert into log (what, "+
			"id, was, is_now) values (new.owner, new.id, old.balance, new.balance)",
		"update account set owner = 'bob' where id = 1")
	c.rest()
	c.want("select count(*) from log", "0")
	c.exec("update account set balance = 2 where id = 1")
	c.eventually("select what, was, is_now from log", "bob 1 2")
	c.exec("update account set note = 'x' where id = 1")
	c.eventually("select count(*) from log", "2")
	c.exec("insert into account (id) values (2)", "delete from account where id = 1")
	c.rest()
	c.want("select count(*) from log", "2")
	// Text is compared by its bytes, whatever the collation says.
	c.exec("update account set note = 'y' where id = 2")
	c.eventually("select count(*) from log", "3")
	c.exec("update account set note = 'Y' where id = 2")
	c.eventually("select count(*) from log", "4")
}

func TestBodies(t *testing.T) {
	for name, body := range map[string]string{
		"insert": "insert into sums values (new.id, new.balance)",
		"upsert": "insert into sums values (new.id, new.balance) on duplicate key update total = " +
			"values(total)",
		"replace": "replace into sums values (new.id, new.balance)",
		"default": "begin declare b, d int default new.balance; insert into sums values (new.id, d); end",
		"select":  "insert into sums select a.id, a.balance from account a where a.id = new.id",
		"block": "begin declare b int; set b = new.balance; if b > 5 then insert into sums values " +
			"(new.id, b); else insert into sums values (new.id, 0); end if; end",
		"case": "begin case when new.balance = 10 then insert into sums values (new.id, 10); else " +
			"insert into sums values (new.id, -1); end case; end",
		"loop": "begin declare n int default 0; insert into sums values (new.id, 0); while n < " +
			"new.balance do set n = n + 1; update sums set total = n where id = new.id; end while; end",
		"into": "begin declare b int; select balance into b from account where id = new.id; insert " +
			"into sums values (new.id, b); end",
		"exists": "begin if not exists (select 1 from sums where id = new.id) then insert into sums " +
			"values (new.id, new.balance); end if; end",
		"cursor": "begin declare done, b int default 0; declare c cursor for select balance from " +
			"account where id = new.id; declare continue handler for not found set done = 1; open c; fetch " +
			"c into b; close c; insert into sums values (new.id, b); end",
		"call": "call put(new.id, new.balance)",
		"two tables": "begin insert into sums values (new.id, new.balance); update account set owner = " +
			"'seen' where id = new.id; end",
		"join": "insert into sums select a.id, sum(b.balance) from account a join account b on a.id " +
			"= b.id where a.id = new.id group by a.id",
	} {
		t.Run(name, func(t *testing.T) {
			_, c := start(t)
			c.exec(account, "create table sums (id int primary key, total int)",
				"create procedure put(i int, b int) insert into sums values (i, b)",
				"create observer o after insert on account for each row "+body,
				"insert into account (id, balance) values (1, 10)")
			c.eventually("select * from sums", "1 10")
			c.rest()
			c.want("select count(*) from moka.observer_errors", "0")
		})
	}
}

func TestSeveralChangesCollapse(t *testing.T) {
	w := newWorld(t)
	writer := w.node(false) // nobody runs observers yet
	writer.session("").exec("create database d")
	c := writer.session("d")
	c.exec(account, logs, "insert into account (id, balance) values (1, 0), (3, 7)",
		"create observer u after update on account for each row insert into log (what, id, was, is_now) "+
			"values ('update', new.id, old.balance, new.balance)",
		"create observer i after insert on account for each row insert into log (what, id, is_now) values "+
			"('insert', new.id, new.balance)",
		"create observer x after delete on account for each row insert into log (what, id, was) values "+
			"('delete', old.id, old.balance)")
	for n := range 10 {
		c.exec(fmt.Sprintf("update account set balance = %d where id = 1", n+1))
	}
	c.exec("insert into account (id, balance) values (2, 1)", "update account set balance = 2 where id = 2",
		"delete from account where id = 2")
	c.exec("delete from account where id = 3")
	c.want("select observer_name, waiting > 0, parked, lag_ms >= 0, oldest_change is not null from "+
		"moka.observer_backlog order by 1",
		"i 1 0 1 1; u 1 0 1 1; x 1 0 1 1")
	w.node(true)
	c.rest()
	// Ten updates are one run, from the first OLD to the last NEW. Whoever asked for INSERT finds nothing any
	// more of a row that came and went; whoever asked for DELETE only sees it as it was before.
	c.want("select what, id, was, is_now from log order by id",
		"update 1 0 10; delete 2 2 NULL; delete 3 7 NULL")
}

func TestChainOfObservers(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create table sums (owner varchar(20) primary key, total int not null)",
		`create observer total after insert or update of balance on account for each row begin
			insert into sums values (new.owner, 0) on duplicate key update total = total;
			update sums set total = (select sum(balance) from account where owner = new.owner) where owner = new.owner;
		end`,
		"create observer audit after insert or update on sums for each row insert into log (what, is_now) "+
			"values (new.owner, new.total)")
	c.exec("insert into account (id, owner, balance) values (1, 'ann', 3), (2, 'bob', 4), (3, 'ann', 5)")
	c.rest()
	c.want("select * from sums order by owner", "ann 8; bob 4")
	c.exec("update account set balance = 10 where owner = 'ann'")
	c.rest()
	c.want("select * from sums order by owner", "ann 20; bob 4")
	// The last thing that the second observer wrote down is what the first one arrived at.
	c.want("select what, max(is_now) from log group by what order by what", "ann 20; bob 4")
}

func TestEffectsAreThereOnceForEachChange(t *testing.T) {
	_, c := start(t)
	c.exec(account, "create table sums (id int primary key, runs int not null, last int)",
		`create observer o after insert on account for each row
			insert into sums values (new.id % 5, 1, new.id) on duplicate key update runs = runs + 1, last = values(last)`)
	const rows = 60
	for from := 0; from < rows; from += 20 {
		var values []string
		for i := range 20 {
			values = append(values, fmt.Sprintf("(%d, %d)", from+i, i))
		}
		c.exec("insert into account (id, balance) values " + strings.Join(values, ", "))
	}
	c.rest()
	// Runs that met at a counter have run again; none counted twice.
	c.want("select id, runs from sums order by id", "0 12; 1 12; 2 12; 3 12; 4 12")
	c.want("select count(*) from moka.observer_errors", "0")
}

func TestShowAndSystemTables(t *testing.T) {
	_, c := start(t)
	const create = "create observer audit after insert or update of balance, note or delete on account for " +
		"each row with (attempts = 3, backoff_ms = 7) insert into log (id) values (new.id)"
	const second = "CREATE OBSERVER other AFTER DELETE ON account FOR EACH ROW BEGIN DELETE FROM log WHERE " +
		"id = OLD.id; END"
	c.exec(account, logs)
	valid := strings.Replace(create, " or delete", "", 1)
	c.exec(valid, second)
	c.want("show create observer audit",
		"audit ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES "+valid)
	for query, expect := range map[string]string{
		"show observers": "audit INSERT OR UPDATE account ENABLED 0 0 0 insert into log (id) values (new.id)",
	} {
		if got := c.text(query); !strings.HasPrefix(got, expect) ||
			!strings.Contains(got, "; other DELETE account ENABLED 0 0 0 BEGIN") {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := c.text("show observers like 'oth%'"); !strings.HasPrefix(got, "other") {
		t.Error(got)
	}
	c.want("show observers from d like 'nobody'", "")
	c.want(`select observer_schema, observer_name, events, of_columns, event_table, status, attempts, backoff_ms, definer, created > '2024-01-01'
		from moka.observers order by observer_name`,
		"d audit INSERT OR UPDATE balance,note account ENABLED 3 7 root@localhost 1; d other DELETE  "+
			"account ENABLED NULL NULL root@localhost 1")
	c.want("select OBSERVER_NAME, ACTION_STATEMENT from information_schema.OBSERVERS where EVENTS = 'DELETE'",
		"other BEGIN DELETE FROM log WHERE id = OLD.id; END")
	c.want("show tables from moka",
		"incremental_views; observer_backlog; observer_errors; observer_runs; observer_writes; observers")
	c.want("select table_name from information_schema.tables where table_schema = 'moka' order by 1",
		"incremental_views; observers; observer_backlog; observer_errors; observer_runs; observer_writes")
	c.want("select column_name, data_type from information_schema.columns where table_schema = 'moka' and "+
		"table_name = 'observer_backlog' order by ordinal_position limit 3",
		"observer_schema varchar; observer_name varchar; waiting bigint")
	c.want("select table_name from information_schema.tables where table_schema = 'information_schema' and "+
		"table_name = 'OBSERVERS'", "OBSERVERS")
	c.exec("start transaction read only")
	c.want("select count(*) from moka.observers", "2")
	c.exec("commit")
	// Nobody writes there.
	for _, q := range []string{
		"insert into moka.observers (observer_name) values ('x')", "update moka.observers set status = 'x'",
		"delete from moka.observer_errors",
		"create table moka.t (id int)", "drop table moka.observers", "truncate moka.observers",
		"create database moka", "drop database moka",
		"create index i on moka.observers (observer_name)", "alter table moka.observers add column x int",
		"create view moka.v as select 1",
	} {
		if got := c.text(q); !strings.HasPrefix(got, "error ") || strings.HasPrefix(got, "error 1105") {
			t.Errorf("%s: %s", q, got)
		}
	}
}

func TestErrorsOfDeclarations(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create observer o after insert on account for each row insert into log (id) "+
		"values (new.id)")
	for query, e := range map[string]struct {
		code  int
		words string
	}{
		"create observer o after insert on account for each row delete from log": {
			1359, "'o'"},
		"create observer p after insert on nope for each row delete from log": {
			1146, "d.nope"},
		"create observer p after insert on nodb.account for each row delete from log": {
			1049, "nodb"},
		"create observer p after insert on account for each row delete from nope": {
			1146, "nope"},
		"create observer p after insert on account for each row insert into log (id) values (new.nope)": {
			1054, "nope"},
		"create observer p after insert on account for each row insert into log (id) values (old.nope)": {
			1054, "nope"},
		"create observer p after insert on account for each row with (forgotten_old = 1) delete from log": {
			1231, "forgotten_old"},
		"create observer p after insert on account for each row insert into log (nope) values (1)": {
			1054, "nope"},
		"create observer p after insert on account for each row insert into log (id) values (1, 2)": {
			1136, ""},
		"create observer p after update of nope on account for each row delete from log": {
			1054, "nope"},
		"create observer p after insert on account for each row set new.balance = 1": {
			1235, "committed already"},
		"create observer p before insert on account for each row delete from log": {
			1064, "before"},
		"create observer p after insert or insert on account for each row delete from log": {
			1064, "insert"},
		"create observer p after insert on account for each row": {
			1064, ""},
		"create observer p after insert on account for each row selct 1": {
			1064, "selct"},
		"create observer p after insert on account for each row with (attempts = 0) delete from log": {
			1231, "attempts"},
		"create observer p after insert on account for each row with (backoff_ms = many) delete from log": {
			1231, "backoff_ms"},
		"create observer p after insert on account for each row with (speed = 1) delete from log": {
			1193, "speed"},
		"drop observer nope":         {1360, "'nope'"},
		"drop observer nodb.o":       {1049, "nodb"},
		"alter observer nope enable": {1360, "'nope'"},
		"alter observer o retry":     {1064, ""},
		"show create observer nope":  {1360, "'nope'"},
		"show observers from nodb":   {1049, "nodb"},
	} {
		c.wantCode(query, e.code, e.words)
	}
	c.want("select observer_name from moka.observers", "o")
	c.exec("create observer if not exists o after insert on account for each row delete from log",
		"drop observer if exists nope")
	c.want("show warnings", "Note 1360 Observer 'nope' does not exist")
}

func TestCycleIsAWarning(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create observer forth after insert on account for each row insert into log (id) "+
		"values (new.id)")
	c.want("show warnings", "")
	c.exec("create observer back after insert on log for each row update account set balance = balance + 1 " +
		"where id = new.id")
	if got := c.text("show warnings"); !strings.Contains(got, "'back' is part of a cycle") {
		t.Errorf("%q", got)
	}
	c.exec("create table a (id int primary key, n int)", "create observer self after update on a for each "+
		"row update a set n = n + 1 where id = new.id and n < 5")
	if got := c.text("show warnings"); !strings.Contains(got, "'self' is part of a cycle") {
		t.Errorf("%q", got)
	}
	// It is allowed, and ends when the body changes nothing any more.
	c.exec("insert into a values (1, 0)", "update a set n = 1 where id = 1")
	c.eventually("select n from a", "5")
	c.rest()
}

// A body that fails is tried again, slower and slower, then parked: SQL shows it, and can have it tried
// again.
func TestFailingBodyIsParkedAndRetried(t *testing.T) {
	_, c := start(t)
	c.exec(account, "create table target (id int primary key, balance int not null, check (balance < 100))",
		"create observer o after insert or update on account for each row with (attempts = 3, backoff_ms = "+
			"1) replace into target values (new.id, new.balance)",
		"insert into account (id, balance) values (1, 500), (2, 2), (3, 600)")
	c.eventually("select observer_schema, observer_name, event_table, row_key, attempts, parked from "+
		"moka.observer_errors order by row_key",
		"d o account id=1 3 1; d o account id=3 3 1")
	if got := c.text("select error from moka.observer_errors where row_key = 'id=1'"); !strings.Contains(got,
		"Check constraint") {
		t.Errorf("%q", got)
	}
	c.eventually("select waiting, parked from moka.observer_backlog", "0 2")
	c.want("select * from target", "2 2") // the others are not held up
	if got := c.text("show observers"); !strings.HasPrefix(got, "o INSERT OR UPDATE account ENABLED 0 2 ") {
		t.Error(got)
	}
	// Without a change of the circumstances it is parked again.
	c.exec("alter observer o retry failed")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 2")
	// A new change of the row is a new notification.
	c.exec("update account set balance = 3 where id = 3")
	c.eventually("select * from target order by id", "2 2; 3 3")
	c.exec("alter table target drop constraint target_chk_1", "alter observer o retry failed")
	c.eventually("select * from target order by id", "1 500; 2 2; 3 3")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 0")
	c.want("select count(*) from moka.observer_errors", "0")
}

func TestSignalIsTheErrorShown(t *testing.T) {
	_, c := start(t)
	c.exec("create table t (a varchar(10), b int, primary key (a, b))",
		"create observer o after insert on t for each row with (attempts = 1) begin signal sqlstate "+
			"'45000' set message_text = 'not today'; end",
		"insert into t values ('x', 1)")
	c.eventually("select row_key, attempts, parked, error like '%not today%' from moka.observer_errors",
		"a=x, b=1 1 1 1")
	c.exec("delete from t")
	// The text of a key under a collation is not in the key; the row is gone.
	c.want("select row_key like '0x%', parked from moka.observer_errors", "1 1")
	c.exec("drop observer o")
	c.want("select count(*) from moka.observer_errors", "0")
	c.want("select count(*) from moka.observer_backlog", "0")
}

func TestDisableAndEnable(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create observer o after insert or update on account for each row insert into "+
		"log (id, is_now) values (new.id, new.balance)",
		"insert into account (id, balance) values (1, 1)")
	c.rest()
	c.exec("alter observer o disable", "insert into account (id, balance) values (2, 2)")
	c.want("select status from moka.observers", "DISABLED")
	// A disabled observer is not notified: what happens meanwhile is none of its business.
	c.want("select waiting from moka.observer_backlog", "0")
	c.exec("alter observer o enable", "insert into account (id, balance) values (3, 3)")
	c.eventually("select id, is_now from log order by id", "1 1; 3 3")
	c.rest()
	c.exec("drop observer o", "insert into account (id) values (4)")
	c.want("select count(*) from moka.observers", "0")
	c.want("select count(*) from log", "2")
	// Declared again it is another observer: it knows nothing of what the first one has seen.
	c.exec("create observer o after update on account for each row insert into log (id, was, is_now) "+
		"values (new.id, old.balance, new.balance)",
		"update account set balance = 10 where id = 1")
	c.eventually("select id, was, is_now from log where was is not null", "1 1 10")
	c.exec("create observer off after insert on account for each row with (enabled = false) delete from log")
	c.want("select status from moka.observers where observer_name = 'off'", "DISABLED")
}

func TestBodyFollowsSchemaChanges(t *testing.T) {
	_, c := start(t)
	c.exec(account, logs, "create observer o after insert on account for each row insert into log (id, "+
		"is_now) values (new.id, new.balance)",
		"insert into account (id, balance) values (1, 1)")
	c.rest()
	c.exec("alter table account add column first int default 7 first",
		"insert into account (id, balance) values (2, 2)")
	c.eventually("select id, is_now from log order by id", "1 1; 2 2")
	c.exec("alter table log add column extra int default 5", "create index by_id on log (id)",
		"insert into account (id, balance) values (3, 3)")
	c.eventually("select id, is_now, extra from log order by id", "1 1 5; 2 2 5; 3 3 5")
	// What the body needs is gone: the change waits, and is not lost.
	c.exec("alter table log rename column is_now to later", "insert into account (id, balance) values (4, 4)")
	c.eventually("select error like '%is_now%' from moka.observer_errors", "1")
	c.exec("alter table log rename column later to is_now", "alter observer o retry failed")
	c.eventually("select id, is_now from log order by id", "1 1; 2 2; 3 3; 4 4")
	c.rest()
	// Its own table under another name.
	c.exec("rename table account to customer", "insert into customer (id, balance) values (5, 5)")
	c.eventually("select count(*) from log", "5")
	// It goes with its table, and its database.
	c.exec("drop table customer")
	c.want("select count(*) from moka.observers", "0")
	c.exec("create observer again after insert on log for each row delete from log where id = new.id",
		"drop database d")
	c.want("select count(*) from moka.observers", "0")
}

// UPDATE … WHERE id = NEW.id reads one row, not the table.
func TestBodiesFindRowsByKey(t *testing.T) {
	w := newWorld(t)
	writer, n := w.node(false), w.node(true) // what n reads is what bodies read
	writer.session("").exec("create database d")
	c := writer.session("d")
	c.exec(account, "create table big (id int primary key, other int, n int not null default 0, filler "+
		"varchar(200), key (other))",
		"create table link (id int primary key, big int not null)")
	var values, links []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf("(%d, %d, 0, '%s')", i, i+10000, strings.Repeat("x", 150)))
		links = append(links, fmt.Sprintf("(%d, %d)", i, i))
	}
	c.exec("insert into big values "+strings.Join(values, ", "),
		"insert into link values "+strings.Join(links, ", "))
	read := func() int64 {
		c.exec("update big set n = 0", "delete from account")
		c.rest()
		before := n.read.bytes.Load()
		c.exec("insert into account (id) values (500)")
		c.eventually("select sum(n) from big where id = 500", "1")
		c.rest()
		return n.read.bytes.Load() - before
	}
	n.read.bytes.Store(0)
	own := n.session("d")
	own.want("select count(filler) from big where n = 0", "1000")
	scan := n.read.bytes.Load()
	for i, body := range []string{
		"update big set n = n + 1 where id = new.id",
		"update big set n = n + 1 where other = new.id + 10000",
		"update big set n = n + 1 where id = new.id and filler <> ''",
		"begin declare k int; set k = new.id; update big set n = n + 1 where id = k; end",
		"begin if new.id > 0 then update big b set b.n = b.n + 1 where b.id = new.id; end if; end",
		"begin declare k int default 0; while k < 1 do update big set n = n + 1 where id = new.id; set k = " +
			"k + 1; end while; end",
		"begin delete from big where id = new.id; insert into big (id, n) values (new.id, 1); end",
		"insert into big (id, n) values (new.id, 1) on duplicate key update n = n + 1",
	} {
		c.exec("create observer o after insert on account for each row " + body)
		// Twice, because a table's size is counted in the background when it is first planned for.
		if got := min(read(), read()); got > scan/4 {
			t.Errorf("%d: %s: %d bytes were read, a scan is %d", i, body, got, scan)
		}
		c.exec("drop observer o")
	}
}

// A node that dies and one that comes: nothing is lost, nothing is done twice.
func TestRestartKeepsEverything(t *testing.T) {
	w := newWorld(t)
	first := w.node(true)
	first.session("").exec("create database d")
	c := first.session("d")
	c.exec(account, logs, "create observer i after insert on account for each row insert into log (id, "+
		"is_now) values (new.id, new.balance)",
		"create observer u after update of balance on account for each row insert into log (id, was, "+
			"is_now) values (new.id, old.balance, new.balance)",
		"create observer bad after update on account for each row with (attempts = 1) begin signal "+
			"sqlstate '45000' set message_text = 'no'; end",
		"insert into account (id, balance) values (1, 1)")
	c.rest()
	c.exec("update account set balance = 2")
	c.eventually("select sum(waiting), sum(parked) from moka.observer_backlog", "0 1")
	first.stop()
	// Changes while nobody runs observers.
	writer := w.node(false)
	cw := writer.session("d")
	cw.exec("update account set balance = 3", "insert into account (id, balance) values (2, 20)")
	second := w.node(true)
	c = second.session("d")
	c.eventually("select sum(waiting), sum(parked) from moka.observer_backlog", "0 1")
	c.want("select id, was, is_now from log order by id, is_now", "1 NULL 1; 1 1 2; 1 2 3; 2 NULL 20")
	c.want("select observer_name, events, of_columns, status from moka.observers order by 1",
		"bad UPDATE  ENABLED; i INSERT  ENABLED; u UPDATE balance ENABLED")
	// What one node declares, the other runs.
	cw.exec("alter observer bad disable",
		"create observer late after delete on account for each row delete from log where id = old.id",
		"delete from account where id = 1")
	c.eventually("select id, was, is_now from log order by id, is_now", "2 NULL 20")
}

// A body is compiled once and looks at the tables each time, by ranges of keys as well; with the plan cache
// off it is compiled for each run, and does the same.
func TestBodyIsCompiledOnce(t *testing.T) {
	n, s := start(t)
	s.exec("create table t (id int primary key, lo int, hi int)",
		"create table seen (id int primary key, others int, inside int, known int)",
		`create observer o after insert on t for each row
		  insert into seen values (new.id, (select count(*) from seen), (select count(*) from t where id between new.lo and new.hi), exists (select 1 from seen where others = 1))`)
	insert := func(id int) (hits, misses int64) {
		t.Helper()
		before := n.eng.PlanCacheStats()
		s.exec(fmt.Sprintf("insert into t values (%d, %d, %d)", id, id-1, id))
		s.eventually(fmt.Sprintf("select count(*) from seen where id = %d", id), "1")
		s.rest()
		after := n.eng.PlanCacheStats()
		return after.BodyHits - before.BodyHits, after.BodyMisses - before.BodyMisses
	}
	var hits int64
	for id := range 12 { // four runners, each compiles for itself
		h, _ := insert(id)
		hits += h
	}
	if hits == 0 {
		t.Error("no run found its body compiled")
	}
	s.exec("set global moka_plan_cache = 0")
	defer s.exec("set global moka_plan_cache = 1")
	if h, m := insert(12); h > 0 || m == 0 {
		t.Errorf("with the plan cache off %d runs found their bodies compiled, %d did not", h, m)
	}
	s.want("select id, others, inside, known from seen where id in (0, 1, 2, 12) order by id",
		"0 0 1 0; 1 1 2 0; 2 2 2 1; 12 12 2 1")
}

// TestDroppedObserversLeaveNoBodies: each runner kept what it had compiled of observers that were dropped,
// some hundred times their texts, and nothing bounded that (trig-4).
func TestDroppedObserversLeaveNoBodies(t *testing.T) {
	n, s := start(t)
	s.exec("create table t (id int primary key)", "create table seen (id int primary key)")
	long := "begin if 0 then " + strings.Repeat("set @a = 1; ", 5000) +
		"end if; insert into seen values (new.id); end"
	for i := range 2 {
		s.exec("create observer o after insert on t for each row with (attempts = 1) "+long,
			fmt.Sprintf("insert into t values (%d), (%d)", 2*i, 2*i+1))
		s.eventually("select count(*) from seen", fmt.Sprint(2*i+2))
		s.rest()
		s.exec("drop observer o")
		for deadline := time.Now().Add(10 * time.Second); n.reg.SpareBytes() > 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("%d bytes are left of an observer that is gone", n.reg.SpareBytes())
			}
		}
	}
}

// An observer sees moments, whatever the zone of who wrote them: in its own, which is the server's.
func TestObserversOfTimestamps(t *testing.T) {
	n, c := start(t)
	c.exec("set time_zone = '+05:00'", "create table seen (id int primary key, at timestamp null, n int)",
		"create table copied (id int primary key, was timestamp null, is_now timestamp null)",
		"create observer i after insert on seen for each row replace into copied values (new.id, null, "+
			"new.at)",
		"create observer u after update on seen for each row replace into copied values (new.id, old.at, "+
			"new.at)",
		"insert into seen values (1, '2020-01-01 10:00:00', 1)")
	c.eventually("select * from copied", "1 NULL 2020-01-01 10:00:00")
	c.rest()
	other := n.session("d")
	other.exec("set time_zone = '-05:00'",
		"update seen set at = '2020-01-01 01:00:00' where at = '2020-01-01 00:00:00'")
	other.eventually("select * from copied", "1 2020-01-01 00:00:00 2020-01-01 01:00:00")
	c.want("select * from copied where is_now = '2020-01-01 11:00:00'",
		"1 2020-01-01 10:00:00 2020-01-01 11:00:00")
	// The form of the table is changed in the zone of who changes it, for what observers have still to see as
	// well.
	c.exec("alter table seen modify at datetime null")
	c.eventually("select at from seen", "2020-01-01 11:00:00")
	other.exec("update seen set n = 2")
	other.eventually("select is_now from copied", "2020-01-01 06:00:00")
}

// TestEnumsInBodies: NEW.e of an ENUM or SET is a text to a column of texts.
func TestEnumsInBodies(t *testing.T) {
	_, s := start(t)
	s.exec("create table t (id int primary key, e enum('x','y'), s set('a','b','c'))",
		"create table l (id int primary key, e varchar(9), s varchar(9), n int, w varchar(9))",
		"create observer o after insert on t for each row begin insert into l select new.id, new.e, new.s, "+
			"new.e, concat_ws('-', new.e, new.s); end",
		"create observer p after insert on t for each row insert into l values (new.id + 1, new.e, new.s, "+
			"new.s, concat(new.e))",
		"insert into t values (10, 'y', 'b,c')")
	s.rest()
	s.want("select * from l order by id", "10 y b,c 2 y-b,c; 11 y b,c 6 y")
}

// TestEachRunHasItsOwnSession: what a run leaves in its session, no other run finds (O6, session state
// leaked between observers).
func TestEachRunHasItsOwnSession(t *testing.T) {
	_, s := start(t)
	s.exec("create table a (id int primary key)", "create table b (id int primary key)",
		"create table l (id int primary key, zone varchar(20), v varchar(20), mode varchar(20), last "+
			"bigint, db varchar(20), safe int, free int)",
		"create table n (id int primary key auto_increment)", "create database other",
		`create observer o after insert on a for each row begin
			set time_zone = '+05:00', @v = 'left', @@sql_safe_updates = 1;
			set session sql_mode = '';
			insert into n values (null);
			set @x = get_lock('left', 0);
		end`,
		`create observer p after insert on b for each row insert into l values (new.id, @@time_zone, @v, `+
			`left(@@sql_mode, 4), last_insert_id(), database(), @@sql_safe_updates, is_free_lock('left'))`)
	for i := range 8 { // more than there are runners
		s.exec(fmt.Sprintf("insert into a values (%d)", i))
		s.rest()
		s.exec(fmt.Sprintf("insert into b values (%d)", i))
		s.rest()
	}
	s.want("select count(*) from n", "8")
	s.want("select distinct zone, v, mode, last, db, safe, free from l", "SYSTEM NULL ERRO 0 d 0 1")
}

// TestDisabledObserversAreToldOf: DISABLE warns that changes pass the observer by, and ENABLE says which (O8,
// they were lost without a word).
func TestDisabledObserversAreToldOf(t *testing.T) {
	_, s := start(t)
	s.exec("create table t (id int primary key)", "create table l (id int primary key)",
		"create observer o after insert on t for each row insert into l values (new.id)",
		"create observer n after notify on t for each row set @x = 1", "insert into t values (1)")
	s.rest()
	warned := func(query, words string) {
		t.Helper()
		s.exec(query)
		if got := s.text("show warnings"); words == "" && got != "" || !strings.Contains(got, words) {
			t.Errorf("%s: warnings %q, want one with %q", query, got, words)
		}
	}
	warned("alter observer o disable", "are not delivered to observer 'o'")
	s.exec("insert into t values (2)")
	warned("alter observer o disable", "")
	warned("alter observer o enable", "Observer 'o' has missed all changes between 20")
	warned("alter observer o enable", "")
	warned("alter observer n disable", "")
	warned("alter observer n enable", "")
	s.exec("insert into t values (3)")
	s.rest()
	s.want("select group_concat(id order by id) from l", "1,3")
}
