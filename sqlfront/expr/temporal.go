package expr

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/cast"
	"moka/sqlfront/moment"
)

// The library's values of DATE and DATETIME are both a point in time, so that where a text or a number
// is made of them nobody knows any longer which it was: CONCAT(d) had a time of day, d + 0 too, and
// CAST(d AS SIGNED) was a Unix time. Temporal makes the text or the number by the expression's type,
// before the value loses it.

// Temporal is a DATE, DATETIME, TIMESTAMP or TIME as text or as number: '2020-01-02', 20200102;
// '10:11:12.5', 101112.5.
type Temporal struct {
	expression.UnaryExpressionStub
	kind   temporalKind
	digits int // of the fraction of a second; -1: as many as there are
	number bool
}

type temporalKind uint8

const (
	kindDate temporalKind = iota + 1
	kindDatetime
	kindTime
)

var (
	_ sql.Expression         = (*Temporal)(nil)
	_ sql.CollationCoercible = (*Temporal)(nil)
)

// IsTemporal reports whether an expression has a type of dates or times.
func IsTemporal(ctx *sql.Context, e sql.Expression) bool {
	kind, _ := temporalOf(ctx, e)
	return kind != 0
}

func temporalOf(ctx *sql.Context, e sql.Expression) (kind temporalKind, digits int) {
	switch e.(type) {
	case *expression.Interval, *Temporal, *expression.BindVar:
		return 0, 0
	}
	if !e.Resolved() {
		return 0, 0
	}
	known := false // how many digits there are
	switch e.(type) {
	case *expression.GetField, *temporalConstant:
		known = true
	}
	return temporalType(e.Type(ctx), known)
}

// temporalType is what values of a type are. Of a column or constant the type's digits are its own; of others
// six may mean that nobody knows.
func temporalType(t sql.Type, known bool) (kind temporalKind, digits int) {
	if t == nil || types.IsDeferredType(t) {
		return 0, 0
	}
	switch t.Type() {
	case sqltypes.Date:
		return kindDate, 0
	case sqltypes.Datetime, sqltypes.Timestamp:
		digits = -1
		if d, ok := t.(sql.DatetimeType); ok && (known || d.Precision() < 6) {
			digits = d.Precision()
		}
		return kindDatetime, digits
	case sqltypes.Time:
		digits = -1
		if p, ok := t.(interface{ Precision() int }); ok {
			digits = p.Precision()
		}
		return kindTime, digits
	}
	return 0, 0
}

// MomentOf is a value of the type from as the number or as the text that it is then; what has no type of
// dates or times stays.
func MomentOf(ctx *sql.Context, v any, from sql.Type, number bool) any {
	kind, digits := temporalType(from, false)
	if kind == 0 {
		return v
	}
	return (&Temporal{kind: kind, digits: digits, number: number}).of(ctx, from, v)
}

// AsText makes a text of a date or time; everything else stays.
func AsText(ctx *sql.Context, e sql.Expression) sql.Expression { return temporal(ctx, e, false) }

// AsNumber makes a number of a date or time, and of a hexadecimal literal; everything else stays.
func AsNumber(ctx *sql.Context, e sql.Expression) sql.Expression {
	if n := HexNumber(ctx, e); n != nil {
		return n
	}
	return temporal(ctx, e, true)
}

// Operand makes a number of what a function of numbers takes for one: of a date or time, of texts and bytes,
// which are the number that they begin with, and of a hexadecimal literal; everything else stays.
func Operand(ctx *sql.Context, e sql.Expression) sql.Expression {
	if isText(ctx, e) {
		return newNumber(ctx, e, types.Float64)
	}
	return AsNumber(ctx, e)
}

// Digits is AsNumber of what is stored as a number of the type: bytes are a text there, of which all has to
// be a number.
func Digits(ctx *sql.Context, e sql.Expression, to sql.Type) sql.Expression {
	if isBytes(ctx, e) {
		return newNumber(ctx, e, types.LongText)
	}
	if types.IsInteger(to) {
		return AsInteger(ctx, e)
	}
	return AsNumber(ctx, e)
}

// AsInteger is AsNumber of what becomes an integer: of a TIME or DATETIME, which is rounded to seconds before
// it is a number. 10:00:59.6 is 100100, and not 100060.
func AsInteger(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch kind, digits := temporalOf(ctx, e); {
	case digits == 0:
	case kind == kindTime:
		e = cast.NewSeconds(e, moment.TimeType{})
	case kind == kindDatetime:
		e = cast.NewSeconds(e, types.Datetime)
	}
	return AsNumber(ctx, e)
}

// Bytes is AsText of what is stored as a text or as bytes: a geometry is its bytes there. The library keeps
// it whatever the column is.
func Bytes(ctx *sql.Context, e sql.Expression) sql.Expression {
	if e.Resolved() && types.IsGeometry(e.Type(ctx)) {
		return newNumber(ctx, e, types.LongBlob)
	}
	return AsText(ctx, e)
}

// HexNumber is the number that a hexadecimal literal is beside numbers, and where a condition is asked for:
// its last eight bytes. It is nil of everything else. To the library it is bytes everywhere.
func HexNumber(ctx *sql.Context, e sql.Expression) sql.Expression {
	l, ok := e.(*expression.Literal)
	if !ok {
		return nil
	}
	bytes, ok := l.Value().([]byte)
	if !ok || l.Type(ctx) != types.LongBlob {
		return nil
	}
	n := uint64(0)
	for _, b := range bytes[max(0, len(bytes)-8):] {
		n = n<<8 | uint64(b)
	}
	return expression.NewLiteral(n, types.Uint64)
}

