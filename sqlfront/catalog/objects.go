package catalog

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"moka/txn"
)

// CreateView makes a view. Views and tables share one name space.
func (c *Catalog) CreateView(ctx context.Context, t *txn.Txn, database string, v View) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if err := d.free(v.Name); err != nil {
		return err
	}
	return c.createNamed(ctx, t, s, d, kindView, v.Name, &v)
}

// DropView removes a view.
func (c *Catalog) DropView(ctx context.Context, t *txn.Txn, database, name string) error {
	return c.dropNamed(ctx, t, database, name, KindView, kindView, func(d *Database) bool {
		_, ok := d.View(name)
		return ok
	})
}

// CreateProcedure makes a stored procedure.
func (c *Catalog) CreateProcedure(ctx context.Context, t *txn.Txn, database string, v Procedure) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if _, ok := d.Procedure(v.Name); ok {
		return &ExistsError{Kind: KindProcedure, Database: d.Name, Name: v.Name}
	}
	return c.createNamed(ctx, t, s, d, kindProcedure, v.Name, &v)
}

// DropProcedure removes a stored procedure.
func (c *Catalog) DropProcedure(ctx context.Context, t *txn.Txn, database, name string) error {
	return c.dropNamed(ctx, t, database, name, KindProcedure, kindProcedure, func(d *Database) bool {
		_, ok := d.Procedure(name)
		return ok
	})
}

// CreateFunction makes a stored function.
func (c *Catalog) CreateFunction(ctx context.Context, t *txn.Txn, database string, v Procedure) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if _, ok := d.Function(v.Name); ok {
		return &ExistsError{Kind: KindFunction, Database: d.Name, Name: v.Name}
	}
	return c.createNamed(ctx, t, s, d, kindFunction, v.Name, &v)
}

// DropFunction removes a stored function.
func (c *Catalog) DropFunction(ctx context.Context, t *txn.Txn, database, name string) error {
	return c.dropNamed(ctx, t, database, name, KindFunction, kindFunction, func(d *Database) bool {
		_, ok := d.Function(name)
		return ok
	})
}

// CreateEvent makes a scheduled event.
func (c *Catalog) CreateEvent(ctx context.Context, t *txn.Txn, database string, v Event) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if _, ok := d.Event(v.Name); ok {
		return &ExistsError{Kind: KindEvent, Database: d.Name, Name: v.Name}
	}
	return c.createNamed(ctx, t, s, d, kindEvent, v.Name, &v)
}

// UpdateEvent replaces the event of the given name, which may be renamed by it.
func (c *Catalog) UpdateEvent(ctx context.Context, t *txn.Txn, database, name string, v Event) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	was, ok := d.Event(name)
	if !ok {
		return &NotFoundError{Kind: KindEvent, Database: database, Name: name}
	}
	if fold(name) == fold(v.Name) {
		return c.putNamed(ctx, t, s, d, kindEvent, name, v.Name, &v, was.weight)
	}
	if _, ok := d.Event(v.Name); ok {
		return &ExistsError{Kind: KindEvent, Database: d.Name, Name: v.Name}
	}
	if err := named(kindEvent, v.Name); err != nil {
		return err
	}
	return c.putNamed(ctx, t, s, d, kindEvent, name, v.Name, &v, was.weight)
}

// DropEvent removes an event.
func (c *Catalog) DropEvent(ctx context.Context, t *txn.Txn, database, name string) error {
	return c.dropNamed(ctx, t, database, name, KindEvent, kindEvent, func(d *Database) bool {
		_, ok := d.Event(name)
		return ok
	})
}

// createNamed puts a new descriptor.
func (c *Catalog) createNamed(ctx context.Context, t *txn.Txn, s *Snapshot, d *Database, kind byte,
	name string, v any) error {
	if err := named(kind, name); err != nil {
		return err
	}
	return c.putNamed(ctx, t, s, d, kind, name, name, v, 0)
}

// putNamed puts a descriptor in the place of the one named was, which weighed old.
func (c *Catalog) putNamed(ctx context.Context, t *txn.Txn, s *Snapshot, d *Database, kind byte,
	was, name string, v any, old int64) error {
	row := nameRow(kind, d.ID, name)
	if err := c.put(t, s, d.ID, row, v, old); err != nil {
		return err
	}
	rows := [][]byte{row}
	for _, before := range nameRows(kind, d.ID, was) {
		if !bytes.Equal(before, row) {
			remove(t, before)
			rows = append(rows, before)
		}
	}
	return c.bump(ctx, t, rows...)
}

