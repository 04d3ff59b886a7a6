package expr

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// DefaultFunction is DEFAULT(c): its argument is the column, in the place of which package engine puts what
// the column's table says. The library takes DEFAULT(c) for DEFAULT, the default of whatever column is
// assigned to, and panics where none is.
var DefaultFunction = inband.Function("default")

// assignedDefault is c = DEFAULT(c): the DEFAULT of c, which generated columns may be assigned, too.
func assignedDefault(a *ast.AssignmentExpr) {
	if defaultOf(a.Expr, a.Name.Name) {
		a.Expr = &ast.Default{}
	}
}

// defaultOf reports whether e is DEFAULT(c) of that column.
func defaultOf(e ast.Expr, c ast.ColIdent) bool {
	switch e := e.(type) {
	case *ast.Default:
		return e.ColName != "" && strings.EqualFold(e.ColName, c.String())
	case *ast.FuncExpr:
		if e.Name.Lowered() != DefaultFunction || len(e.Exprs) != 1 {
			return false
		}
		a, _ := e.Exprs[0].(*ast.AliasedExpr)
		if a == nil {
			return false
		}
		of, ok := a.Expr.(*ast.ColName)
		return ok && of.Qualifier.IsEmpty() && of.Name.Equal(c)
	}
	return false
}

// insertedDefaults is about DEFAULT(c) in VALUES, where no table is in sight. In the place of the column c it
// is DEFAULT; elsewhere it is asked of the table by a query, of one row, without reading any.
func insertedDefaults(s *ast.Insert) {
	rows, ok := s.Rows.(*ast.AliasedValues)
	if !ok {
		return
	}
	within := map[ast.Expr]bool{}
	for _, tuple := range rows.Values {
		for i, e := range tuple {
			if i < len(s.Columns) && defaultOf(e, s.Columns[i]) {
				tuple[i] = &ast.Default{}
				continue
			}
			_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
				switch n := n.(type) {
				case *ast.Subquery: // has tables of its own
					return false, nil
				case *ast.Default:
					within[n] = n.ColName != ""
				case *ast.FuncExpr:
					within[n] = n.Name.Lowered() == DefaultFunction
				}
				return true, nil
			}, e)
		}
	}
	if len(within) == 0 {
		return
	}
	for _, tuple := range rows.Values {
		Each(tuple, func(at *ast.Expr, _ bool) {
			switch e := (*at).(type) { // others are no keys of maps
			case *ast.Default:
				if within[e] {
					*at = askedOf(s.Table, callOf(DefaultFunction,
						&ast.ColName{Name: ast.NewColIdent(e.ColName)}))
				}
			case *ast.FuncExpr:
				if within[e] {
					delete(within, e) // it will be met again, in the query
					*at = askedOf(s.Table, e)
				}
			}
		})
	}
}

// askedOf is (SELECT e FROM (SELECT 1) AS one LEFT JOIN table ON FALSE).
func askedOf(table ast.TableName, e ast.Expr) ast.Expr {
	ignore := ast.AuthInformation{AuthType: ast.AuthType_IGNORE}
	one := &ast.Select{SelectExprs: ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))}}}
	reads := ast.AuthInformation{
		AuthType: ast.AuthType_SELECT, TargetType: ast.AuthTargetType_SingleTableIdentifier,
		TargetNames: []string{table.DbQualifier.String(), table.Name.String()},
	}
	return &ast.Subquery{Select: &ast.Select{
		SelectExprs: ast.SelectExprs{&ast.AliasedExpr{Expr: e}},
		From: ast.TableExprs{&ast.JoinTableExpr{
			LeftExpr: &ast.AliasedTableExpr{Auth: ignore, Expr: &ast.Subquery{Select: one},
				As: ast.NewTableIdent("moka one")},
			Join:      ast.LeftJoinStr,
			RightExpr: &ast.AliasedTableExpr{Auth: reads, Expr: table},
			Condition: ast.JoinCondition{On: ast.BoolVal(false)},
		}},
	}}
}
