package builtin

import (
	"regexp"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// datePart is YEAR, QUARTER, MONTH or DAY of a text that may be a date with zeros in it, which is no moment,
// and has its parts all the same: MONTH('2024-00-00') is 0.
type datePart struct {
	sql.FunctionExpression
	name string
}

var _ sql.CollationCoercible = datePart{}

var dateParts = map[string]bool{"year": true, "quarter": true, "month": true, "day": true, "dayofmonth": true}

func newDatePart(ctx *sql.Context, name string, args []sql.Expression) (sql.Expression, error) {
	library, _ := libraryFunction(name)
	e, err := library.NewInstance(ctx, args)
	if f, ok := e.(sql.FunctionExpression); ok && err == nil {
		return datePart{f, name}, nil
	}
	return e, err
}

// IsNullable implements sql.Expression.
func (d datePart) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (d datePart) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (d datePart) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return newDatePart(ctx, d.name, children)
}

var zeroInDate = regexp.MustCompile(`^\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:\D.*)?$`)

// Eval implements sql.Expression.
func (d datePart) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	arg := d.Children()[0]
	t := resolvedType(ctx, arg)
	if t == nil || !types.IsTextOnly(t) {
		return d.FunctionExpression.Eval(ctx, row)
	}
	v, err := arg.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	text, _ := v.(string)
	if n, ok := d.withZeros(text); ok {
		out, _, err := d.Type(ctx).Convert(ctx, n)
		return out, err
	}
	library, err := d.FunctionExpression.WithChildren(ctx, expression.NewLiteral(v, t))
	if err != nil {
		return nil, err
	}
	return library.Eval(ctx, row)
}

// withZeros is the part of a date with a month or a day of zero; ok is false if it is none.
func (d datePart) withZeros(text string) (n int, ok bool) {
	p := zeroInDate.FindStringSubmatch(text[:min(len(text), 64)])
	if p == nil {
		return 0, false
	}
	year, _ := strconv.Atoi(p[1])
	month, _ := strconv.Atoi(p[2])
	day, _ := strconv.Atoi(p[3])
	if month > 0 && day > 0 || month > 12 || day > 31 {
		return 0, false
	}
	switch d.name {
	case "year":
		return year, true
	case "quarter":
		return (month + 2) / 3, true
	case "month":
		return month, true
	}
	return day, true
}
