package routine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/assign"
	"moka/sqlfront/expr"
	"moka/sqlfront/jsonsize"
	"moka/sqlfront/moment"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
)

// timeOf is TIME(n); the library's has six digits.
func timeOf(n *ast.SQLVal) (sql.Type, error) {
	if n == nil {
		return moment.TimeType{}, nil
	}
	digits, err := strconv.Atoi(string(n.Val))
	if err != nil || digits > 6 {
		return nil, sqlerr.New(sqlerr.TooBigPrecision,
			"Too-big precision %s specified for 'TIME'. Maximum is 6.", n.Val)
	}
	return moment.TimeType{Digits: digits}, nil
}

// slot is a variable's place in the frame.
type slot struct {
	name string
	typ  sql.Type
}

// Variable is a parameter or a declared variable where it stands in a statement.
type Variable struct {
	name string
	slot int
	typ  sql.Type
}

var (
	_ ast.Injectable         = (*Variable)(nil)
	_ sql.Expression         = (*Variable)(nil)
	_ sql.CollationCoercible = (*Variable)(nil)
)

// WithResolvedChildren implements ast.Injectable.
func (v *Variable) WithResolvedChildren(ctx context.Context, _ []any) (any, error) {
	if s, _ := ctx.Value(slotsKey{}).(*Slots); s != nil {
		if v.typ == nil {
			s.Fixed = true
			return v, nil
		}
		return &Held{v, expression.NewProcedureParam(v.name, v.typ)}, nil
	}
	return v, nil
}

func (v *Variable) Resolved() bool               { return true }
func (v *Variable) String() string               { return v.name }
func (v *Variable) Type(*sql.Context) sql.Type   { return v.typ }
func (v *Variable) IsNullable(*sql.Context) bool { return true }
func (v *Variable) Children() []sql.Expression   { return nil }

// WithChildren implements sql.Expression.
func (v *Variable) WithChildren(_ *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(c), 0)
	}
	return v, nil
}

// Eval implements sql.Expression.
func (v *Variable) Eval(ctx *sql.Context, _ sql.Row) (any, error) {
	f := frameOf(ctx)
	if f == nil || v.slot >= len(f.values) {
		return nil, fmt.Errorf("routine: variable %s outside of its routine", v.name)
	}
	return f.values[v.slot], nil
}

// Slots is what a statement that is bound once, to be run many times, wants to know of variables. To the
// planner a Variable is a constant: it looks at the value, and chooses indexes by it. Where Slots are in the
// context, a statement has Held in its place.
type Slots struct {
	// Fixed says that the statement depends on a value that was taken while it was bound: it is good for one
	// run.
	Fixed bool
}

type slotsKey struct{}

// With is ctx with the slots in it, and outside of the routine: no variable has a value.
func (s *Slots) With(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(context.WithValue(ctx.Context, slotsKey{}, s), frameKey{},
		(*frame)(nil)))
}

// Held is a variable that the planner must not look at. The parameter below it says so: it is what the
// planner knows as unknown.
type Held struct {
	*Variable
	unknown sql.Expression
}

func (h *Held) Children() []sql.Expression { return []sql.Expression{h.unknown} }

// WithChildren implements sql.Expression.
func (h *Held) WithChildren(_ *sql.Context, c ...sql.Expression) (sql.Expression, error) {
	if len(c) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(h, len(c), 1)
	}
	return h, nil
}

// Assign gives the variable a value of a type: that of an OUT parameter of a procedure that
// its routine has called.
func (v *Variable) Assign(ctx *sql.Context, value any, typ sql.Type) error {
	f := frameOf(ctx)
	if f == nil || v.slot >= len(f.values) {
		return fmt.Errorf("routine: variable %s outside of its routine", v.name)
	}
	return f.assign(v.slot, value, typ)
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *Variable) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	c, _ := v.typ.CollationCoercibility(ctx)
	return c, 2
}

// limit is a variable in LIMIT or OFFSET.
type limit struct{ *Variable }

// WithResolvedChildren implements ast.Injectable.
func (l limit) WithResolvedChildren(c context.Context, _ []any) (any, error) {
	if s, _ := c.Value(slotsKey{}).(*Slots); s != nil {
		s.Fixed = true
		return expression.NewLiteral(int64(1), types.Int64), nil
	}
	ctx, ok := c.(*sql.Context)
	if !ok {
		return l.Variable, nil
	}
	v, err := l.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	n := int64(0) // NULL is none, as in MySQL
	if v != nil {
		to, _, err := types.Int64.Convert(ctx, v)
		if err != nil {
			return nil, err
		}
		n = to.(int64)
	}
	if n < 0 {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to LIMIT")
	}
	return expression.NewLiteral(n, types.Int64), nil
}

func (f *frame) assign(slot int, v any, from sql.Type) error {
	s := f.routine.slots[slot]
	v, err := assign.Store(f.ctx, s.typ, s.name, v, from)
	if err != nil {
		return err
	}
	if err := jsonsize.Shallow(v); err != nil {
		return err
	}
	if err := f.keep(slot, v); err != nil {
		return err
	}
	f.values[slot] = v
	return nil
}

// keepStep is how far what a frame holds may be from what the statement is charged for it.
const keepStep = 64 << 10

// keep charges the statement for the value that a place is about to have, until the frame ends: recursion
// and many variables add up.
func (f *frame) keep(slot int, v any) error {
	was := f.values[slot]
	if t, ok := was.(typed); ok {
		was = t.value
	}
	// What a trigger's row began with belongs to others, who are charged for it.
	f.held = max(0, f.held+operator.ValueBytes(v)-operator.ValueBytes(was))
	if step := f.held - f.charged; -keepStep < step && step < keepStep {
		return nil
	}
	s, ok := f.ctx.Session.(expr.Charged)
	if !ok {
		return nil
	}
	if err := s.ChargeValue(f.ctx, f, f.held); err != nil {
		return err
	}
	f.charged = f.held
	return nil
}

// end gives back what the frame holds.
func (f *frame) end() {
	f.closeCursors()
	if s, ok := f.ctx.Session.(expr.Charged); ok && f.charged > 0 {
		_ = s.ChargeValue(f.ctx, f, 0) // giving back does not fail
	}
}
