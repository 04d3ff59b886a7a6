package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

func noRoutine(kind routine.Kind, db, name string) *mysql.SQLError {
	return sqlerr.New(sqlerr.NoSuchProcedure, "%s %s.%s does not exist", kind, db, name)
}

// Call is the CALL of a stored procedure; nil leaves one of a Go function to the library.
func (e *Engine) Call(c *ast.Call, inner bool) ast.Statement {
	if p, err := e.provider.procs.LookupByNameAndParamCount(c.ProcName.Name.String(), len(c.Params)); err != nil || p != nil {
		return nil
	}
	if c.AsOf != nil {
		refused := system.NewReport("CALL AS OF", nil, func(*sql.Context) ([]sql.Row, error) {
			return nil, sqlerr.Unsupported("CALL … AS OF; SET moka_snapshot")
		})
		return ast.InjectedStatement{Auth: c.Auth, Statement: refused}
	}
	sent := make([]bool, len(c.Params))
	for i, p := range c.Params {
		v, ok := p.(*ast.SQLVal)
		sent[i] = ok && v.Type == ast.ValArg
	}
	return ast.InjectedStatement{
		Auth: c.Auth, Children: c.Params,
		Statement: &callNode{eng: e, sent: sent, name: parse.Name{Database: c.ProcName.Qualifier.String(), Name: c.ProcName.Name.String()}, inner: inner},
	}
}

// callNode is CALL in a plan.
type callNode struct {
	eng    *Engine
	name   parse.Name
	args   []sql.Expression
	sent   []bool // arguments that are parameters of a prepared CALL: what is OUT goes back to the client
	inner  bool   // called by a trigger
	schema sql.Schema
}

var (
	_ sql.ExecSourceRel = (*callNode)(nil)
	_ sql.Expressioner  = (*callNode)(nil)
)

// WithResolvedChildren implements ast.Injectable.
func (n *callNode) WithResolvedChildren(c context.Context, children []any) (any, error) {
	bound := *n
	bound.args = make([]sql.Expression, len(children))
	for i, child := range children {
		e, ok := child.(sql.Expression)
		if !ok {
			return nil, fmt.Errorf("an argument of CALL is a %T", child)
		}
		bound.args[i] = e
	}
	ctx, ok := c.(*sql.Context)
	if !ok {
		return &bound, nil
	}
	var err error
	if bound.name.Database, err = currentDatabase(ctx, n.name); err != nil {
		return nil, err
	}
	// What does not exist is known when it is run: a trigger may be created before the procedure that it calls.
	return &bound, nil
}

func (n *callNode) Resolved() bool                { return expression.ExpressionsResolved(n.args...) }
func (n *callNode) Children() []sql.Node          { return nil }
func (n *callNode) IsReadOnly() bool              { return true } // its statements say for themselves
func (n *callNode) String() string                { return "CALL " + n.name.String() }
func (n *callNode) Expressions() []sql.Expression { return n.args }

// Schema implements sql.Node.
func (n *callNode) Schema(*sql.Context) sql.Schema {
	if n.schema != nil {
		return n.schema
	}
	return types.OkResultSchema
}

// WithChildren implements sql.Node.
func (n *callNode) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(ch), 0)
	}
	return n, nil
}

// WithExpressions implements sql.Expressioner.
func (n *callNode) WithExpressions(_ *sql.Context, e ...sql.Expression) (sql.Node, error) {
	if len(e) != len(n.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(e), len(n.args))
	}
	bound := *n
	bound.args = e
	return &bound, nil
}

