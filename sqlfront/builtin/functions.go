package builtin

import (
	"context"
	"crypto/aes"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/cast"
	"moka/sqlfront/sqlerr"
)

// Of makes a function of one value, which is converted to a type before; NULL makes NULL.
func Of(
	name string, typ, takes sql.Type, arg sql.Expression,
	compute func(ctx *sql.Context, args []any) (any, error),
) sql.Expression {
	return &computed{
		NaryExpression: expression.NaryExpression{ChildExpressions: []sql.Expression{arg}},
		name:           name, typ: typ, takes: []sql.Type{takes}, compute: compute,
	}
}

// computed is a function of values. NULL makes NULL; compute gets what the arguments are when the types in
// takes have converted them.
type computed struct {
	expression.NaryExpression
	name    string
	typ     sql.Type
	takes   []sql.Type
	compute func(ctx *sql.Context, args []any) (any, error)
}

var _ sql.FunctionExpression = (*computed)(nil)

// FunctionName implements sql.FunctionExpression.
func (c *computed) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *computed) Description() string { return "is MySQL's function of that name." }

// Type implements sql.Expression.
func (c *computed) Type(*sql.Context) sql.Type { return c.typ }

// IsNullable implements sql.Expression.
func (c *computed) IsNullable(*sql.Context) bool { return true }

// String implements sql.Expression.
func (c *computed) String() string {
	text := c.name + "("
	for i, a := range c.ChildExpressions {
		if i > 0 {
			text += ","
		}
		text += a.String()
	}
	return text + ")"
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *computed) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *computed) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(c.ChildExpressions) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.ChildExpressions))
	}
	again := *c
	again.ChildExpressions = children
	return &again, nil
}

// Eval implements sql.Expression.
func (c *computed) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := make([]any, len(c.ChildExpressions))
	for i, e := range c.ChildExpressions {
		v, err := e.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		if v, _, err = c.takes[i].Convert(ctx, v); err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
			ctx.Warn(sqlerr.TruncatedWrongValue, "%s", err.Error())
			return nil, nil
		}
		if args[i], err = sql.UnwrapAny(ctx, v); err != nil || args[i] == nil {
			return nil, err
		}
	}
	return c.compute(ctx, args)
}

// computedFunctions are by name; the parser has lower case.
var computedFunctions = map[string]computed{
	"maketime": {
		typ: types.Time, takes: []sql.Type{types.Int64, types.Int64, types.Float64}, compute: makeTime,
	},
	"sec_to_time": {typ: types.Time, takes: []sql.Type{types.Float64}, compute: secToTime},
	"time_format": {typ: types.LongText, takes: []sql.Type{types.Time, types.LongText}, compute: timeFormat},
	"to_seconds":  {typ: types.Int64, takes: []sql.Type{types.DatetimeMaxPrecision}, compute: toSeconds},
	"datediff": {
		typ: types.Int64, takes: []sql.Type{types.DatetimeMaxPrecision, types.DatetimeMaxPrecision},
		compute: dateDiff,
	},
	"inet_ntoa":   {typ: types.LongText, takes: []sql.Type{types.Int64}, compute: inetNtoa},
	"inet_aton":   {typ: types.Uint32, takes: []sql.Type{types.LongText}, compute: inetAton},
	"uncompress":  {typ: types.LongBlob, takes: []sql.Type{types.LongBlob}, compute: uncompress},
	"from_base64": {typ: types.LongBlob, takes: []sql.Type{types.LongText}, compute: fromBase64},
	"period_add":  {typ: types.Int64, takes: []sql.Type{types.Int64, types.Int64}, compute: periodAdd},
	"period_diff": {typ: types.Int64, takes: []sql.Type{types.Int64, types.Int64}, compute: periodDiff},
	"substring_index": {
		typ: types.LongText, takes: []sql.Type{types.LongText, types.LongText, types.Int64},
		compute: substringIndex,
	},
	"aes_encrypt": {
		typ: types.LongBlob, takes: []sql.Type{types.LongBlob, types.LongBlob}, compute: aesEncrypt,
	},
	"aes_decrypt": {
		typ: types.LongBlob, takes: []sql.Type{types.LongBlob, types.LongBlob}, compute: aesDecrypt,
	},
}

// Names are the names of the functions of values.
func Names() []string { return slices.Sorted(maps.Keys(computedFunctions)) }

