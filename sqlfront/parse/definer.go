package parse

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
)

// WithDefiner is the text of a CREATE of a trigger or a routine with another DEFINER clause, in the place of
// the one that it may have. As in MySQL, what is kept begins at the word that says what is created, and the
// marks of executable comments are gone: half of one must not stay. A text in which that word is not found
// comes back as it is.
func WithDefiner(text string, definer account.Name, ansi bool) string {
	text, _ = unwrap(text, ansi)
	text = strings.TrimSpace(text)
	l := lexer{s: text, ansi: ansi}
	if !l.is(l.next(), "create") {
		return text
	}
	t := l.next()
	if l.is(t, "definer") {
		t = l.account()
	}
	for _, w := range []string{"trigger", "procedure", "function"} {
		if l.is(t, w) {
			return "CREATE " + definerClause(definer) + " " + text[t.start:]
		}
	}
	return text
}

// account passes the = and the account of a DEFINER clause, and returns the token behind them.
func (l *lexer) account() token {
	if t := l.next(); !l.isByte(t, '=') {
		return t
	}
	l.next() // the user, or CURRENT_USER
	t := l.next()
	switch {
	case t.kind == variable && l.text(t) == "@": // there is space before the host
		l.next()
		t = l.next()
	case t.kind == variable: // @host, in one
		t = l.next()
	case l.isByte(t, '('): // CURRENT_USER()
		l.next()
		t = l.next()
	}
	return t
}

// TriggerHead is what a trigger's text says but for the body. A trigger is stored as text.
type TriggerHead struct {
	Name            string
	Time, Event     string // as the grammar has them, in small letters
	Database, Table string // Database is empty if the text does not name it
	// Bad: the grammar does not take the text, and the rest is read off its words.
	Bad bool
	// Order is the clause FOLLOWS or PRECEDES, nil without one.
	Order *ast.TriggerOrder
}

// HeadOf is the head that the tree of a CREATE TRIGGER has.
func HeadOf(d *ast.DDL) *TriggerHead {
	return &TriggerHead{
		Name: d.TriggerSpec.TrigName.Name.String(),
		Time: strings.ToLower(d.TriggerSpec.Time), Event: strings.ToLower(d.TriggerSpec.Event),
		Database: d.Table.DbQualifier.String(), Table: d.Table.Name.String(), Order: d.TriggerSpec.Order,
	}
}

// On reports whether the trigger, of a database, is one of a table in it.
func (h *TriggerHead) On(database, table string) bool {
	return strings.EqualFold(h.Table, table) && (h.Database == "" || strings.EqualFold(h.Database, database))
}

// Beside reports whether two triggers of a database fire at the same time: clauses name such.
func (h *TriggerHead) Beside(o *TriggerHead) bool {
	return h.Time == o.Time && h.Event == o.Event && strings.EqualFold(h.Table, o.Table)
}

// TriggerHeads remembers heads by what has the text. It holds neither: a trigger that is refused or
// dropped goes with its text, or whoever makes triggers of megabytes and drops them would fill the memory
// for good.
type TriggerHeads[T any] struct {
	mu    sync.Mutex
	heads map[weak.Pointer[T]]*TriggerHead
}

// maxTriggerHeads bounds what is remembered, for databases whose triggers change all day.
const maxTriggerHeads = 4096

// Of returns the head, which is read once, or once by each who asks at the same time: a long text is
// parsed for seconds, and nobody waits for another's trigger.
func (h *TriggerHeads[T]) Of(of *T, read func(*T) *TriggerHead) *TriggerHead {
	k := weak.Make(of)
	h.mu.Lock()
	head, ok := h.heads[k]
	h.mu.Unlock()
	if ok {
		return head
	}
	head = read(of).alone()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.heads) >= maxTriggerHeads {
		maps.DeleteFunc(h.heads, func(k weak.Pointer[T], _ *TriggerHead) bool { return k.Value() == nil })
	}
	if h.heads == nil || len(h.heads) >= maxTriggerHeads {
		h.heads = map[weak.Pointer[T]]*TriggerHead{}
	}
	h.heads[k] = head
	return head
}

// alone is the head in memory of its own: its names are parts of the text.
func (h *TriggerHead) alone() *TriggerHead {
	c := *h
	for _, s := range []*string{&c.Name, &c.Time, &c.Event, &c.Database, &c.Table} {
		*s = strings.Clone(*s)
	}
	if h.Order != nil {
		c.Order = &ast.TriggerOrder{PrecedesOrFollows: strings.Clone(h.Order.PrecedesOrFollows),
			OtherTriggerName: strings.Clone(h.Order.OtherTriggerName)}
	}
	return &c
}

// InsertTrigger adds a trigger to those that were created before it, where it fires: behind all others, or
// where its clause says. A clause that names none beside it is of no effect; old releases took such.
func InsertTrigger[T any](list []T, x T, head func(T) *TriggerHead) []T {
	h, at := head(x), len(list)
	if o := h.Order; o != nil {
		i := slices.IndexFunc(list, func(y T) bool {
			return strings.EqualFold(head(y).Name, o.OtherTriggerName) && h.Beside(head(y))
		})
		if i >= 0 && o.PrecedesOrFollows == ast.FollowsStr {
			i++
		}
		if i >= 0 {
			at = i
		}
	}
	return slices.Insert(list, at, x)
}

