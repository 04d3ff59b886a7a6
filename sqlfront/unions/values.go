package unions

import (
	"slices"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// What the VALUES of a statement may have: more are planned for seconds. The library asks a query for all its
// columns at each of them, so that these count by their squares.
const (
	mostRows    = 9000 // of one
	mostColumns = 4096 // of one, as tables have
	mostValues  = 500_000
	mostSquares = 4 << 20 // 2,048 columns, or four times 1,024
	// mostTables is how many tables a WITH may have: each may stand on the one before it.
	mostTables = 1000
)

// Refused is what a statement has that cannot be made a union, or is too long a list of tables; empty for
// nothing.
func Refused(n ast.SQLNode) (what string) {
	values, squares := 0, 0
	walk(n, func(n ast.SQLNode) bool {
		switch n := n.(type) {
		case *ast.ValuesStatement:
			if n == nil || len(n.Rows) == 0 {
				break
			}
			columns := len(n.Rows[0])
			values += len(n.Rows) * columns
			if len(n.Rows) > 1 {
				squares += columns * columns
			}
			switch {
			case len(n.Rows) > mostRows:
				what = "VALUES of more than 9,000 rows"
			case columns > mostColumns:
				what = "VALUES of more than 4,096 columns"
			case values > mostValues:
				what = "VALUES of more than 500,000 values in a statement"
			case squares > mostSquares:
				what = "VALUES of more than 2,048 columns in a statement"
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
