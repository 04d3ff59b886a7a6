package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/inband"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
	"moka/txn"
	"moka/txn/delays"
)

// measure is what EXPLAIN ANALYZE has seen of one node: how often it was opened, how many rows it gave, how long they took,
// with everything below it.
type measure struct {
	loops, rows int
	first, all  time.Duration
	// What the node itself read from the store, and what of it was done there.
	requests, examined atomic.Int64
	delays             delays.Counter
	disk               atomic.Int64 // bytes that it has put there
	pushed             *pushed
}

// scanned adds what a scan or a lookup has cost.
func (s *measure) scanned(c txn.ScanStats) {
	s.requests.Add(int64(c.Requests))
	s.examined.Add(int64(c.Examined))
}

type measureKey struct{}

// measureOf is the measure of the innermost node that is being run, nil outside of EXPLAIN ANALYZE.
func measureOf(ctx context.Context) *measure {
	if measuringOf(ctx) == nil {
		return nil
	}
	m, _ := ctx.Value(measureKey{}).(*measure)
	return m
}

// with is the context of a node whose own iterator is built or asked. What delays it is not counted for the nodes above it.
func (s *measure) with(ctx *sql.Context, all *measuring) *sql.Context {
	counted := delays.With(context.WithValue(ctx, measureKey{}, s), append(all.statement, &s.delays)...)
	return ctx.WithContext(operator.WithMeter(counted, meter{s, all}))
}

// meter hears what the operators of package operator say.
type meter struct {
	*measure
	all *measuring
}

var _ operator.Meter = meter{}

// Disk implements operator.Meter.
func (m meter) Disk(bytes int64) { m.disk.Add(bytes) }

// Built implements operator.Meter.
func (m meter) Built(table sql.Node, rows int, within time.Duration) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.nodes[table] = &measure{loops: 1, rows: rows, first: within, all: within}
}

// measuring is the state of one EXPLAIN ANALYZE; its statement's context carries it.
type measuring struct {
	// statement counts the delays of all nodes, of earlier attempts, and of what no node has done.
	statement []*delays.Counter
	mu        sync.Mutex
	nodes     map[sql.Node]*measure
	// entered is the node whose own iterator is being built: the builder asks the seam once more for it, which declines.
	entered sql.Node
}

type measuringKey struct{}

func measuringOf(ctx context.Context) *measuring {
	m, _ := ctx.Value(measuringKey{}).(*measuring)
	return m
}

