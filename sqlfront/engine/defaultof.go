package engine

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/builtin"
	"moka/sqlfront/sqlerr"
)

// defaultsOfColumns puts what the tables say into each DEFAULT(c), before any other rule moves columns about.
var defaultsOfColumns = analyzer.Rule{Id: analyzer.RuleId(-1020), Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !asksForDefaults(ctx, n) {
		return n, transform.SameTree, nil
	}
	// While the columns can be seen: who has no right on one is not told its default either.
	if _, _, err := columnRights.Apply(ctx, nil, n, nil, nil, nil); err != nil {
		return nil, transform.SameTree, err
	}
	origins := map[sql.ColumnId]columnSource{}
	collectOrigins(ctx, n, origins)
	out, err := fillDefaults(ctx, n, origins)
	return out, transform.NewTree, err
}}

// defaultsOfWrites is the same for statements that the library plans without most of its rules.
var defaultsOfWrites = analyzer.Rule{Id: analyzer.RuleId(-1021), Apply: func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	switch n.(type) {
	case *plan.InsertInto:
		var err error
		if n, err = placedDefaults(ctx, n.(*plan.InsertInto)); err != nil {
			return nil, transform.SameTree, err
		}
		return defaultsOfColumns.Apply(ctx, a, n, scope, sel, flags)
	case *plan.Update, *plan.DeleteFrom:
		return defaultsOfColumns.Apply(ctx, a, n, scope, sel, flags)
	}
	return n, transform.SameTree, nil
}}

// inner are the queries that a node has in its expressions, or beside its children.
func inner(ctx *sql.Context, n sql.Node, f func(sql.Expression) bool) (queries []sql.Node) {
	if i, ok := n.(*plan.InsertInto); ok && i.Source != nil {
		queries = append(queries, i.Source)
	}
	x, ok := n.(sql.Expressioner)
	if !ok {
		return queries
	}
	for _, e := range x.Expressions() {
		if e == nil {
			continue
		}
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if q, ok := e.(*plan.Subquery); ok {
				queries = append(queries, q.Query)
			}
			return f(e)
		})
	}
	return queries
}

func asksForDefaults(ctx *sql.Context, n sql.Node) (found bool) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		queries := inner(ctx, n, func(e sql.Expression) bool {
			d, ok := e.(*builtin.ColumnDefault)
			found = found || ok && !d.Found
			return !found
		})
		for _, q := range queries {
			found = found || asksForDefaults(ctx, q)
		}
		return !found
	})
	return found
}

// columnSource is a column of a table, or a column of a derived table that is one of a table.
type columnSource struct {
	table  *Table // nil if it is not one of ours
	column int
	of     sql.ColumnId     // of a derived table: what it is there
	insert *plan.InsertInto // of the table that is inserted into
}

// insertedInto stands for the table that an INSERT inserts into.
const insertedInto = sql.ColumnId(math.MaxUint16)

func collectOrigins(ctx *sql.Context, n sql.Node, origins map[sql.ColumnId]columnSource) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		switch n := n.(type) {
		case *plan.ResolvedTable:
			t, _ := sql.GetUnderlyingTable(n.Table).(*Table)
			if t == nil {
				break
			}
			schema, at := n.Schema(ctx), 0
			n.Columns().ForEach(func(id sql.ColumnId) {
				if at < len(schema) {
					origins[id] = columnSource{table: t, column: t.ordinal(schema[at].Name)}
				}
				at++
			})
		case *plan.InsertInto: // in ON DUPLICATE KEY UPDATE its columns have other ids; they are asked for by name
			if to, err := plan.GetInsertable(n.Destination); err == nil {
				if t, ok := sql.GetUnderlyingTable(to).(*Table); ok {
					origins[insertedInto] = columnSource{table: t, insert: n}
				}
			}
		case *plan.SubqueryAlias:
			out, at := outputs(n.Child), 0
			n.Columns().ForEach(func(id sql.ColumnId) {
				if at < len(out) {
					origins[id] = columnSource{of: out[at]}
				}
				at++
			})
		}
		for _, q := range inner(ctx, n, func(sql.Expression) bool { return true }) {
			collectOrigins(ctx, q, origins)
		}
		return true
	})
}

