package pushdown

import (
	"bytes"
	"container/heap"
	"slices"
	"sort"

	"github.com/cockroachdb/apd/v3"

	"moka/kv"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// Load makes a program of its bytes, for txn.CoprocessorOptions.Programs.
func Load(b []byte) (txn.Program, error) {
	p, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return newRunner(p)
}

// rowFamily is the family of the cells that hold rows. Others in the same rows belong to observers.
const rowFamily kv.FamilyID = 0

// runner is one execution of a program.
type runner struct {
	p      *Program
	fields *rowenc.FieldReader
	keyers []*rowenc.Keyer

	row     []rowenc.Field
	keys    [][]byte
	keyed   []bool
	size    int // of what was collected
	scratch []byte
	out     []byte

	groups map[string]*group
	order  []*group // as they came up
	top    topRows
	seen   int

	rows, bytes int // of a sample: all that it was taken from
}

func newRunner(p *Program) (*runner, error) {
	r := &runner{
		p: p, keyers: make([]*rowenc.Keyer, len(p.Columns)), row: make([]rowenc.Field, len(p.Columns)),
		keys: make([][]byte, len(p.Columns)), keyed: make([]bool, len(p.Columns)),
	}
	ids, missing := make([]uint32, len(p.Columns)), make([][]byte, len(p.Columns))
	for i := range p.Columns {
		c := &p.Columns[i]
		ids[i], missing[i] = c.ID, c.Missing
		if !c.Keys {
			continue
		}
		var err error
		if r.keyers[i], err = c.Type.Keyer(); err != nil {
			return nil, junk(err.Error())
		}
	}
	var err error
	if r.fields, err = rowenc.NewFieldReader(ids, missing); err != nil {
		return nil, junk(err.Error())
	}
	if p.Mode == ModeAggregate {
		r.groups = map[string]*group{}
		if len(p.Groups) == 0 {
			r.newGroup(nil)
		}
	}
	return r, nil
}

// Cell implements txn.Program.
func (r *runner) Cell(c kv.Column, value []byte) (out []byte, keep bool, err error) {
	if c.Family != rowFamily || len(c.Qualifier) > 0 {
		return nil, false, nil
	}
	if len(r.p.Columns) > 0 {
		if err := r.fields.Read(value, r.row); err != nil {
			return nil, false, err
		}
		clear(r.keyed)
	}
	if r.p.Filter != nil {
		pass, err := eval(r, r.p.Filter)
		if err != nil || pass != yes {
			return nil, false, err
		}
	}
	switch r.p.Mode {
	case ModeAggregate:
		return nil, false, r.aggregate()
	case ModeTop:
		return nil, false, r.hold(c, value)
	case ModeSample:
		r.rows++
		r.bytes += len(c.Row) + len(value)
		if !sampled(c.Row, r.p.Share) {
			return nil, false, nil
		}
	}
	return r.shorten(value), true, nil
}

// Full implements txn.Program.
func (r *runner) Full() bool { return r.size >= MaxBytes || len(r.order) >= MaxGroups }

// Finish implements txn.Program.
func (r *runner) Finish(emit func(kv.Column, []byte)) ([]byte, error) {
	switch r.p.Mode {
	case ModeAggregate:
		return appendPart(nil, r.p, r.order), nil
	case ModeSample:
		return AppendSampled(nil, r.rows, r.bytes), nil
	case ModeTop:
		sort.Slice(r.top, func(i, j int) bool { return r.top[i].seq < r.top[j].seq })
		for _, h := range r.top {
			emit(h.column, h.value)
		}
	}
	return nil, nil
}

// sampled reports whether a row is in the sample: by a hash of its key, so that the same rows are taken
// wherever requests end.
func sampled(key []byte, share uint32) bool {
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range key {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9E3779B97F4A7C15 // the last bytes of a key have little influence on FNV's high bits
	return uint32(h>>32) <= share
}

// shorten leaves the kept columns of a row.
func (r *runner) shorten(value []byte) []byte {
	if !r.p.Narrow {
		return value
	}
	r.out = rowenc.NewRow(r.out[:0])
	var last uint32
	for _, k := range r.p.Keep {
		id := r.p.Columns[k].ID
		r.out = r.row[k].AppendTo(r.out, id-last)
		last = id
	}
	return r.out
}

// key returns the key of a column's value in the row, which is good until the next row.
func (r *runner) key(col int) ([]byte, error) {
	if !r.keyed[col] {
		k, err := r.keyers[col].Append(r.keys[col][:0], r.row[col])
		if err != nil {
			return nil, err
		}
		r.keys[col], r.keyed[col] = k, true
	}
	return r.keys[col], nil
}

// truth is SQL's.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// columns are what a condition looks at.
type columns interface {
	null(col int) bool
	key(col int) ([]byte, error)
}

func (r *runner) null(col int) bool { return r.row[col].Null() }

// Keys are the columns of a row by their keys, as the entry of an index has them. No key is NULL.
type Keys [][]byte

func (k Keys) null(col int) bool           { return k[col] == nil }
func (k Keys) key(col int) ([]byte, error) { return k[col], nil }

// Passes reports whether the condition is true for a row with these columns.
func (e *Expr) Passes(k Keys) (bool, error) {
	t, err := eval(k, e)
	return t == yes, err
}

func eval(r columns, e *Expr) (truth, error) {
	switch e.Op {
	case OpTrue:
		return yes, nil
	case OpFalse:
		return no, nil
	case OpNull:
		return unknown, nil
	case OpAnd:
		all := yes
		for _, a := range e.Args {
			t, err := eval(r, a)
			if err != nil || t == no {
				return no, err
			}
			all = min(all, t)
		}
		return all, nil
	case OpOr:
		some := no
		for _, a := range e.Args {
			t, err := eval(r, a)
			if err != nil || t == yes {
				return t, err
			}
			some = max(some, t)
		}
		return some, nil
	case OpNot:
		t, err := eval(r, e.Args[0])
		return yes - t, err
	case OpIsNull:
		return truthOf(r.null(e.Column)), nil
	case OpCompare:
		if r.null(e.Column) {
			return isNull(e.Relation), nil
		}
		k, err := r.key(e.Column)
		return related(e.Relation, bytes.Compare(k, e.Key)), err
	case OpPrefix:
		if r.null(e.Column) {
			return unknown, nil
		}
		k, err := r.key(e.Column)
		return truthOf(bytes.HasPrefix(k, e.Key)), err
	case OpColumns:
		a, b := r.null(e.Column), r.null(e.Other)
		switch {
		case a && b && e.Relation == NullEqual:
			return yes, nil
		case a || b:
			return isNull(e.Relation), nil
		}
		k, err := r.key(e.Column)
		if err != nil {
			return no, err
		}
		o, err := r.key(e.Other)
		return related(e.Relation, bytes.Compare(k, o)), err
	case OpIn:
		if r.null(e.Column) {
			return unknown, nil
		}
		k, err := r.key(e.Column)
		if err != nil {
			return no, err
		}
		if _, found := slices.BinarySearchFunc(e.Keys, k, bytes.Compare); found {
			return yes, nil
		}
		if e.HasNull {
			return unknown, nil
		}
		return no, nil
	}
	return no, junk("operation")
}

// isNull is what a comparison with one NULL says.
func isNull(rel Relation) truth {
	if rel == NullEqual {
		return no
	}
	return unknown
}

func related(rel Relation, c int) truth {
	switch rel {
	case Equal, NullEqual:
		return truthOf(c == 0)
	case NotEqual:
		return truthOf(c != 0)
	case Less:
		return truthOf(c < 0)
	case LessEqual:
		return truthOf(c <= 0)
	case Greater:
		return truthOf(c > 0)
	default:
		return truthOf(c >= 0)
	}
}

// group is the state of one group.
type group struct {
	key    []byte
	states []state
}

// state is the state of one aggregate in one group.
type state struct {
	count uint64
	sum   int128
	any   bool // sum, decimal, key and field have a value
	dec   *apd.Decimal
	key   []byte
	field []byte // as stored, with the form in front; see rowenc.Field.AppendTo
}

func (r *runner) newGroup(key []byte) *group {
	g := &group{key: bytes.Clone(key), states: make([]state, len(r.p.Aggregates))}
	r.groups[string(g.key)] = g
	r.order = append(r.order, g)
	r.size += 2*len(key) + 64 + 96*len(g.states)
	return g
}

func (r *runner) aggregate() error {
	r.scratch = r.scratch[:0]
	for _, col := range r.p.Groups {
		k, err := r.key(col)
		if err != nil {
			return err
		}
		r.scratch = append(r.scratch, k...)
	}
	g := r.groups[string(r.scratch)]
	if g == nil {
		g = r.newGroup(r.scratch)
	}
	for i := range r.p.Aggregates {
		if err := r.update(&r.p.Aggregates[i], &g.states[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) update(a *Aggregate, s *state) error {
	if a.Op == CountRows {
		s.count++
		return nil
	}
	f := r.row[a.Column]
	if a.Op == First {
		if !s.any {
			s.any, s.field = true, f.AppendTo(nil, 1)
			r.size += len(s.field)
		}
		return nil
	}
	if f.Null() {
		return nil
	}
	switch a.Op {
	case Count:
		s.count++
	case Sum:
		v, negative, err := r.keyers[a.Column].Number(f)
		if err != nil {
			return err
		}
		s.count++
		s.sum = s.sum.add(v, negative)
	case SumDecimal:
		v, err := rowenc.DecimalOf(f)
		if err != nil {
			return err
		}
		s.count++
		if s.dec == nil {
			s.dec = new(apd.Decimal)
		}
		addDecimal(s.dec, v)
	case Min, Max:
		k, err := r.key(a.Column)
		if err != nil {
			return err
		}
		c := bytes.Compare(k, s.key)
		if s.any && (a.Op == Min && c >= 0 || a.Op == Max && c <= 0) {
			return nil // the first of equals stays
		}
		r.size -= len(s.key) + len(s.field)
		s.any, s.key, s.field = true, append(s.key[:0], k...), f.AppendTo(s.field[:0], 1)
		r.size += len(s.key) + len(s.field)
	}
	return nil
}

// heldRow is a row that is among the first so far.
type heldRow struct {
	key    []byte
	seq    int
	column kv.Column
	value  []byte
}

// topRows is a heap, the last row of the order on top.
type topRows []heldRow

func (t topRows) Len() int { return len(t) }
func (t topRows) Less(i, j int) bool {
	if c := bytes.Compare(t[i].key, t[j].key); c != 0 {
		return c > 0
	}
	return t[i].seq > t[j].seq
}
func (t topRows) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *topRows) Push(x any)   { *t = append(*t, x.(heldRow)) }
func (t *topRows) Pop() any {
	last := len(*t) - 1
	x := (*t)[last]
	(*t)[last] = heldRow{}
	*t = (*t)[:last]
	return x
}

// hold keeps the row if it is among the first Top so far.
func (r *runner) hold(c kv.Column, value []byte) error {
	key := r.scratch[:0]
	for _, o := range r.p.Order {
		k, err := r.key(o.Column)
		if err != nil {
			return err
		}
		at := len(key)
		key = append(key, k...)
		if o.Descending {
			// Keys end by themselves, so that flipping every bit turns their order around.
			for i := at; i < len(key); i++ {
				key[i] = ^key[i]
			}
		}
	}
	r.scratch = key
	r.seen++
	if len(r.top) == r.p.Top {
		if bytes.Compare(key, r.top[0].key) >= 0 {
			return nil
		}
		out := heap.Pop(&r.top).(heldRow)
		r.size -= len(out.key) + len(out.value) + len(out.column.Row)
	}
	h := heldRow{bytes.Clone(key), r.seen, kv.Column{Row: bytes.Clone(c.Row), Family: c.Family},
		bytes.Clone(r.shorten(value))}
	r.size += len(h.key) + len(h.value) + len(h.column.Row)
	heap.Push(&r.top, h)
	return nil
}
