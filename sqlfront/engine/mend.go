package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// mending is for the library's rules that are always applied, before it looks for indexes: it puts expressions of ours in the place of
// those that do not do what MySQL does. The library's own ids count up from zero.
var mending = analyzer.Rule{Id: analyzer.RuleId(-1001), Apply: mend}

// mend is an analyzer.RuleFunc.
func mend(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !n.Resolved() {
		return n, transform.SameTree, nil
	}
	return mendNode(ctx, n)
}

func mendNode(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithNode(ctx, n, func(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.Between:
			return asText(ctx, e, false)
		case *expression.Equals, *expression.NullSafeEquals:
			return asText(ctx, e, true)
		case *aggregation.Min, *aggregation.Max:
			return asText(ctx, e, false)
		case *expression.SetField:
			return mendAssignment(n, e)
		case *plan.Subquery: // it may be made a join before it is analysed by itself
			q, same, err := mendNode(ctx, e.Query)
			if same || err != nil {
				return e, transform.SameTree, err
			}
			return e.WithQuery(q), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
}

// mendAssignment makes what an UPDATE assigns fit its column: the library cuts numbers off at the end of the column's range, as MySQL does
// only where IGNORE or the SQL mode asks for it.
func mendAssignment(n sql.Node, set *expression.SetField) (sql.Expression, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.UpdateSource:
		if n.Ignore {
			return set, transform.SameTree, nil
		}
	case *plan.InsertInto:
		if n.Ignore {
			return set, transform.SameTree, nil
		}
	case *plan.Set: // NEW.c of a trigger
	default:
		return set, transform.SameTree, nil
	}
	to, ok := set.LeftChild.(*expression.GetField)
	if !ok || !sql.IsNumberType(to.Type(nil)) {
		return set, transform.SameTree, nil
	}
	if _, done := set.RightChild.(*fitted); done {
		return set, transform.SameTree, nil
	}
	return expression.NewSetField(set.LeftChild, &fitted{set.RightChild, to.Type(nil), to.Name()}), transform.NewTree, nil
}

// fitted is a value for a column of numbers.
type fitted struct {
	child  sql.Expression
	typ    sql.Type
	column string
}

var (
	_ sql.Expression         = (*fitted)(nil)
	_ sql.CollationCoercible = (*fitted)(nil)
)

func (f *fitted) Resolved() bool                 { return f.child.Resolved() }
func (f *fitted) String() string                 { return f.child.String() }
func (f *fitted) Type(*sql.Context) sql.Type     { return f.typ }
func (f *fitted) IsNullable(c *sql.Context) bool { return f.child.IsNullable(c) }
func (f *fitted) Children() []sql.Expression     { return []sql.Expression{f.child} }

// WithChildren implements sql.Expression.
func (f *fitted) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(cs), 1)
	}
	return &fitted{cs[0], f.typ, f.column}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (f *fitted) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (f *fitted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	var in sql.ConvertInRange
	var to any
	if r, ok := f.typ.(sql.RoundingNumberType); ok {
		to, in, err = r.ConvertRound(ctx, v)
	} else {
		to, in, err = f.typ.Convert(ctx, v)
	}
	switch {
	case err != nil:
		return v, nil // the assignment meets it, too, and knows how to word it
	case in != sql.InRange && sql.LoadSqlMode(ctx).Strict():
		return nil, sqlerr.New(sqlerr.OutOfRange, "Out of range value for column '%s' at row 1", f.column)
	}
	return to, nil
}
