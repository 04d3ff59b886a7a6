package routine

import (
	"context"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/assign"
	"moka/sqlfront/sqlerr"
)

// scalar is an expression that stands alone.
type scalar struct {
	stmt     ast.Statement // SELECT expression
	variable *Variable     // it is nothing but this variable
	null     bool
}

func (s *scalar) eval(f *frame) (any, sql.Type, error) {
	switch {
	case s == nil || s.null:
		return nil, types.Null, nil
	case s.variable != nil:
		return f.values[s.variable.slot], s.variable.typ, nil
	}
	if e := f.host.Expression(f.ctx, s.stmt); e != nil {
		v, err := e.Eval(f.ctx, nil)
		if err == nil {
			v, err = sql.UnwrapAny(f.ctx, v)
		}
		return v, e.Type(f.ctx), err
	}
	schema, rows, err := f.host.Query(f.ctx, s.stmt, "")
	if err != nil {
		return nil, nil, err
	}
	row, err := rows.Next(f.ctx)
	if cerr := rows.Close(f.ctx); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, nil, err
	}
	v, err := sql.UnwrapAny(f.ctx, row[0])
	return v, schema[0].Type, err
}

func (s *scalar) holds(f *frame) (bool, error) {
	v, _, err := s.eval(f)
	if v == nil || err != nil {
		return false, err
	}
	return sql.ConvertToBool(f.ctx, v)
}

// query is a statement that the engine runs.
type query struct {
	stmt  ast.Statement
	text  string
	quiet bool // SET: the number of rows of the statement before stays
}

func (q *query) run(f *frame) (*jump, error) {
	if err := f.statement(); err != nil {
		return nil, err
	}
	f.area = nil
	before := f.ctx.Session.WarningCount()
	schema, rows, err := f.host.Query(f.ctx, q.stmt, q.text)
	if err != nil {
		return nil, err
	}
	affected := int64(0)
	if len(schema) == 0 || types.IsOkResultSchema(schema) {
		row, err := rows.Next(f.ctx)
		if err == nil && len(row) > 0 {
			if ok, is := row[0].(types.OkResult); is {
				affected = int64(ok.RowsAffected)
			}
			_, err = rows.Next(f.ctx)
		}
		if err == io.EOF {
			err = nil
		}
		if cerr := rows.Close(f.ctx); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
	} else {
		if affected = -1; f.routine.Kind != Procedure && !f.routine.answers {
			_ = rows.Close(f.ctx)
			return nil, resultSet(f.routine.Kind)
		}
		if err := f.host.Result(f.ctx, schema, rows); err != nil {
			return nil, err
		}
	}
	if !q.quiet {
		f.affected = affected
	}
	return f.warnings(before)
}

// warnings runs the handler of the last warning that the statement has given, if there is one for it.
func (f *frame) warnings(before uint16) (*jump, error) {
	if f.ctx.Session.WarningCount() == 0 {
		return nil, nil
	}
	all := f.ctx.Session.Warnings()
	slices.Reverse(all) // the newest first
	var last *Condition
	for _, w := range all {
		c := &Condition{Number: w.Code, State: sqlerr.State(w.Code), Message: w.Message}
		if w.Level != "Note" && w.Level != "Error" {
			c.State = warningState(w.Code)
			if last == nil {
				last = c
			}
		}
		f.area = append(f.area, c)
	}
	if last == nil || len(all) == int(before) {
		return nil, nil
	}
	return f.warned(last)
}

// warningState is the state of a warning: that of errors would be of the class of exceptions.
func warningState(code int) string {
	if s := sqlerr.State(code); s[:2] == "01" || s[:2] == "02" {
		return s
	}
	return "01000"
}

// destination is where a value of a row goes.
type destination struct {
	variable *Variable
	user     string
}

