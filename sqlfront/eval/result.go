package eval

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/collate"
)

// Result is what a subquery that depends on nothing outside of it has answered in a run: it is run once,
// before anything is read for the query around it.
type Result struct {
	Values []any // of its only column; none or one of a subquery that stands for a value
	keys   *collate.RowKeys
	known  map[string]struct{}
	null   bool
}

// NewResult is for a subquery with rows of one column of a type.
func NewResult(ctx *sql.Context, t sql.Type, rows []sql.Row) (*Result, error) {
	r := &Result{keys: collate.NewRowKeys([]sql.Type{t}), known: make(map[string]struct{}, len(rows))}
	for _, row := range rows {
		if row[0] == nil {
			r.null = true
			continue
		}
		k, err := r.keys.Of(ctx, row[:1])
		if err != nil {
			return nil, err
		}
		r.known[string(k)] = struct{}{}
	}
	return r, nil
}

// Value is that of a subquery that stands for one; nil for NULL, or no row.
func (r *Result) Value() any {
	if len(r.Values) == 0 {
		return nil
	}
	return r.Values[0]
}

// has is value IN (the rows).
func (r *Result) has(ctx *sql.Context, v any) (Truth, error) {
	switch {
	case len(r.known) == 0 && !r.null:
		return False, nil // of nothing, NULL is not in it either
	case v == nil:
		return Unknown, nil
	}
	k, err := r.keys.Of(ctx, sql.Row{v})
	if err != nil {
		return False, err
	}
	if _, ok := r.known[string(k)]; ok {
		return True, nil
	}
	if r.null {
		return Unknown, nil
	}
	return False, nil
}

// Use says for what a subquery stands.
type Use uint8

// The uses of a subquery.
const (
	AsValue Use = iota // one value: more rows are an error
	AsList             // of IN
	AsTruth            // EXISTS
)

// subquery asks the scope for one.
func (s Scope) subquery(e sql.Expression, use Use) (n int, t sql.Type, err error) {
	sub, ok := e.(*plan.Subquery)
	if !ok || s.Subquery == nil {
		return 0, nil, ErrUnsupported
	}
	return s.Subquery(sub, use)
}

// inSubquery is column IN (subquery).
func (s Scope) inSubquery(ctx *sql.Context, e *plan.InSubquery) (Predicate, error) {
	l, ok := column(e.Left())
	if !ok {
		return nil, ErrUnsupported
	}
	slot, ok := s.Slot(l)
	if !ok {
		return nil, ErrUnsupported
	}
	n, t, err := s.subquery(e.Right(), AsList)
	if err != nil {
		return nil, err
	}
	if !SameKind(l.Type(ctx), t) {
		return nil, ErrUnsupported
	}
	return inResult{slot, n}, nil
}

type inResult struct{ slot, result int }

func (p inResult) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	return f.Results[p.result].has(ctx, row[p.slot])
}

// exists is EXISTS (subquery).
type exists struct{ result int }

func (p exists) Eval(_ *sql.Context, f *Frame, _ sql.Row) (Truth, error) {
	return truth(len(f.Results[p.result].Values) > 0), nil
}

// withResult compares a column with a subquery.
type withResult struct {
	slot    int
	compare func(ctx *sql.Context, a, b any) (int, error)
	op      Comparison
	result  int
}

func (p *withResult) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	want := f.Results[p.result].Value()
	if want == nil || row[p.slot] == nil {
		return Unknown, nil
	}
	n, err := p.compare(ctx, row[p.slot], want)
	return truth(err == nil && p.op.holds(n)), err
}
