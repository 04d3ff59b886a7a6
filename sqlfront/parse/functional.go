package parse

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
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
