package gms

import (
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/expr"
)

// KeepOutputColumns mends the library's rule that takes columns that nothing names from tables. It looks for
// names in the nodes above a table, and forgets that what comes out of the root is wanted, too: SELECT * FROM
// (SELECT * FROM t) AS d LIMIT 1 has no Project left, so no column was.
func KeepOutputColumns() error {
	at := slices.IndexFunc(analyzer.DefaultRules, func(r analyzer.Rule) bool {
		return r.Id.String() == "pruneTables"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that prunes columns any more")
	}
	prune := analyzer.DefaultRules[at].Apply
	analyzer.DefaultRules[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		if outputsAll(n) {
			return n, transform.SameTree, nil
		}
		return prune(ctx, a, n, scope, sel, flags)
	}
	return nil
}

// writesOfReadOnly keeps statements of READ ONLY transactions from writing, before the library's rule for
// that: it asks each table whether it is temporary, and falls over those with foreign keys, which cannot say.
var writesOfReadOnly = analyzer.Rule{Id: analyzer.RuleId(-1009),
	Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		_ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if t := ctx.GetTransaction(); t == nil || !t.IsReadOnly() && !scope.EnforcesReadOnly() {
			return n, transform.SameTree, nil
		}
		written := n
		switch x := n.(type) {
		case *plan.InsertInto:
			written = x.Destination
		case *plan.Update, *plan.DeleteFrom:
		default:
			return n, transform.SameTree, nil
		}
		lasting := false
		transform.InspectWithOpaque(ctx, written, func(_ *sql.Context, n sql.Node) bool {
			if t, ok := n.(*plan.ResolvedTable); ok {
				temporary, ok := t.UnderlyingTable().(sql.TemporaryTable)
				lasting = lasting || !ok || !temporary.IsTemporary()
			}
			return !lasting
		})
		if lasting {
			return nil, transform.SameTree, sql.ErrReadOnlyTransaction.New()
		}
		return n, transform.SameTree, nil
	}}

// RefuseWritesOfReadOnly has the analyser ask writesOfReadOnly first.
func RefuseWritesOfReadOnly() error {
	analyzer.OnceBeforeDefault = append([]analyzer.Rule{writesOfReadOnly}, analyzer.OnceBeforeDefault...)
	analyzer.AlwaysBeforeDefault = append([]analyzer.Rule{writesOfReadOnly}, analyzer.AlwaysBeforeDefault...)
	return nil
}

// outputsAll reports whether the columns of what lies below come out of n as they are.
func outputsAll(n sql.Node) bool {
	for {
		switch x := n.(type) {
		case *plan.Limit, *plan.Offset, *plan.Sort, *plan.TopN, *plan.Filter, *plan.Having, *plan.Distinct,
			*plan.OrderedDistinct:
			n = x.Children()[0]
		case *plan.TableAlias, *plan.ResolvedTable, *plan.IndexedTableAccess, *plan.JoinNode:
			return true
		default:
			return false
		}
	}
}

// KeepEscapes mends the conditions of SHOW … LIKE, which the library writes itself, before it simplifies
// them: it takes an escape for a character, and the names of columns for names with case.
func KeepEscapes() error {
	at := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool {
		return r.Id.String() == "simplifyFilters"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that simplifies filters any more")
	}
	simplify := analyzer.OnceBeforeDefault[at].Apply
	analyzer.OnceBeforeDefault[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		if f, ok := n.(*plan.Filter); ok {
			if like, ok := f.Expression.(*expression.Like); ok {
				if _, columns := f.Child.(*plan.ShowColumns); columns {
					like, _ = expression.NewLike(expression.NewCollatedExpression(like.LeftChild,
						sql.Collation_utf8mb4_0900_ai_ci), like.RightChild, nil).(*expression.Like)
				}
				if heard := expr.Matched(like); heard != nil {
					return plan.NewFilter(ctx, heard, f.Child), transform.NewTree, nil
				}
				n = plan.NewFilter(ctx, like, f.Child)
			}
		}
		return simplify(ctx, a, n, scope, sel, flags)
	}
	return nil
}

// ReadLocksOfReadOnly lets LOCK TABLES … READ pass for tables that nobody can write to: dumps of all
// databases lock those of the system, too. The library's rule takes every LOCK TABLES for a write.
func ReadLocksOfReadOnly() error {
	at := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool {
		return r.Id.String() == "validateReadOnlyDatabase"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule for databases that are read only any more")
	}
	validate := analyzer.OnceBeforeDefault[at].Apply
	analyzer.OnceBeforeDefault[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		if l, ok := n.(*plan.LockTables); ok && !slices.ContainsFunc(l.Locks, func(t *plan.TableLock) bool {
			return t.Write
		}) {
			return n, transform.SameTree, nil
		}
		return validate(ctx, a, n, scope, sel, flags)
	}
	return nil
}
