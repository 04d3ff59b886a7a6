package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/coord"
)

// term is one leadership: from winning an election to losing it. Nothing in it outlives it.
type term struct {
	srv     *Server
	lead    *coord.Leadership
	retired atomic.Bool // set before the leadership is given up on purpose; see valid
	over    chan struct{}
	kick    chan struct{} // capacity 1: "reserve more"
	yields  chan chan error

	ceiling fencedKey // used by the goroutine in serve only

	mu struct {
		sync.Mutex
		alloc     alloc
		safePoint kv.Timestamp
		attempt   *attempt // the reservation that callers without a timestamp wait for
		batches   uint64
		issued    uint64
	}

	sp struct {
		sync.Mutex // held across the coordination service's call: one change of the safe point at a time
		cell       fencedKey
	}
}

// attempt is one try to raise the ceiling.
type attempt struct {
	done chan struct{}
	err  error
}

func newAttempt() *attempt { return &attempt{done: make(chan struct{})} }

// campaign leads whenever it can, until ctx ends.
func (s *Server) campaign(ctx context.Context) {
	for b := (backoff{}); ctx.Err() == nil; b.wait(ctx) {
		led, err := s.leadOnce(ctx)
		if led {
			b = backoff{}
		}
		if errors.Is(err, errYielded) {
			return
		}
		if ctx.Err() == nil {
			s.opts.Logger.Warn("not leading the timestamp oracle", "led", led, "err", err)
		}
	}
}

// leadOnce is one session: wait to be elected, take over, serve, give up.
func (s *Server) leadOnce(ctx context.Context) (led bool, err error) {
	sess, err := s.svc.NewSession(ctx, s.opts.SessionTTL)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := coord.KeepAlive(ctx, sess); err != nil {
			s.opts.Logger.Warn("the oracle's session was lost", "session", sess.ID(), "err", err)
		}
	})
	defer func() {
		cancel()
		wg.Wait()
		// Closing spares the successor the rest of the lease. It must work while ctx is over,
		// so it has its own bound.
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := sess.Close(bye); err != nil {
			s.opts.Logger.Warn("the oracle's session ends by its lease", "session", sess.ID(), "err", err)
		}
	}()

	lead, err := s.election.Campaign(ctx, sess, []byte(s.opts.Address))
	if err != nil {
		return false, fmt.Errorf("campaign: %w", err)
	}
	t, err := s.takeOver(ctx, lead)
	if err != nil {
		return false, fmt.Errorf("take over in epoch %d: %w", lead.Epoch(), err)
	}
	s.setTerm(t)
	err = t.serve(ctx)
	s.setTerm(nil)
	t.retire()
	return true, err
}

// takeOver starts where no predecessor can have been: at the durable ceiling or the clock, whichever
// is later. The write of the new ceiling is guarded by our epoch; with its success the predecessor's
// epoch can write no more.
func (s *Server) takeOver(ctx context.Context, lead *coord.Leadership) (*term, error) {
	t := &term{srv: s, lead: lead, over: make(chan struct{}), kick: make(chan struct{}, 1),
		yields: make(chan chan error)}
	t.mu.attempt = newAttempt()
	t.ceiling = fencedKey{svc: s.svc, lead: lead, key: s.opts.Prefix + "ceiling"}
	t.sp.cell = fencedKey{svc: s.svc, lead: lead, key: s.opts.Prefix + "safepoint"}

	last, err := t.loadCeiling(ctx)
	if err != nil {
		return nil, err
	}
	if last.epoch > lead.Epoch() {
		return nil, fmt.Errorf("the stored ceiling is of epoch %d: the coordination service lost its "+
			"history; restore it before timestamps repeat", last.epoch)
	}
	safePoint, err := t.loadSafePoint(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now()
	t.mu.alloc.next = max(now, last.ceiling)
	t.mu.safePoint = safePoint
	if ahead := last.ceiling.Time().Sub(now.Time()); ahead > 10*s.opts.Window {
		s.opts.Logger.Warn("the clock is behind timestamps that were issued; new ones follow those and not "+
			"the clock", "behind", ahead)
	}
	ceiling := t.mu.alloc.target(now, s.window)
	if err := t.ceiling.store(ctx, encodeCeiling(ceilingRecord{lead.Epoch(), ceiling})); err != nil {
		return nil, err
	}
	t.mu.alloc.raise(ceiling)
	return t, nil
}

func (t *term) loadCeiling(ctx context.Context) (ceilingRecord, error) {
	b, ok, err := t.ceiling.load(ctx)
	if err != nil || !ok {
		return ceilingRecord{}, err
	}
	return decodeCeiling(b)
}

func (t *term) loadSafePoint(ctx context.Context) (kv.Timestamp, error) {
	b, ok, err := t.sp.cell.load(ctx)
	if err != nil || !ok {
		return 0, err
	}
	return decodeSafePoint(b)
}

func (s *Server) setTerm(t *term) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.term.Store(t)
	if t != nil {
		s.stats.terms.Add(1)
		close(s.mu.leading)
		s.opts.Logger.Info("leading the timestamp oracle", "epoch", t.epoch())
		return
	}
	s.mu.leading = make(chan struct{})
}

