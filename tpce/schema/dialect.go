package schema

import (
	"fmt"
	"strings"
)

// Dialect prints DDL for one family of engines. Placeholders and retryable errors are the business of whoever
// speaks to the engine; here is only what the text of a definition needs.
type Dialect struct {
	types      map[Type]string
	char       string // with one %d
	tableTail  string
	inlineKeys bool // secondary indexes may stand inside CREATE TABLE
}

var (
	// MySQL is what Moka and MariaDB (and MySQL) read.
	MySQL = Dialect{
		types: map[Type]string{
			Ident: "BIGINT", Trade: "BIGINT", Balance: "DECIMAL(12,2)", FinAgg: "DECIMAL(15,2)",
			Price: "DECIMAL(8,2)",
			Value: "DECIMAL(10,2)", Rate: "DECIMAL(5,2)", TaxRate: "DECIMAL(6,5)", Count: "BIGINT",
			Quantity: "INT",
			Small:    "SMALLINT", Tiny: "TINYINT", Text: "MEDIUMTEXT", Date: "DATE", DateTime: "DATETIME(3)",
		},
		char:       "VARCHAR(%d)",
		tableTail:  " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
		inlineKeys: true,
	}
	// Postgres reads the same tables; COLLATE "C" gives it the byte order that utf8mb4_bin gives MySQL.
	Postgres = Dialect{
		types: map[Type]string{
			Ident: "BIGINT", Trade: "BIGINT", Balance: "NUMERIC(12,2)", FinAgg: "NUMERIC(15,2)",
			Price: "NUMERIC(8,2)",
			Value: "NUMERIC(10,2)", Rate: "NUMERIC(5,2)", TaxRate: "NUMERIC(6,5)", Count: "BIGINT",
			Quantity: "INTEGER",
			Small:    "SMALLINT", Tiny: "SMALLINT", Text: `TEXT COLLATE "C"`, Date: "DATE",
			DateTime: "TIMESTAMP(3)",
		},
		char: `VARCHAR(%d) COLLATE "C"`,
	}
)

// Options choose what CREATE TABLE carries.
type Options struct {
	OmitForeignKeys bool // for an engine that has none
	DeferIndexes    bool // leave secondary indexes to CreateIndexes, after the load
}

// TypeOf is the dialect's spelling of a column's type.
func (d Dialect) TypeOf(c Column) string {
	if c.Type == Char {
		return fmt.Sprintf(d.char, c.Len)
	}
	return d.types[c.Type]
}

// CreateTable prints the definition of one table.
func (d Dialect) CreateTable(t Table, o Options) string {
	var lines []string
	for _, c := range t.Columns {
		line := c.Name + " " + d.TypeOf(c)
		if !c.Null {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	lines = append(lines, "PRIMARY KEY ("+strings.Join(t.PrimaryKey, ", ")+")")
	for _, c := range t.Columns {
		if c.Check != "" {
			lines = append(lines, fmt.Sprintf("CONSTRAINT %s_%s_check CHECK (%s)", t.Name, c.Name, c.Check))
		}
	}
	if d.inlineKeys && !o.DeferIndexes {
		// Before the foreign keys: an engine that wants an index on the child's columns finds one
		// instead of adding its own.
		for _, x := range t.Indexes {
			lines = append(lines, fmt.Sprintf("KEY %s (%s)", x.Name, strings.Join(x.Columns, ", ")))
		}
	}
	if !o.OmitForeignKeys {
		for _, f := range t.ForeignKeys {
			lines = append(lines, foreignKey(t, f))
		}
	}
	return fmt.Sprintf("CREATE TABLE %s (\n  %s\n)%s", t.Name, strings.Join(lines, ",\n  "), d.tableTail)
}

// AddForeignKeys prints the foreign keys of a table that was created without.
func (d Dialect) AddForeignKeys(t Table) []string {
	var out []string
	for _, f := range t.ForeignKeys {
		out = append(out, fmt.Sprintf("ALTER TABLE %s ADD %s", t.Name, foreignKey(t, f)))
	}
	return out
}

func foreignKey(t Table, f ForeignKey) string {
	parent, err := Lookup(f.Parent)
	if err != nil {
		panic(err) // Levels has checked it
	}
	return fmt.Sprintf("CONSTRAINT %s_%s_fk FOREIGN KEY (%s) REFERENCES %s (%s)",
		t.Name, f.Columns[0], strings.Join(f.Columns, ", "), f.Parent, strings.Join(parent.PrimaryKey, ", "))
}

// CreateIndexes prints the secondary indexes that CreateTable left out.
func (d Dialect) CreateIndexes(t Table, o Options) []string {
	if d.inlineKeys && !o.DeferIndexes {
		return nil
	}
	var out []string
	for _, x := range t.Indexes {
		out = append(out, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", x.Name, t.Name,
			strings.Join(x.Columns, ", ")))
	}
	return out
}
