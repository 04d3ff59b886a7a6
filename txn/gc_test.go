package txn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

func now(t *testing.T, c *txn.Client) kv.Timestamp {
	t.Helper()
	ts, err := txn.ClockOf(c).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// versions prints what is stored of the columns' histories: name@commit, a delete with a minus.
func versions(t *testing.T, m *kvtest.Mem) string {
	t.Helper()
	shards, _ := m.Shards(t.Context())
	count := map[string]int{}
	var order []string
	for _, id := range shards {
		vs, err := txn.StoredVersions(m.Reader(id))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			n := columnName(v.Column)
			if count[n] == 0 {
				order = append(order, n)
			}
			count[n]++
		}
	}
	s := ""
	slices.Sort(order)
	for _, n := range order {
		s += fmt.Sprintf("%s:%d ", n, count[n])
	}
	return strings.TrimSpace(s)
}

func collect(t *testing.T, c *txn.Client, safePoint kv.Timestamp) txn.GarbageStats {
	t.Helper()
	stats, err := c.CollectGarbage(t.Context(), safePoint, txn.GarbageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// TestGarbageCollection: of each column the newest version below the safe point stays, unless it is a delete; snapshots from the
// safe point on see no difference, older ones are refused.
func TestGarbageCollection(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		long := strings.Repeat("x", 5000)
		put(t, c, "a", "1", "b", long, "c", "1", "d", "1")
		put(t, c, "a", "2", "b", long+"2", "e", "1")
		gone := c.Begin(txn.TxnOptions{})
		gone.Delete(col("c"), txn.WriteOptions{})
		mustCommit(t, gone)
		before := now(t, c)
		put(t, c, "a", "3")
		safePoint := now(t, c)
		put(t, c, "a", "4", "b", "short")
		last := c.Begin(txn.TxnOptions{})
		last.Delete(col("d"), txn.WriteOptions{})
		mustCommit(t, last)

		all := txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}
		at := func(ts kv.Timestamp) string {
			return scan(t, c.Begin(txn.TxnOptions{StartTS: ts, ReadOnly: true}), all)
		}
		want := at(safePoint)
		newest := scan(t, c.Begin(txn.TxnOptions{}), all)
		stats := collect(t, c, safePoint)
		if got := versions(t, m); got != "a:2 b:2 d:2 e:1" {
			t.Errorf("left: %s", got)
		}
		if stats.Versions != 5 {
			t.Errorf("%+v, want 5 versions", stats)
		}
		if got := at(safePoint); got != want {
			t.Errorf("at the safe point: %.80q, want %.80q", got, want)
		}
		if got := scan(t, c.Begin(txn.TxnOptions{}), all); got != newest {
			t.Errorf("now: %.80q, want %.80q", got, newest)
		}
		for _, id := range []kv.ShardID{0, 1} { // as it is, and after a restart of all shards
			if id == 1 {
				shards, _ := m.Shards(t.Context())
				for _, s := range shards {
					m.Restart(s)
				}
			}
			old := c.Begin(txn.TxnOptions{StartTS: before, ReadOnly: true})
			if _, _, err := old.Get(t.Context(), col("a")); !errors.Is(err, txn.ErrSnapshotTooOld) {
				t.Errorf("read below the safe point: %v", err)
			}
			s := old.Scan(t.Context(), all)
			if s.Next() || !errors.Is(s.Err(), txn.ErrSnapshotTooOld) {
				t.Errorf("scan below the safe point: %v", s.Err())
			}
			_ = s.Close()
		}
		if again := collect(t, c, safePoint); again.Versions != 0 {
			t.Errorf("a second time: %+v", again)
		}
	})
}

// TestGarbageKeepsLateWritersOut: a transaction that fell behind the safe point can neither commit nor lock.
func TestGarbageKeepsLateWritersOut(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		put(t, c, "a", "1", "c", "1")
		late := c.Begin(txn.TxnOptions{})
		if _, _, err := late.Get(t.Context(), col("a")); err != nil {
			t.Fatal(err)
		}
		del := c.Begin(txn.TxnOptions{})
		del.Delete(col("a"), txn.WriteOptions{})
		mustCommit(t, del)
		collect(t, c, now(t, c))
		if got := versions(t, m); got != "c:1" {
			t.Errorf("left: %s", got)
		}
		if _, err := lock(t, late, txn.LockOptions{NoWait: true}, "a"); !errors.Is(err, txn.ErrConflict) {
			t.Errorf("lock: %v", err)
		}
		// The delete that it conflicts with has left no trace.
		late.Put(col("a"), []byte("2"), txn.WriteOptions{})
		late.Put(col("c"), []byte("2"), txn.WriteOptions{})
		if _, err := late.Commit(t.Context()); !errors.Is(err, txn.ErrSnapshotTooOld) {
			t.Errorf("commit: %v", err)
		}
		if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "c=1" {
			t.Errorf("stored: %s", got)
		}
	})
}

