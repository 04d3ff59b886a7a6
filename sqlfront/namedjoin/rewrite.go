package namedjoin

import (
	"errors"
	"reflect"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Columns are the names of the columns that SELECT * shows of a table, a view or a table function in a FROM
// clause; ok is false if there is no such table. It is not asked about what the statement itself defines:
// derived tables, common table expressions, JSON_TABLE.
type Columns func(t ast.TableExpr) (names []string, ok bool)

// errUndetermined ends a rewriting that lacks the columns of a table.
var errUndetermined = errors.New("the columns of a table are not known")

// Uses reports whether there is a join with USING or NATURAL in a statement.
func Uses(stmt ast.SQLNode) (uses bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.JoinTableExpr:
			uses = uses || named(n)
		case *ast.SetOp:
			uses = uses || n.With != nil && Uses(n.With) || Uses(n.OrderBy)
		case *ast.Update:
			uses = uses || n.With != nil && Uses(n.With)
		case *ast.Delete:
			uses = uses || n.With != nil && Uses(n.With)
		case *ast.Explain:
			uses = uses || Uses(n.Statement)
		}
		return !uses, nil
	}, stmt)
	return uses
}

func named(j *ast.JoinTableExpr) bool { return len(j.Condition.Using) > 0 || natural(j) }

func natural(j *ast.JoinTableExpr) bool { return strings.HasPrefix(strings.ToLower(j.Join), "natural") }

// Rewrite is the statement without USING and NATURAL. Its errors are MySQL's: 1052 for a common column that a
// side has twice, 1054 for one that it has not.
func Rewrite(stmt ast.Statement, columns Columns) (ast.Statement, error) {
	r := &rewriter{known: columns}
	out := r.statement(stmt)
	if errors.Is(r.err, errUndetermined) {
		return stmt, nil
	}
	return out, r.err
}

// mostColumns is how many a result may have, as in MySQL.
const mostColumns = 4096

var errWide = sqlerr.New(sqlerr.TooManyColumns, "Too many columns")

// Narrow refuses a statement with a SELECT that has more than 4096 columns, those for which stars stand
// included (1117), before anybody makes them. A table that is not known has none.
func Narrow(stmt ast.Statement, columns Columns) error {
	r := &rewriter{known: columns, most: mostColumns}
	r.statement(stmt)
	return r.err
}

// Names are the names of the columns of a query; ok is false if they are not known.
func Names(query ast.SelectStatement, columns Columns) (names []string, ok bool) {
	r := &rewriter{known: columns}
	_, list := r.query(query, nil, nil)
	names = list()
	return names, r.err == nil
}

// Expanded is what stands for a star, and the common columns of NATURAL.
type Expanded struct {
	Stars    map[*ast.StarExpr]ast.SelectExprs
	Naturals map[*ast.JoinTableExpr][]string

	columns int
}

// mostExpanded bounds the columns of all stars of a query.
const mostExpanded = 100_000

// Expand says what the stars and NATURAL of a query stand for.
func Expand(query ast.SelectStatement, columns Columns) (*Expanded, error) {
	x := &Expanded{map[*ast.StarExpr]ast.SelectExprs{}, map[*ast.JoinTableExpr][]string{}, 0}
	r := &rewriter{known: columns, expanded: x}
	r.query(query, nil, nil)
	if errors.Is(r.err, errUndetermined) {
		return nil, sqlerr.Unsupported("* in a query of a table whose columns are not known")
	}
	return x, r.err
}

type rewriter struct {
	known Columns
	err   error // the first; what is made behind it is thrown away
	// most is how many columns a SELECT may have; 0 for who does not look at that, and nothing else.
	most     int
	expanded *Expanded // nil for who does not ask
}

func (r *rewriter) fail(err error) {
	if r.err == nil && (r.most == 0 || err == errWide) {
		r.err = err
	}
}

// list are names of columns that are asked for when they are needed.
type list func() []string

func once(f func() []string) list {
	var names []string
	done := false
	return func() []string {
		if !done {
			names, done = f(), true
		}
		return names
	}
}