func (f *frame) store(to []destination, row sql.Row, schema sql.Schema) error {
	for i, d := range to {
		v, err := sql.UnwrapAny(f.ctx, row[i])
		if err != nil {
			return err
		}
		if d.variable != nil {
			err = f.assign(d.variable.slot, v, schema[i].Type)
		} else {
			err = f.ctx.SetUserVariable(f.ctx, d.user, v, schema[i].Type)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// selectInto is SELECT … INTO variables.
type selectInto struct {
	stmt ast.Statement
	into []destination
}

func (s *selectInto) run(f *frame) (*jump, error) {
	if err := f.statement(); err != nil {
		return nil, err
	}
	f.area = nil
	before := f.ctx.Session.WarningCount()
	schema, rows, err := f.host.Query(f.ctx, s.stmt, "")
	if err != nil {
		return nil, err
	}
	if len(schema) != len(s.into) {
		_ = rows.Close(f.ctx)
		return nil, sqlerr.New(sqlerr.ColumnCountInto,
			"The used SELECT statements have a different number of columns")
	}
	row, err := rows.Next(f.ctx)
	found := err == nil
	if found {
		if _, err = rows.Next(f.ctx); err == nil {
			err = sqlerr.New(sqlerr.TooManyRows, "Result consisted of more than one row")
		}
	}
	if err == io.EOF {
		err = nil
	}
	if cerr := rows.Close(f.ctx); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	if !found {
		f.affected = 0
		f.ctx.Warn(sqlerr.FetchNoData, "No data - zero rows fetched, selected, or processed")
		return f.warned(noData())
	}
	f.affected = 1
	if err := f.store(s.into, row, schema); err != nil {
		return nil, err
	}
	return f.warnings(before)
}

// assignment is SET variable = expression.
type assignment struct {
	slot  int
	value *scalar
}

func (a *assignment) run(f *frame) (*jump, error) {
	v, typ, err := a.value.eval(f)
	if err != nil {
		return nil, err
	}
	return nil, f.assign(a.slot, v, typ)
}

// declaration is DECLARE of variables.
type declaration struct {
	slots   []int
	initial *scalar
}

func (d *declaration) run(f *frame) (*jump, error) {
	v, typ, err := d.initial.eval(f)
	if err != nil {
		return nil, err
	}
	for _, s := range d.slots {
		if err := f.assign(s, v, typ); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// branch is IF and CASE.
type branch struct {
	subject   *scalar // CASE subject: its value is in slot
	slot      int
	arms      []arm
	otherwise list
	mustMatch bool
}

type arm struct {
	cond *scalar
	then list
}

func (b *branch) run(f *frame) (*jump, error) {
	if b.subject != nil {
		v, t, err := b.subject.eval(f)
		if err != nil {
			return nil, err
		}
		if err := f.keep(b.slot, v); err != nil {
			return nil, err
		}
		f.values[b.slot] = typed{v, t}
	}
	for _, a := range b.arms {
		yes, err := a.cond.holds(f)
		if err != nil {
			return nil, err
		}
		if yes {
			return a.then.run(f)
		}
	}
	if b.mustMatch {
		return nil, sqlerr.New(sqlerr.CaseNotFound, "Case not found for CASE statement")
	}
	return b.otherwise.run(f)
}

// typed is a value of a type that is known when it is there.
type typed struct {
	value any
	typ   sql.Type
}

// dynamic is the subject of a CASE in a condition of its arms.
type dynamic struct{ slot int }

// WithResolvedChildren implements ast.Injectable.
func (d *dynamic) WithResolvedChildren(c context.Context, _ []any) (any, error) {
	v := typed{typ: types.Null}
	if s, _ := c.Value(slotsKey{}).(*Slots); s != nil {
		s.Fixed = true
		return &Constant{v.value, v.typ}, nil
	}
	if ctx, ok := c.(*sql.Context); ok {
		if f := frameOf(ctx); f != nil {
			v, _ = f.values[d.slot].(typed)
		}
	}
	return &Constant{v.value, v.typ}, nil
}

// Constant is a value that stays for one execution of a statement.
type Constant struct {
	value any
	typ   sql.Type
}

var (
	_ sql.Expression         = (*Constant)(nil)
	_ sql.CollationCoercible = (*Constant)(nil)
)

func (c *Constant) Resolved() bool                          { return true }
func (c *Constant) String() string                          { return "case" }
func (c *Constant) Type(*sql.Context) sql.Type              { return c.typ }
func (c *Constant) IsNullable(*sql.Context) bool            { return true }
func (c *Constant) Children() []sql.Expression              { return nil }
func (c *Constant) Eval(*sql.Context, sql.Row) (any, error) { return c.value, nil }

// WithChildren implements sql.Expression.
func (c *Constant) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 0)
	}
	return c, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *Constant) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	id, _ := c.typ.CollationCoercibility(ctx)
	return id, 4
}

// loop is WHILE, REPEAT and LOOP.
type loop struct {
	target       *target
	while, until *scalar
	body         list
}

func (l *loop) run(f *frame) (*jump, error) {
	for {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		if l.while != nil {
			yes, err := l.while.holds(f)
			if err != nil || !yes {
				return nil, err
			}
		}
		j, err := l.body.run(f)
		switch {
		case err != nil:
			return nil, err
		case j != nil && j.to == l.target && j.kind == jumpLeave:
			return nil, nil
		case j != nil && (j.to != l.target || j.kind != jumpIterate):
			return j, nil
		}
		if l.until != nil {
			yes, err := l.until.holds(f)
			if err != nil || yes {
				return nil, err
			}
		}
	}
}

// jumps is LEAVE and ITERATE.
type jumps struct{ jump *jump }

func (j *jumps) run(*frame) (*jump, error) { return j.jump, nil }

// returns is RETURN.
type returns struct{ value *scalar }

func (r *returns) run(f *frame) (*jump, error) {
	v, typ, err := r.value.eval(f)
	if err != nil {
		return nil, err
	}
	if v, err = assign.Store(f.ctx, f.routine.Returns, f.routine.Name, v, typ); err != nil {
		return nil, err
	}
	return &jump{kind: jumpReturn, value: v}, nil
}

// cursorSlot is a declared cursor.
type cursorSlot struct {
	name string
	stmt ast.Statement
}

// cursor is an open one, with the rows of the moment in which it was opened.
type cursor struct {
	schema  sql.Schema
	rows    []sql.Row
	release func()
}

func (f *frame) closeCursor(s *cursorSlot) bool {
	c := f.cursors[s]
	if c == nil {
		return false
	}
	delete(f.cursors, s)
	c.release()
	return true
}

func (f *frame) closeCursors() {
	for s := range f.cursors {
		f.closeCursor(s)
	}
}

type open struct{ slot *cursorSlot }

func (o *open) run(f *frame) (*jump, error) {
	if err := f.statement(); err != nil {
		return nil, err
	}
	if f.cursors[o.slot] != nil {
		return nil, sqlerr.New(sqlerr.CursorIsOpen, "Cursor is already open")
	}
	schema, rows, err := f.host.Query(f.ctx, o.slot.stmt, "")
	if err != nil {
		return nil, err
	}
	kept, release, err := f.host.Keep(f.ctx, rows)
	if err != nil {
		return nil, err
	}
	if f.cursors == nil {
		f.cursors = map[*cursorSlot]*cursor{}
	}
	f.cursors[o.slot] = &cursor{schema, kept, release}
	return nil, nil
}

type closes struct{ slot *cursorSlot }

func (c *closes) run(f *frame) (*jump, error) {
	if !f.closeCursor(c.slot) {
		return nil, sqlerr.New(sqlerr.CursorNotOpen, "Cursor is not open")
	}
	return nil, nil
}

type fetch struct {
	slot *cursorSlot
	into []destination
}

func (n *fetch) run(f *frame) (*jump, error) {
	c := f.cursors[n.slot]
	if c == nil {
		return nil, sqlerr.New(sqlerr.CursorNotOpen, "Cursor is not open")
	}
	if len(n.into) != len(c.schema) {
		return nil, sqlerr.New(sqlerr.FetchCount, "Incorrect number of FETCH variables")
	}
	if len(c.rows) == 0 {
		return nil, noData().sqlError()
	}
	row := c.rows[0]
	c.rows[0] = nil
	c.rows = c.rows[1:]
	return nil, f.store(n.into, row, c.schema)
}
