package parse

import (
	"context"
	"strconv"
	"strings"
	"time"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/sqlerr"
)

// Hooks deliver the statements that only Moka has. A hook turns a parsed statement into what the engine
// executes, as a rule an ast.InjectedStatement. Each may be nil.
type Hooks struct {
	CreateObserver     func(context.Context, CreateObserver) (ast.Statement, error)
	DropObserver       func(context.Context, DropObserver) (ast.Statement, error)
	AlterObserver      func(context.Context, AlterObserver) (ast.Statement, error)
	ShowObservers      func(context.Context, ShowObservers) (ast.Statement, error)
	ShowCreateObserver func(context.Context, ShowCreateObserver) (ast.Statement, error)
	ExplainObserver    func(context.Context, ExplainObserver) (ast.Statement, error)
	Notify             func(context.Context, Notify) (ast.Statement, error)
	WaitForObservers   func(context.Context, WaitForObservers) (ast.Statement, error)
	CreateIncremental  func(context.Context, CreateIncremental) (ast.Statement, error)
	Incremental        func(context.Context, Incremental) (ast.Statement, error)
	CheckTable         func(context.Context, CheckTable) (ast.Statement, error)
	CreateLike         func(context.Context, CreateLike) (ast.Statement, error)
	// RenameTables is for renames that name databases, and all of ALTER TABLE; a nil statement leaves them to
	// the planner.
	RenameTables func(ctx context.Context, all []Rename, alter bool) (ast.Statement, error)
	// ShowEngineStatus is SHOW ENGINE InnoDB STATUS, whatever the engine is called.
	ShowEngineStatus func(context.Context) (ast.Statement, error)
	// FlushLogs is FLUSH [SLOW] LOGS; Flush is one of what cannot be stale.
	FlushLogs, Flush func(context.Context) (ast.Statement, error)
	// ResetPersist is RESET PERSIST; name is empty for all variables.
	ResetPersist func(ctx context.Context, name string, ifExists bool) (ast.Statement, error)
	// Nothing is a statement that succeeds: there is nothing to do. ShowErrors is SHOW ERRORS.
	Nothing, ShowErrors func(context.Context) (ast.Statement, error)

	// Call is CALL in a statement of a client or, inner, of a trigger or an event; nil leaves it to the
	// library.
	Call func(call *ast.Call, inner bool) ast.Statement
	// CreateRoutine is CREATE PROCEDURE and CREATE FUNCTION, DropRoutine is DROP FUNCTION.
	CreateRoutine     func(context.Context, Routine) (ast.Statement, error)
	DropRoutine       func(context.Context, RoutineName) (ast.Statement, error)
	ShowCreateRoutine func(context.Context, RoutineName) (ast.Statement, error)
	// TriggerBody takes the place of the body in CREATE TRIGGER: the planner binds what stands there, and has
	// no use for it. The body is in the text that is stored. See ParseTrigger.
	TriggerBody func() ast.Statement
	// StoredFunction says whether there is a stored function of the name; db is empty for the current
	// database.
	StoredFunction func(ctx context.Context, db, name string) bool
	// ThroughView writes a statement that writes to a view anew, as one on the table below; joins
	// with USING and NATURAL, of which there may be some if joins is set, as joins with ON. What it
	// gives back is not kept. stars says that the columns for which SELECT * stands may be very many.
	ThroughView func(ctx context.Context, stmt ast.Statement, joins, stars bool) (ast.Statement, error)

	// Account is CREATE USER, GRANT and all that is about accounts; nil leaves what it knows
	// of them to the grammar.
	Account func(context.Context, account.Statement) (ast.Statement, error)

	// CompleteOrder says which bound columns to write in front of ORDER BY (see completeOrder), nil for none.
	// db is empty for the current database, names are in lower case. It should answer only when an index
	// begins with the returned columns followed by order, no index gives the order as it is, and each
	// returned column has one value under its comparison: a text column only with Text, other types always.
	CompleteOrder func(ctx context.Context, db, table string, eq []EqualColumn, order []string) []string
}

