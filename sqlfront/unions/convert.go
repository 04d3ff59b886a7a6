package unions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// converted is a part whose columns have the types to; nil if they have. A type that is nil is the library's
// affair.
func converted(part ast.SelectStatement, of []column, to []sql.Type, weight []byte,
	first bool) ast.SelectStatement {
	differs := first && ordered(part)
	for i, t := range to {
		differs = differs || !of[i].fits(t)
	}
	if !differs {
		return nil
	}
	if s := simple(part); s != nil && len(s.SelectExprs) == len(to) {
		list := make(ast.SelectExprs, len(to))
		for i, e := range s.SelectExprs {
			a := *e.(*ast.AliasedExpr) // simple has looked
			if !of[i].fits(to[i]) {
				if a.As.IsEmpty() {
					a.As = ast.NewColIdent(of[i].name)
				}
				a.Expr = conversion(a.Expr, target{to[i], weight[i], of[i].fraction})
			}
			list[i] = &a
		}
		again := *s
		again.SelectExprs = list
		return &again
	}
	names := make(ast.Columns, len(to))
	list := make(ast.SelectExprs, len(to))
	for i := range to {
		names[i] = ast.NewColIdent("c" + strconv.Itoa(i))
		var e ast.Expr = &ast.ColName{Name: names[i]}
		if !of[i].fits(to[i]) {
			e = conversion(e, target{to[i], weight[i], of[i].fraction})
		}
		list[i] = &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(of[i].name)}
	}
	return &ast.Select{SelectExprs: list, From: ast.TableExprs{&ast.AliasedTableExpr{
		Auth: ignored, Expr: &ast.Subquery{Select: part, Columns: names}, As: ast.NewTableIdent(partName)}}}
}

// ordered reports whether a part is a set operation with an order or a limit of its own, which the library
// takes for those of the whole if it is the first.
func ordered(part ast.SelectStatement) bool {
	switch p := part.(type) {
	case *ast.ParenSelect:
		return ordered(p.Select)
	case *ast.SetOp:
		return len(p.OrderBy) > 0 || p.Limit != nil
	}
	return false
}

// simple is a query in which nothing goes by the values that it selects; nil if it is none. Others are
// converted behind what sorts, groups or tells apart their rows.
func simple(part ast.SelectStatement) *ast.Select {
	if p, ok := part.(*ast.ParenSelect); ok {
		return simple(p.Select)
	}
	s, ok := part.(*ast.Select)
	if !ok || s.With != nil || s.QueryOpts.Distinct || len(s.QueryOpts.DistinctOn) > 0 ||
		len(s.GroupBy) > 0 || s.Having != nil || len(s.OrderBy) > 0 || len(s.Window) > 0 {
		return nil
	}
	for _, e := range s.SelectExprs {
		if _, ok := e.(*ast.AliasedExpr); !ok {
			return nil
		}
	}
	return s
}

func conversion(e ast.Expr, to target) ast.Expr {
	return ast.InjectedExpr{Auth: ignored, Expression: conversionOf{to, e}, Children: ast.Exprs{e}}
}

// target is what a column is to become.
type target struct {
	typ    sql.Type
	weight byte // the coercibility of a text
	// fraction is how many digits the fraction of a TIME has that becomes a text: the library's type does not
	// say.
	fraction int
}

// conversionOf stands in the syntax tree for a conversion.
type conversionOf struct {
	target
	of ast.Expr
}

// String is the text of what is converted.
func (c conversionOf) String() string { return ast.String(c.of) }

// WithResolvedChildren implements ast.Injectable.
func (c conversionOf) WithResolvedChildren(in context.Context, children []any) (any, error) {
	ctx, ok := in.(*sql.Context)
	if !ok || len(children) != 1 {
		return nil, fmt.Errorf("unions: a conversion of %d columns in %T", len(children), in)
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, fmt.Errorf("unions: a conversion of %T", children[0])
	}
	return newConverted(ctx, e, c.target), nil
}
