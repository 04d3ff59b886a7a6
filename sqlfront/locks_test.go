package sqlfront_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/sqlfront/pushdown"
	"moka/txn"
	"moka/txn/txntest"
)

// stage is a database with sessions that people (and these tests) tell apart by letters.
type stage struct {
	*database
	t    *testing.T
	srv  *server
	conn map[string]*sql.Conn
	wg   sync.WaitGroup

	mu     sync.Mutex
	events []string
}

func newStage(t *testing.T, o kvtest.Options) *stage {
	client, store := txntest.NewStoreWith(t, o, txn.Options{}, txn.CoprocessorOptions{Programs: pushdown.Load})
	s := &stage{database: &database{t, client, store}, t: t, conn: map[string]*sql.Conn{}}
	s.srv = s.serve()
	boot := s.srv.conn("")
	run(t, boot, "create database d", "use d", "create table t (id int primary key, v int, u int unique, x int, key (x))",
		"insert into t values (1, 10, 1, 1), (2, 20, 2, 1), (3, 30, 3, 2)")
	return s
}

// in returns the session of that letter.
func (s *stage) in(name string) *sql.Conn {
	s.t.Helper()
	if s.conn[name] == nil {
		s.conn[name] = s.srv.conn("d")
	}
	return s.conn[name]
}

// do runs statements that must succeed.
func (s *stage) do(name string, queries ...string) {
	s.t.Helper()
	run(s.t, s.in(name), queries...)
}

// fails runs a statement that must fail with the number.
func (s *stage) fails(name string, number uint16, query string) {
	s.t.Helper()
	_, err := s.in(name).ExecContext(context.Background(), query)
	if got := errorNumber(err); got != number {
		s.t.Fatalf("%s: %s: got %v, want error %d", name, query, err, number)
	}
}

func errorNumber(err error) uint16 {
	var me *mysql.MySQLError
	if errors.As(err, &me) {
		return me.Number
	}
	if err != nil {
		return 1
	}
	return 0
}

// blocks starts a statement that has to wait for a row lock, and returns when it does. Its end is an event.
func (s *stage) blocks(name, query string) {
	s.t.Helper()
	c := s.in(name)
	before := s.waiting()
	s.wg.Go(func() {
		_, err := c.ExecContext(context.Background(), query)
		s.note(fmt.Sprintf("%s %d", name, errorNumber(err)))
	})
	s.until("a wait of "+name, func() bool { return s.waiting() > before })
}

func (s *stage) note(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, event)
}

// ends waits until so many events have come and compares them, in order.
func (s *stage) ends(want ...string) {
	s.t.Helper()
	n := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.events)
	}
	s.until(fmt.Sprint(want), func() bool { return n() >= len(want) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.events, ", "); got != strings.Join(want, ", ") {
		s.t.Fatalf("got %s, want %s", got, strings.Join(want, ", "))
	}
	s.events = nil
}

func (s *stage) waiting() (n int) {
	locks, err := s.client.RowLocks(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, l := range locks {
		if l.Waiting {
			n++
		}
	}
	return n
}

func (s *stage) until(what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("no %s after 20s", what)
		}
	}
}

func (s *stage) want(name, query, want string) {
	s.t.Helper()
	if got := text(s.t, s.in(name), query); got != want {
		s.t.Fatalf("%s: %s: got %q, want %q", name, query, got, want)
	}
}

// TestUpdateWaits: the second writer of a row waits for the first and then builds on what that has made:
// nothing of the second transaction has been seen when it begins to wait.
func TestUpdateWaits(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "update t set v = v + 1 where id = 1")
	s.do("b", "begin")
	s.blocks("b", "update t set v = v + 100 where id = 1")
	s.want("c", "select v from t where id = 1", "10") // readers wait for nobody
	s.do("a", "commit")
	s.ends("b 0")
	s.want("b", "select v from t where id = 1", "111")
	s.do("b", "commit")
	s.want("c", "select v from t where id = 1", "111")
}

