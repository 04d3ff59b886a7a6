package kvtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"
	"time"

	"moka/kv"
)

// Options of a Mem.
type Options struct {
	// Shards is how many shards there are; default 1.
	Shards int
	// Splits are tablet boundaries; the tablets between them are dealt to the shards in turn. Default: one tablet.
	Splits []kv.RowKey
	// Coprocessors are what the shards can evaluate.
	Coprocessors []kv.Coprocessor
	// SyncDelay is how long a synced batch is visible before it is durable. Default: no time at all.
	SyncDelay time.Duration
	// OnSync, if set, is called instead, while a batch is visible and not durable. It may block.
	OnSync func(shard kv.ShardID, command kv.CommandID, req kv.Message)
	// OnEvaluated, if set, is called between a write's evaluation and its becoming visible; its guards are up. It may block.
	OnEvaluated func(shard kv.ShardID, command kv.CommandID, req kv.Message)
	// Crash keeps what a disk would keep, so that Restart loses what was not synced. Costs a second copy.
	Crash bool
	// StaleAnswers is a mistake to plant: what a leadership that is over has seen is answered all the
	// same, if it changes nothing.
	StaleAnswers bool
	// Encode hands messages over through their codec even without the race detector (with it, always).
	Encode bool
}

// Mem is a kv.Store in memory. It is safe for concurrent use and starts no goroutine.
type Mem struct {
	o        Options
	shards   []*shard
	commands map[kv.CommandID]command
	memory   map[kv.GroupID]bool

	mu      sync.Mutex
	tablets []kv.Tablet // ordered by start; the truth
	cached  []kv.Tablet // what Locate answers, until a Call is refused
	nextID  kv.TabletID
	// writers and frozen let Split, Move and Restart wait for running writes and hold up new ones.
	writers int
	idle    chan struct{}
	frozen  chan struct{}
}

type command struct {
	kv.Command
	coprocessor string
}

var _ kv.Store = (*Mem)(nil)

// NewMem opens a store; it panics on coprocessors that contradict each other or do not open, as a test would fail anyway.
func NewMem(o Options) *Mem {
	o.Shards = max(o.Shards, 1)
	m := &Mem{o: o, commands: map[kv.CommandID]command{}, memory: map[kv.GroupID]bool{kv.GroupNotify: true}, nextID: 1}
	for _, c := range o.Coprocessors {
		for _, g := range c.Groups() {
			m.memory[g.ID] = g.InMemory
		}
		for _, cmd := range c.Commands() {
			if _, ok := m.commands[cmd.ID]; ok {
				panic(fmt.Sprintf("kvtest: command %d is registered twice", cmd.ID))
			}
			m.commands[cmd.ID] = command{cmd, c.Name()}
		}
	}
	m.layTablets(o.Splits)
	for i := range o.Shards {
		s := &shard{id: kv.ShardID(i + 1), m: m, groups: map[kv.GroupID]*group{}, synced: map[kv.GroupID]*group{}}
		s.latches.held = map[string][]chan struct{}{}
		m.shards = append(m.shards, s)
	}
	for _, s := range m.shards {
		if err := s.open(); err != nil {
			panic(err)
		}
	}
	return m
}

func (m *Mem) layTablets(splits []kv.RowKey) {
	bounds := append([]kv.RowKey{nil}, splits...)
	slices.SortFunc(bounds, func(a, b kv.RowKey) int { return bytes.Compare(a, b) })
	for i, start := range bounds {
		t := kv.Tablet{ID: m.nextID, Generation: 1, Shard: kv.ShardID(i%m.o.Shards + 1), Node: 1, Span: kv.Span{Start: start}}
		if i+1 < len(bounds) {
			t.Span.End = bounds[i+1]
		}
		m.nextID++
		m.tablets = append(m.tablets, t)
	}
	m.cached = slices.Clone(m.tablets)
}

// Close closes the coprocessors' states.
func (m *Mem) Close() error {
	for _, s := range m.shards {
		s.close()
	}
	return nil
}

func (m *Mem) inMemory(g kv.GroupID) bool { return m.memory[g] }

func find(ts []kv.Tablet, row kv.RowKey) int {
	return sort.Search(len(ts), func(i int) bool { return bytes.Compare(ts[i].Span.Start, row) > 0 }) - 1
}

// Locate answers from the cache, which is as stale as a client's would be.
func (m *Mem) Locate(ctx context.Context, row kv.RowKey) (kv.Tablet, error) {
	if err := ctx.Err(); err != nil {
		return kv.Tablet{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cached[find(m.cached, row)], nil
}

// Shards lists all shards.
func (m *Mem) Shards(context.Context) ([]kv.ShardID, error) {
	ids := make([]kv.ShardID, 0, len(m.shards))
	for _, s := range m.shards {
		ids = append(ids, s.id)
	}
	return ids, nil
}

// Tablets returns the true tablet map.
func (m *Mem) Tablets() []kv.Tablet {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.tablets)
}

func (m *Mem) tabletsOf(id kv.ShardID) (ts []kv.Tablet) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range m.tablets {
		if t.Shard == id {
			ts = append(ts, t)
		}
	}
	return ts
}

// Reader reads a shard's state from outside, for dumps in tests.
func (m *Mem) Reader(id kv.ShardID) kv.Reader { return m.shards[id-1] }

