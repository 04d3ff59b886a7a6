package eval

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Scope tells the compiler what names mean.
type Scope struct {
	// Slot is where a column is in the row; false if it is in none.
	Slot func(*expression.GetField) (int, bool)
	// Literal makes a literal of a value of the statement's text; false if it is of a type that has none.
	Literal func(v any, t sql.Type) (Literal, bool)
	// Subquery gives a subquery its place in Frame.Results, and says of which type its column is; nil if
	// there are none.
	Subquery func(*plan.Subquery, Use) (n int, t sql.Type, err error)
	// Operands collects what Frame.Bind is to compute.
	Operands *[]Typed
}

// Add asks for an operand's value as one of a type; it returns its place in Frame.Values.
func (s Scope) Add(o Operand, t sql.Type) int {
	*s.Operands = append(*s.Operands, Typed{o, t})
	return len(*s.Operands) - 1
}

// New compiles a condition that the binder has made.
func New(ctx *sql.Context, e sql.Expression, s Scope) (Predicate, error) {
	switch e := e.(type) {
	case *expression.And:
		return s.two(ctx, e.Children(), func(l, r Predicate) Predicate { return and{l, r} })
	case *expression.Or:
		return s.two(ctx, e.Children(), func(l, r Predicate) Predicate { return or{l, r} })
	case *expression.Not:
		p, err := New(ctx, e.Child, s)
		if err != nil {
			return nil, err
		}
		return not{p}, nil
	case *expression.IsNull:
		c, ok := column(e.Child)
		if !ok {
			return nil, ErrUnsupported
		}
		slot, ok := s.Slot(c)
		if !ok {
			return nil, ErrUnsupported
		}
		return isNull{slot}, nil
	case *expression.Between:
		low, err := s.compare(ctx, e.Val, e.Lower, GreaterOrEqual)
		if err != nil {
			return nil, err
		}
		high, err := s.compare(ctx, e.Val, e.Upper, LessOrEqual)
		if err != nil {
			return nil, err
		}
		return and{low, high}, nil
	case *expression.InTuple:
		return s.in(ctx, e)
	case *plan.InSubquery:
		return s.inSubquery(ctx, e)
	case *plan.ExistsSubquery:
		n, _, err := s.subquery(e.Query, AsTruth)
		if err != nil {
			return nil, err
		}
		return exists{n}, nil
	}
	if op, ok := ComparisonOf(e); ok {
		return s.compare(ctx, e.Children()[0], e.Children()[1], op)
	}
	return nil, ErrUnsupported
}

// ComparisonOf is the operator of an expression; false if it is no comparison.
func ComparisonOf(e sql.Expression) (Comparison, bool) {
	switch e.(type) {
	case *expression.Equals:
		return Equal, true
	case *expression.LessThan:
		return Less, true
	case *expression.LessThanOrEqual:
		return LessOrEqual, true
	case *expression.GreaterThan:
		return Greater, true
	case *expression.GreaterThanOrEqual:
		return GreaterOrEqual, true
	}
	return 0, false
}

func (s Scope) two(
	ctx *sql.Context, of []sql.Expression, join func(l, r Predicate) Predicate,
) (Predicate, error) {
	l, err := New(ctx, of[0], s)
	if err != nil {
		return nil, err
	}
	r, err := New(ctx, of[1], s)
	if err != nil {
		return nil, err
	}
	return join(l, r), nil
}

func column(e sql.Expression) (*expression.GetField, bool) {
	c, ok := e.(*expression.GetField)
	return c, ok
}

func (s Scope) compare(ctx *sql.Context, left, right sql.Expression, op Comparison) (Predicate, error) {
	l, ok := column(left)
	if !ok {
		if _, other := column(right); !other {
			return nil, ErrUnsupported
		}
		return s.compare(ctx, right, left, op.Flip())
	}
	slot, ok := s.Slot(l)
	if !ok {
		return nil, ErrUnsupported
	}
	if r, ok := column(right); ok {
		other, ok := s.Slot(r)
		if !ok {
			return nil, ErrUnsupported
		}
		compare := comparable2(l.Type(ctx), r.Type(ctx))
		if compare == nil {
			return nil, ErrUnsupported
		}
		return &withColumn{slot, other, compare, op}, nil
	}
	if sub, ok := right.(*plan.Subquery); ok {
		n, t, err := s.subquery(sub, AsValue)
		if err != nil {
			return nil, err
		}
		compare := comparable2(l.Type(ctx), t)
		if compare == nil {
			return nil, ErrUnsupported
		}
		return &withResult{slot, compare, op, n}, nil
	}
	o, ok := s.Operand(ctx, right)
	if !ok || !Keyed(l.Type(ctx)) {
		return nil, ErrUnsupported
	}
	return &withOperand{slot, l.Type(ctx), op, s.Add(o, l.Type(ctx))}, nil
}

// Keyed reports whether columns of a type can be compared with operands: Literal.Key knows how.
func Keyed(t sql.Type) bool {
	switch t.Type() {
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.VarBinary, sqltypes.Blob, sqltypes.Decimal,
		sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return true
	}
	return types.IsInteger(t)
}

// inRows is (a, b) IN ((1, 2), (3, 4)): a = 1 AND b = 2 OR a = 3 AND b = 4.
func (s Scope) inRows(ctx *sql.Context, left, list expression.Tuple) (Predicate, error) {
	var any or
	for _, x := range list {
		row, ok := x.(expression.Tuple)
		if !ok || len(row) != len(left) {
			return nil, ErrUnsupported
		}
		var all and
		for i := range row {
			p, err := s.compare(ctx, left[i], row[i], Equal)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		any = append(any, all)
	}
	return any, nil
}

func (s Scope) in(ctx *sql.Context, e *expression.InTuple) (Predicate, error) {
	if left, ok := e.Children()[0].(expression.Tuple); ok {
		list, ok := e.Children()[1].(expression.Tuple)
		if !ok {
			return nil, ErrUnsupported
		}
		return s.inRows(ctx, left, list)
	}
	l, ok := column(e.Children()[0])
	list, isTuple := e.Children()[1].(expression.Tuple)
	if !ok || !isTuple || !Keyed(l.Type(ctx)) {
		return nil, ErrUnsupported
	}
	slot, ok := s.Slot(l)
	if !ok {
		return nil, ErrUnsupported
	}
	p := &in{slot: slot, typ: l.Type(ctx)}
	for _, x := range list {
		o, ok := s.Operand(ctx, x)
		if !ok {
			return nil, ErrUnsupported
		}
		p.list = append(p.list, s.Add(o, p.typ))
	}
	return p, nil
}

// Operand is an expression that is a parameter or a literal; false if it is neither.
func (s Scope) Operand(ctx *sql.Context, e sql.Expression) (Operand, bool) {
	switch e := e.(type) {
	case *expression.BindVar:
		n, err := strconv.Atoi(strings.TrimPrefix(e.Name, "v"))
		if err != nil || n < 1 {
			return Operand{}, false
		}
		return Operand{Param: n - 1}, true
	case *expression.Literal:
		l, ok := s.Literal(e.Value(), e.Type(ctx))
		return Operand{Param: -1, Const: l}, ok
	}
	return Operand{}, false
}
