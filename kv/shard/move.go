package shard

import (
	"context"
	"math"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/memtable"
)

// moveChunk is how many bytes a move copies in one batch.
const moveChunk = 1 << 20

// Move gives a tablet to another shard of the same node, which shares the log with this one: the step that decides is
// one batch of both shards' states.
//
//	1  freeze     writers of the tablet end, new commands wait           memory only
//	2  announce   the destination's state says "tablet is coming"        durable
//	3  copy       rows of all groups on disk, under the other prefix     invisible: the destination does not serve them
//	4  flip       tablet there, not here; images of in-memory groups;    one durable batch
//	              the copied rows go from here; the announcement goes
//	5  thaw       the waiting commands find the tablet moved
//
// A crash before 4 leaves an announcement, by which the destination throws the copy away when it is opened. A failure before 4
// does the same at once.
func Move(ctx context.Context, source, destination *Replica, id kv.TabletID) (kv.Tablet, error) {
	if source == destination {
		return kv.Tablet{}, kv.Errorf(kv.CodeInvalidArgument, "shard.Move",
			"tablet %d is on shard %d already", id, source.id)
	}
	from, err := source.leading()
	if err != nil {
		return kv.Tablet{}, err
	}
	to, err := destination.leading()
	if err != nil {
		return kv.Tablet{}, err
	}
	if err := from.enter(); err != nil {
		return kv.Tablet{}, err
	}
	defer from.leave()
	if err := to.enter(); err != nil {
		return kv.Tablet{}, err
	}
	defer to.leave()
	t, err := from.freeze(id)
	if err != nil {
		return t, err
	}
	m := &move{from: from, to: to, was: t, now: t}
	m.now.Shard, m.now.Node = to.id, to.node
	m.now.Generation++
	if err = m.copy(ctx); err == nil {
		err = m.flip()
	}
	if err != nil {
		cerr := to.discard(t)
		from.structure.Lock()
		from.thaw(id)
		from.structure.Unlock()
		if cerr != nil {
			to.logger.Error("the copy of a tablet that did not move could not be removed", "tablet", id, "error", cerr)
		}
		return t, err
	}
	return m.now, nil
}

type move struct {
	from, to *Leadership
	was, now kv.Tablet
	runs     []groupRun
}

type groupRun struct {
	group kv.GroupID
	run   uint32
}

// diskRuns lists the runs of all groups that are served from disk, also those of layers that this process does not have: what
// it does not know it must carry along. Those of bounded groups are among them: some of it is on disk alone.
func (s *Replica) diskRuns() ([]groupRun, error) {
	lower, upper := keys.DataSpan(s.id)
	it, err := s.e.NewIter(lower, upper)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var runs []groupRun
	for ok := it.First(); ok; {
		g, run, isData := keys.GroupRun(it.Key())
		if !isData {
			return nil, kv.Errorf(kv.CodeCorrupt, "shard", "key %x among the data of shard %d", it.Key(), s.id)
		}
		if s.mem[g] != nil && !s.mem[g].Bounded() {
			_, end := keys.GroupSpan(s.id, g)
			ok = it.SeekGE(end)
			continue
		}
		runs = append(runs, groupRun{g, run})
		ok = it.SeekGE(keys.AppendRunEnd(nil, s.id, g, run))
	}
	return runs, it.Error()
}

func (m *move) copy(ctx context.Context) error {
	if err := m.from.e.Failed(); err != nil {
		return err
	}
	var err error
	if m.runs, err = m.from.diskRuns(); err != nil {
		return err
	}
	b := m.to.e.NewBatch()
	err = b.Set(keys.AppendState(nil, m.to.id, keys.StateMove, uint64(m.was.ID)), encodeTablet(m.was), nil)
	if err == nil {
		m.to.e.Commit(b)
	}
	b.Close()
	for _, r := range m.runs {
		if err == nil {
			err = m.copyRun(ctx, r)
		}
	}
	return err
}

// copyRun copies in batches that nobody waits for: the flip is later in the same log and waits for all of it.
func (m *move) copyRun(ctx context.Context, r groupRun) error {
	lower, upper := keys.AppendSpan(nil, m.from.id, r.group, r.run, m.was.Span)
	b := m.to.e.NewBatch()
	defer func() { b.Close() }()
	var key []byte
	err := m.from.e.Scan(lower, upper, func(k, v []byte) error {
		key = keys.ReplaceShard(key[:0], k, m.to.id)
		if err := b.Set(key, v, nil); err != nil {
			return err
		}
		if b.Len() >= moveChunk {
			m.to.e.Apply(b, false)
			b.Close()
			b = m.to.e.NewBatch()
			return ctx.Err()
		}
		return nil
	})
	if err == nil && !b.Empty() {
		m.to.e.Apply(b, false)
	}
	return err
}

