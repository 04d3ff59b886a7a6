package parse

import (
	"strings"
	"unicode/utf8"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// distinctColumns refuses a view that gives a name to two columns, or one that is too long. Those behind a
// star are not known here; names that nobody wrote are not compared, as in MySQL, which makes up others.
func distinctColumns(v *ast.ViewSpec) error {
	var names []string
	for _, c := range v.Columns {
		names = append(names, c.String())
	}
	if len(names) == 0 {
		query := v.ViewExpr
		for {
			if p, ok := query.(*ast.ParenSelect); ok {
				query = p.Select
			} else if u, ok := query.(*ast.SetOp); ok {
				query = u.Left
			} else {
				break
			}
		}
		s, ok := query.(*ast.Select)
		if !ok {
			return nil
		}
		for _, e := range s.SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok {
				continue
			}
			if !a.As.IsEmpty() {
				names = append(names, a.As.String())
			} else if c, ok := a.Expr.(*ast.ColName); ok {
				names = append(names, c.Name.String())
			}
		}
	}
	seen := map[string]bool{}
	for _, n := range names {
		if len(n) > maxColumnName && utf8.RuneCountInString(n) > maxColumnName {
			return sqlerr.New(sqlerr.WrongColumnName, "Incorrect column name '%.192s'", n)
		}
		if seen[strings.ToLower(n)] {
			return sqlerr.New(sqlerr.DuplicateColumn, "Duplicate column name '%s'", n)
		}
		seen[strings.ToLower(n)] = true
	}
	return nil
}

// maxColumnName is how many characters the name of a view's column has.
const maxColumnName = 64
