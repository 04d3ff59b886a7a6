package bigtable

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"moka/kv"
	"moka/kv/wire"
)

// Mutation is one change of a row. The zero Kind is invalid.
type Mutation struct {
	Kind      MutationKind
	Family    string       // SetCell, DeleteColumn, DeleteFamily
	Qualifier []byte       // SetCell, DeleteColumn
	Timestamp kv.Timestamp // SetCell; zero: the server's time, or just above the column's newest version
	Value     []byte       // SetCell
	From, To  kv.Timestamp // DeleteColumn: the versions in [From, To); a zero To is no bound
}

// MutationKind tells the changes apart.
type MutationKind uint8

const (
	SetCell MutationKind = iota + 1
	DeleteColumn
	DeleteFamily
	DeleteRow
)

// RowMutations are the changes of one row. They are made in order and all at once.
type RowMutations struct {
	Row       kv.RowKey
	Mutations []Mutation
}

// MutateRowRequest changes one row. The response is Empty.
type MutateRowRequest struct{ RowMutations }

// MutateRowsRequest changes several rows of one shard. Each row is changed at once; that all of them are is so today and no promise.
// The response is Empty.
type MutateRowsRequest struct{ Entries []RowMutations }

// CheckAndMutateRowRequest makes one of two sets of changes, by whether the filter chooses any cell of the row.
type CheckAndMutateRowRequest struct {
	Row       kv.RowKey
	Predicate Filter
	Then      []Mutation
	Else      []Mutation
}

// CheckAndMutateRowResponse says which.
type CheckAndMutateRowResponse struct{ Matched bool }

// ReadModifyWriteRowRequest changes values by what they are. The rules apply in order.
type ReadModifyWriteRowRequest struct {
	Row   kv.RowKey
	Rules []Rule
}

// Rule appends to a column's newest value, or adds to it as a counter: eight bytes, big endian, two's complement, which wraps.
// An absent value is empty, or zero. The result is a new version.
type Rule struct {
	Family    string
	Qualifier []byte
	Counter   bool
	Add       int64
	Append    []byte
}

// ReadModifyWriteRowResponse has the new version of each column that a rule named, in the order of the rules.
type ReadModifyWriteRowResponse struct{ Row Row }

const (
	mutateVersion = 1
	maxMutations  = 100_000
)

func appendMutations(b []byte, ms []Mutation) []byte {
	b = wire.AppendUvarint(b, uint64(len(ms)))
	for i := range ms {
		m := &ms[i]
		b = append(b, byte(m.Kind))
		b = wire.AppendString(b, m.Family)
		b = wire.AppendBytes(b, m.Qualifier)
		b = wire.AppendUvarint(b, uint64(m.Timestamp))
		b = wire.AppendBytes(b, m.Value)
		b = wire.AppendUvarint(b, uint64(m.From))
		b = wire.AppendUvarint(b, uint64(m.To))
	}
	return b
}

func decodeMutations(d *wire.Decoder) []Mutation {
	var ms []Mutation
	for range d.Count(7) {
		ms = append(ms, Mutation{
			Kind: MutationKind(d.Byte()), Family: d.String(), Qualifier: d.Bytes(), Timestamp: d.Timestamp(),
			Value: d.Bytes(), From: d.Timestamp(), To: d.Timestamp(),
		})
	}
	return ms
}

// AppendTo appends: version | bytes row | mutations: uvarint count | byte kind | string family | bytes qualifier |
// uvarint timestamp | bytes value | uvarint from | uvarint to.
func (m *MutateRowRequest) AppendTo(b []byte) []byte {
	return appendMutations(wire.AppendBytes(append(b, mutateVersion), m.Row), m.Mutations)
}

// Decode reads what AppendTo wrote.
func (m *MutateRowRequest) Decode(b []byte) error {
	return m.decode(wire.NewDecoder(b, mutateVersion))
}

// DecodeOwn implements kv.OwnDecoder.
func (m *MutateRowRequest) DecodeOwn(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	d.Share()
	return m.decode(d)
}

