package kvtest

import (
	"context"
	"fmt"
	"io"
	"sync"

	"moka/kv"
)

// shard is one in-memory shard. It is its own kv.ShardHandle and, outside of commands, its own kv.Reader.
type shard struct {
	id      kv.ShardID
	m       *Mem
	latches latches

	mu     sync.Mutex // guards what follows
	groups map[kv.GroupID]*group
	states map[string]any // by coprocessor
	// opened counts restarts and changes of lead: a command that finds another number after its sync
	// was killed with the old process, or its leadership is over.
	opened int
	leads
	// synced and tail are the disk (Options.Crash): what survives, and batches that were applied but not synced.
	synced map[kv.GroupID]*group
	tail   [][]op
}

type op struct {
	group  kv.GroupID
	entry  *entry
	delete bool
}

func (s *shard) ID() kv.ShardID                    { return s.id }
func (s *shard) Tablets() []kv.Tablet              { return s.m.tabletsOf(s.id) }
func (s *shard) Reader() kv.Reader                 { return s }
func (s *shard) InMemory(g kv.GroupID) kv.MemTable { return s.group(g) }
func (s *shard) state(name string) (state any, opened int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[name], s.opened, s.states != nil
}

func (s *shard) group(id kv.GroupID) *group {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.groupLocked(s.groups, id)
}

func (s *shard) groupLocked(in map[kv.GroupID]*group, id kv.GroupID) *group {
	g, ok := in[id]
	if !ok {
		g = newGroup(id, s.m.inMemory(id))
		in[id] = g
	}
	return g
}

func (s *shard) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	e, ok := s.group(a.Group).get(a, ts)
	if !ok {
		return nil, false, nil
	}
	return append([]byte{}, e.value...), true, nil
}

func (s *shard) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	e, ok := s.group(a.Group).latest(a, max)
	if !ok {
		return kv.Version{}, false, nil
	}
	return kv.Version{Timestamp: e.ts, Value: append([]byte{}, e.value...)}, true, nil
}

func (s *shard) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(s, columns, max, found)
}

func (s *shard) Iter(o kv.IterOptions) (kv.Iterator, error) {
	return newIterator(s.group(o.Group).snapshot(), o), nil
}

// open starts the coprocessors on the shard's state.
func (s *shard) open() error {
	states := map[string]any{}
	for _, c := range s.m.o.Coprocessors {
		st, err := c.OpenShard(s)
		if err != nil {
			return fmt.Errorf("kvtest: %s: open shard %d: %w", c.Name(), s.id, err)
		}
		states[c.Name()] = st
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = states
	return nil
}

func (s *shard) close() {
	s.mu.Lock()
	states := s.states
	s.states = nil
	s.mu.Unlock()
	for _, st := range states {
		if c, ok := st.(io.Closer); ok {
			_ = c.Close() // a crash does not listen either
		}
	}
}

// restart loses all that a killed process loses and opens again.
func (s *shard) restart() error {
	s.close()
	s.mu.Lock()
	s.opened++
	from := s.groups
	if s.m.o.Crash {
		from = s.synced
	}
	fresh := s.withoutGuardsLocked(from)
	s.groups, s.tail = fresh, nil
	s.leads = leads{over: s.over}
	s.mu.Unlock()
	return s.open()
}

// withoutGuardsLocked copies groups, without their guards and without who hears of changes.
func (s *shard) withoutGuardsLocked(from map[kv.GroupID]*group) map[kv.GroupID]*group {
	fresh := map[kv.GroupID]*group{}
	for id, g := range from {
		ng := s.groupLocked(fresh, id)
		g.mu.RLock()
		g.tree.Scan(func(e *entry) bool {
			if !e.guard {
				ng.setLocked(e)
			}
			return true
		})
		g.mu.RUnlock()
	}
	return fresh
}

// eval is the kv.Eval of one command.
type eval struct {
	*shard
	ctx       context.Context
	st        any
	life      int // in which it began, by opened
	write     bool
	noSync    bool
	ops       []op
	guards    []op
	onDurable []func()
}

func (e *eval) Room(kv.Growth, int) error { return nil }
func (e *eval) Context() context.Context  { return e.ctx }
func (e *eval) Shard() kv.ShardHandle     { return e.shard }
func (e *eval) State() any                { return e.st }
func (e *eval) NoSync()                   { e.noSync = true }
func (e *eval) OnDurable(f func())        { e.onDurable = append(e.onDurable, f) }

func (e *eval) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	e.mustWrite("Set")
	e.ops = append(e.ops, op{group: a.Group, entry: newEntry(a, ts, value, false)})
}

