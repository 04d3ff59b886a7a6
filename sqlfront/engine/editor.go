package engine

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// editor writes rows into the transaction's buffer. One type serves INSERT, UPDATE, DELETE, REPLACE and the referential
// actions of foreign keys.
//
// It is also what makes a statement atomic: StatementBegin marks the buffer, DiscardChanges goes back to the mark. The engine
// forgets to call them for INSERT … RETURNING, so the first write sets a mark if nobody has; it calls them around each row of
// INSERT IGNORE.
type editor struct {
	table *Table
	moves bool // UPDATE or DELETE: rows come from a scan of the same statement

	allowed bool // the database is not read-only to the statement; the first write has asked

	begun  bool
	lazy   bool // the mark was not asked for
	failed bool
	at     mark
	first  mark // the statement's beginning; see Tx.readAt
	listed bool
	mode   insertMode
	rows   uint64 // that were inserted or changed; for errors that name one
	// parents looks for those of a new row that no other is in the way of; nil if somebody else does.
	parents func(ctx *sql.Context, row sql.Row) error
}

// insertMode is what the plan knows about an INSERT and the editor is not told.
type insertMode uint8

const (
	insertPlain insertMode = iota
	// insertUpsert: IGNORE, ON DUPLICATE KEY UPDATE, REPLACE. A key taken by a concurrent transaction is a lost race, to be run again,
	// not a duplicate.
	insertUpsert
	insertIgnore // what IGNORE makes of insertUpsert
	// insertBlind: a plain INSERT that is a transaction by itself. It is not looked whether its keys are free, that is the
	// commit's business: the statement fails there as it would have failed here, one round trip cheaper.
	insertBlind
)

// replaces reports whether a key that is taken is no error.
func (m insertMode) replaces() bool { return m == insertUpsert || m == insertIgnore }

var (
	_ sql.TableEditor      = (*editor)(nil)
	_ sql.ForeignKeyEditor = (*fkEditor)(nil)
)

// fkEditor is an editor through which the engine also reads: referential actions and checks look rows up in the state that the
// statement has made so far.
type fkEditor struct {
	editor
	*indexedAccess
}

// indexedAccess gives an editor the table's lookups.
type indexedAccess struct{ t *Table }

func (a *indexedAccess) IndexedAccess(ctx *sql.Context, l sql.IndexLookup) sql.IndexedTable {
	t := a.t.IndexedAccess(ctx, l)
	t.(*indexedTable).live = true
	return t
}
func (a *indexedAccess) GetIndexes(ctx *sql.Context) ([]sql.Index, error) { return a.t.GetIndexes(ctx) }
func (a *indexedAccess) PreciseMatch() bool                               { return a.t.PreciseMatch() }

// Inserter implements sql.InsertableTable.
func (t *Table) Inserter(ctx *sql.Context) sql.RowInserter { return t.editor(ctx, false) }

// Updater implements sql.UpdatableTable.
func (t *Table) Updater(ctx *sql.Context) sql.RowUpdater { return t.editor(ctx, true) }

// Deleter implements sql.DeletableTable.
func (t *Table) Deleter(ctx *sql.Context) sql.RowDeleter { return t.editor(ctx, true) }

// Replacer implements sql.ReplaceableTable.
func (t *Table) Replacer(ctx *sql.Context) sql.RowReplacer { return t.editor(ctx, false) }

// Update implements sql.ForeignKeyEditor. ON UPDATE CASCADE brings the parent's values, which may be none of
// the column's type: the parent's update is refused then.
func (e *fkEditor) Update(ctx *sql.Context, old, row sql.Row) error {
	d := e.table.desc
	for i := range d.ForeignKeys {
		if d.ForeignKeys[i].OnUpdate != "CASCADE" {
			continue
		}
		for _, name := range d.ForeignKeys[i].Columns {
			at := e.table.ordinal(name)
			if at < 0 || row[at] == nil {
				continue
			}
			typ := e.table.pk.Schema[at].Type
			v, in, err := typ.Convert(ctx, row[at])
			if err == nil && in == sql.InRange {
				if n, err := typ.Compare(ctx, v, row[at]); err == nil && n == 0 {
					row[at] = v
					continue
				}
			}
			return e.fail(ctx, sql.ErrForeignKeyParentViolation.New(d.ForeignKeys[i].Name, d.Name,
				d.ForeignKeys[i].ParentTable, "["+name+"]"))
		}
	}
	return e.editor.Update(ctx, old, row)
}