func (m *MutateRowRequest) decode(d wire.Decoder) error {
	m.Row, m.Mutations = d.Bytes(), decodeMutations(&d)
	return wire.Wrap("MutateRowRequest", d.Finish())
}

// AppendTo appends: version | uvarint count | bytes row and mutations of each.
func (m *MutateRowsRequest) AppendTo(b []byte) []byte {
	b = wire.AppendUvarint(append(b, mutateVersion), uint64(len(m.Entries)))
	for _, e := range m.Entries {
		b = appendMutations(wire.AppendBytes(b, e.Row), e.Mutations)
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *MutateRowsRequest) Decode(b []byte) error {
	return m.decode(wire.NewDecoder(b, mutateVersion))
}

// DecodeOwn implements kv.OwnDecoder.
func (m *MutateRowsRequest) DecodeOwn(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	d.Share()
	return m.decode(d)
}

func (m *MutateRowsRequest) decode(d wire.Decoder) error {
	m.Entries = nil
	for range d.Count(2) {
		m.Entries = append(m.Entries, RowMutations{Row: d.Bytes(), Mutations: decodeMutations(&d)})
	}
	return wire.Wrap("MutateRowsRequest", d.Finish())
}

// AppendTo appends: version | bytes row | filter | mutations | mutations.
func (m *CheckAndMutateRowRequest) AppendTo(b []byte) []byte {
	b = m.Predicate.appendTo(wire.AppendBytes(append(b, mutateVersion), m.Row))
	return appendMutations(appendMutations(b, m.Then), m.Else)
}

// Decode reads what AppendTo wrote.
func (m *CheckAndMutateRowRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	m.Row, m.Predicate = d.Bytes(), decodeFilter(&d)
	m.Then, m.Else = decodeMutations(&d), decodeMutations(&d)
	return wire.Wrap("CheckAndMutateRowRequest", d.Finish())
}

// AppendTo appends: version | bool.
func (m *CheckAndMutateRowResponse) AppendTo(b []byte) []byte {
	return wire.AppendBool(append(b, mutateVersion), m.Matched)
}

// Decode reads what AppendTo wrote.
func (m *CheckAndMutateRowResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	m.Matched = d.Bool()
	return wire.Wrap("CheckAndMutateRowResponse", d.Finish())
}

// AppendTo appends: version | bytes row | uvarint count | string family | bytes qualifier | bool counter | uvarint add | bytes append.
func (m *ReadModifyWriteRowRequest) AppendTo(b []byte) []byte {
	b = wire.AppendBytes(append(b, mutateVersion), m.Row)
	b = wire.AppendUvarint(b, uint64(len(m.Rules)))
	for i := range m.Rules {
		r := &m.Rules[i]
		b = wire.AppendString(b, r.Family)
		b = wire.AppendBytes(b, r.Qualifier)
		b = wire.AppendBool(b, r.Counter)
		b = wire.AppendUvarint(b, uint64(r.Add))
		b = wire.AppendBytes(b, r.Append)
	}
	return b
}

// Decode reads what AppendTo wrote.
func (m *ReadModifyWriteRowRequest) Decode(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	m.Row, m.Rules = d.Bytes(), nil
	for range d.Count(5) {
		m.Rules = append(m.Rules, Rule{
			Family: d.String(), Qualifier: d.Bytes(), Counter: d.Bool(), Add: int64(d.Uvarint()), Append: d.Bytes(),
		})
	}
	return wire.Wrap("ReadModifyWriteRowRequest", d.Finish())
}

// AppendTo appends: version | row.
func (m *ReadModifyWriteRowResponse) AppendTo(b []byte) []byte {
	return appendRow(append(b, mutateVersion), &m.Row)
}

// Decode reads what AppendTo wrote.
func (m *ReadModifyWriteRowResponse) Decode(b []byte) error {
	d := wire.NewDecoder(b, mutateVersion)
	m.Row = decodeRow(&d, "", nil)
	return wire.Wrap("ReadModifyWriteRowResponse", d.Finish())
}

// writer applies mutations of one row. Its reads go through what it has written, because a batch does not show itself.
type writer struct {
	e       kv.Eval
	clock   *clock
	t       *Table
	row     kv.RowKey
	now     time.Time
	order   []*column              // that the command touches
	columns map[columnName]*column // the same, once they are many
}

type columnName struct {
	family    kv.FamilyID
	qualifier string
}

// column is a column that the command touches, with the versions it will have, newest first.
type column struct {
	address  kv.Address
	family   *Family
	loaded   bool // the newest version is loaded, if there is one
	whole    bool // all that is stored is loaded
	versions []kv.Version
	stored   stamps // what is there now
	changed  stamps // what is to be written
}

// stamps is a set of timestamps, of which there mostly is one.
type stamps struct {
	one  kv.Timestamp
	some bool // one is in it
	more map[kv.Timestamp]bool
}

func (s *stamps) has(ts kv.Timestamp) bool { return s.some && s.one == ts || s.more[ts] }

func (s *stamps) add(ts kv.Timestamp) {
	switch {
	case !s.some:
		s.one, s.some = ts, true
	case s.one == ts:
	default:
		if s.more == nil {
			s.more = map[kv.Timestamp]bool{}
		}
		s.more[ts] = true
	}
}

func newWriter(c *Coprocessor, e kv.Eval, row kv.RowKey) (*writer, error) {
	t, err := c.tables.get(row)
	if err != nil {
		return nil, err
	}
	return &writer{e: e, clock: &e.State().(*state).clock, t: t, row: row, now: time.Now()}, nil
}

// fewColumns are found by looking at each.
const fewColumns = 8

// column returns a column as far as this command knows it.
func (w *writer) column(f *Family, qualifier []byte) *column {
	if w.columns == nil {
		for _, c := range w.order {
			if c.family == f && bytes.Equal(c.address.Qualifier, qualifier) {
				return c
			}
		}
	} else if c := w.columns[columnName{f.ID, string(qualifier)}]; c != nil {
		return c
	}
	c := &column{address: w.t.address(w.row, f, qualifier), family: f}
	w.order = append(w.order, c)
	switch {
	case w.columns != nil:
		w.columns[columnName{f.ID, string(qualifier)}] = c
	case len(w.order) > fewColumns:
		w.columns = make(map[columnName]*column, 2*len(w.order))
		for _, c := range w.order {
			w.columns[columnName{c.family.ID, string(c.address.Qualifier)}] = c
		}
	}
	return c
}

// load reads a column: its newest version, which is all that it takes to write above it, or the whole of it.
func (w *writer) load(f *Family, qualifier []byte, whole bool) (*column, error) {
	c := w.column(f, qualifier)
	whole = whole || f.MaxVersions > 0
	if c.whole || c.loaded && !whole {
		return c, nil
	}
	it, err := w.e.Iter(kv.IterOptions{Group: c.address.Group, Span: rowSpan(w.row)})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	if it.SeekColumn(c.address.Column) && it.Column().Family == f.ID && bytes.Equal(it.Column().Qualifier, qualifier) {
		for ok := true; ok; ok = it.NextVersion() {
			v := it.Version()
			// What is known already may have been overwritten or removed by an earlier mutation of this command.
			if !c.stored.has(v.Timestamp) {
				c.stored.add(v.Timestamp)
				if !c.changed.has(v.Timestamp) {
					c.insert(kv.Version{Timestamp: v.Timestamp, Value: bytes.Clone(v.Value)})
				}
			}
			if !whole {
				break
			}
		}
	}
	c.whole, c.loaded = whole, true
	if whole && f.MaxVersions > 0 && len(c.versions) > f.MaxVersions {
		// What the policy has given up is gone for this command too: removing newer versions must not bring it back.
		c.versions = c.versions[:f.MaxVersions]
	}
	return c, it.Err()
}

// oneInSoMany writes that need not read do so all the same and take the column's garbage along, so that a column that is written to all
// the time stays short. What nobody writes to is the sweep's.
const oneInSoMany = 16

// setCell puts a version in, if possible without a look at the others.
func (w *writer) setCell(f *Family, m *Mutation) (err error) {
	c := w.column(f, m.Qualifier)
	ts := m.Timestamp
	blind := !f.bounded() || rand.Uint32N(oneInSoMany) != 0
	switch {
	case c.loaded:
	case ts == 0 && blind:
		var ok bool
		if ts, ok, err = w.clock.next(kv.TimestampAt(w.now)); err != nil {
			return err
		} else if ok {
			c.insert(kv.Version{Timestamp: ts, Value: m.Value})
			c.changed.add(ts)
			return nil
		}
		_, err = w.load(f, m.Qualifier, false)
	case !blind || ts == 0:
		_, err = w.load(f, m.Qualifier, false)
	}
	if err == nil {
		_, err = w.set(c, ts, m.Value)
	}
	return err
}

// insert puts a version where it belongs, in the place of one with its timestamp.
func (c *column) insert(v kv.Version) {
	i := 0
	for i < len(c.versions) && c.versions[i].Timestamp > v.Timestamp {
		i++
	}
	if i == len(c.versions) || c.versions[i].Timestamp != v.Timestamp {
		c.versions = slices.Insert(c.versions, i, kv.Version{})
	}
	c.versions[i] = v
}

// loadFamily reads all columns of a family that the row has.
func (w *writer) loadFamily(f *Family) error {
	it, err := w.e.Iter(kv.IterOptions{Group: w.t.group(f).ID, Span: rowSpan(w.row)})
	if err != nil {
		return err
	}
	defer it.Close()
	var found [][]byte
	for it.NextColumn() {
		if it.Column().Family == f.ID {
			found = append(found, bytes.Clone(it.Column().Qualifier))
		}
	}
	for _, q := range found {
		if _, err := w.load(f, q, true); err != nil {
			return err
		}
	}
	return it.Err()
}

// newest returns the column's newest value that its policy keeps.
func (w *writer) newest(c *column) []byte {
	if len(c.versions) == 0 || c.versions[0].Timestamp < c.family.oldest(w.now) {
		return nil
	}
	return c.versions[0].Value
}

// set puts a version in; a zero timestamp asks for one that makes it the newest.
func (w *writer) set(c *column, ts kv.Timestamp, value []byte) (kv.Timestamp, error) {
	if ts == 0 {
		ts = kv.TimestampAt(w.now)
		if len(c.versions) > 0 && c.versions[0].Timestamp >= ts {
			ts = c.versions[0].Timestamp + 1
		}
	}
	if ts > kv.MaxTimestamp {
		return 0, kv.Errorf(kv.CodeInvalidArgument, "store", "no timestamp is left above the newest version of the column")
	}
	if err := w.clock.note(kv.TimestampAt(w.now), ts); err != nil {
		return 0, err
	}
	c.insert(kv.Version{Timestamp: ts, Value: value})
	c.changed.add(ts)
	return ts, nil
}

func (c *column) remove(from, to kv.Timestamp) {
	kept := c.versions[:0]
	for _, v := range c.versions {
		if v.Timestamp < from || to != 0 && v.Timestamp >= to {
			kept = append(kept, v)
		}
	}
	c.versions = kept
}

func (w *writer) mutate(ms []Mutation) error {
	if len(ms) > maxMutations {
		return kv.Errorf(kv.CodeInvalidArgument, "store.Mutate", "%d changes of one row; send at most %d at a time", len(ms), maxMutations)
	}
	for i := range ms {
		m := &ms[i]
		var f *Family
		var err error
		if m.Kind != DeleteRow {
			if f, err = w.t.family(m.Family); err != nil {
				return err
			}
		}
		switch m.Kind {
		case SetCell:
			err = w.setCell(f, m)
		case DeleteColumn:
			var c *column
			if c, err = w.load(f, m.Qualifier, true); err == nil {
				c.remove(m.From, m.To)
			}
		case DeleteFamily:
			err = w.removeFamily(f)
		case DeleteRow:
			for i := range w.t.Families {
				if err == nil {
					err = w.removeFamily(&w.t.Families[i])
				}
			}
		default:
			err = kv.Errorf(kv.CodeInvalidArgument, "store.Mutate", "there is no mutation of kind %d", m.Kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) removeFamily(f *Family) error {
	if err := w.loadFamily(f); err != nil {
		return err
	}
	for _, c := range w.order {
		if c.family == f {
			c.remove(0, 0)
		}
	}
	return nil
}

// flush turns the columns into the batch: what is new is set; what is gone, or beyond the family's policy, is deleted.
func (w *writer) flush() {
	for _, c := range w.order {
		var keep stamps
		oldest := c.family.oldest(w.now)
		for i, v := range c.versions {
			if c.family.MaxVersions > 0 && i >= c.family.MaxVersions || v.Timestamp < oldest {
				break
			}
			keep.add(v.Timestamp)
			if c.changed.has(v.Timestamp) {
				w.e.Set(c.address, v.Timestamp, v.Value)
			}
		}
		if c.stored.some && !keep.has(c.stored.one) {
			w.e.Delete(c.address, c.stored.one)
		}
		for ts := range c.stored.more {
			if !keep.has(ts) {
				w.e.Delete(c.address, ts)
			}
		}
	}
}

func (c *Coprocessor) mutateRow(e kv.Eval, row kv.RowKey, ms []Mutation) error {
	w, err := newWriter(c, e, row)
	if err == nil {
		err = w.mutate(ms)
	}
	if err == nil {
		w.flush()
	}
	return err
}

func (c *Coprocessor) mutateRows(e kv.Eval, req kv.Message) (kv.Message, error) {
	seen := map[string]bool{}
	for _, r := range req.(*MutateRowsRequest).Entries {
		if seen[string(r.Row)] {
			return nil, kv.Errorf(kv.CodeInvalidArgument, "store.MutateRows", "row %x is named twice; put its changes together", []byte(r.Row))
		}
		seen[string(r.Row)] = true
		if err := c.mutateRow(e, r.Row, r.Mutations); err != nil {
			return nil, err
		}
	}
	return &Empty{}, nil
}

func (c *Coprocessor) checkAndMutateRow(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*CheckAndMutateRowRequest)
	t, err := c.tables.get(m.Row)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(t, &m.Predicate)
	if err != nil {
		return nil, err
	}
	row, err := p.row(e, m.Row) // the command holds the row's latch
	if err != nil {
		return nil, err
	}
	resp := &CheckAndMutateRowResponse{Matched: len(row.Cells) > 0}
	ms := m.Else
	if resp.Matched {
		ms = m.Then
	}
	return resp, c.mutateRow(e, m.Row, ms)
}

func (c *Coprocessor) readModifyWriteRow(e kv.Eval, req kv.Message) (kv.Message, error) {
	m := req.(*ReadModifyWriteRowRequest)
	w, err := newWriter(c, e, m.Row)
	if err != nil {
		return nil, err
	}
	resp := &ReadModifyWriteRowResponse{Row: Row{Key: bytes.Clone(m.Row)}}
	for i := range m.Rules {
		r := &m.Rules[i]
		f, err := w.t.family(r.Family)
		if err != nil {
			return nil, err
		}
		col, err := w.load(f, r.Qualifier, false)
		if err != nil {
			return nil, err
		}
		value, err := r.apply(w.newest(col))
		if err != nil {
			return nil, err
		}
		ts, err := w.set(col, 0, value)
		if err != nil {
			return nil, err
		}
		resp.Row.Cells = append(resp.Row.Cells, Cell{Family: f.Name, Qualifier: bytes.Clone(r.Qualifier), Timestamp: ts, Value: bytes.Clone(value)})
	}
	w.flush()
	return resp, nil
}

func (r *Rule) apply(old []byte) ([]byte, error) {
	if !r.Counter {
		return append(append(make([]byte, 0, len(old)+len(r.Append)), old...), r.Append...), nil
	}
	var n int64
	switch len(old) {
	case 0:
	case 8:
		n = int64(binary.BigEndian.Uint64(old))
	default:
		return nil, kv.Errorf(kv.CodeInvalidArgument, "store.ReadModifyWriteRow", "the value of %s:%q has %d bytes; a counter has 8", r.Family, r.Qualifier, len(old))
	}
	return binary.BigEndian.AppendUint64(nil, uint64(n+r.Add)), nil
}
