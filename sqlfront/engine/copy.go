package engine

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// ALTER TABLE that changes how rows are stored: another type or collation of a column, another primary key, a column whose values have to be
// computed.
//
// The library would do such a change clause by clause, each time with all rows. Here it does so with a table that has no rows (RewriteInserter):
// what comes out is the new descriptor, with the ids of storage that nobody has written to yet. Then the rows are brought there, once, by a map
// that is made of the two descriptors (rowMap): those of a small table in the statement's transaction, which commits them with the descriptor,
// those of a large one by a job.
//
// The job (copyjob.go) works while others write:
//
//  1. A transaction publishes that the table is being copied. From its commit on every writer lists the keys of the rows that it changes,
//     in its own transaction, in the copy's log. Writers of the version before cannot commit (the fence).
//  2. Transactions of BackfillBatch rows each copy the rows, in the order of their keys, whatever is in the log.
//  3. Others take entries from the log and bring what has become of these rows over, until little is left.
//  4. One keeps writers waiting at their commit (a row lock on the fence) until the rest is brought over, and publishes the new descriptor.
//
// Why a log and not writers that write both forms, as in F1 and its descendants: a value that a client may write today and that does not fit
// into tomorrow's column would make the client's statement fail, or make the change fail from within a client's transaction. MySQL fails
// the ALTER, and so does this. Writers need not know how rows are converted, and pay one small write for each row. Entries are never
// written by two transactions (each has a number of its own behind the row's key), so writers and the job have no conflicts. The price is
// step 4, a moment in which writers wait. F1 needs delete-only and write-only states because two schema versions are in use at the same time; here
// there is one, so the two versions of steps 1 and 4 are enough.
//
// A writer must not be able to keep the job from ending: the log is worked off a number of times while it grows, then once while it does not.

// alteration is an ALTER TABLE whose clauses are being carried out.
type alteration struct {
	eng   *Engine
	table uint32 // the one whose storage changes; 0 as long as none does
	db    string
	name  string
	// base is the catalog that the statement's transaction has begun with: what is stored, while the clauses change descriptors.
	base   *catalog.Snapshot
	online bool
}

// alters reports whether a node is, or holds, a clause of ALTER TABLE after which rows may be stored otherwise.
func alters(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.AddColumn, *plan.ModifyColumn, *plan.DropColumn, *plan.AlterPK, *plan.AlterTableCollation:
		return true
	case *plan.Block:
		return n.Pref == nil && slices.ContainsFunc(n.Children(), alters)
	}
	return false
}

// alter runs an ALTER TABLE; a nil iterator declines.
func (b *execBuilder) alter(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok || tx.over() || tx.altering || !alters(n) {
		return nil, nil
	}
	keys, err := b.eng.relations(ctx, n)
	if err != nil {
		return nil, err
	}
	a := &alteration{eng: b.eng}
	if block, ok := n.(*plan.Block); ok && foreignKeyChecks(ctx) && slices.ContainsFunc(block.Children(), addsForeignKey) {
		// The library looks whether all rows have a parent, and has to find them where it looks. The change is one transaction, then.
		a = nil
	}
	tx.alteration, tx.altering = a, true
	it, err := b.base.Build(ctx, n, row)
	if err != nil {
		tx.alteration, tx.altering = nil, false
		return nil, err
	}
	return &alterIter{RowIter: it, a: a, tx: tx, keys: keys}, nil
}

// convertTable is ALTER TABLE … CONVERT TO CHARACTER SET; nil for a change of the default for columns to come, which the grammar does not
// tell from it.
func (b *execBuilder) convertTable(ctx *sql.Context, n *plan.AlterTableCollation) (sql.RowIter, error) {
	if !convertTo.MatchString(quoted.ReplaceAllString(ctx.Query(), "''")) {
		return nil, nil
	}
	name, ok := n.Table.(sql.NameableNode)
	if !ok {
		return nil, nil
	}
	found, ok, err := n.Database().GetTableInsensitive(ctx, name.Name())
	if err != nil || !ok {
		return nil, err
	}
	t := ownTable(found)
	if t == nil {
		return nil, nil
	}
	return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), t.ModifyStoredCollation(ctx, n.Collation)
}

