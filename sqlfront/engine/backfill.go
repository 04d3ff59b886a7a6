package engine

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// CreateIndex implements sql.IndexAlterableTable.
//
// The index of a table with few rows is made in the statement's transaction: it is there with the commit, or not at all.
//
// A large one is built in three steps, after F1 ("Online, Asynchronous Schema Change in F1", VLDB 2013, §3), while others write:
//
//  1. A transaction of its own publishes the index as being backfilled: nobody reads it, every writer maintains it. F1 needs
//     a delete-only step before this one, because its servers may use two adjacent schema versions at the same time. Here the fence
//     lets no writer with the old version commit after step 1, so there is no such time.
//  2. Transactions of BackfillBatch rows each write the entries of what was there before. A row that changes meanwhile has its
//     entries written by its writer; both touch the entry of the old value, so the first committer wins and the other looks again.
//  3. Another transaction of its own makes the index public. It is not the statement's: that one can lose against a concurrent
//     schema change, and running the statement again would have to begin with step 1.
//
// Should it fail, on a duplicate for instance, or the statement's transaction be rolled back by a later clause, the index is
// taken back and its entries are left to the janitor. Should the process die, another goes on: see jobs.go.
func (t *Table) CreateIndex(ctx *sql.Context, def sql.IndexDef) error {
	return t.createIndex(ctx, def, false)
}

// CreateIndexForForeignKey implements sql.ForeignKeyTable.
func (t *Table) CreateIndexForForeignKey(ctx *sql.Context, def sql.IndexDef) error {
	return t.createIndex(ctx, def, true)
}

func (t *Table) createIndex(ctx *sql.Context, def sql.IndexDef, implicit bool) error {
	add := func(state catalog.State) func(d *catalog.Table) error {
		return func(d *catalog.Table) error {
			if d.Index(def.Name) >= 0 {
				return sql.ErrDuplicateKey.New(def.Name)
			}
			x, err := describeIndex(d, def)
			if err != nil {
				return err
			}
			x.Implicit, x.State = implicit, state
			d.Indexes = append(d.Indexes, x)
			return nil
		}
	}
	if t.temporary {
		if err := t.change(ctx, add(catalog.StatePublic)); err != nil {
			return err
		}
		tx, err := txOf(ctx)
		if err != nil {
			return err
		}
		return t.fillIn(ctx, tx, def.Name)
	}
	return t.eng.ddl(ctx, func(tx *Tx) error {
		now, err := t.current(ctx)
		if err != nil {
			return err
		}
		if tx.builds(ctx) {
			large, err := now.large(ctx, tx)
			if err != nil {
				return err
			}
			// Only the engine can compute virtual columns, in the statement's transaction; the index must not be public before.
			if large && !now.overVirtual(def) {
				return now.createOnline(ctx, tx, def.Name, add(catalog.StateBackfilling))
			}
		}
		if _, err := t.changeIn(ctx, tx, add(catalog.StatePublic)); err != nil {
			return err
		}
		return t.fillIn(ctx, tx, def.Name)
	})
}

func (t *Table) overVirtual(def sql.IndexDef) bool {
	return slices.ContainsFunc(def.Columns, func(c sql.IndexColumn) bool {
		i := t.desc.Column(c.Name)
		return i >= 0 && t.desc.Columns[i].Virtual
	})
}