// TestGarbageResolvesLocksFirst: a transaction whose owner died after the commit point still has a lock on a secondary, and all that
// says that it has committed is the primary's record. Its locks go before that does; while an owner lives, nothing goes.
func TestGarbageResolvesLocksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := kvtest.NewMem(kvtest.Options{
			Shards: 2, Splits: []kv.RowKey{txntest.Split("m")}, Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
		})
		defer mem.Close()
		mem.Move(txntest.Split("m"), 2)
		lossy := kvtest.NewFaulty(mem, kvtest.Faults{Hook: func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message) kvtest.Fault {
			if cmd == txn.CmdResolve {
				return kvtest.DropRequest
			}
			return kvtest.Pass
		}})
		clock := &txntest.Clock{}
		dying, err := txn.NewClient(lossy, clock, txn.Options{NoAsyncCommit: true})
		if err != nil {
			t.Fatal(err)
		}
		put(t, dying, "a", "1", "b", "1", "z", "1") // the primary is a; z stays locked
		_ = dying.Close()
		c, err := txn.NewClient(mem, clock, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		del := c.Begin(txn.TxnOptions{})
		del.Delete(col("a"), txn.WriteOptions{}) // the primary's record is garbage after this
		mustCommit(t, del)
		collect(t, c, now(t, c))
		if got := scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); got != "b=1 z=1" {
			t.Errorf("after collection: %s", got)
		}
		if got := versions(t, mem); got != "b:1 z:1" {
			t.Errorf("left: %s", got)
		}
	})
}

// TestGarbageFenceTravels: a tablet that came from a split has no record of the safe point, and goes to a shard that has never had one
// either. After a restart the safe point is still known there.
//
// Nor does the record go with a tablet that leaves alone, if the rest of what it was stays.
func TestGarbageFenceTravels(t *testing.T) {
	for _, leaves := range []string{"z", "a"} {
		testGarbageFenceTravels(t, leaves)
	}
}

func testGarbageFenceTravels(t *testing.T, leaves string) {
	c, m := txntest.NewStore(t, kvtest.Options{Shards: 2, Crash: true}, txn.Options{})
	put(t, c, "a", "1", "z", "1")
	old := now(t, c)
	put(t, c, "a", "2", "z", "2")
	collect(t, c, now(t, c))
	m.Split(txntest.Split("m"))
	m.Move(txntest.Split(leaves), 2)
	m.Restart(1)
	m.Restart(2)
	for _, name := range []string{"a", "z"} {
		if _, _, err := c.Begin(txn.TxnOptions{StartTS: old, ReadOnly: true}).Get(t.Context(), col(name)); !errors.Is(err, txn.ErrSnapshotTooOld) {
			t.Errorf("%s leaves, %s: %v", leaves, name, err)
		}
	}
}

// TestGarbageOfHotColumns: a column with more versions than one request removes is gone on with where the last one stopped. If its
// newest version is a delete, no reader meets what it deleted on the way.
func TestGarbageOfHotColumns(t *testing.T) {
	for _, deleted := range []bool{false, true} {
		t.Run(fmt.Sprint("deleted ", deleted), func(t *testing.T) {
			var seen []string
			var c *txn.Client
			c, m := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
			const n = 5000
			for i := range n {
				put(t, c, "hot", fmt.Sprint(i))
			}
			put(t, c, "cold", "1")
			if deleted {
				tx := c.Begin(txn.TxnOptions{})
				tx.Delete(col("hot"), txn.WriteOptions{})
				mustCommit(t, tx)
			}
			watched, err := txn.NewClient(kvtest.NewFaulty(m, kvtest.Faults{Hook: func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message) kvtest.Fault {
				if cmd == txn.CmdCollect {
					seen = append(seen, scan(t, c.Begin(txn.TxnOptions{}), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}))
				}
				return kvtest.Pass
			}}), txn.ClockOf(c), txn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer watched.Close()
			stats := collect(t, watched, now(t, c))
			want, left := fmt.Sprintf("cold=1 hot=%d", n-1), "cold:1 hot:1"
			if deleted {
				want, left = "cold=1", "cold:1"
			}
			if got := versions(t, m); got != left {
				t.Errorf("left: %s", got)
			}
			for i, s := range seen {
				if s != want {
					t.Fatalf("before request %d: %s, want %s", i, s, want)
				}
			}
			if len(seen) < 5 || stats.Requests > 20 {
				t.Errorf("%d requests seen, %+v", len(seen), stats)
			}
		})
	}
}