// CreateLike is CREATE TABLE … LIKE.
type CreateLike struct {
	Table, Source          Name
	Temporary, IfNotExists bool
	Auth                   ast.AuthInformation
}

// CheckTable is CHECK TABLE and ADMIN CHECK TABLE, or CHECKSUM TABLE.
type CheckTable struct {
	Tables   []Name
	Checksum bool
	Quick    bool
}

// Name is a possibly qualified name as written; an empty Database means the current one.
type Name struct {
	Database, Name string
}

func (n Name) String() string {
	if n.Database != "" {
		return quoteName(n.Database) + "." + quoteName(n.Name)
	}
	return quoteName(n.Name)
}

func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// Event is a set of events.
type Event uint8

const (
	OnInsert Event = 1 << iota
	OnUpdate
	OnDelete
	OnNotify // weak notification
)

// String writes the events as in the statement.
func (e Event) String() string {
	var parts []string
	for i, name := range []string{"INSERT", "UPDATE", "DELETE", "NOTIFY"} {
		if e&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " OR ")
}

// CreateObserver is
//
//	CREATE OBSERVER [IF NOT EXISTS] name AFTER INSERT | UPDATE [OF col, …] | DELETE [OR …] | NOTIFY
//	  ON table FOR EACH ROW [WITH (option = value, …)] [WITH BACKFILL] body
type CreateObserver struct {
	Observer    Name
	IfNotExists bool
	Table       Name
	Events      Event
	Of          []string          // the columns of UPDATE OF, as written; empty for all
	Options     map[string]string // names in lower case, values without quotes
	Backfill    bool              // WITH BACKFILL
	Body        string            // one statement, without what follows it
	BodyStart   int               // its offset in Text
	Text        string            // the whole statement as the user wrote it
}

// TriggerText writes the body as the body of an ordinary trigger for event ("INSERT", "UPDATE" or "DELETE"):
// the form in which the engine's planner can bind and analyze it. bodyStart is where the body begins in it.
func (c CreateObserver) TriggerText(event string) (text string, bodyStart int) {
	head := "CREATE TRIGGER " + quoteName(c.Observer.Name) + " AFTER " + event + " ON " + c.Table.String() +
		" FOR EACH ROW "
	return head + c.Body, len(head)
}

// DropObserver is DROP OBSERVER [IF EXISTS] name.
type DropObserver struct {
	Observer Name
	IfExists bool
}

// ObserverAction is what ALTER OBSERVER does.
type ObserverAction uint8

const (
	EnableObserver ObserverAction = iota + 1
	DisableObserver
	RetryFailedObserver
	SetObserver
	PauseObserver
	ResumeObserver
	ReplayObserver
	ReplaceObserver // AS body
	DiscardFailedObserver
)

// AlterObserver is ALTER OBSERVER name ENABLE [WITH REPLAY] | DISABLE | PAUSE | RESUME |
// RETRY | DISCARD FAILED [WHERE condition] | WITH (option = value, …) | AS body, and REPLAY OBSERVER name.
type AlterObserver struct {
	Observer Name
	Action   ObserverAction
	Options  map[string]string // of SetObserver, as in CreateObserver
	Replay   bool              // of EnableObserver: WITH REPLAY
	Body     string            // of ReplaceObserver, as in CreateObserver
	Written  string            // the body as the user wrote it
	// Failed, of what is about failed runs, is the parsed SELECT * FROM moka.observer_errors WHERE condition;
	// nil for all of them.
	Failed *ast.Select
}

// ShowObservers is SHOW OBSERVERS [FROM db] [LIKE 'pattern'].
type ShowObservers struct {
	Database string
	Like     string // empty for all
}

// ShowCreateObserver is SHOW CREATE OBSERVER name.
type ShowCreateObserver struct {
	Observer Name
}

// ExplainObserver is EXPLAIN OBSERVER name.
type ExplainObserver struct {
	Observer Name
}

