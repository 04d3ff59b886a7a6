package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
)

// Statements of bodies of triggers and observers for which there is no plan of the plan cache are the library's. What it does before
// it runs one, binding and analysing, is done once: the planner sees unknown values in the places of NEW.c, OLD.c and variables
// (routine.Held), and what it would have done with the values is done when the statement begins (routine.PushOuterKeys, bodykeys.go). What
// comes of it is never run itself: nodes keep state, so each run has a copy.

// heldPlan is the plan of a statement that does not depend on values of variables; nil if there is none.
func (e *Engine) heldPlan(ctx *sql.Context, stmt ast.Statement) (sql.Node, error) {
	slots := &routine.Slots{}
	s := sessionOf(ctx)
	assigns := s.assigns
	s.assigns = false
	n, err := e.analysed(slots.With(ctx), stmt)
	slots.Fixed = slots.Fixed || s.assigns // derived tables that assign are read while the statement is built
	s.assigns = s.assigns || assigns
	if err != nil || slots.Fixed {
		return nil, err
	}
	return routine.PushOuterKeys(ctx, n)
}

// analysed binds a statement of a body with the rights that count there (inBody), and analyses it: what it names it may use then, and what else
// the planner looks at is its own affair.
func (e *Engine) analysed(ctx *sql.Context, stmt ast.Statement) (n sql.Node, err error) {
	a := e.sql.Analyzer
	if stmt, err = e.belowView(ctx, stmt, true); err != nil {
		return nil, err
	}
	s := sessionOf(ctx)
	s.needs = nil
	bound, flags, err := planbuilder.New(ctx, a.Catalog, nil).BindOnly(stmt, "", nil)
	if err != nil {
		return nil, err
	}
	if len(s.needs) > 0 {
		if err := s.mayColumns(ctx, bound); err != nil {
			return nil, err
		}
	}
	err = rights.As(ctx, e.accounts(), func() error {
		n, err = a.Analyze(ctx, bound, nil, flags)
		return err
	})
	return n, err
}

// permitted refuses a trigger with a statement that its creator may not run. What is not there yet nobody is asked about.
func (b *Body) permitted(ctx *sql.Context) error {
	s := sessionOf(ctx)
	slots := &routine.Slots{}
	return s.inBody(ctx, b, func() error {
		for _, stmt := range b.routine.Statements() {
			stmt, err := b.eng.belowView(ctx, stmt, true)
			if rights.Refused(err) {
				return err
			}
			if err != nil {
				continue
			}
			builder := planbuilder.New(slots.With(ctx), b.eng.sql.Analyzer.Catalog, nil)
			if _, _, err := builder.BindOnly(stmt, "", nil); rights.Refused(err) {
				return err
			}
		}
		return nil
	})
}

// run runs a statement of the body in the library.
func (h *routineHost) run(ctx *sql.Context, stmt ast.Statement, k *keptStatement) (sql.Schema, sql.RowIter, error) {
	s, e := h.session, h.eng
	s.planning, s.around, s.bound, s.within = true, true, false, "" // as when a statement of a client begins
	var n sql.Node
	var err error
	if k != nil && held(stmt) {
		now, keeps := s.asking()
		if !k.held || !keeps || k.bound != now {
			k.held, k.bound, k.node = true, now, nil
			if routine.Timeless(stmt) {
				if n, err := e.heldPlan(ctx, stmt); err == nil { // with values in it it may be another matter
					k.node = n
				}
			}
		}
		n = k.node
	}
	if n != nil {
		n, err = routine.CopyPlan(ctx, n)
	} else {
		n, err = e.analysed(ctx, stmt)
	}
	if err != nil {
		return nil, nil, err
	}
	it, err := e.sql.Analyzer.ExecBuilder.Build(ctx, n, nil)
	if err != nil {
		return nil, nil, err
	}
	it, schema := rowexec.AddAccumulatorIter(ctx, it)
	it = rowexec.AddExpressionCloser(ctx, n, it)
	if schema == nil {
		schema = n.Schema(ctx)
	}
	return schema, it, nil
}

// held reports whether a statement of that kind is analysed once. A CALL assigns to variables.
func held(stmt ast.Statement) bool {
	switch stmt.(type) {
	case *ast.Select, *ast.SetOp, *ast.ParenSelect, *ast.Insert, *ast.Update, *ast.Delete:
		return true
	}
	return false
}