func (e *eval) Delete(a kv.Address, ts kv.Timestamp) {
	e.mustWrite("Delete")
	e.ops = append(e.ops, op{group: a.Group, entry: newEntry(a, ts, nil, false), delete: true})
}

// DeleteRange removes what is there now: nobody else writes to the span.
func (e *eval) DeleteRange(g kv.GroupID, run uint32, span kv.Span) {
	e.mustWrite("DeleteRange")
	if e.m.inMemory(g) {
		panic(fmt.Sprintf("kvtest: a range of group %d, which is in memory", g))
	}
	it := newIterator(e.group(g).snapshot(), kv.IterOptions{Group: g, Run: run, Span: span})
	for it.NextColumn() {
		for more := true; more; more = it.NextVersion() {
			e.Delete(kv.Address{Group: g, Run: run, Column: it.Column()}, it.Version().Timestamp)
		}
	}
}

func (e *eval) Guard(a kv.Address, ts kv.Timestamp, value []byte) {
	e.mustWrite("Guard")
	g := op{group: a.Group, entry: newEntry(a, ts, value, true)}
	if !e.m.inMemory(a.Group) {
		panic(fmt.Sprintf("kvtest: guard in group %d, which is not in memory", a.Group))
	}
	if e.alive(e.life) { // else there is a new life, in which the same place may hold a lock that its predecessor has synced
		e.guards = append(e.guards, g)
		e.group(g.group).set(g.entry)
	}
}

func (e *eval) mustWrite(what string) {
	if !e.write {
		panic("kvtest: " + what + " in a read command")
	}
}

// finish makes the batch visible, then durable, then lifts the guards. It reports whether the process lived through it.
func (e *eval) finish(opened int, sync func()) bool {
	defer e.dropGuards()
	if len(e.ops) == 0 {
		return e.alive(opened)
	}
	if !e.apply(opened) {
		return false
	}
	if !e.noSync {
		sync()
	}
	return e.settle(opened)
}

func (e *eval) alive(opened int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opened == opened
}

// apply shows the batch: in-memory sets first, then the rest. In-memory deletes wait for settle.
func (e *eval) apply(opened int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened != opened {
		return false
	}
	e.proposed = without(e.proposed, e)
	e.applied = append(e.applied, e)
	e.showLocked(e.ops)
	if e.m.o.Crash {
		e.tail = append(e.tail, e.ops)
	}
	return true
}

// showLocked makes a batch visible but for its in-memory deletes.
func (s *shard) showLocked(ops []op) {
	for _, inMemory := range []bool{true, false} {
		for _, o := range ops {
			g := s.groupLocked(s.groups, o.group)
			if g.inMemory != inMemory || g.inMemory && o.delete {
				continue
			}
			g.apply(o)
		}
	}
}

// hideLocked does what showLocked has left out.
func (s *shard) hideLocked(ops []op) {
	for _, o := range ops {
		if g := s.groupLocked(s.groups, o.group); g.inMemory && o.delete {
			g.apply(o)
		}
	}
}

// hardenLocked makes everything durable that is visible.
func (s *shard) hardenLocked() {
	for _, batch := range s.tail {
		for _, o := range batch {
			s.groupLocked(s.synced, o.group).apply(o)
		}
	}
	s.tail = nil
}

func (g *group) apply(o op) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if o.delete {
		g.deleteLocked(o.entry)
	} else {
		g.setLocked(o.entry)
	}
}

// settle is the moment of durability: one log, so everything applied before is durable with it.
func (e *eval) settle(opened int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened != opened {
		return false
	}
	if !e.noSync {
		e.hardenLocked()
	}
	e.applied = without(e.applied, e)
	e.hideLocked(e.ops)
	return true
}

func (e *eval) dropGuards() {
	if !e.alive(e.life) {
		return // they went with their process
	}
	for _, o := range e.guards {
		e.group(o.group).removeGuard(o.entry)
	}
}

// report calls the hooks of in-memory groups, in batch order.
func (e *eval) report() {
	for _, o := range e.ops {
		if g := e.group(o.group); g.inMemory && !o.delete {
			g.mu.RLock()
			hooks := g.hooks
			g.mu.RUnlock()
			for _, f := range hooks {
				f(kv.Address{Group: o.group, Run: o.entry.run, Column: o.entry.col}, kv.Version{Timestamp: o.entry.ts, Value: o.entry.value})
			}
		}
	}
	for _, f := range e.onDurable {
		f()
	}
}
