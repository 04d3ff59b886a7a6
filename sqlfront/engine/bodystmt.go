package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
	"moka/sqlfront/syntax"
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
			if timeless(stmt) {
				if n, err := e.heldPlan(ctx, stmt); err == nil { // with values in it it may be another matter
					k.node = n
				}
			}
		}
		n = k.node
	}
	if n != nil {
		n, err = copyPlan(ctx, n)
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

// timeless reports whether a statement calls nothing that may have another value the next time: what depends on no column the planner
// computes.
func timeless(stmt ast.Statement) bool {
	ok := true
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			ok = ok && timelessFunctions[n.Name.Lowered()]
		case *ast.ColName:
			ok = ok && !strings.HasPrefix(n.Name.String(), "@")
		case *ast.Insert:
			ok = ok && timelessRows(n.Rows)
		}
		return ok, nil
	}, stmt)
	return ok
}

// timelessRows looks at what the walk leaves out.
func timelessRows(rows ast.InsertRows) bool {
	if s, ok := rows.(ast.SelectStatement); ok {
		return timeless(s)
	}
	return true
}

// timelessFunctions are those that are known to depend on their arguments alone.
var timelessFunctions = map[string]bool{}

func init() {
	for _, f := range repeatableFunctions {
		timelessFunctions[f] = true
	}
	for _, f := range []string{"curdate", "current_date", "current_timestamp", "now"} {
		delete(timelessFunctions, f)
	}
	for _, f := range []string{
		"avg", "bit_and", "bit_or", "bit_xor", "count", "group_concat", "json_arrayagg", "json_objectagg", "max", "min", "std", "stddev", "stddev_pop", "stddev_samp", "sum",
		"var_pop", "var_samp", "variance", "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value",
		"json_extract", "json_object", "json_array", "json_unquote", "json_set", "json_contains", "json_length",
		"cast", "exp", "find_in_set", "field", "hex", "instr", "ln", "locate", "log", "md5", "pow", "power", "rlike", "sha1", "sha2", "space", "sqrt", "strcmp", "unhex",
		"dayofmonth", "dayofweek", "dayofyear", "last_day", "quarter", "time", "timestampdiff", "to_days", "week", "weekday", "yearweek", "values",
	} {
		timelessFunctions[f] = true
	}
}

// copyPlan copies the plan from its leaves on, with its subqueries, which keep what they have found.
func copyPlan(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.ResolvedTable:
			c := *n
			return &c, transform.NewTree, nil
		case *plan.IndexedTableAccess:
			c := *n
			return &c, transform.NewTree, nil
		case *plan.Values:
			c := *n
			return &c, transform.NewTree, nil
		case *plan.InsertInto:
			src, err := copyPlan(ctx, n.Source)
			if err != nil {
				return nil, transform.SameTree, err
			}
			return n.WithSource(src), transform.NewTree, nil
		}
		return n, transform.SameTree, nil
	})
	if err != nil {
		return nil, err
	}
	out, _, err = transform.NodeExprsWithOpaque(ctx, out, copySubquery)
	return out, err
}

func copySubquery(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	q, ok := e.(*plan.Subquery)
	if !ok {
		return e, transform.SameTree, nil
	}
	query, err := copyPlan(ctx, q.Query)
	return q.WithQuery(query), transform.NewTree, err
}
