package node

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv/bigtable"
)

// The process may take what its in-memory groups hold on top of what its cache says: it is data. A limit below what lives makes a process that
// does nothing but collect garbage.
func TestMemoryLimitFollowsGroupsInMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	const base, rows, size = math.MaxInt64 / 4, 2000, 4000
	fs := vfs.NewMem()
	o := Options{Dir: "data", FS: fs, BalanceEvery: -1, MemoryLimit: base}
	n, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	table := localityTable(t, n, 10)
	for i := range rows {
		req := &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{Row: localityRow(&table, i), Mutations: []bigtable.Mutation{
			{Kind: bigtable.SetCell, Family: "hits", Value: make([]byte, size)},
		}}}
		if _, err := n.Handle(t.Context(), 1, nil, bigtable.CommandMutateRow, req); err != nil {
			t.Fatal(err)
		}
	}
	held := n.memoryBytes()
	if held < rows*size || held > rows*size*5/4 {
		t.Errorf("%d rows of %d bytes are estimated as %d", rows, size, held)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err = Open(o); err != nil { // which loads the group, and raises the limit before it returns
		t.Fatal(err)
	}
	defer n.Close()
	if raised := debug.SetMemoryLimit(-1) - base; raised < held || raised > 2*held {
		t.Errorf("the limit was raised by %d for %d bytes", raised, held)
	}
	l := raisedLimit{base: base, raised: held}
	l.follow(0)
	if got := debug.SetMemoryLimit(-1); got != base {
		t.Errorf("the limit without groups in memory is %d above its base", got-base)
	}
}
