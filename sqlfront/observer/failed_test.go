package observer_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// refusing is an observer that fails for ten rows, with two messages.
func refusing(t *testing.T) (*node, *session) {
	n, c := start(t)
	c.exec("create table t (a varchar(10), id int, v int, primary key (a, id))",
		"create table broken (b int)", "insert into broken values (1)",
		"create table l (id int primary key, old int, new int)",
		"create observer o after insert or update on t for each row with (attempts = 1) begin "+
			"if new.id < 5 and exists (select 1 from broken) then signal sqlstate '45000' set message_text "+
			"= "+
			"'small'; end if; if exists (select 1 from broken) then signal sqlstate '45000' set "+
			"message_text = "+
			"'large'; end if; replace into l values (new.id, old.v, new.v); end",
		"insert into t values ('x', 0, 0), ('x', 1, 1), ('x', 2, 2), ('x', 3, 3), ('x', 4, 4), ('Y', 5, 5), "+
			"('Y', 6, 6), ('Y', 7, 7), ('Y', 8, 8), ('Y', 9, 9)")
	c.eventually("select waiting, parked from moka.observer_backlog", "0 10")
	return n, c
}

// TestFailedRunsAreSelected: what is parked is tried again, or given up, by the key of its row and by its
// error.
func TestFailedRunsAreSelected(t *testing.T) {
	_, c := refusing(t)
	parked := func(n int) {
		t.Helper()
		c.eventually("select waiting, parked from moka.observer_backlog", fmt.Sprintf("0 %d", n))
	}
	c.exec("delete from broken", "alter observer o retry failed where id between 1 and 2")
	parked(8)
	c.want("select id from l order by id", "1; 2")
	c.exec("alter observer o retry failed where error like '%small%' and a = 'X' and id <> 4")
	parked(6)
	c.want("select id from l order by id", "0; 1; 2; 3")
	c.exec("alter observer o retry failed where error like '%small%' and attempts > 1",
		"alter observer o retry failed where id in (select id from l)")
	parked(6)
	c.exec("alter observer o discard failed where a = 'y' and id < 8 and changed < now() + interval 1 day")
	parked(3)
	c.want("select count(*) from moka.observer_errors", "3")
	c.exec("alter observer o retry failed")
	parked(0)
	c.want("select id from l order by id", "0; 1; 2; 3; 4; 8; 9")
	// What was given up has been seen: it is OLD of the next run.
	c.exec("update t set v = 50 where id in (5, 9)")
	c.eventually("select id, old, new from l where new = 50 order by id", "5 5 50; 9 9 50")
	c.wantCode("alter observer o discard failed where v = 1", 1054, "v")
	c.wantCode("alter observer o discard failed where", 1064, "")
	c.wantCode("alter observer o discard failed limit 1", 1064, "")
	c.wantCode("alter observer o retry failed where id = 1 limit 1", 1064, "")
	c.wantCode("alter observer o retry failed where id = 1 group by id", 1064, "")
	c.wantCode("alter observer o discard", 1064, "")
	c.wantCode("alter observer p discard failed", 1360, "")
}

// TestDiscardWithoutCondition gives up everything, and shows how much that was.
func TestDiscardWithoutCondition(t *testing.T) {
	_, c := refusing(t)
	if schema, rows, err := c.run("alter observer o discard failed"); err != nil || len(rows) != 1 ||
		!strings.Contains(fmt.Sprint(rows), " 10 ") {
		t.Errorf("%v %v %v", schema, rows, err)
	}
	c.want("select waiting, parked from moka.observer_backlog", "0 0")
	c.exec("delete from broken", "wait for observers")
	c.want("select count(*) from l", "0")
}

// TestDiscardLeavesNewChanges: a change that is committed while a statement gives up what is parked is
// delivered.
func TestDiscardLeavesNewChanges(t *testing.T) {
	n, c := refusing(t)
	const rounds = 40
	var writers sync.WaitGroup
	for i := range 2 {
		s := n.session("d")
		writers.Go(func() {
			for k := range rounds {
				s.exec(fmt.Sprintf("update t set v = %d where id %% 2 = %d", 1000+k, i))
			}
		})
	}
	discards := n.session("d")
	writers.Go(func() {
		for range rounds {
			discards.exec("alter observer o discard failed where id >= 0")
		}
	})
	writers.Wait()
	c.eventually("select waiting from moka.observer_backlog", "0")
	// What is parked now is tried; what was given up was no newer than what the row is now.
	c.exec("delete from broken", "alter observer o retry failed", "wait for observers",
		"update t set v = v + 1", "wait for observers")
	c.want("select count(*) from t join l on t.id = l.id and l.new = t.v and l.old = t.v - 1", "10")
}

