package gms

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// KeepComputed keeps conditions on computed columns of derived tables above these columns. The library's two
// rules that bring conditions down put the expression of a column in the place of its name, which is wrong
// for RAND() and its like, that were asked once more for the condition than for the row (WHERE r < 0.5 had
// rows with r of 0.9), and for what has no column in it: SELECT … FROM (SELECT 1 AS p, q FROM v) x WHERE
// q <> p was an unknown column p.
func KeepComputed() error {
	wrapped := 0
	for _, rules := range [][]analyzer.Rule{
		analyzer.DefaultRules, analyzer.OnceBeforeDefault, analyzer.OnceAfterDefault,
	} {
		for i, r := range rules {
			switch r.Id.String() {
			case "pushdownSubqueryAliasFilters", "pushFilters":
				rules[i].Apply = hidingComputed(r.Apply)
				wrapped++
			}
		}
	}
	if wrapped != 2 {
		return errors.New("gms: the library has no longer two rules that bring conditions down")
	}
	return nil
}

func hidingComputed(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		with := hide
		if grows(ctx, n) {
			with = hideComputed
		}
		hidden, shown, err := eachAlias(ctx, n, with)
		if err != nil {
			return nil, transform.SameTree, err
		}
		out, same, err := apply(ctx, a, hidden, scope, sel, flags)
		if err != nil || bool(shown) {
			return out, same, err
		}
		if same {
			return n, same, nil
		}
		out, _, err = eachAlias(ctx, out, unhide)
		return out, same, err
	}
}

// eachAlias gives each column that a Project names to f.
func eachAlias(ctx *sql.Context, n sql.Node, f func(*sql.Context, sql.Expression) sql.Expression) (sql.Node,
	transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
		transform.TreeIdentity, error) {
		p, ok := n.(*plan.Project)
		if !ok {
			return n, transform.SameTree, nil
		}
		var out []sql.Expression
		for i, e := range p.Projections {
			if to := f(ctx, e); to != nil {
				if out == nil {
					out = append(out, p.Projections...)
				}
				out[i] = to
			}
		}
		if out == nil {
			return n, transform.SameTree, nil
		}
		n, err := p.WithExpressions(ctx, out...)
		return n, transform.NewTree, err
	})
}

// hiddenAlias is an alias that the library does not look through.
type hiddenAlias struct{ *expression.Alias }

// WithChildren implements sql.Expression.
func (h *hiddenAlias) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := h.Alias.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &hiddenAlias{e.(*expression.Alias)}, nil
}

func hide(ctx *sql.Context, e sql.Expression) sql.Expression {
	a, ok := e.(*expression.Alias)
	if !ok {
		return nil
	}
	if dependsOnRows(ctx, a.Child) && !volatile(ctx, a.Child) {
		return nil
	}
	return &hiddenAlias{a}
}

// hideComputed hides all but other names of columns.
func hideComputed(_ *sql.Context, e sql.Expression) sql.Expression {
	a, ok := e.(*expression.Alias)
	if !ok {
		return nil
	}
	if _, column := a.Child.(*expression.GetField); column {
		return nil
	}
	return &hiddenAlias{a}
}

func unhide(_ *sql.Context, e sql.Expression) sql.Expression {
	if h, ok := e.(*hiddenAlias); ok {
		return h.Alias
	}
	return nil
}

// volatile reports whether e may have another value each time it is asked for the same row.
func volatile(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		if v, ok := e.(sql.NonDeterministicExpression); ok && v.IsNonDeterministic() {
			return true
		}
		f, ok := e.(sql.FunctionExpression)
		return ok && strings.HasPrefix(strings.ToLower(f.FunctionName()), "uuid")
	})
}
