package txn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// History scripts: each command does one thing to a store of three shards (rows up to i, up to q, the rest) and prints what it
// came to, followed by the stored cells, so that a reader sees the columns move as in the paper's figure 4.
//
//	new [next=TS] [one-shard] [async]   an empty store; the next timestamp is TS; async: commits are asynchronous
//	begin txn=T                         takes the snapshot at once
//	get|scan txn=T [key=K]              scan prints everything
//	put|insert txn=T key=K value=V [observer=N]
//	delete|lock|require txn=T key=K
//	commit txn=T [crash=POINT] [lose=COMMAND]
//	                                    crash: the client is never heard of again after the point
//	                                    lose: the first answer to COMMAND is lost, and asked for again
//	rollback txn=T
//	advance ms=N                        the clock moves on: locks expire after 3000 ms
//	sweep                               resolves all orphans
//	restart shard=N                     kill -9; what was not synced is lost
//	split|move key=K [shard=N]
type historyScript struct {
	t     *testing.T
	mem   *kvtest.Mem
	clock *txntest.Manual
	txns  map[string]*txn.Txn
	owner map[string]*mortal
	c     *txn.Client
	trash []*txn.Client
	last  string // cells, as last shown
	async bool
}

// mortal is a client's view of a store that it loses when it dies.
type mortal struct {
	kv.Store
	allow func(cmd kv.CommandID, req kv.Message) bool
	mu    sync.Mutex // requests to several shards come side by side
	lose  string     // the command whose next answer is lost
}

func (m *mortal) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if m.allow != nil && !m.allow(cmd, req) {
		return nil, kv.Errorf(kv.CodeClosed, "test", "the client is dead")
	}
	resp, err := m.Store.Call(ctx, shard, tablets, cmd, req)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lose == txn.CommandName(cmd) {
		m.lose = ""
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, "test", "the answer was lost")
	}
	return resp, err
}

// crashes are the points of a commit after which a client can die.
var crashes = map[string]func(cmd kv.CommandID, req kv.Message) bool{
	"before-prewrite":         func(kv.CommandID, kv.Message) bool { return false },
	"after-primary-prewrite":  func(cmd kv.CommandID, req kv.Message) bool { return cmd == txn.CmdPrewrite && txn.LocksPrimary(req) },
	"after-others-prewrite":   func(cmd kv.CommandID, req kv.Message) bool { return cmd == txn.CmdPrewrite && !txn.LocksPrimary(req) },
	"after-prewrite":          func(cmd kv.CommandID, req kv.Message) bool { return cmd == txn.CmdPrewrite },
	"after-commit-of-primary": func(cmd kv.CommandID, req kv.Message) bool { return cmd == txn.CmdPrewrite || cmd == txn.CmdCommit },
}

func TestHistory(t *testing.T) {
	datadriven.Walk(t, "testdata/history", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) { // for waits that take the same time each time, namely none
			h := &historyScript{t: t}
			h.reset(1, false)
			defer h.close()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				out := h.run(d)
				h.settle()
				if cells := h.cells(); cells != h.last {
					h.last = cells
					out += cells
				}
				return out
			})
		})
	})
}

func (h *historyScript) reset(next kv.Timestamp, oneShard bool) {
	h.close()
	o := kvtest.Options{Shards: 3, Splits: []kv.RowKey{col("i").Row, col("q").Row}, Crash: true, Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})}}
	if oneShard {
		o.Shards = 1
	}
	h.mem, h.clock = kvtest.NewMem(o), txntest.NewManual(0)
	h.last = ""
	h.txns, h.owner = map[string]*txn.Txn{}, map[string]*mortal{}
	h.newClient()
	h.seed()
	h.clock.Set(next)
}

