package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// The grammar takes some statements only between BEGIN and END; in MySQL the body of a trigger
// may be one of them alone.
const blockBegin, blockEnd = "BEGIN ", "; END"

// bareBody reports whether the lexer stands before such a statement, and returns its last token.
func bareBody(l *lexer) (last token, ok bool) {
	first := l.next()
	switch {
	case l.is(first, "signal"):
		last = first
		for t := l.next(); t.kind != eof && !l.isByte(t, ';'); t = l.next() {
			last = t
		}
		return last, true
	case l.is(first, "if"), l.is(first, "case"), l.is(first, "while"), l.is(first, "loop"),
		l.is(first, "repeat"):
	default:
		return token{}, false
	}
	depth, prev := 0, token{}
	handler := false // behind DECLARE … HANDLER FOR: a list of conditions, and a statement
	for t := first; t.kind != eof; {
		starts := prev.kind == eof && t == first || l.isByte(prev, ';') || l.is(prev, "then") ||
			l.is(prev, "else") || l.is(prev, "begin") || l.is(prev, "do") ||
			l.is(prev, "loop") || l.is(prev, "repeat") || handler
		switch {
		case l.is(t, "case"), // an expression as well
			starts && (l.is(t, "if") || l.is(t, "while") || l.is(t, "loop") || l.is(t, "repeat") ||
				l.is(t, "begin")):
			depth++
			handler = false
		case l.isByte(t, ';'):
			handler = false
		case l.is(t, "handler"):
			handler = l.is(prev, "continue") || l.is(prev, "exit") || l.is(prev, "undo")
		case l.is(t, "end"):
			depth--
			after := *l
			if n := after.next(); l.is(n, "if") || l.is(n, "case") || l.is(n, "while") || l.is(n, "loop") ||
				l.is(n, "repeat") {
				*l, t = after, n
			}
			if depth == 0 {
				return t, true
			}
		}
		prev, t = t, l.next()
	}
	return token{}, false
}

// wrapBody takes an observer's body that needs a block around it.
func (r *rewriter) wrapBody(ctx context.Context, c *CreateObserver, o ast.ParserOptions,
	last token) (int, error) {
	c.Body = blockBegin + r.src[c.BodyStart:last.end] + blockEnd
	lead := len(r.src) - len(strings.TrimLeft(r.src, " \t\r\n"))
	c.Text = r.src[lead:last.end]
	text, start := c.TriggerText("UPDATE")
	if at, located, err := parseBody(ctx, text, start, o); located {
		return 0, sqlerr.Syntax(r.src, min(max(at-start-len(blockBegin), 0)+c.BodyStart, last.end))
	} else if err != nil {
		return 0, err
	}
	c.BodyStart -= lead
	end := last.end
	if l := (&lexer{s: r.src, pos: end, ansi: r.ansi}); l.isByte(l.next(), ';') {
		end = l.pos
	}
	return end, nil
}

// parseBody parses the text of a trigger whose body begins at start, with what only bodies have. at is where
// it ends, or where the error is if that is located.
func parseBody(ctx context.Context, text string, start int, o ast.ParserOptions) (at int, located bool,
	err error) {
	in := rewriter{src: text, ansi: o.AnsiQuotes}
	l := lexer{s: text, pos: start, ansi: o.AnsiQuotes}
	for t := l.next(); t.kind != eof; t = l.next() {
		if l.is(t, "get") {
			l.pos = in.diagnostics(l, t)
		}
	}
	edited := in.edits.apply(text)
	if _, at, err = ast.ParseOneWithOptions(ctx, edited, o); err != nil {
		at, located = errorAt(ctx, edited, o, err)
	}
	return in.edits.original(at), located, err
}

// definer takes DEFINER = CURRENT_USER out of a CREATE, t being the token behind that: it is the default, and
// the grammar wants an account.
func (r *rewriter) definer(l lexer, t token) {
	for ; t.kind == word && !l.is(t, "table") && !l.is(t, "view"); t = l.next() {
		switch {
		case l.is(t, "algorithm"):
			l.next() // =
			l.next()
		case l.is(t, "definer"):
			equals, user := l.next(), l.next()
			if !l.isByte(equals, '=') || !l.is(user, "current_user") {
				return
			}
			end := user.end
			ahead := l
			if open := ahead.next(); ahead.isByte(open, '(') {
				end = ahead.next().end
			}
			r.edits.blank(t.start, end)
			return
		}
	}
}

// triggerBody puts a block around the body of an ordinary trigger; t is the token behind CREATE.
func (r *rewriter) triggerBody(l lexer, t token) {
	var prev token
	for trigger := false; t.kind != eof && !l.isByte(t, ';'); t = l.next() {
		if trigger = trigger || l.is(t, "trigger"); !trigger && (l.is(t, "table") || l.is(t, "procedure")) {
			return
		}
		if trigger && l.is(prev, "each") && l.is(t, "row") {
			body := l
			if n := body.next(); body.is(n, "follows") || body.is(n, "precedes") {
				body.next()
				l = body
			}
			start := l
			begin := start.next().start
			inner := l
			if last, ok := bareBody(&l); ok {
				r.edits.replace(begin, begin, blockBegin)
				r.edits.replace(last.end, last.end, blockEnd)
				r.moved = true
			}
			for t := inner.next(); t.kind != eof; t = inner.next() {
				if inner.is(t, "get") {
					before := len(r.edits)
					inner.pos = r.diagnostics(inner, t)
					r.moved = r.moved || len(r.edits) > before
				}
			}
			return
		}
		prev = t
	}
}
