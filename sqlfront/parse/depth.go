package parse

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// maxDepth bounds how deep a statement may be nested. The grammar has a stack of its own, which grows; everything behind it (binding,
// analysis, evaluation) calls itself for each level, with up to 3 KB of Go's stack for it, and a Go program whose stack is full is
// gone, with all its connections. 1 + 1 + 1 … is a level for each sign; so is a chain of ORs.
const maxDepth = 10_000

// shallow refuses a statement that is nested deeper than maxDepth. text is what stmt was parsed from: a level takes at least a byte.
func shallow(stmt ast.Statement, text string) error {
	if len(text) < maxDepth || depthOf(stmt) <= maxDepth {
		return nil
	}
	return tooDeep()
}

// scannable refuses what the grammar's scanner would fall over before there is a tree: it calls itself to look what comes after NOT and FOR
// and in an executable comment, so that a million of them in a row are a million calls.
func scannable(text string, ansi bool) error {
	if len(text) < maxDepth {
		return nil
	}
	if strings.Count(text, "/*!")+strings.Count(text, "/*M!") > maxDepth {
		return tooDeep()
	}
	suspects := 0
	for i := 0; i+3 <= len(text); i++ {
		if c := text[i] | 0x20; (c == 'n' || c == 'f') && (strings.EqualFold(text[i:i+3], "not") || strings.EqualFold(text[i:i+3], "for")) {
			suspects++
		}
	}
	if suspects <= maxDepth {
		return nil
	}
	l := &lexer{s: text, ansi: ansi}
	run := 0
	for t := l.next(); t.kind != eof; t = l.next() {
		if run++; !l.is(t, "not") && !l.is(t, "for") {
			run = 0
		}
		if run > maxDepth {
			return tooDeep()
		}
	}
	return nil
}

// maxTables is how many tables a query may join, in MySQL as in the planner's sets of tables.
const maxTables = 61

// joinable refuses a query over more tables. text is what stmt was parsed from: a table takes at least two bytes.
func joinable(stmt ast.Statement, text string) error {
	if len(text) < 2*maxTables {
		return nil
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		if !ok {
			return true, nil
		}
		tables := 0
		for _, from := range s.From {
			tables += tablesIn(from)
		}
		if tables > maxTables {
			return false, sqlerr.New(sqlerr.TooManyTables, "Too many tables; MySQL can only use %d tables in a join", maxTables)
		}
		return true, nil
	}, stmt)
}

func tablesIn(from ast.TableExpr) int {
	switch t := from.(type) {
	case *ast.JoinTableExpr:
		return tablesIn(t.LeftExpr) + tablesIn(t.RightExpr)
	case *ast.ParenTableExpr:
		n := 0
		for _, e := range t.Exprs {
			n += tablesIn(e)
		}
		return n
	}
	return 1
}

// balance makes a chain of UNIONs of one kind a tree, in the order of the chain: the planner asks each of them for its columns, which asks all
// below it, for each of its rules.
func balance(s *ast.SetOp) {
	var parts []ast.SelectStatement
	at := ast.SelectStatement(s)
	for {
		u, ok := at.(*ast.SetOp)
		if !ok || u.Type != s.Type || u != s && (u.With != nil || u.OrderBy != nil || u.Limit != nil || u.Lock != nil && u.Lock.Type != "" || u.Into != nil) {
			break
		}
		parts = append(parts, u.Right)
		at = u.Left
	}
	if len(parts) < 8 || s.Type != ast.UnionStr && s.Type != ast.UnionAllStr && s.Type != ast.UnionDistinctStr {
		return
	}
	parts = append(parts, at)
	slices.Reverse(parts)
	half := len(parts) / 2
	s.Left, s.Right = union(s.Type, parts[:half]), union(s.Type, parts[half:])
}

func union(kind string, parts []ast.SelectStatement) ast.SelectStatement {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	return &ast.SetOp{Type: kind, Left: union(kind, parts[:half]), Right: union(kind, parts[half:])}
}

func tooDeep() error {
	return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: the statement is nested more than %d levels deep; a chain of operators is a level for each, IN (…) is one", maxDepth)
}

// depthOf counts the structures of the tree that are one within the other. ast.Walk would not do: it leaves out what DDL consists of,
// and calls itself.
func depthOf(stmt ast.Statement) int {
	type place struct {
		v     reflect.Value
		depth int
	}
	deepest := 0
	for todo := []place{{reflect.ValueOf(stmt), 0}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		deepest = max(deepest, p.depth)
		if deepest > maxDepth {
			break
		}
		switch p.v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !p.v.IsNil() {
				todo = append(todo, place{p.v.Elem(), p.depth})
			}
		case reflect.Slice:
			for i := range p.v.Len() {
				todo = append(todo, place{p.v.Index(i), p.depth})
			}
		case reflect.Struct:
			for _, i := range branches(p.v.Type()) {
				todo = append(todo, place{p.v.Field(i), p.depth + 1})
			}
		}
	}
	return deepest
}

// branching keeps the answers of branches: reflect.Type to []int.
var branching sync.Map

// branches returns the fields of a struct that can hold further nodes. What does not belong to the grammar does not count.
func branches(t reflect.Type) []int {
	if known, ok := branching.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		f := t.Field(i).Type
		for f.Kind() == reflect.Slice || f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if (f.Kind() == reflect.Struct || f.Kind() == reflect.Interface) && strings.HasSuffix(f.PkgPath(), "/sqlparser") {
			out = append(out, i)
		}
	}
	branching.Store(t, out)
	return out
}
