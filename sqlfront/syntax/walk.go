// Package syntax goes through all of a statement's tree. The library's own walk leaves out parts of some
// nodes: WITH, ORDER BY and LIMIT of a UNION, and the WINDOW clause. What a rule about a statement does not
// see there it does not rule: a function that a view calls in such a place ran with the rights of who read
// the view, and 9223372036854775807 + 1 wrapped.
package syntax

import ast "github.com/dolthub/vitess/go/vt/sqlparser"

// Walk calls visit for each node, as the library's walk does, parents first; false leaves out what is below.
func Walk(visit ast.Visit, nodes ...ast.SQLNode) error {
	var look ast.Visit
	look = func(n ast.SQLNode) (bool, error) {
		below, err := visit(n)
		if err != nil || !below {
			return below, err
		}
		switch n := n.(type) {
		case *ast.SetOp:
			if n != nil {
				err = ast.Walk(look, n.With, n.OrderBy, n.Limit)
			}
		case *ast.Select:
			if n != nil {
				err = ast.Walk(look, n.Window)
			}
		}
		return true, err
	}
	return ast.Walk(look, nodes...)
}
