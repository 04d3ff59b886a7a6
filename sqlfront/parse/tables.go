package parse

import (
	"reflect"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Depth is how many structures of a tree are one within the other.
func Depth(n ast.Statement) int {
	deepest, _ := depthOf(n)
	return deepest
}

// Tables are the tables and views that a query names, each as often as it is named, without its
// common table expressions. ast.Walk would not do: it leaves out ORDER BY of a UNION, and knows no
// common table expressions.
func Tables(n ast.SQLNode) []Name {
	var out []Name
	tableNames(reflect.ValueOf(n), nil, &out)
	return out
}

func tableNames(v reflect.Value, known *common, out *[]Name) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			tableNames(v.Elem(), known, out)
		}
	case reflect.Pointer:
		if v.IsNil() || !v.CanInterface() { // what a name remembers of itself
			return
		}
		if t, ok := v.Interface().(*ast.AliasedTableExpr); ok {
			if name, ok := t.Expr.(ast.TableName); ok &&
				!(name.DbQualifier.IsEmpty() && known.find(name.Name.String()) != nil) {
				*out = append(*out, nameOf(name))
			}
		}
		tableNames(v.Elem(), known, out)
	case reflect.Slice:
		for i := range v.Len() {
			tableNames(v.Index(i), known, out)
		}
	case reflect.Struct:
		with := withOf(v)
		if with != nil {
			known = withNames(with, known, out)
		}
		for _, i := range branches(v.Type()) {
			if f := v.Field(i); with == nil || f.Type() != reflect.TypeOf(with) {
				tableNames(f, known, out)
			}
		}
	}
}

// withNames are the names that are known behind a WITH: each of its queries knows those before it, and
// with RECURSIVE itself.
func withNames(w *ast.With, known *common, out *[]Name) *common {
	for _, c := range w.Ctes {
		outer := known
		known = &common{name: c.As.String(), outer: known}
		if w.Recursive {
			outer = known
		}
		tableNames(reflect.ValueOf(c.Expr), outer, out)
	}
	return known
}
