package rpc

import (
	"context"
	"fmt"

	"moka/kv"
)

// Handler evaluates commands on the shards of this node. The message is the handler's to read, not to change; the response
// is the caller's.
type Handler interface {
	Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID, req kv.Message) (kv.Message, error)
}

// Commands finds a command by its number: what it takes, what it returns, whether it writes.
type Commands interface {
	Command(id kv.CommandID) (kv.Command, bool)
}

// Registry is a fixed set of commands. A process without storage builds one from the coprocessors it talks to.
type Registry struct{ byID map[kv.CommandID]kv.Command }

// NewRegistry collects the commands of coprocessors. Two commands of one number are an error.
func NewRegistry(coprocessors ...kv.Coprocessor) (*Registry, error) {
	r := &Registry{byID: make(map[kv.CommandID]kv.Command)}
	for _, cp := range coprocessors {
		for _, c := range cp.Commands() {
			if prev, ok := r.byID[c.ID]; ok {
				return nil, fmt.Errorf("command %d of coprocessor %s (%s) is taken by %s", c.ID, cp.Name(), c.Name, prev.Name)
			}
			if c.NewRequest == nil || c.NewResponse == nil {
				return nil, fmt.Errorf("command %d of coprocessor %s (%s) has no message types", c.ID, cp.Name(), c.Name)
			}
			r.byID[c.ID] = c
		}
	}
	return r, nil
}

// Command implements Commands.
func (r *Registry) Command(id kv.CommandID) (kv.Command, bool) {
	c, ok := r.byID[id]
	return c, ok
}
