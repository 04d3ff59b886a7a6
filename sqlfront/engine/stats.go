package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/txn"
)

// statistics are approximate row counts, for the order of joins. A count is taken by reading keys in the background, up to a bound,
// and kept for some minutes; writes of this process move it in between.
type statistics struct {
	eng  *Engine
	mu   sync.Mutex
	rows map[uint32]*tableStats
	busy chan struct{} // one count at a time
}

type tableStats struct {
	counted atomic.Int64 // as of at
	delta   atomic.Int64
	bytes   atomic.Int64
	at      atomic.Int64 // unix nanoseconds; 0: never
	running atomic.Bool
}

const (
	statsFirst  = 200             // rows read at once when nothing is known
	statsCount  = 20_000          // rows read in the background
	statsBeyond = 10              // a table with more rows is taken to have so many times more
	statsFresh  = 5 * time.Minute // how long a count is good for
	statsAssume = 1000            // rows, until the first look
)

func (s *statistics) init(e *Engine) {
	s.eng, s.rows, s.busy = e, map[uint32]*tableStats{}, make(chan struct{}, 1)
}

func (s *statistics) of(table uint32) *tableStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.rows[table]
	if t == nil {
		t = &tableStats{}
		s.rows[table] = t
	}
	return t
}

func (s *statistics) inserted(table uint32)       { s.of(table).delta.Add(1) }
func (s *statistics) added(table uint32, n int64) { s.of(table).delta.Add(n) }
func (s *statistics) deleted(table uint32)        { s.of(table).delta.Add(-1) }

// estimate returns the number of rows and of bytes, as far as is known.
func (s *statistics) estimate(ctx *sql.Context, t *Table) (rows, bytes uint64) {
	st := s.of(t.desc.ID)
	at := st.at.Load()
	span := indexSpan(t.desc.ID, t.desc.RowIndex)
	if at == 0 && st.running.CompareAndSwap(false, true) {
		// A first look is taken at once, because a plan made without any idea of the sizes may be a bad one for long.
		s.count(ctx, st, span, statsFirst)
		st.running.Store(false)
		at = st.at.Load()
	}
	if time.Since(time.Unix(0, at)) > statsFresh || st.counted.Load() == -1 {
		s.recount(st, span)
	}
	n := st.counted.Load()
	switch {
	case n == -1:
		n = statsAssume
	case at == 0:
		n = statsAssume
	}
	n = max(0, n+st.delta.Load())
	return uint64(n), uint64(n) * uint64(max(1, st.bytes.Load()))
}

func (s *statistics) recount(st *tableStats, span kv.Span) {
	if !st.running.CompareAndSwap(false, true) {
		return
	}
	s.eng.goTask(func(ctx context.Context) {
		defer st.running.Store(false)
		select {
		case s.busy <- struct{}{}:
			defer func() { <-s.busy }()
		case <-ctx.Done():
			return
		}
		s.count(ctx, st, span, statsCount)
	})
}

// count reads up to limit rows. Finding the limit reached, a first look leaves the count to the background (-1).
func (s *statistics) count(ctx context.Context, st *tableStats, span kv.Span, limit int) {
	t := s.eng.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	scan := t.Scan(ctx, txn.ScanOptions{Span: span, Limit: limit, Batch: limit})
	defer scan.Close()
	n, bytes := int64(0), int64(0)
	for scan.Next() {
		n++
		bytes += int64(len(scan.Column().Row) + len(scan.Value()))
	}
	if scan.Err() != nil {
		return
	}
	if n > 0 {
		st.bytes.Store(bytes / n)
	}
	if n >= int64(limit) {
		if limit == statsFirst {
			n = -1
		} else {
			n *= statsBeyond
		}
	}
	st.counted.Store(n)
	st.delta.Store(0)
	st.at.Store(time.Now().UnixNano())
}

// RowCount implements sql.StatisticsTable. The count is never exact: the engine would answer COUNT(*) with it.
func (t *Table) RowCount(ctx *sql.Context) (uint64, bool, error) {
	n, _ := t.eng.stats.estimate(ctx, t)
	return n, false, nil
}

// DataLength implements sql.StatisticsTable.
func (t *Table) DataLength(ctx *sql.Context) (uint64, error) {
	_, n := t.eng.stats.estimate(ctx, t)
	return n, nil
}

// ReadStats counts what statements have read from the store.
type ReadStats struct {
	Requests uint64 // batches of scans and lookups
	Rows     uint64 // rows and index entries that were looked at, on shards too
	Pushed   uint64 // nodes of plans of which the shards did a part
}

type readCounters struct{ requests, rows, pushed atomic.Uint64 }

func (c *readCounters) add(s txn.ScanStats) {
	c.requests.Add(uint64(s.Requests))
	c.rows.Add(uint64(s.Examined))
}

// ReadStats returns what has been read since the engine was made.
func (e *Engine) ReadStats() ReadStats {
	return ReadStats{Requests: e.reads.requests.Load(), Rows: e.reads.rows.Load(), Pushed: e.reads.pushed.Load()}
}
