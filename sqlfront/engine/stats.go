package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/txn"
)

// statistics are what is known of the contents of tables: approximate numbers of rows, for all tables that are asked for, and what ANALYZE TABLE
// has found, for the choice of indexes and the order of joins.
//
// Numbers of rows are counted on the shards in the background, a bounded part of the table, and kept for some minutes; inserts
// and deletes of this process move them in between. When these are many, the table is analysed anew, slowly. What one SQL node has
// found the others read within a minute.
type statistics struct {
	eng  *Engine
	mu   sync.Mutex
	rows map[uint32]*tableStats
	busy chan struct{}   // one count or analysis in the background at a time
	hand []sql.Statistic // given by UPDATE HISTOGRAM … USING DATA
}

type tableStats struct {
	counted atomic.Int64 // as of at
	delta   atomic.Int64
	bytes   atomic.Int64 // of a row
	at      atomic.Int64 // unix nanoseconds; 0: never
	running atomic.Bool

	changed  atomic.Int64 // rows inserted and deleted here since the table was analysed
	looked   atomic.Int64 // when the stored statistics were last read, unix nanoseconds
	analysed atomic.Pointer[tableStatistics]
	built    atomic.Pointer[builtStatistics]
}

// builtStatistics are analysed statistics in the library's form, for one version of the table.
type builtStatistics struct {
	from *tableStatistics
	desc *catalog.Table
	list []sql.Statistic
}

