package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// createSelect runs CREATE TABLE … SELECT. The library's own inserts the rows of the query as they are: into a table that was there before, and into one
// with more columns than the query has.
func (b *execBuilder) createSelect(ctx *sql.Context, n *plan.TableCopier, row sql.Row) (sql.RowIter, error) {
	create, ok := n.Destination.(*plan.CreateTable)
	if !ok {
		return nil, nil
	}
	db := n.Database()
	if create.IfNotExists() {
		there, err := tableOrView(ctx, db, create.Name(), create.Temporary())
		if err != nil {
			return nil, err
		}
		if there {
			ctx.Session.Warn(&sql.Warning{Level: "Note", Code: sqlerr.TableExists, Message: fmt.Sprintf("Table '%s' already exists", create.Name())})
			return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), nil
		}
	}
	if _, err := b.base.Build(ctx, create, row); err != nil {
		return nil, err
	}
	table, ok, err := db.GetTableInsensitive(ctx, create.Name())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sqlerr.UnknownTable(db.Name(), create.Name())
	}
	source, drawn, err := selectedRows(ctx, create, table, n.Source)
	if err != nil {
		return nil, err
	}
	insert := plan.NewInsertInto(db, plan.NewResolvedTable(table, db, nil), source, false, nil, nil, false)
	if drawn {
		insert = insert.WithAutoIncrementIdx(0)
	}
	return b.base.Build(ctx, insert.WithChecks(create.Checks()), row)
}

// tableOrView reports whether there is a table or a view of a name, or a temporary table. The one does not keep the other from being made.
func tableOrView(ctx *sql.Context, db sql.Database, name string, temporary bool) (bool, error) {
	t, ok, err := db.GetTableInsensitive(ctx, name)
	if err != nil {
		return false, err
	}
	if own := ownTable(t); ok && own != nil {
		return own.temporary == temporary, nil
	}
	if ok || temporary {
		return ok && !temporary, nil
	}
	views, is := db.(sql.ViewDatabase)
	if !is {
		return false, nil
	}
	_, ok, err = views.GetViewDefinition(ctx, name)
	return ok, err
}

// selectedRows are the rows of a query as those of the table that was made for them: what the query has not is numbered, computed, or its default. drawn
// says that the table numbers them.
func selectedRows(ctx *sql.Context, create *plan.CreateTable, table sql.Table, source sql.Node) (rows sql.Node, drawn bool, err error) {
	place := map[string]int{}
	for i, c := range source.Schema(ctx) {
		place[strings.ToLower(c.Name)] = i
	}
	columns := create.PkSchema().Schema
	out := make([]sql.Expression, len(columns))
	for i, c := range columns {
		at, selected := place[strings.ToLower(c.Name)]
		switch {
		case selected:
			from := source.Schema(ctx)[at]
			out[i] = expression.NewGetField(at, from.Type, from.Name, from.Nullable)
		case c.Generated != nil || c.Default != nil:
			if out[i], err = defaultOf(ctx, c, columns); err != nil {
				return nil, false, err
			}
		case !c.Nullable && !c.AutoIncrement && sql.LoadSqlMode(ctx).Strict():
			return nil, false, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", c.Name)
		case !c.Nullable && !c.AutoIncrement:
			out[i] = expression.NewLiteral(c.Type.Zero(), c.Type)
		default:
			out[i] = expression.NewLiteral(nil, types.Null)
		}
		if c.AutoIncrement {
			if out[i], err = expression.NewAutoIncrement(ctx, table, out[i]); err != nil {
				return nil, false, err
			}
			drawn = drawn || !selected
		}
	}
	return plan.NewProject(ctx, out, source), drawn, nil
}

// defaultOf is what a column is where nothing is said of it, over rows of all columns.
func defaultOf(ctx *sql.Context, c *sql.Column, columns sql.Schema) (sql.Expression, error) {
	e := c.Generated
	if e == nil {
		e = c.Default
	}
	at, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		i := columns.IndexOfColName(f.Name())
		if i < 0 {
			return nil, transform.SameTree, sql.ErrTableColumnNotFound.New(c.Source, f.Name())
		}
		return f.WithIndex(i), transform.NewTree, nil
	})
	return at, err
}