// Function returns the function of a name, in lower case.
func Function(name string) (sql.Function, bool) {
	switch name {
	case "utc_timestamp", "utc_date", "utc_time":
		now := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			return utcNow(ctx, name, args)
		}
		return sql.FunctionN{Name: name, Fn: now}, true
	case "benchmark":
		return sql.Function2{Name: name, Fn: func(_ *sql.Context, n, e sql.Expression) sql.Expression {
			return &benchmark{expression.BinaryExpressionStub{LeftChild: n, RightChild: e}}
		}}, true
	}
	if f, ok := numberFunction(name); ok {
		return f, true
	}
	if f, ok := byteFunction(name); ok {
		return f, true
	}
	if name == "time_format" {
		return sql.Function2{Name: name, Fn: func(ctx *sql.Context, at, format sql.Expression,
		) sql.Expression {
			if t := resolvedType(ctx, at); t != nil && types.IsText(t) { // maybe with a date
				at = cast.NewTime(at, 6)
			}
			e := computedFunctions[name]
			e.name, e.ChildExpressions = name, []sql.Expression{at, format}
			return &e
		}}, true
	}
	if name == "from_days" {
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
			return function.NewFromDays(ctx, Of(name, types.Int64, types.Int64, e, dayOfDate))
		}}, true
	}
	if dateParts[name] {
		return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression,
			error) {
			return newDatePart(ctx, name, args)
		}}, true
	}
	c, ok := computedFunctions[name]
	if !ok {
		return nil, false
	}
	call := func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != len(c.takes) {
			return nil, sql.ErrInvalidArgumentNumber.New(name, strconv.Itoa(len(c.takes)), len(args))
		}
		e := c
		e.name, e.ChildExpressions = name, args
		return &e, nil
	}
	return sql.FunctionN{Name: name, Fn: call}, true
}

// maxTime is the end of TIME, 838:59:59, in microseconds.
const maxTime = (838*3600 + 59*60 + 59) * 1_000_000

func timespan(micros float64) any {
	return types.Timespan(math.Round(max(-maxTime, min(maxTime, micros))))
}

func makeTime(_ *sql.Context, args []any) (any, error) {
	h, m, s := args[0].(int64), args[1].(int64), args[2].(float64)
	if m < 0 || m > 59 || s < 0 || s >= 60 {
		return nil, nil
	}
	micros := float64(m*60)*1e6 + s*1e6
	if h = max(-900, min(900, h)); h < 0 {
		return timespan(float64(h)*3600e6 - micros), nil
	}
	return timespan(float64(h)*3600e6 + micros), nil
}

func secToTime(_ *sql.Context, args []any) (any, error) {
	return timespan(args[0].(float64) * 1e6), nil
}

// daysBeforeEpoch is TO_DAYS('1970-01-01').
const daysBeforeEpoch = 719528

func toSeconds(_ *sql.Context, args []any) (any, error) {
	return args[0].(time.Time).Unix() + daysBeforeEpoch*secondsADay, nil
}

const secondsADay = 24 * 60 * 60

// dayOfDate is the number of a day that there may be, or 0, whose date is '0000-00-00'.
func dayOfDate(_ *sql.Context, args []any) (any, error) {
	const last = 3652424 // 9999-12-31
	n := args[0].(int64)
	if n < 0 || n > last {
		n = 0
	}
	return n, nil
}

// months reads a period, YYYYMM or YYMM.
func months(period int64) (int64, error) {
	year, month := period/100, period%100
	if period <= 0 || month < 1 || month > 12 {
		return 0, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to PERIOD_ADD or PERIOD_DIFF")
	}
	switch {
	case year < 70:
		year += 2000
	case year < 100:
		year += 1900
	}
	return year*12 + month - 1, nil
}

func periodAdd(_ *sql.Context, args []any) (any, error) {
	m, err := months(args[0].(int64))
	if err != nil {
		return nil, err
	}
	m = int64(uint32(m) + uint32(args[1].(int64))) // MySQL's integers have 32 bits here
	return m/12*100 + m%12 + 1, nil
}

func periodDiff(_ *sql.Context, args []any) (any, error) {
	a, err := months(args[0].(int64))
	if err != nil {
		return nil, err
	}
	b, err := months(args[1].(int64))
	return a - b, err
}

// aesKey folds a key into the 16 bytes of aes-128-ecb, the default of block_encryption_mode.
func aesKey(key []byte) []byte {
	folded := make([]byte, 16)
	for i, b := range key {
		folded[i%16] ^= b
	}
	return folded
}

func aesEncrypt(_ *sql.Context, args []any) (any, error) {
	block, err := aes.NewCipher(aesKey(args[1].([]byte)))
	if err != nil {
		return nil, err
	}
	text := args[0].([]byte)
	pad := 16 - len(text)%16
	out := make([]byte, len(text)+pad)
	copy(out, text)
	for i := len(text); i < len(out); i++ {
		out[i] = byte(pad)
	}
	for i := 0; i < len(out); i += 16 {
		block.Encrypt(out[i:i+16], out[i:i+16])
	}
	return out, nil
}

