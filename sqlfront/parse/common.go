package parse

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// vitess hands a text to the grammar, and says where its first statement ends.
func vitess(ctx context.Context, text string, o ast.ParserOptions, multi bool) (stmt ast.Statement, end int,
	err error) {
	if end = len(text); multi {
		stmt, end, err = ast.ParseOneWithOptions(ctx, text, o)
	} else {
		stmt, err = ast.ParseWithOptions(ctx, text, o)
	}
	if err == nil && stmt != nil && containsWord(text, "with") {
		commonTables(stmt)
	}
	return stmt, end, err
}

// commonTables puts right what the grammar makes of names where there is a WITH. It lets a statement use
// whatever has the name of a common table expression, or is in a database of that name, without asking for
// any right, tables that are written to included; and asks for rights on a common table expression that
// another one names. The planner for its part takes `db.name` for the common table expression `name`.
func commonTables(stmt ast.Statement) {
	r := &commons{writes: map[*ast.AliasedTableExpr]string{}, names: map[string]bool{}}
	r.walk(reflect.ValueOf(stmt), nil)
	for _, c := range r.hiding {
		c.rename(r.unused(c.name))
	}
}

// commons is a statement of which the common table expressions are looked for.
type commons struct {
	writes map[*ast.AliasedTableExpr]string // what the statement does with tables that it does not only read
	names  map[string]bool                  // that anything in the statement has
	hiding []*common                        // hide tables that are named with their database
}

// common is a common table expression that is known where a query stands, and those around it.
type common struct {
	name  string
	outer *common
	at    *ast.CommonTableExpr
	used  []*ast.AliasedTableExpr
	hides bool
}

// find returns the nearest of a name, nil for none.
func (c *common) find(name string) *common {
	for ; c != nil; c = c.outer {
		if strings.EqualFold(c.name, name) {
			return c
		}
	}
	return nil
}

// rename gives another name to a common table expression; where it is used it keeps its own.
func (c *common) rename(to string) {
	c.at.As = ast.NewTableIdent(to)
	for _, t := range c.used {
		if t.As.IsEmpty() {
			t.As = ast.NewTableIdent(c.name)
		}
		t.Expr = ast.TableName{Name: ast.NewTableIdent(to)}
	}
}

func (r *commons) unused(name string) string {
	for i := 1; ; i++ { // each turn but the last has met one of the statement's names
		if n := strings.ToLower(name) + "~" + strconv.Itoa(i); !r.names[n] {
			r.names[n] = true
			return n
		}
	}
}

func (r *commons) walk(v reflect.Value, known *common) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			r.walk(v.Elem(), known)
		}
	case reflect.Pointer:
		if v.IsNil() || !v.CanInterface() { // what a name remembers of itself
			return
		}
		r.node(v.Interface(), known)
		r.walk(v.Elem(), known)
	case reflect.Slice:
		for i := range v.Len() {
			r.walk(v.Index(i), known)
		}
	case reflect.Struct:
		with := withOf(v)
		if with != nil {
			known = r.with(with, known)
		}
		for _, i := range branches(v.Type()) {
			if f := v.Field(i); with == nil || f.Type() != reflect.TypeOf(with) {
				r.walk(f, known)
			}
		}
	}
}

func (r *commons) with(w *ast.With, known *common) *common {
	for _, at := range w.Ctes {
		r.names[strings.ToLower(at.As.String())] = true
		outer := known
		known = &common{name: at.As.String(), outer: known, at: at}
		if w.Recursive {
			outer = known
		}
		r.walk(reflect.ValueOf(at.Expr), outer)
	}
	return known
}

func (r *commons) node(n any, known *common) {
	switch n := n.(type) {
	case *ast.Insert:
		if n.With != nil {
			n.Auth.AuthType = ast.AuthType_INSERT
			if n.Action == ast.ReplaceStr {
				n.Auth.AuthType = ast.AuthType_REPLACE
			}
		}
	case *ast.Update:
		r.written(n.TableExprs, ast.AuthType_UPDATE)
	case *ast.Delete:
		r.written(n.TableExprs, ast.AuthType_DELETE)
	case *ast.AliasedTableExpr:
		if name, ok := n.Expr.(ast.TableName); ok {
			r.table(n, name, known)
		}
	}
}

func (r *commons) table(n *ast.AliasedTableExpr, name ast.TableName, known *common) {
	r.names[strings.ToLower(name.Name.String())] = true
	c := known.find(name.Name.String())
	if c != nil && name.DbQualifier.IsEmpty() {
		c.used = append(c.used, n)
		n.Auth.AuthType = ast.AuthType_IGNORE
		return
	}
	if c != nil && !c.hides {
		c.hides = true
		r.hiding = append(r.hiding, c)
	}
	if n.Auth.AuthType == ast.AuthType_IGNORE { // for its name alone: of tables nothing else is
		n.Auth.AuthType = ast.AuthType_SELECT
		if what, ok := r.writes[n]; ok {
			n.Auth.AuthType = what
		}
	}
}

// written notes the tables of a statement that writes: the grammar asks for the right to write to each.
func (r *commons) written(from ast.TableExprs, what string) {
	for _, t := range from {
		switch t := t.(type) {
		case *ast.AliasedTableExpr:
			r.writes[t] = what
		case *ast.ParenTableExpr:
			r.written(t.Exprs, what)
		case *ast.JoinTableExpr:
			r.written(ast.TableExprs{t.LeftExpr, t.RightExpr}, what)
		}
	}
}

// withOf returns the WITH of a node, nil for none.
func withOf(v reflect.Value) *ast.With {
	if f := v.FieldByName("With"); f.IsValid() && f.CanInterface() {
		with, _ := f.Interface().(*ast.With)
		return with
	}
	return nil
}
