package engine

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
)

// mergeIter reads the rows of several indexes, each row once: OR over two indexes. The keys of the rows are collected from all of them,
// sorted, and fetched in the order of the primary key, as a scan of the table would deliver them. If there are more than
// most, or than memory is for, the table is read instead, so that a wrong guess costs a fraction of the scan.
type mergeIter struct {
	table    *Table
	whole    *partition
	branches []*entryIter
	checks   []*entryCheck
	gets     *entryIter
	sink     *rowSink
	charge   *operator.Charge

	begun bool
	found []entry // the key in the table, and the row if a branch has had it
	rows  []entry
	scan  sql.RowIter // of the table
}

// maxMerged is how many rows are collected at most, however large the table is.
const maxMerged = 1 << 20

func (t *Table) merge(ctx *sql.Context, tx *Tx, p *partition) *mergeIter {
	whole := *p
	whole.merge = nil
	it := &mergeIter{table: t, whole: &whole, sink: newRowSink(t, tx, &whole), charge: t.eng.memory.Charge(ctx, "index merge", sqlerr.CapacityExceeded)}
	for _, b := range p.merge {
		e := &entryIter{tx: tx, table: t, index: b.index, spans: b.spans, batch: lookupBatch, at: tx.readAt(), measure: measureOf(ctx)}
		tx.look(e)
		e.open(ctx)
		it.branches, it.checks = append(it.branches, e), append(it.checks, b.entry)
	}
	it.gets = &entryIter{tx: tx, table: t, index: t.primary, at: tx.readAt(), measure: measureOf(ctx)}
	return it
}

// Next implements sql.RowIter.
func (it *mergeIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.begun {
		it.begun = true
		if err := it.collect(ctx); err != nil {
			return nil, err
		}
	}
	if it.scan != nil {
		return it.scan.Next(ctx)
	}
	for {
		for len(it.rows) > 0 {
			e := it.rows[0]
			it.rows = it.rows[1:]
			row, err := it.sink.row(ctx, e.key, e.value)
			if row != nil || err != nil {
				return row, err
			}
		}
		if len(it.found) == 0 {
			return nil, io.EOF
		}
		if err := it.fetch(ctx); err != nil {
			return nil, err
		}
	}
}

// collect reads the entries of all branches.
func (it *mergeIter) collect(ctx *sql.Context) error {
	prefix := indexPrefix(it.table.desc.ID, it.table.desc.RowIndex)
	for i, b := range it.branches {
		for {
			e, ok, err := b.Next(ctx)
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if !b.index.primary {
				pk, err := b.index.pkOf(e.key, e.value)
				if err != nil {
					return err
				}
				if c := it.checks[i]; c != nil {
					if pass, err := c.pass(e, pk); err != nil || !pass {
						if err != nil {
							return err
						}
						continue
					}
				}
				e = entry{key: append(append(make(kv.RowKey, 0, len(prefix)+len(pk)), prefix...), pk...)}
			}
			it.found = append(it.found, e)
			if len(it.found) > it.whole.most || it.charge.Add(int64(64+len(e.key)+len(e.value))) != nil {
				return it.instead(ctx)
			}
		}
	}
	slices.SortFunc(it.found, func(a, b entry) int {
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		if it.whole.reverse {
			return len(a.value) - len(b.value)
		}
		return len(b.value) - len(a.value) // one with the row first
	})
	if it.whole.reverse {
		slices.Reverse(it.found)
	}
	it.found = slices.CompactFunc(it.found, func(a, b entry) bool { return bytes.Equal(a.key, b.key) })
	return nil
}

// instead reads the whole table.
func (it *mergeIter) instead(ctx *sql.Context) (err error) {
	it.found = nil
	it.charge.Release()
	it.scan, err = it.table.PartitionRows(ctx, it.whole)
	return err
}

// fetch gets the next rows.
func (it *mergeIter) fetch(ctx *sql.Context) error {
	it.rows = append(it.rows[:0], it.found[:min(len(it.found), lookupBatch)]...)
	it.found = it.found[len(it.rows):]
	var cells []kv.Column
	for _, e := range it.rows {
		if e.value == nil {
			cells = append(cells, cell(e.key))
		}
	}
	if len(cells) == 0 {
		return nil
	}
	vs, err := it.gets.batchGet(ctx, cells)
	if err != nil {
		return it.gets.tx.fail(ctx, err)
	}
	next := 0
	for i := range it.rows {
		if it.rows[i].value != nil {
			continue
		}
		if next == len(vs) { // long rows: the others later
			it.found = append(slices.Clone(it.rows[i:]), it.found...)
			it.rows = it.rows[:i]
			break
		}
		if v := vs[next]; v.OK {
			it.rows[i].value = v.Data
		} else if _, dirty := it.gets.tx.store().Size(); dirty == 0 {
			return fmt.Errorf("engine: an index of %s.%s has an entry without a row, key %x", it.table.db, it.table.desc.Name, []byte(it.rows[i].key))
		}
		next++
	}
	it.rows = slices.DeleteFunc(it.rows, func(e entry) bool { return e.value == nil })
	return nil
}

// Close implements sql.RowIter.
func (it *mergeIter) Close(ctx *sql.Context) (err error) {
	for _, b := range it.branches {
		_ = b.Close()
	}
	if it.scan != nil {
		err = it.scan.Close(ctx)
	}
	it.found, it.rows = nil, nil
	it.charge.Release()
	return err
}
