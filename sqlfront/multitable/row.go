package multitable

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// Editor is what begins and ends the writing of a table's rows.
type Editor interface {
	sql.EditOpenerCloser
	sql.Closer
}

// Stored is a row with the key under which it is stored.
type Stored struct {
	Key []byte
	Row sql.Row
}

// Table is a table that the statement writes to, under one of its names.
type Table struct {
	Schema sql.Schema
	Editor Editor

	// Key tells a row from all others of the table, but for those that are equal to it in every column, if
	// the table has no primary key: they are met, and changed, together.
	Key func(ctx *sql.Context, row sql.Row) ([]byte, error)
	// Rows are those with the key of a row that was read, as they are now.
	Rows func(ctx *sql.Context, key []byte, row sql.Row) ([]Stored, error)
	// Same says whether an UPDATE has changed nothing.
	Same func(ctx *sql.Context, old, row sql.Row) (bool, error)

	// Before and After fire triggers. Before returns a row of its own.
	Before func(ctx *sql.Context, old, row sql.Row) (sql.Row, error)
	After  func(ctx *sql.Context, old, row sql.Row) error
	// Write puts a row in the place of another one, or takes it away.
	Write func(ctx *sql.Context, old Stored, row sql.Row) error

	// Fit makes a computed value one of its column's.
	Fit func(ctx *sql.Context, column *sql.Column, v any) (any, error)
	// Missing is what stands for NULL in a column that cannot hold it, nil if that is an error.
	Missing func(ctx *sql.Context, column *sql.Column) (any, error)
	// Ended is told whether all went well.
	Ended func(failed bool)

	generated []computed // each stands behind those that it is computed of
	stamps    []computed // ON UPDATE CURRENT_TIMESTAMP; see update
	checks    sql.CheckConstraints
	failed    bool
}

// computed is a column that is computed of the others of its row.
type computed struct {
	at   int
	expr sql.Expression
}

// Computes takes what is computed of a row from the table's schema, whose expressions are over its rows, as
// the checks are.
func (t *Table) Computes(schema sql.Schema, checks sql.CheckConstraints) {
	t.checks = checks
	for i, c := range schema {
		switch {
		case c.Generated != nil:
			t.generated = append(t.generated, computed{i, c.Generated.Expr})
		case c.OnUpdate != nil:
			t.stamps = append(t.stamps, computed{i, c.OnUpdate.Expr})
		}
	}
}

func (t *Table) close(ctx *sql.Context) error {
	t.Ended(t.failed)
	return t.Editor.Close(ctx)
}

// update puts a row in the place of another one; changed says whether it was another one in the end, which
// triggers decide. A column that is ON UPDATE CURRENT_TIMESTAMP, and that neither the statement nor a
// trigger has given a value, gets the time if so: what the statement does triggers see, with the time; what
// triggers alone do comes after them.
func (t *Table) update(ctx *sql.Context, assigned []assignment, stored Stored, row sql.Row) (changed bool,
	err error) {
	defer func() { t.failed = t.failed || err != nil }()
	old := stored.Row
	stamp := func() error {
		for _, c := range t.stamps {
			if slices.ContainsFunc(assigned, func(a assignment) bool { return a.column == c.at }) {
				continue
			}
			if same, err := t.Schema[c.at].Type.Compare(ctx, old[c.at], row[c.at]); err != nil || same != 0 {
				return err
			}
			if err := t.computeColumn(ctx, c, row); err != nil {
				return err
			}
		}
		return nil
	}
	if err := t.compute(ctx, row); err != nil {
		return false, err
	}
	same, err := t.Same(ctx, old, row)
	if err == nil && !same {
		err = stamp()
	}
	if err != nil {
		return false, err
	}
	early := !same
	if row, err = t.Before(ctx, old, row); err != nil {
		return false, err
	}
	if err := t.compute(ctx, row); err != nil {
		return false, err
	}
	if same, err = t.Same(ctx, old, row); err != nil {
		return false, err
	}
	if !same && !early {
		if err := stamp(); err != nil {
			return false, err
		}
	}
	if !same {
		if err := t.keeps(ctx, row); err != nil {
			return false, err
		}
		if err := t.Write(ctx, stored, row); err != nil {
			return false, err
		}
	}
	return !same, t.After(ctx, old, row)
}

func (t *Table) remove(ctx *sql.Context, old Stored) (err error) {
	defer func() { t.failed = t.failed || err != nil }()
	if _, err := t.Before(ctx, old.Row, nil); err != nil {
		return err
	}
	if err := t.Write(ctx, old, nil); err != nil {
		return err
	}
	return t.After(ctx, old.Row, nil)
}

func (t *Table) compute(ctx *sql.Context, row sql.Row) error {
	for _, c := range t.generated {
		if err := t.computeColumn(ctx, c, row); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) computeColumn(ctx *sql.Context, c computed, row sql.Row) error {
	v, err := c.expr.Eval(ctx, row)
	if err == nil && v != nil {
		v, err = t.Fit(ctx, t.Schema[c.at], v)
	}
	row[c.at] = v
	return err
}

// keeps is the error of a row that cannot be stored.
func (t *Table) keeps(ctx *sql.Context, row sql.Row) (err error) {
	for i, c := range t.Schema {
		if row[i] != nil || c.Nullable || c.Virtual {
			continue
		}
		if t.Missing == nil {
			return sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
		}
		ctx.Warn(sqlerr.BadNull, "Column '%s' cannot be null", c.Name)
		if row[i], err = t.Missing(ctx, c); err != nil {
			return err
		}
	}
	return Violated(ctx, t.checks, row)
}

// Violated is the error of a row that a check refuses.
func Violated(ctx *sql.Context, checks sql.CheckConstraints, row sql.Row) error {
	for _, c := range checks {
		if !c.Enforced {
			continue
		}
		ok, err := sql.EvaluateCondition(ctx, c.Expr, row)
		if err != nil {
			return err
		}
		if sql.IsFalse(ok) {
			return sql.ErrCheckConstraintViolated.New(c.Name)
		}
	}
	return nil
}
