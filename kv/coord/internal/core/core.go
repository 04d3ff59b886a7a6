// Package core is the state machine behind coord's in-process services: keys, sessions, watchers and the one
// revision counter, with a journal that makes a change durable before anybody can see it. mem runs it without
// a journal, local with one on the node's Pebble.
//
// Two locks, always taken in this order:
//
//	writing  one change at a time, from its conditions through the journal's sync to its publication
//	mu       the published state; held for memory work only, so that Alive, KeepAlive, Get and Watch
//	         never wait for a disk
//
// Nobody but the holder of writing changes keys, rev or the set of sessions; that is why a change may be prepared
// against them without mu being held throughout.
package core

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"moka/kv/coord"
)

// Limits of a request. The service keeps everything in memory and is meant for metadata.
const (
	MaxKeyLen   = 1024
	MaxValueLen = 64 << 10
	MaxOps      = 128
	MaxTTL      = time.Hour
)

// Journal makes changes durable. Commit is atomic and returns when the change survives a crash; after an
// error the change may or may not be there, and the service takes no further change. coord.ErrInvalid refuses
// a change, to which nothing has happened.
type Journal interface {
	Commit(Change) error
}

// Change is what one revision does to the durable state.
type Change struct {
	Rev    coord.Revision
	Put    []coord.KV
	Delete []string
	Open   []SessionRecord
	End    []coord.SessionID
}

// SessionRecord is the durable part of a session. Deadlines are not in it: they belong to the clock of a running process.
type SessionRecord struct {
	ID  coord.SessionID
	TTL time.Duration
	// Detached marks a session whose holder lives in another process and so may survive a restart of this one.
	Detached bool
}

// State is what a journal brings back at open. Sessions in it start with a fresh TTL.
type State struct {
	Rev      coord.Revision
	Keys     []coord.KV
	Sessions []SessionRecord
}

// Options of a Service; zero values mean the defaults.
type Options struct {
	Clock       coord.Clock // default coord.SystemClock
	WatchBuffer int         // events a watcher may lag behind before it ends with ErrWatchGap; default 256
	History     int         // past events kept for watchers that start in the past; default 4096
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = coord.SystemClock
	}
	if o.WatchBuffer <= 0 {
		o.WatchBuffer = 256
	}
	if o.History <= 0 {
		o.History = 4096
	}
	return o
}

// Service implements coord.Service.
type Service struct {
	opts    Options
	journal Journal       // nil: memory only
	writing chan struct{} // a mutex of capacity one, so that waiting for it heeds a context
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		rev      coord.Revision
		keys     btree.Map[string, coord.KV]
		sessions map[coord.SessionID]*session
		watchers map[*watcher]struct{}
		history  []coord.Event
		floor    coord.Revision // history is complete for revisions greater than this
		failed   error          // the journal's error; set once
		closed   bool
	}
}

var _ coord.Service = (*Service)(nil)

// New starts a service from a state. The journal may be nil.
func New(st State, j Journal, o Options) *Service {
	s := &Service{opts: o.withDefaults(), journal: j, writing: make(chan struct{}, 1)}
	s.mu.rev, s.mu.floor = st.Rev, st.Rev
	s.mu.sessions = make(map[coord.SessionID]*session)
	s.mu.watchers = make(map[*watcher]struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range st.Sessions {
		s.openLocked(r)
	}
	for _, kv := range st.Keys {
		s.mu.keys.Set(kv.Key, kv)
		if sess := s.mu.sessions[kv.Session]; sess != nil {
			sess.keys[kv.Key] = struct{}{}
		}
	}
	return s
}

// Close ends every watcher and every session handle of this process, and waits for what is under way. Durable state stays as it is.
func (s *Service) Close() error {
	s.mu.Lock()
	s.mu.closed = true
	for _, sess := range s.mu.sessions {
		sess.state.Store(ended)
		sess.stopTimer()
		sess.finish()
	}
	for w := range s.mu.watchers {
		s.dropLocked(w, fail("watch", "", coord.CodeUnavailable, errClosed))
	}
	s.mu.Unlock()
	s.running.Wait()
	s.writing <- struct{}{} // a Txn that was past its check finishes first
	<-s.writing
	return nil
}

// Stats is a snapshot for operators.
type Stats struct {
	Revision                 coord.Revision
	Keys, Sessions, Watchers int
}

func (s *Service) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Revision: s.mu.rev, Keys: s.mu.keys.Len(), Sessions: len(s.mu.sessions), Watchers: len(s.mu.watchers)}
}

