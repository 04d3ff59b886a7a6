package bigtable_test

import (
	"bytes"
	"testing"

	"moka/kv"
	"moka/kv/bigtable"
)

// FuzzDecode: junk is refused without a panic; what is accepted has one form only, up to the first encoding.
func FuzzDecode(f *testing.F) {
	cs := bigtable.New(nil).Commands()
	add := func(id kv.CommandID, response bool, m kv.Message) {
		f.Add(uint16(id), response, m.AppendTo(nil))
	}
	add(bigtable.CommandLookup, false, &bigtable.LookupRequest{Row: kv.RowKey("abc"), Limit: 3})
	add(bigtable.CommandLookup, true, &bigtable.LookupResponse{Tablets: []kv.Tablet{{ID: 1, Generation: 2, Span: kv.Span{Start: kv.RowKey("a")}, Shard: 3, Node: 4}}})
	add(bigtable.CommandCreateTable, false, &bigtable.CreateTableRequest{Table: webtable})
	add(bigtable.CommandCreateTable, true, &bigtable.TablesResponse{Tables: []bigtable.Table{webtable}})
	add(bigtable.CommandReadRow, false, &bigtable.ReadRowRequest{Row: kv.RowKey("abcd"), Filter: bigtable.Filter{Families: []string{"f"}, Qualifiers: [][]byte{{1}}, HasValue: true}})
	add(bigtable.CommandReadRows, true, &bigtable.ReadRowsResponse{Rows: []bigtable.Row{{Key: kv.RowKey("abcd"), Cells: []bigtable.Cell{{Family: "f", Value: []byte("v")}}}}, More: true})
	add(bigtable.CommandMutateRows, false, &bigtable.MutateRowsRequest{Entries: []bigtable.RowMutations{{Row: kv.RowKey("abcd"), Mutations: []bigtable.Mutation{set("f", "q", 1, "v")}}}})
	add(bigtable.CommandReadModifyWriteRow, false, &bigtable.ReadModifyWriteRowRequest{Row: kv.RowKey("abcd"), Rules: []bigtable.Rule{{Family: "f", Counter: true, Add: -1}}})
	add(bigtable.CommandAdmin, true, &bigtable.AdminResponse{Tablets: []bigtable.TabletSize{{Bytes: 7}}})
	add(bigtable.CommandUpdateMeta, false, &bigtable.UpdateMetaRequest{Gone: []kv.RowKey{nil}, Now: []kv.Tablet{{ID: 1}}, Cleared: []kv.TableID{5}})
	f.Fuzz(func(t *testing.T, id uint16, response bool, b []byte) {
		for _, c := range cs {
			if c.ID != kv.CommandID(id) {
				continue
			}
			m, again := c.NewRequest(), c.NewRequest()
			if response {
				m, again = c.NewResponse(), c.NewResponse()
			}
			if m.Decode(b) != nil {
				return
			}
			first := m.AppendTo(nil)
			if err := again.Decode(first); err != nil {
				t.Fatalf("what was encoded does not decode: %v", err)
			}
			if !bytes.Equal(again.AppendTo(nil), first) {
				t.Fatalf("two forms of one message")
			}
		}
	})
}
