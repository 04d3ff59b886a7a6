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

// valueSet is what the right side of an IN consists of, values or rows. It finds them by their
// keys (RowKeys): the library's sets are of hashes, convert all to the type of the first, and
// have no NULLs within rows.
type valueSet struct {
	as    []sql.Type // what a column is compared as, nil if as it is
	keys  *RowKeys
	each  []*RowKeys // of one column
	found map[string]struct{}
	rows  [][]any // of rows, if there are any: all of them
	nulls bool    // a value is NULL, or within a row
	size  int
}

// newValueSet is for values of the types right that values of the type left are compared with. Texts compare
// by the collations of exprs.
func newValueSet(ctx *sql.Context, left sql.Expression, right []sql.Expression) (*valueSet, bool) {
	n := types.NumColumns(left.Type(ctx))
	s := &valueSet{as: make([]sql.Type, n), each: make([]*RowKeys, n), found: map[string]struct{}{}}
	ts := make([]sql.Type, n)
	for i := range n {
		column := []sql.Expression{columnOf(ctx, left, i)}
		for _, r := range right {
			if r.Type(ctx) == types.Null {
				continue
			}
			if types.NumColumns(r.Type(ctx)) != n {
				return nil, false
			}
			column = append(column, columnOf(ctx, r, i))
		}
		if ts[i], s.as[i] = comparedTypes(ctx, column); ts[i] == nil {
			return nil, false
		}
		s.each[i] = NewRowKeys(ts[i : i+1])
	}
	s.keys = NewRowKeys(ts)
	return s, true
}

// columnOf is a column of a row, or the value.
func columnOf(ctx *sql.Context, e sql.Expression, i int) sql.Expression {
	t, ok := e.Type(ctx).(types.TupleType)
	if !ok {
		return e
	}
	if list, ok := e.(expression.Tuple); ok && len(list) == len(t) {
		return list[i]
	}
	return expression.NewGetField(i, t[i], "", true)
}

// comparedTypes are the type of the keys of values that are compared with the first, and the type that they
// are converted to before; nil if they are not compared as one type.
func comparedTypes(ctx *sql.Context, column []sql.Expression) (key, as sql.Type) {
	if collation, ok := expr.CollationOf(ctx, column...); ok {
		return types.CreateLongText(collation), nil
	}
	left := column[0].Type(ctx)
	if types.IsEnum(left) || types.IsSet(left) {
		return left, left
	}
	numbers, float, same := true, false, true
	for _, e := range column {
		t := e.Type(ctx)
		if types.IsTuple(t) {
			return nil, nil
		}
		numbers = numbers && types.IsNumber(t)
		float = float || types.IsFloat(t)
		same = same && t.Equals(left)
	}
	switch {
	case numbers && float:
		return types.Float64, types.Float64
	case numbers:
		return left, nil
	case len(column) == 1 || same && !types.IsText(left):
		return left, left.Promote()
	}
	as = types.GetCompareType(left, column[1].Type(ctx))
	for _, e := range column[2:] {
		if t := types.GetCompareType(left, e.Type(ctx)); !t.Equals(as) {
			return nil, nil
		}
	}
	if types.IsTextOnly(as) {
		return nil, nil
	}
	return as.Promote(), as.Promote()
}

// convert makes of a value what it is compared as; in is false if nothing can be equal to it.
func (s *valueSet) convert(ctx *sql.Context, v any) (row []any, null, in bool, err error) {
	if row, _ = v.([]any); row == nil || len(s.as) == 1 {
		row = []any{v}
	}
	if len(row) != len(s.as) {
		return nil, false, false, sql.ErrInvalidOperandColumns.New(len(s.as), len(row))
	}
	out := make([]any, len(row))
	for i, v := range row {
		if v == nil {
			null = true
			continue
		}
		out[i] = v
		if s.as[i] == nil {
			continue
		}
		var fits sql.ConvertInRange
		if types.IsDecimal(s.as[i]) {
			if out[i], fits, err = expr.Convert(ctx, types.InternalDecimalType,
				v); sql.ErrTruncatedIncorrect.Is(err) {
				err = nil
			}
		} else {
			out[i], fits, err = types.ConvertOrTruncate(ctx, v, s.as[i])
		}
		if err != nil {
			return nil, false, false, err
		}
		if fits != sql.InRange || out[i] == nil {
			return nil, false, false, nil
		}
	}
	return out, null, true, nil
}

func (s *valueSet) add(ctx *sql.Context, v any) error {
	s.size++
	if v == nil {
		s.nulls = true
		return nil
	}
	row, null, in, err := s.convert(ctx, v)
	if err != nil || !in {
		return err
	}
	if len(s.as) > 1 {
		s.rows = append(s.rows, row)
	}
	if null {
		s.nulls = true
		return nil
	}
	key, err := s.keys.Of(ctx, row)
	if err == nil {
		s.found[string(key)] = struct{}{}
	}
	return err
}

