package incview

import (
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// A joined table is joined by its primary key, all of it, with columns of one table before it: so a row of
// the anchor has one row at most, and those that refer to a row are found by an index. An index is needed in
// which these columns come first, in the key's order; that of a foreign key will do.

// refers finds the columns that refer to the primary key of source i, and the index over them.
func (s *Shape) refers(i int) error {
	src := s.Sources[i]
	if len(src.Table.PrimaryKey) == 0 {
		return refuse("a join with '"+src.Alias+"', which has no primary key", "")
	}
	equal := map[uint32][2]uint32{} // column of the key → source and column that refer to it
	for _, e := range conjuncts(src.on, nil) {
		c, ok := e.(*ast.ComparisonExpr)
		if !ok || c.Operator != ast.EqualStr {
			continue
		}
		for _, pair := range [][2]ast.Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			at, key, ok := s.column(pair[0])
			from, ref, ok2 := s.column(pair[1])
			if ok && ok2 && at == i && from < i {
				if _, twice := equal[key]; !twice {
					equal[key] = [2]uint32{uint32(from), ref}
				}
			}
		}
	}
	var columns []uint32
	for n, k := range src.Table.PrimaryKey {
		by, ok := equal[k.Column]
		if !ok || k.PrefixLength > 0 || n > 0 && int(by[0]) != src.Parent {
			return refuse("a join with '"+src.Alias+"' by anything but its primary key",
				"ON has to say that "+
					"all its columns are equal to columns of one table before it")
		}
		src.Parent = int(by[0])
		columns = append(columns, by[1])
		if err := s.sameType(src, k.Column, by[1]); err != nil {
			return err
		}
	}
	parent := s.Sources[src.Parent]
	index, ok := parent.Table.Referring(columns, src.Table.PadSpace)
	if !ok {
		var names []string
		for _, id := range columns {
			names = append(names, "`"+parent.Table.Columns[parent.Table.ColumnByID(id)].Name+"`")
		}
		return refuse("a join whose columns have no index", "CREATE INDEX … ON `"+parent.Table.Name+"` ("+
			strings.Join(names, ", ")+")")
	}
	src.Index, src.Refer = index, columns
	return nil
}

func conjuncts(e ast.Expr, list []ast.Expr) []ast.Expr {
	switch e := e.(type) {
	case *ast.AndExpr:
		return conjuncts(e.Right, conjuncts(e.Left, list))
	case *ast.ParenExpr:
		return conjuncts(e.Expr, list)
	}
	return append(list, e)
}

// column is the source and the id of a column that an expression is.
func (s *Shape) column(e ast.Expr) (source int, id uint32, ok bool) {
	if p, is := e.(*ast.ParenExpr); is {
		return s.column(p.Expr)
	}
	c, is := e.(*ast.ColName)
	if !is {
		return 0, 0, false
	}
	for i, src := range s.Sources {
		if strings.EqualFold(src.Alias, c.Qualifier.Name.String()) {
			if at := src.Table.Column(c.Name.String()); at >= 0 {
				return i, src.Table.Columns[at].ID, true
			}
		}
	}
	return 0, 0, false
}

// sameType refuses columns whose equal values have other keys.
func (s *Shape) sameType(src *Source, key, ref uint32) error {
	parent := s.Sources[src.Parent]
	a := src.Table.Columns[src.Table.ColumnByID(key)]
	b := parent.Table.Columns[parent.Table.ColumnByID(ref)]
	x, y := a.Type, b.Type
	x.Length, y.Length, x.Precision, y.Precision = 0, 0, 0, 0
	if integers[x.Kind] && integers[y.Kind] {
		x.Kind, y.Kind = "", ""
		x.Unsigned, y.Unsigned = false, false
	}
	if x.Kind == y.Kind && x.Scale == y.Scale && x.Unsigned == y.Unsigned && x.Collation == y.Collation &&
		slices.Equal(x.Values, y.Values) && x.Kind != "timestamp" && !b.Virtual {
		return nil
	}
	return refuse("a join of '"+src.Alias+"."+a.Name+"' with '"+parent.Alias+"."+b.Name+"', which "+
		"has another "+
		"type", "the columns need the same type and collation, and no TIMESTAMP")
}

var integers = set("tinyint smallint mediumint int bigint")
