package coord

import (
	"context"
	"time"
)

// Revision counts the changes of a coordination store. It only grows, also across restarts, so a revision
// serves as a fencing token wherever "later" must be decided without a clock.
type Revision uint64

// SessionID names one incarnation of one participant. It is never given out twice and a dead one never
// comes back to life: that makes it the token a Percolator lock carries for its owner. Zero is no session.
type SessionID uint64

// KV is one key with its history in three numbers.
type KV struct {
	Key       string
	Value     []byte
	CreateRev Revision  // the change that brought the key into being; a later deletion and creation gives a greater one
	ModRev    Revision  // the change that gave the key its present value
	Session   SessionID // the key goes when this session ends; zero for a key that stays
}

// Service is the coordination service (Chubby's part in Bigtable and Percolator). It is small, strongly
// consistent and slow: nothing on the path of a read or a write of user data waits for it.
//
// Byte slices that go in are copied; those that come out are the caller's.
type Service interface {
	// Get returns one key, or an error that is ErrNotFound.
	Get(ctx context.Context, key string) (KV, error)

	// List returns the keys that begin with prefix in ascending order, and the revision as of which they
	// are complete: Watch(ctx, prefix, rev) continues exactly there.
	List(ctx context.Context, prefix string) ([]KV, Revision, error)

	// Txn applies all ops in one atomic step if every condition holds, and returns the revision of the step.
	// A condition that fails is an *Error with ErrConflict's code and the key; nothing has changed then.
	// ErrOutcomeUnknown means that the step may or may not have been taken: read before trying again.
	// Without ops it is a consistent check and returns the current revision.
	Txn(ctx context.Context, conds []Cond, ops []Op) (Revision, error)

	// NewSession opens a session that lives as long as KeepAlive is called more often than every ttl.
	NewSession(ctx context.Context, ttl time.Duration) (Session, error)

	// Alive reports whether a session still lives. False is final and certain: the session's keys are gone
	// and no later call says true, so whoever resolves a lock may act on it. An error means not known, and
	// must never be read as dead.
	Alive(ctx context.Context, id SessionID) (bool, error)

	// Watch delivers every change of keys under prefix whose revision is greater than after, in order. A
	// watcher that cannot have all of them (too far back, or its buffer overflowed) ends with ErrWatchGap:
	// List again and watch from the revision List returned. The end of ctx closes the watcher.
	Watch(ctx context.Context, prefix string, after Revision) (Watcher, error)
}

// Session is a lease, held by whoever opened it. See [KeepAlive] for the loop that keeps one.
type Session interface {
	ID() SessionID
	TTL() time.Duration

	// KeepAlive prolongs the lease by TTL from now. ErrSessionExpired is final; any other error leaves the
	// lease running as it was.
	KeepAlive(ctx context.Context) error

	// Valid reports whether the session was alive at the service at some moment during this call, which
	// makes it the check to run between preparing an answer and giving it: what the session guards
	// (an ephemeral key, an election) cannot have passed to anybody else before that moment.
	// It is cheap, never blocks, and may err only towards false. Implementations inside the service's
	// process answer exactly, without trusting a clock; one behind a network answers from the send time of
	// the last acknowledged KeepAlive on a clock that also counts suspension, less a margin for drift.
	Valid() bool

	// Done is closed when the session has ended, for whatever reason. It may lag behind Valid.
	Done() <-chan struct{}

	// Close ends the session and deletes its keys. Closing an ended session is no error.
	Close(ctx context.Context) error
}

// Watcher is a running Watch. Events of one revision are never separated by events of another.
type Watcher interface {
	// Events is closed when the watcher ends; events that were buffered before are still delivered.
	Events() <-chan Event
	// Err says why Events was closed: ErrWatchGap, ErrUnavailable, or nil after Close or the end of ctx.
	Err() error
	// Close ends the watcher. It may be called twice.
	Close()
}

// EventType tells a put from a deletion.
type EventType uint8

const (
	EventPut EventType = iota + 1
	EventDelete
)

func (t EventType) String() string {
	switch t {
	case EventPut:
		return "put"
	case EventDelete:
		return "delete"
	}
	return "unknown"
}

// Event is one change of one key. For a deletion, KV holds the key, the CreateRev and Session it had, and the revision
// of the deletion as ModRev; there is no value.
type Event struct {
	Type EventType
	KV   KV
}

// Cond is a condition of a Txn; make one with Absent, AtModRev or AtCreateRev.
type Cond struct {
	Key    string
	Target CondTarget
	Rev    Revision
}

// CondTarget is the number of a key that a condition compares.
type CondTarget uint8

const (
	CondModRev CondTarget = iota + 1
	CondCreateRev
)

// Absent holds when the key does not exist.
func Absent(key string) Cond { return Cond{Key: key, Target: CondModRev} }

// AtModRev holds when the key's value is the one set at rev: compare-and-swap. Rev zero means absent.
func AtModRev(key string, rev Revision) Cond { return Cond{Key: key, Target: CondModRev, Rev: rev} }

// AtCreateRev holds when the key exists since rev without a gap, whatever its value. With the key of an election it
// is a fence: see Leadership.Fence.
func AtCreateRev(key string, rev Revision) Cond {
	return Cond{Key: key, Target: CondCreateRev, Rev: rev}
}

// Op is one change of a Txn; make one with Put, PutEphemeral or Delete. A Txn may touch a key once.
type Op struct {
	Type    EventType
	Key     string
	Value   []byte
	Session SessionID
}

// Put sets a key that stays. Put on an ephemeral key makes it stay.
func Put(key string, value []byte) Op { return Op{Type: EventPut, Key: key, Value: value} }

// PutEphemeral sets a key that is deleted when the session ends. If it has ended already, the Txn fails with
// ErrSessionExpired.
func PutEphemeral(key string, value []byte, s SessionID) Op {
	return Op{Type: EventPut, Key: key, Value: value, Session: s}
}

// Delete removes a key; removing one that does not exist is no error and no event.
func Delete(key string) Op { return Op{Type: EventDelete, Key: key} }

// Clock is the time of a service. The zero choice, SystemClock, also follows a testing/synctest bubble; a test outside
// a bubble brings a clock that it moves by hand (coordtest.Clock).
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is what AfterFunc returns; *time.Timer is one.
type Timer interface {
	Stop() bool
}

// SystemClock is the machine's clock. Lease arithmetic uses the monotonic reading that time.Now carries, so setting
// the wall clock neither ends nor prolongs a session.
var SystemClock Clock = systemClock{}

type systemClock struct{}

func (systemClock) Now() time.Time                            { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