// Notify is NOTIFY table [WHERE condition].
type Notify struct {
	Table Name
	// Where is the condition's text, empty for all rows.
	Where string
	// Rows is the parsed SELECT * FROM table WHERE condition; the engine can plan it to find the rows.
	Rows *ast.Select
}

// createObserver parses the head by hand and the body as that of a trigger, so that the grammar itself finds
// the end of a BEGIN … END block.
func (r *rewriter) createObserver(ctx context.Context, l *lexer, o ast.ParserOptions) (ast.Statement, int,
	bool, error) {
	if !r.stored && strings.ContainsAny(r.src, "?:") {
		if err := r.noParameters(*l); err != nil {
			return nil, 0, true, err
		}
	}
	t := l.next()
	if l.is(t, "incremental") {
		return r.createIncremental(ctx, l, o)
	}
	if !l.is(t, "observer") {
		r.definer(*l, t)
		if r.parser.hooks.CreateRoutine != nil {
			if ours, err := r.createRoutine(*l, t); ours {
				return nil, 0, err != nil, err
			}
		}
		r.triggerBody(*l, t)
		return nil, 0, false, nil
	}
	var c CreateObserver
	fail := func(err error) (ast.Statement, int, bool, error) { return nil, 0, true, err }
	t = l.next()
	if l.is(t, "if") {
		if err := r.words(l, "not", "exists"); err != nil {
			return fail(err)
		}
		c.IfNotExists = true
		t = l.next()
	}
	var err error
	if c.Observer, t, err = r.qualified(l, t); err != nil {
		return fail(err)
	}
	if !l.is(t, "after") {
		return fail(r.errAt(t))
	}
	if t, err = r.events(l, &c); err != nil {
		return fail(err)
	}
	if !l.is(t, "on") {
		return fail(r.errAt(t))
	}
	if c.Table, t, err = r.qualified(l, l.next()); err != nil {
		return fail(err)
	}
	if !l.is(t, "for") {
		return fail(r.errAt(t))
	}
	if err = r.words(l, "each", "row"); err != nil {
		return fail(err)
	}
	if t, err = r.options(l, l.next(), &c.Options); err != nil {
		return fail(err)
	}
	if l.is(t, "with") && backfill(*l) {
		l.next()
		c.Backfill, t = true, l.next()
	}
	if t.kind == eof || l.isByte(t, ';') {
		return fail(sqlerr.Syntax(r.src, t.start))
	}
	c.BodyStart = t.start
	end, err := r.body(ctx, &c, o)
	if err != nil {
		return fail(err)
	}
	if r.parser.hooks.CreateObserver == nil {
		return fail(unsupported("CREATE OBSERVER"))
	}
	stmt, err := r.parser.hooks.CreateObserver(ctx, c)
	return stmt, end, true, err
}

// backfill reports whether BACKFILL follows, and is not the name of a table that the body begins with.
func backfill(l lexer) bool {
	if !l.is(l.next(), "backfill") {
		return false
	}
	t := l.next()
	return !l.is(t, "as") && !l.isByte(t, '(')
}

// noParameters refuses a parameter in what is stored to be run later; l is behind CREATE. It would have no
// value then, and everybody who fires a trigger got the error.
func (r *rewriter) noParameters(l lexer) error {
	stored := false
	for t := l.next(); t.kind != eof; t = l.next() {
		switch {
		case !stored:
			if l.is(t, "table") || l.is(t, "view") || l.is(t, "index") || l.is(t, "user") || l.is(t, "role") {
				return nil
			}
			stored = l.is(t, "trigger") || l.is(t, "observer") || l.is(t, "procedure") ||
				l.is(t, "function") || l.is(t, "event")
		case t.kind == param && !labels(l.text(t)):
			return r.errAt(t)
		}
	}
	return nil
}

// labels reports whether what the lexer takes for a parameter is the end of a label and what it names.
func labels(param string) bool {
	switch strings.ToLower(param) {
	case ":begin", ":loop", ":while", ":repeat":
		return true
	}
	return false
}

