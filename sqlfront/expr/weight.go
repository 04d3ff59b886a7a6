package expr

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rowenc"
)

// Weight is the key of a text under a collation: bytes that compare, and hash, as the text does. The
// library compares without the spaces that most collations pad with, and where it hashes it often
// takes the text's bytes.
type Weight struct {
	expression.UnaryExpressionStub
	collation sql.CollationID
}

var (
	_ sql.Expression         = (*Weight)(nil)
	_ sql.CollationCoercible = (*Weight)(nil)
)

// NewWeight is the key of text under a collation.
func NewWeight(text sql.Expression, c sql.CollationID) *Weight {
	return &Weight{expression.UnaryExpressionStub{Child: text}, c}
}

// Collation is what the text is compared by.
func (w *Weight) Collation() sql.CollationID { return w.collation }

// String implements sql.Expression.
func (w *Weight) String() string { return w.Child.String() }

// Type implements sql.Expression.
func (w *Weight) Type(*sql.Context) sql.Type { return types.LongBlob }

// CollationCoercibility implements sql.CollationCoercible.
func (w *Weight) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (w *Weight) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(cs), 1)
	}
	return NewWeight(cs[0], w.collation), nil
}

// Eval implements sql.Expression.
func (w *Weight) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := w.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	key, err := WeightOf(ctx, w.collation, v)
	if err != nil {
		return nil, err
	}
	return key, nil
}

// WeightOf is the key of a value under a collation.
func WeightOf(ctx *sql.Context, c sql.CollationID, v any) ([]byte, error) {
	s, ok := v.(string)
	if !ok {
		var err error
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		if s, ok = v.(string); !ok {
			if s, err = types.ConvertToString(ctx, v, types.LongText.(sql.StringType), nil); err != nil {
				return nil, err
			}
		}
	}
	key, ok := rowenc.Key(nil, c, s)
	if !ok {
		return []byte(s), nil
	}
	return key, nil
}

// Padded returns what texts have to be compared by if they are texts and their comparison
// pads; ok is false if not.
func Padded(ctx *sql.Context, texts ...sql.Expression) (weights []sql.Expression, ok bool) {
	collation, ok := CollationOf(ctx, texts...)
	if !ok || !rowenc.Pads(collation) {
		return nil, false
	}
	return Weights(ctx, collation, texts...), true
}

// Weights are the keys of texts under a collation; what is NULL stays.
func Weights(ctx *sql.Context, c sql.CollationID, texts ...sql.Expression) []sql.Expression {
	weights := make([]sql.Expression, len(texts))
	for i, t := range texts {
		if weights[i] = t; t.Type(ctx) != types.Null {
			weights[i] = NewWeight(t, c)
		}
	}
	return weights
}

// CollationOf is the collation that texts are compared by; ok is false if one of them is no text.
func CollationOf(ctx *sql.Context, texts ...sql.Expression) (collation sql.CollationID, ok bool) {
	strength := byte(0)
	for _, t := range texts {
		typ := t.Type(ctx)
		if typ == types.Null {
			continue
		}
		if !types.IsTextOnly(typ) {
			return 0, false
		}
		c, k := coercibility(ctx, t)
		if !ok {
			collation, strength, ok = c, k, true
		} else {
			collation, strength = sql.ResolveCoercibility(collation, strength, c, k)
		}
	}
	return collation, ok
}

// coercibility is the collation of a text, and how much it insists on it: the less, the more.
func coercibility(ctx *sql.Context, e sql.Expression) (sql.CollationID, byte) {
	if q, ok := e.(*plan.Subquery); ok {
		if t, ok := q.Type(ctx).(sql.StringType); ok { // the library looks at whatever the query consists of
			return t.Collation(), 2
		}
	}
	return sql.GetCoercibility(ctx, e)
}

// ByCollation returns the key of a text whose type does not say how it is ordered: its collation pads, or is
// not the type's. It returns e itself if the type's comparison is right.
func ByCollation(ctx *sql.Context, e sql.Expression) sql.Expression {
	if w, ok := Weighed(ctx, e); ok {
		return w
	}
	return e
}

// Weighed is ByCollation, and says whether it is another expression: the two cannot be compared, as some of
// the library's are structures with slices in them.
func Weighed(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	t, ok := e.Type(ctx).(sql.StringType)
	if !ok || !types.IsTextOnly(t) {
		return e, false
	}
	c, k := coercibility(ctx, e)
	if k >= 6 || c == sql.Collation_binary || c == sql.Collation_Unspecified {
		c = t.Collation()
	}
	if c == t.Collation() && !rowenc.Pads(c) || c == sql.Collation_Unspecified {
		return e, false
	}
	return NewWeight(e, c), true
}
