package rowenc

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
)

// Fields are for code that looks into stored rows where they are stored, without a schema and without
// decoding them: a program that a scan takes along to the shards. It compares fields by their keys, which
// order and equal as the values do.

// FieldType is what such code has to know of a column's type. It travels:
//
//	┌────────┬───────────────────────┬────────────────────────┐
//	│ kind   │ uvarint scale         │ uvarint collation id   │
//	│ 1 byte │ of DECIMAL, otherwise │ of a string, otherwise │
//	│        │ 0                     │ 0                      │
//	└────────┴───────────────────────┴────────────────────────┘
//	kind: 1 + its place in the list of kinds, 40 (hexadecimal) for strings of a collation that pads; the collation's id is MySQL's
type FieldType struct {
	kind      kind
	scale     int32
	collation sql.CollationID
}

// FieldTypeOf returns the field type of a column's type; ok is false if its values have no keys.
func FieldTypeOf(t sql.Type) (f FieldType, ok bool) {
	k, ok := kindOf(t)
	if !ok || !k.keyed() {
		return f, false
	}
	f.kind = k
	switch k {
	case kindDecimal:
		f.scale = int32(t.(sql.DecimalType).Scale())
	case kindText:
		f.collation = t.(sql.StringType).Collation()
	}
	_, err := f.Keyer()
	return f, err == nil
}

// Number reports whether the field is an integer of a column of integers, so that its keys are sums of
// themselves.
func (f FieldType) Number() bool { return f.kind <= kindUint64 }

// Signed reports whether a number is stored with a sign.
func (f FieldType) Signed() bool { return f.kind <= kindInt64 }

// Decimal reports whether the field is a DECIMAL.
func (f FieldType) Decimal() bool { return f.kind == kindDecimal }

// AppendTo appends the wire form.
func (f FieldType) AppendTo(b []byte) []byte {
	if f.kind == kindText && Pads(f.collation) {
		// A kind of its own: a shard that compares spaces at the end must not take it for
		// something that it knows.
		b = append(b, wirePadded)
	} else {
		b = append(b, byte(f.kind)+1)
	}
	b = binary.AppendUvarint(b, uint64(f.scale))
	return binary.AppendUvarint(b, uint64(f.collation))
}

// ReadFieldType reads the wire form from the front of b.
func ReadFieldType(b []byte) (f FieldType, rest []byte, err error) {
	if len(b) == 0 || b[0] == 0 || b[0] > byte(kindGeometry)+1 && b[0] != wirePadded {
		return f, nil, corrupt("field type")
	}
	padded := b[0] == wirePadded
	if f.kind = kind(b[0] - 1); padded {
		f.kind = kindText
	}
	scale, n := binary.Uvarint(b[1:])
	if n <= 0 || scale > 64 {
		return f, nil, corrupt("scale of a field type")
	}
	b = b[1+n:]
	collation, n := binary.Uvarint(b)
	if n <= 0 || collation > math.MaxUint16 {
		return f, nil, corrupt("collation of a field type")
	}
	f.scale, f.collation = int32(scale), sql.CollationID(collation)
	if f.kind == kindText && padded != Pads(f.collation) {
		return f, nil, corrupt("padding of a field type")
	}
	return f, b[n:], nil
}

const wirePadded = 0x40

// Field is a column's value as it is in a stored row. It shares the row's memory.
type Field struct {
	form byte
	raw  []byte // with the length in front, for forms that have one
	body []byte
}

// Null reports whether the value is NULL.
func (f Field) Null() bool { return f.form == formNull }

// AppendTo appends the field to the value of a row, delta being the difference of its column's id to the one
// before.
func (f Field) AppendTo(b []byte, delta uint32) []byte {
	return append(binary.AppendUvarint(b, uint64(delta)<<3|uint64(f.form)), f.raw...)
}

// NewRow begins the value of a row, to which AppendTo adds fields.
func NewRow(dst []byte) []byte { return append(dst, rowVersion) }

// FieldReader finds fields in stored rows.
type FieldReader struct {
	ids     []uint32 // ascending
	slots   []int
	missing []Field
}

