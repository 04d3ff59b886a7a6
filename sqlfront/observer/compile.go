package observer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
)

// compile plans the body once for each event that the observer asked for. Names and types are checked here, so that CREATE
// OBSERVER refuses what could never run.
func (r *Registry) compile(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) (*body, error) {
	db, ok := snap.DatabaseByID(o.DatabaseID)
	if !ok {
		return nil, fmt.Errorf("its database is gone")
	}
	desc, ok := snap.TableByID(o.TableID)
	if !ok {
		return nil, fmt.Errorf("its table is gone")
	}
	table, err := r.eng.TableOf(ctx, desc)
	if err != nil {
		return nil, err
	}
	b := &body{observer: o, table: table, database: db.Name, plans: map[event]sql.Node{}}
	mode, _ := ctx.GetSessionVariable(ctx, "sql_mode")
	if o.SQLMode != "" {
		if err := ctx.SetSessionVariable(ctx, "sql_mode", o.SQLMode); err != nil {
			return nil, err
		}
		defer func() { _ = ctx.SetSessionVariable(ctx, "sql_mode", mode) }()
	}
	ctx.SetCurrentDatabase(db.Name)
	for _, ev := range eventsOf(o.Events) {
		if b.plans[ev], err = r.plan(ctx, ev, table.Schema(ctx), triggerText(o, ev, db.Name, desc.Name)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// triggerText writes the body in a trigger's clothes, the form that the planner binds NEW and OLD in.
func triggerText(o *catalog.Observer, ev event, database, table string) string {
	if ev == notified {
		ev = inserted // has NEW and no OLD
	}
	return "CREATE TRIGGER " + quote(o.Name) + " AFTER " + string(ev) + " ON " + quote(database) + "." + quote(table) + " FOR EACH ROW " + o.Body
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// plan binds and analyzes a body outside of any INSERT. This is the SQL engine's own treatment of triggers
// (analyzer/triggers.go) with the row's columns as the scope, plus the lookup of rows by NEW and OLD, which it lacks.
func (r *Registry) plan(ctx *sql.Context, ev event, columns sql.Schema, text string) (sql.Node, error) {
	a := r.eng.SQL().Analyzer
	builder := planbuilder.New(ctx, a.Catalog, nil)
	builder.DisableAuth()
	builder.TriggerCtx().Call = true
	bound, _, _, _, err := builder.Parse(text, nil, false)
	if err != nil {
		return nil, unknownColumn(err, ev, columns, text)
	}
	create, ok := bound.(*plan.CreateTrigger)
	if !ok {
		return nil, sqlerr.Unsupported("this body of an observer")
	}
	logic := create.Body
	if block, ok := logic.(*plan.BeginEndBlock); ok {
		logic = plan.NewTriggerBeginEndBlock(block)
	}
	if err := refuseAssignments(ctx, logic); err != nil {
		return nil, err
	}
	fields := create.Table.Schema(ctx)
	var row sql.Node = plan.NewTableAlias("new", create.Table)
	switch ev {
	case updated:
		row, fields = plan.NewCrossJoin(ctx, plan.NewTableAlias("old", create.Table), plan.NewTableAlias("new", create.Table)), append(fields[:len(fields):len(fields)], fields...)
	case deleted:
		row = plan.NewTableAlias("old", create.Table)
	}
	scope := (*plan.Scope)(nil).NewScope(plan.NewProject(ctx, []sql.Expression{expression.NewStar()}, row))
	logic, err = a.Analyze(ctx, logic, scope, nil)
	if err != nil {
		return nil, err
	}
	if _, ok := logic.(*plan.TriggerBeginEndBlock); ok {
		if logic, err = tieVariables(ctx, logic); err != nil {
			return nil, err
		}
	}
	return engine.PushOuterKeys(ctx, logic, fields)
}

var fieldOf = map[string]*regexp.Regexp{
	"new": regexp.MustCompile("(?i)\\bnew\\s*\\.\\s*`?([\\w$]+)"),
	"old": regexp.MustCompile("(?i)\\bold\\s*\\.\\s*`?([\\w$]+)"),
}

// unknownColumn words what the SQL engine says of NEW.c and OLD.c that do not exist: for it, a table is missing.
func unknownColumn(err error, ev event, columns sql.Schema, text string) error {
	if !sql.ErrTableNotFound.Is(err) {
		return err
	}
	for _, row := range []string{"new", "old"} {
		if !strings.HasSuffix(err.Error(), ": "+row) {
			continue
		}
		if row == "new" && ev == deleted || row == "old" && (ev == inserted || ev == notified) {
			return sqlerr.New(sqlerr.NoSuchTriggerRow, "There is no %s row in on %s observer", strings.ToUpper(row), ev)
		}
		for _, m := range fieldOf[row].FindAllStringSubmatch(text, -1) {
			if !slices.ContainsFunc(columns, func(c *sql.Column) bool { return strings.EqualFold(c.Name, m[1]) }) {
				return sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", m[1], strings.ToUpper(row))
			}
		}
	}
	return err
}

// refuseAssignments refuses SET NEW.c = …: the change is committed, there is nothing left to change.
func refuseAssignments(ctx *sql.Context, n sql.Node) (err error) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		set, ok := n.(*plan.Set)
		if !ok {
			return true
		}
		for _, e := range set.Exprs {
			if f, ok := e.(*expression.SetField); ok {
				if c, ok := f.LeftChild.(*expression.GetField); ok {
					err = sqlerr.Unsupported(fmt.Sprintf("SET %s.%s in an observer (the change is committed already)", strings.ToUpper(c.Table()), c.Name()))
				}
			}
		}
		return err == nil
	})
	return err
}

// tieVariables gives all DECLAREd variables of a block one place to live in; the SQL engine does this step in a function of
// its own that it does not export.
func tieVariables(ctx *sql.Context, block sql.Node) (sql.Node, error) {
	ref := expression.NewProcedureReference()
	inExpr := func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if p, ok := e.(*expression.ProcedureParam); ok {
			return p.WithParamReference(ref), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	}
	inNode := func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		x, ok := n.(sql.Expressioner)
		if !ok {
			return n, transform.SameTree, nil
		}
		exprs, same, err := transform.Exprs(ctx, x.Expressions(), inExpr)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		out, err := x.WithExpressions(ctx, exprs...)
		return out, transform.NewTree, err
	}
	out, _, err := transform.NodeWithOpaque(ctx, block, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.InsertInto:
			src, same, err := transform.NodeWithOpaque(ctx, n.Source, inNode)
			if err != nil || same {
				return n, transform.SameTree, err
			}
			return n.WithSource(src), transform.NewTree, nil
		case expression.ProcedureReferencable:
			out, _, err := transform.NodeWithOpaque(ctx, n.WithParamReference(ref), inNode)
			return out, transform.NewTree, err
		}
		return inNode(ctx, n)
	})
	return out, err
}
