package gms

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/collate"
	"moka/sqlfront/parse"
)

// SelectedColumns mends what the library makes of the columns of CREATE TABLE … SELECT. Those are nullable
// whose values may be NULL: it takes MAX of a NOT NULL column for one that is never NULL, and forgets outer
// joins, so that such a table got zeros where the query had NULLs. Integers that are written in the query are
// INT or BIGINT: it has the smallest type for each, and one without a sign for 200. A column that the
// statement declares stays as declared.
func SelectedColumns(ctx *sql.Context, n *plan.TableCopier) {
	into, ok := n.Destination.(*plan.CreateTable)
	if !ok {
		return
	}
	declared := declaredColumns(ctx, ctx.Query())
	exprs := selectedExpressions(n.Source)
	outer, derived := absences(ctx, n.Source)
	for i, c := range n.Source.Schema(ctx) {
		at := into.TargetSchema().IndexOfColName(c.Name)
		if at < 0 || declared[strings.ToLower(c.Name)] {
			continue
		}
		if i < len(exprs) {
			if t := writtenInteger(ctx, exprs[i]); t != nil {
				into.TargetSchema()[at].Type = t
			}
		}
		if into.TargetSchema()[at].PrimaryKey {
			continue
		}
		if outer || derived[strings.ToLower(c.Source)] ||
			i < len(exprs) && mayBeAbsent(ctx, exprs[i], derived) {
			into.TargetSchema()[at].Nullable = true
		}
	}
}

// writtenInteger is the type of a column of the integer that an expression is, by its digits; nil if it is
// none.
func writtenInteger(ctx *sql.Context, e sql.Expression) sql.Type {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	l, ok := e.(*expression.Literal)
	switch {
	case !ok || l.Value() == nil || !types.IsInteger(l.Type(ctx)):
		return nil
	case l.Type(ctx) == types.Uint64:
		return types.Uint64
	case len(l.String()) < 10:
		return types.Int32
	}
	return types.Int64
}

// declaredColumns are the columns in the list of a CREATE TABLE.
func declaredColumns(ctx *sql.Context, query string) map[string]bool {
	stmt, err := parse.Grammar(ctx, query, ast.ParserOptions{})
	ddl, ok := stmt.(*ast.DDL)
	if err != nil || !ok || ddl.TableSpec == nil {
		return nil
	}
	names := map[string]bool{}
	for _, c := range ddl.TableSpec.Columns {
		names[c.Name.Lowered()] = true
	}
	return names
}

// selectedExpressions are what a query selects; nil if it is not known.
func selectedExpressions(n sql.Node) []sql.Expression {
	switch n := n.(type) {
	case *plan.Project:
		return n.Projections
	case *plan.GroupBy:
		return n.SelectDeps
	case *plan.Window:
		return n.SelectExprs
	case *plan.Sort, *plan.Limit, *plan.Offset, *plan.TopN, *plan.Distinct, *plan.Having:
		return selectedExpressions(n.Children()[0])
	}
	return nil
}

// absences reports whether a query has an outer join, and the names of its derived tables that have one or
// group.
func absences(ctx *sql.Context, n sql.Node) (outer bool, derived map[string]bool) {
	derived = map[string]bool{}
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.SetOp:
			outer = true
		case *plan.JoinNode:
			outer = outer || n.Op.IsLeftOuter() || n.Op.IsRightOuter() || n.Op.IsFullOuter()
		case *plan.SubqueryAlias:
			grouped := false
			transform.InspectWithOpaque(ctx, n.Child, func(_ *sql.Context, n sql.Node) bool {
				switch n := n.(type) {
				case *plan.GroupBy, *plan.Window, *plan.SetOp, *plan.RecursiveCte:
					grouped = true
				case *plan.JoinNode:
					grouped = grouped || !n.Op.IsInner() && !n.Op.IsCross()
				}
				return !grouped
			})
			derived[strings.ToLower(n.Name())] = grouped
			return false
		}
		return true
	})
	return outer, derived
}

// mayBeAbsent reports whether an expression is NULL where there are no rows.
func mayBeAbsent(ctx *sql.Context, e sql.Expression, derived map[string]bool) (absent bool) {
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e := collate.Library(e).(type) {
		case *aggregation.Count, *aggregation.CountDistinct:
			return false
		case *expression.GetField:
			// What a GROUP BY or a window below computes has no table.
			name := strings.ToLower(e.Name())
			absent = absent || derived[strings.ToLower(e.Table())] ||
				e.Table() == "" && !strings.HasPrefix(name, "count(")
		case sql.Aggregation, *plan.Subquery:
			absent = true
		}
		return !absent
	})
	return absent
}
