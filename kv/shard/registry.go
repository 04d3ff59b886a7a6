package shard

import (
	"fmt"
	"slices"
	"sync/atomic"

	"moka/kv"
)

// Registry holds the coprocessors of a process, their commands and their locality groups.
type Registry struct {
	coprocessors []kv.Coprocessor
	commands     map[kv.CommandID]*Registered
	groups       []kv.GroupSpec
}

// Registered is a command and the coprocessor that brought it.
type Registered struct {
	kv.Command
	coprocessor int
}

// NewRegistry checks that the coprocessors do not contradict each other: their numbers are on the wire and on disk.
func NewRegistry(cs []kv.Coprocessor) (*Registry, error) {
	r := &Registry{coprocessors: cs, commands: map[kv.CommandID]*Registered{}}
	owner := map[kv.GroupID]string{}
	for i, c := range cs {
		for _, g := range c.Groups() {
			if other, taken := owner[g.ID]; taken {
				return nil, kv.Errorf(kv.CodeInvalidArgument, "shard.NewRegistry", "coprocessors %s and %s both declare locality group %d", other, c.Name(), g.ID)
			}
			owner[g.ID] = c.Name()
			r.groups = append(r.groups, g)
		}
		for _, cmd := range c.Commands() {
			if _, taken := r.commands[cmd.ID]; taken {
				return nil, kv.Errorf(kv.CodeInvalidArgument, "shard.NewRegistry", "command %d of coprocessor %s is taken", cmd.ID, c.Name())
			}
			if cmd.Evaluate == nil || cmd.NewRequest == nil || cmd.NewResponse == nil || cmd.Write && cmd.Rows == nil {
				return nil, kv.Errorf(kv.CodeInvalidArgument, "shard.NewRegistry", "command %s of coprocessor %s is incomplete", cmd.Name, c.Name())
			}
			r.commands[cmd.ID] = &Registered{Command: cmd, coprocessor: i}
		}
	}
	return r, nil
}

// Command finds a command by its number.
func (r *Registry) Command(id kv.CommandID) (*Registered, bool) {
	c, ok := r.commands[id]
	return c, ok
}

// Commands lists all commands by number.
func (r *Registry) Commands() []kv.Command {
	var cs []kv.Command
	for _, c := range r.commands {
		cs = append(cs, c.Command)
	}
	slices.SortFunc(cs, func(a, b kv.Command) int { return int(a.ID) - int(b.ID) })
	return cs
}

// Groups lists the locality groups.
func (r *Registry) Groups() []kv.GroupSpec { return slices.Clone(r.groups) }

type metrics struct {
	reads, writes, moved, refused, panics, proposals, bytes, stale atomic.Uint64
}

// Stats are a shard's figures since it was opened.
type Stats struct {
	Shard     kv.ShardID
	Tablets   int
	Reads     uint64 // read commands
	Writes    uint64 // write commands
	Moved     uint64 // commands refused because of where their tablets are
	Refused   uint64 // write commands refused because the shard was busy
	Panics    uint64
	Proposals uint64         // batches
	Bytes     uint64         // in batches
	InMemory  map[string]int // entries of each in-memory group
	Latches   int            // held now
	Stale     uint64         // entries for tablets of another form, without effect: zero, or a rule is broken
}

// Stats returns the figures.
func (s *Replica) Stats() Stats {
	st := Stats{
		Shard: s.id, Tablets: len(s.tablets.Load().list), Reads: s.metrics.reads.Load(), Writes: s.metrics.writes.Load(),
		Moved: s.metrics.moved.Load(), Refused: s.metrics.refused.Load(), Panics: s.metrics.panics.Load(), Proposals: s.metrics.proposals.Load(),
		Bytes: s.metrics.bytes.Load(), InMemory: map[string]int{}, Stale: s.metrics.stale.Load(),
	}
	if l := s.lead.Load(); l != nil {
		st.Latches = l.latches.Held()
	}
	for _, g := range s.registry.groups {
		if t := s.mem[g.ID]; t != nil {
			name := g.Name
			if name == "" {
				name = fmt.Sprint(g.ID)
			}
			st.InMemory[name] = t.Len()
		}
	}
	return st
}
