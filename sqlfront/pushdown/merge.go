package pushdown

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rowenc"
)

// int128 is the sum of fewer than 2^63 integers of 64 bits.
type int128 struct {
	hi int64
	lo uint64
}

// add adds v, or v read as two's complement if it is negative.
func (a int128) add(v uint64, negative bool) int128 {
	hi := int64(0)
	if negative {
		hi = -1
	}
	return a.plus(int128{hi, v})
}

func (a int128) plus(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + int64(carry), lo}
}

// decimal returns the number.
func (a int128) decimal() *apd.Decimal {
	v := new(big.Int).Lsh(big.NewInt(a.hi), 64)
	v.Add(v, new(big.Int).SetUint64(a.lo))
	d := &apd.Decimal{Negative: v.Sign() < 0}
	d.Coeff.SetMathBigInt(v.Abs(v))
	return d
}

// addDecimal adds without rounding: values of one column have few digits between them.
func addDecimal(sum, v *apd.Decimal) {
	a, b := &sum.Coeff, new(apd.BigInt).Set(&v.Coeff)
	if sum.Negative {
		a.Neg(a)
	}
	if v.Negative {
		b.Neg(b)
	}
	scale := func(c *apd.BigInt, n int32) {
		if n > 0 {
			c.Mul(c, new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(int64(n)), nil))
		}
	}
	scale(a, sum.Exponent-v.Exponent)
	scale(b, v.Exponent-sum.Exponent)
	sum.Exponent = min(sum.Exponent, v.Exponent)
	a.Add(a, b)
	sum.Negative = a.Sign() < 0
	a.Abs(a)
}

const partVersion = 1

// part is what an aggregating program returns:
//
//	┌────┬──────────────────────┬─ for each group, in the order in which they came up ──────┐
//	│ 01 │ uvarint number of    │ length-prefixed key, then the state of each aggregate     │ …
//	│    │ groups               │                                                           │
//	└────┴──────────────────────┴───────────────────────────────────────────────────────────┘
//	COUNT       uvarint
//	SUM         uvarint count, varint high 64 bits, uvarint low 64 bits
//	SUM decimal uvarint count; if it is not 0: varint exponent, 1 if negative, length-prefixed coefficient, big endian
//	MIN, MAX    0, or 1, length-prefixed key, length-prefixed field
//	FIRST       0, or 1, length-prefixed field
func appendPart(b []byte, p *Program, groups []*group) []byte {
	b = append(b, partVersion)
	b = binary.AppendUvarint(b, uint64(len(groups)))
	for _, g := range groups {
		b = appendBytes(b, g.key)
		for i, a := range p.Aggregates {
			b = g.states[i].append(b, a.Op)
		}
	}
	return b
}

func (s *state) append(b []byte, op AggregateOp) []byte {
	switch op {
	case CountRows, Count:
		return binary.AppendUvarint(b, s.count)
	case Sum:
		b = binary.AppendUvarint(b, s.count)
		b = binary.AppendVarint(b, s.sum.hi)
		return binary.AppendUvarint(b, s.sum.lo)
	case SumDecimal:
		if b = binary.AppendUvarint(b, s.count); s.count == 0 {
			return b
		}
		b = binary.AppendVarint(b, int64(s.dec.Exponent))
		b = appendBool(b, s.dec.Negative)
		return appendBytes(b, s.dec.Coeff.Bytes())
	}
	if b = appendBool(b, s.any); !s.any {
		return b
	}
	if op != First {
		b = appendBytes(b, s.key)
	}
	return appendBytes(b, s.field)
}

func (d *reader) state(op AggregateOp) (s state) {
	switch op {
	case CountRows, Count:
		s.count = d.uvarint()
	case Sum:
		s.count, s.sum.hi, s.sum.lo = d.uvarint(), d.varint(), d.uvarint()
	case SumDecimal:
		if s.count = d.uvarint(); s.count == 0 {
			return s
		}
		exponent := d.varint()
		if exponent > 1000 || exponent < -1000 {
			d.fail("exponent")
		}
		s.dec = &apd.Decimal{Exponent: int32(exponent), Negative: d.bool()}
		s.dec.Coeff.SetBytes(d.bytes())
	default:
		if s.any = d.bool(); !s.any {
			return s
		}
		if op != First {
			s.key = d.bytes()
		}
		s.field = d.bytes()
	}
	return s
}

