package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/collate"
	"moka/sqlfront/explain"
	"moka/sqlfront/gms"
	"moka/sqlfront/inband"
)

// explain answers EXPLAIN: in MySQL's table, one row for each table in the order in which it is read, or, with ANALYZE, as a
// tree with what was measured. FORMAT=TREE without ANALYZE is the library's tree.
func (b *execBuilder) explain(ctx *sql.Context, n *plan.DescribeQuery) (sql.RowIter, error) {
	switch {
	case n.Format.Analyze:
		return b.explainAnalyze(ctx, n)
	case n.Format.Plan && !(n.Format.Debug && n.Format.Estimates):
		var rows []sql.Row
		for line := range strings.SplitSeq(inband.Without(sql.Describe(ctx, n.Child, n.Format)), "\n") {
			if strings.TrimSpace(line) != "" {
				rows = append(rows, sql.NewRow(line))
			}
		}
		return sql.RowsToRowIter(rows...), nil
	}
	x := &explainer{ctx: ctx, eng: b.eng, ids: 1}
	x.block(n.Query(), 1, "SIMPLE")
	if n.Format.Plan { // package parse says FORMAT=JSON so
		text, err := explain.JSON(x.rows)
		if err != nil {
			return nil, err
		}
		return sql.RowsToRowIter(sql.NewRow(text)), nil
	}
	return sql.RowsToRowIter(x.rows...), nil
}

// Explain tells of each statement of the body its text, and the rows of EXPLAIN for it, with unknown values
// in the places of NEW, OLD and variables; none where the plan depends on them.
func (b *Body) Explain(ctx *sql.Context, tell func(statement string, rows []sql.Row)) error {
	b.host.session = sessionOf(ctx)
	return b.host.session.inBody(ctx, b, func() error {
		for _, stmt := range b.routine.Statements() {
			n, err := b.eng.heldPlan(ctx, stmt)
			if err != nil {
				return err
			}
			x := &explainer{ctx: ctx, eng: b.eng, ids: 1}
			if n != nil {
				x.block(n, 1, "SIMPLE")
			}
			tell(ast.String(stmt), x.rows)
		}
		return nil
	})
}

// explainer collects the rows of EXPLAIN.
type explainer struct {
	ctx  *sql.Context
	eng  *Engine
	rows []sql.Row
	ids  uint64 // the last query block's number
}

// block is one SELECT of a statement while its tables are being listed.
type block struct {
	id       uint64
	kind     string
	alias    string   // of the table below
	where    bool     // a filter is above the table
	extra    []string // what the first table of the block is to mention: sorting, grouping
	subquery []sql.Node
	pushed   bool // what is above the table goes to the shards
	path     *path
}

// block lists the tables of one query block and then those of the subqueries in its expressions.
func (x *explainer) block(n sql.Node, id uint64, kind string) {
	if kind == "SIMPLE" && composed(n) {
		kind = "PRIMARY"
	}
	q := &block{id: id, kind: kind}
	before := len(x.rows)
	x.walk(n, q)
	if len(x.rows) == before && len(q.subquery) == 0 {
		x.add(q, "", "", "No tables used")
	}
	for _, s := range q.subquery {
		x.ids++
		x.block(s, x.ids, "SUBQUERY")
	}
}

// composed reports whether a statement consists of more than one query block.
func composed(n sql.Node) (found bool) {
	transform.InspectWithOpaque(x0, n, func(_ *sql.Context, n sql.Node) bool {
		switch n.(type) {
		case *plan.SubqueryAlias, *plan.SetOp:
			found = true
		}
		for _, e := range expressionsOf(n) {
			if len(subqueries(e)) > 0 {
				found = true
			}
		}
		return !found
	})
	return found
}

func expressionsOf(n sql.Node) []sql.Expression {
	if e, ok := n.(sql.Expressioner); ok {
		return e.Expressions()
	}
	return nil
}