// TestHandOffInSQL: whoever waits longest is next, statements in autocommit as well.
func TestHandOffInSQL(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "select * from t where id = 2 for update")
	for _, name := range []string{"b", "c", "e"} {
		s.do(name, "begin")
		s.blocks(name, "update t set v = v + 1 where id = 2")
	}
	s.blocks("f", "update t set v = v + 1 where id = 2")
	s.do("a", "rollback")
	for _, name := range []string{"b", "c", "e"} {
		s.ends(name + " 0")
		s.do(name, "commit")
	}
	s.ends("f 0")
	s.want("a", "select v from t where id = 2", "24")
}

// TestStaleSnapshot: the client has seen the snapshot. Waiting for the other writer and building on its row
// would be a mix of two states, and overwriting it a lost update: 1213, as after a deadlock.
func TestStaleSnapshot(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin")
	s.want("a", "select v from t where id = 1", "10")
	s.do("b", "update t set v = 11 where id = 1")
	s.fails("a", 1213, "update t set v = v + 1 where id = 1")
	s.do("a", "begin", "update t set v = v + 1 where id = 1", "commit")
	s.want("a", "select v from t where id = 1", "12")
	// A locking read tells as early.
	s.do("a", "begin")
	s.want("a", "select v from t where id = 2", "20")
	s.do("b", "update t set v = 21 where id = 2")
	s.fails("a", 1213, "select v from t where id = 2 for update")
}

// TestSnapshotOfLockedRows: a client that has seen nothing but rows that it has locked has not seen the
// snapshot. What others have committed since is no reason for 1213, in whatever way the statements are run.
func TestSnapshotOfLockedRows(t *testing.T) {
	for _, cache := range []string{"0", "1"} {
		s := newStage(t, kvtest.Options{})
		s.do("a", "set moka_plan_cache = "+cache)
		s.do("b", "begin", "update t set v = v + 0 where id = 3", "commit")
		two, three := 20, 30
		change := func() {
			two, three = two+1, three+1
			s.do("b", "begin", "update t set v = v + 1 where id = 2", "update t set v = v + 1 where id = 3", "commit")
		}
		for range 3 { // plans are used from the second time on
			for _, first := range []string{
				"update t set v = v + 100 where id = 1", "select v from t where id = 1 for update", "delete from t where id = 1",
				"insert into t values (7, 0, 7, 0)",
			} {
				s.do("a", "begin", first)
				change()
				s.do("a", "update t set x = x + 1 where id = 2") // a new snapshot: not 1213
				s.want("a", "select v from t where id = 2", fmt.Sprint(two))
				s.want("a", "select v from t where id = 3", fmt.Sprint(three)) // of the same state
				s.do("b", "update t set v = v + 1 where id = 3")
				three++
				s.want("a", "select v from t where id = 3", fmt.Sprint(three-1)) // now it has been seen
				s.fails("a", 1213, "update t set x = 0 where id = 3")
				s.do("a", "rollback")
			}
			// A row that is not there, one that was not changed, a range, another table's row: these are
			// seen.
			for _, first := range []string{
				"update t set v = 1 where id = 99", "update t set v = 10 where id = 1", "delete from t where id > 98", "select v from t where id = 1",
				"update t set v = 11 where u = 1", "insert ignore into t values (1, 0, 8, 0)",
			} {
				s.do("a", "begin", first)
				change()
				s.fails("a", 1213, "update t set x = x + 1 where id = 2")
				s.do("a", "rollback")
			}
		}
	}
}

// TestReadCommitted goes on with the newest row after each wait, and sees what others have committed between
// its statements.
func TestReadCommitted(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "set transaction_isolation = 'READ-COMMITTED'", "begin")
	s.want("a", "select v from t where id = 1", "10")
	s.do("b", "update t set v = 11 where id = 1")
	s.want("a", "select v from t where id = 1", "11")
	s.do("a", "update t set v = v + 1 where id = 2") // something is buffered from here on
	s.do("b", "begin", "update t set v = 50 where id = 1")
	s.blocks("a", "update t set v = v + 1 where id = 1")
	s.do("b", "commit")
	s.ends("a 0")
	s.do("b", "insert into t values (9, 9, 9, 9)")
	s.want("a", "select id, v from t order by id", "1 51; 2 21; 3 30; 9 9")
	s.do("a", "commit")
	s.want("b", "select id, v from t order by id", "1 51; 2 21; 3 30; 9 9")
}

