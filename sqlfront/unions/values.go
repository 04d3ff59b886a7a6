package unions

import (
	"slices"
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// mostRows is how many rows VALUES may have: more are planned for seconds.
const mostRows = 9000

const (
	mostColumns = 4096 // as tables have
	// mostTables is how many tables a WITH may have: each may stand on the one before it.
	mostTables = 1000
)

// Refused is what a statement has that cannot be made a union, or is too long a list of tables; empty for
// nothing.
func Refused(n ast.SQLNode) (what string) {
	walk(n, func(n ast.SQLNode) bool {
		switch n := n.(type) {
		case *ast.ValuesStatement:
			if n != nil && len(n.Rows) > mostRows {
				what = "VALUES of more than 9,000 rows"
			} else if n != nil && len(n.Rows) > 0 && len(n.Rows[0]) > mostColumns {
				what = "VALUES of more than 4,096 columns"
			}
		case *ast.With:
			if n != nil && len(n.Ctes) > mostTables {
				what = "WITH of more than 1,000 tables"
			}
		}
		return what == ""
	})
	return what
}

// values makes VALUES ROW(…), ROW(…) the union of its rows that it is. To the library a column's type is that
// of its first value, with a few exceptions, so that 18446744073709551615 below a 1 was 127, and a moment
// below a NULL was none.
func values(t *ast.AliasedTableExpr) {
	v, ok := t.Expr.(*ast.ValuesStatement)
	if !ok || len(v.Rows) < 2 || len(v.Rows) > mostRows {
		return
	}
	parts := make([]ast.SelectStatement, len(v.Rows))
	for i, row := range v.Rows {
		if len(row) != len(v.Rows[0]) {
			return // the library words it
		}
		part := &ast.Select{}
		for j, e := range row {
			if _, ok := e.(*ast.Default); ok {
				return // that of an INSERT
			}
			part.SelectExprs = append(part.SelectExprs, &ast.AliasedExpr{
				Expr: e, As: ast.NewColIdent("column_" + strconv.Itoa(j)),
			})
		}
		parts[i] = part
	}
	all := tree(ast.UnionAllStr, parts)
	if t.As.IsEmpty() { // VALUES is the statement
		t.As = ast.NewTableIdent("values")
	}
	t.Expr = &ast.Subquery{Select: all, Columns: v.Columns}
}

// fewParts is how many parts a chain may have that stays one.
const fewParts = 32

// level makes a long chain of UNION, or of UNION ALL, in a subquery a tree. In a chain who asks the last for
// its columns asks all others, and the library asks each: five hundred of them took four seconds.
func level(q ast.SelectStatement) {
	top, ok := q.(*ast.SetOp)
	if !ok || top == nil || !sameChain(top, top.Type) {
		return
	}
	parts := []ast.SelectStatement{top.Right}
	left := top.Left
	for {
		s, ok := left.(*ast.SetOp)
		if !ok || s.Type != top.Type || !sameChain(s, top.Type) || s.With != nil || len(s.OrderBy) > 0 ||
			s.Limit != nil || s.Lock != nil || s.Into != nil {
			break
		}
		parts, left = append(parts, s.Right), s.Left
	}
	parts = append(parts, left)
	if len(parts) <= fewParts {
		return
	}
	slices.Reverse(parts)
	whole, ok := tree(top.Type, parts).(*ast.SetOp)
	if ok {
		top.Left, top.Right = whole.Left, whole.Right
	}
}

// sameChain reports whether it is the same in which order the parts of such a chain are put together.
func sameChain(s *ast.SetOp, kind string) bool {
	if _, nested := s.Right.(*ast.SetOp); nested {
		return false
	}
	return kind == ast.UnionAllStr || kind == ast.UnionStr || kind == ast.UnionDistinctStr
}

// tree puts parts together, as low as can be.
func tree(kind string, parts []ast.SelectStatement) ast.SelectStatement {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	right := tree(kind, parts[half:])
	if _, ok := right.(*ast.SetOp); ok {
		right = &ast.ParenSelect{Select: right}
	}
	return &ast.SetOp{Type: kind, Left: tree(kind, parts[:half]), Right: right}
}
