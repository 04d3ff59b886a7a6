package bigtable

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/wire"
)

// Table is a table of the store: what CreateTable is told, and the numbers that it was given.
type Table struct {
	Name           string
	Families       []Family
	LocalityGroups []LocalityGroup // without any, all families share one on disk
	ID             kv.TableID      // given by CreateTable
}

// Family is a column family. Its garbage is what lies beyond either bound; zero is no bound.
type Family struct {
	Name          string
	LocalityGroup string // empty: the first
	MaxVersions   int
	MaxAge        time.Duration
	ID            kv.FamilyID // given by CreateTable
}

// LocalityGroup keeps families together, and apart from others: a read of one never touches the blocks of another.
type LocalityGroup struct {
	Name        string
	InMemory    bool        // served from memory; on disk is only an image for restart
	Compression Compression // of the blocks on disk
	ID          kv.GroupID  // given by CreateTable
}

// Compression chooses between small blocks and fast ones.
type Compression uint8

const (
	CompressForSize Compression = iota
	CompressForSpeed
)

const (
	maxFamilies   = 128
	maxNameLength = 128
	schemaVersion = 1
)

// appendTable: version | string name | uvarint id | uvarint count | groups | uvarint count | families
//
//	group    string name | bool in memory | byte compression | byte id
//	family   string name | byte id | string group | uvarint versions | uvarint age in ns
func appendTable(b []byte, t *Table) []byte {
	b = append(b, schemaVersion)
	b = wire.AppendString(b, t.Name)
	b = wire.AppendUvarint(b, uint64(t.ID))
	b = wire.AppendUvarint(b, uint64(len(t.LocalityGroups)))
	for _, g := range t.LocalityGroups {
		b = wire.AppendString(b, g.Name)
		b = wire.AppendBool(b, g.InMemory)
		b = append(b, byte(g.Compression), byte(g.ID))
	}
	b = wire.AppendUvarint(b, uint64(len(t.Families)))
	for _, f := range t.Families {
		b = wire.AppendString(b, f.Name)
		b = append(b, byte(f.ID))
		b = wire.AppendString(b, f.LocalityGroup)
		b = wire.AppendUvarint(b, uint64(f.MaxVersions))
		b = wire.AppendUvarint(b, uint64(f.MaxAge))
	}
	return b
}

func decodeTable(b []byte) (*Table, error) {
	d := wire.NewDecoder(b, schemaVersion)
	t := &Table{Name: d.String(), ID: kv.TableID(d.Bounded(1<<32 - 1))}
	for range d.Count(4) {
		t.LocalityGroups = append(t.LocalityGroups, LocalityGroup{
			Name: d.String(), InMemory: d.Bool(), Compression: Compression(d.Byte()), ID: kv.GroupID(d.Byte()),
		})
	}
	for range d.Count(5) {
		t.Families = append(t.Families, Family{
			Name: d.String(), ID: kv.FamilyID(d.Byte()), LocalityGroup: d.String(),
			MaxVersions: int(d.Bounded(1 << 31)), MaxAge: time.Duration(d.Bounded(1<<63 - 1)),
		})
	}
	return t, wire.Wrap("table", d.Finish())
}

