package engine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/txn"
)

// copying knows the old and the new storage of a table. It is used by one goroutine.
type copying struct {
	eng      *Engine
	from, to *Table
	rows     *rowMap
	// moves: rows get other keys. Which ones, is written down under keys, in both directions:
	//
	//	| prefix of the index id | 00 | old key |   value  new key
	//	| prefix of the index id | 01 | new key |   value  old key
	//
	// Without an id (a small table, copied at once) nobody will ask.
	moves bool
	keys  uint32
	// auto is the greatest number in a column that becomes AUTO_INCREMENT, nil if none does.
	auto *uint64
	row  uint64 // number of the row before the next, for errors
}

// origin is a row of the old storage.
type origin struct {
	pk    []byte // its key behind the prefix
	value []byte // nil if it is gone
	fresh bool   // it has not been brought over before
}

func (e *Engine) newCopying(ctx *sql.Context, db string, from, to *catalog.Table) (*copying, error) {
	c := &copying{eng: e}
	var err error
	if c.from, err = newTable(e, db, from, zoneOf(ctx)); err != nil {
		return nil, err
	}
	if c.to, err = newTable(e, db, to, zoneOf(ctx)); err != nil {
		return nil, err
	}
	if c.rows, err = newRowMap(ctx, c.from, c.to); err != nil {
		return nil, err
	}
	c.moves = !sameKeys(c.from, c.to)
	if c.to.auto >= 0 && numbersAnew(from, to) {
		c.auto = new(uint64)
	}
	return c, nil
}

// numbersAnew reports whether the AUTO_INCREMENT numbers of the new form do not go on with those of the old one.
func numbersAnew(from, to *catalog.Table) bool {
	column := func(t *catalog.Table) uint32 {
		for i := range t.Columns {
			if t.Columns[i].AutoIncrement {
				return t.Columns[i].ID
			}
		}
		return 0
	}
	return to.AutoIncrement.ID == 0 || to.AutoIncrement.ID != from.AutoIncrement.ID || column(from) != column(to)
}

// read scans rows of the old storage, up to a number of rows or of bytes (0: all), and returns where to go on, nil at the end.
func (c *copying) read(ctx *sql.Context, st *txn.Txn, span kv.Span, most, mostBytes int) (rows []origin, next kv.RowKey, err error) {
	prefix := len(indexPrefix(c.from.desc.ID, c.from.desc.RowIndex))
	scan := st.Scan(ctx, txn.ScanOptions{Span: span, Batch: most})
	defer scan.Close()
	size := 0
	for scan.Next() {
		col := scan.Column()
		if col.Family != rowFamily || len(col.Qualifier) != 0 {
			continue
		}
		rows = append(rows, origin{pk: slices.Clone(col.Row[prefix:]), value: slices.Clone(scan.Value()), fresh: true})
		if size += len(scan.Value()); most > 0 && (len(rows) >= most || size >= mostBytes) {
			return rows, append(slices.Clone(col.Row), 0), scan.Err()
		}
	}
	return rows, nil, scan.Err()
}

// lookUp reads rows of the old storage as they are now.
func (c *copying) lookUp(ctx *sql.Context, st *txn.Txn, pks [][]byte) ([]origin, error) {
	cells := make([]kv.Column, len(pks))
	for i, pk := range pks {
		cells[i] = cell(append(indexPrefix(c.from.desc.ID, c.from.desc.RowIndex), pk...))
	}
	values, err := st.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	rows := make([]origin, len(pks))
	for i, v := range values {
		rows[i].pk = pks[i]
		if v.OK {
			rows[i].value = append([]byte{}, v.Data...)
		}
	}
	return rows, nil
}

