package engine

import (
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/sets"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/assign"
	"moka/sqlfront/collate"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// Without STRICT_TRANS_TABLES and STRICT_ALL_TABLES, as old programs ask for, an INSERT makes values fit, with a warning: a number that is too great
// becomes the greatest, a text is cut, and a NOT NULL column without a value gets the zero of its type. The library knows that for
// INSERT IGNORE only, which takes duplicates for no error either. So the rows are made to fit on their way to it. What an UPDATE assigns, and ON DUPLICATE
// KEY UPDATE, is made to fit where it is assigned; that of UPDATE IGNORE as well, where the library is silent about numbers that it cuts off.

// arrivingRows is the source of an INSERT as MySQL fills rows: values are made what their columns hold first, and then the columns are computed that
// depend on them. The library computes these of what was written in the statement, 1.6 for an INT.
type arrivingRows struct {
	plan.UnaryNode
	table    *Table
	schema   sql.Schema
	computed []computedColumn
	moments  []bool          // dates and times that the statement has a value for
	converts bool            // values become those of the columns although nothing is computed of them
	lenient  bool            // they are made to fit
	defaults sets.FastIntSet // columns without a value and without a default
	alone    bool            // one row of VALUES: a NULL that was written there is an error all the same
	at       *rowNumber
	loads    bool // LOAD DATA has words of its own
	fires    bool // for triggers, which see NULL where the statement has no value
}

// rowNumber is the number of the row that a statement is at, for its warnings.
type rowNumber uint64

func strict(ctx *sql.Context) bool {
	mode := sql.LoadSqlMode(ctx)
	return mode.ModeEnabled("STRICT_TRANS_TABLES") || mode.ModeEnabled("STRICT_ALL_TABLES")
}

// arriving is the statement with such a source; nil if it needs none or has one already.
func arriving(ctx *sql.Context, n *plan.InsertInto) (sql.Node, error) {
	if _, done := n.Source.(*arrivingRows); done {
		return nil, nil
	}
	dest, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, nil // the library words it
	}
	t := ownTable(dest)
	if t == nil {
		return nil, nil
	}
	r := &arrivingRows{table: t, schema: t.Schema(ctx), defaults: n.DeferredDefaults, at: new(rowNumber), lenient: n.Ignore || !strict(ctx)}
	if len(n.Source.Schema(ctx)) != len(r.schema) {
		return nil, nil
	}
	for i, c := range r.schema {
		if types.IsTime(c.Type) {
			if r.moments == nil {
				r.moments = make([]bool, len(r.schema))
			}
			r.moments[i] = true
		}
	}
	source, err := r.compute(ctx, n.Source)
	converted := func(c *sql.Column) bool {
		t := c.Type
		return types.IsNumber(t) || expr.IsSpan(t) || expr.IsEnum(t) || collate.CutsSpaces(t)
	}
	if err != nil || !r.lenient && len(r.computed) == 0 && r.moments == nil && source == n.Source &&
		!slices.ContainsFunc(r.schema, converted) {
		return nil, err
	}
	r.Child = source
	transform.Inspect(source, func(node sql.Node) bool {
		switch v := node.(type) {
		case *plan.LoadData:
			r.loads = true
		case *loadRows:
			r.loads, *r.at = true, v.before
		case *plan.Values:
			r.alone = !n.Ignore && len(v.ExpressionTuples) == 1 && slices.ContainsFunc(v.ExpressionTuples[0], func(e sql.Expression) bool {
				_, missing := e.(*expression.Wrapper)
				return !missing // VALUES () is none but defaults
			})
		}
		return true
	})
	again := *n
	again.Source = r
	if r.lenient {
		if upserts := lenientUpsert(ctx, &again, r.at, r.alone); upserts != nil {
			return upserts, nil
		}
	}
	return &again, nil
}

