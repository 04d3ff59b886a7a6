package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/operator"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/trail"
	"moka/txn"
	"moka/txn/longread"
)

// Sizes of the requests of a scan. They start small, because the engine does not pass LIMIT down: most scans of an OLTP load
// are left after a few rows.
const (
	firstBatch  = 16
	lookupBatch = 256
)

// PartitionRows implements sql.Table.
func (t *Table) PartitionRows(ctx *sql.Context, part sql.Partition) (sql.RowIter, error) {
	p, ok := part.(*partition)
	if !ok {
		return nil, fmt.Errorf("engine: partition of another table: %T", part)
	}
	if p.table != nil {
		t = p.table
	}
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	if t.asOf != 0 {
		tx = tx.past(t.asOf)
	}
	if p.match != nil {
		return t.matching(ctx, tx, p)
	}
	if p.merge != nil {
		return t.merge(ctx, tx, p), nil
	}
	e := &entryIter{
		tx: tx, table: t, index: p.index, spans: p.spans, reverse: p.reverse, batch: cmp.Or(p.batch, firstBatch),
		program: p.program, measure: measureOf(ctx),
	}
	if !p.live {
		e.at = tx.readAt()
	}
	tx.look(e)
	if p.reverse {
		e.next = len(p.spans) - 1
	} else if !p.live && !p.reference && t.lock == nil && t.asOf == 0 && !tx.locksReads() && p.program == nil {
		e.ahead = aheadOf(ctx, tx, e.at)
	}
	e.open(ctx)
	if p.reference && p.check == nil {
		return &referenceIter{entries: e, width: len(t.Schema(ctx))}, nil
	}
	d := newRowSink(t, tx, p)
	e.require = p.reference
	if p.index == nil || p.index.primary {
		return &rowIter{entries: e, sink: d}, nil
	}
	if cover := newCover(t, p); cover != nil && t.lock == nil && tx.isolation != serializable && !p.reference {
		return &coverIter{entries: e, cover: cover}, nil
	}
	return &lookupIter{entries: e, sink: d, check: p.entry, batch: e.batch}, nil
}

// entry is a cell of an index: a row if the index is the primary key.
type entry struct {
	key   kv.RowKey
	value []byte
}

// entryIter walks the spans of an index, in order or backwards. Spans that can hold one key only are read by Get, many at a time.
type entryIter struct {
	tx      *Tx
	table   *Table
	index   *index
	begun   bool
	given   uint // entries
	spans   []rowenc.Span
	reverse bool
	batch   int
	next    int // the next span
	scan    *txn.Scanner
	opened  []*txn.Scanner // one for each span, if they were opened at the start
	points  []entry        // read ahead
	at      *txn.Savepoint
	require bool           // make the commit depend on every entry that is delivered
	program []byte         // goes along with the scans; see push.go
	measure *measure       // of EXPLAIN ANALYZE, else nil
	ahead   *aheadCache    // what the join that asks has fetched already, or nil
	reads   longread.Reads // by keys
}

// open makes the scanners of all spans now, which costs nothing before they are read: a scanner sees the transaction's own
// writes as of the moment it is made, and a statement that moves rows from one span to the next must not meet them again.
func (it *entryIter) open(ctx *sql.Context) {
	if len(it.spans) < 2 || len(it.spans) > lookupBatch {
		return
	}
	it.opened = make([]*txn.Scanner, len(it.spans))
	for i := range it.spans {
		if !it.point(&it.spans[i]) {
			it.opened[i] = it.scanner(ctx, &it.spans[i])
		}
	}
}

func (it *entryIter) scanner(ctx *sql.Context, s *rowenc.Span) *txn.Scanner {
	return it.tx.store().Scan(ctx, txn.ScanOptions{
		Span:    kv.Span{Start: kv.RowKey(s.Start), End: kv.RowKey(s.End)},
		Reverse: it.reverse, Batch: it.batch, At: it.at, Program: it.program,
	})
}

// point reports whether the span is the key of at most one entry: all columns of a unique key have a value.
func (it *entryIter) point(s *rowenc.Span) bool {
	return it.index != nil && it.index.unique && s.Exact && s.Equal == it.index.codec.Len()
}