// RowIter implements sql.ExecSourceRel: the procedure has run when it returns.
func (n *callNode) RowIter(ctx *sql.Context, row sql.Row) (sql.RowIter, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, sqlerr.Unsupported("CALL without a session")
	}
	c, err := n.eng.routine(ctx, routine.Procedure, n.name.Database, n.name.Name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, noRoutine(routine.Procedure, n.name.Database, n.name.Name)
	}
	params := c.body.Params
	if len(params) != len(n.args) {
		return nil, wrongArguments(c, len(n.args))
	}
	args := make([]routine.Argument, len(params))
	for i, p := range params {
		if p.Direction != routine.In {
			if err := n.assignable(i); err != nil {
				return nil, err
			}
		}
		if args[i], err = argument(ctx, n.args[i], row); err != nil {
			return nil, err
		}
	}
	host, nested := routine.HostOf(ctx).(*routineHost)
	if !nested {
		host = &routineHost{eng: n.eng, session: s}
		if n.inner {
			host.refuse = sqlerr.New(sqlerr.FunctionResultSet, "Not allowed to return a result set from a trigger")
		}
	}
	var out routine.Output
	if err := n.eng.inRoutine(ctx, c, false, func() error {
		out, err = c.body.Run(ctx, host, args)
		return err
	}); err != nil {
		s.GetLastQueryInfo().RowCount.Store(-1) // whatever its last statement that succeeded has said
		return nil, err
	}
	var outSchema sql.Schema
	var outRow sql.Row
	for i, p := range params {
		if p.Direction == routine.In {
			continue
		}
		switch to := n.args[i].(type) {
		case *routine.Variable:
			if err = host.mayAssign(ctx, to.String()); err == nil {
				err = to.Assign(ctx, out.Params[i], p.Type)
			}
		case *expression.UserVar:
			err = ctx.SetUserVariable(ctx, to.Name, out.Params[i], p.Type)
		case *expression.ProcedureParam:
			err = to.Set(ctx, out.Params[i], p.Type)
		default:
			outSchema, outRow = append(outSchema, &sql.Column{Name: p.Name, Type: p.Type, Nullable: true}), append(outRow, out.Params[i])
		}
		if err != nil {
			return nil, err
		}
	}
	if len(outRow) > 0 && s.results != nil && host.refuse == nil {
		if err := s.results(routine.WithOutParams(ctx), outSchema, sql.RowsToRowIter(outRow)); err != nil {
			return nil, err
		}
	}
	if !nested && host.schema != nil {
		n.schema = host.schema
		return sql.RowsToRowIter(host.rows...), nil
	}
	return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(int(out.RowsAffected)))), nil
}

func argument(ctx *sql.Context, e sql.Expression, row sql.Row) (routine.Argument, error) {
	v, err := e.Eval(ctx, row)
	return routine.Argument{Value: v, Type: e.Type(ctx)}, err
}

// assignable checks that an OUT parameter has somewhere to go.
func (n *callNode) assignable(i int) error {
	switch n.args[i].(type) {
	case *routine.Variable, *expression.UserVar, *expression.ProcedureParam:
		return nil
	}
	if n.sent[i] {
		return nil
	}
	return sqlerr.New(sqlerr.NotAVariable, "OUT or INOUT argument %d for routine %s.%s is not a variable or NEW pseudo-variable in BEFORE trigger",
		i+1, n.name.Database, n.name.Name)
}

func wrongArguments(c *compiled, got int) error {
	return sqlerr.New(sqlerr.ProcedureArguments, "Incorrect number of arguments for %s %s.%s; expected %d, got %d",
		c.body.Kind, c.body.Database, c.body.Name, len(c.body.Params), got)
}

