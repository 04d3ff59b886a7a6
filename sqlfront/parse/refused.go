package parse

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// notSupported names what MySQL knows and the grammar does not, so that the user is told so, and
// not that there is a typing error in a statement that has none. It is asked only for statements
// that could not be parsed.
func (r *rewriter) notSupported() error {
	l := &lexer{s: r.src, ansi: r.ansi}
	first := l.next()
	second := l.next()
	is := func(word string, next ...string) bool {
		if !l.is(first, word) {
			return false
		}
		for _, n := range next {
			if l.is(second, n) {
				return true
			}
		}
		return len(next) == 0
	}
	if is("create") || is("alter") {
		for t, last := l.next(), second; t.kind != eof; t, last = l.next(), t {
			if l.is(last, "with") && l.is(t, "parser") {
				return unsupported("FULLTEXT indexes WITH PARSER")
			}
		}
	}
	switch {
	case is("xa"):
		return unsupported("XA: distributed transactions with other systems")
	case is("handler"):
		return unsupported("HANDLER")
	case is("get", "diagnostics", "current", "stacked"):
		return unsupported("GET DIAGNOSTICS outside of stored routines")
	case is("repair", "table", "tables"):
		return unsupported(strings.ToUpper(l.text(first)) +
			" TABLE; CHECK TABLE compares a table with its indexes")
	case is("alter", "function", "procedure"):
		return unsupported("ALTER " + strings.ToUpper(l.text(second)) + "; drop it and create it again")
	case is("help"), is("clone"), is("install"), is("uninstall"), is("shutdown"), is("restart"):
		return unsupported(strings.ToUpper(l.text(first)))
	case is("alter", "instance", "tablespace"), is("create", "tablespace", "server", "spatial"):
		return unsupported(strings.ToUpper(l.text(first) + " " + l.text(second)))
	}
	return nil
}

// primaryKeyOption is the grammar's mark of a column that is declared PRIMARY KEY; its name is not exported.
var primaryKeyOption = func() ast.ColumnKeyOption {
	stmt, err := ast.Parse("create table t (a int primary key)")
	if err != nil {
		panic(err) // the grammar is a part of this program
	}
	return stmt.(*ast.DDL).TableSpec.Columns[0].Type.KeyOpt
}()

// onePrimaryKey refuses a table with two declarations of its primary key, which the planner takes for
// one key of both columns.
func onePrimaryKey(stmt ast.Statement) error {
	d, ok := stmt.(*ast.DDL)
	if !ok || d.TableSpec == nil {
		return nil
	}
	n := 0
	for _, c := range d.TableSpec.Columns {
		if c.Type.KeyOpt == primaryKeyOption {
			n++
		}
	}
	for _, x := range d.TableSpec.Indexes {
		if x.Info.Primary {
			n++
		}
	}
	if n > 1 {
		return sqlerr.New(sqlerr.MultiplePrimaryKey, "Multiple primary key defined")
	}
	return nil
}

// noBlindGeometry refuses constants as defaults of spatial columns, as MySQL does, and local variables
// and parameters of these types: the interpreter of procedures would make geometries of bytes that
// nobody has looked at, and such bytes can ask for any amount of memory. Variables of a session (@g)
// hold what a function made.
func noBlindGeometry(stmt ast.Statement) error {
	var bodies []ast.SQLNode
	switch s := stmt.(type) {
	case *ast.AlterTable:
		for _, d := range s.Statements {
			if err := noBlindGeometry(d); err != nil {
				return err
			}
		}
	case *ast.BeginEndBlock:
		bodies = append(bodies, s)
	case *ast.DDL:
		if p := s.ProcedureSpec; p != nil {
			bodies = append(bodies, p.Body)
			for _, param := range p.Params {
				if isSpatial(param.Type) {
					return spatialVariable(param.Type)
				}
			}
		}
		if s.TriggerSpec != nil {
			bodies = append(bodies, s.TriggerSpec.Body)
		}
		if s.TableSpec != nil {
			for _, c := range s.TableSpec.Columns {
				if v, ok := c.Type.Default.(*ast.SQLVal); ok && v != nil && isSpatial(c.Type) {
					return sqlerr.New(sqlerr.NoDefault,
						"BLOB, TEXT, GEOMETRY or JSON column '%s' can't have a default value",
						c.Name.String())
				}
			}
		}
		if s.EventSpec != nil {
			bodies = append(bodies, s.EventSpec.Body)
		}
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if d, ok := n.(*ast.Declare); ok && d.Variables != nil && isSpatial(d.Variables.VarType) {
			return false, spatialVariable(d.Variables.VarType)
		}
		return true, nil
	}, bodies...)
}

func isSpatial(t ast.ColumnType) bool {
	switch strings.ToLower(t.Type) {
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
		"geometrycollection", "geomcollection":
		return true
	}
	return false
}

func spatialVariable(t ast.ColumnType) error {
	return unsupported("local variables and parameters of type " + t.Type +
		"; use a variable of the session, such as @g")
}