// Call runs a command.
func (m *Mem) Call(ctx context.Context, id kv.ShardID, tablets []kv.TabletRef, cmdID kv.CommandID, req kv.Message) (kv.Message, error) {
	cmd, ok := m.commands[cmdID]
	if !ok {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "kvtest.Call", "no command %d", cmdID)
	}
	if id < 1 || int(id) > len(m.shards) {
		return nil, kv.Errorf(kv.CodeNotFound, "kvtest.Call", "no shard %d", id)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.o.Encode || RaceEnabled {
		clone := cmd.NewRequest()
		if err := clone.Decode(req.AppendTo(nil)); err != nil {
			return nil, kv.Errorf(kv.CodeInvalidArgument, cmd.Name, "request does not decode: %v", err)
		}
		req = clone
	}
	run := m.read
	if cmd.Write {
		run = m.write
	}
	resp, err := run(ctx, m.shards[id-1], tablets, cmd, req)
	if err != nil || !(m.o.Encode || RaceEnabled) {
		return resp, err
	}
	clone := cmd.NewResponse()
	if err := clone.Decode(resp.AppendTo(nil)); err != nil {
		return nil, kv.Errorf(kv.CodeInternal, cmd.Name, "response does not decode: %v", err)
	}
	return clone, nil
}

func (m *Mem) read(ctx context.Context, s *shard, tablets []kv.TabletRef, cmd command, req kv.Message) (kv.Message, error) {
	if err := m.check(s.id, tablets); err != nil {
		return nil, err
	}
	st, opened, ok := s.state(cmd.coprocessor)
	if !ok {
		return nil, s.ended(opened, false, cmd.Name)
	}
	e := &eval{shard: s, ctx: ctx, st: st}
	resp, err := cmd.Evaluate(e, req)
	// The tablet may have left, the lead been lost, or the process died, while the command read. Then a
	// refusal is no better than a value.
	if !e.alive(opened) && !m.o.StaleAnswers {
		return nil, s.ended(opened, false, cmd.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := m.check(s.id, tablets); err != nil {
		return nil, err
	}
	return resp, nil
}

func (m *Mem) write(ctx context.Context, s *shard, tablets []kv.TabletRef, cmd command, req kv.Message) (kv.Message, error) {
	var rows []kv.RowKey
	if cmd.Rows != nil {
		rows = cmd.Rows(req, nil)
	}
	release, err := s.latches.acquire(ctx, rows)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := m.enter(ctx, s.id, tablets); err != nil {
		return nil, err
	}
	defer m.leave()
	st, opened, ok := s.state(cmd.coprocessor)
	if !ok {
		return nil, s.ended(opened, false, cmd.Name)
	}
	e := &eval{shard: s, ctx: ctx, st: st, life: opened, write: true}
	resp, err := cmd.Evaluate(e, req)
	switch {
	case err == nil && len(e.ops) > 0:
		if !e.propose() {
			return nil, s.ended(opened, false, cmd.Name)
		}
	case !e.alive(opened) && !m.o.StaleAnswers:
		return nil, s.ended(opened, false, cmd.Name)
	case err != nil:
		e.dropGuards()
		return nil, err
	}
	if m.o.OnEvaluated != nil && len(e.ops) > 0 {
		m.o.OnEvaluated(s.id, cmd.ID, req)
	}
	sync := func() {
		switch {
		case m.o.OnSync != nil:
			m.o.OnSync(s.id, cmd.ID, req)
		case m.o.SyncDelay > 0:
			time.Sleep(m.o.SyncDelay)
		}
	}
	if !e.finish(opened, sync) && !(m.o.StaleAnswers && len(e.ops) == 0) {
		return nil, s.ended(opened, len(e.ops) > 0, cmd.Name)
	}
	e.report()
	return resp, nil
}

// enter waits for a change of the map to end, checks generations and counts the writer in.
func (m *Mem) enter(ctx context.Context, id kv.ShardID, refs []kv.TabletRef) error {
	for {
		m.mu.Lock()
		if m.frozen == nil {
			defer m.mu.Unlock()
			if err := m.checkLocked(id, refs); err != nil {
				return err
			}
			m.writers++
			return nil
		}
		frozen := m.frozen
		m.mu.Unlock()
		select {
		case <-frozen:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Mem) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writers--
	if m.writers == 0 && m.idle != nil {
		close(m.idle)
		m.idle = nil
	}
}

func (m *Mem) check(id kv.ShardID, refs []kv.TabletRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checkLocked(id, refs)
}

func (m *Mem) checkLocked(id kv.ShardID, refs []kv.TabletRef) error {
	for _, r := range refs {
		i := slices.IndexFunc(m.tablets, func(t kv.Tablet) bool { return t.ID == r.ID })
		if i >= 0 && m.tablets[i].Generation == r.Generation && m.tablets[i].Shard == id {
			continue
		}
		m.cached = slices.Clone(m.tablets)
		return &kv.Error{Code: kv.CodeMoved, Op: "kvtest.Call", Msg: fmt.Sprintf("tablet %d generation %d", r.ID, r.Generation), Tablets: slices.Clone(m.tablets)}
	}
	return nil
}
