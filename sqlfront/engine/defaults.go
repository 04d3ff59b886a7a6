package engine

import (
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
