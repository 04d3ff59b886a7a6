package engine

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/operator"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Stored procedures and functions. Package routine compiles and runs bodies; here they are stored and found, and meet the session:
// its transaction, its variables, its client.
//
//	CALL p(…)   ──▶ callNode     ─┐                         ┌─▶ session's results (the client's protocol), or kept
//	f(…)        ──▶ storedCall   ─┴▶ routine.Run ──▶ routineHost ──▶ Runner.QueryWithBindings: the statements of the body
//
// A body runs in the database that it belongs to, under the SQL mode that it was created under and, unless it says SQL SECURITY
// INVOKER, as its definer. All of it is one transaction, the caller's if there is one; only COMMIT and its like in a procedure that a
// client has called end it.

// RoutineParser is what the parser has to know beyond sql.Parser for there to be routines of ours.
type RoutineParser interface {
	ParseRoutine(text string, o ast.ParserOptions) (*parse.Routine, error)
	EditBody(in *parse.Routine, stmt ast.Statement) ast.Statement
}

// ResultSink takes a result set for the client, while the statement goes on.
type ResultSink = func(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) error

// Results says where results go that are not the statement's last; nil for nowhere.
func (s *Session) Results(to ResultSink) { s.results = to }

// compiled is a routine as a session has it.
type compiled struct {
	stored  *catalog.Procedure
	parsed  *parse.Routine
	body    *routine.Routine
	invoker bool // SQL SECURITY INVOKER
	definer sql.Client
	lends   asked // when the definer of an INVOKER's routine was last seen to have SET_USER_ID
	under   creation
}

// keptRoutines bounds how many compiled bodies a session keeps.
const keptRoutines = 512

// routine finds a routine and its compiled body; nil if there is none of the name.
func (e *Engine) routine(ctx *sql.Context, kind routine.Kind, db, name string) (*compiled, error) {
	p, ok := e.opts.Parser.(RoutineParser)
	s := sessionOf(ctx)
	if !ok || s == nil || db == "" {
		return nil, nil
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return nil, nil
	}
	find := d.Procedure
	if kind == routine.Function {
		find = d.Function
	}
	stored, ok := find(name)
	if !ok {
		return nil, nil
	}
	if c := s.routines[stored]; c != nil {
		return c, nil
	}
	keeps := s.keepsRoutine(stored)
	if !keeps {
		if err := e.ChargeBody(ctx, stored, len(stored.CreateStatement)); err != nil {
			return nil, err
		}
	}
	parsed, err := p.ParseRoutine(stored.CreateStatement, sql.NewSqlModeFromString(stored.SQLMode).ParserOptions())
	if err != nil {
		return nil, err
	}
	c, err := compile(p, d, parsed)
	if err != nil {
		return nil, err
	}
	c.stored, c.under = stored, creationOf(stored.SQLMode, stored.Spoken)
	if nobody(c.definer) {
		by := definerName(stored.Definer)
		c.definer = sql.Client{User: by.User, Address: by.Host}
	}
	if keeps {
		s.routines[stored] = c
	}
	return c, nil
}

// keepsRoutine charges the session for a compiled routine, that it keeps for its next statements: false if it
// may not. It forgets others for it, which may be those of routines that are gone.
func (s *Session) keepsRoutine(p *catalog.Procedure) bool {
	n := BodyBytes(len(p.CreateStatement))
	keeps := len(s.routines) < keptRoutines && s.Keep(n, "compiled routines") == nil
	if !keeps {
		_ = s.Keep(-s.routineBytes, "compiled routines") // giving back does not fail
		s.routines, s.routineBytes, s.kept = nil, 0, nil
		keeps = s.Keep(n, "compiled routines") == nil
	}
	if keeps {
		s.routineBytes += n
	}
	if s.routines == nil {
		s.routines = map[*catalog.Procedure]*compiled{}
	}
	return keeps
}