// GetForeignKeyEditor implements sql.ForeignKeyTable.
func (t *Table) GetForeignKeyEditor(ctx *sql.Context) sql.ForeignKeyEditor {
	b := t.base()
	return &fkEditor{editor: *b.editor(ctx, true), indexedAccess: &indexedAccess{b}}
}

func (t *Table) editor(ctx *sql.Context, moves bool) *editor {
	e := &editor{table: t.base(), moves: moves}
	if moves && t.primary == nil {
		// The editor is made before the scan that feeds it: the scan leaves a trail of the hidden row ids.
		if tx, ok := ctx.GetTransaction().(*Tx); ok {
			tx.trail(t)
		}
	}
	return e
}

// StatementBegin implements sql.EditOpenerCloser.
func (e *editor) StatementBegin(ctx *sql.Context) {
	if tx, err := txOf(ctx); err == nil {
		e.begin(tx, false)
	}
}

func (e *editor) begin(tx *Tx, lazy bool) {
	e.begun, e.lazy, e.failed = true, lazy, false
	e.at = tx.mark()
	if !e.listed {
		e.first, e.listed = e.at, true
		tx.running = append(tx.running, e)
	}
	e.mode = tx.modes[e.table.desc.ID]
}

// keepFired moves the mark of a row of INSERT IGNORE behind what the triggers BEFORE it have written by now.
func (tx *Tx) keepFired(table uint32) {
	for _, e := range slices.Backward(tx.running) {
		if e.table.desc.ID == table {
			if e.begun && e.mode == insertIgnore {
				e.at = tx.mark()
			}
			return
		}
	}
}

// DiscardChanges implements sql.EditOpenerCloser.
func (e *editor) DiscardChanges(ctx *sql.Context, err error) error {
	if tx, ok := ctx.GetTransaction().(*Tx); ok && e.begun {
		if _, row := err.(sql.IgnorableError); row {
			tx.undo(e.at)
		} else {
			tx.undo(e.first) // what IGNORE does not forgive ends the statement, and the rows before go with it
		}
	}
	e.begun, e.failed = false, false
	return nil
}

// StatementComplete implements sql.EditOpenerCloser.
func (e *editor) StatementComplete(*sql.Context) error {
	e.begun, e.failed = false, false
	return nil
}

// Close implements sql.Closer.
func (e *editor) Close(ctx *sql.Context) error {
	tx, ok := ctx.GetTransaction().(*Tx)
	if ok && e.begun && e.lazy && e.failed {
		tx.undo(e.at)
	}
	e.begun, e.failed = false, false
	if ok && e.listed {
		tx.running = slices.DeleteFunc(tx.running, func(r *editor) bool { return r == e })
	}
	e.listed = false
	if ok && e.moves {
		delete(tx.trails, e.table.desc.ID)
	}
	return nil
}

// write prepares for a change: the transaction, the mark and the fence.
func (e *editor) write(ctx *sql.Context) (*Tx, error) {
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	if s := sessionOf(ctx); s != nil && s.divided {
		if err := s.divisionByZero(ctx); err != nil {
			return nil, err
		}
	}
	if tx.readOnly && !e.table.temporary {
		return nil, sqlerr.ReadOnlyTxn()
	}
	first := !e.allowed
	if first && !e.table.temporary {
		if err := tx.mayChange(ctx); err != nil {
			return nil, err
		}
	}
	e.allowed = true
	if err := e.table.refusePast(tx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, sqlerr.From(err)
	}
	if err := divided(ctx); err != nil {
		return nil, err
	}
	if !tx.locks() {
		tx.used.Store(true)
	}
	if !e.begun {
		e.begin(tx, true)
	}
	if first {
		tx.grow(!tx.frees)
		tx.store().SetFrees(tx.frees)
	}
	if !e.table.temporary {
		tx.fence(e.table.desc)
	}
	return tx, nil
}