// prepare checks a table that is to be created and gives its families and groups their numbers.
func (t *Table) prepare() error {
	bad := func(format string, args ...any) error {
		return kv.Errorf(kv.CodeInvalidArgument, "store.CreateTable", format, args...)
	}
	if t.Name == "" || len(t.Name) > maxNameLength {
		return bad("a table's name has 1 to %d bytes", maxNameLength)
	}
	if len(t.Families) == 0 || len(t.Families) > maxFamilies {
		return bad("a table has 1 to %d families", maxFamilies)
	}
	if len(t.LocalityGroups) == 0 {
		t.LocalityGroups = []LocalityGroup{{Name: "default"}}
	}
	disk, fast, mem := groupDisk0, groupFast0, groupMem0
	for i := range t.LocalityGroups {
		g := &t.LocalityGroups[i]
		next, beyond := &disk, groupFast0
		switch {
		case g.Compression > CompressForSpeed:
			return bad("locality group %q: there is no compression %d", g.Name, g.Compression)
		case g.InMemory:
			next, beyond = &mem, groupBeyond
		case g.Compression == CompressForSpeed:
			next, beyond = &fast, groupMem0
		}
		if *next == beyond {
			return bad("too many locality groups: a table has at most 4 on disk, 3 compressed for speed and 7 in memory")
		}
		g.ID = *next
		*next++
		if g.Name == "" || slices.ContainsFunc(t.LocalityGroups[:i], func(x LocalityGroup) bool { return x.Name == g.Name }) {
			return bad("locality group %q: names must be there and differ", g.Name)
		}
	}
	for i := range t.Families {
		f := &t.Families[i]
		f.ID = kv.FamilyID(i + 1)
		if f.Name == "" || len(f.Name) > maxNameLength || slices.ContainsFunc(t.Families[:i], func(x Family) bool { return x.Name == f.Name }) {
			return bad("family %q: names must be there, be short and differ", f.Name)
		}
		if f.MaxVersions < 0 || f.MaxAge < 0 {
			return bad("family %q: a bound of garbage collection is negative", f.Name)
		}
		if f.LocalityGroup == "" {
			f.LocalityGroup = t.LocalityGroups[0].Name
		}
		if t.group(f) == nil {
			return bad("family %q: there is no locality group %q", f.Name, f.LocalityGroup)
		}
	}
	return nil
}

func (t *Table) group(f *Family) *LocalityGroup {
	for i := range t.LocalityGroups {
		if t.LocalityGroups[i].Name == f.LocalityGroup {
			return &t.LocalityGroups[i]
		}
	}
	return nil
}

func (t *Table) family(name string) (*Family, error) {
	for i := range t.Families {
		if t.Families[i].Name == name {
			return &t.Families[i], nil
		}
	}
	return nil, kv.Errorf(kv.CodeNotFound, "store", "table %s has no family %q", t.Name, name)
}

func (t *Table) familyByID(id kv.FamilyID) *Family {
	if i := int(id) - 1; i >= 0 && i < len(t.Families) {
		return &t.Families[i]
	}
	return nil
}

// address is where a column of the table lies in its shard.
func (t *Table) address(row kv.RowKey, f *Family, qualifier []byte) kv.Address {
	return kv.Address{Group: t.group(f).ID, Column: kv.Column{Row: row, Family: f.ID, Qualifier: qualifier}}
}

// Span is the rows of the table.
func (t *Table) Span() kv.Span { return tableSpan(t.ID) }

// Bounded reports whether any family has a policy, so that the table can have garbage.
func (t *Table) Bounded() bool {
	return slices.ContainsFunc(t.Families, func(f Family) bool { return f.bounded() })
}

func tableSpan(id kv.TableID) kv.Span {
	return kv.Span{Start: kv.MakeRowKey(id, nil), End: kv.MakeRowKey(id+1, nil)}
}

// tables is what a process knows of the schemas: read at every command, changed seldom.
type tables struct {
	m atomic.Pointer[map[kv.TableID]*Table]
}

func (ts *tables) get(row kv.RowKey) (*Table, error) {
	if m := ts.m.Load(); m != nil {
		if t, ok := (*m)[row.Table()]; ok {
			return t, nil
		}
	}
	return nil, kv.Errorf(kv.CodeNotFound, "store", "there is no table with the number %d", row.Table())
}

// change replaces the map; changes are serialized by the latches of the schema's rows and by OnDurable.
func (ts *tables) change(f func(m map[kv.TableID]*Table)) {
	m := map[kv.TableID]*Table{}
	if old := ts.m.Load(); old != nil {
		for id, t := range *old {
			m[id] = t
		}
	}
	f(m)
	ts.m.Store(&m)
}

func (ts *tables) list() []*Table {
	var all []*Table
	if m := ts.m.Load(); m != nil {
		for _, t := range *m {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *Table) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
