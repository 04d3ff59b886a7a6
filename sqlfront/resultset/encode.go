package resultset

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/charset"
	"moka/sqlfront/moment"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/numeral"
)

// form is how the values of a column are encoded that have the Go type that the column's type implies.
type form uint8

const (
	formOther form = iota // by the engine's text
	formInteger
	formDouble
	formText  // bytes as they are
	formBytes // the same, in []byte only
	formDate
	formDatetime
	formTimespan
)

type column struct {
	f    *querypb.Field
	t    sql.Type
	form form

	min    int64 // of an integer
	max    uint64
	width  int           // of an integer in the binary protocol
	unit   time.Duration // of a time
	digits int
	codec  *charset.Codec // of texts
}

func newColumn(ctx *sql.Context, f *querypb.Field, t sql.Type, codec *charset.Codec) column {
	c := column{f: f, t: t, width: widths[f.Type]}
	if codec != nil && isText(f) {
		c.codec = codec
		return c
	}
	switch t := t.(type) {
	case types.NumberTypeImpl_:
		if r, ok := ranges[t.Type()]; ok {
			c.form, c.min, c.max = formInteger, r.min, r.max
		} else if f.Type == sqltypes.Float64 && t.Type() == sqltypes.Float64 && f.Decimals == floatDecimals {
			c.form = formDouble
		}
	case sql.StringType:
		switch {
		case types.IsBinaryType(t):
			if f.Type == sqltypes.Blob || f.Type == sqltypes.VarBinary {
				c.form = formBytes
			}
		case passes(ctx, t):
			c.form = formText
		}
	case sql.DatetimeType:
		switch t.Type() {
		case sqltypes.Date:
			c.form = formDate
		case sqltypes.Datetime, sqltypes.Timestamp:
			c.form, c.digits = formDatetime, t.Precision()
			c.unit = time.Second
			for range c.digits {
				c.unit /= 10
			}
		}
	case types.TimespanType_, moment.TimeType:
		c.form, c.digits = formTimespan, int(f.Decimals)
	}
	return c
}

// passes reports whether the engine would put texts into the packet as they are.
func passes(ctx *sql.Context, t sql.StringType) bool {
	results := ctx.GetCharacterSetResults()
	if results == sql.CharacterSet_Unspecified || results == sql.CharacterSet_binary {
		results = t.CharacterSet()
	}
	return results == sql.CharacterSet_utf8mb4 || results == sql.CharacterSet_binary
}

// ranges are those of the integers, and widths how long they are in the binary protocol.
var ranges = map[querypb.Type]struct {
	min int64
	max uint64
}{
	sqltypes.Int8: {math.MinInt8, math.MaxInt8}, sqltypes.Int16: {math.MinInt16, math.MaxInt16},
	sqltypes.Int24: {-1 << 23, 1<<23 - 1},
	sqltypes.Int32: {math.MinInt32, math.MaxInt32}, sqltypes.Int64: {math.MinInt64, math.MaxInt64},
	sqltypes.Uint8: {0, math.MaxUint8}, sqltypes.Uint16: {0, math.MaxUint16}, sqltypes.Uint24: {0, 1<<24 - 1},
	sqltypes.Uint32: {0, math.MaxUint32}, sqltypes.Uint64: {0, math.MaxUint64},
}

var widths = map[querypb.Type]int{
	sqltypes.Int8: 1, sqltypes.Uint8: 1, sqltypes.Int16: 2, sqltypes.Uint16: 2, sqltypes.Year: 2,
	sqltypes.Int24: 4, sqltypes.Uint24: 4,
	sqltypes.Int32: 4, sqltypes.Uint32: 4, sqltypes.Int64: 8, sqltypes.Uint64: 8,
}

// integer is a value as 64 bits, if it is an integer that the column's type holds.
func (c *column) integer(v any) (n uint64, negative, ok bool) {
	signed := func(x int64) (uint64, bool, bool) {
		if x < 0 {
			return uint64(x), true, x >= c.min
		}
		return uint64(x), false, uint64(x) <= c.max
	}
	switch x := v.(type) {
	case int64:
		return signed(x)
	case int32:
		return signed(int64(x))
	case int16:
		return signed(int64(x))
	case int8:
		return signed(int64(x))
	case uint64:
		return x, false, x <= c.max
	case uint32:
		return uint64(x), false, uint64(x) <= c.max
	case uint16:
		return uint64(x), false, uint64(x) <= c.max
	case uint8:
		return uint64(x), false, uint64(x) <= c.max
	}
	return 0, false, false
}

// moment is a time as the column shows it, if it is one about whose text there is no doubt.
func (c *column) moment(v any) (t time.Time, ok bool) {
	t, ok = v.(time.Time)
	if !ok {
		return t, false
	}
	t = t.UTC()
	if c.form == formDatetime {
		t = t.Round(c.unit)
		ok = c.f.Type != sqltypes.Timestamp || t.Year() > 1970 && t.Year() < 2038
	} else {
		ok = t.Truncate(24 * time.Hour).Equal(t)
	}
	return t, ok && t.Year() >= 1000 && t.Year() <= 9999
}

