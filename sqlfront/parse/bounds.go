package parse

import (
	"context"
	"reflect"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/identifier"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Grammar parses the one statement of a text with the library's grammar alone, which a text has to be made
// bearable for. It is for texts that are already known to be good: it knows nothing of ours.
func Grammar(ctx context.Context, text string, o ast.ParserOptions) (ast.Statement, error) {
	text, open := unwrap(text, o.AnsiQuotes)
	if open >= 0 {
		return nil, sqlerr.Syntax(text, open)
	}
	text, err := scannable(text, o.AnsiQuotes)
	if err != nil {
		return nil, err
	}
	return ast.ParseWithOptions(ctx, text, o)
}

// scannable refuses what the grammar's scanner would fall over before there is a tree: it calls itself
// to look what comes after NOT and FOR, so that a million of them in a row are a million calls. It
// calls itself for the string behind a string, too: those are made one.
func scannable(text string, ansi bool) (string, error) {
	if len(text) < maxDepth {
		return text, nil
	}
	if overlong(text, ansi) {
		return "", tooDeep()
	}
	suspects := 0
	for i := 0; i+3 <= len(text); i++ {
		if c := text[i] | 0x20; (c == 'n' || c == 'f') &&
			(strings.EqualFold(text[i:i+3], "not") || strings.EqualFold(text[i:i+3], "for")) {
			suspects++
		}
	}
	if suspects > maxDepth {
		l := &lexer{s: text, ansi: ansi}
		run := 0
		for t := l.next(); t.kind != eof; t = l.next() {
			if run++; !l.is(t, "not") && !l.is(t, "for") {
				run = 0
			}
			if run > maxDepth {
				return "", tooDeep()
			}
		}
	}
	return joinedStrings(text, ansi)
}

// maxChain bounds how many tokens may follow each other with no comma between them. The grammar walks the
// tree that it has made, for the texts of the select list, and calls itself for each level: ~~~~…1 of 4 MB
// filled Go's stack, which is the end of the process (see maxDepth). It is as many as a chain of 100,000 x =
// 1 OR.
const maxChain = 400_000

// overlong reports whether there are more. What is between commas is no deeper than it has tokens, together
// with what is before the parentheses around it: lists are slices.
func overlong(text string, ansi bool) bool {
	if len(text) <= maxChain {
		return false
	}
	l := &lexer{s: text, ansi: ansi}
	var open []int
	n, around := 0, 0
	prev := eof
	for t := l.next(); t.kind != eof && around+n <= maxChain; t = l.next() {
		row := t.kind == str && prev == str // they are one, see joinedStrings
		prev = t.kind
		switch {
		case row:
			continue
		case l.isByte(t, ','):
			n = 0
			continue
		case l.isByte(t, '('):
			open, around, n = append(open, n+1), around+n+1, 0
			continue
		case l.isByte(t, ')') && len(open) > 0:
			n = open[len(open)-1]
			open, around = open[:len(open)-1], around-n
		}
		n++
	}
	return around+n > maxChain
}

// maxStrings is how many strings in a row the grammar's scanner is given: it copies what follows for each.
const maxStrings = 64

// joinedStrings makes of more strings in a row than maxStrings one, as long as the text of all of them:
// 'a' 'b' is 'ab' and three spaces. Places stay. Where the quotes change from string to string they cannot
// be joined so; then many are refused.
func joinedStrings(text string, ansi bool) (string, error) {
	if !hasStringsInRow(text) {
		return text, nil
	}
	var out []byte
	var row []token
	var err error
	join := func() {
		if len(row) > maxStrings {
			if out == nil {
				out = []byte(text)
			}
			if last := row[len(row)-1]; !terminated(text[last.start:last.end]) {
				err = sqlerr.Syntax(text, last.start)
			} else if joinRow(out, text, row) > maxStrings {
				err = tooDeep()
			}
		}
		row = row[:0]
	}
	l := &lexer{s: text, ansi: ansi}
	var prev token
	for t := l.next(); t.kind != eof && err == nil; t = l.next() {
		switch {
		case t.kind != str:
			join()
		case len(row) > 0 && strings.Trim(text[prev.end:t.start], " \t\r\n") != "":
			join() // what the scanner takes for a comment ends the row
			fallthrough
		case len(row) > 0 || !(prev.kind == word && prev.end == t.start): // X'41' 'b' is no row
			row = append(row, t)
		}
		prev = t
	}
	join()
	if err != nil || out == nil {
		return text, err
	}
	return string(out), nil
}

// joinRow writes the strings of a row over themselves in out, those of the same quote that follow each other
// as one, and returns how many there are then.
func joinRow(out []byte, text string, row []token) (strings int) {
	at := row[0].start
	for i := 0; i < len(row); {
		quote := text[row[i].start]
		strings++
		out[at] = quote
		at++
		for ; i < len(row) && text[row[i].start] == quote; i++ {
			at += copy(out[at:], text[row[i].start+1:row[i].end-1])
		}
		out[at] = quote
		at++
	}
	for end := row[len(row)-1].end; at < end; at++ {
		out[at] = ' '
	}
	return strings
}

// terminated reports whether a string ends with its quote.
func terminated(s string) bool {
	return len(s) > 1 && skipString(s+" ", 0, true) == len(s)
}

// hasStringsInRow is a quick look for more quotes that only space parts, or nothing does, than texts have.
func hasStringsInRow(text string) bool {
	found := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\'' && c != '"' {
			continue
		}
		j := i + 1
		for j < len(text) && (text[j] == ' ' || text[j] >= '\t' && text[j] <= '\r') {
			j++
		}
		if j < len(text) && (text[j] == '\'' || text[j] == '"') && (j > i+1 || text[j] != text[i]) {
			if found++; found > maxStrings {
				return true
			}
		}
		i = j - 1
	}
	return false
}