// outputs are the columns that come out of a query, 0 for what is none.
func outputs(n sql.Node) []sql.ColumnId {
	for {
		switch x := n.(type) {
		case *plan.Project:
			out := make([]sql.ColumnId, len(x.Projections))
			for i, e := range x.Projections {
				if a, ok := e.(*expression.Alias); ok {
					e = a.Child
				}
				if f, ok := e.(*expression.GetField); ok {
					out[i] = f.Id()
				}
			}
			return out
		case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Filter, *plan.Having, *plan.Distinct:
			n = x.Children()[0]
		case plan.TableIdNode:
			var out []sql.ColumnId
			x.Columns().ForEach(func(id sql.ColumnId) { out = append(out, id) })
			return out
		default:
			return nil
		}
	}
}

func fillDefaults(ctx *sql.Context, n sql.Node, origins map[sql.ColumnId]columnSource) (sql.Node, error) {
	fill := func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *plan.Subquery:
			q, err := fillDefaults(ctx, e.Query, origins)
			return e.WithQuery(q), transform.NewTree, err
		case *builtin.ColumnDefault:
			d, err := filled(ctx, e, origins)
			return d, transform.NewTree, err
		}
		return e, transform.SameTree, nil
	}
	n, _, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if i, ok := n.(*plan.InsertInto); ok && i.Source != nil {
			source, err := fillDefaults(ctx, i.Source, origins)
			if err != nil {
				return nil, transform.SameTree, err
			}
			n = i.WithSource(source)
		}
		return transform.OneNodeExpressions(ctx, n, fill)
	})
	return n, err
}

// filled looks the value up.
func filled(ctx *sql.Context, d *builtin.ColumnDefault, origins map[sql.ColumnId]columnSource) (*builtin.ColumnDefault, error) {
	if d.Found {
		return d, nil
	}
	from := origins[d.Column.Id()]
	if to, ok := origins[insertedInto]; ok && from == (columnSource{}) {
		from = to.upserted(ctx, d.Column)
	}
	for depth := 0; from.table == nil && from.of != 0 && depth < maxDerived; depth++ {
		from = origins[from.of]
	}
	t := from.table
	if t == nil || from.column < 0 {
		return nil, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", d.Column.Name())
	}
	out := &builtin.ColumnDefault{Column: d.Column, Found: true}
	c := t.pk.Schema[from.column]
	if c.Default == nil {
		switch {
		case c.AutoIncrement:
			out.Value = &sql.ColumnDefaultValue{Expr: expression.NewLiteral(c.Type.Zero(), c.Type), OutType: c.Type, Literal: true}
		case !c.Nullable && c.Generated == nil:
			return nil, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", c.Name)
		}
		return out, nil
	}
	schema, _, err := t.resolved(ctx, nil)
	if err != nil {
		return nil, err
	}
	out.Value = schema[from.column].Default
	others := false
	sql.Inspect(ctx, out.Value.Expr, func(_ *sql.Context, e sql.Expression) bool {
		_, is := e.(*expression.GetField)
		others = others || is
		return !others
	})
	if others {
		return nil, sqlerr.New(sqlerr.DefaultAsValGenerated, "DEFAULT function cannot be used with default value expressions")
	}
	return out, nil
}

// upserted is a column that ON DUPLICATE KEY UPDATE names: of the table that is inserted into, of the given
// row, whose columns are those of the table and may have other names, or of the SELECT whose rows are
// inserted. The name alone says nothing: the table may have another column of that name, which a view hides.
func (to columnSource) upserted(ctx *sql.Context, c *expression.GetField) columnSource {
	name := c.Name()
	switch source := to.insert.Source.(type) {
	case *plan.Values:
		if source.AliasName == "" || !equalFold(c.Table(), source.AliasName) {
			break
		}
		for column, given := range source.ColumnNames {
			if equalFold(given, c.Name()) {
				name = column
			}
		}
	default:
		into, ok := to.insert.Destination.(sql.Nameable)
		if !ok || c.Table() == "" || equalFold(c.Table(), into.Name()) {
			break
		}
		out := outputs(source)
		for i, col := range source.Schema(ctx) {
			if i < len(out) && equalFold(col.Name, c.Name()) && equalFold(col.Source, c.Table()) {
				return columnSource{of: out[i]}
			}
		}
		return columnSource{}
	}
	return columnSource{table: to.table, column: to.table.ordinal(name)}
}

// maxDerived bounds how many derived tables and views lie between a column and its table.
const maxDerived = 100
