package engine

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/operator"
	"moka/sqlfront/trail"
	"moka/txn"
)

var txSerial atomic.Uint64

// Tx is one SQL transaction over one transaction of the store. It is used by one goroutine at a time, as the session is.
//
// Nothing is spent before the first read: BEGIN takes no timestamp, so the snapshot is the one of the first statement that
// looks at data, as in MySQL.
type Tx struct {
	eng        *Engine
	session    *Session // nil for an adopted transaction
	serial     uint64
	t          *txn.Txn // begun at the first use; see store
	readOnly   bool
	maintains  bool // it writes to incremental views
	isolation  isolation
	took       *characteristics
	optimistic bool // moka_txn_mode
	contended  bool // the statement has lost a race before

	// Row locks; see lock.go.
	locked map[string]bool // keys that are locked, and whether alone
	fresh  bool            // the client has seen nothing of this snapshot
	// used: a statement has looked at rows, looked: at these keys and nothing else. The library groups rows, subqueries in the keys
	// included, on several goroutines.
	used   atomic.Bool
	lookMu sync.Mutex
	looked []kv.RowKey
	lost   error             // the statement may be run again
	rerun  bool              // it is about to be
	start  *mark             // of the statement
	listed bool              // in the engine's list of open transactions
	asOf   kv.Timestamp      // moka_snapshot; zero is the present
	now    *catalog.Snapshot // the newest, for a statement of the past
	rights uint64            // the version of the accounts when its snapshot was taken
	pasts  pasts

	view  *view    // the catalog at the snapshot; nil until somebody asks and after DDL
	heard uint64   // the version of the catalog whose triggers are in it
	ended error    // why the transaction cannot go on; nil while it can
	done  bool     // committed or rolled back
	ddl   bool     // it changes the catalog: the statement ends it, with or without success
	base  uint64   // the catalog version that a schema change began with
	built uint64   // that behind the last index that was built in transactions of their own
	after []func() // runs once the transaction has committed
	held  []func() // runs when it has ended: what it held goes on
	// undone takes back what a schema change has committed in transactions of its own; it runs if this one does not commit.
	undone []func()

	fenced map[fence]struct{} // table versions that the commit depends on
	wrote  []*wroteTable      // the tables of these, of statements that were undone as well; see follow
	saved  []savepoint
	// inserted remembers the rows whose keys the commit may find taken, for the text of error 1062.
	inserted []insertion
	// modes says how the INSERT that is being run wants duplicates handled, by table id; see insertMode.
	modes map[uint32]insertMode
	// bulk: a LOAD DATA that is a transaction by itself fills this table, and may commit what it has so far; see bulk.go.
	bulk *Table
	// trails are the hidden row ids that scans of keyless tables have passed.
	trails map[uint32]*trail.Trail
	// running are the editors of the statements being executed, the innermost last. live is set in the bodies of triggers: scans ignore
	// the first of them, above in number, which are those of the statements that fire.
	running []*editor
	// writing: the statement does. divided: one of its expressions has divided by zero, which a strict mode does not forgive. forgiving: IGNORE does.
	writing, divided, forgiving bool
	live                        bool
	above                       int
	changes                     bool // more than temporary tables
	frees, adds                 bool // see begins and grow
	// quiet makes the next full scan of this table deliver nothing; see BuildIndex.
	quiet *Table
	// alteration is the ALTER TABLE that is being run; see copy.go.
	alteration *alteration
	altering   bool // the clauses are being carried out, with or without it
	written    operator.Written
	// number stands behind the keys that the transaction writes into logs of copies.
	number uint64
	// counts are how many rows have a word, as somebody has asked within the transaction; see matcher.
	counts map[wordCount]uint64
}

type fence struct {
	table   uint32
	version uint64
}

type savepoint struct {
	name     string
	mark     txn.Savepoint
	inserted int
}

type insertion struct {
	table *Table
	row   sql.Row
}

// mark is a position in the write buffer to which a statement can be undone.
type mark struct {
	at       txn.Savepoint
	inserted int
}

var _ sql.Transaction = (*Tx)(nil)

func (e *Engine) begin(s *Session) *Tx {
	return &Tx{eng: e, session: s, serial: txSerial.Add(1), fresh: true}
}

