package conn

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/identifier"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/pace"
	"moka/sqlfront/resultset"
	"moka/sqlfront/routine"
)

// Plans runs statements of which it has a plan without the engine's parser, analyser and row machinery.
type Plans interface {
	// Run runs a SELECT, INSERT, UPDATE or DELETE if it has a plan for it; a nil result without an error
	// leaves the statement to the engine, of whose result learn, if it is not nil, wants the head (nil if
	// it has no columns).
	Run(ctx context.Context, session sql.Session, text string, prepared bool, params []mysqlproto.Param,
		status string) (
		result *resultset.Result, learn func(*resultset.Head), err error)
	// Transaction is "begin", "commit" or "rollback"; not done, it is left to the engine.
	Transaction(ctx context.Context, session sql.Session, verb string) (done bool, err error)
	// Forget is told of each statement that the engine has run.
	Forget(session sql.Session)
}

// planVerbs are the kinds of statements that may have plans, with the status variables that count them.
var planVerbs = [verbs]string{verbSelect: "Com_select", verbInsert: "Com_insert", verbUpdate: "Com_update",
	verbDelete: "Com_delete"}

// transactionVerb is the statement in the words of Plans.Transaction, empty for others.
func transactionVerb(query string) string {
	if len(query) > 40 {
		return ""
	}
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(query), "; ")) {
	case "begin", "start transaction":
		return "begin"
	case "start transaction read only":
		return "begin read only"
	case "commit":
		return "commit"
	case "rollback":
		return "rollback"
	}
	return ""
}

// execution is a statement on its way.
type execution struct {
	c        *Connection
	st       statement
	text     string
	prepared bool
	params   []mysqlproto.Param
	multi    bool // others may follow in the text
	r        *reply
	turn     *pace.Turn // of a schema change, kept when it is run again
}

// run runs the statement once: by a plan if there is one, else by the engine.
func (x *execution) run(ctx context.Context) (rest string, err error) {
	c := x.c
	plans := c.srv.opts.Plans
	if plans == nil || c.session == nil {
		rest, _, err := x.general(ctx)
		return rest, err
	}
	var learn func(*resultset.Head)
	if status := planVerbs[x.st.verb]; status != "" {
		var result *resultset.Result
		if result, learn, err = plans.Run(ctx, c.session, x.text, x.prepared, x.params, status); err != nil {
			return "", err
		}
		if result != nil {
			return "", x.r.result(result)
		}
	} else if x.st.verb == verbTransaction {
		if verb := transactionVerb(x.text); verb != "" {
			done, err := plans.Transaction(ctx, c.session, verb)
			if err != nil {
				return "", err
			}
			if done {
				x.r.ok(0, 0, "")
				return "", nil
			}
		}
	}
	defer func() {
		plans.Forget(c.session)
		c.limits = nil
	}()
	rest, head, err := x.general(ctx)
	if err == nil && learn != nil {
		learn(head)
	}
	return rest, err
}

// general runs the statement by the engine. The head is that of its rows.
func (x *execution) general(ctx context.Context) (rest string, head *resultset.Head, err error) {
	c, engine := x.c, x.c.srv.opts.Engine
	before := c.track()
	sctx, err := engine.ProcessList.BeginQuery(c.context(ctx, x.text), x.text)
	if err != nil {
		return "", nil, err
	}
	defer engine.ProcessList.EndQuery(sctx)
	if p, ok := ctx.(*pace.Context); ok { // which the process list has made a context of
		sctx = sctx.WithContext(p.Over(sctx.Context))
	}
	stop := c.heed(sctx)
	defer stop()
	if x.st.schema && x.turn.Over() {
		if x.turn, err = c.srv.schema.Enter(sctx, c.who.User); err != nil {
			return "", nil, err
		}
	}
	if err := sql.SessionCommandBegin(c.session); err != nil {
		return "", nil, err
	}
	defer sql.SessionCommandEnd(c.session)
	done, err := c.grows(x.text, x.multi)
	if err != nil {
		return "", nil, err
	}
	defer done()
	text := x.text
	var parsed ast.Statement
	if x.multi {
		if _, known := c.session.GetPreparedQuery(text); !known {
			var first string
			// What does not parse is parsed again below, which words the error.
			if parsed, first, rest, _ = engine.Parser.Parse(sctx, text, true); first != "" {
				text = first
			}
		}
	}
	x.r.more = rest != ""
	values, err := expressions(x.params)
	if err != nil {
		return "", nil, err
	}
	schema, rows, _, err := engine.QueryWithBindings(sctx, text, parsed, values, &sql.QueryFlags{})
	if err == nil {
		head, err = x.answer(sctx, schema, rows, before)
	}
	if err != nil {
		return "", nil, sql.CastSQLError(err)
	}
	return rest, head, nil
}

