package coord

import (
	"context"
	"errors"
	"time"
)

// Election chooses one leader among those who campaign with the same key. The leader's key is ephemeral to
// its session, and the revision that created it is the epoch: it only grows, and a change guarded by
// Leadership.Fence cannot be made by anybody but the leader of that epoch, however late it arrives.
//
// The key belongs to the election; nothing else may write it. All candidates wait for the same key instead of queueing
// behind one another (as etcd's recipe does): there are a handful of them, and one key makes the fence one comparison.
type Election struct {
	svc Service
	key string
}

// NewElection is an election on one key of svc.
func NewElection(svc Service, key string) *Election { return &Election{svc: svc, key: key} }

// Leader is what an observer of an election sees.
type Leader struct {
	Value   []byte // what the leader campaigned with: its address, as a rule
	Epoch   Revision
	Session SessionID
}

// Leadership is the proof of having been elected.
type Leadership struct {
	election *Election
	session  Session
	epoch    Revision
}

// Campaign blocks until the session's holder is elected, ctx ends, or the session does.
func (e *Election) Campaign(ctx context.Context, s Session, value []byte) (*Leadership, error) {
	for {
		rev, err := e.svc.Txn(ctx, []Cond{Absent(e.key)}, []Op{PutEphemeral(e.key, value, s.ID())})
		if err == nil {
			return &Leadership{election: e, session: s, epoch: rev}, nil
		}
		// After an unknown outcome the key may be ours already, so both cases look before they wait.
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrOutcomeUnknown) {
			return nil, err
		}
		held, rev, err := e.svc.List(ctx, e.key)
		if err != nil {
			return nil, err
		}
		cur, ok := find(held, e.key)
		if !ok {
			continue
		}
		if cur.Session == s.ID() {
			return &Leadership{election: e, session: s, epoch: cur.CreateRev}, nil
		}
		if err := e.awaitVacancy(ctx, s, rev); err != nil {
			return nil, err
		}
	}
}

// awaitVacancy returns nil when it is worth campaigning again: the key was deleted after rev, or the watch broke.
func (e *Election) awaitVacancy(ctx context.Context, s Session, rev Revision) error {
	w, err := e.svc.Watch(ctx, e.key, rev)
	if errors.Is(err, ErrWatchGap) {
		return nil
	}
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		select {
		case ev, ok := <-w.Events():
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case !ok && errors.Is(w.Err(), ErrWatchGap):
				return nil
			case !ok:
				return unavailable("campaign", w.Err())
			case ev.Type == EventDelete && ev.KV.Key == e.key:
				return nil
			}
		case <-s.Done():
			return &Error{Code: CodeSessionExpired, Op: "campaign", Key: e.key}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Leader returns the present leader, or ErrNotFound while there is none.
func (e *Election) Leader(ctx context.Context) (Leader, error) {
	cur, err := e.svc.Get(ctx, e.key)
	if err != nil {
		return Leader{}, err
	}
	return Leader{Value: cur.Value, Epoch: cur.CreateRev, Session: cur.Session}, nil
}

// Observe calls f with the present leader and then after every change, until ctx ends (it returns ctx's error) or the
// service fails. The zero Leader means that there is none. Changes that follow each other quickly may be reported as
// one; the last one is always reported.
func (e *Election) Observe(ctx context.Context, f func(Leader)) error {
	for {
		held, rev, err := e.svc.List(ctx, e.key)
		if err != nil {
			return err
		}
		cur, _ := find(held, e.key)
		f(Leader{Value: cur.Value, Epoch: cur.CreateRev, Session: cur.Session})
		if err := e.observeFrom(ctx, rev, f); !errors.Is(err, ErrWatchGap) {
			return err
		}
	}
}

func (e *Election) observeFrom(ctx context.Context, rev Revision, f func(Leader)) error {
	w, err := e.svc.Watch(ctx, e.key, rev)
	if err != nil {
		return err
	}
	defer w.Close()
	for ev := range w.Events() {
		switch {
		case ev.KV.Key != e.key:
		case ev.Type == EventDelete:
			f(Leader{})
		default:
			f(Leader{Value: ev.KV.Value, Epoch: ev.KV.CreateRev, Session: ev.KV.Session})
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.Err() != nil:
		return w.Err()
	}
	return unavailable("observe", nil)
}

// Epoch is the number of this leadership; every later leader has a greater one.
func (l *Leadership) Epoch() Revision { return l.epoch }

// Session is the session that holds the leadership.
func (l *Leadership) Session() Session { return l.session }

// Fence is the condition that holds as long as this leadership does. A Txn that carries it cannot take effect after
// a successor was elected, no matter how long it was delayed: the fence is the stored epoch, not a clock.
func (l *Leadership) Fence() Cond { return AtCreateRev(l.election.key, l.epoch) }

// Valid reports whether the leadership was held at some moment during this call. The election's key goes only by
// Resign or with the session (C4), so as long as the holder does not resign, the session's answer is the leadership's.
func (l *Leadership) Valid() bool { return l.session.Valid() }

// Done is closed when the session has ended.
func (l *Leadership) Done() <-chan struct{} { return l.session.Done() }

// Resign gives up the leadership at once, without waiting for the session to end. The caller must have stopped acting
// as leader before: Valid does not know of it. Resigning a lost leadership is no error.
func (l *Leadership) Resign(ctx context.Context) error {
	_, err := l.election.svc.Txn(ctx, []Cond{l.Fence()}, []Op{Delete(l.election.key)})
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}

// KeepAlive keeps s alive until ctx ends (nil) or the session does (ErrSessionExpired). It calls three times for each
// TTL, so one lost call costs nothing. The caller owns the goroutine it runs in:
//
//	wg.Go(func() { lost <- coord.KeepAlive(ctx, session) })
func KeepAlive(ctx context.Context, s Session) error {
	t := time.NewTicker(max(s.TTL()/3, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.Done():
			return &Error{Code: CodeSessionExpired, Op: "keepalive"}
		case <-t.C:
		}
		call, cancel := context.WithTimeout(ctx, s.TTL()/3)
		err := s.KeepAlive(call)
		cancel()
		// Every other error is a service that does not answer: the session's own end bounds the retrying.
		if errors.Is(err, ErrSessionExpired) {
			return err
		}
	}
}

func find(kvs []KV, key string) (KV, bool) {
	for _, kv := range kvs {
		if kv.Key == key {
			return kv, true
		}
	}
	return KV{}, false
}

func unavailable(op string, cause error) error {
	return &Error{Code: CodeUnavailable, Op: op, Err: cause}
}
