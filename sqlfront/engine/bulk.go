package engine

import (
	"bytes"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/kv"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/textfile"
	"moka/txn"
)

// bulkBytes is how much of a LOAD DATA is one transaction. A file has no bound and a transaction has one (error 1197), and
// long before it a transaction is slow: its buffer is in memory. So a load that is a transaction by itself is atomic up to this size,
// as in MySQL, and beyond it commits in parts; when it fails, the parts before stay. Within BEGIN … COMMIT a load is never divided:
// there the user has said what is to be atomic, and the transaction's bound holds.
//
// A part is one request to the store, and no more than that: what is larger has two phases.
const bulkBytes = 4<<20 - 64<<10

// loads reports whether the rows come from a file.
func loads(n sql.Node) bool {
	found := false
	transform.Inspect(n, func(n sql.Node) bool {
		if _, ok := n.(*plan.LoadData); ok {
			found = true
		}
		return !found
	})
	return found
}

// commitPart commits what the load has written, if that is a part. It is called between two rows. A statement within the
// statement (a trigger's, a foreign key's) keeps marks in the buffer, which must then stay.
func (e *editor) commitPart(ctx *sql.Context, tx *Tx) error {
	if tx.t == nil || len(tx.running) != 1 || len(tx.saved) > 0 || len(tx.after) > 0 {
		return nil
	}
	if bytes, _ := tx.t.Size(); bytes < bulkBytes {
		return nil
	}
	if err := tx.commitStore(ctx); err != nil {
		tx.awaitFence(ctx, err)
		tx.ended = tx.translate(ctx, err)
		return tx.ended
	}
	tx.t, tx.start = nil, nil
	tx.fenced, tx.inserted, tx.locked = nil, nil, nil
	e.at = tx.mark()
	e.first = e.at
	tx.fence(e.table.desc)
	return nil
}

// loadFormat is false for files of fixed-width fields, which go-mysql-server does not read either.
func loadFormat(n *plan.LoadData) (f textfile.Format, ok bool) {
	f = textfile.Format{Fields: n.FieldsTerminatedBy, Lines: n.LinesTerminatedBy, Starting: n.LinesStartingBy}
	if len(n.FieldsEnclosedBy) > 0 {
		f.Enclosed, f.HasEnclosed = n.FieldsEnclosedBy[0], true
	}
	if len(n.FieldsEscapedBy) > 0 {
		f.Escaped, f.HasEscaped = n.FieldsEscapedBy[0], true
	}
	return f, f.Fields != "" && f.Lines != ""
}

// insertMany is Insert for the rows of one statement: locks are taken and keys are looked at with one request
// for all. before is called before each row is written.
func (e *editor) insertMany(ctx *sql.Context, rows []sql.Row, before func(row int)) error {
	return e.fail(ctx, e.insertAll(ctx, rows, before))
}

func (e *editor) insertAll(ctx *sql.Context, rows []sql.Row, before func(row int)) error {
	tx, err := e.write(ctx)
	if err != nil {
		return err
	}
	t := e.table
	cells := make([]*written, len(rows))
	for i, row := range rows {
		if row, err = e.fitted(ctx, row); err != nil {
			return err
		}
		if cells[i], err = e.cells(ctx, tx, row); err != nil {
			return err
		}
		rows[i] = row
	}
	if err := tx.lockInserts(ctx, t, cells); err != nil {
		return err
	}
	if e.mode != insertBlind {
		if err := tx.checkAllUnique(ctx, t, cells, rows); err != nil {
			return err
		}
	}
	if done, err := e.putAll(ctx, tx, cells, rows, before); done || err != nil {
		return err
	}
	for i, row := range rows {
		if i%1024 == 1023 && ctx.Err() != nil {
			return sqlerr.From(ctx.Err())
		}
		if err := tx.claim(ctx, t, cells[i], row); err != nil { // by a row of the same statement
			return err
		}
		before(i)
		if err := e.put(ctx, tx, cells[i], row); err != nil {
			return err
		}
	}
	return nil
}

// putAll is put for many rows whose keys are free, index by index: in the order of the keys they need not be
// looked up in the transaction's buffer. False if two have a key in common.
func (e *editor) putAll(
	ctx *sql.Context, tx *Tx, cells []*written, rows []sql.Row, before func(row int),
) (done bool, err error) {
	t := e.table
	if len(t.texts) > 0 {
		return false, nil
	}
	notify, err := tx.observers(ctx, t, ChangeInsert, nil)
	if err != nil {
		return false, err
	}
	by := make([][]txn.Write, 1+len(cells[0].secondary))
	for _, w := range cells {
		if len(w.secondary) != len(by)-1 {
			return false, nil
		}
		by[0] = append(by[0], txn.Write{Column: cell(w.key), Value: w.value,
			MustNotExist: t.primary != nil, Observers: notify})
		for i := range w.secondary {
			s := &w.secondary[i]
			by[i+1] = append(by[i+1], txn.Write{Column: cell(s.key), Value: s.value,
				MustNotExist: s.unique})
		}
	}
	order := func(x, y txn.Write) int { return bytes.Compare(x.Column.Row, y.Column.Row) }
	for _, ws := range by {
		if !slices.IsSortedFunc(ws, order) {
			slices.SortFunc(ws, order)
		}
		for i := 1; i < len(ws); i++ {
			if bytes.Equal(ws[i-1].Column.Row, ws[i].Column.Row) {
				return false, nil
			}
		}
	}
	slices.SortFunc(by, func(x, y []txn.Write) int { return order(x[0], y[0]) })
	for _, ws := range by {
		tx.store().PutAll(ws)
	}
	for i, row := range rows {
		before(i)
		tx.note(t, cells[i].pk)
		if tx.session != nil {
			tx.session.inserting.stored(t, row)
		}
	}
	tx.eng.stats.Added(t.desc.ID, int64(len(rows)))
	return true, nil
}

// checkAllUnique is checkUnique for new rows.
func (tx *Tx) checkAllUnique(ctx *sql.Context, t *Table, of []*written, rows []sql.Row) error {
	var cells []kv.Column
	var keys []uniqueCell
	var at []int // whose they are
	for i, w := range of {
		for _, k := range w.unique(nil) {
			cells, keys, at = append(cells, cell(k.key)), append(keys, k), append(at, i)
		}
	}
	for len(cells) > 0 {
		n := min(len(cells), lookupBatch)
		vs, err := tx.store().BatchGet(ctx, cells[:n])
		if err != nil {
			return tx.fail(ctx, err)
		}
		for i, v := range vs {
			if v.OK {
				return tx.taken(ctx, t, keys[i], v.Data, rows[at[i]])
			}
		}
		cells, keys, at = cells[n:], keys[n:], at[n:]
	}
	return nil
}
