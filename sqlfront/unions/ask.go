package unions

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// Names that no table and no column has.
var (
	askName  = inband.New("union")
	partName = inband.New("part")
)

var ignored = ast.AuthInformation{AuthType: ast.AuthType_IGNORE}

// Ask prepares a statement, or what is below one, for the binder. It may be called again for a tree that has
// been bound, or for a copy of one.
func Ask(n ast.SQLNode) {
	Forget(n)
	walk(n, func(n ast.SQLNode) bool {
		if t, ok := n.(*ast.AliasedTableExpr); ok && t != nil {
			values(t)
		}
		if q, ok := n.(*ast.Subquery); ok && q != nil {
			level(q.Select)
		}
		return true
	})
	a := asking{bare: map[*ast.SetOp]bool{}}
	a.below(true, n)
}

// Forget makes a statement what it was before Ask.
func Forget(n ast.SQLNode) {
	walk(n, func(n ast.SQLNode) bool {
		s, ok := n.(*ast.SetOp)
		if !ok || s.With == nil || len(s.With.Ctes) == 0 {
			return true
		}
		last := len(s.With.Ctes) - 1
		u, ok := unionOf(s.With.Ctes[last])
		if !ok {
			return true
		}
		u.forget()
		if with := *s.With; last > 0 {
			with.Ctes = with.Ctes[:last:last]
			s.With = &with
		} else {
			s.With = nil
		}
		return true
	})
}

// walk goes through a statement, and through the queries of what defines or explains one.
func walk(n ast.SQLNode, visit func(ast.SQLNode) bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.SetOp:
			if n == nil {
				return false, nil
			}
		case *ast.Explain:
			walk(n.Statement, visit)
		case *ast.DDL:
			if n.ViewSpec != nil && n.ViewSpec.ViewExpr != nil {
				walk(n.ViewSpec.ViewExpr, visit)
			}
			if n.OptSelect != nil && n.OptSelect.Select != nil {
				walk(n.OptSelect.Select, visit)
			}
		}
		return visit(n), nil
	}, n)
}

// unionOf is what an added common table expression asks for.
func unionOf(c *ast.CommonTableExpr) (*union, bool) {
	if c.AliasedTableExpr == nil || c.As.String() != askName {
		return nil, false
	}
	q, ok := c.Expr.(*ast.Subquery)
	if !ok {
		return nil, false
	}
	s, ok := q.Select.(*ast.Select)
	if !ok || len(s.SelectExprs) != 1 {
		return nil, false
	}
	e, ok := s.SelectExprs[0].(*ast.AliasedExpr)
	if !ok {
		return nil, false
	}
	i, ok := e.Expr.(ast.InjectedExpr)
	if !ok {
		return nil, false
	}
	u, ok := i.Expression.(*union)
	return u, ok
}

// union is a set operation with all parts of a chain of one kind, A UNION B UNION C.
type union struct {
	parts []part
	// within are the set operations below the parts. They are bound twice, in the subqueries that ask and in
	// their places, and are asked only the first time: else each level would double the work of all below.
	within []*union
	query  *ast.Subquery       // of the added common table expression
	asks   ast.SelectStatement // what it is before it has been answered
	outer  bool                // not within another
	asked  func()              // forgets what binding the parts to ask them has noted
}

// part is a query of a set operation.
type part struct {
	at  *ast.SelectStatement
	was ast.SelectStatement
}

// forget puts the parts back as they were.
func (u *union) forget() {
	for _, w := range u.within {
		w.restore()
	}
	u.restore()
}

func (u *union) restore() {
	for _, p := range u.parts {
		*p.at = p.was
	}
	u.query.Select = u.asks
}

// asking goes through a tree.
type asking struct {
	bare map[*ast.SetOp]bool // the binder takes these apart: unions of a recursive query
}

// below prepares all set operations below the nodes, and returns them.
func (a *asking) below(outer bool, nodes ...ast.SQLNode) (all []*union) {
	for _, n := range nodes {
		walk(n, func(n ast.SQLNode) bool {
			switch n := n.(type) {
			case *ast.With:
				if n != nil && n.Recursive {
					a.recursive(n)
				}
			case *ast.SetOp:
				if !a.bare[n] {
					all = append(all, a.setOp(outer, n)...)
					return false
				}
			}
			return true
		})
	}
	return all
}

// recursive notes the unions of recursive queries whose right side reads the query: the library takes them
// apart, and the columns have the types of what is left of them.
func (a *asking) recursive(w *ast.With) {
	for _, c := range w.Ctes {
		q, ok := c.Expr.(*ast.Subquery)
		if !ok {
			continue
		}
		for at := q.Select; ; {
			u, ok := at.(*ast.SetOp)
			if !ok || !reads(c.As.String(), u.Right) {
				break
			}
			a.bare[u] = true
			at = u.Left
		}
	}
}

// reads reports whether a query names a table.
func reads(name string, q ast.SelectStatement) (found bool) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // as the library looks for it
		if a, ok := n.(*ast.AliasedTableExpr); ok {
			if t, ok := a.Expr.(ast.TableName); ok && strings.EqualFold(t.Name.String(), name) {
				found = true
			}
		}
		return !found, nil
	}, q)
	return found
}