// flip is the point of no return; an error means that it was not reached. Both tables change before the batch is visible, so that a reader who misses the rows at
// the source also finds the table changed behind its reading; at the destination the tablet is frozen until it is durable.
func (m *move) flip() error {
	first, second := m.from, m.to
	if first.id > second.id {
		first, second = second, first
	}
	first.structure.Lock()
	defer first.structure.Unlock()
	second.structure.Lock()
	defer second.structure.Unlock()

	b := m.to.e.NewBatch()
	defer b.Close()
	items, err := m.fill(b)
	if err != nil {
		return err
	}
	src, dst := m.from.tablets.Load(), m.to.tablets.Load()
	fate := make(chan struct{})
	m.to.tablets.Store(newTablets(append(m.to.Tablets(), m.now), withFate(dst.frozen, m.now.ID, fate)))
	waiting := src.frozen[m.was.ID]
	m.from.tablets.Store(newTablets(src.with([]kv.TabletID{m.was.ID}).list, withFate(src.frozen, m.was.ID, nil)))
	for g, t := range m.to.mem {
		if t != nil && t.Bounded() {
			t.Hold()
			defer t.Release()
			t.Spill(m.from.mem[g].Spills())
		}
	}
	for _, it := range items {
		m.to.mem[it.Address.Group].Set(it, 0)
	}
	m.to.e.Commit(b)
	for _, it := range items {
		m.from.mem[it.Address.Group].Delete(it.Address, it.Timestamp, math.MaxUint64)
	}
	for i, st := range m.to.states {
		if r, ok := st.(kv.TabletReceiver); ok {
			r.ReceiveTablet(m.now, m.from.states[i])
		}
	}
	m.to.hooks.Lock()
	for _, it := range items {
		m.to.mem[it.Address.Group].Announce(it)
	}
	m.to.hooks.Unlock()
	m.to.thaw(m.now.ID)
	close(waiting)
	return nil
}

// fill puts the flip into the batch and returns what moves in memory.
func (m *move) fill(b engine.Batch) ([]memtable.Item, error) {
	err := dropTablet(b, m.from.id, m.was.ID)
	if err == nil {
		err = PutTablet(b, m.now)
	}
	if err == nil {
		err = b.Delete(keys.AppendState(nil, m.to.id, keys.StateMove, uint64(m.was.ID)), nil)
	}
	for _, r := range m.runs {
		lower, upper := keys.AppendSpan(nil, m.from.id, r.group, r.run, m.was.Span)
		if err == nil {
			err = b.DeleteRange(lower, upper, nil)
		}
	}
	// The clock of raw writes is above everything in the tablet, at both ends.
	if ceiling, ahead, cerr := m.from.LoadClock(); err == nil {
		if err = cerr; err == nil {
			err = raiseClock(b, m.to.e, m.to.id, ceiling, ahead)
		}
	}
	// What layers know of the shard's rows may be stored with the tablet that leaves: it is needed there, and by
	// the tablets that stay.
	if err == nil {
		err = m.carry(b, m.to, m.now)
	}
	for _, t := range m.from.Tablets() {
		if err == nil && t.ID != m.was.ID {
			err = m.carry(b, m.from, t)
		}
	}
	var items []memtable.Item
	for _, t := range m.from.mem {
		if t != nil {
			items = append(items, t.Persistent(m.was.Span)...)
		}
	}
	for _, it := range items {
		if m.from.mem[it.Address.Group].Bounded() {
			continue // it is on disk, and copied
		}
		if err == nil {
			err = b.Delete(keys.AppendVersion(keys.AppendColumn(nil, m.from.id, it.Address), it.Timestamp), nil)
		}
		if err == nil {
			err = b.Set(keys.AppendVersion(keys.AppendColumn(nil, m.to.id, it.Address), it.Timestamp), it.Value, nil)
		}
	}
	return items, err
}

// carry puts what the layers of the source know of a tablet beside it, at either end.
func (m *move) carry(b engine.Batch, at *Leadership, t kv.Tablet) error {
	for _, st := range m.from.states {
		c, ok := st.(kv.TabletCarrier)
		if !ok {
			continue
		}
		for _, x := range c.CarryTablet(t) {
			if !t.Span.Contains(x.Row) || m.to.mem[x.Group] != nil {
				return kv.Errorf(kv.CodeInternal, "shard.Move", "row %x of group %d cannot be carried along with tablet %d",
					[]byte(x.Row), x.Group, t.ID)
			}
			key := keys.AppendVersion(keys.AppendColumn(nil, at.id, x.Address), x.Timestamp)
			if err := b.Set(key, x.Value, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// discard removes the copy of a tablet that did not arrive, and its announcement.
func (s *Replica) discard(t kv.Tablet) error {
	runs, err := s.diskRuns()
	if err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	for _, r := range runs {
		lower, upper := keys.AppendSpan(nil, s.id, r.group, r.run, t.Span)
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return err
		}
	}
	if err := b.Delete(keys.AppendState(nil, s.id, keys.StateMove, uint64(t.ID)), nil); err != nil {
		return err
	}
	s.e.Commit(b)
	return nil
}

// discardArrivals finishes what a crash in the middle of a move left here.
func (s *Replica) discardArrivals() error {
	lower, upper := keys.StateSpan(s.id, keys.StateMove)
	var coming []kv.Tablet
	err := s.e.Scan(lower, upper, func(_, v []byte) error {
		t, err := decodeTablet(v)
		coming = append(coming, t)
		return err
	})
	for _, t := range coming {
		if err == nil {
			s.logger.Info("a move was cut short; its copy is removed", "tablet", t.ID, "shard", s.id)
			err = s.discard(t)
		}
	}
	return err
}
