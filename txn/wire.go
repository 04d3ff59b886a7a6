package txn

import (
	"encoding/binary"
	"fmt"

	"moka/kv"
	"moka/txn/record"
)

// Everything here is made of uvarints and length-prefixed bytes. encoder and decoder keep the codecs one line per field; the
// decoder remembers its first error, so that a codec checks once, at the end, and junk can do nothing but fail.

type encoder struct{ b []byte }

func (e *encoder) byte(v byte)              { e.b = append(e.b, v) }
func (e *encoder) uvarint(v uint64)         { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) timestamp(t kv.Timestamp) { e.uvarint(uint64(t)) }
func (e *encoder) bytes(v []byte) {
	e.uvarint(uint64(len(v)))
	e.b = append(e.b, v...)
}
func (e *encoder) string(v string) {
	e.uvarint(uint64(len(v)))
	e.b = append(e.b, v...)
}
func (e *encoder) bool(v bool) {
	if v {
		e.byte(1)
	} else {
		e.byte(0)
	}
}
func (e *encoder) column(c kv.Column) {
	e.bytes(c.Row)
	e.byte(byte(c.Family))
	e.bytes(c.Qualifier)
}
func (e *encoder) span(s kv.Span) {
	e.bytes(s.Start)
	e.bytes(s.End)
}
func (e *encoder) timestamps(ts []kv.Timestamp) {
	e.uvarint(uint64(len(ts)))
	for _, t := range ts {
		e.timestamp(t)
	}
}
func (e *encoder) columns(cs []kv.Column) {
	e.uvarint(uint64(len(cs)))
	for _, c := range cs {
		e.column(c)
	}
}
func (e *encoder) spans(ss []kv.Span) {
	e.uvarint(uint64(len(ss)))
	for _, s := range ss {
		e.span(s)
	}
}
func (e *encoder) refs(rs []kv.TabletRef) {
	e.uvarint(uint64(len(rs)))
	for _, r := range rs {
		e.uvarint(uint64(r.ID))
		e.uvarint(r.Generation)
	}
}

type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = kv.Errorf(kv.CodeCorrupt, "txn.decode", "%s with %d bytes left", what, len(d.b))
	}
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) < 1 {
		d.fail("byte missing")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("bad varint")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.fail(fmt.Sprintf("%d does not fit 32 bits", v))
		return 0
	}
	return uint32(v)
}

func (d *decoder) timestamp() kv.Timestamp { return kv.Timestamp(d.uvarint()) }

// bytes returns a copy; empty is nil.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail(fmt.Sprintf("%d bytes announced", n))
		return nil
	}
	if n == 0 {
		return nil
	}
	v := append([]byte(nil), d.b[:n]...)
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) growth() kv.Growth {
	g := kv.Growth(d.byte())
	if g > kv.Deletes {
		d.fail("bad growth")
	}
	return g
}

func (d *decoder) bool() bool {
	switch d.byte() {
	case 0:
		return false
	case 1:
		return true
	}
	d.fail("bad bool")
	return false
}

func (d *decoder) column() kv.Column {
	return kv.Column{Row: d.bytes(), Family: kv.FamilyID(d.byte()), Qualifier: d.bytes()}
}

func (d *decoder) span() kv.Span { return kv.Span{Start: d.bytes(), End: d.bytes()} }

// count reads the length of a list whose elements take at least min bytes each, so that junk cannot ask for gigabytes.
func (d *decoder) count(min int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/min) {
		d.fail(fmt.Sprintf("%d elements announced", n))
		return 0
	}
	return int(n)
}

// list decodes a counted list; an empty one is nil.
func list[T any](d *decoder, min int, f func() T) []T {
	n := d.count(min)
	if n == 0 {
		return nil
	}
	v := make([]T, 0, n)
	for range n {
		v = append(v, f())
	}
	return v
}

func (d *decoder) timestamps() []kv.Timestamp { return list(d, 1, d.timestamp) }
func (d *decoder) columns() []kv.Column       { return list(d, 3, d.column) }
func (d *decoder) spans() []kv.Span           { return list(d, 2, d.span) }
func (d *decoder) refs() []kv.TabletRef {
	return list(d, 2, func() kv.TabletRef {
		return kv.TabletRef{ID: kv.TabletID(d.uvarint()), Generation: d.uvarint()}
	})
}

// end is called last: everything must have been read.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes left over")
	}
	return d.err
}

func (e *encoder) observers(os []uint32) {
	e.uvarint(uint64(len(os)))
	for _, o := range os {
		e.uvarint(uint64(o))
	}
}

func (d *decoder) observers() []uint32 { return list(d, 1, d.uint32) }

func (e *encoder) clears(cs []record.Clear) {
	e.uvarint(uint64(len(cs)))
	for _, c := range cs {
		e.uvarint(uint64(c.Observer))
		e.column(c.Column)
	}
}

func (d *decoder) clears() []record.Clear {
	return list(d, 4, func() record.Clear { return record.Clear{Observer: d.uint32(), Column: d.column()} })
}
