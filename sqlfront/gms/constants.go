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

// MendConstants has the constants in conditions mended before the library evaluates them. It does so in its
// own way, before any rule of ours has seen them: WHERE DATE'1970-01-01' was false, and WHERE UNHEX('3132') =
// 12, too, whatever the select list said of the same.
func MendConstants(mend func(*sql.Context, sql.Expression) (sql.Expression, error)) error {
	at := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool {
		return r.Id.String() == "simplifyFilters"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that simplifies conditions any more")
	}
	simplify := analyzer.OnceBeforeDefault[at].Apply
	m := constants{mend}
	analyzer.OnceBeforeDefault[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		n, same, err := m.conditions(ctx, n)
		if err != nil {
			return nil, transform.SameTree, err
		}
		out, alike, err := simplify(ctx, a, n, scope, sel, flags)
		return out, same && alike, err
	}
	return nil
}

type constants struct {
	mend func(*sql.Context, sql.Expression) (sql.Expression, error)
}

// conditions mends the constants in the conditions that the library's rule looks at.
func (m constants) conditions(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if !n.Resolved() {
		return n, transform.SameTree, nil
	}
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
		transform.TreeIdentity, error) {
		var condition sql.Expression
		switch n := n.(type) {
		case *plan.Filter:
			condition = n.Expression
		case *plan.JoinNode:
			condition = n.Filter
		}
		if condition == nil {
			return n, transform.SameTree, nil
		}
		out, constant, changed, err := m.within(ctx, condition)
		if err == nil && constant {
			out, changed, err = m.mended(ctx, out)
		}
		if err != nil {
			return nil, transform.SameTree, err
		}
		truth, ok := asTruth(ctx, out)
		if !ok && !changed {
			return n, transform.SameTree, nil
		}
		n, err = n.(sql.Expressioner).WithExpressions(ctx, truth)
		return n, transform.NewTree, err
	})
}

// within mends the largest constants in an expression that is none itself.
func (m constants) within(ctx *sql.Context, e sql.Expression) (_ sql.Expression, constant, changed bool,
	err error) {
	switch e := e.(type) {
	case *expression.Literal:
		return e, true, false, nil
	case *expression.GetField, *expression.BindVar, *expression.UserVar, *expression.ProcedureParam,
		sql.Aggregation, sql.ExpressionWithNodes:
		return e, false, false, nil
	case sql.NonDeterministicExpression:
		if e.IsNonDeterministic() {
			return e, false, false, nil
		}
	}
	operands := slices.Clone(e.Children())
	steady := make([]bool, len(operands))
	constant = true
	for i, o := range operands {
		if o == nil {
			continue
		}
		var again bool
		if operands[i], steady[i], again, err = m.within(ctx, o); err != nil {
			return nil, false, false, err
		}
		constant, changed = constant && steady[i], changed || again
	}
	if constant {
		return e, true, false, nil
	}
	for i, o := range operands {
		if !steady[i] {
			continue
		}
		var again bool
		if operands[i], again, err = m.mended(ctx, o); err != nil {
			return nil, false, false, err
		}
		changed = changed || again
	}
	if changed {
		if e, err = e.WithChildren(ctx, operands...); err != nil {
			return nil, false, false, err
		}
	}
	truths, err := Truths(ctx, e)
	if truths == nil || err != nil {
		return e, false, changed, err
	}
	return truths, false, true, nil
}

// mended is a constant; a literal has nothing to mend.
func (m constants) mended(ctx *sql.Context, e sql.Expression) (_ sql.Expression, changed bool, err error) {
	if _, literal := e.(*expression.Literal); literal {
		return e, false, nil
	}
	e, err = m.mend(ctx, e)
	return e, true, err
}