// serve reserves timestamps ahead until the term is over. Its error says why; ctx ending is none.
func (t *term) serve(ctx context.Context) error {
	var b backoff
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.lead.Done():
			return coord.ErrSessionExpired
		case done := <-t.yields:
			done <- t.lower(ctx)
			return errYielded
		case <-t.kick:
		}
		err := t.raise(ctx)
		switch {
		case err == nil:
			b = backoff{}
		case errors.Is(err, ErrFenced):
			return err
		default:
			t.srv.opts.Logger.Warn("cannot reserve timestamps", "epoch", t.epoch(), "err", err)
			b.wait(ctx)
		}
	}
}

// errYielded ends a server's part: it does not campaign again.
var errYielded = errors.New("the oracle was handed over")

// lower shuts the door, and then writes down that nothing from here on was handed out: without it the
// successor would begin a whole window ahead of the clock, by which it is judged how old locks are. What was
// taken before the door was shut is below; what is taken later is not given away (see release). If it fails
// the ceiling stays where it was, which is only later than need be.
func (t *term) lower(ctx context.Context) error {
	t.retired.Store(true)
	t.mu.Lock()
	next, ceiling := t.mu.alloc.next, t.mu.alloc.ceiling
	t.mu.Unlock()
	if next >= ceiling {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, t.srv.opts.SessionTTL)
	defer cancel()
	return t.ceiling.store(call, encodeCeiling(ceilingRecord{t.lead.Epoch(), next}))
}

// raise makes a greater ceiling durable, then uses it: never the other way round (O2).
func (t *term) raise(ctx context.Context) error {
	now := t.srv.now()
	t.mu.Lock()
	old := t.mu.alloc.ceiling
	low := t.mu.alloc.low(now, t.srv.window)
	ceiling := t.mu.alloc.target(now, t.srv.window)
	current := t.mu.attempt
	t.mu.Unlock()

	call, cancel := context.WithTimeout(ctx, t.srv.opts.SessionTTL)
	defer cancel()
	var err error
	switch {
	case !low: // the reservation that was under way when we were asked has sufficed
		ceiling = old
	case ceiling > old:
		err = t.ceiling.store(call, encodeCeiling(ceilingRecord{t.lead.Epoch(), ceiling}))
	default:
		err = errors.New("all timestamps are used up")
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.srv.stats.raiseErrors.Add(1)
	case ceiling > old:
		t.mu.alloc.raise(ceiling)
		t.srv.stats.raises.Add(1)
	}
	current.err = err
	close(current.done)
	t.mu.attempt = newAttempt()
	return err
}

// take takes timestamps without looking at the leadership: the caller must pass them through Server.release.
func (t *term) take(now kv.Timestamp, n int) (Batch, bool) {
	t.mu.Lock()
	first, ok := t.mu.alloc.take(now, n)
	low := t.mu.alloc.low(now, t.srv.window)
	b := Batch{First: first, N: n, SafePoint: t.mu.safePoint}
	if ok {
		t.mu.batches++
		t.mu.issued += uint64(n)
	}
	t.mu.Unlock()
	if low {
		t.wantMore()
	}
	return b, ok
}

func (t *term) wantMore() {
	select {
	case t.kick <- struct{}{}:
	default: // somebody has asked already
	}
}

// awaitRaise waits for one try to raise the ceiling, perhaps one that is under way already. The
// caller then tries again.
func (t *term) awaitRaise(ctx context.Context) error {
	t.srv.stats.waits.Add(1)
	t.mu.Lock()
	a := t.mu.attempt
	t.mu.Unlock()
	t.wantMore()
	select {
	case <-a.done:
	case <-t.over:
		return t.srv.notLeader()
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case a.err == nil:
		return nil
	case errors.Is(a.err, ErrFenced):
		return a.err
	}
	return &Error{Code: CodeUnavailable, Epoch: t.epoch(),
		Err: fmt.Errorf("cannot reserve timestamps: %w", a.err)}
}

// valid reports whether the leadership was held at some moment during the call. The session answers for every
// way to lose it except giving it up; that one is ours, and retired is set before it happens.
func (t *term) valid() bool { return !t.retired.Load() && t.lead.Valid() }

// retire ends the term for its callers. It comes before the session is closed.
func (t *term) retire() {
	t.retired.Store(true)
	close(t.over)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.srv.stats.batches.Add(t.mu.batches)
	t.srv.stats.issued.Add(t.mu.issued)
	t.mu.batches, t.mu.issued = 0, 0
}

func (t *term) epoch() uint64 { return uint64(t.lead.Epoch()) }

func (t *term) setSafePoint(ctx context.Context, ts kv.Timestamp) (kv.Timestamp, error) {
	t.sp.Lock()
	defer t.sp.Unlock()
	t.mu.Lock()
	current, next := t.mu.safePoint, t.mu.alloc.next
	t.mu.Unlock()
	if ts >= next {
		return 0, &Error{Code: CodeInvalid,
			Err: fmt.Errorf("safe point %v is not in the past; the next timestamp is %v", ts, next)}
	}
	if ts <= current {
		return current, nil
	}
	if err := t.sp.cell.store(ctx, encodeSafePoint(ts)); err != nil {
		if errors.Is(err, ErrFenced) || ctx.Err() != nil {
			return 0, err
		}
		return 0, &Error{Code: CodeUnavailable, Epoch: t.epoch(), Err: err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.safePoint = ts
	return ts, nil
}
