package exec

import (
	"context"
	"errors"
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/eval"
	"moka/sqlfront/operator"
	"moka/sqlfront/plan"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// ErrTooLarge says that a run would keep more than it may.
var ErrTooLarge = errors.New("exec: too many rows for a plan that keeps them")

// Store reads tables in the statement's snapshot.
type Store interface {
	// Read reads rows of a table by a key, in its order, or backwards; by no key (nil) all of them. batch is
	// a hint of how many are wanted at first. It ends when take returns false. Rows may be kept.
	Read(ctx *sql.Context, r Read, take func(sql.Row) (bool, error)) error
}

// Read is what is read of a table.
type Read struct {
	Table   plan.Table
	Key     *plan.Key // nil: all rows
	Spans   []rowenc.Span
	Reverse bool
	Batch   int
}

// Limits bound what a run keeps.
type Limits struct {
	Rows  int   // of each source, group, result
	Bytes int64 // of all that is kept
}

// Run is one run of a plan.
type Run struct {
	Store  Store
	Limits Limits
	Params []eval.Literal

	frames map[*plan.Query]*eval.Frame
	kept   int64
}

// Rows runs a query. A row has q.Result columns.
func (r *Run) Rows(ctx *sql.Context, q *plan.Query) ([]sql.Row, error) {
	r.frames = map[*plan.Query]*eval.Frame{}
	if err := r.bind(q); err != nil {
		return nil, err
	}
	if err := r.answer(ctx, q); err != nil {
		return nil, err
	}
	return r.rows(ctx, q)
}

// answer runs the subqueries of a query and of those in it, innermost first.
func (r *Run) answer(ctx *sql.Context, q *plan.Query) error {
	for _, s := range q.Sources {
		if s.Derived != nil {
			if err := r.answer(ctx, s.Derived); err != nil {
				return err
			}
		}
	}
	for _, s := range q.Subqueries {
		if err := r.answer(ctx, s.Query); err != nil {
			return err
		}
		rows, err := r.rows(ctx, s.Query)
		if err != nil {
			return err
		}
		var is *eval.Result
		switch {
		case s.Use == eval.AsList:
			if is, err = eval.NewResult(ctx, s.Type, rows); err != nil {
				return err
			}
		case s.Use == eval.AsValue && len(rows) > 1:
			return eval.ErrUnsure // 1242
		case s.Use == eval.AsTruth:
			is = &eval.Result{Values: make([]any, len(rows))}
		default:
			is = &eval.Result{}
			for _, row := range rows {
				is.Values = append(is.Values, row[0])
			}
		}
		f := r.frames[q]
		f.Results = append(f.Results, is)
	}
	return nil
}

// bind computes the operands of a query and of those in it.
func (r *Run) bind(q *plan.Query) error {
	f := &eval.Frame{Params: r.Params}
	r.frames[q] = f
	for _, s := range q.Sources {
		if s.Derived != nil {
			if err := r.bind(s.Derived); err != nil {
				return err
			}
		}
	}
	for _, s := range q.Subqueries {
		if err := r.bind(s.Query); err != nil {
			return err
		}
	}
	return f.Bind(q.Operands)
}

func (r *Run) rows(ctx *sql.Context, q *plan.Query) ([]sql.Row, error) {
	limit, offset, err := r.limits(q)
	if err != nil {
		return nil, err
	}
	b := &block{run: r, q: q, frame: r.frames[q], most: math.MaxInt, wanted: math.MaxInt}
	if limit < int64(r.Limits.Rows) && offset < int64(r.Limits.Rows) {
		b.wanted = int(limit + offset)
	}
	if len(q.Order) == 0 && !q.Distinct && q.Group == nil {
		b.most = b.wanted
	}
	if limit == 0 {
		return nil, nil
	}
	if q.Group != nil {
		b.groups = newGroups(b)
	}
	if err := b.read(ctx); err != nil {
		return nil, err
	}
	if b.groups != nil {
		if err := b.groups.flush(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := b.arrange(ctx)
	if err != nil {
		return nil, err
	}
	rows = rows[min(offset, int64(len(rows))):]
	rows = rows[:min(limit, int64(len(rows)))]
	for i, row := range rows {
		rows[i] = row[:q.Result:q.Result]
	}
	return rows, nil
}

func (r *Run) limits(q *plan.Query) (limit, offset int64, err error) {
	read := func(o *eval.Operand, otherwise int64) (int64, error) {
		if o == nil {
			return otherwise, nil
		}
		v, err := o.Value(&eval.Frame{Params: r.Params}, countType)
		if err != nil {
			return 0, err
		}
		n, ok := v.(int64)
		if !ok || n < 0 {
			return 0, eval.ErrUnsure
		}
		return n, nil
	}
	if limit, err = read(q.Limit, math.MaxInt64); err != nil {
		return 0, 0, err
	}
	offset, err = read(q.Offset, 0)
	return limit, offset, err
}

// keep charges for a row that is kept.
func (r *Run) keep(bytes int64) error {
	if r.kept += bytes; r.kept > r.Limits.Bytes {
		return ErrTooLarge
	}
	return nil
}

// block is the run of one query block.
type block struct {
	run    *Run
	q      *plan.Query
	frame  *eval.Frame
	loaded []*loaded // of sources that are read once, by their place
	groups *groups
	rows   []sql.Row // of the result, with what they are sorted by
	most   int       // rows after which nobody wants more
	wanted int       // rows of the first source that are worth asking for at first
	free   []any     // of wide
	pieces int
}

// batchRows is how many rows go through a join together.
const batchRows = 256

// wide is an empty row of all sources. Rows are made of larger and larger pieces of memory.
func (b *block) wide() sql.Row {
	w := b.q.Width
	if len(b.free) < w {
		b.pieces = min(max(2*b.pieces, 1), maxPieces)
		b.free = make([]any, w*b.pieces)
	}
	row := b.free[:w:w]
	b.free = b.free[w:]
	return row
}

// maxPieces is for how many rows memory is taken at a time.
const maxPieces = 64

// read reads the first source and sends its rows through the others.
func (b *block) read(ctx *sql.Context) error {
	if len(b.q.Sources) == 0 {
		return b.through(ctx, 0, []sql.Row{b.wide()})
	}
	b.loaded = make([]*loaded, len(b.q.Sources))
	first := b.q.Sources[0]
	var batch []sql.Row
	bytes := int64(0)
	take := func(row sql.Row) (bool, error) {
		bytes += operator.RowBytes(row)
		wide := b.wide()
		copy(wide[first.Slot:], row)
		ok, err := b.pass(ctx, first.After, wide)
		if err != nil || !ok {
			return err == nil, err
		}
		batch = append(batch, wide)
		if len(batch) < batchRows && bytes < b.run.Limits.Bytes && len(b.rows)+len(batch) < b.most {
			return true, nil
		}
		full := batch
		batch, bytes = nil, 0
		err = b.through(ctx, 1, full)
		return err == nil && len(b.rows) < b.most, err
	}
	if err := b.source(ctx, first, take); err != nil {
		return err
	}
	if len(batch) == 0 {
		return nil
	}
	return b.through(ctx, 1, batch)
}

// source reads a source that depends on no row.
func (b *block) source(ctx *sql.Context, s *plan.Source, take func(sql.Row) (bool, error)) error {
	if s.Derived != nil {
		rows, err := b.run.rows(ctx, s.Derived)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if more, err := take(row); err != nil || !more {
				return err
			}
		}
		return nil
	}
	spans, err := b.spans(ctx, &s.Access)
	if err != nil {
		return err
	}
	if s.Access.Key != nil && len(spans) == 0 {
		return nil
	}
	size := rangeRows
	if len(b.q.Sources) == 1 {
		size = min(size, max(b.wanted, 1))
	}
	n := 0
	read := Read{Table: s.Table, Key: s.Access.Key, Spans: spans, Reverse: b.q.Reverse, Batch: size}
	return b.run.Store.Read(ctx, read, func(row sql.Row) (bool, error) {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return false, sqlerr.From(context.Cause(ctx))
		}
		return take(row)
	})
}

// rangeRows is the first request of a range that is read whole.
const rangeRows = 128

// pass reports whether a row passes all conditions.
func (b *block) pass(ctx *sql.Context, conditions []eval.Predicate, row sql.Row) (bool, error) {
	for _, c := range conditions {
		t, err := c.Eval(ctx, b.frame, row)
		if err != nil || t != eval.True {
			return false, err
		}
	}
	return true, nil
}

// through sends rows of the first n sources through the rest.
func (b *block) through(ctx *sql.Context, n int, rows []sql.Row) error {
	if ctx.Err() != nil {
		return sqlerr.From(context.Cause(ctx))
	}
	if len(rows) == 0 {
		return nil
	}
	if n < len(b.q.Sources) {
		return b.join(ctx, n, rows)
	}
	if b.groups != nil {
		return b.groups.add(ctx, rows)
	}
	for _, row := range rows {
		if len(b.rows) >= b.most {
			return nil
		}
		if err := b.output(ctx, row); err != nil {
			return err
		}
	}
	return nil
}
