package namedjoin

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// scope is where a name is looked for: the items of one FROM clause, or one common table
// expression, and what is around.
type scope struct {
	outer *scope
	items []*item
	// cte and names are those of a common table expression.
	cte   string
	names list
	// selected are the columns of the result by name, where names are looked for there first: nil
	// stands for the name itself.
	selected map[string]*ast.ColName
}

// common are the columns of the common table expression of a name; nil if there is none.
func (s *scope) common(t ast.TableName) list {
	if !t.DbQualifier.IsEmpty() {
		return nil
	}
	for ; s != nil; s = s.outer {
		if s.cte != "" && strings.EqualFold(s.cte, t.Name.String()) {
			at := s
			return func() []string { return at.names() } // those of a recursive one are known later
		}
	}
	return nil
}

func (s *scope) merges() bool {
	for _, i := range s.items {
		if i.merges {
			return true
		}
	}
	return false
}

// behind is the scope of HAVING, and of a name alone in ORDER BY.
func (s *scope) behind(exprs ast.SelectExprs) *scope {
	c := *s
	c.selected = map[string]*ast.ColName{}
	for _, e := range exprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok {
			continue
		}
		name := strings.ToLower(nameOf(a))
		n, ok := a.Expr.(*ast.ColName)
		if !a.As.IsEmpty() {
			c.selected[name] = nil
		} else if _, twice := c.selected[name]; ok && !twice {
			c.selected[name] = n
		}
	}
	return &c
}

// column is what stands for a bare name; nil if that stays.
func (r *rewriter) column(n *ast.ColName, sc *scope) ast.Expr {
	name := n.Name.String()
	if n.StoredProcVal != nil || !n.Qualifier.IsEmpty() || strings.HasPrefix(name, "@") || !sc.anyMerges() {
		return nil
	}
	for s := sc; s != nil; s = s.outer {
		if e, ok := s.selected[strings.ToLower(name)]; ok {
			if e == nil {
				return nil
			}
			c := *e
			return &c
		}
		var found []column
		for _, i := range s.items {
			for _, c := range i.columns() {
				if strings.EqualFold(c.name, name) {
					found = append(found, c)
				}
			}
		}
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 || !found[0].common: // one that is ambiguous the planner finds so
			return nil
		}
		if within := sc.hides(s, found[0].of); within != "" {
			r.fail(sqlerr.Unsupported("the bare name '" + name + "' in a subquery that has a table '" +
				within + "' of its own; call that otherwise"))
		}
		e := found[0].expr()
		if c, ok := e.(*ast.ColName); ok {
			c.Name = n.Name // the result's column is called as it is written
		}
		return e
	}
	return nil
}

func (s *scope) anyMerges() bool {
	for ; s != nil; s = s.outer {
		if s.merges() {
			return true
		}
	}
	return false
}

// hides is the table between s and the scope around it of which one of the columns would be, instead of
// the one that is meant.
func (s *scope) hides(meant *scope, of []ast.ColName) string {
	for ; s != meant; s = s.outer {
		for _, i := range s.items {
			for _, t := range i.tables {
				for _, c := range of {
					if strings.EqualFold(t.name.Name.String(), c.Qualifier.Name.String()) {
						return t.name.Name.String()
					}
				}
			}
		}
	}
	return ""
}