// OrderWithout is the clause that keeps the last trigger of a list that was made with InsertTrigger, h, in
// its place when another one is gone. It names a neighbour, which is older, so that texts can be read in the
// order of their creation as before.
func OrderWithout[T any](list []T, h *TriggerHead, gone string, head func(T) *TriggerHead) *ast.TriggerOrder {
	var o *ast.TriggerOrder
	behind := false
	for _, y := range list {
		switch g := head(y); {
		case g == h:
			behind = true
		case !h.Beside(g) || strings.EqualFold(g.Name, gone):
		case !behind:
			o = &ast.TriggerOrder{PrecedesOrFollows: ast.FollowsStr, OtherTriggerName: g.Name}
		case o == nil:
			return &ast.TriggerOrder{PrecedesOrFollows: ast.PrecedesStr, OtherTriggerName: g.Name}
		}
	}
	return o
}

// WithTriggerOrder is the text of a CREATE TRIGGER with another clause FOLLOWS or PRECEDES in the place of
// the one that it may have; nil is none. The text is one that the grammar takes.
func WithTriggerOrder(text string, ansi bool, o *ast.TriggerOrder) string {
	text, _ = unwrap(text, ansi)
	l := lexer{s: text, ansi: ansi}
	t := l.next()
	for t.kind != eof && !l.is(t, "each") { // reserved
		t = l.next()
	}
	l.next() // ROW
	t = l.next()
	end := t.start
	if l.is(t, "follows") || l.is(t, "precedes") {
		l.next()
		end = l.next().start
	}
	clause := ""
	if o != nil {
		clause = strings.ToUpper(o.PrecedesOrFollows) + " " + quote(o.OtherTriggerName) + " "
	}
	return text[:t.start] + clause + text[end:]
}

// ReadTriggerHead reads the head of a stored text that the grammar does not take off its words.
func ReadTriggerHead(text string, ansi bool) *TriggerHead {
	h := &TriggerHead{Bad: true}
	text, _ = unwrap(text, ansi)
	l := lexer{s: text, ansi: ansi}
	t := l.next()
	for t.kind != eof && !l.is(t, "trigger") { // reserved: no name before it is written so
		t = l.next()
	}
	t = l.next()
	if l.is(t, "if") { // NOT EXISTS
		l.next()
		l.next()
		t = l.next()
	}
	_, h.Name, t = l.qualified(t)
	h.Time, h.Event = strings.ToLower(l.text(t)), strings.ToLower(l.text(l.next()))
	if l.is(l.next(), "on") {
		h.Database, h.Table, _ = l.qualified(l.next())
	}
	return h
}

// qualified reads a name that may have a database before it, and returns the token behind it.
func (l *lexer) qualified(t token) (database, name string, behind token) {
	name = l.name(t)
	if behind = l.next(); l.isByte(behind, '.') {
		database, name = name, l.name(l.next())
		behind = l.next()
	}
	return database, name, behind
}

// FailingTrigger is the text of a trigger that fires like another, whose text cannot be parsed, and fails.
func FailingTrigger(h *TriggerHead, name string, definer account.Name) string {
	table := quote(h.Table)
	if h.Database != "" {
		table = quote(h.Database) + "." + table
	}
	return "CREATE " + definerClause(definer) + " TRIGGER " + quote(name) + " " + h.Time + " " + h.Event +
		" ON " + table +
		" FOR EACH ROW SIGNAL SQLSTATE '42000' SET MESSAGE_TEXT = " +
		"'the text of this trigger cannot be parsed; DROP TRIGGER it'"
}

// SameTrigger compares the trees of two CREATE TRIGGER but for the definer, the order and the body.
func SameTrigger(a, b *ast.DDL) bool {
	x, y := a.TriggerSpec, b.TriggerSpec
	return a.Table == b.Table && x.Time == y.Time && x.Event == y.Event &&
		strings.EqualFold(x.TrigName.Name.String(), y.TrigName.Name.String())
}

func definerClause(a account.Name) string { return "DEFINER=" + quote(a.User) + "@" + quote(a.Host) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Bodies of triggers, observers and stored routines are in the memory of each process, from its start, and
// are charged to nobody: this is how long one may be, and all of one kind of one table together.
const (
	maxBody   = 1 << 20
	maxBodies = 4 << 20
)

// BodyFits refuses a text of n bytes that is too long, alone or with those beside it.
func BodyFits(name string, n, beside int) error {
	if n <= maxBody && n+beside <= maxBodies {
		return nil
	}
	return sqlerr.New(sqlerr.TooLongBody, "Routine body for '%s' is too long: the text of one has %d bytes "+
		"at most, those of a table have %d together", name, maxBody, maxBodies)
}

// CompileRoutine compiles a body, of which each statement must be one that the planner can take.
func CompileRoutine(spec routine.Spec) (*routine.Routine, error) {
	r, err := routine.Compile(spec)
	if err != nil {
		return nil, err
	}
	for _, s := range r.Statements() {
		if err := Joinable(s); err != nil {
			return nil, err
		}
	}
	return r, nil
}
