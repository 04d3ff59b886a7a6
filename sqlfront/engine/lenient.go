package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/sets"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// Without STRICT_TRANS_TABLES and STRICT_ALL_TABLES, as old programs ask for, an INSERT makes values fit, with a warning: a number that is too great
// becomes the greatest, a text is cut, and a NOT NULL column without a value gets the zero of its type. The library knows that for
// INSERT IGNORE only, which takes duplicates for no error either. So the rows are made to fit on their way to it.

// lenientRows is the source of an INSERT whose rows fit.
type lenientRows struct {
	plan.UnaryNode
	schema   sql.Schema
	defaults sets.FastIntSet // columns without a value and without a default
	alone    bool            // one row of VALUES: a NULL that was written there is an error all the same
}

// lenient is the statement with such a source; nil if its SQL mode is strict or it has one already.
func lenient(ctx *sql.Context, n *plan.InsertInto) *plan.InsertInto {
	if n.Ignore {
		return nil
	}
	if mode := sql.LoadSqlMode(ctx); mode.ModeEnabled("STRICT_TRANS_TABLES") || mode.ModeEnabled("STRICT_ALL_TABLES") {
		return nil
	}
	if _, done := n.Source.(*lenientRows); done || loads(n.Source) {
		return nil
	}
	dest, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil
	}
	t := ownTable(dest)
	if t == nil {
		return nil
	}
	l := &lenientRows{UnaryNode: plan.UnaryNode{Child: n.Source}, schema: t.Schema(ctx), defaults: n.DeferredDefaults}
	if len(n.Source.Schema(ctx)) != len(l.schema) {
		return nil
	}
	transform.Inspect(n.Source, func(n sql.Node) bool {
		if v, ok := n.(*plan.Values); ok {
			l.alone = len(v.ExpressionTuples) == 1 && slices.ContainsFunc(v.ExpressionTuples[0], func(e sql.Expression) bool {
				_, missing := e.(*expression.Wrapper)
				return !missing // VALUES () is none but defaults
			})
		}
		return true
	})
	again := *n
	again.Source = l
	return &again
}

// String implements sql.Node.
func (l *lenientRows) String() string { return l.Child.String() }

// IsReadOnly implements sql.Node.
func (l *lenientRows) IsReadOnly() bool { return l.Child.IsReadOnly() }

// WithChildren implements sql.Node.
func (l *lenientRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(children), 1)
	}
	again := *l
	again.Child = children[0]
	return &again, nil
}

type lenientIter struct {
	sql.RowIter
	of  *lenientRows
	row uint64
}

// Next implements sql.RowIter.
func (it *lenientIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	it.row++
	outer := max(0, len(row)-len(it.of.schema)) // the library cuts off what comes before
	row = row.Copy()
	for i, col := range it.of.schema {
		if row[outer+i], err = it.fit(ctx, i, col, row[outer+i]); err != nil {
			return nil, err
		}
	}
	return row, nil
}

func (it *lenientIter) fit(ctx *sql.Context, i int, col *sql.Column, v any) (any, error) {
	if v == nil {
		missing := it.of.defaults.Contains(i)
		if col.Nullable || col.AutoIncrement || col.Generated != nil || it.of.alone && !missing {
			return nil, nil
		}
		if missing {
			ctx.Warn(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", col.Name)
		} else {
			ctx.Warn(sqlerr.BadNull, "Column '%s' cannot be null", col.Name)
		}
		if types.IsEnum(col.Type) {
			return uint16(1), nil // MySQL's: the first member
		}
		zero, _, err := col.Type.Convert(ctx, col.Type.Zero())
		return zero, err
	}
	var out any
	var err error
	in := sql.InRange
	if typ, ok := col.Type.(sql.RoundingNumberType); ok {
		out, in, err = typ.ConvertRound(ctx, v)
	} else {
		out, in, err = col.Type.Convert(ctx, v)
	}
	if err == nil && in == sql.InRange {
		return v, nil
	}
	word, known := unfit(col, v, in, err, it.row)
	if !known {
		return v, nil // the library says what is wrong
	}
	warn(ctx, word)
	return clipped(ctx, col.Type, v, out)
}
