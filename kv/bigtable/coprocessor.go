package bigtable

import (
	"moka/kv"
)

// Coprocessor is the store's own: METADATA and the Bigtable operations on rows. Every node has it.
type Coprocessor struct{}

// New returns the store's coprocessor.
func New() *Coprocessor { return &Coprocessor{} }

var _ kv.Coprocessor = (*Coprocessor)(nil)

// Name implements kv.Coprocessor.
func (*Coprocessor) Name() string { return "store" }

// Groups implements kv.Coprocessor.
func (*Coprocessor) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{{ID: GroupMeta, Name: "meta"}}
}

// OpenShard implements kv.Coprocessor.
func (c *Coprocessor) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }

// Commands implements kv.Coprocessor.
func (c *Coprocessor) Commands() []kv.Command {
	return []kv.Command{
		{
			ID: CommandLookup, Name: "store.Lookup",
			NewRequest:  func() kv.Message { return new(LookupRequest) },
			NewResponse: func() kv.Message { return new(LookupResponse) },
			Evaluate:    evaluateLookup,
		},
		{
			ID: CommandUpdateMeta, Name: "store.UpdateMeta", Write: true,
			NewRequest:  func() kv.Message { return new(UpdateMetaRequest) },
			NewResponse: func() kv.Message { return new(Empty) },
			Rows:        updateMetaRows,
			Evaluate:    evaluateUpdateMeta,
		},
	}
}
