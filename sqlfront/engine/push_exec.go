package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/kv"
	"moka/sqlfront/expr"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// pushWorkers is how many tablets a pushed aggregate reads at a time; pushTablets, into how many pieces it cuts a range.
const (
	pushWorkers = 4
	pushTablets = 256
)

type notPushedKey struct{}

// notPushed makes Build leave push-down alone, for the way back from a push that could not be done.
func notPushed(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx, notPushedKey{}, true))
}

// buildPushed builds a node with what of it can go to the shards; nil if nothing can.
func (b *execBuilder) buildPushed(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if ctx.Value(notPushedKey{}) != nil {
		return nil, nil
	}
	p := b.eng.pushable(ctx, n)
	if p == nil {
		return nil, nil
	}
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	if _, filter := n.(*plan.Filter); !filter && p.wrote(ctx, tx) {
		return nil, nil
	}
	if m := measureOf(ctx); m != nil {
		m.pushed = p
	}
	b.eng.reads.pushed.Add(1)
	switch n := n.(type) {
	case *plan.Filter:
		it, err := p.scan(ctx)
		if err != nil {
			return nil, err
		}
		return plan.NewFilterIter(n.Expression, it), nil
	case *plan.TopN:
		it, err := p.scan(ctx)
		if err != nil {
			return nil, err
		}
		// Once more without a push: the rows that come are the first of each request, and the node finds the first of all.
		above, err := n.WithChildren(ctx, &pushedSource{schema: n.Child.Schema(ctx), rows: it})
		if err != nil {
			return nil, err
		}
		return b.base.Build(ctx, above, row)
	case *plan.GroupBy:
		tx.used.Store(true)
		return &aggregateIter{p: p, tx: tx, measure: measureOf(ctx), general: func() (sql.RowIter, error) {
			return b.base.Build(notPushed(ctx), n, row)
		}}, nil
	}
	return nil, nil
}

// scan reads the rows of the table, those that the program leaves.
func (p *pushed) scan(ctx *sql.Context) (sql.RowIter, error) {
	part := *p.part
	part.program = p.bytes
	return p.table.PartitionRows(ctx, &part)
}

// wrote reports whether the transaction has itself changed rows that the program would have to see.
func (p *pushed) wrote(ctx *sql.Context, tx *Tx) bool {
	for _, s := range p.part.spans {
		scan := tx.store().Scan(ctx, txn.ScanOptions{Span: kv.Span{Start: s.Start, End: s.End}, At: tx.readAt()})
		dirty := scan.Dirty()
		_ = scan.Close()
		if dirty {
			return true
		}
	}
	return false
}

// pushedSource is a node whose rows are there already.
type pushedSource struct {
	schema sql.Schema
	rows   sql.RowIter
}

var _ sql.ExecSourceRel = (*pushedSource)(nil)

func (s *pushedSource) Resolved() bool                                     { return true }
func (s *pushedSource) IsReadOnly() bool                                   { return true }
func (s *pushedSource) String() string                                     { return "Pushed" }
func (s *pushedSource) Schema(*sql.Context) sql.Schema                     { return s.schema }
func (s *pushedSource) Children() []sql.Node                               { return nil }
func (s *pushedSource) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) { return s.rows, nil }
func (s *pushedSource) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(ch), 0)
	}
	return s, nil
}

// aggregateIter delivers the groups that shards have counted.
type aggregateIter struct {
	p       *pushed
	tx      *Tx
	measure *measure
	general func() (sql.RowIter, error)

	merged *pushdown.Merger
	next   int
	other  sql.RowIter // the general way, if the shards could not do it
}

