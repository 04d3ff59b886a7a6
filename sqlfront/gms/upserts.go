package gms

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// PlaceUpserts mends subqueries in ON DUPLICATE KEY UPDATE. They are evaluated in front of the row that is
// there and the row that was given, and the library places their columns as if nothing was before these: for
// its own first column a subquery read the first one of the row that was there, whatever that was.
func PlaceUpserts() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool {
		return r.Id.String() == "assignExecIndexes"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that places columns any more")
	}
	assign := analyzer.OnceAfterAll[at].Apply
	analyzer.OnceAfterAll[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		n, same, err := assign(ctx, a, n, scope, sel, flags)
		if err != nil {
			return nil, transform.SameTree, err
		}
		n, unchanged, err := transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
			transform.TreeIdentity, error) {
			insert, ok := n.(*plan.InsertInto)
			if !ok || !insert.OnDupExprs.HasUpdates() {
				return n, transform.SameTree, nil
			}
			return placedUpsert(ctx, insert, func(p *plan.Project) (sql.Node, error) {
				out, _, err := assign(ctx, a, p, nil, sel, flags)
				return out, err
			})
		})
		return n, same && unchanged, err
	}
	return nil
}

// placedUpsert has the values with subqueries placed as columns of a query over both rows.
func placedUpsert(ctx *sql.Context, n *plan.InsertInto, assign func(*plan.Project) (sql.Node, error)) (
	sql.Node, transform.TreeIdentity, error) {
	all := slices.Clone(n.OnDupExprs.AllExpressions())
	var at []int
	var values []sql.Expression
	for i, e := range all {
		if set, ok := e.(*expression.SetField); ok && hasSubquery(ctx, set.RightChild) {
			at, values = append(at, i), append(values, set.RightChild)
		}
	}
	again := *n
	if len(at) == 0 {
		// The library has placed RETURNING behind them in the same array, and whoever asks for all
		// expressions of the statement appends the conditions of its checks there: these were answered.
		again.OnDupExprs, _ = n.OnDupExprs.WithExpressions(slices.Clip(all))
		return &again, transform.NewTree, nil
	}
	out, err := assign(plan.NewProject(ctx, values, plan.NewEmptyTableWithSchema(bothRows(ctx, n))))
	if err != nil {
		return nil, transform.SameTree, err
	}
	p, ok := out.(*plan.Project)
	if !ok || len(p.Projections) != len(at) {
		return nil, transform.SameTree, errors.New("gms: the library has made something else of a Project")
	}
	for i, e := range p.Projections {
		all[at[i]] = expression.NewSetField(all[at[i]].(*expression.SetField).LeftChild, e)
	}
	again.OnDupExprs, err = n.OnDupExprs.WithExpressions(slices.Clip(all))
	return &again, transform.NewTree, err
}

// bothRows are the columns of the row that is there and of the one that was given, as the library names them
// for the values that are assigned.
func bothRows(ctx *sql.Context, n *plan.InsertInto) sql.Schema {
	there := n.Destination.Schema(ctx)
	both := slices.Clone(there)
	source := n.Source.Schema(ctx)
	values, given := n.Source.(*plan.Values)
	for i, c := range there {
		row := c.Copy()
		at := slices.IndexFunc(n.ColumnNames, func(name string) bool {
			return strings.EqualFold(name, c.Name)
		})
		switch {
		case given:
			if row.Source = values.AliasName; values.ColumnNames != nil {
				row.Name = values.ColumnNames[c.Name]
			}
		case at >= 0 && at < len(source):
			row = source[at]
		case len(source) != len(there):
			row.Source = planbuilder.OnDupValuesPrefix
		default:
			row = source[i]
		}
		both = append(both, row)
	}
	return both
}

func hasSubquery(ctx *sql.Context, in ...sql.Expression) (found bool) {
	for _, e := range in {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			_, is := e.(*plan.Subquery)
			found = found || is
			return !found
		})
	}
	return found
}
