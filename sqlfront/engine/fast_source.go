package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/eval"
	"moka/sqlfront/resultset"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/syntax"
)

// Writes of rows that a query finds: UPDATE and DELETE whose WHERE is more than an index answers, that take
// rows in an order, or so many of them, and INSERT … SELECT. The query is one of query.go. It is run whole,
// in the statement's transaction, before anything is written, as the rows of an index are that a write reads.

// search finds the rows of a write: by an index alone if that is enough, else by a query. cut says that there
// is ORDER BY or LIMIT.
func (c *compiler) search(ctx *sql.Context, v *view, where *ast.Where, cut bool) error {
	if !cut {
		err := c.find(where)
		if err == nil || c.text == "" { // of a body
			return err
		}
	} else if c.text == "" {
		return unplanned(reasonShape)
	}
	stmt, _, _, err := c.eng.sql.Parser.ParseWithOptions(ctx, c.text, ';', false, c.opts)
	if err != nil {
		return unplanned(reasonShape)
	}
	sel := &ast.Select{SelectExprs: ast.SelectExprs{&ast.StarExpr{}}}
	switch s := stmt.(type) {
	case *ast.Update:
		sel.From, sel.Where, sel.OrderBy, sel.Limit = s.TableExprs, s.Where, s.OrderBy, s.Limit
	case *ast.Delete:
		sel.From, sel.Where, sel.OrderBy, sel.Limit = s.TableExprs, s.Where, s.OrderBy, s.Limit
	default:
		return unplanned(reasonShape)
	}
	q, err := c.lowered(ctx, v, sel)
	if err != nil {
		return err
	}
	if q.Result != len(c.plan.table.pk.Schema) {
		return unplanned(reasonTable)
	}
	c.plan.source = q
	return nil
}

// insertsRows compiles the source of INSERT … SELECT. What a column of it takes is a value of the query's row,
// as a literal would be.
func (c *compiler) insertsRows(ctx *sql.Context, v *view, s *ast.Insert) error {
	sel, ok := s.Rows.(*ast.Select)
	if !ok || c.text == "" || !syntax.Plain(sel) || c.plan.taken == takenUpdates {
		return unplanned(reasonShape)
	}
	stmt, _, _, err := c.eng.sql.Parser.ParseWithOptions(ctx, c.text, ';', false, c.opts)
	if err != nil {
		return unplanned(reasonShape)
	}
	again, ok := stmt.(*ast.Insert)
	if !ok {
		return unplanned(reasonShape)
	}
	if sel, ok = again.Rows.(*ast.Select); !ok || !syntax.Plain(sel) {
		return unplanned(reasonShape)
	}
	c.plan.source, err = c.lowered(ctx, v, sel)
	return err
}

// sourceRow is where INSERT … SELECT takes the columns from: at says which value of the query's row each has,
// or -1.
func (c *compiler) sourceRow(ctx *sql.Context, at []int) ([]source, error) {
	row := make([]source, len(at))
	for col, i := range at {
		if i < 0 {
			var err error
			if row[col], err = c.source(ctx, col, -1, nil); err != nil {
				return nil, err
			}
			continue
		}
		t := c.plan.table
		to := t.pk.Schema[col].Type
		if !literalType(c.plan.source.Columns[i].Type) || !literalType(to) ||
			t.desc.Columns[t.ordinals[col]].Generated != "" {
			return nil, unplanned(reasonType)
		}
		row[col] = source{op: &operand{param: i}, auto: col == t.auto}
	}
	return row, nil
}

// literalType reports whether values of a type are those of literals. TIMESTAMPs are not: an hour that comes
// twice has one text.
func literalType(t sql.Type) bool {
	switch t.Type() {
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.Date, sqltypes.Datetime, sqltypes.Float64:
		return true
	}
	return t == types.Null || types.IsInteger(t) || types.IsDecimal(t)
}

// foundRows are the rows that a query finds for a write.
func (r *fastRun) foundRows() error {
	q := r.plan.source
	rows, err := r.rowsOf(q)
	if err == nil {
		r.rows, r.have = rows, true
	}
	return err
}

// rowsFromQuery computes the rows of INSERT … SELECT.
func (r *fastRun) rowsFromQuery() (rows []sql.Row, err error) {
	if err := r.foundRows(); err != nil {
		return nil, err
	}
	t, sources := r.plan.table, r.plan.rows[0]
	columns := r.plan.source.Columns[:r.plan.source.Result]
	values := make([]eval.Literal, len(columns))
	for _, from := range r.rows {
		for i := range columns {
			var ok bool
			if values[i], ok = eval.LiteralOf(from[i], columns[i].Type); !ok {
				return nil, errFallback
			}
		}
		row, err := r.newRow(sources, values)
		if err != nil {
			return nil, err
		}
		if t.auto >= 0 && sources[t.auto].op != nil {
			if n, ok := rowenc.Int64(row[t.auto]); !ok || n <= 0 {
				return nil, errFallback // see manyRows
			}
		}
		rows = append(rows, row)
	}
	return rows, r.numbers(rows)
}

// ignoring inserts the rows whose keys are free, and notes each of the others as the planner does.
func (r *fastRun) ignoring(e *editor, rows []sql.Row) (*resultset.Result, error) {
	affected := 0
	for i, row := range rows {
		if r.plan.numbersOneByOne() {
			if err := r.number(row); err != nil {
				return nil, err
			}
		}
		r.pending(i)
		if err := r.keep(nil, row); err != nil {
			return nil, err
		}
		err := e.Insert(r.ctx, row)
		if inTheWay(err) == nil {
			if err != nil {
				return nil, err
			}
			affected++
			continue
		}
		r.session.Warn(&sql.Warning{Level: "Note", Code: sql.CastSQLError(err).Num, Message: err.Error()})
	}
	return &resultset.Result{Affected: uint64(affected)}, nil
}