func compile(p RoutineParser, d *catalog.Database, parsed *parse.Routine) (*compiled, error) {
	c := &compiled{parsed: parsed}
	deterministic := false
	for _, x := range parsed.Spec.Characteristics {
		switch x.Type {
		case ast.CharacteristicValue_Deterministic:
			deterministic = true
		case ast.CharacteristicValue_SqlSecurityInvoker:
			c.invoker = true
		}
	}
	c.definer = definerOf(parsed.Spec.Definer)
	collation, err := sql.ParseCollation("", d.Collation, false)
	if err != nil || collation == sql.Collation_Unspecified {
		collation = sql.Collation_Default
	}
	c.body, err = parse.CompileRoutine(routine.Spec{
		Kind: parsed.Kind, Database: d.Name, Name: parsed.Name.Name, Params: parsed.Spec.Params, Returns: parsed.Returns, Deterministic: deterministic,
		Body: parsed.Spec.Body, Depth: parse.Depth(parsed.Spec.Body), Collation: collation, Edit: func(s ast.Statement) ast.Statement { return p.EditBody(parsed, s) },
	})
	return c, err
}

// definerOf reads `user`@`host` as the grammar leaves it; CURRENT_USER is nobody, which is who creates the routine.
func definerOf(text string) sql.Client {
	text = strings.NewReplacer("`", "", "'", "", `"`, "").Replace(text)
	if l := strings.ToLower(strings.TrimSpace(text)); l == "" || l == "current_user" || l == "current_user()" {
		return sql.Client{}
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return sql.Client{User: text, Address: "%"}
	}
	return sql.Client{User: text[:at], Address: text[at+1:]}
}

// inRoutine runs f with the session as the body of a routine finds it. view says that it is a view that calls
// it.
func (e *Engine) inRoutine(ctx *sql.Context, c *compiled, view bool, f func() error) error {
	s := sessionOf(ctx)
	definer := c.definer.User + "@" + c.definer.Address
	if err := past.MayCall(ctx, e.accounts(), c.body.Database, definer, c.stored); err != nil {
		return err
	}
	s.calls++
	root, using := s.root, len(s.using)
	if c.body.Kind == routine.Function && root != nil {
		s.using = append(s.using, tablesOf(ctx, root)...)
	}
	if c.body.Kind == routine.Function {
		defer s.aside(ctx)()
	}
	defer func() {
		s.root, s.using = root, s.using[:using]
		if s.calls--; s.calls == 0 {
			s.ending = false
		}
	}()
	if db := s.GetCurrentDatabase(); db != c.body.Database {
		s.SetCurrentDatabase(c.body.Database)
		defer s.SetCurrentDatabase(db)
	}
	run := func() error { return s.under(ctx, c.under, c.body.Kind == routine.Procedure, f) }
	client := s.Client()
	self := c.definer.User == client.User && c.definer.Address == client.Address
	switch {
	case nobody(c.definer):
		return run()
	case c.invoker:
		if !self {
			if err := s.mayLend(ctx, c, view); err != nil {
				return err
			}
		}
		return run()
	case self:
		s.posing++
		defer func() { s.posing-- }()
		return run()
	}
	return s.ActAs(ctx, c.definer.User, c.definer.Address, run)
}

// become makes another account the one whose privileges count.
func (s *Session) become(c sql.Client) {
	s.SetClient(c)
	s.SetPrivilegeSet(nil, 0)
}

// routineHost is routine.Host for a session. Routines that a routine calls use the same one, except for functions.
type routineHost struct {
	eng     *Engine
	session *Session
	body    *Body // of a trigger or an observer; nil in procedures and functions
	// refuse is the error of a result set where none may be: in functions and triggers. They may not end the transaction either.
	refuse error
	// the last result, where nobody takes results
	schema sql.Schema
	rows   []sql.Row
}

var _ routine.Host = (*routineHost)(nil)

// Query implements routine.Host.
func (h *routineHost) Query(ctx *sql.Context, stmt ast.Statement, text string) (sql.Schema, sql.RowIter, error) {
	if h.refuse != nil && ends(stmt, text) {
		return nil, nil, sqlerr.New(sqlerr.CommitNotAllowed, "Explicit or implicit commit is not allowed in stored function or trigger.")
	}
	if h.refuse != nil && dynamic(stmt) { // of a procedure that a function calls
		return nil, nil, sqlerr.New(sqlerr.NotInFunction,
			"Dynamic SQL is not allowed in stored function or trigger")
	}
	if h.refuse != nil && setsAutocommit(stmt) {
		return nil, nil, sqlerr.New(sqlerr.AutocommitInFunction, "Not allowed to set autocommit from a stored function or trigger")
	}
	var k *keptStatement
	learn := false
	if text == "" {
		schema, rows, done, known, wants, err := h.statement(ctx, stmt)
		if done || err != nil {
			return schema, rows, err
		}
		k, learn = known, wants
	}
	var schema sql.Schema
	var rows sql.RowIter
	var err error
	if h.body != nil {
		schema, rows, err = h.run(ctx, stmt, k)
	} else if err = h.enter(ctx, stmt); err != nil {
		return nil, nil, err
	} else if stmt, err = h.eng.belowView(ctx, stmt, true); err == nil {
		schema, rows, _, err = h.eng.sql.Analyzer.Runner.QueryWithBindings(ctx, text, stmt, nil, nil)
	}
	if err == nil && learn {
		rows = &learning{rows, k, schema}
	}
	return schema, rows, err
}