// events parses the list behind AFTER.
func (r *rewriter) events(l *lexer, c *CreateObserver) (token, error) {
	for {
		t := l.next()
		var e Event
		switch {
		case l.is(t, "insert"):
			e = OnInsert
		case l.is(t, "update"):
			e = OnUpdate
		case l.is(t, "delete"):
			e = OnDelete
		case l.is(t, "notify"):
			e = OnNotify
		default:
			return t, r.errAt(t)
		}
		// An event twice says nothing; NOTIFY stands alone, because a weak notification has no change to look
		// at.
		if c.Events&e != 0 || (e == OnNotify && c.Events != 0) || c.Events&OnNotify != 0 {
			return t, r.errAt(t)
		}
		c.Events |= e
		t = l.next()
		if e == OnUpdate && l.is(t, "of") {
			for {
				col := l.next()
				if col.kind != word && col.kind != quoted {
					return col, r.errAt(col)
				}
				c.Of = append(c.Of, l.name(col))
				if t = l.next(); !l.isByte(t, ',') {
					break
				}
			}
		}
		if !l.is(t, "or") {
			return t, nil
		}
	}
}

// options parses [WITH (name = value, …)] from t on, and returns the first token behind it. WITH not followed
// by a parenthesis is the beginning of the body.
func (r *rewriter) options(l *lexer, t token, options *map[string]string) (token, error) {
	if !l.is(t, "with") {
		return t, nil
	}
	after := l.pos
	if open := l.next(); !l.isByte(open, '(') {
		l.pos = after
		return t, nil
	}
	set := map[string]string{}
	*options = set
	for {
		name := l.next()
		if name.kind != word && name.kind != quoted {
			return t, r.errAt(name)
		}
		if eq := l.next(); !l.isByte(eq, '=') {
			return t, r.errAt(eq)
		}
		v := l.next()
		switch v.kind {
		case word, num:
			set[strings.ToLower(l.name(name))] = l.text(v)
		case str:
			s := l.text(v)
			set[strings.ToLower(l.name(name))] = strings.Trim(s, s[:1])
		default:
			return t, r.errAt(v)
		}
		sep := l.next()
		if l.isByte(sep, ')') {
			return l.next(), nil
		}
		if !l.isByte(sep, ',') {
			return t, r.errAt(sep)
		}
	}
}

// body parses the body in a trigger's clothes and returns where the next statement begins in the user's text.
func (r *rewriter) body(ctx context.Context, c *CreateObserver, o ast.ParserOptions) (int, error) {
	c.Body = r.src[c.BodyStart:]
	if last, ok := bareBody(&lexer{s: r.src, pos: c.BodyStart, ansi: r.ansi}); ok {
		return r.wrapBody(ctx, c, o, last)
	}
	// A trigger for UPDATE is the shape that has both OLD and NEW.
	text, start := c.TriggerText("UPDATE")
	end, located, err := parseBody(ctx, text, start, o)
	if located {
		return 0, sqlerr.Syntax(r.src, max(end-start, 0)+c.BodyStart)
	}
	if err != nil {
		return 0, err
	}
	end = min(max(end-start+c.BodyStart, c.BodyStart), len(r.src))
	c.Body = strings.TrimRight(r.src[c.BodyStart:end], " \t\r\n;")
	c.Text = strings.TrimRight(r.src[:end], " \t\r\n;")
	lead := len(c.Text) - len(strings.TrimLeft(c.Text, " \t\r\n"))
	c.Text, c.BodyStart = c.Text[lead:], c.BodyStart-lead
	return end, nil
}