// store returns the store's transaction, which is begun by whoever needs it first: by then it is known whether the user
// asked for a transaction or the statement is one by itself.
func (tx *Tx) store() *txn.Txn {
	if tx.t == nil {
		var connection uint32
		if tx.session != nil {
			connection = tx.session.ID()
		}
		tx.number, tx.rights = 0, tx.eng.directory.Version()
		tx.t = tx.eng.client.Begin(txn.TxnOptions{
			Connection: connection,
			StartTS:    tx.asOf,
			// MySQL's READ ONLY does not cover temporary tables, which are written through the same transaction.
			ReadOnly:   tx.readOnly && (tx.session == nil || !tx.session.temp.any()),
			Autocommit: tx.session != nil && tx.session.implicit(),
			LockWait:   tx.rowLockWait(),
		})
		tx.t.SetAdds(tx.adds)
		tx.start = &mark{at: tx.t.Savepoint()}
		if tx.session != nil && !tx.session.implicit() {
			tx.listed = true
			tx.eng.open.add(tx)
		}
	}
	return tx.t
}

// begins notes whether a statement that writes is a DELETE. The outermost decides: what the triggers of a DELETE write goes through with it,
// if it is small (see txn.SetFrees).
func (tx *Tx) begins(frees bool) {
	if len(tx.running) == 0 {
		tx.frees = frees
	}
}

// grow says whether what the transaction writes from now on makes the store larger: then it does not commit on a full disk.
func (tx *Tx) grow(on bool) {
	tx.adds = on
	if tx.t != nil {
		tx.t.SetAdds(on)
	}
}

// Adopt wraps a transaction that somebody else began and will commit (an observer's worker). The caller sets it on the
// session with ctx.SetTransaction and ctx.SetIgnoreAutoCommit(true), and ends it with EndAdopted.
func (e *Engine) Adopt(t *txn.Txn) *Tx {
	return &Tx{eng: e, serial: txSerial.Add(1), t: t, rights: e.directory.Version()}
}

// Maintain lets the transaction write to incremental views. It is for who keeps them.
func (tx *Tx) Maintain() { tx.maintains = true }

// Txn is the store's transaction under the SQL transaction.
func (tx *Tx) Txn() *txn.Txn { return tx.store() }

// Ended reports whether the store has ended the transaction: nothing of it can commit any more, and it may be
// run again.
func (tx *Tx) Ended() bool { return tx.ended != nil }

// String identifies the transaction in logs.
func (tx *Tx) String() string { return fmt.Sprintf("tx%d", tx.serial) }

// IsReadOnly reports whether the transaction was begun READ ONLY.
func (tx *Tx) IsReadOnly() bool { return tx.readOnly }

// txOf returns the transaction of the statement that runs in ctx.
func txOf(ctx *sql.Context) (*Tx, error) {
	tx, ok := ctx.GetTransaction().(*Tx)
	if !ok {
		return nil, errNoTransaction()
	}
	if tx.ended != nil {
		return nil, tx.ended
	}
	if tx.lost != nil {
		return nil, tx.lost
	}
	return tx, nil
}

func (tx *Tx) over() bool { return tx.done || tx.ended != nil }

// refresh takes a new snapshot for the next statement of a READ COMMITTED transaction. What is buffered stays bound to the
// snapshot that it was computed from.
func (tx *Tx) refresh() {
	if tx.isolation != readCommitted || tx.over() || tx.t == nil {
		return
	}
	tx.t.Advance()
	tx.view = nil
}

func (tx *Tx) rowLockWait() time.Duration {
	if tx.session == nil {
		return 0
	}
	return tx.session.lockWait()
}

// dirty reports whether the transaction has buffered anything.
func (tx *Tx) dirty() bool {
	if tx.t == nil {
		return false
	}
	_, keys := tx.t.Size()
	return keys > 0
}

// readAt is the point of the write buffer that scans read at: the beginning of the innermost statement that writes. The
// inner side of a join is scanned again and again while the outer side's rows are being updated. Checks of keys and the
// actions of foreign keys do not ask; triggers have to see what their statement has done, and suspend the rule.
func (tx *Tx) readAt() *txn.Savepoint {
	if tx.live && len(tx.running) <= tx.above || len(tx.running) == 0 {
		return nil
	}
	return &tx.running[len(tx.running)-1].first.at
}

