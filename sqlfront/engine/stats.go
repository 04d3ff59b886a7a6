package engine

import (
	"cmp"
	"context"
	"math"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/gms"
	"moka/sqlfront/stats"
	"moka/txn"
)

// counted is a table as package stats sees it.
type counted struct{ *Table }

var (
	_ stats.Table = counted{}
	_ stats.Index = (*index)(nil)
)

// countedOf finds the table behind what the planner has wrapped around it; nil if it is not ours.
func countedOf(table sql.Table) stats.Table {
	if t := ownTable(table); t != nil {
		return counted{t}
	}
	return nil
}

// Descriptor implements stats.Table.
func (t counted) Descriptor() *catalog.Table { return t.desc }

// Span implements stats.Table.
func (t counted) Span() kv.Span { return indexSpan(t.desc.ID, t.desc.RowIndex) }

// DecodeRow implements stats.Table: all columns, also of a table that shows some.
func (t counted) DecodeRow(stored []byte) (sql.Row, error) { return t.decode.Decode(stored) }

// Columns implements stats.Table.
func (t counted) Columns() sql.Schema { return t.pk.Schema }

// PublicKeys implements stats.Table.
func (t counted) PublicKeys() (all []stats.Index) {
	for _, x := range t.keys {
		if x.state == catalog.StatePublic {
			all = append(all, x)
		}
	}
	return all
}

// Number implements stats.Index.
func (x *index) Number() uint32 { return x.num }

// Ordinals implements stats.Index.
func (x *index) Ordinals() []int { return x.cols }

// Unique implements stats.Index.
func (x *index) Unique() bool { return x.unique }

// ColumnIDs implements stats.Index.
func (x *index) ColumnIDs() (ids []uint32) {
	for _, c := range x.cols {
		ids = append(ids, x.table.desc.Columns[x.table.ordinals[c]].ID)
	}
	return ids
}

// AppendKey implements stats.Index.
func (x *index) AppendKey(ctx context.Context, dst []byte, row sql.Row, columns int) ([]byte, error) {
	return x.codec.EncodeRow(ctx, dst, row, x.cols[:columns])
}

// RowCount implements sql.StatisticsTable. The count is never exact: the engine would answer COUNT(*) with
// it.
func (t *Table) RowCount(ctx *sql.Context) (uint64, bool, error) {
	n, _ := t.eng.stats.Estimate(ctx, counted{t})
	return n, false, nil
}

// DataLength implements sql.StatisticsTable.
func (t *Table) DataLength(ctx *sql.Context) (uint64, error) {
	_, n := t.eng.stats.Estimate(ctx, counted{t})
	return n, nil
}

// ReadStats counts what statements have read from the store.
type ReadStats struct {
	Requests uint64 // batches of scans and lookups
	Rows     uint64 // rows and index entries that were looked at, on shards too
	Pushed   uint64 // nodes of plans of which the shards did a part
	Paths    uint64 // filters whose rows were found in another way than the plan says
	Spilled  uint64 // bytes that sorts have put on disk
}

type readCounters struct{ requests, rows, pushed, paths atomic.Uint64 }

func (c *readCounters) add(s txn.ScanStats) {
	c.requests.Add(uint64(s.Requests))
	c.rows.Add(uint64(s.Examined))
}

// ReadStats returns what has been read since the engine was made.
func (e *Engine) ReadStats() ReadStats {
	return ReadStats{Requests: e.reads.requests.Load(), Rows: e.reads.rows.Load(),
		Pushed: e.reads.pushed.Load(), Paths: e.reads.paths.Load(), Spilled: e.memory.Spilled()}
}

// costs is gms.Indexes.
type costs struct{ eng *Engine }

var _ gms.Indexes = costs{}

// Folded implements gms.Indexes.
func (costs) Folded(i sql.Index) bool {
	x, ok := i.(*index)
	return ok && x.folded
}

// Values implements gms.Indexes.
func (c costs) Values(ctx *sql.Context, i sql.Index, columns int) (values, rows float64, ok bool) {
	x, ours := i.(*index)
	if !ours || c.eng.stats == nil {
		return 0, 0, false
	}
	if n, all, ok := c.eng.stats.Distinct(x.table.desc.ID, x, columns); ok && n > 0 {
		return float64(n), float64(all), true
	}
	return c.eng.parents(ctx, x, columns), 0, false
}

// parents is how many rows the table has that a foreign key of the index's first columns refers to, 0 if there is none: without
// histograms that is how many values the columns have. There are few rows for an order, and very many for a kind of order.
func (e *Engine) parents(ctx *sql.Context, x *index, columns int) float64 {
	for _, fk := range x.table.desc.ForeignKeys {
		if columns > len(x.cols) || len(fk.Columns) != columns {
			continue
		}
		same := true
		for i, name := range fk.Columns {
			same = same && strings.EqualFold(x.table.pk.Schema[x.cols[i]].Name, name)
		}
		if !same {
			continue
		}
		v, err := e.viewOf(ctx)
		if err != nil {
			return 0
		}
		db, ok := v.snap.Database(cmp.Or(fk.ParentDatabase, x.table.db))
		if !ok {
			return 0
		}
		desc, ok := db.Table(fk.ParentTable)
		if !ok {
			return 0
		}
		t, err := v.table(e, db, desc)
		if err != nil {
			return 0
		}
		rows, _ := e.stats.Estimate(ctx, counted{t})
		return math.Max(1, float64(rows))
	}
	return 0
}
