package builtin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Typed is a function of the library with the type that MySQL gives it: a driver chooses the
// language's type by it. CURDATE() was a text, and STD of integers was rounded to one.
type Typed struct {
	sql.Expression
	As sql.Type
}

var (
	_ sql.FunctionExpression         = (*Typed)(nil)
	_ sql.CollationCoercible         = (*Typed)(nil)
	_ sql.NonDeterministicExpression = (*Typed)(nil)
)

// As is e with the type of MySQL.
func As(e sql.Expression, as sql.Type) sql.Expression { return &Typed{e, as} }

// FunctionName implements sql.FunctionExpression: CHECK refuses functions of the time by their names.
func (t *Typed) FunctionName() string {
	if f, ok := t.Expression.(sql.FunctionExpression); ok {
		return f.FunctionName()
	}
	return ""
}

// Description implements sql.FunctionExpression.
func (t *Typed) Description() string { return "is the library's function with MySQL's type." }

// Type implements sql.Expression.
func (t *Typed) Type(*sql.Context) sql.Type { return t.As }

// WithChildren implements sql.Expression.
func (t *Typed) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := t.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &Typed{e, t.As}, nil
}

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (t *Typed) IsNonDeterministic() bool {
	n, ok := t.Expression.(sql.NonDeterministicExpression)
	return ok && n.IsNonDeterministic()
}

// CollationCoercibility implements sql.CollationCoercible.
func (t *Typed) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, t.Expression)
}

// Eval implements sql.Expression.
func (t *Typed) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := t.Expression.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if m, ok := v.(interface{ UnixMicro() int64 }); ok && t.As.Type() == sqltypes.Datetime {
		v = CutFraction(m.UnixMicro(), t.As.(sql.DatetimeType).Precision())
	}
	v, _, err = t.As.Convert(ctx, v)
	return v, err
}

// DatetimeOf is DATETIME with so many digits behind its seconds.
func DatetimeOf(digits int) sql.Type { return types.MustCreateDatetimeType(sqltypes.Datetime, digits) }

// Fraction is how many digits a time made of e has behind its seconds.
func Fraction(ctx *sql.Context, e sql.Expression) int {
	if l, ok := e.(*expression.Literal); ok {
		text, _ := l.Value().(string)
		_, digits, _ := strings.Cut(text, ".")
		return min(6, len(digits))
	}
	if types.IsInteger(e.Type(ctx)) {
		return 0
	}
	if t, ok := e.Type(ctx).(sql.DatetimeType); ok {
		if t.Type() == sqltypes.Date {
			return 0
		}
		return t.Precision()
	}
	return 6
}
