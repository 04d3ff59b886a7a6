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
// INSERT IGNORE only, which takes duplicates for no error either. So the rows are made to fit on their way to it. What an UPDATE assigns, and ON DUPLICATE
// KEY UPDATE, is made to fit where it is assigned; that of UPDATE IGNORE as well, where the library is silent about numbers that it cuts off.

// lenientRows is the source of an INSERT whose rows fit.
type lenientRows struct {
	plan.UnaryNode
	schema   sql.Schema
	defaults sets.FastIntSet // columns without a value and without a default
	alone    bool            // one row of VALUES: a NULL that was written there is an error all the same
	at       *rowNumber
}

// rowNumber is the number of the row that a statement is at, for its warnings.
type rowNumber uint64

func strict(ctx *sql.Context) bool {
	mode := sql.LoadSqlMode(ctx)
	return mode.ModeEnabled("STRICT_TRANS_TABLES") || mode.ModeEnabled("STRICT_ALL_TABLES")
}

// lenient is the statement with such a source; nil if its SQL mode is strict or it has one already.
func lenient(ctx *sql.Context, n *plan.InsertInto) *plan.InsertInto {
	if strict(ctx) && !n.Ignore {
		return nil
	}
	if n.Ignore {
		at := rowNumber(1)
		return lenientUpsert(ctx, n, &at, false)
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
	l := &lenientRows{UnaryNode: plan.UnaryNode{Child: n.Source}, schema: t.Schema(ctx), defaults: n.DeferredDefaults, at: new(rowNumber)}
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
	if upserts := lenientUpsert(ctx, &again, l.at, l.alone); upserts != nil {
		return upserts
	}
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
	of *lenientRows
}

// Next implements sql.RowIter.
func (it *lenientIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	*it.of.at++
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
		return implicitDefault(ctx, col.Type)
	}
	return madeToFit(ctx, col, v, *it.of.at)
}

// implicitDefault is the value of a column that has none and cannot be NULL.
func implicitDefault(ctx *sql.Context, t sql.Type) (any, error) {
	if types.IsEnum(t) {
		return uint16(1), nil // MySQL's: the first member
	}
	zero, _, err := t.Convert(ctx, t.Zero())
	return zero, err
}

// madeToFit is a value as the column can hold it, with a warning if that is another one.
func madeToFit(ctx *sql.Context, col *sql.Column, v any, at rowNumber) (any, error) {
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
	word, known := unfit(col, v, in, err, uint64(at))
	if !known {
		return v, nil // the library says what is wrong
	}
	warn(ctx, word)
	return clipped(ctx, col.Type, v, out)
}

// lenientUpdate is the source of an UPDATE whose values fit; nil if they have to by themselves, or do already.
func lenientUpdate(ctx *sql.Context, n *plan.UpdateSource) (sql.Node, error) {
	if strict(ctx) && !n.Ignore {
		return nil, nil
	}
	if _, done := n.Child.(*countedRows); done {
		return nil, nil
	}
	counted := &countedRows{plan.UnaryNode{Child: n.Child}, new(rowNumber)}
	exprs, err := n.UpdateExprs.WithExpressions(lenientExprs(n.Child.Schema(ctx), n.UpdateExprs.AllExpressions(), counted.at, false))
	if err != nil {
		return nil, err
	}
	again := *n
	again.Child, again.UpdateExprs = counted, exprs
	return &again, nil
}

// lenientUpsert is an INSERT whose ON DUPLICATE KEY UPDATE assigns what fits; nil if it has none, or does already.
func lenientUpsert(ctx *sql.Context, n *plan.InsertInto, at *rowNumber, alone bool) *plan.InsertInto {
	if !n.OnDupExprs.HasUpdates() {
		return nil
	}
	before := n.OnDupExprs.AllExpressions()
	after := lenientExprs(n.Destination.Schema(ctx), before, at, alone)
	if slices.Equal(before, after) {
		return nil
	}
	exprs, err := n.OnDupExprs.WithExpressions(after)
	if err != nil {
		return nil
	}
	again := *n
	again.OnDupExprs = exprs
	return &again
}

func lenientExprs(schema sql.Schema, in []sql.Expression, at *rowNumber, alone bool) []sql.Expression {
	out := slices.Clone(in)
	for i, e := range in {
		set, ok := e.(*expression.SetField)
		if !ok {
			continue
		}
		to, ok := set.LeftChild.(*expression.GetField)
		if !ok || to.Index() >= len(schema) {
			continue
		}
		value := set.RightChild
		switch f := value.(type) {
		case *lenientValue:
			continue
		case *fitted:
			value = f.child
		}
		l := &lenientValue{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, column: schema[to.Index()], at: at}
		_, computed := value.(*sql.ColumnDefaultValue)
		l.filled = !l.column.Nullable && !to.IsNullable(nil) && !computed && !alone
		out[i] = expression.NewSetField(to, l)
	}
	return out
}

// lenientValue is a value that is made to fit the column that it is assigned to.
type lenientValue struct {
	expression.UnaryExpressionStub
	column *sql.Column
	at     *rowNumber
	filled bool // NULL becomes the implicit default
}

var (
	_ sql.Expression         = (*lenientValue)(nil)
	_ sql.CollationCoercible = (*lenientValue)(nil)
)

func (l *lenientValue) String() string             { return l.Child.String() }
func (l *lenientValue) Type(*sql.Context) sql.Type { return l.column.Type }

// WithChildren implements sql.Expression.
func (l *lenientValue) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(cs), 1)
	}
	again := *l
	again.Child = cs[0]
	return &again, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (l *lenientValue) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, l.Child)
}

// Eval implements sql.Expression.
func (l *lenientValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := l.Child.Eval(ctx, row)
	switch {
	case err != nil:
		return nil, err
	case v != nil:
		return madeToFit(ctx, l.column, v, *l.at)
	case !l.filled:
		return nil, nil
	}
	ctx.Warn(sqlerr.BadNull, "Column '%s' cannot be null", l.column.Name)
	return implicitDefault(ctx, l.column.Type)
}

// countedRows numbers the rows of its child.
type countedRows struct {
	plan.UnaryNode
	at *rowNumber
}

// String implements sql.Node.
func (c *countedRows) String() string { return c.Child.String() }

// IsReadOnly implements sql.Node.
func (c *countedRows) IsReadOnly() bool { return c.Child.IsReadOnly() }

// WithChildren implements sql.Node.
func (c *countedRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &countedRows{plan.UnaryNode{Child: children[0]}, c.at}, nil
}

type countedIter struct {
	sql.RowIter
	at *rowNumber
}

// Next implements sql.RowIter.
func (it *countedIter) Next(ctx *sql.Context) (sql.Row, error) {
	*it.at++
	return it.RowIter.Next(ctx)
}
