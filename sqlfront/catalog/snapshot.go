package catalog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Snapshot is the catalog as of one schema version. It is immutable and shared: descriptors are the same
// pointers in all snapshots between which they did not change, so a layer above may key its own objects
// by *Table or *Database.
type Snapshot struct {
	// Version grows with every change of the catalog.
	Version uint64

	mark        []byte // the version cell's content: equal marks mean equal contents
	databases   map[string]*Database
	databaseIDs map[uint32]*Database
	tableIDs    map[uint32]*Table
	observers   map[uint32][]*Observer // by table id, ordered by observer id
	observerIDs map[uint32]*Observer
	incremental map[uint32][]*Table // incremental views by the id of each table that they read
	blobs       map[string][]byte
	references  map[string][]Reference // foreign keys by folded parent "db\x00table"
	weight      int64                  // of all databases, see weigh
	triggers    uint64                 // whose version the triggers are of; zero is its own
}

// IsCurrent reports whether value, read from VersionCell at some snapshot, says that this is the catalog of
// that snapshot. It lets a reader run on Latest and read the version cell in the same batch as its rows.
func (s *Snapshot) IsCurrent(value []byte) bool { return bytes.Equal(s.mark, value) }

// Database returns the named database.
func (s *Snapshot) Database(name string) (*Database, bool) {
	d, ok := s.databases[name]
	if !ok {
		d, ok = s.databases[fold(name)]
	}
	return d, ok
}

// DatabaseByID returns the database with that id.
func (s *Snapshot) DatabaseByID(id uint32) (*Database, bool) {
	d, ok := s.databaseIDs[id]
	return d, ok
}

// Databases returns all databases ordered by name.
func (s *Snapshot) Databases() []*Database {
	return sorted(s.databases, func(d *Database) string { return d.Name })
}

// TableByID returns the table with that id.
func (s *Snapshot) TableByID(id uint32) (*Table, bool) { t, ok := s.tableIDs[id]; return t, ok }

// Observers returns the observers of a table ordered by id; nil for most tables.
func (s *Snapshot) Observers(table uint32) []*Observer { return s.observers[table] }

// ObserverByID returns the observer with that id.
func (s *Snapshot) ObserverByID(id uint32) (*Observer, bool) {
	o, ok := s.observerIDs[id]
	return o, ok
}

// AllObservers returns the observers of all databases ordered by id.
func (s *Snapshot) AllObservers() []*Observer {
	all := make([]*Observer, 0, len(s.observerIDs))
	for _, o := range s.observerIDs {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Observer) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// References returns the foreign keys whose parent is the named table, wherever they are declared.
func (s *Snapshot) References(database, table string) []Reference {
	return s.references[referenceKey(database, table)]
}

// Blob returns a named value (privileges, persisted variables). The slice is the same one until the value
// changes and must not be modified.
func (s *Snapshot) Blob(name string) ([]byte, bool) { b, ok := s.blobs[name]; return b, ok }

// Blobs returns the names of all blobs that begin with prefix, ordered.
func (s *Snapshot) Blobs(prefix string) []string {
	var names []string
	for n := range s.blobs {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// Table returns the named table. Names are compared without case; there are never two that differ in case
// only.
func (d *Database) Table(name string) (*Table, bool) { return lookup(d.tables, name) }

// Tables returns all tables ordered by name.
func (d *Database) Tables() []*Table {
	return sorted(d.tables, func(t *Table) string { return t.Name })
}

// View returns the named view.
func (d *Database) View(name string) (*View, bool) { return lookup(d.views, name) }

// Views returns all views ordered by name.
func (d *Database) Views() []*View { return sorted(d.views, func(v *View) string { return v.Name }) }

// Trigger returns the named trigger.
func (d *Database) Trigger(name string) (*Trigger, bool) { return lookup(d.triggers, name) }

// Triggers returns all triggers in the order of their creation, which is the order in which MySQL runs them.
func (d *Database) Triggers() []*Trigger {
	ts := sorted(d.triggers, func(t *Trigger) string { return t.Name })
	slices.SortStableFunc(ts, func(a, b *Trigger) int { return a.Created.Compare(b.Created) })
	return ts
}

// Procedure returns the named stored procedure.
func (d *Database) Procedure(name string) (*Procedure, bool) { return lookup(d.procedures, name) }

// Procedures returns all stored procedures ordered by name.
func (d *Database) Procedures() []*Procedure {
	return sorted(d.procedures, func(p *Procedure) string { return p.Name })
}

// Function returns the named stored function.
func (d *Database) Function(name string) (*Procedure, bool) { return lookup(d.functions, name) }

// Functions returns all stored functions ordered by name.
func (d *Database) Functions() []*Procedure {
	return sorted(d.functions, func(p *Procedure) string { return p.Name })
}

// Event returns the named event.
func (d *Database) Event(name string) (*Event, bool) { return lookup(d.events, name) }

// Events returns all events ordered by name.
func (d *Database) Events() []*Event {
	return sorted(d.events, func(e *Event) string { return e.Name })
}

// Observer returns the named observer.
func (d *Database) Observer(name string) (*Observer, bool) { return lookup(d.observers, name) }

// Observers returns all observers ordered by name.
func (d *Database) Observers() []*Observer {
	return sorted(d.observers, func(o *Observer) string { return o.Name })
}

// lookup tries the name as it is before it folds it: names are mostly written in lower case, and
// folding allocates otherwise.
func lookup[T any](m map[string]T, name string) (T, bool) {
	v, ok := m[name]
	if !ok {
		v, ok = m[fold(name)]
	}
	return v, ok
}

func sorted[T any](m map[string]T, name func(T) string) []T {
	all := make([]T, 0, len(m))
	for _, v := range m {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(strings.Compare(fold(name(a)), fold(name(b))), strings.Compare(name(a), name(b)))
	})
	return all
}

func referenceKey(database, table string) string { return fold(database) + "\x00" + fold(table) }