func subqueries(e sql.Expression) (qs []sql.Node) {
	transform.InspectExpr(x0, e, func(_ *sql.Context, e sql.Expression) bool {
		if s, ok := e.(*plan.Subquery); ok {
			qs = append(qs, s.Query)
		}
		return false
	})
	return qs
}

func (x *explainer) walk(n sql.Node, q *block) {
	for _, e := range expressionsOf(n) {
		q.subquery = append(q.subquery, subqueries(e)...)
	}
	switch n := n.(type) {
	case *plan.SubqueryAlias:
		x.ids++
		id := x.ids
		x.add(q, fmt.Sprintf("<derived%d>", id), "ALL")
		x.block(n.Child, id, "DERIVED")
		return
	case *plan.SetOp:
		x.union(n, q)
		return
	case *plan.TableAlias:
		q.alias = n.Name()
	case *plan.Filter:
		q.where = true
		bound := withScalars(x.ctx, n)
		if p := x.path(bound); p != nil && !q.pushed {
			q.path = p
		} else {
			x.pushed(bound, q)
		}
		x.walk(n.Child, q)
		q.where = false
		return
	case *plan.Limit:
		if s, ok := n.Child.(*plan.Sort); ok && !n.CalcFoundRows && x.ordered(n.Limit, s.SortConditions, s.Child, q) {
			x.walk(s.Child, q)
			return
		}
	case *plan.TopN:
		if n.CalcFoundRows || !x.ordered(n.Limit, n.SortConditions, n.Child, q) {
			q.extra = append(q.extra, "Using filesort")
			x.pushed(n, q)
		}
	case *plan.Sort:
		q.extra = append(q.extra, "Using filesort")
	case *plan.GroupBy:
		if c, found := x.eng.extremes(x.ctx, n); c != nil && found != nil {
			x.add(q, "", "", "Select tables optimized away: "+extremesNote)
			return
		}
		if len(n.GroupByExprs) > 0 {
			q.extra = append(q.extra, "Using temporary")
		}
		x.pushed(n, q)
	case *plan.Distinct, *plan.Window:
		q.extra = append(q.extra, "Using temporary")
	case *plan.IndexedTableAccess:
		x.lookup(n, q)
		return
	case *plan.ResolvedTable:
		x.scan(n, q)
		return
	case *plan.EmptyTable:
		x.add(q, "", "", "Impossible WHERE")
		return
	case *plan.TableCountLookup:
		x.add(q, "", "", "Select tables optimized away")
		return
	case *plan.InsertInto:
		x.add(&block{id: q.id, kind: "INSERT"}, tableName(n.Destination), "ALL")
		if _, values := n.Source.(*plan.Values); !values {
			x.walk(n.Source, q)
		}
		return
	case *plan.Update:
		q.kind = "UPDATE"
	case *plan.DeleteFrom:
		q.kind = "DELETE"
	case *plan.TriggerExecutor:
		x.walk(n.Left(), q)
		return
	}
	for _, c := range n.Children() {
		x.walk(c, q)
	}
}

// ordered notes that a sort is that of an index.
func (x *explainer) ordered(n sql.Expression, by sql.SortConditions, child sql.Node, q *block) bool {
	limit, err := iters.GetInt64Value(x.ctx, n)
	if err != nil || limit <= 0 {
		return false
	}
	a := x.eng.orderedBy(x.ctx, by, limit, child)
	if a == nil {
		return false
	}
	q.extra = append(q.extra, "in the order of "+a.index.id)
	q.pushed = true
	return true
}

// path is the way to the rows of a filter, if it is another than the plan's.
func (x *explainer) path(n *plan.Filter) *path {
	if mended, err := collate.Node(x.ctx, n); err == nil && mended != nil {
		n = mended.(*plan.Filter)
	}
	p := x.eng.path(x.ctx, n)
	if p != nil && p.part.index.primary && p.part.merge == nil && x.eng.pushing(x.ctx) && x.eng.pushFilter(x.ctx, n) != nil {
		return nil
	}
	return p
}

