package builtin

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/sqlerr"
)

// ColumnDefault is DEFAULT(c). Until the engine has found c's table it has the column as its child, and the
// column's type; then it has none, and the value is what the table says.
type ColumnDefault struct {
	Column *expression.GetField
	Found  bool
	Value  *sql.ColumnDefaultValue // nil is NULL
}

var (
	_ sql.Expression         = (*ColumnDefault)(nil)
	_ sql.CollationCoercible = (*ColumnDefault)(nil)
)

// NewColumnDefault makes one of its argument.
func NewColumnDefault(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 1 {
		return nil, sql.ErrInvalidArgumentNumber.New("DEFAULT", "1", len(args))
	}
	c, ok := args[0].(*expression.GetField)
	if !ok { // a variable of a routine, or the alias of an expression
		return nil, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", args[0])
	}
	return &ColumnDefault{Column: c}, nil
}

// Children implements sql.Expression.
func (d *ColumnDefault) Children() []sql.Expression {
	if d.Found {
		return nil
	}
	return []sql.Expression{d.Column}
}

// WithChildren implements sql.Expression.
func (d *ColumnDefault) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if d.Found {
		return d, nil
	}
	return NewColumnDefault(ctx, children...)
}

// Resolved implements sql.Expression.
func (d *ColumnDefault) Resolved() bool { return d.Column.Resolved() }

// String implements sql.Expression.
func (d *ColumnDefault) String() string { return "default(" + d.Column.String() + ")" }

// Type implements sql.Expression.
func (d *ColumnDefault) Type(ctx *sql.Context) sql.Type { return d.Column.Type(ctx) }

// IsNullable implements sql.Expression.
func (d *ColumnDefault) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (d *ColumnDefault) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return d.Column.CollationCoercibility(ctx)
}

// Eval implements sql.Expression.
func (d *ColumnDefault) Eval(ctx *sql.Context, _ sql.Row) (any, error) {
	if !d.Found {
		return nil, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value",
			d.Column.Name())
	}
	if d.Value == nil {
		return nil, nil
	}
	return d.Value.Eval(ctx, nil)
}
