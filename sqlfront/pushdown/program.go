package pushdown

import (
	"encoding/binary"
	"errors"
	"fmt"

	"moka/sqlfront/rowenc"
)

// ErrProgram is returned for bytes that are no program of this version.
var ErrProgram = errors.New("pushdown: no program that this release knows")

func junk(what string) error { return fmt.Errorf("%w: %s", ErrProgram, what) }

// Bounds of what a shard accepts, and of what it collects before it ends a request.
const (
	MaxNodes  = 4096
	maxDepth  = 100
	MaxGroups = 4096
	MaxBytes  = 1 << 20
	MaxTop    = 1024
)

// Program is what a shard does with the cells of a scan. Columns are named by their position in
// Columns everywhere else.
//
//	┌────┬──────┬─────────┬────────┬────────────┬────────┬───────────────────────────────┐
//	│ 01 │ mode │ columns │ filter │ mode 0     │ kept   │ columns                       │
//	│    │      │         │        │ mode 1     │ groups │ columns, then aggregates      │
//	│    │      │         │        │ mode 2     │ kept, n│ order: (column, 1 if descending)│
//	│    │      │         │        │ mode 3     │ kept   │ uvarint share                 │
//	└────┴──────┴─────────┴────────┴────────────┴────────┴───────────────────────────────┘
//	column     uvarint id, then 0 or 1 and its rowenc.FieldType, then 0 or 1 and what a row without it reads as
//	kept       0 for the cell as it is, or 1 + the number of columns and the columns
//	filter     see Expr; 0 for none
//	aggregate  op, and for all but COUNT(*) the column
type Program struct {
	Columns []Column
	Filter  *Expr
	Mode    Mode

	// Narrow sends only the columns of Keep, which ascend by id, in place of the whole row.
	Narrow bool
	Keep   []int

	Groups     []int
	Aggregates []Aggregate

	Order []Order
	Top   int

	Share uint32
}

// Mode says what becomes of the rows that pass the filter.
type Mode uint8

const (
	ModeRows      Mode = 0 // they are sent
	ModeAggregate Mode = 1 // they are grouped and aggregated
	ModeTop       Mode = 2 // the first Top of them in Order are sent
	ModeSample    Mode = 3 // of each 2^32 of them about Share are sent; all are counted
)

// Column is a column that the program looks at.
type Column struct {
	ID   uint32
	Type rowenc.FieldType
	Keys bool // the type has keys, so that the column can be compared, grouped and ordered
	// Missing is what a row without the column reads as (rowenc.AppendValue); nil is NULL.
	Missing []byte
}

// Order is one column of an order, NULL first if it ascends.
type Order struct {
	Column     int
	Descending bool
}

// AggregateOp is what is done with the values of a group.
type AggregateOp uint8

const (
	CountRows  AggregateOp = 1
	Count      AggregateOp = 2 // of values that are not NULL
	Sum        AggregateOp = 3 // of integers
	SumDecimal AggregateOp = 4
	Min        AggregateOp = 5
	Max        AggregateOp = 6
	First      AggregateOp = 7 // the value of the first row, also if it is NULL
)

// Aggregate is one result of each group.
type Aggregate struct {
	Op     AggregateOp
	Column int
}

// Op is an operation of the filter.
type Op uint8

const (
	OpTrue    Op = 1
	OpFalse   Op = 2
	OpNull    Op = 3
	OpAnd     Op = 4  // of all Args
	OpOr      Op = 5  // of all Args
	OpNot     Op = 6  // of the one in Args
	OpIsNull  Op = 7  // Column
	OpCompare Op = 8  // Column with the value whose key is Key
	OpColumns Op = 9  // Column with Other, which has the same type
	OpIn      Op = 10 // Column is one of Keys, which ascend; HasNull: the list has a NULL too
	OpPrefix  Op = 11 // Column's key begins with Key, without its end: a string that begins with another
)

// Relation is how two values compare.
type Relation uint8

const (
	Equal        Relation = 1
	NotEqual     Relation = 2
	Less         Relation = 3
	LessEqual    Relation = 4
	Greater      Relation = 5
	GreaterEqual Relation = 6
	NullEqual    Relation = 7 // <=>: never NULL
)

// Expr is a condition in SQL's logic of three values.
//
//	op 1..3       nothing follows
//	op 4, 5       uvarint number of arguments, the arguments
//	op 6          the argument
//	op 7          column
//	op 8          relation, column, length-prefixed key
//	op 9          relation, column, column
//	op 11         column, length-prefixed key without its end
//	op 10         1 if the list has a NULL, column, uvarint number of keys, length-prefixed keys, ascending
type Expr struct {
	Op       Op
	Relation Relation
	Column   int
	Other    int
	Args     []*Expr
	Key      []byte
	Keys     [][]byte
	HasNull  bool
}

