package engine

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/digest"
	"moka/sqlfront/eval"
	"moka/sqlfront/exec"
	"moka/sqlfront/expr"
	"moka/sqlfront/plan"
	"moka/sqlfront/resultset"
	"moka/sqlfront/rights"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/syntax"
)

// Queries of the plan cache that are more than rows of one table by an index: joins along keys, derived
// tables, groups, tables with foreign keys and checks. The binder says what the statement means, package plan
// makes a plan of that, package exec runs it; here is what connects them with tables, rights and
// transactions.

// queryPlan is what a cached plan of such a query holds.
type queryPlan struct {
	*plan.Query
	tables []*Table // whole, for their versions
	with   []string // names of common table expressions
	rows   []uint64 // about how many rows each had when the plan was made
	runs   atomic.Uint64
	parts  []*queryPlan // of a UNION, in the place of Query, which is the first one's
	once   bool         // it is no UNION ALL
}

// lookAgain is after how many runs the sizes of the tables are compared with those that the plan was made
// for.
const lookAgain = 128

// outgrown reports, now and then, whether a table is of quite another size than when the plan was made: then
// another order of the tables may be right.
func (q *queryPlan) outgrown(ctx *sql.Context, e *Engine) bool {
	if q.runs.Add(1)%lookAgain != 0 {
		return false
	}
	for i, t := range q.tables {
		now, _ := e.stats.Estimate(ctx, counted{t})
		if then := q.rows[i]; now > 4*then+1000 || then > 4*now+1000 {
			return true
		}
	}
	return false
}

// Limits of what a query by a plan keeps; more goes the general way, which streams and spills.
const (
	maxQueryRows  = 8192
	maxQueryBytes = 8 << 20
)

// query makes the plan of a SELECT that is none of the simple shapes.
func (c *compiler) query(ctx *sql.Context, v *view) error {
	stmt, _, _, err := c.eng.sql.Parser.ParseWithOptions(ctx, c.text, ';', false, c.opts)
	if err != nil {
		return unplanned(reasonShape)
	}
	sel, ok := stmt.(*ast.Select)
	if !ok || !syntax.Plain(sel) || !syntax.SteadyNames(sel) {
		return unplanned(reasonShape)
	}
	q, err := c.lowered(ctx, v, sel)
	if err != nil {
		return err
	}
	c.plan.shows(q)
	return nil
}

// shows makes the plan that of a query.
func (p *fastPlan) shows(q *queryPlan) {
	p.kind, p.query = planQuery, q
	p.allow = q.allow()
	p.sel = &selectPlan{width: q.Result}
	for _, col := range q.Columns[:q.Result] {
		p.sel.types = append(p.sel.types, col.Type)
	}
}

// lowered makes the plan of a SELECT, which the binder changes.
func (c *compiler) lowered(ctx *sql.Context, v *view, sel *ast.Select) (*queryPlan, error) {
	q := &queryPlan{}
	if err := c.queryWith(v, sel, q); err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	needs := s.needs
	s.needs = nil
	builder := planbuilder.New(ctx, c.eng.sql.Analyzer.Catalog, nil)
	builder.SetBindingsWithExpr(c.bindings())
	bound, _, err := builder.BindOnly(sel, c.text, nil)
	columns := len(s.needs) > 0 // rights on some columns only
	s.needs = needs
	switch {
	case rights.Refused(err) || columns:
		return nil, unplanned(reasonPrivilege)
	case err != nil:
		return nil, unplanned(reasonShape)
	}
	table := func(of sql.Table) (plan.Table, bool) {
		t, ok := c.eng.planTable(of)
		if ok {
			q.reads(t.Table)
		}
		return t, ok
	}
	q.Query, err = plan.Lower(ctx, bound, plan.Options{
		Table: table, Literal: eval.TextLiteral, Mend: mendAlone, Repeatable: repeatsOverRows,
	})
	if err != nil {
		c.eng.log.Debug("no plan", "statement", c.text, "err", err)
		return nil, unplanned(reasonShape)
	}
	if len(q.tables) == 0 {
		return nil, unplanned(reasonShape) // of the session, or the clock
	}
	if !q.Worth() {
		return nil, unplanned(reasonIndex)
	}
	q.sizes(ctx, c.eng)
	return q, nil
}

// sizes notes how large the tables are.
func (q *queryPlan) sizes(ctx *sql.Context, e *Engine) {
	for _, t := range q.tables {
		n, _ := e.stats.Estimate(ctx, counted{t})
		q.rows = append(q.rows, n)
	}
}

// allow is what a user must be allowed to do for the query.
func (q *queryPlan) allow() (all []sql.PrivilegedOperation) {
	for _, t := range q.tables {
		of := sql.PrivilegeCheckSubject{Database: t.db, Table: t.desc.Name}
		all = append(all, sql.NewPrivilegedOperation(of, sql.PrivilegeType_Select))
	}
	return all
}