func (s *Service) Get(ctx context.Context, key string) (coord.KV, error) {
	if err := s.usable(ctx, "get"); err != nil {
		return coord.KV{}, err
	}
	s.mu.Lock()
	kv, ok := s.mu.keys.Get(key)
	s.mu.Unlock()
	if !ok {
		return coord.KV{}, fail("get", key, coord.CodeNotFound, nil)
	}
	return clone(kv), nil
}

func (s *Service) List(ctx context.Context, prefix string) ([]coord.KV, coord.Revision, error) {
	if err := s.usable(ctx, "list"); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []coord.KV
	s.mu.keys.Ascend(prefix, func(key string, kv coord.KV) bool {
		if !hasPrefix(key, prefix) {
			return false
		}
		out = append(out, clone(kv))
		return true
	})
	return out, s.mu.rev, nil
}

// usable is the common entry check. Reads go on after a failed journal: what they show is durable, and the change
// whose outcome is unknown may take effect at any later moment, as such a change may.
func (s *Service) usable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return fail(op, "", coord.CodeUnavailable, errClosed)
	}
	return nil
}

// writable takes the writing lock; the caller releases it.
func (s *Service) writable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	cause := s.mu.failed
	if s.mu.closed {
		cause = errClosed
	}
	if cause != nil {
		<-s.writing
		return fail(op, "", coord.CodeUnavailable, cause)
	}
	return nil
}

// persist makes c durable. Expects writing to be held and mu not.
func (s *Service) persist(op string, c Change) error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Commit(c); err != nil {
		if errors.Is(err, coord.ErrInvalid) {
			return err
		}
		s.mu.Lock()
		s.mu.failed = err
		s.mu.Unlock()
		return fail(op, "", coord.CodeOutcomeUnknown, err)
	}
	return nil
}

// publishLocked moves the visible state to c, whose events are those that watchers see.
func (s *Service) publishLocked(c Change, events []coord.Event) {
	s.mu.rev = c.Rev
	for _, key := range c.Delete {
		if old, ok := s.mu.keys.Delete(key); ok {
			s.detachKeyLocked(old)
		}
	}
	for _, kv := range c.Put {
		if old, ok := s.mu.keys.Set(kv.Key, kv); ok {
			s.detachKeyLocked(old)
		}
		if sess := s.mu.sessions[kv.Session]; sess != nil {
			sess.keys[kv.Key] = struct{}{}
		}
	}
	if len(events) == 0 {
		return
	}
	for w := range s.mu.watchers {
		s.deliverLocked(w, events)
	}
	s.mu.history = append(s.mu.history, events...)
	s.trimHistoryLocked()
}

func (s *Service) detachKeyLocked(kv coord.KV) {
	if sess := s.mu.sessions[kv.Session]; sess != nil {
		delete(sess.keys, kv.Key)
	}
}

// trimHistoryLocked forgets whole revisions from the old end. It waits for twice the size, so that the copying is amortised.
func (s *Service) trimHistoryLocked() {
	h := s.mu.history
	if len(h) <= 2*s.opts.History {
		return
	}
	cut := len(h) - s.opts.History
	s.mu.floor = h[cut-1].KV.ModRev
	for cut < len(h) && h[cut].KV.ModRev == s.mu.floor {
		cut++
	}
	s.mu.history = append([]coord.Event(nil), h[cut:]...)
}

var errClosed = errors.New("the service was closed")

func fail(op, key string, code coord.Code, cause error) error {
	return &coord.Error{Code: code, Op: op, Key: key, Err: cause}
}

func clone(kv coord.KV) coord.KV {
	kv.Value = append([]byte(nil), kv.Value...)
	return kv
}

func hasPrefix(key, prefix string) bool {
	return len(key) >= len(prefix) && key[:len(prefix)] == prefix
}

// sessionState moves forward only.
type sessionState = int32

const (
	live   sessionState = iota
	ending              // decided, not yet durable: invalid to its holder, still alive to others
	ended
)

type session struct {
	svc      *Service
	rec      SessionRecord
	state    atomic.Int32
	done     chan struct{}
	doneOnce sync.Once

	// Guarded by svc.mu.
	expires time.Time
	timer   coord.Timer
	keys    map[string]struct{}
}