// enter is Session.enter for a statement of a body.
func (h *routineHost) enter(ctx *sql.Context, stmt ast.Statement) error {
	if err := h.session.prepared.Reads(ctx, h.session, stmt); err != nil {
		return err
	}
	if commitsFirst(stmt) {
		if err := h.session.commitOpen(ctx); err != nil {
			return err
		}
	}
	if h.session.tables != nil {
		return h.session.mayUse(ctx, stmt)
	}
	return nil
}

// ends reports whether the statement ends the transaction.
func ends(stmt ast.Statement, text string) bool {
	switch s := stmt.(type) {
	case *ast.Begin, *ast.Commit, *ast.Rollback, *ast.DBDDL, *ast.AlterTable:
		return true
	case *ast.DDL:
		return !s.Temporary
	case ast.InjectedStatement: // of ours
		d, ok := s.Statement.(system.Ending)
		return ok && d.EndsTransaction()
	}
	return text != ""
}

// Result implements routine.Host.
func (h *routineHost) Result(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) error {
	if h.refuse != nil {
		_ = rows.Close(ctx)
		return h.refuse
	}
	if to := h.session.results; to != nil {
		return to(ctx, schema, rows)
	}
	kept, _, err := h.Keep(ctx, rows)
	h.schema, h.rows = schema, kept
	return err
}

// Keep implements routine.Host.
func (h *routineHost) Keep(ctx *sql.Context, rows sql.RowIter) ([]sql.Row, func(), error) {
	c := h.eng.memory.Charge(ctx, "cursor", sqlerr.CapacityExceeded)
	var kept []sql.Row
	for {
		row, err := rows.Next(ctx)
		if err == nil {
			kept = append(kept, row)
			err = c.Add(operator.RowBytes(row))
		}
		if err == nil {
			continue
		}
		if cerr := rows.Close(ctx); err == io.EOF {
			err = cerr
		}
		if err != nil {
			c.Release()
			return nil, nil, err
		}
		return kept, c.Release, nil
	}
}

// Lost implements routine.Host.
func (h *routineHost) Lost(ctx *sql.Context) bool {
	tx, ok := ctx.GetTransaction().(*Tx)
	return ok && (tx.over() || tx.lost != nil)
}

