package itest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/servertest"
	"moka/txn/txntest"
)

var listTxns = flag.Int("lists.txns", soaked(500, 15000), "committed transactions of each history of lists")

// A list is a row, and clients append to it by text: what is checked is all that lies between a client and
// the store, with the plan cache, the retries inside of the server, indexes and row locks. The checker sees
// what clients see and nothing else.
//
// Lists are retired after some appends, so that they stay short: clients work on a window of keys that moves.
const (
	listWindow  = 8
	listLength  = 24
	listClients = 12
)

// lists runs clients against one or more servers.
type lists struct {
	level  string // SET SESSION TRANSACTION ISOLATION LEVEL
	setup  string // more for each session
	tables int    // over which the lists are dealt, zero for the one of listSchema
	limit  time.Duration
	pause  time.Duration // between two transactions of a client
	// refused says which answers a server under faults may give; whatever is refused has not happened.
	refused func(error) bool
	history *txntest.ListHistory
	dbs     []*sql.DB

	appends, left                         atomic.Int64
	committed, conflicts, unknown, broken atomic.Int64
	failed                                atomic.Pointer[error]
}

const listSchema = "CREATE TABLE lists (k INT PRIMARY KEY, sk INT NOT NULL, v TEXT NOT NULL, KEY (sk))"

// table is where the list of a key is.
func (l *lists) table(k int) string {
	if l.tables == 0 {
		return "lists"
	}
	return fmt.Sprintf("lists%d", k%l.tables)
}

// run lasts until txns transactions were committed, or stop is closed.
func (l *lists) run(t *testing.T, txns int, stop <-chan struct{}) {
	t.Helper()
	limit := cmp.Or(l.limit, time.Duration(soaked(5, 20))*time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	l.left.Store(int64(txns))
	var wg sync.WaitGroup
	for i := range listClients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(l.committed.Load())))
			for n := 0; l.left.Load() > 0 && l.failed.Load() == nil; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if ctx.Err() != nil {
					err := fmt.Errorf("not done within %v", limit)
					l.failed.CompareAndSwap(nil, &err)
					return
				}
				conn, err := l.session(ctx, l.dbs[i%len(l.dbs)])
				if err != nil {
					l.broken.Add(1)
					if stop == nil {
						l.failed.CompareAndSwap(nil, &err)
					}
					if errors.Is(err, syscall.ECONNREFUSED) {
						<-time.After(50 * time.Millisecond) // its node is down
					}
					continue
				}
				for m := 0; m < 50 && l.left.Load() > 0; m++ {
					if !l.transaction(ctx, conn, fmt.Sprintf("c%d.%d.%d", i, n, m), rng) {
						break
					}
					if l.pause > 0 {
						<-time.After(l.pause)
					}
				}
				conn.Close()
			}
		})
	}
	wg.Wait()
	if err := l.failed.Load(); err != nil {
		t.Fatal(*err)
	}
}

