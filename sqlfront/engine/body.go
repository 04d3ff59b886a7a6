package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Body is the body of a trigger or an observer, compiled once and run for any number of rows:
//
//	text ──parse──▶ tree ──routine.Compile──▶ Routine, in which NEW.c and OLD.c are variables
//	                                             │ Run(old, new): a frame with the rows in it
//	                                             ▼
//	             routineHost: each statement by its plan of the plan cache (routine_fast.go), or
//	                          analysed once (bodystmt.go), or bound anew
//
// It keeps state in the trees of its statements: one run at a time, and after a run that failed it is thrown away. It is right for
// the version of the catalog that it was compiled under.
type Body struct {
	eng     *Engine
	routine *routine.Routine
	db      string // whose tables the statements mean
	under   creation
	table   uint32 // that waits for it to end; 0 for an observer
	name    string // of the table
	// definer is whose rights the body has; nobody's are those of who fires it, in triggers of releases that did not keep it.
	definer account.Name
	asked   asked // see entitled
	host    routineHost
	kept    map[ast.Statement]*keptStatement
}

// TriggerParser is what the parser has to know beyond sql.Parser to edit the statements of bodies one by one.
type TriggerParser interface {
	ParseTrigger(text string, o ast.ParserOptions) (*ast.DDL, *parse.Routine, error)
	EditBody(in *parse.Routine, stmt ast.Statement) ast.Statement
}

// BodyOf says what a body is of, for the errors of compiling it.
type BodyOf struct {
	// Observer is set for the body of an observer: it assigns nothing to NEW, and all its statements have to be understood.
	Observer bool
	// Answers lets a SELECT of the body have a result, which Rows returns.
	Answers bool
	// Says are variables of the body that are true or false, as Run is told.
	Says []string
	// Spoken is what it was created in.
	Spoken catalog.Spoken
	// Definer is user@host of who has created it, empty if nobody knows.
	Definer string
}

// CompileBody compiles the body of a CREATE TRIGGER, which was created under an SQL mode, for the tables of db.
func (e *Engine) CompileBody(ctx *sql.Context, db, text, mode string, of BodyOf) (*Body, error) {
	d, edit, err := e.triggerTree(text, mode)
	if err != nil {
		return nil, err
	}
	if q := d.Table.DbQualifier.String(); q != "" {
		db = q
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	in, ok := v.snap.Database(db)
	if !ok {
		return nil, &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: db}
	}
	desc, ok := in.Table(d.Table.Name.String())
	if !ok {
		return nil, sql.ErrTableNotFound.New(d.Table.Name.String())
	}
	t, err := v.table(e, in, desc)
	if err != nil {
		return nil, err
	}
	collation, err := sql.ParseCollation("", in.Collation, false)
	if err != nil || collation == sql.Collation_Unspecified {
		collation = sql.Collation_Default
	}
	spec := routine.Spec{
		Kind: routine.Trigger, Database: in.Name, Name: d.TriggerSpec.TrigName.Name.String(), Body: d.TriggerSpec.Body, Depth: parse.Depth(d.TriggerSpec.Body), Collation: collation, Edit: edit,
		Event: strings.ToUpper(d.TriggerSpec.Event) + " trigger",
	}
	var columns []routine.Column
	for _, c := range t.Schema(ctx) {
		columns = append(columns, routine.Column{Name: c.Name, Type: c.Type})
	}
	event := strings.ToLower(d.TriggerSpec.Event)
	if event != ast.InsertStr {
		spec.Old = columns
	}
	if event != ast.DeleteStr {
		spec.New = columns
	}
	switch {
	case of.Observer:
		spec.Says, spec.Answers = of.Says, of.Answers
		spec.Refuse = sqlerr.Unsupported("SET NEW.… in an observer (the change is committed already)")
	case !strings.EqualFold(d.TriggerSpec.Time, ast.BeforeStr):
		spec.Refuse = sql.ErrInvalidUpdateInAfterTrigger.New()
	}
	b := &Body{eng: e, db: in.Name, name: desc.Name, under: creationOf(mode, of.Spoken),
		definer: definerName(of.Definer), kept: map[ast.Statement]*keptStatement{}}
	if !of.Observer {
		b.table = desc.ID
	}
	if b.routine, err = parse.CompileRoutine(spec); err != nil {
		return nil, err
	}
	b.host = routineHost{eng: e, body: b, refuse: sqlerr.New(sqlerr.FunctionResultSet, "Not allowed to return a result set from a trigger")}
	if of.Answers {
		b.host.refuse = nil
	}
	if of.Observer {
		err = b.understand(ctx)
	}
	return b, err
}