// bindings are parameters that the binder does not look into.
func (c *compiler) bindings() map[string]sql.Expression {
	m := make(map[string]sql.Expression, len(c.kinds))
	for i, k := range c.kinds {
		m[digest.Parameter(i)] = &expression.BindVar{Name: digest.Parameter(i), Typ: eval.ParamType(k)}
	}
	return m
}

// queryWith is queryTables for a SELECT and its common table expressions, each of which sees those before it.
func (c *compiler) queryWith(v *view, sel *ast.Select, q *queryPlan) error {
	w := sel.With
	if w == nil {
		w = &ast.With{}
	}
	for _, e := range w.Ctes {
		if w.Recursive || len(e.Columns) > 0 {
			return unplanned(reasonShape)
		}
		if err := c.queryTables(v, e.AliasedTableExpr, q); err != nil {
			return err
		}
		q.with = append(q.with, strings.ToLower(e.As.String()))
	}
	if err := c.queryFrom(v, sel.From, q); err != nil {
		return err
	}
	return c.subqueries(v, sel, q)
}

func (c *compiler) queryFrom(v *view, from ast.TableExprs, q *queryPlan) error {
	for _, e := range from {
		if err := c.queryTables(v, e, q); err != nil {
			return err
		}
	}
	return nil
}

// queryTables makes sure that a FROM clause names tables only that plans read: no views, whose rights are
// their definers', and nothing of the past.
func (c *compiler) queryTables(v *view, from ast.TableExpr, q *queryPlan) error {
	switch f := from.(type) {
	case *ast.JoinTableExpr:
		if len(f.Condition.Using) > 0 {
			return unplanned(reasonShape)
		}
		if err := c.queryTables(v, f.LeftExpr, q); err != nil {
			return err
		}
		return c.queryTables(v, f.RightExpr, q)
	case *ast.ParenTableExpr:
		return c.queryFrom(v, f.Exprs, q)
	case *ast.AliasedTableExpr:
		if f.Hints != nil || f.AsOf != nil || len(f.Partitions) > 0 || f.Lateral {
			return unplanned(reasonShape)
		}
		switch t := f.Expr.(type) {
		case ast.TableName:
			if t.DbQualifier.IsEmpty() && strings.EqualFold(t.Name.String(), plan.Nothing) {
				return nil
			}
			if t.DbQualifier.IsEmpty() && slices.Contains(q.with, strings.ToLower(t.Name.String())) {
				return nil
			}
			return c.queryTable(v, t, q)
		case *ast.Subquery:
			sel, ok := t.Select.(*ast.Select)
			if !ok || sel.With != nil || syntax.Locks(sel) || len(t.Columns) > 0 {
				return unplanned(reasonShape)
			}
			return c.queryFrom(v, sel.From, q)
		}
	}
	return unplanned(reasonShape)
}

func (c *compiler) queryTable(v *view, name ast.TableName, q *queryPlan) error {
	if !name.SchemaQualifier.IsEmpty() {
		return unplanned(reasonShape)
	}
	db := c.db
	if n := name.DbQualifier.String(); n != "" {
		db = n
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return unplanned(reasonTable)
	}
	desc, ok := d.Table(name.Name.String())
	if !ok || !readable(desc) {
		return unplanned(reasonTable)
	}
	t, err := v.table(c.eng, d, desc)
	if err != nil || t.primary == nil {
		return unplanned(reasonTable)
	}
	q.reads(t)
	return nil
}

// reads notes that the plan reads a table.
func (q *queryPlan) reads(t *Table) {
	if !slices.ContainsFunc(q.tables, func(o *Table) bool { return o.desc == t.desc && o.db == t.db }) {
		q.tables = append(q.tables, t)
	}
}

// subqueries is queryTables for those in expressions.
func (c *compiler) subqueries(v *view, sel *ast.Select, q *queryPlan) error {
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		sub, ok := n.(*ast.Subquery)
		if !ok {
			return true, nil
		}
		s, ok := sub.Select.(*ast.Select)
		if !ok || s.With != nil || s.Into != nil || syntax.Locks(s) || s.QueryOpts.SQLCalcFoundRows {
			return false, unplanned(reasonShape)
		}
		return true, c.queryFrom(v, s.From, q)
	}, sel)
}

// current reports whether the tables are still what they were.
func (q *queryPlan) current(snap *catalog.Snapshot) bool {
	for _, t := range q.tables {
		d, ok := snap.Database(t.db)
		if !ok {
			return false
		}
		if desc, ok := d.Table(t.desc.Name); !ok || desc != t.desc {
			return false
		}
	}
	return true
}

// planTable is a table that plans read; false if it is none.
func (e *Engine) planTable(t sql.Table) (*planTable, bool) {
	own := ownTable(t)
	if own == nil || own.temporary || own.lock != nil || own.asOf != 0 ||
		own.primary == nil || own.projected != nil {
		return nil, false
	}
	return &planTable{own}, true
}

// planTable is a table as plans know it.
type planTable struct{ *Table }

var _ plan.Table = (*planTable)(nil)