func (r *rewriter) dropObserver(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	t := l.next()
	if l.is(t, "function") && r.parser.hooks.DropRoutine != nil {
		return r.dropRoutine(ctx, l)
	}
	if l.is(t, "incremental") {
		return r.incremental(ctx, l, DropIncremental)
	}
	if !l.is(t, "observer") {
		return nil, 0, false, nil
	}
	var d DropObserver
	t = l.next()
	if l.is(t, "if") {
		if err := r.words(l, "exists"); err != nil {
			return nil, 0, true, err
		}
		d.IfExists = true
		t = l.next()
	}
	var err error
	if d.Observer, t, err = r.qualified(l, t); err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "DROP OBSERVER", r.parser.hooks.DropObserver, d)
}

func (r *rewriter) alterObserver(ctx context.Context, l *lexer, o ast.ParserOptions) (ast.Statement, int,
	bool, error) {
	head := *l
	t := l.next()
	if !l.is(t, "observer") {
		r.alterView(t)
		return nil, 0, false, nil
	}
	var a AlterObserver
	var err error
	if a.Observer, t, err = r.qualified(l, l.next()); err != nil {
		return nil, 0, true, err
	}
	switch {
	case l.is(t, "enable"):
		a.Action = EnableObserver
		if t = l.next(); l.is(t, "with") {
			if err := r.words(l, "replay"); err != nil {
				return nil, 0, true, err
			}
			a.Replay, t = true, l.next()
		}
		return deliver(r, ctx, l, t, "ALTER OBSERVER", r.parser.hooks.AlterObserver, a)
	case l.is(t, "disable"):
		a.Action = DisableObserver
	case l.is(t, "pause"):
		a.Action = PauseObserver
	case l.is(t, "resume"):
		a.Action = ResumeObserver
	case l.is(t, "retry"), l.is(t, "discard"):
		if a.Action = RetryFailedObserver; l.is(t, "discard") {
			a.Action = DiscardFailedObserver
		}
		if err := r.words(l, "failed"); err != nil {
			return nil, 0, true, err
		}
		if t = l.next(); l.is(t, "where") {
			return r.whereFailed(ctx, a, t, o)
		}
		return deliver(r, ctx, l, t, "ALTER OBSERVER", r.parser.hooks.AlterObserver, a)
	case l.is(t, "as"):
		return r.replaceBody(ctx, l, a, head, o)
	case l.is(t, "with"):
		a.Action = SetObserver
		if t, err = r.options(l, t, &a.Options); err != nil {
			return nil, 0, true, err
		}
		if a.Options == nil {
			return nil, 0, true, r.errAt(t)
		}
		return deliver(r, ctx, l, t, "ALTER OBSERVER", r.parser.hooks.AlterObserver, a)
	default:
		return nil, 0, true, r.errAt(t)
	}
	return deliver(r, ctx, l, l.next(), "ALTER OBSERVER", r.parser.hooks.AlterObserver, a)
}

// replaceBody parses ALTER OBSERVER name AS body; head is where its first words begin.
func (r *rewriter) replaceBody(ctx context.Context, l *lexer, a AlterObserver, head lexer,
	o ast.ParserOptions) (ast.Statement, int, bool, error) {
	fail := func(err error) (ast.Statement, int, bool, error) { return nil, 0, true, err }
	if !r.stored {
		if err := r.noParameters(head); err != nil {
			return fail(err)
		}
	}
	t := l.next()
	if t.kind == eof || l.isByte(t, ';') {
		return fail(sqlerr.Syntax(r.src, t.start))
	}
	// The table is the observer's, whatever it is called.
	c := CreateObserver{Observer: a.Observer, Table: Name{Name: "t"}, BodyStart: t.start}
	end, err := r.body(ctx, &c, o)
	if err != nil {
		return fail(err)
	}
	if r.parser.hooks.AlterObserver == nil {
		return fail(unsupported("ALTER OBSERVER"))
	}
	a.Action, a.Body, a.Written = ReplaceObserver, c.Body, c.Text[c.BodyStart:]
	stmt, err := r.parser.hooks.AlterObserver(ctx, a)
	return stmt, end, true, err
}

