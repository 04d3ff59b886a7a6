package parse

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// FunctionalPrefix begins the name of a column that stands for the expression of a key in CREATE TABLE. The
// library has such hidden columns for CREATE INDEX only; for CREATE TABLE the statement declares them itself,
// and the engine hides them under the library's name.
const FunctionalPrefix = "!functional!"

// noHiddenNames refuses names of columns by which such columns are known.
func noHiddenNames(d *ast.DDL) error {
	if d.TableSpec == nil {
		return nil
	}
	for _, c := range d.TableSpec.Columns {
		if strings.HasPrefix(c.Name.Lowered(), FunctionalPrefix) ||
			strings.HasPrefix(c.Name.Lowered(), sql.HiddenSystemColumnPrefix) {
			return sqlerr.New(sqlerr.WrongColumnName, "Incorrect column name '%s'", c.Name.String())
		}
	}
	return nil
}

// functionalKeys turns KEY k ((a + 1)) of CREATE TABLE into a virtual column and a key of it. Its type is
// that of the expression, which the engine knows.
func functionalKeys(d *ast.DDL) error {
	if d.Action != ast.CreateStr || d.TableSpec == nil {
		return nil
	}
	names := map[string]bool{}
	for _, x := range d.TableSpec.Indexes {
		names[x.Info.Name.Lowered()] = true
	}
	for _, x := range d.TableSpec.Indexes {
		for i, f := range x.Fields {
			if f.Expression == nil {
				continue
			}
			if x.Info.Primary {
				return sqlerr.New(sqlerr.FunctionalPrimary, "The primary key cannot be a functional index")
			}
			for n := 1; x.Info.Name.IsEmpty(); n++ { // as MySQL names them
				name := "functional_index"
				if n > 1 {
					name = fmt.Sprintf("functional_index_%d", n)
				}
				if !names[name] {
					names[name] = true
					x.Info.Name = ast.NewColIdent(name)
				}
			}
			name := ast.NewColIdent(fmt.Sprintf("%s%s!%d!0", FunctionalPrefix, x.Info.Name.Lowered(), i))
			d.TableSpec.AddColumn(&ast.ColumnDefinition{Name: name,
				Type: ast.ColumnType{Type: "bigint", GeneratedExpr: f.Expression}})
			f.Column, f.Expression = name, nil
		}
	}
	return nil
}

// varying are functions that have another value for the same row at another time, or for somebody else. MySQL
// lets no index have them.
var varying = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "random_bytes": true, "sleep": true, "now": true,
	"sysdate": true, "current_timestamp": true,
	"localtime": true, "localtimestamp": true, "curdate": true, "current_date": true, "curtime": true,
	"current_time": true, "utc_date": true,
	"utc_time": true, "utc_timestamp": true, "connection_id": true, "user": true, "current_user": true,
	"session_user": true, "system_user": true,
	"database": true, "schema": true, "last_insert_id": true, "row_count": true, "found_rows": true,
	"load_file": true, "get_lock": true,
	"release_lock": true, "release_all_locks": true, "is_free_lock": true, "is_used_lock": true,
	"benchmark": true,
}

// acting are those that do or read something else than the row, with the rights of whoever writes it: MySQL
// lets no default value have them, either.
var acting = map[string]bool{
	"load_file": true, "sleep": true, "benchmark": true, "get_lock": true, "release_lock": true,
	"release_all_locks": true, "is_free_lock": true,
	"is_used_lock": true,
}

// noVaryingColumns refuses generated columns that vary, and default values and checks that act.
func noVaryingColumns(d *ast.DDL) error {
	if d.TableSpec == nil {
		return nil
	}
	for _, c := range d.TableSpec.Constraints {
		if err := noActingCheck(c); err != nil {
			return err
		}
	}
	for _, c := range d.TableSpec.Columns {
		if err := noActingCheck(c.Type.Constraint); err != nil {
			return err
		}
		if name := calls(c.Type.GeneratedExpr, varying); name != "" {
			return sqlerr.New(sqlerr.GeneratedFunction,
				"Expression of generated column '%s' contains a disallowed function: %s.",
				c.Name.String(), name)
		}
		if name := calls(c.Type.Default, acting); name != "" {
			return sqlerr.New(sqlerr.DefaultFunction,
				"Default value expression of column '%s' contains a disallowed function: %s.",
				c.Name.String(), name)
		}
	}
	return nil
}

func noActingCheck(c *ast.ConstraintDefinition) error {
	if c == nil {
		return nil
	}
	if k, ok := c.Details.(*ast.CheckConstraintDefinition); ok {
		if name := calls(k.Expr, acting); name != "" {
			return sqlerr.New(sqlerr.CheckFunction,
				"An expression of a check constraint '%s' contains disallowed function: %s.", c.Name, name)
		}
	}
	return nil
}

// calls is the first of the functions that an expression calls.
func calls(e ast.Expr, functions map[string]bool) (name string) {
	if e == nil {
		return ""
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if c, ok := n.(*ast.FuncExpr); ok && functions[c.Name.Lowered()] {
			name = c.Name.Lowered()
		}
		if _, ok := n.(*ast.MatchExpr); ok { // the planner looks for its table, and there is none
			name = "match"
		}
		return name == "", nil
	}, e)
	return name
}

// noVarying refuses keys over such functions.
func noVarying(d *ast.DDL) error {
	refuse := func(index string, fields []*ast.IndexField) error {
		for _, f := range fields {
			if f != nil && calls(f.Expression, varying) != "" {
				return sqlerr.New(sqlerr.FunctionalVarying,
					"Expression of functional index '%s' contains a disallowed function.", index)
			}
		}
		return nil
	}
	if d.IndexSpec != nil {
		return refuse(d.IndexSpec.ToName.String(), d.IndexSpec.Fields)
	}
	if d.TableSpec == nil {
		return nil
	}
	for _, x := range d.TableSpec.Indexes {
		name := "functional_index"
		if !x.Info.Name.IsEmpty() {
			name = x.Info.Name.String()
		}
		if err := refuse(name, x.Fields); err != nil {
			return err
		}
	}
	return nil
}
