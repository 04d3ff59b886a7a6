package parse

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// notSupported names what MySQL knows and the grammar does not, so that the user is told so, and not that there is a typing
// error in a statement that has none. It is asked only for statements that could not be parsed.
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
	switch {
	case is("xa"):
		return unsupported("XA: distributed transactions with other systems")
	case is("handler"):
		return unsupported("HANDLER")
	case is("get", "diagnostics", "current", "stacked"):
		return unsupported("GET DIAGNOSTICS")
	case is("checksum", "table", "tables"), is("repair", "table", "tables"):
		return unsupported(strings.ToUpper(l.text(first)) + " TABLE; CHECK TABLE compares a table with its indexes")
	case is("create", "function"), is("alter", "function"):
		return unsupported("stored functions")
	case is("help"), is("clone"), is("install"), is("uninstall"), is("shutdown"), is("restart"), is("resignal"):
		return unsupported(strings.ToUpper(l.text(first)))
	case is("alter", "instance", "tablespace"), is("create", "tablespace", "server", "spatial"):
		return unsupported(strings.ToUpper(l.text(first) + " " + l.text(second)))
	}
	var prev, before token
	for t := first; t.kind != eof && !l.isByte(t, ';'); {
		switch {
		case l.is(t, "rollup") && l.is(prev, "with"):
			return unsupported("WITH ROLLUP")
		case l.isByte(t, '=') && l.isByte(prev, ':') && prev.end == t.start && before.kind == variable && !l.is(first, "set"):
			return unsupported("assignment within a query (@a := …); use SET, or a window function")
		case l.isByte(t, ':') && prev.kind == variable:
			before = prev
		}
		prev = t
		if t == first {
			t = second
		} else {
			t = l.next()
		}
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

// onePrimaryKey refuses a table with two declarations of its primary key, which the planner takes for one key of both columns.
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
