package node

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/keys"
)

// Bigtable §6: "we can group together multiple column families into a locality group". A table with a page's contents, large, its
// language, small, a counter in memory, and the contents once more in a group of their own.
func localityTable(t *testing.T, n *Node, rows int) bigtable.Table {
	t.Helper()
	resp, err := n.Handle(t.Context(), MetaShard, nil, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: bigtable.Table{
		Name: "pages",
		LocalityGroups: []bigtable.LocalityGroup{
			{Name: "pages"}, {Name: "small"}, {Name: "memory", InMemory: true}, {Name: "quick", Compression: bigtable.CompressForSpeed},
		},
		Families: []bigtable.Family{
			{Name: "contents", LocalityGroup: "pages"}, {Name: "language", LocalityGroup: "small"},
			{Name: "hits", LocalityGroup: "memory"}, {Name: "copy", LocalityGroup: "quick"},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	table := resp.(*bigtable.TablesResponse).Tables[0]
	words := strings.Fields("the quick brown fox jumps over the lazy dog while row keys and column families are being stored in blocks of tables")
	rng := rand.New(rand.NewPCG(1, 2))
	page := func() []byte {
		var b strings.Builder
		for range 120 {
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteByte(' ')
		}
		return []byte(b.String())
	}
	for from := 0; from < rows; from += 500 {
		req := &bigtable.MutateRowsRequest{}
		for i := from; i < min(rows, from+500); i++ {
			set := func(family string, value []byte) bigtable.Mutation {
				return bigtable.Mutation{Kind: bigtable.SetCell, Family: family, Timestamp: 1, Value: value}
			}
			req.Entries = append(req.Entries, bigtable.RowMutations{Row: localityRow(&table, i), Mutations: []bigtable.Mutation{
				set("contents", page()), set("copy", page()), set("language", []byte("en")), set("hits", []byte("1")),
			}})
		}
		if _, err := n.Handle(t.Context(), 1, nil, bigtable.CommandMutateRows, req); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func localityRow(t *bigtable.Table, i int) kv.RowKey {
	return kv.MakeRowKey(t.ID, binary.BigEndian.AppendUint32(nil, uint32(i)))
}

// blocksRead scans a family of all rows and returns how many blocks Pebble looked at for it.
func blocksRead(t *testing.T, n *Node, table *bigtable.Table, family string, rows int) int64 {
	t.Helper()
	before := n.Stats().Engine
	found, span := 0, table.Span()
	for more := true; more; {
		resp, err := n.Handle(t.Context(), 1, nil, bigtable.CommandReadRows, &bigtable.ReadRowsRequest{Spans: []kv.Span{span}, Filter: bigtable.Filter{Families: []string{family}}})
		if err != nil {
			t.Fatal(err)
		}
		r := resp.(*bigtable.ReadRowsResponse)
		found += len(r.Rows)
		more, span.Start = r.More, r.Next
	}
	if found != rows {
		t.Fatalf("%d rows have the family %q, expected %d", found, family, rows)
	}
	after := n.Stats().Engine
	return after.CacheHits + after.CacheMisses - before.CacheHits - before.CacheMisses
}

// A group's scan touches no block of another group, and one of a group in memory touches no block at all: shown by Pebble's own counters.
func TestPaper_Bigtable6_LocalityGroups(t *testing.T) {
	const rows = 4000
	fs := vfs.NewMem()
	o := Options{Dir: "data", FS: fs, CacheBytes: 64 << 20, BalanceEvery: -1}
	n, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	table := localityTable(t, n, rows)
	if err := n.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err = Open(o); err != nil { // with an empty cache
		t.Fatal(err)
	}
	defer n.Close()

	memory := scanMemory(t, n, &table, rows)
	small := blocksRead(t, n, &table, "language", rows)
	pages := blocksRead(t, n, &table, "contents", rows)
	t.Logf("blocks looked at: memory %d, small %d, pages %d", memory, small, pages)
	if memory != 0 {
		t.Errorf("the scan of a group in memory looked at %d blocks of tables", memory)
	}
	// 4,000 pages of some 650 bytes are 80 blocks of 32 KiB; as many languages are one or two, and the way there.
	if small > 20 || pages < 60 {
		t.Errorf("scans looked at %d blocks of the small group and %d of the large", small, pages)
	}

	// Bigtable §6, Compression: "clients can control whether or not the SSTables for a locality group are compressed, and if so, which
	// compression format is used". The same kind of pages lie in a group compressed for size and in one for speed.
	size := func(name string) uint64 {
		i := slices.IndexFunc(table.LocalityGroups, func(g bigtable.LocalityGroup) bool { return g.Name == name })
		lower, upper := keys.GroupSpan(1, table.LocalityGroups[i].ID)
		b, err := n.engine.Size(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	forSize, forSpeed := size("pages"), size("quick")
	t.Logf("on disk: for size %d, for speed %d", forSize, forSpeed)
	if forSize == 0 || forSize*10 > forSpeed*8 {
		t.Errorf("%d bytes in the group compressed for size, %d in the one for speed", forSize, forSpeed)
	}
}

// scanMemory walks the group as the layers above do: notifications and locks lie in such a group.
func scanMemory(t *testing.T, n *Node, table *bigtable.Table, rows int) int64 {
	t.Helper()
	before := n.Stats().Engine
	h, _ := n.Shard(1)
	it, err := h.Reader().Iter(kv.IterOptions{Group: table.LocalityGroups[2].ID, Span: table.Span()})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for it.NextColumn() {
		found++
	}
	if err := it.Close(); err != nil || found != rows {
		t.Fatalf("%d of %d rows in memory, %v", found, rows, err)
	}
	after := n.Stats().Engine
	return after.CacheHits + after.CacheMisses - before.CacheHits - before.CacheMisses
}
