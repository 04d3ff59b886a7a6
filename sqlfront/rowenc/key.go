package rowenc

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// KeyPart is one column of a key.
type KeyPart struct {
	// Type is the column's type; a string type brings its collation along.
	Type sql.Type
	// PrefixLength limits the part to the first characters (bytes for binary strings) of the
	// value; zero means all of it.
	PrefixLength int
	// PadSpace is the form for strings of a collation that pads (see Pads): trailing spaces do not count.
	// Without it the part has the form of indexes that were made before there was one: they stay readable,
	// but their order is not that of the values, and a range of values is a wider span. Other types and
	// collations do not look at it.
	PadSpace bool
	// Zone is that of the rows, for TIMESTAMP columns; others do not look at it.
	Zone *Zone
}

// KeyCodec encodes the values of an index's columns so that bytes.Compare of two keys is the order of the
// values: sql.Type.Compare for each part in turn, NULL first. Every part is self-delimiting, so a key may
// be followed by other bytes (a secondary index appends the primary key) and the encoding of the first n
// parts is a prefix of the whole. No part begins with FF: a prefix followed by FF lies behind everything
// that continues the prefix.
//
//	┌─ one part ───────────────────────────────────────┐
//	│ 00                     NULL                      │
//	│ tag 01..DB, payload    anything else             │
//	└──────────────────────────────────────────────────┘
//
// Numbers: integers of every width, DECIMAL (the coefficient at the column's scale), DATE (days), DATETIME,
// TIMESTAMP and TIME (microseconds), YEAR, BIT, ENUM, SET.
//
//	┌─────────────┬────────────────────────────────────────────────────────────────────────┐
//	│ tag 40-n    │ v < 0:         -1-v in n = 1..28 bytes, big endian, every bit flipped   │
//	│ tag 40+v    │ 0 <= v < 80:   nothing follows                                          │
//	│ tag BF+n    │ v >= 80:       v in n = 1..28 bytes, big endian, no leading zero byte   │
//	└─────────────┴────────────────────────────────────────────────────────────────────────┘
//	A wider integer type has the same keys: INT -> BIGINT rewrites no index.
//
// FLOAT (4 bytes) and DOUBLE (8 bytes). -0 is +0. NaN, which no SQL statement can store, is all zero bits:
// after NULL, before -Inf.
//
//	┌────┬────────────────────────────────────────────────────────────────────────┐
//	│ 01 │ IEEE 754, big endian; positive: sign bit flipped, negative: all bits     │
//	└────┴────────────────────────────────────────────────────────────────────────┘
//
// Binary strings, and strings whose collation orders by code point.
//
//	┌────┬───────────────────────────────────────┬───────┐
//	│ 01 │ the bytes, each 00 written as 00 FF   │ 00 01 │
//	└────┴───────────────────────────────────────┴───────┘
//
// Strings of all other collations. They cannot be decoded; the row holds the original.
//
//	┌────┬───────────────────────────────────────┬────┐
//	│ 01 │ one weight w for each character       │ 00 │
//	└────┴───────────────────────────────────────┴────┘
//	w <      0:  01, w in 4 bytes (two's complement)
//	w <     BE:  02 + w
//	w <   20BE:  w -   BE in 2 bytes, C0 added to the first
//	w < 1C20BE:  w - 20BE in 3 bytes, E0 added to the first
//	otherwise:   FC, w in 4 bytes
//
// Strings of a collation that pads: as if spaces without end followed. Weights (or bytes) are written as
// above but for that of the space, s, which is followed by a byte that says what it stands before. Spaces at
// the end are not written. No part has the end 00 (01).
//
//	┌────┬───────────────────────────────────────┬───────┐
//	│ 01 │ one weight w for each character       │ s 02  │
//	└────┴───────────────────────────────────────┴───────┘
//	s 01: a space; the next character that is none is less than a space
//	s 02: nothing but spaces from here on
//	s 03: a space; the next character that is none is greater than a space
//	So a character less than a space sorts before "s 01", before the end, before "s 03", before a greater character.
//	In byte form 00 is not escaped.
type KeyCodec struct {
	parts []part
}

type part struct {
	typ      sql.Type
	kind     kind
	scale    int32    // of DECIMAL
	weigher  *weigher // nil: the bytes are the key
	prefix   int
	padSpace bool
	loose    bool // the collation pads, the part does not: values are not where their order says
	zone     *Zone
}

const (
	tagNull     = 0x00
	tagValue    = 0x01 // every kind but numbers
	tagNumber   = 0x40 // the number zero
	tagPositive = 0xBF
	tagAfter    = 0xFF // never begins a part

	maxNumberBytes = 28
)

