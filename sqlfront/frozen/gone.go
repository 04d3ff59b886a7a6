package frozen

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// Gone reports whether a select list in a query names a column that its table has not any more. columns are
// those of a stored table, nil for another: what is in a view says that view.
func Gone(query ast.SelectStatement, columns func(ast.TableName) []string) (gone bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		s, ok := n.(*ast.Select)
		if !ok {
			return !gone, nil
		}
		tables := map[string]ast.TableName{}
		for _, t := range s.From {
			tablesOf(t, tables)
		}
		for _, e := range s.SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok {
				continue
			}
			c, ok := a.Expr.(*ast.ColName)
			if !ok {
				continue
			}
			if t, ok := tables[strings.ToLower(c.Qualifier.Name.String())]; ok {
				of := columns(t)
				gone = gone || of != nil && !slices.ContainsFunc(of, func(name string) bool {
					return strings.EqualFold(name, c.Name.String())
				})
			}
		}
		return !gone, nil
	}, query)
	return gone
}

// tablesOf are the tables of a FROM clause, by what the query calls them.
func tablesOf(t ast.TableExpr, all map[string]ast.TableName) {
	switch t := t.(type) {
	case *ast.JoinTableExpr:
		tablesOf(t.LeftExpr, all)
		tablesOf(t.RightExpr, all)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			tablesOf(e, all)
		}
	case *ast.AliasedTableExpr:
		if name, ok := t.Expr.(ast.TableName); ok {
			known := t.As
			if known.IsEmpty() {
				known = name.Name
			}
			all[strings.ToLower(known.String())] = name
		}
	}
}
