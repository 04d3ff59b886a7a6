package node_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/node"
)

// model is a dumb copy of what a node should hold.
type model map[string]op // by the text of address and timestamp

func (m model) key(o op) string {
	return fmt.Sprintf("%03d %010d %x %03d %x %020d", o.Addr.Group, o.Addr.Run, []byte(o.Addr.Row), o.Addr.Family, o.Addr.Qualifier, uint64(kv.MaxTimestamp)-uint64(o.TS))
}

func (m model) apply(ops []op) {
	for _, o := range ops {
		if o.Delete {
			delete(m, m.key(o))
		} else {
			m[m.key(o)] = o
		}
	}
}

// within lists what an iteration must return, in order.
func (m model) within(o kv.IterOptions) []op {
	var cells []op
	for _, c := range m {
		if c.Addr.Group == o.Group && c.Addr.Run == o.Run && o.Span.Contains(c.Addr.Row) && (o.Max == 0 || c.TS <= o.Max) {
			cells = append(cells, c)
		}
	}
	column := func(a, b op) int {
		if c := bytes.Compare(a.Addr.Row, b.Addr.Row); c != 0 {
			return c
		}
		if c := int(a.Addr.Family) - int(b.Addr.Family); c != 0 {
			return c
		}
		return bytes.Compare(a.Addr.Qualifier, b.Addr.Qualifier)
	}
	slices.SortFunc(cells, func(a, b op) int {
		c := column(a, b)
		if o.Reverse {
			c = -c
		}
		if c == 0 {
			c = int(int64(b.TS) - int64(a.TS))
		}
		return c
	})
	return cells
}

func sameCells(a, b []op) bool {
	return slices.EqualFunc(a, b, func(x, y op) bool {
		return x.Addr.Group == y.Addr.Group && x.Addr.Run == y.Addr.Run && bytes.Equal(x.Addr.Row, y.Addr.Row) && x.Addr.Family == y.Addr.Family &&
			bytes.Equal(x.Addr.Qualifier, y.Addr.Qualifier) && x.TS == y.TS && bytes.Equal(x.Value, y.Value)
	})
}

// world drives a node and its model side by side.
type world struct {
	t   testing.TB
	r   *rand.Rand
	n   *node.Node
	m   model
	ctx context.Context
}

func (w *world) row() kv.RowKey {
	// Few rows, with zero bytes and prefixes of each other among them.
	alphabet := []byte{0, 1, 'a', 0xff}
	row := make([]byte, w.r.IntN(4))
	for i := range row {
		row[i] = alphabet[w.r.IntN(len(alphabet))]
	}
	return kv.MakeRowKey(kv.TableTxn, row)
}

func (w *world) op(row kv.RowKey) op {
	o := op{Addr: kv.Address{Group: groupDisk, Column: kv.Column{Row: row, Family: kv.FamilyID(w.r.IntN(2)), Qualifier: []byte{0, 'q'}[:w.r.IntN(3)]}}}
	if w.r.IntN(2) == 0 {
		o.Addr.Group = groupMem
	}
	if w.r.IntN(3) == 0 {
		o.Addr.Run = []uint32{1, 7, 1<<32 - 1}[w.r.IntN(3)]
	}
	o.TS = kv.Timestamp(w.r.IntN(5))
	if w.r.IntN(20) == 0 {
		o.TS = kv.MaxTimestamp
	}
	if w.r.IntN(3) == 0 {
		o.Delete = true
	} else {
		o.Value = fmt.Appendf(nil, "%d", w.r.IntN(1000))
	}
	return o
}

func (w *world) locate(row kv.RowKey) kv.Tablet {
	w.t.Helper()
	resp, err := w.n.Handle(w.ctx, node.MetaShard, nil, bigtable.CommandLookup, &bigtable.LookupRequest{Row: row})
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.(*bigtable.LookupResponse).Tablets[0]
}

func (w *world) write() {
	t := w.locate(w.row())
	var ops []op
	for range 1 + w.r.IntN(6) {
		if row := w.row(); t.Span.Contains(row) {
			ops = append(ops, w.op(row))
		}
	}
	if len(ops) == 0 {
		return
	}
	if err := write(w.ctx, w.n, t.Shard, []kv.TabletRef{{ID: t.ID, Generation: t.Generation}}, ops...); err != nil {
		w.t.Fatal(err)
	}
	w.m.apply(ops)
}

