package parse

import (
	"slices"
	"strings"
	"sync"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

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

// TriggerHeads remembers heads by what has the text.
type TriggerHeads[K comparable] struct {
	mu    sync.Mutex
	heads map[K]*TriggerHead
}

// maxTriggerHeads bounds what is remembered, for databases whose triggers change all day.
const maxTriggerHeads = 4096

// Of returns the head, which is read once.
func (h *TriggerHeads[K]) Of(k K, read func(K) *TriggerHead) *TriggerHead {
	h.mu.Lock()
	defer h.mu.Unlock()
	if head, ok := h.heads[k]; ok {
		return head
	}
	if h.heads == nil || len(h.heads) >= maxTriggerHeads {
		h.heads = map[K]*TriggerHead{}
	}
	head := read(k)
	h.heads[k] = head
	return head
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

// OrderWithout is the clause that keeps the last trigger of a list that was made with InsertTrigger, h, in its
// place when another one is gone. It names a neighbour, which is older, so that texts can be read in the order
// of their creation as before.
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

// WithTriggerOrder is the text of a CREATE TRIGGER with another clause FOLLOWS or PRECEDES in the place of the
// one that it may have; nil is none. The text is one that the grammar takes.
func WithTriggerOrder(text string, ansi bool, o *ast.TriggerOrder) string {
	text = unwrapComments(text, ansi)
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
