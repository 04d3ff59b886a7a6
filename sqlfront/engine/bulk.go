package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/textfile"
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
