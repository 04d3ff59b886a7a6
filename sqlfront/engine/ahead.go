package engine

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/kv"
	"moka/sqlfront/operator"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// Lookups of a join, many at a time. The library asks the inner side for one outer row after the other; over a network each of them
// waits for its own answer. Here the outer side is read some rows ahead, the keys that the inner side is going to be asked for are
// worked out, and what they lead to is fetched with a few requests. The inner side then finds it in a cache of the join's, of
// which it needs to know nothing: the same cells, in the same snapshot.

const (
	aheadFirst = 1   // outer rows that are read at first, since a LIMIT may leave the join soon; then four times as many each time
	aheadMost  = 256 // and later
	aheadScans = 8   // ranges of an index that are read at a time
	aheadRange = 64  // entries of a range that are kept; a longer one is read when it is asked for
	// aheadBytes end the reading of outer rows, and of what they lead to: long rows are read when they are
	// asked for.
	aheadBytes = 1 << 20
)

// aheadCache is what was fetched for the outer rows at hand. It is used by one goroutine but for the fetching.
type aheadCache struct {
	at     *txn.Savepoint
	dirty  int
	cells  map[string]txn.Value
	ranges map[string][]entry // by start and end
}

type aheadKey struct{}

// aheadOf returns the cache of the join that asks, if what is in it is what would be read now.
func aheadOf(ctx context.Context, tx *Tx, at *txn.Savepoint) *aheadCache {
	c, _ := ctx.Value(aheadKey{}).(*aheadCache)
	if c == nil || c.at != at || len(c.cells)+len(c.ranges) == 0 {
		return nil
	}
	if _, dirty := tx.store().Size(); dirty != c.dirty {
		return nil
	}
	return c
}

func rangeKey(s *rowenc.Span) string { return string(s.Start) + "\x00\x00" + string(s.End) }

// batchGet is BatchGetSome with what the join has fetched already.
func (it *entryIter) batchGet(ctx context.Context, cells []kv.Column) ([]txn.Value, error) {
	values := make([]txn.Value, len(cells))
	var missing []kv.Column
	var places []int
	for i, c := range cells {
		if it.ahead != nil {
			if v, ok := it.ahead.cells[string(c.Row)]; ok {
				values[i] = v
				continue
			}
		}
		missing, places = append(missing, c), append(places, i)
	}
	if len(missing) == 0 {
		return values, nil
	}
	it.note(txn.ScanStats{Requests: 1, Examined: len(missing)})
	found, err := it.tx.store().BatchGetSome(ctx, &it.reads, it.at, missing)
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		values[places[i]] = v
	}
	if len(found) < len(places) {
		values = values[:places[len(found)]]
	}
	return values, nil
}

// buildAhead builds a join by lookups whose outer side is read ahead; nil if it is another join.
func (b *execBuilder) buildAhead(ctx *sql.Context, n *plan.JoinNode, row sql.Row) (sql.RowIter, error) {
	if _, done := n.Left().(*ahead); done || !n.Op.IsLookup() || !b.eng.improving(ctx) {
		return nil, nil
	}
	access := lookupUnder(n.Right())
	if access == nil || access.IsStatic() {
		return nil, nil
	}
	for _, e := range access.Expressions() {
		if _, ok := e.(*expression.GetField); !ok {
			return nil, nil // it might warn, and would do so twice
		}
	}
	if _, ok := plan.FindVirtualColumnTable(access.Table); ok {
		return nil, nil
	}
	t := ownTable(access.Table)
	tx, ok := ctx.GetTransaction().(*Tx)
	if t == nil || !ok || t.lock != nil || t.asOf != 0 || t.temporary || tx.locksReads() {
		return nil, nil
	}
	cache := &aheadCache{}
	over, err := n.WithChildren(ctx, &ahead{Node: n.Left(), access: access, table: t, cache: cache, scope: n.ScopeLen}, n.Right())
	if err != nil {
		return nil, err
	}
	it, err := b.base.Build(ctx, over, row)
	if err != nil {
		return nil, err
	}
	return &cachedJoin{RowIter: it, cache: cache}, nil
}

// lookupUnder is the access to a table by an index under a node that passes its rows on.
func lookupUnder(n sql.Node) *plan.IndexedTableAccess {
	for {
		switch x := n.(type) {
		case *plan.IndexedTableAccess:
			return x
		case *plan.Filter:
			n = x.Child
		case *plan.TableAlias:
			n = x.Child
		default:
			return nil
		}
	}
}

// cachedJoin lets what is below it find the cache.
type cachedJoin struct {
	sql.RowIter
	cache     *aheadCache
	from, ctx *sql.Context
}

func (it *cachedJoin) Next(ctx *sql.Context) (sql.Row, error) {
	if it.from != ctx {
		it.from, it.ctx = ctx, ctx.WithContext(context.WithValue(ctx, aheadKey{}, it.cache))
	}
	return it.RowIter.Next(it.ctx)
}

// ahead is the outer side of a join, read ahead.
type ahead struct {
	sql.Node
	access *plan.IndexedTableAccess
	table  *Table
	cache  *aheadCache
	scope  int
}

func (b *execBuilder) buildOuter(ctx *sql.Context, n *ahead, row sql.Row) (sql.RowIter, error) {
	it, err := b.base.Build(ctx, n.Node, row)
	if err != nil {
		return nil, err
	}
	return &aheadIter{RowIter: it, n: n, parent: row, size: aheadFirst}, nil
}

type aheadIter struct {
	sql.RowIter
	n      *ahead
	parent sql.Row
	rows   []sql.Row
	size   int
	err    error // what ended the reading
}

