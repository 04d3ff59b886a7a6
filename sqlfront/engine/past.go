package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Reading the past. SELECT … FROM t AS OF TIMESTAMP x reads t in a snapshot of its own, in the catalog of that moment: columns,
// indexes, and the very table that had the name then. moka_snapshot makes a session's transactions read there altogether. How far back
// one can go is garbage collection's retention; further is error 9006.
//
// A table of the past is a copy of the table object with the timestamp in it. It may be kept in plans as others are: whoever opens an
// iterator asks the transaction of the statement for the snapshot.

// pasts are the snapshots of the past that a transaction's present statement reads. Statements may open tables on several goroutines.
type pasts struct {
	mu sync.Mutex
	by map[kv.Timestamp]*Tx
}

// past returns the read-only transaction at a moment.
func (tx *Tx) past(at kv.Timestamp) *Tx {
	tx.pasts.mu.Lock()
	defer tx.pasts.mu.Unlock()
	if p := tx.pasts.by[at]; p != nil {
		return p
	}
	if tx.pasts.by == nil {
		tx.pasts.by = map[kv.Timestamp]*Tx{}
	}
	p := tx.eng.beginPast(at)
	tx.pasts.by[at] = p
	return p
}

// forgetPasts ends them: with the statement, so that a long transaction does not keep what one of its statements has looked at.
func (tx *Tx) forgetPasts() {
	tx.pasts.mu.Lock()
	defer tx.pasts.mu.Unlock()
	for _, p := range tx.pasts.by {
		p.rollback()
	}
	tx.pasts.by, tx.now = nil, nil
}

// Past implements past.Reader. A transaction of the present, too, reads what was, as soon as the schema has
// changed under it; what it may read of that is asked when rights have changed as well: these are for what
// has the name now.
func (s *Session) Past(ctx *sql.Context) (then, now *catalog.Snapshot, err error) {
	tx := s.tx()
	if tx == nil || tx.over() || tx.asOf == 0 && (tx.ddl || !s.Restricted() || !tx.outdated()) {
		return nil, nil, nil
	}
	v, err := s.eng.viewOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	if tx.asOf == 0 {
		if now = s.eng.catalog.Newest(); now == nil || now.Version <= v.snap.Version {
			return nil, nil, nil
		}
		return v.snap, now, nil
	}
	if tx.now == nil {
		tx.now, err = s.eng.Look(ctx)
	}
	return v.snap, tx.now, catalogError(err)
}

// outdated reports whether accounts have changed since the transaction's snapshot was taken.
func (tx *Tx) outdated() bool { return tx.t != nil && tx.rights != tx.eng.directory.Version() }

func (e *Engine) beginPast(at kv.Timestamp) *Tx {
	return &Tx{eng: e, serial: txSerial.Add(1), readOnly: true, t: e.client.Begin(txn.TxnOptions{StartTS: at, ReadOnly: true})}
}

// tableAsOf is a table as it was.
func (d *Database) tableAsOf(ctx *sql.Context, name string, asOf any) (*Table, error) {
	if asOf == parse.LockPast {
		return nil, sqlerr.New(sqlerr.WrongArguments, "Incorrect usage of AS OF and a locking clause: rows of the past cannot be locked")
	}
	if d.temporary(ctx, name) != nil {
		return nil, sqlerr.Unsupported("AS OF of a temporary table")
	}
	v, at, err := d.eng.viewAsOf(ctx, asOf)
	if err != nil {
		return nil, err
	}
	c, ok := v.snap.Database(d.name)
	if !ok {
		return nil, nil
	}
	desc, ok := c.Table(name)
	if !ok {
		return nil, nil
	}
	if err := d.eng.mayReadPast(ctx, c, desc); err != nil {
		return nil, err
	}
	t, err := v.table(d.eng, c, desc)
	if err != nil {
		return nil, err
	}
	was := *t
	was.asOf = at
	return &was, nil
}

