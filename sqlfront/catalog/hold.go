package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"moka/kv"
	"moka/txn"
)

// Hold says to all SQL nodes that a schema change waits for a table: no observer writes to it meanwhile. It
// is no part of the catalog's versions, and orders nothing: what nobody has heard of costs time.
//
//	row = | prefix | kindHold | table u32 BE | name u64 BE |    value = | 1 | until, ms u64 BE |
type Hold struct {
	table uint32
	name  uint64
}

const holdVersion = 1

// NewHold is a hold of a table, that of no one else if the name is no one else's.
func NewHold(table uint32, name uint64) Hold { return Hold{table, name} }

func (h Hold) cell() kv.Column {
	row := binary.BigEndian.AppendUint32([]byte{prefixCatalog, kindHold}, h.table)
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64(row, h.name))}
}

// PutHold has a hold last until its owner takes it back, or for so long, and removes those of owners that
// died.
func (c *Catalog) PutHold(ctx context.Context, t *txn.Txn, h Hold, most time.Duration) error {
	all, err := c.holds(ctx, t)
	if err != nil {
		return err
	}
	for _, x := range all {
		if x.over(t) {
			t.Delete(x.hold.cell(), txn.WriteOptions{})
		}
	}
	until := t.Snapshot().Physical() + most.Milliseconds()
	t.Put(h.cell(), binary.BigEndian.AppendUint64([]byte{holdVersion}, uint64(until)), txn.WriteOptions{})
	return nil
}

// DropHold takes a hold back.
func (c *Catalog) DropHold(t *txn.Txn, h Hold) { t.Delete(h.cell(), txn.WriteOptions{}) }

// HeldTables are the tables that are held, each once, in order.
func (c *Catalog) HeldTables(ctx context.Context, t *txn.Txn) ([]uint32, error) {
	all, err := c.holds(ctx, t)
	var tables []uint32
	for _, x := range all {
		if !x.over(t) {
			tables = append(tables, x.hold.table)
		}
	}
	return slices.Compact(tables), err
}

type holding struct {
	hold  Hold
	until int64
}

func (h holding) over(t *txn.Txn) bool { return h.until < t.Snapshot().Physical() }

func (c *Catalog) holds(ctx context.Context, t *txn.Txn) (all []holding, err error) {
	s := t.Scan(ctx, txn.ScanOptions{Span: kv.Span{
		Start: column(prefixCatalog, kindHold).Row, End: column(prefixCatalog, kindHold+1).Row}})
	for s.Next() {
		row, value := s.Column().Row.Row(), s.Value()
		if len(row) != 14 {
			continue
		}
		h := holding{hold: Hold{binary.BigEndian.Uint32(row[2:]), binary.BigEndian.Uint64(row[6:])}}
		if len(value) == 9 && value[0] == holdVersion {
			h.until = int64(binary.BigEndian.Uint64(value[1:]))
		}
		all = append(all, h) // what another release has written is over
	}
	return all, errors.Join(s.Err(), s.Close())
}
