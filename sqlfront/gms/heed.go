package gms

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Planning a list of 100,000 values takes a second, a join of many tables more, and the library does not look
// at the context before it has done. So each of its rules, and each look at what a join would cost, begins
// with that: KILL QUERY, max_execution_time and a client that is gone end planning, too.

// HeedContext is for all rules that there are; it comes last in setup.
func HeedContext() {
	for _, rules := range [][]analyzer.Rule{
		analyzer.AlwaysBeforeDefault, analyzer.OnceBeforeDefault, analyzer.DefaultRules,
		analyzer.OnceAfterDefault, analyzer.DefaultValidationRules, analyzer.OnceAfterAll,
	} {
		for i := range rules {
			rules[i].Apply = heeding(rules[i].Apply)
		}
	}
}

func heeding(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if err := ctx.Err(); err != nil {
			return nil, transform.SameTree, err
		}
		return apply(ctx, a, n, scope, sel, flags)
	}
}

// HeedingRows ends when the statement is to end. Rows of JSON_TABLE, VALUES and information_schema are made
// of what is in memory: nothing below it looks at the context, and neither do the library's joins and groups
// above it.
type HeedingRows struct{ sql.RowIter }

// Next implements sql.RowIter.
func (h *HeedingRows) Next(ctx *sql.Context) (sql.Row, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return h.RowIter.Next(ctx)
}

// Heeding are rows that end when the statement is to end, if yes, and if there are rows.
func Heeding(rows sql.RowIter, yes bool) sql.RowIter {
	if rows == nil || !yes {
		return rows
	}
	return &HeedingRows{rows}
}

// OfInformation reports whether a table is information_schema's.
func OfInformation(n *plan.ResolvedTable) bool {
	return n.SqlDatabase != nil &&
		strings.EqualFold(n.SqlDatabase.Name(), sql.InformationSchemaDatabaseName)
}