// hexNumbers are operands of a comparison of which hexadecimal literals are numbers where there are others.
func hexNumbers(ctx *sql.Context, operands []sql.Expression) (out []sql.Expression, changed bool) {
	number := func(e sql.Expression) bool { return e.Resolved() && types.IsNumber(e.Type(ctx)) }
	if !slices.ContainsFunc(operands, number) {
		return operands, false
	}
	out = slices.Clone(operands)
	for i, o := range operands {
		if n := HexNumber(ctx, o); n != nil {
			out[i], changed = n, true
		}
	}
	return out, changed
}

func temporal(ctx *sql.Context, e sql.Expression, number bool) sql.Expression {
	kind, digits := temporalOf(ctx, e)
	if kind == 0 {
		return e
	}
	return &Temporal{expression.UnaryExpressionStub{Child: e}, kind, digits, number}
}

// AsMoments makes texts of DATETIMEs, or of DATEs that are to look like them, all with as many digits.
func AsMoments(ctx *sql.Context, es ...sql.Expression) []sql.Expression {
	most := 0
	for _, e := range es {
		if _, digits := temporalOf(ctx, e); digits < 0 || digits > most {
			if most = digits; most < 0 {
				break
			}
		}
	}
	out := make([]sql.Expression, len(es))
	for i, e := range es {
		out[i] = &Temporal{expression.UnaryExpressionStub{Child: e}, kindDatetime, most, false}
	}
	return out
}

// String implements sql.Expression.
func (t *Temporal) String() string { return t.Child.String() }

// Type implements sql.Expression.
func (t *Temporal) Type(*sql.Context) sql.Type {
	switch {
	case !t.number:
		return types.LongText
	case t.kind == kindTime && t.digits < 0: // a DOUBLE has all digits of a time, and shows no others
		return types.Float64
	case t.kind == kindDate || t.digits <= 0:
		return types.Int64
	}
	return decimal(14+t.digits, t.digits)
}

// CollationCoercibility implements sql.CollationCoercible.
func (t *Temporal) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return ctx.GetCollation(), 4
}

// WithChildren implements sql.Expression.
func (t *Temporal) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(t, len(children), 1)
	}
	again := *t
	again.Child = children[0]
	return &again, nil
}

// Eval implements sql.Expression.
func (t *Temporal) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := t.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return t.of(ctx, t.Child.Type(ctx), v), nil
}

func (t *Temporal) of(ctx *sql.Context, from sql.Type, v any) any {
	if _, ok := v.(string); ok { // DATE() and others have a text under their type
		if c, _, err := from.Convert(ctx, v); err == nil && c != nil {
			v = c
		}
	}
	switch v := v.(type) {
	case time.Time:
		if t.number {
			return t.numberOf(false, dateNumber(v, t.kind == kindDate), v.Nanosecond()/1000)
		}
		return t.textOf(v)
	case types.Timespan:
		negative := v < 0
		if negative {
			v = -v
		}
		seconds := int64(v) / 1_000_000
		micros := int(int64(v) % 1_000_000)
		if t.number {
			return t.numberOf(negative, seconds/3600*10000+seconds/60%60*100+seconds%60, micros)
		}
		sign := ""
		if negative {
			sign = "-"
		}
		return fmt.Sprintf("%s%02d:%02d:%02d%s", sign, seconds/3600, seconds/60%60, seconds%60,
			t.fraction(micros))
	}
	return v // an expression whose value is not of its type: as before
}

func (t *Temporal) textOf(v time.Time) string {
	switch zero := v.Equal(types.ZeroTime); {
	case zero && t.kind == kindDate:
		return "0000-00-00"
	case t.kind == kindDate:
		return v.Format("2006-01-02")
	case zero:
		return "0000-00-00 00:00:00" + t.fraction(0)
	}
	return v.Format("2006-01-02 15:04:05") + t.fraction(v.Nanosecond()/1000)
}

func (t *Temporal) fraction(micros int) string {
	text := fmt.Sprintf(".%06d", micros)
	if t.digits < 0 {
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if t.digits == 0 {
		return ""
	}
	return text[:1+t.digits]
}

func dateNumber(v time.Time, date bool) int64 {
	if v.Equal(types.ZeroTime) {
		return 0
	}
	n := int64(v.Year())*10000 + int64(v.Month())*100 + int64(v.Day())
	if date {
		return n
	}
	return n*1_000_000 + int64(v.Hour())*10000 + int64(v.Minute())*100 + int64(v.Second())
}

func (t *Temporal) numberOf(negative bool, whole int64, micros int) any {
	if negative {
		whole, micros = -whole, -micros
	}
	if t.kind == kindTime && t.digits < 0 {
		return float64(whole) + float64(micros)/1e6
	}
	if t.digits <= 0 {
		return whole
	}
	scale := int64(1)
	for range t.digits {
		scale *= 10
	}
	d := &apd.Decimal{Exponent: -int32(t.digits), Negative: negative}
	// with 20 digits, more than an int64 has
	d.Coeff.Mul(apd.NewBigInt(max(whole, -whole)), apd.NewBigInt(scale))
	d.Coeff.Add(&d.Coeff, apd.NewBigInt(int64(max(micros, -micros))*scale/1_000_000))
	return d
}