// answer sends what a statement of the engine yields.
func (x *execution) answer(ctx *sql.Context, schema sql.Schema, rows sql.RowIter,
	before tracked) (*resultset.Head, error) {
	if types.IsOkResultSchema(schema) || len(schema) == 0 {
		return nil, x.answerOK(ctx, rows, before)
	}
	head := x.c.srv.columns.Describe(ctx, schema, x.text, x.c.limit().results)
	x.r.begin(head)
	done := false
	defer func() {
		if !done {
			abandon(ctx, rows)
		}
	}()
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if types.IsOkResult(row) {
			if x.r.rows.sent > 0 || !x.r.takeBack() {
				return nil, errMixed
			}
			done = true
			return nil, x.finish(ctx, rows, before,
				func() error { x.r.okResult(row[0].(types.OkResult)); return nil })
		}
		if err := x.r.row(ctx, row); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	done = true
	return head, x.finish(ctx, rows, before, x.r.end)
}

// answerOK answers a statement without rows: its iterator yields what the OK says. If it fails it is not
// closed, which would commit.
func (x *execution) answerOK(ctx *sql.Context, rows sql.RowIter, before tracked) error {
	var ok types.OkResult
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(row) > 0 {
			ok, _ = row[0].(types.OkResult)
		}
	}
	return x.finish(ctx, rows, before, func() error { x.r.okResult(ok); return nil })
}

// finish closes the iterator after its last row, which may commit, and then ends the answer.
func (x *execution) finish(ctx *sql.Context, rows sql.RowIter, before tracked, end func() error) error {
	if err := rows.Close(ctx); err != nil {
		return err
	}
	x.c.limits = nil
	x.c.settle()
	x.c.noteChanges(before)
	return end()
}

// abandon frees what an iterator holds that has failed. Its context is over: nothing must come of it.
func abandon(ctx *sql.Context, rows sql.RowIter) {
	over, cancel := context.WithCancel(ctx.Context)
	cancel()
	_ = rows.Close(ctx.WithContext(over)) // there is an error already
}

// expressions are the values of a prepared statement as the engine wants them: v1, v2, …
func expressions(params []mysqlproto.Param) (map[string]ast.Expr, error) {
	all := make(map[string]ast.Expr, len(params))
	for i, p := range params {
		var e ast.Expr
		switch p.Kind {
		case mysqlproto.KindNull:
			e = &ast.NullVal{}
		case mysqlproto.KindInt:
			e = ast.NewIntVal([]byte(p.Text))
		case mysqlproto.KindFloat:
			f, err := strconv.ParseFloat(p.Text, 64)
			if err != nil {
				return nil, err
			}
			// With an exponent, which makes it a DOUBLE; else it would be a DECIMAL.
			e = ast.NewFloatVal(strconv.AppendFloat(nil, f, 'e', -1, 64))
		case mysqlproto.KindDecimal:
			e = ast.NewFloatVal([]byte(p.Text))
		case mysqlproto.KindDate:
			e = moment(expr.DateFunction, p.Text)
		case mysqlproto.KindDatetime:
			e = moment(expr.TimestampFunction, p.Text)
		case mysqlproto.KindTime:
			e = moment(expr.TimeFunction, p.Text)
		default:
			e = ast.NewStrVal([]byte(p.Text))
		}
		all["v"+strconv.Itoa(i+1)] = e
	}
	return all, nil
}

// moment is DATE'…', TIMESTAMP'…' or TIME'…'.
func moment(function, text string) ast.Expr {
	return &ast.FuncExpr{Name: ast.NewColIdent(function),
		Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(text))}}}
}

// context makes the context of a statement. It begins when the session says that it does.
func (c *Connection) context(parent context.Context, text string) *sql.Context {
	engine := c.srv.opts.Engine
	ctx := sql.NewContext(parent, sql.WithSession(c.session), sql.WithPid(c.srv.pid.Add(1)),
		sql.WithQuery(text),
		sql.WithMemoryManager(engine.MemoryManager), sql.WithProcessList(engine.ProcessList),
		sql.WithServices(sql.Services{KillConnection: c.srv.kill, LoadInfile: c.loadInfile}))
	if s, ok := c.session.(expr.Timed); ok {
		if at, ok := s.Told(); ok {
			ctx.SetQueryTime(at)
		}
	}
	return ctx
}