func (c *Catalog) dropNamed(ctx context.Context, t *txn.Txn, database, name string, kind Kind, key byte,
	exists func(*Database) bool) error {
	_, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	if !exists(d) {
		return &NotFoundError{Kind: kind, Database: database, Name: name}
	}
	rows := nameRows(key, d.ID, name)
	for _, row := range rows {
		remove(t, row)
	}
	return c.bump(ctx, t, rows...)
}

// CreateObserver declares an observer on the table TableID of the database. The table gets a new version, so
// that a writer which does not know of the observer cannot commit any more: from this transaction's commit
// on no change escapes it.
func (c *Catalog) CreateObserver(ctx context.Context, t *txn.Txn, database string,
	o Observer) (*Observer, error) {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return nil, err
	}
	if err := named(kindObserver, o.Name); err != nil {
		return nil, err
	}
	if _, ok := d.Observer(o.Name); ok {
		return nil, &ExistsError{Kind: KindObserver, Database: d.Name, Name: o.Name}
	}
	tbl, ok := s.TableByID(o.TableID)
	if !ok || tbl.DatabaseID != d.ID {
		return nil, &NotFoundError{Kind: KindTable, Database: database,
			Name: fmt.Sprintf("with id %d", o.TableID)}
	}
	if o.ID, err = c.newID(ctx); err != nil {
		return nil, err
	}
	if o.Created.IsZero() {
		o.Created = time.Now().UTC().Truncate(time.Microsecond)
	}
	o.DatabaseID = d.ID
	return c.putObserver(ctx, t, s, &o, tbl, 0)
}

// UpdateObserver replaces an observer's descriptor (ENABLE, DISABLE, retry settings). Its id,
// table and database stay.
func (c *Catalog) UpdateObserver(ctx context.Context, t *txn.Txn, o Observer) (*Observer, error) {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	old, ok := s.ObserverByID(o.ID)
	if !ok {
		return nil, &NotFoundError{Kind: KindObserver, Name: o.Name}
	}
	o.DatabaseID, o.TableID, o.Created = old.DatabaseID, old.TableID, old.Created
	if d := s.databaseIDs[o.DatabaseID]; !strings.EqualFold(o.Name, old.Name) {
		if _, taken := d.Observer(o.Name); taken {
			return nil, &ExistsError{Kind: KindObserver, Database: d.Name, Name: o.Name}
		}
	}
	return c.putObserver(ctx, t, s, &o, s.tableIDs[o.TableID], old.weight)
}

func (c *Catalog) putObserver(ctx context.Context, t *txn.Txn, s *Snapshot, o *Observer, tbl *Table,
	old int64) (*Observer, error) {
	row := idRow(kindObserver, o.DatabaseID, o.ID)
	if err := c.put(t, s, o.DatabaseID, row, o, old); err != nil {
		return nil, err
	}
	if err := c.touch(ctx, t, tbl, row); err != nil {
		return nil, err
	}
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.observerIDs[o.ID], nil
}

// DropObserver removes an observer. The notifications that it has not run for are its registry's to delete.
func (c *Catalog) DropObserver(ctx context.Context, t *txn.Txn, database, name string) error {
	s, d, err := c.inDatabase(ctx, t, database)
	if err != nil {
		return err
	}
	o, ok := d.Observer(name)
	if !ok {
		return &NotFoundError{Kind: KindObserver, Database: database, Name: name}
	}
	row := idRow(kindObserver, d.ID, o.ID)
	remove(t, row)
	return c.touch(ctx, t, s.tableIDs[o.TableID], row)
}

// PutBlob stores a named value: the privileges, a persisted variable.
func (c *Catalog) PutBlob(ctx context.Context, t *txn.Txn, name string, value []byte) error {
	if name == "" {
		return fmt.Errorf("catalog: a blob needs a name")
	}
	row := nameRow(kindBlob, 0, name)
	t.Put(descriptorCell(row), append([]byte{formatVersion}, value...), txn.WriteOptions{})
	return c.bump(ctx, t, row)
}

// DeleteBlob removes a named value.
func (c *Catalog) DeleteBlob(ctx context.Context, t *txn.Txn, name string) error {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	if _, ok := s.Blob(name); !ok {
		return &NotFoundError{Kind: KindBlob, Name: name}
	}
	row := nameRow(kindBlob, 0, name)
	remove(t, row)
	return c.bump(ctx, t, row)
}