// Merger puts parts together, which have to come in the order of the scan.
type Merger struct {
	p      *Program
	groups map[string]*group
	order  []*group
	bytes  int
}

// NewMerger returns a merger for the parts of a program.
func NewMerger(p *Program) *Merger {
	m := &Merger{p: p, groups: map[string]*group{}}
	if len(p.Groups) == 0 {
		g := &group{states: make([]state, len(p.Aggregates))}
		m.groups[""], m.order = g, []*group{g}
	}
	return m
}

// Bytes is about how much memory the merger holds.
func (m *Merger) Bytes() int { return m.bytes }

// Len is the number of groups.
func (m *Merger) Len() int { return len(m.order) }

// Add merges a part.
func (m *Merger) Add(part []byte) error {
	d := &reader{b: part}
	if d.byte() != partVersion {
		return junk("version of a part")
	}
	for range d.count(1 + len(m.p.Aggregates)) {
		key := d.bytes()
		g := m.groups[string(key)]
		if g == nil {
			g = &group{key: key, states: make([]state, len(m.p.Aggregates))}
			m.groups[string(key)] = g
			m.order = append(m.order, g)
			m.bytes += 2*len(key) + 64 + 96*len(g.states)
		}
		for i, a := range m.p.Aggregates {
			s := d.state(a.Op)
			if d.err != nil {
				return d.err
			}
			m.bytes += len(s.field) + len(s.key)
			g.states[i].merge(a.Op, s)
		}
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes behind a part")
	}
	return d.err
}

// Part is what was merged, as one part.
func (m *Merger) Part() []byte { return appendPart(nil, m.p, m.order) }

// merge adds a later state.
func (s *state) merge(op AggregateOp, o state) {
	s.count += o.count
	s.sum = s.sum.plus(o.sum)
	if o.dec != nil {
		if s.dec == nil {
			s.dec = new(apd.Decimal)
		}
		addDecimal(s.dec, o.dec)
	}
	if !o.any {
		return
	}
	c := bytes.Compare(o.key, s.key)
	if s.any && (op == First || op == Min && c >= 0 || op == Max && c <= 0) {
		return
	}
	s.any, s.key, s.field = true, o.key, o.field
}

// Count returns the count of an aggregate: of rows, or of values that are not NULL (COUNT and SUM).
func (m *Merger) Count(group, aggregate int) int64 {
	return int64(m.order[group].states[aggregate].count)
}

// Sum returns a sum of integers.
func (m *Merger) Sum(group, aggregate int) *apd.Decimal {
	return m.order[group].states[aggregate].sum.decimal()
}

// SumDecimal returns a sum of decimals.
func (m *Merger) SumDecimal(group, aggregate int) *apd.Decimal {
	d := m.order[group].states[aggregate].dec
	if d == nil {
		return new(apd.Decimal)
	}
	return new(apd.Decimal).Set(d)
}

// Value returns the value of MIN, MAX or FIRST of a column of type t.
func (m *Merger) Value(group, aggregate int, t sql.Type) (any, error) {
	s := &m.order[group].states[aggregate]
	if !s.any {
		return nil, nil
	}
	fields := make([]rowenc.Field, 1)
	r, err := rowenc.NewFieldReader([]uint32{1}, [][]byte{nil})
	if err != nil {
		return nil, err
	}
	if err := r.Read(append(rowenc.NewRow(nil), s.field...), fields); err != nil {
		return nil, err
	}
	return fields[0].Value(t)
}

// AppendSampled writes what a sampling program returns: uvarint rows, uvarint bytes that the
// sample was taken from.
func AppendSampled(b []byte, rows, bytes int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(rows)), uint64(bytes))
}

// Sampled reads it.
func Sampled(part []byte) (rows, bytes int, err error) {
	d := &reader{b: part}
	rows, bytes = d.upTo(math.MaxInt64), d.upTo(math.MaxInt64)
	return rows, bytes, d.err
}
