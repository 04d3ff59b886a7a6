package mysqlproto

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is what a parameter's value is, whatever type it was sent in.
type Kind byte

// Kinds.
const (
	KindNull Kind = iota
	KindInt
	KindFloat
	KindText  // in the client's character set
	KindBytes // of a type without a character set, or of a moment that there is not
	KindDecimal
	KindDate     // YYYY-MM-DD
	KindDatetime // YYYY-MM-DD HH:MM:SS, with six digits behind a point if they are not all zero
	KindTime     // the same of HH:MM:SS, with a sign, up to 838:59:59
)

// Param is a value that a client binds, as a text: that of a number, of a date, or the text itself.
type Param struct {
	Kind Kind
	Text string
}

// ParamType is how a parameter is sent.
type ParamType struct {
	Type     Type
	Unsigned bool
}

// Query is COM_QUERY.
type Query struct {
	Text       string
	Attributes []Attribute
}

// ParseQuery decodes COM_QUERY, without the command's byte. The attributes are there if both sides know them:
//
//	 1+…     1      (n+7)/8       1    n * (2 + …)       …        …
//	+-------+------+-------------+----+----------------+--------+------+
//	| n     | sets | NULL bitmap | 1  | types, names   | values | text |   sets, then text, if n is 0
//	+-------+------+-------------+----+----------------+--------+------+
func ParseQuery(b []byte, capabilities uint32) (Query, error) {
	c := cursor{b: b}
	if capabilities&ClientQueryAttributes == 0 {
		return Query{Text: string(b)}, nil
	}
	n := c.int()
	if sets := c.int(); sets != 1 {
		c.bad = true
	}
	q := Query{}
	if n > 0 {
		q.Attributes = c.queryAttributes(n)
	}
	q.Text = string(c.b)
	return q, c.err()
}

// queryAttributes are parameters that have names.
func (c *cursor) queryAttributes(n uint64) []Attribute {
	if n > MaxParams {
		c.bad = true
		return nil
	}
	nulls := c.take((n + 7) / 8)
	if c.byte() != 1 || c.bad {
		c.bad = true
		return nil
	}
	types, names := c.paramTypes(int(n), true)
	var all []Attribute
	for i := range types {
		if nulls[i/8]&(1<<(i%8)) != 0 {
			continue // as in MySQL: one that is NULL is one that is not there
		}
		p := c.param(types[i])
		all = append(all, Attribute{Name: names[i], Value: p.Text})
	}
	return all
}

// MaxParams is how many parameters a statement may have.
const MaxParams = 65535

func (c *cursor) paramTypes(n int, named bool) (types []ParamType, names []string) {
	if !named {
		b := c.take(2 * uint64(n))
		for i := range len(b) / 2 {
			types = append(types, ParamType{Type(b[2*i]), b[2*i+1]&0x80 != 0})
		}
		return types, nil
	}
	for range n {
		t := ParamType{Type: Type(c.byte())}
		t.Unsigned = c.byte()&0x80 != 0
		name := c.string()
		if c.bad {
			return nil, nil
		}
		types, names = append(types, t), append(names, name)
	}
	return types, names
}

// Flags of COM_STMT_EXECUTE.
const (
	CursorReadOnly          = 1
	ParameterCountAvailable = 8
)

// ErrArguments is of a COM_STMT_EXECUTE that is too short to have values at all.
var ErrArguments = errors.New("mysqlproto: no arguments")

// Execute is COM_STMT_EXECUTE.
type Execute struct {
	Statement  uint32
	Flags      byte
	Params     []Param
	Attributes []Attribute
	values     []byte // what follows the head
}

// ParseExecute decodes the head of COM_STMT_EXECUTE, without the command's byte. The values are decoded by
// Bind, when it is known how many there should be.
//
//	 4           1       4
//	+-----------+-------+-----------+--------+
//	| statement | flags | 1         | values |
//	+-----------+-------+-----------+--------+
func ParseExecute(b []byte) (Execute, error) {
	c := cursor{b: b}
	e := Execute{Statement: c.uint32(), Flags: c.byte()}
	c.uint32()
	e.values = c.b
	return e, c.err()
}

