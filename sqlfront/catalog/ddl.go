package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"moka/kv"
	"moka/txn"
)

// All changes go through the caller's transaction: they are seen by that transaction at once, by everybody
// after its commit, and by nobody after a rollback. Each of them writes the version cell, so of two
// concurrent DDL transactions one fails with txn.ErrConflict at commit. A change that is refused (ErrExists,
// ErrNotFound, ErrStale …) has written nothing; after an error of the store the transaction is good for
// nothing but a rollback, or RollbackTo a savepoint from before the change.

// CreateDatabase makes an empty database.
func (c *Catalog) CreateDatabase(ctx context.Context, t *txn.Txn, name, collation string) (*Database, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	if _, ok := s.Database(name); ok {
		return nil, &ExistsError{Kind: KindDatabase, Name: name}
	}
	if err := named(kindDatabase, name); err != nil {
		return nil, err
	}
	id, err := c.newID(ctx)
	if err != nil {
		return nil, err
	}
	return c.putDatabase(ctx, t, s, Database{ID: id, Name: name, Collation: collation}, 0)
}

// AlterDatabase changes a database's default collation.
func (c *Catalog) AlterDatabase(ctx context.Context, t *txn.Txn, name, collation string) (*Database, error) {
	s, d, err := c.inDatabase(ctx, t, name)
	if err != nil {
		return nil, err
	}
	return c.putDatabase(ctx, t, s, Database{ID: d.ID, Name: d.Name, Collation: collation}, unlimited)
}

func (c *Catalog) putDatabase(ctx context.Context, t *txn.Txn, s *Snapshot, d Database,
	old int64) (*Database, error) {
	row := idRow(kindDatabase, d.ID, 0)
	if err := c.put(t, s, d.ID, row, &d, old); err != nil {
		return nil, err
	}
	if err := c.bump(ctx, t, row); err != nil {
		return nil, err
	}
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.databaseIDs[d.ID], nil
}

// DropDatabase removes a database with everything in it. The rows of its tables are left to the graves.
func (c *Catalog) DropDatabase(ctx context.Context, t *txn.Txn, name string) error {
	_, d, err := c.inDatabase(ctx, t, name)
	if err != nil {
		return err
	}
	rows := [][]byte{idRow(kindDatabase, d.ID, 0)}
	for _, tbl := range d.tables {
		rows = append(rows, idRow(kindTable, d.ID, tbl.ID))
		c.bury(t, tbl)
	}
	for _, o := range d.observers {
		rows = append(rows, idRow(kindObserver, d.ID, o.ID))
	}
	rows = appendNames(rows, kindView, d.ID, d.views)
	rows = appendNames(rows, kindTrigger, d.ID, d.triggers)
	rows = appendNames(rows, kindProcedure, d.ID, d.procedures)
	rows = appendNames(rows, kindFunction, d.ID, d.functions)
	rows = appendNames(rows, kindEvent, d.ID, d.events)
	for _, r := range rows {
		remove(t, r)
	}
	return c.bump(ctx, t, rows...)
}

func appendNames[T any](rows [][]byte, kind byte, db uint32, m map[string]T) [][]byte {
	for name := range m {
		rows = append(rows, nameRows(kind, db, name)...)
	}
	return rows
}

// CreateTable makes a table from a descriptor without id. Columns and indexes whose id is zero get one: if
// none has, the i-th column gets i+1 (which the descriptor's indexes and primary key may rely on), and the
// i-th secondary index i+2. A table with an AUTO_INCREMENT column or without a primary key gets its
// sequences; set AutoIncrement.Start before for AUTO_INCREMENT = n.
func (c *Catalog) CreateTable(ctx context.Context, t *txn.Txn, database string,
	table *Table) (*Table, error) {
	_, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return nil, err
	}
	if err := d.free(table.Name); err != nil {
		return nil, err
	}
	n := table.Clone()
	if n.ID, err = c.newID(ctx); err != nil {
		return nil, err
	}
	n.DatabaseID = d.ID
	n.RowIndex = PrimaryIndexID
	n.NextColumnID, n.NextIndexID = max(n.NextColumnID, 1), max(n.NextIndexID, PrimaryIndexID+1)
	if n.Created.IsZero() {
		n.Created = time.Now().UTC().Truncate(time.Second)
	}
	n.AutoIncrement.ID, n.RowIDs = 0, Sequence{}
	return c.writeTable(ctx, t, n, nil)
}

// free reports whether a table or view may have the name: they share one name space.
func (d *Database) free(name string) error {
	if name == "" {
		return named(kindTable, name)
	}
	if _, ok := d.Table(name); ok {
		return &ExistsError{Kind: KindTable, Database: d.Name, Name: name}
	}
	if _, ok := d.View(name); ok {
		return &ExistsError{Kind: KindView, Database: d.Name, Name: name}
	}
	return nil
}