func (e *editor) fail(ctx *sql.Context, err error) error {
	if err != nil {
		e.failed = true
		if tx, ok := ctx.GetTransaction().(*Tx); ok {
			tx.used.Store(true) // the client may learn from it what is there
		}
	}
	return err
}

// done is fail, behind what has been written.
func (e *editor) done(ctx *sql.Context, err error) error {
	if tx, ok := ctx.GetTransaction().(*Tx); ok && err == nil {
		err = tx.buffered(ctx)
	}
	return e.fail(ctx, err)
}

// Insert implements sql.RowInserter.
func (e *editor) Insert(ctx *sql.Context, row sql.Row) error { return e.done(ctx, e.insert(ctx, row)) }

func (e *editor) insert(ctx *sql.Context, row sql.Row) error {
	tx, err := e.write(ctx)
	if err != nil {
		return err
	}
	t, given := e.table, row
	if row, err = e.fitted(ctx, row); err != nil {
		return err
	}
	if tx.bulk == t {
		if err := e.commitPart(ctx, tx); err != nil {
			return err
		}
	}
	if err := operator.Writes(ctx, e, nil, row); err != nil {
		return err
	}
	w, err := e.cells(ctx, tx, row)
	if err != nil {
		return err
	}
	if err := tx.lockWrite(ctx, t, true, w); err != nil {
		return err
	}
	if e.mode == insertBlind {
		err = tx.claim(ctx, t, w, row)
	} else {
		err = tx.checkUnique(ctx, t, w.unique(nil), row)
	}
	if err == nil && e.parents != nil {
		err = e.parents(ctx, given)
	}
	if err != nil {
		return err
	}
	return e.put(ctx, tx, w, row)
}

// fitted is a new row as its columns store it.
func (e *editor) fitted(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	t, err := e.table, error(nil)
	if row, err = t.held(ctx, row); err != nil {
		return nil, err
	}
	if len(t.narrow) > 0 {
		if row, err = t.fitCharsets(ctx, row, e.mode == insertIgnore); err != nil {
			return nil, err
		}
	}
	if e.rows++; len(t.stamps) > 0 {
		row, err = t.fitStamps(ctx, row, e.mode == insertIgnore, e.rows)
	}
	return row, err
}

// cells are those of a new row, of which the commit may say that there is one already.
func (e *editor) cells(ctx *sql.Context, tx *Tx, row sql.Row) (*written, error) {
	t := e.table
	w, err := t.encode(ctx, row)
	if err != nil {
		return nil, err
	}
	if t.primary == nil {
		id, err := t.eng.catalog.NextID(ctx, t.desc.RowIDs)
		if err != nil {
			return nil, tx.fail(ctx, err)
		}
		w.setRowID(t, id)
	}
	if err := w.entries(t, row); err != nil {
		return nil, err
	}
	if !e.mode.replaces() && t.hasUnique() {
		tx.inserted = append(tx.inserted, insertion{t, row}) // first: the lock may find a key taken, too
	}
	return w, nil
}

// put writes a new row whose keys are free.
func (e *editor) put(ctx *sql.Context, tx *Tx, w *written, row sql.Row) error {
	t := e.table
	notify, err := tx.observers(ctx, t, ChangeInsert, nil)
	if err != nil {
		return err
	}
	// What was read was of the snapshot; that the key is still free is for the commit to say.
	free := !e.mode.replaces()
	st := tx.store()
	st.Put(cell(w.key), w.value, txn.WriteOptions{MustNotExist: free && t.primary != nil, Observers: notify})
	for i := range w.secondary {
		s := &w.secondary[i]
		st.Put(cell(s.key), s.value, txn.WriteOptions{MustNotExist: free && s.unique})
	}
	if err := w.putWords(st, t, row); err != nil {
		return err
	}
	tx.note(t, w.pk)
	tx.eng.stats.Inserted(t.desc.ID)
	if tx.session != nil {
		tx.session.inserting.stored(t, row)
	}
	return nil
}