// compute takes the columns that are computed of others out of the source; they are computed when these have arrived.
func (r *arrivingRows) compute(ctx *sql.Context, source sql.Node) (sql.Node, error) {
	switch n := source.(type) {
	case *plan.TriggerExecutor:
		left, err := r.compute(ctx, n.Left())
		if err != nil {
			return nil, err
		}
		if _, inner := left.(*plan.TriggerExecutor); !inner { // triggers see what the columns hold
			left = &arrivingRows{UnaryNode: plan.UnaryNode{Child: left}, table: r.table, schema: r.schema,
				computed: r.computed, moments: r.moments, converts: true, lenient: r.lenient, fires: true,
				at: new(rowNumber)}
			r.computed = slices.DeleteFunc(slices.Clone(r.computed), func(c computedColumn) bool { return r.schema[c.at].Generated == nil })
		}
		return n.WithChildren(ctx, left, n.Right())
	case *plan.Project:
		if len(n.Projections) != len(r.schema) {
			return source, nil
		}
		var later, generated []int
		for i, c := range r.schema {
			d, ok := n.Projections[i].(*sql.ColumnDefaultValue)
			if ok && r.moments != nil {
				r.moments[i] = false
			}
			switch {
			case c.Generated != nil:
				generated = append(generated, i)
			case ok && d != nil && dependent(ctx, d):
				later = append(later, i)
			}
		}
		with := *n
		counts := fitCounter(&with, r.schema)
		if len(later)+len(generated) == 0 {
			if !counts {
				return source, nil
			}
			return &with, nil
		}
		resolved, _, err := r.table.resolved(ctx, nil)
		if err != nil {
			return nil, err
		}
		for _, i := range later {
			r.computed = append(r.computed, computedColumn{i, resolved[i].Default.Expr})
		}
		for _, i := range generated {
			r.computed = append(r.computed, computedColumn{i, resolved[i].Generated.Expr})
		}
		for _, c := range r.computed {
			with.Projections[c.at] = expression.NewLiteral(nil, types.Null)
		}
		return &with, nil
	}
	return source, nil
}

// fitCounter has the number that is given to an AUTO_INCREMENT be one of the column's before the counter sees
// it, which took '90.6' for 0, in a list of projections that is n's own; it reports whether there is one.
func fitCounter(n *plan.Project, schema sql.Schema) bool {
	n.Projections = slices.Clone(n.Projections)
	for i, e := range n.Projections {
		if a, ok := e.(*expression.AutoIncrement); ok && a.Child != nil {
			again := *a
			again.Child = &fitted{a.Child, schema[i].Type, schema[i].Name}
			n.Projections[i] = &again
			return true
		}
	}
	return false
}

// dependent reports whether a default is computed of other columns.
func dependent(ctx *sql.Context, d *sql.ColumnDefaultValue) bool {
	found := false
	sql.Inspect(ctx, d, func(_ *sql.Context, e sql.Expression) bool {
		_, ok := e.(*expression.GetField)
		found = found || ok
		return !found
	})
	return found
}

// String implements sql.Node.
func (r *arrivingRows) String() string { return r.Child.String() }

// IsReadOnly implements sql.Node.
func (r *arrivingRows) IsReadOnly() bool { return r.Child.IsReadOnly() }

// WithChildren implements sql.Node.
func (r *arrivingRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(r, len(children), 1)
	}
	again := *r
	again.Child = children[0]
	return &again, nil
}

type arrivingIter struct {
	sql.RowIter
	of *arrivingRows
}

// Next implements sql.RowIter.
func (it *arrivingIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	*it.of.at++
	outer := max(0, len(row)-len(it.of.schema)) // the library cuts off what comes before
	row = row.Copy()
	return row, it.of.arrive(ctx, row[outer:])
}

func (r *arrivingRows) arrive(ctx *sql.Context, row sql.Row) (err error) {
	isComputed := func(i int) bool {
		return slices.ContainsFunc(r.computed, func(c computedColumn) bool { return c.at == i })
	}
	for i, col := range r.schema {
		if isComputed(i) {
			continue
		}
		if row[i] != nil && r.moments != nil && r.moments[i] {
			if row[i], err = assign.Date(ctx, col, row[i], uint64(*r.at), r.lenient); err != nil {
				return err
			}
		}
		if row[i] != nil && collate.CutsSpaces(col.Type) {
			row[i] = collate.WithoutSurplus(ctx, col, row[i], uint64(*r.at))
		}
		if r.lenient && (row[i] != nil || !r.fires) {
			if row[i], err = r.fit(ctx, i, col, row[i]); err != nil {
				return err
			}
		}
		if assign.Foreign(col.Type, row[i]) {
			v, in, err := assign.Held(ctx, col.Type, row[i])
			if err != nil || in != sql.InRange {
				word, _ := assign.Unfit(col, row[i], in, err, uint64(*r.at))
				return word
			}
			row[i] = v
		}
		if row[i] == nil || len(r.computed) == 0 && !r.converts {
			continue
		}
		v, in, err := expr.Held(ctx, col.Type, row[i])
		switch {
		case err == nil && in == sql.InRange:
			row[i] = v
		case !r.converts:
			return nil // the library says what is wrong, before it looks at the rest
		}
	}
	for _, c := range r.computed {
		v, err := c.expr.Eval(ctx, row)
		if err != nil {
			return err
		}
		if v != nil && r.lenient && !r.schema[c.at].Virtual { // who reads it computes it again, and could not
			if v, err = assign.Fit(ctx, r.schema[c.at], v, uint64(*r.at)); err != nil {
				return err
			}
		}
		if v != nil { // others may be computed of it
			if out, in, err := expr.Held(ctx, r.schema[c.at].Type, v); err == nil && in == sql.InRange {
				v = out
			}
		}
		row[c.at] = v
	}
	return nil
}

