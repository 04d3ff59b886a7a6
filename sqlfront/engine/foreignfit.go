package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// Foreign keys wait for a parent that is not there: foreign_key_checks = 0 drops it and makes it anew. The
// keys may be those of somebody else's tables, into which what the new parent's rows hold is written by
// ON UPDATE CASCADE. So whatever gets the name has columns that such a key could have been declared with,
// foreign_key_checks or not, and ALTER TABLE does not take that away.

// fits refuses a table as the parent of the foreign keys that name it, of other tables. A nil ctx is
// nobody's, who is told of no other table.
func (e *Engine) fits(ctx *sql.Context, parent *catalog.Table, waiting []catalog.Reference) error {
	for _, ref := range waiting {
		if ref.Table.ID == parent.ID {
			continue
		}
		for i, name := range ref.Key.ParentColumns {
			c := ref.Table.Column(ref.Key.Columns[i])
			p := parent.Column(name)
			switch {
			case c < 0 || p >= 0 && comparableTypes(parent.Columns[p].Type, ref.Table.Columns[c].Type):
				continue
			case ctx == nil || !e.maySee(ctx, ref.Database.Name, ref.Table.Name):
				return sqlerr.New(sqlerr.ForeignKeyIncompatible,
					"A column of '%s' and one that refers to it in a foreign key constraint are "+
						"incompatible.", parent.Name)
			case p < 0:
				return sqlerr.New(sqlerr.ForeignKeyNoColumn, "Failed to add the foreign key "+
					"constraint. Missing column '%s' for constraint '%s' in the referenced table '%s'", name,
					ref.Key.Name, parent.Name)
			}
			return sqlerr.New(sqlerr.ForeignKeyIncompatible,
				"Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are "+
					"incompatible.", ref.Key.Columns[i], name, ref.Key.Name)
		}
	}
	return nil
}

// comparableTypes reports whether a foreign key may be declared over columns of the types, as the library
// has it.
func comparableTypes(a, b catalog.Type) bool {
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
func charsetOf(t catalog.Type) string {
	set, _, _ := strings.Cut(t.Collation, "_")
	return set
}

// unchanged refuses another type or collation of a column that is used in a foreign key, of this table or,
// in the parent, of others: CONVERT TO changes them all, and the library looks at MODIFY and CHANGE alone.
func (r *relations) unchanged(ctx *sql.Context, now *catalog.Table, before, after []catalog.Reference) error {
	checks := foreignKeyChecks(ctx)
	converted := func(name string) bool {
		was, is := r.table.desc.Column(name), now.Column(name)
		return checks && was >= 0 && is >= 0 && r.table.desc.Columns[was].ID == now.Columns[is].ID &&
			r.table.desc.Columns[was].Type.Collation != now.Columns[is].Type.Collation
	}
	for _, k := range r.table.desc.ForeignKeys {
		if i := slices.IndexFunc(k.Columns, converted); i >= 0 {
			return sqlerr.New(sqlerr.ForeignKeyColumnChange,
				"Cannot change column '%s': used in a foreign key constraint '%s'", k.Columns[i], k.Name)
		}
	}
	for _, ref := range before {
		i := slices.IndexFunc(ref.Key.ParentColumns, converted)
		switch {
		case i < 0 || ref.Table.ID == now.ID:
		case !r.table.eng.maySee(ctx, ref.Database.Name, ref.Table.Name):
			return sqlerr.New(sqlerr.ForeignKeyParentChange,
				"Cannot change column '%s': used in a foreign key constraint", ref.Key.ParentColumns[i])
		default:
			return sqlerr.New(sqlerr.ForeignKeyParentChange,
				"Cannot change column '%s': used in a foreign key constraint '%s' of table '%s.%s'",
				ref.Key.ParentColumns[i], ref.Key.Name, ref.Database.Name, ref.Table.Name)
		}
	}
	if r.table.eng.fits(ctx, r.table.desc, before) != nil { // of an older release
		return nil
	}
	return r.table.eng.fits(ctx, now, after)
}
