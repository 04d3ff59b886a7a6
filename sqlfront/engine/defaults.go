package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// mustHaveValues refuses DEFAULT, and VALUES (), for columns that cannot be NULL and have no default, before any row is written. The library takes the NULL
// that such a DEFAULT is for one of the user's. Without a strict SQL mode such columns get the zero of their type.
func mustHaveValues(ctx *sql.Context, n *plan.InsertInto) (err error) {
	if n.Ignore || !strict(ctx) {
		return nil
	}
	schema := n.Destination.Schema(ctx)
	if n.OnDupExprs.HasUpdates() {
		if err := mustHaveDefaults(ctx, schema, n.OnDupExprs.AllExpressions(), false); err != nil {
			return err
		}
	}
	transform.Inspect(n.Source, func(node sql.Node) bool {
		values, ok := node.(*plan.Values)
		if !ok || err != nil {
			return err == nil
		}
		for _, tuple := range values.ExpressionTuples {
			if len(tuple) != len(n.ColumnNames) {
				break
			}
			for i, e := range tuple {
				c := schema.IndexOfColName(n.ColumnNames[i])
				if c >= 0 && err == nil && nothing(e) {
					err = noDefault(schema[c])
				}
			}
		}
		return false
	})
	return err
}

// mustHaveDefaults is the same for what is assigned.
func mustHaveDefaults(ctx *sql.Context, schema sql.Schema, exprs []sql.Expression, ignore bool) error {
	if ignore || !strict(ctx) {
		return nil
	}
	for _, e := range exprs {
		set, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		to, ok := set.LeftChild.(*expression.GetField)
		if !ok || to.Index() >= len(schema) || to.Index() < 0 || !nothing(set.RightChild) {
			continue
		}
		if err := noDefault(schema[to.Index()]); err != nil {
			return err
		}
	}
	return nil
}

// placedDefaults lets the DEFAULTs among the values of an INSERT, and VALUES () is nothing else, find the
// columns that they are computed of: their values in the row, or their own defaults if the statement names
// them not. The library finds those that the statement names, and for VALUES () takes other columns for them.
func placedDefaults(ctx *sql.Context, n *plan.InsertInto) (sql.Node, error) {
	values, ok := n.Source.(*plan.Values)
	if !ok {
		return n, nil
	}
	var out [][]sql.Expression
	for i, tuple := range values.ExpressionTuples {
		var placed []sql.Expression
		for j, e := range tuple {
			w, ok := e.(*expression.Wrapper)
			if !ok || nothing(e) {
				continue
			}
			p, same, err := placedDefault(ctx, n, w.Unwrap(), 0)
			if err != nil {
				return nil, err
			}
			if same {
				continue
			}
			if placed == nil {
				placed = slices.Clone(tuple)
			}
			placed[j] = expression.WrapExpression(p)
		}
		if placed == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(values.ExpressionTuples)
		}
		out[i] = placed
	}
	if out == nil {
		return n, nil
	}
	again := *values
	again.ExpressionTuples = out
	return n.WithSource(&again), nil
}

// maxDefaults bounds how many defaults are computed of one another.
const maxDefaults = 100

func placedDefault(ctx *sql.Context, n *plan.InsertInto, e sql.Expression, depth int) (sql.Expression,
	transform.TreeIdentity, error) {
	return transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression,
		transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		at := slices.IndexFunc(n.ColumnNames, func(c string) bool { return equalFold(c, f.Name()) })
		if at >= 0 {
			return f.WithIndex(at), transform.NewTree, nil
		}
		schema := n.Destination.Schema(ctx)
		at = schema.IndexOfColName(f.Name())
		if at < 0 || depth == maxDefaults { // of a table of an older release, in a circle
			return nil, transform.SameTree, sql.ErrColumnNotFound.New(f.Name())
		}
		c := schema[at]
		of := c.Default
		if c.Generated != nil {
			of = c.Generated
		}
		if of == nil {
			return expression.NewLiteral(nil, c.Type), transform.NewTree, noDefault(c)
		}
		out, _, err := placedDefault(ctx, n, of, depth+1)
		return out, transform.NewTree, err
	})
}

// nothing reports whether e is the DEFAULT of a column that has none.
func nothing(e sql.Expression) bool {
	if f, ok := e.(*fitted); ok {
		e = f.child
	}
	w, ok := e.(*expression.Wrapper)
	if !ok {
		return false
	}
	d, ok := w.Unwrap().(*sql.ColumnDefaultValue)
	return w.Unwrap() == nil || ok && d == nil
}

func noDefault(c *sql.Column) error {
	if c.Nullable || c.AutoIncrement || c.Generated != nil || c.Default != nil {
		return nil
	}
	return sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", c.Name)
}