// Update implements sql.RowUpdater.
func (e *editor) Update(ctx *sql.Context, old, row sql.Row) error {
	return e.done(ctx, e.update(ctx, old, row))
}

func (e *editor) update(ctx *sql.Context, old, row sql.Row) error {
	tx, err := e.write(ctx)
	if err != nil {
		return err
	}
	t := e.table
	for i, c := range t.pk.Schema { // of ON DUPLICATE KEY UPDATE nobody else has asked
		if row[i] == nil && !c.Nullable && !c.Virtual {
			return sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
		}
	}
	if err := operator.Writes(ctx, e, old, row); err != nil {
		return err
	}
	was, old, err := e.locate(ctx, tx, old)
	if err != nil {
		return err
	}
	if row, err = t.held(ctx, row); err != nil {
		return err
	}
	if len(t.narrow) > 0 {
		if row, err = t.fitCharsets(ctx, row, e.mode == insertIgnore); err != nil {
			return err
		}
	}
	if e.rows++; len(t.stamps) > 0 {
		if row, err = t.fitStamps(ctx, t.sameStamps(old, row), e.mode == insertIgnore, e.rows); err != nil {
			return err
		}
	}
	is, err := t.encode(ctx, row)
	if err != nil {
		return err
	}
	if t.primary == nil {
		is.key = was.key
	}
	if err := is.entries(t, row); err != nil {
		return err
	}
	if err := tx.lockWrite(ctx, t, false, was, is); err != nil {
		return err
	}
	if err := tx.checkUnique(ctx, t, is.unique(was), row); err != nil {
		return err
	}
	if e.mode == insertUpsert && tx.session != nil && !bytes.Equal(was.value, is.value) {
		tx.session.inserting.changed(t, row)
	}
	st := tx.store()
	if tx.note(t, was.pk); !bytes.Equal(was.key, is.key) {
		tx.note(t, is.pk)
	}
	if bytes.Equal(was.key, is.key) {
		notify, err := tx.observers(ctx, t, ChangeUpdate, func() []uint32 { return t.changed(ctx, old, row) })
		if err != nil {
			return err
		}
		st.Put(cell(is.key), is.value, txn.WriteOptions{Observers: notify})
	} else {
		// A row that moves is a row that goes and one that comes, to observers as well: they know rows by their key.
		if err := e.remove(ctx, tx, was); err != nil {
			return err
		}
		notify, err := tx.observers(ctx, t, ChangeInsert, nil)
		if err != nil {
			return err
		}
		st.Put(cell(is.key), is.value, txn.WriteOptions{Observers: notify})
	}
	for i := range is.secondary {
		o, n := &was.secondary[i], &is.secondary[i]
		if bytes.Equal(o.key, n.key) && bytes.Equal(o.value, n.value) {
			continue
		}
		if !bytes.Equal(o.key, n.key) {
			st.Delete(cell(o.key), txn.WriteOptions{})
		}
		st.Put(cell(n.key), n.value, txn.WriteOptions{})
	}
	return t.moveWords(st, was, is, old, row)
}

// Delete implements sql.RowDeleter.
func (e *editor) Delete(ctx *sql.Context, row sql.Row) error { return e.fail(ctx, e.delete(ctx, row)) }

func (e *editor) delete(ctx *sql.Context, row sql.Row) error {
	tx, err := e.write(ctx)
	if err != nil {
		return err
	}
	if err := operator.Writes(ctx, e, row, nil); err != nil {
		return err
	}
	was, row, err := e.locate(ctx, tx, row)
	if err != nil {
		return err
	}
	if err := tx.lockWrite(ctx, e.table, false, was); err != nil {
		return err
	}
	if err := e.remove(ctx, tx, was); err != nil {
		return err
	}
	for i := range was.secondary {
		tx.store().Delete(cell(was.secondary[i].key), txn.WriteOptions{})
	}
	if err := was.deleteWords(tx.store(), e.table, row); err != nil {
		return err
	}
	tx.note(e.table, was.pk)
	tx.eng.stats.Deleted(e.table.desc.ID)
	return nil
}

