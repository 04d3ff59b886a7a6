package coordtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv/coord"
)

func (s *suite) campaign(e *coord.Election, sess coord.Session, value string) *coord.Leadership {
	s.Helper()
	l, err := e.Campaign(s.ctx, sess, []byte(value))
	if err != nil {
		s.Fatalf("campaign: %v", err)
	}
	return l
}

// campaigning starts a campaign that is expected to wait.
func (s *suite) campaigning(e *coord.Election, sess coord.Session, value string) <-chan *coord.Leadership {
	won := make(chan *coord.Leadership, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		l, err := e.Campaign(s.ctx, sess, []byte(value))
		if err != nil {
			s.Errorf("campaign of %s: %v", value, err)
		}
		won <- l
	})
	s.Cleanup(wg.Wait)
	return won
}

func (s *suite) elected(won <-chan *coord.Leadership) *coord.Leadership {
	s.Helper()
	select {
	case l := <-won:
		if l == nil {
			s.Fatal("the campaign failed")
		}
		return l
	case <-s.ctx.Done():
		s.Fatal("nobody was elected")
	}
	panic("unreachable")
}

// heard waits until a holder behind a network knows that its session ended: the suite moves the service's clock by hand,
// while such a holder measures with the machine's.
func (s *suite) heard(l *coord.Leadership) {
	s.Helper()
	select {
	case <-l.Done():
	case <-s.ctx.Done():
		s.Fatal("the holder never learns that its session ended")
	}
}

func testElectionOne(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	_, err := e.Leader(s.ctx)
	s.wantErr(err, coord.ErrNotFound)
	a, b := s.session(ttl), s.session(10*ttl)
	la := s.campaign(e, a, "a")
	if again := s.campaign(e, a, "a"); again.Epoch() != la.Epoch() {
		s.Fatalf("the leader campaigned again and got epoch %d, had %d", again.Epoch(), la.Epoch())
	}
	won := s.campaigning(e, b, "b")
	if l, err := e.Leader(s.ctx); err != nil || string(l.Value) != "a" || l.Epoch != la.Epoch() || l.Session != a.ID() {
		s.Fatalf("leader %+v, %v", l, err)
	}
	select {
	case <-won:
		s.Fatal("two leaders")
	default:
	}
	s.Advance(ttl + ttl/10)
	lb := s.elected(won)
	s.heard(la)
	if la.Valid() {
		s.Fatal("the old leadership is valid while the new one holds (C5)")
	}
	if lb.Epoch() <= la.Epoch() || !lb.Valid() {
		s.Fatalf("epoch %d after %d, valid %v", lb.Epoch(), la.Epoch(), lb.Valid())
	}
}

func testElectionFence(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	a, b := s.session(ttl), s.session(10*ttl)
	la := s.campaign(e, a, "a")
	s.txn([]coord.Cond{la.Fence()}, coord.Put("guarded", []byte("a")))
	s.Advance(ttl + ttl/10)
	s.done(a)
	_, err := s.Service.Txn(s.ctx, []coord.Cond{la.Fence()}, []coord.Op{coord.Put("guarded", []byte("late"))})
	s.wantErr(err, coord.ErrConflict)
	lb := s.campaign(e, b, "b")
	_, err = s.Service.Txn(s.ctx, []coord.Cond{la.Fence()}, []coord.Op{coord.Put("guarded", []byte("later"))})
	s.wantErr(err, coord.ErrConflict)
	s.txn([]coord.Cond{lb.Fence()}, coord.Put("guarded", []byte("b")))
	if v := string(s.get("guarded").Value); v != "b" {
		s.Fatalf("guarded key holds %q", v)
	}
}