func (r *rewriter) statement(stmt ast.Statement) ast.Statement {
	switch n := stmt.(type) {
	case ast.SelectStatement:
		out, _ := r.query(n, nil, nil)
		return out
	case *ast.DDL:
		c := *n
		if n.ViewSpec != nil && n.ViewSpec.ViewExpr != nil {
			v := *n.ViewSpec
			v.ViewExpr, _ = r.query(v.ViewExpr, nil, nil)
			c.ViewSpec = &v
		}
		if n.OptSelect != nil && n.OptSelect.Select != nil {
			s := *n.OptSelect
			s.Select, _ = r.query(s.Select, nil, nil)
			c.OptSelect = &s
		}
		return &c
	case *ast.Explain:
		c := *n
		c.Statement = r.statement(n.Statement)
		return &c
	case *ast.Update:
		c := *n
		with, sc := r.with(n.With, nil)
		c.With = with
		c.TableExprs, sc = r.from(n.TableExprs, sc)
		c.Exprs = copied(r, n.Exprs, sc)
		c.Where, c.OrderBy, c.Limit = copied(r, n.Where, sc), copied(r, n.OrderBy, sc), copied(r, n.Limit, sc)
		c.Returning = copied(r, n.Returning, sc)
		return &c
	case *ast.Delete:
		c := *n
		with, sc := r.with(n.With, nil)
		c.With = with
		c.TableExprs, sc = r.from(n.TableExprs, sc)
		c.Where, c.OrderBy, c.Limit = copied(r, n.Where, sc), copied(r, n.OrderBy, sc), copied(r, n.Limit, sc)
		c.Returning = copied(r, n.Returning, sc)
		return &c
	case *ast.Insert:
		c := *n
		with, sc := r.with(n.With, nil)
		c.With = with
		c.Rows, c.OnDup, c.Returning = copied(r, n.Rows, sc), copied(r, n.OnDup, sc),
			copied(r, n.Returning, sc)
		return &c
	}
	return copied(r, stmt, nil)
}

// query is a query in a scope, and the names of its columns. first is told those of its first SELECT, before
// the others are looked at: they are the columns of a recursive common table expression.
func (r *rewriter) query(s ast.SelectStatement, sc *scope, first func(list)) (ast.SelectStatement, list) {
	switch n := s.(type) {
	case *ast.Select:
		out, names := r.selection(n, sc)
		if first != nil {
			first(names)
		}
		return out, names
	case *ast.ParenSelect:
		c := *n
		var names list
		c.Select, names = r.query(n.Select, sc, first)
		return &c, names
	case *ast.SetOp:
		c := *n
		c.With, sc = r.with(n.With, sc)
		var names list
		c.Left, names = r.query(n.Left, sc, first)
		c.Right, _ = r.query(n.Right, sc, nil)
		// The names in ORDER BY are those of the result.
		c.OrderBy, c.Limit = copied(r, n.OrderBy, sc), copied(r, n.Limit, sc)
		return &c, names
	}
	return copied(r, s, sc), func() []string {
		r.fail(errUndetermined)
		return nil
	}
}

// selection is one SELECT.
func (r *rewriter) selection(n *ast.Select, sc *scope) (*ast.Select, list) {
	c := *n
	c.With, sc = r.with(n.With, sc)
	c.From, sc = r.from(n.From, sc)
	c.SelectExprs = r.selected(n.SelectExprs, sc)
	c.Where, c.GroupBy = copied(r, n.Where, sc), copied(r, n.GroupBy, sc)
	c.Window, c.Limit, c.Into = copied(r, n.Window, sc), copied(r, n.Limit, sc), copied(r, n.Into, sc)
	behind := sc.behind(c.SelectExprs)
	c.Having = copied(r, n.Having, behind)
	c.OrderBy = make(ast.OrderBy, len(n.OrderBy))
	for i, o := range n.OrderBy {
		by := *o
		in := sc
		if _, bare := o.Expr.(*ast.ColName); bare { // only the name alone is that of a result's column
			in = behind
		}
		by.Expr = copied(r, o.Expr, in)
		c.OrderBy[i] = &by
	}
	exprs, items := c.SelectExprs, sc.items
	names := once(func() []string { return r.names(exprs, items) })
	if r.most > 0 {
		names()
	}
	return &c, names
}

// selected expands the star where the common columns would not be in their places.
func (r *rewriter) selected(exprs ast.SelectExprs, sc *scope) (out ast.SelectExprs) {
	before := false // is something else: the star is an error then
	for _, e := range exprs {
		star, ok := e.(*ast.StarExpr)
		if ok && r.expanded != nil {
			r.expand(star, sc.items)
		}
		if ok && star.TableName.IsEmpty() && !before && sc.merges() {
			for _, item := range sc.items {
				out = append(out, item.star()...)
			}
			continue
		}
		before = before || !ok
		out = append(out, r.entry(e, sc))
	}
	return out
}

// expand notes what a star stands for.
func (r *rewriter) expand(s *ast.StarExpr, items []*item) {
	var out ast.SelectExprs
	for _, i := range items {
		if s.TableName.IsEmpty() {
			for _, c := range i.columns() {
				out = append(out, c.entry())
			}
			continue
		}
		for _, t := range i.tables {
			db, of := s.TableName.DbQualifier.String(), t.name.DbQualifier.String()
			if !strings.EqualFold(t.name.Name.String(), s.TableName.Name.String()) ||
				db != "" && of != "" && !strings.EqualFold(db, of) {
				continue
			}
			for _, n := range t.names() {
				out = append(out, column{name: n,
					of: []ast.ColName{{Name: ast.NewColIdent(n), Qualifier: t.name}}}.entry())
			}
		}
	}
	if r.expanded.columns += len(out); r.expanded.columns > mostExpanded {
		r.fail(errWide)
	}
	r.expanded.Stars[s] = out
}