// whereFailed parses the condition of RETRY | DISCARD FAILED WHERE, which begins at where.
func (r *rewriter) whereFailed(ctx context.Context, a AlterObserver, where token,
	o ast.ParserOptions) (ast.Statement, int, bool, error) {
	sel, end, err := r.condition(ctx, Name{"moka", "observer_errors"}, where, o)
	if err == nil && r.parser.hooks.AlterObserver == nil {
		err = unsupported("ALTER OBSERVER")
	}
	if err != nil {
		return nil, 0, true, err
	}
	a.Failed = sel
	stmt, err := r.parser.hooks.AlterObserver(ctx, a)
	return stmt, end, true, err
}

// condition parses [WHERE condition] from t on as that of SELECT * FROM a table. end is where it ends.
func (r *rewriter) condition(ctx context.Context, table Name, t token, o ast.ParserOptions) (sel *ast.Select,
	end int, err error) {
	head, rest := "select * from "+table.String()+" ", r.src[t.start:]
	stmt, end, err := ast.ParseOneWithOptions(ctx, head+rest, o)
	if err != nil {
		if at, ok := errorAt(ctx, head+rest, o, err); ok {
			err = sqlerr.Syntax(r.src, max(at-len(head), 0)+t.start)
		}
		return nil, 0, err
	}
	sel, ok := stmt.(*ast.Select)
	if !ok || sel.Limit != nil || len(sel.OrderBy) > 0 || len(sel.GroupBy) > 0 || sel.Having != nil ||
		hasLock(sel.Lock) || sel.Into != nil {
		return nil, 0, sqlerr.Syntax(r.src, t.end)
	}
	return sel, min(max(end-len(head)+t.start, t.start), len(r.src)), nil
}

func (r *rewriter) replayObserver(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	if err := r.words(l, "observer"); err != nil {
		return nil, 0, true, err
	}
	name, t, err := r.qualified(l, l.next())
	if err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "REPLAY OBSERVER", r.parser.hooks.AlterObserver,
		AlterObserver{Observer: name, Action: ReplayObserver})
}

func (r *rewriter) showObservers(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	var s ShowObservers
	t := l.next()
	if l.is(t, "from") || l.is(t, "in") {
		db := l.next()
		if db.kind != word && db.kind != quoted {
			return nil, 0, true, r.errAt(db)
		}
		s.Database, t = l.name(db), l.next()
	}
	if l.is(t, "like") {
		p := l.next()
		if p.kind != str {
			return nil, 0, true, r.errAt(p)
		}
		text := l.text(p)
		s.Like, t = strings.Trim(text, text[:1]), l.next()
	}
	return deliver(r, ctx, l, t, "SHOW OBSERVERS", r.parser.hooks.ShowObservers, s)
}

func (r *rewriter) showCreateObserver(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	name, t, err := r.qualified(l, l.next())
	if err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "SHOW CREATE OBSERVER", r.parser.hooks.ShowCreateObserver,
		ShowCreateObserver{name})
}

// explainObserver parses EXPLAIN OBSERVER name, the lexer standing behind EXPLAIN. EXPLAIN observer is about
// a table of that name.
func (r *rewriter) explainObserver(ctx context.Context, l lexer) (ast.Statement, int, bool, error) {
	if !l.is(l.next(), "observer") {
		return nil, 0, false, nil
	}
	first := l.next()
	if first.kind != word && first.kind != quoted {
		return nil, 0, false, nil
	}
	name, t, err := r.qualified(&l, first)
	if err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, &l, t, "EXPLAIN OBSERVER", r.parser.hooks.ExplainObserver, ExplainObserver{name})
}