func testElectionResign(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	a, b := s.session(time.Hour), s.session(time.Hour)
	la := s.campaign(e, a, "a")
	won := s.campaigning(e, b, "b")
	if err := la.Resign(s.ctx); err != nil {
		s.Fatal(err)
	}
	lb := s.elected(won)
	// A second resignation of the first must not hit its successor.
	if err := la.Resign(s.ctx); err != nil {
		s.Fatal(err)
	}
	if l, err := e.Leader(s.ctx); err != nil || l.Epoch != lb.Epoch() {
		s.Fatalf("leader %+v, %v; want epoch %d", l, err, lb.Epoch())
	}
}

func testElectionObserve(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	ctx, cancel := context.WithCancel(s.ctx)
	seen := make(chan coord.Leader, 16)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := e.Observe(ctx, func(l coord.Leader) { seen <- l }); !errors.Is(err, context.Canceled) {
			s.Errorf("observe ended with %v", err)
		}
	})
	expect := func(value string) {
		s.Helper()
		select {
		case l := <-seen:
			if string(l.Value) != value {
				s.Fatalf("observed %q, want %q", l.Value, value)
			}
		case <-s.ctx.Done():
			s.Fatalf("did not observe %q", value)
		}
	}
	expect("")
	s.put("leader of something else", "x")
	a, b := s.session(time.Hour), s.session(time.Hour)
	s.campaign(e, a, "a")
	expect("a")
	if err := a.Close(s.ctx); err != nil {
		s.Fatal(err)
	}
	expect("")
	s.campaign(e, b, "b")
	expect("b")
	cancel()
	wg.Wait()
}

func testElectionCandidateEnds(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	a, b, c := s.session(time.Hour), s.session(ttl), s.session(time.Hour)
	s.campaign(e, a, "a")
	lost := make(chan error, 1)
	gaveUp := make(chan error, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	go func() { _, err := e.Campaign(s.ctx, b, nil); lost <- err }()
	go func() { _, err := e.Campaign(ctx, c, nil); gaveUp <- err }()
	cancel()
	s.wantErr(<-gaveUp, context.Canceled)
	s.Advance(ttl + ttl/10)
	s.wantErr(<-lost, coord.ErrSessionExpired)
}

// Many candidates, each leading a few times and ending in one of three ways. At every moment at most one believes, with Valid, to lead;
// epochs grow; what is guarded by the fence is written in the order of epochs.
func testElectionStorm(s *suite) {
	e := coord.NewElection(s.Service, "leader")
	var holder atomic.Int64 // the candidate inside; 0 if none
	var mu sync.Mutex
	var epochs []coord.Revision
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for round := range 5 {
				sess, err := s.Service.NewSession(s.ctx, time.Hour)
				if err != nil {
					s.Error(err)
					return
				}
				l, err := e.Campaign(s.ctx, sess, fmt.Append(nil, i))
				if err != nil {
					s.Errorf("candidate %d: %v", i, err)
					return
				}
				if !holder.CompareAndSwap(0, int64(i+1)) {
					s.Errorf("candidate %d elected while %d leads", i, holder.Load()-1)
				}
				mu.Lock()
				epochs = append(epochs, l.Epoch())
				mu.Unlock()
				if _, err := s.Service.Txn(s.ctx, []coord.Cond{l.Fence()}, []coord.Op{coord.Put("guarded", fmt.Append(nil, l.Epoch()))}); err != nil {
					s.Errorf("leader %d is fenced: %v", i, err)
				}
				if !l.Valid() {
					s.Errorf("leader %d is not valid", i)
				}
				holder.Store(0)
				if round%2 == 0 {
					err = l.Resign(s.ctx)
				}
				if err = errors.Join(err, sess.Close(s.ctx)); err != nil {
					s.Error(err)
				}
				if l.Valid() {
					s.Errorf("leadership %d is valid after its session", i)
				}
			}
		})
	}
	wg.Wait()
	for i := 1; i < len(epochs); i++ {
		if epochs[i] <= epochs[i-1] {
			s.Fatalf("epoch %d after %d", epochs[i], epochs[i-1])
		}
	}
	if len(epochs) != 30 {
		s.Fatalf("%d elections, want 30", len(epochs))
	}
}
