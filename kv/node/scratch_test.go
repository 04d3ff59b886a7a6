package node_test

import (
	"context"
	"encoding/json"

	"moka/kv"
	"moka/kv/shard"
)

// The tests' coprocessor: one write command that does whatever ops it is told, one read command that reads a span. Groups: 200 on
// disk, 201 in memory.
const (
	groupDisk kv.GroupID = 200
	groupMem  kv.GroupID = 201

	cmdWrite kv.CommandID = 120
	cmdRead  kv.CommandID = 121
	cmdFunc  kv.CommandID = 122
)

type op struct {
	Addr   kv.Address
	TS     kv.Timestamp
	Value  []byte
	Delete bool
}

// jsonMessage makes a message of anything; the tests do not care for its form.
type jsonMessage struct{ v any }

func (m *jsonMessage) AppendTo(b []byte) []byte { x, _ := json.Marshal(m.v); return append(b, x...) }
func (m *jsonMessage) Decode(b []byte) error    { return json.Unmarshal(b, m.v) }

type writeRequest struct {
	jsonMessage
	Ops    []op
	NoSync bool
}

type readRequest struct {
	jsonMessage
	Opt   kv.IterOptions
	Await bool
}

type readResponse struct {
	jsonMessage
	Cells []op
}

// funcRequest runs code in the test.
type funcRequest struct {
	jsonMessage
	Rows []kv.RowKey
	F    func(e kv.Eval) (kv.Message, error)
}

type scratch struct{ opened func(kv.ShardHandle) }

func (scratch) Name() string { return "scratch" }
func (scratch) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{{ID: groupDisk, Name: "disk"}, {ID: groupMem, Name: "mem", InMemory: true}}
}
func (s scratch) OpenShard(h kv.ShardHandle) (any, error) {
	if s.opened != nil {
		s.opened(h)
	}
	return nil, nil
}

func (scratch) Commands() []kv.Command {
	return []kv.Command{
		{
			ID: cmdWrite, Name: "scratch.Write", Write: true,
			NewRequest:  func() kv.Message { return new(writeRequest) },
			NewResponse: func() kv.Message { return new(readResponse) },
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				for _, o := range req.(*writeRequest).Ops {
					rows = append(rows, o.Addr.Row)
				}
				return rows
			},
			Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
				m := req.(*writeRequest)
				if m.NoSync {
					e.NoSync()
				}
				for _, o := range m.Ops {
					if o.Delete {
						e.Delete(o.Addr, o.TS)
					} else {
						e.Set(o.Addr, o.TS, o.Value)
					}
				}
				return &readResponse{}, nil
			},
		},
		{
			ID: cmdRead, Name: "scratch.Read",
			NewRequest:  func() kv.Message { return new(readRequest) },
			NewResponse: func() kv.Message { return new(readResponse) },
			Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
				m := req.(*readRequest)
				it, err := e.Iter(m.Opt)
				if err != nil {
					return nil, err
				}
				cells, err := collect(it, kv.Address{Group: m.Opt.Group, Run: m.Opt.Run})
				if err == nil && m.Await {
					err = e.(shard.RawReader).AwaitSpan(m.Opt.Span)
				}
				return &readResponse{Cells: cells}, err
			},
		},
		{
			ID: cmdFunc, Name: "scratch.Func", Write: true,
			NewRequest:  func() kv.Message { return new(funcRequest) },
			NewResponse: func() kv.Message { return new(readResponse) },
			Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, req.(*funcRequest).Rows...)
			},
			Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) { return req.(*funcRequest).F(e) },
		},
	}
}

// collect copies everything that an iterator walks.
func collect(it kv.Iterator, at kv.Address) ([]op, error) {
	var cells []op
	for it.NextColumn() {
		for ok := true; ok; ok = it.NextVersion() {
			c, v := it.Column(), it.Version()
			at.Column = kv.Column{Row: append(kv.RowKey(nil), c.Row...), Family: c.Family, Qualifier: append([]byte(nil), c.Qualifier...)}
			cells = append(cells, op{Addr: at, TS: v.Timestamp, Value: append([]byte(nil), v.Value...)})
		}
	}
	return cells, it.Close()
}

func txnRow(s string) kv.RowKey { return kv.MakeRowKey(kv.TableTxn, []byte(s)) }

func cell(g kv.GroupID, row, qualifier string) kv.Address {
	return kv.Address{Group: g, Column: kv.Column{Row: txnRow(row), Family: 1, Qualifier: []byte(qualifier)}}
}

// write sends ops to the shard that serves the first of them.
func write(ctx context.Context, n interface {
	Handle(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error)
}, s kv.ShardID, refs []kv.TabletRef, ops ...op) error {
	_, err := n.Handle(ctx, s, refs, cmdWrite, &writeRequest{Ops: ops})
	return err
}
