package gms

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// LookUpOuter reads a table of a subquery by an index where a condition directly above the table compares a
// column with one of the outer query: (SELECT MAX(b) FROM t WHERE t.a = o.a). It takes the place of the
// library's rule, which remembers such a condition by the name of the table and reads every table of that
// name so, in other branches and below views, too; it also goes by the last condition of the subquery alone.
// The condition stays, so what the index finds too much does no harm. Of the library's rule only the error
// of two tables of one name is heard.
func LookUpOuter(library analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if _, _, err := library(ctx, a, n, scope, sel, flags); err != nil {
			return nil, transform.SameTree, err
		}
		if scope.IsEmpty() || scope.Correlated().Empty() {
			return n, transform.SameTree, nil
		}
		return lookUpOuter(ctx, n, scope.Correlated())
	}
}

func lookUpOuter(ctx *sql.Context, n sql.Node, outer sql.ColSet) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node,
		transform.TreeIdentity, error) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		child := f.Child
		alias, aliased := child.(*plan.TableAlias)
		if aliased {
			child = alias.Child
		}
		table, ok := child.(*plan.ResolvedTable)
		if !ok {
			return n, transform.SameTree, nil
		}
		columns := table.Columns()
		if aliased {
			columns = alias.Columns()
		}
		keys := outerKeys(ctx, f.Expression, columns, outer)
		if len(keys) == 0 {
			return n, transform.SameTree, nil
		}
		access, err := outerAccess(ctx, table, keys)
		if access == nil || err != nil {
			return n, transform.SameTree, err
		}
		child = access
		if aliased {
			if child, err = alias.WithChildren(ctx, access); err != nil {
				return nil, transform.SameTree, err
			}
		}
		return plan.NewFilter(ctx, f.Expression, child), transform.NewTree, nil
	})
}

// outerKeys are the values of outer columns that a condition says columns of the table to be equal to, by the
// columns' names.
func outerKeys(ctx *sql.Context, cond sql.Expression, columns, outer sql.ColSet) map[string]sql.Expression {
	keys := make(map[string]sql.Expression)
	for _, c := range expression.SplitConjunction(ctx, cond) {
		eq, ok := c.(*expression.Equals)
		if !ok {
			continue
		}
		for i, o := range eq.Children() {
			column, ok := o.(*expression.GetField)
			other := eq.Children()[1-i]
			if ok && columns.Contains(column.Id()) && isOuter(ctx, other, outer) {
				keys[strings.ToLower(column.Name())] = other
			}
		}
	}
	return keys
}

// isOuter reports whether e has columns, and all of them are those of the outer query.
func isOuter(ctx *sql.Context, e sql.Expression, outer sql.ColSet) bool {
	found, only := false, true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			found, only = true, only && outer.Contains(e.Id())
		case *plan.Subquery:
			only = false
		}
		return only
	})
	return found && only
}

// outerAccess reads the table by that index of which the keys give the most columns, by a unique one among
// equals; it is nil if there is none.
func outerAccess(ctx *sql.Context, table *plan.ResolvedTable, keys map[string]sql.Expression) (sql.Node,
	error) {
	indexed, ok := table.UnderlyingTable().(sql.IndexAddressableTable)
	if !ok {
		return nil, nil
	}
	indexes, err := indexed.GetIndexes(ctx)
	if err != nil {
		return nil, err
	}
	var best sql.Index
	var by []sql.Expression
	for _, index := range indexes {
		if index.IsFullText() || index.IsSpatial() || index.IsVector() {
			continue
		}
		found := prefix(index, keys)
		n := len(found)
		if n > len(by) || n > 0 && n == len(by) && rank(index, n) > rank(best, n) {
			best, by = index, found
		}
	}
	if best == nil {
		return nil, nil
	}
	access, err := plan.NewIndexedAccessForTableNode(ctx, table,
		plan.NewLookupBuilder(ctx, best, by, make([]bool, len(by))))
	if plan.ErrInvalidLookupForIndexedTable.Is(err) {
		return nil, nil // the index cannot be asked so
	}
	return access, err
}

// rank is higher for the index that finds fewer rows by so many columns.
func rank(index sql.Index, columns int) int {
	switch {
	case len(index.Expressions()) != columns || !index.IsUnique():
		return 0
	case index.ID() != "PRIMARY":
		return 1
	}
	return 2
}

// prefix is what the keys give for the first columns of an index.
func prefix(index sql.Index, keys map[string]sql.Expression) []sql.Expression {
	var found []sql.Expression
	for _, e := range index.Expressions() {
		key, ok := keys[strings.ToLower(e[strings.LastIndexByte(e, '.')+1:])]
		if !ok {
			break
		}
		found = append(found, key)
	}
	return found
}
