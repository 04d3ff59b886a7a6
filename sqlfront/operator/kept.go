package operator

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"

	"moka/sqlfront/collate"
)

// kept is what an aggregate that keeps its values is given: GROUP_CONCAT and the JSON aggregates. The rows
// below are charged for; a value may be a thousand times as long as the row that it was made of.
type kept struct {
	sql.Expression
	charge *Charge
	least  int64 // of a value that is charged for
}

var (
	_ sql.CollationCoercible = (*kept)(nil)
	_ collate.Wrapper        = (*kept)(nil)
)

// Wrapped implements collate.Wrapper.
func (k *kept) Wrapped() sql.Expression { return k.Expression }

// Eval implements sql.Expression.
func (k *kept) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := k.Expression.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if n := ValueBytes(v); n >= k.least {
		err = k.charge.Add(n)
	}
	return v, err
}

// WithChildren implements sql.Expression.
func (k *kept) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := k.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &kept{e, k.charge, k.least}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (k *kept) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, k.Expression)
}

// chargeKept has the aggregates among exprs that keep their values charge for them; changed is
// false if there are none.
func chargeKept(ctx *sql.Context, exprs []sql.Expression, c *Charge, least int64) (out []sql.Expression,
	changed bool, err error) {
	if c == nil {
		return exprs, false, nil
	}
	out = make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		out[i] = e
		args := append([]sql.Expression(nil), e.Children()...)
		keys := 0 // that the values are sorted by, which nothing keeps
		switch g := collate.Library(e).(type) {
		case *aggregation.GroupConcat:
			keys = len(args) - len(g.OutputExpressions())
		case *aggregation.JsonArray, *aggregation.JSONObjectAgg:
		default:
			continue
		}
		for j, a := range args {
			if j < keys {
				args[j], changed = heed(a), true
			} else if _, done := a.(*kept); !done {
				args[j], changed = &kept{a, c, least}, true
			}
		}
		if out[i], err = e.WithChildren(ctx, args...); err != nil {
			return nil, false, err
		}
	}
	return out, changed, nil
}

// leastOfFrames is from where on a value of a window's aggregate is charged for: it is
// evaluated again for each frame.
const leastOfFrames = 4 << 10