// RecursionLimit implements routine.Host.
func (h *routineHost) RecursionLimit(ctx *sql.Context) int {
	v, err := ctx.GetSessionVariable(ctx, "max_sp_recursion_depth")
	if err != nil {
		return 0
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil || n == nil {
		return 0
	}
	return int(n.(int64))
}

// currentDatabase is the database of a name that may have none.
func currentDatabase(ctx *sql.Context, n parse.Name) (string, error) {
	if n.Database != "" {
		return n.Database, nil
	}
	if db := ctx.GetCurrentDatabase(); db != "" {
		return db, nil
	}
	return "", sqlerr.New(sqlerr.NoDatabase, "No database selected")
}

// CreateRoutine is CREATE PROCEDURE and CREATE FUNCTION.
func (e *Engine) CreateRoutine(_ context.Context, r parse.Routine) (ast.Statement, error) {
	auth := ast.AuthInformation{AuthType: ast.AuthType_CREATE_ROUTINE, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{r.Name.Database}}
	return routineDDL("CREATE "+string(r.Kind), auth, func(ctx *sql.Context) error { return e.createRoutine(ctx, r) }), nil
}

func (e *Engine) createRoutine(ctx *sql.Context, r parse.Routine) error {
	p, ok := e.opts.Parser.(RoutineParser)
	if !ok {
		return sqlerr.Unsupported("CREATE " + string(r.Kind))
	}
	db, err := currentDatabase(ctx, r.Name)
	if err != nil {
		return err
	}
	if len(r.Name.Name) > 64 {
		return sqlerr.New(sqlerr.IdentifierTooLong, "Identifier name '%s' is too long", r.Name.Name)
	}
	return e.ddl(ctx, func(tx *Tx) error {
		snap, err := e.catalog.Snapshot(ctx, tx.store())
		if err != nil {
			return err
		}
		d, ok := snap.Database(db)
		if !ok {
			return &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: db}
		}
		exists, create := d.Procedure, e.catalog.CreateProcedure
		if r.Kind == routine.Function {
			exists, create = d.Function, e.catalog.CreateFunction
		}
		if _, ok := exists(r.Name.Name); ok {
			err := sqlerr.New(sqlerr.ProcedureExists, "%s %s already exists", r.Kind, r.Name.Name)
			if r.IfNotExists {
				ctx.Session.Warn(&sql.Warning{Level: "Note", Code: err.Num, Message: err.Message})
				return nil
			}
			return err
		}
		if err := parse.BodyFits(r.Name.Name, len(r.Text), 0); err != nil {
			return err
		}
		if err := e.ChargeBody(ctx, &r, len(r.Text)); err != nil {
			return err
		}
		// What is compiled is thrown away: the body is parsed again from its text, by each session that runs it.
		if _, err := compile(p, d, &r); err != nil {
			return err
		}
		now := time.Now().UTC().Truncate(time.Second)
		definer, _, err := e.newDefiner(ctx, r.Spec.Definer)
		if err != nil {
			return err
		}
		return create(ctx, tx.store(), d.Name, catalog.Procedure{
			Name: r.Name.Name, CreateStatement: r.Text, SQLMode: sqlMode(ctx), Spoken: SpokenOf(ctx),
			Definer: definer, Created: now, Modified: now,
		})
	})
}

// DropRoutine is DROP FUNCTION.
func (e *Engine) DropRoutine(_ context.Context, r parse.RoutineName) (ast.Statement, error) {
	auth := ast.AuthInformation{AuthType: ast.AuthType_ALTER_ROUTINE, TargetType: ast.AuthTargetType_DatabaseIdentifiers, TargetNames: []string{r.Name.Database}}
	return routineDDL("DROP "+string(r.Kind), auth, func(ctx *sql.Context) error {
		db, err := currentDatabase(ctx, r.Name)
		if err != nil {
			return err
		}
		return e.removal(ctx, func(tx *Tx) error {
			drop := e.catalog.DropProcedure
			if r.Kind == routine.Function {
				drop = e.catalog.DropFunction
			}
			err := drop(ctx, tx.store(), db, r.Name.Name)
			if nf, ok := err.(*catalog.NotFoundError); ok && nf.Kind != catalog.KindDatabase {
				missing := noRoutine(r.Kind, db, r.Name.Name)
				if r.IfExists {
					ctx.Session.Warn(&sql.Warning{Level: "Note", Code: missing.Num, Message: missing.Message})
					return nil
				}
				return missing
			}
			return err
		})
	}), nil
}

// ddlStatement is a statement of ours that changes the schema.
type ddlStatement struct {
	*system.Report
	temporary bool // of a temporary table
}

// EndsTransaction implements system.Ending.
func (d *ddlStatement) EndsTransaction() bool { return !d.temporary }

func routineDDL(what string, auth ast.AuthInformation, f func(*sql.Context) error) ast.Statement {
	return ast.InjectedStatement{Auth: auth, Statement: &ddlStatement{system.NewReport(what, nil, func(ctx *sql.Context) ([]sql.Row, error) {
		if err := f(ctx); err != nil {
			return nil, err
		}
		// Within BEGIN the library commits for statements that it knows as DDL.
		s := sessionOf(ctx)
		if t := ctx.GetTransaction(); s != nil && t != nil {
			return nil, s.CommitTransaction(ctx, t)
		}
		return nil, nil
	}), false}}
}

func (d *ddlStatement) IsReadOnly() bool                                         { return false }
func (d *ddlStatement) WithResolvedChildren(context.Context, []any) (any, error) { return d, nil }
func (d *ddlStatement) WithChildren(*sql.Context, ...sql.Node) (sql.Node, error) { return d, nil }

func dynamic(stmt ast.Statement) bool {
	switch stmt.(type) {
	case *ast.Prepare, *ast.Execute, *ast.Deallocate:
		return true
	}
	return false
}