func (it *aheadIter) Next(ctx *sql.Context) (sql.Row, error) {
	if len(it.rows) == 0 {
		if it.err != nil {
			return nil, it.err
		}
		for bytes := int64(0); len(it.rows) < it.size && bytes < aheadBytes; {
			row, err := it.RowIter.Next(ctx)
			if err != nil {
				it.err = err
				break
			}
			it.rows = append(it.rows, row)
			bytes += operator.RowBytes(row)
		}
		it.size = min(4*it.size, aheadMost)
		if len(it.rows) == 0 {
			return nil, it.err
		}
		if err := it.fetch(ctx); err != nil {
			return nil, err
		}
	}
	row := it.rows[0]
	it.rows = it.rows[1:]
	if len(it.rows) == 0 && it.err == io.EOF {
		it.rows = nil
	}
	return row, nil
}

// fetch fills the cache with what the rows are going to look up.
func (it *aheadIter) fetch(ctx *sql.Context) error {
	tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	c := it.n.cache
	c.cells, c.ranges = nil, nil
	if tx.live || len(it.rows) < 2 {
		return nil
	}
	c.at = tx.readAt()
	_, c.dirty = tx.store().Size()
	c.cells, c.ranges = map[string]txn.Value{}, map[string][]entry{}
	own := &entryIter{tx: tx, table: it.n.table, at: c.at, measure: measureOf(ctx)}
	var cells []kv.Column
	var spans []rowenc.Span
	seen := map[string]bool{}
	var part *partition
	for _, row := range it.rows {
		full := make(sql.Row, 0, len(it.parent)+len(row))
		full = append(append(full, it.parent...), row[it.n.scope:]...)
		lookup, ok, err := it.n.access.GetLookup(ctx, full)
		if err != nil {
			c.cells, c.ranges = nil, nil
			return nil // whoever asks for it will say so
		}
		if !ok {
			continue
		}
		p, err := (&indexedTable{Table: it.n.table}).partition(ctx, lookup)
		if err != nil {
			c.cells, c.ranges = nil, nil
			return nil
		}
		part, own.index = p, p.index
		for _, s := range p.spans {
			k := rangeKey(&s)
			if seen[k] {
				continue
			}
			seen[k] = true
			if own.point(&s) {
				cells = append(cells, cell(kv.RowKey(s.Start)))
			} else {
				spans = append(spans, s)
			}
		}
	}
	if part == nil {
		return nil
	}
	entries, err := it.get(ctx, own, cells)
	if err != nil {
		return tx.fail(ctx, err)
	}
	more, err := it.scan(ctx, own, spans)
	if err != nil {
		return tx.fail(ctx, err)
	}
	if part.index == nil || part.index.primary || newCover(it.n.table, part) != nil {
		return nil
	}
	prefix := indexPrefix(it.n.table.desc.ID, it.n.table.desc.RowIndex)
	var rows []kv.Column
	for _, e := range append(entries, more...) {
		pk, err := part.index.pkOf(e.key, e.value)
		if err != nil {
			return err
		}
		key := append(append(make(kv.RowKey, 0, len(prefix)+len(pk)), prefix...), pk...)
		rows = append(rows, cell(key))
	}
	_, err = it.get(ctx, own, rows)
	return tx.fail(ctx, err)
}

// get fetches cells into the cache and returns those that exist.
func (it *aheadIter) get(ctx *sql.Context, own *entryIter, cells []kv.Column) (found []entry, err error) {
	for bytes := 0; len(cells) > 0 && bytes < aheadBytes; {
		some := cells[:min(len(cells), lookupBatch)]
		own.note(txn.ScanStats{Requests: 1, Examined: len(some)})
		vs, err := own.tx.store().BatchGetSome(ctx, &own.reads, own.at, some)
		if err != nil {
			return nil, err
		}
		cells = cells[len(vs):]
		for _, v := range vs {
			bytes += len(v.Data)
		}
		for i, v := range vs {
			it.n.cache.cells[string(some[i].Row)] = v
			if v.OK {
				found = append(found, entry{some[i].Row, v.Data})
			}
		}
	}
	return found, nil
}

// scan reads short ranges into the cache, several at a time.
func (it *aheadIter) scan(ctx *sql.Context, own *entryIter, spans []rowenc.Span) (found []entry, err error) {
	if len(spans) == 0 {
		return nil, nil
	}
	st := own.tx.store()
	if _, err := st.StartTS(ctx); err != nil {
		return nil, err
	}
	results := make([]struct {
		entries []entry
		stats   txn.ScanStats
		err     error
	}, len(spans))
	var wg sync.WaitGroup
	var bytes atomic.Int64
	next := make(chan int)
	for range min(aheadScans, len(spans)) {
		wg.Go(func() {
			for i := range next {
				r := &results[i]
				s := st.Scan(ctx, txn.ScanOptions{
					Span: kv.Span{Start: kv.RowKey(spans[i].Start), End: kv.RowKey(spans[i].End)}, Batch: aheadRange + 1, At: own.at,
				})
				for len(r.entries) <= aheadRange && bytes.Load() < aheadBytes && s.Next() {
					bytes.Add(int64(len(s.Value())))
					if c := s.Column(); c.Family == rowFamily && len(c.Qualifier) == 0 {
						r.entries = append(r.entries, entry{c.Row, s.Value()})
					}
				}
				r.stats, r.err = s.Stats(), s.Err()
				_ = s.Close()
			}
		})
	}
	for i := range spans {
		next <- i
	}
	close(next)
	wg.Wait()
	for i := range results {
		r := &results[i]
		own.note(r.stats)
		if r.err != nil {
			return nil, r.err
		}
		if len(r.entries) <= aheadRange && bytes.Load() < aheadBytes {
			it.n.cache.ranges[rangeKey(&spans[i])] = r.entries
			found = append(found, r.entries...)
		}
	}
	return found, nil
}
