package engine

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/collate"
	"moka/sqlfront/sqlerr"
)

// Memory limits. Nodes of a plan that keep rows (sorts, groups, the hashed side of a join, DISTINCT, windows, cached
// subqueries) are charged for them to the statement's account, by an estimate of a row's size. A statement that goes over moka_query_memory
// fails with 3170 (a sort: 1038, after it has put on disk what it could), and so does the one that would take the sum of all
// statements over what the process has to give. What streams costs nothing.
//
//	Sort                 rows; from a quarter of the limit on in sorted runs on disk (sort.go)
//	TopN                 the first n rows
//	GroupBy              groups; all rows, if an aggregate keeps its values (GROUP_CONCAT, COUNT(DISTINCT), JSON_ARRAYAGG …);
//	                     from a quarter of the limit on, rows of further groups on disk (groups.go)
//	JoinNode by hash     rows of the right side; from a quarter of the limit on, both sides on disk (hashjoin.go)
//	HashLookup, CachedResults, Window     rows
//	Distinct, UNION      a hash for each row; DISTINCT goes to disk with further rows (distinct.go)

// VarQueryMemory is the session's limit for one statement, in bytes; 0 is none.
const VarQueryMemory = "moka_query_memory"

// account is what a session's statement holds.
type account struct {
	used atomic.Int64
	eng  *Engine
}

// charge is one node's part of an account.
type charge struct {
	account *account
	limit   int64
	held    int64
	what    string
	code    int
}

type memoryPool struct {
	used  atomic.Int64
	total int64
}

// init takes half of the process's memory limit for statements, or a gigabyte if there is none.
func (p *memoryPool) init() {
	p.total = 1 << 30
	if limit := debug.SetMemoryLimit(-1); limit < 1<<50 {
		p.total = max(limit/2, 64<<20)
	}
}

// defaultQueryMemory is moka_query_memory's default.
const defaultQueryMemory = 1 << 30

// chargeFor begins to charge a node of the statement in ctx; nil if nobody counts.
func (e *Engine) chargeFor(ctx *sql.Context, what string, code int) *charge {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	c := &charge{account: &s.memory, what: what, code: code}
	s.memory.eng = e
	v, err := s.GetSessionVariable(ctx, VarQueryMemory)
	if err == nil {
		switch n := v.(type) {
		case int64:
			c.limit = n
		case uint64:
			c.limit = int64(n)
		}
	}
	return c
}

// add charges n bytes.
func (c *charge) add(n int64) error {
	if c == nil {
		return nil
	}
	used := c.account.used.Add(n)
	all := c.account.eng.memory.used.Add(n)
	c.held += n
	if c.limit > 0 && used > c.limit {
		return c.exceeded(c.limit)
	}
	if total := c.account.eng.memory.total; all > total {
		return c.exceeded(total)
	}
	return nil
}

func (c *charge) exceeded(limit int64) error {
	if c.code == sqlerr.OutOfSortMemory {
		return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory, consider increasing server sort buffer size")
	}
	return sqlerr.New(sqlerr.CapacityExceeded, "Memory capacity of %d bytes for '%s' exceeded. The statement was ended; see %s.", limit, c.what, VarQueryMemory)
}

// release gives back what was charged.
func (c *charge) release() {
	if c == nil {
		return
	}
	c.account.used.Add(-c.held)
	c.account.eng.memory.used.Add(-c.held)
	c.held = 0
}

// settle takes back what a statement's nodes have not given back: a hash table lives as long as its plan.
func (a *account) settle() {
	if a.eng != nil {
		a.eng.memory.used.Add(-a.used.Swap(0))
	}
}

// rowBytes is about how much memory a row takes.
func rowBytes(row sql.Row) int64 {
	n := int64(24 + 16*len(row))
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += 16 + int64(len(v))
		case []byte:
			n += 24 + int64(len(v))
		case *apd.Decimal:
			n += 64
		case time.Time:
			n += 24
		case nil, bool, int8, uint8:
		case int16, int32, int64, uint16, uint32, uint64, int, uint, float32, float64:
			n += 8
		case []any:
			n += rowBytes(v)
		default:
			n += 256
		}
	}
	return n
}

// charged is a node whose rows somebody above keeps.
type charged struct {
	sql.Node
	charge *charge
	most   int64 // rows that are kept, 0 for all
	each   int64 // bytes of a row, 0 for what it takes
	held   bool  // beyond the end of the iterator
}

// chargedIter charges for the rows that pass.
type chargedIter struct {
	sql.RowIter
	n    *charged
	rows int64
}

func (it *chargedIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return row, err
	}
	if it.rows++; it.n.most > 0 && it.rows > it.n.most {
		return row, nil
	}
	size := it.n.each
	if size == 0 {
		size = rowBytes(row)
	}
	return row, it.n.charge.add(size)
}

func (it *chargedIter) Close(ctx *sql.Context) error {
	if !it.n.held {
		it.n.charge.release()
	}
	return it.RowIter.Close(ctx)
}

type chargedKey struct{}

// once reports whether the node is being built already by the one who asks, and returns the context to build it in.
func once(ctx *sql.Context, n sql.Node) (inner *sql.Context, again bool) {
	if ctx.Value(chargedKey{}) == n {
		return nil, true
	}
	return ctx.WithContext(context.WithValue(ctx, chargedKey{}, n)), false
}

