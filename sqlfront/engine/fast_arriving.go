package engine

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/builtin"
	"moka/sqlfront/catalog"
	physical "moka/sqlfront/plan"
	"moka/sqlfront/rowenc"
)

// What a plan writes into columns to which the statement gives no literal: the time of the statement (DEFAULT
// and ON UPDATE CURRENT_TIMESTAMP, NOW() among the values), other expressions without columns, and stored
// generated columns.

// at is that time as a time of day in the session's zone. One that comes twice, when clocks are turned, is
// left to the library, and so is what may be beyond a TIMESTAMP.
func (r *fastRun) at(m *physical.StatementTime) (any, error) {
	micros := builtin.CutFraction(r.ctx.QueryTime().UnixMicro(), m.Digits).UnixMicro()
	local := r.session.timeZone().Local(micros)
	if rowenc.Marked(local) || local.Year() < 1971 || local.Year() >= 2038 {
		return nil, errFallback
	}
	return local, nil
}

// arrives is the value of a column for which an INSERT has no literal.
func (r *fastRun) arrives(s *source, column *sql.Column) (any, error) {
	switch {
	case s.moment != nil:
		return r.at(s.moment)
	case s.expr != nil:
		return r.assign(s.expr, make(sql.Row, len(r.plan.table.pk.Schema)), column)
	}
	return s.value, nil
}

// stampedColumn is a column that is ON UPDATE CURRENT_TIMESTAMP.
type stampedColumn struct {
	column int
	moment *physical.StatementTime
}

// stamps are the columns of that kind that an UPDATE does not name.
func (c *compiler) stamps() error {
	t := c.plan.table
	for i, col := range t.pk.Schema {
		text := t.desc.Columns[t.ordinals[i]].OnUpdate
		if text == "" || c.assigned(i) {
			continue
		}
		m := physical.StatementTimeText(text)
		if m == nil || !m.Fits(col.Type) {
			return unplanned(reasonTable)
		}
		c.plan.stamps = append(c.plan.stamps, stampedColumn{i, m})
	}
	return nil
}

func (c *compiler) assigned(column int) bool {
	for i := range c.plan.set {
		if c.plan.set[i].column == column {
			return true
		}
	}
	return false
}

// stamp gives a row that an UPDATE has changed the time of the statement.
func (r *fastRun) stamp(old, row sql.Row) error {
	if len(r.plan.stamps) == 0 {
		return nil
	}
	same, err := sameRow(r.ctx, old, row, r.plan.table.pk.Schema)
	if same || err != nil {
		return err
	}
	for _, s := range r.plan.stamps {
		if row[s.column], err = r.at(s.moment); err != nil {
			return err
		}
	}
	return nil
}

// generatedColumn is a stored column that is computed of the others of its row.
type generatedColumn struct {
	column int
	value  *rowValue
}

// generates compiles the generated columns of the table, in the order of their names in it, in which they may
// refer to each other.
func (c *compiler) generates(ctx *sql.Context) error {
	t := c.plan.table
	columns, err := t.generated(ctx)
	if err != nil {
		return unplanned(reasonTable)
	}
	if len(columns) > 0 && len(c.plan.fires) > 0 {
		return unplanned(reasonTable) // a trigger BEFORE may change what they are computed of
	}
	for _, g := range columns {
		if c.assigned(g.at) {
			return unplanned(reasonTable) // 3105
		}
		x, err := c.overRow(ctx, g.expr)
		if err != nil {
			return err
		}
		if reads(ctx, x.expr, t.auto) {
			return unplanned(reasonTable)
		}
		c.plan.generated = append(c.plan.generated, generatedColumn{g.at, x})
	}
	return nil
}

// generate computes the generated columns of a row.
func (r *fastRun) generate(row sql.Row) (err error) {
	for i := range r.plan.generated {
		g := &r.plan.generated[i]
		if row[g.column], err = r.assign(g.value, row, r.plan.table.pk.Schema[g.column]); err != nil {
			return err
		}
	}
	return nil
}

// errComputed is the compiler's word for a value of an INSERT that is an expression.
var errComputed = errors.New("engine: a value that is computed")

// place is where such a value stands: in a row, at a place of it, for a column.
type place struct{ row, at, column int }

func isDefault(e ast.Expr) bool {
	d, ok := e.(*ast.Default)
	return ok && d.ColName == ""
}

// arriving compiles the values of an INSERT that are expressions.
func (c *compiler) arriving(ctx *sql.Context, places []place) error {
	for _, p := range places {
		if c.plan.table.pk.Schema[p.column].Type.Type() == sqltypes.Timestamp {
			return unplanned(reasonShape)
		}
	}
	values, err := c.values(ctx, len(places), func(stmt ast.Statement) (_ ast.TableExprs, es []ast.Expr) {
		rows := tuplesOf(stmt.(*ast.Insert))
		for _, p := range places {
			es = append(es, rows[p.row][p.at])
		}
		return nil, es
	})
	for i, x := range values {
		p := places[i]
		c.plan.rows[p.row][p.column].expr = x
	}
	return err
}

// overRow compiles an expression over the table's rows, whose columns are followed by the parameters.
func (c *compiler) overRow(ctx *sql.Context, e sql.Expression) (*rowValue, error) {
	t := c.plan.table
	frame := physical.Frame{Params: len(t.pk.Schema), Slot: func(f *expression.GetField) (int, bool) {
		i := t.ordinal(f.Name())
		return i, i >= 0
	}}
	x, err := physical.Compute(ctx, e, frame)
	if err == nil {
		x, err = mendAlone(ctx, x)
	}
	if err != nil || !repeatsOverRows(ctx, x) {
		return nil, unplanned(reasonShape)
	}
	return &rowValue{x, x.Type(ctx)}, nil
}

// reads reports whether an expression over a row depends on a column.
func reads(ctx *sql.Context, e sql.Expression, column int) bool {
	found := false
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		f, ok := e.(*expression.GetField)
		found = found || ok && f.Index() == column
		return !found
	})
	return found
}

// writable reports whether what the statement does not say of a row is known when it is written.
func writable(desc *catalog.Table) bool {
	for i := range desc.Columns {
		if c := &desc.Columns[i]; c.OnUpdate != "" && physical.StatementTimeText(c.OnUpdate) == nil {
			return false
		}
	}
	return true
}
