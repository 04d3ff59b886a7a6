package viewname

import (
	"reflect"
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// scope is what a query finds in its FROM clause, and its aliases.
type scope struct {
	tables  []*names
	aliases map[string]bool // which some clauses see and others do not
	more    bool            // and what we do not know
	aside   bool            // for a table in the FROM clause itself, which sees few of the others
}

// names are the columns of a table, in small letters; nil if they are not known.
type names struct {
	db, known string
	columns   map[string]bool
}

func (t *names) called(q ast.TableName) bool {
	db := q.DbQualifier.String()
	return strings.EqualFold(t.known, q.Name.String()) && (db == "" || strings.EqualFold(db, t.db))
}

// has reports whether a name is one of this query; known is false if nobody can say.
func (s *scope) has(n *ast.ColName) (has, known bool) {
	name, bare := n.Name.Lowered(), n.Qualifier.IsEmpty()
	known = !bare || !s.more
	for _, t := range s.tables {
		if !bare && !t.called(n.Qualifier) {
			continue
		}
		if t.columns[name] {
			return !s.aside, !s.aside
		}
		known = known && t.columns != nil
	}
	return false, known && (!bare || !s.aliases[name])
}

// aside begins a table in a FROM clause, and returns what ends it.
func (r *Renaming) aside() (end func()) {
	if len(r.within) == 0 {
		return func() {}
	}
	s := r.within[len(r.within)-1]
	was := s.aside
	s.aside = true
	return func() { s.aside = was }
}

// query copies a query with its own tables in sight.
func (r *Renaming) query(q *ast.Select) *ast.Select {
	with := len(r.tables)
	r.With(q.With)
	s := r.scopeOf(q)
	r.within = append(r.within, s)
	defer func() { r.within, r.tables = r.within[:len(r.within)-1], r.tables[:with] }()
	bare := *q
	bare.GroupBy, bare.OrderBy = nil, nil
	out := r.copy(reflect.ValueOf(bare)).Interface().(ast.Select)
	// An alias by itself is one here, whatever columns there are; within an expression nobody can say.
	alias := func(e ast.Expr) bool {
		c, ok := e.(*ast.ColName)
		return ok && c.Qualifier.IsEmpty() && s.aliases[c.Name.Lowered()]
	}
	for _, e := range q.GroupBy {
		if !alias(e) {
			e = r.Expr(e, r.clause)
		}
		out.GroupBy = append(out.GroupBy, e)
	}
	for _, o := range q.OrderBy {
		by := *o
		if !alias(by.Expr) {
			by.Expr = r.Expr(by.Expr, r.clause)
		}
		out.OrderBy = append(out.OrderBy, &by)
	}
	return &out
}

// operation copies a UNION and its like. Its ORDER BY names columns of the result, which are called as those
// of the first query.
func (r *Renaming) operation(op *ast.SetOp) *ast.SetOp {
	with := len(r.tables)
	r.With(op.With)
	bare := *op
	bare.OrderBy = nil
	out := r.copy(reflect.ValueOf(bare)).Interface().(ast.SetOp)
	s := &scope{}
	result := &names{columns: map[string]bool{}}
	if first := firstOf(op); first != nil {
		for _, e := range first.SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok {
				s.more = true
				continue
			}
			c, ok := a.Expr.(*ast.ColName)
			if result.columns[a.As.Lowered()] = true; ok && a.As.IsEmpty() {
				result.columns[c.Name.Lowered()] = true
			}
		}
	}
	s.tables = []*names{result}
	r.within = append(r.within, s)
	for _, o := range op.OrderBy {
		by := *o
		by.Expr = r.Expr(by.Expr, r.clause)
		out.OrderBy = append(out.OrderBy, &by)
	}
	r.within, r.tables = r.within[:len(r.within)-1], r.tables[:with]
	return &out
}

// firstOf is the query that gives the columns of a result their names.
func firstOf(q ast.SelectStatement) *ast.Select {
	for {
		switch x := q.(type) {
		case *ast.Select:
			return x
		case *ast.ParenSelect:
			q = x.Select
		case *ast.SetOp:
			q = x.Left
		default:
			return nil
		}
	}
}

// With notes the tables of a WITH: what has such a name is not the table of it that is stored.
func (r *Renaming) With(w *ast.With) {
	if w == nil {
		return
	}
	for _, c := range w.Ctes {
		r.tables = append(r.tables, strings.ToLower(c.As.String()))
	}
}

// Beside notes the tables of the SELECT whose rows are inserted: ON DUPLICATE KEY UPDATE may name their
// columns.
func (r *Renaming) Beside(rows ast.InsertRows) error {
	r.Alone = false
	s := &scope{}
	q, _ := rows.(ast.SelectStatement)
	if sel := firstOf(q); sel != nil { // of a UNION only what its first query has
		with := len(r.tables)
		r.With(sel.With)
		for _, t := range sel.From {
			r.from(s, t)
		}
		r.tables = r.tables[:with]
	}
	r.beside = s.tables
	return r.distinct()
}

// BesideRow notes the columns of a row alias, VALUES (…) AS known (columns).
func (r *Renaming) BesideRow(known string, columns ast.Columns) error {
	n := &names{known: known, columns: map[string]bool{}}
	for _, c := range columns {
		n.columns[c.Lowered()] = true
	}
	r.beside = []*names{n}
	return r.distinct()
}

// distinct refuses what has the name of the table below: the new statement would not tell them apart.
func (r *Renaming) distinct() error {
	for _, t := range r.beside {
		if strings.EqualFold(t.known, r.Below.Name) {
			return sqlerr.Unsupported("ON DUPLICATE KEY UPDATE of a view beside a table or rows with " +
				"the name '" +
				t.known + "', which the table below the view has; give them another alias")
		}
	}
	return nil
}

// scopeOf looks up what the tables of a query are.
func (r *Renaming) scopeOf(q *ast.Select) *scope {
	s := &scope{aliases: map[string]bool{}}
	for _, e := range q.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() &&
			(len(q.OrderBy) > 0 || q.Having != nil || len(q.GroupBy) > 0) {
			s.aliases[a.As.Lowered()] = true
		}
	}
	for _, t := range q.From {
		r.from(s, t)
	}
	return s
}

func (r *Renaming) from(s *scope, t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.JoinTableExpr:
		r.from(s, t.LeftExpr)
		r.from(s, t.RightExpr)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			r.from(s, e)
		}
	case *ast.JSONTableExpr:
		s.tables = append(s.tables, &names{known: t.Alias.String()})
	case *ast.AliasedTableExpr:
		table, ok := t.Expr.(ast.TableName)
		n := &names{db: table.DbQualifier.String(), known: t.As.String()}
		if n.known == "" {
			n.known = table.Name.String()
		}
		s.tables = append(s.tables, n)
		bare := n.db == ""
		if n.db == "" {
			n.db = r.In
		}
		switch {
		case !ok, bare && slices.Contains(r.tables, strings.ToLower(table.Name.String())):
		case bare && strings.EqualFold(table.Name.String(), "dual"):
			n.columns = map[string]bool{}
		default:
			if columns := r.Table(n.db, table.Name.String()); columns != nil {
				n.columns = map[string]bool{}
				for _, c := range columns {
					n.columns[strings.ToLower(c)] = true
				}
			}
		}
	default:
		s.more = true
	}
}
