package engine

import (
	"encoding/binary"
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/trail"
	"moka/txn"
)

func (tx *Tx) trail(t *Table) {
	if tx.trails == nil {
		tx.trails = map[uint32]*trail.Trail{}
	}
	if tx.trails[t.desc.ID] == nil {
		tx.trails[t.desc.ID] = trail.New()
	}
}

func rowIDOf(key kv.RowKey) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// pass notes a row that a scan delivers. The stored bytes may be those of an older shape of the table; the
// editor will see the row in today's.
func (t *Table) pass(ctx *sql.Context, tr *trail.Trail, key kv.RowKey, row sql.Row) error {
	id := rowIDOf(key)
	if !tr.Wants(id) {
		return nil
	}
	value, err := t.rows.Encode(ctx, nil, row)
	if err == nil {
		tr.Note(id, value)
	}
	return err
}

// rowID finds a row of a keyless table with that encoding.
func (tx *Tx) rowID(ctx *sql.Context, t *Table, value []byte) (uint64, error) {
	if id, ok := tx.trails[t.desc.ID].Take(value); ok {
		return id, nil
	}
	ids, err := tx.rowsEqual(ctx, t, value, 1, nil)
	if err == nil && len(ids) == 0 {
		err = sql.ErrDeleteRowNotFound.New()
	}
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// rowsLike are the keys of all rows of a keyless table that had that encoding when the statement began.
func (tx *Tx) rowsLike(ctx *sql.Context, t *Table, value []byte) (keys []kv.RowKey, err error) {
	ids := tx.trails[t.desc.ID].Like(value)
	if len(ids) == 0 {
		ids, err = tx.rowsEqual(ctx, t, value, math.MaxInt, tx.readAt())
	}
	for _, id := range ids {
		w := &written{}
		w.setRowID(t, id)
		keys = append(keys, w.key)
	}
	return keys, err
}

// rowsEqual searches a keyless table for rows with that encoding, most of them at most, at a point of the
// write buffer; nil is now.
func (tx *Tx) rowsEqual(ctx *sql.Context, t *Table, value []byte, most int, at *txn.Savepoint) (ids []uint64, err error) {
	it := &entryIter{tx: tx, table: t, spans: wholeSpan(indexSpan(t.desc.ID, t.desc.RowIndex)), at: at}
	defer it.Close()
	for len(ids) < most {
		e, ok, err := it.Next(ctx)
		if err != nil || !ok {
			return ids, err
		}
		row, err := t.decode.Decode(e.value)
		if err != nil {
			return nil, err
		}
		have, err := t.rows.Encode(ctx, nil, row)
		if err != nil {
			return nil, err
		}
		if string(have) == string(value) {
			ids = append(ids, rowIDOf(e.key))
		}
	}
	return ids, nil
}
