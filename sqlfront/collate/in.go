package collate

import (
	"bytes"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// IsTextList reports whether e is a text IN (list of texts).
func IsTextList(ctx *sql.Context, e sql.Expression) bool {
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

// In is left IN (items) under one collation.
type In struct {
	Left      sql.Expression
	Items     expression.Tuple
	Collation sql.CollationID
	// constants are the keys of the items, if all of them are constants.
	constants map[string]struct{}
	hasNull   bool
}

var (
	_ sql.Expression         = (*In)(nil)
	_ sql.CollationCoercible = (*In)(nil)
)

// NewIn makes it of its sides.
func NewIn(ctx *sql.Context, left sql.Expression, items expression.Tuple) *In {
	in := &In{Left: left, Items: items}
	in.Collation, _ = expr.CollationOf(ctx, append([]sql.Expression{left}, items...)...)
	constants := make(map[string]struct{}, len(items))
	for _, item := range items {
		if _, ok := item.(*expression.Literal); !ok {
			return in
		}
		key, null, err := textKey(ctx, in.Collation, item, nil)
		if err != nil {
			return in
		}
		in.hasNull = in.hasNull || null
		if !null {
			constants[string(key)] = struct{}{}
		}
	}
	in.constants = constants
	return in
}

func textKey(ctx *sql.Context, c sql.CollationID, e sql.Expression, row sql.Row) (key []byte, null bool,
	err error) {
	v, err := e.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, true, err
	}
	key, err = expr.WeightOf(ctx, c, v)
	return key, false, err
}

// Eval implements sql.Expression: NULL if the left side is, or if nothing is equal and an item is NULL.
func (in *In) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	want, null, err := textKey(ctx, in.Collation, in.Left, row)
	if null || err != nil {
		return nil, err
	}
	found, hasNull := false, in.hasNull
	if in.constants != nil {
		_, found = in.constants[string(want)]
	} else {
		for _, item := range in.Items {
			key, null, err := textKey(ctx, in.Collation, item, row)
			if err != nil {
				return nil, err
			}
			hasNull = hasNull || null
			if found = !null && bytes.Equal(key, want); found {
				break
			}
		}
	}
	if !found && hasNull {
		return nil, nil
	}
	return found, nil
}

func (in *In) Resolved() bool               { return true }
func (in *In) String() string               { return fmt.Sprintf("(%s IN %s)", in.Left, in.Items) }
func (in *In) Type(*sql.Context) sql.Type   { return types.Boolean }
func (in *In) IsNullable(*sql.Context) bool { return true }
func (in *In) Children() []sql.Expression   { return []sql.Expression{in.Left, in.Items} }
func (in *In) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (in *In) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(ch), 2)
	}
	items, ok := ch[1].(expression.Tuple)
	if !ok {
		return nil, expression.ErrUnsupportedInOperand.New(ch[1])
	}
	return NewIn(ctx, ch[0], items), nil
}

// textInQuery is left IN (query) of texts.
type textInQuery struct {
	left      sql.Expression
	query     *plan.Subquery
	collation sql.CollationID
	// keys are those of the query's rows, once it was run; for good if it does not look at the row.
	keys    map[string]struct{}
	hasNull bool
}

var (
	_ sql.Expression         = (*textInQuery)(nil)
	_ sql.CollationCoercible = (*textInQuery)(nil)
)

// newTextInQuery returns nil if e is something else.
func newTextInQuery(ctx *sql.Context, e *plan.InSubquery) sql.Expression {
	query, ok := e.RightChild.(*plan.Subquery)
	if !ok || !types.IsTextOnly(e.LeftChild.Type(ctx)) || !types.IsTextOnly(query.Type(ctx)) {
		return nil
	}
	c, _ := expr.CollationOf(ctx, e.LeftChild, query)
	return &textInQuery{left: e.LeftChild, query: query, collation: c}
}

// Eval implements sql.Expression.
func (in *textInQuery) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	left, null, err := textKey(ctx, in.collation, in.left, row)
	if err != nil {
		return nil, err
	}
	keys, hasNull := in.keys, in.hasNull
	if keys == nil {
		values, err := in.query.EvalMultiple(ctx, row)
		if err != nil {
			return nil, err
		}
		keys, hasNull = make(map[string]struct{}, len(values)), false
		for _, v := range values {
			if v == nil {
				hasNull = true
				continue
			}
			key, err := expr.WeightOf(ctx, in.collation, v)
			if err != nil {
				return nil, err
			}
			keys[string(key)] = struct{}{}
		}
		if in.query.CanCacheResults() {
			in.keys, in.hasNull = keys, hasNull
		}
	}
	_, found := keys[string(left)]
	switch {
	case len(keys) == 0 && !hasNull:
		return false, nil
	case null, !found && hasNull:
		return nil, nil
	}
	return found, nil
}

func (in *textInQuery) Resolved() bool               { return in.left.Resolved() && in.query.Resolved() }
func (in *textInQuery) String() string               { return fmt.Sprintf("(%s IN %s)", in.left, in.query) }
func (in *textInQuery) Type(*sql.Context) sql.Type   { return types.Boolean }
func (in *textInQuery) IsNullable(*sql.Context) bool { return true }
func (in *textInQuery) Children() []sql.Expression   { return []sql.Expression{in.left, in.query} }
func (in *textInQuery) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (in *textInQuery) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(ch), 2)
	}
	query, ok := ch[1].(*plan.Subquery)
	if !ok {
		return nil, expression.ErrUnsupportedInOperand.New(ch[1])
	}
	return &textInQuery{left: ch[0], query: query, collation: in.collation}, nil
}
