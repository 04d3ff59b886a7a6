package schema

import "fmt"

// Type is a column type in the words of the specification.
type Type int

const (
	Ident    Type = iota // 64-bit id
	Trade                // 64-bit trade id
	Balance              // DECIMAL(12,2)
	FinAgg               // DECIMAL(15,2)
	Price                // DECIMAL(8,2)
	Value                // DECIMAL(10,2)
	Rate                 // DECIMAL(5,2), a percentage
	TaxRate              // DECIMAL(6,5), a fraction
	Count                // 64-bit count
	Quantity             // 32-bit signed
	Small                // 16-bit
	Tiny                 // one digit, or a boolean as 0/1
	Char                 // variable-length string of at most Len characters
	Text                 // up to 100,000 characters
	Date
	DateTime // milliseconds
)

// Column is one column; the zero Null means NOT NULL, as the specification has it for all but a few.
type Column struct {
	Name  string
	Type  Type
	Len   int // Char only
	Null  bool
	Check string // a condition on this row, empty if none
}

// ForeignKey references the primary key of Parent.
type ForeignKey struct {
	Columns []string
	Parent  string
}

// Index is a secondary index.
type Index struct {
	Name    string
	Columns []string
}

// Table is one table.
type Table struct {
	Name        string
	Columns     []Column
	PrimaryKey  []string
	ForeignKeys []ForeignKey
	Indexes     []Index
}

// ColumnNames are the names of the columns, in order.
func (t Table) ColumnNames() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Lookup finds a table by name.
func Lookup(name string) (Table, error) {
	for _, t := range tables {
		if t.Name == name {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("schema: no table %q", name)
}

// Tables returns all 33 tables, parents before children.
func Tables() []Table {
	var all []Table
	for _, level := range Levels() {
		all = append(all, level...)
	}
	return all
}

// Levels groups the tables by the longest chain of foreign keys below them.
func Levels() [][]Table {
	depth := map[string]int{}
	var visit func(name string) int
	visit = func(name string) int {
		if d, ok := depth[name]; ok {
			return d
		}
		t, err := Lookup(name)
		if err != nil {
			panic(err) // a foreign key of the list below names no table: caught by any test
		}
		d := 0
		for _, fk := range t.ForeignKeys {
			d = max(d, visit(fk.Parent)+1)
		}
		depth[name] = d
		return d
	}
	var levels [][]Table
	for _, t := range tables {
		d := visit(t.Name)
		for len(levels) <= d {
			levels = append(levels, nil)
		}
		levels[d] = append(levels[d], t)
	}
	return levels
}

// The constructors below keep the list of tables close to the way the specification prints it.

func col(name string, t Type) Column           { return Column{Name: name, Type: t} }
func char(name string, n int) Column           { return Column{Name: name, Type: Char, Len: n} }
func nullable(c Column) Column                 { c.Null = true; return c }
func check(c Column, condition string) Column  { c.Check = condition; return c }
func key(columns ...string) []string           { return columns }
func fk(parent string, c ...string) ForeignKey { return ForeignKey{Columns: c, Parent: parent} }
func index(name string, c ...string) Index     { return Index{Name: name, Columns: c} }