func (e *editor) remove(ctx *sql.Context, tx *Tx, was *written) error {
	notify, err := tx.observers(ctx, e.table, ChangeDelete, nil)
	if err != nil {
		return err
	}
	tx.store().Delete(cell(was.key), txn.WriteOptions{Observers: notify})
	return nil
}

// locate finds the cells of a row that a scan has delivered, and returns the row as it is stored.
func (e *editor) locate(ctx *sql.Context, tx *Tx, row sql.Row) (*written, sql.Row, error) {
	t := e.table
	w, err := t.encode(ctx, row)
	if err != nil {
		return nil, nil, err
	}
	if t.primary == nil {
		id, err := tx.rowID(ctx, t, w.value)
		if err != nil {
			return nil, nil, err
		}
		w.setRowID(t, id)
	}
	stored := row
	if t.primary != nil && (t.virtualKeys || t.unmarked(row)) {
		value, ok, err := tx.store().Get(ctx, cell(w.key))
		if err != nil {
			return nil, nil, tx.fail(ctx, err)
		}
		if ok {
			if stored, err = t.decode.Decode(value); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := w.entries(t, stored); err != nil {
		return nil, nil, err
	}
	if !t.virtualKeys {
		row = stored
	}
	return w, row, nil
}

// written is a row as cells.
type written struct {
	key       kv.RowKey
	value     []byte
	pk        []byte // the key behind its prefix
	primary   *index // nil for a keyless table
	secondary []indexCell
}

type indexCell struct {
	index  *index
	key    kv.RowKey
	value  []byte
	unique bool // the key is the values alone: two rows with it collide
}

// uniqueCell is a key that must be free.
type uniqueCell struct {
	index *index
	key   kv.RowKey
}

// encode makes the row's cell; that of a keyless table gets its key later.
func (t *Table) encode(ctx *sql.Context, row sql.Row) (*written, error) {
	w := &written{primary: t.primary}
	var err error
	// Virtual columns are stored too: nobody reads them, the engine computes them anew, but the entries of indexes over
	// them have to be found again when the row goes, and not every caller computes them first (cascades do not).
	if w.value, err = t.rows.Encode(ctx, nil, row); err != nil {
		return nil, err
	}
	if t.primary != nil {
		if w.key, err = t.primary.rowKey(row); err != nil {
			return nil, err
		}
		w.pk = w.key[len(t.primary.prefix):]
	}
	return w, nil
}

func (w *written) setRowID(t *Table, id uint64) {
	w.key = append(indexPrefix(t.desc.ID, t.desc.RowIndex), binary.BigEndian.AppendUint64(nil, id)...)
}

// entries makes the cells of the secondary indexes.
func (w *written) entries(t *Table, row sql.Row) error {
	if w.pk == nil {
		w.pk = w.key[len(w.key)-8:]
	}
	w.secondary = make([]indexCell, 0, len(t.keys))
	for _, x := range t.keys {
		if x.primary {
			continue
		}
		key, value, err := x.entry(row, w.pk)
		if err != nil {
			return err
		}
		w.secondary = append(w.secondary, indexCell{x, key, value, x.unique && !x.hasNull(row)})
	}
	return nil
}

// unique lists the keys that must be free for the row, without those that it had before.
func (w *written) unique(was *written) []uniqueCell {
	var keys []uniqueCell
	add := func(x *index, key, old kv.RowKey) {
		if was == nil || !bytes.Equal(key, old) {
			keys = append(keys, uniqueCell{x, key})
		}
	}
	if w.primary != nil {
		var old kv.RowKey
		if was != nil {
			old = was.key
		}
		add(w.primary, w.key, old)
	}
	for i := range w.secondary {
		s := &w.secondary[i]
		if !s.unique {
			continue
		}
		var old kv.RowKey
		if was != nil {
			old = was.secondary[i].key
		}
		add(s.index, s.key, old)
	}
	return keys
}

// hasUnique reports whether a commit can fail because a key is taken.
func (t *Table) hasUnique() bool {
	return slices.ContainsFunc(t.keys, func(x *index) bool { return x.unique })
}

// changed lists the ids of the columns whose values differ.
func (t *Table) changed(ctx *sql.Context, old, row sql.Row) []uint32 {
	ids := make([]uint32, 0, 4)
	for i, c := range t.pk.Schema {
		same := false
		switch {
		case old[i] == nil || row[i] == nil:
			same = old[i] == nil && row[i] == nil
		default:
			n, err := c.Type.Compare(ctx, old[i], row[i])
			same = err == nil && n == 0 && !sql.IsStringType(c.Type) || sameText(old[i], row[i])
		}
		if !same {
			ids = append(ids, t.desc.Columns[t.ordinals[i]].ID)
		}
	}
	return ids
}

// sameText compares strings by their bytes: to an observer 'a' -> 'A' is a change, whatever the collation says.
func sameText(a, b any) bool {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return ok && x == y
	case []byte:
		y, ok := b.([]byte)
		return ok && bytes.Equal(x, y)
	}
	return false
}

// observers asks which observers the write notifies. What an update has changed is found out for tables that have any.
func (tx *Tx) observers(ctx *sql.Context, t *Table, event ChangeEvent, changed func() []uint32) ([]uint32, error) {
	if t.temporary {
		return nil, nil
	}
	v, err := tx.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	os := v.snap.Observers(t.desc.ID)
	if len(os) == 0 {
		return nil, nil
	}
	var ids []uint32
	if changed != nil {
		ids = changed()
	}
	return tx.eng.opts.Observers(t.desc, os, event, ids), nil
}

// claim keeps two rows of one blind INSERT from having the same key: it looks at the transaction's own writes only.
func (tx *Tx) claim(ctx *sql.Context, t *Table, w *written, row sql.Row) error {
	for _, k := range w.unique(nil) {
		if value, ok, known := tx.store().Pending(cell(k.key)); known && ok {
			return tx.taken(ctx, t, k, value, row)
		}
	}
	return nil
}

// checkUnique reads whether the keys are free, in one request.
func (tx *Tx) checkUnique(ctx *sql.Context, t *Table, keys []uniqueCell, row sql.Row) error {
	if len(keys) == 0 {
		return nil
	}
	if len(keys) == 1 {
		v, ok, err := tx.store().Get(ctx, cell(keys[0].key))
		if err != nil {
			return tx.fail(ctx, err)
		}
		if !ok {
			return nil
		}
		return tx.taken(ctx, t, keys[0], v, row)
	}
	cells := make([]kv.Column, len(keys))
	for i, k := range keys {
		cells[i] = cell(k.key)
	}
	vs, err := tx.store().BatchGet(ctx, cells)
	if err != nil {
		return tx.fail(ctx, err)
	}
	for i, v := range vs {
		if v.OK {
			return tx.taken(ctx, t, keys[i], v.Data, row)
		}
	}
	return nil
}

// taken makes the duplicate key error. It has to carry the existing row: IGNORE, REPLACE and ON DUPLICATE KEY UPDATE go on
// from there.
func (tx *Tx) taken(ctx *sql.Context, t *Table, k uniqueCell, value []byte, row sql.Row) error {
	if !k.index.primary {
		pk, err := k.index.pkOf(k.key, value)
		if err != nil {
			return err
		}
		c := cell(append(indexPrefix(t.desc.ID, t.desc.RowIndex), pk...))
		var ok bool
		if value, ok, err = tx.store().Get(ctx, c); err != nil {
			return tx.fail(ctx, err)
		}
		if !ok {
			return nil // an entry that the same statement has orphaned
		}
	}
	existing, err := t.decode.Decode(value)
	if err != nil {
		return err
	}
	return t.duplicate(ctx, k.index, row, existing)
}

func (t *Table) duplicate(ctx *sql.Context, x *index, row, existing sql.Row) error {
	return sql.NewUniqueKeyErr(sqlerr.DuplicateText(x.display(ctx, row), t.desc.Name, x.id), x.primary, existing)
}
