package collate

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// emptyTexts is GROUP_CONCAT over what may be empty, which to the library is not there. So an empty text is
// two bytes on its way through, and the first of these, where a value has it, is followed by another one. The
// separator has none of it.
type emptyTexts struct {
	sql.Aggregation
	escape byte
}

const (
	escapedEmpty = '0'
	escapedSelf  = '1'
)

func withEmptyTexts(ctx *sql.Context, g *aggregation.GroupConcat) (sql.Expression, error) {
	children := g.Children()
	last := len(children) - 1
	if _, done := children[last].(*notEmpty); done {
		return nil, nil
	}
	if t := children[last].Type(ctx); !types.IsText(t) {
		return nil, nil
	}
	escape, text := byte(0), g.String() // in which the separator is
	for strings.IndexByte(text, escape) >= 0 {
		if escape++; escape == ' ' {
			return nil, sqlerr.Unsupported("GROUP_CONCAT with a separator of all control characters")
		}
	}
	out := append(children[:last:last],
		&notEmpty{expression.UnaryExpressionStub{Child: children[last]}, escape})
	e, err := g.WithChildren(ctx, out...)
	if err != nil {
		return nil, err
	}
	return &emptyTexts{e.(sql.Aggregation), escape}, nil
}

// WithChildren implements sql.Expression.
func (g *emptyTexts) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := g.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &emptyTexts{e.(sql.Aggregation), g.escape}, nil
}

// NewBuffer implements sql.Aggregation.
func (g *emptyTexts) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	b, err := g.Aggregation.NewBuffer(ctx)
	return &emptyTextsBuffer{b, g.escape}, err
}

type emptyTextsBuffer struct {
	sql.AggregationBuffer
	escape byte
}

// Eval implements sql.AggregationBuffer.
func (b *emptyTextsBuffer) Eval(ctx *sql.Context) (any, error) {
	v, err := b.AggregationBuffer.Eval(ctx)
	switch s := v.(type) {
	case string:
		return unescaped(s, b.escape), err
	case []byte:
		return []byte(unescaped(string(s), b.escape)), err
	}
	return v, err
}

// unescaped is the text without what escapes. The library may have cut it off in between.
func unescaped(s string, escape byte) string {
	e := string([]byte{escape})
	return strings.NewReplacer(e+string(escapedEmpty), "", e+string(escapedSelf), e, e, "").Replace(s)
}

// notEmpty is a text with something in it: see emptyTexts.
type notEmpty struct {
	expression.UnaryExpressionStub
	escape byte
}

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
	return &notEmpty{expression.UnaryExpressionStub{Child: children[0]}, e.escape}, nil
}

// Eval implements sql.Expression.
func (e *notEmpty) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	switch s := v.(type) {
	case string:
		return e.escaped(s), err
	case []byte:
		return []byte(e.escaped(string(s))), err
	}
	return v, err
}

func (e *notEmpty) escaped(s string) string {
	if s == "" {
		return string([]byte{e.escape, escapedEmpty})
	}
	if strings.IndexByte(s, e.escape) < 0 {
		return s
	}
	self := string([]byte{e.escape})
	return strings.ReplaceAll(s, self, self+string(escapedSelf))
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
