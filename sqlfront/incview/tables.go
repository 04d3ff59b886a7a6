package incview

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
)

const (
	// keyBytes is the longest key of a group that is kept; what is longer has a digest in it, see groupKey.
	keyBytes = 256
	// rowBytes is the same for keys of rows.
	rowBytes = 1024
	// indexBytes is the longest key of an index.
	indexBytes = 3072
	// Suffix ends the name of the table of a view's contributions.
	Suffix = "$contributions"
)

// layout says where in the rows of a view's table, and in those of its contributions, everything is.
//
//	view           outputs …   key   rows   n(x) s(x) for each argument that is added up
//	contributions  row   group   groups …   arguments …
type layout struct {
	outputs, groups int
	summed          []int // arguments that are added up
}

func (s *Shape) layout() layout {
	l := layout{outputs: len(s.Outputs), groups: len(s.Groups)}
	for i := range s.Args {
		if s.uses(i, Sum, Avg, Count) {
			l.summed = append(l.summed, i)
		}
	}
	return l
}

// uses reports whether one of the kinds has the argument.
func (s *Shape) uses(arg int, kinds ...Kind) bool {
	for _, o := range s.Outputs {
		if o.Kind == Group || o.Kind == CountRows || o.At != arg {
			continue
		}
		for _, k := range kinds {
			if o.Kind == k {
				return true
			}
		}
	}
	return false
}

func (l layout) key() int        { return l.outputs }
func (l layout) rows() int       { return l.outputs + 1 }
func (l layout) count(i int) int { return l.outputs + 2 + 2*i }
func (l layout) sum(i int) int   { return l.outputs + 3 + 2*i }
func (l layout) group(i int) int { return 2 + i }
func (l layout) arg(i int) int   { return 2 + l.groups + i }

// Query is what the contributions of rows are: a SELECT without aggregates of one row for each of the anchor
// that WHERE lets through. When new is set it is for the row NEW of the anchor alone.
func (s *Shape) Query(of bool) string {
	list := append(append([]string(nil), s.Groups...), s.Args...)
	if len(list) == 0 {
		list = []string{"1"}
	}
	var conditions []string
	if s.where != "" {
		conditions = append(conditions, "("+s.where+")")
	}
	if of {
		conditions = append(conditions, s.isNew()...)
	}
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + s.from
	if len(conditions) > 0 {
		text += " WHERE " + strings.Join(conditions, " AND ")
	}
	return text
}

