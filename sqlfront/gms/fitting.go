package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The library makes keys of the values that an indexed column is compared with by converting them to the
// column's type, and asks the rows no more. What a conversion rounds is lost: of d < '2024-02-29 01:02:03' on
// a DATE it makes d < '2024-02-29', which leaves out the very day. So before indexes are chosen a value that
// is between two of the column's becomes the one beside it, with the bound open or closed by the side that it
// is on. Where a value has no place in the order of the column no index is looked for. The alternative, to
// ask all conditions of the rows again, would still miss the rows that a range has left out.

// fitting is a condition with the bounds that fit the columns; fits is false if no index may answer it.
func fitting(
	ctx *sql.Context, e sql.Expression,
) (fitted sql.Expression, same transform.TreeIdentity, fits bool, err error) {
	fits = true
	fitted, same, err = transform.Expr(ctx, e,
		func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			if b, ok := e.(*expression.Between); ok {
				low, okLow := bound(ctx, sql.IndexScanOpGte, b.Val, b.Lower)
				high, okHigh := bound(ctx, sql.IndexScanOpLte, b.Val, b.Upper)
				fits = fits && okLow && okHigh
				if !okLow || !okHigh || low == nil && high == nil {
					return e, transform.SameTree, nil
				}
				if low == nil {
					low = expression.NewGreaterThanOrEqual(b.Val, b.Lower)
				}
				if high == nil {
					high = expression.NewLessThanOrEqual(b.Val, b.Upper)
				}
				return expression.NewAnd(low, high), transform.NewTree, nil
			}
			op, left, right, ok := analyzer.IndexLeafChildren(e)
			if _, negated := e.(*expression.Not); negated || !ok || left == nil || right == nil {
				return e, transform.SameTree, nil // what is negated has been seen
			}
			if _, ok := left.(*expression.GetField); !ok {
				op, left, right = op.Swap(), right, left
			}
			better, ok := bound(ctx, op, left, right)
			fits = fits && ok
			if better == nil || !ok {
				return e, transform.SameTree, nil
			}
			return better, transform.NewTree, nil
		})
	return fitted, same, fits, err
}

// bound is a comparison of a column with a value of the column's type that says the same; nil if the value
// has its exact place among those of the column, or is none that an index is looked for. ok is false if there
// is no such comparison.
func bound(
	ctx *sql.Context, op sql.IndexScanOp, left, right sql.Expression,
) (better sql.Expression, ok bool) {
	column, ok := left.(*expression.GetField)
	if !ok {
		return nil, true
	}
	if list, ok := right.(expression.Tuple); ok {
		for _, item := range list {
			if better, ok := bound(ctx, sql.IndexScanOpEq, left, item); better != nil || !ok {
				return nil, false
			}
		}
		return nil, ctx.Err() == nil
	}
	t, vt := column.Type(ctx), right.Type(ctx)
	if types.IsInteger(t) && types.IsInteger(vt) || types.IsText(t) && types.IsText(vt) ||
		!isFixed(ctx, right) {
		return nil, true
	}
	v, err := right.Eval(ctx, nil)
	if err != nil || v == nil {
		return nil, true
	}
	ordered := op == sql.IndexScanOpLt || op == sql.IndexScanOpLte || op == sql.IndexScanOpGt ||
		op == sql.IndexScanOpGte
	if types.IsText(t) {
		// each row's value is converted to a number or a moment: the comparison has another order than the
		// index
		return nil, !types.IsNumber(vt) && !types.IsTime(vt) && !types.IsTimespan(vt)
	}
	if ordered && (types.IsEnum(t) || types.IsSet(t)) && types.IsText(vt) {
		return nil, false // its order is that of the members
	}
	key, in, err := t.Convert(ctx, v)
	if err != nil || in != sql.InRange {
		return nil, false
	}
	is := func(c sql.Expression) bool {
		v, err := c.Eval(ctx, nil)
		return err == nil && v == true
	}
	k, value := expression.NewLiteral(key, t), expression.NewLiteral(v, vt)
	below := is(expression.NewLessThan(k, value))
	switch {
	case is(expression.NewEquals(k, value)):
		return nil, true
	case !below && !is(expression.NewGreaterThan(k, value)):
		return nil, false
	}
	if _, literal := right.(*expression.Literal); !literal {
		return nil, false // the time of day and RAND() are other values for who asks again
	}
	switch op {
	case sql.IndexScanOpLt, sql.IndexScanOpLte:
		if below {
			return expression.NewLessThanOrEqual(column, k), true
		}
		return expression.NewLessThan(column, k), true
	case sql.IndexScanOpGt, sql.IndexScanOpGte:
		if below {
			return expression.NewGreaterThan(column, k), true
		}
		return expression.NewGreaterThanOrEqual(column, k), true
	}
	return nil, false
}

// isFixed reports whether an expression has a value before there are rows.
func isFixed(ctx *sql.Context, e sql.Expression) bool {
	fixed := true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *expression.GetField, *expression.BindVar, sql.ExpressionWithNodes, expression.Tuple:
			fixed = false
		}
		return fixed
	})
	return fixed && !isHeld(ctx, e)
}