func (it *entryIter) more() bool {
	if it.reverse {
		return it.next >= 0
	}
	return it.next < len(it.spans)
}

func (it *entryIter) step() {
	if it.reverse {
		it.next--
	} else {
		it.next++
	}
}

// askEvery is after how many entries a scan asks whether the statement is to end or to step back: what is
// computed for each may take a millisecond, and the library's filters do not ask.
const askEvery = 16

// Next returns the next entry; ok is false at the end.
func (it *entryIter) Next(ctx *sql.Context) (e entry, ok bool, err error) {
	if !it.begun {
		it.begun = true
		if it.tx.locksReads() && !it.table.temporary {
			if err := it.tx.lockSpans(ctx, it.table, it.spans, it.point); err != nil {
				return entry{}, false, err
			}
		}
	}
	if it.given++; it.given%askEvery == 0 && ctx.Err() != nil {
		return entry{}, false, sqlerr.From(context.Cause(ctx))
	}
	e, ok, err = it.advance(ctx)
	if ok && it.require {
		if it.tx.locks() {
			if _, err := it.tx.lock(ctx, txn.LockOptions{Share: true}, e.key); err != nil {
				return entry{}, false, err
			}
		}
		it.tx.store().Require(cell(e.key))
	}
	return e, ok, err
}

func (it *entryIter) advance(ctx *sql.Context) (e entry, ok bool, err error) {
	for {
		if len(it.points) > 0 {
			e, it.points = it.points[0], it.points[1:]
			return e, true, nil
		}
		if it.scan != nil {
			e, ok, err = it.scanned(ctx)
			if ok || err != nil {
				return e, ok, err
			}
		}
		if !it.more() {
			return entry{}, false, nil
		}
		if err := ctx.Err(); err != nil {
			return entry{}, false, sqlerr.From(context.Cause(ctx))
		}
		s := &it.spans[it.next]
		if it.point(s) {
			if err := it.readPoints(ctx); err != nil {
				return entry{}, false, err
			}
			continue
		}
		if it.ahead != nil {
			if found, ok := it.ahead.ranges[rangeKey(s)]; ok {
				it.points = found
				it.step()
				continue
			}
		}
		if it.opened != nil {
			it.scan = it.opened[it.next]
		} else {
			it.scan = it.scanner(ctx, s)
		}
		it.step()
	}
}

func (it *entryIter) scanned(ctx *sql.Context) (entry, bool, error) {
	for it.scan.Next() {
		c := it.scan.Column()
		if c.Family != rowFamily || len(c.Qualifier) != 0 {
			continue // acknowledgements of observers live in the rows that they belong to
		}
		return entry{c.Row, it.scan.Value()}, true, nil
	}
	err := it.scan.Err()
	it.endScan()
	return entry{}, false, it.tx.fail(ctx, err)
}

func (it *entryIter) endScan() {
	it.note(it.scan.Stats())
	_ = it.scan.Close()
	it.scan = nil
}

// note counts what a scan or a lookup has cost.
func (it *entryIter) note(s txn.ScanStats) {
	it.tx.examined(s)
	if it.measure != nil {
		it.measure.scanned(s)
	}
}

// readPoints reads the run of point spans that begins at the next span.
func (it *entryIter) readPoints(ctx *sql.Context) error {
	var cells []kv.Column
	for it.more() && len(cells) < lookupBatch && it.point(&it.spans[it.next]) {
		cells = append(cells, cell(kv.RowKey(it.spans[it.next].Start)))
		it.step()
	}
	if it.tx.locksReads() && !it.table.temporary {
		// Also those that do not exist: nobody is to make them.
		for _, c := range cells {
			if _, err := it.tx.lockRead(ctx, c.Row, parse.Lock{}); err != nil {
				return err
			}
		}
	}
	vs, err := it.batchGet(ctx, cells)
	if err != nil {
		return it.tx.fail(ctx, err)
	}
	if left := len(cells) - len(vs); it.reverse { // long rows: the others later
		it.next += left
	} else {
		it.next -= left
	}
	for i, v := range vs {
		if v.OK {
			it.points = append(it.points, entry{cells[i].Row, v.Data})
		}
	}
	return nil
}

