package gms

import (
	"errors"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/sqlerr"
)

// AnswerReturning mends RETURNING, which the library evaluates for a row that a plain INSERT has inserted and
// for no other: REPLACE answered the whole row that was there and the whole new one, INSERT … ON DUPLICATE
// KEY UPDATE as many columns of the row that was there as RETURNING has expressions, whatever these were. It
// becomes a Project over the rows as they are stored now.
//
//	InsertInto (RETURNING a, b + 1)    ──▶    Project (a, b + 1) ── Inserted ── InsertInto
//
// It is also the place where subqueries of an INSERT of nothing but values are planned, in RETURNING and in
// ON DUPLICATE KEY UPDATE: the library leaves out the rules for them there, and failed at the first row.
func AnswerReturning() error {
	byName := func(rules []analyzer.Rule, name string) *analyzer.Rule {
		i := slices.IndexFunc(rules, func(r analyzer.Rule) bool { return r.Id.String() == name })
		if i < 0 {
			return nil
		}
		return &rules[i]
	}
	resolve := byName(analyzer.DefaultRules, "resolveSubqueries")
	finalize := byName(analyzer.OnceAfterDefault, "finalizeSubqueries")
	if resolve == nil || finalize == nil {
		return errors.New("gms: the library has no rules for subqueries any more")
	}
	inner := func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope,
		sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		insert, ok := n.(*plan.InsertInto)
		if !ok || !insert.LiteralValueSource || !hasSubquery(ctx, insert.Expressions()...) {
			return n, transform.SameTree, nil
		}
		n, _, err := resolve.Apply(ctx, a, n, scope, sel, flags)
		if err != nil {
			return nil, transform.SameTree, err
		}
		return finalize.Apply(ctx, a, n, scope, sel, flags)
	}
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault,
		analyzer.Rule{Id: analyzer.RuleId(-1013), Apply: inner})
	analyzer.OnceAfterAll = append(analyzer.OnceAfterAll, analyzer.Rule{Id: analyzer.RuleId(-1014),
		Apply: func(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope,
			_ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
			return answered(ctx, n)
		}})
	return nil
}

// answered is a statement with RETURNING as a Project.
func answered(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	insert, bare, err := withoutReturning(ctx, n)
	if insert == nil || err != nil {
		return n, transform.SameTree, err
	}
	rows := &Inserted{UnaryNode: plan.UnaryNode{Child: bare}, schema: insert.Destination.Schema(ctx)}
	return plan.NewProject(ctx, insert.Returning, rows), transform.NewTree, nil
}

// withoutReturning is an INSERT, or the triggers that fire after one, without its RETURNING; insert is nil if
// it is none, or has none.
func withoutReturning(ctx *sql.Context, n sql.Node) (insert *plan.InsertInto, bare sql.Node, err error) {
	switch n := n.(type) {
	case *plan.TriggerExecutor:
		if insert, bare, err = withoutReturning(ctx, n.Left()); insert == nil || err != nil {
			return nil, nil, err
		}
		bare, err = n.WithChildren(ctx, bare, n.Right())
		return insert, bare, err
	case *plan.InsertInto:
		if len(n.Returning) == 0 {
			return nil, nil, nil
		}
		without := *n
		without.Returning = nil
		without.HasAfterTrigger = true // somebody above wants each row as it is stored
		return n, &without, nil
	}
	return nil, nil, nil
}

// Inserted are the rows of an INSERT or REPLACE as they are stored, one for each that it was given: the one
// that was inserted, or what ON DUPLICATE KEY UPDATE has made of the one that was there.
type Inserted struct {
	plan.UnaryNode
	schema sql.Schema
}

var (
	_ sql.Node               = (*Inserted)(nil)
	_ sql.CollationCoercible = (*Inserted)(nil)
)

// Schema implements sql.Node.
func (n *Inserted) Schema(*sql.Context) sql.Schema { return n.schema }

// IsReadOnly implements sql.Node.
func (n *Inserted) IsReadOnly() bool { return false }

// String implements sql.Node.
func (n *Inserted) String() string { return n.Child.String() }

// CollationCoercibility implements sql.CollationCoercible.
func (n *Inserted) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// WithChildren implements sql.Node.
func (n *Inserted) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &Inserted{plan.UnaryNode{Child: children[0]}, n.schema}, nil
}

// Rows are what comes out of the statement below. mark is called before its first row, and what it returns
// when the rows are not taken to their end: RETURNING fails where the statement below has not, and takes all
// of it back.
func (n *Inserted) Rows(below sql.RowIter, mark func(*sql.Context) (undo func(), err error)) sql.RowIter {
	return &insertedRows{RowIter: below, width: len(n.schema), mark: mark}
}

type insertedRows struct {
	sql.RowIter
	width int
	mark  func(*sql.Context) (func(), error)
	undo  func()
}

// Next implements sql.RowIter.
func (it *insertedRows) Next(ctx *sql.Context) (_ sql.Row, err error) {
	if it.mark != nil {
		if it.undo, err = it.mark(ctx); err != nil {
			return nil, err
		}
		it.mark = nil
	}
	for {
		row, err := it.RowIter.Next(ctx)
		if _, left := err.(sql.IgnorableError); left { // out, by IGNORE
			if err := ctx.Err(); err != nil {
				return nil, sqlerr.From(err)
			}
			continue
		}
		if err == io.EOF {
			it.undo = nil
		}
		if err != nil {
			return nil, err
		}
		if len(row) >= it.width {
			return row[len(row)-it.width:], nil // behind the one that was there
		}
	}
}

// Close implements sql.RowIter.
func (it *insertedRows) Close(ctx *sql.Context) error {
	err := it.RowIter.Close(ctx)
	if it.undo != nil {
		it.undo()
	}
	return err
}