// UpdateTable replaces a table's descriptor by a changed Clone of the current one; ErrStale if the clone is
// of an older one. The name and the ids cannot be changed (RenameTable does the former). Indexes that are
// gone, and the rows if RowIndex changed, get a grave.
func (c *Catalog) UpdateTable(ctx context.Context, t *txn.Txn, table *Table) (*Table, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	old, ok := s.TableByID(table.ID)
	if !ok {
		return nil, &NotFoundError{Kind: KindTable, Name: table.Name}
	}
	if old.Version != table.Version || old.DatabaseID != table.DatabaseID {
		return nil, fmt.Errorf("%w: table %s is at version %d, the change was made to version %d", ErrStale,
			old.Name, old.Version, table.Version)
	}
	if old.Copy != nil && table.Copy != nil && old.Copy.From == nil == (table.Copy.From == nil) {
		return nil, &CopyingError{Table: old.Name, Job: old.Copy.Job}
	}
	n := table.Clone()
	n.Name, n.Created = old.Name, old.Created
	if n.NextColumnID < old.NextColumnID || n.NextIndexID < old.NextIndexID {
		return nil, fmt.Errorf("catalog: table %s: ids would be given out twice", old.Name)
	}
	return c.writeTable(ctx, t, n, old)
}

// RenameTable gives a table another name, in another database if newDatabase is not the same. Foreign keys
// that name it follow, and so do its observers.
func (c *Catalog) RenameTable(ctx context.Context, t *txn.Txn, database, name, newDatabase,
	newName string) (*Table, error) {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return nil, err
	}
	old, ok := d.Table(name)
	if !ok {
		return nil, &NotFoundError{Kind: KindTable, Database: database, Name: name}
	}
	to, ok := s.Database(newDatabase)
	if !ok {
		return nil, &NotFoundError{Kind: KindDatabase, Name: newDatabase}
	}
	if old.Copy != nil && old.Copy.To != nil {
		return nil, &CopyingError{Table: old.Name, Job: old.Copy.Job}
	}
	if to != d || !strings.EqualFold(name, newName) {
		if err := to.free(newName); err != nil {
			return nil, err
		}
	}
	if to != d {
		for _, o := range s.Observers(old.ID) {
			if _, taken := to.Observer(o.Name); taken {
				return nil, &ExistsError{Kind: KindObserver, Database: to.Name, Name: o.Name}
			}
		}
	}
	var children []*Table
	for _, ref := range s.References(d.Name, old.Name) {
		if ref.Table.ID == old.ID {
			continue // below, with the table itself
		}
		if slices.ContainsFunc(children, func(c *Table) bool { return c.ID == ref.Table.ID }) {
			continue // it has two keys to this parent
		}
		children = append(children, ref.Table)
		n := ref.Table.Clone()
		renameParent(n, d.Name, old.Name, to.Name, newName)
		if _, err := c.writeTable(ctx, t, n, ref.Table); err != nil {
			return nil, err
		}
	}
	n := old.Clone()
	renameParent(n, d.Name, old.Name, to.Name, newName)
	n.Name = newName
	if to == d {
		return c.writeTable(ctx, t, n, old)
	}
	n.DatabaseID = to.ID
	rows := [][]byte{idRow(kindTable, d.ID, old.ID)}
	remove(t, rows[0])
	for _, o := range s.Observers(old.ID) {
		moved := *o
		moved.DatabaseID = to.ID
		from, row := idRow(kindObserver, d.ID, o.ID), idRow(kindObserver, to.ID, o.ID)
		remove(t, from)
		if err := c.put(t, s, to.ID, row, &moved, o.weight); err != nil {
			return nil, err
		}
		rows = append(rows, from, row)
	}
	return c.writeTable(ctx, t, n, old, rows...)
}

func renameParent(t *Table, db, name, newDB, newName string) {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if strings.EqualFold(fk.ParentDatabase, db) && strings.EqualFold(fk.ParentTable, name) {
			fk.ParentDatabase, fk.ParentTable = newDB, newName
		}
	}
}

// DropTable removes a table and its observers. Its rows are left to the graves. Foreign keys that name it are
// the caller's business.
func (c *Catalog) DropTable(ctx context.Context, t *txn.Txn, database, name string) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	tbl, ok := d.Table(name)
	if !ok {
		return &NotFoundError{Kind: KindTable, Database: database, Name: name}
	}
	if err := s.mayDrop(tbl); err != nil {
		return err
	}
	return c.dropTable(ctx, t, s, tbl)
}

