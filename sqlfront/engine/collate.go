package engine

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The library compares text by the collation that MySQL's rules give for the two sides, except for <=> and where it hashes: IN with
// a list, and the keys of a hash join, take the library's default collation when the types of the sides differ in anything, a
// length for instance. Under it 'ann' and 'Ann' differ, so rows were missing.

// collated replaces IN lists of text and <=> of texts within a node's expressions; nil if there are none. It happens when the plan is
// made already, as the library knows an index for its own expressions only.
func collated(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	x, ok := n.(sql.Expressioner)
	if !ok {
		return nil, nil
	}
	exprs := x.Expressions()
	found := false
	for _, e := range exprs {
		sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
			found = found || isTextList(ctx, e) || isNullSafeText(ctx, e)
			return !found
		})
	}
	if !found {
		return nil, nil
	}
	out := make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		var err error
		out[i], _, err = transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			switch {
			case isTextList(ctx, e):
				return newTextIn(ctx, e.Children()[0], e.Children()[1].(expression.Tuple)), transform.NewTree, nil
			case isNullSafeText(ctx, e):
				return &nullSafeText{expression.BinaryExpressionStub{LeftChild: e.Children()[0], RightChild: e.Children()[1]}}, transform.NewTree, nil
			}
			return e, transform.SameTree, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return x.WithExpressions(ctx, out...)
}

// isTextList reports whether e is a text IN (list of texts).
func isTextList(ctx *sql.Context, e sql.Expression) bool {
	switch e.(type) {
	case *expression.InTuple, *expression.HashInTuple:
	default:
		return false
	}
	list, ok := e.Children()[1].(expression.Tuple)
	if !ok || !types.IsTextOnly(e.Children()[0].Type(ctx)) {
		return false
	}
	for _, item := range list {
		if t := item.Type(ctx); !types.IsTextOnly(t) && t != types.Null {
			return false
		}
	}
	return true
}

// textIn is left IN (items) under one collation.
type textIn struct {
	left      sql.Expression
	items     expression.Tuple
	collation sql.CollationID
	// constants are the hashes of the items, if all of them are constants.
	constants map[uint64]struct{}
	hasNull   bool
}

var (
	_ sql.Expression         = (*textIn)(nil)
	_ sql.CollationCoercible = (*textIn)(nil)
)

func newTextIn(ctx *sql.Context, left sql.Expression, items expression.Tuple) *textIn {
	in := &textIn{left: left, items: items}
	collation, coercibility := sql.GetCoercibility(ctx, left)
	for _, item := range items {
		if item.Type(ctx) == types.Null {
			continue
		}
		c, k := sql.GetCoercibility(ctx, item)
		collation, coercibility = sql.ResolveCoercibility(collation, coercibility, c, k)
	}
	in.collation = collation
	constants := make(map[uint64]struct{}, len(items))
	for _, item := range items {
		if _, ok := item.(*expression.Literal); !ok {
			return in
		}
		h, null, err := in.hash(ctx, item, nil)
		if err != nil {
			return in
		}
		in.hasNull = in.hasNull || null
		if !null {
			constants[h] = struct{}{}
		}
	}
	in.constants = constants
	return in
}

func (in *textIn) hash(ctx *sql.Context, e sql.Expression, row sql.Row) (h uint64, null bool, err error) {
	v, err := e.Eval(ctx, row)
	if v == nil || err != nil {
		return 0, true, err
	}
	s, ok, err := sql.Unwrap[string](ctx, v)
	if err != nil {
		return 0, false, err
	}
	if !ok {
		s = fmt.Sprint(v)
	}
	h, err = in.collation.HashToUint(s)
	return h, false, err
}

// Eval implements sql.Expression: NULL if the left side is, or if nothing is equal and an item is NULL.
func (in *textIn) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	want, null, err := in.hash(ctx, in.left, row)
	if null || err != nil {
		return nil, err
	}
	found, hasNull := false, in.hasNull
	if in.constants != nil {
		_, found = in.constants[want]
	} else {
		for _, item := range in.items {
			h, null, err := in.hash(ctx, item, row)
			if err != nil {
				return nil, err
			}
			hasNull = hasNull || null
			if found = !null && h == want; found {
				break
			}
		}
	}
	if !found && hasNull {
		return nil, nil
	}
	return found, nil
}

