package syntax

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Tables are the names of tables and views in a query, with those in its subqueries. A bare name that a WITH
// gives somewhere in it is none.
func Tables(query ast.SQLNode) (names []ast.TableName) {
	with := map[string]bool{}
	_ = Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.With:
			if n != nil {
				for _, c := range n.Ctes {
					with[strings.ToLower(c.As.String())] = true
				}
			}
		case *ast.AliasedTableExpr:
			if name, ok := n.Expr.(ast.TableName); ok {
				names = append(names, name)
			}
		}
		return true, nil
	}, query)
	return slices.DeleteFunc(names, func(n ast.TableName) bool {
		return n.DbQualifier.IsEmpty() && with[strings.ToLower(n.Name.String())]
	})
}
