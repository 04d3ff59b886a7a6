package engine

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// Two variables that graphical clients set to protect their users: sql_select_limit bounds the rows of a SELECT, sql_safe_updates refuses
// to change a table from end to end.

// limitingSelects is the library's rule for sql_select_limit, for statements that it is about. The rows of INSERT … SELECT, and what
// routines and triggers select, are not.
func limitingSelects(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		s := sessionOf(ctx)
		if s == nil || s.calls > 0 || flags.DmlIsSet() || flags.IsSet(sql.QFlagDDL) {
			return n, transform.SameTree, nil
		}
		if tx, ok := ctx.GetTransaction().(*Tx); ok && tx.live {
			return n, transform.SameTree, nil
		}
		v, err := s.GetSessionVariable(ctx, "sql_select_limit")
		if err != nil {
			return nil, transform.SameTree, err
		}
		if limit, ok := v.(uint64); ok && limit > math.MaxInt64 { // which is none, and more than the library can say
			return n, transform.SameTree, nil
		}
		return apply(ctx, a, n, scope, sel, flags)
	}
}

// mustBeSafe refuses an UPDATE or DELETE that finds its rows by no index and has no LIMIT, if sql_safe_updates says so.
func (e *Engine) mustBeSafe(ctx *sql.Context, n sql.Node) error {
	s := sessionOf(ctx)
	if s == nil || !s.ofClient {
		return nil
	}
	if v, err := s.GetSessionVariable(ctx, "sql_safe_updates"); err != nil || v != int8(1) {
		return err
	}
	safe := false
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.Limit, *plan.TopN, *plan.EmptyTable:
			safe = true
		case *plan.IndexedTableAccess:
			if !n.IsStatic() {
				safe = true
			} else if lookup, ok, err := n.GetLookup(ctx, nil); err == nil && ok {
				safe = safe || !unbound(lookup, 0)
			}
		case *plan.Filter:
			if p := e.path(ctx, withScalars(ctx, n)); p != nil && p.kind != "" {
				safe = true
			}
		}
		return !safe
	})
	if safe {
		return nil
	}
	return sqlerr.New(sqlerr.UpdateWithoutKey, "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.")
}
