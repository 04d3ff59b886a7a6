package builtin

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
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
			return f.format(ctx, v, row)
		}
	case string:
		if !strings.HasPrefix(v, "0000-00-00") || strings.Trim(v[10:], " 0:.") != "" {
			return f.format(ctx, v, row)
		}
	default:
		return f.format(ctx, v, row)
	}
	format, err := f.RightChild.Eval(ctx, row)
	text, ok := format.(string)
	if !ok || err != nil {
		return nil, err
	}
	return formatZero(text)
}

// format has what the library's format lacks: %y has two digits, %X and %x four, and what is no letter of
// the format stands for itself.
func (f *dateFormat) format(ctx *sql.Context, date any, row sql.Row) (any, error) {
	format, err := f.RightChild.Eval(ctx, row)
	text, ok := format.(string)
	if err != nil || !ok || !strings.ContainsAny(text, "%") {
		return f.DateFormat.Eval(ctx, row)
	}
	var b strings.Builder
	years := map[byte]string{}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '%':
			b.WriteByte(text[i])
			continue
		case i+1 == len(text):
			b.WriteString("%%")
			continue
		}
		i++
		switch c := text[i]; {
		case c == 'y' || c == 'X' || c == 'x':
			if years[c] == "" {
				part, err := f.part(ctx, date, "%"+string(c))
				if part == nil || err != nil {
					return nil, err
				}
				width := map[byte]int{'y': 2, 'X': 4, 'x': 4}[c]
				years[c] = strings.Repeat("0", max(0, width-len(part.(string)))) + part.(string)
			}
			b.WriteString(years[c])
		case c == '%':
			b.WriteString("%%")
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			b.WriteString("%" + string(c))
		default:
			b.WriteByte(c)
		}
	}
	return f.part(ctx, date, b.String())
}

func (f *dateFormat) part(ctx *sql.Context, date any, format string) (any, error) {
	return function.NewDateFormat(ctx, expression.NewLiteral(date, f.LeftChild.Type(ctx)),
		expression.NewLiteral(format, types.LongText)).Eval(ctx, nil)
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
