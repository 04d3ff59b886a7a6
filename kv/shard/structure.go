package shard

import (
	"bytes"
	"context"
	"errors"
	"maps"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/memtable"
)

// A shard's tablet table is part of its state and changes through its log, like data. Splits and merges are one small batch:
// no data is touched, because the tablet is not part of a key. Each change raises the generation, so that a command that was
// routed before it is refused after it.

// PutTablet adds a tablet's description to the batch, in the state of the shard that it names.
func PutTablet(b engine.Batch, t kv.Tablet) error {
	return b.Set(keys.AppendState(nil, t.Shard, keys.StateTablet, uint64(t.ID)), encodeTablet(t), nil)
}

func dropTablet(b engine.Batch, shard kv.ShardID, id kv.TabletID) error {
	return b.Delete(keys.AppendState(nil, shard, keys.StateTablet, uint64(id)), nil)
}

// settled returns a tablet that is served here and not about to leave.
func (t *tablets) settled(op string, id kv.TabletID) (kv.Tablet, error) {
	x, ok := t.get(id)
	if !ok {
		return x, kv.Errorf(kv.CodeNotFound, op, "there is no tablet %d on this shard", id)
	}
	if t.frozen[id] != nil {
		return x, kv.Errorf(kv.CodeBusy, op, "tablet %d is being moved; try again", id)
	}
	return x, nil
}

// split is Replica.Split.
func (s *Leadership) split(
	ctx context.Context, id kv.TabletID, at kv.RowKey, newID kv.TabletID,
) (left, right kv.Tablet, err error) {
	const op = "shard.Split"
	s.structure.Lock()
	defer s.structure.Unlock()
	tt := s.tablets.Load()
	t, err := tt.settled(op, id)
	if err != nil {
		return left, right, err
	}
	if len(at) < 4 || !t.Span.Contains(at) || bytes.Equal(at, t.Span.Start) {
		return left, right, kv.Errorf(kv.CodeInvalidArgument, op, "row %x does not lie within tablet %d behind its first row", []byte(at), id)
	}
	at = bytes.Clone(at)
	left, right = t, t
	left.Generation++
	left.Span.End = at
	right.ID, right.Generation = newID, left.Generation
	right.Span.Start = at
	return left, right, s.restructure(ctx, []kv.Tablet{t}, nil, left, right)
}

// merge is Replica.Merge.
func (s *Leadership) merge(ctx context.Context, leftID, rightID kv.TabletID) (kv.Tablet, error) {
	const op = "shard.Merge"
	s.structure.Lock()
	defer s.structure.Unlock()
	tt := s.tablets.Load()
	left, err := tt.settled(op, leftID)
	if err != nil {
		return left, err
	}
	right, err := tt.settled(op, rightID)
	if err != nil {
		return left, err
	}
	if len(left.Span.End) == 0 || !bytes.Equal(left.Span.End, right.Span.Start) {
		return left, kv.Errorf(kv.CodeInvalidArgument, op, "tablet %d does not begin where tablet %d ends", rightID, leftID)
	}
	merged := left
	merged.Generation = max(left.Generation, right.Generation) + 1
	merged.Span.End = right.Span.End
	if err := s.restructure(ctx, []kv.Tablet{left, right}, []kv.TabletID{rightID}, merged); err != nil {
		return left, err
	}
	return merged, nil
}

// restructure proposes a change of the table of tablets, and returns when it is applied here. The structure
// lock is held alone.
func (s *Leadership) restructure(
	ctx context.Context, was []kv.Tablet, drop []kv.TabletID, put ...kv.Tablet,
) error {
	if err := s.e.Failed(); err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	for _, id := range drop {
		if err := dropTablet(b, s.id, id); err != nil {
			return err
		}
	}
	for _, t := range put {
		if err := PutTablet(b, t); err != nil {
			return err
		}
	}
	var failed error
	p := &Proposal{Term: s.term, Batch: b, Structure: true, Durable: func() { failed = s.loadTablets() }}
	for _, t := range was {
		p.Tablets = append(p.Tablets, kv.TabletRef{ID: t.ID, Generation: t.Generation})
	}
	return errors.Join(s.repl.Propose(ctx, p), failed)
}

// freeze stops the tablet's commands: those that write have ended when it returns, new ones wait until thaw.
func (s *Leadership) freeze(id kv.TabletID) (kv.Tablet, error) {
	s.structure.Lock()
	defer s.structure.Unlock()
	tt := s.tablets.Load()
	t, err := tt.settled("shard.Move", id)
	if err != nil {
		return t, err
	}
	s.tablets.Store(newTablets(tt.list, withFate(tt.frozen, id, make(chan struct{}))))
	return t, nil
}

// thaw lets the waiting commands look again.
func (s *Leadership) thaw(id kv.TabletID) {
	tt := s.tablets.Load()
	fate := tt.frozen[id]
	s.tablets.Store(newTablets(tt.list, withFate(tt.frozen, id, nil)))
	close(fate)
}

func withFate(m map[kv.TabletID]chan struct{}, id kv.TabletID, fate chan struct{}) map[kv.TabletID]chan struct{} {
	m = maps.Clone(m)
	if m == nil {
		m = map[kv.TabletID]chan struct{}{}
	}
	if fate == nil {
		delete(m, id)
	} else {
		m[id] = fate
	}
	return m
}

// clear is Replica.Clear.
func (s *Leadership) clear(ctx context.Context, span kv.Span) error {
	s.structure.Lock()
	defer s.structure.Unlock()
	if err := s.e.Failed(); err != nil {
		return err
	}
	runs, err := s.diskRuns()
	if err != nil {
		return err
	}
	b := s.e.NewBatch()
	defer b.Close()
	for _, r := range runs {
		lower, upper := keys.AppendSpan(nil, s.id, r.group, r.run, span)
		if err := b.DeleteRange(lower, upper, nil); err != nil {
			return err
		}
	}
	var items []memtable.Item
	for _, t := range s.mem {
		if t != nil && !t.Bounded() {
			items = append(items, t.Persistent(span)...)
		}
	}
	for _, r := range runs {
		if s.mem[r.group] == nil {
			continue
		}
		// The replicas do not hold the same of it.
		lower, upper := keys.AppendSpan(nil, s.id, r.group, r.run, span)
		err := s.e.Scan(lower, upper, func(key, _ []byte) error {
			k, _, err := keys.Decode(key, nil)
			items = append(items, own(k.Address, k.Timestamp, nil))
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, it := range items {
		if err := b.Delete(keys.AppendVersion(keys.AppendColumn(nil, s.id, it.Address), it.Timestamp), nil); err != nil {
			return err
		}
	}
	c := &memChange{s: s.Replica}
	for _, it := range items {
		c.ops = append(c.ops, memOp{t: s.mem[it.Address.Group], item: it, deleted: true})
	}
	return s.repl.Propose(ctx, &Proposal{Term: s.term, Batch: b, Applying: c.show, Durable: c.hide})
}