func (it *aggregateIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.merged == nil && it.other == nil {
		err := it.run(ctx)
		if errors.Is(err, txn.ErrNoProgram) {
			it.other, err = it.general()
		}
		if err != nil {
			return nil, err
		}
	}
	if it.other != nil {
		return it.other.Next(ctx)
	}
	if it.next >= it.merged.Len() {
		return nil, io.EOF
	}
	g := it.next
	it.next++
	row := make(sql.Row, len(it.p.results))
	for i, r := range it.p.results {
		var err error
		if row[i], err = r.value(it.merged, g, it.p.table.zone); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// value is the result as the library's own aggregation would have it.
func (r *pushedResult) value(m *pushdown.Merger, g int, zone *rowenc.Zone) (any, error) {
	n := int64(0)
	if r.op != resultValue {
		if n = m.Count(g, r.aggregate); n == 0 && r.op != resultCount {
			return nil, nil
		}
	}
	switch r.op {
	case resultCount:
		return n, nil
	case resultSum:
		return m.Sum(g, r.aggregate), nil
	case resultSumDecimal:
		return m.SumDecimal(g, r.aggregate), nil
	case resultAvg:
		return expr.Average(m.Sum(g, r.aggregate), n)
	case resultAvgDecimal:
		return expr.Average(m.SumDecimal(g, r.aggregate), n)
	}
	v, err := m.Value(g, r.aggregate, r.typ)
	if at, ok := v.(time.Time); ok && zone != nil && isStamp(r.typ) {
		return zone.Local(at.UnixMicro()), nil
	}
	return v, err
}

func (it *aggregateIter) Close(ctx *sql.Context) error {
	if it.other != nil {
		return it.other.Close(ctx)
	}
	return nil
}

// run asks all tablets, several at a time, and merges what they answer in the order of the scan.
func (it *aggregateIter) run(ctx *sql.Context) error {
	t := it.tx.store()
	if _, err := t.StartTS(ctx); err != nil { // once, before several ask
		return it.tx.fail(ctx, err)
	}
	var spans []kv.Span
	for _, s := range it.p.part.spans {
		pieces, err := t.Tablets(ctx, kv.Span{Start: s.Start, End: s.End}, pushTablets)
		if err != nil {
			return it.tx.fail(ctx, err)
		}
		spans = append(spans, pieces...)
	}
	scan, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]pushedPiece, len(spans))
	for i := range results {
		results[i].done = make(chan struct{})
	}
	room := make(chan struct{}, pushWorkers) // pieces that are read or wait to be merged
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Add(1)
	go func() {
		defer wg.Done()
		for i := range spans {
			select {
			case room <- struct{}{}:
			case <-scan.Done():
				results[i].err = scan.Err()
				close(results[i].done)
				continue
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer close(results[i].done)
				results[i].read(scan, t, it, spans[i])
			}()
		}
	}()
	merged := pushdown.NewMerger(it.p.program)
	for i := range results {
		<-results[i].done
		r := &results[i]
		it.tx.examined(r.stats)
		if it.measure != nil {
			it.measure.scanned(r.stats)
		}
		if errors.Is(r.err, txn.ErrNoProgram) {
			return r.err
		}
		if r.err != nil {
			return it.tx.fail(ctx, r.err)
		}
		if err := merged.Add(r.part); err != nil {
			return err
		}
		r.part = nil
		<-room
	}
	it.merged = merged
	return nil
}

// pushedPiece is the answer of one tablet.
type pushedPiece struct {
	done  chan struct{}
	part  []byte
	stats txn.ScanStats
	err   error
}

func (r *pushedPiece) read(ctx context.Context, t *txn.Txn, it *aggregateIter, span kv.Span) {
	s := t.Scan(ctx, txn.ScanOptions{Span: span, Batch: pushdown.MaxGroups, Program: it.p.bytes, Whole: true, At: it.tx.readAt()})
	defer s.Close()
	own := pushdown.NewMerger(it.p.program)
	for {
		part, ok := s.NextPart()
		if !ok {
			break
		}
		if r.err = own.Add(part); r.err != nil {
			return
		}
	}
	r.stats, r.err = s.Stats(), s.Err()
	if r.err == nil {
		r.part = own.Part()
	}
}