// TestGarbageUnchanged: below the safe point nothing is read, but what has not changed since is known all the same.
func TestGarbageUnchanged(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		long := strings.Repeat("x", 3000)
		put(t, c, "a", "kept", "b", long, "c", "1", "d", "1")
		acknowledged := now(t, c)
		put(t, c, "c", "2")
		gone := c.Begin(txn.TxnOptions{})
		gone.Delete(col("d"), txn.WriteOptions{})
		mustCommit(t, gone)
		collect(t, c, now(t, c))
		put(t, c, "a", "newer", "b", "newer")
		for name, want := range map[string]string{"a": "kept", "b": long, "c": "", "d": "", "e": ""} {
			tx := c.Begin(txn.TxnOptions{StartTS: acknowledged, ReadOnly: true, Unchanged: true})
			v, _, err := tx.Get(t.Context(), col(name))
			switch {
			case want == "" && !errors.Is(err, txn.ErrSnapshotTooOld):
				t.Errorf("%s: %.20q, %v; it may have changed", name, v, err)
			case want != "" && (err != nil || string(v) != want):
				t.Errorf("%s: %.20q, %v", name, v, err)
			}
			if s := tx.Scan(t.Context(), txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}); s.Next() || !errors.Is(s.Err(), txn.ErrSnapshotTooOld) {
				t.Errorf("scan: %v", s.Err())
			}
			tx.Rollback()
		}
	})
}

// TestSnapshots: what is being read is known, for as long as it is.
func TestSnapshots(t *testing.T) {
	c := txntest.New(t)
	put(t, c, "a", "1")
	oldest := func() (kv.Timestamp, int) {
		u, err := c.Snapshots(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return u.Oldest, u.Open
	}
	before := now(t, c)
	if ts, open := oldest(); ts <= before || open != 0 {
		t.Errorf("nobody reads: %v, %d", ts, open)
	}
	begin := func(o txn.TxnOptions) (*txn.Txn, kv.Timestamp) {
		tx := c.Begin(o)
		ts, err := tx.StartTS(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tx, ts
	}
	first, at := begin(txn.TxnOptions{})
	second, _ := begin(txn.TxnOptions{})
	past, pastAt := begin(txn.TxnOptions{StartTS: before, ReadOnly: true})
	if ts, open := oldest(); ts != pastAt || open != 3 {
		t.Errorf("%v, %d; want %v, 3", ts, open, pastAt)
	}
	past.Rollback()
	if ts, open := oldest(); ts != at || open != 2 {
		t.Errorf("%v, %d; want %v, 2", ts, open, at)
	}
	// A new snapshot for each statement: what was written is still bound to the old one, what was only read is not.
	first.Put(col("b"), []byte("1"), txn.WriteOptions{})
	for _, tx := range []*txn.Txn{first, second} {
		tx.Advance()
		if _, _, err := tx.Get(t.Context(), col("a")); err != nil {
			t.Fatal(err)
		}
	}
	if ts, open := oldest(); ts != at || open != 2 {
		t.Errorf("%v, %d; want %v, 2", ts, open, at)
	}
	mustCommit(t, first)
	if ts, open := oldest(); ts <= at || open != 1 {
		t.Errorf("%v, %d", ts, open)
	}
	second.Rollback()
	if _, open := oldest(); open != 0 {
		t.Errorf("%d open", open)
	}
}

// TestGarbageOnPebble: a second collection looks only at what has changed since the first, also where memtables and tables hold it, and
// deletions hide what they are about from it. It is not misled by splits, merges and moves, nor by a crash.
func TestGarbageOnPebble(t *testing.T) {
	ctx := t.Context()
	s := openReal(t, vfs.NewCrashableMem())
	defer func() { _ = s.n.Close() }()
	clock := &txntest.Clock{}
	c, err := txn.NewClient(s, clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 3000
	name := func(i int) string { return fmt.Sprintf("row%05d", i) }
	write := func(c *txn.Client, step int, value string) {
		tx := c.Begin(txn.TxnOptions{})
		for i := 0; i < rows; i += step {
			tx.Put(col(name(i)), []byte(value), txn.WriteOptions{})
		}
		mustCommit(t, tx)
	}
	stored := func() (n int) {
		for _, id := range s.n.Shards() {
			h, _ := s.n.Shard(id)
			vs, err := txn.StoredVersions(h.Reader())
			if err != nil {
				t.Fatal(err)
			}
			n += len(vs)
		}
		return n
	}
	flush := func() {
		t.Helper()
		if err := s.n.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	write(c, 1, "1")
	write(c, 1, "2")
	flush()
	if st := collect(t, c, now(t, c)); st.Versions != rows || stored() != rows {
		t.Fatalf("%+v, left %d", st, stored())
	}
	flush()
	for round, between := range []func(){
		func() {},
		flush,
		func() {
			if err := s.n.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		},
	} {
		write(c, 100, fmt.Sprint("round ", round))
		between()
		if st := collect(t, c, now(t, c)); st.Versions != rows/100 || stored() != rows || st.Columns > rows/100 {
			t.Fatalf("round %d: %+v, left %d", round, st, stored())
		}
	}
	if st := collect(t, c, now(t, c)); st.Columns != 0 {
		t.Errorf("nothing has changed: %+v", st)
	}

	// A tablet that has another end is gone through from the beginning.
	write(c, 100, "before the split")
	left, _, err := s.n.Split(ctx, txntest.Split(name(rows/2)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.n.Move(ctx, left.ID, left.Shard%3+1); err != nil {
		t.Fatal(err)
	}
	if st := collect(t, c, now(t, c)); stored() != rows {
		t.Fatalf("after the split: %+v, left %d", st, stored())
	}
	// One half is collected further than the other when they are joined.
	write(c, 100, "before the merge")
	now(t, c) // the commit may be at this one
	safePoint := now(t, c)
	half, err := txn.NewClient(&onlyBefore{Store: s, row: txntest.Split(name(rows / 2))}, clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = half.CollectGarbage(ctx, safePoint, txn.GarbageOptions{})
	_ = half.Close()
	if n := stored(); n != rows+rows/200 {
		t.Fatalf("half of it: %d", n)
	}
	if left, err = s.n.Move(ctx, left.ID, left.Shard); err != nil {
		t.Fatal(err)
	}
	if _, err := s.n.Merge(ctx, left.ID); err != nil {
		t.Fatal(err)
	}
	if s.Store, err = client.New(tabletsOf{s.n}, s.n, client.Options{Node: s.n.ID(), Local: s, RetryFor: -1}); err != nil { // which knows one tablet
		t.Fatal(err)
	}
	if st := collect(t, c, now(t, c)); stored() != rows {
		t.Fatalf("after the merge: %+v, left %d", st, stored())
	}

	// What a crash brings back is found again.
	write(c, 50, "before the crash")
	collect(t, c, now(t, c))
	fs := s.kill()
	_ = c.Close()
	_ = s.n.Close()
	s = openReal(t, fs)
	if c, err = txn.NewClient(s, clock, txn.Options{}); err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	write(c, 300, "after the crash")
	if collect(t, c, now(t, c)); stored() != rows {
		t.Errorf("after the crash: left %d", stored())
	}
}

// onlyBefore serves no collection behind a row.
type onlyBefore struct {
	kv.Store
	row kv.RowKey
}

func (s *onlyBefore) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if cmd == txn.CmdCollect {
		if span := txn.CollectSpan(req); string(span.Start) >= string(s.row) {
			return nil, kv.Errorf(kv.CodeInternal, "test", "not here")
		}
	}
	return s.Store.Call(ctx, shard, tablets, cmd, req)
}

// TestDropRange: a range goes, over all the tablets that it lies in, and nothing beside it; who was there before is refused.
func TestDropRange(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, m *kvtest.Mem) {
		long := strings.Repeat("x", 3000)
		put(t, c, "a", "1", "b", long, "c", "1", "d", "1", "e", "1")
		before := now(t, c)
		put(t, c, "b", "2", "d", long)
		rolledBack := c.Begin(txn.TxnOptions{})
		rolledBack.LockForUpdate(col("c"))
		rolledBack.Put(col("d"), []byte("3"), txn.WriteOptions{})
		mustCommit(t, rolledBack)
		span := kv.Span{Start: txntest.Split("b"), End: txntest.Split("dz")}
		if err := c.DropRange(t.Context(), span, now(t, c)); err != nil {
			t.Fatal(err)
		}
		all := txn.ScanOptions{Span: kv.Span{Start: txntest.Split("")}}
		for range 2 {
			if got := scan(t, c.Begin(txn.TxnOptions{}), all); got != "a=1 e=1" {
				t.Errorf("left: %s", got)
			}
			if got := versions(t, m); got != "a:1 e:1" {
				t.Errorf("stored: %s", got)
			}
			if _, _, err := c.Begin(txn.TxnOptions{StartTS: before, ReadOnly: true}).Get(t.Context(), col("c")); !errors.Is(err, txn.ErrSnapshotTooOld) {
				t.Errorf("before: %v", err)
			}
			shards, _ := m.Shards(t.Context())
			for _, s := range shards {
				m.Restart(s)
			}
		}
		put(t, c, "c", "again") // the key space is not spoilt
		collect(t, c, now(t, c))
		if got := scan(t, c.Begin(txn.TxnOptions{}), all); got != "a=1 c=again e=1" {
			t.Errorf("after: %s", got)
		}
	})
}
