package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/expr"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
)

// Statements may count their rows: SELECT @n := @n + 1, t.* FROM t, (SELECT @n := 0) v. MySQL reads such a derived table once, before
// everything else if it has no tables of its own; the library would read it for each row, or not before the first. So the derived
// tables that assign are read when the statement begins, and their rows put in their place.

// AssignsVariables implements expr.AssigningSession.
func (s *Session) AssignsVariables() { s.assigns = true }

// assigned remembers what a variable was before the statement.
type assigned struct {
	value any
	typ   sql.Type
}

// remember is called before a variable is set while a statement runs that may be run again.
func (s *Session) remember(ctx *sql.Context, name string) error {
	if _, known := s.before[name]; known || !s.assigns {
		return nil
	}
	typ, value, err := s.BaseSession.GetUserVariable(ctx, name)
	if err != nil {
		return err
	}
	if s.before == nil {
		s.before = map[string]assigned{}
	}
	s.before[name] = assigned{value, typ}
	return nil
}

// forgetAssigned ends a statement; restore says that it is run again.
func (s *Session) forgetAssigned(restore bool) {
	if restore {
		ctx := sql.NewContext(s.eng.bg, sql.WithSession(s))
		for name, v := range s.before {
			_ = s.keepVariable(ctx, name, v.value)
			_ = s.BaseSession.SetUserVariable(ctx, name, v.value, v.typ) // writes to a map
		}
	}
	s.assigns, s.before = false, nil
}

// settleDerived reads the derived tables that assign.
func (b *execBuilder) settleDerived(ctx *sql.Context, root sql.Node) (sql.Node, error) {
	for _, tables := range []bool{false, true} {
		var err error
		if root, err = b.settleIn(ctx, root, tables); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// settleIn does so with those that read tables, or those that do not.
func (b *execBuilder) settleIn(ctx *sql.Context, root sql.Node, tables bool) (sql.Node, error) {
	settled, _, err := transform.Node(ctx, root, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.InsertInto: // whose source is not among its children
			if n.Source == nil {
				return n, transform.SameTree, nil
			}
			source, err := b.settleIn(ctx, n.Source, tables)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return n.WithSource(source), transform.NewTree, nil
		case *plan.Offset: // what is left out is not evaluated
			if p, ok := n.Child.(*plan.Project); ok && slices.ContainsFunc(p.Projections, func(e sql.Expression) bool { return isAssigning(ctx, e) }) {
				below, err := n.WithChildren(ctx, p.Child)
				if err != nil {
					return nil, transform.SameTree, err
				}
				above, err := p.WithChildren(ctx, below)
				return above, transform.NewTree, err
			}
		case *plan.SubqueryAlias:
			if _, done := n.Child.(*heldRows); done || n.IsLateral || n.OuterScopeVisibility || !n.Correlated.Empty() || !assigns(ctx, n.Child) || readsTables(ctx, n.Child) != tables {
				return n, transform.SameTree, nil
			}
			held, err := b.hold(ctx, n.Child)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return n.WithChild(held), transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
	return settled, err
}

func assigns(ctx *sql.Context, n sql.Node) (found bool) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if x, ok := n.(sql.Expressioner); ok {
			found = found || slices.ContainsFunc(x.Expressions(), func(e sql.Expression) bool { return isAssigning(ctx, e) })
		}
		return !found
	})
	return found
}

func isAssigning(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		_, ok := e.(*expr.Assignment)
		return ok
	})
}

func readsTables(ctx *sql.Context, n sql.Node) (found bool) {
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if t, ok := n.(*plan.ResolvedTable); ok && !plan.IsDualTable(t.Table) {
			found = true
		}
		return !found
	})
	return found
}

// computeOnce is for SELECT RAND() AS r … ORDER BY r: the library computes such a column for the sort and once more for the result. What is
// the same each time may be; what is not is taken from below the sort.
func computeOnce(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		p, ok := n.(*plan.Project)
		if !ok {
			return n, transform.SameTree, nil
		}
		below := p.Child
		for {
			switch b := below.(type) {
			case *plan.Sort:
				below = b.Child
				continue
			case *plan.Having:
				below = b.Child
				continue
			}
			break
		}
		inner, ok := below.(*plan.Project)
		if !ok || below == p.Child {
			return n, transform.SameTree, nil
		}
		var out []sql.Expression
		for i, e := range p.Projections {
			a, ok := e.(*expression.Alias)
			if !ok || !changes(ctx, a.Child) || !slices.ContainsFunc(inner.Projections, func(e sql.Expression) bool {
				b, ok := e.(*expression.Alias)
				return ok && b.Id() == a.Id() && b.Name() == a.Name()
			}) {
				continue
			}
			if out == nil {
				out = slices.Clone(p.Projections)
			}
			out[i] = expression.NewGetField(int(a.Id()), a.Type(ctx), a.Name(), a.IsNullable(ctx))
		}
		if out == nil {
			return n, transform.SameTree, nil
		}
		again, err := p.WithExpressions(ctx, out...)
		return again, transform.NewTree, err
	})
}

// changes reports whether an expression has another value each time.
func changes(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		n, ok := e.(sql.NonDeterministicExpression)
		return ok && n.IsNonDeterministic()
	})
}

// hold reads all rows of a derived table.
func (b *execBuilder) hold(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	n, err := b.settleDerived(ctx, n) // what it selects from itself
	if err != nil {
		return nil, err
	}
	charge := b.eng.memory.Charge(ctx, "subquery", sqlerr.CapacityExceeded) // until the statement ends
	it, err := b.base.Build(ctx, operator.Keep(n, charge), nil)
	if err != nil {
		return nil, err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	return &heldRows{schema: n.Schema(ctx), rows: rows}, nil
}

// heldRows are rows that were read when the statement began.
type heldRows struct {
	schema sql.Schema
	rows   []sql.Row
}

var _ sql.ExecSourceRel = (*heldRows)(nil)

func (h *heldRows) Resolved() bool                 { return true }
func (h *heldRows) Children() []sql.Node           { return nil }
func (h *heldRows) String() string                 { return "rows" }
func (h *heldRows) Schema(*sql.Context) sql.Schema { return h.schema }
func (h *heldRows) IsReadOnly() bool               { return true }

// WithChildren implements sql.Node.
func (h *heldRows) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(h, len(ch), 0)
	}
	return h, nil
}

// RowIter implements sql.ExecSourceRel.
func (h *heldRows) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(h.rows...), nil
}