// Bind decodes the values of n parameters:
//
//	 1+…     (n+7)/8       1             n * 2 …  …
//	+-------+-------------+-------------+-------+--------+
//	| n     | NULL bitmap | types come  | types | values |   n comes with query attributes, which are
//	+-------+-------------+-------------+-------+--------+   parameters beyond the statement's, with names
//
// types are those of the last EXECUTE, for a client that does not send them again; long says which
// parameters were sent in pieces and have no value here. The types to be remembered are returned: those
// before if anything is wrong. params is used again.
func (e *Execute) Bind(n int, types []ParamType, long func(int) bool, capabilities uint32,
	params []Param) ([]ParamType, error) {
	c := cursor{b: e.values}
	named := capabilities&ClientQueryAttributes != 0
	all := uint64(n)
	if named && (n > 0 || e.Flags&ParameterCountAvailable != 0) {
		if all = c.int(); all < uint64(n) || all > MaxParams {
			return types, ErrMalformed
		}
	}
	e.Params = params[:0]
	if all == 0 {
		return types, c.err()
	}
	nulls, fresh := c.take((all+7)/8), c.byte()
	now, names := types, []string(nil)
	if fresh != 0 {
		now, names = c.paramTypes(int(all), named)
	}
	if c.bad || len(now) < n {
		return types, ErrArguments
	}
	for i := range min(len(now), int(all)) {
		null := nulls[i/8]&(1<<(i%8)) != 0
		switch {
		case i >= n && null:
		case i >= n:
			p := c.param(now[i])
			e.Attributes = append(e.Attributes, Attribute{Name: names[i], Value: p.Text})
		case long(i) || null:
			e.Params = append(e.Params, Param{})
		default:
			e.Params = append(e.Params, c.param(now[i]))
		}
		if c.bad {
			return types, ErrMalformed
		}
	}
	return now[:n], nil
}

// param is a value as it is sent in a type.
func (c *cursor) param(t ParamType) Param {
	integer := func(signed int64, unsigned uint64) Param {
		if t.Unsigned {
			return Param{KindInt, strconv.FormatUint(unsigned, 10)}
		}
		return Param{KindInt, strconv.FormatInt(signed, 10)}
	}
	switch t.Type {
	case TypeNull:
		return Param{}
	case TypeTiny:
		v := c.byte()
		return integer(int64(int8(v)), uint64(v))
	case TypeShort, TypeYear:
		v := c.uint16()
		return integer(int64(int16(v)), uint64(v))
	case TypeLong, TypeInt24:
		v := c.uint32()
		return integer(int64(int32(v)), uint64(v))
	case TypeLongLong:
		v := c.uint64()
		return integer(int64(v), v)
	case TypeFloat:
		return float(float64(math.Float32frombits(c.uint32())))
	case TypeDouble:
		return float(math.Float64frombits(c.uint64()))
	case TypeTimestamp, TypeDate, TypeDatetime, TypeTimestamp2, TypeDatetime2:
		return c.date(t.Type)
	case TypeTime, TypeTime2:
		return c.time()
	case TypeVarString, TypeString, TypeVarchar:
		return Param{KindText, c.string()}
	case TypeDecimal, TypeNewDecimal:
		return decimal(c.string())
	case TypeBlob, TypeTinyBlob, TypeMediumBlob, TypeLongBlob, TypeJSON, TypeBit,
		TypeEnum, TypeSet, TypeGeometry:
		return Param{KindBytes, c.string()}
	}
	c.bad = true
	return Param{}
}

// decimal is a DECIMAL. To what is no number, or has more digits than one has, MySQL makes a warning and a
// number of what it begins with, as of a text.
func decimal(text string) Param {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if n := len(whole) + len(fraction); n == 0 || n > 65 || len(fraction) > 30 ||
		strings.Trim(whole+fraction, "0123456789") != "" {
		return Param{KindBytes, text}
	}
	return Param{KindDecimal, text}
}

func float(v float64) Param {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Param{KindFloat, ""}
	}
	return Param{KindFloat, strconv.FormatFloat(v, 'g', -1, 64)}
}

