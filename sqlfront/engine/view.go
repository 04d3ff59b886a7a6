package engine

import (
	"context"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// view is one version of the catalog with the engine's objects for it. Everything that is reached through a view is immutable
// and knows no transaction, so that plans may be kept and run again: iterators and editors ask the context for the
// transaction when they are made.
type view struct {
	snap *catalog.Snapshot
	zone *rowenc.Zone // in which tables with TIMESTAMP columns are read and written
	utc  *view        // the same in UTC; nil if that is this one

	mu     sync.Mutex
	tables map[*catalog.Table]*Table
	zoned  map[*rowenc.Zone]*view
	// nestings are those of the views that were read so far; see viewnesting.go.
	nestings map[*catalog.View]nesting
}

// maxZones bounds the zones for which a view is kept.
const maxZones = 256

// in is the view in a time zone. v is in UTC.
func (v *view) in(zone *rowenc.Zone) *view {
	if zone == nil {
		return v
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if z := v.zoned[zone]; z != nil {
		return z
	}
	if v.zoned == nil || len(v.zoned) >= maxZones {
		v.zoned = map[*rowenc.Zone]*view{}
	}
	z := newView(v.snap)
	z.zone, z.utc = zone, v
	v.zoned[zone] = z
	return z
}

// table returns the engine's object for a descriptor; made at the first use, because most sessions touch few tables.
func (v *view) table(e *Engine, db *catalog.Database, desc *catalog.Table) (*Table, error) {
	if v.utc != nil && !stamped(desc) {
		return v.utc.table(e, db, desc)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if t, ok := v.tables[desc]; ok {
		return t, nil
	}
	t, err := newTable(e, db.Name, desc, v.zone)
	if err != nil {
		return nil, err
	}
	v.tables[desc] = t
	return t, nil
}

// viewCache keeps the views of the last few catalog versions: several, because transactions that began before a schema
// change go on with the version of their snapshot.
type viewCache struct {
	mu    sync.Mutex
	views []*view // most recently used first
}

const cachedViews = 8

func (c *viewCache) get(snap *catalog.Snapshot) *view {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, v := range c.views {
		if v.snap == snap {
			copy(c.views[1:i+1], c.views[:i])
			c.views[0] = v
			return v
		}
	}
	v := newView(snap)
	if len(c.views) > 0 {
		// Descriptors are shared between versions in which they did not change, and so are the objects made for them.
		last := c.views[0]
		last.mu.Lock()
		for desc, t := range last.tables {
			if cur, ok := snap.TableByID(desc.ID); ok && cur == desc {
				v.tables[desc] = t
			}
		}
		last.mu.Unlock()
	}
	if len(c.views) < cachedViews {
		c.views = append(c.views, nil)
	}
	copy(c.views[1:], c.views)
	c.views[0] = v
	return v
}

// clear forgets all views, after a schema change: the SQL engine edits column defaults in place while it plans one.
func (c *viewCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.views = nil
}

func newView(snap *catalog.Snapshot) *view {
	return &view{snap: snap, tables: map[*catalog.Table]*Table{}}
}

// viewOf returns the catalog as the statement in ctx has to see it: as of its transaction's snapshot, with the
// transaction's own schema changes, in its session's time zone. Without a transaction (COM_INIT_DB, background threads) it is the newest one.
func (e *Engine) viewOf(ctx *sql.Context) (*view, error) {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || tx.over() {
		return e.newestView(ctx)
	}
	if tx.view != nil {
		return tx.view.in(zoneOf(ctx)), nil
	}
	snap, err := e.catalog.Snapshot(ctx, tx.store())
	if err != nil {
		return nil, tx.fail(ctx, err)
	}
	if tx.ddl {
		tx.view = newView(snap) // uncommitted: nobody else's business
	} else {
		tx.view = e.views.get(tx.triggered(snap))
	}
	return tx.view.in(zoneOf(ctx)), nil
}

func (e *Engine) newestView(ctx *sql.Context) (*view, error) {
	snap, err := e.Look(ctx)
	if err != nil {
		return nil, catalogError(err)
	}
	return e.views.get(snap).in(zoneOf(ctx)), nil
}

// Look reads the newest catalog, for transactions that have begun with another: see triggered.
func (e *Engine) Look(ctx context.Context) (*catalog.Snapshot, error) {
	t := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := e.catalog.Snapshot(ctx, t)
	if err == nil {
		e.newest.See(snap)
	}
	return snap, err
}

// CatalogVersion is the version of the catalog that ctx's transaction sees. A plan that was compiled under another version
// must be compiled again before it runs.
func (e *Engine) CatalogVersion(ctx *sql.Context) (uint64, error) {
	v, err := e.viewOf(ctx)
	if err != nil {
		return 0, err
	}
	return v.snap.Version, nil
}
