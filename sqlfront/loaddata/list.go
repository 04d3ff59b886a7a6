package loaddata

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Columns are the columns of the table that the fields of a record go to, one by one; false if some go
// elsewhere, or through expressions.
func Columns(n *plan.LoadData) (list []int, ok bool) {
	if n.SetExprs != nil || count(n.UserVars) > 0 {
		return nil, false
	}
	list, _, err := inserted(n)
	return list, err == nil
}

// inserted are the columns of the INSERT, and how many of them the list of the statement has. The library
// puts the columns in SET behind those of the list, unless they are in it.
func inserted(n *plan.LoadData) (columns []int, listed int, err error) {
	if len(n.ColNames) == 0 { // all, in their order; the list is empty or has variables alone
		for i := range n.DestSch {
			columns = append(columns, i)
		}
		return columns, len(columns), nil
	}
	for _, name := range n.ColNames {
		i := n.DestSch.IndexOfColName(name)
		if i < 0 {
			return nil, 0, sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'field list'", name)
		}
		columns = append(columns, i)
	}
	// It makes room for a variable for each column of the table, or of the list if that is longer, and for
	// one more with each column that SET adds.
	added := len(n.UserVars) - len(n.DestSch)
	if variables := count(n.UserVars); variables+len(columns) == len(n.UserVars) {
		isSet := func(i int) bool { return n.SetExprs != nil && n.SetExprs[i] != nil }
		for added = 0; added < len(columns) && isSet(columns[len(columns)-1-added]); added++ {
		}
	}
	return columns, len(columns) - max(0, added), nil
}

func count(variables []sql.Expression) (n int) {
	for _, v := range variables {
		if v != nil {
			n++
		}
	}
	return n
}

// destination is where a field goes: to a column of the row, or to a variable.
type destination struct {
	at       int // in the row that is returned; -1 for a variable
	variable string
}

// destinations are those of a record's fields.
func destinations(n *plan.LoadData, listed int) (all []destination, err error) {
	if len(n.ColNames) == 0 && count(n.UserVars) > 0 {
		listed = 0
	}
	for i, at := 0, 0; at < listed || i < len(n.UserVars); i++ {
		if i >= len(n.UserVars) || n.UserVars[i] == nil {
			if at < listed {
				all = append(all, destination{at: at})
				at++
			}
			continue
		}
		set, ok := n.UserVars[i].(*expression.SetField)
		if !ok {
			return nil, fmt.Errorf("loaddata: a variable is a %T", n.UserVars[i])
		}
		v, ok := set.LeftChild.(*expression.UserVar)
		if !ok {
			return nil, fmt.Errorf("loaddata: a variable is a %T", set.LeftChild)
		}
		all = append(all, destination{at: -1, variable: v.Name})
	}
	return all, nil
}

// assignment is an item of SET, of which the library forgets the order.
type assignment struct {
	expression.UnaryExpressionStub
	order int
}

// Order sees that the items of SET are evaluated in their order.
func Order(l *ast.Load) error {
	seen := map[string]bool{}
	for i, e := range l.SetExprs {
		if seen[e.Name.Name.Lowered()] {
			return sqlerr.Unsupported("a column twice in SET of LOAD DATA")
		}
		seen[e.Name.Name.Lowered()] = true
		if what := refused(e.Expr); what != "" {
			return sqlerr.Unsupported(what + " in SET of LOAD DATA")
		}
		e.Expr = ast.InjectedExpr{
			Auth:       ast.AuthInformation{AuthType: ast.AuthType_IGNORE},
			Expression: ordered{i, e.Expr}, Children: ast.Exprs{e.Expr},
		}
	}
	return nil
}

// refused is what an item of SET has that the library does not resolve there.
func refused(e ast.Expr) (what string) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			what = "a subquery"
		case *ast.Default:
			if ast.Expr(n) != e {
				what = "DEFAULT within an expression"
			}
		}
		return what == "", nil
	}, e)
	return what
}

// ordered stands for an assignment in the syntax tree.
type ordered struct {
	order int
	of    ast.Expr
}

func (o ordered) String() string { return ast.String(o.of) }

// WithResolvedChildren implements ast.Injectable.
func (o ordered) WithResolvedChildren(_ context.Context, children []any) (any, error) {
	if len(children) != 1 {
		return nil, fmt.Errorf("loaddata: %d values for an item of SET", len(children))
	}
	e, ok := children[0].(sql.Expression)
	if !ok {
		return nil, fmt.Errorf("loaddata: an item of SET is a %T", children[0])
	}
	return &assignment{expression.UnaryExpressionStub{Child: e}, o.order}, nil
}

// Eval implements sql.Expression.
func (a *assignment) Eval(ctx *sql.Context, row sql.Row) (any, error) { return a.Child.Eval(ctx, row) }

// Type implements sql.Expression.
func (a *assignment) Type(ctx *sql.Context) sql.Type { return a.Child.Type(ctx) }

func (a *assignment) String() string { return a.Child.String() }

// WithChildren implements sql.Expression.
func (a *assignment) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return &assignment{expression.UnaryExpressionStub{Child: children[0]}, a.order}, nil
}
