package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/tidwall/btree"

	"moka/kv"
	"moka/txn/longread"
	"moka/txn/record"
)

// Scanner walks the columns of a span in the snapshot, merged with the transaction's own writes as they were when Scan was
// called: a statement does not meet the rows that it writes itself.
//
//	for s.Next() { use(s.Column(), s.Value()) }; err := s.Err()
type Scanner struct {
	t   *Txn
	ctx context.Context
	o   ScanOptions
	err error

	own   btree.IterG[*pending]
	ownOK bool

	cells []cell // fetched and not returned yet
	rest  kv.Span
	// after is the column behind which the rest of the current tablet goes on, if resume is set.
	resume  bool
	after   kv.Column
	fetched bool // nothing is left in the store
	batch   int
	waits   *backoff

	column   kv.Column
	value    []byte
	returned int
	parts    [][]byte // of programs, not delivered yet
	stats    ScanStats
	reads    longread.Reads
}

const (
	firstBatch = 32
	maxBatch   = 4096
	// batchBytes ends a batch early, so that long values do not pile up in memory.
	batchBytes = 1 << 20
)

// Scan returns a scanner over all columns of all rows in the span; of acknowledgements of observers if asked.
// Tablets are visited as the scan comes to them, in batches that grow.
func (t *Txn) Scan(ctx context.Context, o ScanOptions) *Scanner {
	s := &Scanner{t: t, ctx: ctx, o: o, rest: o.Span, batch: o.Batch}
	if s.batch <= 0 {
		s.batch = firstBatch
	}
	t.mu.Lock()
	if o.At != nil {
		s.own = o.At.buffer.iter()
	} else {
		s.own = t.buffer.iter()
	}
	t.mu.Unlock()
	s.ownOK = s.seekOwn()
	s.fetched = emptySpan(o.Span)
	if o.Acks && (o.Since != 0 || len(o.Program) > 0) {
		s.err = errors.New("a scan of acknowledgements has neither Since nor a program")
	}
	if len(o.Program) > 0 && (s.ownOK && o.Whole || o.Since != 0 || !t.c.Programs()) {
		s.withoutProgram()
	}
	return s
}

func emptySpan(s kv.Span) bool { return len(s.End) > 0 && bytes.Compare(s.Start, s.End) >= 0 }

// seekOwn positions on the first own write of the span.
func (s *Scanner) seekOwn() bool {
	switch {
	case !s.o.Reverse:
		return s.own.Seek(&pending{mutation: mutation{column: kv.Column{Row: s.o.Span.Start}}}) && s.admitOwn()
	case len(s.o.Span.End) == 0:
		return s.own.Last() && s.admitOwn()
	case s.own.Seek(&pending{mutation: mutation{column: kv.Column{Row: s.o.Span.End}}}):
		return s.own.Prev() && s.admitOwn()
	default:
		return s.own.Last() && s.admitOwn()
	}
}

// admitOwn skips locks, requires and acknowledgements that are not asked for; false is the end of the span.
func (s *Scanner) admitOwn() bool {
	for {
		p := s.own.Item()
		if !s.o.Span.Contains(p.column.Row) {
			return false
		}
		if p.kind.Changes() && (s.o.Acks || !record.IsAck(p.column)) {
			return true
		}
		if !s.stepOwn() {
			return false
		}
	}
}

func (s *Scanner) stepOwn() bool {
	if s.o.Reverse {
		return s.own.Prev()
	}
	return s.own.Next()
}

func (s *Scanner) nextOwn() { s.ownOK = s.stepOwn() && s.admitOwn() }

// Next moves to the next column that has a value.
func (s *Scanner) Next() bool {
	for s.err == nil && (s.o.Limit <= 0 || s.returned < s.o.Limit) {
		if len(s.cells) == 0 && !s.fetched {
			s.err = s.fetch()
			continue
		}
		stored := len(s.cells) > 0
		if !stored && !s.ownOK {
			break
		}
		if s.ownOK {
			p := s.own.Item()
			order := -1
			if stored {
				order = compareColumns(p.column, s.cells[0].column)
				if s.o.Reverse {
					order = -order
				}
			}
			if order <= 0 {
				s.nextOwn()
				if order == 0 {
					s.cells = s.cells[1:] // ours hides it
				}
				if p.kind == record.KindDelete {
					continue
				}
				return s.take(cloneColumn(p.column), bytes.Clone(p.value))
			}
		}
		c := s.cells[0]
		s.cells = s.cells[1:]
		return s.take(c.column, c.value)
	}
	s.column, s.value = kv.Column{}, nil
	return false
}

func (s *Scanner) take(c kv.Column, value []byte) bool {
	s.column, s.value = c, value
	s.returned++
	return true
}

// Column and Value are the caller's to keep.
func (s *Scanner) Column() kv.Column { return s.column }

// Value returns the current column's value.
func (s *Scanner) Value() []byte { return s.value }

// Err returns what ended the scan early.
func (s *Scanner) Err() error { return s.err }

// Close ends the scan. It may be called at any time and any number of times.
func (s *Scanner) Close() error {
	s.cells, s.fetched, s.ownOK = nil, true, false
	s.reads.Release()
	return nil
}

