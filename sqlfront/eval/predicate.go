package eval

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
)

var (
	// ErrUnsupported says that an expression is none that this package compiles.
	ErrUnsupported = errors.New("eval: not an expression that is compiled")
	// ErrUnsure says that a parameter has a value that takes a conversion for which the general way is asked.
	ErrUnsure = errors.New("eval: a value that takes a conversion")
)

// Truth is a truth value of SQL. AND is the least of its operands, OR the greatest.
type Truth int8

// The truth values, in their order.
const (
	False Truth = iota
	Unknown
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

// Frame is what a run of a plan has for itself.
type Frame struct {
	Params []Literal
	// Values are the operands of its conditions, in the order in which they were compiled, as values of the
	// columns that they are compared with.
	Values []any
	// Results are what the subqueries have answered.
	Results []*Result
}

// Typed is an operand that is compared with a column of a type.
type Typed struct {
	Operand
	Type sql.Type
}

// Bind computes the values of operands. All are computed before the first row is looked at: that one of them
// is no date is to be known whether there is a row or not.
func (f *Frame) Bind(of []Typed) error {
	f.Values = make([]any, len(of))
	for i := range of {
		v, err := of[i].Value(f, of[i].Type)
		if err != nil {
			return err
		}
		f.Values[i] = v
	}
	return nil
}

// Operand is a parameter, or a literal of the statement's text.
type Operand struct {
	Param int // its number; -1: Const
	Const Literal
}

// literal is the operand's value in a run.
func (o *Operand) literal(f *Frame) (Literal, error) {
	if o.Param < 0 {
		return o.Const, nil
	}
	if o.Param >= len(f.Params) {
		return Literal{}, ErrUnsure
	}
	return f.Params[o.Param], nil
}

// Value is the operand as a value of a column of type t; nil for NULL.
func (o *Operand) Value(f *Frame, t sql.Type) (any, error) {
	l, err := o.literal(f)
	if err != nil || l.IsNull() {
		return nil, err
	}
	v, ok := l.Key(t)
	if !ok {
		return nil, ErrUnsure
	}
	return v, nil
}

// Predicate is a condition on a row.
type Predicate interface {
	Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error)
}

type and []Predicate

func (p and) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	least := True
	for _, c := range p {
		t, err := c.Eval(ctx, f, row)
		if err != nil || t == False {
			return False, err
		}
		least = min(least, t)
	}
	return least, nil
}

type or []Predicate

func (p or) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	most := False
	for _, c := range p {
		t, err := c.Eval(ctx, f, row)
		if err != nil || t == True {
			return t, err
		}
		most = max(most, t)
	}
	return most, nil
}

type not struct{ Predicate }

func (p not) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	t, err := p.Predicate.Eval(ctx, f, row)
	return True - t, err
}

type isNull struct{ slot int }

func (p isNull) Eval(_ *sql.Context, _ *Frame, row sql.Row) (Truth, error) {
	return truth(row[p.slot] == nil), nil
}

// Comparison is an operator of comparison.
type Comparison uint8

// The operators.
const (
	Equal Comparison = iota
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

func (c Comparison) holds(n int) bool {
	switch c {
	case Equal:
		return n == 0
	case Less:
		return n < 0
	case LessOrEqual:
		return n <= 0
	case Greater:
		return n > 0
	}
	return n >= 0
}

// Flip is the operator with its sides exchanged.
func (c Comparison) Flip() Comparison {
	switch c {
	case Less:
		return Greater
	case LessOrEqual:
		return GreaterOrEqual
	case Greater:
		return Less
	case GreaterOrEqual:
		return LessOrEqual
	}
	return c
}

// withOperand compares a column with an operand.
type withOperand struct {
	slot int
	typ  sql.Type
	op   Comparison
	with int // in Frame.Values
}

func (p *withOperand) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	want := f.Values[p.with]
	if want == nil || row[p.slot] == nil {
		return Unknown, nil
	}
	n, err := Compare(ctx, p.typ, row[p.slot], want)
	return truth(err == nil && p.op.holds(n)), err
}

// withColumn compares two columns.
type withColumn struct {
	left, right int
	compare     func(ctx *sql.Context, a, b any) (int, error)
	op          Comparison
}

func (p *withColumn) Eval(ctx *sql.Context, _ *Frame, row sql.Row) (Truth, error) {
	if row[p.left] == nil || row[p.right] == nil {
		return Unknown, nil
	}
	n, err := p.compare(ctx, row[p.left], row[p.right])
	return truth(err == nil && p.op.holds(n)), err
}

// in is column IN (list).
type in struct {
	slot int
	typ  sql.Type
	list []int // in Frame.Values
}

func (p *in) Eval(ctx *sql.Context, f *Frame, row sql.Row) (Truth, error) {
	if row[p.slot] == nil {
		return Unknown, nil
	}
	found := False
	for _, i := range p.list {
		want := f.Values[i]
		if want == nil {
			found = max(found, Unknown)
			continue
		}
		n, err := Compare(ctx, p.typ, row[p.slot], want)
		if err != nil {
			return False, err
		}
		if n == 0 {
			return True, nil
		}
	}
	return found, nil
}
