package expr

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// Collate makes the literals below a statement those of a collation, whatever the session's is, and with them
// what functions make of numbers and times. A stored text means what it meant to who has stored it: who reads
// a view under SET NAMES binary would see rows that it hides, and write some that a CHECK refuses.
func Collate(n ast.SQLNode, collation sql.CollationID) {
	if collation != sql.Collation_Unspecified && n != nil {
		collate(n, collation, func(ast.Expr) bool { return true })
	}
}

// CollateColumn does the same in the text of a column or a CHECK, but to what functions make of numbers where
// it is compared only: the key over an expression is found by the expression, which is to look as in a query.
func CollateColumn(n ast.SQLNode, collation sql.CollationID) {
	compared := map[ast.Expr]bool{}
	below := func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			compared[n] = true
		case *ast.ConvertExpr:
			compared[n] = true
		}
		return true, nil
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ComparisonExpr, *ast.RangeCond, *ast.CaseExpr:
			return false, syntax.Walk(below, n)
		case *ast.FuncExpr:
			if comparing[n.Name.Lowered()] {
				return false, syntax.Walk(below, n)
			}
		}
		return true, nil
	}, n)
	collate(n, collation, func(e ast.Expr) bool { return compared[e] })
}

// comparing are functions that compare texts.
var comparing = map[string]bool{
	"field": true, "find_in_set": true, "greatest": true, "instr": true, "least": true, "locate": true,
	"nullif": true, "position": true, "regexp_like": true, "strcmp": true,
}

func collate(n ast.SQLNode, collation sql.CollationID, wraps func(ast.Expr) bool) {
	seen := map[ast.Expr]bool{} // that are a part of something else
	Each(n, func(at *ast.Expr, limit bool) {
		if limit {
			return
		}
		switch x := (*at).(type) {
		case *ast.SQLVal:
			if x.Type == ast.StrVal && !seen[x] {
				*at = inCollation(&textLiteral{string(x.Val), collation})
			}
		case *ast.UnaryExpr: // _latin1'x'
			if v, ok := x.Expr.(*ast.SQLVal); ok && strings.HasPrefix(x.Operator, "_") {
				seen[v] = true
			} else if c, ok := x.Expr.(*ast.CollateExpr); ok && strings.HasPrefix(x.Operator, "_") {
				if v, ok := c.Expr.(*ast.SQLVal); ok {
					seen[v] = true
				}
			}
		case *ast.CollateExpr:
			// The library asks whether the literal's collation is of the session's character set.
			if v, ok := x.Expr.(*ast.SQLVal); ok && v.Type == ast.StrVal && !seen[v] {
				*at = inCollation(&collatedLiteral{string(v.Val), collation, x.Collation})
			}
		case *ast.FuncExpr:
			if madeTexts[x.Name.Lowered()] && x.Over == nil && !seen[x] && wraps(x) {
				seen[x] = true
				*at = inCollation(&madeOf{x, collation}, x)
			}
		case *ast.ConvertExpr:
			if x.Type != nil && strings.EqualFold(x.Type.Type, expression.ConvertToChar) &&
				!seen[x] && wraps(x) {
				seen[x] = true
				*at = inCollation(&madeOf{x, collation}, x)
			}
		}
	})
}

func inCollation(e ast.Injectable, of ...ast.Expr) ast.Expr {
	auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE}
	return ast.InjectedExpr{Auth: auth, Expression: e, Children: of}
}

// textLiteral stands in the syntax tree for a literal of a collation.
type textLiteral struct {
	text      string
	collation sql.CollationID
}

// WithResolvedChildren implements ast.Injectable.
func (l *textLiteral) WithResolvedChildren(context.Context, []any) (any, error) {
	return expression.NewLiteral(l.text, types.CreateLongText(l.collation)), nil
}

// String is the literal as a text in which it is of its collation again. It is in UTF-8, so it cannot be said
// with an introducer of another character set.
func (l *textLiteral) String() string {
	text := ast.String(ast.NewStrVal([]byte(l.text)))
	if l.collation.CharacterSet() != sql.CharacterSet_utf8mb4 {
		return text
	}
	return "_utf8mb4 " + text + " collate " + l.collation.Name()
}