// notify parses NOTIFY table [WHERE condition]; the condition is parsed as that of a SELECT.
func (r *rewriter) notify(ctx context.Context, l *lexer, o ast.ParserOptions) (ast.Statement, int,
	bool, error) {
	fail := func(err error) (ast.Statement, int, bool, error) { return nil, 0, true, err }
	name, t, err := r.qualified(l, l.next())
	if err != nil {
		return fail(err)
	}
	n := Notify{Table: name}
	if t.kind != eof && !l.isByte(t, ';') && !l.is(t, "where") {
		return fail(r.errAt(t))
	}
	sel, end, err := r.condition(ctx, name, t, o)
	if err != nil {
		return fail(err)
	}
	n.Rows = sel
	if l.is(t, "where") {
		n.Where = strings.TrimSpace(strings.TrimRight(r.src[t.end:end], " \t\r\n;"))
	}
	if r.parser.hooks.Notify == nil {
		return fail(unsupported("NOTIFY"))
	}
	out, err := r.parser.hooks.Notify(ctx, n)
	return out, end, true, err
}

// WaitForObservers is WAIT FOR OBSERVERS [name [, name] …] [TIMEOUT seconds].
type WaitForObservers struct {
	Observers []Name // none: all that are of the session's business
	// Timeout bounds the wait; negative: nothing does.
	Timeout time.Duration
}

func (r *rewriter) waitForObservers(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	fail := func(err error) (ast.Statement, int, bool, error) { return nil, 0, true, err }
	if err := r.words(l, "for", "observers"); err != nil {
		return fail(err)
	}
	w := WaitForObservers{Timeout: -1}
	t := l.next()
	if !r.timeout(*l, t) && t.kind != eof && !l.isByte(t, ';') {
		for {
			var name Name
			var err error
			if name, t, err = r.qualified(l, t); err != nil {
				return fail(err)
			}
			w.Observers = append(w.Observers, name)
			if !l.isByte(t, ',') {
				break
			}
			t = l.next()
		}
	}
	if l.is(t, "timeout") {
		n := l.next()
		if n.kind != num {
			return fail(r.errAt(n))
		}
		// Its fraction is tokens of its own: a point, and digits right behind it.
		if l.pos < len(l.s) && l.s[l.pos] == '.' {
			l.next()
			if l.pos < len(l.s) && l.s[l.pos] >= '0' && l.s[l.pos] <= '9' {
				l.next()
			}
			n.end = l.pos
		}
		s, err := strconv.ParseFloat(l.text(n), 64)
		if err != nil {
			return fail(r.errAt(n))
		}
		const most = 365 * 24 * time.Hour
		w.Timeout, t = time.Duration(min(s, most.Seconds())*float64(time.Second)), l.next()
	}
	return deliver(r, ctx, l, t, "WAIT FOR OBSERVERS", r.parser.hooks.WaitForObservers, w)
}

// timeout reports whether t is the word TIMEOUT before a number, and not the name of an observer.
func (r *rewriter) timeout(l lexer, t token) bool { return l.is(t, "timeout") && l.next().kind == num }

// deliver ends a statement at t and hands it to its hook.
func deliver[T any](r *rewriter, ctx context.Context, l *lexer, t token, what string,
	hook func(context.Context, T) (ast.Statement, error), v T) (ast.Statement, int, bool, error) {
	end, err := r.statementEnd(l, t)
	if err != nil {
		return nil, 0, true, err
	}
	if hook == nil {
		return nil, 0, true, unsupported(what)
	}
	stmt, err := hook(ctx, v)
	return stmt, end, true, err
}

// words expects the given keywords.
func (r *rewriter) words(l *lexer, want ...string) error {
	for _, w := range want {
		if t := l.next(); !l.is(t, w) {
			return r.errAt(t)
		}
	}
	return nil
}

// qualified parses name or db.name, t being its first token, and returns the token behind it.
func (r *rewriter) qualified(l *lexer, t token) (Name, token, error) {
	if t.kind != word && t.kind != quoted {
		return Name{}, t, r.errAt(t)
	}
	n := Name{Name: l.name(t)}
	next := l.next()
	if l.isByte(next, '.') {
		part := l.next()
		if part.kind != word && part.kind != quoted {
			return Name{}, part, r.errAt(part)
		}
		n.Database, n.Name = n.Name, l.name(part)
		next = l.next()
	}
	return n, next, nil
}