// Encoder writes rows of a result. What it keeps is used for each row again.
type Encoder struct {
	Head *Head
	// Widen is asked before a row takes so many bytes, if it has a long value. Nil: nobody is.
	Widen   func(bytes int) error
	scratch []byte
}

// longValue is how long a value is that is asked for.
const longValue = 64 << 10

// appendLong appends a long value with its length. The value is there already, and while the packet grows
// what it had before is there twice.
func appendLong[T string | []byte](e *Encoder, b []byte, s T) ([]byte, error) {
	if e.Widen != nil {
		if err := e.Widen(2 * (len(b) + len(s))); err != nil {
			return b, err
		}
	}
	return mysqlproto.AppendString(slices.Grow(b, len(s)+9), s), nil
}

func appendValue[T string | []byte](e *Encoder, b []byte, s T) ([]byte, error) {
	if len(s) >= longValue {
		return appendLong(e, b, s)
	}
	return mysqlproto.AppendString(b, s), nil
}

// text is what the engine makes of a value.
func (e *Encoder) text(ctx *sql.Context, c *column, v any) (raw []byte, null bool, err error) {
	if w, ok := v.(Worded); ok {
		return w, false, nil
	}
	val, err := c.t.SQL(ctx, e.scratch[:0], v)
	if err != nil {
		return nil, false, err
	}
	raw = val.Raw()
	if cap(raw) > cap(e.scratch) && cap(raw) <= maxScratch {
		e.scratch = make([]byte, 0, cap(raw)) // not raw itself, which may be the value
	}
	return raw, val.IsNull(), nil
}

// maxScratch bounds what is kept between rows.
const maxScratch = 4 << 10

// Worded is a value whose text is known, in a column of any type.
type Worded []byte

// Text appends a row of the text protocol.
func (e *Encoder) Text(ctx *sql.Context, b []byte, row sql.Row) ([]byte, error) {
	for i := range e.Head.columns {
		c, v := &e.Head.columns[i], row[i]
		if v == nil {
			b = append(b, mysqlproto.HeaderNull)
			continue
		}
		at := len(b)
		switch c.form {
		case formInteger:
			if n, negative, ok := c.integer(v); ok {
				b = append(b, 0)
				if negative {
					b = strconv.AppendInt(b, int64(n), 10)
				} else {
					b = strconv.AppendUint(b, n, 10)
				}
				b[at] = byte(len(b) - at - 1)
				continue
			}
		case formDouble:
			if f, ok := v.(float64); ok {
				b = numeral.AppendDouble(append(b, 0), f)
				b[at] = byte(len(b) - at - 1)
				continue
			}
		case formText:
			if s, ok := v.(string); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
			if s, ok := v.([]byte); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
		case formBytes:
			if s, ok := v.([]byte); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
		case formDate, formDatetime:
			if t, ok := c.moment(v); ok {
				b = c.appendMoment(append(b, 0), t)
				b[at] = byte(len(b) - at - 1)
				continue
			}
		case formTimespan:
			if t, ok := v.(types.Timespan); ok && c.digits == 0 {
				e.scratch = t.AppendBytes(e.scratch[:0])
				b = mysqlproto.AppendString(b, mended(c.f, e.scratch))
				continue
			}
		}
		raw, null, err := e.text(ctx, c, v)
		if err != nil {
			return b, err
		}
		if null {
			b = append(b, mysqlproto.HeaderNull)
			continue
		}
		if b, err = appendValue(e, b, c.encoded(mended(c.f, raw))); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (c *column) encoded(text []byte) []byte {
	if c.codec != nil {
		return c.codec.Encode(text)
	}
	return text
}

func (c *column) appendMoment(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	b = strconv.AppendInt(b, int64(year), 10)
	b = two(append(b, '-'), int(month))
	b = two(append(b, '-'), day)
	if c.form == formDate {
		return b
	}
	hour, minute, second := t.Clock()
	b = two(append(b, ' '), hour)
	b = two(append(b, ':'), minute)
	b = two(append(b, ':'), second)
	if c.digits > 0 {
		b = append(b, '.')
		fraction := t.Nanosecond() / 1000
		for i, unit := 0, 100000; i < c.digits; i, unit = i+1, unit/10 {
			b = append(b, '0'+byte(fraction/unit%10))
		}
	}
	return b
}

func two(b []byte, n int) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }

// Binary appends a row of the binary protocol.
func (e *Encoder) Binary(ctx *sql.Context, b []byte, row sql.Row) ([]byte, error) {
	at := len(b)
	b = mysqlproto.AppendNulls(b, len(e.Head.columns))
	for i := range e.Head.columns {
		c, v := &e.Head.columns[i], row[i]
		if v == nil {
			mysqlproto.SetNull(b[at:], i)
			continue
		}
		switch c.form {
		case formInteger:
			if n, _, ok := c.integer(v); ok {
				b = appendInteger(b, n, c.width)
				continue
			}
		case formDouble:
			if f, ok := v.(float64); ok {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
				continue
			}
		case formText:
			if s, ok := v.(string); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
			if s, ok := v.([]byte); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
		case formBytes:
			if s, ok := v.([]byte); ok {
				var err error
				if b, err = appendValue(e, b, s); err != nil {
					return b, err
				}
				continue
			}
		case formDate, formDatetime:
			if t, ok := c.moment(v); ok {
				year, month, day := t.Date()
				hour, minute, second := t.Clock()
				b = mysqlproto.AppendDatetime(b, uint16(year), byte(month), byte(day), byte(hour),
					byte(minute), byte(second), uint32(t.Nanosecond()/1000))
				continue
			}
		}
		raw, null, err := e.text(ctx, c, v)
		if err != nil {
			return b, err
		}
		if null {
			mysqlproto.SetNull(b[at:], i)
			continue
		}
		if b, err = e.appendBinary(c, b, raw); err != nil {
			return b, err
		}
	}
	return b, nil
}

// appendBinary appends a value of the binary protocol by its text.
func (e *Encoder) appendBinary(c *column, b, raw []byte) ([]byte, error) {
	wrong := func(err error) ([]byte, error) {
		return b, fmt.Errorf("the value %q of column %s is not of its type: %w", raw[:min(len(raw), 64)],
			c.f.Name, err)
	}
	switch t := c.f.Type; {
	case c.width > 0 && sqltypes.IsUnsigned(t) && t != sqltypes.Year:
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil {
			return wrong(err)
		}
		return appendInteger(b, n, c.width), nil
	case c.width > 0:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return wrong(err)
		}
		return appendInteger(b, uint64(n), c.width), nil
	case t == sqltypes.Float32:
		f, err := strconv.ParseFloat(string(raw), 32)
		if err != nil {
			return wrong(err)
		}
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(f))), nil
	case t == sqltypes.Float64:
		f, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return wrong(err)
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(f)), nil
	case t == sqltypes.Date || t == sqltypes.Datetime || t == sqltypes.Timestamp:
		return c.binaryDate(b, dateText(t, raw))
	case t == sqltypes.Time:
		return c.binaryTime(b, raw)
	case t == sqltypes.Decimal:
		return mysqlproto.AppendString(b, decimalText(raw, int(c.f.Decimals))), nil
	}
	return appendValue(e, b, c.encoded(raw))
}

