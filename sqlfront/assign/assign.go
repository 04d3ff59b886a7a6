package assign

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// Typed reports whether values of a type are something else without it.
func Typed(t sql.Type) bool {
	return expr.IsEnum(t) || types.IsTime(t) || expr.IsSpan(t)
}

// Of is what a value of the type from means to what has the type to; nil is what takes any type.
func Of(ctx *sql.Context, v any, from, to sql.Type) (any, error) {
	switch {
	case v == nil || from == nil:
	case expr.AssignedAsText(from, to):
		return expr.EnumText(from, v)
	case to == nil || types.IsYear(to): // of a date YEAR takes the year
	case types.IsInteger(to):
		return expr.MomentOf(ctx, cast.ToSeconds(v), from, true), nil
	case types.IsNumber(to):
		return expr.MomentOf(ctx, v, from, true), nil
	case types.IsText(to), expr.IsEnum(to):
		return expr.MomentOf(ctx, v, from, false), nil
	}
	return v, nil
}

// Expression is e with what its values mean to what has the type to, as Of; where e is a literal in base 2
// or 16, or bytes, it is a number to a number.
func Expression(ctx *sql.Context, e sql.Expression, to sql.Type) sql.Expression {
	switch {
	case e == nil || !e.Resolved():
	case expr.IsEnum(e.Type(ctx)):
		if _, done := e.(*expr.EnumLabel); !done && expr.AssignedAsText(e.Type(ctx), to) {
			return expr.NewEnumLabel(e)
		}
	case types.IsText(to):
		return expr.Bytes(ctx, e)
	case types.IsNumber(to) && !types.IsYear(to):
		return expr.Digits(ctx, e, to)
	}
	return e
}

// Store is a value of the type from as what is called name, of the type to, holds it: with a warning if that
// is another value, or, in strict mode, an error instead.
func Store(ctx *sql.Context, to sql.Type, name string, v any, from sql.Type) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err == nil {
		v, err = Of(ctx, v, from, to)
	}
	if v == nil || err != nil || to == nil {
		return v, err
	}
	if b, ok := v.(bool); ok && types.IsNumber(to) {
		if v = int8(0); b {
			v = int8(1)
		}
	}
	col, strict := &sql.Column{Name: name, Type: to}, sql.LoadSqlMode(ctx).Strict()
	if types.IsTime(to) {
		if v, err = Date(ctx, col, v, 1, !strict); err != nil {
			return nil, err
		}
	}
	out, in, err := Held(ctx, to, v)
	if err == nil && in == sql.InRange {
		return out, nil
	}
	word, known := Unfit(col, v, in, err, 1)
	switch {
	case strict && types.ErrLengthBeyondLimit.Is(err):
		return nil, sqlerr.New(sqlerr.DataTooLong, "Data too long for column '%s' at row 1", name)
	case strict || !known:
		return nil, word
	}
	Warn(ctx, word)
	return Clipped(ctx, to, v, out)
}