// collatedLiteral stands for 'x' COLLATE c.
type collatedLiteral struct {
	text      string
	collation sql.CollationID
	name      string
}

// WithResolvedChildren implements ast.Injectable.
func (l *collatedLiteral) WithResolvedChildren(context.Context, []any) (any, error) {
	id, err := sql.ParseCollation("", l.name, false)
	if err != nil {
		return nil, err
	}
	if set := l.collation.CharacterSet(); id.CharacterSet() != set {
		return nil, sql.ErrCollationInvalidForCharSet.New(id.Name(), set.Name())
	}
	return expression.NewCollatedExpression(
		expression.NewLiteral(l.text, types.CreateLongText(l.collation)), id), nil
}

// String is the text of what the literal replaced.
func (l *collatedLiteral) String() string {
	return ast.String(ast.NewStrVal([]byte(l.text))) + " collate " + l.name
}

// madeTexts are the functions that make a text of what is none: it is of the connection's collation.
var madeTexts = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`
		bin char conv date_format dayname elt export_set format from_unixtime get_format hex
		inet_ntoa inet6_ntoa make_set maketime md5 monthname oct quote sec_to_time sha sha1 sha2
		soundex time_format to_base64 uuid concat concat_ws user current_user session_user
		system_user database schema version`) {
		all[name] = true
	}
	return all
}()

// madeOf stands for what makes a text of what is none.
type madeOf struct {
	was       ast.Expr
	collation sql.CollationID
}

// WithResolvedChildren implements ast.Injectable.
func (t *madeOf) WithResolvedChildren(ctx context.Context, children []any) (any, error) {
	child, ok := children[0].(sql.Expression)
	if s, is := ctx.(*sql.Context); !ok || is && s.Session != nil && s.GetCollation() == t.collation {
		return children[0], nil
	}
	return &madeText{child, t.collation}, nil
}

// String is the text of what this replaced.
func (t *madeOf) String() string { return ast.String(t.was) }

// madeText is a text that is the stored text's collation where it would be of the connection's.
type madeText struct {
	child     sql.Expression
	collation sql.CollationID
}

var (
	_ sql.Expression         = (*madeText)(nil)
	_ sql.CollationCoercible = (*madeText)(nil)
)

// own reports whether the text is of the connection's collation.
func (m *madeText) own(ctx *sql.Context) (collation sql.CollationID, coercibility byte, ok bool) {
	const literal = 4
	collation, coercibility = sql.GetCoercibility(ctx, m.child)
	_, cast := m.child.(*expression.Convert) // which are as strong as columns
	return collation, coercibility, (cast || coercibility >= literal) && collation == ctx.GetCollation() &&
		types.IsText(m.child.Type(ctx))
}

// CollationCoercibility implements sql.CollationCoercible.
func (m *madeText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	collation, coercibility, ok := m.own(ctx)
	if ok {
		collation = m.collation
	}
	return collation, coercibility
}

// Resolved implements sql.Expression.
func (m *madeText) Resolved() bool { return m.child.Resolved() }

// IsNullable implements sql.Expression.
func (m *madeText) IsNullable(ctx *sql.Context) bool { return m.child.IsNullable(ctx) }

// Children implements sql.Expression.
func (m *madeText) Children() []sql.Expression { return []sql.Expression{m.child} }

// Type implements sql.Expression.
func (m *madeText) Type(ctx *sql.Context) sql.Type {
	if _, _, ok := m.own(ctx); ok {
		return types.CreateLongText(m.collation)
	}
	return m.child.Type(ctx)
}

// Eval implements sql.Expression.
func (m *madeText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.child.Eval(ctx, row)
	if b, ok := v.([]byte); ok && err == nil {
		if _, _, ok := m.own(ctx); ok {
			return string(b), nil
		}
	}
	return v, err
}

// String implements fmt.Stringer.
func (m *madeText) String() string { return m.child.String() }

// WithChildren implements sql.Expression.
func (m *madeText) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	return &madeText{children[0], m.collation}, nil
}