// large reports whether the table has more rows than one transaction should index.
func (t *Table) large(ctx *sql.Context, tx *Tx) (bool, error) {
	it := &entryIter{tx: tx, spans: wholeSpan(indexSpan(t.desc.ID, t.desc.RowIndex))}
	defer it.Close()
	for range t.eng.opts.BackfillBatch + 1 {
		if _, ok, err := it.Next(ctx); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// fillIn writes the entries of a new index within the statement's transaction.
func (t *Table) fillIn(ctx *sql.Context, tx *Tx, name string) error {
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	x, err := now.index(name)
	if err != nil {
		return err
	}
	if x.onVirtual() {
		return nil // the engine hands the rows over: BuildIndex
	}
	it := &entryIter{tx: tx, spans: wholeSpan(indexSpan(now.desc.ID, now.desc.RowIndex))}
	defer it.Close()
	for {
		e, ok, err := it.Next(ctx)
		if err != nil || !ok {
			return err
		}
		row, err := now.decode.Decode(e.value)
		if err != nil {
			return err
		}
		if err := x.add(ctx, tx, row, e.key[len(x.prefix):]); err != nil {
			return err
		}
	}
}

func (t *Table) index(name string) (*index, error) {
	all := t.all()
	i := slices.IndexFunc(all, func(x *index) bool { return equalFold(x.id, name) })
	if i < 0 {
		return nil, sql.ErrIndexNotFound.New(name)
	}
	return all[i], nil
}

func (x *index) onVirtual() bool {
	return slices.ContainsFunc(x.cols, func(c int) bool { return x.table.pk.Schema[c].Virtual })
}

// add writes the entries of one row that exists already.
func (x *index) add(ctx *sql.Context, tx *Tx, row sql.Row, pk []byte) error {
	cells, err := x.cells(nil, row, pk)
	if err != nil {
		return err
	}
	for i := range cells {
		c := &cells[i]
		if c.unique {
			_, taken, err := tx.store().Get(ctx, cell(c.key))
			if err != nil {
				return err
			}
			if taken {
				return x.table.duplicate(ctx, x, row, nil)
			}
		}
		tx.store().Put(cell(c.key), c.value, txn.WriteOptions{})
	}
	return nil
}

// createOnline builds a large index; tx has not changed anything yet.
func (t *Table) createOnline(ctx *sql.Context, tx *Tx, name string, add func(d *catalog.Table) error) error {
	e := t.eng
	id, err := e.catalog.NewJobID(ctx)
	if err != nil {
		return catalogError(sqlerr.From(err))
	}
	rows, _, err := t.RowCount(ctx)
	if err != nil {
		return err
	}
	rec := catalog.Job{
		ID: id, Kind: catalog.JobIndex, State: catalog.JobRunning, Database: t.db, Table: t.desc.Name, TableID: t.desc.ID, Index: name,
		Statement: strings.ToValidUTF8(ctx.Query(), "?"), Estimated: rows, Owner: e.jobs.owner, Started: time.Now().UTC(),
	}
	rec.Updated = rec.Started
	x := &job{id: id, connection: ctx.Session.ID(), began: rec.Started, statement: rec.Statement, estimated: rows}
	x.say(&rec)
	e.jobs.add(x) // before anybody can see its record stand still
	defer e.jobs.remove(x)
	err = e.publish(ctx, t.desc.ID, add, func(st *txn.Txn, d *catalog.Table) error {
		rec.IndexID = d.Indexes[d.Index(name)].ID
		return e.catalog.PutJob(st, rec)
	})
	if err != nil {
		return err
	}
	err = func() error {
		tx.restart()
		now, err := t.current(ctx)
		if err != nil {
			return err
		}
		index, err := now.index(name)
		if err != nil {
			return err
		}
		if err := index.backfill(ctx, x); err != nil {
			return err
		}
		err = e.publishIndex(ctx, t.desc.ID, index.num, x)
		tx.restart()
		tx.undone = append(tx.undone, func() {
			e.takeBack(t.desc.ID, name, func(x *catalog.Index) bool { return x.ID == index.num })
		})
		if v, lost := e.viewOf(ctx); err == nil && lost == nil {
			tx.built = v.snap.Version
		}
		return err
	}()
	if errors.Is(err, errNotOurs) {
		return sqlerr.New(sqlerr.Unknown, "The index is finished by another server, which took this one for dead; see moka.jobs, job %d", id)
	}
	if err != nil {
		e.unpublish(t.desc.ID, name)
		e.endJob(id, err)
	}
	return err
}

// publishIndex makes the index that a job has filled visible, and ends the job.
func (e *Engine) publishIndex(ctx context.Context, table, index uint32, x *job) error {
	return e.publish(ctx, table, func(d *catalog.Table) error {
		i := slices.IndexFunc(d.Indexes, func(x catalog.Index) bool { return x.ID == index })
		if i < 0 {
			return sqlerr.SchemaChanged() // somebody has taken the index away
		}
		d.Indexes[i].State = catalog.StatePublic
		return nil
	}, func(st *txn.Txn, _ *catalog.Table) error {
		rec, err := e.hold(ctx, st, x)
		if err != nil {
			return err
		}
		finish(&rec, nil)
		return e.catalog.EndJob(ctx, st, rec)
	})
}

// publish commits a change of a table's descriptor in a transaction of its own, with what belongs to it.
func (e *Engine) publish(ctx context.Context, table uint32, f func(d *catalog.Table) error, also ...func(*txn.Txn, *catalog.Table) error) error {
	return e.retry(ctx, func(st *txn.Txn) error {
		snap, err := e.catalog.Snapshot(ctx, st)
		if err != nil {
			return err
		}
		desc, ok := snap.TableByID(table)
		if !ok {
			return &catalog.NotFoundError{Kind: catalog.KindTable}
		}
		d := desc.Clone()
		if err := f(d); err != nil {
			return err
		}
		now, err := e.catalog.UpdateTable(ctx, st, d)
		for _, f := range also {
			if err == nil {
				err = f(st, now)
			}
		}
		return err
	})
}

// unpublish takes an unfinished index back.
func (e *Engine) unpublish(table uint32, name string) {
	e.takeBack(table, name, func(x *catalog.Index) bool { return x.State != catalog.StatePublic && equalFold(x.Name, name) })
}

// takeBack removes an index that a failed statement has made. It does so even if the statement was cancelled: the index
// would cost every writer until somebody notices.
func (e *Engine) takeBack(table uint32, name string, is func(*catalog.Index) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := e.publish(ctx, table, func(d *catalog.Table) error { return dropIndexes(d, is) })
	if err != nil && !errors.Is(err, catalog.ErrNotFound) && !errors.Is(err, errNothing) {
		e.log.Warn("unfinished index left behind; it is removed at the next start", "table", table, "index", name, "err", err)
	}
	e.janitor.wake()
}

// errNothing ends a transaction that has found nothing to do.
var errNothing = errors.New("engine: nothing to do")

func dropIndexes(d *catalog.Table, is func(*catalog.Index) bool) error {
	n := len(d.Indexes)
	d.Indexes = slices.DeleteFunc(d.Indexes, func(x catalog.Index) bool { return is(&x) })
	if len(d.Indexes) == n {
		return errNothing
	}
	return nil
}

// retry runs f in a transaction of its own until it commits, a bounded number of times.
func (e *Engine) retry(ctx context.Context, f func(st *txn.Txn) error) error {
	_, err := e.commit(ctx, f)
	return err
}

// commit is retry, and says when the transaction has committed.
func (e *Engine) commit(ctx context.Context, f func(st *txn.Txn) error) (ts kv.Timestamp, err error) {
	const attempts = 32
	for i := 0; ; i++ {
		st := e.client.Begin(txn.TxnOptions{})
		if err = f(st); err != nil {
			st.Rollback()
		} else if ts, err = st.Commit(ctx); err == nil {
			return ts, nil
		}
		if !IsRetryable(err) || i == attempts {
			return 0, err
		}
		pause := time.NewTimer(time.Duration(1+rand.IntN(1<<min(i, 6))) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return 0, ctx.Err()
		}
	}
}

// backfill writes the entries of all rows from where the job is, batch by batch; each moves the job's record on.
func (x *index) backfill(ctx *sql.Context, j *job) error {
	e := x.table.eng
	prefix := indexPrefix(x.table.desc.ID, x.table.desc.RowIndex)
	span := indexSpan(x.table.desc.ID, x.table.desc.RowIndex)
	if len(j.next) > 0 {
		span.Start = append(slices.Clone(prefix), j.next...)
	}
	for len(span.Start) > 0 {
		var next kv.RowKey
		var n int
		err := e.retry(ctx, func(st *txn.Txn) error {
			rec, err := e.hold(ctx, st, j)
			if err != nil {
				return err
			}
			st.SetAdds(true)
			if next, n, err = x.backfillBatch(ctx, st, span); err != nil {
				return err
			}
			rec.Rows += uint64(n)
			if rec.Next = nil; next != nil {
				rec.Next = next[len(prefix):]
			}
			return e.catalog.PutJob(st, rec)
		})
		if err != nil {
			return err
		}
		j.rows.Add(uint64(n))
		if span.Start = next; next != nil {
			j.next = next[len(prefix):]
		}
	}
	return nil
}

// backfillBatch returns where the next batch begins, nil after the last, and the number of rows.
func (x *index) backfillBatch(ctx *sql.Context, st *txn.Txn, span kv.Span) (kv.RowKey, int, error) {
	t := x.table
	t.eng.catalog.Fence(st, t.desc)
	scan := st.Scan(ctx, txn.ScanOptions{Span: span, Batch: t.eng.opts.BackfillBatch})
	defer scan.Close()
	var cells []indexCell
	var rows []sql.Row
	var last kv.RowKey
	n, more := 0, true
	for n < t.eng.opts.BackfillBatch && len(cells) < maxBackfilled {
		if more = scan.Next(); !more {
			break
		}
		c := scan.Column()
		if c.Family != rowFamily || len(c.Qualifier) != 0 {
			continue
		}
		row, err := t.decode.Decode(scan.Value())
		if err != nil {
			return nil, 0, err
		}
		if cells, err = x.cells(cells, row, c.Row[len(x.prefix):]); err != nil {
			return nil, 0, err
		}
		for len(rows) < len(cells) {
			rows = append(rows, row)
		}
		last = c.Row
		n++
	}
	if err := scan.Err(); err != nil {
		return nil, 0, err
	}
	if err := x.putEntries(ctx, st, cells, rows); err != nil {
		return nil, 0, err
	}
	if !more {
		return nil, n, nil
	}
	return append(slices.Clone(last), 0), n, nil
}

// maxBackfilled is how many entries a batch has at most, but for those of its last row: long texts have many.
const maxBackfilled = 16 << 10

func (x *index) putEntries(ctx *sql.Context, st *txn.Txn, cells []indexCell, rows []sql.Row) error {
	want := make([]kv.Column, len(cells))
	for i := range cells {
		want[i] = cell(cells[i].key)
	}
	have, err := st.BatchGet(ctx, want)
	if err != nil {
		return err
	}
	mine := map[string]bool{}
	for i := range cells {
		c := &cells[i]
		if have[i].OK && bytes.Equal(have[i].Data, c.value) {
			continue // a writer was here since the index was published
		}
		if c.unique {
			if have[i].OK || mine[string(c.key)] {
				return x.table.duplicate(ctx, x, rows[i], nil)
			}
			mine[string(c.key)] = true
		}
		st.Put(want[i], c.value, txn.WriteOptions{})
	}
	return nil
}

// ShouldBuildIndex implements sql.IndexBuildingTable: only indexes over virtual columns need the engine's help, which alone
// knows how to compute them.
func (t *Table) ShouldBuildIndex(ctx *sql.Context, def sql.IndexDef) (bool, error) {
	now, err := t.current(ctx)
	if err != nil {
		return false, err
	}
	x, err := now.index(def.Name)
	if err != nil {
		return false, err
	}
	return x.onVirtual(), nil
}

// BuildIndex implements sql.IndexBuildingTable. The engine calls it for every unique index and then scans the table; unless the
// index needs it, that scan is answered with nothing, because CreateIndex has done the work.
func (t *Table) BuildIndex(ctx *sql.Context, def sql.IndexDef) (sql.RowInserter, error) {
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	x, err := now.index(def.Name)
	if err != nil {
		return nil, err
	}
	if !x.onVirtual() {
		tx.quiet = t
		return &quietInserter{}, nil
	}
	return &indexBuilder{tx: tx, index: x}, nil
}

// indexBuilder writes the entries of rows that the engine has completed with their virtual columns.
type indexBuilder struct {
	quietInserter
	tx    *Tx
	index *index
}

func (b *indexBuilder) Insert(ctx *sql.Context, row sql.Row) error {
	t := b.index.table
	if t.primary == nil {
		return sqlerr.Unsupported("an index over a virtual column of a table without primary key")
	}
	key, err := t.primary.rowKey(row)
	if err != nil {
		return err
	}
	// The row is written as well, with the values of its virtual columns: see Table.encode.
	w, err := t.encode(ctx, row)
	if err != nil {
		return err
	}
	b.tx.store().Put(cell(w.key), w.value, txn.WriteOptions{})
	return b.tx.fail(ctx, b.index.add(ctx, b.tx, row, key[len(t.primary.prefix):]))
}

// recover removes indexes that were being built by a version that kept no jobs, and starts what goes on with those of a job.
func (e *Engine) recover(ctx context.Context) error {
	st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	snap, err := e.catalog.Snapshot(ctx, st)
	var all []catalog.Job
	if err == nil {
		all, err = e.catalog.Jobs(ctx, st)
	}
	st.Rollback()
	if err != nil {
		return err
	}
	orphan := func(t *catalog.Table, x *catalog.Index) bool {
		return x.State != catalog.StatePublic && !slices.ContainsFunc(all, func(j catalog.Job) bool { return !j.Ended() && j.TableID == t.ID && j.IndexID == x.ID })
	}
	for _, d := range snap.Databases() {
		for _, t := range d.Tables() {
			if !slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool { return orphan(t, &x) }) {
				continue
			}
			err := e.publish(ctx, t.ID, func(d *catalog.Table) error {
				return dropIndexes(d, func(x *catalog.Index) bool { return orphan(t, x) })
			})
			if err != nil && !errors.Is(err, errNothing) && !errors.Is(err, catalog.ErrNotFound) {
				return err
			}
			e.log.Info("removed an index whose build was interrupted", "database", d.Name, "table", t.Name)
		}
	}
	e.goTask(e.watchJobs)
	e.janitor.start(e)
	return nil
}
