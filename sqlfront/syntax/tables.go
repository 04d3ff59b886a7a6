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

// Written are the names of the tables that the statements within a tree change, as they are written there. Of
// a statement with several tables they are those that it assigns to or deletes from, and all of them if it
// does not say whose columns it assigns to.
func Written(of ast.SQLNode) (names []ast.TableName) {
	_ = Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Insert:
			names = append(names, n.Table)
		case *ast.Update:
			var targets []ast.TableName
			for _, e := range n.Exprs {
				if e.Name.Qualifier.Name.IsEmpty() {
					targets = nil
					break
				}
				targets = append(targets, e.Name.Qualifier)
			}
			names = append(names, among(n.TableExprs, targets)...)
		case *ast.Delete:
			names = append(names, among(n.TableExprs, n.Targets)...)
		}
		return true, nil
	}, of)
	return names
}

// among are the tables of a join that targets name, by themselves or by their aliases; all of them where
// there are no targets.
func among(from ast.TableExprs, targets []ast.TableName) (names []ast.TableName) {
	_ = Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case ast.JoinCondition:
			return false, nil
		case *ast.AliasedTableExpr:
			name, ok := n.Expr.(ast.TableName)
			known := n.As.String()
			if known == "" {
				known = name.Name.String()
			}
			if ok && (len(targets) == 0 || slices.ContainsFunc(targets, func(t ast.TableName) bool {
				return strings.EqualFold(t.Name.String(), known)
			})) {
				names = append(names, name)
			}
			return false, nil
		}
		return true, nil
	}, from)
	return names
}
