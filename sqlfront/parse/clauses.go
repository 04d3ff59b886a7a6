package parse

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// namedLater writes CHANGE a b …, of which a later clause knows the new name, as MODIFY a … and RENAME COLUMN
// a TO b: the planner follows those from clause to clause. It keeps the old name of a column that is changed.
func namedLater(clauses []*ast.DDL) []*ast.DDL {
	var out []*ast.DDL
	for i, d := range clauses {
		out = append(out, d)
		if d.ColumnAction != ast.ChangeStr || d.TableSpec == nil || len(d.TableSpec.Columns) != 1 {
			continue
		}
		to := d.TableSpec.Columns[0].Name
		if d.Column.EqualString(to.String()) || !namesColumn(clauses[i+1:], to.String()) {
			continue
		}
		rename := &ast.DDL{Action: ast.AlterStr, ColumnAction: ast.RenameStr, Table: d.Table,
			Column: d.Column, ToColumn: to, Auth: d.Auth}
		d.ColumnAction = ast.ModifyStr
		d.TableSpec.Columns[0].Name = d.Column
		out = append(out, rename)
	}
	return out
}

// namesColumn reports whether a key, a foreign key or the place of a column is said with the name.
func namesColumn(clauses []*ast.DDL, name string) bool {
	for _, d := range clauses {
		if d.IndexSpec != nil {
			for _, f := range d.IndexSpec.Fields {
				if f.Column.EqualString(name) {
					return true
				}
			}
		}
		if d.ColumnOrder != nil && d.ColumnOrder.AfterColumn.EqualString(name) {
			return true
		}
		if d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Constraints {
			if fk, ok := c.Details.(*ast.ForeignKeyDefinition); ok {
				for _, s := range fk.Source {
					if s.EqualString(name) {
						return true
					}
				}
			}
		}
	}
	return false
}

// checksOfNew gives a CHECK over a column that an earlier clause adds to that clause, ADD COLUMN c … CHECK
// (…): the planner looks for the columns of other checks in the table as it is.
func checksOfNew(a *ast.AlterTable) {
	var out []*ast.DDL
	for _, d := range a.Statements {
		if check := checkAdded(d); check != nil {
			if to := addsNamed(out, check.Details.(*ast.CheckConstraintDefinition).Expr); to != nil {
				to.TableSpec.Constraints = append(to.TableSpec.Constraints, check)
				to.ConstraintAction = ast.AddStr
				continue
			}
		}
		out = append(out, d)
	}
	a.Statements = out
}

func checkAdded(d *ast.DDL) *ast.ConstraintDefinition {
	if d.ColumnAction != "" || d.ConstraintAction != ast.AddStr || d.TableSpec == nil ||
		len(d.TableSpec.Constraints) != 1 || d.IndexSpec != nil {
		return nil
	}
	c := d.TableSpec.Constraints[0]
	if _, ok := c.Details.(*ast.CheckConstraintDefinition); !ok {
		return nil
	}
	return c
}

// addsNamed is the last clause that adds a column of the expression, and has room for a check.
func addsNamed(clauses []*ast.DDL, e ast.Expr) (found *ast.DDL) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		c, ok := n.(*ast.ColName)
		if !ok {
			return true, nil
		}
		for _, d := range clauses {
			if d.ColumnAction == ast.AddStr && d.TableSpec != nil && len(d.TableSpec.Constraints) == 0 &&
				d.IndexSpec == nil && strings.EqualFold(d.Column.String(), c.Name.String()) {
				found = d
			}
		}
		return true, nil
	}, e)
	return found
}
