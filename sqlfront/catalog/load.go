package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"moka/kv"
	"moka/txn"
)

var emptySnapshot = newBuilder(nil).finish(0, nil)

// load builds the snapshot of a version: from a cached one and the change log if that reaches back far
// enough, else from a scan of all descriptors, which one transaction does at a time.
func (c *Catalog) load(ctx context.Context, t *txn.Txn, m mark, value []byte) (*Snapshot, error) {
	if s, err := c.advance(ctx, t, m, value); s != nil || err != nil {
		return s, err
	}
	select {
	case <-c.scanning:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { c.scanning <- struct{}{} }()
	// who scanned before may have left what this one can begin with
	if s, err := c.advance(ctx, t, m, value); s != nil || err != nil {
		return s, err
	}
	b := newBuilder(nil)
	span := kv.Span{Start: column(prefixCatalog, kindDatabase).Row, End: column(prefixCatalog, kindEnd).Row}
	scan := t.Scan(ctx, txn.ScanOptions{Span: span, Batch: 1024})
	defer scan.Close()
	for scan.Next() {
		row, err := descriptorRow(scan.Column())
		if err != nil {
			return nil, err
		}
		if err := b.set(row, scan.Value()); err != nil {
			return nil, err
		}
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	return b.finish(m.version, value), nil
}

// maxAdvance bounds the change log entries that are followed; beyond it a scan is about as cheap.
const maxAdvance = 64

// advance derives a snapshot from the newest cached one that the change log leads from to it. It returns nil,
// nil if there is none: entries were trimmed, or the snapshots are of transactions that rolled back.
func (c *Catalog) advance(ctx context.Context, t *txn.Txn, m mark, value []byte) (*Snapshot, error) {
	bases := c.bases(m.version)
	if len(bases) == 0 {
		return nil, nil
	}
	// For the newest first, nearly always the one: the entries from the oldest would be many.
	base, rows, err := c.changes(ctx, t, bases[:1], m)
	if base == nil && err == nil && len(bases) > 1 {
		base, rows, err = c.changes(ctx, t, bases[1:], m)
	}
	if base == nil || err != nil {
		return nil, err
	}
	cells := make([]kv.Column, len(rows))
	for i, r := range rows {
		cells[i] = descriptorCell([]byte(r))
	}
	values, err := t.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	b := newBuilder(base)
	for i, r := range rows {
		if values[i].OK {
			err = b.set([]byte(r), values[i].Data)
		} else {
			err = b.unset([]byte(r))
		}
		if err != nil {
			return nil, err
		}
	}
	return b.finish(m.version, value), nil
}

// changes reads the change log back from a version until it comes to one of the bases, which are ordered from
// the newest, and lists the rows that have changed since; nil if it comes to none.
func (c *Catalog) changes(ctx context.Context, t *txn.Txn, bases []*Snapshot,
	m mark) (*Snapshot, []string, error) {
	var cells []kv.Column
	for v := m.version; v > bases[len(bases)-1].Version; v-- {
		cells = append(cells, logCell(v))
	}
	entries, err := t.BatchGet(ctx, cells)
	if err != nil {
		return nil, nil, err
	}
	at := m // the version that the entries read so far lead from
	changed := make(map[string]struct{})
	for i, e := range entries {
		if !e.OK {
			return nil, nil, nil
		}
		ch, err := decodeChange(cells[i].Row, e.Data)
		if err != nil {
			return nil, nil, err
		}
		if ch.after != at.random {
			return nil, nil, nil
		}
		at = mark{version: at.version - 1, random: ch.before}
		for _, r := range ch.rows {
			changed[string(r)] = struct{}{}
		}
		for _, s := range bases {
			if s.IsCurrent(at.encode()) {
				return s, slices.Sorted(maps.Keys(changed)), nil
			}
		}
	}
	return nil, nil, nil
}

// builder makes a snapshot. It copies what it changes and shares the rest with its base.
type builder struct {
	s     *Snapshot
	fresh map[uint32]bool // databases that are copies already
	based bool            // there may be older versions of what is set
}

func newBuilder(base *Snapshot) *builder {
	b := &builder{s: &Snapshot{}, fresh: make(map[uint32]bool)}
	if base == nil {
		b.s.databaseIDs = make(map[uint32]*Database)
		b.s.blobs = make(map[string][]byte)
		return b
	}
	b.based = true
	b.s.databaseIDs = maps.Clone(base.databaseIDs)
	b.s.blobs = maps.Clone(base.blobs)
	return b
}

// database returns a copy of the database that may be changed. Contents may come before the
// database's own descriptor.
func (b *builder) database(id uint32) *Database {
	d := b.s.databaseIDs[id]
	if d != nil && b.fresh[id] {
		return d
	}
	c := &Database{ID: id}
	if d != nil {
		*c = *d
	}
	c.tables, c.views, c.triggers = cloned(c.tables), cloned(c.views), cloned(c.triggers)
	c.procedures, c.functions, c.events, c.observers = cloned(c.procedures), cloned(c.functions),
		cloned(c.events), cloned(c.observers)
	b.s.databaseIDs[id], b.fresh[id] = c, true
	return c
}

func cloned[T any](m map[string]T) map[string]T {
	if m == nil {
		return make(map[string]T)
	}
	return maps.Clone(m)
}

// set takes in the descriptor stored at row, replacing an older one.
func (b *builder) set(row, value []byte) error {
	if row[0] == kindBlob {
		if len(value) == 0 || value[0] != formatVersion {
			return &CorruptError{Key: row, Err: fmt.Errorf("unknown format version")}
		}
		b.s.blobs[string(row[1:])] = slices.Clone(value[1:])
		return nil
	}
	if len(row) < 5 {
		return &CorruptError{Key: row, Err: fmt.Errorf("row is too short")}
	}
	d := b.database(binary.BigEndian.Uint32(row[1:]))
	switch row[0] {
	case kindDatabase:
		var stored Database
		if err := decodeDescriptor(row, value, &stored); err != nil {
			return err
		}
		d.Name, d.Collation = stored.Name, stored.Collation
		return nil
	case kindTable:
		return setByID(b, d, d.tables, row, value, func(t *Table) (uint32, string) {
			return t.ID, t.Name
		}, (*Table).seal)
	case kindObserver:
		return setByID(b, d, d.observers, row, value, func(o *Observer) (uint32, string) {
			return o.ID, o.Name
		}, nil)
	case kindView:
		return setByName(d, d.views, row, value)
	case kindTrigger:
		return setByName(d, d.triggers, row, value)
	case kindProcedure:
		return setByName(d, d.procedures, row, value)
	case kindFunction:
		return setByName(d, d.functions, row, value)
	case kindEvent:
		return setByName(d, d.events, row, value)
	}
	return nil // a newer program's kind of descriptor; it bumps the version when we have to understand it
}

// unset takes out the descriptor stored at row.
func (b *builder) unset(row []byte) error {
	if row[0] == kindBlob {
		delete(b.s.blobs, string(row[1:]))
		return nil
	}
	if len(row) < 5 {
		return &CorruptError{Key: row, Err: fmt.Errorf("row is too short")}
	}
	id := binary.BigEndian.Uint32(row[1:])
	if row[0] == kindDatabase {
		delete(b.s.databaseIDs, id)
		return nil
	}
	if b.s.databaseIDs[id] == nil {
		return nil // went with its database
	}
	d := b.database(id)
	name := shown(string(row[5:]))
	switch row[0] {
	case kindTable:
		dropByID(d, d.tables, row, func(t *Table) uint32 { return t.ID })
	case kindObserver:
		dropByID(d, d.observers, row, func(o *Observer) uint32 { return o.ID })
	case kindView:
		dropByName(d, d.views, name)
	case kindTrigger:
		dropByName(d, d.triggers, name)
	case kindProcedure:
		dropByName(d, d.procedures, name)
	case kindFunction:
		dropByName(d, d.functions, name)
	case kindEvent:
		dropByName(d, d.events, name)
	}
	return nil
}

// stored is a kind of descriptor.
type stored[T any] interface {
	*T
	weighs() *int64
}

func setByID[T any, P stored[T]](b *builder, d *Database, m map[string]P, row, value []byte,
	key func(P) (uint32, string), seal func(P)) error {
	v := P(new(T))
	if err := decodeDescriptor(row, value, v); err != nil {
		return err
	}
	id, name := key(v)
	if b.based { // the same id under another name is the thing before its renaming
		dropByID(d, m, row, func(o P) uint32 { old, _ := key(o); return old })
	}
	if len(row) != 9 || binary.BigEndian.Uint32(row[5:]) != id {
		return &CorruptError{Key: row, Err: fmt.Errorf("descriptor of id %d", id)}
	}
	if seal != nil {
		seal(v)
	}
	add(d, m, fold(name), v, value)
	return nil
}

func dropByID[T any, P stored[T]](d *Database, m map[string]P, row []byte, id func(P) uint32) {
	if len(row) != 9 {
		return
	}
	for name, v := range m {
		if id(v) == binary.BigEndian.Uint32(row[5:]) {
			dropByName(d, m, name)
			return
		}
	}
}

func setByName[T any, P stored[T]](d *Database, m map[string]P, row, value []byte) error {
	v := P(new(T))
	if err := decodeDescriptor(row, value, v); err != nil {
		return err
	}
	add(d, m, shown(string(row[5:])), v, value)
	return nil
}

// add puts a descriptor that is stored as value in the place of another of its name.
func add[T any, P stored[T]](d *Database, m map[string]P, name string, v P, value []byte) {
	dropByName(d, m, name)
	w := weigh(v, len(value))
	*v.weighs() = w
	d.weight += w
	m[name] = v
}

func dropByName[T any, P stored[T]](d *Database, m map[string]P, name string) {
	if v, ok := m[name]; ok {
		d.weight -= *v.weighs()
		delete(m, name)
	}
}

// finish fills in what is derived from the descriptors.
func (b *builder) finish(version uint64, value []byte) *Snapshot {
	s := b.s
	s.Version, s.mark = version, bytes.Clone(value)
	s.databases = make(map[string]*Database, len(s.databaseIDs))
	s.tableIDs = make(map[uint32]*Table)
	s.observers = make(map[uint32][]*Observer)
	s.observerIDs = make(map[uint32]*Observer)
	s.references = make(map[string][]Reference)
	s.incremental = make(map[uint32][]*Table)
	for id, d := range s.databaseIDs {
		if d.Name == "" { // contents whose database is gone
			delete(s.databaseIDs, id)
			continue
		}
		s.databases[fold(d.Name)] = d
		s.weight += d.weight + otherWeight
		for _, t := range d.tables {
			s.tableIDs[t.ID] = t
			if t.Incremental != nil {
				for i, u := range t.Incremental.Uses {
					if !slices.ContainsFunc(t.Incremental.Uses[:i],
						func(b Use) bool { return b.Table == u.Table }) {
						s.incremental[u.Table] = append(s.incremental[u.Table], t)
					}
				}
			}
			for _, fk := range t.ForeignKeys {
				k := referenceKey(fk.ParentDatabase, fk.ParentTable)
				s.references[k] = append(s.references[k], Reference{Database: d, Table: t, Key: fk})
			}
		}
		for _, o := range d.observers {
			s.observerIDs[o.ID] = o
			s.observers[o.TableID] = append(s.observers[o.TableID], o)
		}
	}
	for _, os := range s.observers {
		slices.SortFunc(os, func(a, b *Observer) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, vs := range s.incremental {
		slices.SortFunc(vs, func(a, b *Table) int { return cmp.Compare(a.ID, b.ID) })
	}
	for _, rs := range s.references {
		slices.SortFunc(rs, func(a, b Reference) int {
			return cmp.Or(cmp.Compare(a.Table.ID, b.Table.ID), cmp.Compare(a.Key.Name, b.Key.Name))
		})
	}
	return s
}