// bring makes the new storage hold what becomes of the rows, which are as of the transaction's snapshot.
//
// Rows that were brought over earlier may have changed since and still stand in the way of others, as holders of a unique key. So a key that is
// taken is a duplicate only if the row that has it is of the same snapshot; otherwise that row is looked at again, with the others.
func (c *copying) bring(ctx *sql.Context, st *txn.Txn, rows []origin) error {
	if len(rows) == 0 {
		return nil
	}
	at, first := st.Savepoint(), c.row
	var auto uint64
	if c.auto != nil {
		auto = *c.auto
	}
	for {
		older, err := c.tryBring(ctx, st, rows)
		if err != nil || len(older) == 0 {
			return err
		}
		st.RollbackTo(at)
		if c.row = first; c.auto != nil {
			*c.auto = auto
		}
		rows = append(slices.Clip(rows), older...)
	}
}

func (c *copying) tryBring(ctx *sql.Context, st *txn.Txn, rows []origin) (older []origin, err error) {
	numbers, err := c.clear(ctx, st, rows)
	if err != nil {
		return nil, err
	}
	made := make([]*written, 0, len(rows))
	news := make([]sql.Row, 0, len(rows))
	olds := make([][]byte, 0, len(rows))
	for i := range rows {
		o := &rows[i]
		if o.value == nil {
			continue
		}
		c.row++
		row, err := c.from.decode.Decode(o.value)
		if err != nil {
			return nil, err
		}
		is, err := c.rows.apply(ctx, row, c.row, func() (uint64, error) {
			if n, ok := numbers[string(o.pk)]; ok {
				return n, nil
			}
			return *c.auto + 1, nil
		})
		if err != nil {
			return nil, err
		}
		if c.auto != nil && is[c.to.auto] != nil {
			if n, in, err := sqlUint64(ctx, is[c.to.auto]); err == nil && in == sql.InRange {
				*c.auto = max(*c.auto, n)
			}
		}
		w, err := c.encode(ctx, o.pk, is)
		if err != nil {
			return nil, err
		}
		made, news, olds = append(made, w), append(news, is), append(olds, o.pk)
	}
	if older, err = c.collisions(ctx, st, rows, made, news); err != nil || len(older) > 0 {
		return older, err
	}
	for i, w := range made {
		st.Put(cell(w.key), w.value, txn.WriteOptions{})
		for j := range w.secondary {
			st.Put(cell(w.secondary[j].key), w.secondary[j].value, txn.WriteOptions{})
		}
		if err := w.putWords(st, c.to, news[i]); err != nil {
			return nil, err
		}
		if c.keys != 0 {
			st.Put(c.keyCell(0, olds[i]), w.pk, txn.WriteOptions{})
			st.Put(c.keyCell(1, w.pk), olds[i], txn.WriteOptions{})
		}
	}
	return nil, nil
}

func (c *copying) encode(ctx *sql.Context, pk []byte, row sql.Row) (*written, error) {
	w, err := c.to.encode(ctx, row)
	if err != nil {
		return nil, err
	}
	if c.to.primary == nil {
		var id uint64
		if c.moves {
			id, err = c.eng.catalog.NextID(ctx, c.to.desc.RowIDs)
		} else {
			id = binary.BigEndian.Uint64(pk)
		}
		if err != nil {
			return nil, err
		}
		w.setRowID(c.to, id)
	}
	return w, w.entries(c.to, row)
}

func (c *copying) keyCell(direction byte, pk []byte) kv.Column {
	return cell(append(append(indexPrefix(c.to.desc.ID, c.keys), direction), pk...))
}

// newKeys finds the keys in the new storage of rows that were brought over; nil for one that was not.
func (c *copying) newKeys(ctx *sql.Context, st *txn.Txn, pks [][]byte) ([][]byte, error) {
	if !c.moves {
		return pks, nil
	}
	cells := make([]kv.Column, len(pks))
	for i, pk := range pks {
		cells[i] = c.keyCell(0, pk)
	}
	values, err := st.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, len(pks))
	for i, v := range values {
		if v.OK {
			keys[i] = v.Data
		}
	}
	return keys, nil
}