// pushed notes what of a node goes to the shards. What is said of a node is not said again of those below it.
func (x *explainer) pushed(n sql.Node, q *block) {
	if q.pushed {
		return
	}
	if mended, err := collate.Node(x.ctx, n); err == nil && mended != nil {
		n = mended
	}
	p := x.eng.pushable(x.ctx, n)
	if p == nil {
		return
	}
	q.pushed = true
	q.extra = append(q.extra, p.notes()...)
}

func tableName(n sql.Node) string {
	if t, ok := n.(sql.Nameable); ok {
		return t.Name()
	}
	if ch := n.Children(); len(ch) == 1 {
		return tableName(ch[0])
	}
	return ""
}

func (x *explainer) union(n *plan.SetOp, q *block) {
	x.walk(n.Left(), q)
	x.ids++
	right := x.ids
	x.block(n.Right(), right, "UNION")
	if n.Distinct {
		x.add(&block{kind: "UNION RESULT"}, fmt.Sprintf("<union%d,%d>", q.id, right), "ALL", "Using temporary")
	}
}

// add appends a row; an empty text is NULL.
func (x *explainer) add(q *block, table, access string, extra ...string) sql.Row {
	r := make(sql.Row, explain.Width)
	if q.id != 0 {
		r[explain.ID] = q.id
	}
	r[explain.SelectType] = q.kind
	if table != "" {
		r[explain.Table] = table
	}
	if access != "" {
		r[explain.Type] = access
	}
	extra = append(extra, q.extra...)
	q.extra, q.alias, q.pushed, q.path = nil, "", false, nil
	if len(extra) > 0 {
		r[explain.Extra] = strings.Join(extra, "; ")
	}
	x.rows = append(x.rows, r)
	return r
}

func (q *block) name(table string) string {
	if q.alias != "" {
		return q.alias
	}
	return table
}

// scan is a table that is read from end to end.
func (x *explainer) scan(n *plan.ResolvedTable, q *block) {
	if plan.IsDualTable(n.Table) {
		x.add(q, "", "", "No tables used")
		return
	}
	var extra []string
	if q.where {
		extra = append(extra, "Using where")
	}
	access, way := "ALL", q.path
	if way != nil {
		access, extra = way.kind, append(extra, way.notes()...)
	}
	r := x.add(q, q.name(n.Name()), access, extra...)
	if way != nil {
		r[explain.Key], r[explain.PossibleKeys] = strings.Join(way.keys, ","), strings.Join(way.keys, ",")
	}
	t := ownTable(n.UnderlyingTable())
	if t == nil {
		return
	}
	if rows, _, err := t.RowCount(x.ctx); err == nil {
		r[explain.Rows] = rows
	}
	r[explain.Filtered] = 100.0
	if way != nil {
		r[explain.Rows] = max(1, min(uint64(way.rows), rowsOf(r)))
	} else if q.where {
		r[explain.PossibleKeys] = nil
		r[explain.Filtered] = 33.33 // MySQL's guess for a condition without statistics
	}
}

func rowsOf(r sql.Row) uint64 {
	n, _ := r[explain.Rows].(uint64)
	return n
}