func (l *lists) session(ctx context.Context, db *sql.DB) (*sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL " + l.level, l.setup} {
		if q == "" {
			continue
		}
		if _, err := conn.ExecContext(ctx, q); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// transaction runs one and reports whether the session can go on.
func (l *lists) transaction(ctx context.Context, conn *sql.Conn, name string, rng *rand.Rand) bool {
	r := l.history.Begin(name)
	var err error
	if rng.IntN(5) == 0 { // a statement of its own
		err = l.op(ctx, conn, r, rng)
		if err != nil && !answered(err) {
			l.history.End(r, txntest.Unknown)
			l.unknown.Add(1)
			return false
		}
	} else {
		if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil {
			for range 1 + rng.IntN(4) {
				if err = l.op(ctx, conn, r, rng); err != nil {
					break
				}
			}
		}
		if err == nil {
			if _, err = conn.ExecContext(ctx, "COMMIT"); err != nil && (!answered(err) || maybe(err)) {
				l.history.End(r, txntest.Unknown)
				l.unknown.Add(1)
				return false
			}
		} else if _, rollback := conn.ExecContext(ctx, "ROLLBACK"); rollback != nil {
			l.history.End(r, txntest.Aborted)
			return false
		}
	}
	switch {
	case err == nil:
		l.history.End(r, txntest.Committed)
		l.committed.Add(1)
		l.left.Add(-1)
	case maybe(err):
		l.history.End(r, txntest.Unknown)
		l.unknown.Add(1)
	default:
		l.history.End(r, txntest.Aborted)
		if isConflict(err) {
			l.conflicts.Add(1)
		} else if answered(err) && (l.refused == nil || !l.refused(err)) {
			l.failed.CompareAndSwap(nil, &err)
		}
		return answered(err)
	}
	return true
}

// answered tells whether the server said no, against a connection that broke.
func answered(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number != 1053
}

// maybe is the error of a commit whose outcome the server does not know.
func maybe(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && string(e.SQLState[:]) == "08007"
}

// op reads or appends, in one of the ways in which that can be said in SQL.
func (l *lists) op(ctx context.Context, conn *sql.Conn, r *txntest.ListTxn, rng *rand.Rand) error {
	n := l.appends.Load()
	k := int(n/listLength) + rng.IntN(listWindow)
	key := strconv.Itoa(k)
	if rng.IntN(2) == 0 {
		l.appends.Add(1)
		e := l.history.Element()
		// It counts as tried before it is: a statement whose answer is lost may have been done.
		r.Ops = append(r.Ops, txntest.ListOp{Key: key, Append: e})
		if rng.IntN(3) == 0 {
			q := "UPDATE " + l.table(k) + " SET v = CONCAT(v, ',', ?) WHERE k = ?"
			res, err := conn.ExecContext(ctx, q, e, k)
			if err != nil {
				return err
			}
			if changed, err := res.RowsAffected(); err != nil || changed > 0 {
				return err
			}
		}
		q := "INSERT INTO " + l.table(k) + " VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE " +
			"v = CONCAT(v, ',', VALUES(v))"
		_, err := conn.ExecContext(ctx, q, k, k, strconv.Itoa(e))
		return err
	}
	queries := []string{
		"SELECT k, v FROM lists WHERE k = ?",
		"SELECT k, v FROM lists WHERE sk = ?",
		"SELECT k, v FROM lists WHERE k = " + key,
		"SELECT k, v FROM lists WHERE k IN (?, ?)",
		"SELECT k, v FROM lists WHERE sk BETWEEN ? AND ?",
		"SELECT k, v FROM lists WHERE k = ? FOR UPDATE",
		"SELECT k, v FROM lists WHERE sk = ? LOCK IN SHARE MODE",
	}
	q := strings.Replace(queries[rng.IntN(len(queries))], "FROM lists", "FROM "+l.table(k), 1)
	keys, args := []int{k}, []any{}
	if strings.Count(q, "?") == 2 {
		keys = append(keys, k+max(1, l.tables))
	}
	for _, k := range keys[:strings.Count(q, "?")] {
		args = append(args, k)
	}
	rows, err := conn.QueryContext(ctx, q, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := map[int][]int{}
	for rows.Next() {
		var k int
		var v string
		if err := rows.Scan(&k, &v); err != nil {
			return err
		}
		if found[k], err = parseList(v); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, k := range keys {
		r.Ops = append(r.Ops, txntest.ListOp{Key: strconv.Itoa(k), Elements: found[k]})
	}
	return nil
}

func parseList(v string) ([]int, error) {
	es := []int{}
	for _, f := range strings.Split(v, ",") {
		e, err := strconv.Atoi(f)
		if err != nil {
			return nil, fmt.Errorf("no list: %q", v)
		}
		es = append(es, e)
	}
	return es, nil
}

// end reads all lists, so that nothing acknowledged can be missing unnoticed.
func (l *lists) end(t *testing.T, db *sql.DB) {
	t.Helper()
	r := l.history.Begin("in the end")
	from := []string{l.table(0)}
	for i := 1; i < l.tables; i++ {
		from = append(from, l.table(i))
	}
	rows, err := db.Query("SELECT k, v FROM " + strings.Join(from, " UNION ALL SELECT k, v FROM "))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[int][]int{}
	for rows.Next() {
		var k int
		var v string
		if err := rows.Scan(&k, &v); err != nil {
			t.Fatal(err)
		}
		if found[k], err = parseList(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for k := range int(l.appends.Load()/listLength) + listWindow + 1 {
		r.Ops = append(r.Ops, txntest.ListOp{Key: strconv.Itoa(k), Elements: found[k]})
	}
	l.history.End(r, txntest.Committed)
}

func (l *lists) verify(t *testing.T, level txntest.Isolation) {
	t.Helper()
	for _, err := range l.history.Check(level) {
		t.Error(err)
	}
	t.Logf("%d committed, %d conflicts, %d unknown outcomes, %d lost sessions; cycles that only "+
		"serializability forbids: %d",
		l.committed.Load(), l.conflicts.Load(), l.unknown.Load(), l.broken.Load(),
		len(l.history.Check(txntest.Serializable)))
}

// TestLists holds each isolation level against its promise, over two SQL servers that share a
// storage of three shards.
func TestLists(t *testing.T) {
	storage := start(t, t.TempDir(), "--shards", "3", "--node-addr", "127.0.0.1:0")
	other := join(t, storage.nodeAddr())
	for _, c := range []struct {
		name, level, setup string
		promise            txntest.Isolation
	}{
		{"repeatable read", "REPEATABLE READ", "", txntest.SnapshotIsolation},
		{"optimistic", "REPEATABLE READ", "SET moka_txn_mode = 'optimistic'", txntest.SnapshotIsolation},
		{"without plan cache", "REPEATABLE READ", "SET moka_plan_cache = 0", txntest.SnapshotIsolation},
		{"serializable", "SERIALIZABLE", "", txntest.Serializable},
		{"read committed", "READ COMMITTED", "", txntest.ReadCommitted},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := strings.ReplaceAll(c.name, " ", "_")
			db := storage.db("")
			mustExec(t, db, "CREATE DATABASE "+name)
			l := &lists{level: c.level, setup: c.setup, history: &txntest.ListHistory{},
				dbs: []*sql.DB{storage.db(name), other.db(name)}}
			mustExec(t, l.dbs[0], listSchema)
			for i, at := range []int{3, 6, 20, 40} {
				storage.ctl("split", name+".lists", fmt.Sprint(at))
				storage.ctl("move", name+".lists", fmt.Sprint(at), fmt.Sprint(i%3+1))
			}
			l.run(t, *listTxns, nil)
			l.end(t, l.dbs[1])
			l.verify(t, c.promise)
		})
	}
}

// TestListsSurviveKills goes on with one history through kill -9 of the whole server, under load.
func TestListsSurviveKills(t *testing.T) {
	dir := t.TempDir()
	l := &lists{level: "REPEATABLE READ", history: &txntest.ListHistory{}}
	for round := range soaked(3, 20) {
		s := start(t, dir, "--shards", "3")
		if round == 0 {
			mustExec(t, s.db(""), "CREATE DATABASE d")
			mustExec(t, s.db("d"), listSchema)
			s.ctl("split", "d.lists", "4")
			s.ctl("move", "d.lists", "4", "2")
		}
		l.dbs = []*sql.DB{s.db("d")}
		stop := make(chan struct{})
		var killer sync.WaitGroup
		target := l.committed.Load() + 300
		killer.Go(func() {
			eventually(t, "300 transactions", 2*time.Minute, func() bool {
				return l.committed.Load() >= target || l.failed.Load() != nil
			})
			s.kill()
			close(stop)
		})
		l.run(t, 1<<30, stop)
		killer.Wait()
	}
	s := start(t, dir, "--shards", "3")
	l.end(t, s.db("d"))
	l.verify(t, txntest.SnapshotIsolation)
}

// TestListsUnderChange moves and splits the tablets and adds and drops an index while clients work, and kills
// the SQL server that half of them use, whose locks are left behind in a storage that goes on.
func TestListsUnderChange(t *testing.T) {
	storage := start(t, t.TempDir(), "--shards", "3", "--node-addr", "127.0.0.1:0")
	other := join(t, storage.nodeAddr())
	mustExec(t, storage.db(""), "CREATE DATABASE d")
	l := &lists{level: "REPEATABLE READ", history: &txntest.ListHistory{},
		dbs: []*sql.DB{storage.db("d"), other.db("d")}}
	mustExec(t, l.dbs[0], listSchema)
	split := map[int]bool{}
	for round := range soaked(1, 20) {
		stop := make(chan struct{})
		var chaos sync.WaitGroup
		target := l.committed.Load() + 200
		chaos.Go(func() {
			defer close(stop)
			for i := 0; l.committed.Load() < target && l.failed.Load() == nil; i++ {
				at := int(l.appends.Load()/listLength) + i%listWindow
				// a tablet begins there otherwise, and nothing is behind its first row
				if i%3 == 0 && !split[at] {
					split[at] = true
					storage.ctl("split", "d.lists", fmt.Sprint(at))
				}
				storage.ctl("move", "d.lists", fmt.Sprint(at), fmt.Sprint(i%3+1))
				if i%4 == 1 {
					mustExec(t, l.dbs[0], "CREATE INDEX more ON lists (sk, k)")
				} else if i%4 == 3 {
					mustExec(t, l.dbs[0], "DROP INDEX more ON lists")
				}
			}
			other.kill()
		})
		l.run(t, 1<<30, stop)
		chaos.Wait()
		other = join(t, storage.nodeAddr())
		l.dbs[1] = other.db("d")
		_, _ = l.dbs[0].Exec("DROP INDEX more ON lists") // if it is there
		t.Logf("round %d: %d committed", round, l.committed.Load())
	}
	l.end(t, l.dbs[1])
	l.verify(t, txntest.SnapshotIsolation)
	if got := one[string](t, l.dbs[0], "SELECT COUNT(*) FROM lists WHERE sk <> k OR v = ''"); got != "0" {
		t.Errorf("%s rows are damaged", got)
	}
	rows, err := l.dbs[0].Query("CHECK TABLE lists")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, op, kind, text string
		if err := rows.Scan(&table, &op, &kind, &text); err != nil {
			t.Fatal(err)
		}
		if kind != "status" || text != "OK" {
			t.Errorf("CHECK TABLE: %s %s", kind, text)
		}
	}
}

// TestListsFindMariaDB is the checker's control on a real server: MariaDB's REPEATABLE READ promises no
// snapshot isolation, updates go on with the newest row under an old snapshot, and a reader of lists must
// notice within a few thousand transactions.
func TestListsFindMariaDB(t *testing.T) {
	m := servertest.StartMariaDB(t)
	db, err := sql.Open("mysql", m.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	mustExec(t, db, "CREATE DATABASE lists")
	use, err := sql.Open("mysql", m.DSN("lists"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { use.Close() })
	mustExec(t, use, listSchema)
	l := &lists{level: "REPEATABLE READ", history: &txntest.ListHistory{}, dbs: []*sql.DB{use}}
	for range 20 {
		l.run(t, 500, nil)
		if wrong := l.history.Check(txntest.SnapshotIsolation); len(wrong) > 0 {
			t.Logf("after %d transactions: %v", l.committed.Load(), wrong[0])
			return
		}
	}
	t.Errorf("%d transactions on MariaDB and nothing found: the load proves nothing", l.committed.Load())
}