// kill is KILL CONNECTION of a statement of the engine.
func (s *Server) kill(id uint32) error {
	s.HangUp(id)
	return nil
}

// operation runs what is a command but no statement.
func (c *Connection) operation(parent context.Context, text string, f func(*sql.Context) error) error {
	list := c.srv.opts.Engine.ProcessList
	ctx, err := list.BeginOperation(c.context(parent, text))
	if err != nil {
		return err
	}
	defer list.EndOperation(ctx)
	if err := sql.SessionCommandBegin(c.session); err != nil {
		return err
	}
	defer sql.SessionCommandEnd(c.session)
	return f(ctx)
}

// openSession gives the connection a session of its account, in the place of the one that it has.
func (c *Connection) openSession() error {
	session, err := c.srv.opts.Sessions(c, c.srv.Addr().String())
	if err != nil {
		return sql.CastSQLError(err)
	}
	session.SetConnectionId(c.id)
	if c.session != nil {
		c.endSession()
	}
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	if s, ok := session.(resulting); ok {
		s.Results(c.innerResult)
	}
	return nil
}

func (c *Connection) endSession() {
	for _, charged := range []*int64{&c.inbound, &c.outbound, &c.rows} {
		_ = c.charge(charged, 0) // giving back does not fail
	}
	sql.SessionEnd(c.session)
}

// releaseLocks frees what the session holds by name and by LOCK TABLES, as far as the engine keeps them.
func (c *Connection) releaseLocks() {
	ctx := c.context(context.Background(), "")
	engine := c.srv.opts.Engine
	if _, err := engine.LS.ReleaseAll(ctx); err != nil {
		c.srv.log.Warn("named locks could not be released", "connection", c.id, "err", err)
	}
	if err := engine.Analyzer.Catalog.UnlockTables(ctx, c.id); err != nil {
		c.srv.log.Warn("tables could not be unlocked", "connection", c.id, "err", err)
	}
}

// useDatabase makes a database the current one.
func (c *Connection) useDatabase(parent context.Context, name string) error {
	engine, name := c.srv.opts.Engine, identifier.Meant(name)
	return c.operation(parent, "", func(ctx *sql.Context) error {
		if name == "" {
			c.session.SetCurrentDatabase("")
			engine.ProcessList.ConnectionReady(c.session)
			return nil
		}
		asks := engine.Analyzer.Catalog.AuthorizationHandler()
		if err := asks.HandleAuth(ctx, asks.NewQueryState(ctx), ast.AuthInformation{
			AuthType: ast.AuthType_VISIBLE, TargetType: ast.AuthTargetType_DatabaseIdentifiers,
			TargetNames: []string{name},
		}); err != nil { // as USE asks; the library has the database of the accounts for everybody
			return sql.CastSQLError(err)
		}
		db, err := engine.Analyzer.Catalog.Database(ctx, name)
		if err != nil {
			return sql.CastSQLError(err)
		}
		c.session.SetCurrentDatabase(name)
		if p, ok := db.(mysql_db.PrivilegedDatabase); ok {
			db = p.Unwrap()
		}
		if err := c.session.UseDatabase(ctx, db); err != nil {
			return sql.CastSQLError(err)
		}
		engine.ProcessList.ConnectionReady(c.session)
		return nil
	})
}

// resulting is a session whose statements may have results before their last: a procedure has as many as
// it likes, and its OK follows them.
type resulting interface {
	Results(to func(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) error)
}

// innerResult sends a result that is followed by another, or by the OK of the statement. Whether the
// client has asked for several (CLIENT_MULTI_RESULTS) is not looked at; there has been no client that has
// not since MySQL 4.1.
func (c *Connection) innerResult(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) (err error) {
	defer func() {
		if cerr := rows.Close(ctx); err == nil {
			err = cerr
		}
	}()
	r := &c.reply
	flags := uint16(mysqlproto.StatusMoreResults)
	if routine.OutParams(ctx) {
		if !r.binary {
			return nil
		}
		flags |= mysqlproto.StatusOutParams
	}
	// What fails before there are rows is an ordinary error.
	row, err := rows.Next(ctx)
	if err != nil && err != io.EOF {
		return err
	}
	r.begin(c.srv.columns.Describe(ctx, schema, "", c.limit().results))
	for ; err == nil; row, err = rows.Next(ctx) {
		if err := r.row(ctx, row); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return err
	}
	r.inner(flags)
	return c.out.Flush() // the body may go on for long, or fail: this result stands
}