// lookup is a table that is read by an index: for constants, or for each row of what stands before it.
func (x *explainer) lookup(n *plan.IndexedTableAccess, q *block) {
	var extra []string
	if q.where {
		extra = append(extra, "Using where")
	}
	ix, _ := n.Index().(*index)
	if ix != nil && !ix.primary && covered(n, ix) {
		extra = append(extra, "Using index")
	}
	way := q.path
	if way != nil {
		extra = append(extra, way.notes()...)
	}
	r := x.add(q, q.name(n.Name()), "ref", extra...)
	r[explain.Key] = n.Index().ID()
	r[explain.PossibleKeys] = n.Index().ID()
	r[explain.Filtered] = 100.0
	total := uint64(0)
	if t := ownTable(n.UnderlyingTable()); t != nil {
		total, _, _ = t.RowCount(x.ctx)
	}
	if way != nil && way.kind != "" {
		keys := strings.Join(way.keys, ",")
		r[explain.Type], r[explain.Key], r[explain.PossibleKeys], r[explain.Rows] = way.kind, keys, keys, max(1, min(uint64(way.rows), total))
		return
	}
	some := max(1, min(uint64(gms.MaxFanOut), uint64(float64(total)*gms.LookupFanOut)))
	found := func(columns int) uint64 { // by a value for each of the first columns
		if ix != nil {
			if d, rows, ok := x.eng.stats.Distinct(ix.table.desc.ID, ix, columns); ok && d > 0 {
				return max(1, rows/d)
			}
		}
		return some
	}
	unique := n.Index().IsUnique()
	if !n.IsStatic() { // for each row of the other side of a join
		r[explain.Ref] = strings.Join(texts(n.Expressions()), ",")
		r[explain.Rows] = found(len(n.Expressions()))
		if unique && n.IsStrictLookup(x.ctx) {
			r[explain.Type], r[explain.Rows] = "eq_ref", uint64(1)
		}
		return
	}
	look, ok, err := n.GetLookup(x.ctx, nil)
	if err != nil || !ok {
		return
	}
	equal, points := pointRanges(x.ctx, look, len(n.Index().Expressions()))
	switch {
	case points && unique && look.Ranges.Len() == 1:
		r[explain.Type], r[explain.Ref], r[explain.Rows] = "const", "const", uint64(1)
	case points && unique:
		r[explain.Type], r[explain.Rows] = "range", uint64(look.Ranges.Len())
	case equal > 0 && look.Ranges.Len() == 1 && unbound(look, equal):
		r[explain.Ref], r[explain.Rows] = strings.TrimSuffix(strings.Repeat("const,", equal), ","), found(equal)
	case unbound(look, 0):
		r[explain.Type], r[explain.Rows] = "index", total
	default:
		r[explain.Type], r[explain.Rows] = "range", max(some, total/9) // MySQL's guess for a range without statistics
	}
	if look.IsReverse {
		back := "Backward index scan"
		if s, ok := r[explain.Extra].(string); ok {
			back = s + "; " + back
		}
		r[explain.Extra] = back
	}
}

// covered reports whether the entries of the index answer what the query asks of the table.
func covered(n *plan.IndexedTableAccess, ix *index) bool {
	p, ok := n.Table.(sql.ProjectedTable)
	return ok && p.Projections() != nil && ix.CoversColumns(p.Projections())
}

func texts[T fmt.Stringer](vs []T) (out []string) {
	for _, v := range vs {
		out = append(out, v.String())
	}
	return out
}

// pointRanges counts the leading columns that all ranges bind to one value; points says that these are all n columns.
func pointRanges(ctx *sql.Context, look sql.IndexLookup, n int) (equal int, points bool) {
	ranges, ok := look.Ranges.(sql.MySQLRangeCollection)
	if !ok {
		return 0, false
	}
	equal = n
	for _, r := range ranges {
		k := 0
		for k < len(r) && k < n {
			if r[k].Type() == sql.RangeType_EqualNull {
				k++
				continue
			}
			if r[k].Type() != sql.RangeType_ClosedClosed {
				break
			}
			c, err := r[k].Typ.Compare(ctx, sql.GetMySQLRangeCutKey(r[k].LowerBound), sql.GetMySQLRangeCutKey(r[k].UpperBound))
			if err != nil || c != 0 {
				break
			}
			k++
		}
		equal = min(equal, k)
	}
	return equal, len(ranges) > 0 && equal == n
}

// unbound reports whether the columns from the given one on may have any value.
func unbound(look sql.IndexLookup, from int) bool {
	ranges, _ := look.Ranges.(sql.MySQLRangeCollection)
	for _, r := range ranges {
		for _, c := range r[min(from, len(r)):] {
			if c.Type() != sql.RangeType_All {
				return false
			}
		}
	}
	return true
}

// x0 is a context for walks that need none.
var x0 = sql.NewEmptyContext()