func appendInteger(b []byte, n uint64, width int) []byte {
	switch width {
	case 1:
		return append(b, byte(n))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(n))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return binary.LittleEndian.AppendUint64(b, n)
}

// binaryDate appends a date by its text: YYYY-MM-DD, perhaps hh:mm:ss, perhaps a fraction.
func (c *column) binaryDate(b, text []byte) ([]byte, error) {
	var f [7]uint32 // the last is microseconds
	fields, digits := 0, 0
	for i, x := range text {
		switch {
		case x >= '0' && x <= '9':
			if fields < 6 || digits < 6 {
				f[fields] = f[fields]*10 + uint32(x-'0')
				digits++
			}
		case fields < 6 && i > 0:
			fields, digits = fields+1, 0
		default:
			return b, fmt.Errorf("%q in column %s is no date", text[:min(len(text), 64)], c.f.Name)
		}
	}
	for ; fields == 6 && digits < 6; digits++ {
		f[6] *= 10
	}
	return mysqlproto.AppendDatetime(b, uint16(f[0]), byte(f[1]), byte(f[2]), byte(f[3]), byte(f[4]),
		byte(f[5]), f[6]), nil
}

// binaryTime appends a time by its text: perhaps a minus, hh:mm:ss, perhaps a fraction.
func (c *column) binaryTime(b, text []byte) ([]byte, error) {
	negative := len(text) > 0 && text[0] == '-'
	rest := text
	if negative {
		rest = text[1:]
	}
	var f [4]uint32 // the last is microseconds
	fields, digits := 0, 0
	for _, x := range rest {
		switch {
		case x >= '0' && x <= '9':
			if fields < 3 || digits < 6 {
				f[fields] = f[fields]*10 + uint32(x-'0')
				digits++
			}
		case fields < 3 && x == "::."[fields]:
			fields, digits = fields+1, 0
		default:
			return b, fmt.Errorf("%q in column %s is no time", text[:min(len(text), 64)], c.f.Name)
		}
	}
	for ; fields == 3 && digits < 6; digits++ {
		f[3] *= 10
	}
	return mysqlproto.AppendTime(b, negative, f[0], byte(f[1]), byte(f[2]), f[3]), nil
}
