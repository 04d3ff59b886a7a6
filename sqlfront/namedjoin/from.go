package namedjoin

import (
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// item is a table or a join in a FROM clause.
type item struct {
	columns func() []column // as SELECT * shows them
	tables  []table
	merges  bool // there are common columns
}

// table is one table of an item, as the statement calls it.
type table struct {
	name  ast.TableName
	names list
}

// column is a column of an item.
type column struct {
	name   string
	common bool
	// of are the columns of tables that it is: one, or with FULL JOIN the first that is not NULL.
	of []ast.ColName
}

// expr is the column in a statement; the planner may change what it gets.
func (c column) expr() ast.Expr {
	if len(c.of) == 1 {
		n := c.of[0]
		return &n
	}
	f := &ast.FuncExpr{Name: ast.NewColIdent("coalesce")}
	for _, n := range c.of {
		f.Exprs = append(f.Exprs, &ast.AliasedExpr{Expr: &n})
	}
	return f
}

// star is what stands for SELECT * of an item.
func (i *item) star() (out ast.SelectExprs) {
	if !i.merges {
		for _, t := range i.tables {
			out = append(out, &ast.StarExpr{TableName: t.name})
		}
		return out
	}
	for _, c := range i.columns() {
		out = append(out, c.entry())
	}
	return out
}

// entry is the column in a select list.
func (c column) entry() *ast.AliasedExpr {
	e := &ast.AliasedExpr{Expr: c.expr()}
	if len(c.of) > 1 {
		e.As = ast.NewColIdent(c.name)
	}
	return e
}

func onceColumns(f func() []column) func() []column {
	var columns []column
	done := false
	return func() []column {
		if !done {
			columns, done = f(), true
		}
		return columns
	}
}

// from is a FROM clause, and the scope of what is behind it.
func (r *rewriter) from(list ast.TableExprs, outer *scope) (ast.TableExprs, *scope) {
	sc := &scope{outer: outer}
	var out ast.TableExprs
	for _, t := range list {
		e, i := r.item(t, outer, sc.items)
		out, sc.items = append(out, e), append(sc.items, i)
	}
	return out, sc
}

// item is one item of a FROM clause. before are those that LATERAL sees.
func (r *rewriter) item(t ast.TableExpr, outer *scope, before []*item) (ast.TableExpr, *item) {
	switch t := t.(type) {
	case *ast.JoinTableExpr:
		return r.join(t, outer, before)
	case *ast.ParenTableExpr:
		c := *t
		c.Exprs = nil
		in := &item{}
		var parts []*item
		for _, e := range t.Exprs {
			e, i := r.item(e, outer, append(before[:len(before):len(before)], parts...))
			c.Exprs, parts = append(c.Exprs, e), append(parts, i)
		}
		in.add(parts...)
		return &c, in
	case *ast.AliasedTableExpr:
		return r.aliased(t, outer, before)
	case *ast.JSONTableExpr:
		c := *t
		c.Data = copied(r, t.Data, &scope{outer: outer, items: before})
		return &c, leaf(ast.TableName{Name: t.Alias}, func() []string { return jsonColumns(t.Spec) })
	case *ast.TableFuncExpr:
		c := *t
		c.Exprs = copied(r, t.Exprs, &scope{outer: outer, items: before})
		known := t.Alias
		if known.IsEmpty() {
			known = ast.NewTableIdent(t.Name)
		}
		names := given(t.Columns)
		if len(t.Columns) == 0 {
			names = r.stored(t)
		}
		return &c, leaf(ast.TableName{Name: known}, names)
	}
	return t, leaf(ast.TableName{}, r.stored(t))
}

// aliased is a table, a view or a derived table.
func (r *rewriter) aliased(t *ast.AliasedTableExpr, outer *scope, before []*item) (ast.TableExpr, *item) {
	c := *t
	known := ast.TableName{Name: t.As}
	var names list
	switch e := t.Expr.(type) {
	case ast.TableName:
		if known.Name.IsEmpty() {
			known = e
		}
		if names = outer.common(e); names == nil {
			names = r.stored(t)
		}
		if e.DbQualifier.IsEmpty() && strings.EqualFold(e.Name.String(), "dual") {
			return t, &item{columns: func() []column { return nil }}
		}
	case *ast.Subquery:
		sc := outer
		if t.Lateral {
			sc = &scope{outer: outer, items: before}
		}
		q := *e
		q.Select, names = r.query(e.Select, sc, nil)
		if len(e.Columns) > 0 {
			names = given(e.Columns)
		}
		c.Expr = &q
	case *ast.ValuesStatement:
		c.Expr = copied(r, t.Expr, outer)
		names = given(e.Columns)
		if len(e.Columns) == 0 && len(e.Rows) > 0 {
			var made []string
			for i := range e.Rows[0] {
				made = append(made, "column_"+strconv.Itoa(i))
			}
			names = func() []string { return made }
		}
	default:
		names = r.stored(t)
	}
	return &c, leaf(known, names)
}

func (r *rewriter) stored(t ast.TableExpr) list {
	return once(func() []string {
		names, ok := r.known(t)
		if !ok {
			r.fail(errUndetermined)
		}
		return names
	})
}

func jsonColumns(s *ast.JSONTableSpec) (names []string) {
	for _, c := range s.Columns {
		if c.Spec != nil { // NESTED
			names = append(names, jsonColumns(c.Spec)...)
			continue
		}
		names = append(names, c.Name.String())
	}
	return names
}

func leaf(known ast.TableName, names list) *item {
	return &item{tables: []table{{known, names}}, columns: onceColumns(func() (out []column) {
		for _, n := range names() {
			out = append(out, column{name: n,
				of: []ast.ColName{{Name: ast.NewColIdent(n), Qualifier: known}}})
		}
		return out
	})}
}

// add makes i a join without common columns of parts.
func (i *item) add(parts ...*item) {
	for _, p := range parts {
		i.tables = append(i.tables, p.tables...)
		i.merges = i.merges || p.merges
	}
	i.columns = onceColumns(func() (all []column) {
		for _, p := range parts {
			all = append(all, p.columns()...)
		}
		return all
	})
}

func (r *rewriter) join(t *ast.JoinTableExpr, outer *scope, before []*item) (ast.TableExpr, *item) {
	c := *t
	var left, right *item
	c.LeftExpr, left = r.item(t.LeftExpr, outer, before)
	c.RightExpr, right = r.item(t.RightExpr, outer, append(before[:len(before):len(before)], left))
	in := &item{}
	in.add(left, right)
	if !named(t) {
		c.Condition.On = copied(r, t.Condition.On, &scope{outer: outer, items: []*item{left, right}})
		return &c, in
	}
	first, second := left, right
	switch strings.ToLower(t.Join) {
	case ast.RightJoinStr, ast.NaturalRightJoinStr:
		first, second = right, left
		c.Join = ast.RightJoinStr
	case ast.LeftJoinStr, ast.NaturalLeftJoinStr:
		c.Join = ast.LeftJoinStr
	case ast.FullOuterJoinStr, ast.NaturalFullJoinStr:
		c.Join = ast.FullOuterJoinStr
	default:
		c.Join = ast.JoinStr
	}
	r.distinct(left, right)
	columns, on := r.merge(t, c.Join, first.columns(), second.columns())
	if on == nil && c.Join != ast.JoinStr {
		on = ast.BoolVal(true)
	}
	c.Condition = ast.JoinCondition{On: on}
	in.merges, in.columns = true, func() []column { return columns }
	return &c, in
}

// distinct refuses tables that the statement calls alike: of which of them a column would be, nobody knows.
func (r *rewriter) distinct(left, right *item) {
	for _, a := range left.tables {
		for _, b := range right.tables {
			if strings.EqualFold(a.name.Name.String(), b.name.Name.String()) &&
				strings.EqualFold(a.name.DbQualifier.String(), b.name.DbQualifier.String()) {
				r.fail(sqlerr.New(sqlerr.NonUniqueTable, "Not unique table/alias: '%s'",
					b.name.Name.String()))
			}
		}
	}
}

// merge are the columns of a join with common columns, and what they mean.
func (r *rewriter) merge(t *ast.JoinTableExpr, kind string, first, second []column) (all []column,
	on ast.Expr) {
	wanted := map[string]bool{}
	for _, u := range t.Condition.Using {
		wanted[u.Lowered()] = true
		for _, side := range [][]column{first, second} {
			if count(side, u.String()) == 0 {
				r.fail(sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'from clause'", u.String()))
			}
		}
	}
	var others []column
	taken := map[string]bool{}
	for _, a := range first {
		key := strings.ToLower(a.name)
		n := count(second, a.name)
		if !natural(t) && !wanted[key] || n == 0 {
			others = append(others, a)
			continue
		}
		if n > 1 || taken[key] {
			r.fail(sqlerr.New(sqlerr.NonUniqueColumn, "Column '%s' in from clause is ambiguous", a.name))
		}
		if taken[key] = true; r.expanded != nil && natural(t) {
			r.expanded.Naturals[t] = append(r.expanded.Naturals[t], a.name)
		}
		for _, b := range second {
			if !strings.EqualFold(a.name, b.name) {
				continue
			}
			on = and(on, &ast.ComparisonExpr{Operator: ast.EqualStr, Left: a.expr(), Right: b.expr()})
			if a.common = true; kind == ast.FullOuterJoinStr {
				a.of = append(a.of[:len(a.of):len(a.of)], b.of...)
			}
			break
		}
		all = append(all, a)
	}
	all = append(all, others...)
	for _, b := range second {
		if !taken[strings.ToLower(b.name)] {
			all = append(all, b)
		}
	}
	return all, on
}

func and(a, b ast.Expr) ast.Expr {
	// As the parser does to what is written: the operators of ours.
	where := ast.NewWhere(ast.WhereStr, b)
	expr.Rewrite(where)
	if a == nil {
		return where.Expr
	}
	return &ast.AndExpr{Left: a, Right: where.Expr}
}

func count(in []column, name string) (n int) {
	for _, c := range in {
		if strings.EqualFold(c.name, name) {
			n++
		}
	}
	return n
}
