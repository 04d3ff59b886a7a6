package oracle

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"moka/kv"
)

// counters are the totals of finished terms and of events off the hot path. The hot path counts in the term,
// under the lock it holds anyway.
type counters struct {
	terms, batches, issued, waits, raises, raiseErrors, withheld atomic.Uint64
}

// Metrics is a snapshot of one Server.
type Metrics struct {
	Leading bool
	Epoch   uint64 // of the present term; 0 while following
	Terms   uint64 // leaderships held
	Batches uint64 // answered calls
	Issued  uint64 // timestamps handed out
	// calls that found no reserved timestamp and waited for the coordination service
	Waits       uint64
	Raises      uint64        // reservations made durable
	RaiseErrors uint64        // reservations that failed
	Withheld    uint64        // answers not given because the leadership was gone after taking the timestamps
	Next        kv.Timestamp  // the smallest not yet handed out
	Reserved    time.Duration // from Next to the durable ceiling
	// of Next before the clock; more than a few milliseconds: the clock went back, or a burst
	Ahead     time.Duration
	SafePoint kv.Timestamp
}

// Metrics returns a snapshot.
func (s *Server) Metrics() Metrics {
	m := Metrics{
		Terms: s.stats.terms.Load(), Batches: s.stats.batches.Load(), Issued: s.stats.issued.Load(),
		Waits:  s.stats.waits.Load(),
		Raises: s.stats.raises.Load(), RaiseErrors: s.stats.raiseErrors.Load(),
		Withheld: s.stats.withheld.Load(),
	}
	t := s.term.Load()
	if t == nil {
		return m
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m.Leading, m.Epoch = true, t.epoch()
	m.Batches += t.mu.batches
	m.Issued += t.mu.issued
	m.Next, m.SafePoint = t.mu.alloc.next, t.mu.safePoint
	m.Reserved = t.mu.alloc.ceiling.Time().Sub(t.mu.alloc.next.Time())
	m.Ahead = max(0, t.mu.alloc.next.Time().Sub(s.opts.Clock.Now()))
	return m
}

// String is the table that moka ctl status prints.
func (m Metrics) String() string {
	var b strings.Builder
	role := "follower"
	if m.Leading {
		role = fmt.Sprintf("leader of epoch %d", m.Epoch)
	}
	fmt.Fprintf(&b, "oracle: %s (%d terms)\n", role, m.Terms)
	fmt.Fprintf(&b, "  issued    %d timestamps in %d calls, %d waited, %d withheld\n", m.Issued, m.Batches,
		m.Waits, m.Withheld)
	fmt.Fprintf(&b, "  reserved  %v ahead; %d reservations, %d failed\n", m.Reserved, m.Raises, m.RaiseErrors)
	fmt.Fprintf(&b, "  next      %v, %v ahead of the clock\n", m.Next, m.Ahead)
	fmt.Fprintf(&b, "  safepoint %v\n", m.SafePoint)
	return b.String()
}
