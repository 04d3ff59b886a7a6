package viewname

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// MaxParts bounds the parts of the expressions of views that one statement is made of. A view that names
// a column of the view below twice doubles its expression, so that forty short views are more than a
// machine has; nobody has written more than a few hundred by intent.
const MaxParts = 20_000

// PartBytes is about what a part takes until the statement is planned: its text, and the trees of the
// grammar and of the planner.
const PartBytes = 2 << 10

// Parts are the nodes of an expression, and more for long literals and names; each column is one. Those of
// an expression that stands in the place of a column have to be added (Sum): its tree is shared by all that
// name it, and must not be walked before it is known to be small.
func Parts(e ast.Expr) (n int) {
	const bytes = 16
	_ = syntax.Walk(func(x ast.SQLNode) (bool, error) { // the visitor has no errors
		n++
		switch x := x.(type) {
		case *ast.SQLVal:
			n += len(x.Val) / bytes
		case *ast.FuncExpr:
			n += len(x.Name.String()) / bytes
		}
		return true, nil
	}, e)
	return n
}

// Sum adds parts up; what is more than MaxParts is MaxParts + 1.
func Sum(a, b int) int { return min(a+b, MaxParts+1) }
