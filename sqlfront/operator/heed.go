package operator

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/collate"
)

// heeding is a key that rows are sorted by, which is no key any more when the statement is to end. The
// library evaluates keys for each comparison, of a million rows forty million times, and looks at nothing
// else; after the first error it compares no more. Rejected: a sort of our own with keys that are evaluated
// once, which would have to pay for keeping them, and would not be that of windows and GROUP_CONCAT.
type heeding struct{ sql.Expression }

var (
	_ sql.CollationCoercible = heeding{}
	_ collate.Wrapper        = heeding{}
)

// Eval implements sql.Expression.
func (h heeding) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	return h.Expression.Eval(ctx, row)
}

// ended is why the statement is to end, nil while it is not.
func ended(ctx *sql.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// Wrapped implements collate.Wrapper.
func (h heeding) Wrapped() sql.Expression { return h.Expression }

// CollationCoercibility implements sql.CollationCoercible.
func (h heeding) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, h.Expression)
}

// WithChildren implements sql.Expression.
func (h heeding) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := h.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return heed(e), nil
}

func heed(e sql.Expression) sql.Expression {
	if _, done := e.(heeding); done {
		return e
	}
	return heeding{e}
}

// heedKeys are the keys of a sort, all of which heed.
func heedKeys(by sql.SortConditions) sql.SortConditions {
	by = slices.Clone(by)
	for i := range by {
		by[i].Expr = heed(by[i].Expr)
	}
	return by
}

// heedWindow is a window whose rows are sorted by keys that heed.
func heedWindow(w *sql.WindowDefinition) *sql.WindowDefinition {
	if w == nil {
		return nil
	}
	again := *w
	again.OrderBy, again.PartitionBy = heedKeys(w.OrderBy), slices.Clone(w.PartitionBy)
	for i, e := range again.PartitionBy {
		again.PartitionBy[i] = heed(e)
	}
	return &again
}