func (it *entryIter) Close() error {
	it.reads.Release()
	it.points, it.next, it.reverse = nil, len(it.spans), false
	if it.scan != nil {
		it.endScan()
	}
	return nil
}

// rowSink turns stored rows into the rows that the engine asked for.
type rowSink struct {
	table  *Table
	decode *rowenc.RowDecoder
	check  *rangeCheck
	wanted []int // positions to keep of a full row that was decoded for the check; nil for all
	trail  *trail.Trail
	tx     *Tx
	lock   *parse.Lock    // lock the rows that are delivered
	copies longread.Reads // of the long values of the last row
}

func newRowSink(t *Table, tx *Tx, p *partition) *rowSink {
	d := &rowSink{table: t, tx: tx, decode: t.decode, check: p.check}
	if !tx.readOnly && !t.temporary {
		d.lock = t.lock
	}
	if t.projected != nil {
		d.decode = t.projected.decode
		if p.check != nil {
			d.decode, d.wanted = t.decode, t.projected.ordinals
		}
	} else if t.primary == nil {
		d.trail = tx.trails[t.desc.ID]
	}
	return d
}

// row decodes a stored row; nil without an error means that the row is not among those asked for.
func (d *rowSink) row(ctx *sql.Context, key kv.RowKey, value []byte) (sql.Row, error) {
	row, err := d.decode.Decode(value)
	if err != nil {
		return nil, fmt.Errorf("engine: row of %s.%s: %w", d.table.db, d.table.desc.Name, err)
	}
	if len(value) >= longread.Long {
		if err := d.copies.Hold(ctx, operator.Copies(row)); err != nil {
			return nil, err
		}
	}
	if d.check != nil {
		ok, err := d.check.match(ctx, row)
		if err != nil || !ok {
			return nil, err
		}
	}
	if d.trail != nil {
		if err := d.table.pass(ctx, d.trail, key, row); err != nil {
			return nil, err
		}
	}
	lock := d.lock
	if lock == nil && d.tx.locksReads() && !d.table.temporary {
		lock = &parse.Lock{}
	}
	if lock != nil {
		if ok, err := d.tx.lockRead(ctx, key, *lock); !ok {
			return nil, err
		}
	}
	if d.wanted != nil {
		out := make(sql.Row, len(d.wanted))
		for i, o := range d.wanted {
			out[i] = row[o]
		}
		return out, nil
	}
	return row, nil
}

// rowIter reads the row store.
type rowIter struct {
	entries *entryIter
	sink    *rowSink
}

func (it *rowIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		e, ok, err := it.entries.Next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, io.EOF
		}
		row, err := it.sink.row(ctx, e.key, e.value)
		if row != nil || err != nil {
			return row, err
		}
	}
}

func (it *rowIter) Close(*sql.Context) error {
	it.sink.copies.Release()
	return it.entries.Close()
}

// lookupIter reads a secondary index and fetches the rows behind its entries, batch by batch, in the order of the index.
type lookupIter struct {
	entries *entryIter
	sink    *rowSink
	check   *entryCheck // of the entries; nil for none
	batch   int
	cells   []kv.Column // of rows that are still to be fetched
	rows    []entry
	done    bool
}

func (it *lookupIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		for len(it.rows) > 0 {
			e := it.rows[0]
			it.rows = it.rows[1:]
			row, err := it.sink.row(ctx, e.key, e.value)
			if row != nil || err != nil {
				return row, err
			}
		}
		if it.done && len(it.cells) == 0 {
			return nil, io.EOF
		}
		if err := it.fill(ctx); err != nil {
			return nil, err
		}
	}
}