// NewKeyCodec returns the codec for a key of the given columns. JSON, vector and geometry columns
// cannot be part of a key.
func NewKeyCodec(parts []KeyPart) (*KeyCodec, error) {
	c := &KeyCodec{parts: make([]part, len(parts))}
	for i, kp := range parts {
		k, ok := kindOf(kp.Type)
		if !ok || !k.keyed() {
			return nil, unsupported(kp.Type, "a key column")
		}
		p := part{typ: kp.Type, kind: k}
		switch k {
		case kindDecimal:
			p.scale = int32(kp.Type.(sql.DecimalType).Scale())
		case kindText:
			collation := kp.Type.(sql.StringType).Collation()
			if !byCodePoint(collation) {
				if p.weigher = newWeigher(collation); p.weigher == nil {
					return nil, unsupported(kp.Type, "a key column (its collation has no order)")
				}
			}
			pads := Pads(collation)
			p.prefix, p.padSpace, p.loose = kp.PrefixLength, pads && kp.PadSpace, pads && !kp.PadSpace
		case kindBytes:
			p.prefix = kp.PrefixLength
		case kindDatetime:
			if kp.Type.Type() == sqltypes.Timestamp {
				p.zone = kp.Zone
			}
		}
		c.parts[i] = p
	}
	return c, nil
}

// Len returns the number of parts.
func (c *KeyCodec) Len() int { return len(c.parts) }

