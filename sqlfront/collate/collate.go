package collate

import (
	"bytes"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/rowenc"
)

// Node gives comparisons of texts within a node's expressions the collation that they have in MySQL; nil if
// there is nothing to do.
func Node(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	x, ok := n.(sql.Expressioner)
	if !ok {
		return nil, nil
	}
	order := false
	switch n.(type) {
	case *plan.Sort, *plan.TopN:
		order = true
	case *plan.Filter, *plan.Having, *plan.Project, *plan.JoinNode, *plan.GroupBy, *plan.Window,
		*plan.UpdateSource, *plan.InsertInto,
		*plan.Values, *plan.Set, *plan.IfConditional, *plan.Loop, *plan.While, *plan.Repeat:
	default:
		return nil, nil
	}
	exprs := x.Expressions()
	var out []sql.Expression
	for i, e := range exprs {
		again, same, err := collate(ctx, e)
		if err != nil {
			return nil, err
		}
		if order {
			if w, other := expr.Weighed(ctx, again); other {
				again, same = w, transform.NewTree
			}
		}
		if same {
			continue
		}
		if out == nil {
			out = append(out, exprs...)
		}
		out[i] = again
	}
	if out == nil {
		return nil, nil
	}
	return x.WithExpressions(ctx, out...)
}

// collate is collated for one expression.
func collate(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	found := false
	sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		if _, list := e.(*expression.HashInTuple); list {
			found = true // a long list is looked at once
		}
		if e != nil && !found {
			again, err := collateOne(ctx, e)
			found = again != nil || err != nil
		}
		return !found
	})
	if !found {
		return e, transform.SameTree, nil
	}
	return transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression,
		transform.TreeIdentity, error) {
		again, err := collateOne(ctx, e)
		if again == nil || err != nil {
			return e, transform.SameTree, err
		}
		return again, transform.NewTree, nil
	})
}

// collateOne replaces one comparison; nil if it is right as it is.
func collateOne(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	switch e := expr.Function(e).(type) {
	case *expression.Literal, *expression.GetField:
		return nil, nil
	case *expression.InTuple, *expression.HashInTuple:
		if IsTextList(ctx, e) {
			return NewIn(ctx, e.Children()[0], e.Children()[1].(expression.Tuple)), nil
		}
		if _, constants := e.(*expression.HashInTuple); constants {
			if in := newInList(ctx, e.Children()[0], e.Children()[1]); in != nil {
				return in, nil
			}
		}
		return paddedTuples(ctx, e.Children()[0], e.Children()[1])
	case *expression.NullSafeEquals:
		if types.IsTextOnly(e.Left().Type(ctx)) && types.IsTextOnly(e.Right().Type(ctx)) {
			c, _ := expr.CollationOf(ctx, e.Left(), e.Right())
			w := expr.Weights(ctx, c, e.Left(), e.Right())
			return expression.NewNullSafeEquals(w[0], w[1]), nil
		}
	case *expression.Between, *expression.Equals, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.GreaterThan, *expression.GreaterThanOrEqual:
		if w, ok := expr.Padded(ctx, e.Children()...); ok {
			return e.WithChildren(ctx, w...)
		}
		if l, ok := e.Children()[0].(expression.Tuple); ok && len(e.Children()) == 2 {
			if r, ok := e.Children()[1].(expression.Tuple); ok && len(l) == len(r) {
				if pads := paddedColumns(ctx, l, expression.Tuple{r}); pads != nil {
					return e.WithChildren(ctx, weighTuple(ctx, l, pads), weighTuple(ctx, r, pads))
				}
			}
		}
	case *expression.Case:
		return paddedCase(ctx, e)
	case *function.NullIf:
		if w, ok := expr.Padded(ctx, e.LeftChild, e.RightChild); ok {
			return function.NewIf(ctx, expression.NewEquals(w[0], w[1]),
				expression.NewConvert(expression.NewLiteral(nil, types.Null), "char"), e.LeftChild), nil
		}
	case *aggregation.CountDistinct:
		return newCountDistinct(e), nil
	case *expression.DistinctExpression:
		return newDistinctValue(e.Child), nil
	case *aggregation.GroupConcat:
		return newDistinctConcat(ctx, e)
	case *aggregation.JsonArray:
		if e.Window() == nil {
			return &ofRows{e}, nil
		}
		return collatedWindow(ctx, e)
	case *aggregation.Min:
		if e.Window() != nil {
			return collatedWindow(ctx, e)
		}
		return paddedExtreme(ctx, e, e.Child, false), nil
	case *aggregation.Max:
		if e.Window() != nil {
			return collatedWindow(ctx, e)
		}
		return paddedExtreme(ctx, e, e.Child, true), nil
	case *plan.InSubquery:
		if in := newTextInQuery(ctx, e); in != nil {
			return in, nil
		}
		return newInQuery(ctx, e), nil
	case sql.WindowAdaptableExpression:
		return collatedWindow(ctx, e)
	}
	return nil, nil
}

