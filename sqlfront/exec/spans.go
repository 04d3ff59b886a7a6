package exec

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/eval"
	"moka/sqlfront/plan"
	"moka/sqlfront/rowenc"
)

// spans are the spans of a key that an access reads which depends on no row.
func (b *block) spans(ctx *sql.Context, a *plan.Access) ([]rowenc.Span, error) {
	if a.Key == nil {
		return nil, nil
	}
	values := make([]any, len(a.Equal))
	for i := range a.Equal {
		v, err := b.value(&a.Equal[i], nil)
		if err != nil || v == nil {
			return nil, err // nothing equals NULL
		}
		values[i] = v
	}
	if a.In == nil {
		rng, err := b.rangeOf(a, values)
		if err != nil || rng == nil {
			return nil, err
		}
		return exactSpans(ctx, a.Key, sql.MySQLRangeCollection{rng})
	}
	var ranges sql.MySQLRangeCollection
	t := a.Key.Types[len(values)]
	for i := range a.In {
		v, err := a.In[i].Value(b.frame, t)
		if err != nil {
			return nil, err
		}
		if v != nil {
			ranges = append(ranges, append(equals(a.Key, values), equal(v, t)))
		}
	}
	return exactSpans(ctx, a.Key, ranges)
}

// rangeOf is the range of a key with these values for its first columns; nil if nothing can be in it.
func (b *block) rangeOf(a *plan.Access, values []any) (sql.MySQLRange, error) {
	rng := equals(a.Key, values)
	if a.Lower == nil && a.Upper == nil {
		return rng, nil
	}
	end := func(x *plan.Bound) (any, error) {
		return x.Operand.Value(b.frame, x.Type)
	}
	t := a.Key.Types[len(values)]
	e := sql.MySQLRangeColumnExpr{LowerBound: sql.AboveNull{}, UpperBound: sql.AboveAll{}, Typ: t}
	if a.Lower != nil {
		v, err := end(a.Lower)
		if err != nil || v == nil {
			return nil, err
		}
		if a.Lower.Inclusive {
			e.LowerBound = sql.Below{Key: v}
		} else {
			e.LowerBound = sql.Above{Key: v}
		}
	}
	if a.Upper != nil {
		v, err := end(a.Upper)
		if err != nil || v == nil {
			return nil, err
		}
		if a.Upper.Inclusive {
			e.UpperBound = sql.Above{Key: v}
		} else {
			e.UpperBound = sql.Below{Key: v}
		}
	}
	return append(rng, e), nil
}

func equals(k *plan.Key, values []any) sql.MySQLRange {
	rng := make(sql.MySQLRange, len(values), len(values)+1)
	for i, v := range values {
		rng[i] = equal(v, k.Types[i])
	}
	return rng
}

func equal(v any, t sql.Type) sql.MySQLRangeColumnExpr {
	return sql.MySQLRangeColumnExpr{LowerBound: sql.Below{Key: v}, UpperBound: sql.Above{Key: v}, Typ: t}
}

// exactSpans are the spans of ranges, if these hold nothing but what is in the ranges.
func exactSpans(ctx *sql.Context, k *plan.Key, ranges sql.MySQLRangeCollection) ([]rowenc.Span, error) {
	spans, err := k.Codec.Spans(ctx, k.Prefix, ranges)
	if err != nil {
		return nil, eval.ErrUnsure
	}
	for i := range spans {
		if !spans[i].Exact {
			return nil, eval.ErrUnsure
		}
	}
	return spans, nil
}
