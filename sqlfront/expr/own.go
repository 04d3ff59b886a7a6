package expr

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// ownFunction is around what an aggregate of a subquery adds up, once for each query around it: the library
// knows aggregates by their text, and takes the subquery's for that of a query around it, of SELECT MAX(a),
// (SELECT MAX(a) FROM t WHERE …) FROM t.
var ownFunction = inband.Function("own")

// Own is its child.
type Own struct{ expression.UnaryExpressionStub }

var (
	_ sql.FunctionExpression = (*Own)(nil)
	_ sql.CollationCoercible = (*Own)(nil)
)

func ownFunctions() []sql.Function {
	return []sql.Function{sql.Function1{Name: ownFunction, Fn: newOwn}}
}

func newOwn(_ *sql.Context, e sql.Expression) sql.Expression {
	return &Own{expression.UnaryExpressionStub{Child: e}}
}

// Bare is what an aggregate adds up, without the marks of whose it is.
func Bare(e sql.Expression) sql.Expression {
	for {
		o, ok := e.(*Own)
		if !ok {
			return e
		}
		e = o.Child
	}
}

// FunctionName implements sql.FunctionExpression.
func (o *Own) FunctionName() string { return ownFunction }

// Description implements sql.FunctionExpression.
func (o *Own) Description() string { return "its argument" }

// Type implements sql.Expression.
func (o *Own) Type(ctx *sql.Context) sql.Type { return o.Child.Type(ctx) }

// IsNullable implements sql.Expression.
func (o *Own) IsNullable(ctx *sql.Context) bool { return o.Child.IsNullable(ctx) }

// String implements sql.Expression.
func (o *Own) String() string { return ownFunction + "(" + o.Child.String() + ")" }

// CollationCoercibility implements sql.CollationCoercible.
func (o *Own) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, o.Child)
}

// Eval implements sql.Expression.
func (o *Own) Eval(ctx *sql.Context, row sql.Row) (any, error) { return o.Child.Eval(ctx, row) }

// WithChildren implements sql.Expression.
func (o *Own) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(o, len(children), 1)
	}
	return newOwn(ctx, children[0]), nil
}

// ownAggregates marks the aggregates of the subqueries of s that are spelled as one of a query around
// them. What stands in WHERE, ON or GROUP BY is of a query around for certain, and so is what names a
// table that the subquery has not.
func ownAggregates(s *ast.Select) {
	spelled := map[string]bool{}
	eachAggregate(s, func(f *ast.FuncExpr) { spelled[spelling(f)] = true })
	if len(spelled) > 0 {
		ownWithin(s, spelled, 1)
	}
}

func ownWithin(s *ast.Select, around map[string]bool, depth int) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		q, ok := n.(*ast.Select)
		if !ok || q == s {
			return true, nil
		}
		tables := map[string]bool{}
		for _, t := range q.From {
			tablesOf(t, tables)
		}
		within := map[string]bool{}
		var mine []*ast.FuncExpr
		eachAggregate(q, func(f *ast.FuncExpr) {
			text := spelling(f)
			if within[text] = true; around[text] && ofTables(f, tables) {
				mine = append(mine, f)
			}
		})
		for text := range around {
			within[text] = true
		}
		ownWithin(q, within, depth+1)
		for _, f := range mine {
			a, ok := f.Exprs[0].(*ast.AliasedExpr)
			if !ok {
				continue
			}
			for range depth {
				a.Expr = &ast.FuncExpr{Name: ast.NewColIdent(ownFunction),
					Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: a.Expr}}}
			}
		}
		return false, nil
	}, s)
}

// eachAggregate goes over the aggregates in the select list, HAVING and ORDER BY of s itself.
func eachAggregate(s *ast.Select, f func(*ast.FuncExpr)) {
	look := func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			if n.IsAggregate() && n.Over == nil && len(n.Exprs) > 0 {
				f(n)
				return false, nil
			}
		}
		return true, nil
	}
	_ = syntax.Walk(look, s.SelectExprs)
	if s.Having != nil {
		_ = syntax.Walk(look, s.Having)
	}
	_ = syntax.Walk(look, s.OrderBy)
}

// spelling is the text of an aggregate without the tables of its columns.
func spelling(f *ast.FuncExpr) string {
	text := strings.ToLower(ast.String(f))
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ColName); ok && !c.Qualifier.IsEmpty() {
			text = strings.ReplaceAll(text, strings.ToLower(ast.String(c)),
				strings.ToLower(ast.String(&ast.ColName{Name: c.Name})))
		}
		return true, nil
	}, f)
	return text
}

// ofTables reports whether all tables that an aggregate names are among those.
func ofTables(f *ast.FuncExpr, tables map[string]bool) bool {
	var named []string
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ColName); ok && !c.Qualifier.IsEmpty() {
			named = append(named, strings.ToLower(c.Qualifier.Name.String()))
		}
		return true, nil
	}, f)
	return !slices.ContainsFunc(named, func(t string) bool { return !tables[t] })
}