// NewFieldReader makes a reader of the columns with those ids. missing are the values of AppendValue that a
// row without the column reads as; nil is NULL.
func NewFieldReader(ids []uint32, missing [][]byte) (*FieldReader, error) {
	r := &FieldReader{slots: make([]int, len(ids)), missing: make([]Field, len(ids)),
		ids: make([]uint32, len(ids))}
	for i := range ids {
		r.slots[i] = i
	}
	slices.SortFunc(r.slots, func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	for i, s := range r.slots {
		r.ids[i] = ids[s]
		if ids[s] == 0 || i > 0 && r.ids[i-1] == r.ids[i] {
			return nil, corrupt("ids of fields")
		}
		if missing[s] != nil {
			f, err := fieldOf(missing[s])
			if err != nil {
				return nil, err
			}
			r.missing[i] = f
		}
	}
	return r, nil
}

func fieldOf(data []byte) (Field, error) {
	out := []Field{{}}
	r := FieldReader{ids: []uint32{1}, missing: []Field{{}}}
	err := r.read(data, out)
	return out[0], err
}

// Read finds the fields of a stored row and puts them into out, in the order of the ids that the reader was
// made with. They share data's memory.
func (r *FieldReader) Read(data []byte, out []Field) error {
	var found [16]Field
	fs := found[:0]
	if len(r.ids) > len(found) {
		fs = make([]Field, 0, len(r.ids))
	}
	fs = fs[:len(r.ids)]
	if err := r.read(data, fs); err != nil {
		return err
	}
	for i, s := range r.slots {
		out[s] = fs[i]
	}
	return nil
}

// read is Read in the order of ids.
func (r *FieldReader) read(data []byte, out []Field) error {
	if len(data) == 0 {
		return corrupt("empty row")
	}
	if data[0] != rowVersion {
		return ErrVersion
	}
	data = data[1:]
	next := 0
	var id uint64
	for next < len(r.ids) && len(data) > 0 {
		head, n := uvarint(data)
		if n <= 0 || head>>3 == 0 {
			return corrupt("field header")
		}
		data = data[n:]
		if id += head >> 3; id > math.MaxUint32 {
			return corrupt("column id")
		}
		for next < len(r.ids) && uint64(r.ids[next]) < id {
			out[next] = r.missing[next]
			next++
		}
		size, body, err := payload(data, head&7)
		if err != nil {
			return err
		}
		if next < len(r.ids) && uint64(r.ids[next]) == id {
			out[next] = Field{form: byte(head & 7), raw: data[:size], body: body}
			next++
		}
		data = data[size:]
	}
	for ; next < len(r.ids); next++ {
		out[next] = r.missing[next]
	}
	return nil
}

// Keyer makes keys of fields of one type.
type Keyer struct{ part }

// Keyer returns what makes keys of the type's fields; an error if this release does not know it.
func (f FieldType) Keyer() (*Keyer, error) {
	if !f.kind.keyed() {
		return nil, corrupt("field type without keys")
	}
	k := &Keyer{part{kind: f.kind, scale: f.scale}}
	if f.kind == kindText {
		k.padSpace = Pads(f.collation)
	}
	if f.kind == kindText && !byCodePoint(f.collation) {
		if k.weigher = weigherOf(f.collation); k.weigher == nil {
			return nil, corrupt("unknown collation, or one without an order")
		}
	}
	return k, nil
}

// weighers are kept, since programs are made anew for each request: sql.CollationID to *weigher.
var weighers sync.Map

var knownCollations = sync.OnceValue(func() map[sql.CollationID]bool {
	all := map[sql.CollationID]bool{}
	for it := sql.NewCollationsIterator(); ; {
		c, ok := it.Next()
		if !ok {
			return all
		}
		all[c.ID] = true
	}
})

// weigherOf returns the weights of a collation, nil if this release does not know it or it has no order.
func weigherOf(c sql.CollationID) *weigher {
	if w, ok := weighers.Load(c); ok {
		return w.(*weigher)
	}
	if !knownCollations()[c] { // the library indexes an array
		return nil
	}
	w := newWeigher(c)
	weighers.Store(c, w)
	return w
}

// Append appends the field's key, as KeyCodec writes it for the value: bytes.Compare of two keys is the order
// of the values, and NULL has the key 00.
func (k *Keyer) Append(dst []byte, f Field) ([]byte, error) {
	switch f.form {
	case formNull:
		return append(dst, tagNull), nil
	case formNumber:
		u, _ := uvarint(f.body)
		if k.unsigned() {
			return appendUint(dst, u), nil
		}
		return appendInt(dst, int64(u>>1)^-int64(u&1)), nil
	case formBytes:
		switch k.kind {
		case kindText:
			dst, _ = k.appendText(dst, unsafe.String(unsafe.SliceData(f.body), len(f.body)))
			return dst, nil
		case kindBytes:
			return appendEscaped(dst, f.body), nil
		}
	case formDecimal, formBigDecimal:
		if k.kind != kindDecimal {
			break
		}
		if f.form == formDecimal {
			if exponent, n := binary.Varint(f.body); n > 0 && exponent == -int64(k.scale) {
				c, _ := binary.Varint(f.body[n:])
				return appendInt(dst, c), nil
			}
		}
		v, err := decodeDecimalField(uint64(f.form), f.body)
		if err != nil {
			return nil, err
		}
		if out, pos, ok := appendDecimal(dst, v.(*apd.Decimal), k.scale); ok && pos == posExact {
			return out, nil
		}
	case formFloat, formDouble:
		v, err := decodeField(k.kind, uint64(f.form), f.body)
		if err != nil {
			return nil, err
		}
		if out, _, ok := k.appendCanonical(dst, v); ok {
			return out, nil
		}
	}
	return nil, corrupt("field has another type's form")
}

func (k *Keyer) unsigned() bool {
	switch k.kind {
	case kindUint8, kindUint16, kindUint32, kindUint64, kindEnum, kindBits:
		return true
	}
	return false
}

// Number returns the value of a field of an integer column: negative says that v is its two's complement.
func (k *Keyer) Number(f Field) (v uint64, negative bool, err error) {
	if f.form != formNumber {
		return 0, false, corrupt("field is no number")
	}
	u, _ := uvarint(f.body)
	if k.unsigned() {
		return u, false, nil
	}
	s := int64(u>>1) ^ -int64(u&1)
	return uint64(s), s < 0, nil
}

// DecimalOf returns the value of a field of a DECIMAL column.
func DecimalOf(f Field) (*apd.Decimal, error) {
	if f.form != formDecimal && f.form != formBigDecimal {
		return nil, corrupt("field is no decimal")
	}
	v, err := decodeDecimalField(uint64(f.form), f.body)
	if err != nil {
		return nil, err
	}
	return v.(*apd.Decimal), nil
}

// Value decodes a field of a column of type t.
func (f Field) Value(t sql.Type) (any, error) {
	k, ok := kindOf(t)
	if !ok {
		return nil, unsupported(t, "a column")
	}
	return decodeField(k, uint64(f.form), f.body)
}

// KeyOf returns the key of a value, for comparison with fields of a column of type t. ok is false if
// the value does not have its exact place among the keys of the column, or has to be converted in a way
// that has to be looked at.
func KeyOf(ctx context.Context, t sql.Type, v any) (key []byte, ok bool) {
	c, err := NewKeyCodec([]KeyPart{{Type: t, PadSpace: true}})
	if err != nil || v == nil {
		return nil, false
	}
	key, pos, ok := c.parts[0].appendCanonical(nil, v)
	return key, ok && pos == posExact
}

// PrefixKeyOf returns what the keys of all strings that begin with s have in common, for a string column of
// type t. ok is false if the type has no such thing.
func PrefixKeyOf(t sql.Type, s string) (key []byte, ok bool) {
	c, err := NewKeyCodec([]KeyPart{{Type: t, PadSpace: true}})
	if err != nil || c.parts[0].kind != kindText {
		return nil, false
	}
	p := &c.parts[0]
	key, _ = p.appendText(nil, s)
	if p.padSpace {
		// What a space at the end is written as depends on what follows.
		return key[:len(key)-len(p.spaceForm())-1], !p.endsInSpace(s)
	}
	if p.weigher != nil {
		return key[:len(key)-1], true
	}
	return key[:len(key)-2], true
}

// Key appends the key of a string under a collation to dst: bytes.Compare of two of them is the order of the
// strings, and they are equal if the strings are. ok is false if the collation has no order.
func Key(dst []byte, c sql.CollationID, s string) (key []byte, ok bool) {
	p := part{kind: kindText, padSpace: Pads(c)}
	if !byCodePoint(c) {
		if p.weigher = weigherOf(c); p.weigher == nil {
			return dst, false
		}
	}
	key, _ = p.appendText(dst, s)
	return key, true
}
