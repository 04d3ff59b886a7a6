package observer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/txn"
)

// missed expects the warning of ENABLE to end with these words.
func (s *session) missed(observer, words string) {
	s.t.Helper()
	s.exec("alter observer " + observer + " enable")
	if got := s.text("show warnings"); !strings.Contains(got,
		"Observer '"+observer+"' has missed all changes between 20") || !strings.HasSuffix(got, words) {
		s.t.Errorf("%s: warnings %q, want one that ends with %q", observer, got, words)
	}
}

const counted = ", of those that are still there (compared with what was there: several changes of one row " +
	"count once, rows deleted since do not count)"

// TestEnableCountsWhatWasMissed: ENABLE says of how many rows an observer has missed the changes (item 5; it
// named the time alone). They are those that its events and columns are for.
func TestEnableCountsWhatWasMissed(t *testing.T) {
	_, s := start(t)
	s.exec("create table t (id int primary key, a int, b int, twice int as (b * 2) virtual, key (a))",
		"create table l (id int)",
		"insert into t (id, a, b) values (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5)")
	const body = " on t for each row insert into l values (1)"
	for name, event := range map[string]string{
		"both": "insert or update", "inserts": "insert", "updates": "update", "of_a": "update of a",
		"of_more": "insert or update of a", "deletes": "delete", "computed": "update of twice",
	} {
		s.exec("create observer "+name+" after "+event+body, "alter observer "+name+" disable")
	}
	s.exec("insert into t (id, a, b) values (10, 1, 1), (11, 1, 1), (12, 1, 1)", // 12 is deleted again
		"update t set a = 100 where id in (1, 10)", "update t set a = 101 where id = 1",
		"update t set b = 7 where id = 2", "update t set b = 3 where id = 3",
		"delete from t where id in (4, 12)")
	s.missed("both", ": 4 rows inserted or updated"+counted)
	s.missed("inserts", ": 2 rows inserted"+counted)
	s.missed("updates", ": 2 rows updated"+counted)
	s.missed("of_a", ": 1 row updated"+counted)
	s.missed("of_more", ": 3 rows inserted or updated"+counted)
	s.missed("computed", ": 2 rows updated"+counted)
	s.missed("deletes", "UTC")

	// What was there before, and what has been told, is not counted; what is committed after it is delivered.
	s.exec("delete from l", "insert into t (id) values (20)")
	s.eventually("select count(*) from l", "3") // both, inserts, of_more
	s.exec("alter observer both disable", "alter observer both disable")
	s.missed("both", ": 0 rows inserted or updated"+counted)
	s.exec("delete from l", "insert into t (id) values (21)")
	s.eventually("select count(*) from l", "3")

	// Rows that were written anew by another statement are no changes, and nobody knows which of
	// them were changed before.
	s.exec("alter observer both disable", "insert into t (id) values (22)",
		"alter table t add c int not null auto_increment unique")
	s.missed("both", "UTC")
	s.exec("alter observer both disable", "truncate table t", "insert into t (id) values (1)")
	s.missed("both", "UTC")

	// Observers that are declared disabled have missed what came later.
	s.exec("create observer late after insert on t for each row with (enabled = false) insert into l "+
		"values (2)", "insert into t (id) values (2), (3)")
	s.missed("late", ": 2 rows inserted"+counted)
}

// TestMissedAfterCollection: what rows were long ago has been collected; that they have
// changed since is known.
func TestMissedAfterCollection(t *testing.T) {
	n, s := start(t)
	collector, err := txn.NewClient(n.mem, n.clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer collector.Close()
	s.exec("create table t (id int primary key, a int)", "create table l (id int)",
		"insert into t values (1, 1), (2, 2), (3, 3)",
		"create observer o after insert on t for each row insert into l values (1)",
		"alter observer o disable",
		"insert into t values (4, 4)", "update t set a = 9 where id < 3", "delete from t where id = 2")
	ts, err := n.clock.Next(t.Context())
	if err == nil {
		_, err = collector.CollectGarbage(t.Context(), ts, txn.GarbageOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.missed("o", ": 2 rows inserted or updated"+counted)
}

// TestMissedIsCountedWithinBounds: a table of any size holds nobody up.
func TestMissedIsCountedWithinBounds(t *testing.T) {
	w := newWorld(t)
	w.countRows = 600
	s := w.node(false).session("")
	s.exec("create database d", "use d", "create table t (id int primary key)", "create table l (id int)",
		"create observer o after insert on t for each row insert into l values (1)",
		"alter observer o disable")
	values := make([]string, 1000)
	for i := range values {
		values[i] = fmt.Sprintf("(%d)", i)
	}
	s.exec("insert into t values " + strings.Join(values[:599], ","))
	s.missed("o", ": 599 rows inserted"+counted)
	s.exec("alter observer o disable", "insert into t values "+strings.Join(values[599:], ","))
	s.missed("o", ": 401 rows inserted"+counted)
	s.exec("drop observer o", "create observer o after insert or update on t for each row with (enabled = "+
		"false) insert into l values (1)",
		"delete from t", "insert into t values "+strings.Join(values, ","))
	s.missed("o", ": at least 600 rows inserted or updated"+counted)

	w.countRows, w.countTime = 0, time.Nanosecond
	late := w.node(false).session("d")
	late.exec("alter observer o disable", "insert into t values (-1)")
	late.missed("o", "UTC")
	late.want("select status from moka.observers", "ENABLED")
}

// TestMissedIsCountedUntilKill: KILL ends the count, and the observer is enabled.
func TestMissedIsCountedUntilKill(t *testing.T) {
	n := newWorld(t).node(false)
	s := n.session("")
	s.exec("create database d", "use d", "create table t (id int primary key)",
		"create observer o after insert on t for each row with (enabled = false) delete from t",
		"insert into t values (1)")
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	asked := func(c kv.CommandID, _ kv.Message) {
		const scanSince = 44
		if c == scanSince {
			kill()
		}
	}
	n.read.asked.Store(&asked)
	sctx := sql.NewContext(ctx, sql.WithSession(s.sess))
	_, iter, _, err := n.eng.SQL().Query(sctx, "alter observer d.o enable")
	if err == nil {
		_ = iter.Close(sctx)
	}
	n.read.asked.Store(nil)
	if ctx.Err() == nil {
		t.Fatalf("nothing was counted: %v", err)
	}
	if got := s.text("show warnings"); !strings.HasSuffix(got, "UTC") {
		t.Errorf("counted on after KILL: %s", got)
	}
	s.want("select status from moka.observers", "ENABLED")
}