const programVersion = 1

// Append appends the program's bytes.
func (p *Program) Append(b []byte) []byte {
	b = append(b, programVersion, byte(p.Mode))
	b = binary.AppendUvarint(b, uint64(len(p.Columns)))
	for i := range p.Columns {
		c := &p.Columns[i]
		b = binary.AppendUvarint(b, uint64(c.ID))
		if b = appendBool(b, c.Keys); c.Keys {
			b = c.Type.AppendTo(b)
		}
		if b = appendBool(b, c.Missing != nil); c.Missing != nil {
			b = appendBytes(b, c.Missing)
		}
	}
	if p.Filter == nil {
		b = append(b, 0)
	} else {
		b = p.Filter.append(b)
	}
	switch p.Mode {
	case ModeRows:
		b = p.appendKeep(b)
	case ModeSample:
		b = p.appendKeep(b)
		b = binary.AppendUvarint(b, uint64(p.Share))
	case ModeAggregate:
		b = appendColumns(b, p.Groups)
		b = binary.AppendUvarint(b, uint64(len(p.Aggregates)))
		for _, a := range p.Aggregates {
			b = append(b, byte(a.Op))
			if a.Op != CountRows {
				b = binary.AppendUvarint(b, uint64(a.Column))
			}
		}
	case ModeTop:
		b = p.appendKeep(b)
		b = binary.AppendUvarint(b, uint64(p.Top))
		b = binary.AppendUvarint(b, uint64(len(p.Order)))
		for _, o := range p.Order {
			b = binary.AppendUvarint(b, uint64(o.Column))
			b = appendBool(b, o.Descending)
		}
	}
	return b
}

func (p *Program) appendKeep(b []byte) []byte {
	if !p.Narrow {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, 1+uint64(len(p.Keep)))
	for _, k := range p.Keep {
		b = binary.AppendUvarint(b, uint64(k))
	}
	return b
}

func (e *Expr) append(b []byte) []byte {
	b = append(b, byte(e.Op))
	switch e.Op {
	case OpAnd, OpOr:
		b = binary.AppendUvarint(b, uint64(len(e.Args)))
		for _, a := range e.Args {
			b = a.append(b)
		}
	case OpNot:
		b = e.Args[0].append(b)
	case OpIsNull:
		b = binary.AppendUvarint(b, uint64(e.Column))
	case OpCompare:
		b = append(b, byte(e.Relation))
		b = binary.AppendUvarint(b, uint64(e.Column))
		b = appendBytes(b, e.Key)
	case OpPrefix:
		b = binary.AppendUvarint(b, uint64(e.Column))
		b = appendBytes(b, e.Key)
	case OpColumns:
		b = append(b, byte(e.Relation))
		b = binary.AppendUvarint(b, uint64(e.Column))
		b = binary.AppendUvarint(b, uint64(e.Other))
	case OpIn:
		b = appendBool(b, e.HasNull)
		b = binary.AppendUvarint(b, uint64(e.Column))
		b = binary.AppendUvarint(b, uint64(len(e.Keys)))
		for _, k := range e.Keys {
			b = appendBytes(b, k)
		}
	}
	return b
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendBytes(b, v []byte) []byte { return append(binary.AppendUvarint(b, uint64(len(v))), v...) }

func appendColumns(b []byte, cols []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(cols)))
	for _, c := range cols {
		b = binary.AppendUvarint(b, uint64(c))
	}
	return b
}

// Parse reads a program's bytes, which it does not keep.
func Parse(b []byte) (*Program, error) {
	d := &reader{b: b}
	if d.byte() != programVersion {
		return nil, junk("version")
	}
	p := &Program{Mode: Mode(d.byte())}
	p.Columns = make([]Column, d.count(3))
	for i := range p.Columns {
		c := &p.Columns[i]
		c.ID = uint32(d.upTo(1<<32 - 1))
		if c.Keys = d.bool(); c.Keys && d.err == nil {
			if c.Type, d.b, d.err = rowenc.ReadFieldType(d.b); d.err != nil {
				return nil, junk("type of a column")
			}
		}
		if d.bool() {
			if c.Missing = d.bytes(); c.Missing == nil {
				c.Missing = []byte{}
			}
		}
	}
	if p.Filter = d.expr(p, 0); p.Filter != nil && p.Filter.Op == 0 {
		p.Filter = nil
	}
	switch p.Mode {
	case ModeRows:
		d.keep(p)
	case ModeSample:
		d.keep(p)
		p.Share = uint32(d.upTo(1<<32 - 1))
	case ModeAggregate:
		p.Groups = d.columns(p, true)
		p.Aggregates = make([]Aggregate, d.count(1))
		for i := range p.Aggregates {
			p.Aggregates[i] = d.aggregate(p)
		}
	case ModeTop:
		d.keep(p)
		p.Top = d.upTo(MaxTop)
		p.Order = make([]Order, d.count(2))
		for i := range p.Order {
			p.Order[i] = Order{d.column(p, true), d.bool()}
		}
		if p.Top == 0 || len(p.Order) == 0 {
			d.fail("an order of nothing")
		}
	default:
		d.fail("mode")
	}
	if d.err == nil && len(d.b) > 0 {
		d.fail("bytes behind the end")
	}
	if d.err != nil {
		return nil, d.err
	}
	return p, nil
}