// limited builds nodes that keep rows; nil for those that keep none.
func (b *execBuilder) limited(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n := n.(type) {
	case *charged:
		it, err := b.base.Build(ctx, n.Node, row)
		if err != nil {
			return nil, err
		}
		return &chargedIter{RowIter: it, n: n}, nil
	case *plan.Sort:
		c := b.eng.chargeFor(ctx, "sort", sqlerr.OutOfSortMemory)
		it, err := b.base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &sortIter{eng: b.eng, by: n.SortConditions, child: it, charge: c, measure: measureOf(ctx)}, nil
	case *plan.TopN:
		if most := topRows(ctx, n); most > maxTopRows && !n.CalcFoundRows {
			// The library keeps all of them in memory; a sort goes to disk.
			it, err := b.base.Build(ctx, n.Child, row)
			if err != nil {
				return nil, err
			}
			c := b.eng.chargeFor(ctx, "sort", sqlerr.OutOfSortMemory)
			return &iters.LimitIter{Limit: most, ChildIter: &sortIter{eng: b.eng, by: n.SortConditions, child: it, charge: c, measure: measureOf(ctx)}}, nil
		}
		return b.overCharged(ctx, n, n.Child, row, &charged{charge: b.eng.chargeFor(ctx, "sort", sqlerr.OutOfSortMemory), most: topRows(ctx, n)})
	case *plan.Window:
		return b.overCharged(ctx, n, n.Child, row, &charged{charge: b.eng.chargeFor(ctx, "window", sqlerr.CapacityExceeded)})
	case *plan.GroupBy:
		return b.limitedGroups(ctx, n, row)
	case *plan.HashLookup:
		if n.Lookup != nil {
			return nil, nil
		}
		return b.inPlace(ctx, n, &n.Child, row, "hash join")
	case *plan.CachedResults:
		if n.IsFinalized() {
			return nil, nil
		}
		return b.inPlace(ctx, n, &n.Child, row, "subquery")
	case *plan.Distinct, *plan.SetOp:
		if op, ok := n.(*plan.SetOp); ok && !op.Distinct {
			return nil, nil
		}
		inner, again := once(ctx, n)
		if again {
			return nil, nil
		}
		it, err := b.base.Build(inner, n, row)
		if err != nil {
			return nil, err
		}
		return &chargedIter{RowIter: it, n: &charged{charge: b.eng.chargeFor(ctx, "distinct", sqlerr.CapacityExceeded), each: 64}}, nil
	}
	return nil, nil
}

// maxTopRows is how many rows a TopN may keep before it is a sort.
const maxTopRows = 1000

func topRows(ctx *sql.Context, n *plan.TopN) int64 {
	v, err := n.Limit.Eval(ctx, nil)
	if err != nil {
		return 0
	}
	i, _, err := sqlInt64.Convert(ctx, v)
	if err != nil {
		return 0
	}
	most, _ := i.(int64)
	return max(1, most)
}

// overCharged builds a node over a charged child.
func (b *execBuilder) overCharged(ctx *sql.Context, n, child sql.Node, row sql.Row, c *charged) (sql.RowIter, error) {
	if _, done := child.(*charged); done || c.charge == nil {
		return nil, nil
	}
	c.Node = child
	over, err := n.WithChildren(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.base.Build(ctx, over, row)
}

// inPlace builds a node that keeps its child's rows in itself, until the statement is over.
func (b *execBuilder) inPlace(ctx *sql.Context, n sql.Node, child *sql.Node, row sql.Row, what string) (sql.RowIter, error) {
	was := *child
	if _, done := was.(*charged); done {
		return nil, nil
	}
	c := b.eng.chargeFor(ctx, what, sqlerr.CapacityExceeded)
	if c == nil {
		return nil, nil
	}
	*child = &charged{Node: was, charge: c, held: true}
	defer func() { *child = was }()
	return b.base.Build(ctx, n, row)
}

// limitedGroups charges a GROUP BY for its groups; one that keeps all values, for the rows.
func (b *execBuilder) limitedGroups(ctx *sql.Context, n *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	c := b.eng.chargeFor(ctx, "group by", sqlerr.CapacityExceeded)
	if len(n.GroupByExprs) == 0 {
		if keepsValues(ctx, n.SelectDeps) {
			return b.overCharged(ctx, n, n.Child, row, &charged{charge: c})
		}
		return nil, nil
	}
	it, err := b.base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	if isRollup(n) {
		r, err := newRollup(ctx, n, it, c)
		if err != nil {
			_ = it.Close(ctx)
			return nil, err
		}
		return r, nil
	}
	return b.eng.newGroups(ctx, n, it, c), nil
}

func keepsValues(ctx *sql.Context, deps []sql.Expression) (keeps bool) {
	for _, d := range deps {
		sql.Inspect(ctx, d, func(_ *sql.Context, e sql.Expression) bool {
			switch collate.Library(e).(type) {
			case *aggregation.GroupConcat, *aggregation.CountDistinct, *aggregation.JsonArray, *aggregation.JSONObjectAgg:
				keeps = true
			}
			return !keeps
		})
	}
	return keeps
}
