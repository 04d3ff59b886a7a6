package expr

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The library computes what has no columns while it plans: of WHERE RAND() < 0.5 it made all rows, or none.
// What is to be computed for each row has this mark among its children, behind all others; the library takes
// it for something that is not known yet.
var perRow sql.Expression = expression.NewProcedureParam("moka per row", types.Null)

// volatile is a function of the library that is computed for each row.
type volatile struct{ sql.FunctionExpression }

var (
	_ sql.FunctionExpression         = (*volatile)(nil)
	_ sql.CollationCoercible         = (*volatile)(nil)
	_ sql.NonDeterministicExpression = (*volatile)(nil)
)

// volatileFunctions are RAND and SLEEP.
func volatileFunctions() []sql.Function {
	var fs []sql.Function
	for _, name := range []string{"rand", "sleep"} {
		for _, f := range function.BuiltIns {
			if f.FunctionName() != name {
				continue
			}
			fs = append(fs, Volatile(f))
		}
	}
	return fs
}

// Volatile is a function that is computed for each row, whatever its arguments.
func Volatile(f sql.Function) sql.Function {
	return sql.FunctionN{Name: f.FunctionName(),
		Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			e, err := f.NewInstance(ctx, args)
			if err != nil {
				return nil, err
			}
			if fe, ok := e.(sql.FunctionExpression); ok {
				return &volatile{fe}, nil
			}
			return e, nil
		}}
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (*volatile) IsNonDeterministic() bool { return true }

// Children implements sql.Expression.
func (v *volatile) Children() []sql.Expression { return Marked(v.FunctionExpression.Children()) }

// Marked is the children of an expression, and behind them what keeps the planner from computing it.
func Marked(children []sql.Expression) []sql.Expression {
	return append(children[:len(children):len(children)], perRow)
}

// Unmarked is the children before the mark, of which there must be n.
func Unmarked(e sql.Expression, children []sql.Expression, n int) ([]sql.Expression, error) {
	if len(children) != n+1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), n+1)
	}
	return children[:n], nil
}

// WithChildren implements sql.Expression.
func (v *volatile) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	children, err := Unmarked(v, children, len(v.FunctionExpression.Children()))
	if err != nil {
		return nil, err
	}
	e, err := v.FunctionExpression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &volatile{e.(sql.FunctionExpression)}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *volatile) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, v.FunctionExpression)
}

// Timed is a session that may have been told what time it is (SET timestamp = …).
type Timed interface {
	// Told returns the time, ok is false if the clock goes on.
	Told() (at time.Time, ok bool)
}

// Present is what a statement of the session that begins now takes for the present: what NOW() is, and
// the defaults of columns.
func Present(s sql.Session) time.Time {
	if t, ok := s.(Timed); ok {
		if at, ok := t.Told(); ok {
			return at
		}
	}
	return sql.Now()
}
