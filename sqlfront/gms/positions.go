package gms

import (
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// LookForPositions makes UPDATE and DELETE look for the positions of columns where they cannot be counted.
// The library counts on the columns of the only table having the ids 1, 2, 3, and makes positions of them.
// What WITH names is bound first, and has the first ids: WITH x AS (SELECT 1) DELETE FROM t WHERE a = 30
// compared the second column behind a, and UPDATE wrote columns that the statement does not name. Where the
// statement reads x the library knows that there is more than one table, and looks.
func LookForPositions() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool {
		return r.Id.String() == "assignExecIndexes"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that makes positions of ids any more")
	}
	assign := analyzer.OnceAfterAll[at].Apply
	analyzer.OnceAfterAll[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		switch s := n.(type) {
		case *plan.Update:
			if s.HasSingleRel && !countsFromOne(ctx, s.Child) {
				looks := *s
				looks.HasSingleRel = false
				n = &looks
			}
		case *plan.DeleteFrom:
			if s.RefsSingleRel && !countsFromOne(ctx, s.Child) {
				looks := *s
				looks.RefsSingleRel = false
				n = &looks
			}
		}
		return assign(ctx, a, n, scope, sel, flags)
	}
	return nil
}

// countsFromOne reports whether the columns of the tables that are read have the ids 1, 2, 3.
func countsFromOne(ctx *sql.Context, n sql.Node) bool {
	counts := true
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if t, ok := n.(plan.TableIdNode); ok && !t.Columns().Contains(1) {
			counts = false
		}
		return counts
	})
	return counts
}