type reader struct {
	b     []byte
	err   error
	nodes int
}

func (d *reader) fail(what string) {
	if d.err == nil {
		d.err = junk(what)
	}
	d.b = nil
}

func (d *reader) byte() byte {
	if len(d.b) == 0 {
		d.fail("ends early")
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *reader) bool() bool {
	v := d.byte()
	if v > 1 {
		d.fail("neither yes nor no")
	}
	return v == 1
}

func (d *reader) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *reader) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail("number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *reader) upTo(limit uint64) int {
	v := d.uvarint()
	if v > limit {
		d.fail("number out of range")
		return 0
	}
	return int(v)
}

// count reads the length of a list whose items have at least size bytes, so that junk cannot ask for memory.
func (d *reader) count(size int) int { return d.upTo(uint64(len(d.b) / size)) }

func (d *reader) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail("ends early")
	}
	if n == 0 || d.err != nil {
		return nil
	}
	v := append([]byte(nil), d.b[:n]...)
	d.b = d.b[n:]
	return v
}

// column reads a reference to a column; keyed says that it is going to be compared.
func (d *reader) column(p *Program, keyed bool) int {
	v := d.uvarint()
	if v >= uint64(len(p.Columns)) || keyed && !p.Columns[v].Keys {
		d.fail("reference to a column")
		return 0
	}
	return int(v)
}

func (d *reader) columns(p *Program, keyed bool) []int {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	cols := make([]int, n)
	for i := range cols {
		cols[i] = d.column(p, keyed)
	}
	return cols
}

func (d *reader) keep(p *Program) {
	n := d.upTo(uint64(len(d.b)))
	if n == 0 {
		return
	}
	p.Narrow = true
	var last uint32
	for range n - 1 {
		c := d.column(p, false)
		if d.err != nil {
			return
		}
		if p.Columns[c].ID <= last {
			d.fail("order of the kept columns")
			return
		}
		last = p.Columns[c].ID
		p.Keep = append(p.Keep, c)
	}
}

func (d *reader) aggregate(p *Program) Aggregate {
	a := Aggregate{Op: AggregateOp(d.byte())}
	switch a.Op {
	case CountRows:
		return a
	case Count, First:
		a.Column = d.column(p, false)
	case Sum, SumDecimal, Min, Max:
		a.Column = d.column(p, true)
	default:
		d.fail("aggregate")
	}
	if d.err == nil && (a.Op == Sum && !p.Columns[a.Column].Type.Number() ||
		a.Op == SumDecimal && !p.Columns[a.Column].Type.Decimal()) {
		d.fail("sum of what is no number")
	}
	return a
}

func (d *reader) relation() Relation {
	r := Relation(d.byte())
	if r < Equal || r > NullEqual {
		d.fail("relation")
	}
	return r
}

func (d *reader) expr(p *Program, depth int) *Expr {
	if d.nodes++; d.nodes > MaxNodes || depth > maxDepth {
		d.fail("filter too large")
		return nil
	}
	e := &Expr{Op: Op(d.byte())}
	switch e.Op {
	case 0:
		if depth > 0 {
			d.fail("operation")
		}
	case OpTrue, OpFalse, OpNull:
	case OpAnd, OpOr:
		n := d.count(1)
		for i := 0; i < n && d.err == nil; i++ {
			e.Args = append(e.Args, d.expr(p, depth+1))
		}
	case OpNot:
		e.Args = []*Expr{d.expr(p, depth+1)}
	case OpIsNull:
		e.Column = d.column(p, false)
	case OpCompare:
		e.Relation, e.Column = d.relation(), d.column(p, true)
		e.Key = d.bytes()
	case OpPrefix:
		e.Column, e.Key = d.column(p, true), d.bytes()
	case OpColumns:
		e.Relation, e.Column, e.Other = d.relation(), d.column(p, true), d.column(p, true)
		if d.err == nil && p.Columns[e.Column].Type != p.Columns[e.Other].Type {
			d.fail("comparison of two types")
		}
	case OpIn:
		e.HasNull, e.Column = d.bool(), d.column(p, true)
		n := d.count(1)
		for i := 0; i < n && d.err == nil; i++ {
			e.Keys = append(e.Keys, d.bytes())
		}
	default:
		d.fail("operation")
	}
	return e
}
