package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// The library puts the expressions of VIRTUAL columns around a table, and asks what it has put there for checks and foreign keys, which has none:
// nothing would enforce them, and DROP CONSTRAINT would not find them. So the statements that need them are given them here.

// hiddenChecks are the checks of a table with VIRTUAL columns, to be evaluated over its rows; those of all other tables the library has found.
func (t *Table) hiddenChecks(ctx *sql.Context) (sql.CheckConstraints, error) {
	if !t.Schema(ctx).HasVirtualColumns() {
		return nil, nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	defs := append(now.checkDefinitions(), t.viewChecks...)
	if len(defs) == 0 {
		return nil, nil
	}
	_, checks, err := now.resolved(ctx, defs)
	for _, c := range checks {
		c.Expr = hiddenCheck{c.Expr}
	}
	return checks, err
}

// hiddenCheck is the condition of a check that the library did not find.
type hiddenCheck struct{ sql.Expression }

func given(checks sql.CheckConstraints) bool {
	for _, c := range checks {
		if _, ok := c.Expr.(hiddenCheck); ok {
			return true
		}
	}
	return false
}

// addedChecks are those that the library did not find for the table that a statement writes to; none if they
// were added.
func addedChecks(ctx *sql.Context, written sql.Node, has sql.CheckConstraints) (sql.CheckConstraints, error) {
	dest, err := plan.GetDeletable(written)
	if err != nil || given(has) {
		return nil, nil // the library words it
	}
	t := ownTable(dest)
	if t == nil {
		return nil, nil
	}
	return t.hiddenChecks(ctx)
}

// checkedInsert is an INSERT with such checks; nil if there are none, or if it has them.
func checkedInsert(ctx *sql.Context, n *plan.InsertInto) (sql.Node, error) {
	checks, err := addedChecks(ctx, n.Destination, n.Checks())
	if err != nil || len(checks) == 0 {
		return nil, err
	}
	return n.WithChecks(checks), nil
}

// checkedUpdate is an UPDATE of one table with such checks.
func checkedUpdate(ctx *sql.Context, n *plan.Update) (sql.Node, error) {
	checks, err := addedChecks(ctx, n.Child, n.Checks())
	if err != nil || len(checks) == 0 {
		return nil, err
	}
	return n.WithChecks(slices.Concat(n.Checks(), checks)), nil
}

// findingChecks shows such checks to the library's rules for ALTER TABLE.
func findingChecks(apply analyzer.RuleFunc) analyzer.RuleFunc {
	bare := func(t *plan.ResolvedTable) *plan.ResolvedTable {
		wrapped, ok := plan.FindVirtualColumnTable(t.Table)
		if !ok {
			return nil
		}
		again := *t
		again.Table = wrapped.Underlying()
		return &again
	}
	checks := func(ctx *sql.Context, n sql.Node, has sql.CheckConstraints) (sql.CheckConstraints, error) {
		t, ok := n.(*plan.ResolvedTable)
		if !ok || len(has) > 0 {
			return nil, nil
		}
		own := ownTable(t.Table)
		if own == nil {
			return nil, nil
		}
		return own.hiddenChecks(ctx)
	}
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if flags != nil && !flags.IsSet(sql.QFlagAlterTable) {
			return apply(ctx, a, n, scope, sel, flags)
		}
		dropped, unchecked := map[string]bool{}, map[string]bool{}
		transform.Inspect(n, func(n sql.Node) bool {
			switch d := n.(type) {
			case *plan.DropColumn:
				dropped[strings.ToLower(d.Column)] = true
			case *plan.DropCheck:
				unchecked[strings.ToLower(d.Name)] = true
			case *plan.DropConstraint:
				unchecked[strings.ToLower(d.Name)] = true
			}
			return true
		})
		shown, same, err := transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
			switch n := n.(type) {
			case *plan.DropConstraint:
				if t, ok := n.Child.(*plan.ResolvedTable); ok {
					if t = bare(t); t != nil {
						again := *n
						again.Child = t
						return &again, transform.NewTree, nil
					}
				}
			case *plan.ModifyColumn:
				if err := checkedUnder(ctx, n, unchecked); err != nil {
					return nil, transform.SameTree, err
				}
			case *plan.DropCheck:
				if t := bare(n.Table); t != nil {
					again := *n
					again.Table = t
					return &again, transform.NewTree, nil
				}
			case *plan.DropColumn:
				if err := computesOther(ctx, n, dropped); err != nil {
					return nil, transform.SameTree, err
				}
				if found, err := checks(ctx, n.Table, n.Checks()); err != nil || len(found) > 0 {
					return n.WithChecks(found), transform.NewTree, err
				}
			case *plan.RenameColumn:
				if again := renamesCase(ctx, n); again != nil {
					return again, transform.NewTree, nil
				}
				if found, err := checks(ctx, n.Table, n.Checks()); err != nil || len(found) > 0 {
					return n.WithChecks(found), transform.NewTree, err
				}
			}
			return n, transform.SameTree, nil
		})
		if err != nil {
			return nil, transform.SameTree, err
		}
		out, also, err := apply(ctx, a, shown, scope, sel, flags)
		return out, same && also, err
	}
}