func (it *lookupIter) fill(ctx *sql.Context) error {
	t := it.sink.table
	prefix := indexPrefix(t.desc.ID, t.desc.RowIndex)
	cells := slices.Grow(it.cells[:len(it.cells):len(it.cells)], max(0, it.batch-len(it.cells)))
	for len(cells) < it.batch && !it.done {
		e, ok, err := it.entries.Next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			it.done = true
			break
		}
		pk, err := it.entries.index.pkOf(e.key, e.value)
		if err != nil {
			return err
		}
		if it.check != nil {
			if pass, err := it.check.pass(e, pk); err != nil || !pass {
				if err != nil {
					return err
				}
				continue
			}
		}
		key := make(kv.RowKey, 0, len(prefix)+len(pk))
		cells = append(cells, cell(append(append(key, prefix...), pk...)))
	}
	it.batch = min(2*it.batch, lookupBatch)
	if len(cells) == 0 {
		return nil
	}
	tx := it.entries.tx
	vs, err := it.entries.batchGet(ctx, cells)
	if err != nil {
		return tx.fail(ctx, err)
	}
	it.cells = cells[len(vs):]
	it.rows = it.rows[:0]
	for i, v := range vs {
		if !v.OK {
			// The statement itself may have removed the row since the entry was read (a cascade does).
			if _, dirty := tx.store().Size(); dirty > 0 {
				continue
			}
			return fmt.Errorf("engine: index %s of %s.%s has an entry without a row, key %x", it.entries.index.id, t.db, t.desc.Name, []byte(cells[i].Row))
		}
		it.rows = append(it.rows, entry{cells[i].Row, v.Data})
	}
	return nil
}

func (it *lookupIter) Close(*sql.Context) error {
	it.sink.copies.Release()
	return it.entries.Close()
}

// referenceIter answers whether the parent of a foreign key exists: it delivers a row of NULLs for each entry, and makes the
// transaction depend on that entry.
type referenceIter struct {
	entries *entryIter
	width   int
}

func (it *referenceIter) Next(ctx *sql.Context) (sql.Row, error) {
	e, ok, err := it.entries.Next(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, io.EOF
	}
	it.entries.tx.store().Require(cell(e.key))
	return make(sql.Row, it.width), nil
}

func (it *referenceIter) Close(*sql.Context) error { return it.entries.Close() }

// cover says where in an index entry each wanted column is, for scans that need not look at the row.
type cover struct {
	index   *index
	primary *index
	slots   []coverSlot
	nIndex  int // how many leading parts of the index's key to decode
	nPK     int // and of the primary key
}

type coverSlot struct {
	pk   bool
	part int
}

// newCover returns nil unless the entries of the partition's index hold all wanted columns.
func newCover(t *Table, p *partition) *cover {
	if t.projected == nil || p.check != nil || t.primary == nil {
		return nil
	}
	c := &cover{index: p.index, primary: t.primary, slots: make([]coverSlot, len(t.projected.ordinals))}
	for i, o := range t.projected.ordinals {
		s, ok := c.find(o)
		if !ok {
			return nil
		}
		c.slots[i] = s
		if s.pk {
			c.nPK = max(c.nPK, s.part+1)
		} else {
			c.nIndex = max(c.nIndex, s.part+1)
		}
	}
	return c
}

func (c *cover) find(ordinal int) (coverSlot, bool) {
	for i, o := range c.index.cols {
		if o == ordinal && c.index.codec.Decodable(i) {
			return coverSlot{false, i}, true
		}
	}
	for i, o := range c.primary.cols {
		if o == ordinal && c.primary.codec.Decodable(i) {
			return coverSlot{true, i}, true
		}
	}
	return coverSlot{}, false
}

func (c *cover) row(e entry) (sql.Row, error) {
	var values, pkValues []any
	if c.nIndex > 0 {
		values = make([]any, c.nIndex)
		if _, err := c.index.codec.Decode(e.key[len(c.index.prefix):], values); err != nil {
			return nil, err
		}
	}
	if c.nPK > 0 {
		pk, err := c.index.pkOf(e.key, e.value)
		if err != nil {
			return nil, err
		}
		pkValues = make([]any, c.nPK)
		if _, err := c.primary.codec.Decode(pk, pkValues); err != nil {
			return nil, err
		}
	}
	row := make(sql.Row, len(c.slots))
	for i, s := range c.slots {
		if s.pk {
			row[i] = pkValues[s.part]
		} else {
			row[i] = values[s.part]
		}
	}
	return row, nil
}

type coverIter struct {
	entries *entryIter
	cover   *cover
}

func (it *coverIter) Next(ctx *sql.Context) (sql.Row, error) {
	e, ok, err := it.entries.Next(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, io.EOF
	}
	return it.cover.row(e)
}

func (it *coverIter) Close(*sql.Context) error { return it.entries.Close() }
