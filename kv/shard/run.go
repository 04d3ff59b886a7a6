package shard

import (
	"context"

	"moka/kv"
)

// run is Replica.Run in a leadership.
func (s *Leadership) run(
	ctx context.Context, c *Registered, refs []kv.TabletRef, req kv.Message,
) (kv.Message, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.e.Failed(); err != nil {
		return nil, err
	}
	e := s.evals.Get().(*eval)
	e.s, e.replica, e.ctx, e.state, e.write = s, s.Replica, ctx, s.states[c.coprocessor], c.Write
	defer func() {
		e.reset()
		s.evals.Put(e)
	}()
	if c.Write {
		return s.runWrite(e, c, refs, req)
	}
	return s.runRead(e, c, refs, req)
}

// runRead evaluates without latches. A tablet may leave while the command reads; what it then read is incomplete, so the
// tablets are checked again behind the reading. The table is replaced before the data goes.
func (s *Leadership) runRead(
	e *eval, c *Registered, refs []kv.TabletRef, req kv.Message,
) (kv.Message, error) {
	s.metrics.reads.Add(1)
	before, err := s.admitRead(e.ctx, refs)
	if err != nil {
		return nil, err
	}
	if c.Rows != nil && lookedAt() {
		e.rows = c.Rows(req, e.rows[:0])
		s.loads.note(before, e.rows)
	}
	ctx := e.ctx
	resp, err := s.evaluate(c, e, req)
	if len(refs) > 0 && s.tablets.Load() != before {
		if _, merr := s.admitRead(ctx, refs); merr != nil {
			return nil, merr
		}
	}
	return s.answer(ctx, resp, err)
}

// answer lets an answer out that no batch stands for, refusals included: what has been seen may be the past of a leader that does not know of its
// successor, and "not found", "locked" and "exists already" are then as wrong as a value. The lease is asked for behind what was seen, since a
// process may stop in between for any time.
func (s *Leadership) answer(ctx context.Context, resp kv.Message, err error) (kv.Message, error) {
	if lerr := s.repl.Lease(ctx); lerr != nil {
		return nil, lerr
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (s *Leadership) admitRead(ctx context.Context, refs []kv.TabletRef) (*tablets, error) {
	for {
		tt := s.tablets.Load()
		switch a, fate := tt.admit(refs, nil); a {
		case admitted:
			return tt, nil
		case moved:
			s.metrics.moved.Add(1)
			return nil, s.movedError(refs, nil)
		default:
			if err := await(ctx, fate); err != nil {
				return nil, err
			}
		}
	}
}

// runWrite evaluates under latches and makes the batch durable. What others see, in order:
//
//	guards               from the moment of the call until the end
//	in-memory sets       just before the batch is applied, in the order of the log: a lock is there before what it protects
//	the batch            Pebble shows it when it is applied, before it is synced
//	in-memory deletes    when the batch is durable: no lock goes while what it protects could still be lost
//	OnSet, OnDurable     then, with the latches still held
//	the rows' latches    last
func (s *Leadership) runWrite(
	e *eval, c *Registered, refs []kv.TabletRef, req kv.Message,
) (kv.Message, error) {
	s.metrics.writes.Add(1)
	// Before the latches: who waits for the disk with latches held makes others wait who only read.
	if err := s.admit(); err != nil {
		s.metrics.refused.Add(1)
		return nil, err
	}
	e.rows = c.Rows(req, e.rows[:0])
	if err := s.admitWrite(e, refs); err != nil {
		return nil, err
	}
	defer func() {
		s.structure.RUnlock()
		e.dropGuards()
		s.latches.Release(&e.latches)
	}()
	if lookedAt() {
		s.loads.note(e.tt, e.rows)
	}
	resp, err := s.evaluate(c, e, req)
	if err != nil || !e.open {
		if resp, err = s.answer(e.ctx, resp, err); err != nil {
			return nil, err
		}
	}
	select {
	case <-e.ctx.Done(): // not Err, where a caller's context may take its time: the latches are held
		return nil, cancelled(e.ctx)
	default:
	}
	if err := s.propose(e); err != nil {
		return nil, err
	}
	return resp, nil
}

// maxRunning bounds the commands that a shard works on at a time; each holds its request, and most of them would only wait.
const maxRunning = 16 << 10

// admit is admission control for writes: a typed refusal by which nothing happened, instead of a queue that ends in time-outs.
func (s *Leadership) admit() error {
	if n := s.running.Load(); n > maxRunning {
		return kv.Errorf(kv.CodeBusy, "shard", "shard %d works on %d commands already", s.id, n)
	}
	return s.e.Admit()
}

// admitWrite latches the rows and takes the structure lock in shared mode; both are held when it returns nil.
func (s *Leadership) admitWrite(e *eval, refs []kv.TabletRef) error {
	for {
		if err := s.latches.Acquire(e.ctx, &e.latches, e.rows); err != nil {
			return cancelled(e.ctx)
		}
		s.structure.RLock()
		tt := s.tablets.Load()
		a, fate := tt.admit(refs, e.rows)
		if a == admitted {
			e.tt = tt
			return nil
		}
		s.structure.RUnlock()
		s.latches.Release(&e.latches)
		if a == moved {
			s.metrics.moved.Add(1)
			return s.movedError(refs, e.rows)
		}
		if err := await(e.ctx, fate); err != nil {
			return err
		}
	}
}

// propose has the batch made durable. The in-memory groups change as the log does: a set that could be seen before its batch has
// its place there could be deleted by who takes no latch, by a batch before it, and would be back after a restart. What is refused has
// never been seen.
func (s *Leadership) propose(e *eval) error {
	if e.open {
		s.metrics.proposals.Add(1)
		s.metrics.bytes.Add(uint64(e.batch.Len()))
		n := e.batch.Len()
		if s.durable {
			n *= 2 // it is in the log of the replica, too
		}
		if err := s.e.Enter(e.growth, n, e.later); err != nil {
			return err
		}
		defer s.e.Leave(n)
		p := Proposal{Term: s.term, Batch: e.batch, Tablets: e.refs, NoSync: e.noSync}
		if len(e.ops) > 0 {
			e.ops = shadow(e.ops)
			c := &memChange{s: s.Replica, ops: e.ops}
			p.Applying, p.Durable = c.show, c.hide
		}
		if err := s.repl.Propose(e.ctx, &p); err != nil {
			e.ops = nil // they may be shown yet
			return err
		}
	}
	e.dropGuards()
	e.announce()
	return nil
}