// seed keeps the scripts' timestamps to what the paper's transactions take.
func (h *historyScript) seed() {
	if err := txn.SeedAll(context.Background(), h.c, []kv.RowKey{col("a").Row, col("j").Row, col("r").Row}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *historyScript) newClient() {
	c, err := txn.NewClient(h.mem, h.clock, txn.Options{LockWait: 5 * time.Millisecond, RetryTime: 20 * time.Millisecond, NoAsyncCommit: !h.async})
	if err != nil {
		h.t.Fatal(err)
	}
	h.c = c
}

func (h *historyScript) close() {
	if h.c == nil {
		return
	}
	for _, c := range append(h.trash, h.c) {
		c.Close()
	}
	h.trash = nil
	h.mem.Close()
}

func arg(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func number(d *datadriven.TestData, name string) (n int) {
	fmt.Sscan(arg(d, name), &n)
	return n
}

func (h *historyScript) run(d *datadriven.TestData) string {
	ctx, key, tx := context.Background(), col(arg(d, "key")), h.txns[arg(d, "txn")]
	switch d.Cmd {
	case "new":
		h.async = d.HasArg("async")
		h.reset(kv.Timestamp(max(1, number(d, "next"))), d.HasArg("one-shard"))
		return ""
	case "begin":
		return h.begin(arg(d, "txn"))
	case "advance":
		h.clock.Advance(time.Duration(number(d, "ms")) * time.Millisecond)
		return ""
	case "sweep":
		n, err := h.c.ResolveOrphans(ctx, 0)
		if err != nil {
			return errString(err)
		}
		return fmt.Sprintf("resolved %d\n", n)
	case "restart":
		h.mem.Restart(kv.ShardID(number(d, "shard")))
		h.seed()
		return ""
	case "split":
		h.mem.Split(key.Row)
		return ""
	case "move":
		h.mem.Move(key.Row, kv.ShardID(number(d, "shard")))
		return ""
	}
	if tx == nil {
		d.Fatalf(h.t, "%s: no transaction %q", d.Cmd, arg(d, "txn"))
	}
	switch d.Cmd {
	case "get":
		v, ok, err := tx.Get(ctx, key)
		if err == nil && !ok {
			return "no value\n"
		}
		if err != nil {
			return errString(err)
		}
		return string(v) + "\n"
	case "scan":
		s := tx.Scan(ctx, txn.ScanOptions{Reverse: d.HasArg("reverse")})
		var out []string
		for s.Next() {
			out = append(out, fmt.Sprintf("%s=%s", s.Column().Row.Row(), s.Value()))
		}
		if s.Err() != nil {
			return errString(s.Err())
		}
		return strings.Join(out, " ") + "\n"
	case "commit":
		return h.commit(d, tx)
	}
	h.write(d, tx, key)
	return ""
}

func (h *historyScript) begin(name string) string {
	m := &mortal{Store: h.mem}
	c, err := txn.NewClient(m, h.clock, txn.Options{LockWait: 5 * time.Millisecond, RetryTime: 20 * time.Millisecond, NoAsyncCommit: !h.async})
	if err != nil {
		h.t.Fatal(err)
	}
	h.trash = append(h.trash, c)
	tx := c.Begin(txn.TxnOptions{Autocommit: true})
	ts, err := tx.StartTS(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	h.txns[name], h.owner[name] = tx, m
	return fmt.Sprintf("start_ts %v\n", ts)
}

func (h *historyScript) write(d *datadriven.TestData, tx *txn.Txn, key kv.Column) {
	var o txn.WriteOptions
	if n := number(d, "observer"); n > 0 {
		o.Observers = []uint32{uint32(n)}
	}
	switch d.Cmd {
	case "put":
		tx.Put(key, []byte(arg(d, "value")), o)
	case "insert":
		o.MustNotExist = true
		tx.Put(key, []byte(arg(d, "value")), o)
	case "delete":
		tx.Delete(key, o)
	case "lock":
		tx.LockForUpdate(key)
	case "require":
		tx.Require(key)
	case "rollback":
		tx.Rollback()
	default:
		d.Fatalf(h.t, "unknown command %q", d.Cmd)
	}
}

func (h *historyScript) commit(d *datadriven.TestData, tx *txn.Txn) string {
	m := h.owner[arg(d, "txn")]
	if point := arg(d, "crash"); point != "" {
		m.allow = crashes[point]
		if m.allow == nil {
			d.Fatalf(h.t, "no crash point %q", point)
		}
	}
	m.lose = arg(d, "lose")
	ts, err := tx.Commit(context.Background())
	h.settle()
	if m.allow != nil {
		return "crashed\n" // whatever it was told, nobody heard it
	}
	if err != nil {
		return errString(err)
	}
	return fmt.Sprintf("commit_ts %v\n", ts)
}

// settle lets background commits end, so that the cells are at rest.
func (h *historyScript) settle() { synctest.Wait() }

func errString(err error) string { return err.Error() + "\n" }

func (h *historyScript) cells() string {
	var lines []string
	shards, _ := h.mem.Shards(context.Background())
	for _, id := range shards {
		cells, err := txn.DumpCells(h.mem.Reader(id))
		if err != nil {
			h.t.Fatal(err)
		}
		for c, vs := range cells {
			lines = append(lines, fmt.Sprintf("  %-8s%s", c, strings.Join(vs, "  ")))
		}
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
