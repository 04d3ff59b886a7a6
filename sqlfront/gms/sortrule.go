package gms

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// FirstSorts keeps the library from taking a Sort away over joins of several tables whose rows do not come in
// that order: it lets an index sort a table of the inner join, and forgets that this one is not read first
// there (ORDER BY s.nick FROM books JOIN (… JOIN s)).
func FirstSorts(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		sorts := sortsOverJoins(n)
		sorted, same, err := apply(ctx, a, n, scope, sel, flags)
		if err != nil || same || len(sorts) == 0 || len(sortsOverJoins(sorted)) == len(sorts) {
			return sorted, same, err
		}
		first := map[string]bool{}
		transform.Inspect(sorted, func(n sql.Node) bool {
			j, ok := n.(*plan.JoinNode)
			if ok {
				first[strings.ToLower(firstOf(j))] = true
			}
			return !ok // those within come later
		})
		for _, s := range sorts {
			f, ok := s.SortConditions[0].Expr.(*expression.GetField)
			if !ok || !first[strings.ToLower(f.Table())] {
				return n, transform.SameTree, nil
			}
		}
		return sorted, same, nil
	}
}

// sortsOverJoins lists the Sorts that have a join within a join below.
func sortsOverJoins(n sql.Node) (sorts []*plan.Sort) {
	transform.Inspect(n, func(n sql.Node) bool {
		s, ok := n.(*plan.Sort)
		if !ok || len(s.SortConditions) == 0 {
			return true
		}
		joins := 0
		transform.Inspect(s.Child, func(n sql.Node) bool {
			if _, ok := n.(*plan.JoinNode); ok {
				joins++
			}
			_, within := n.(*plan.SubqueryAlias)
			return !within
		})
		if joins > 1 {
			sorts = append(sorts, s)
		}
		return true
	})
	return sorts
}

// firstOf names the table whose rows come first in a join.
func firstOf(n sql.Node) string {
	for {
		switch at := n.(type) {
		case *plan.JoinNode:
			n = at.Left()
		case *plan.TableAlias:
			return at.Name()
		case *plan.SubqueryAlias:
			return at.Name()
		case sql.Nameable:
			return at.Name()
		default:
			children := n.Children()
			if len(children) == 0 {
				return ""
			}
			n = children[0]
		}
	}
}
