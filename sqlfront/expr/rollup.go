package expr

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/inband"
)

// The grammar does not know WITH ROLLUP: the parser writes it as a last column of GROUP BY, RollupFunction,
// which the engine's GROUP BY looks for. GROUPING(a) is written as an aggregate, BIT_OR(GroupingFunction(a)),
// so that it is computed there.
var (
	RollupFunction   = inband.Function("rollup")
	GroupingFunction = inband.Function("grouping")
)

func rollupFunctions() []sql.Function {
	return []sql.Function{
		sql.NewFunction0(RollupFunction, func(*sql.Context) sql.Expression {
			return &Rollup{expression.NewLiteral(int8(0), types.Int8)}
		}),
		sql.Function1{Name: GroupingFunction, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return &Grouping{expression.UnaryExpressionStub{Child: e}}
		}},
	}
}

// Rollup marks a GROUP BY as WITH ROLLUP.
type Rollup struct{ *expression.Literal }

var (
	_ sql.FunctionExpression = (*Rollup)(nil)
	_ sql.CollationCoercible = (*Rollup)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (r *Rollup) FunctionName() string { return RollupFunction }

// Description implements sql.FunctionExpression.
func (r *Rollup) Description() string { return "WITH ROLLUP" }

// String implements sql.Expression.
func (r *Rollup) String() string { return RollupFunction + "()" }

// WithChildren implements sql.Expression.
func (r *Rollup) WithChildren(*sql.Context, ...sql.Expression) (sql.Expression, error) { return r, nil }

// Grouping is 1 where its argument stands for all values. The engine's GROUP BY knows; elsewhere
// there are no such rows.
type Grouping struct{ expression.UnaryExpressionStub }

var (
	_ sql.FunctionExpression = (*Grouping)(nil)
	_ sql.CollationCoercible = (*Grouping)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (g *Grouping) FunctionName() string { return GroupingFunction }

// Description implements sql.FunctionExpression.
func (g *Grouping) Description() string { return "GROUPING" }

// String implements sql.Expression.
func (g *Grouping) String() string { return GroupingFunction + "(" + g.Child.String() + ")" }

// Type implements sql.Expression.
func (g *Grouping) Type(*sql.Context) sql.Type { return types.Int64 }

// IsNullable implements sql.Expression.
func (g *Grouping) IsNullable(*sql.Context) bool { return false }

// Eval implements sql.Expression.
func (g *Grouping) Eval(*sql.Context, sql.Row) (any, error) { return int64(0), nil }

// CollationCoercibility implements sql.CollationCoercible.
func (g *Grouping) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (g *Grouping) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(g, len(cs), 1)
	}
	return &Grouping{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}
