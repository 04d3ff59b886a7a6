package parse

import (
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// declareDigits takes the digits of TIME(n), FLOAT(M,D) and DOUBLE(M,D) out of column definitions, and leaves
// a mark for the catalog: the planner refuses the first and forgets the others.
func declareDigits(stmt ast.Statement) error {
	for _, d := range clauses(stmt) {
		if d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Columns {
			if err := columnDigits(c.Name.String(), &c.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

func columnDigits(name string, t *ast.ColumnType) error {
	number := func(v *ast.SQLVal) int {
		if v == nil {
			return 0
		}
		n, err := strconv.Atoi(string(v.Val))
		if err != nil {
			return 1 << 30
		}
		return n
	}
	precision, scale := number(t.Length), number(t.Scale)
	switch strings.ToLower(t.Type) {
	case "time":
		if precision > 6 {
			return sqlerr.New(sqlerr.TooBigPrecision,
				"Too-big precision %d specified for '%s'. Maximum is 6.", precision, name)
		}
	case "float", "double", "real", "double precision":
		switch {
		case t.Scale == nil:
			precision = 0 // FLOAT(p) chooses between FLOAT and DOUBLE, which is the planner's to do
		case scale > 30:
			return sqlerr.New(sqlerr.TooBigScale,
				"Too big scale %d specified for column '%s'. Maximum is 30.", scale, name)
		case precision > 255 || precision == 0:
			return sqlerr.New(sqlerr.TooBigDisplayWidth,
				"Display width out of range for column '%s' (max = 255)", name)
		case precision < scale:
			return sqlerr.New(sqlerr.ScaleOverPrecision,
				"For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", name)
		}
	default:
		return nil
	}
	if t.Scale != nil || strings.EqualFold(t.Type, "time") {
		t.Length, t.Scale = nil, nil
	}
	comment := ""
	if t.Comment != nil {
		comment = string(t.Comment.Val)
	}
	t.Comment = ast.NewStrVal([]byte(catalog.MarkDigits(comment, precision, scale)))
	return nil
}
