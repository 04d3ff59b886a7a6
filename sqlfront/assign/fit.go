package assign

import (
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/moment"
	"moka/sqlfront/numeral"
	"moka/sqlfront/sqlerr"
)

// Unfit words what is wrong with a value in the way of MySQL; known is false if that is not a question of the
// value's fitting in.
func Unfit(col *sql.Column, v any, in sql.ConvertInRange, err error, at uint64) (word error, known bool) {
	number := types.IsNumber(col.Type)
	if bytes, ok := v.([]byte); ok {
		v = string(bytes)
	}
	switch text, _ := v.(string); {
	case expr.IsSpan(col.Type):
		return incorrect(sqlerr.TruncatedWrongValue, timeWord(col.Type), v, col, at), true
	case in != sql.InRange && types.IsBit(col.Type):
		return sqlerr.New(sqlerr.DataTooLong, "Data too long for column '%s' at row %d", col.Name, at), true
	case err == nil && in != sql.InRange, types.ErrConvertToDecimalLimit.Is(err),
		sql.ErrValueOutOfRange.Is(err):
		return sqlerr.New(sqlerr.OutOfRange, "Out of range value for column '%s' at row %d", col.Name,
			at), true
	case types.ErrLengthBeyondLimit.Is(err), types.IsEnum(col.Type), types.IsSet(col.Type),
		number && startsWithNumber(text):
		return sqlerr.New(sqlerr.DataTruncated, "Data truncated for column '%s' at row %d", col.Name,
			at), true
	case number:
		return incorrect(sqlerr.WrongValueForField, numberWord(col.Type), v, col, at), true
	case types.IsTime(col.Type):
		return incorrect(sqlerr.TruncatedWrongValue, timeWord(col.Type), v, col, at), true
	case sql.ErrNotMatchingSRID.Is(err):
		err = sql.ErrNotMatchingSRIDWithColName.New(col.Name, err)
	case err == nil:
		err = sql.ErrInvalidValue.New(v, col.Type.String())
	}
	return err, false
}

func incorrect(code int, kind string, v any, col *sql.Column, at uint64) error {
	return sqlerr.New(code, "Incorrect %s value: '%v' for column '%s' at row %d", kind, v, col.Name, at)
}

func numberWord(t sql.Type) string {
	switch {
	case types.IsDecimal(t):
		return "decimal"
	case types.IsFloat(t):
		return "double"
	}
	return "integer"
}

func timeWord(t sql.Type) string {
	word, _, _ := strings.Cut(t.String(), "(")
	if word == "timestamp" {
		return "datetime"
	}
	return word
}

// startsWithNumber reports whether a text has a number at its beginning and something else behind it.
func startsWithNumber(s string) bool {
	s = strings.TrimLeft(s, " \t\n\r")
	s = strings.TrimLeft(s, "+-")
	s = strings.TrimPrefix(s, ".")
	return len(s) > 0 && s[0] >= '0' && s[0] <= '9'
}

// Clipped is what the value becomes where that is no error. out is what the conversion made of it so far.
func Clipped(ctx *sql.Context, typ sql.Type, v, out any) (any, error) {
	if t, ok := typ.(sql.StringType); ok {
		text, err := written(ctx, typ, v)
		if err != nil {
			return nil, err
		}
		switch v := text.(type) {
		case string:
			if types.IsTextOnly(typ) {
				r := []rune(v)
				v = string(r[:min(int64(len(r)), t.MaxCharacterLength())])
			}
			v = v[:min(int64(len(v)), t.MaxByteLength())]
			if types.IsTextOnly(typ) {
				v = strings.ToValidUTF8(v, "")
			}
			out = v
		case []byte:
			out = v[:min(int64(len(v)), t.MaxByteLength())]
		}
	}
	if text, ok := v.(string); ok && types.IsSet(typ) {
		out = members(ctx, typ, text)
	}
	if out == nil || types.IsTime(typ) { // what is no date is none, whatever could be read of it
		out = typ.Zero()
	}
	out, _, err := typ.Convert(ctx, out)
	return out, err
}

// written is a value as the text, or the bytes, that a column of the type has of it. What is no text, number
// or time, as a geometry, stays.
func written(ctx *sql.Context, typ sql.Type, v any) (any, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case []byte:
		if types.IsTextOnly(typ) {
			return string(x), nil
		}
		return x, nil
	case float64:
		return string(numeral.AppendDouble(nil, x)), nil
	case float32:
		return string(numeral.AppendFloat(nil, float64(x), 32)), nil
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
		*apd.Decimal, time.Time, types.Timespan:
		text, _, err := types.LongText.Convert(ctx, v)
		return text, err
	}
	return v, nil
}

