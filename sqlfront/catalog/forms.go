package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// Descriptors in the planner's forms.

// KeyFor is the name of an index that begins with the columns, as the library looks for one: in a
// parent, the columns of the primary key stand behind those of each index.
func (t *Table) KeyFor(columns []string, parent bool) (name string, ok bool) {
	begins := func(parts []IndexColumn) bool {
		return len(parts) >= len(columns) && !slices.ContainsFunc(parts[:len(columns)],
			func(p IndexColumn) bool { return p.PrefixLength > 0 }) &&
			slices.EqualFunc(parts[:len(columns)], columns, func(p IndexColumn, c string) bool {
				i := t.Column(c)
				return i >= 0 && t.Columns[i].ID == p.Column
			})
	}
	if begins(t.PrimaryKey) {
		return "PRIMARY", true
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		parts := x.Columns
		if parent {
			parts = append(slices.Clip(parts), t.PrimaryKey...)
		}
		if !x.FullText && begins(parts) {
			return x.Name, true
		}
	}
	return "", false
}

// Constraint is the planner's form of a foreign key of a table. Slices are copied: it renames columns in
// place.
func (k *ForeignKey) Constraint(db, table string) sql.ForeignKeyConstraint {
	action := func(s string) sql.ForeignKeyReferentialAction {
		if s == "" {
			return sql.ForeignKeyReferentialAction_DefaultAction
		}
		return sql.ForeignKeyReferentialAction(s)
	}
	return sql.ForeignKeyConstraint{
		Name: k.Name, Database: db, Table: table,
		ParentDatabase: k.ParentDatabase, ParentTable: k.ParentTable,
		Columns: slices.Clone(k.Columns), ParentColumns: slices.Clone(k.ParentColumns),
		OnUpdate: action(k.OnUpdate), OnDelete: action(k.OnDelete), IsResolved: k.Resolved,
	}
}

// NewForeignKey is the reverse of Constraint.
func NewForeignKey(fk *sql.ForeignKeyConstraint) ForeignKey {
	action := func(a sql.ForeignKeyReferentialAction) string {
		if a == sql.ForeignKeyReferentialAction_DefaultAction {
			return ""
		}
		return string(a)
	}
	return ForeignKey{
		Name: fk.Name, ParentDatabase: fk.ParentDatabase, ParentTable: fk.ParentTable,
		Columns: slices.Clone(fk.Columns), ParentColumns: slices.Clone(fk.ParentColumns),
		OnUpdate: action(fk.OnUpdate), OnDelete: action(fk.OnDelete), Resolved: fk.IsResolved,
	}
}

// ForeignKey returns the position of the named foreign key in ForeignKeys, -1 if there is none.
func (t *Table) ForeignKey(name string) int {
	return slices.IndexFunc(t.ForeignKeys, func(k ForeignKey) bool { return strings.EqualFold(k.Name, name) })
}

// Refers reports whether a foreign key may be declared over columns of the types, as the library
// has it.
func (a Type) Refers(b Type) bool {
	both := func(kinds ...string) bool {
		return slices.Contains(kinds, a.Kind) && slices.Contains(kinds, b.Kind)
	}
	switch {
	case both("char", "varchar", "text"):
		return charsetOf(a) == charsetOf(b)
	case both("binary", "varbinary", "blob"), both("date", "datetime", "timestamp", "time"):
		return true
	}
	return a.Kind == b.Kind && a.Unsigned == b.Unsigned
}

// charsetOf is the name of a text type's character set.
func charsetOf(t Type) string {
	set, _, _ := strings.Cut(t.Collation, "_")
	return set
}

// Definition is the planner's form of an event. An interval of nothing, which CREATE EVENT took once, is
// written as the planner reads it: it looks at all events where one is shown.
func (e *Event) Definition() sql.EventDefinition {
	every := e.ExecuteEvery
	if _, err := sql.EventOnScheduleEveryIntervalFromString(every); err != nil && !e.HasExecuteAt {
		every = "0 SECOND"
	}
	return sql.EventDefinition{
		Name: e.Name, EventBody: e.Body, Definer: e.Definer, SqlMode: e.SQLMode,
		Status: e.Status, Comment: e.Comment,
		TimezoneOffset: e.TimezoneOffset, ExecuteEvery: every,
		OnCompletionPreserve: e.OnCompletionPreserve, HasExecuteAt: e.HasExecuteAt,
		HasEnds:   e.HasEnds,
		CreatedAt: e.Created, LastAltered: e.LastAltered,
		LastExecuted: e.LastExecuted, ExecuteAt: e.ExecuteAt, Starts: e.Starts, Ends: e.Ends,
	}
}

// NewEvent is the reverse of Definition.
func NewEvent(e sql.EventDefinition) Event {
	return Event{
		Name: e.Name, Body: e.EventBody, Definer: e.Definer, SQLMode: e.SqlMode,
		Status: e.Status, Comment: e.Comment,
		TimezoneOffset: e.TimezoneOffset, ExecuteEvery: e.ExecuteEvery,
		OnCompletionPreserve: e.OnCompletionPreserve, HasExecuteAt: e.HasExecuteAt,
		HasEnds: e.HasEnds,
		Created: e.CreatedAt, LastAltered: e.LastAltered,
		LastExecuted: e.LastExecuted, ExecuteAt: e.ExecuteAt, Starts: e.Starts, Ends: e.Ends,
	}
}

// DropFromIndexes removes a column from all keys; a key without columns is gone.
func (t *Table) DropFromIndexes(id uint32) {
	is := func(c IndexColumn) bool { return c.Column == id }
	t.PrimaryKey = slices.DeleteFunc(t.PrimaryKey, is)
	for i := range t.Indexes {
		t.Indexes[i].Columns = slices.DeleteFunc(t.Indexes[i].Columns, is)
	}
	t.Indexes = slices.DeleteFunc(t.Indexes, func(x Index) bool { return len(x.Columns) == 0 })
}

// MoveColumn puts a column where ALTER TABLE says.
func (t *Table) MoveColumn(from int, order *sql.ColumnOrder) error {
	if order == nil {
		return nil
	}
	c := t.Columns[from]
	rest := slices.Delete(slices.Clone(t.Columns), from, from+1)
	to := 0
	if !order.First {
		i := slices.IndexFunc(rest, func(o Column) bool {
			return strings.EqualFold(o.Name, order.AfterColumn)
		})
		if i < 0 {
			return sql.ErrTableColumnNotFound.New(t.Name, order.AfterColumn)
		}
		to = i + 1
	}
	t.Columns = slices.Insert(rest, to, c)
	return nil
}

// HasCheck reports whether the table has a check of that name.
func (t *Table) HasCheck(name string) bool {
	return slices.ContainsFunc(t.Checks, func(c Check) bool { return strings.EqualFold(c.Name, name) })
}