// fetch asks the next tablet for a batch. It may come back with no cells and more to do.
func (s *Scanner) fetch() error {
	snapshot, err := s.t.StartTS(s.ctx)
	if err != nil {
		return err
	}
	c := s.t.c
	if err := c.behind(snapshot); err != nil {
		return err
	}
	c.metrics.scans.Add(1)
	if s.waits == nil {
		s.waits = newBackoff(c.o.LockWait, snapshot)
	}
	b := newBackoff(c.o.RetryTime, snapshot)
	s.cells, s.column, s.value = nil, kv.Column{}, nil // which are charged for no more
	s.reads.Release()
	for {
		tablet, err := s.locate()
		if err != nil {
			return err
		}
		g := &shardGroup{shard: tablet.Shard}
		g.addTablet(tablet)
		req := &scanRequest{
			Question: longread.Question{Context: s.ctx, Reads: &s.reads},
			snapshot: snapshot, span: intersect(s.rest, tablet.Span), reverse: s.o.Reverse, limit: uint32(s.want()), maxBytes: batchBytes,
			resume: s.resume, after: s.after, bypass: s.t.bypassed(), tablets: g.tablets,
		}
		resp, err := s.request(b, g, req)
		if errors.Is(err, kv.ErrMoved) && b.wait(s.ctx) {
			continue
		}
		if err != nil {
			return s.reads.Refusal(err)
		}
		return s.accept(g, req, resp)
	}
}

// request asks a shard for a batch.
func (s *Scanner) request(b *backoff, g *shardGroup, req *scanRequest) (*scanResponse, error) {
	s.stats.Requests++
	if len(s.o.Program) > 0 {
		resp, refused, err := s.fetchProgram(b, g, req)
		if !refused {
			return resp, err
		}
		if s.withoutProgram(); s.err != nil {
			return nil, s.err
		}
	}
	cmd, sent := cmdScan, kv.Message(req)
	switch {
	case s.o.Since != 0:
		cmd, sent = cmdScanSince, &sinceRequest{*req, s.o.Since}
	case s.o.Acks:
		req.acks = true
		cmd, sent = cmdScanAcks, &acksRequest{*req}
	}
	m, err := s.t.c.call(s.ctx, b, g, cmd, sent, nil)
	if err != nil {
		return nil, err
	}
	resp := m.(*scanResponse)
	s.stats.Examined += len(resp.cells)
	return resp, nil
}

// withoutProgram goes on as a plain scan, if the caller can do with that.
func (s *Scanner) withoutProgram() {
	if s.o.Whole {
		s.err = ErrNoProgram
	}
	s.o.Program = nil
}

// accept takes a batch over and moves on.
func (s *Scanner) accept(g *shardGroup, req *scanRequest, resp *scanResponse) error {
	c := s.t.c
	if resp.safePoint != 0 {
		return errTooOld(req.snapshot, resp.safePoint)
	}
	c.seedSoon(g, resp.unseeded)
	for i := 0; !resp.charged && i < len(resp.cells); i++ {
		if err := req.Add(len(resp.cells[i].value)); err != nil {
			return err
		}
	}
	s.cells = resp.cells
	s.batch = min(2*s.batch, maxBatch)
	if resp.more {
		// The position is a column, not a tablet: should the tablet split or move meanwhile, the rest still begins here.
		if len(resp.last.Row) > 0 || req.resume {
			s.resume, s.after = true, resp.last
		}
		if len(resp.locks) > 0 {
			return s.t.clear(s.ctx, s.waits, req.snapshot, resp.locks, nil)
		}
		return nil
	}
	s.resume, s.after = false, kv.Column{}
	s.waits = nil // each tablet has the whole time
	if s.o.Reverse {
		s.rest.End = req.span.Start
		s.fetched = len(req.span.Start) == 0 || emptySpan(s.rest)
	} else {
		s.rest.Start = req.span.End
		s.fetched = len(req.span.End) == 0 || emptySpan(s.rest)
	}
	return nil
}

// want is the size of the next batch.
func (s *Scanner) want() int {
	if s.o.Limit > 0 {
		return min(s.batch, s.o.Limit-s.returned)
	}
	return s.batch
}

// locate finds the tablet where the scan goes on.
func (s *Scanner) locate() (kv.Tablet, error) {
	store := s.t.c.store
	if !s.o.Reverse {
		row := s.rest.Start
		if s.resume {
			row = s.after.Row
		}
		return store.Locate(s.ctx, row)
	}
	if s.resume {
		return store.Locate(s.ctx, s.after.Row)
	}
	// The tablet of the last row before an end that is not in the span: guess a row just below, then correct upwards.
	t, err := store.Locate(s.ctx, below(s.rest.End))
	for err == nil && len(t.Span.End) > 0 && (len(s.rest.End) == 0 || bytes.Compare(t.Span.End, s.rest.End) < 0) {
		t, err = store.Locate(s.ctx, t.Span.End)
	}
	return t, err
}

// below returns a row before end (empty: the end of the key space) and near it. Byte strings have no predecessor but where they
// end in zero; elsewhere a run of 0xff comes close.
func below(end kv.RowKey) kv.RowKey {
	row := bytes.Clone(end)
	switch n := len(row); {
	case n > 0 && row[n-1] == 0:
		return row[:n-1]
	case n > 0:
		row[n-1]--
	}
	return append(row, bytes.Repeat([]byte{0xff}, 32)...)
}

func intersect(a, b kv.Span) kv.Span {
	if bytes.Compare(b.Start, a.Start) > 0 {
		a.Start = b.Start
	}
	if len(a.End) == 0 || len(b.End) > 0 && bytes.Compare(b.End, a.End) < 0 {
		a.End = b.End
	}
	return a
}
