package engine

import (
	"errors"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Reading the past. SELECT … FROM t AS OF TIMESTAMP x reads t in a snapshot of its own, in the catalog of that moment: columns,
// indexes, and the very table that had the name then. moka_snapshot makes a session's transactions read there altogether. How far back
// one can go is garbage collection's retention; further is error 9006.
//
// A table of the past is a copy of the table object with the timestamp in it. It may be kept in plans as others are: whoever opens an
// iterator asks the transaction of the statement for the snapshot.

// VarSnapshot is the session's variable for reading the past; empty is the present.
const VarSnapshot = "moka_snapshot"

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
	tx.pasts.by = nil
}

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
	t, err := v.table(d.eng, c, desc)
	if err != nil {
		return nil, err
	}
	past := *t
	past.asOf = at
	return &past, nil
}

// viewAsOf is the catalog as it was.
func (e *Engine) viewAsOf(ctx *sql.Context, asOf any) (*view, kv.Timestamp, error) {
	at, err := moment(ctx, asOf)
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
		return nil, 0, pastError(at, err)
	}
	snap, err := e.catalog.Snapshot(ctx, p.t)
	if err != nil {
		return nil, 0, pastError(at, err)
	}
	return e.views.get(snap).in(zoneOf(ctx)), at, nil
}

func pastError(at kv.Timestamp, err error) error {
	if errors.Is(err, kv.ErrInvalidArgument) {
		return sqlerr.Future(at.Time())
	}
	return catalogError(sqlerr.From(err))
}

// moment is the time that AS OF means, a date and time in the session's time zone: what was committed before that millisecond.
func moment(ctx *sql.Context, asOf any) (kv.Timestamp, error) {
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, asOf)
	t, ok := v.(time.Time)
	if err != nil || !ok {
		return 0, sqlerr.New(sqlerr.WrongValue, "Incorrect AS OF TIMESTAMP value: '%v'", asOf)
	}
	zone, err := function.SessionTimeZone(ctx)
	if err != nil {
		return 0, err
	}
	utc, err := sql.ConvertTimeToLocation(t, zone)
	if err != nil {
		return 0, sqlerr.New(sqlerr.UnknownTimeZone, "Unknown or incorrect time zone: '%s'", zone)
	}
	return max(1, kv.TimestampAt(utc)), nil
}

// checkSnapshot refuses values of moka_snapshot that are no time, when they are set.
func checkSnapshot(ctx *sql.Context, scope sql.SystemVariableScope, value sql.SystemVarValue) error {
	s, _ := value.Val.(string)
	if s == "" {
		return nil
	}
	if _, _, err := types.DatetimeMaxPrecision.Convert(ctx, s); err != nil {
		return sqlerr.New(sqlerr.WrongValueForVariable, "Variable '%s' can't be set to the value of '%s': it is no date and time, nor empty for the present", VarSnapshot, s)
	}
	return nil
}

// snapshot is the moment that the session's next transaction reads, zero for the present.
func (s *Session) snapshot(ctx *sql.Context) (kv.Timestamp, error) {
	v, err := s.GetSessionVariable(ctx, VarSnapshot)
	if err != nil {
		return 0, nil
	}
	text, _ := v.(string)
	if text == "" {
		return 0, nil
	}
	return moment(ctx, text)
}

// refusePast is the error of who would write to a table of the past.
func (t *Table) refusePast() error {
	if t.asOf == 0 {
		return nil
	}
	return sqlerr.New(sqlerr.NotUpdatable, "The target table %s of the statement is not updatable: it is AS OF %s", t.desc.Name, t.asOf.Time().Format("2006-01-02 15:04:05.000 UTC"))
}