// isNew are conditions that find the row NEW of the anchor: by its primary key, or if that is a view by its
// groups, of which each has one row.
func (s *Shape) isNew() (conditions []string) {
	anchor := s.Sources[0]
	of := func(name, operator string) string {
		return fmt.Sprintf("%s.%s %s NEW.%s", quote(anchor.Alias), quote(name), operator, quote(name))
	}
	if v := anchor.Table.Incremental; v != nil {
		for _, x := range anchor.Table.Indexes {
			if x.Name != catalog.GroupsIndex {
				continue
			}
			for _, c := range x.Columns {
				conditions = append(conditions,
					of(anchor.Table.Columns[anchor.Table.ColumnByID(c.Column)].Name,
						"<=>"))
			}
		}
		return conditions
	}
	for _, k := range anchor.Table.PrimaryKey {
		conditions = append(conditions, of(anchor.Table.Columns[anchor.Table.ColumnByID(k.Column)].Name, "="))
	}
	return conditions
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Tables makes the descriptors of a view's table and of its contributions. query is the schema of the view's
// query, parts that of Query.
func (s *Shape) Tables(name, collation string, query, parts sql.Schema) (view, of *catalog.Table, err error) {
	if len(query) != len(s.Outputs) || len(parts) != len(s.Groups)+len(s.Args) &&
		len(s.Groups)+len(s.Args) > 0 {
		return nil, nil, fmt.Errorf("incview: a query of %d columns, and %d parts", len(query), len(parts))
	}
	view = &catalog.Table{Name: name, Collation: collation}
	of = &catalog.Table{Name: name + Suffix, Collation: collation}
	hidden := func(name string, t catalog.Type, nullable bool) catalog.Column {
		return catalog.Column{Name: sql.HiddenSystemColumnPrefix + name, Type: t, Nullable: nullable,
			Default: "0", HiddenSystem: true}
	}
	l := s.layout()
	var groups []catalog.IndexColumn
	size := 0
	for i, o := range s.Outputs {
		t, err := s.outputType(o, query[i], parts)
		if err != nil {
			return nil, nil, err
		}
		counts := o.Kind == CountRows || o.Kind == Count || o.Kind == Distinct
		view.Columns = append(view.Columns, catalog.Column{Name: query[i].Name, Type: t, Nullable: !counts})
		if counts {
			view.Columns[i].Default = "0"
		}
		if o.Kind == Group {
			groups = append(groups, catalog.IndexColumn{Column: uint32(i + 1)})
			size += keySize(t)
		}
	}
	key := catalog.Type{Kind: "varbinary", Length: keyBytes, Collation: "binary"}
	view.Columns = append(view.Columns, hidden("group", key, false),
		hidden("rows", catalog.Type{Kind: "bigint"}, false))
	for _, i := range l.summed {
		state := catalog.Type{Kind: "decimal", Precision: 65}
		if t, err := catalog.TypeOf(parts[l.groups+i].Type); err == nil && t.Kind == "decimal" {
			state.Scale = t.Scale
		}
		view.Columns = append(view.Columns, hidden(fmt.Sprintf("n%d", i), catalog.Type{Kind: "bigint"},
			false),
			hidden(fmt.Sprintf("s%d", i), state, false))
	}
	view.PrimaryKey = []catalog.IndexColumn{{Column: uint32(l.key() + 1)}}
	if size > indexBytes {
		return nil, nil, refuse("GROUP BY of so long columns",
			fmt.Sprintf("their key has %d bytes, and may have "+
				"%d; CAST(… AS CHAR(n)) shortens a text", size, indexBytes))
	}
	view.Indexes = []catalog.Index{{Name: catalog.GroupsIndex, Columns: groups}}

	of.Columns = []catalog.Column{
		{Name: "row", Type: catalog.Type{Kind: "varbinary", Length: rowBytes, Collation: "binary"}},
		{Name: "group", Type: key}}
	for i := range s.Groups {
		of.Columns = append(of.Columns, catalog.Column{Name: fmt.Sprintf("g%d", i+1), Nullable: true,
			Type: view.Columns[s.outputOf(i)].Type})
	}
	of.PrimaryKey = []catalog.IndexColumn{{Column: 1}}
	of.Indexes = []catalog.Index{{Name: "group", Columns: []catalog.IndexColumn{{Column: 2}}}}
	for i := range s.Args {
		t, err := catalog.TypeOf(parts[l.groups+i].Type)
		if err != nil {
			return nil, nil, err
		}
		if s.uses(i, Min, Max, Distinct) {
			if n := keySize(t); n+keyBytes > indexBytes {
				return nil, nil, refuse("MIN, MAX and COUNT(DISTINCT) of so long a value as "+s.Args[i],
					"CAST(… AS CHAR(n)) shortens it")
			}
			of.Indexes = append(of.Indexes, catalog.Index{Name: fmt.Sprintf("a%d", i+1),
				Columns: []catalog.IndexColumn{{Column: 2}, {Column: uint32(l.arg(i) + 1)}}})
		}
		of.Columns = append(of.Columns, catalog.Column{Name: fmt.Sprintf("a%d", i+1), Nullable: true,
			Type: t})
	}
	return view, of, nil
}

// outputOf is the column of the view that has a group.
func (s *Shape) outputOf(group int) int {
	for i, o := range s.Outputs {
		if o.Kind == Group && o.At == group {
			return i
		}
	}
	return 0
}

// outputType is the type of a column of the view, if there may be one.
func (s *Shape) outputType(o Output, is *sql.Column, parts sql.Schema) (catalog.Type, error) {
	switch o.Kind {
	case CountRows, Count, Distinct:
		if o.Kind == Distinct {
			if _, err := keyable(parts[len(s.Groups)+o.At].Type, s.Args[o.At]); err != nil {
				return catalog.Type{}, err
			}
		}
		return catalog.Type{Kind: "bigint"}, nil
	case Group:
		return keyable(is.Type, s.Groups[o.At])
	case Min, Max:
		t, err := keyable(parts[len(s.Groups)+o.At].Type, s.Args[o.At])
		if err == nil && (t.Kind == "enum" || t.Kind == "set") {
			err = refuse(kindNames[o.Kind]+" of an "+strings.ToUpper(t.Kind), "CAST it AS CHAR(n)")
		}
		return t, err
	}
	arg, err := catalog.TypeOf(parts[len(s.Groups)+o.At].Type)
	if err != nil || !integers[arg.Kind] && arg.Kind != "decimal" {
		return arg, refuse(fmt.Sprintf("%s of %s, which is no integer and no DECIMAL", kindNames[o.Kind],
			s.Args[o.At]), "CAST it AS DECIMAL(m, d): a sum of others depends on the order")
	}
	if arg.Kind == "decimal" && arg.Precision > 43 {
		return arg, refuse(fmt.Sprintf("%s of a DECIMAL of %d digits", kindNames[o.Kind], arg.Precision),
			"CAST it AS DECIMAL(43, d)")
	}
	// The types are MySQL's: 22 digits more for a sum, 4 more behind the point for an average.
	t := catalog.Type{Kind: "decimal", Precision: arg.Precision, Scale: arg.Scale}
	if arg.Kind != "decimal" {
		t.Precision = digits[arg.Kind]
	}
	if o.Kind == Sum {
		t.Precision += 22
	} else {
		t.Precision, t.Scale = t.Precision+4, min(t.Scale+4, 30)
	}
	return t, nil
}

var digits = map[string]uint8{"tinyint": 3, "smallint": 5, "mediumint": 8, "int": 10, "bigint": 20}

func keyable(t sql.Type, what string) (catalog.Type, error) {
	c, err := catalog.TypeOf(t)
	if err != nil {
		return c, err
	}
	switch c.Kind {
	case "json", "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
		"multipolygon", "geometrycollection", "bit":
		return c, refuse(strings.ToUpper(c.Kind)+" ("+what+")", "")
	case "timestamp":
		return c, refuse("TIMESTAMP ("+what+")",
			"CAST it AS DATETIME: the view keeps the time zone that is set "+
				"now")
	}
	return c, nil
}

// keySize is how long the key of a value may be, as MySQL counts it.
func keySize(t catalog.Type) int {
	switch t.Kind {
	case "char", "varchar":
		return 4*int(t.Length) + 2
	case "binary", "varbinary", "text", "blob":
		return int(min(t.Length, 1<<30)) + 2
	case "decimal":
		return 30
	}
	return 9
}
