package collate

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// emptyText stands for an empty text in GROUP_CONCAT, which to the library is none.
const emptyText = "\x00moka: no text\x00"

// emptyTexts is GROUP_CONCAT over what may be empty.
type emptyTexts struct{ sql.Aggregation }

func withEmptyTexts(ctx *sql.Context, g *aggregation.GroupConcat) (sql.Expression, error) {
	children := g.Children()
	last := len(children) - 1
	if _, done := children[last].(*notEmpty); done {
		return nil, nil
	}
	if t := children[last].Type(ctx); !types.IsText(t) {
		return nil, nil
	}
	out := append(children[:last:last], &notEmpty{expression.UnaryExpressionStub{Child: children[last]}})
	e, err := g.WithChildren(ctx, out...)
	if err != nil {
		return nil, err
	}
	return &emptyTexts{e.(sql.Aggregation)}, nil
}

// WithChildren implements sql.Expression.
func (g *emptyTexts) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := g.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &emptyTexts{e.(sql.Aggregation)}, nil
}

// NewBuffer implements sql.Aggregation.
func (g *emptyTexts) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b, err := g.Aggregation.NewBuffer(ctx)
	return &emptyTextsBuffer{b}, err
}

type emptyTextsBuffer struct{ sql.AggregationBuffer }

// Eval implements sql.AggregationBuffer.
func (b *emptyTextsBuffer) Eval(ctx *sql.Context) (any, error) {
	v, err := b.AggregationBuffer.Eval(ctx)
	switch s := v.(type) {
	case string:
		return strings.ReplaceAll(s, emptyText, ""), err
	case []byte:
		return []byte(strings.ReplaceAll(string(s), emptyText, "")), err
	}
	return v, err
}

// notEmpty is a text, or emptyText if it is empty.
type notEmpty struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*notEmpty)(nil)
	_ sql.CollationCoercible = (*notEmpty)(nil)
)

func (e *notEmpty) String() string                 { return e.Child.String() }
func (e *notEmpty) Type(ctx *sql.Context) sql.Type { return e.Child.Type(ctx) }

// CollationCoercibility implements sql.CollationCoercible.
func (e *notEmpty) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// WithChildren implements sql.Expression.
func (e *notEmpty) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &notEmpty{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval implements sql.Expression.
func (e *notEmpty) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	switch s := v.(type) {
	case string:
		if s == "" {
			return emptyText, err
		}
	case []byte:
		if len(s) == 0 {
			return []byte(emptyText), err
		}
	}
	return v, err
}

// ofRows is JSON_ARRAYAGG, which is NULL of no rows; the library has an empty array.
type ofRows struct{ sql.Aggregation }

// WithChildren implements sql.Expression.
func (a *ofRows) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := a.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &ofRows{e.(sql.Aggregation)}, nil
}

// NewBuffer implements sql.Aggregation.
func (a *ofRows) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b, err := a.Aggregation.NewBuffer(ctx)
	return &ofRowsBuffer{b, false}, err
}

type ofRowsBuffer struct {
	sql.AggregationBuffer
	any bool
}

// Update implements sql.AggregationBuffer.
func (b *ofRowsBuffer) Update(ctx *sql.Context, row sql.Row) error {
	b.any = true
	return b.AggregationBuffer.Update(ctx, row)
}

// Eval implements sql.AggregationBuffer.
func (b *ofRowsBuffer) Eval(ctx *sql.Context) (any, error) {
	if !b.any {
		return nil, nil
	}
	return b.AggregationBuffer.Eval(ctx)
}
