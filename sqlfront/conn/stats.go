package conn

import (
	"sync"
	"sync/atomic"
)

// counters are the server's own; Stats is a copy of them.
type counters struct {
	accepted, refused, aborted atomic.Int64
	retries, gaveUp, panics    atomic.Int64
	slow                       atomic.Int64
	failedLogins, delayed      atomic.Int64
	statements                 [verbs]atomic.Int64

	mu     sync.Mutex
	errors map[int]int64
}

func (c *counters) statement(v verb) { c.statements[v].Add(1) }

func (c *counters) failed(code int) {
	c.mu.Lock()
	if c.errors == nil {
		c.errors = map[int]int64{}
	}
	c.errors[code]++
	c.mu.Unlock()
}

// Stats is what the server has done since it started.
type Stats struct {
	Connections int64 // open now
	Accepted    int64
	Refused     int64 // over max_connections, or while draining
	Aborted     int64 // did not log in
	LoginsWrong int64 // were refused at the door: password, transport, unknown account
	LoginsLate  int64 // had to wait because of wrong passwords before
	Retries     int64 // statements run again after a conflict
	GaveUp      int64 // statements that failed in the end although they were run again
	Panics      int64
	Slow        int64            // statements in the slow log
	Statements  map[string]int64 // by kind
	Errors      map[int]int64    // by number
}

// Stats returns a snapshot.
func (s *Server) Stats() Stats {
	out := Stats{
		Connections: s.gate.count.Load(), Accepted: s.counts.accepted.Load(),
		Refused: s.counts.refused.Load(),
		Aborted: s.counts.aborted.Load(), Retries: s.counts.retries.Load(), GaveUp: s.counts.gaveUp.Load(),
		Panics:      s.counts.panics.Load(),
		Slow:        s.counts.slow.Load(),
		LoginsWrong: s.counts.failedLogins.Load(), LoginsLate: s.counts.delayed.Load(),
		Statements: map[string]int64{}, Errors: map[int]int64{},
	}
	for v := range verbs {
		out.Statements[verbNames[v]] = s.counts.statements[v].Load()
	}
	s.counts.mu.Lock()
	defer s.counts.mu.Unlock()
	for code, n := range s.counts.errors {
		out.Errors[code] = n
	}
	return out
}
