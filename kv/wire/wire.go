// Package wire has the few pieces of which the store's messages are made: unsigned varints, byte
// strings, timestamps, tablets. A message is a version byte, then its fields in order; there are no
// tags, because both ends agree on the command and its version before they decode.
//
//	uvarint      as encoding/binary
//	bytes        uvarint length | bytes
//	column       bytes row | 1 B family | bytes qualifier
//	tablet       uvarint id | uvarint generation | bytes start | bytes end | uvarint shard | uvarint node
//	tablet ref   uvarint id | uvarint generation
//
// A Decoder never panics on junk, never allocates more than the input's length can justify, and keeps
// the first error, so that a Decode method reads straight down and asks once at the end.
package wire

import (
	"encoding/binary"
	"fmt"

	"moka/kv"
)

// AppendBytes appends a length-prefixed byte string.
func AppendBytes(b, v []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// AppendString appends a length-prefixed string.
func AppendString(b []byte, v string) []byte {
	b = binary.AppendUvarint(b, uint64(len(v)))
	return append(b, v...)
}

// AppendUvarint appends an unsigned varint.
func AppendUvarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendBool appends one byte, 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendColumn appends a column.
func AppendColumn(b []byte, c kv.Column) []byte {
	b = append(AppendBytes(b, c.Row), byte(c.Family))
	return AppendBytes(b, c.Qualifier)
}

// AppendTablet appends a tablet's description.
func AppendTablet(b []byte, t kv.Tablet) []byte {
	b = binary.AppendUvarint(b, uint64(t.ID))
	b = binary.AppendUvarint(b, t.Generation)
	b = AppendBytes(b, t.Span.Start)
	b = AppendBytes(b, t.Span.End)
	b = binary.AppendUvarint(b, uint64(t.Shard))
	return binary.AppendUvarint(b, uint64(t.Node))
}

// Decoder reads fields from the front of a message. The zero value is an empty message.
type Decoder struct {
	b      []byte
	err    error
	shared bool
}

// NewDecoder starts reading b, which must begin with the version byte.
func NewDecoder(b []byte, version byte) Decoder {
	d := Decoder{b: b}
	if v := d.Byte(); d.err == nil && v != version {
		d.fail("version %d is not %d: the other end runs another release", v, version)
	}
	return d
}

func (d *Decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = kv.Errorf(kv.CodeCorrupt, "wire.Decode", format, args...)
	}
	d.b = nil
}

// Refuse makes the message one that is not valid, for a reason that only its reader knows. The first
// reason stays.
func (d *Decoder) Refuse(format string, args ...any) { d.fail(format, args...) }

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if len(d.b) == 0 {
		d.fail("message is too short")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

// Bool reads one byte that must be 0 or 1.
func (d *Decoder) Bool() bool {
	v := d.Byte()
	if v > 1 {
		d.fail("%d is not a boolean", v)
	}
	return v == 1
}

// Uvarint reads an unsigned varint.
func (d *Decoder) Uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

// Bounded reads an unsigned varint that must be at most max.
func (d *Decoder) Bounded(max uint64) uint64 {
	v := d.Uvarint()
	if v > max {
		d.fail("%d is more than %d", v, max)
		return 0
	}
	return v
}

// Share makes Bytes return parts of the message itself, which must be the caller's to give away.
func (d *Decoder) Share() { d.shared = true }

// Bytes reads a byte string into memory of its own; an empty one is nil.
func (d *Decoder) Bytes() []byte {
	v := d.view()
	if len(v) == 0 {
		return nil
	}
	if d.shared {
		return v[:len(v):len(v)]
	}
	return append([]byte(nil), v...)
}

// String reads a string.
func (d *Decoder) String() string { return string(d.view()) }

// StringLike reads a string; where it equals like, like is returned and nothing allocated.
func (d *Decoder) StringLike(like string) string {
	v := d.view()
	if string(v) == like {
		return like
	}
	return string(v)
}

func (d *Decoder) view() []byte {
	n := d.Uvarint()
	if n > uint64(len(d.b)) {
		d.fail("%d bytes announced, %d there", n, len(d.b))
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

// Count reads how many elements follow, each of which takes at least size bytes.
func (d *Decoder) Count(size int) int {
	n := d.Uvarint()
	if n > uint64(len(d.b)/size) {
		d.fail("%d elements announced, %d bytes there", n, len(d.b))
		return 0
	}
	return int(n)
}

// Timestamp reads a timestamp.
func (d *Decoder) Timestamp() kv.Timestamp { return kv.Timestamp(d.Uvarint()) }

// Column reads a column.
func (d *Decoder) Column() kv.Column {
	return kv.Column{Row: d.Bytes(), Family: kv.FamilyID(d.Byte()), Qualifier: d.Bytes()}
}

// Rest takes what has not been read yet, as a part of the message itself; nil once an error was met.
func (d *Decoder) Rest() []byte {
	v := d.b
	d.b = nil
	return v
}

// Tablet reads a tablet's description.
func (d *Decoder) Tablet() kv.Tablet {
	return kv.Tablet{
		ID:         kv.TabletID(d.Uvarint()),
		Generation: d.Uvarint(),
		Span:       kv.Span{Start: d.Bytes(), End: d.Bytes()},
		Shard:      kv.ShardID(d.Bounded(1<<32 - 1)),
		Node:       kv.NodeID(d.Uvarint()),
	}
}

// TabletRef reads a reference to a tablet.
func (d *Decoder) TabletRef() kv.TabletRef {
	return kv.TabletRef{ID: kv.TabletID(d.Uvarint()), Generation: d.Uvarint()}
}

// Err is the first error met, without complaining of what is left to read.
func (d *Decoder) Err() error { return d.err }

// Finish returns the first error, or one if bytes are left over.
func (d *Decoder) Finish() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("%d bytes too many", len(d.b))
	}
	return d.err
}

// Wrap puts the message's name in front of a decoding error.
func Wrap(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}
