package expr

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/cast"
	"moka/sqlfront/moment"
)

// timeFunctions are functions of times that the library does not have.
func timeFunctions() (fs []sql.Function) {
	date := func(*sql.Context, []sql.Expression) sql.Type { return types.Date }
	for _, b := range []*builtin{
		{name: "makedate", min: 2, max: 2, typ: date, eval: makeDate},
		{name: "addtime", min: 2, max: 2, typ: shiftedType, eval: addTime},
		{name: "subtime", min: 2, max: 2, typ: shiftedType, eval: addTime},
	} {
		fs = append(fs, b.function())
	}
	return fs
}

// makeDate is MAKEDATE(year, day of the year).
func makeDate(ctx *sql.Context, _ *call, vs []any) (any, error) {
	year, err := cast.Characters(ctx, vs[0])
	if err != nil {
		return nil, err
	}
	day, err := cast.Characters(ctx, vs[1])
	if err != nil {
		return nil, err
	}
	switch {
	case year >= 0 && year < 70:
		year += 2000
	case year >= 70 && year < 100:
		year += 1900
	}
	if year < 0 || year > 9999 || day < 1 || day > 9999*366 {
		return nil, nil
	}
	d := time.Date(int(year), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(day-1))
	if d.Year() > 9999 {
		return nil, nil
	}
	return d, nil
}

// shiftedType is the type of what ADDTIME makes: of a time a time, of a moment a moment, of a text a text.
func shiftedType(ctx *sql.Context, args []sql.Expression) sql.Type {
	t := args[0].Type(ctx)
	switch {
	case IsSpan(t):
		return SpanOf(ctx, args...)
	case types.IsTime(t):
		_, digits := temporalOf(ctx, args[0])
		by := 6
		if l, ok := args[1].(*expression.Literal); ok {
			_, fraction, _ := strings.Cut(fmt.Sprint(l.Value()), ".")
			by = min(6, len(fraction))
		}
		return types.MustCreateDatetimeType(sqltypes.Datetime, max(digits, by))
	}
	return types.CreateLongText(ctx.GetCollation())
}

// AddTime is ADDTIME(moment, by).
func AddTime(moment, by sql.Expression) sql.Expression {
	return &call{&builtin{name: "addtime", typ: shiftedType, eval: addTime}, []sql.Expression{moment, by}}
}

// addTime is ADDTIME and SUBTIME.
func addTime(ctx *sql.Context, c *call, vs []any) (any, error) {
	by, err := types.Time.ConvertToTimespan(spanText(vs[1]))
	if err != nil {
		return nil, nil // as MySQL, with what is no time
	}
	if s, ok := vs[1].(string); ok && strings.Contains(strings.TrimPrefix(s, "-"), "-") {
		return nil, nil // a date
	}
	if c.name == "subtime" {
		by = -by
	}
	shift := time.Duration(by) * time.Microsecond
	t := c.args[0].Type(ctx)
	text, isText := vs[0].(string)
	if when, ok := vs[0].(time.Time); ok {
		return when.Add(shift), nil
	}
	if isText && strings.Contains(strings.TrimPrefix(text, "-"), "-") {
		v, _, err := types.DatetimeMaxPrecision.Convert(ctx, text)
		when, ok := v.(time.Time)
		if err != nil || !ok {
			return nil, nil
		}
		layout := "2006-01-02 15:04:05"
		if when = when.Add(shift); when.Nanosecond() != 0 {
			layout += ".000000"
		}
		return when.Format(layout), nil
	}
	span, err := types.Time.ConvertToTimespan(spanText(vs[0]))
	if err != nil {
		return nil, nil
	}
	span = max(-maxSpan, min(maxSpan, span+by))
	if IsSpan(t) {
		return span, nil
	}
	return span.String(), nil
}

// maxSpan is the end of TIME, 838:59:59.
const maxSpan = types.Timespan((838*3600 + 59*60 + 59) * 1_000_000)

// spanText makes days of a time hours.
func spanText(v any) any {
	if s, ok := v.(string); ok {
		return moment.Time(s)
	}
	return v
}

// week is WEEK(d, mode). The library's numbers the days of two years' weeks as if the mode were
// one that counts from 0.
func week(ctx *sql.Context, c *call, vs []any) (any, error) {
	if vs[0] == nil {
		return nil, nil
	}
	mode := int64(0)
	if len(vs) == 2 && vs[1] != nil {
		var err error
		if mode, err = cast.Characters(ctx, vs[1]); err != nil {
			return nil, err
		}
	}
	const fromOne = 2
	bound := function.NewWeek
	if mode&fromOne != 0 {
		bound = function.NewYearWeek
	}
	f, err := bound(ctx, expression.NewLiteral(vs[0], c.args[0].Type(ctx)),
		expression.NewLiteral(mode&7, types.Int64))
	if err != nil {
		return nil, err
	}
	v, err := f.Eval(ctx, nil)
	if n, ok := v.(int32); ok && err == nil {
		return int64(n % 100), nil
	}
	return v, err
}
