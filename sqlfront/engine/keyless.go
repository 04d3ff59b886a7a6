package engine

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
)

// trail remembers the hidden row ids of the rows of a keyless table that scans have delivered while an UPDATE or DELETE runs. The
// engine hands rows back to the editor by value; without the trail each of them would have to be searched for.
//
// Equal rows are interchangeable, so the row's encoding is its identity; each id is handed out once.
type trail struct {
	seeds [2]maphash.Seed
	ids   map[[2]uint64][]uint64
	size  int
}

// maxTrail bounds a trail; rows beyond it are searched for.
const maxTrail = 1 << 20

func (tx *Tx) trail(t *Table) {
	if tx.trails == nil {
		tx.trails = map[uint32]*trail{}
	}
	if tx.trails[t.desc.ID] == nil {
		tx.trails[t.desc.ID] = &trail{
			seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
			ids:   map[[2]uint64][]uint64{},
		}
	}
}

func (tr *trail) hash(value []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(tr.seeds[0], value), maphash.Bytes(tr.seeds[1], value)}
}

func (tr *trail) note(ctx *sql.Context, t *Table, key kv.RowKey, row sql.Row) error {
	if tr.size >= maxTrail {
		return nil
	}
	// The stored bytes may be those of an older shape of the table; the editor will see the row in today's.
	value, err := t.rows.Encode(ctx, nil, row)
	if err != nil {
		return err
	}
	h := tr.hash(value)
	tr.ids[h] = append(tr.ids[h], binary.BigEndian.Uint64(key[len(key)-8:]))
	tr.size++
	return nil
}

func (tr *trail) take(value []byte) (uint64, bool) {
	h := tr.hash(value)
	ids := tr.ids[h]
	if len(ids) == 0 {
		return 0, false
	}
	id := ids[0]
	if len(ids) == 1 {
		delete(tr.ids, h)
	} else {
		tr.ids[h] = ids[1:]
	}
	tr.size--
	return id, true
}

// rowID finds a row of a keyless table with that encoding.
func (tx *Tx) rowID(ctx *sql.Context, t *Table, value []byte) (uint64, error) {
	if tr := tx.trails[t.desc.ID]; tr != nil {
		if id, ok := tr.take(value); ok {
			return id, nil
		}
	}
	span := indexSpan(t.desc.ID, t.desc.RowIndex)
	it := &entryIter{tx: tx, table: t, spans: wholeSpan(span)}
	defer it.Close()
	for {
		e, ok, err := it.Next(ctx)
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, sql.ErrDeleteRowNotFound.New()
		}
		row, err := t.decode.Decode(e.value)
		if err != nil {
			return 0, err
		}
		have, err := t.rows.Encode(ctx, nil, row)
		if err != nil {
			return 0, err
		}
		if string(have) == string(value) {
			return binary.BigEndian.Uint64(e.key[len(e.key)-8:]), nil
		}
	}
}
