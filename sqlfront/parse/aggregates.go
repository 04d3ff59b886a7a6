package parse

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// noMisusedAggregate refuses aggregates where there are no groups yet: in WHERE, ON and GROUP BY of a
// query, in what INSERT, UPDATE and DELETE do with a row. In those of a subquery an aggregate may be one of
// the query around it.
func noMisusedAggregate(stmt ast.Statement) error {
	if len(aggregates(ungrouped(stmt)...)) > 0 {
		return sqlerr.New(sqlerr.InvalidGroupFunction, "Invalid use of group function")
	}
	if i, ok := stmt.(*ast.Insert); ok {
		if name := windowOf(i.Returning, ast.AssignmentExprs(i.OnDup)); name != "" {
			return sqlerr.New(sqlerr.WindowInvalidUse, "You cannot use the window function '%s' in this "+
				"context.'",
				name)
		}
	}
	return outerAggregates(stmt, nil)
}

// windowOf is a window function in the nodes, but not in their subqueries; empty if there is none.
func windowOf(nodes ...ast.SQLNode) (name string) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch f := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			if f.Over != nil {
				name = f.Name.Lowered()
			}
		}
		return name == "", nil
	}, nodes...)
	return name
}

// outerAggregates refuses those aggregates of a query around a subquery that the engine does not find there:
// it would make a group of the subquery's own rows. It finds what the outer query has in its select list or
// HAVING, too, if it is of a column: known are these.
func outerAggregates(query ast.SQLNode, known []string) error {
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Select:
			known = append(known[:len(known):len(known)], aggregates(n.SelectExprs, whereOf(n.Having))...)
		case *ast.Subquery:
			for _, a := range aggregates(ungrouped(n.Select)...) {
				if !slices.Contains(known, a) || !strings.Contains(a, "`") {
					return false, sqlerr.Unsupported("an aggregate of the query around a subquery in its " +
						"WHERE, ON or GROUP BY that is not selected by that query")
				}
			}
			return false, outerAggregates(n.Select, known)
		}
		return true, nil
	}, query)
}

// ungrouped is what a statement computes before it has groups.
func ungrouped(stmt ast.SQLNode) []ast.SQLNode {
	switch s := stmt.(type) {
	case *ast.Select:
		nodes := []ast.SQLNode{whereOf(s.Where)}
		for _, g := range s.GroupBy {
			nodes = append(nodes, g)
		}
		for _, f := range s.From {
			nodes = append(nodes, joinConditions(f)...)
		}
		return nodes
	case *ast.ParenSelect:
		return ungrouped(s.Select)
	case *ast.SetOp:
		return append(ungrouped(s.Left), ungrouped(s.Right)...)
	case *ast.Explain:
		return ungrouped(s.Statement)
	case *ast.Update:
		return []ast.SQLNode{whereOf(s.Where), ast.AssignmentExprs(s.Exprs)}
	case *ast.Delete:
		return []ast.SQLNode{whereOf(s.Where)}
	case *ast.Insert:
		return []ast.SQLNode{s.Returning, ast.AssignmentExprs(s.OnDup)}
	case *ast.Set: // and DO: the library does not survive an aggregate of an aggregate there
		return []ast.SQLNode{s.Exprs}
	}
	return nil
}

func whereOf(w *ast.Where) ast.SQLNode {
	if w == nil || w.Expr == nil {
		return nil
	}
	return w.Expr
}

func joinConditions(t ast.TableExpr) []ast.SQLNode {
	switch t := t.(type) {
	case *ast.JoinTableExpr:
		found := append(joinConditions(t.LeftExpr), joinConditions(t.RightExpr)...)
		if t.Condition.On != nil {
			found = append(found, t.Condition.On)
		}
		return found
	case *ast.ParenTableExpr:
		var found []ast.SQLNode
		for _, e := range t.Exprs {
			found = append(found, joinConditions(e)...)
		}
		return found
	}
	return nil
}

// aggregates are those in the nodes, but not in their subqueries, as texts: columns in backquotes and without
// their tables.
func aggregates(nodes ...ast.SQLNode) []string {
	var found []string
	add := func(n ast.SQLNode) {
		buf := ast.NewTrackedBuffer(func(buf *ast.TrackedBuffer, n ast.SQLNode) {
			if c, ok := n.(*ast.ColName); ok {
				buf.WriteString("`" + c.Name.Lowered() + "`")
				return
			}
			n.Format(buf)
		})
		buf.Myprintf("%v", n)
		found = append(found, strings.ToLower(buf.String()))
	}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
			switch f := n.(type) {
			case *ast.Subquery:
				return false, nil
			case *ast.GroupConcatExpr:
				add(f)
				return false, nil
			case *ast.FuncExpr:
				if f.IsAggregate() && f.Over == nil {
					add(f)
					return false, nil
				}
			}
			return true, nil
		}, n)
	}
	return found
}