func (a *asking) setOp(outer bool, s *ast.SetOp) (all []*union) {
	if s.With != nil {
		all = a.below(outer, s.With)
	}
	u := &union{outer: outer}
	u.collect(s)
	for _, p := range u.parts {
		u.within = append(u.within, a.below(false, *p.at)...)
	}
	all = append(all, u.within...)
	all = append(all, a.below(outer, s.OrderBy, s.Limit)...)
	if u.plainList() {
		return all
	}
	var queries ast.Exprs
	if outer {
		queries = append(queries, ast.InjectedExpr{Auth: ignored, Expression: beginning{u}})
	}
	for _, p := range u.parts {
		queries = append(queries, &ast.Subquery{Select: p.was})
	}
	u.asks = oneRow(ast.InjectedExpr{Auth: ignored, Expression: u, Children: queries})
	u.query = &ast.Subquery{Select: u.asks}
	added := &ast.CommonTableExpr{AliasedTableExpr: &ast.AliasedTableExpr{
		Auth: ignored, Expr: u.query, As: ast.NewTableIdent(askName)}}
	with := &ast.With{}
	if s.With != nil {
		with.Recursive, with.Ctes = s.With.Recursive, s.With.Ctes
	}
	with.Ctes = append(with.Ctes[:len(with.Ctes):len(with.Ctes)], added)
	s.With = with
	return append(all, u)
}

// oneRow is SELECT e.
func oneRow(e ast.Expr) *ast.Select {
	return &ast.Select{SelectExprs: ast.SelectExprs{&ast.AliasedExpr{Expr: e, As: ast.NewColIdent(askName)}}}
}

// collect finds the parts. A query in parentheses that is a set operation itself is a part, as in MariaDB.
func (u *union) collect(s *ast.SetOp) {
	for _, side := range []*ast.SelectStatement{&s.Left, &s.Right} {
		if below, ok := (*side).(*ast.SetOp); ok && family(below) == family(s) && below.With == nil &&
			below.Limit == nil && len(below.OrderBy) == 0 {
			u.collect(below)
			continue
		}
		u.parts = append(u.parts, part{side, *side})
	}
}

// family is UNION, INTERSECT or EXCEPT.
func family(s *ast.SetOp) string {
	switch s.Type {
	case ast.UnionAllStr, ast.UnionDistinctStr:
		return ast.UnionStr
	case ast.IntersectAllStr, ast.IntersectDistinctStr:
		return ast.IntersectStr
	case ast.ExceptAllStr, ast.ExceptDistinctStr:
		return ast.ExceptStr
	}
	return s.Type
}

// manyParts is from how many parts on a list of literals is not asked for its types.
const manyParts = 32

// plainList reports whether the parts are many, and rows of whole numbers, or texts, only: the types that the
// library makes of those will do, and binding thousands of rows twice would not.
func (u *union) plainList() bool {
	if len(u.parts) < manyParts {
		return false
	}
	var kinds []ast.ValType
	for i, p := range u.parts {
		s, ok := p.was.(*ast.Select)
		if !ok || i > 0 && len(s.SelectExprs) != len(kinds) {
			return false
		}
		for j, e := range s.SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok {
				return false
			}
			v, ok := a.Expr.(*ast.SQLVal)
			if !ok || v.Type != ast.StrVal && (v.Type != ast.IntVal || len(v.Val) > 18) {
				return false
			}
			if i == 0 {
				kinds = append(kinds, v.Type)
			} else if kinds[j] != v.Type {
				return false
			}
		}
	}
	return true
}

// beginning is bound before the parts of a set operation that is not within another: what an earlier binding
// of the same tree has put in their places may not fit any more, tables and parameters change.
type beginning struct{ of *union }

// WithResolvedChildren implements ast.Injectable.
func (b beginning) WithResolvedChildren(c context.Context, _ []any) (any, error) {
	b.of.forget()
	b.of.asked = func() {}
	if ctx, ok := c.(*sql.Context); ok {
		if s, ok := ctx.Session.(Session); ok {
			b.of.asked = s.Asks()
		}
	}
	return answered, nil
}

// String is for the text of the query, which is shown.
func (beginning) String() string { return "types" }

// String is for the text of the query, which is shown.
func (*union) String() string { return "types" }

// answered is what the added query selects.
var answered = expression.NewLiteral(int8(1), types.Int8)

// WithResolvedChildren implements ast.Injectable: it is called with the bound parts.
func (u *union) WithResolvedChildren(c context.Context, children []any) (any, error) {
	ctx, ok := c.(*sql.Context)
	if !ok {
		return nil, fmt.Errorf("unions: bound in %T", c)
	}
	if len(children) == 0 {
		return answered, nil
	}
	if u.outer {
		children = children[1:]
	}
	if err := u.settle(ctx, children); err != nil {
		return nil, err
	}
	if u.outer {
		u.asked()
	} else {
		u.query.Select = oneRow(ast.InjectedExpr{Auth: ignored, Expression: u})
	}
	return answered, nil
}

// settle puts converted parts in the places of the parts, where the types differ.
func (u *union) settle(ctx *sql.Context, children []any) error {
	columns := make([][]column, len(children))
	for i, child := range children {
		q, ok := child.(*plan.Subquery)
		if !ok {
			return fmt.Errorf("unions: a part is %T", child)
		}
		columns[i] = columnsOf(ctx, q.Query)
		if len(columns[i]) != len(columns[0]) {
			return nil // which the binder will say
		}
	}
	to := make([]sql.Type, len(columns[0]))
	weight := make([]byte, len(to))
	for i := range to {
		same := make([]column, len(columns))
		for j := range columns {
			same[j] = columns[j][i]
		}
		to[i], weight[i] = common(ctx, same)
	}
	for i, p := range u.parts {
		if q := converted(p.was, columns[i], to, weight, i == 0); q != nil {
			*p.at = q
		}
	}
	return nil
}