func TestLockTimeoutAndNowait(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "update t set v = 0 where id = 1")
	s.do("b", "set innodb_lock_wait_timeout = 1", "begin", "update t set v = 2 where id = 2")
	s.fails("b", 3572, "select * from t where id = 1 for update nowait")
	s.fails("b", 3572, "select * from t where id = 1 for share nowait")
	began := time.Now()
	s.fails("b", 1205, "update t set v = 1 where id = 1")
	if d := time.Since(began); d < time.Second || d > 10*time.Second {
		t.Errorf("1205 after %v, want 1s", d)
	}
	s.do("b", "commit") // 1205 ends the statement, not the transaction
	s.do("c", "set innodb_lock_wait_timeout = 1")
	s.fails("c", 1205, "update t set v = 1 where id = 1") // in autocommit as well
	s.do("a", "commit")
	s.want("c", "select v from t where id < 3", "0; 2")
}

// TestQueueConsumers take jobs that nobody else has, without waiting for each other.
func TestQueueConsumers(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	boot := s.in("boot")
	run(t, boot, "create table jobs (id int primary key, state int)")
	const jobs, consumers = 40, 4
	for i := range jobs {
		run(t, boot, fmt.Sprintf("insert into jobs values (%d, 0)", i))
	}
	// Two hold a job each: a third gets the next one.
	s.do("a", "begin")
	s.do("b", "begin")
	s.want("a", "select id from jobs order by id limit 1 for update skip locked", "0")
	s.want("b", "select id from jobs order by id limit 1 for update skip locked", "1")
	s.want("c", "select count(*) from jobs", "40")
	s.do("a", "rollback")
	s.do("b", "rollback")

	var mu sync.Mutex
	taken := map[int]int{}
	var wg sync.WaitGroup
	for range consumers {
		c := s.srv.conn("d")
		wg.Go(func() {
			ctx := context.Background()
			for {
				if _, err := c.ExecContext(ctx, "begin"); err != nil {
					t.Error(err)
					return
				}
				var id int
				err := c.QueryRowContext(ctx, "select id from jobs order by id limit 1 for update skip locked").Scan(&id)
				if errors.Is(err, sql.ErrNoRows) {
					_, _ = c.ExecContext(ctx, "rollback")
					var left int
					if err := c.QueryRowContext(ctx, "select count(*) from jobs").Scan(&left); err != nil || left == 0 {
						return
					}
					continue
				}
				if err == nil {
					_, err = c.ExecContext(ctx, fmt.Sprintf("delete from jobs where id = %d", id))
				}
				if err == nil {
					_, err = c.ExecContext(ctx, "commit")
				}
				if err != nil {
					t.Errorf("job %d: %v", id, err)
					return
				}
				mu.Lock()
				taken[id]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for i := range jobs {
		if taken[i] != 1 {
			t.Errorf("job %d was taken %d times", i, taken[i])
		}
	}
}

// TestDeadlockInSQL: of three transactions that wait for each other, over three shards, the last gets 1213;
// the others go on.
func TestDeadlockInSQL(t *testing.T) {
	s := newStage(t, kvtest.Options{Shards: 3})
	split := func(key string) {
		k, err := s.srv.RowKey(context.Background(), "d.t", []string{key})
		if err != nil {
			t.Fatal(err)
		}
		m := s.store.(*kvtest.Mem)
		m.Split(k)
		m.Move(k, kv.ShardID(1+len(key+"x")%3))
	}
	split("2")
	split("3")
	for i, name := range []string{"a", "b", "c"} {
		s.do(name, "begin", fmt.Sprintf("update t set v = v + 1 where id = %d", i+1))
	}
	s.blocks("a", "update t set v = v + 1 where id = 2")
	s.blocks("b", "update t set v = v + 1 where id = 3")
	s.want("e", "select table_name, index_name, lock_mode, lock_status, count(*) from moka.locks group by 1, 2, 3, 4 order by 4", "t PRIMARY X GRANTED 3; t PRIMARY X WAITING 2")
	s.want("e", "select count(*), min(isolation_level), min(mode) from moka.transactions", "3 REPEATABLE READ pessimistic")
	s.fails("c", 1213, "update t set v = v + 1 where id = 1")
	s.want("e", "select step, victim, table_schema, table_name, row_key from moka.deadlocks order by step",
		"1 1 d t 1; 2 0 d t 2; 3 0 d t 3")
	s.want("e", "select count(*) from moka.deadlocks a join moka.deadlocks b on a.waits_for = b.trx_id where a.statement like '%update t%'", "3")
	s.ends("b 0")
	s.do("b", "commit")
	// Of its first statement's snapshot, in which row 2 was another, a had seen nothing but the row that it
	// has locked.
	s.ends("a 0")
	s.do("a", "commit")
	s.want("c", "select v from t order by id", "11; 22; 31")
}

// Keys of rows were shown in hexadecimals, which nobody can read, and tablets not at all.
func TestKeysAsSQL(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "create table k (a varchar(20), b date, c decimal(6,2), n int, primary key (a, b), "+
		"unique key u (c), key nb (n, b))",
		"insert into k values ('it''s', '2020-01-02', 1.5, 4), ('b', '2020-01-02', 2.5, 5)",
		"create table h (a varbinary(9))", "insert into h values ('x')",
		"begin", "update k set c = 7 where a = 'it''s'", "insert into k values ('new', '2020-01-02', 9, 9)",
		"update h set a = 'y'")
	s.want("b", "select table_name, index_name, row_key from moka.locks where row_key not like '0x%' "+
		"order by 1, 2, 3",
		"h PRIMARY row 1; k PRIMARY 'it''s', '2020-01-02'; k u 1.50; k u 7.00; k u 9.00")
	// What is in no committed row has no more than the weights of its collation.
	s.want("b", "select count(*) from moka.locks where row_key like '0x%, ''2020-01-02'''", "1")
	s.do("a", "rollback")

	k, err := s.srv.RowKey(context.Background(), "d.k", []string{"b", "2020-01-02"})
	if err != nil {
		t.Fatal(err)
	}
	s.store.(*kvtest.Mem).Split(k)
	s.want("b", "select max(begins), max(ends) from moka.tablets "+
		"where begins like 'd.k%' or ends like 'd.k%'",
		"d.k('b', '2020-01-02') d.k('b', '2020-01-02')")
}

// TestWriteSkewInSQL: two doctors are on call, one may leave. Each looks at both and takes itself off.
func TestWriteSkewInSQL(t *testing.T) {
	for _, mode := range []struct {
		name, level, clause string
		skew                bool
	}{
		{"repeatable read", "REPEATABLE-READ", "", true},
		{"for update", "REPEATABLE-READ", " for update", false},
		{"serializable", "SERIALIZABLE", "", false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			s := newStage(t, kvtest.Options{})
			errs := make([]error, 2)
			var read, wg sync.WaitGroup
			read.Add(2)
			for i, name := range []string{"a", "b"} {
				s.do(name, "set transaction_isolation = '"+mode.level+"'", "begin")
				c := s.in(name)
				wg.Go(func() {
					ctx := context.Background()
					steps := []string{"select v from t where id in (1, 2)" + mode.clause, fmt.Sprintf("update t set v = 0 where id = %d", i+1), "commit"}
					for k, q := range steps {
						_, err := c.ExecContext(ctx, q)
						if k == 0 && mode.clause == "" {
							read.Done()
							read.Wait() // both have read before one writes
						}
						if err != nil {
							errs[i] = err
							return
						}
					}
				})
			}
			wg.Wait()
			off := text(t, s.in("c"), "select count(*) from t where id in (1, 2) and v = 0")
			switch {
			case mode.skew && off != "2":
				t.Errorf("%s doctors are off, errors %v: write skew is expected here", off, errs)
			case !mode.skew && mode.clause == "" && (off != "1" || errs[0] == nil && errs[1] == nil):
				t.Errorf("%s doctors are off, errors %v", off, errs)
			case mode.clause != "" && (off != "2" || errs[0] != nil || errs[1] != nil):
				// The second has waited, and has seen the first one's zero before it wrote its own.
				t.Errorf("%s doctors are off, errors %v", off, errs)
			}
		})
	}
}

// TestSerializablePhantom: what a serializable transaction has counted does not grow behind its back.
func TestSerializablePhantom(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	for _, name := range []string{"a", "b"} {
		s.do(name, "set transaction_isolation = 'SERIALIZABLE'", "begin")
		s.want(name, "select count(*) from t where id > 2", "1")
	}
	s.blocks("a", "insert into t values (4, 0, 4, 0)")
	s.fails("b", 1213, "insert into t values (5, 0, 5, 0)")
	s.ends("a 0")
	s.do("a", "commit")
	s.want("c", "select count(*) from t where id > 2", "2")
}

// TestInsertWaits: two who insert the same key; the second learns of the first at its INSERT.
func TestInsertWaits(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "insert into t values (7, 7, 7, 7)")
	s.do("b", "begin")
	s.blocks("b", "insert into t values (8, 8, 7, 8)")  // the unique key
	s.blocks("c", "insert into t values (7, 0, 70, 0)") // in autocommit
	s.do("a", "commit")
	s.until("two ends", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.events) == 2 })
	s.mu.Lock()
	if got := strings.Join(s.events, ", "); got != "b 1062, c 1062" && got != "c 1062, b 1062" {
		t.Errorf("got %s", got)
	}
	s.mu.Unlock()
	s.do("b", "insert into t values (8, 8, 8, 8)", "commit")
}

