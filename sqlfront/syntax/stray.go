package syntax

import ast "github.com/dolthub/vitess/go/vt/sqlparser"

// Stray returns the first DEFAULT, without a column, that is in no place of its own, and INTERVAL that is a
// value by itself: "DEFAULT" or "INTERVAL", empty for none. MySQL's grammar has neither (1064); the library's
// lets them stand anywhere, and its executor panics when it comes to one. So it does at the type of a value
// of JSON_VALUE, its third argument, that is no text.
//
// DEFAULT has its place as all that is assigned, and as all of a value in INSERT … VALUES.
func Stray(stmt ast.Statement) string {
	var found string
	placed := map[*ast.Default]bool{}
	assigned := func(e ast.Expr) {
		if d, ok := e.(*ast.Default); ok {
			placed[d] = true
		} else if isInterval(e) {
			found = "INTERVAL"
		}
	}
	_ = Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Insert:
			insertedValues(n, assigned)
		case *ast.AssignmentExpr:
			assigned(n.Expr)
		case *ast.SetVarExpr:
			assigned(n.Expr)
		case *ast.Select:
			for _, e := range n.SelectExprs {
				if a, ok := e.(*ast.AliasedExpr); ok && isInterval(a.Expr) {
					found = "INTERVAL"
				}
			}
		case *ast.FuncExpr:
			if len(n.Exprs) == 3 && n.Name.EqualString("json_value") && !isText(n.Exprs[2]) {
				found = "JSON_VALUE"
			}
		case *ast.Default:
			if n.ColName == "" && !placed[n] {
				found = "DEFAULT"
			}
		}
		return found == "", nil
	}, append(Bodies(stmt), stmt)...)
	return found
}

func isInterval(e ast.Expr) bool {
	_, ok := e.(*ast.IntervalExpr)
	return ok
}

func isText(e ast.SelectExpr) bool {
	a, ok := e.(*ast.AliasedExpr)
	if !ok {
		return false
	}
	v, ok := a.Expr.(*ast.SQLVal)
	return ok && v.Type == ast.StrVal
}

// insertedValues calls f for each value of INSERT … VALUES.
func insertedValues(s *ast.Insert, f func(ast.Expr)) {
	rows, ok := s.Rows.(*ast.AliasedValues)
	if !ok {
		return
	}
	for _, tuple := range rows.Values {
		for _, e := range tuple {
			f(e)
		}
	}
}

// Bodies are what a CREATE statement stores, which a walk from its top does not reach.
func Bodies(stmt ast.Statement) []ast.SQLNode {
	d, ok := stmt.(*ast.DDL)
	if !ok {
		return nil
	}
	var all []ast.SQLNode
	if d.ProcedureSpec != nil {
		all = append(all, d.ProcedureSpec.Body)
	}
	if d.TriggerSpec != nil {
		all = append(all, d.TriggerSpec.Body)
	}
	if d.EventSpec != nil {
		all = append(all, d.EventSpec.Body)
	}
	if d.ViewSpec != nil {
		all = append(all, d.ViewSpec.ViewExpr)
	}
	if d.OptSelect != nil {
		all = append(all, d.OptSelect.Select)
	}
	return all
}
