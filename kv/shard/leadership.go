package shard

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"moka/kv"
	"moka/kv/latch"
)

// Leadership is one time of leading a shard: the latches of its commands, what its coprocessors keep in
// memory, the functions that hear of changes, and the guards. It is thrown away whole when it ends, and the
// next one, here or elsewhere, uses nothing of it: all that it needs is the replica's.
//
//	Replica.Lead ──► commands run ──► Stop: none begins, long polls end ──► the last one has ended ──► End: states are closed, hooks and guards go
type Leadership struct {
	*Replica
	term    uint64
	repl    Replicator
	durable bool // what is visible is durable

	states []any // of the coprocessors, in the registry's order

	latches *latch.Manager
	// structure is held shared by write commands from the check of their tablets until they are durable, and
	// alone by whoever changes the tablet table.
	structure sync.RWMutex
	hooks     sync.Mutex // serializes OnSet and OnDurable
	evals     sync.Pool

	stopped  atomic.Pointer[error] // with what commands are refused
	running  atomic.Int64
	drained  chan struct{}
	drainOne sync.Once
	blocked  struct { // contexts of read commands, to end with the leadership
		sync.Mutex
		next    uint64
		cancels map[uint64]context.CancelCauseFunc
	}
}

var _ kv.ShardHandle = (*Leadership)(nil)

func newLeadership(r *Replica, repl Replicator) *Leadership {
	l := &Leadership{
		Replica: r, term: repl.Term(), repl: repl, durable: repl.Durable(),
		latches: latch.New(), drained: make(chan struct{}),
	}
	l.evals.New = func() any { return new(eval) }
	l.blocked.cancels = map[uint64]context.CancelCauseFunc{}
	return l
}

// Stop refuses commands from now on, with cause, and ends those that only wait. The channel is closed when no
// command runs any more: until then what they have proposed must find its fate.
func (s *Leadership) Stop(cause error) <-chan struct{} {
	s.stopped.CompareAndSwap(nil, &cause)
	s.blocked.Lock()
	for _, cancel := range s.blocked.cancels {
		cancel(cause)
	}
	s.blocked.Unlock()
	if s.running.Load() == 0 {
		s.drainOne.Do(func() { close(s.drained) })
	}
	return s.drained
}

// Depose is Stop for a leadership that has lost the lead.
func (s *Leadership) Depose() <-chan struct{} { return s.Stop(s.notLeader()) }

// End throws a leadership away in which nothing runs any more.
func (s *Leadership) End() error {
	if !s.lead.CompareAndSwap(s, nil) {
		return nil
	}
	return s.forget()
}

func (s *Leadership) forget() error {
	errs := closeAll(s.states)
	for _, t := range s.mem {
		if t != nil {
			t.Forget()
		}
	}
	return errors.Join(errs...)
}

// enter and leave count the commands that run, so that the end can wait for them.
func (s *Leadership) enter() error {
	s.running.Add(1)
	if cause := s.stopped.Load(); cause != nil {
		s.leave()
		return *cause
	}
	return nil
}

func (s *Leadership) leave() {
	if s.running.Add(-1) == 0 && s.stopped.Load() != nil {
		s.drainOne.Do(func() { close(s.drained) })
	}
}

// cancellable derives a context that also ends with the leadership.
func (s *Leadership) cancellable(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	b := &s.blocked
	b.Lock()
	id := b.next
	b.next++
	b.cancels[id] = cancel
	b.Unlock()
	if cause := s.stopped.Load(); cause != nil {
		cancel(*cause)
	}
	return ctx, func() {
		b.Lock()
		delete(b.cancels, id)
		b.Unlock()
		cancel(nil)
	}
}