// TestUpsertWaits: an INSERT that has an answer to a taken key waits like any other, finds the row and goes
// on with it. If it cannot be run again, as its snapshot has been seen, it is a conflict, and never a
// duplicate key.
func TestUpsertWaits(t *testing.T) {
	for query, row := range map[string]string{
		"insert into t values (7, 1, 7, 7) on duplicate key update v = v + 100": "107",
		"insert ignore into t values (7, 1, 7, 7)":                              "7",
		"replace into t values (7, 1, 7, 7)":                                    "1",
	} {
		s := newStage(t, kvtest.Options{})
		s.do("a", "begin", "insert into t values (7, 7, 7, 7)")
		s.do("b", "begin")
		s.blocks("b", query)
		s.do("a", "commit")
		s.ends("b 0")
		s.do("b", "commit")
		s.want("c", "select v from t where id = 7", row)

		s.do("b", "begin")
		s.want("b", "select count(*) from t where id = 8", "0")
		s.do("a", "insert into t values (8, 7, 8, 8)")
		s.fails("b", 1213, strings.ReplaceAll(query, "7", "8"))
	}
}

// TestStalePlanWaits: a statement whose plan was made before a schema change goes the general way, and waits
// there for a row lock.
func TestStalePlanWaits(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	for range 3 {
		s.do("b", "update t set v = v + 1 where id = 1")
	}
	s.do("c", "alter table t add column more int")
	s.do("a", "begin", "update t set v = 0 where id = 1")
	s.do("b", "begin")
	s.blocks("b", "update t set v = v + 1 where id = 1")
	s.do("a", "commit")
	s.ends("b 0")
	s.want("b", "select v from t where id = 1", "1")
}

