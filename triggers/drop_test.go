package triggers

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// calls counts the commands that go to a store.
type calls struct {
	kv.Store
	of map[kv.CommandID]int
}

func (c *calls) Call(ctx context.Context, s kv.ShardID, t []kv.TabletRef, id kv.CommandID,
	m kv.Message) (kv.Message, error) {
	c.of[id]++
	return c.Store.Call(ctx, s, t, id, m)
}

// TestDropIsBatched: what a dropped observer had still to do is removed by some commands a thousand cells. It
// was one for each, and two walks of all that was left for each 512: 460,000 took more than a minute.
func TestDropIsBatched(t *testing.T) {
	const rows, columns = 1300, 3
	w := newWorld(t, kvtest.Options{Encode: true, Shards: 2, Splits: []kv.RowKey{col("0500").Row}})
	for from := 0; from < rows; from += 100 {
		tx := w.client.Begin(txn.TxnOptions{})
		for i := from; i < from+100; i++ {
			for j := range columns {
				c := col(fmt.Sprintf("%04d", i))
				c.Qualifier = fmt.Append(nil, j)
				tx.Put(c, []byte("v"), txn.WriteOptions{Observers: []ObserverID{1, 2}})
			}
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	first := w.first(t, 1)
	park := &settleRequest{Kind: settlePark, Observer: 1, Column: first, UpTo: kv.MaxTimestamp, Error: "no"}
	if err := sendSettle(t.Context(), w.mem, park); err != nil {
		t.Fatal(err)
	}
	s := &calls{w.mem, map[kv.CommandID]int{}}
	n, err := DropBefore(t.Context(), s, 1, col("0700").Row)
	if err != nil || n != 700*columns {
		t.Errorf("%d cells dropped, %v; want %d", n, err, 700*columns)
	}
	if next := w.first(t, 1); !bytes.Equal(next.Row, col("0700").Row) {
		t.Errorf("the first that is left is %v", next)
	}
	if err := Drop(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	const cells = rows * columns
	if all := s.of[commandBacklog] + s.of[commandDrop] + s.of[commandSettle]; all > 3*cells/dropLimit+10 {
		t.Errorf("%d commands for %d cells: %v", all, cells, s.of)
	}
	bs, err := Backlogs(t.Context(), w.mem)
	if err != nil || len(bs) != 1 || bs[0].Observer != 2 || bs[0].Waiting != cells {
		t.Errorf("left: %+v, %v", bs, err)
	}
	if fs, err := ListFailed(t.Context(), w.mem, 1); err != nil || len(fs) > 0 {
		t.Errorf("failed ones are left: %v, %v", fs, err)
	}
}

// first is the first cell that an observer has to look at.
func (w *world) first(t *testing.T, o ObserverID) (c kv.Column) {
	t.Helper()
	err := eachShard(t.Context(), w.mem, &backlogRequest{Observer: o, Limit: 1, List: listAll},
		func(r *backlogResponse) {
			if len(c.Row) == 0 && len(r.Items) > 0 {
				c = r.Items[0].Column
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