func (c *Catalog) dropTable(ctx context.Context, t *txn.Txn, s *Snapshot, tbl *Table) error {
	rows := [][]byte{idRow(kindTable, tbl.DatabaseID, tbl.ID)}
	for _, o := range s.Observers(tbl.ID) {
		rows = append(rows, idRow(kindObserver, tbl.DatabaseID, o.ID))
	}
	for _, r := range rows {
		remove(t, r)
	}
	c.bury(t, tbl)
	return c.bump(ctx, t, rows...)
}

// bury takes down a table's fence and sequences and leaves graves for what it stored.
func (c *Catalog) bury(t *txn.Txn, tbl *Table) {
	t.Delete(fenceCell(tbl.ID, tbl.Version), txn.WriteOptions{})
	c.dropSequence(t, tbl.AutoIncrement)
	c.dropSequence(t, tbl.RowIDs)
	for _, id := range tbl.storage() {
		dig(t, Grave{Table: tbl.ID, Index: id})
	}
}

// dropSequence removes a sequence that no descriptor names any more. What this process has reserved of it is
// forgotten at once; if the transaction rolls back that is a gap.
func (c *Catalog) dropSequence(t *txn.Txn, seq Sequence) {
	if seq.ID == 0 {
		return
	}
	t.Delete(sequenceCell(seq.ID), txn.WriteOptions{})
	c.forgetLease(seq.ID)
}

// writeTable is storeTable, if incremental views stand the change. Those of a table that is being emptied are
// emptied with it.
func (c *Catalog) writeTable(ctx context.Context, t *txn.Txn, n, old *Table, also ...[]byte) (*Table, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := s.mayRefer(n); err != nil {
		return nil, err
	}
	if old == nil {
		return c.storeTable(ctx, t, n, nil, also...)
	}
	if err := s.mayChange(old, n); err != nil {
		return nil, err
	}
	start, err := t.StartTS(ctx)
	if err != nil {
		return nil, err
	}
	n.noteRenamed(old, start)
	stored, err := c.storeTable(ctx, t, n, old, also...)
	if err == nil && old.emptied(n) && len(s.Views(old.ID)) > 0 {
		err = c.emptyViews(ctx, t, s, old.ID)
	}
	return stored, err
}

// storeTable checks a descriptor, numbers what is new in it, and stores it with a new version and fence. also
// are rows of other descriptors that changed with it.
func (c *Catalog) storeTable(ctx context.Context, t *txn.Txn, n, old *Table, also ...[]byte) (*Table, error) {
	if err := n.number(); err != nil {
		return nil, err
	}
	if err := n.Limits(old); err != nil {
		return nil, err
	}
	if old == nil {
		n.NewKeys()
	}
	if err := c.numberSequences(ctx, n); err != nil {
		return nil, err
	}
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	n.Version = s.Version + 1 // the schema version that bump makes: no two versions of a table are alike
	row := idRow(kindTable, n.DatabaseID, n.ID)
	if err := c.put(t, s, n.DatabaseID, row, n, before(old)); err != nil {
		return nil, err
	}
	if old != nil {
		t.Delete(fenceCell(old.ID, old.Version), txn.WriteOptions{})
		buryDropped(t, old, n)
		if old.AutoIncrement.ID != n.AutoIncrement.ID {
			c.dropSequence(t, old.AutoIncrement)
		}
		if old.RowIDs.ID != n.RowIDs.ID {
			c.dropSequence(t, old.RowIDs)
		}
	}
	t.Put(fenceCell(n.ID, n.Version), []byte{formatVersion}, txn.WriteOptions{})
	if err := c.bump(ctx, t, append(also, row)...); err != nil {
		return nil, err
	}
	return c.tableByID(ctx, t, n.ID)
}

// before is what a table weighed, and more than any if it is being copied: the steps of the copy cannot be
// refused.
func before(old *Table) int64 {
	switch {
	case old == nil:
		return 0
	case old.Copy != nil:
		return unlimited
	}
	return old.weight
}

func buryDropped(t *txn.Txn, old, n *Table) {
	kept := n.storage()
	for _, id := range old.storage() {
		if !slices.Contains(kept, id) {
			dig(t, Grave{Table: old.ID, Index: id})
		}
	}
}