// Rows are the last result of the last run.
func (b *Body) Rows() []sql.Row { return b.host.rows }

// ReadsOld are the columns of OLD that the body names.
func (b *Body) ReadsOld() []string { return b.routine.ReadsOld }

// triggerTree parses the text of a trigger; edit is for the statements of its body.
func (e *Engine) triggerTree(text, mode string) (d *ast.DDL, edit func(ast.Statement) ast.Statement, err error) {
	opts := sql.NewSqlModeFromString(mode).ParserOptions()
	if p, ok := e.opts.Parser.(TriggerParser); ok {
		d, in, err := p.ParseTrigger(text, opts)
		return d, func(s ast.Statement) ast.Statement { return p.EditBody(in, s) }, err
	}
	stmt, _, _, err := e.sql.Parser.ParseWithOptions(context.Background(), text, ';', false, opts)
	if err != nil {
		return nil, nil, err
	}
	d, ok := stmt.(*ast.DDL)
	if !ok || d.TriggerSpec == nil {
		return nil, nil, sql.ErrTriggerCreateStatementInvalid.New(text)
	}
	return d, nil, nil
}

// BodyTree is the tree of the body that CompileBody compiles.
func (e *Engine) BodyTree(text, mode string) (ast.Statement, error) {
	d, _, err := e.triggerTree(text, mode)
	if err != nil {
		return nil, err
	}
	return d.TriggerSpec.Body, nil
}

// understand binds and analyses all statements, for the errors that it meets.
func (b *Body) understand(ctx *sql.Context) error {
	s := sessionOf(ctx)
	b.host.session = s
	return s.inBody(ctx, b, func() error {
		for _, stmt := range b.routine.Statements() {
			if _, err := b.eng.heldPlan(ctx, stmt); err != nil {
				return err
			}
		}
		return nil
	})
}

// KeepsBodies reports whether a compiled body of an observer may be run again: the global moka_plan_cache is on. It counts which is the
// case; known says that there is a body.
func (e *Engine) KeepsBodies(known bool) bool {
	_, v, _ := sql.SystemVariables.GetGlobal(VarPlanCache)
	keeps, err := sql.ConvertToBool(nil, v)
	keeps = keeps || err != nil
	if known && keeps {
		e.plans.bodyHits.Add(1)
	} else {
		e.plans.bodyMisses.Add(1)
	}
	return keeps
}

// Run runs the body for one row, in the transaction of ctx, and returns the row that NEW has become. old and now are nil where the
// event has no such row. says are the values of BodyOf.Says.
func (b *Body) Run(ctx *sql.Context, old, now sql.Row, says ...bool) (sql.Row, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, sqlerr.Unsupported("a trigger without a session")
	}
	if tx, err := txOf(ctx); err == nil {
		live, above := tx.live, tx.above
		tx.live, tx.above = true, len(tx.running) // what the statement has written so far is there
		defer func() { tx.live, tx.above = live, above }()
	}
	defer s.aside(ctx)()
	defer s.unwarned()()
	b.host.session = s
	var row sql.Row
	err := s.inBody(ctx, b, func() (err error) {
		row, err = b.routine.Fire(ctx, &b.host, old, now, says...)
		return err
	})
	if err != nil {
		err = newerThan(ctx, sqlerr.OfBody(err))
	}
	if now == nil {
		return nil, err
	}
	return row, err
}

