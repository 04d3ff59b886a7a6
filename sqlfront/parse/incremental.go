package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// CreateIncremental is CREATE INCREMENTAL VIEW [IF NOT EXISTS] name AS SELECT ….
type CreateIncremental struct {
	View        Name
	IfNotExists bool
	Query       string      // the SELECT as written
	Select      *ast.Select // the same, as the grammar has it
	Text        string      // the whole statement as written
}

// IncrementalAction is what a statement about an incremental view does.
type IncrementalAction uint8

const (
	DropIncremental IncrementalAction = iota + 1
	CheckIncremental
	ShowCreateIncremental
)

// Incremental is DROP INCREMENTAL VIEW [IF EXISTS] name, CHECK INCREMENTAL VIEW name and SHOW CREATE
// INCREMENTAL VIEW name.
type Incremental struct {
	View     Name
	Action   IncrementalAction
	IfExists bool
}

// createIncremental parses the head by hand, and the query as a statement of its own.
func (r *rewriter) createIncremental(ctx context.Context, l *lexer, o ast.ParserOptions) (ast.Statement, int,
	bool, error) {
	fail := func(err error) (ast.Statement, int, bool, error) { return nil, 0, true, err }
	if err := r.words(l, "view"); err != nil {
		return fail(err)
	}
	var c CreateIncremental
	t := l.next()
	if l.is(t, "if") {
		if err := r.words(l, "not", "exists"); err != nil {
			return fail(err)
		}
		c.IfNotExists, t = true, l.next()
	}
	var err error
	if c.View, t, err = r.qualified(l, t); err != nil {
		return fail(err)
	}
	if !l.is(t, "as") {
		return fail(r.errAt(t))
	}
	start := t.end
	text := r.src[start:]
	for ahead := *l; ; {
		t := ahead.next()
		if t.kind == param && !r.stored {
			return fail(r.errAt(t))
		}
		if t.kind == eof || ahead.isByte(t, ';') {
			break
		}
	}
	stmt, end, err := ast.ParseOneWithOptions(ctx, text, o)
	if err != nil {
		if at, ok := errorAt(ctx, text, o, err); ok {
			return fail(sqlerr.Syntax(r.src, at+start))
		}
		return fail(err)
	}
	sel, ok := stmt.(*ast.Select)
	if !ok {
		return fail(sqlerr.Unsupported("an incremental view of anything but a SELECT"))
	}
	end = min(end+start, len(r.src))
	c.Select = sel
	c.Query = strings.Trim(r.src[start:end], " \t\r\n;")
	c.Text = strings.Trim(r.src[:end], " \t\r\n;")
	if r.parser.hooks.CreateIncremental == nil {
		return fail(unsupported("CREATE INCREMENTAL VIEW"))
	}
	out, err := r.parser.hooks.CreateIncremental(ctx, c)
	return out, end, true, err
}

// incremental parses what follows DROP, CHECK or SHOW CREATE INCREMENTAL.
func (r *rewriter) incremental(ctx context.Context, l *lexer, action IncrementalAction) (ast.Statement, int,
	bool, error) {
	if err := r.words(l, "view"); err != nil {
		return nil, 0, true, err
	}
	s := Incremental{Action: action}
	t := l.next()
	if action == DropIncremental && l.is(t, "if") {
		if err := r.words(l, "exists"); err != nil {
			return nil, 0, true, err
		}
		s.IfExists, t = true, l.next()
	}
	var err error
	if s.View, t, err = r.qualified(l, t); err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "INCREMENTAL VIEW", r.parser.hooks.Incremental, s)
}