// explainAnalyze runs the statement, throws its rows away, and prints the plan with what was measured, in the form of MySQL.
func (b *execBuilder) explainAnalyze(ctx *sql.Context, n *plan.DescribeQuery) (sql.RowIter, error) {
	q := n.Query()
	if !q.IsReadOnly() {
		return nil, sqlerr.Unsupported("EXPLAIN ANALYZE of a statement that writes")
	}
	m := &measuring{nodes: map[sql.Node]*measure{}}
	s := sessionOf(ctx)
	if s != nil {
		m.statement = []*delays.Counter{&s.cost.delays}
	}
	run := ctx.WithContext(context.WithValue(ctx, measuringKey{}, m))
	it, err := b.base.Build(run, q, nil)
	if err != nil {
		return nil, err
	}
	for err == nil {
		_, err = it.Next(run)
	}
	if closing := it.Close(run); errors.Is(err, io.EOF) {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	line := func(text string) { rows = append(rows, sql.NewRow(text)) }
	m.print(q, 0, line)
	if s != nil {
		if delays := delayed(s.cost.delays.Counts(), s.cost.restarts.Load()); delays != "" {
			line("Statement:" + delays)
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

// enter notes that a node's own iterator is going to be built.
func (m *measuring) enter(n sql.Node) {
	if !reflect.TypeOf(n).Comparable() {
		return
	}
	m.mu.Lock()
	m.entered = n
	m.mu.Unlock()
}

// measured builds a node's iterator and counts what comes out of it. It declines for nodes that are being built already.
func (b *execBuilder) measured(ctx *sql.Context, m *measuring, n sql.Node, row sql.Row) (sql.RowIter, error) {
	switch n.(type) {
	case *operator.Charged, *ahead:
		return nil, nil // what they read the node above is told of
	}
	if !reflect.TypeOf(n).Comparable() {
		return nil, nil
	}
	m.mu.Lock()
	if m.entered == n {
		m.entered = nil
		m.mu.Unlock()
		return nil, nil
	}
	m.entered = n
	s := m.nodes[n]
	if s == nil {
		s = &measure{}
		m.nodes[n] = s
	}
	m.mu.Unlock()
	began := time.Now()
	it, err := b.base.Build(s.with(ctx, m), n, row)
	if err != nil || it == nil {
		return it, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.loops++
	s.all += time.Since(began)
	return &measuredIter{RowIter: it, m: m, s: s}, nil
}

type measuredIter struct {
	sql.RowIter
	m         *measuring
	s         *measure
	from, ctx *sql.Context // the caller's, and with s in it
}

func (it *measuredIter) Next(ctx *sql.Context) (sql.Row, error) {
	began := time.Now()
	if it.from != ctx {
		it.from, it.ctx = ctx, it.s.with(ctx, it.m)
	}
	row, err := it.RowIter.Next(it.ctx)
	took := time.Since(began)
	it.m.mu.Lock()
	defer it.m.mu.Unlock()
	it.s.all += took
	if err == nil {
		if it.s.rows++; it.s.rows == 1 {
			it.s.first = it.s.all
		}
	}
	return row, err
}

// print writes one line for each node that says something, children indented below it.
func (m *measuring) print(n sql.Node, depth int, line func(string)) {
	if what := describeNode(n); what != "" {
		text := strings.Repeat("    ", depth) + "-> " + what
		if s := m.of(n); s == nil || s.loops == 0 {
			text += "  (never executed)"
		} else {
			ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / float64(s.loops) }
			text += fmt.Sprintf("  (actual time=%.3f..%.3f rows=%s loops=%d)", ms(s.first), ms(s.all), perLoop(s.rows, s.loops), s.loops)
			if n := s.requests.Load(); n > 0 && s.pushed == nil {
				text += fmt.Sprintf(" (requests=%d examined=%d)", n, s.examined.Load())
			}
		}
		if s := m.of(n); s != nil {
			if s.disk.Load() > 0 {
				text += fmt.Sprintf(" (disk=%d bytes)", s.disk.Load())
			}
			text += delayed(s.delays.Counts(), 0)
		}
		line(text)
		depth++
		if s := m.of(n); s != nil && s.pushed != nil {
			// Below it nothing was built: the shards did it.
			table := describeTable(scanned(n), "")
			if p := s.pushed.path; p != nil && p.kind != "" {
				table = fmt.Sprintf("Index range scan on %s using %s", p.table.Name(), strings.Join(p.keys, ","))
				if p.part.match != nil {
					table = fmt.Sprintf("Full-text index search on %s using %s (%s)", p.table.Name(), p.keys[0], p.part.match.match)
				}
			}
			line(strings.Repeat("    ", depth) + "-> " + strings.Join(append([]string{table}, s.pushed.notes()...), ", ") +
				fmt.Sprintf(" (requests=%d examined=%d)", s.requests.Load(), s.examined.Load()))
			return
		}
	}
	children := n.Children()
	switch n := n.(type) {
	case *plan.SubqueryAlias:
		children = []sql.Node{n.Child}
	case *plan.TableAlias:
		children = nil // its line speaks for the table
	}
	for _, c := range children {
		m.print(c, depth, line)
	}
}

// delayed words what a node, or the statement, has waited for and done again; most have nothing to say. Times are those of all loops.
func delayed(d delays.Counts, restarts int64) (text string) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	if d.RowLocks > 0 {
		text += fmt.Sprintf(" (row lock waits=%d time=%.3f)", d.RowLocks, ms(d.RowLockTime))
	}
	if d.Locks > 0 {
		text += fmt.Sprintf(" (locks met=%d time=%.3f)", d.Locks, ms(d.LockTime))
	}
	if d.Resent > 0 {
		text += fmt.Sprintf(" (requests sent again=%d)", d.Resent)
	}
	if restarts > 0 {
		text += fmt.Sprintf(" (restarts=%d)", restarts)
	}
	return text
}

// scanned is the table under a node of which the shards did a part.
func scanned(n sql.Node) sql.Node {
	for {
		switch n.(type) {
		case *plan.ResolvedTable, *plan.IndexedTableAccess:
			return n
		}
		children := n.Children()
		if len(children) != 1 {
			return n
		}
		n = children[0]
	}
}

func perLoop(rows, loops int) string {
	if rows%loops == 0 {
		return fmt.Sprint(rows / loops)
	}
	return fmt.Sprintf("%.2f", float64(rows)/float64(loops))
}

// of finds a node's measures. Tables are sometimes built from inside of their alias, or under it.
func (m *measuring) of(n sql.Node) *measure {
	if !reflect.TypeOf(n).Comparable() {
		return nil
	}
	if s := m.nodes[n]; s != nil {
		return s
	}
	if a, ok := n.(*plan.TableAlias); ok {
		return m.of(a.Child)
	}
	return nil
}

// describeNode words a node as MySQL does where it has a word; nodes that only do book-keeping have none.
func describeNode(n sql.Node) string {
	switch n := n.(type) {
	case *plan.Project, *operator.Charged:
		return ""
	case *plan.Filter:
		return "Filter: " + inband.Without(n.Expression.String())
	case *plan.TableAlias:
		return describeTable(n.Child, n.Name())
	case *plan.ResolvedTable, *plan.IndexedTableAccess:
		return describeTable(n, "")
	case *plan.JoinNode:
		s := n.Op.String()
		if n.Filter != nil {
			s += ": " + inband.Without(n.Filter.String())
		}
		return s
	case *plan.Sort:
		return "Sort: " + strings.Join(texts(n.SortConditions), ", ")
	case *plan.TopN:
		return fmt.Sprintf("Sort: %s, limit input to %s row(s) per chunk", strings.Join(texts(n.SortConditions), ", "), n.Limit)
	case *plan.Limit:
		return fmt.Sprintf("Limit: %s row(s)", n.Limit)
	case *plan.Offset:
		return fmt.Sprintf("Offset: %s row(s)", n.Offset)
	case *plan.GroupBy:
		s := "Aggregate: " + strings.Join(texts(n.SelectDeps), ", ")
		if len(n.GroupByExprs) > 0 {
			s = "Group " + strings.ToLower(s[:1]) + s[1:] + " by " + strings.Join(texts(n.GroupByExprs), ", ")
		}
		return s
	case *plan.Distinct:
		return "Deduplicate"
	case *plan.SubqueryAlias:
		return "Materialize " + n.Name()
	case *plan.HashLookup:
		return "Hash"
	case *plan.SetOp:
		return "Union"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", n), "*plan.")
}

func describeTable(n sql.Node, alias string) string {
	on := func(name string) string {
		if alias != "" && alias != name {
			return alias + " (" + name + ")"
		}
		return name
	}
	switch n := n.(type) {
	case *plan.IndexedTableAccess:
		s := fmt.Sprintf("Index lookup on %s using %s", on(n.Name()), n.Index().ID())
		if !n.IsStatic() {
			return s + " (" + strings.Join(texts(n.Expressions()), ", ") + ")"
		}
		if look, ok, err := n.GetLookup(x0, nil); err == nil && ok {
			s = strings.Replace(s, "lookup", "range scan", 1) + " over " + look.Ranges.DebugString(x0)
		}
		return s
	case *plan.ResolvedTable:
		return "Table scan on " + on(n.Name())
	case sql.Nameable:
		return "Table scan on " + on(n.Name())
	}
	return fmt.Sprintf("%T", n)
}
