package namedlock

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Options are settings of Locks.
type Options struct {
	// Client is where the locks are. Required.
	Client *txn.Client
	// Lease is how long a lock outlives its node. Default 10 s.
	Lease time.Duration
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

// Locks are the named locks of a SQL node's sessions.
type Locks struct {
	opts     Options
	node     uint64
	sessions atomic.Uint64

	mu       sync.Mutex
	holders  map[*Held]bool
	released chan struct{} // closed and replaced when a session of this node releases a lock

	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// New starts to keep locks. Close ends that.
func New(o Options) *Locks {
	if o.Lease <= 0 {
		o.Lease = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l := &Locks{opts: o, node: rand.Uint64(), holders: map[*Held]bool{}, released: make(chan struct{}),
		cancel: cancel}
	l.tasks.Go(func() { l.keep(ctx) })
	return l
}

// Close stops renewing. What sessions still hold is free when its time is over.
func (l *Locks) Close() {
	l.cancel()
	l.tasks.Wait()
}

const (
	firstWait = 10 * time.Millisecond
	mostWait  = 250 * time.Millisecond
)

// acquire waits until the lock is h's, ctx ends or the timeout is over; it is negative for ever.
func (l *Locks) acquire(ctx context.Context, h *Held, name string, timeout time.Duration) (bool, error) {
	var over <-chan time.Time
	if timeout >= 0 {
		t := time.NewTimer(timeout)
		defer t.Stop()
		over = t.C
	}
	for wait := firstWait; ; wait = min(2*wait, mostWait) {
		l.mu.Lock()
		released := l.released // before the look: a release after it is not missed
		l.mu.Unlock()
		got, err := l.try(ctx, h, name)
		if got || err != nil || timeout == 0 {
			return got, err
		}
		look := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-released:
		case <-look.C:
		case <-over:
			look.Stop()
			return false, nil
		case <-ctx.Done():
			look.Stop()
			return false, context.Cause(ctx)
		}
		look.Stop()
	}
}

// try takes the lock if it is free.
func (l *Locks) try(ctx context.Context, h *Held, name string) (bool, error) {
	t := l.opts.Client.Begin(txn.TxnOptions{})
	defer t.Rollback()
	r, ok, err := l.read(ctx, t, name)
	if err != nil || ok && r.owner != h.owner {
		return false, err
	}
	// What h had and has lost the count of (a commit whose answer was lost) it may have again.
	l.write(t, h, name)
	if _, err = t.Commit(ctx); errors.Is(err, txn.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// read says who has the lock, or had it last. ok is false if nobody has.
func (l *Locks) read(ctx context.Context, t *txn.Txn, name string) (r record, ok bool, err error) {
	b, ok, err := t.Get(ctx, cell(name))
	if err != nil || !ok {
		return record{}, false, err
	}
	if r, err = decode(b); err != nil {
		return record{}, false, err
	}
	return r, r.until > t.Snapshot().Physical(), nil
}

func (l *Locks) write(t *txn.Txn, h *Held, name string) {
	r := record{owner: h.owner, connection: h.connection,
		until: t.Snapshot().Physical() + l.opts.Lease.Milliseconds()}
	t.Put(cell(name), r.encode(), txn.WriteOptions{})
}

// attempts bounds how often a change of several locks is run again after a conflict.
const attempts = 20

// change runs f on those of the locks that still are h's, and reports which these were.
func (l *Locks) change(ctx context.Context, h *Held, names []string,
	f func(t *txn.Txn, name string)) (own []string, err error) {
	for range attempts {
		own = own[:0]
		t := l.opts.Client.Begin(txn.TxnOptions{})
		for _, name := range names {
			r, _, err := l.read(ctx, t, name)
			if err != nil {
				t.Rollback()
				return nil, err
			}
			if r.owner == h.owner { // even when its time is over: nobody has taken it since
				own = append(own, name)
				f(t, name)
			}
		}
		if len(own) > 0 {
			_, err = t.Commit(ctx)
		}
		t.Rollback()
		if !errors.Is(err, txn.ErrConflict) {
			return own, err
		}
	}
	return nil, err
}

// release frees those of the locks that still are h's.
func (l *Locks) release(ctx context.Context, h *Held, names []string) error {
	_, err := l.change(ctx, h, names, func(t *txn.Txn, name string) {
		t.Delete(cell(name), txn.WriteOptions{})
	})
	l.mu.Lock()
	close(l.released)
	l.released = make(chan struct{})
	l.mu.Unlock()
	return err
}

// holder is the connection that has a lock.
func (l *Locks) holder(ctx context.Context, name string) (connection uint32, ok bool, err error) {
	t := l.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	r, ok, err := l.read(ctx, t, name)
	return r.connection, ok, err
}

// Taken reports whether somebody has the lock of that name, as it is stored.
func (l *Locks) Taken(ctx context.Context, name string) (bool, error) {
	_, ok, err := l.holder(ctx, name)
	return ok, err
}

// TakenOf reports how many of the locks whose names begin so somebody has.
func (l *Locks) TakenOf(ctx context.Context, prefix string) (n int, err error) {
	t := l.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	first, end := cell(prefix), []byte(prefix)
	end[len(end)-1]++ // prefixes of nodes do not end in 255
	s := t.Scan(ctx, txn.ScanOptions{Span: kv.Span{Start: first.Row, End: cell(string(end)).Row}})
	for s.Next() {
		r, err := decode(s.Value())
		if err != nil || r.until > t.Snapshot().Physical() {
			n++ // of one that cannot be read nobody knows that it is free
		}
	}
	return n, errors.Join(s.Err(), s.Close())
}

// keep renews the locks of all sessions.
func (l *Locks) keep(ctx context.Context) {
	tick := time.NewTicker(l.opts.Lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		holders := make([]*Held, 0, len(l.holders))
		for h := range l.holders {
			holders = append(holders, h)
		}
		l.mu.Unlock()
		for _, h := range holders {
			h.renew(ctx)
		}
	}
}

func cell(name string) kv.Column { return catalog.NamedLockCell(name) }

// longest is how many characters a lock's name may have.
const longest = 64

// fold makes the name of a lock of what a user calls it: names are compared without case.
func fold(name any) (string, error) {
	s, _ := name.(string)
	if n := len([]rune(s)); n == 0 || n > longest {
		if name == nil {
			s = "NULL"
		}
		return "", sqlerr.New(sqlerr.WrongLockName, "Incorrect user-level lock name '%s'.", s)
	}
	return strings.ToLower(s), nil
}