// statement prepares for the next statement, whatever the last one has left.
func (tx *Tx) statement() {
	for _, e := range tx.running {
		e.listed = false
	}
	tx.running, tx.live, tx.above, tx.bulk = nil, false, 0, nil
	tx.writing, tx.divided, tx.forgiving, tx.frees = false, false, false, false
	tx.forgetPasts()
	if tx.rerun { // the same statement: it has looked at rows, but nobody has seen them
		return
	}
	tx.fresh = !tx.used.Load() && tx.holds()
	tx.unpin()
	tx.hear()
	if tx.t != nil {
		m := tx.mark()
		tx.start = &m
	}
}

// unpin gives up a snapshot of which nothing was seen but what there is in the catalog: in MySQL it is the first read of a table that takes it, not SET,
// USE, SHOW or SELECT @@version before it. A transaction that has written, or locked, goes on with what it has.
func (tx *Tx) unpin() {
	if !tx.fresh || tx.t == nil || tx.session == nil || tx.over() || tx.ddl || tx.asOf != 0 || len(tx.locked) > 0 || len(tx.fenced) > 0 || tx.dirty() {
		return
	}
	tx.rights = tx.eng.directory.Version()
	tx.t.Advance()
	tx.view = nil
}

// maxLooked bounds the keys that are remembered as looked at.
const maxLooked = 64

// look notes that rows are being looked at. Those that the transaction locks, as UPDATE does with the row of a key, are not in
// question: to the statements that follow, a snapshot of which the client has seen nothing else is as good as not taken.
func (tx *Tx) look(e *entryIter) {
	points := tx.locks() && e.index != nil && e.index.primary && len(e.spans) <= maxLooked
	for i := 0; points && i < len(e.spans); i++ {
		points = e.point(&e.spans[i])
	}
	tx.lookMu.Lock()
	defer tx.lookMu.Unlock()
	if !points || len(tx.looked)+len(e.spans) > maxLooked {
		tx.used.Store(true)
		return
	}
	for i := range e.spans {
		tx.looked = append(tx.looked, kv.RowKey(e.spans[i].Start))
	}
}

// holds reports whether all keys that were looked at are locked, and forgets them if they are: locks stay to the end.
func (tx *Tx) holds() bool {
	tx.lookMu.Lock()
	defer tx.lookMu.Unlock()
	for _, k := range tx.looked {
		if _, held := tx.locked[string(k)]; !held {
			tx.used.Store(true)
			break
		}
	}
	tx.looked = tx.looked[:0]
	return !tx.used.Load()
}

// unlook forgets what an attempt of the statement has looked at, which nobody has seen.
func (tx *Tx) unlook() {
	tx.lookMu.Lock()
	defer tx.lookMu.Unlock()
	tx.looked = tx.looked[:0]
	tx.used.Store(!tx.fresh)
}

// fail maps an error of the store to the one that the client sees, and ends the transaction if it cannot commit any more.
func (tx *Tx) fail(ctx *sql.Context, err error) error {
	if err == nil {
		return nil
	}
	mapped := tx.translate(ctx, err)
	tx.lose(err, mapped)
	return mapped
}

// fence makes the commit depend on the table still having the version that the statement was planned with. A schema
// change deletes the version's cell, so a writer and a schema change that overlap cannot both commit: no row is written in
// an old shape, no index misses an entry.
func (tx *Tx) fence(t *catalog.Table) {
	if tx.ddl && t.Version > tx.base {
		return // made by this transaction: there is nobody to exclude yet
	}
	f := fence{t.ID, t.Version}
	if _, ok := tx.fenced[f]; ok {
		return
	}
	if tx.fenced == nil {
		tx.fenced = map[fence]struct{}{}
	}
	tx.fenced[f] = struct{}{}
	tx.changes = true
	if tx.view != nil && tx.session != nil && !tx.session.implicit() {
		tx.writes(t, tx.view.snap)
	}
	tx.eng.catalog.Fence(tx.store(), t)
}

// Writes are the tables that the transaction has written to.
func (tx *Tx) Writes() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for f := range tx.fenced {
			if !yield(f.table) {
				return
			}
		}
	}
}

func (tx *Tx) mark() mark { return mark{tx.store().Savepoint(), len(tx.inserted)} }

// undoing is the mark of gms.Inserted.
func undoing(ctx *sql.Context) (func(), error) {
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	m := tx.mark()
	return func() { tx.undo(m) }, nil
}

