package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/node"
	"moka/kv/wire"
)

// raw is a raw table with one row, in a node of two shards.
type raw struct {
	t     *testing.T
	n     *node.Node
	row   kv.RowKey
	shard kv.ShardID
}

func openRaw(t *testing.T, fs vfs.FS) *raw {
	t.Helper()
	r := &raw{t: t, n: open(t, node.Options{FS: fs, Shards: 2, BalanceEvery: -1})}
	t.Cleanup(func() { _ = r.n.Close() })
	resp, err := r.n.Handle(t.Context(), node.MetaShard, nil, bigtable.CommandListTables, &bigtable.ListTablesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	tables := resp.(*bigtable.TablesResponse).Tables
	if len(tables) == 0 {
		resp, err := r.n.Handle(t.Context(), node.MetaShard, nil, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{
			Table: bigtable.Table{Name: "raw", Families: []bigtable.Family{{Name: "f"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		tables = resp.(*bigtable.TablesResponse).Tables
	}
	r.row = kv.MakeRowKey(tables[0].ID, []byte("row"))
	r.shard = r.tablet().Shard
	return r
}

func (r *raw) tablet() kv.Tablet {
	for _, tb := range r.n.Tablets() {
		if tb.Span.Contains(r.row) {
			return tb
		}
	}
	r.t.Fatal("no tablet")
	return kv.Tablet{}
}

// write sets the cell, at a time of its own if ts is zero.
func (r *raw) write(value string, ts kv.Timestamp) {
	r.t.Helper()
	_, err := r.n.Handle(context.Background(), r.tablet().Shard, nil, bigtable.CommandMutateRow, &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{
		Row: r.row, Mutations: []bigtable.Mutation{{Kind: bigtable.SetCell, Family: "f", Timestamp: ts, Value: []byte(value)}},
	}})
	if err != nil {
		r.t.Fatal(err)
	}
}

// wantNewest sees that the last write is what a reader finds.
func (r *raw) wantNewest(value string) {
	r.t.Helper()
	resp, err := r.n.Handle(context.Background(), r.tablet().Shard, nil, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: r.row})
	if err != nil {
		r.t.Fatal(err)
	}
	cells := resp.(*bigtable.ReadRowResponse).Row.Cells
	if len(cells) == 0 || string(cells[0].Value) != value {
		r.t.Errorf("the newest of %d versions is %q, written last was %q", len(cells), cells[0].Value, value)
	}
}

func later() kv.Timestamp { return kv.TimestampAt(time.Now().Add(time.Hour)) }

// A tablet brings along how far the clock has come where it was: a write there must not lie below what is
// stored.
func TestClockOfRawWritesMovesWithATablet(t *testing.T) {
	fs := vfs.NewMem()
	r := openRaw(t, fs)
	// Shard 2 gives timestamps already.
	other := *r
	other.row = kv.MakeRowKey(r.row.Table(), []byte("some other row"))
	if _, _, err := r.n.Split(t.Context(), other.row); err != nil {
		t.Fatal(err)
	}
	if _, err := r.n.Move(t.Context(), other.tablet().ID, 2); err != nil {
		t.Fatal(err)
	}
	other.write("at shard 2", 0)
	r.write("an hour ahead", later())
	if _, err := r.n.Move(t.Context(), r.tablet().ID, 2); err != nil {
		t.Fatal(err)
	}
	r.write("at shard 2", 0)
	r.wantNewest("at shard 2")
	if _, err := r.n.Move(t.Context(), r.tablet().ID, 1); err != nil {
		t.Fatal(err)
	}
	if err := r.n.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRaw(t, fs) // memory is gone
	r.write("back at shard 1", 0)
	r.wantNewest("back at shard 1")
}

// The clock is state of the shard. Whoever leads the shard next, with nothing but its state, begins above all
// that is stored. (It was kept under a key of the node: a leader elsewhere would have written below.)
func TestClockOfRawWritesIsReplicated(t *testing.T) {
	here, there := vfs.NewMem(), vfs.NewMem()
	r := openRaw(t, here)
	r.write("an hour ahead", later())
	if err := r.n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openRaw(t, there).n.Close(); err != nil { // a node of the same kind, with a clock of its own
		t.Fatal(err)
	}
	rawKeys(t, here, func(from *engine.Engine) {
		rawKeys(t, there, func(to *engine.Engine) {
			lower, upper := keys.ShardSpan(1)
			b := to.NewBatch()
			defer b.Close()
			if err := to.Scan(lower, upper, func(k, _ []byte) error { return b.Delete(k, nil) }); err != nil {
				t.Fatal(err)
			}
			if err := from.Scan(lower, upper, func(k, v []byte) error { return b.Set(k, v, nil) }); err != nil {
				t.Fatal(err)
			}
			to.Commit(b)
		})
	})
	r = openRaw(t, there)
	r.write("by the next leader", 0)
	r.wantNewest("by the next leader")
}

func rawKeys(t *testing.T, fs vfs.FS, f func(e *engine.Engine)) {
	t.Helper()
	e, err := engine.Open("data", engine.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	f(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// A directory in which the node has the clock still opens, and nothing is written below what is there;
// neither where the tablet is, nor where it goes.
func TestClockOfRawWritesOfAnOldDirectory(t *testing.T) {
	fs := vfs.NewMem()
	r := openRaw(t, fs)
	r.write("an hour ahead", later())
	if err := r.n.Close(); err != nil {
		t.Fatal(err)
	}
	old := keys.AppendNode(nil, keys.NodeClock, nil)
	rawKeys(t, fs, func(e *engine.Engine) {
		b := e.NewBatch()
		defer b.Close()
		for _, id := range []kv.ShardID{1, 2} {
			if err := b.Delete(keys.AppendState(nil, id, keys.StateClock, 0), nil); err != nil {
				t.Fatal(err)
			}
		}
		v := wire.AppendUvarint([]byte{1}, uint64(kv.TimestampAt(time.Now())))
		if err := b.Set(old, wire.AppendUvarint(v, uint64(later()+kv.NewTimestamp(1000, 0))), nil); err != nil {
			t.Fatal(err)
		}
		e.Commit(b)
	})
	r = openRaw(t, fs)
	r.write("by this release", 0)
	r.wantNewest("by this release")
	if err := r.n.Close(); err != nil {
		t.Fatal(err)
	}
	rawKeys(t, fs, func(e *engine.Engine) {
		if _, ok, err := e.Get(old); ok || err != nil {
			t.Errorf("the node's clock is still there: %v", err)
		}
	})
	r = openRaw(t, fs)
	if _, err := r.n.Move(t.Context(), r.tablet().ID, 2); err != nil {
		t.Fatal(err)
	}
	r.write("at shard 2", 0)
	r.wantNewest("at shard 2")
}