func tooDeep() error {
	return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: the statement is nested more than %d "+
		"levels deep, or in many places more than 1,000; a chain of operators is a level for each, "+
		"IN (…) is one", maxDepth)
}

// maxEvaluations bounds how often one operand is evaluated for a row, or described for a plan. BETWEEN asks
// for its operand twice, NULLIF and the planner's types for it three times, CASE x WHEN for each WHEN; what
// stands in the select list of IN (SELECT …) is described some four times. One within the other they
// multiply: 24 of them were minutes, and neither KILL nor max_execution_time was heard.
const maxEvaluations = 8192

// fewOperands is how many of these a text has that cannot reach the bound.
const fewOperands = 6

// evaluable refuses a statement that would ask more often. text is what stmt was parsed from.
func evaluable(stmt ast.Statement, text string) error {
	if countWords(text, "between", "nullif", "case", "in") <= fewOperands {
		return nil
	}
	type place struct {
		v     reflect.Value
		times int
	}
	for todo := []place{{reflect.ValueOf(stmt), 1}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch p.v.Kind() {
		case reflect.Pointer:
			if p.v.IsNil() {
				continue
			}
			operands, factors := repeated(p.v.Interface())
			if operands == nil {
				todo = append(todo, place{p.v.Elem(), p.times})
				continue
			}
			if p.times > maxEvaluations {
				return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: BETWEEN, NULLIF, CASE … WHEN "+
					"and IN (SELECT …) are nested so that an operand would be evaluated more than %d times",
					maxEvaluations)
			}
			for i, o := range operands {
				todo = append(todo, place{reflect.ValueOf(o), p.times * factors[i]})
			}
		case reflect.Interface:
			if !p.v.IsNil() {
				todo = append(todo, place{p.v.Elem(), p.times})
			}
		case reflect.Slice:
			for i := range p.v.Len() {
				todo = append(todo, place{p.v.Index(i), p.times})
			}
		case reflect.Struct:
			for _, i := range branches(p.v.Type()) {
				todo = append(todo, place{p.v.Field(i), p.times})
			}
		}
	}
	return nil
}

// repeated are the operands of what asks for one of them more than once, and how often for each; nil for all
// others.
func repeated(node any) (operands []any, times []int) {
	switch e := node.(type) {
	case *ast.RangeCond:
		return []any{e.Left, e.From, e.To}, []int{2, 1, 1}
	case *ast.FuncExpr:
		if e.Name.Lowered() == "nullif" && len(e.Exprs) == 2 {
			return []any{e.Exprs[0], e.Exprs[1]}, []int{3, 1}
		}
	case *ast.CaseExpr:
		if e.Expr != nil {
			return []any{e.Expr, e.Whens, e.Else}, []int{max(1, len(e.Whens)), 1, 1}
		}
	case *ast.ComparisonExpr:
		if in, ok := e.Right.(*ast.Subquery); ok && (e.Operator == ast.InStr || e.Operator == ast.NotInStr) {
			if s, ok := in.Select.(*ast.Select); ok {
				rest := *s
				rest.SelectExprs = nil
				return []any{e.Left, s.SelectExprs, &rest}, []int{1, 4, 1}
			}
		}
	}
	return nil, nil
}

// countWords counts how often any of some words is in a text, also as a part of others.
func countWords(text string, words ...string) (n int) {
	for i := range len(text) {
		for _, w := range words {
			if text[i]|0x20 == w[0] && i+len(w) <= len(text) && strings.EqualFold(text[i:i+len(w)], w) {
				n++
			}
		}
	}
	return n
}

// spelledNames is the text with the letters of its names that package identifier replaces, and an error if
// there are others that are in no name; all places stay.
func spelledNames(text string, ansi bool) (string, error) {
	var b strings.Builder
	l, from := &lexer{s: text, ansi: ansi}, 0
	for t := l.next(); t.kind != eof; t = l.next() {
		if t.kind != word && t.kind != quoted && t.kind != num {
			continue
		}
		name := identifier.Meant(l.text(t))
		if identifier.Check(name) != nil {
			return "", wrongLetter(identifier.Check(identifier.Meant(l.name(t))))
		}
		b.WriteString(text[from:t.start])
		b.WriteString(name)
		from = t.end
	}
	b.WriteString(text[from:])
	return b.String(), nil
}

// checkNames looks at the names in a tree: aliases may be strings, and the scanner may see names where the
// lexer sees none.
func checkNames(stmt ast.Statement) error {
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case ast.ColIdent:
			return true, wrongLetter(identifier.Check(n.String()))
		case ast.TableIdent:
			return true, wrongLetter(identifier.Check(n.String()))
		case *ast.AliasedExpr:
			return true, wrongLetter(identifier.Check(n.As.String()))
		}
		return true, nil
	}, stmt)
}

func wrongLetter(err error) error {
	if err == nil {
		return nil
	}
	return sqlerr.New(sqlerr.InvalidCharacterString, "%v", err)
}
