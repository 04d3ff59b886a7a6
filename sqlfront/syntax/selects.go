package syntax

import ast "github.com/dolthub/vitess/go/vt/sqlparser"

// Plain reports whether a SELECT has no clause beyond those that plans know.
func Plain(s *ast.Select) bool {
	o := s.QueryOpts
	return s.Into == nil && !Locks(s) && len(s.Window) == 0 && len(s.Comments) == 0 &&
		!o.SQLCalcFoundRows && !o.StraightJoinHint && len(o.DistinctOn) == 0
}

// Locks reports whether a SELECT locks what it reads.
func Locks(s *ast.Select) bool { return s.Lock != nil && s.Lock.Type != "" }

// SteadyNames reports whether the columns of a result have the same names whatever the parameters are: an
// expression without a name of its own is called by its text.
func SteadyNames(sel *ast.Select) bool {
	steady := true
	for _, e := range sel.SelectExprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok || !a.As.IsEmpty() {
			continue
		}
		_ = Walk(func(n ast.SQLNode) (bool, error) {
			if v, ok := n.(*ast.SQLVal); ok && v.Type == ast.ValArg {
				steady = false
			}
			return steady, nil
		}, a.Expr)
	}
	return steady
}

// UnionOf are the queries of a UNION without an order or a limit of its own, from left to right. All of them
// are either UNION ALL or not.
func UnionOf(s ast.SelectStatement) (all []*ast.Select, kind string, ok bool) {
	switch s := s.(type) {
	case *ast.ParenSelect:
		return UnionOf(s.Select)
	case *ast.Select:
		return []*ast.Select{s}, "", Plain(s) && s.With == nil
	case *ast.SetOp:
		locks := s.Lock != nil && s.Lock.Type != ""
		if s.With != nil || s.Limit != nil || s.Into != nil || len(s.OrderBy) > 0 || locks {
			return nil, "", false
		}
		if kind = s.Type; kind == ast.UnionDistinctStr {
			kind = ast.UnionStr
		}
		if kind != ast.UnionStr && kind != ast.UnionAllStr {
			return nil, "", false
		}
		for _, side := range []ast.SelectStatement{s.Left, s.Right} {
			some, of, ok := UnionOf(side)
			if !ok || of != "" && of != kind {
				return nil, "", false
			}
			all = append(all, some...)
		}
		return all, kind, true
	}
	return nil, "", false
}