// entry is one of what is selected. A common column that has become an expression keeps its name,
// for HAVING and ORDER BY.
func (r *rewriter) entry(e ast.SelectExpr, sc *scope) ast.SelectExpr {
	out := copied(r, e, sc)
	was, ok := e.(*ast.AliasedExpr)
	if !ok {
		return out
	}
	name, bare := was.Expr.(*ast.ColName)
	now, ok := out.(*ast.AliasedExpr)
	if !ok || !bare || !was.As.IsEmpty() {
		return out
	}
	if _, still := now.Expr.(*ast.ColName); !still {
		now.As = name.Name
	}
	return out
}

// names are those of the columns of a SELECT.
func (r *rewriter) names(exprs ast.SelectExprs, items []*item) (names []string) {
	for _, e := range exprs {
		switch e := e.(type) {
		case *ast.AliasedExpr:
			names = append(names, nameOf(e))
		case *ast.StarExpr:
			for _, i := range items {
				for _, c := range i.columns() {
					if e.TableName.IsEmpty() {
						names = append(names, c.name)
					}
				}
				for _, t := range i.tables {
					if !e.TableName.IsEmpty() && strings.EqualFold(t.name.Name.String(),
						e.TableName.Name.String()) {
						names = append(names, t.names()...)
					}
				}
			}
		default:
			r.fail(errUndetermined)
		}
		if r.most > 0 && len(names) > r.most {
			r.fail(errWide)
			return nil
		}
	}
	return names
}

func nameOf(e *ast.AliasedExpr) string {
	if !e.As.IsEmpty() {
		return e.As.String()
	}
	if c, ok := e.Expr.(*ast.ColName); ok {
		return c.Name.String()
	}
	return e.InputExpression
}

// with is a WITH clause, and the scope of the query behind it.
func (r *rewriter) with(w *ast.With, outer *scope) (*ast.With, *scope) {
	if w == nil {
		return nil, &scope{outer: outer}
	}
	c := *w
	c.Ctes = nil
	sc := &scope{outer: outer}
	for _, cte := range w.Ctes {
		out := *cte
		a := *cte.AliasedTableExpr
		out.AliasedTableExpr = &a
		q, ok := a.Expr.(*ast.Subquery)
		if !ok {
			r.fail(errUndetermined)
			return w, sc
		}
		next := &scope{outer: sc, cte: a.As.String()}
		columns := cte.Columns
		if len(columns) == 0 {
			columns = q.Columns
		}
		next.names = func() []string { // of one that names itself in its first SELECT there are none
			r.fail(errUndetermined)
			return nil
		}
		know := func(names list) { next.names = names }
		if len(columns) > 0 {
			next.names = given(columns)
			know = func(list) {}
		}
		in := sc
		if w.Recursive {
			in = next
		}
		s := *q
		s.Select, _ = r.query(q.Select, in, know)
		a.Expr = &s
		c.Ctes = append(c.Ctes, &out)
		sc = next
	}
	return &c, sc
}

func given(columns ast.Columns) list {
	var names []string
	for _, c := range columns {
		names = append(names, c.String())
	}
	return func() []string { return names }
}

// copied is a part of a tree as it is in a scope; nil is nil.
func copied[T any](r *rewriter, n T, sc *scope) T {
	out, _ := r.copy(reflect.ValueOf(&n).Elem(), sc).Interface().(T)
	return out
}

func (r *rewriter) copy(v reflect.Value, sc *scope) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		in, out := r.copy(v.Elem(), sc), reflect.New(v.Type()).Elem()
		if !in.Type().AssignableTo(v.Type()) {
			return v
		}
		out.Set(in)
		return out
	case reflect.Pointer:
		if v.IsNil() || !ofGrammar(v.Type().Elem()) {
			return v
		}
		switch n := v.Interface().(type) {
		case *ast.ColName:
			if e := r.column(n, sc); e != nil {
				return reflect.ValueOf(e)
			}
		case *ast.Select:
			out, _ := r.selection(n, sc)
			return reflect.ValueOf(out)
		case *ast.SetOp:
			out, _ := r.query(n, sc, nil)
			return reflect.ValueOf(out)
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(r.copy(v.Elem(), sc))
		return out
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); v.IsNil() || k == reflect.Uint8 || k == reflect.String {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.copy(v.Index(i), sc))
		}
		return out
	case reflect.Struct:
		if !ofGrammar(v.Type()) {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			switch v.Field(i).Kind() {
			case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Struct:
				if in := r.copy(v.Field(i), sc); in.Type().AssignableTo(v.Field(i).Type()) {
					out.Field(i).Set(in)
				} // else it stays: VALUES(c) is no column of a query, and one is assigned to that is a COALESCE
			}
		}
		return out
	}
	return v
}

func ofGrammar(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "/sqlparser") }
