package rowenc

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
)

// RowDecoder decodes some of a row's columns. It is immutable and safe for concurrent use.
type RowDecoder struct {
	width  int
	wanted []wanted // by ascending id
}

type wanted struct {
	id      uint32
	kind    kind
	slots   []int // where the value goes; a projection may name a column twice
	first   int
	typ     sql.Type
	missing any
	zone    *Zone
}

// Project returns a decoder whose rows have the columns at the given positions, in that order. nil means all
// columns; an empty slice that is not nil means none (COUNT(*) asks for that).
func (c *RowCodec) Project(ordinals []int) *RowDecoder {
	if ordinals == nil {
		ordinals = make([]int, len(c.columns))
		for i := range ordinals {
			ordinals[i] = i
		}
	}
	d := &RowDecoder{width: len(ordinals)}
	for _, i := range c.byID {
		w := wanted{id: c.columns[i].ID, kind: c.kinds[i], typ: c.columns[i].Type,
			missing: c.columns[i].Default, zone: c.columns[i].Zone, first: -1}
		for slot, o := range ordinals {
			if o != i {
				continue
			}
			if w.first < 0 {
				w.first = slot
			} else {
				w.slots = append(w.slots, slot)
			}
		}
		if w.first >= 0 {
			d.wanted = append(d.wanted, w)
		}
	}
	return d
}

// Decode returns all columns of a stored row. See RowDecoder.Decode.
func (c *RowCodec) Decode(data []byte) (sql.Row, error) { return c.all.Decode(data) }

// Decode returns a fresh row, of which length and capacity are equal (the engine appends to rows that it was
// given and keeps them). The row's strings share memory with data, which must not change any more: hand over
// what a scanner or Get returned, not a buffer. Binary strings are copied.
func (d *RowDecoder) Decode(data []byte) (sql.Row, error) {
	row := make(sql.Row, d.width)
	return row, d.DecodeInto(row, data)
}

// DecodeInto is Decode into a row of the caller's.
func (d *RowDecoder) DecodeInto(row sql.Row, data []byte) error {
	if len(data) == 0 {
		return corrupt("empty row")
	}
	if data[0] != rowVersion {
		return ErrVersion
	}
	data = data[1:]
	next := 0
	var id uint64
	for next < len(d.wanted) && len(data) > 0 {
		head, n := uvarint(data)
		if n <= 0 || head>>3 == 0 {
			return corrupt("field header")
		}
		data = data[n:]
		if id += head >> 3; id > math.MaxUint32 {
			return corrupt("column id")
		}
		for next < len(d.wanted) && uint64(d.wanted[next].id) < id {
			d.wanted[next].set(row, d.wanted[next].missing)
			next++
		}
		size, body, err := payload(data, head&7)
		if err != nil {
			return err
		}
		if next < len(d.wanted) && uint64(d.wanted[next].id) == id {
			v, err := decodeField(d.wanted[next].kind, head&7, body)
			if err != nil {
				return err
			}
			if z := d.wanted[next].zone; z != nil {
				if t, ok := v.(time.Time); ok {
					v = z.Local(t.UnixMicro())
				}
			}
			d.wanted[next].set(row, v)
			next++
		}
		data = data[size:]
	}
	for ; next < len(d.wanted); next++ {
		d.wanted[next].set(row, d.wanted[next].missing)
	}
	return nil
}

func (w *wanted) set(row sql.Row, v any) {
	row[w.first] = v
	for _, s := range w.slots {
		row[s] = v
	}
}

// DecodeValue reads what AppendValue wrote.
func DecodeValue(t sql.Type, data []byte) (any, error) {
	c, err := NewRowCodec([]Column{{ID: 1, Type: t}})
	if err != nil {
		return nil, err
	}
	row, err := c.Decode(slices.Clone(data))
	if err != nil {
		return nil, err
	}
	return row[0], nil
}

// uvarint is binary.Uvarint with the one-byte case, which is nearly every header, in line.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// payload measures a field: size is what to skip, body what to decode (for forms with a length, without it).
func payload(b []byte, form uint64) (size int, body []byte, err error) {
	switch form {
	case formNull:
		return 0, nil, nil
	case formNumber:
		_, n := uvarint(b)
		if n <= 0 {
			return 0, nil, corrupt("number")
		}
		return n, b[:n], nil
	case formFloat:
		size = 4
	case formDouble:
		size = 8
	case formDecimal:
		_, n := uvarint(b)
		if n <= 0 {
			return 0, nil, corrupt("decimal exponent")
		}
		_, m := uvarint(b[n:])
		if m <= 0 {
			return 0, nil, corrupt("decimal coefficient")
		}
		return n + m, b[:n+m], nil
	case formBytes, formBigDecimal:
		length, n := uvarint(b)
		if n <= 0 || length > uint64(len(b)-n) {
			return 0, nil, corrupt("length")
		}
		end := n + int(length)
		return end, b[n:end:end], nil
	default:
		return 0, nil, corrupt("unknown form")
	}
	if len(b) < size {
		return 0, nil, corrupt("row ends early")
	}
	return size, b[:size], nil
}

func decodeField(k kind, form uint64, b []byte) (any, error) {
	switch form {
	case formNull:
		return nil, nil
	case formNumber:
		u, _ := uvarint(b)
		switch k {
		case kindUint64, kindBits:
			return u, nil
		case kindUint8, kindUint16, kindUint32, kindEnum:
			if u <= math.MaxUint32 {
				if v, ok := number(k, int64(u)); ok {
					return v, nil
				}
			}
			return nil, corrupt("number does not fit its column")
		}
		if v, ok := number(k, int64(u>>1)^-int64(u&1)); ok {
			return v, nil
		}
		return nil, corrupt("number does not fit its column")
	case formFloat:
		if k == kindFloat32 {
			return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
		}
	case formDouble:
		if k == kindFloat64 {
			return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
		}
	case formBytes:
		switch k {
		case kindText:
			return unsafe.String(unsafe.SliceData(b), len(b)), nil
		case kindBytes, kindVector:
			return append(make([]byte, 0, len(b)), b...), nil
		case kindJSON:
			return jsonDocument(append(make([]byte, 0, len(b)), b...))
		case kindGeometry:
			return geometry(b)
		}
	case formDecimal, formBigDecimal:
		if k == kindDecimal {
			return decodeDecimalField(form, b)
		}
	}
	return nil, corrupt("field has another type's form")
}

func decodeDecimalField(form uint64, b []byte) (any, error) {
	exponent, n := binary.Varint(b)
	if n <= 0 || exponent > math.MaxInt32 || exponent < math.MinInt32 {
		return nil, corrupt("decimal exponent")
	}
	d := &apd.Decimal{Exponent: int32(exponent)}
	b = b[n:]
	if form == formDecimal {
		v, _ := binary.Varint(b)
		if v < 0 {
			d.Negative = true
			d.Coeff.SetUint64(-uint64(v))
		} else {
			d.Coeff.SetUint64(uint64(v))
		}
		return d, nil
	}
	if len(b) == 0 || b[0] > 1 {
		return nil, corrupt("decimal sign")
	}
	d.Negative = b[0] == 1
	d.Coeff.SetBytes(b[1:])
	return d, nil
}