// mayReadPast asks with the newest catalog, not that of the transaction, who may read a table of the past.
func (e *Engine) mayReadPast(ctx *sql.Context, c *catalog.Database, then *catalog.Table) error {
	now, err := e.Look(ctx)
	if err != nil {
		return catalogError(err)
	}
	if err := past.MayRead(ctx, e.accounts(), c, then, now); err != nil {
		return err
	}
	s, same := sessionOf(ctx), past.SameColumn(then, now)
	if s == nil || s.reading == nil ||
		rights.OnTable(ctx, e.accounts(), c.Name, then.Name, sql.PrivilegeType_Select) ||
		!slices.ContainsFunc(then.Columns, func(c catalog.Column) bool { return !same(c.Name) }) {
		return nil
	}
	// A view that was made, or read, for what has a name today would show what had it then.
	s.needs = append(s.needs, columnNeed{database: strings.ToLower(c.Name), table: strings.ToLower(then.Name),
		privilege: sql.PrivilegeType_Select, by: s.Account(), in: *s.reading, past: true})
	return nil
}

// mayReadThen is mayReadPast for a table of the transaction's own catalog.
func (e *Engine) mayReadThen(ctx *sql.Context, c *catalog.Database, then *catalog.Table) error {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	was, now, err := s.Past(ctx)
	if was == nil || err != nil {
		return err
	}
	return past.MayRead(ctx, e.accounts(), c, then, now)
}

// pastColumns is past.SameColumn for a table of the past, nil for one of the present.
func pastColumns(ctx *sql.Context, t *plan.ResolvedTable) (func(string) bool, error) {
	own, s := ownTable(t.Table), sessionOf(ctx)
	if own == nil || own.temporary {
		return nil, nil
	}
	if own.asOf == 0 {
		then, now, err := s.Past(ctx)
		if then == nil || err != nil {
			return nil, err
		}
		return past.SameColumn(own.desc, now), nil
	}
	now, err := own.eng.Look(ctx)
	if err != nil {
		return nil, catalogError(err)
	}
	return past.SameColumn(own.desc, now), nil
}

// viewAsOf is the catalog as it was.
func (e *Engine) viewAsOf(ctx *sql.Context, asOf any) (*view, kv.Timestamp, error) {
	at, err := past.Moment(ctx, asOf)
	if err != nil {
		return nil, 0, err
	}
	var p *Tx
	if tx, ok := ctx.GetTransaction().(*Tx); ok && !tx.over() {
		p = tx.past(at)
	} else {
		p = e.beginPast(at)
		defer p.rollback()
	}
	if _, err := p.t.StartTS(ctx); err != nil {
		return nil, 0, catalogError(past.Error(at, err))
	}
	snap, err := e.catalog.Snapshot(ctx, p.t)
	if err != nil {
		return nil, 0, catalogError(past.Error(at, err))
	}
	return e.views.get(snap).in(zoneOf(ctx)), at, nil
}

// snapshot is the moment that the session's next transaction reads, zero for the present.
func (s *Session) snapshot(ctx *sql.Context) (kv.Timestamp, error) {
	v, err := s.GetSessionVariable(ctx, past.Variable)
	if err != nil {
		return 0, nil
	}
	text, _ := v.(string)
	if text == "" {
		return 0, nil
	}
	return past.Moment(ctx, text)
}

// refusePast is the error of who would write to a table of the past, or to an incremental view.
func (t *Table) refusePast(tx *Tx) error {
	if t.desc.Maintained() && (tx == nil || !tx.maintains) {
		return sqlerr.New(sqlerr.NotUpdatable, "The target table %s is an incremental view", t.desc.Name)
	}
	if t.asOf == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.NotUpdatable, "The target table %s of the statement is not updatable: it is AS OF %s", t.desc.Name, t.asOf.Time().Format("2006-01-02 15:04:05.000 UTC"))
}