// storedFunction is asked for a function that neither we nor the library know. in is the view that calls it, nil for none.
func (p *provider) storedFunction(ctx *sql.Context, in *rights.Stored, db, name string) (sql.Function, bool) {
	if ctx == nil || p.eng.sql == nil {
		return nil, false
	}
	qualified := db != "" && in == nil
	if db == "" && in != nil {
		db = in.Database
	}
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	c, err := p.eng.routine(ctx, routine.Function, db, name)
	if err == nil && c == nil && db != "" && parse.CreatesTrigger(ctx.Query()) {
		// A dump has triggers before the functions that they call.
		later := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			err := p.eng.mayExecuteOf(ctx, routine.Function, db, name) // it tells not which there are
			if err != nil && !rights.OnTable(ctx, p.eng.accounts(), db, "", sql.PrivilegeType_CreateRoutine) {
				return nil, err
			}
			return &storedCall{eng: p.eng, db: db, name: name, typ: types.LongText, args: args}, nil
		}
		return sql.FunctionN{Name: name, Fn: later}, true
	}
	if err == nil && c == nil && qualified {
		none := func(ctx *sql.Context, _ ...sql.Expression) (sql.Expression, error) {
			return nil, p.eng.noFunction(ctx, db, name)
		}
		return sql.FunctionN{Name: name, Fn: none}, true
	}
	if err != nil || c == nil {
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if err := p.eng.mayCall(ctx, c, in); err != nil {
			return nil, err
		}
		if len(args) != len(c.body.Params) {
			return nil, wrongArguments(c, len(args))
		}
		return &storedCall{eng: p.eng, db: c.body.Database, name: c.body.Name, typ: c.body.Returns, deterministic: c.body.Deterministic, args: args, in: in}, nil
	}}, true
}

// HasFunction reports whether a call of the name is the call of a stored function that the account may
// execute. Where one is refused, others hear what they hear of a function that is not there.
func (e *Engine) HasFunction(c context.Context, db, name string) bool {
	ctx, ok := c.(*sql.Context)
	if !ok || db == "" && builtin.Native(strings.ToLower(name)) {
		return false
	}
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return false
	}
	d, ok := v.snap.Database(db)
	if ok {
		_, ok = d.Function(name)
	}
	return ok && e.mayExecuteOf(ctx, routine.Function, db, name) == nil
}

// mayCall is mayExecute for a function that a statement calls, or a view that the statement names.
func (e *Engine) mayCall(ctx *sql.Context, c *compiled, in *rights.Stored) error {
	if in == nil {
		return e.mayExecute(ctx, c)
	}
	if err := asView(ctx, in, func() error { return e.mayExecute(ctx, c) }); err != nil {
		return in.Invalid(err)
	}
	return nil
}

// asView runs f with the rights of who a view belongs to; in is nil outside of views. What a view calls is
// its definer's doing, whether the function has SQL SECURITY INVOKER or not, as in MySQL: else reading a view
// would run a stranger's statements with the reader's rights.
func asView(ctx *sql.Context, in *rights.Stored, f func() error) error {
	if s := sessionOf(ctx); in != nil && in.Host != "" && s != nil {
		return s.ActAs(ctx, in.User, in.Host, f)
	}
	return f()
}

// noFunction says that there is none of the name to who might execute it; others do not learn what there is.
func (e *Engine) noFunction(ctx *sql.Context, db, name string) error {
	if err := e.mayExecuteOf(ctx, routine.Function, db, name); err != nil {
		return err
	}
	return sqlerr.New(sqlerr.FunctionNotFound, "FUNCTION %s.%s does not exist", db, name)
}

// mayExecute checks the EXECUTE privilege.
func (e *Engine) mayExecute(ctx *sql.Context, c *compiled) error {
	return e.mayExecuteOf(ctx, c.body.Kind, c.body.Database, c.body.Name)
}

func (e *Engine) mayExecuteOf(ctx *sql.Context, kind routine.Kind, db, name string) error {
	privileges := e.sql.Analyzer.Catalog.MySQLDb
	if !privileges.Enabled() {
		return nil
	}
	subject := sql.PrivilegeCheckSubject{Database: db}
	if privileges.UserHasPrivileges(ctx, sql.NewPrivilegedOperation(subject, sql.PrivilegeType_Execute)) {
		return nil
	}
	subject.Routine, subject.IsProcedure = strings.ToLower(name), kind == routine.Procedure
	if privileges.RoutineAdminCheck(ctx, sql.NewPrivilegedOperation(subject, sql.PrivilegeType_Execute)) {
		return nil
	}
	return sqlerr.New(sqlerr.RoutineAccessDenied, "execute command denied to user '%s'@'%s' for routine '%s.%s'",
		ctx.Client().User, ctx.Client().Address, db, name)
}