// check compares a random iteration over every tablet with the model.
func (w *world) check() {
	w.t.Helper()
	o := kv.IterOptions{Group: groupDisk, Reverse: w.r.IntN(2) == 0, Max: kv.Timestamp(w.r.IntN(6))}
	if w.r.IntN(2) == 0 {
		o.Group = groupMem
	}
	if w.r.IntN(2) == 0 {
		o.Run = []uint32{1, 7, 1<<32 - 1}[w.r.IntN(3)]
	}
	for _, t := range w.n.Tablets() {
		o.Span = t.Span
		resp, err := w.n.Handle(w.ctx, t.Shard, []kv.TabletRef{{ID: t.ID, Generation: t.Generation}}, cmdRead, &readRequest{Opt: o})
		if err != nil {
			w.t.Fatal(err)
		}
		if got, want := resp.(*readResponse).Cells, w.m.within(o); !sameCells(got, want) {
			w.t.Fatalf("%+v of tablet %d:\n got %v\nwant %v", o, t.ID, got, want)
		}
		s, _ := w.n.Shard(t.Shard)
		w.checkPoints(s.Reader(), t)
	}
	w.checkMap()
}

func (w *world) checkPoints(r kv.Reader, t kv.Tablet) {
	w.t.Helper()
	for range 3 {
		o := w.op(w.row())
		if !t.Span.Contains(o.Addr.Row) {
			continue
		}
		want, has := w.m[w.m.key(o)]
		v, ok, err := r.Get(o.Addr, o.TS)
		if err != nil || ok != has || ok && !bytes.Equal(v, want.Value) {
			w.t.Fatalf("Get(%v, %d) = %q %v %v, want %q %v", o.Addr, o.TS, v, ok, err, want.Value, has)
		}
		var best *op
		for _, c := range w.m.within(kv.IterOptions{Group: o.Addr.Group, Run: o.Addr.Run, Max: o.TS, Span: kv.Span{Start: o.Addr.Row, End: append(bytes.Clone(o.Addr.Row), 0)}}) {
			if c.Addr.Family == o.Addr.Family && bytes.Equal(c.Addr.Qualifier, o.Addr.Qualifier) && c.TS <= o.TS {
				best = &c
				break
			}
		}
		l, ok, err := r.Latest(o.Addr, o.TS)
		if err != nil || ok != (best != nil) || ok && (l.Timestamp != best.TS || !bytes.Equal(l.Value, best.Value)) {
			w.t.Fatalf("Latest(%v, %d) = %v %v %v, want %v", o.Addr, o.TS, l, ok, err, best)
		}
	}
}

// checkMap sees that the tablets cover the key space without gap or overlap, and that METADATA says the same.
func (w *world) checkMap() {
	w.t.Helper()
	var at kv.RowKey
	ts := w.n.Tablets()
	for i, t := range ts {
		if !bytes.Equal(t.Span.Start, at) || (len(t.Span.End) == 0) != (i == len(ts)-1) {
			w.t.Fatalf("the tablets do not fit together: %v", ts)
		}
		at = t.Span.End
	}
	s, _ := w.n.Shard(node.MetaShard)
	for i := range ts {
		ts[i].Node = 0 // METADATA does not say who leads
	}
	meta, err := bigtable.AllTablets(s.Reader())
	if err != nil || fmt.Sprint(meta) != fmt.Sprint(ts) {
		w.t.Fatalf("METADATA (%v):\n%v\nshards:\n%v", err, meta, ts)
	}
}

func (w *world) restructure() {
	ts := w.n.Tablets()
	t := ts[1+w.r.IntN(len(ts)-1)]
	switch w.r.IntN(3) {
	case 0:
		row := w.row()
		if at := w.locate(row); !bytes.Equal(at.Span.Start, row) {
			if _, _, err := w.n.Split(w.ctx, row); err != nil {
				w.t.Fatal(err)
			}
		}
	case 1:
		if i := slices.IndexFunc(ts, func(x kv.Tablet) bool { return x.ID == t.ID }); i+1 < len(ts) && ts[i+1].Shard == t.Shard {
			if _, err := w.n.Merge(w.ctx, t.ID); err != nil {
				w.t.Fatal(err)
			}
		}
	case 2:
		to := kv.ShardID(1 + w.r.IntN(3))
		if to != t.Shard {
			if _, err := w.n.Move(w.ctx, t.ID, to); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// A node does what a map does, through splits, merges, moves, flushes and restarts.
func TestModel(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			fs := vfs.NewMem()
			o := node.Options{FS: fs, Shards: 3, BalanceEvery: -1, MemTableBytes: 256 << 10}
			w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), n: open(t, o), m: model{}, ctx: context.Background()}
			for i := range 1500 {
				switch x := w.r.IntN(100); {
				case x < 70:
					w.write()
				case x < 90:
					w.check()
				case x < 98:
					w.restructure()
				case i%3 == 0:
					closeNode(t, w.n)
					w.n = open(t, o)
				default:
					if err := w.n.Flush(w.ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.check()
			closeNode(t, w.n)
		})
	}
}
