package bigtable

import (
	"fmt"

	"moka/kv"
)

// Coprocessor is the store's own: METADATA and the Bigtable operations on rows. Every node has one, which all its shards share.
type Coprocessor struct {
	tables tables
	admin  Admin
}

// New returns the store's coprocessor. admin makes structural changes on request; nil refuses them.
func New(admin Admin) *Coprocessor { return &Coprocessor{admin: admin} }

// state is what it keeps for each shard.
type state struct{ clock clock }

// ReceiveTablet implements kv.TabletReceiver.
func (st *state) ReceiveTablet(kv.Tablet, any) { st.clock.reload() }

var _ kv.Coprocessor = (*Coprocessor)(nil)

// Name implements kv.Coprocessor.
func (*Coprocessor) Name() string { return "store" }

// Groups implements kv.Coprocessor: one for METADATA, and a fixed set that CreateTable deals out.
func (*Coprocessor) Groups() []kv.GroupSpec {
	gs := []kv.GroupSpec{{ID: GroupMeta, Name: "meta"}}
	for g := groupDisk0; g < groupBeyond; g++ {
		switch {
		case g < groupFast0:
			gs = append(gs, kv.GroupSpec{ID: g, Name: fmt.Sprintf("disk%d", g-groupDisk0)})
		case g < groupMem0:
			gs = append(gs, kv.GroupSpec{ID: g, Name: fmt.Sprintf("fast%d", g-groupFast0)})
		default:
			gs = append(gs, kv.GroupSpec{ID: g, Name: fmt.Sprintf("memory%d", g-groupMem0), InMemory: true})
		}
	}
	return gs
}

// GroupsCompressedForSize returns the first group that is and the first behind that is not.
func GroupsCompressedForSize() (first, behind kv.GroupID) { return groupDisk0, groupFast0 }

// CompressedForSize reports whether a group's blocks are compressed for size rather than for speed.
func CompressedForSize(g kv.GroupID) bool { return g >= groupDisk0 && g < groupFast0 }

// OpenShard implements kv.Coprocessor. If the shard is a ClockStore, writes without timestamps need not read.
func (c *Coprocessor) OpenShard(s kv.ShardHandle) (any, error) {
	st := &state{}
	st.clock.store, _ = s.(ClockStore)
	for _, t := range s.Tablets() {
		if t.Span.Contains(MetaSpan.Start) {
			return st, c.load(s.Reader())
		}
	}
	return st, nil
}

// Commands implements kv.Coprocessor.
func (c *Coprocessor) Commands() []kv.Command {
	none := func() kv.Message { return new(Empty) }
	tables := func() kv.Message { return new(TablesResponse) }
	return []kv.Command{
		{
			ID: CommandLookup, Name: "store.Lookup", Evaluate: evaluateLookup,
			NewRequest:  func() kv.Message { return new(LookupRequest) },
			NewResponse: func() kv.Message { return new(LookupResponse) },
		},
		{
			ID: CommandUpdateMeta, Name: "store.UpdateMeta", Write: true, Rows: updateMetaRows, Evaluate: evaluateUpdateMeta,
			NewRequest: func() kv.Message { return new(UpdateMetaRequest) }, NewResponse: none,
		},
		{
			ID: CommandCreateTable, Name: "store.CreateTable", Write: true, Evaluate: c.createTable,
			NewRequest: func() kv.Message { return new(CreateTableRequest) }, NewResponse: tables,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, schemaOf(req.(*CreateTableRequest).Table.Name).Row, nextTable().Row)
			},
		},
		{
			// It also latches the row of numbers, which makes changes of the set of tables come one at a time.
			ID: CommandDropTable, Name: "store.DropTable", Write: true, Evaluate: c.dropTable,
			NewRequest: func() kv.Message { return new(DropTableRequest) }, NewResponse: tables,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, schemaOf(req.(*DropTableRequest).Name).Row, nextTable().Row)
			},
		},
		{
			ID: CommandListTables, Name: "store.ListTables", Evaluate: c.listTables,
			NewRequest: func() kv.Message { return new(ListTablesRequest) }, NewResponse: tables,
		},
		{
			ID: CommandReadRow, Name: "store.ReadRow", Evaluate: c.readRow,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*ReadRowRequest).Row)
			},
			NewRequest:  func() kv.Message { return new(ReadRowRequest) },
			NewResponse: func() kv.Message { return new(ReadRowResponse) },
		},
		{
			ID: CommandReadRows, Name: "store.ReadRows", Evaluate: c.readRows,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				for _, s := range req.(*ReadRowsRequest).Spans {
					rows = append(rows, s.Start)
				}
				return rows
			},
			NewRequest:  func() kv.Message { return new(ReadRowsRequest) },
			NewResponse: func() kv.Message { return new(ReadRowsResponse) },
		},
		{
			ID: CommandMutateRow, Name: "store.MutateRow", Write: true,
			NewRequest: func() kv.Message { return new(MutateRowRequest) }, NewResponse: none,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*MutateRowRequest).Row)
			},
			Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
				m := req.(*MutateRowRequest)
				return &Empty{}, c.mutateRow(e, m.Row, m.Mutations)
			},
		},
		{
			ID: CommandMutateRows, Name: "store.MutateRows", Write: true, Evaluate: c.mutateRows,
			NewRequest: func() kv.Message { return new(MutateRowsRequest) }, NewResponse: none,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				for _, e := range req.(*MutateRowsRequest).Entries {
					rows = append(rows, e.Row)
				}
				return rows
			},
		},
		{
			ID: CommandCheckAndMutateRow, Name: "store.CheckAndMutateRow", Write: true, Evaluate: c.checkAndMutateRow,
			NewRequest:  func() kv.Message { return new(CheckAndMutateRowRequest) },
			NewResponse: func() kv.Message { return new(CheckAndMutateRowResponse) },
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*CheckAndMutateRowRequest).Row)
			},
		},
		{
			ID: CommandReadModifyWriteRow, Name: "store.ReadModifyWriteRow", Write: true, Evaluate: c.readModifyWriteRow,
			NewRequest:  func() kv.Message { return new(ReadModifyWriteRowRequest) },
			NewResponse: func() kv.Message { return new(ReadModifyWriteRowResponse) },
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*ReadModifyWriteRowRequest).Row)
			},
		},
		{
			// The sweep looks for garbage in the rows that it is told; see gc.go.
			ID: CommandSweep, Name: "store.Sweep", Write: true, Evaluate: c.sweep,
			NewRequest: func() kv.Message { return new(SweepRequest) }, NewResponse: none,
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*SweepRequest).Rows...)
			},
		},
		{
			ID: CommandAdmin, Name: "store.Admin", Evaluate: c.evaluateAdmin,
			NewRequest:  func() kv.Message { return new(AdminRequest) },
			NewResponse: func() kv.Message { return new(AdminResponse) },
		},
	}
}
