package stats

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/txn"
)

// Store keeps what is known of the contents of tables: approximate numbers of rows, for all tables that are
// asked for, and what ANALYZE TABLE has found, for the choice of indexes and the order of joins.
type Store struct {
	opts Options
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
	firstRows      = 200             // rows read at once when nothing is known
	countRowsLimit = 20_000          // rows read in the background where shards cannot count
	beyondLimit    = 10              // a table with more rows is then taken to have so many times more
	freshFor       = 5 * time.Minute // how long a count is good for
	lookEvery      = time.Minute     // how long stored statistics of another node may be missed
	assumedRows    = 1000            // rows, until the first look
	countedTablets = 32              // tablets of which the rows are counted

	analyzeAfter = 1000 // rows changed, and a tenth of the table: it is analysed anew
	analyzeShare = 10
	// analyzePace is how much longer than it works an analysis in the background rests.
	analyzePace = 3
)

// New makes a store that knows nothing yet.
func New(o Options) *Store {
	return &Store{opts: o, rows: make(map[uint32]*tableStats), busy: make(chan struct{}, 1)}
}

func (s *Store) of(table uint32) *tableStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.rows[table]
	if t == nil {
		t = &tableStats{}
		s.rows[table] = t
	}
	return t
}

// Inserted notes a row that was written, Added several, Deleted one that went.
func (s *Store) Inserted(table uint32)       { s.changed(table, 1, 1) }
func (s *Store) Added(table uint32, n int64) { s.changed(table, n, n) }
func (s *Store) Deleted(table uint32)        { s.changed(table, -1, 1) }

// changed notes rows that were written; more is by how many the table has grown.
func (s *Store) changed(table uint32, more, rows int64) {
	t := s.of(table)
	t.delta.Add(more)
	t.changed.Add(rows)
}

// Estimate returns the number of rows and of bytes, as far as is known.
func (s *Store) Estimate(ctx *sql.Context, t Table) (rows, bytes uint64) {
	st := s.of(t.Descriptor().ID)
	at := st.at.Load()
	if at == 0 && st.running.CompareAndSwap(false, true) {
		// A first look is taken at once, because a plan made without any idea of the sizes may
		// be a bad one for long.
		s.look(ctx, st, t)
		if st.at.Load() == 0 {
			s.count(ctx, st, t, firstRows)
		}
		st.running.Store(false)
		at = st.at.Load()
	}
	switch changed := st.changed.Load(); {
	case changed > analyzeAfter+max(0, st.counted.Load())/analyzeShare && !t.IsTemporary():
		s.background(st, func(ctx context.Context) { s.analyze(ctx, st, t) })
	case time.Since(time.Unix(0, at)) > freshFor || st.counted.Load() == -1:
		s.background(st, func(ctx context.Context) { s.count(ctx, st, t, countRowsLimit) })
	case time.Since(time.Unix(0, st.looked.Load())) > lookEvery:
		s.background(st, func(ctx context.Context) { s.look(ctx, st, t) })
	}
	n := st.counted.Load()
	switch {
	case n == -1:
		n = assumedRows
	case at == 0:
		n = assumedRows
	}
	n = max(0, n+st.delta.Load())
	return uint64(n), uint64(n) * uint64(max(1, st.bytes.Load()))
}

// background runs f when no other such work is done; one for each table at a time.
func (s *Store) background(st *tableStats, f func(context.Context)) {
	if !st.running.CompareAndSwap(false, true) {
		return
	}
	s.opts.Go(func(ctx context.Context) {
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
func (s *Store) look(ctx context.Context, st *tableStats, t Table) {
	st.looked.Store(time.Now().UnixNano())
	r := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	b, ok, err := r.Get(ctx, catalog.StatisticsCell(t.Descriptor().ID))
	if err != nil || !ok {
		return
	}
	found, err := decodeStatistics(b)
	if err != nil {
		s.opts.Logger.Debug("statistics are not readable", "table", t.Descriptor().Name, "err", err)
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
func (s *Store) set(table uint32, found *tableStatistics) { s.of(table).take(found) }

// analyze is ANALYZE TABLE in the background.
func (s *Store) analyze(ctx context.Context, st *tableStats, t Table) {
	before := st.changed.Load()
	found, err := s.compute(ctx, t, func(took time.Duration) error {
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
			s.opts.Logger.Debug("a table was not analysed", "table", t.Descriptor().Name, "err", err)
		}
		return
	}
	st.take(found)
}

// Statistics returns what is known of a table's indexes: of all of them, or nothing.
func (s *Store) Statistics(ctx *sql.Context, t Table) []sql.Statistic {
	rows, _ := s.Estimate(ctx, t)
	st := s.of(t.Descriptor().ID)
	known := st.analysed.Load()
	if known == nil || rows > 2*known.Rows || 2*rows < known.Rows {
		return s.givenOf(t, nil) // of another time
	}
	if b := st.built.Load(); b != nil && b.from == known && b.desc == t.Descriptor() {
		return s.givenOf(t, b.list)
	}
	b := &builtStatistics{from: known, desc: t.Descriptor()}
	for _, x := range t.PublicKeys() {
		stat := inLibraryForm(ctx, t, x, known)
		if stat == nil {
			b.list = nil
			break
		}
		b.list = append(b.list, stat)
	}
	st.built.Store(b)
	return s.givenOf(t, b.list)
}

// Distinct returns the number of distinct values of the first columns of an index; ok is false if nobody
// knows.
func (s *Store) Distinct(table uint32, x Index, columns int) (n, rows uint64, ok bool) {
	known := s.of(table).analysed.Load()
	if known == nil {
		return 0, 0, false
	}
	for i := range known.Indexes {
		is := &known.Indexes[i]
		if is.Index == x.Number() && columns > 0 && columns <= len(is.Distinct) &&
			slices.Equal(is.Columns, x.ColumnIDs()) {
			return is.Distinct[columns-1], known.Rows, true
		}
	}
	return 0, 0, false
}

// given remembers statistics that a user has written by hand.
func (s *Store) given(stat sql.Statistic) {
	s.dropGiven(func(o sql.Statistic) bool {
		return o.Qualifier() == stat.Qualifier() && slices.Equal(o.Columns(), stat.Columns())
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hand = append(s.hand, stat)
}

func (s *Store) dropGiven(which func(sql.Statistic) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hand = slices.DeleteFunc(slices.Clone(s.hand), which)
}

func (s *Store) givenFor(qual sql.StatQualifier, cols []string) (sql.Statistic, bool) {
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
func (s *Store) givenOf(t Table, list []sql.Statistic) []sql.Statistic {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.hand) == 0 {
		return list
	}
	out := slices.Clone(list)
	for _, h := range s.hand {
		q := h.Qualifier()
		if !strings.EqualFold(q.Database, t.Database()) || !strings.EqualFold(q.Tab, t.Descriptor().Name) {
			continue
		}
		out = slices.DeleteFunc(out, func(o sql.Statistic) bool { return o.Qualifier() == q })
		out = append(out, h)
	}
	return out
}

// Settle waits for counts and analyses that have begun in the background: until then plans may change.
func (s *Store) Settle() {
	running := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, t := range s.rows {
			if t.running.Load() {
				return true
			}
		}
		return false
	}
	for running() {
		s.busy <- struct{}{} // what is under way has it
		<-s.busy
		runtime.Gosched()
	}
}