// contains is whether v is IN the set: true, false or NULL.
func (s *valueSet) contains(ctx *sql.Context, v any) (any, error) {
	switch {
	case s.size == 0:
		return false, nil
	case v == nil:
		return nil, nil
	}
	row, null, in, err := s.convert(ctx, v)
	if err != nil {
		return nil, err
	}
	if in && !null {
		key, err := s.keys.Of(ctx, row)
		if err != nil {
			return nil, err
		}
		if _, ok := s.found[string(key)]; ok {
			return true, nil
		}
	}
	if len(s.as) == 1 {
		if s.nulls {
			return nil, nil
		}
		return false, nil
	}
	if in && (null || s.nulls) { // a row that may be equal, if it were known
		for _, r := range s.rows {
			differs, unknown, err := s.differ(ctx, row, r)
			if err != nil || !differs && unknown {
				return nil, err
			}
		}
	}
	return false, nil
}

func (s *valueSet) differ(ctx *sql.Context, a, b []any) (differs, unknown bool, err error) {
	for i := range a {
		if a[i] == nil || b[i] == nil {
			unknown = true
			continue
		}
		x, err := s.each[i].Of(ctx, a[i:i+1])
		if err != nil {
			return false, false, err
		}
		x = bytes.Clone(x)
		y, err := s.each[i].Of(ctx, b[i:i+1])
		if err != nil {
			return false, false, err
		}
		differs = differs || !bytes.Equal(x, y)
	}
	return differs, unknown, nil
}

// InList is Left IN (constants), of anything but texts.
type InList struct {
	Left  sql.Expression
	Items expression.Tuple
	set   *valueSet
}

var (
	_ sql.Expression         = (*InList)(nil)
	_ sql.CollationCoercible = (*InList)(nil)
)

// newInList returns nil if the constants are not compared as one type.
func newInList(ctx *sql.Context, left, right sql.Expression) sql.Expression {
	items, ok := right.(expression.Tuple)
	if !ok || left.Type(ctx) == types.Null {
		return nil
	}
	set, ok := newValueSet(ctx, left, items)
	if !ok {
		return nil
	}
	quiet := sql.NewEmptyContext() // the planner has warned of what is no number
	for _, item := range items {
		v, err := item.Eval(ctx, nil)
		if err == nil {
			err = set.add(quiet, v)
		}
		if err != nil {
			return nil
		}
	}
	return &InList{left, items, set}
}

// Eval implements sql.Expression.
func (in *InList) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := in.Left.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	return in.set.contains(ctx, v)
}

func (in *InList) Resolved() bool               { return true }
func (in *InList) String() string               { return fmt.Sprintf("(%s IN %s)", in.Left, in.Items) }
func (in *InList) Type(*sql.Context) sql.Type   { return types.Boolean }
func (in *InList) IsNullable(*sql.Context) bool { return true }
func (in *InList) Children() []sql.Expression   { return []sql.Expression{in.Left, in.Items} }
func (in *InList) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression. What the values are compared as stays: it was decided
// of the same expressions.
func (in *InList) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(ch), 2)
	}
	items, ok := ch[1].(expression.Tuple)
	if !ok {
		return nil, expression.ErrUnsupportedInOperand.New(ch[1])
	}
	return &InList{ch[0], items, in.set}, nil
}

// inQuery is left IN (query), of anything but texts.
type inQuery struct {
	left  sql.Expression
	query *plan.Subquery
	set   *valueSet // of the query's rows, once it was run; for good if it does not look at the row
}

// newInQuery returns nil if the sides are not compared as one type.
func newInQuery(ctx *sql.Context, e *plan.InSubquery) sql.Expression {
	query, ok := e.RightChild.(*plan.Subquery)
	if !ok || e.LeftChild.Type(ctx) == types.Null {
		return nil
	}
	if _, ok := newValueSet(ctx, e.LeftChild, []sql.Expression{query}); !ok {
		return nil
	}
	return &inQuery{left: e.LeftChild, query: query}
}

var (
	_ sql.Expression         = (*inQuery)(nil)
	_ sql.CollationCoercible = (*inQuery)(nil)
)

// Eval implements sql.Expression.
func (in *inQuery) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	left, err := in.left.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	set := in.set
	if set == nil {
		set, _ = newValueSet(ctx, in.left, []sql.Expression{in.query})
		values, err := in.query.EvalMultiple(ctx, row)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if err := set.add(ctx, v); err != nil {
				return nil, err
			}
		}
		if in.query.CanCacheResults() {
			in.set = set
		}
	}
	return set.contains(ctx, left)
}

func (in *inQuery) Resolved() bool               { return in.left.Resolved() && in.query.Resolved() }
func (in *inQuery) String() string               { return fmt.Sprintf("(%s IN %s)", in.left, in.query) }
func (in *inQuery) Type(*sql.Context) sql.Type   { return types.Boolean }
func (in *inQuery) IsNullable(*sql.Context) bool { return true }
func (in *inQuery) Children() []sql.Expression   { return []sql.Expression{in.left, in.query} }
func (in *inQuery) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (in *inQuery) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(in, len(ch), 2)
	}
	query, ok := ch[1].(*plan.Subquery)
	if !ok {
		return nil, expression.ErrUnsupportedInOperand.New(ch[1])
	}
	return &inQuery{left: ch[0], query: query}, nil
}
