package coordtest

import (
	"sync"
	"time"

	"moka/kv/coord"
)

const ttl = 3 * time.Second

func testSessionLife(s *suite) {
	sess := s.session(ttl)
	if sess.ID() == 0 || sess.TTL() != ttl || !sess.Valid() || !s.alive(sess.ID()) {
		s.Fatalf("new session: id %d ttl %v valid %v", sess.ID(), sess.TTL(), sess.Valid())
	}
	s.txn(nil, coord.PutEphemeral("e", []byte("x"), sess.ID()))
	if kv := s.get("e"); kv.Session != sess.ID() {
		s.Fatalf("ephemeral key belongs to %d, want %d", kv.Session, sess.ID())
	}
	for range 5 {
		s.Advance(ttl * 2 / 3)
		if err := sess.KeepAlive(s.ctx); err != nil {
			s.Fatalf("keep alive: %v", err)
		}
	}
	if !sess.Valid() || !s.alive(sess.ID()) {
		s.Fatal("a session that was kept alive has ended")
	}
	s.get("e")
	if s.alive(0) || s.alive(sess.ID()+1000) {
		s.Fatal("sessions that never were are alive")
	}
}

func testSessionExpiry(s *suite) {
	sess, other := s.session(ttl), s.session(10*ttl)
	s.txn(nil, coord.PutEphemeral("e/1", nil, sess.ID()), coord.PutEphemeral("e/2", nil, sess.ID()), coord.PutEphemeral("e/3", nil, other.ID()))
	s.put("stays", "")
	// Whoever sees the session dead sees its keys gone (C4), and the other way round.
	var wg sync.WaitGroup
	wg.Go(func() {
		for s.ctx.Err() == nil {
			before, err := s.Service.Alive(s.ctx, sess.ID())
			if err != nil {
				s.Error(err)
				return
			}
			keys, _, err := s.Service.List(s.ctx, "e/")
			if err != nil {
				s.Error(err)
				return
			}
			if !before && len(keys) != 1 {
				s.Errorf("session is dead, %d keys of it are there", len(keys)-1)
			}
			if len(keys) == 2 {
				s.Error("half of the session's keys are gone")
			}
			if !before {
				return
			}
		}
	})
	s.Advance(ttl + ttl/10)
	s.done(sess)
	wg.Wait()
	if sess.Valid() || s.alive(sess.ID()) {
		s.Fatal("an expired session is alive")
	}
	s.wantErr(sess.KeepAlive(s.ctx), coord.ErrSessionExpired)
	_, err := s.Service.Txn(s.ctx, nil, []coord.Op{coord.PutEphemeral("late", nil, sess.ID())})
	s.wantErr(err, coord.ErrSessionExpired)
	s.absent("late")
	s.absent("e/1")
	s.absent("e/2")
	s.get("e/3")
	s.get("stays")
	s.Advance(ttl)
	if s.alive(sess.ID()) || !other.Valid() {
		s.Fatal("the dead came back, or the living went")
	}
	if err := sess.Close(s.ctx); err != nil {
		s.Fatalf("close of an ended session: %v", err)
	}
}

func testSessionClose(s *suite) {
	sess := s.session(time.Hour)
	s.txn(nil, coord.PutEphemeral("e", nil, sess.ID()))
	if err := sess.Close(s.ctx); err != nil {
		s.Fatal(err)
	}
	s.done(sess)
	s.absent("e")
	if sess.Valid() || s.alive(sess.ID()) {
		s.Fatal("a closed session is alive")
	}
	s.wantErr(sess.KeepAlive(s.ctx), coord.ErrSessionExpired)
}

func testSessionIDs(s *suite) {
	var mu sync.Mutex
	seen := make(map[coord.SessionID]bool)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				sess, err := s.Service.NewSession(s.ctx, ttl)
				if err != nil {
					s.Error(err)
					return
				}
				mu.Lock()
				if seen[sess.ID()] {
					s.Errorf("session id %d twice", sess.ID())
				}
				seen[sess.ID()] = true
				mu.Unlock()
				if err := sess.Close(s.ctx); err != nil {
					s.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func testEphemeralLasting(s *suite) {
	a, b := s.session(ttl), s.session(ttl)
	s.txn(nil, coord.PutEphemeral("lasting", nil, a.ID()), coord.PutEphemeral("handed over", nil, a.ID()))
	s.put("lasting", "")
	s.txn(nil, coord.PutEphemeral("handed over", nil, b.ID()))
	if err := a.Close(s.ctx); err != nil {
		s.Fatal(err)
	}
	s.get("lasting")
	s.get("handed over")
	if err := b.Close(s.ctx); err != nil {
		s.Fatal(err)
	}
	s.get("lasting")
	s.absent("handed over")
}