var (
	convertTo = regexp.MustCompile(`(?i)\bconvert\s+to\s+(character\s+set|charset)\b`)
	quoted    = regexp.MustCompile("(?s)'(?:[^'\\\\]|\\\\.|'')*'|\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
)

func addsForeignKey(n sql.Node) bool {
	_, ok := n.(*plan.CreateForeignKey)
	return ok
}

// alterIter looks whether foreign keys still find what they need, and brings the rows over when all
// clauses are through, before it delivers what the statement answers: whoever runs it may not look
// for an end.
type alterIter struct {
	sql.RowIter
	a    *alteration // nil: the library brings rows over itself
	tx   *Tx
	keys *relations
	rows []sql.Row
	done bool
}

// Next implements sql.RowIter.
func (i *alterIter) Next(ctx *sql.Context) (sql.Row, error) {
	for !i.done {
		row, err := i.RowIter.Next(ctx)
		if err != nil && err != io.EOF {
			return nil, i.fail(err)
		}
		if err == nil {
			i.rows = append(i.rows, row)
			continue
		}
		i.done = true
		if err := i.keys.hold(ctx); err != nil {
			return nil, i.fail(err)
		}
		if i.a != nil && i.tx.alteration == i.a {
			i.tx.alteration = nil
			if err := i.a.finish(ctx, i.tx); err != nil {
				return nil, i.fail(err)
			}
		}
	}
	if len(i.rows) == 0 {
		return nil, io.EOF
	}
	row := i.rows[0]
	i.rows = i.rows[1:]
	return row, nil
}

// fail keeps the statement from being committed as far as it came: the library commits when an iterator is closed, whatever it said.
func (i *alterIter) fail(err error) error {
	if i.tx.ended == nil && !i.tx.done {
		i.tx.ended = err
	}
	return err
}

// Close implements sql.RowIter.
func (i *alterIter) Close(ctx *sql.Context) error {
	if i.tx.alteration == i.a {
		i.tx.alteration = nil
	}
	i.tx.altering = false
	return i.RowIter.Close(ctx)
}

// reshape makes a clause's change to the descriptor of a table, whose rows will be brought over when all clauses are through.
func (a *alteration) reshape(ctx *sql.Context, tx *Tx, t *Table, f func(now *Table) (*catalog.Table, error)) error {
	if a.table == 0 {
		if err := a.begin(ctx, tx, t); err != nil {
			return err
		}
	}
	return t.eng.ddl(ctx, func(tx *Tx) error {
		now, err := t.current(ctx)
		if err != nil {
			return err
		}
		d, err := f(now)
		if err != nil {
			return err
		}
		if err := parse.CheckColumns(d, now.desc); err != nil {
			return catalogError(err)
		}
		if err := freshStorage(ctx, t.eng, d); err != nil {
			return err
		}
		_, err = t.eng.catalog.UpdateTable(ctx, tx.store(), d)
		return err
	})
}

// begin is called before the first clause that changes the storage.
func (a *alteration) begin(ctx *sql.Context, tx *Tx, t *Table) error {
	if err := tx.beginDDL(ctx); err != nil {
		return err
	}
	v, err := tx.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	if now.desc.Copy != nil {
		return catalogError(&catalog.CopyingError{Table: now.desc.Name, Job: now.desc.Copy.Job})
	}
	if slices.ContainsFunc(now.desc.Indexes, func(x catalog.Index) bool { return x.State != catalog.StatePublic }) {
		return sqlerr.New(sqlerr.LockWaitTimeout, "Lock wait timeout exceeded; an index is being added to the table (see moka.jobs); try again when that has ended")
	}
	a.online = len(v.snap.Observers(t.desc.ID)) > 0
	if err := a.eng.catalog.MayMove(ctx, tx.store(), v.snap, t.desc.ID); err != nil {
		return catalogError(err)
	}
	if !a.online {
		if a.online, err = now.large(ctx, tx); err != nil {
			return err
		}
	}
	if !a.online {
		if err := tx.exclude(ctx, t); err != nil {
			return err
		}
	}
	// Clauses before this one may have changed the catalog already.
	st := a.eng.client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: tx.store().Snapshot()})
	defer st.Rollback()
	if a.base, err = a.eng.catalog.Snapshot(ctx, st); err != nil {
		return catalogError(sqlerr.From(err))
	}
	a.table, a.db, a.name = t.desc.ID, t.db, t.desc.Name
	return nil
}

// finish brings the rows over.
func (a *alteration) finish(ctx *sql.Context, tx *Tx) error {
	if a.table == 0 {
		return nil
	}
	tx.view = nil
	v, err := a.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	from, ok := a.base.TableByID(a.table)
	to, ok2 := v.snap.TableByID(a.table)
	if !ok || !ok2 {
		return sqlerr.SchemaChanged()
	}
	if a.online {
		return a.publish(ctx, tx, from, to, v.snap)
	}
	c, err := a.eng.newCopying(ctx, a.db, from, to)
	if err != nil {
		return err
	}
	span := indexSpan(from.ID, from.RowIndex)
	origins, _, err := c.read(ctx, tx.store(), span, 0, 0)
	if err != nil {
		return tx.fail(ctx, err)
	}
	if err := c.bring(ctx, tx.store(), origins); err != nil {
		return tx.fail(ctx, err)
	}
	if c.auto != nil && (to.AutoIncrement.ID == from.AutoIncrement.ID || to.AutoIncrement.Start <= *c.auto) {
		return a.eng.ddl(ctx, func(tx *Tx) error {
			d := to.Clone()
			d.AutoIncrement = catalog.Sequence{Start: *c.auto + 1}
			_, err := a.eng.catalog.UpdateTable(ctx, tx.store(), d)
			return err
		})
	}
	return nil
}