// paddedColumns are the collations that columns of tuples are compared by, 0 for those that do not
// pad; nil if none does.
func paddedColumns(ctx *sql.Context, left expression.Tuple, right expression.Tuple) []sql.CollationID {
	var pads []sql.CollationID
	for i := range left {
		texts := []sql.Expression{left[i]}
		for _, r := range right {
			t, ok := r.(expression.Tuple)
			if !ok || len(t) != len(left) {
				return nil
			}
			texts = append(texts, t[i])
		}
		if c, ok := expr.CollationOf(ctx, texts...); ok && rowenc.Pads(c) {
			if pads == nil {
				pads = make([]sql.CollationID, len(left))
			}
			pads[i] = c
		}
	}
	return pads
}

func weighTuple(ctx *sql.Context, t expression.Tuple, pads []sql.CollationID) expression.Tuple {
	out := make(expression.Tuple, len(t))
	for i, e := range t {
		if out[i] = e; pads[i] != sql.Collation_Unspecified {
			out[i] = expr.Weights(ctx, pads[i], e)[0]
		}
	}
	return out
}

// paddedTuples is (a, b) IN ((…), …) with texts that are padded.
func paddedTuples(ctx *sql.Context, left, right sql.Expression) (sql.Expression, error) {
	l, ok := left.(expression.Tuple)
	r, okRight := right.(expression.Tuple)
	if !ok || !okRight {
		return nil, nil
	}
	pads := paddedColumns(ctx, l, r)
	if pads == nil {
		return nil, nil
	}
	list := make(expression.Tuple, len(r))
	for i, t := range r {
		list[i] = weighTuple(ctx, t.(expression.Tuple), pads)
	}
	return expression.NewInTuple(weighTuple(ctx, l, pads), list), nil
}

// paddedCase is CASE text WHEN text.
func paddedCase(ctx *sql.Context, e *expression.Case) (sql.Expression, error) {
	if e.Expr == nil {
		return nil, nil
	}
	texts := []sql.Expression{e.Expr}
	for _, b := range e.Branches {
		texts = append(texts, b.Cond)
	}
	w, ok := expr.Padded(ctx, texts...)
	if !ok {
		return nil, nil
	}
	branches := make([]expression.CaseBranch, len(e.Branches))
	for i, b := range e.Branches {
		branches[i] = expression.CaseBranch{Cond: w[i+1], Value: b.Value}
	}
	return expression.NewCase(w[0], branches, e.Else), nil
}

// textExtreme is MIN or MAX of texts that are padded.
type textExtreme struct {
	sql.Aggregation // the library's
	text            sql.Expression
	collation       sql.CollationID
	max             bool
}

// paddedExtreme returns nil if the library's comparison is right, or if it is of a window.
func paddedExtreme(ctx *sql.Context, e sql.Aggregation, text sql.Expression, max bool) sql.Expression {
	c, ok := expr.CollationOf(ctx, text)
	if w, window := e.(sql.WindowAdaptableExpression); !ok || !rowenc.Pads(c) || window && w.Window() != nil {
		return nil
	}
	return &textExtreme{e, text, c, max}
}

// Library is what an aggregate of ours was made of, or e itself.
func Library(e sql.Expression) sql.Expression {
	switch x := e.(type) {
	case *textExtreme:
		return x.Aggregation
	case *emptyTexts:
		return x.Aggregation
	case *ofRows:
		return x.Aggregation
	case *countDistinct:
		return x.Aggregation
	case *distinctConcat:
		return Library(x.Aggregation)
	}
	return e
}

// WithChildren implements sql.Expression.
func (x *textExtreme) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := x.Aggregation.WithChildren(ctx, cs...)
	if err != nil || len(cs) == 0 {
		return nil, err
	}
	return &textExtreme{e.(sql.Aggregation), cs[0], x.collation, x.max}, nil
}

// NewBuffer implements sql.Aggregation.
func (x *textExtreme) NewBuffer(*sql.Context) (sql.AggregationBuffer, error) {
	return &extremeBuffer{x: x}, nil
}

