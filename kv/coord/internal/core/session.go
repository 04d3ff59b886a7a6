package core

import (
	"context"
	"fmt"
	"slices"
	"time"

	"moka/kv/coord"
)

// NewSession opens a session whose holder lives in this process: a restart of the process ends it.
func (s *Service) NewSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	return s.newSession(ctx, ttl, false)
}

// NewDetachedSession opens a session on behalf of a holder in another process. It survives a restart of this
// one with a fresh TTL, so that remote holders can renew; see Attach.
func (s *Service) NewDetachedSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	return s.newSession(ctx, ttl, true)
}

func (s *Service) newSession(ctx context.Context, ttl time.Duration, detached bool) (coord.Session, error) {
	if ttl < time.Millisecond || ttl > MaxTTL {
		return nil, fail("new session", "", coord.CodeInvalid, fmt.Errorf("ttl %v is not between 1ms and %v", ttl, MaxTTL))
	}
	if err := s.writable(ctx, "new session"); err != nil {
		return nil, err
	}
	defer func() { <-s.writing }()
	s.mu.Lock()
	rev := s.mu.rev + 1
	s.mu.Unlock()
	// The revision that opens a session is its id: durable, never repeated, and no second counter to keep.
	rec := SessionRecord{ID: coord.SessionID(rev), TTL: ttl, Detached: detached}
	change := Change{Rev: rev, Open: []SessionRecord{rec}}
	if err := s.persist("new session", change); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return nil, fail("new session", "", coord.CodeUnavailable, errClosed)
	}
	s.publishLocked(change, nil)
	return s.openLocked(rec), nil
}

// Attach returns a handle of a living session, for a server that keeps sessions for remote holders.
func (s *Service) Attach(ctx context.Context, id coord.SessionID) (coord.Session, error) {
	if err := s.usable(ctx, "attach"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sess := s.mu.sessions[id]
	if sess == nil || sess.state.Load() != live {
		return nil, fail("attach", "", coord.CodeSessionExpired, nil)
	}
	return sess, nil
}

func (s *Service) Alive(ctx context.Context, id coord.SessionID) (bool, error) {
	if err := s.usable(ctx, "alive"); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A session that is ending counts as alive until its end is durable: "dead" must survive a crash (C3).
	return s.mu.sessions[id] != nil, nil
}

func (s *Service) openLocked(r SessionRecord) *session {
	sess := &session{
		svc: s, rec: r, done: make(chan struct{}), keys: make(map[string]struct{}),
		expires: s.opts.Clock.Now().Add(r.TTL),
	}
	s.mu.sessions[r.ID] = sess
	sess.armLocked(r.TTL)
	return sess
}

func (sess *session) armLocked(d time.Duration) {
	sess.timer = sess.svc.opts.Clock.AfterFunc(d, sess.onTimer)
}

func (sess *session) stopTimer() {
	if sess.timer != nil {
		sess.timer.Stop()
	}
}

// onTimer runs in the timer's goroutine. KeepAlive only moves the deadline; the timer looks at it when it fires, so
// that a keep-alive costs no timer operation.
func (sess *session) onTimer() {
	s := sess.svc
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed || sess.state.Load() != live {
		return
	}
	now := s.opts.Clock.Now()
	left := sess.expires.Sub(now)
	if late := -left; late > sess.rec.TTL/4 {
		// The timer itself is this late: the process was stopped (a debugger, SIGSTOP, a machine that swaps) and with it the
		// holders that live here, or nobody could reach it. Their silence proves nothing, so they get a turn to speak
		// first; KeepAlive calls at every third of a TTL.
		left = sess.rec.TTL / 2
		sess.expires = now.Add(left)
	}
	if left > 0 {
		sess.armLocked(left)
		return
	}
	s.beginEndLocked(sess)
}

// beginEndLocked invalidates the session for its holder at once and has the end made durable and visible in a goroutine
// that Close waits for.
func (s *Service) beginEndLocked(sess *session) {
	sess.state.Store(ending)
	sess.stopTimer()
	s.running.Go(func() { s.end(sess) })
}

// end deletes the session and its keys in one step (C4).
func (s *Service) end(sess *session) {
	defer sess.finish()
	if err := s.writable(context.Background(), "end session"); err != nil {
		return // closed or failed: whoever opens the store next decides
	}
	defer func() { <-s.writing }()

	s.mu.Lock()
	change := Change{Rev: s.mu.rev + 1, End: []coord.SessionID{sess.rec.ID}}
	for key := range sess.keys {
		change.Delete = append(change.Delete, key)
	}
	slices.Sort(change.Delete)
	events := make([]coord.Event, 0, len(change.Delete))
	for _, key := range change.Delete {
		kv, _ := s.mu.keys.Get(key)
		events = append(events, deletion(kv, change.Rev))
	}
	s.mu.Unlock()

	if err := s.persist("end session", change); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publishLocked(change, events)
	delete(s.mu.sessions, sess.rec.ID)
	sess.state.Store(ended)
}

func (sess *session) finish() { sess.doneOnce.Do(func() { close(sess.done) }) }

func (sess *session) ID() coord.SessionID   { return sess.rec.ID }
func (sess *session) TTL() time.Duration    { return sess.rec.TTL }
func (sess *session) Done() <-chan struct{} { return sess.done }

// Valid is exact: the state leaves live, under mu, before the session's keys can go.
func (sess *session) Valid() bool { return sess.state.Load() == live }

func (sess *session) KeepAlive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := sess.svc
	s.mu.Lock()
	defer s.mu.Unlock()
	if sess.state.Load() != live {
		return fail("keepalive", "", coord.CodeSessionExpired, nil)
	}
	sess.expires = s.opts.Clock.Now().Add(sess.rec.TTL)
	return nil
}

func (sess *session) Close(ctx context.Context) error {
	s := sess.svc
	s.mu.Lock()
	if sess.state.Load() == live && !s.mu.closed {
		s.beginEndLocked(sess)
	}
	s.mu.Unlock()
	select {
	case <-sess.done:
		return nil
	case <-ctx.Done():
		return ctx.Err() // the end goes on without us
	}
}
