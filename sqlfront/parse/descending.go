package parse

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
)

// declareDescending leaves a mark for the catalog on indexes with columns that descend, KEY (a DESC, b):
// the planner forgets it.
func declareDescending(stmt ast.Statement) {
	for _, d := range clauses(stmt) {
		if d.TableSpec != nil {
			for _, x := range d.TableSpec.Indexes {
				if x.Info != nil && !x.Info.Primary {
					x.Options = markDescending(x.Fields, x.Options)
				}
			}
		}
		if x := d.IndexSpec; x != nil && x.Action == ast.CreateStr && x.Type != ast.PrimaryStr {
			x.Options = markDescending(x.Fields, x.Options)
		}
	}
}

func markDescending(fields []*ast.IndexField, options []*ast.IndexOption) []*ast.IndexOption {
	var which []int
	for i, f := range fields {
		if strings.EqualFold(f.Order, ast.DescScr) {
			which = append(which, i)
		}
	}
	if which == nil {
		return options
	}
	for _, o := range options {
		if strings.EqualFold(o.Name, "comment") && o.Value != nil {
			o.Value = ast.NewStrVal([]byte(catalog.MarkDescending(string(o.Value.Val), which)))
			return options
		}
	}
	return append(options, &ast.IndexOption{Name: "comment",
		Value: ast.NewStrVal([]byte(catalog.MarkDescending("", which)))})
}
