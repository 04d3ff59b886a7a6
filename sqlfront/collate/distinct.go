package collate

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// countDistinct is COUNT(DISTINCT …) by keys of rows.
type countDistinct struct{ sql.Aggregation }

// newCountDistinct returns nil for what is counted by the library.
func newCountDistinct(e *aggregation.CountDistinct) sql.Expression {
	if e.Window() != nil || len(e.ChildExpressions) == 0 {
		return nil
	}
	if _, star := e.ChildExpressions[0].(*expression.Star); star {
		return nil
	}
	return &countDistinct{e}
}

// WithChildren implements sql.Expression.
func (c *countDistinct) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &countDistinct{e.(sql.Aggregation)}, nil
}

// NewBuffer implements sql.Aggregation.
func (c *countDistinct) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	of := c.Children()
	return &distinctBuffer{of: of, keys: keysOf(ctx, of), row: make(sql.Row, len(of)),
		seen: map[string]struct{}{}}, nil
}

// keysOf are keys of the values of expressions.
func keysOf(ctx *sql.Context, of []sql.Expression) *RowKeys {
	ts := make([]sql.Type, len(of))
	for i, e := range of {
		ts[i] = e.Type(ctx)
		if collation, ok := expr.CollationOf(ctx, e); ok {
			ts[i] = types.CreateLongText(collation)
		}
	}
	return NewRowKeys(ts)
}

type distinctBuffer struct {
	of   []sql.Expression
	keys *RowKeys
	row  sql.Row
	seen map[string]struct{}
}

// Update implements sql.AggregationBuffer: rows with a NULL are not counted.
func (b *distinctBuffer) Update(ctx *sql.Context, row sql.Row) (err error) {
	for i, e := range b.of {
		if b.row[i], err = e.Eval(ctx, row); b.row[i] == nil || err != nil {
			return err
		}
	}
	key, err := b.keys.Of(ctx, b.row)
	if err != nil {
		return err
	}
	if _, ok := b.seen[string(key)]; !ok {
		b.seen[string(key)] = struct{}{}
	}
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *distinctBuffer) Eval(*sql.Context) (any, error) { return int64(len(b.seen)), nil }

// Dispose implements sql.AggregationBuffer.
func (b *distinctBuffer) Dispose(*sql.Context) {}

// distinctValue is the operand of SUM(DISTINCT …) and its like: NULL from the second time on that a value
// comes. Each group has a copy of it.
type distinctValue struct {
	expression.UnaryExpressionStub
	keys *RowKeys
	seen map[string]struct{}
}

var (
	_ sql.Expression         = (*distinctValue)(nil)
	_ sql.CollationCoercible = (*distinctValue)(nil)
)

func (d *distinctValue) String() string                 { return "DISTINCT " + d.Child.String() }
func (d *distinctValue) Type(ctx *sql.Context) sql.Type { return d.Child.Type(ctx) }
func (d *distinctValue) IsNullable(*sql.Context) bool   { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (d *distinctValue) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, d.Child)
}

// WithChildren implements sql.Expression.
func (d *distinctValue) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(d, len(cs), 1)
	}
	return newDistinctValue(cs[0]), nil
}

func newDistinctValue(of sql.Expression) *distinctValue {
	return &distinctValue{UnaryExpressionStub: expression.UnaryExpressionStub{Child: of}}
}

// Eval implements sql.Expression.
func (d *distinctValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := d.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if d.keys == nil {
		d.keys, d.seen = keysOf(ctx, []sql.Expression{d.Child}), map[string]struct{}{}
	}
	key, err := d.keys.Of(ctx, sql.Row{v})
	if err != nil {
		return nil, err
	}
	if _, ok := d.seen[string(key)]; ok {
		return nil, nil
	}
	d.seen[string(key)] = struct{}{}
	return v, nil
}

// distinctConcat is GROUP_CONCAT(DISTINCT …) by the collation of its texts; the library goes by their bytes.
type distinctConcat struct {
	sql.Aggregation
	of []sql.Expression
}

// newDistinctConcat returns nil for what the library does right.
func newDistinctConcat(ctx *sql.Context, g *aggregation.GroupConcat) (sql.Expression, error) {
	e, err := withEmptyTexts(ctx, g)
	if err != nil || !strings.HasPrefix(strings.ToLower(g.String()), "group_concat(distinct ") {
		return e, err
	}
	var inner sql.Aggregation = g
	if e != nil {
		inner = e.(sql.Aggregation)
	}
	return &distinctConcat{inner, g.OutputExpressions()}, nil
}

// WithChildren implements sql.Expression.
func (d *distinctConcat) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := d.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	of := make([]sql.Expression, len(d.of))
	for i, c := range children[len(children)-len(d.of):] {
		of[i] = unwrapped(c)
	}
	return &distinctConcat{e.(sql.Aggregation), of}, nil
}

// Wrapper is what is put around an aggregate's argument on its way to execution.
type Wrapper interface{ Wrapped() sql.Expression }

// unwrapped is the argument itself: ” and ' ' are equal under a collation that pads, and are not
// when they are escaped.
func unwrapped(e sql.Expression) sql.Expression {
	for {
		switch w := e.(type) {
		case Wrapper:
			e = w.Wrapped()
		case *notEmpty:
			e = w.Child
		default:
			return e
		}
	}
}

// NewBuffer implements sql.Aggregation.
func (d *distinctConcat) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b, err := d.Aggregation.NewBuffer(ctx)
	return &distinctConcatBuffer{b,
		distinctBuffer{of: d.of, keys: keysOf(ctx, d.of), row: make(sql.Row, len(d.of)),
			seen: map[string]struct{}{}}}, err
}

type distinctConcatBuffer struct {
	sql.AggregationBuffer
	seen distinctBuffer
}

// Update implements sql.AggregationBuffer.
func (b *distinctConcatBuffer) Update(ctx *sql.Context, row sql.Row) error {
	before := len(b.seen.seen)
	if err := b.seen.Update(ctx, row); err != nil || len(b.seen.seen) == before {
		return err
	}
	return b.AggregationBuffer.Update(ctx, row)
}
