package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/node"
)

func open(t testing.TB, o node.Options) *node.Node {
	t.Helper()
	if o.FS == nil {
		o.FS = vfs.NewMem()
	}
	if o.Dir == "" {
		o.Dir = "data"
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 8 << 20
	}
	if o.Coprocessors == nil {
		o.Coprocessors = []kv.Coprocessor{scratch{}}
	}
	n, err := node.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func closeNode(t testing.TB, n *node.Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// A command's sets and deletes are there afterwards, in every group, also for another process.
func TestWriteReadRestart(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	n := open(t, node.Options{FS: fs, Shards: 2})
	for _, g := range []kv.GroupID{groupDisk, groupMem} {
		err := write(ctx, n, 1, nil,
			op{Addr: cell(g, "a", "q"), TS: 0, Value: []byte("a0")},
			op{Addr: cell(g, "a", "q"), TS: 5, Value: []byte("a5")},
			op{Addr: cell(g, "a", "q"), TS: 9, Value: []byte("a9")},
			op{Addr: cell(g, "a", "r"), TS: 9, Value: []byte("r9")},
			op{Addr: cell(g, "b", ""), TS: 7, Value: []byte("b7")},
			op{Addr: cell(g, "b", ""), TS: 8, Value: []byte("gone")},
			op{Addr: cell(g, "b", ""), TS: 8, Delete: true},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(n *node.Node) {
		t.Helper()
		s, _ := n.Shard(1)
		r := s.Reader()
		for _, g := range []kv.GroupID{groupDisk, groupMem} {
			for _, c := range []struct {
				max  kv.Timestamp
				want string
				ok   bool
			}{{0, "a0", true}, {4, "a0", true}, {5, "a5", true}, {8, "a5", true}, {kv.MaxTimestamp, "a9", true}, {1 << 63, "a9", true}} {
				v, ok, err := r.Latest(cell(g, "a", "q"), c.max)
				if err != nil || ok != c.ok || string(v.Value) != c.want {
					t.Fatalf("group %d: Latest(%d) = %q %v %v, want %q", g, c.max, v.Value, ok, err, c.want)
				}
			}
			if _, ok, err := r.Get(cell(g, "b", ""), 8); ok || err != nil {
				t.Fatalf("group %d: the deleted version is there (%v)", g, err)
			}
			for _, reverse := range []bool{false, true} {
				it, err := r.Iter(kv.IterOptions{Group: g, Span: kv.Span{Start: txnRow("a"), End: txnRow("c")}, Max: 8, Reverse: reverse})
				if err != nil {
					t.Fatal(err)
				}
				cells, err := collect(it, kv.Address{Group: g})
				if err != nil {
					t.Fatal(err)
				}
				var got string
				for _, c := range cells {
					got += string(c.Value) + " "
				}
				want := "a5 a0 b7 "
				if reverse {
					want = "b7 a5 a0 "
				}
				if got != want {
					t.Fatalf("group %d reverse %v: %q, want %q", g, reverse, got, want)
				}
			}
		}
		if got := s.InMemory(groupMem).Len(); got != 5 {
			t.Fatalf("%d entries in memory, want 5", got)
		}
	}
	check(n)
	closeNode(t, n)
	n = open(t, node.Options{FS: fs, Shards: 2})
	check(n)
	closeNode(t, n)
}

// METADATA finds the tablet of every row, and a stale generation is refused with the present one.
func TestLookupAndMoved(t *testing.T) {
	ctx := context.Background()
	n := open(t, node.Options{})
	defer closeNode(t, n)
	for _, row := range []kv.RowKey{nil, txnRow(""), txnRow("x"), kv.MakeRowKey(kv.TableTxn+1, nil), {0xff, 0xff, 0xff, 0xff, 0xff}} {
		resp, err := n.Handle(ctx, node.MetaShard, nil, bigtable.CommandLookup, &bigtable.LookupRequest{Row: row})
		if err != nil {
			t.Fatal(err)
		}
		ts := resp.(*bigtable.LookupResponse).Tablets
		if len(ts) != 1 || !ts[0].Span.Contains(row) {
			t.Fatalf("lookup of %x found %v", []byte(row), ts)
		}
	}
	tablet := n.Tablets()[1]
	o := op{Addr: cell(groupDisk, "a", ""), TS: 1, Value: []byte("v")}
	if err := write(ctx, n, 1, []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation}}, o); err != nil {
		t.Fatal(err)
	}
	err := write(ctx, n, 1, []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation + 1}}, o)
	var e *kv.Error
	if !errors.Is(err, kv.ErrMoved) || !errors.As(err, &e) || len(e.Tablets) != 1 || e.Tablets[0].ID != tablet.ID || e.Tablets[0].Generation != tablet.Generation {
		t.Fatalf("stale generation: %v", err)
	}
	other := n.Tablets()[0]
	if err := write(ctx, n, 1, []kv.TabletRef{{ID: other.ID, Generation: other.Generation}}, o); !errors.Is(err, kv.ErrMoved) {
		t.Fatalf("row outside of the tablets named: %v", err)
	}
}

// A shard that is not here may be elsewhere: the answer sends a client on, and is no verdict on whether there
// is such a shard.
func TestShardElsewhere(t *testing.T) {
	n := open(t, node.Options{Shards: 2})
	defer closeNode(t, n)
	err := write(t.Context(), n, 3, nil, op{Addr: cell(groupDisk, "a", "q"), Value: []byte("v")})
	var e *kv.Error
	if !errors.Is(err, kv.ErrNotLeader) || !errors.As(err, &e) || e.Lead != (kv.Lead{Shard: 3}) {
		t.Errorf("shard 3 of two: %v", err)
	}
	if err := write(t.Context(), n, 0, nil); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("shard 0: %v", err)
	}
}
