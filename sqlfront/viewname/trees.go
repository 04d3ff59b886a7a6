package viewname

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// Mergeable is the SELECT of a view that gives each row of one table at most once; nil if it is another.
func Mergeable(spec *ast.ViewSpec) *ast.Select {
	if strings.EqualFold(spec.Algorithm, "temptable") {
		return nil
	}
	e := spec.ViewExpr
	for {
		p, ok := e.(*ast.ParenSelect)
		if !ok {
			break
		}
		e = p.Select
	}
	s, ok := e.(*ast.Select)
	if !ok || s.QueryOpts.Distinct || len(s.GroupBy) > 0 || s.Having != nil || s.Limit != nil ||
		s.With != nil || s.Into != nil || len(s.From) != 1 || len(s.Window) > 0 {
		return nil
	}
	return s
}

// Aggregates reports whether the expression is not of one row alone.
func Aggregates(e ast.Expr) (found bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.FuncExpr:
			found = found || n.IsAggregate() || n.Over != nil
		case *ast.GroupConcatExpr, *ast.Subquery, *ast.ExistsExpr:
			found = true
		}
		return !found, nil
	}, e)
	return found
}

// HasSubquery reports whether there is a subquery in an expression.
func HasSubquery(e ast.Expr) (found bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if _, ok := n.(*ast.Subquery); ok {
			found = true
		}
		return !found, nil
	}, e)
	return found
}

// Mentions reports whether a table is named in an expression, in which bare names are of the database here.
func Mentions(e ast.Expr, here, db, name string) (found bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if a, ok := n.(*ast.AliasedTableExpr); ok {
			if t, ok := a.Expr.(ast.TableName); ok && strings.EqualFold(t.Name.String(), name) {
				in := t.DbQualifier.String()
				if in == "" {
					in = here
				}
				found = found || strings.EqualFold(in, db)
			}
		}
		return !found, nil
	}, e)
	return found
}

// Qualified makes bare names of tables those of the view's database. The tree is a copy.
func Qualified(e ast.Expr, db string) ast.Expr {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if a, ok := n.(*ast.AliasedTableExpr); ok {
			if t, ok := a.Expr.(ast.TableName); ok && t.DbQualifier.IsEmpty() &&
				!strings.EqualFold(t.Name.String(), "dual") {
				t.DbQualifier = ast.NewTableIdent(db)
				if a.As.IsEmpty() {
					a.As = t.Name
				}
				a.Expr = t
			}
		}
		return true, nil
	}, e)
	return e
}

// And is both conditions; the first may be nil.
func And(a, b ast.Expr) ast.Expr {
	if a == nil {
		return b
	}
	return &ast.AndExpr{Left: paren(a), Right: paren(b)}
}

func paren(e ast.Expr) ast.Expr {
	switch e.(type) {
	case *ast.OrExpr, *ast.XorExpr:
		return &ast.ParenExpr{Expr: e}
	}
	return e
}

// Spelled spells out rows of defaults: () has as many as there are columns.
func Spelled(rows *ast.AliasedValues, n int) *ast.AliasedValues {
	out := *rows
	out.Values = append(ast.Values(nil), rows.Values...)
	for i, row := range out.Values {
		if len(row) == 0 {
			for range n {
				out.Values[i] = append(out.Values[i], &ast.Default{})
			}
		}
	}
	return &out
}

// BareInValues takes the table out of VALUES(t.c). The tree is a copy.
func BareInValues(e ast.Expr) ast.Expr {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if v, ok := n.(*ast.ValuesFuncExpr); ok {
			v.Name.Qualifier = ast.TableName{}
		}
		return true, nil
	}, e)
	return e
}

// Requalified is a copy of an expression with the columns of the table mark qualified by what a statement
// calls that, or bare.
func Requalified(e ast.Expr, mark, known string) ast.Expr {
	r := &Renaming{Known: mark, Column: func(name string) (ast.Expr, error) {
		c := &ast.ColName{Name: ast.NewColIdent(name)}
		if known != "" {
			c.Qualifier.Name = ast.NewTableIdent(known)
		}
		return c, nil
	}}
	return r.Expr(e, "")
}