// TestPlansWait: a statement that runs by a plan of the cache waits for a row lock there, and leaves the line
// when its client is gone or it is killed.
func TestPlansWait(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	planned := func(name string) {
		s.do(name, "update t set v = v + 0 where id = 2", "update t set v = v + 0 where id = 2", "update t set v = v + 0 where id = 2")
	}
	planned("b")
	s.do("a", "begin", "update t set v = 5 where id = 1")
	s.do("b", "begin")
	before := s.srv.Metrics()
	s.blocks("b", "update t set v = v + 1 where id = 1")
	s.do("a", "commit")
	s.ends("b 0")
	s.want("b", "select v from t where id = 1", "6")
	if now := s.srv.Metrics(); now.PlanHits <= before.PlanHits {
		t.Error("the statement was left to the library")
	}
	// Now b has the row.
	c := s.in("c")
	planned("c")
	s.do("c", "begin")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	wait := func(ctx context.Context, c *sql.Conn) {
		_, err := c.ExecContext(ctx, "update t set v = v + 1 where id = 1")
		done <- err
	}
	go wait(ctx, c)
	s.until("c waits", func() bool { return s.waiting() == 1 })
	cancel() // the driver hangs up
	<-done
	s.until("nobody waits", func() bool { return s.waiting() == 0 })

	d := s.in("d")
	planned("d")
	id := text(t, d, "select connection_id()")
	s.do("d", "begin")
	go wait(context.Background(), d)
	s.until("d waits", func() bool { return s.waiting() == 1 })
	run(t, s.in("killer"), "kill query "+id)
	wantErr(t, "killed while it waits", <-done, 1317, "70100")
	s.do("d", "set innodb_lock_wait_timeout = 1")
	go wait(context.Background(), d)
	wantErr(t, "waits for too long", <-done, 1205, "HY000")
	s.do("b", "commit")
	s.do("d", "rollback", "update t set v = v + 1 where id = 1")
	s.want("a", "select v from t where id = 1", "7")
}