func (r *arrivingRows) fit(ctx *sql.Context, i int, col *sql.Column, v any) (any, error) {
	if v == nil {
		missing := r.defaults.Contains(i)
		if col.Nullable || col.AutoIncrement || r.alone && !missing {
			return nil, nil
		}
		if r.loads && !missing {
			ctx.Warn(sqlerr.NullToNotNull, "Column set to default value; NULL supplied to NOT NULL column '%s' at row %d", col.Name, *r.at)
		} else if missing {
			ctx.Warn(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", col.Name)
		} else {
			ctx.Warn(sqlerr.BadNull, "Column '%s' cannot be null", col.Name)
		}
		return implicitDefault(ctx, col.Type)
	}
	return assign.Fit(ctx, col, v, uint64(*r.at))
}

// implicitDefault is the value of a column that has none and cannot be NULL.
func implicitDefault(ctx *sql.Context, t sql.Type) (any, error) {
	if types.IsEnum(t) {
		return uint16(1), nil // MySQL's: the first member
	}
	zero, _, err := t.Convert(ctx, t.Zero())
	return zero, err
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
		_, computed := value.(*sql.ColumnDefaultValue)
		if computed && schema[to.Index()].Virtual {
			continue // who reads it computes it again, and could not
		}
		l := &lenientValue{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, column: schema[to.Index()], at: at}
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
		if collate.CutsSpaces(l.column.Type) {
			v = collate.WithoutSurplus(ctx, l.column, v, uint64(*l.at))
		}
		if types.IsTime(l.column.Type) {
			if v, err = assign.Date(ctx, l.column, v, uint64(*l.at), true); err != nil {
				return nil, err
			}
		}
		return assign.Fit(ctx, l.column, v, uint64(*l.at))
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

// storeRecursive makes a row of a later part of a recursive query one of the first: from has its types.
func storeRecursive(ctx *sql.Context, columns, from sql.Schema, row sql.Row) (sql.Row, error) {
	if len(row) != len(columns) || len(from) != len(columns) {
		return row, nil
	}
	out := row
	for i, c := range columns {
		v := row[i]
		if v == nil || c.Type.Equals(from[i].Type) && !types.IsDecimal(c.Type) {
			continue
		}
		stored, err := storedRecursive(ctx, c, from[i].Type, v)
		if err != nil {
			return nil, err
		}
		if &out[0] == &row[0] {
			out = slices.Clone(row)
		}
		out[i] = stored
	}
	return out, nil
}

func storedRecursive(ctx *sql.Context, c *sql.Column, from sql.Type, v any) (any, error) {
	switch {
	case c.Type == types.Null: // a column that holds nothing
		if strict(ctx) {
			return nil, sqlerr.New(sqlerr.DataTooLong, "Data too long for column '%s' at row 1", c.Name)
		}
		ctx.Warn(sqlerr.DataTruncated, "Data truncated for column '%s' at row 1", c.Name)
		return nil, nil
	case types.IsText(c.Type):
		if t, ok := v.(time.Time); ok && types.IsDateType(from) {
			return t.Format(time.DateOnly), nil
		}
		if types.IsText(from) {
			return v, nil
		}
	case types.IsTime(c.Type):
		v = eval.DateOfNumber(v)
	}
	out, in, err := expr.Held(ctx, c.Type, v)
	if err == nil && in == sql.InRange {
		return out, nil
	}
	word, known := assign.Unfit(c, v, in, err, 1)
	if !known {
		return nil, err
	}
	if strict(ctx) {
		return nil, word
	}
	assign.Warn(ctx, word)
	return assign.Clipped(ctx, c.Type, v, out)
}
