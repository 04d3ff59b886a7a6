package operator

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsonsize"
	"moka/txn/longread"
)

// RowMeter charges for rows that are read and written for nobody's statement, apart from what is made of
// them.
type RowMeter struct{ account Account }

// RowMeter is one that interrupt is told of when memory is short. It has to be closed.
func (p *Pool) RowMeter(interrupt func(error) bool) *RowMeter {
	m := &RowMeter{}
	p.Open(&m.account, interrupt)
	return m
}

// Holds implements longread.Meter.
func (m *RowMeter) Holds(by any, n int64) error { return m.account.Value(by, n, 0) }

// Close gives back what was charged.
func (m *RowMeter) Close() { m.account.Close() }

// Copies is what a row does not share with what is stored: binary strings, documents and geometries.
func Copies(row sql.Row) (n int64) {
	for _, v := range row {
		switch v.(type) {
		case []byte, sql.JSONWrapper, types.GeometryValue:
			n += ValueBytes(v)
		}
	}
	return n
}

// Writes charges the statement for what by makes of long values to write a row in the place of another, until
// its next one: both as they are stored, and the new one once more, for the transaction.
func Writes(ctx *sql.Context, by any, old, row sql.Row) error {
	if n := longBytes(old) + 2*longBytes(row); n >= longread.Long {
		return longread.Holds(ctx, by, n)
	}
	return nil
}

// longBytes is how long the strings and documents of a row are.
func longBytes(row sql.Row) (n int64) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		case *types.LazyJSONDocument:
			n += int64(len(v.Bytes))
		case types.JSONDocument:
			n += jsonsize.Memory(v)
		}
	}
	return n
}

// Written is what a transaction is going to write, as it is charged for: once while it is open, to the
// session if it outlives the statement, and twice more to the statement, as the commit makes records and a
// batch of it.
type Written struct {
	// Keep charges the session for n bytes more, or fewer; nil if the statement is the transaction.
	Keep func(n int64) error

	charged, kept int64
}

// Charge charges for n bytes in all.
func (w *Written) Charge(ctx context.Context, n int64) error {
	if more := n - w.charged; more < longread.Long && -more < longread.Long {
		return nil
	}
	of := 3 * n
	if w.Keep != nil {
		if err := w.Keep(n - w.kept); err != nil {
			return err
		}
		w.kept, of = n, 2*n
	}
	w.charged = n
	return longread.Holds(ctx, w, of)
}

// Commit charges the statement that commits, if others have written.
func (w *Written) Commit(ctx context.Context) error {
	if w.kept < longread.Long {
		return nil
	}
	return longread.Holds(ctx, w, 2*w.kept)
}

// Release gives back what the session was charged for.
func (w *Written) Release() {
	if w.kept != 0 {
		_ = w.Keep(-w.kept) // giving back does not fail
	}
	w.charged, w.kept = 0, 0
}
