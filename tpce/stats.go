package tpce

import (
	"moka/tpce/client"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// stats collects what the workers saw. A transaction counts as measured when it ends inside the measurement
// interval; errors, retries and warnings count always.
type stats struct {
	mu       sync.Mutex
	from, to time.Time // to is zero until the customers stop
	txns     map[string]*txnStats
	line     timeline
	start    time.Time
	lag      *hdrhistogram.Histogram // from an order's due time to the start of its transaction
}

type txnStats struct {
	latency    *hdrhistogram.Histogram // microseconds, measured only
	measured   int64
	outside    int64
	rolledBack int64
	duplicates int64
	retries    map[string]int64
	errors     map[string]*ErrorCount
	warnings   map[string]int64
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, maxLatency.Microseconds(), 3)
}

const maxLatency = 10 * time.Minute

func newStats(start, measureFrom time.Time) *stats {
	return &stats{from: measureFrom, start: start, txns: map[string]*txnStats{},
		line: timeline{step: time.Second}, lag: newHistogram()}
}

func newTxnStats() *txnStats {
	return &txnStats{latency: newHistogram(), retries: map[string]int64{}, errors: map[string]*ErrorCount{},
		warnings: map[string]int64{}}
}

func (s *stats) txn(name string) *txnStats {
	t, ok := s.txns[name]
	if !ok {
		t = newTxnStats()
		s.txns[name] = t
	}
	return t
}

// outcome of one transaction.
type outcome struct {
	name       string
	start      time.Time
	rolledBack bool
	duplicate  bool
	warning    string
}

func (s *stats) ok(o outcome) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.txn(o.name)
	if now.Before(s.from) || !s.to.IsZero() && now.After(s.to) {
		t.outside++
	} else {
		t.measured++
		record(t.latency, now.Sub(o.start))
	}
	if o.rolledBack {
		t.rolledBack++
	}
	if o.duplicate {
		t.duplicates++
	}
	if o.warning != "" {
		t.warnings[o.warning]++
	}
	s.line.add(now.Sub(s.start), o.name, now.Sub(o.start))
}

func record(h *hdrhistogram.Histogram, d time.Duration) {
	// clamped: cannot be out of range
	_ = h.RecordValue(min(max(d, time.Microsecond), maxLatency).Microseconds())
}

func (s *stats) retried(name, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txn(name).retries[reason]++
}

func (s *stats) failed(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := client.ErrorKind(err)
	e, ok := s.txn(name).errors[kind]
	if !ok {
		e = &ErrorCount{Kind: kind, First: err.Error()}
		s.txn(name).errors[kind] = e
	}
	e.Count++
}

func (s *stats) lagged(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	record(s.lag, d)
}

func (s *stats) close(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = at
}
