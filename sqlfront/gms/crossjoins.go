package gms

import (
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// ReplaceCrossJoins takes the place of the library's rule that makes inner joins of cross joins below a
// condition. That one takes each condition which has a comparison of both sides somewhere in it, although
// it may be of a third table, too, and although an outer join may lie between.
func ReplaceCrossJoins() error {
	at := slices.IndexFunc(analyzer.DefaultRules, func(r analyzer.Rule) bool {
		return r.Id.String() == "replaceCrossJoins"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that replaces cross joins any more")
	}
	analyzer.DefaultRules[at].Apply = func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope,
		_ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if !n.Resolved() {
			return n, transform.SameTree, nil
		}
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			f, ok := n.(*plan.Filter)
			if !ok {
				return n, transform.SameTree, nil
			}
			conds := expression.SplitConjunction(ctx, f.Expression)
			child, left := joinBy(ctx, f.Child, conds)
			switch {
			case len(left) == len(conds):
				return n, transform.SameTree, nil
			case len(left) == 0:
				return child, transform.NewTree, nil
			}
			return plan.NewFilter(ctx, expression.JoinAnd(left...), child), transform.NewTree, nil
		})
	}
	return nil
}

// LeaveOuterConditions takes the library's rule away that brings conditions of outer columns alone out of
// subqueries: out of the inner side of an outer join, of one part of a UNION, from below an aggregate, and
// NULL for false where a column is only NULL for want of a row to join with.
func LeaveOuterConditions() error {
	at := slices.IndexFunc(analyzer.DefaultRules, func(r analyzer.Rule) bool {
		return r.Id.String() == "hoistOutOfScopeFilters"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that brings conditions out of subqueries any more")
	}
	analyzer.DefaultRules = slices.Delete(analyzer.DefaultRules, at, at+1)
	return nil
}

// joinBy makes inner joins of the cross joins in n that have conditions of both of their sides and of nothing
// else, and returns the conditions that are left. It looks no further than a condition of all rows means
// the same.
func joinBy(ctx *sql.Context, n sql.Node, conds []sql.Expression) (sql.Node, []sql.Expression) {
	j, ok := n.(*plan.JoinNode)
	if !ok || len(conds) == 0 {
		return n, conds
	}
	left, right := j.Left(), j.Right()
	switch {
	case j.Op.IsLateral():
		return n, conds
	case j.Op.IsInner(), j.Op.IsCross():
		left, conds = joinBy(ctx, left, conds)
		right, conds = joinBy(ctx, right, conds)
	case j.Op.IsLeftOuter():
		left, conds = joinBy(ctx, left, conds)
	default:
		return n, conds
	}
	var own, rest []sql.Expression
	if j.Op.IsCross() {
		of, with := columnsBelow(ctx, left), columnsBelow(ctx, right)
		for _, c := range conds {
			if joins(ctx, c, of, with) {
				own = append(own, c)
			} else {
				rest = append(rest, c)
			}
		}
		conds = rest
	}
	switch {
	case len(own) > 0:
		return plan.NewInnerJoin(ctx, left, right, expression.JoinAnd(own...)).WithComment(j.Comment()), conds
	case left != j.Left() || right != j.Right():
		return plan.NewJoin(ctx, left, right, j.Op, j.Filter).WithComment(j.Comment()), conds
	}
	return n, conds
}

// joins reports whether a condition compares columns of one side with those of the other, and is of no
// others.
func joins(ctx *sql.Context, cond sql.Expression, left, right sql.ColSet) bool {
	var all sql.ColSet
	comparing := false
	sql.Inspect(ctx, cond, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			all.Add(e.Id())
		case *plan.Subquery:
			all = all.Union(e.Correlated())
		case expression.Comparer:
			comparing = true
		}
		return true
	})
	return comparing && all.Intersects(left) && all.Intersects(right) && all.SubsetOf(left.Union(right)) &&
		!volatile(ctx, cond)
}

// columnsBelow are the columns of the tables that n joins.
func columnsBelow(ctx *sql.Context, n sql.Node) sql.ColSet {
	var columns sql.ColSet
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		t, ok := n.(plan.TableIdNode)
		if ok {
			columns = columns.Union(t.Columns())
		}
		return !ok
	})
	return columns
}

// FoldingEmpty makes an empty table of joins with one. The planner of joins wants to know columns of all that
// it joins, and an empty table, which is what a condition that is never true leaves, has forgotten its own.
var FoldingEmpty = analyzer.Rule{Id: analyzer.RuleId(-1012),
	Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector,
		_ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			empty := false
			switch n := n.(type) {
			case *plan.JoinNode:
				left, right := plan.IsEmptyTable(n.Left()), plan.IsEmptyTable(n.Right())
				switch {
				case n.Op.IsInner(), n.Op.IsCross(), n.Op.IsSemi():
					empty = left || right
				case n.Op.IsLeftOuter():
					empty = left
				case n.Op.IsAnti():
					if right && !left {
						return n.Left(), transform.NewTree, nil
					}
					empty = left
				}
			case *plan.Filter:
				empty = plan.IsEmptyTable(n.Child)
			}
			if !empty {
				return n, transform.SameTree, nil
			}
			return plan.NewEmptyTableWithSchema(n.Schema(ctx)), transform.NewTree, nil
		})
	}}

// Joins says whether there is a join in a tree.
func Joins(n sql.Node) bool {
	found := false
	transform.Inspect(n, func(n sql.Node) bool {
		_, ok := n.(*plan.JoinNode)
		found = found || ok
		return !found
	})
	return found
}