// date is a date, with a time if there is one:
//
//	 1        2      1       1     1      1         1         4
//	+--------+------+-------+-----+------+---------+---------+--------------+
//	| length | year | month | day | hour | minutes | seconds | microseconds |   0, 4, 7 or 11 bytes
//	+--------+------+-------+-----+------+---------+---------+--------------+
//
// A DATE has no time, whatever its length. What is no day of a calendar stays a text: whether that is an
// error, a warning or a zero is for what it is converted to.
func (c *cursor) date(t Type) Param {
	n := c.byte()
	if n != 0 && n != 4 && n != 7 && n != 11 {
		c.bad = true
		return Param{}
	}
	var f [11]byte
	copy(f[:], c.take(uint64(n)))
	b := make([]byte, 0, 26)
	year, micros := uint64(f[0])|uint64(f[1])<<8, fraction(f[7:])
	b = padded(b, year, 4)
	b = padded(append(b, '-'), uint64(f[2]), 2)
	b = padded(append(b, '-'), uint64(f[3]), 2)
	kind := KindDate
	if t != TypeDate {
		kind = KindDatetime
		b = clock(append(b, ' '), uint64(f[4]), f[5], f[6], micros)
	}
	if !isDay(year, f[2], f[3]) || f[4] > 23 || f[5] > 59 || f[6] > 59 || micros > 999_999 {
		kind = KindBytes
	}
	return Param{kind, string(b)}
}

// isDay reports whether a calendar has the day, or it is the day of zeros.
func isDay(year uint64, month, day byte) bool {
	if year == 0 && month == 0 && day == 0 {
		return true
	}
	at := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	return year <= 9999 && at.Month() == time.Month(month) && at.Day() == int(day)
}

// time is a time:
//
//	 1        1            4      1       1         1         4
//	+--------+------------+------+-------+---------+---------+--------------+
//	| length | 1 negative | days | hours | minutes | seconds | microseconds |   0, 8 or 12 bytes
//	+--------+------------+------+-------+---------+---------+--------------+
//
// One beyond 838 hours is the last that there is, as in MySQL.
func (c *cursor) time() Param {
	n := c.byte()
	if n != 0 && n != 8 && n != 12 {
		c.bad = true
		return Param{}
	}
	var f [12]byte
	copy(f[:], c.take(uint64(n)))
	b := make([]byte, 0, 24)
	if f[0] == 1 {
		b = append(b, '-')
	}
	days := uint64(f[1]) | uint64(f[2])<<8 | uint64(f[3])<<16 | uint64(f[4])<<24
	hours, micros := days*24+uint64(f[5]), fraction(f[8:])
	switch {
	case hours > 838:
		b = clock(b, 838, 59, 59, 0)
	case f[6] > 59 || f[7] > 59 || micros > 999_999:
		return Param{KindBytes, string(clock(b, hours, f[6], f[7], micros))}
	default:
		b = clock(b, hours, f[6], f[7], micros)
	}
	return Param{KindTime, string(b)}
}

// clock appends a time of day; MySQL gives one without microseconds no digits for them.
func clock(b []byte, hours uint64, minutes, seconds byte, micros uint64) []byte {
	b = padded(b, hours, 2)
	b = padded(append(b, ':'), uint64(minutes), 2)
	b = padded(append(b, ':'), uint64(seconds), 2)
	if micros > 0 {
		b = padded(append(b, '.'), micros, 6)
	}
	return b
}

func fraction(f []byte) uint64 {
	return uint64(f[0]) | uint64(f[1])<<8 | uint64(f[2])<<16 | uint64(f[3])<<24
}

// padded appends a number with zeros before it.
func padded(b []byte, n uint64, width int) []byte {
	for limit := uint64(10); width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			for ; width > 1; width-- {
				b = append(b, '0')
			}
			break
		}
	}
	return strconv.AppendUint(b, n, 10)
}

// LongData is COM_STMT_SEND_LONG_DATA: a piece of a parameter.
type LongData struct {
	Statement uint32
	Param     uint16
	Piece     []byte // of the message itself
}

// ParseLongData decodes COM_STMT_SEND_LONG_DATA, without the command's byte.
func ParseLongData(b []byte) (LongData, error) {
	c := cursor{b: b}
	l := LongData{Statement: c.uint32(), Param: c.uint16()}
	l.Piece = c.b
	return l, c.err()
}

// ParseFetch decodes COM_STMT_FETCH, without the command's byte.
func ParseFetch(b []byte) (statement, rows uint32, err error) {
	c := cursor{b: b}
	statement, rows = c.uint32(), c.uint32()
	return statement, rows, c.err()
}

// ParseStatement decodes COM_STMT_CLOSE and COM_STMT_RESET, without the command's byte.
func ParseStatement(b []byte) (statement uint32, err error) {
	c := cursor{b: b}
	statement = c.uint32()
	return statement, c.err()
}

// ParseFieldList decodes COM_FIELD_LIST, without the command's byte: a table and what its columns are like.
func ParseFieldList(b []byte) (table, wildcard string, err error) {
	c := cursor{b: b}
	table = c.terminated()
	return table, string(c.b), c.err()
}