// Keys implements plan.Table.
func (t *planTable) Keys() []*plan.Key {
	var keys []*plan.Key
	for _, x := range t.keys {
		if !x.exact() {
			continue
		}
		k := &plan.Key{
			Name: x.id, Columns: x.cols, Unique: x.unique, Primary: x.primary,
			Codec: x.codec, Prefix: x.prefix, Of: x,
		}
		for _, col := range x.cols {
			k.Types = append(k.Types, t.pk.Schema[col].Type)
		}
		keys = append(keys, k)
	}
	return keys
}

// exact reports whether all may read by the index, and entries lie in the order of the values, each of which
// has one key.
func (x *index) exact() bool {
	return x.state == catalog.StatePublic && !x.unordered && !x.loose && !x.folded && x.words == nil
}

// Columns implements plan.Table.
func (t *planTable) Columns(ordinals []int) (plan.Table, error) {
	names := make([]string, len(ordinals))
	for i, o := range ordinals {
		names[i] = t.pk.Schema[o].Name
	}
	p, err := t.WithProjections(nil, names)
	if err != nil {
		return nil, err
	}
	return &planTable{p.(*Table)}, nil
}

// Rows implements plan.Table.
func (t *planTable) Rows(ctx *sql.Context) float64 {
	rows, _ := t.eng.stats.Estimate(ctx, counted{t.Table})
	return float64(rows)
}

// Distinct implements plan.Table.
func (t *planTable) Distinct(k *plan.Key, n int) float64 {
	values, _, ok := t.eng.stats.Distinct(t.desc.ID, k.Of.(*index), n)
	if !ok {
		return 0
	}
	return float64(values)
}

// repeatsOverRows reports whether an expression over columns depends on nothing else, keeps nothing, and
// compares no texts: the collation of such a comparison is decided elsewhere.
func repeatsOverRows(ctx *sql.Context, e sql.Expression) bool {
	ok := true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case expression.Comparer, *expression.Between, *expression.InTuple, *expression.Case, *expr.Case,
			*function.NullIf, *function.Greatest, *function.Least:
			for _, c := range e.Children() {
				if c != nil {
					_, tuple := c.(expression.Tuple)
					ok = ok && !tuple && !types.IsText(c.Type(ctx))
				}
			}
		}
		return ok
	})
	if !ok {
		return false
	}
	bare, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (
		sql.Expression, transform.TreeIdentity, error,
	) {
		switch e := e.(type) {
		case *expression.GetField:
			return expression.NewLiteral(nil, e.Type(ctx)), transform.NewTree, nil
		case *expression.BindVar:
			return expression.NewLiteral(nil, e.Typ), transform.NewTree, nil
		case *expression.Alias:
			return e.Child, transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return err == nil && repeats(ctx, bare)
}

// queryRows runs a query by its plan.
func (r *fastRun) queryRows() (*resultset.Result, error) {
	rows, err := r.runQuery()
	if err != nil {
		r.leave()
		return nil, err
	}
	out := &resultset.Result{Affected: uint64(len(rows)), Rows: rows, Head: r.plan.sel.head.Load()}
	if err := r.done(); err != nil {
		r.leave()
		return nil, err
	}
	info := r.session.GetLastQueryInfo()
	info.RowCount.Store(-1)
	info.FoundRows.Store(int64(len(rows)))
	return out, nil
}

func (r *fastRun) runQuery() ([]sql.Row, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	return r.rowsOf(r.plan.query)
}

// rowsOf runs a query.
func (r *fastRun) rowsOf(q *queryPlan) ([]sql.Row, error) {
	if q.parts != nil {
		return r.unionRows(q)
	}
	if r.tx.locksReads() {
		return nil, errFallback
	}
	if q.outgrown(r.ctx, r.eng) {
		return nil, errStalePlan
	}
	run := &exec.Run{
		Store: planStore{}, Limits: exec.Limits{Rows: maxQueryRows, Bytes: maxQueryBytes}, Params: r.values,
	}
	rows, err := run.Rows(r.ctx, q.Query)
	switch {
	case errors.Is(err, eval.ErrUnsure):
		return nil, errFallback
	case errors.Is(err, exec.ErrTooLarge):
		return nil, errTooLarge
	}
	return rows, err
}

// planStore reads tables in the transaction of the statement.
type planStore struct{}

// Read implements exec.Store.
func (planStore) Read(ctx *sql.Context, r exec.Read, take func(sql.Row) (bool, error)) error {
	t := r.Table.(*planTable).Table
	p := &partition{index: t.primary, spans: r.Spans, reverse: r.Reverse, batch: r.Batch}
	if r.Key == nil {
		whole := indexSpan(t.desc.ID, t.desc.RowIndex)
		p.spans = []rowenc.Span{{Start: whole.Start, End: whole.End, Exact: true}}
	} else {
		p.index = r.Key.Of.(*index)
	}
	it, err := t.PartitionRows(ctx, p)
	if err != nil {
		return err
	}
	return drain(ctx, it, take)
}
