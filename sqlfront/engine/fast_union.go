package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/collate"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/syntax"
	"moka/sqlfront/unions"
)

// union makes the plan of a UNION of queries that have plans, and columns of the same types.
func (c *compiler) union(ctx *sql.Context, v *view) error {
	stmt, _, _, err := c.eng.sql.Parser.ParseWithOptions(ctx, c.text, ';', false, c.opts)
	if err != nil {
		return unplanned(reasonShape)
	}
	set, ok := stmt.(*ast.SetOp)
	if !ok {
		return unplanned(reasonShape)
	}
	unions.Forget(set) // nothing is converted here
	parts, kind, ok := syntax.UnionOf(set)
	if !ok || !syntax.SteadyNames(parts[0]) {
		return unplanned(reasonShape)
	}
	whole := &queryPlan{once: kind == ast.UnionStr}
	for _, sel := range parts {
		q, err := c.lowered(ctx, v, sel)
		if err != nil {
			return err
		}
		if len(whole.parts) == 0 {
			whole.Query = q.Query
		} else if !sameColumns(whole.parts[0], q) {
			return unplanned(reasonType)
		}
		whole.parts = append(whole.parts, q)
		for _, t := range q.tables {
			whole.reads(t)
		}
	}
	whole.sizes(ctx, c.eng)
	c.plan.shows(whole)
	return nil
}

// sameColumns reports whether the values of two queries' columns are those of one result.
func sameColumns(a, b *queryPlan) bool {
	if a.Result != b.Result {
		return false
	}
	for i := range a.Result {
		x, y := a.Columns[i].Type, b.Columns[i].Type
		if x.Equals(y) && !expr.IsEnum(x) { // those become texts
			continue
		}
		s, ok1 := x.(sql.StringType)
		t, ok2 := y.(sql.StringType)
		if !ok1 || !ok2 || s.Type() != t.Type() || s.Collation() != t.Collation() {
			return false
		}
	}
	return true
}

// unionRows are the rows of all parts.
func (r *fastRun) unionRows(q *queryPlan) (rows []sql.Row, err error) {
	seen := map[string]bool{}
	ts := make([]sql.Type, q.Result)
	for i := range ts {
		ts[i] = q.Columns[i].Type
	}
	keys := collate.NewRowKeys(ts)
	for _, part := range q.parts {
		some, err := r.rowsOf(part)
		if err != nil {
			return nil, err
		}
		for _, row := range some {
			if q.once {
				k, err := keys.Of(r.ctx, row)
				if err != nil {
					return nil, eval.ErrUnsure
				}
				if seen[string(k)] {
					continue
				}
				seen[string(k)] = true
			}
			rows = append(rows, row)
		}
		if len(rows) > maxQueryRows {
			return nil, errTooLarge
		}
	}
	return rows, nil
}
