package expr

import (
	"fmt"
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// splitWindows is for windows over groups, RANK() OVER (ORDER BY SUM(x)) … GROUP BY, which the library does
// not plan: the groups become a derived table, and the windows are over that. What it cannot take apart
// (subqueries, stars) it leaves to the library, which refuses it.
func splitWindows(s *ast.Select) {
	if !hasWindow(s.SelectExprs) && !hasWindow(s.OrderBy) {
		return
	}
	grouped := len(s.GroupBy) > 0
	plain := true
	look := func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery, *ast.StarExpr, *ast.ExistsExpr:
			plain = false
		case *ast.FuncExpr:
			grouped = grouped || n.IsAggregate() && n.Over == nil
			if len(n.Exprs) == 1 && n.IsAggregate() {
				if _, star := n.Exprs[0].(*ast.StarExpr); star { // COUNT(*)
					return false, nil
				}
			}
		case *ast.GroupConcatExpr:
			grouped = true
		}
		return true, nil
	}
	_ = syntax.Walk(look, s.SelectExprs, s.OrderBy)
	if !plain || !grouped || s.Into != nil || windowBelow(s) {
		return
	}
	aliases := map[string]ast.Expr{}
	for _, e := range s.SelectExprs {
		a := e.(*ast.AliasedExpr)
		switch column, isColumn := a.Expr.(*ast.ColName); {
		case !a.As.IsEmpty():
			aliases[a.As.Lowered()] = a.Expr
		case isColumn:
			a.As = column.Name
		case a.InputExpression != "":
			a.As = ast.NewColIdent(a.InputExpression)
		default:
			return
		}
	}
	// GROUP BY and HAVING go below, where there are no aliases any more.
	below := func(at *ast.Expr) {
		if c, ok := (*at).(*ast.ColName); ok && c.Qualifier.IsEmpty() {
			if e, ok := aliases[c.Name.Lowered()]; ok && !hasWindow(e) {
				if again, ok := cloned(e); ok {
					*at = again
				}
			}
		}
	}
	for i := range s.GroupBy {
		if v, ok := s.GroupBy[i].(*ast.SQLVal); ok && v.Type == ast.IntVal {
			if n, err := strconv.Atoi(string(v.Val)); err == nil && n >= 1 && n <= len(s.SelectExprs) {
				if again, ok := cloned(s.SelectExprs[n-1].(*ast.AliasedExpr).Expr); ok {
					s.GroupBy[i] = again
				}
			}
			continue
		}
		below(&s.GroupBy[i])
	}
	if s.Having != nil {
		Each(s.Having, func(at *ast.Expr, _ bool) { below(at) })
	}
	inner := &ast.Select{From: s.From, Where: s.Where, GroupBy: s.GroupBy, Having: s.Having, With: nil}
	groups := map[string]bool{}
	for _, g := range s.GroupBy {
		groups[ast.String(g)] = true
	}
	names := map[string]string{}
	take := func(at *ast.Expr) {
		text := ast.String(*at)
		name, ok := names[text]
		if !ok {
			name = fmt.Sprintf("moka group %d", len(names))
			names[text] = name
			inner.SelectExprs = append(inner.SelectExprs,
				&ast.AliasedExpr{Expr: *at, As: ast.NewColIdent(name)})
		}
		*at = ast.NewColName(name)
	}
	above := func(at *ast.Expr, order bool) {
		switch e := (*at).(type) {
		case *ast.FuncExpr:
			if e.IsAggregate() && e.Over == nil || groups[ast.String(e)] && !hasWindow(e) {
				take(at)
			}
		case *ast.GroupConcatExpr:
			take(at)
		case *ast.ColName:
			if _, variable := userVariable(e); variable {
				return
			}
			if _, alias := aliases[e.Name.Lowered()]; alias && order && e.Qualifier.IsEmpty() {
				return
			}
			if len(e.Name.String()) > 10 && e.Name.String()[:10] == "moka group" {
				return
			}
			take(at)
		case *ast.SQLVal:
		default:
			if groups[ast.String(e)] {
				take(at)
			}
		}
	}
	Each(s.SelectExprs, func(at *ast.Expr, _ bool) { above(at, false) })
	Each(s.OrderBy, func(at *ast.Expr, _ bool) { above(at, true) })
	for _, w := range s.Window {
		Each(w, func(at *ast.Expr, _ bool) { above(at, false) })
	}
	if len(inner.SelectExprs) == 0 {
		inner.SelectExprs = ast.SelectExprs{
			&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1")), As: ast.NewColIdent("moka group 0")}}
	}
	s.From = ast.TableExprs{&ast.AliasedTableExpr{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE},
		Expr: &ast.Subquery{Select: inner}, As: ast.NewTableIdent("moka groups")}}
	s.Where, s.GroupBy, s.Having = nil, nil, nil
}

// windowBelow reports whether the groups themselves are made of windows, AVG(SUM(x) OVER ()), which MySQL
// refuses, too. The derived table would have windows over groups again, and so on without end.
func windowBelow(s *ast.Select) (found bool) {
	if hasWindow(s.GroupBy) {
		return true
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			found = found || n.IsAggregate() && n.Over == nil && hasWindow(n.Exprs)
		case *ast.GroupConcatExpr:
			found = found || hasWindow(n)
		}
		return !found, nil
	}, s.SelectExprs, s.OrderBy)
	return found
}

func hasWindow(n ast.SQLNode) (found bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			found = found || n.Over != nil
		}
		return !found, nil
	}, n)
	return found
}

// cloned is another tree of the same expression.
func cloned(e ast.Expr) (ast.Expr, bool) {
	stmt, err := ast.Parse("select " + ast.String(e))
	if err != nil {
		return nil, false
	}
	s, ok := stmt.(*ast.Select)
	if !ok || len(s.SelectExprs) != 1 {
		return nil, false
	}
	a, ok := s.SelectExprs[0].(*ast.AliasedExpr)
	if !ok {
		return nil, false
	}
	return a.Expr, true
}

// nameSelected gives what a query of IN selects a name, if it is no column: where the library makes a join of
// it, it looks for a column.
func nameSelected(in *ast.ComparisonExpr) {
	q, ok := in.Right.(*ast.Subquery)
	if !ok || in.Operator != ast.InStr && in.Operator != ast.NotInStr {
		return
	}
	s, ok := q.Select.(*ast.Select)
	if !ok {
		return
	}
	for i, e := range s.SelectExprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok || !a.As.IsEmpty() {
			continue
		}
		if _, column := a.Expr.(*ast.ColName); !column {
			a.As = ast.NewColIdent(fmt.Sprintf("moka in %d", i))
		}
	}
}