// TestInsertNamesTheKey: the text of 1062 is MySQL's, wherever the key was found taken.
func TestInsertNamesTheKey(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("b", "begin")
	s.want("b", "select count(*) from t", "3")
	s.do("a", "insert into t values (7, 7, 7, 7)")
	for query, want := range map[string]string{
		"insert into t values (7, 0, 0, 0)": "Duplicate entry '7' for key 't.PRIMARY'",
		"insert into t values (8, 0, 7, 0)": "Duplicate entry '7' for key 't.u'",
	} {
		if _, err := s.in("b").ExecContext(context.Background(), query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", query, err, want)
		}
	}
}

// TestOptimisticMode is the paper's: nobody waits, the commit tells.
func TestOptimisticMode(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	for _, name := range []string{"a", "b"} {
		s.do(name, "set moka_txn_mode = 'optimistic'", "begin", "update t set v = v + 1 where id = 1")
	}
	s.do("a", "commit")
	s.fails("b", 1213, "commit")
	s.want("c", "select v from t where id = 1", "11")
	s.fails("c", 1231, "set moka_txn_mode = 'hopeful'")
}

// TestLocksEndWithTheClient: by ROLLBACK, by a connection that is cut, by KILL.
func TestLocksEndWithTheClient(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	for i, end := range []func(c *sql.Conn){
		func(c *sql.Conn) { run(t, c, "rollback") },
		func(*sql.Conn) {}, // its pool is closed below
		func(c *sql.Conn) {
			id := text(t, c, "select connection_id()")
			run(t, s.in("killer"), "kill "+id)
		},
	} {
		holder := s.srv.open("root", "d", "")
		c, err := holder.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, "begin", "update t set v = -1 where id = 3")
		s.do("b", "begin")
		s.blocks("b", "update t set v = v + 1 where id = 3")
		end(c)
		_ = c.Close()
		_ = holder.Close()
		s.ends("b 0")
		s.do("b", "commit")
		s.want("b", "select v from t where id = 3", fmt.Sprint(31+i))
	}
}

// TestStatementTimeoutWhileWaiting: a statement that is cut short leaves the line.
func TestStatementTimeoutWhileWaiting(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "begin", "update t set v = 0 where id = 1")
	s.do("b", "begin")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	c := s.in("b")
	go func() {
		defer close(done)
		_, _ = c.ExecContext(ctx, "update t set v = 1 where id = 1")
	}()
	s.until("a wait", func() bool { return s.waiting() == 1 })
	cancel()
	<-done
	s.until("nobody waits", func() bool { return s.waiting() == 0 })
	s.do("a", "commit")
}

// TestLockingReadsInAutocommit: FOR UPDATE waits for who holds the row and shows what is left behind, without
// a transaction of its own as well; its locks end with it.
func TestLockingReadsInAutocommit(t *testing.T) {
	for _, clause := range []string{"where id = 1 for update", "where id = 1 limit 1 for update", "where id < 2 for share", "where x = 1 order by id limit 1 for update"} {
		s := newStage(t, kvtest.Options{})
		s.do("a", "begin", "update t set v = 11 where id = 1")
		s.want("b", "select v from t where id = 1", "10")
		s.fails("b", 3572, "select * from t where id = 1 for update nowait")
		s.want("b", "select id from t order by id for update skip locked", "2; 3")
		c := s.in("c")
		before := s.waiting()
		s.wg.Go(func() { s.note(text(t, c, "select v from t "+clause)) })
		s.until("a wait of c", func() bool { return s.waiting() > before })
		s.do("a", "commit")
		s.ends("11")
		s.do("d", "set innodb_lock_wait_timeout = 1", "update t set v = 12 where id = 1")
	}
}
