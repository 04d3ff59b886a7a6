package parse

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// noMisusedAggregate refuses aggregates where there are no groups yet: in WHERE, ON and GROUP BY of a
// query, in UPDATE and DELETE. Those of subqueries are left alone, since an aggregate there may be one
// of the query around it.
func noMisusedAggregate(stmt ast.Statement) error {
	switch s := stmt.(type) {
	case *ast.Select:
		return misusedIn(s)
	case *ast.ParenSelect:
		return noMisusedAggregate(s.Select)
	case *ast.SetOp:
		if err := noMisusedAggregate(s.Left); err != nil {
			return err
		}
		return noMisusedAggregate(s.Right)
	case *ast.Explain:
		return noMisusedAggregate(s.Statement)
	case *ast.Update:
		return firstAggregate(whereOf(s.Where), ast.AssignmentExprs(s.Exprs))
	case *ast.Delete:
		return firstAggregate(whereOf(s.Where))
	}
	return nil
}

func misusedIn(s *ast.Select) error {
	nodes := []ast.SQLNode{whereOf(s.Where)}
	for _, g := range s.GroupBy {
		nodes = append(nodes, g)
	}
	for _, f := range s.From {
		nodes = append(nodes, joinConditions(f)...)
	}
	return firstAggregate(nodes...)
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

func firstAggregate(nodes ...ast.SQLNode) error {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		err := syntax.Walk(func(n ast.SQLNode) (bool, error) {
			switch f := n.(type) {
			case *ast.Subquery:
				return false, nil
			case *ast.GroupConcatExpr:
				return false, invalidGroupFunction()
			case *ast.FuncExpr:
				if f.IsAggregate() && f.Over == nil {
					return false, invalidGroupFunction()
				}
			}
			return true, nil
		}, n)
		if err != nil {
			return err
		}
	}
	return nil
}

func invalidGroupFunction() error {
	return sqlerr.New(sqlerr.InvalidGroupFunction, "Invalid use of group function")
}
