package engine

import (
	"bytes"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/expr"
	"moka/sqlfront/pushdown"
)

// From so many parts on, a condition is more than the library's search for an index should see: it compares each range with each other.
const (
	longChain = 100  // joined by OR; <> joined by AND; NOT IN (…)
	longList  = 1000 // IN (…)
)

// chains hides such conditions from the planner (expr.Chain). path finds what indexes have to say about them when the statement begins.
func chains(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		conjuncts := chain[*expression.And](f.Expression)
		out, changed := chainsOf(conjuncts)
		if !changed {
			return n, transform.SameTree, nil
		}
		return plan.NewFilter(ctx, expression.JoinAnd(out...), f.Child), transform.NewTree, nil
	})
}

func chainsOf(conjuncts []sql.Expression) (out []sql.Expression, changed bool) {
	apart := map[sql.ColumnId][]sql.Expression{} // the conjuncts that are column <> constant
	if len(conjuncts) >= longChain {
		for _, e := range conjuncts {
			if id, ok := columnApart(e); ok {
				apart[id] = append(apart[id], e)
			}
		}
	}
	for _, e := range conjuncts {
		if id, ok := columnApart(e); ok && len(apart[id]) >= longChain {
			if e == apart[id][0] {
				out, changed = append(out, expr.NewChain(false, apart[id])), true
			}
			continue
		}
		switch x := e.(type) {
		case *expression.Or:
			if parts := chain[*expression.Or](x); len(parts) >= longChain {
				e, changed = expr.NewChain(true, parts), true
			}
		case *expression.InTuple:
			if lengthOf(x) >= longList {
				e, changed = expr.NewChain(true, []sql.Expression{x}), true
			}
		case *expression.Not:
			if in, ok := x.Child.(*expression.InTuple); ok && lengthOf(in) >= longChain {
				e, changed = expr.NewChain(false, []sql.Expression{x}), true
			}
		}
		out = append(out, e)
	}
	return out, changed
}

// hasChain reports whether an index may find the rows of a condition by what was hidden.
func hasChain(filter sql.Expression) bool {
	return slices.ContainsFunc(chain[*expression.And](filter), func(e sql.Expression) bool {
		c, ok := e.(*expr.Chain)
		return ok && c.Or
	})
}

func lengthOf(in *expression.InTuple) int {
	list, _ := in.Right().(expression.Tuple)
	return len(list)
}

// columnApart is the column of a condition of the form column <> constant.
func columnApart(e sql.Expression) (sql.ColumnId, bool) {
	not, ok := e.(*expression.Not)
	if !ok {
		return 0, false
	}
	eq, ok := not.Child.(*expression.Equals)
	if !ok {
		return 0, false
	}
	f, ok := eq.Left().(*expression.GetField)
	if !ok || !isLiteral(eq.Right()) {
		return 0, false
	}
	return f.Id(), true
}

// inFolded makes one IN of the parts of an OR that ask one column for one value, or for one of several.
func inFolded(parts []*pushdown.Expr) []*pushdown.Expr {
	lists := map[int]*pushdown.Expr{}
	out := make([]*pushdown.Expr, 0, len(parts))
	for _, p := range parts {
		point := p.Op == pushdown.OpCompare && p.Relation == pushdown.Equal
		if !point && p.Op != pushdown.OpIn {
			out = append(out, p)
			continue
		}
		list := lists[p.Column]
		if list == nil {
			list = &pushdown.Expr{Op: pushdown.OpIn, Column: p.Column}
			lists[p.Column] = list
			out = append(out, list)
		}
		list.HasNull = list.HasNull || p.HasNull
		if point {
			list.Keys = append(list.Keys, p.Key)
		} else {
			list.Keys = append(list.Keys, p.Keys...)
		}
	}
	for _, list := range lists {
		slices.SortFunc(list.Keys, bytes.Compare)
		list.Keys = slices.CompactFunc(list.Keys, bytes.Equal)
	}
	return out
}