// aside begins a trigger or a function: what its statements say of numbers and rows is forgotten when it
// ends, and its savepoints are its own. Those of who makes it run are put aside: a trigger that rolled back
// to one of them, or to one of another trigger, would undo what others have written, whatever rights its
// definer has. (MySQL puts m_savepoints aside in reset_sub_statement_state.)
func (s *Session) aside(ctx *sql.Context) (end func()) {
	var saved []savepoint
	tx, _ := ctx.GetTransaction().(*Tx)
	if tx != nil {
		saved, tx.saved = tx.saved, nil
	}
	info := s.GetLastQueryInfo()
	id, count, found, inserting, forced := info.LastInsertId.Load(), info.RowCount.Load(), info.FoundRows.Load(), s.inserting, s.forced
	s.inserting, s.forced = nil, forcedID{}
	return func() {
		if tx != nil {
			tx.saved = saved
		}
		info.LastInsertId.Store(id)
		info.RowCount.Store(count)
		info.FoundRows.Store(found)
		s.inserting, s.forced = inserting, forced
	}
}

// inBody runs f with the session as the body finds it: in its database, under its SQL mode, as its definer, with the table that fires it in use.
func (s *Session) inBody(ctx *sql.Context, b *Body, f func() error) error {
	s.calls++
	root, using := s.root, len(s.using)
	s.using = append(s.using, b.table)
	defer func() {
		s.calls--
		s.root, s.using = root, s.using[:using]
	}()
	if db := s.GetCurrentDatabase(); db != b.db {
		s.SetCurrentDatabase(b.db)
		defer s.SetCurrentDatabase(db)
	}
	run := func() error { return s.under(ctx, b.under, false, f) }
	if b.definer.None() {
		return run()
	}
	return s.ActAs(ctx, b.definer.User, b.definer.Host, func() error {
		if err := b.entitled(ctx, s); err != nil {
			return err
		}
		return run()
	})
}

// uses keeps what is fired from tables until end.
func (s *Session) uses(tables []uint32) (end func()) {
	n := len(s.using)
	s.using = append(s.using, tables...)
	return func() { s.using = s.using[:n] }
}

// inUse reports whether a statement that waits for a trigger or a function to end reads or writes the table.
func (s *Session) inUse(t *Table) bool {
	return len(s.using) > 0 && !t.temporary && slices.Contains(s.using, t.desc.ID)
}

// What a stored text means does not depend on who runs it: bodies run under the SQL mode, the character set
// and the collation of the session that has created them, and the literals of a view are of that collation.
// Else SET NAMES binary of a reader would show him the rows that a view keeps from him.

// olderSpoken is what stored texts of older releases are read as.
var olderSpoken = catalog.Spoken{
	CharacterSetClient:  sql.CharacterSet_utf8mb4.Name(),
	CollationConnection: sql.Collation_utf8mb4_0900_ai_ci.Name(),
}

// SpokenOf is what a statement that creates something was said in.
func SpokenOf(ctx *sql.Context) (is catalog.Spoken) {
	if s := sessionOf(ctx); s != nil {
		is.CharacterSetClient, _ = s.text("character_set_client")
		is.CollationConnection, _ = s.text("collation_connection")
	}
	return is.Or(olderSpoken)
}

// creation are what a body runs under.
type creation struct {
	mode string // sql_mode
	catalog.Spoken
}

func creationOf(mode string, is catalog.Spoken) creation { return creation{mode, is.Or(olderSpoken)} }

// values are the creation as variables, by the names that a session keeps them under.
func (c creation) values() map[string]string {
	set := c.CharacterSetClient
	if id, err := sql.ParseCollation("", c.CollationConnection, false); err == nil {
		set = id.CharacterSet().Name()
	}
	return map[string]string{
		"sql_mode": c.mode, "character_set_client": c.CharacterSetClient,
		"character_set_connection": set, "collation_connection": c.CollationConnection,
	}
}