const (
	statsFirst  = 200             // rows read at once when nothing is known
	statsCount  = 20_000          // rows read in the background where shards cannot count
	statsBeyond = 10              // a table with more rows is then taken to have so many times more
	statsFresh  = 5 * time.Minute // how long a count is good for
	statsLook   = time.Minute     // how long stored statistics of another node may be missed
	statsAssume = 1000            // rows, until the first look
	statsTried  = 32              // tablets of which the rows are counted

	analyzeAfter = 1000 // rows changed, and a tenth of the table: it is analysed anew
	analyzeShare = 10
	// analyzePace is how much longer than it works an analysis in the background rests.
	analyzePace = 3
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

func (s *statistics) inserted(table uint32)       { s.changed(table, 1, 1) }
func (s *statistics) added(table uint32, n int64) { s.changed(table, n, n) }
func (s *statistics) deleted(table uint32)        { s.changed(table, -1, 1) }

// changed notes rows that were written; more is by how many the table has grown.
func (s *statistics) changed(table uint32, more, rows int64) {
	t := s.of(table)
	t.delta.Add(more)
	t.changed.Add(rows)
}

// estimate returns the number of rows and of bytes, as far as is known.
func (s *statistics) estimate(ctx *sql.Context, t *Table) (rows, bytes uint64) {
	st := s.of(t.desc.ID)
	at := st.at.Load()
	if at == 0 && st.running.CompareAndSwap(false, true) {
		// A first look is taken at once, because a plan made without any idea of the sizes may be a bad one for long.
		s.look(ctx, st, t)
		if st.at.Load() == 0 {
			s.count(ctx, st, t, statsFirst)
		}
		st.running.Store(false)
		at = st.at.Load()
	}
	switch changed := st.changed.Load(); {
	case changed > analyzeAfter+max(0, st.counted.Load())/analyzeShare && !t.temporary:
		s.background(st, func(ctx context.Context) { s.analyze(ctx, st, t) })
	case time.Since(time.Unix(0, at)) > statsFresh || st.counted.Load() == -1:
		s.background(st, func(ctx context.Context) { s.count(ctx, st, t, statsCount) })
	case time.Since(time.Unix(0, st.looked.Load())) > statsLook:
		s.background(st, func(ctx context.Context) { s.look(ctx, st, t) })
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

// background runs f when no other such work is done; one for each table at a time.
func (s *statistics) background(st *tableStats, f func(context.Context)) {
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
		f(ctx)
	})
}

// look reads the stored statistics.
func (s *statistics) look(ctx context.Context, st *tableStats, t *Table) {
	st.looked.Store(time.Now().UnixNano())
	r := s.eng.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	b, ok, err := r.Get(ctx, catalog.StatisticsCell(t.desc.ID))
	if err != nil || !ok {
		return
	}
	found, err := decodeStatistics(b)
	if err != nil {
		s.eng.log.Debug("statistics are not readable", "table", t.desc.Name, "err", err)
		return
	}
	if known := st.analysed.Load(); known == nil || found.At.After(known.At) {
		st.take(found)
	}
}

// take makes statistics known that have been worked out, here or elsewhere.
func (st *tableStats) take(found *tableStatistics) {
	st.analysed.Store(found)
	st.changed.Store(0)
	if found.At.UnixNano() > st.at.Load() {
		st.counted.Store(int64(found.Rows))
		st.delta.Store(0)
		if found.Rows > 0 {
			st.bytes.Store(int64(found.Bytes / found.Rows))
		}
		st.at.Store(found.At.UnixNano())
	}
}

// set makes statistics known that have just been worked out.
func (s *statistics) set(table uint32, found *tableStatistics) { s.of(table).take(found) }

// analyze is ANALYZE TABLE in the background.
func (s *statistics) analyze(ctx context.Context, st *tableStats, t *Table) {
	before := st.changed.Load()
	found, err := s.eng.analyze(ctx, t.base(), func(took time.Duration) error {
		rest := time.NewTimer(analyzePace * took)
		defer rest.Stop()
		select {
		case <-rest.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		st.changed.Add(-before) // not at once again
		if ctx.Err() == nil {
			s.eng.log.Debug("a table was not analysed", "table", t.desc.Name, "err", err)
		}
		return
	}
	st.take(found)
}

// statistics returns what is known of a table's indexes: of all of them, or nothing.
func (s *statistics) statistics(ctx *sql.Context, t *Table) []sql.Statistic {
	rows, _ := s.estimate(ctx, t)
	st := s.of(t.desc.ID)
	known := st.analysed.Load()
	if known == nil || rows > 2*known.Rows || 2*rows < known.Rows {
		return s.givenOf(t, nil) // of another time
	}
	if b := st.built.Load(); b != nil && b.from == known && b.desc == t.desc {
		return s.givenOf(t, b.list)
	}
	b := &builtStatistics{from: known, desc: t.desc}
	for _, x := range t.base().keys {
		if x.state != catalog.StatePublic {
			continue
		}
		stat := x.statistic(ctx, known)
		if stat == nil {
			b.list = nil
			break
		}
		b.list = append(b.list, stat)
	}
	st.built.Store(b)
	return s.givenOf(t, b.list)
}

// distinct returns the number of distinct values of the first columns of an index; ok is false if nobody knows.
func (s *statistics) distinct(x *index, columns int) (n, rows uint64, ok bool) {
	known := s.of(x.table.desc.ID).analysed.Load()
	if known == nil {
		return 0, 0, false
	}
	for i := range known.Indexes {
		is := &known.Indexes[i]
		if is.Index == x.num && columns > 0 && columns <= len(is.Distinct) && slices.Equal(is.Columns, x.columnIDs()) {
			return is.Distinct[columns-1], known.Rows, true
		}
	}
	return 0, 0, false
}

// given remembers statistics that a user has written by hand.
func (s *statistics) given(stat sql.Statistic) {
	s.dropGiven(func(o sql.Statistic) bool {
		return o.Qualifier() == stat.Qualifier() && slices.Equal(o.Columns(), stat.Columns())
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hand = append(s.hand, stat)
}

func (s *statistics) dropGiven(which func(sql.Statistic) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hand = slices.DeleteFunc(slices.Clone(s.hand), which)
}

func (s *statistics) givenFor(qual sql.StatQualifier, cols []string) (sql.Statistic, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.hand {
		if h.Qualifier() == qual && slices.EqualFunc(h.Columns(), cols, strings.EqualFold) {
			return h, true
		}
	}
	return nil, false
}

// givenOf puts the statistics that were written by hand in the place of those that were worked out.
func (s *statistics) givenOf(t *Table, list []sql.Statistic) []sql.Statistic {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.hand) == 0 {
		return list
	}
	out := slices.Clone(list)
	for _, h := range s.hand {
		q := h.Qualifier()
		if !strings.EqualFold(q.Database, t.db) || !strings.EqualFold(q.Tab, t.desc.Name) {
			continue
		}
		out = slices.DeleteFunc(out, func(o sql.Statistic) bool { return o.Qualifier() == q })
		out = append(out, h)
	}
	return out
}

// countRows counts the rows of some of the table's tablets, and takes the others to be alike.
func (e *Engine) countRows(ctx context.Context, t *Table) (uint64, error) {
	s, err := e.takeSample(ctx, t, 0, statsTried, nil)
	if err != nil {
		return 0, err
	}
	return s.of, nil
}

// count finds out how many rows there are. Where the shards do not count it reads up to limit rows; finding the limit reached, a first look
// leaves the count to the background (-1).
func (s *statistics) count(ctx context.Context, st *tableStats, t *Table, limit int) {
	if limit > statsFirst && s.eng.client.Programs() {
		n, err := s.eng.takeSample(ctx, t, 0, statsTried, nil)
		if err == nil {
			if n.of > 0 {
				st.bytes.Store(int64(n.bytes / n.of))
			}
			st.counted.Store(int64(n.of))
			st.delta.Store(0)
			st.at.Store(time.Now().UnixNano())
			return
		}
		if !errors.Is(err, txn.ErrNoProgram) {
			return
		}
	}
	r := s.eng.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	scan := r.Scan(ctx, txn.ScanOptions{Span: indexSpan(t.desc.ID, t.desc.RowIndex), Limit: limit, Batch: limit})
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
	Paths    uint64 // filters whose rows were found in another way than the plan says
	Spilled  uint64 // bytes that sorts have put on disk
}

type readCounters struct{ requests, rows, pushed, paths atomic.Uint64 }

func (c *readCounters) add(s txn.ScanStats) {
	c.requests.Add(uint64(s.Requests))
	c.rows.Add(uint64(s.Examined))
}

// ReadStats returns what has been read since the engine was made.
func (e *Engine) ReadStats() ReadStats {
	return ReadStats{Requests: e.reads.requests.Load(), Rows: e.reads.rows.Load(), Pushed: e.reads.pushed.Load(), Paths: e.reads.paths.Load(), Spilled: e.memory.Spilled()}
}
