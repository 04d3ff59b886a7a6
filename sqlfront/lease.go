package sqlfront

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"moka/kv/boottime"
)

// lease is how long a server goes by accounts without having looked for newer ones: what makes REVOKE act
// at once on all SQL nodes, as a schema lease does for tables.
//
//	node 0: REVOKE is saved ──── waits a lease, and a little ────▶ OK
//	node 1:      ▲ the last look that missed it      ▲ until here node 1 goes by that
//
// A statement that finds a new version of the catalog looks by itself. One in a transaction that is open
// sees the catalog of its beginning: it goes by the accounts in memory as long as the lease of the last look
// runs. The server looks twice in a lease, so that statements do not have to; they do when that is late, and
// where the store does not answer they are refused. Who takes rights away answers when every lease that
// began before is over, if there is another SQL node at all.
//
// Rejected: reading the newest version in each statement of a transaction, which is a round trip for each;
// answers of the nodes, which take longer than the lease where a node is gone.
type lease struct {
	term  time.Duration
	until atomic.Int64  // by boottime
	turn  chan struct{} // held by the statement that looks
}

func newLease(term time.Duration) *lease {
	return &lease{term: term, turn: make(chan struct{}, 1)}
}

// runs reports whether accounts that are in memory may be gone by.
func (l *lease) runs() bool { return boottime.Now() < time.Duration(l.until.Load()) }

// renew makes the lease run from the beginning of a look that has succeeded.
func (l *lease) renew(began time.Duration) {
	until := int64(began + l.term)
	for was := l.until.Load(); was < until && !l.until.CompareAndSwap(was, until); was = l.until.Load() {
	}
}

// keepUp looks for changes of accounts unless the lease runs. One statement looks for all that wait.
func (s *Server) keepUp(ctx context.Context) error {
	l := s.lease
	if l.runs() {
		return nil
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.turn }()
	if l.runs() {
		return nil
	}
	if err := s.lookAround(ctx); err != nil {
		return fmt.Errorf("whether accounts were changed elsewhere cannot be known; try again: %w", err)
	}
	return nil
}

// spread waits until no SQL node goes by accounts that are older than what this one has saved.
func (s *Server) spread(ctx context.Context) error {
	if others, err := s.node.Others(ctx); err == nil && !others {
		return nil
	}
	over := time.NewTimer(s.lease.term + s.lease.term/16) // clocks do not run at the same rate
	defer over.Stop()
	select {
	case <-over.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
