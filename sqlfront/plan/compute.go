package plan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/eval"
)

// Frame says where an expression finds what it is computed from.
type Frame struct {
	// Slot is where a column is in the row.
	Slot func(*expression.GetField) (int, bool)
	// Params is where the first parameter is; the others are behind it.
	Params int
}

// Compute makes an expression that the binder has made one over rows of a frame, in which the parameters have
// slots of their own. That is how the values of a run get into an expression that all runs share.
func Compute(ctx *sql.Context, e sql.Expression, f Frame) (sql.Expression, error) {
	if !sameWithParams(ctx, e) {
		return nil, Unsupported("a parameter whose digits matter")
	}
	x, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (
		sql.Expression, transform.TreeIdentity, error,
	) {
		switch e := e.(type) {
		case *expression.GetField:
			s, ok := f.Slot(e)
			if !ok {
				return nil, transform.SameTree, Unsupported("column " + e.String())
			}
			return e.WithIndex(s), transform.NewTree, nil
		case *expression.BindVar:
			o, ok := eval.Scope{}.Operand(ctx, e)
			if !ok {
				return nil, transform.SameTree, Unsupported("parameter " + e.Name)
			}
			return expression.NewGetField(f.Params+o.Param, e.Typ, e.Name, true), transform.NewTree, nil
		case *expression.Alias:
			return e.Child, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return x, err
}

// sameWithParams reports whether an expression has the same value whatever the digits are that the type of a
// parameter has: those of a literal are its own. So numbers with decimals are for sums, products and casts.
func sameWithParams(ctx *sql.Context, e sql.Expression) bool {
	same := true
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.Convert, *expression.GetField, *expression.Alias:
			_, cast := e.(*expression.Convert)
			return !cast
		case *expression.Arithmetic, *eval.Product:
			return true
		case nil:
			return true
		}
		for _, c := range e.Children() {
			if b, ok := c.(*expression.BindVar); ok {
				switch {
				case types.IsInteger(b.Typ), types.IsText(b.Typ), b.Typ == types.Null:
				default:
					same = false
				}
			}
		}
		return same
	})
	return same
}
