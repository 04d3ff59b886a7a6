package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/multitable"
	"moka/sqlfront/sqlerr"
)

// generatedValues is a client's INSERT or REPLACE with DEFAULT in place of the values that it gives to generated columns; nil for a statement
// that gives them none.
//
// MySQL takes nothing but DEFAULT there (3105), and so does this server in the strict modes: in each row, of which the library looks at the
// first only. mariadb-dump writes the values of generated columns all the same, asks the server nothing that could keep it from that, and has
// its dumps restored under sql_mode 'NO_AUTO_VALUE_ON_ZERO': without a strict mode MariaDB takes such a value for DEFAULT and warns. So do
// we, or no dump of such a table could be restored here. It holds for values that stand in the statement; 3105 stays for parameters,
// INSERT … SELECT, UPDATE and in bodies.
func (e *Engine) generatedValues(ctx *sql.Context, stmt ast.Statement) (ast.Statement, error) {
	n, ok := stmt.(*ast.Insert)
	if !ok {
		return nil, nil
	}
	rows, ok := n.Rows.(*ast.AliasedValues)
	if !ok {
		return nil, nil
	}
	generated := e.generatedAmong(ctx, n)
	if generated == nil {
		return nil, nil
	}
	table, lenient := n.Table.Name.String(), !strict(ctx)
	var out ast.Values
	for i, row := range rows.Values {
		var changed ast.ValTuple
		for at := range min(len(row), len(generated)) { // a row of another length is an error of the planner's
			name := generated[at]
			if _, ok := row[at].(*ast.Default); ok || name == "" {
				continue
			}
			v, ok := row[at].(*ast.SQLVal)
			if !lenient || ok && v.Type == ast.ValArg {
				return nil, sql.ErrGeneratedColumnValue.New(name, table)
			}
			if _, null := row[at].(*ast.NullVal); !null {
				sessionOf(ctx).warnEarly(sqlerr.GeneratedColumnIgnored,
					"The value specified for generated column '"+name+"' in table '"+table+"' has been ignored")
			}
			if changed == nil {
				changed = slices.Clone(row)
			}
			changed[at] = &ast.Default{}
		}
		if changed != nil {
			if out == nil {
				out = slices.Clone(rows.Values)
			}
			out[i] = changed
		}
	}
	if out == nil {
		return nil, nil
	}
	values, insert := *rows, *n
	values.Values, insert.Rows = out, &values
	return &insert, nil
}

// generatedAmong are the names of the generated columns at the places of the statement's values, with "" for the others; nil if there are none.
func (e *Engine) generatedAmong(ctx *sql.Context, n *ast.Insert) []string {
	columns := e.columnsInto(ctx, n.Table)
	if !slices.ContainsFunc(columns, func(c catalog.Column) bool { return c.Generated != "" && !c.HiddenSystem }) {
		return nil
	}
	var names []string
	if len(n.Columns) == 0 {
		for _, c := range columns {
			if c.HiddenSystem {
				continue
			}
			name := ""
			if c.Generated != "" {
				name = c.Name
			}
			names = append(names, name)
		}
		return names
	}
	for _, into := range n.Columns {
		name := ""
		for _, c := range columns {
			if c.Generated != "" && strings.EqualFold(c.Name, into.String()) {
				name = c.Name
			}
		}
		names = append(names, name)
	}
	return names
}

// columnsInto are the columns of a table as far as this process knows. Should that be behind by a moment, the statement fails as the library
// has it, and once.
func (e *Engine) columnsInto(ctx *sql.Context, table ast.TableName) []catalog.Column {
	db := table.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	if s := sessionOf(ctx); s.HasTemporary(db, table.Name.String()) {
		return e.storedColumns(ctx, db, table.Name.String())
	}
	snap := e.catalog.Latest()
	if snap == nil {
		return nil
	}
	d, ok := snap.Database(db)
	if !ok {
		return nil
	}
	t, ok := d.Table(table.Name.String())
	if !ok {
		return nil
	}
	return t.Columns
}

// generatedColumns shows the columns of tables that the user may see.
func (e *Engine) generatedColumns(ctx *sql.Context) func(ast.TableName) []multitable.Column {
	return func(t ast.TableName) (columns []multitable.Column) {
		db := cmp.Or(t.DbQualifier.String(), ctx.GetCurrentDatabase())
		if !e.maySee(ctx, db, t.Name.String()) {
			return nil
		}
		for _, c := range e.columnsInto(ctx, t) {
			columns = append(columns, multitable.Column{Name: c.Name, Generated: c.Generated != ""})
		}
		return columns
	}
}
