package engine

import (
	"reflect"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// renaming copies a syntax tree with other names for the columns of one table. The tree itself stays as it is: prepared statements and
// bodies of routines are bound many times, and the view may be another one each time.
//
// A bare name in a subquery is the subquery's if that has such a column, else it is that of the statement around it. So the tables of
// the subqueries are looked up. Where that cannot be done, a name that would mean something else is refused rather than guessed.
type renaming struct {
	eng *Engine
	ctx *sql.Context
	// db and known are how the statement calls the table; inDB is where bare names of tables are.
	db, known, inDB string
	// column is what stands for a column; nil if there is none of the name.
	column func(name string) (ast.Expr, error)
	// same reports whether the name means the same after renaming, or is none of the table's before and after.
	same   func(name string) bool
	clause string // for errors
	alone  bool   // there is no other table: a name that is not known is an error
	within []*namesOf
	err    error
}

// namesOf are the columns that a subquery finds in its FROM clause, and its aliases.
type namesOf struct {
	tables, columns map[string]bool
	unknown         bool
}

func (r *renaming) expr(e ast.Expr, clause string) ast.Expr {
	if e == nil || r.err != nil {
		return e
	}
	r.clause = clause
	out, _ := r.copy(reflect.ValueOf(&e).Elem()).Interface().(ast.Expr)
	return out
}

func grammars(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "/sqlparser") }

func (r *renaming) copy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		in := r.copy(v.Elem())
		out := reflect.New(v.Type()).Elem()
		if in.Type().AssignableTo(v.Type()) {
			out.Set(in)
		}
		return out
	case reflect.Pointer:
		if v.IsNil() || !grammars(v.Type().Elem()) {
			return v
		}
		switch n := v.Interface().(type) {
		case *ast.ColName:
			e := r.name(n)
			if e == nil {
				return v
			}
			return reflect.ValueOf(e)
		case *ast.Select:
			if r.eng == nil { // what is renamed has a name that no table has
				break
			}
			r.within = append(r.within, r.namesIn(n))
			defer func() { r.within = r.within[:len(r.within)-1] }()
		case *ast.SetOp:
			order := n.OrderBy // by columns of the result
			c := *n
			c.OrderBy = nil
			c.Left, _ = r.copy(reflect.ValueOf(&n.Left).Elem()).Interface().(ast.SelectStatement)
			c.Right, _ = r.copy(reflect.ValueOf(&n.Right).Elem()).Interface().(ast.SelectStatement)
			c.OrderBy = order
			return reflect.ValueOf(&c)
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(r.copy(v.Elem()))
		return out
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); v.IsNil() || k == reflect.Uint8 || k == reflect.String {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(r.copy(v.Index(i)))
		}
		return out
	case reflect.Struct:
		if !grammars(v.Type()) {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for _, i := range nodesOf(v.Type()) {
			in := r.copy(v.Field(i))
			if !in.Type().AssignableTo(v.Field(i).Type()) { // VALUES(c), DEFAULT(c) of an expression
				r.fail(sqlerr.New(sqlerr.NonUpdatableColumn, "Column '%s' is not updatable", ast.String(v.Field(i).Interface().(ast.SQLNode))))
				return v
			}
			out.Field(i).Set(in)
		}
		return out
	}
	return v
}

// nodesOf are the fields of a structure of the grammar in which there may be columns.
func nodesOf(t reflect.Type) (fields []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		switch f.Type.Kind() {
		case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Struct:
			fields = append(fields, i)
		}
	}
	return fields
}

func (r *renaming) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// name is what stands for a name; nil if that stays.
func (r *renaming) name(n *ast.ColName) ast.Expr {
	name := n.Name.String()
	if n.StoredProcVal != nil || strings.HasPrefix(name, "@") {
		return nil
	}
	if !n.Qualifier.IsEmpty() {
		if !strings.EqualFold(n.Qualifier.Name.String(), r.known) {
			return nil
		}
		if db := n.Qualifier.DbQualifier.String(); db != "" && !strings.EqualFold(db, r.db) {
			return nil
		}
		for _, w := range r.within {
			if w.tables[strings.ToLower(r.known)] {
				return nil
			}
		}
		return r.found(name, n)
	}
	if r.eng == nil { // of what has a name that no table has; bare ones are those of a subquery's tables
		return nil
	}
	for i := len(r.within) - 1; i >= 0; i-- {
		w := r.within[i]
		if w.columns[strings.ToLower(name)] {
			return nil
		}
		if w.unknown || w.tables[strings.ToLower(r.known)] {
			if !r.same(name) {
				r.fail(sqlerr.Unsupported("the bare name '" + name + "' in a subquery of a statement that writes to a view; qualify it with its table"))
			}
			return nil
		}
	}
	return r.found(name, n)
}

func (r *renaming) found(name string, n *ast.ColName) ast.Expr {
	e, err := r.column(name)
	if err != nil {
		r.fail(err)
		return nil
	}
	if e == nil {
		if r.alone || !n.Qualifier.IsEmpty() {
			if n.Qualifier.Name.String() != "" {
				name = n.Qualifier.Name.String() + "." + name
			}
			r.fail(sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", name, r.clause))
		}
		return nil
	}
	return e
}

// namesIn looks up what the tables of a subquery are.
func (r *renaming) namesIn(s *ast.Select) *namesOf {
	n := &namesOf{tables: map[string]bool{}, columns: map[string]bool{}}
	if s.With != nil {
		n.unknown = true
	}
	for _, e := range s.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() && (len(s.OrderBy) > 0 || s.Having != nil || len(s.GroupBy) > 0) {
			n.columns[a.As.Lowered()] = true
		}
	}
	for _, t := range s.From {
		r.namesFrom(n, t)
	}
	return n
}

func (r *renaming) namesFrom(n *namesOf, t ast.TableExpr) {
	switch t := t.(type) {
	case *ast.JoinTableExpr:
		r.namesFrom(n, t.LeftExpr)
		r.namesFrom(n, t.RightExpr)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			r.namesFrom(n, e)
		}
	case *ast.AliasedTableExpr:
		table, ok := t.Expr.(ast.TableName)
		known := t.As.String()
		if known == "" && ok {
			known = table.Name.String()
		}
		n.tables[strings.ToLower(known)] = true
		if ok && strings.EqualFold(table.Name.String(), "dual") && table.DbQualifier.IsEmpty() {
			return
		}
		if !ok {
			n.unknown = true
			return
		}
		db := table.DbQualifier.String()
		if db == "" {
			db = r.inDB
		}
		columns := r.eng.columnsOf(r.ctx, db, table.Name.String())
		if columns == nil {
			n.unknown = true
		}
		for _, c := range columns {
			n.columns[strings.ToLower(c)] = true
		}
	default:
		n.unknown = true
	}
}

// columnsOf are the names of the columns of a table, nil if it is none of those that are stored.
func (e *Engine) columnsOf(ctx *sql.Context, db, name string) (columns []string) {
	for _, c := range e.storedColumns(ctx, db, name) {
		columns = append(columns, c.Name)
	}
	return columns
}

func (e *Engine) storedColumns(ctx *sql.Context, db, name string) []catalog.Column {
	if s := sessionOf(ctx); s != nil {
		if t := s.temp.get(db, name, s.timeZone()); t != nil {
			return t.desc.Columns
		}
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return nil
	}
	t, ok := d.Table(name)
	if !ok {
		return nil
	}
	return t.Columns
}
