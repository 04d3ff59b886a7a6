package node

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
)

// A tablet that is hot for several turns in a row is split where half of what is asked of it is on either side; a burst, a single hot row and
// METADATA are left alone.
func TestHotTabletIsSplit(t *testing.T) {
	const rows, perTurn = 1000, 2000
	n, err := Open(Options{Dir: "data", FS: vfs.NewMem(), BalanceEvery: -1, SplitRate: perTurn / 2})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	resp, err := n.Handle(t.Context(), MetaShard, nil, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: bigtable.Table{Name: "hot", Families: []bigtable.Family{{Name: "f"}}}})
	if err != nil {
		t.Fatal(err)
	}
	table := resp.(*bigtable.TablesResponse).Tables[0]
	row := func(i int) kv.RowKey { return kv.MakeRowKey(table.ID, binary.BigEndian.AppendUint32(nil, uint32(i))) }
	rng := rand.New(rand.NewPCG(4, 4))
	now := time.Unix(1000, 0)
	turn := func(requests int, next func() int) {
		t.Helper()
		for range requests {
			at := row(next())
			var err error
			if rng.IntN(4) == 0 {
				_, err = n.Handle(t.Context(), MetaShard, nil, bigtable.CommandMutateRow, &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{
					Row: at, Mutations: []bigtable.Mutation{{Kind: bigtable.SetCell, Family: "f", Timestamp: 1, Value: at}},
				}})
			} else {
				_, err = n.Handle(t.Context(), MetaShard, nil, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: at})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Second)
		if err := n.splitHot(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
	before := len(n.Tablets())
	same := func(what string) {
		t.Helper()
		if got := len(n.Tablets()); got != before {
			t.Fatalf("%s: %d tablets became %d", what, before, got)
		}
	}
	even := func() int { return 500 + rng.IntN(100) }
	turn(0, even) // the clock starts
	for range 3 {
		turn(perTurn, even)
		turn(perTurn, even)
		turn(perTurn/8, even)
	}
	same("bursts")
	for range 5 {
		turn(perTurn, func() int { return 3 })
	}
	same("one hot row")
	turn(0, even)
	for range hotTurns {
		turn(perTurn, even)
	}
	if len(n.Tablets()) != before+1 {
		t.Fatalf("a hot tablet was not split: %v", n.Tablets())
	}
	left, _ := n.find(row(500))
	right, _ := n.find(row(599))
	if left.ID == right.ID || !bytes.Equal(left.Span.End, right.Span.Start) {
		t.Fatalf("tablets %v and %v", left, right)
	}
	if at := binary.BigEndian.Uint32(left.Span.End.Row()); at < 520 || at > 580 {
		t.Errorf("rows 500 to 599 are hot, the split is at %d", at)
	}
	if all, err := bigtable.AllTablets(n.shard(MetaShard).Reader()); err != nil || len(all) != before+1 {
		t.Errorf("METADATA has %d tablets, %v", len(all), err)
	}
	before++
	turn(perTurn, even)
	turn(perTurn, even)
	same("halves have not been hot for long")
	for i := range rows {
		resp, err := n.Handle(t.Context(), MetaShard, nil, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: row(i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range resp.(*bigtable.ReadRowResponse).Row.Cells {
			if !bytes.Equal(c.Value, row(i)) {
				t.Errorf("row %d has another's value", i)
			}
		}
	}
}

// A negative rate turns it off: the same load is split with a positive one.
func TestHotTabletIsNotSplit(t *testing.T) {
	for rate, splits := range map[int]int{-1: 0, 1: 1} {
		n, err := Open(Options{Dir: "data", FS: vfs.NewMem(), BalanceEvery: -1, SplitRate: rate})
		if err != nil {
			t.Fatal(err)
		}
		table := localityTable(t, n, 1)
		before := len(n.Tablets())
		for turn := range 1 + hotTurns {
			for i := range 3000 {
				if _, err := n.Handle(t.Context(), MetaShard, nil, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: localityRow(&table, i)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := n.splitHot(t.Context(), time.Unix(int64(1000+turn), 0)); err != nil {
				t.Fatal(err)
			}
		}
		if got := len(n.Tablets()) - before; got != splits {
			t.Errorf("rate %d: %d splits, expected %d", rate, got, splits)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
