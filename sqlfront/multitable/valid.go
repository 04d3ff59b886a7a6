package multitable

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Column is one of a stored table.
type Column struct {
	Name      string
	Generated bool
}

// Valid refuses what MySQL refuses in the tree of a statement on several tables, and what go-mysql-server
// would take for something else. columns are those of a stored table, nil for anything else.
func Valid(stmt ast.Statement, database string, columns func(ast.TableName) []Column) error {
	switch n := stmt.(type) {
	case *ast.Update:
		from := tables(n.TableExprs)
		if len(n.TableExprs) == 1 {
			if _, one := n.TableExprs[0].(*ast.AliasedTableExpr); one {
				return nil
			}
		}
		switch {
		case len(n.OrderBy) > 0:
			return wrongUsage("ORDER BY")
		case n.Limit != nil:
			return wrongUsage("LIMIT")
		}
		return assignable(n, from, columns)
	case *ast.Delete:
		from := tables(n.TableExprs)
		for _, t := range n.Targets {
			of := among(t, from, database)
			if of == nil {
				return sqlerr.New(sqlerr.UnknownTableIn, "Unknown table '%s' in MULTI DELETE",
					t.Name.String())
			}
			if _, named := of.Expr.(ast.TableName); !named {
				return sqlerr.New(sqlerr.NonUpdatableTable,
					"The target table %s of the DELETE is not updatable", t.Name.String())
			}
		}
	}
	return nil
}

func wrongUsage(clause string) error {
	return sqlerr.New(sqlerr.WrongUsage, "Incorrect usage of UPDATE and %s", clause)
}

// tables are the tables, views and derived tables of a FROM clause, in its order.
func tables(from ast.TableExprs) (all []*ast.AliasedTableExpr) {
	for _, t := range from {
		switch t := t.(type) {
		case *ast.AliasedTableExpr:
			all = append(all, t)
		case *ast.ParenTableExpr:
			all = append(all, tables(t.Exprs)...)
		case *ast.JoinTableExpr:
			all = append(all, tables(ast.TableExprs{t.LeftExpr, t.RightExpr})...)
		}
	}
	return all
}

// among is what DELETE's FROM has by a name, nil for nothing. A name with a database is none of an alias,
// even of one that is that name, and a bare name is that of a table of the current database.
func among(of ast.TableName, from []*ast.AliasedTableExpr, current string) *ast.AliasedTableExpr {
	for _, t := range from {
		table, named := t.Expr.(ast.TableName)
		switch {
		case !t.As.IsEmpty() || !named:
			if of.DbQualifier.IsEmpty() && strings.EqualFold(t.As.String(), of.Name.String()) {
				return t
			}
		case strings.EqualFold(table.Name.String(), of.Name.String()) &&
			strings.EqualFold(databaseIn(table, current), databaseIn(of, current)):
			return t
		}
	}
	return nil
}

func databaseIn(t ast.TableName, current string) string {
	if t.DbQualifier.IsEmpty() {
		return current
	}
	return t.DbQualifier.String()
}

// assignable refuses to assign to a generated column. go-mysql-server, which looks for it by its name alone
// in all tables of the join, would end the connection.
func assignable(n *ast.Update, from []*ast.AliasedTableExpr, columns func(ast.TableName) []Column) error {
	generated := make([]map[string]bool, len(from)) // of each table, by the name; nil for what is not stored
	for i, t := range from {
		if name, ok := t.Expr.(ast.TableName); ok {
			generated[i] = map[string]bool{}
			for _, c := range columns(name) {
				generated[i][strings.ToLower(c.Name)] = c.Generated
			}
		}
	}
	for _, a := range n.Exprs {
		if _, ok := a.Expr.(*ast.Default); ok {
			continue
		}
		first := true
		for i, t := range from {
			computed, has := generated[i][strings.ToLower(a.Name.Name.String())]
			if !has {
				continue
			}
			name := t.Expr.(ast.TableName)
			known := knownAs(t, name)
			switch meant := means(a.Name, t, name); {
			case computed && meant:
				return sqlerr.New(sqlerr.GeneratedColumnValue,
					"The value specified for generated column '%s' in table '%s' is not allowed.",
					a.Name.Name.String(), known)
			case computed && first:
				return sqlerr.Unsupported("UPDATE of '" + a.Name.Name.String() + "' beside table '" + known +
					"', which has a generated column of the same name")
			}
			first = false
		}
	}
	return nil
}

func knownAs(t *ast.AliasedTableExpr, name ast.TableName) string {
	if t.As.IsEmpty() {
		return name.Name.String()
	}
	return t.As.String()
}

// means says whether the column that is assigned to may be one of a table.
func means(c *ast.ColName, t *ast.AliasedTableExpr, name ast.TableName) bool {
	table := c.Qualifier.Name.String()
	if table != "" && !strings.EqualFold(table, knownAs(t, name)) {
		return false
	}
	db, own := c.Qualifier.DbQualifier.String(), name.DbQualifier.String()
	return db == "" || own == "" || strings.EqualFold(db, own)
}