// members leaves those in a list that are of a SET.
func members(ctx *sql.Context, typ sql.Type, list string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(list, ","), func(m string) bool {
		_, _, err := typ.Convert(ctx, m)
		return err != nil
	}), ",")
}

// Warn makes a warning of an error.
func Warn(ctx *sql.Context, err error) {
	ctx.Warn(sqlerr.Code(err), "%s", sqlerr.Final(err, sqlerr.Statement{}).Message)
}

// Blank reports whether a value for a column of numbers is a text of nothing, which the library takes for 0.
func Blank(t sql.Type, v any) bool {
	if _, text := v.(string); !text || !types.IsNumber(t) || types.IsBit(t) {
		return false
	}
	return strings.TrimSpace(v.(string)) == ""
}

// Foreign reports whether the library's own conversion of a value to the type is not that of MySQL: of what
// is no integer to a number, of what is no TIME to one, and of numbers with a fraction to ENUM and SET.
func Foreign(t sql.Type, v any) bool {
	switch v := v.(type) {
	case nil, types.Timespan:
		return false
	case bool, float32, float64, *apd.Decimal:
		return types.IsNumber(t) || expr.IsSpan(t) || expr.IsEnum(t)
	case string:
		return types.IsNumber(t) || expr.IsSpan(t) || types.IsEnum(t) && strings.HasSuffix(v, " ")
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return types.IsBit(t) || types.IsYear(t) || expr.IsSpan(t)
	}
	return types.IsNumber(t) || expr.IsSpan(t)
}

// Fit is a value as the column can hold it, with a warning if that is another one.
func Fit(ctx *sql.Context, col *sql.Column, v any, at uint64) (any, error) {
	out, in, err := Held(ctx, col.Type, v)
	if err == nil && in == sql.InRange {
		if Foreign(col.Type, v) {
			return out, nil
		}
		return v, nil
	}
	word, known := Unfit(col, v, in, err, at)
	if !known {
		return v, nil // the library says what is wrong
	}
	Warn(ctx, word)
	return Clipped(ctx, col.Type, v, out)
}

// Ready is a value as UPDATE assigns it to a column: what does not fit is an error in strict mode, and
// without it the nearest value, of which others have warned. What is not known to be wrong stays as it is.
func Ready(ctx *sql.Context, col *sql.Column, v any) (any, error) {
	if types.IsTime(col.Type) {
		return Date(ctx, col, v, 1, false)
	}
	out, in, err := expr.Held(ctx, col.Type, v)
	strict := sql.LoadSqlMode(ctx).Strict()
	if strict && Blank(col.Type, v) {
		err = sql.ErrTruncatedIncorrect.New("", v)
	}
	if err == nil && in == sql.InRange {
		return out, nil
	}
	word, known := Unfit(col, v, in, err, 1)
	switch {
	case strict && known:
		return nil, word
	case err != nil && !known || out == nil:
		return v, nil // the assignment meets it, too, and knows how to word it
	}
	return out, nil
}

// Held is a value as a column of the type holds it; a text of nothing is no number.
func Held(ctx *sql.Context, t sql.Type, v any) (any, sql.ConvertInRange, error) {
	out, in, err := expr.Held(ctx, t, v)
	if Blank(t, v) {
		err = sql.ErrTruncatedIncorrect.New("", v)
	}
	return out, in, err
}

// Date is a value for a column of dates, in a form that the library understands: it knows no numbers that are
// dates. NO_ZERO_DATE has its say here, NO_ZERO_IN_DATE need not: a date with a month and no day, or the
// other way round, is none in any mode.
func Date(ctx *sql.Context, col *sql.Column, v any, at uint64, lenient bool) (any, error) {
	v = expr.MomentText(eval.DateOfNumber(v))
	if text, ok := v.(string); ok { // the library knows neither '240105' nor '10:11:12', 2010-11-12
		if date, ok := moment.Date(text); ok {
			v = date
		}
	}
	out, in, err := col.Type.Convert(ctx, v)
	if err != nil || in != sql.InRange {
		if lenient {
			return v, nil // made to fit by who knows how
		}
		if word, known := Unfit(col, v, in, err, at); known {
			return nil, word
		}
		return v, nil
	}
	if t, ok := out.(time.Time); !ok || !t.Equal(types.ZeroTime) ||
		!sql.LoadSqlMode(ctx).ModeEnabled("NO_ZERO_DATE") {
		return v, nil
	}
	if !lenient {
		return nil, incorrect(sqlerr.TruncatedWrongValue, timeWord(col.Type), v, col, at)
	}
	ctx.Warn(sqlerr.OutOfRange, "Out of range value for column '%s' at row %d", col.Name, at)
	return v, nil
}