func (tx *Tx) undo(m mark) {
	if tx.over() {
		return
	}
	tx.t.RollbackTo(m.at)
	if m.inserted < len(tx.inserted) {
		clear(tx.inserted[m.inserted:])
		tx.inserted = tx.inserted[:m.inserted]
	}
	// What was required after the mark is no longer required: say so again at the next write.
	clear(tx.fenced)
	if tx.ddl {
		tx.view = nil
	}
}

func (tx *Tx) savepoint(name string) {
	if i := tx.findSavepoint(name); i >= 0 {
		tx.saved = append(tx.saved[:i], tx.saved[i+1:]...)
	}
	m := tx.mark()
	tx.saved = append(tx.saved, savepoint{name, m.at, m.inserted})
}

func (tx *Tx) findSavepoint(name string) int {
	for i := len(tx.saved) - 1; i >= 0; i-- {
		if strings.EqualFold(tx.saved[i].name, name) {
			return i
		}
	}
	return -1
}

func (tx *Tx) rollbackTo(name string) bool {
	i := tx.findSavepoint(name)
	if i < 0 {
		return false
	}
	tx.undo(mark{tx.saved[i].mark, tx.saved[i].inserted})
	tx.saved = tx.saved[:i+1]
	return true
}

func (tx *Tx) release(name string) bool {
	i := tx.findSavepoint(name)
	if i < 0 {
		return false
	}
	tx.saved = tx.saved[:i]
	return true
}

func (tx *Tx) rollback() {
	if tx.done {
		return
	}
	tx.done = true
	if tx.t != nil {
		tx.t.Rollback()
	}
	undone := tx.undone
	tx.forget()
	for _, f := range slices.Backward(undone) {
		f()
	}
}

func (tx *Tx) commit(ctx *sql.Context) error {
	if tx.lost != nil && tx.ended == nil {
		tx.ended = tx.lost
	}
	if tx.ended != nil {
		err := tx.ended
		tx.rollback()
		return err
	}
	if tx.done {
		return nil
	}
	if tx.t != nil {
		if err := tx.commitStore(ctx); err != nil {
			tx.awaitFence(ctx, err)
			err = tx.translate(ctx, err)
			tx.rollback()
			return err
		}
	}
	tx.done = true
	if tx.ddl {
		_, _ = tx.eng.Look(ctx) // or the next to look does
	}
	after := tx.after
	tx.forget()
	for _, f := range after {
		f()
	}
	return nil
}

// commitStore commits the store's transaction, if what it changes may be changed still.
func (tx *Tx) commitStore(ctx *sql.Context) error {
	if tx.session != nil && (tx.changes || tx.ddl) {
		tx.eng.committing.RLock()
		defer tx.eng.committing.RUnlock()
		if err := tx.written.Commit(ctx); err != nil {
			return err
		}
		if err := tx.mayChange(ctx); err != nil {
			return err
		}
	}
	if len(tx.wrote) > 0 && !tx.ddl {
		return tx.commitFollowing(ctx)
	}
	_, err := tx.t.Commit(ctx)
	return err
}

// forget lets go of what the transaction held: the session may keep the Tx for longer than anybody needs its rows.
func (tx *Tx) forget() {
	if tx.took != nil && tx.began() {
		tx.session.spent = tx.took
	}
	tx.inserted, tx.saved, tx.fenced, tx.after, tx.quiet, tx.bulk = nil, nil, nil, nil, nil, nil
	tx.written.Release()
	tx.undone, tx.wrote = nil, nil
	for _, release := range tx.held {
		release()
	}
	tx.held = nil
	tx.forgetPasts()
	if tx.listed {
		tx.listed = false
		tx.eng.open.remove(tx)
	}
	tx.modes, tx.trails, tx.locked, tx.start = nil, nil, nil, nil
	if tx.ddl {
		tx.eng.views.clear()
	}
}

// restart throws the store's transaction away and takes a new one in its place, for a schema change that has published an
// intermediate step in a transaction of its own.
func (tx *Tx) restart() {
	if tx.t != nil {
		tx.t.Rollback()
	}
	tx.t, tx.view, tx.wrote = nil, nil, nil
	tx.fenced, tx.inserted, tx.saved, tx.locked, tx.start = nil, nil, nil, nil, nil
}

// cell is the column that holds a row or an index entry.
func cell(row kv.RowKey) kv.Column { return kv.Column{Row: row, Family: rowFamily} }
