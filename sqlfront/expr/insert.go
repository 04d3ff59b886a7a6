package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// valuesFunction is VALUES(c) of INSERT … SELECT … ON DUPLICATE KEY UPDATE, which the library knows
// after VALUES only. Its argument is the column of the row that is there; the row that was to be
// inserted lies behind it.
var valuesFunction = inband.Function("values")

// selectedValues makes calls of VALUES(c).
func selectedValues(s *ast.Insert) {
	rows, ok := s.Rows.(ast.SelectStatement)
	if !ok || len(s.OnDup) == 0 {
		return
	}
	found := false
	Each(ast.AssignmentExprs(s.OnDup), func(at *ast.Expr, _ bool) {
		v, ok := (*at).(*ast.ValuesFuncExpr)
		if !ok {
			return
		}
		found = true
		column := &ast.ColName{Name: v.Name.Name, Qualifier: ast.TableName{Name: s.Table.Name}}
		*at = &ast.FuncExpr{Name: ast.NewColIdent(valuesFunction),
			Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: column}}}
	})
	if !found || !selectsFrom(rows, s.Table.Name.String()) {
		return
	}
	// Rows of the table itself: its columns would be of two tables of one name.
	s.Rows = &ast.Select{SelectExprs: ast.SelectExprs{&ast.StarExpr{}}, From: ast.TableExprs{
		&ast.AliasedTableExpr{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE},
			Expr: &ast.Subquery{Select: rows}, As: ast.NewTableIdent("moka rows")}}}
}

// selectsFrom reports whether a query has a table of that name in its FROM.
func selectsFrom(s ast.SelectStatement, name string) (found bool) {
	q, ok := s.(*ast.Select)
	if !ok {
		return false
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.AliasedTableExpr:
			known := n.As.String()
			if t, ok := n.Expr.(ast.TableName); ok && known == "" {
				known = t.Name.String()
			}
			found = found || strings.EqualFold(known, name)
		}
		return true, nil
	}, q.From)
	return found
}

func insertFunctions() []sql.Function {
	return []sql.Function{sql.Function1{Name: valuesFunction,
		Fn: func(_ *sql.Context, column sql.Expression) sql.Expression {
			return &newValue{expression.UnaryExpressionStub{Child: column}}
		}}}
}

type newValue struct{ expression.UnaryExpressionStub }

var (
	_ sql.FunctionExpression = (*newValue)(nil)
	_ sql.CollationCoercible = (*newValue)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (*newValue) FunctionName() string { return valuesFunction }

// Description implements sql.FunctionExpression.
func (*newValue) Description() string { return "is a value that was to be inserted." }

func (v *newValue) String() string                 { return "values(" + v.Child.String() + ")" }
func (v *newValue) Type(ctx *sql.Context) sql.Type { return v.Child.Type(ctx) }
func (*newValue) IsNullable(*sql.Context) bool     { return true }

// WithChildren implements sql.Expression.
func (v *newValue) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(ch), 1)
	}
	return &newValue{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *newValue) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, v.Child)
}

// Eval implements sql.Expression.
func (v *newValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	f, ok := v.Child.(*expression.GetField)
	if !ok || len(row)%2 != 0 || f.Index() >= len(row)/2 {
		return nil, nil // as MySQL, outside of ON DUPLICATE KEY UPDATE
	}
	return row[len(row)/2+f.Index()], nil
}
