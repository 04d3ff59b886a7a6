package parse

import (
	"strings"

	"moka/sqlfront/expr"
	"moka/sqlfront/upcoming"
)

// assignments writes @a := e, which the grammar knows in SET only, as moka_assign(@a) OR e. OR binds loosest
// of all that the grammar has, and so does := in MySQL: what is right of it is e, whatever stands there, and
// package expr puts it where it belongs.
func (r *rewriter) assignments() {
	if !strings.Contains(r.src, ":=") {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var prev, before, ahead token
	depth, set := 0, -1 // set is the depth at which the targets of a SET are
	for t := l.next(); t.kind != eof; t = l.next() {
		switch {
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case l.isByte(t, ';'):
			depth, set = 0, -1
		case l.is(t, "set"):
			set = depth
		case l.isByte(t, '=') && l.isByte(prev, ':') && prev.end == t.start && before.kind == variable &&
			!strings.HasPrefix(l.text(before), "@@"):
			target := set == depth && (l.is(ahead, "set") || l.isByte(ahead, ','))
			if !target {
				name := l.text(before)
				if q := name[1]; q == '\'' || q == '"' { // the grammar knows backticks only
					name = "@`" + strings.Trim(name[1:], `'"`) + "`"
				}
				r.edits.replace(before.start, t.end, expr.AssignFunction+"("+name+") or ")
				r.moved, r.assigns = true, true
			}
		}
		ahead, before, prev = before, prev, t
	}
}

// announced marks the variables that SET gives a value for the next transaction.
func (r *rewriter) announced() {
	isolation, access := upcoming.IsolationVariable, upcoming.AccessModeVariable
	if !strings.Contains(r.src, "@@") || !containsWord(r.src, isolation) && !containsWord(r.src, access) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var before, prev token
	depth, set := 0, -1 // set is the depth at which the targets of a SET are
	for t := l.next(); t.kind != eof; t = l.next() {
		switch {
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case l.isByte(t, ';'):
			depth, set = 0, -1
		case l.is(t, "set"):
			set = depth
		case set == depth && prev.kind == variable && (l.is(before, "set") || l.isByte(before, ',')) &&
			(l.isByte(t, '=') || l.isByte(t, ':')):
			name, system := strings.CutPrefix(l.text(prev), "@@")
			if name = strings.Trim(name, "`"); system && (fold(name, isolation) || fold(name, access)) {
				r.edits.replace(prev.start, prev.end, "`"+upcoming.Mark+strings.ToLower(name)+"`")
				r.moved = true
			}
		}
		before, prev = prev, t
	}
}
