package routine

import (
	"errors"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// node is a statement of a body.
type node interface {
	run(f *frame) (*jump, error)
}

// jump is how a statement ends that is not followed by the next one.
type jump struct {
	kind  jumpKind
	to    *target
	value any
}

type jumpKind uint8

const (
	jumpLeave jumpKind = iota
	jumpIterate
	jumpReturn
)

// list runs one statement after the other. It is here that an error looks for its handler: a CONTINUE
// handler goes on behind the statement of the innermost list that failed, which for the condition of
// an IF is the whole IF.
type list []node

func (l list) run(f *frame) (*jump, error) {
	for _, n := range l {
		j, err := n.run(f)
		if err != nil {
			j, err = f.handle(err)
		}
		if j != nil || err != nil {
			return j, err
		}
	}
	return nil, nil
}

// block is BEGIN … END.
type block struct {
	target   *target
	declares []node
	cursors  []*cursorSlot
	handlers []*handler
	body     list
}

// scope is a block while it runs.
type scope struct {
	block *block
	off   bool // one of its handlers runs, or one further out: its handlers are not in force
}

func (b *block) run(f *frame) (*jump, error) {
	// Handlers are declared last, and are not in force for the declarations before them.
	s := &scope{block: b, off: true}
	f.scopes = append(f.scopes, s)
	defer func() {
		f.scopes = f.scopes[:len(f.scopes)-1]
		for _, c := range b.cursors {
			f.closeCursor(c)
		}
	}()
	if j, err := list(b.declares).run(f); j != nil || err != nil {
		return j, err
	}
	s.off = false
	j, err := b.body.run(f)
	if err == nil && j != nil && j.to == b.target && j.kind == jumpLeave {
		return nil, nil
	}
	return j, err
}

// handler is DECLARE … HANDLER.
type handler struct {
	block   *block
	exit    bool
	matches []*matcher
	body    list
}

// unhandled is an error for which no handler was found: outer lists of statements need not look again.
type unhandled struct{ error }

func (u unhandled) Unwrap() error { return u.error }

func bare(err error) error {
	var u unhandled
	if errors.As(err, &u) {
		return u.error
	}
	return err
}

// handle runs the handler of an error, and says how to go on.
func (f *frame) handle(err error) (*jump, error) {
	if _, done := err.(unhandled); done {
		return nil, err
	}
	// Whoever is to end does not ask a handler.
	if f.ctx.Err() != nil {
		return nil, unhandled{err}
	}
	// Nor does the statement whose transaction is over, as in MySQL: a handler of a trigger made a success of
	// an INSERT that was rolled back with all before it.
	if f.within() && f.host.Lost(f.ctx) {
		return nil, unhandled{err}
	}
	c := conditionOf(f.ctx, err)
	at, h := f.find(c)
	if h == nil {
		return nil, unhandled{err}
	}
	return f.through(c, at, h) // without the error: what it quotes is as long as a value may be
}

// through runs a handler, that of a block that is the at-th.
func (f *frame) through(c *Condition, at int, h *handler) (*jump, error) {
	var disabled []*scope
	for _, s := range f.scopes[at:] {
		if !s.off {
			s.off = true
			disabled = append(disabled, s)
		}
	}
	f.signals = append(f.signals, c)
	f.area = []*Condition{c}
	j, err := h.body.run(f)
	f.signals = f.signals[:len(f.signals)-1]
	for _, s := range disabled {
		s.off = false
	}
	if j == nil && err == nil && h.exit {
		j = &jump{kind: jumpLeave, to: h.block.target}
	}
	return j, err
}

// find looks for the handler of a condition: of the innermost block that has one, the most specific. nil:
// there is none.
func (f *frame) find(c *Condition) (int, *handler) {
	switch c.Number {
	case sqlerr.QueryInterrupted, sqlerr.QueryTimeout, sqlerr.ServerShutdown,
		sqlerr.CapacityExceeded: // what it holds is freed at its end
		return 0, nil
	}
	for i := len(f.scopes) - 1; i >= 0; i-- {
		if f.scopes[i].off {
			continue
		}
		var best *handler
		rank := 0
		for _, h := range f.scopes[i].block.handlers {
			for _, m := range h.matches {
				if r := m.rank(c); r > rank {
					best, rank = h, r
				}
			}
		}
		if best != nil {
			return i, best
		}
	}
	return 0, nil
}

// warned runs the handler of a condition that is no error: NOT FOUND of SELECT … INTO, and warnings.
func (f *frame) warned(c *Condition) (*jump, error) {
	at, h := f.find(c)
	if h == nil {
		return nil, nil
	}
	return f.through(c, at, h)
}

// statement begins a statement: what is known of the one before is forgotten.
func (f *frame) statement() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if f.timed {
		f.ctx.SetQueryTime(expr.Present(f.ctx.Session))
	}
	return nil
}
