package gms

import (
	"regexp"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ClockFunction returns the library's function of that name, if it takes a part of a time of day, which takes
// texts such as '10:11:12' for dates that are none.
func ClockFunction(name string) (sql.Function, bool) {
	var of func(*sql.Context, sql.Expression) sql.Expression
	switch name {
	case "hour":
		of = function.NewHour
	case "minute":
		of = function.NewMinute
	case "second":
		of = function.NewSecond
	case "microsecond":
		of = function.NewMicrosecond
	case "time_to_sec":
		of = function.NewTimeToSec
	default:
		return nil, false
	}
	return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		return &clockPart{of(ctx, e), name}
	}}, true
}

// clockPart is such a function: of a TIME, or a text that looks like one, by itself, as hours may be more
// than a day and times negative; of everything else the library's.
type clockPart struct {
	sql.Expression
	name string
}

var (
	_ sql.FunctionExpression = (*clockPart)(nil)
	_ sql.CollationCoercible = (*clockPart)(nil)
)

var clock = regexp.MustCompile(`^\s*-?\d{1,3}:\d{1,2}(:\d{1,2}(\.\d*)?)?\s*$`)

// FunctionName implements sql.FunctionExpression.
func (c *clockPart) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *clockPart) Description() string { return "is a part of a time of day." }

// Type implements sql.Expression.
func (c *clockPart) Type(ctx *sql.Context) sql.Type {
	if c.name == "time_to_sec" {
		return types.Int64 // the library's has no sign
	}
	return c.Expression.Type(ctx)
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *clockPart) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *clockPart) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &clockPart{e, c.name}, nil
}

// Eval implements sql.Expression.
func (c *clockPart) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	child := c.Children()[0]
	v, err := child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok && clock.MatchString(text) {
		if at, _, err := types.Time.Convert(ctx, text); err == nil {
			v = at
		}
	}
	at, ok := v.(types.Timespan)
	if !ok {
		e, err := c.Expression.WithChildren(ctx, expression.NewLiteral(v, child.Type(ctx)))
		if err != nil {
			return nil, err
		}
		part, err := e.Eval(ctx, nil)
		if err != nil || part == nil {
			return nil, err
		}
		part, _, err = c.Type(ctx).Convert(ctx, part)
		return part, err
	}
	micros := int64(at)
	part := max(micros, -micros)
	switch c.name {
	case "hour":
		part /= 3600e6
	case "minute":
		part = part / 60e6 % 60
	case "second":
		part = part / 1e6 % 60
	case "microsecond":
		part %= 1e6
	case "time_to_sec":
		part = micros / 1e6
	}
	out, _, err := c.Type(ctx).Convert(ctx, part)
	return out, err
}
