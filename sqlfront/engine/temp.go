package engine

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
)

// tempTables are a session's temporary tables. Their descriptors live in the session; their rows live in the store under a
// table id of their own, written by the session's transactions like all others, so that ROLLBACK means what it says.
type tempTables struct {
	mu     sync.Mutex
	tables map[string]*Table
}

func tempKey(db, name string) string { return strings.ToLower(db) + "\x00" + strings.ToLower(name) }

func (tt *tempTables) get(db, name string, zone *rowenc.Zone) *Table {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	t := tt.tables[tempKey(db, name)]
	if in := t.in(zone); in != t {
		tt.tables[tempKey(db, name)] = in
		return in
	}
	return t
}

// any reports whether the session has temporary tables.
func (tt *tempTables) any() bool {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return len(tt.tables) > 0
}

func (tt *tempTables) put(t *Table) {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	if tt.tables == nil {
		tt.tables = map[string]*Table{}
	}
	tt.tables[tempKey(t.db, t.desc.Name)] = t
}

func (tt *tempTables) remove(db, name string) *Table {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	t := tt.tables[tempKey(db, name)]
	delete(tt.tables, tempKey(db, name))
	return t
}

// drop removes all tables at the end of the session; their rows are deleted in the background.
func (tt *tempTables) drop(e *Engine) {
	tt.mu.Lock()
	all := tt.tables
	tt.tables = nil
	tt.mu.Unlock()
	for _, t := range all {
		e.discard(t)
	}
}

// WithoutTemporary runs f as if the session had no temporary tables: what runs in the background has none.
func (s *Session) WithoutTemporary(f func() error) error {
	swap := func(with map[string]*Table) (had map[string]*Table) {
		s.temp.mu.Lock()
		defer s.temp.mu.Unlock()
		had, s.temp.tables = s.temp.tables, with
		return had
	}
	had := swap(nil)
	defer func() { swap(had) }()
	return f()
}

// discard deletes the rows of a temporary table. A crash before it is done leaves them unreachable and in place.
func (e *Engine) discard(t *Table) {
	e.goTask(func(ctx context.Context) {
		for _, g := range t.storage() {
			if err := e.clearSpan(ctx, indexSpan(g.Table, g.Index)); err != nil {
				e.log.Warn("rows of a temporary table left behind", "table", t.desc.Name, "err", err)
				return
			}
		}
	})
}

// storage lists the index ids under which the table has cells.
func (t *Table) storage() []catalog.Grave {
	gs := []catalog.Grave{{Table: t.desc.ID, Index: t.desc.RowIndex}}
	for _, x := range t.desc.Indexes {
		gs = append(gs, catalog.Grave{Table: t.desc.ID, Index: x.ID})
	}
	return gs
}

func sessionOf(ctx *sql.Context) *Session {
	s, _ := ctx.Session.(*Session)
	return s
}

func (d *Database) temporary(ctx *sql.Context, name string) *Table {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	return s.temp.get(d.name, name, s.timeZone())
}

// in is a temporary table in a time zone. It is nobody else's, and no version of the catalog has it: it is made anew when the session
// has another zone.
func (t *Table) in(zone *rowenc.Zone) *Table {
	if t == nil || t.zone == zone || !stamped(t.desc) {
		return t
	}
	n, err := newTable(t.eng, t.db, t.desc, zone)
	if err != nil {
		return t // it was made of the same descriptor
	}
	n.temporary = true
	return n
}

// CreateTemporaryTable implements sql.TemporaryTableCreator.
func (d *Database) CreateTemporaryTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID) error {
	desc, err := describe(ctx, name, schema, nil, collation, "")
	if err != nil {
		return catalogError(err)
	}
	return d.putTemporary(ctx, desc)
}

func (d *Database) putTemporary(ctx *sql.Context, desc *catalog.Table) error {
	s := sessionOf(ctx)
	if s == nil {
		return errNoTransaction()
	}
	if s.temp.get(d.name, desc.Name, s.timeZone()) != nil {
		return sql.ErrTableAlreadyExists.New(desc.Name)
	}
	if err := parse.CheckColumns(desc, nil); err != nil {
		return catalogError(err)
	}
	// One sequence numbers tables and sequences alike, so a sequence's id is nobody's table id.
	rows, err := d.eng.catalog.NewSequence(ctx, 1)
	if err != nil {
		return catalogError(err)
	}
	desc.ID, desc.RowIndex, desc.NextIndexID = uint32(rows.ID), catalog.PrimaryIndexID, max(desc.NextIndexID, catalog.PrimaryIndexID+1)
	desc.RowIDs = rows
	desc.NewKeys()
	for _, c := range desc.Columns {
		if c.AutoIncrement {
			if desc.AutoIncrement, err = d.eng.catalog.NewSequence(ctx, 1); err != nil {
				return catalogError(err)
			}
		}
	}
	t, err := newTable(d.eng, d.name, desc, zoneOf(ctx))
	if err != nil {
		return catalogError(err)
	}
	t.temporary = true
	s.temp.put(t)
	return nil
}

// GetAllTemporaryTables implements sql.TemporaryTableDatabase.
func (d *Database) GetAllTemporaryTables(ctx *sql.Context) ([]sql.Table, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil
	}
	s.temp.mu.Lock()
	defer s.temp.mu.Unlock()
	var all []sql.Table
	for _, t := range s.temp.tables {
		if equalFold(t.db, d.name) {
			all = append(all, t.in(s.timeZone()))
		}
	}
	return all, nil
}

func (d *Database) dropTemporary(ctx *sql.Context, name string) bool {
	s := sessionOf(ctx)
	if s == nil {
		return false
	}
	t := s.temp.remove(d.name, name)
	if t != nil {
		d.eng.discard(t)
	}
	return t != nil
}

// changeTemporary is change for a temporary table.
func (t *Table) changeTemporary(ctx *sql.Context, f func(d *catalog.Table) error) error {
	s := sessionOf(ctx)
	if s == nil {
		return errNoTransaction()
	}
	now := s.temp.get(t.db, t.desc.Name, s.timeZone())
	if now == nil {
		return sql.ErrTableNotFound.New(t.desc.Name)
	}
	d := now.desc.Clone()
	if err := f(d); err != nil {
		return catalogError(err)
	}
	if err := errors.Join(d.Limits(now.desc), parse.CheckColumns(d, now.desc)); err != nil {
		return catalogError(err)
	}
	for i := range d.Columns {
		if d.Columns[i].ID == 0 {
			d.Columns[i].ID = d.NextColumnID
			d.NextColumnID++
		}
	}
	for i := range d.Indexes {
		if d.Indexes[i].ID == 0 {
			d.Indexes[i].ID = d.NextIndexID
			d.Indexes[i].PadSpace = d.Pads(d.Indexes[i].Columns)
			d.NextIndexID++
		}
	}
	n, err := newTable(t.eng, t.db, d, zoneOf(ctx))
	if err != nil {
		return catalogError(err)
	}
	n.temporary = true
	s.temp.remove(t.db, t.desc.Name)
	s.temp.put(n)
	return nil
}