// hold reports whether the session is under the creation.
func (c creation) hold(s *Session) bool {
	if mode, err := s.variable(nil, sql.SqlModeSessionVar); err != nil || mode != any(c.mode) {
		return err != nil
	}
	collation, _ := s.text("collation_connection")
	client, _ := s.text("character_set_client")
	return collation == c.CollationConnection && client == c.CharacterSetClient
}

// keptCreation are creation as values of variables, with what they make of the session's settings.
type keptCreation struct {
	values   map[string]sql.SystemVarValue
	settings *settings
}

// under runs f under creation, called as lending says. A trigger may be fired for each row of a statement,
// so what they make of the session is kept while no variable is set.
func (s *Session) under(ctx *sql.Context, c creation, called bool, f func() error) error {
	c.mode = system.HeededModes(c.mode)
	if c.hold(s) {
		return s.lending(called, f)
	}
	if s.vars.system == nil {
		s.vars.system = map[string]sql.SystemVarValue{}
	}
	cached, kept, greeted := s.cached, s.creations, s.greeted
	m := kept[c]
	if m == nil {
		m = &keptCreation{values: map[string]sql.SystemVarValue{}}
		for name, text := range c.values() {
			v, _, ok := sql.SystemVariables.GetGlobal(name)
			if !ok {
				return sql.ErrUnknownSystemVariable.New(name)
			}
			value, err := systemValue(ctx, v, text)
			if err != nil {
				return err
			}
			m.values[name] = value
		}
	}
	was := make(map[string]lentVariable, len(m.values))
	for name, value := range m.values {
		now, had := s.vars.system[name]
		was[name] = lentVariable{now, had}
		s.vars.system[name] = value
	}
	s.greeted, s.cached = "", m.settings
	if m.settings == nil {
		m.settings = s.settings(ctx)
		if kept == nil {
			kept = map[creation]*keptCreation{}
		}
		kept[c] = m
		s.creations = kept
	}
	err := s.lending(called, f)
	others := s.cached != m.settings // f has set a variable
	for name, v := range was {
		if v.had {
			s.vars.system[name] = v.value
		} else {
			delete(s.vars.system, name)
		}
	}
	s.greeted = greeted
	if s.cached = cached; others {
		s.cached, s.creations = nil, nil
	}
	return err
}

// collationOf is the collation of a stored text's literals where they are to be marked with it: not if the
// session has the same one.
func (s *Session) collationOf(is catalog.Spoken) sql.CollationID {
	id, err := sql.ParseCollation("", is.Or(olderSpoken).CollationConnection, false)
	if err != nil || id == s.GetCollation() {
		return sql.Collation_Unspecified
	}
	return id
}

// triggersTable is information_schema.triggers with what triggers were created in.
func (e *Engine) triggersTable(t sql.Table) sql.Table {
	theirs, ok := t.(*information_schema.InformationSchemaTable)
	if !ok {
		return t
	}
	const database, name, client, collation = 1, 2, 19, 20
	ours := *theirs
	ours.Reader = func(ctx *sql.Context, c sql.Catalog) (sql.RowIter, error) {
		it, err := theirs.Reader(ctx, c)
		if err != nil {
			return nil, err
		}
		v, err := e.viewOf(ctx)
		if err != nil {
			return nil, err
		}
		return &mapRows{it, func(_ *sql.Context, row sql.Row) {
			db, _ := row[database].(string)
			trigger, _ := row[name].(string)
			d, ok := v.snap.Database(db)
			if !ok {
				return
			}
			if stored, ok := d.Trigger(trigger); ok {
				is := stored.Spoken.Or(olderSpoken)
				row[client], row[collation] = is.CharacterSetClient, is.CollationConnection
			}
		}}, nil
	}
	return &ours
}