// computesOther is the error of dropping a column that another one is computed of, unless that goes as well.
func computesOther(ctx *sql.Context, n *plan.DropColumn, dropped map[string]bool) error {
	table, ok := n.Table.(*plan.ResolvedTable)
	if !ok {
		return nil
	}
	t := ownTable(table.Table)
	if t == nil {
		return nil
	}
	computed, err := t.generated(ctx)
	for _, c := range computed {
		if col := t.pk.Schema[c.at]; col.HiddenSystem || dropped[strings.ToLower(col.Name)] {
			continue
		}
		sql.Inspect(ctx, c.expr, func(_ *sql.Context, e sql.Expression) bool {
			if f, ok := e.(*expression.GetField); ok && strings.EqualFold(f.Name(), n.Column) {
				err = sqlerr.New(sqlerr.GeneratedDependency, "Column '%s' has a generated column dependency.", n.Column)
			}
			return err == nil
		})
	}
	return err
}

// renamesCase is RENAME COLUMN a TO A as a change of the column's definition, which may do so; nil for any other name.
func renamesCase(ctx *sql.Context, n *plan.RenameColumn) sql.Node {
	t, ok := n.Table.(*plan.ResolvedTable)
	if !ok || !strings.EqualFold(n.ColumnName, n.NewColumnName) {
		return nil
	}
	schema := t.Schema(ctx)
	i := schema.IndexOfColName(n.ColumnName)
	if i < 0 {
		return nil
	}
	c := *schema[i]
	c.Name = n.NewColumnName
	m := plan.NewModifyColumnResolved(t, n.ColumnName, c, nil)
	with, err := m.WithTargetSchema(n.TargetSchema())
	if err != nil {
		return nil
	}
	return with
}

// checkedUnder refuses to give a column another name that a check knows it by, but for checks that the statement drops.
func checkedUnder(ctx *sql.Context, n *plan.ModifyColumn, dropped map[string]bool) error {
	t, ok := n.Table.(*plan.ResolvedTable)
	if !ok || strings.EqualFold(n.Column(), n.NewColumn().Name) {
		return nil
	}
	own := ownTable(t.Table)
	if own == nil {
		return nil
	}
	defs := slices.DeleteFunc(slices.Clone(own.checkDefinitions()), func(d sql.CheckDefinition) bool { return dropped[strings.ToLower(d.Name)] })
	if len(defs) == 0 {
		return nil
	}
	_, checks, err := own.resolved(ctx, defs)
	if err != nil {
		return err
	}
	return analyzer.ValidateColumnNotUsedInCheckConstraint(ctx, n.Column(), checks)
}
