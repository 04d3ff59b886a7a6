package builtin

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// dateFormat is DATE_FORMAT, of 0000-00-00, too: the library's value of it is a day in the year -1.
type dateFormat struct{ *function.DateFormat }

var (
	_ sql.FunctionExpression = (*dateFormat)(nil)
	_ sql.CollationCoercible = (*dateFormat)(nil)
)

func newDateFormat(ctx *sql.Context, date, format sql.Expression) sql.Expression {
	return &dateFormat{function.NewDateFormat(ctx, date, format).(*function.DateFormat)}
}

// WithChildren implements sql.Expression.
func (f *dateFormat) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(ch), 2)
	}
	return newDateFormat(ctx, ch[0], ch[1]), nil
}

// Eval implements sql.Expression.
func (f *dateFormat) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.LeftChild.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case time.Time:
		if !v.Equal(types.ZeroTime) {
			return f.DateFormat.Eval(ctx, row)
		}
	case string:
		if !strings.HasPrefix(v, "0000-00-00") || strings.Trim(v[10:], " 0:.") != "" {
			return f.DateFormat.Eval(ctx, row)
		}
	default:
		return f.DateFormat.Eval(ctx, row)
	}
	format, err := f.RightChild.Eval(ctx, row)
	text, ok := format.(string)
	if !ok || err != nil {
		return nil, err
	}
	return formatZero(text)
}

// zeroParts are the letters of DATE_FORMAT for 0000-00-00 00:00:00. The others, which name a day of the week
// or a month, make NULL.
var zeroParts = map[byte]string{
	'Y': "0000", 'y': "00", 'm': "00", 'c': "0", 'd': "00", 'e': "0", 'D': "0th",
	'H': "00", 'k': "0", 'h': "12", 'I': "12", 'l': "12", 'i': "00", 's': "00", 'S': "00", 'f': "000000",
	'T': "00:00:00", 'r': "12:00:00 AM",
	'p': "AM", '%': "%",
}

func formatZero(format string) (any, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		part, ok := zeroParts[format[i]]
		switch {
		case ok:
			b.WriteString(part)
		case strings.IndexByte("abjMUuVvWwXx", format[i]) >= 0:
			return nil, nil
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String(), nil
}