func aesDecrypt(_ *sql.Context, args []any) (any, error) {
	block, err := aes.NewCipher(aesKey(args[1].([]byte)))
	if err != nil {
		return nil, err
	}
	text := args[0].([]byte)
	if len(text) == 0 || len(text)%16 != 0 {
		return nil, nil
	}
	out := make([]byte, len(text))
	for i := 0; i < len(out); i += 16 {
		block.Decrypt(out[i:i+16], text[i:i+16])
	}
	pad := int(out[len(out)-1])
	if pad < 1 || pad > 16 {
		return nil, nil
	}
	for _, b := range out[len(out)-pad:] {
		if int(b) != pad {
			return nil, nil
		}
	}
	return out[:len(out)-pad], nil
}

// benchmark is BENCHMARK(n, e): e as often as asked, and 0.
type benchmark struct {
	expression.BinaryExpressionStub
}

// String implements sql.Expression.
func (b *benchmark) String() string {
	return "benchmark(" + b.LeftChild.String() + "," + b.RightChild.String() + ")"
}

// Type implements sql.Expression.
func (b *benchmark) Type(*sql.Context) sql.Type { return types.Int64 }

// IsNonDeterministic implements sql.NonDeterministicExpression: it is not to be evaluated beforehand.
func (b *benchmark) IsNonDeterministic() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (b *benchmark) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (b *benchmark) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 2)
	}
	return &benchmark{expression.BinaryExpressionStub{LeftChild: children[0], RightChild: children[1]}}, nil
}

// Eval implements sql.Expression.
func (b *benchmark) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.LeftChild.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, _, err = types.Int64.Convert(ctx, v); err != nil || v.(int64) < 0 {
		return nil, nil
	}
	for n := v.(int64); n > 0; n-- {
		if ctx.Err() != nil { // each time: who knows how long the expression takes
			return nil, context.Cause(ctx)
		}
		if _, err := b.RightChild.Eval(ctx, row); err != nil {
			return nil, err
		}
	}
	return int64(0), nil
}

// utcNow is UTC_TIMESTAMP, UTC_DATE and UTC_TIME, of the time when the statement began.
func utcNow(ctx *sql.Context, name string, args []sql.Expression) (sql.Expression, error) {
	digits := int64(0)
	if len(args) > 1 || name == "utc_date" && len(args) > 0 {
		return nil, sql.ErrInvalidArgumentNumber.New(name, "0 or 1", len(args))
	}
	if len(args) == 1 {
		v, err := args[0].Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		n, _, err := types.Int64.Convert(ctx, v)
		if err != nil || n == nil || n.(int64) < 0 || n.(int64) > 6 {
			return nil, sqlerr.New(sqlerr.TooBigPrecision,
				"Too-big precision %v specified for '%s'. Maximum is 6.", v, name)
		}
		digits = n.(int64)
	}
	c := &computed{name: name, takes: []sql.Type{types.Int64}}
	c.typ = types.MustCreateDatetimeType(sqltypes.Datetime, int(digits))
	c.ChildExpressions = args
	c.compute = func(ctx *sql.Context, _ []any) (any, error) {
		now := CutFraction(ctx.QueryTime().UTC().UnixMicro(), int(digits))
		switch name {
		case "utc_date":
			return now.Truncate(secondsADay * time.Second), nil
		case "utc_time":
			return types.Timespan(now.Sub(now.Truncate(secondsADay * time.Second)).Microseconds()), nil
		}
		return now, nil
	}
	switch name {
	case "utc_date":
		c.typ = types.Date
	case "utc_time":
		c.typ = types.Time
	}
	return c, nil
}

// CutFraction is a moment with so many digits behind the seconds.
func CutFraction(micros int64, digits int) time.Time {
	unit := int64(math.Pow10(6 - digits))
	return time.UnixMicro(micros - ((micros%unit)+unit)%unit).UTC()
}

// NewCurrentTime is CURTIME(digits). The library's has no digits, and loses itself when its argument is
// looked at.
func NewCurrentTime(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	switch len(args) {
	case 0:
		return function.NewCurrTime(ctx)
	case 1:
	default:
		return nil, sql.ErrInvalidArgumentNumber.New("CURTIME", "0 or 1", len(args))
	}
	l, ok := args[0].(*expression.Literal)
	if !ok || !types.IsInteger(l.Type(ctx)) {
		return nil, sqlerr.New(sqlerr.WrongArguments, "Incorrect arguments to CURTIME")
	}
	n, _, err := types.Int64.Convert(ctx, l.Value())
	if digits, ok := n.(int64); err != nil || !ok || digits < 0 || digits > 6 {
		return nil, sqlerr.New(sqlerr.TooBigPrecision,
			"Too-big precision %v specified for 'curtime'. Maximum is 6.", l.Value())
	}
	now, err := function.NewNow(ctx, l)
	if err != nil {
		return nil, err
	}
	return function.NewTime(ctx, now), nil
}
