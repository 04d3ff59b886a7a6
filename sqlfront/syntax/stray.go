package syntax

import ast "github.com/dolthub/vitess/go/vt/sqlparser"

// Stray returns the first DEFAULT, without a column, that is in no place of its own, and INTERVAL that is a
// value by itself: "DEFAULT" or "INTERVAL", empty for none. MySQL's grammar has neither (1064); the library's
// lets them stand anywhere, and its executor panics when it comes to one. So it does at the type of a value
// of JSON_VALUE, its third argument, that is no text, and at a column without a name, "“".
//
// DEFAULT has its place as all that is assigned, and as all of a value in INSERT … VALUES; INTERVAL is an
// operand of + and -, the second argument of the functions that are these, and the bound of a window.
func Stray(stmt ast.Statement) string {
	s := stray{placed: map[ast.Expr]bool{}}
	s.walk(append(Bodies(stmt), stmt)...)
	return s.found
}

// stray goes through a statement, parents first.
type stray struct {
	found  string
	placed map[ast.Expr]bool
}

func (s *stray) walk(nodes ...ast.SQLNode) {
	_ = Walk(s.visit, nodes...) // the visitor has no errors
}

// place says that an expression may be DEFAULT there, or INTERVAL.
func (s *stray) place(e ast.Expr) { s.placed[e] = true }

func (s *stray) assigned(e ast.Expr) {
	if d, ok := e.(*ast.Default); ok {
		s.place(d)
	}
}

func (s *stray) visit(n ast.SQLNode) (bool, error) {
	switch n := n.(type) {
	case *ast.Insert:
		insertedValues(n, s.assigned)
	case *ast.AssignmentExpr:
		s.assigned(n.Expr)
	case *ast.SetVarExpr:
		s.assigned(n.Expr)
	case *ast.FuncExpr:
		s.call(n)
	case *ast.BinaryExpr:
		if n.Operator == ast.PlusStr || n.Operator == ast.MinusStr {
			s.interval(n.Right)
		}
		if n.Operator == ast.PlusStr {
			s.interval(n.Left)
		}
	case *ast.FrameBound:
		if n != nil {
			s.interval(n.Expr)
		}
	case *ast.IntervalExpr:
		if n != nil && !s.placed[n] {
			s.found = "INTERVAL"
		}
	case *ast.Default:
		if n.ColName == "" && !s.placed[n] {
			s.found = "DEFAULT"
		}
	case *ast.ColName:
		if n != nil && n.Name.IsEmpty() {
			s.found = "``"
		}
	case ast.Statement:
		for _, e := range Conditions(n) {
			s.walk(e)
		}
	}
	return s.found == "", nil
}

// interval places an operand that is an INTERVAL.
func (s *stray) interval(e ast.Expr) {
	if i, ok := e.(*ast.IntervalExpr); ok {
		s.place(i)
	}
}

func (s *stray) call(n *ast.FuncExpr) {
	switch n.Name.Lowered() {
	case "json_value":
		if len(n.Exprs) == 3 && !isText(n.Exprs[2]) {
			s.found = "JSON_VALUE"
		}
	case "date_add", "date_sub", "adddate", "subdate":
		if len(n.Exprs) == 2 {
			if a, ok := n.Exprs[1].(*ast.AliasedExpr); ok {
				s.interval(a.Expr)
			}
		}
	}
}

// Conditions are the expressions of a body's statement that the library's walk does not come to.
func Conditions(n ast.Statement) (all []ast.Expr) {
	switch n := n.(type) {
	case *ast.IfStatement:
		for _, c := range n.Conditions {
			all = append(all, c.Expr)
		}
	case *ast.CaseStatement:
		if n.Expr != nil {
			all = append(all, n.Expr)
		}
		for _, c := range n.Cases {
			all = append(all, c.Case)
		}
	case *ast.While:
		all = append(all, n.Condition)
	case *ast.Repeat:
		all = append(all, n.Condition)
	case *ast.Return:
		all = append(all, n.Expr)
	case *ast.Declare:
		if n.Variables != nil && n.Variables.VarType.Default != nil {
			all = append(all, n.Variables.VarType.Default)
		}
	}
	return all
}

func isText(e ast.SelectExpr) bool {
	a, ok := e.(*ast.AliasedExpr)
	if !ok {
		return false
	}
	v, ok := a.Expr.(*ast.SQLVal)
	return ok && v.Type == ast.StrVal
}

// insertedValues calls f for each value of INSERT … VALUES.
func insertedValues(s *ast.Insert, f func(ast.Expr)) {
	rows, ok := s.Rows.(*ast.AliasedValues)
	if !ok {
		return
	}
	for _, tuple := range rows.Values {
		for _, e := range tuple {
			f(e)
		}
	}
}

// Bodies are what a CREATE statement stores, which a walk from its top does not reach.
func Bodies(stmt ast.Statement) []ast.SQLNode {
	d, ok := stmt.(*ast.DDL)
	if !ok {
		return nil
	}
	var all []ast.SQLNode
	if d.ProcedureSpec != nil {
		all = append(all, d.ProcedureSpec.Body)
	}
	if d.TriggerSpec != nil {
		all = append(all, d.TriggerSpec.Body)
	}
	if d.EventSpec != nil {
		all = append(all, d.EventSpec.Body)
	}
	if d.ViewSpec != nil {
		all = append(all, d.ViewSpec.ViewExpr)
	}
	if d.OptSelect != nil {
		all = append(all, d.OptSelect.Select)
	}
	return all
}
