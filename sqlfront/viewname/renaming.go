package viewname

import (
	"reflect"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Renaming copies a syntax tree with other names for the columns of one table. The tree itself stays as it
// is: prepared statements and bodies of routines are bound many times, and the view may be another one each
// time.
type Renaming struct {
	// Table are the columns that a query finds in a table, nil for what cannot be known. Without it bare
	// names stay: what is renamed has a name that no table has.
	Table func(db, name string) []string
	// DB and Known are how the statement calls the table that is renamed; In is where bare names of tables
	// are.
	DB, Known, In string
	// Below is what the new statement calls the table that the view hides: as which it must not be named.
	Below Table
	// Column is what stands for a column; nil if there is none of the name.
	Column func(name string) (ast.Expr, error)
	// Same reports whether the name means the same after renaming, or is none of the table's before and
	// after.
	Same func(name string) bool
	// Alone: there is no other table, so a name that is not known is an error.
	Alone bool

	clause string // for errors
	beside []*names
	within []*scope
	tables []string // of WITH, in small letters
	err    error
}

// Table is a table under its own name.
type Table struct{ DB, Name string }

// Err is what was wrong with the names so far.
func (r *Renaming) Err() error { return r.err }

// Fail notes the first error.
func (r *Renaming) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Expr is the expression with the new names; clause is where it stands.
func (r *Renaming) Expr(e ast.Expr, clause string) ast.Expr {
	if e == nil || r.err != nil {
		return e
	}
	r.clause = clause
	out, _ := r.copy(reflect.ValueOf(&e).Elem()).Interface().(ast.Expr)
	return out
}

func grammars(t reflect.Type) bool { return strings.HasSuffix(t.PkgPath(), "/sqlparser") }

func (r *Renaming) copy(v reflect.Value) reflect.Value {
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
		return r.copyNode(v)
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
				r.Fail(sqlerr.New(sqlerr.NonUpdatableColumn, "Column '%s' is not updatable",
					ast.String(v.Field(i).Interface().(ast.SQLNode))))
				return v
			}
			out.Field(i).Set(in)
		}
		return out
	}
	return v
}

func (r *Renaming) copyNode(v reflect.Value) reflect.Value {
	switch n := v.Interface().(type) {
	case *ast.ColName:
		e := r.name(n)
		if e == nil {
			return v
		}
		return reflect.ValueOf(e)
	case *ast.ValuesFuncExpr: // of a column that is inserted into, whatever else there is
		defer func(alone bool, beside []*names) { r.Alone, r.beside = alone, beside }(r.Alone, r.beside)
		r.Alone, r.beside = true, nil
	case *ast.Select:
		if r.Table != nil {
			return reflect.ValueOf(r.query(n))
		}
	case *ast.SetOp:
		return reflect.ValueOf(r.operation(n))
	case *ast.AliasedTableExpr:
		if _, stored := n.Expr.(ast.TableName); !stored {
			defer r.aside()()
		}
	case *ast.JSONTableExpr:
		defer r.aside()()
	}
	out := reflect.New(v.Type().Elem())
	out.Elem().Set(r.copy(v.Elem()))
	return out
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

// name is what stands for a name; nil if that stays.
func (r *Renaming) name(n *ast.ColName) ast.Expr {
	name := n.Name.String()
	if n.StoredProcVal != nil || strings.HasPrefix(name, "@") {
		return nil
	}
	if n.Qualifier.IsEmpty() && r.Table == nil { // those of a subquery's tables
		return nil
	}
	whose := r.whose(n)
	if whose != ours && whose != hidden {
		return nil
	}
	for i := len(r.within) - 1; i >= 0; i-- {
		has, known := r.within[i].has(n)
		if has {
			return nil
		}
		if !known && (whose == hidden || !r.Same(name)) {
			r.Fail(sqlerr.Unsupported("the name '" + spelled(n) + "' in a subquery of a statement that " +
				"writes to a view; qualify it with the alias of another table"))
		}
		if !known {
			return nil
		}
	}
	if whose == hidden {
		r.unknown(n)
		return nil
	}
	return r.found(name, n)
}

const (
	another = iota // a table that the view has nothing to do with
	ours           // the view, or nobody's as yet
	hidden         // the table below
)

// whose is the table that a name would be of if it stood in no subquery.
func (r *Renaming) whose(n *ast.ColName) int {
	q := n.Qualifier
	if q.IsEmpty() {
		return ours
	}
	of := func(db, name string) bool {
		in := q.DbQualifier.String()
		return strings.EqualFold(q.Name.String(), name) && (in == "" || strings.EqualFold(in, db))
	}
	switch {
	case of(r.DB, r.Known):
		return ours
	case r.Below != Table{} && of(r.Below.DB, r.Below.Name):
		return hidden
	}
	return another
}

func (r *Renaming) found(name string, n *ast.ColName) ast.Expr {
	e, err := r.Column(name)
	if err != nil {
		r.Fail(err)
		return nil
	}
	if e != nil {
		return e
	}
	if !n.Qualifier.IsEmpty() {
		r.unknown(n)
		return nil
	}
	shown := r.Same(name) // the table below has no such column
	if !r.Alone && shown {
		return nil
	}
	var of *names
	for _, b := range r.beside {
		switch {
		case b.columns == nil && !shown:
			r.Fail(sqlerr.Unsupported("the bare name '" + name + "' in ON DUPLICATE KEY UPDATE of a view; " +
				"qualify it with its table"))
			return nil
		case b.columns[strings.ToLower(name)] && of != nil:
			r.Fail(sqlerr.New(sqlerr.NonUniqueColumn, "Column '%s' in %s is ambiguous", name, r.clause))
			return nil
		case b.columns[strings.ToLower(name)]:
			of = b
		}
	}
	if of == nil {
		r.unknown(n)
		return nil
	}
	return &ast.ColName{Name: n.Name, Qualifier: ast.TableName{Name: ast.NewTableIdent(of.known)}}
}

func (r *Renaming) unknown(n *ast.ColName) {
	r.Fail(sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", spelled(n), r.clause))
}

// spelled is a name for an error.
func spelled(n *ast.ColName) string {
	name := n.Name.String()
	if q := n.Qualifier.Name.String(); q != "" {
		name = q + "." + name
	}
	if db := n.Qualifier.DbQualifier.String(); db != "" {
		name = db + "." + name
	}
	return name
}