// Encode appends the key of the values to dst. Fewer values than parts make a key prefix. A time of day that
// is two instants, or none, in the key's zone has no key (ErrValue).
func (c *KeyCodec) Encode(ctx context.Context, dst []byte, values ...any) ([]byte, error) {
	if len(values) > len(c.parts) {
		return nil, fmt.Errorf("%w: %d values for a key of %d columns", ErrValue, len(values), len(c.parts))
	}
	var err error
	for i, v := range values {
		if t, ok := v.(time.Time); ok && c.parts[i].zone != nil {
			if _, ok := c.parts[i].zone.Only(t); !ok {
				return nil, badValue(c.parts[i].typ, v)
			}
		}
		if dst, err = c.parts[i].encode(ctx, dst, v); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// EncodeRow appends the key of row[ordinals[0]], row[ordinals[1]] … to dst.
func (c *KeyCodec) EncodeRow(ctx context.Context, dst []byte, row sql.Row, ordinals []int) ([]byte, error) {
	if len(ordinals) > len(c.parts) {
		return nil, fmt.Errorf("%w: %d values for a key of %d columns", ErrValue, len(ordinals), len(c.parts))
	}
	var err error
	for i, o := range ordinals {
		if dst, err = c.parts[i].encode(ctx, dst, row[o]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func (p *part) encode(ctx context.Context, dst []byte, v any) ([]byte, error) {
	dst, pos, err := p.append(ctx, dst, v)
	if err == nil && pos != posExact && p.kind == kindDecimal {
		// a row's value is at the column's scale; anything else would be stored as a different number
		return nil, badValue(p.typ, v)
	}
	if err == nil && (pos == posBelowAll || pos == posAboveAll) {
		return nil, badValue(p.typ, v)
	}
	return dst, err
}

// position says where a value lies with respect to the key that append wrote for it.
type position uint8

const (
	posExact position = iota // the key is the value's
	// behind the key and before the next possible one (a decimal with more digits than the column)
	posBetween
	posPrefix   // the key is that of a prefix of the value
	posBelowAll // before all values of the type; nothing was written
	posAboveAll // behind all values of the type; nothing was written
)

func (p *part) append(ctx context.Context, dst []byte, v any) ([]byte, position, error) {
	if v == nil {
		return append(dst, tagNull), posExact, nil
	}
	if out, pos, ok := p.appendCanonical(dst, v); ok {
		return out, pos, nil
	}
	cv, in, err := canonical(ctx, p.typ, v)
	switch {
	case in == sql.Overflow:
		return dst, posAboveAll, nil
	case in == sql.Underflow:
		return dst, posBelowAll, nil
	case err != nil:
		return nil, 0, err
	case cv == nil:
		return append(dst, tagNull), posExact, nil
	}
	if out, pos, ok := p.appendCanonical(dst, cv); ok {
		return out, pos, nil
	}
	return nil, 0, badValue(p.typ, v)
}

// appendCanonical handles the Go types that need no conversion; ok is false for all others.
func (p *part) appendCanonical(dst []byte, v any) (out []byte, pos position, ok bool) {
	switch p.kind {
	case kindFloat32:
		if x, ok := v.(float32); ok {
			return appendFloat32(dst, x), posExact, true
		}
	case kindFloat64:
		switch x := v.(type) {
		case float64:
			return appendFloat64(dst, x), posExact, true
		case float32:
			return appendFloat64(dst, float64(x)), posExact, true
		}
	case kindDecimal:
		if x, ok := v.(*apd.Decimal); ok {
			return appendDecimal(dst, x, p.scale)
		}
	case kindDate:
		if x, ok := v.(time.Time); ok {
			days, exact := daysOf(x)
			return appendInt(dst, days), between(exact), true
		}
	case kindDatetime:
		if x, ok := v.(time.Time); ok {
			micros, exact := microsOf(x)
			if p.zone != nil {
				micros, _ = p.zone.Instant(x)
			}
			return appendInt(dst, micros), between(exact), true
		}
	case kindTime:
		if x, ok := v.(types.Timespan); ok {
			return appendInt(dst, int64(x)), posExact, true
		}
	case kindYear:
		if x, ok := v.(int16); ok {
			return appendInt(dst, int64(x)), posExact, true
		}
	case kindText:
		if x, ok := v.(string); ok {
			out, pos = p.appendText(dst, x)
			return out, pos, true
		}
	case kindBytes:
		if x, ok := v.([]byte); ok {
			if p.prefix > 0 && len(x) > p.prefix {
				return appendEscaped(dst, x[:p.prefix]), posPrefix, true
			}
			return appendEscaped(dst, x), posExact, true
		}
	default: // integers: every Go integer has its place, whatever the column's width
		if x, ok := Int64(v); ok {
			return appendInt(dst, x), posExact, true
		}
		switch x := v.(type) {
		case uint64:
			return appendUint(dst, x), posExact, true
		case uint:
			return appendUint(dst, uint64(x)), posExact, true
		}
	}
	return nil, 0, false
}

func between(exact bool) position {
	if exact {
		return posExact
	}
	return posBetween
}

func (p *part) appendText(dst []byte, s string) ([]byte, position) {
	pos := posExact
	if p.prefix > 0 {
		if head := firstRunes(s, p.prefix); len(head) < len(s) {
			s, pos = head, posPrefix
		}
	}
	if p.padSpace {
		dst = append(dst, tagValue)
		if p.weigher != nil {
			return p.weigher.appendPadded(dst, s), pos
		}
		return appendPadded(dst, s), pos
	}
	if p.weigher != nil {
		return p.weigher.append(append(dst, tagValue), s), pos
	}
	return appendEscaped(dst, s), pos
}

// appendInt and appendUint write the number form.
func appendInt(dst []byte, v int64) []byte {
	if v >= 0 {
		return appendUint(dst, uint64(v))
	}
	u := uint64(-1 - v)
	n := max(1, (bits.Len64(u)+7)/8)
	dst = append(dst, byte(tagNumber-n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, ^byte(u>>(8*i)))
	}
	return dst
}

func appendUint(dst []byte, u uint64) []byte {
	if u < 0x80 {
		return append(dst, tagNumber+byte(u))
	}
	n := (bits.Len64(u) + 7) / 8
	dst = append(dst, byte(tagPositive+n))
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(u>>(8*i)))
	}
	return dst
}

func appendDecimal(dst []byte, d *apd.Decimal, scale int32) ([]byte, position, bool) {
	c, negative, exact, ok := coefficient(d, scale)
	if !ok {
		return nil, 0, false
	}
	if c.IsUint64() {
		u := c.Uint64()
		if !negative {
			return appendUint(dst, u), between(exact), true
		}
		if u <= math.MaxInt64 {
			return appendInt(dst, -int64(u)), between(exact), true
		}
	}
	if negative {
		c = new(apd.BigInt).Sub(c, apd.NewBigInt(1))
	}
	n := max(1, (c.BitLen()+7)/8)
	if n > maxNumberBytes {
		return nil, 0, false
	}
	if negative {
		dst = append(dst, byte(tagNumber-n))
	} else {
		dst = append(dst, byte(tagPositive+n))
	}
	var buf [maxNumberBytes]byte
	body := c.MathBigInt().FillBytes(buf[:n])
	if negative {
		for i := range body {
			body[i] = ^body[i]
		}
	}
	return append(dst, body...), between(exact), true
}

func appendFloat32(dst []byte, f float32) []byte {
	b := math.Float32bits(f)
	switch {
	case f != f:
		b = 0
	case f == 0:
		b = 1 << 31
	case b>>31 == 0:
		b |= 1 << 31
	default:
		b = ^b
	}
	return binary.BigEndian.AppendUint32(append(dst, tagValue), b)
}

func appendFloat64(dst []byte, f float64) []byte {
	b := math.Float64bits(f)
	switch {
	case f != f:
		b = 0
	case f == 0:
		b = 1 << 63
	case b>>63 == 0:
		b |= 1 << 63
	default:
		b = ^b
	}
	return binary.BigEndian.AppendUint64(append(dst, tagValue), b)
}

const (
	escape      = 0x00
	escapedZero = 0xFF
	escapedEnd  = 0x01
)

func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, tagValue)
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] == escape {
			dst = append(dst, s[from:i+1]...)
			dst = append(dst, escapedZero)
			from = i + 1
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, escape, escapedEnd)
}