// clear removes what the new storage holds of the rows, and returns the numbers that they had got there.
func (c *copying) clear(ctx *sql.Context, st *txn.Txn, rows []origin) (numbers map[string]uint64, err error) {
	numbers = map[string]uint64{}
	var pks [][]byte
	for i := range rows {
		if !rows[i].fresh {
			pks = append(pks, rows[i].pk)
		}
	}
	if len(pks) == 0 {
		return numbers, nil
	}
	keys, err := c.newKeys(ctx, st, pks)
	if err != nil {
		return nil, err
	}
	var cells []kv.Column
	var whose [][]byte
	for i, key := range keys {
		if key != nil {
			cells = append(cells, cell(append(indexPrefix(c.to.desc.ID, c.to.desc.RowIndex), key...)))
			whose = append(whose, pks[i])
		}
	}
	values, err := st.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if !v.OK {
			continue
		}
		row, err := c.to.decode.Decode(v.Data)
		if err != nil {
			return nil, err
		}
		if n := c.rows.number; n >= 0 {
			if numbers[string(whose[i])], _, err = sqlUint64(ctx, row[n]); err != nil {
				return nil, err
			}
		}
		w := &written{key: cells[i].Row, pk: cells[i].Row[len(indexPrefix(c.to.desc.ID, c.to.desc.RowIndex)):]}
		if err := w.entries(c.to, row); err != nil {
			return nil, err
		}
		st.Delete(cells[i], txn.WriteOptions{})
		for j := range w.secondary {
			st.Delete(cell(w.secondary[j].key), txn.WriteOptions{})
		}
		if err := w.deleteWords(st, c.to, row); err != nil {
			return nil, err
		}
		if c.keys != 0 {
			st.Delete(c.keyCell(0, whose[i]), txn.WriteOptions{})
			st.Delete(c.keyCell(1, w.pk), txn.WriteOptions{})
		}
	}
	return numbers, nil
}

// collisions looks whether the rows' unique keys are free. It fails with a duplicate of the same snapshot, or returns rows that have to be
// looked at again.
func (c *copying) collisions(ctx *sql.Context, st *txn.Txn, rows []origin, made []*written, news []sql.Row) ([]origin, error) {
	type claim struct {
		uniqueCell
		row sql.Row
	}
	var claims []claim
	var cells []kv.Column
	mine := map[string]bool{}
	for i, w := range made {
		for _, k := range w.unique(nil) {
			if k.index.primary && !c.moves {
				continue
			}
			if mine[string(k.key)] {
				return nil, c.to.duplicate(ctx, k.index, news[i], nil)
			}
			mine[string(k.key)] = true
			claims, cells = append(claims, claim{k, news[i]}), append(cells, cell(k.key))
		}
	}
	if len(cells) == 0 {
		return nil, nil
	}
	values, err := st.BatchGet(ctx, cells)
	if err != nil {
		return nil, err
	}
	known, asked := map[string]bool{}, map[string]bool{}
	for i := range rows {
		known[string(rows[i].pk)] = true
	}
	var again [][]byte
	for i, v := range values {
		if !v.OK {
			continue
		}
		k := claims[i]
		pk := []byte(k.key[len(k.index.prefix):])
		if !k.index.primary {
			if pk, err = k.index.pkOf(k.key, v.Data); err != nil {
				return nil, err
			}
		}
		if c.moves && c.keys != 0 {
			old, ok, err := st.Get(ctx, c.keyCell(1, pk))
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, c.to.duplicate(ctx, k.index, k.row, nil)
			}
			pk = old
		}
		if known[string(pk)] {
			return nil, c.to.duplicate(ctx, k.index, k.row, nil)
		}
		if !asked[string(pk)] { // it may stand in the way with several keys
			asked[string(pk)] = true
			again = append(again, slices.Clone(pk))
		}
	}
	return c.lookUp(ctx, st, again)
}

func randomNumber() uint64 { return rand.Uint64() }

func appendNumber(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }
