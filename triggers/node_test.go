package triggers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/txn"
	"moka/txn/txntest"
)

// nodeWorld is a real node in this process, its Pebble in a file system in memory.
type nodeWorld struct {
	node   *node.Node
	store  *client.Client
	client *txn.Client
}

type inProcess struct{ n *node.Node }

func (c inProcess) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	info := rpc.ClusterInfo{ClusterID: "test", Node: c.n.ID(), Root: node.MetaShard,
		Nodes: []rpc.NodeInfo{{ID: c.n.ID()}}}
	for _, s := range c.n.Shards() {
		info.Shards = append(info.Shards, rpc.ShardInfo{ID: s, Node: c.n.ID()})
	}
	return info, nil
}

func openNode(t testing.TB, fs vfs.FS, clock *txntest.Clock) *nodeWorld {
	t.Helper()
	return openNodeWith(t, fs, clock, NewCoprocessor(nil))
}

func openNodeWith(t testing.TB, fs vfs.FS, clock *txntest.Clock, c kv.Coprocessor) *nodeWorld {
	t.Helper()
	n, err := node.Open(node.Options{
		Dir: "data", FS: fs, Shards: 3, CacheBytes: 8 << 20, BalanceEvery: -1,
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{}), c},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := client.Options{Node: n.ID(), Local: n}
	meta, err := client.NewMetadata(inProcess{n}, n, o)
	if err != nil {
		t.Fatal(err)
	}
	store, err := client.New(meta, n, o)
	if err != nil {
		t.Fatal(err)
	}
	tc, err := txn.NewClient(store, clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &nodeWorld{n, store, tc}
}

func (w *nodeWorld) close(t testing.TB) {
	t.Helper()
	if err := w.client.Close(); err != nil {
		t.Error(err)
	}
	if err := w.node.Close(); err != nil {
		t.Error(err)
	}
}

func (w *nodeWorld) put(row, value string, observers ...ObserverID) error {
	tx := w.client.Begin(txn.TxnOptions{})
	tx.Put(col(row), []byte(value), txn.WriteOptions{Observers: observers})
	_, err := tx.Commit(context.Background())
	return err
}

// TestNodeLosesPower: writers and a worker are at work when the power fails. What was acknowledged to a
// writer is observed by exactly one committed run, before or after.
func TestNodeLosesPower(t *testing.T) {
	fs, clock := vfs.NewCrashableMem(), &txntest.Clock{}
	w := openNode(t, fs, clock)
	for _, row := range []string{"row1", "row2", "runs/row15"} {
		if _, _, err := w.node.Split(t.Context(), col(row).Row); err != nil {
			t.Fatal(err)
		}
	}
	tablets := 0
	for _, row := range []string{"row1", "row2", "runs/row15"} {
		tb, err := w.store.Locate(t.Context(), col(row).Row)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.node.Move(t.Context(), tb.ID, kv.ShardID(1+tablets%3)); err != nil &&
			tb.Shard != kv.ShardID(1+tablets%3) {
			t.Fatal(err)
		}
		tablets++
	}
	observer := Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
		return count(ctx, tx, "runs/"+string(e.Column.Row.Row()), 1)
	}}
	worker := NewWorker(w.client, w.store, "w1", Options{})
	worker.Register(observer)
	worker.Start()

	const rows = 300
	var acknowledged [rows]atomic.Bool
	var writers sync.WaitGroup
	var reached sync.Once
	half := make(chan struct{})
	for k := range 3 {
		writers.Go(func() {
			for i := k; i < rows; i += 3 {
				if err := w.put(fmt.Sprintf("row%d", i), "1", 1); err != nil {
					t.Error(err)
					return
				}
				acknowledged[i].Store(true)
				if i > rows/2 {
					reached.Do(func() { close(half) })
				}
			}
		})
	}
	<-half
	var before []int
	for i := range rows {
		if acknowledged[i].Load() {
			before = append(before, i)
		}
	}
	disk := fs.CrashClone(vfs.CrashCloneCfg{})
	writers.Wait()
	worker.Close()
	w.close(t)

	w = openNode(t, disk, clock)
	defer w.close(t)
	worker = NewWorker(w.client, w.store, "w2", Options{})
	worker.Register(observer)
	worker.Start()
	defer worker.Close()
	waitIdle(t, w)
	for i := range rows {
		tx := w.client.Begin(txn.TxnOptions{ReadOnly: true})
		_, there, err := tx.Get(t.Context(), col(fmt.Sprintf("row%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		runs, _, err := tx.Get(t.Context(), col(fmt.Sprintf("runs/row%d", i)))
		if err != nil {
			t.Fatal(err)
		}
		if there != (string(runs) == "1") || !there && slices.Contains(before, i) {
			t.Errorf("row %d: there %v, %q runs; acknowledged before the crash: %v", i, there, runs,
				slices.Contains(before, i))
		}
	}
}

// TestNodeReadsBacklogFromDisk: what a shard has no room for in memory is read from Pebble's tables and
// memtables, and run for once, before and after a restart.
func TestNodeReadsBacklogFromDisk(t *testing.T) {
	fs, clock := vfs.NewMem(), &txntest.Clock{}
	small := func() kv.Coprocessor {
		return &coprocessor{now: time.Now, bound: 16, notifyMost: 16, metaMost: 16}
	}
	w := openNodeWith(t, fs, clock, small())
	const rows = 600
	for from := range 6 {
		tx := w.client.Begin(txn.TxnOptions{})
		for i := from * 100; i < from*100+100; i++ {
			tx.Put(col(fmt.Sprintf("row%d", i)), []byte("1"), txn.WriteOptions{Observers: []ObserverID{1}})
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for life := range 2 {
		var ran atomic.Int64
		half := make(chan struct{})
		worker := NewWorker(w.client, w.store, "w", Options{})
		worker.Register(Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			if ran.Add(1) == rows/2 {
				close(half)
			}
			return count(ctx, tx, "runs/"+string(e.Column.Row.Row()), 1)
		}})
		worker.Start()
		if life == 0 {
			<-half
		} else {
			waitIdle(t, w)
		}
		worker.Close()
		if life == 0 {
			w.close(t)
			w = openNodeWith(t, fs, clock, small())
		}
	}
	defer w.close(t)
	for i := range rows {
		tx := w.client.Begin(txn.TxnOptions{ReadOnly: true})
		runs, _, err := tx.Get(t.Context(), col(fmt.Sprintf("runs/row%d", i)))
		if err != nil || string(runs) != "1" {
			t.Errorf("row %d: %q runs, %v", i, runs, err)
		}
	}
}

// waitIdle waits until every notification is acknowledged. Real time, since Pebble does not live in a bubble:
// it asks again each time a timer fires, and gives up only with the test's own deadline.
func waitIdle(t testing.TB, w *nodeWorld) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := w.client.ResolveOrphans(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		bs, err := Backlogs(context.Background(), w.store)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(bs, func(b Backlog) bool { return b.Waiting > 0 }) {
			return
		}
		<-tick.C
	}
}

// BenchmarkRuns is the way from a change to its observer's commit on one node, writers and worker side by
// side. "alone" waits for each run before the next change, so that its lag is that of an idle system; the
// others write as fast as they can and show how many runs a second the machine does beside its writers.
func BenchmarkRuns(b *testing.B) {
	for _, writers := range []int{0, 1, 16} {
		name := fmt.Sprintf("writers-%d", writers)
		if writers == 0 {
			name = "alone"
		}
		b.Run(name, func(b *testing.B) {
			w := openNode(b, vfs.NewMem(), &txntest.Clock{})
			defer w.close(b)
			var mu sync.Mutex
			committed := make(map[string]time.Time, b.N)
			var lags []time.Duration
			ran := make(chan struct{}, 2*b.N+100) // room for repeated runs
			worker := NewWorker(w.client, w.store, "w1", Options{Runners: 32})
			worker.Register(Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
				v, _, err := tx.Get(ctx, e.Column)
				row := string(e.Column.Row.Row())
				tx.Put(col("copy/"+row), v, txn.WriteOptions{})
				mu.Lock()
				lags = append(lags, time.Since(committed[row]))
				mu.Unlock()
				ran <- struct{}{}
				return err
			}})
			worker.Start()
			defer worker.Close()
			b.ResetTimer()
			var next atomic.Int64
			var wg sync.WaitGroup
			for range max(1, writers) {
				wg.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						row := fmt.Sprintf("row%d", i)
						mu.Lock()
						committed[row] = time.Now() // a moment early: the writer's commit is in the lag
						mu.Unlock()
						if err := w.put(row, "v", 1); err != nil {
							b.Error(err)
							return
						}
						if writers == 0 {
							<-ran
						}
					}
				})
			}
			wg.Wait()
			waitIdle(b, w)
			b.StopTimer()
			m := worker.Metrics()
			b.ReportMetric(float64(m.Runs)/b.Elapsed().Seconds(), "runs/s")
			slices.Sort(lags)
			b.ReportMetric(float64(lags[len(lags)/2].Microseconds()), "lag-p50-µs")
			b.ReportMetric(float64(lags[len(lags)*99/100].Microseconds()), "lag-p99-µs")
			if m.Runs < uint64(b.N) {
				b.Errorf("%d runs for %d changes", m.Runs, b.N)
			}
		})
	}
}