// extremeBuffer keeps the first of the least, or greatest, texts.
type extremeBuffer struct {
	x    *textExtreme
	best any
	key  []byte
}

// Update implements sql.AggregationBuffer.
func (b *extremeBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.x.text.Eval(ctx, row)
	if v == nil || err != nil {
		return err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return err
	}
	key, err := expr.WeightOf(ctx, b.x.collation, v)
	if err != nil {
		return err
	}
	if n := bytes.Compare(key, b.key); b.key == nil || n < 0 && !b.x.max || n > 0 && b.x.max {
		b.best, b.key = v, key
	}
	return nil
}

// Eval implements sql.AggregationBuffer.
func (b *extremeBuffer) Eval(*sql.Context) (any, error) { return b.best, nil }

// Dispose implements sql.AggregationBuffer.
func (b *extremeBuffer) Dispose(*sql.Context) {}

// collatedWindow gives PARTITION BY and ORDER BY of a window the collation of their texts, and its
// frame all peers of a row.
func collatedWindow(ctx *sql.Context, e sql.WindowAdaptableExpression) (sql.Expression, error) {
	w := e.Window()
	if w == nil {
		return nil, nil
	}
	var out []sql.Expression
	by := w.ToExpressions()
	for i, b := range by {
		if weight, other := expr.Weighed(ctx, b); other {
			if out == nil {
				out = append(out, by...)
			}
			out[i] = weight
		}
	}
	frame := withPeers(e)
	if frame == nil {
		frame = withDistances(ctx, e)
	}
	if out == nil && frame == nil {
		return nil, nil
	}
	if out == nil {
		out = by
	}
	again, err := w.FromExpressions(ctx, out)
	if err != nil {
		return nil, err
	}
	if frame != nil {
		again.Frame = frame
	}
	return e.WithWindow(ctx, again), nil
}

// Keys gives the keys of a hash join the collation of their comparison, before the first row is looked up.
func Keys(ctx *sql.Context, n *plan.HashLookup) {
	if n.Lookup != nil {
		return
	}
	if types.IsTextOnly(n.CompareType) {
		if w, ok := expr.Padded(ctx, n.LeftProbeKey, n.RightEntryKey); ok {
			n.LeftProbeKey, n.RightEntryKey, n.CompareType = w[0], w[1], types.LongBlob
			return
		}
		n.CompareType = ComparedAs(ctx, n.CompareType, n.LeftProbeKey, n.RightEntryKey)
		return
	}
	tuple, ok := n.CompareType.(types.TupleType)
	left, okL := n.LeftProbeKey.(expression.Tuple)
	right, okR := n.RightEntryKey.(expression.Tuple)
	if !ok || !okL || !okR || len(left) != len(tuple) || len(right) != len(tuple) {
		return
	}
	// The library hashes the values of a tuple by their bytes.
	exact := make(types.TupleType, len(tuple))
	lefts, rights := make(expression.Tuple, len(tuple)), make(expression.Tuple, len(tuple))
	for i, t := range tuple {
		exact[i], lefts[i], rights[i] = t, left[i], right[i]
		if c, ok := expr.CollationOf(ctx, left[i], right[i]); ok && types.IsTextOnly(t) {
			w := expr.Weights(ctx, c, left[i], right[i])
			lefts[i], rights[i], exact[i] = w[0], w[1], types.LongBlob
		}
	}
	n.LeftProbeKey, n.RightEntryKey, n.CompareType = lefts, rights, exact
}

func ComparedAs(ctx *sql.Context, t sql.Type, a, b sql.Expression) sql.Type {
	collation, _ := expr.CollationOf(ctx, a, b)
	if s, ok := t.(sql.StringType); !ok || s.Collation() == collation {
		return t
	}
	return types.CreateLongText(collation)
}

// Pads is the collation of a column's type, if it pads.
func Pads(t sql.Type) (sql.CollationID, bool) {
	s, ok := t.(sql.StringType)
	if !ok || !types.IsTextOnly(t) || !rowenc.Pads(s.Collation()) {
		return 0, false
	}
	return s.Collation(), true
}

// Compare compares two values, which are not NULL, under a collation that pads.
func Compare(ctx *sql.Context, c sql.CollationID, a, b any) (int, error) {
	x, err := expr.WeightOf(ctx, c, a)
	if err != nil {
		return 0, err
	}
	y, err := expr.WeightOf(ctx, c, b)
	return bytes.Compare(x, y), err
}