// publish gives the change to a job, and waits for it. The statement's own transaction has nothing left to commit.
func (a *alteration) publish(ctx *sql.Context, tx *Tx, from, to *catalog.Table, now *catalog.Snapshot) error {
	e := a.eng
	id, err := e.catalog.NewJobID(ctx)
	if err != nil {
		return catalogError(sqlerr.From(err))
	}
	zone, err := ctx.GetSessionVariable(ctx, "time_zone")
	if err != nil {
		return err
	}
	mode, err := ctx.GetSessionVariable(ctx, "sql_mode")
	if err != nil {
		return err
	}
	c := &catalog.Copy{Job: id, To: to.Clone(), Time: ctx.QueryTime().UTC()}
	c.SQLMode, _ = mode.(string)
	c.TimeZone, _ = zone.(string)
	switch {
	case to.AutoIncrement.ID == 0 || !numbersAnew(from, to):
	case to.AutoIncrement.ID == from.AutoIncrement.ID: // of a column that is another one now
		c.To.AutoIncrement = catalog.Sequence{Start: 1}
	default:
		c.To.AutoIncrement.ID = 0 // made anew in the end, when it is known where it begins
	}
	c.Others, c.Versions = a.others(now)
	old, err := newTable(e, a.db, from, zoneOf(ctx))
	if err != nil {
		return err
	}
	is, err := newTable(e, a.db, to, zoneOf(ctx))
	if err != nil {
		return err
	}
	tx.restart()
	rows, _, err := old.RowCount(ctx)
	if err != nil {
		return err
	}
	rec := catalog.Job{
		ID: id, Kind: catalog.JobCopy, State: catalog.JobRunning, Phase: catalog.PhaseCopy, Database: a.db, Table: from.Name, TableID: from.ID,
		Statement: strings.ToValidUTF8(ctx.Query(), "?"), Estimated: rows, Owner: e.jobs.owner, Started: time.Now().UTC(),
	}
	rec.Updated = rec.Started
	x := &job{id: id, connection: ctx.Session.ID(), began: rec.Started, statement: rec.Statement, estimated: rows}
	x.say(&rec)
	e.jobs.add(x) // before anybody can see its record stand still
	defer e.jobs.remove(x)
	err = e.publish(ctx, from.ID, func(d *catalog.Table) error {
		if d.Version != from.Version {
			return catalog.ErrStale
		}
		d.NextColumnID, d.NextIndexID = max(d.NextColumnID, to.NextColumnID), max(d.NextIndexID, to.NextIndexID)
		c.Log = d.NextIndexID
		d.NextIndexID++
		if !sameKeys(old, is) {
			c.Keys = d.NextIndexID
			d.NextIndexID++
		}
		d.Copy = c
		return nil
	}, func(st *txn.Txn, _ *catalog.Table) error { return e.catalog.PutJob(st, rec) })
	if err != nil {
		return catalogError(err)
	}
	tx.restart()
	err = e.runCopy(ctx, x, from.ID)
	tx.restart()
	if errors.Is(err, errNotOurs) {
		return sqlerr.New(sqlerr.Unknown, "The change is finished by another server, which took this one for dead; see moka.jobs, job %d", id)
	}
	var through *exchangedError
	if errors.As(err, &through) {
		e.log.Warn("what observers have still to see of a table was not carried over yet; it is tried again", "table", a.name, "job", id, "err", err)
		return nil
	}
	if err != nil {
		e.giveUpCopy(from.ID, id)
		e.endJob(id, err)
	}
	return catalogError(sqlerr.From(err))
}

// others lists the descriptors of other tables that the statement has changed, and their versions before.
func (a *alteration) others(now *catalog.Snapshot) (others []*catalog.Table, versions []uint64) {
	for _, db := range now.Databases() {
		for _, t := range db.Tables() {
			if old, ok := a.base.TableByID(t.ID); ok && t.ID != a.table && old.Version != t.Version {
				others, versions = append(others, t.Clone()), append(versions, old.Version)
			}
		}
	}
	return others, versions
}

// note lists rows in the log of the copy that is being made of their table. keys are those of the row store, behind its prefix.
func (tx *Tx) note(t *Table, keys ...[]byte) {
	c := t.desc.Copy
	if c == nil || c.Log == 0 {
		return
	}
	st := tx.store()
	for tx.number == 0 {
		tx.number = randomNumber()
	}
	for _, pk := range keys {
		st.Put(cell(logKey(t.desc.ID, c.Log, pk, tx.number)), []byte{entryVersion}, txn.WriteOptions{})
	}
}

// logKey is an entry of a copy's log:
//
//	| prefix of the index id | key of the row | number of the transaction u64 |      value 01
func logKey(table, log uint32, pk []byte, number uint64) kv.RowKey {
	return appendNumber(append(indexPrefix(table, log), pk...), number)
}
