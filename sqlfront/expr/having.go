package expr

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// The library binds HAVING to a list of columns: those of GROUP BY, what is selected, and of the columns of
// aggregates those that it finds by their name without the table's. The columns that it would miss, or take
// for others of the same name, are written behind GROUP BY, after a call of this function, which the engine
// takes away again with all that follows.
var NamesFunction = inband.Function("names")

// Names marks the end of what GROUP BY groups by.
type Names struct{ *expression.Literal }

var (
	_ sql.FunctionExpression = (*Names)(nil)
	_ sql.CollationCoercible = (*Names)(nil)
)

func havingFunctions() []sql.Function {
	return []sql.Function{
		sql.NewFunction0(NamesFunction, func(*sql.Context) sql.Expression {
			return &Names{expression.NewLiteral(int8(0), types.Int8)}
		}),
	}
}

// FunctionName implements sql.FunctionExpression.
func (n *Names) FunctionName() string { return NamesFunction }

// Description implements sql.FunctionExpression.
func (n *Names) Description() string { return "columns that HAVING names" }

// String implements sql.Expression.
func (n *Names) String() string { return NamesFunction + "()" }

// WithChildren implements sql.Expression.
func (n *Names) WithChildren(*sql.Context, ...sql.Expression) (sql.Expression, error) { return n, nil }

// GroupedBy is what a GROUP BY groups by, without the columns that are only named.
func GroupedBy(by []sql.Expression) []sql.Expression {
	if i := slices.IndexFunc(by, func(e sql.Expression) bool { _, ok := e.(*Names); return ok }); i >= 0 {
		return by[:i]
	}
	return by
}

// nameHaving writes what HAVING needs behind GROUP BY, and aggregates in the place of their aliases where the
// library would find a column: of SELECT SUM(n) AS n … HAVING n > 1, the sum is meant. In a procedure a name
// without a table's may be a variable, and is left alone.
func nameHaving(s *ast.Select, procedure bool) {
	if s.Having == nil || slices.ContainsFunc(s.GroupBy, isNames) {
		return
	}
	h := havingNames{tables: map[string]bool{}, hidden: map[string]bool{}, inner: map[*ast.ColName]bool{},
		aggregated: map[string]bool{}, procedure: procedure}
	for _, t := range s.From {
		tablesOf(t, h.tables)
	}
	_ = syntax.Walk(h.look, s.SelectExprs)
	h.columns, h.outer, h.hidden = nil, nil, map[string]bool{} // of what is selected only the names matter
	_ = syntax.Walk(h.look, s.Having)
	h.replaceAliases(s)
	for _, c := range h.outer {
		if !h.hidden[strings.ToLower(c.Qualifier.Name.String())] {
			h.add(c)
		}
	}
	if len(h.columns) == 0 || len(s.GroupBy) == 0 && !h.aggregates {
		return
	}
	s.GroupBy = append(s.GroupBy, &ast.FuncExpr{Name: ast.NewColIdent(NamesFunction)})
	for _, c := range h.columns {
		s.GroupBy = append(s.GroupBy, &ast.ColName{Name: c.Name, Qualifier: c.Qualifier})
	}
}

func isNames(e ast.Expr) bool {
	f, ok := e.(*ast.FuncExpr)
	return ok && f.Name.EqualString(NamesFunction)
}

// havingNames are the names in a HAVING.
type havingNames struct {
	tables, hidden map[string]bool // of the query, and of its subqueries
	columns        []*ast.ColName
	outer          []*ast.ColName        // in subqueries: columns of tables
	inner          map[*ast.ColName]bool // those within aggregates and subqueries
	aggregated     map[string]bool       // names of columns within aggregates
	aggregates     bool
	procedure      bool
}

func (h *havingNames) look(n ast.SQLNode) (bool, error) {
	switch n := n.(type) {
	case *ast.Subquery:
		h.within(n)
		return false, nil
	case *ast.FuncExpr:
		if n.IsAggregate() && n.Over == nil {
			h.aggregate(n.Exprs)
			return false, nil
		}
	case *ast.GroupConcatExpr:
		h.aggregate(n)
		return false, nil
	}
	return true, nil
}

func (h *havingNames) aggregate(n ast.SQLNode) {
	h.aggregates = true
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Subquery:
			h.within(n)
			return false, nil
		case *ast.ColName:
			if _, variable := userVariable(n); variable {
				break
			}
			h.inner[n] = true
			h.aggregated[n.Name.Lowered()] = true
			if !h.procedure || !n.Qualifier.IsEmpty() {
				h.add(n)
			}
		}
		return true, nil
	}, n)
}

// within looks for columns of the query in one of its subqueries: those that have the name of one of its
// tables.
func (h *havingNames) within(q *ast.Subquery) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Select:
			for _, t := range n.From {
				tablesOf(t, h.hidden)
			}
		case *ast.ColName:
			h.inner[n] = true
			if !n.Qualifier.IsEmpty() && h.tables[strings.ToLower(n.Qualifier.Name.String())] {
				h.outer = append(h.outer, n)
			}
		}
		return true, nil
	}, q)
}

func (h *havingNames) add(c *ast.ColName) {
	if !slices.ContainsFunc(h.columns, func(o *ast.ColName) bool {
		return strings.EqualFold(ast.String(o), ast.String(c))
	}) {
		h.columns = append(h.columns, c)
	}
}

// tablesOf collects the names under which FROM has its tables.
func tablesOf(from ast.TableExpr, into map[string]bool) {
	name := ""
	switch t := from.(type) {
	case *ast.JoinTableExpr:
		tablesOf(t.LeftExpr, into)
		tablesOf(t.RightExpr, into)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			tablesOf(e, into)
		}
	case *ast.AliasedTableExpr:
		name = t.As.String()
		if table, ok := t.Expr.(ast.TableName); ok && name == "" {
			name = table.Name.String()
		}
	case *ast.JSONTableExpr:
		name = t.Alias.String()
	case *ast.TableFuncExpr:
		name = t.Alias.String()
	}
	if name != "" {
		into[strings.ToLower(name)] = true
	}
}

// replaceAliases puts aggregates in the place of their aliases that are also names of columns within
// aggregates.
func (h *havingNames) replaceAliases(s *ast.Select) {
	aliases := map[string]ast.Expr{}
	for _, e := range s.SelectExprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok || a.As.IsEmpty() || !h.aggregated[a.As.Lowered()] ||
			slices.ContainsFunc(s.GroupBy, func(g ast.Expr) bool {
				c, ok := g.(*ast.ColName)
				return ok && c.Name.Equal(a.As)
			}) {
			continue
		}
		own := havingNames{tables: map[string]bool{}, hidden: map[string]bool{},
			inner: map[*ast.ColName]bool{}, aggregated: map[string]bool{}}
		_ = syntax.Walk(own.look, a.Expr)
		if own.aggregates {
			aliases[a.As.Lowered()] = a.Expr
		}
	}
	if len(aliases) == 0 {
		return
	}
	Each(s.Having, func(at *ast.Expr, _ bool) {
		c, ok := (*at).(*ast.ColName)
		if !ok || h.inner[c] || !c.Qualifier.IsEmpty() {
			return
		}
		if e, ok := aliases[c.Name.Lowered()]; ok {
			if again, ok := cloned(e); ok {
				_ = syntax.Walk(h.look, again) // its columns are within an aggregate now
				*at = again
			}
		}
	})
}
