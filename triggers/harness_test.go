package triggers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/kvtest"
	"moka/kv/shardtest"
	"moka/txn"
	"moka/txn/txntest"
)

// world is a store in memory with both coprocessors, a clock, and a client for the test itself.
type world struct {
	t      testing.TB
	store  kv.Store
	mem    *kvtest.Mem
	node   *shardtest.Node // of real shards, in place of mem
	clock  *txntest.Clock
	client *txn.Client
}

func newWorld(t testing.TB, o kvtest.Options) *world {
	t.Helper()
	if o.Coprocessors == nil {
		o.Coprocessors = []kv.Coprocessor{NewCoprocessor(nil)}
	}
	o.Coprocessors = append(o.Coprocessors, txn.NewCoprocessor(txn.CoprocessorOptions{}))
	w := &world{t: t, mem: kvtest.NewMem(o), clock: &txntest.Clock{}}
	w.store = w.mem
	t.Cleanup(func() {
		if err := w.mem.Close(); err != nil {
			t.Error(err)
		}
	})
	w.client = w.newClient(w.mem)
	return w
}

// newRealWorld has real shards on a disk in memory.
func newRealWorld(t testing.TB, o shardtest.Options) *world {
	t.Helper()
	o.Coprocessors = append(o.Coprocessors, txn.NewCoprocessor(txn.CoprocessorOptions{}))
	n, err := shardtest.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, node: n, clock: &txntest.Clock{}}
	if w.store, err = client.New(n, n, client.Options{Node: 1, Local: n}); err != nil {
		t.Fatal(err)
	}
	w.client = w.newClient(w.store)
	return w
}

// reader reads a shard from outside.
func (w *world) reader(id kv.ShardID) kv.Reader {
	if w.node != nil {
		return w.node.Leader(id).Reader()
	}
	return w.mem.Reader(id)
}

func (w *world) newClient(s kv.Store) *txn.Client {
	w.t.Helper()
	c, err := txn.NewClient(s, w.clock, txn.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// worker starts a worker with observers on the store (nil: the world's own).
func (w *world) worker(token string, o Options, obs ...Observer) *Worker {
	w.t.Helper()
	x := w.idleWorker(token, o, obs...)
	x.Start()
	return x
}

func (w *world) idleWorker(token string, o Options, obs ...Observer) *Worker {
	w.t.Helper()
	x := NewWorker(w.client, w.mem, token, o)
	for _, ob := range obs {
		x.Register(ob)
	}
	w.t.Cleanup(x.Close)
	return x
}

var col = txntest.Column

// put writes a cell and notifies the observers.
func (w *world) put(row, value string, observers ...ObserverID) kv.Timestamp {
	w.t.Helper()
	tx := w.client.Begin(txn.TxnOptions{})
	tx.Put(col(row), []byte(value), txn.WriteOptions{Observers: observers})
	ts, err := tx.Commit(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return ts
}

func (w *world) get(row string) string {
	w.t.Helper()
	v, ok, err := w.client.Begin(txn.TxnOptions{ReadOnly: true}).Get(context.Background(), col(row))
	if err != nil {
		w.t.Fatal(err)
	}
	if !ok {
		return "<none>"
	}
	return string(v)
}

// count adds one to a number in a transaction.
func count(ctx context.Context, tx *txn.Txn, row string, by int, observers ...ObserverID) error {
	v, _, err := tx.Get(ctx, col(row))
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(string(v))
	tx.Put(col(row), []byte(strconv.Itoa(n+by)), txn.WriteOptions{Observers: observers})
	return nil
}

// backlog returns the sum over observers.
func (w *world) backlog() (waiting, parked uint64) {
	w.t.Helper()
	bs, err := Backlogs(context.Background(), w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, b := range bs {
		waiting, parked = waiting+b.Waiting, parked+b.Parked
	}
	return waiting, parked
}

// until waits, in the bubble's time, for a condition.
func (w *world) until(what string, most time.Duration, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(most); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within %v", what, most)
		}
	}
}

// drained waits until nothing is left to do.
func (w *world) drained(most time.Duration) {
	w.t.Helper()
	w.until("all notifications acknowledged", most, func() bool { n, _ := w.backlog(); return n == 0 })
}

// cells draws the notifications, their state and the acknowledgements of all shards.
func (w *world) cells() string {
	w.t.Helper()
	var b strings.Builder
	ids, _ := w.store.Shards(context.Background())
	for _, id := range ids {
		r := w.reader(id)
		for run := uint32(0); run < 10; run++ {
			w.walk(r, kv.GroupNotify, run, func(c kv.Column, v kv.Version) {
				fmt.Fprintf(&b, "notify %d %s @%v\n", run, c.Row.Row(), v.Timestamp)
			})
			w.walk(r, kv.GroupNotifyMeta, run, func(c kv.Column, v kv.Version) {
				m, err := decodeMeta(v.Value)
				if err != nil {
					w.t.Fatal(err)
				}
				fmt.Fprintf(&b, "failed %d %s attempts=%d parked=%v\n", run, c.Row.Row(),
					m.Attempts, m.Parked)
			})
		}
		w.walk(r, kv.GroupTxnAck, 0, func(c kv.Column, v kv.Version) {
			o := binary.BigEndian.Uint32(c.Qualifier)
			fmt.Fprintf(&b, "ack    %d %s @%v\n", o, c.Row.Row(), v.Timestamp)
		})
	}
	return b.String()
}

func (w *world) walk(r kv.Reader, g kv.GroupID, run uint32, f func(kv.Column, kv.Version)) {
	it, err := r.Iter(kv.IterOptions{Group: g, Run: run})
	if err != nil {
		w.t.Fatal(err)
	}
	defer it.Close()
	for it.NextColumn() {
		for ok := true; ok; ok = it.NextVersion() {
			f(it.Column(), it.Version())
		}
	}
}

// atRest fails if notifications or their states are left behind.
func (w *world) atRest() {
	w.t.Helper()
	for _, line := range strings.Split(w.cells(), "\n") {
		if strings.HasPrefix(line, "notify") || strings.HasPrefix(line, "failed") {
			w.t.Errorf("left behind: %s", line)
		}
	}
}

// mortal is a store that a process talks to until it is killed.
type mortal struct {
	kv.Store
	dead atomic.Bool
}

var errDead = errors.New("this process was killed")

func (m *mortal) Call(ctx context.Context, s kv.ShardID, refs []kv.TabletRef, c kv.CommandID,
	req kv.Message) (kv.Message, error) {
	if m.dead.Load() {
		return nil, errDead
	}
	resp, err := m.Store.Call(ctx, s, refs, c, req)
	if m.dead.Load() {
		return nil, errDead
	}
	return resp, err
}

// deaf is a coprocessor to whom nobody says what was set: every push is lost.
type deaf struct{ kv.Coprocessor }

func (d deaf) OpenShard(s kv.ShardHandle) (any, error) { return d.Coprocessor.OpenShard(deafShard{s}) }

type deafShard struct{ kv.ShardHandle }

func (d deafShard) InMemory(g kv.GroupID) kv.MemTable {
	return deafTable{d.ShardHandle.InMemory(g)}
}

type deafTable struct{ kv.MemTable }

func (deafTable) OnSet(func(kv.Address, kv.Version)) {}

// said is the text of a failed run's error.
func said(f Failed) string {
	_, text := f.Said()
	return text
}