func (in *textIn) Resolved() bool               { return true }
func (in *textIn) String() string               { return fmt.Sprintf("(%s IN %s)", in.left, in.items) }
func (in *textIn) Type(*sql.Context) sql.Type   { return types.Boolean }
func (in *textIn) IsNullable(*sql.Context) bool { return true }
func (in *textIn) Children() []sql.Expression   { return []sql.Expression{in.left, in.items} }
func (in *textIn) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (in *textIn) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(ch), 2)
	}
	items, ok := ch[1].(expression.Tuple)
	if !ok {
		return nil, expression.ErrUnsupportedInOperand.New(ch[1])
	}
	return newTextIn(ctx, ch[0], items), nil
}

// collateKeys gives the keys of a hash join the collation of their comparison, before the first row is looked up.
func collateKeys(ctx *sql.Context, n *plan.HashLookup) {
	if n.Lookup != nil {
		return
	}
	if types.IsTextOnly(n.CompareType) {
		n.CompareType = comparedAs(ctx, n.CompareType, n.LeftProbeKey, n.RightEntryKey)
		return
	}
	tuple, ok := n.CompareType.(types.TupleType)
	left, okL := n.LeftProbeKey.(expression.Tuple)
	right, okR := n.RightEntryKey.(expression.Tuple)
	if !ok || !okL || !okR || len(left) != len(tuple) || len(right) != len(tuple) {
		return
	}
	exact := make(types.TupleType, len(tuple))
	for i, t := range tuple {
		exact[i] = t
		if types.IsTextOnly(t) && types.IsTextOnly(right[i].Type(ctx)) {
			exact[i] = comparedAs(ctx, t, left[i], right[i])
		}
	}
	n.CompareType = exact
}

func comparedAs(ctx *sql.Context, t sql.Type, a, b sql.Expression) sql.Type {
	x, kx := sql.GetCoercibility(ctx, a)
	y, ky := sql.GetCoercibility(ctx, b)
	collation, _ := sql.ResolveCoercibility(x, kx, y, ky)
	if s, ok := t.(sql.StringType); !ok || s.Collation() == collation {
		return t
	}
	return types.CreateLongText(collation)
}

func isNullSafeText(ctx *sql.Context, e sql.Expression) bool {
	eq, ok := e.(*expression.NullSafeEquals)
	return ok && types.IsTextOnly(eq.Left().Type(ctx)) && types.IsTextOnly(eq.Right().Type(ctx))
}

// nullSafeText is a <=> b for texts, which the library compares by the wrong collation when their types differ in anything.
type nullSafeText struct {
	expression.BinaryExpressionStub
}

var (
	_ sql.Expression         = (*nullSafeText)(nil)
	_ sql.CollationCoercible = (*nullSafeText)(nil)
)

func (e *nullSafeText) String() string {
	return "(" + e.LeftChild.String() + " <=> " + e.RightChild.String() + ")"
}

func (e *nullSafeText) Type(*sql.Context) sql.Type { return types.Boolean }

func (e *nullSafeText) IsNullable(*sql.Context) bool { return false }

// CollationCoercibility implements sql.CollationCoercible.
func (e *nullSafeText) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (e *nullSafeText) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 2)
	}
	return &nullSafeText{expression.BinaryExpressionStub{LeftChild: cs[0], RightChild: cs[1]}}, nil
}

// Eval implements sql.Expression.
func (e *nullSafeText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := e.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	r, err := e.RightChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if l == nil || r == nil {
		return l == nil && r == nil, nil
	}
	c1, k1 := sql.GetCoercibility(ctx, e.LeftChild)
	c2, k2 := sql.GetCoercibility(ctx, e.RightChild)
	collation, _ := sql.ResolveCoercibility(c1, k1, c2, k2)
	n, err := types.CreateLongText(collation).Compare(ctx, l, r)
	return n == 0, err
}