// number gives ids to new columns and indexes and checks that the descriptor hangs together.
func (t *Table) number() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("catalog: table %s: %s", t.Name, fmt.Sprintf(format, args...))
	}
	if len(t.Columns) == 0 {
		return bad("it has no columns")
	}
	names, ids := map[string]bool{}, map[uint32]bool{}
	for i := range t.Columns {
		col := &t.Columns[i]
		if col.ID == 0 {
			col.ID, t.NextColumnID = t.NextColumnID, t.NextColumnID+1
		}
		t.NextColumnID = max(t.NextColumnID, col.ID+1)
		switch name := fold(col.Name); {
		case ids[col.ID]:
			return bad("two columns have the id %d", col.ID)
		case names[name]:
			return &ExistsError{Kind: KindColumn, Database: t.Name, Name: col.Name}
		default:
			ids[col.ID], names[name] = true, true
		}
	}
	check := func(index string, columns []IndexColumn) error {
		for _, ic := range columns {
			if !ids[ic.Column] {
				return bad("%s uses column %d, which does not exist", index, ic.Column)
			}
		}
		return nil
	}
	if err := check("the primary key", t.PrimaryKey); err != nil {
		return err
	}
	indexNames, indexIDs := map[string]bool{"primary": true}, map[uint32]bool{t.RowIndex: true}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.ID == 0 {
			x.ID, t.NextIndexID = t.NextIndexID, t.NextIndexID+1
			x.PadSpace = t.Pads(x.Columns)
		}
		t.NextIndexID = max(t.NextIndexID, x.ID+1)
		switch name := fold(x.Name); {
		case indexIDs[x.ID]:
			return bad("two indexes have the id %d", x.ID)
		case indexNames[name]:
			return &ExistsError{Kind: KindIndex, Database: t.Name, Name: x.Name}
		default:
			indexIDs[x.ID], indexNames[name] = true, true
		}
		if err := check("index "+x.Name, x.Columns); err != nil {
			return err
		}
	}
	t.NextIndexID = max(t.NextIndexID, t.RowIndex+1)
	return nil
}

func (c *Catalog) numberSequences(ctx context.Context, t *Table) error {
	hasAuto := slices.ContainsFunc(t.Columns, func(col Column) bool { return col.AutoIncrement })
	if hasAuto && t.AutoIncrement.ID == 0 {
		seq, err := c.NewSequence(ctx, t.AutoIncrement.Start)
		if err != nil {
			return err
		}
		t.AutoIncrement = seq
	}
	if len(t.PrimaryKey) == 0 && t.RowIDs.ID == 0 {
		seq, err := c.NewSequence(ctx, 1)
		if err != nil {
			return err
		}
		t.RowIDs = seq
	}
	return nil
}

// touch gives a table a new version and fence without another change: what is attached to it (observers,
// triggers) has changed, and writers must notice.
func (c *Catalog) touch(ctx context.Context, t *txn.Txn, table *Table, also ...[]byte) error {
	_, err := c.writeTable(ctx, t, table.Clone(), table, also...)
	return err
}

func (c *Catalog) tableByID(ctx context.Context, t *txn.Txn, id uint32) (*Table, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.tableIDs[id], nil
}

func (c *Catalog) inDatabase(ctx context.Context, t *txn.Txn, database string) (*Snapshot, *Database, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	d, ok := s.Database(database)
	if !ok {
		return nil, nil, &NotFoundError{Kind: KindDatabase, Name: database}
	}
	return s, d, nil
}

func (c *Catalog) newID(ctx context.Context) (uint32, error) {
	id, err := c.NextID(ctx, idSequence)
	if err == nil && id > math.MaxUint32 {
		err = fmt.Errorf("%w: object ids", ErrExhausted)
	}
	return uint32(id), err
}

// Grave marks data that no descriptor leads to any more: all rows, or all entries of an index, of a dropped
// table or index. A janitor deletes them some time after nobody can read them and then calls Bury.
type Grave struct {
	Table, Index uint32
}

func dig(t *txn.Txn, g Grave) { t.Put(graveCell(g), []byte{formatVersion}, txn.WriteOptions{}) }

// Graves returns up to limit graves.
func (c *Catalog) Graves(ctx context.Context, t *txn.Txn, limit int) ([]Grave, error) {
	span := kv.Span{Start: column(prefixCatalog, kindGrave).Row, End: column(prefixCatalog, kindGrave+1).Row}
	scan := t.Scan(ctx, txn.ScanOptions{Span: span, Limit: limit})
	defer scan.Close()
	var graves []Grave
	for scan.Next() {
		row := scan.Column().Row.Row()
		if len(row) != 10 {
			return nil, &CorruptError{Key: row, Err: fmt.Errorf("not a grave")}
		}
		graves = append(graves, Grave{Table: be32(row[2:]), Index: be32(row[6:])})
	}
	return graves, scan.Err()
}

// Bury removes a grave whose data has been deleted.
func (c *Catalog) Bury(t *txn.Txn, g Grave) { t.Delete(graveCell(g), txn.WriteOptions{}) }

func be32(b []byte) uint32 {
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}