// TestBodyIsReplaced: runs have the old body or the new one, whole; SHOW CREATE shows the new one, which has
// the surroundings of who has altered it; what waits and what was acknowledged stays.
func TestBodyIsReplaced(t *testing.T) {
	n, c := start(t)
	c.exec("create table t (id int primary key, a int, `b,c` int)", "create table l (id int, body int, old "+
		"int)",
		"create observer o after insert or update of a, `b,c` on t for each row with (backoff_ms = 1, "+
			"forgotten_old = 'null') insert into l values (new.id, 1, old.a)",
		"insert into t values (1, 1, 1)", "wait for observers", "set sql_mode = 'ANSI_QUOTES'",
		"alter observer o as begin insert into \"l\" values (new.id, 2, old.a); end", "set sql_mode = ''",
		"update t set a = 2", "wait for observers")
	c.want("select * from l order by body", "1 1 NULL; 1 2 1")
	const head = "CREATE OBSERVER `o` AFTER INSERT OR UPDATE OF `a`, `b,c` ON `t` FOR EACH ROW WITH " +
		"(backoff_ms = 1, forgotten_old = 'null') "
	c.want("show create observer o", "o ANSI_QUOTES "+head+"begin insert into \"l\" values (new.id, 2, "+
		"old.a); end")
	c.want("select action_statement from moka.observers", "begin insert into \"l\" values (new.id, 2, "+
		"old.a); end")
	c.exec("alter observer o with (attempts = 3)", "alter observer o as if new.a = 3 then insert into l "+
		"values "+
		"(new.id, 3, old.a); end if", "update t set a = 3", "wait for observers")
	c.want("select old from l where body = 3", "2")
	text := c.text("show create observer o")
	if !strings.Contains(text, "WITH (attempts = 3, backoff_ms = 1, ") ||
		!strings.HasSuffix(text, "FOR EACH ROW WITH (attempts = 3, backoff_ms = 1, forgotten_old = 'null') "+
			"if "+
			"new.a = 3 then insert into l values (new.id, 3, old.a); end if") {
		t.Error(text)
	}
	c.exec("drop observer o", strings.TrimPrefix(text, "o  ")) // it can be declared by that
	c.wantCode("alter observer o as insert into nowhere values (1)", 1146, "")
	c.wantCode("alter observer o as", 1064, "")
	c.wantCode("alter observer o as select from", 1064, "")
	c.wantCode("alter observer o as insert into l values (?)", 1064, "")
	c.wantCode("alter observer o as set new.a = 1", 1235, "")
	c.wantCode("alter observer none as delete from l", 1360, "")
	c.want("select count(*) from l where id is null", "0")
	c.exec("alter observer o as delete from t")
	if got := c.text("show warnings"); !strings.Contains(got, "cycle") {
		t.Errorf("warnings %q", got)
	}
	c.exec("alter observer o pause", "update t set a = 9", "alter observer o as insert into l values (9, 9, "+
		"old.a)",
		"alter observer o resume", "wait for observers")
	c.want("select * from l where id = 9", "9 9 3")
	_ = n
}

// TestBodiesAreNeverMixed: while bodies are replaced, each run's effects are those of one of them.
func TestBodiesAreNeverMixed(t *testing.T) {
	w := newWorld(t)
	w.node(true)
	n := w.node(true)
	n.session("").exec("create database d")
	c, writer := n.session("d"), n.session("d")
	c.exec("create table t (id int primary key)", "create table l (id int, first int, second int)",
		"create observer o after insert on t for each row insert into l values (new.id, -1, -1)")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 150 {
			writer.exec(fmt.Sprintf("insert into t values (%d)", i))
		}
	}()
	for i := 0; ; i++ {
		c.exec(fmt.Sprintf("alter observer o as begin insert into l values (new.id, %d, 0); update l set "+
			"second = %d where id = new.id; end", i, i))
		select {
		case <-done:
			c.exec("wait for observers")
			c.want("select count(*), count(distinct id), sum(first <> second) from l", "150 150 0")
			return
		default:
		}
	}
}

// TestBodyOfNoMode: a body that was declared under an empty sql_mode is run so, and understood so, whatever
// the server's is. An empty mode counted as one that had not been noted.
func TestBodyOfNoMode(t *testing.T) {
	_, c := start(t)
	c.exec("create table t (id int primary key)", "create table l (id int primary key, d date, s varchar(9))",
		"set sql_mode = ''",
		`create observer o after insert on t for each row insert into l values (new.id, '2024-02-31', "a")`,
		"set sql_mode = default", "insert into t values (1)", "wait for observers")
	c.want("select * from l", "1 0000-00-00 a")
	c.exec("set global sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES'", "insert into t values (2)",
		"alter observer o with (attempts = 3)", "insert into t values (3)", "wait for observers")
	c.want("select * from l order by id", "1 0000-00-00 a; 2 0000-00-00 a; 3 0000-00-00 a")
	c.exec("set sql_mode = 'STRICT_ALL_TABLES'", "alter observer o with (attempts = 1)",
		"alter observer o as insert into l values (new.id, '2024-02-31', 'b')",
		"set global sql_mode = default", "insert into t values (4)")
	c.wantCode("wait for observers", 9020, "given up")
	c.want("select count(*) from l", "3")
}