// storedCall is the call of a stored function in an expression.
type storedCall struct {
	eng           *Engine
	db, name      string
	typ           sql.Type
	deterministic bool
	args          []sql.Expression
	in            *rights.Stored // the view whose text calls it, nil for none
}

// held reports whether the planner must not call the function beforehand, as it does with whatever has no columns in it. One that is not
// DETERMINISTIC is called for each row. One that a view calls is not called by who does no more than look at the view: SHOW COLUMNS, EXPLAIN, LOCK
// TABLES and CREATE VIEW plan its text, too, and with SQL SECURITY INVOKER the function would do there what the user may.
func (f *storedCall) held() bool { return !f.deterministic || f.in != nil }

var (
	_ sql.FunctionExpression         = (*storedCall)(nil)
	_ sql.NonDeterministicExpression = (*storedCall)(nil)
	_ sql.CollationCoercible         = (*storedCall)(nil)
)

func (f *storedCall) FunctionName() string         { return f.name }
func (f *storedCall) Description() string          { return "a stored function." }
func (f *storedCall) Resolved() bool               { return expression.ExpressionsResolved(f.args...) }
func (f *storedCall) Type(*sql.Context) sql.Type   { return f.typ }
func (f *storedCall) IsNullable(*sql.Context) bool { return true }
func (f *storedCall) IsNonDeterministic() bool     { return !f.deterministic }

// String implements sql.Expression.
func (f *storedCall) String() string {
	args := make([]string, len(f.args))
	for i, a := range f.args {
		args[i] = a.String()
	}
	return f.name + "(" + strings.Join(args, ",") + ")"
}

// Children implements sql.Expression.
func (f *storedCall) Children() []sql.Expression {
	if !f.held() {
		return f.args
	}
	return expr.Marked(f.args)
}

// CollationCoercibility implements sql.CollationCoercible.
func (f *storedCall) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	c, _ := f.typ.CollationCoercibility(ctx)
	return c, 4
}

// WithChildren implements sql.Expression.
func (f *storedCall) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if f.held() {
		var err error
		if ch, err = expr.Unmarked(f, ch, len(f.args)); err != nil {
			return nil, err
		}
	}
	if len(ch) != len(f.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(ch), len(f.args))
	}
	with := *f
	with.args = ch
	return &with, nil
}

// Eval implements sql.Expression.
func (f *storedCall) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := make([]routine.Argument, len(f.args))
	for i, a := range f.args {
		v, err := argument(ctx, a, row)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	c, err := f.eng.routine(ctx, routine.Function, f.db, f.name)
	if err != nil {
		return nil, err
	}
	if c == nil || len(c.body.Params) != len(args) {
		return nil, noRoutine(routine.Function, f.db, f.name)
	}
	host := &routineHost{eng: f.eng, session: sessionOf(ctx), refuse: sqlerr.New(sqlerr.FunctionResultSet, "Not allowed to return a result set from a function")}
	var out routine.Output
	err = asView(ctx, f.in, func() error {
		return f.eng.inRoutine(ctx, c, f.in != nil, func() error {
			out, err = c.body.Run(ctx, host, args)
			return err
		})
	})
	return out.Value, err
}

// callsStored reports whether a stored function is called in an expression.
func callsStored(ctx *sql.Context, all []sql.Expression) bool {
	found := false
	for _, e := range all {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if _, ok := e.(*storedCall); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

// undefer keeps stored functions, and MATCH, which counts rows in the index, out of the goroutine that writes rows to the client, where the library computes the columns of a
// result while it reads the next rows: a session's statements run one after the other.
func (b *execBuilder) undefer(ctx *sql.Context, n sql.Node) sql.Node {
	p, ok := n.(*plan.Project)
	if !ok || !p.CanDefer || !callsStored(ctx, p.Projections) && !matches(ctx, p.Projections) {
		return nil
	}
	now := *p
	now.CanDefer = false
	return &now
}
