package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

func equalFold(a, b string) bool { return strings.EqualFold(a, b) }

func wholeSpan(s kv.Span) []rowenc.Span {
	return []rowenc.Span{{Start: s.Start, End: s.End, Exact: true}}
}

// GetDeclaredForeignKeys implements sql.ForeignKeyTable.
func (t *Table) GetDeclaredForeignKeys(ctx *sql.Context) ([]sql.ForeignKeyConstraint, error) {
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	keys := make([]sql.ForeignKeyConstraint, len(now.desc.ForeignKeys))
	for i := range now.desc.ForeignKeys {
		keys[i] = now.desc.ForeignKeys[i].Constraint(now.db, now.desc.Name)
	}
	rememberForeign(ctx, keys)
	return keys, nil
}

// GetReferencedForeignKeys implements sql.ForeignKeyTable.
func (t *Table) GetReferencedForeignKeys(ctx *sql.Context) ([]sql.ForeignKeyConstraint, error) {
	if t.temporary {
		return nil, nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	v, err := t.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	var keys []sql.ForeignKeyConstraint
	for _, r := range v.snap.References(now.db, now.desc.Name) {
		keys = append(keys, r.Key.Constraint(r.Database.Name, r.Table.Name))
	}
	rememberForeign(ctx, keys)
	return keys, nil
}

// rememberForeign keeps the keys that a statement may fail of.
func rememberForeign(ctx *sql.Context, keys []sql.ForeignKeyConstraint) {
	if s, ok := ctx.Session.(*Session); ok && len(s.foreign) < 1024 {
		s.foreign = append(s.foreign, keys...)
	}
}

// ForeignKey describes a foreign key that the statement has looked at as errors do: `db`.`child`, CONSTRAINT `name` FOREIGN KEY (`a`) REFERENCES `parent` (`id`).
// It is secret to who has no right on one of its tables.
func (s *Session) ForeignKey(name, child string) (text string, secret bool) {
	ctx := sql.NewContext(context.Background(), sql.WithSession(s))
	for _, k := range s.foreign {
		if !equalFold(k.Name, name) || !equalFold(k.Table, child) {
			continue
		}
		if !s.eng.maySee(ctx, k.Database, k.Table) || !s.eng.maySee(ctx, k.ParentDatabase, k.ParentTable) {
			return "", true
		}
		if text == "" {
			text = quoteName(k.Database) + "." + quoteName(k.Table) + ", " + foreignText(k)
		}
	}
	return text, false
}

// refuseTruncate refuses to empty a table that other tables refer to, as MySQL does: nobody looks at
// their rows then.
func (t *Table) refuseTruncate(ctx *sql.Context) error {
	if t.temporary || !foreignKeyChecks(ctx) {
		return nil
	}
	v, err := t.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	for _, r := range v.snap.References(t.db, t.desc.Name) {
		if r.Table.ID == t.desc.ID {
			continue
		}
		if !t.eng.maySee(ctx, r.Database.Name, r.Table.Name) {
			return errReferenced()
		}
		return sqlerr.New(sqlerr.ForeignKeyTruncate,
			"Cannot truncate a table referenced in a foreign key constraint (%s.%s, CONSTRAINT %s)",
			quoteName(r.Database.Name), quoteName(r.Table.Name), quoteName(r.Key.Name))
	}
	return nil
}

// errReferenced is what somebody learns whose table is referred to by one that he may not see.
func errReferenced() error {
	return sqlerr.New(sqlerr.ForeignKeyParent,
		"Cannot delete or update a parent row: a foreign key constraint fails")
}

// relations are the foreign keys of a table that an ALTER TABLE is about to change, and those that point
// to it, as they were before.
type relations struct {
	table *Table
	snap  *catalog.Snapshot
}

// relations is nil if the statement changes no table of ours.
func (e *Engine) relations(ctx *sql.Context, n sql.Node) (*relations, error) {
	var t *Table
	transform.Inspect(n, func(n sql.Node) bool {
		if r, ok := n.(*plan.ResolvedTable); ok && t == nil {
			t = ownTable(r.Table)
		}
		return t == nil
	})
	if t == nil || t.temporary {
		return nil, nil
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	return &relations{t, v.snap}, nil
}

// hold refuses what the clauses have made of the table if a foreign key does not find its columns any
// more, or has lost the index that it needs, of this table or, in the parent, of others, whose owner may
// be somebody else. The library asks for some of this, clause by clause and by the wrong names.
func (r *relations) hold(ctx *sql.Context) error {
	if r == nil {
		return nil
	}
	e := r.table.eng
	now, err := r.table.current(ctx)
	if err != nil {
		return err
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return err
	}
	before := r.snap.References(r.table.db, r.table.desc.Name)
	after := v.snap.References(now.db, now.desc.Name)
	for _, ref := range after {
		for _, c := range ref.Key.ParentColumns {
			if now.desc.Column(c) >= 0 {
				continue
			}
			if !e.maySee(ctx, ref.Database.Name, ref.Table.Name) {
				return errReferenced()
			}
			return sqlerr.New(sqlerr.ForeignKeyParentDrop,
				"Cannot drop column '%s': needed in a foreign key constraint '%s' of table '%s'", c,
				ref.Key.Name, ref.Table.Name)
		}
		i := slices.IndexFunc(before, func(b catalog.Reference) bool {
			return b.Table.ID == ref.Table.ID && equalFold(b.Key.Name, ref.Key.Name)
		})
		if i < 0 {
			continue
		}
		if err := r.indexed(ctx, now, before[i].Key.ParentColumns, ref.Key.ParentColumns, true); err != nil {
			return err
		}
	}
	for i := range now.desc.ForeignKeys {
		k := &now.desc.ForeignKeys[i]
		if j := r.table.desc.ForeignKey(k.Name); j >= 0 {
			if err := r.indexed(ctx, now, r.table.desc.ForeignKeys[j].Columns, k.Columns, false); err != nil {
				return err
			}
		}
	}
	return r.unchanged(ctx, now.desc, before, after)
}

// indexed refuses the loss of the index that was there for a foreign key's columns. A key that was
// declared with foreign_key_checks = 0 may have had none.
func (r *relations) indexed(ctx *sql.Context, now *Table, before, columns []string, parent bool) error {
	if !foreignKeyChecks(ctx) {
		return nil
	}
	if _, ok := now.desc.KeyFor(columns, parent); ok {
		return nil
	}
	if was, ok := r.table.desc.KeyFor(before, parent); ok {
		return sqlerr.New(sqlerr.ForeignKeyDropIndex,
			"Cannot drop index '%s': needed in a foreign key constraint", was)
	}
	return nil
}

// AddForeignKey implements sql.ForeignKeyTable. The engine has checked the rows that exist. The parent gets a new version
// too: writers that do not know of the key must not delete its rows.
func (t *Table) AddForeignKey(ctx *sql.Context, fk sql.ForeignKeyConstraint) error {
	if err := t.freeForeignName(ctx, fk.Name); err != nil {
		return err
	}
	err := t.change(ctx, func(d *catalog.Table) error {
		if fk.Name == "" {
			fk.Name = freeName(strings.ToLower(d.Name)+"_ibfk_", func(yield func(string) bool) {
				for i := range d.ForeignKeys {
					if !yield(d.ForeignKeys[i].Name) {
						return
					}
				}
			})
		}
		if d.ForeignKey(fk.Name) >= 0 {
			return sql.ErrForeignKeyDuplicateName.New(fk.Name)
		}
		d.ForeignKeys = append(d.ForeignKeys, catalog.NewForeignKey(&fk))
		return nil
	})
	if err != nil {
		return err
	}
	return t.touchParent(ctx, &fk)
}

// freeForeignName refuses the name of a foreign key of another table in the database, as MySQL does.
func (t *Table) freeForeignName(ctx *sql.Context, name string) error {
	if name == "" {
		return nil
	}
	v, err := t.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	db, ok := v.snap.Database(t.db)
	if !ok {
		return nil
	}
	for _, other := range db.Tables() {
		if other.ID != t.desc.ID && other.ForeignKey(name) >= 0 {
			return sql.ErrForeignKeyDuplicateName.New(name)
		}
	}
	return nil
}

func (t *Table) touchParent(ctx *sql.Context, fk *sql.ForeignKeyConstraint) error {
	if equalFold(fk.ParentDatabase, t.db) && equalFold(fk.ParentTable, t.desc.Name) {
		return nil
	}
	db := &Database{eng: t.eng, name: fk.ParentDatabase}
	parent, err := db.table(ctx, fk.ParentTable)
	if err != nil || parent == nil {
		return nil // foreign_key_checks = 0 allows keys without a parent
	}
	return parent.change(ctx, func(*catalog.Table) error { return nil })
}

// DropForeignKey implements sql.ForeignKeyTable.
func (t *Table) DropForeignKey(ctx *sql.Context, name, table, schema string) error {
	return t.shrink(ctx, func(d *catalog.Table) error {
		i := d.ForeignKey(name)
		if i < 0 {
			return sql.ErrForeignKeyNotFound.New(name, d.Name)
		}
		d.ForeignKeys = slices.Delete(d.ForeignKeys, i, i+1)
		return nil
	})
}

// UpdateForeignKey implements sql.ForeignKeyTable.
func (t *Table) UpdateForeignKey(ctx *sql.Context, name string, fk sql.ForeignKeyConstraint) error {
	set := func(d *catalog.Table) error {
		i := d.ForeignKey(name)
		if i < 0 {
			return sql.ErrForeignKeyNotFound.New(name, d.Name)
		}
		d.ForeignKeys[i] = catalog.NewForeignKey(&fk)
		return nil
	}
	tx, err := txOf(ctx)
	if err == nil && !tx.ddl && t.resolves(name, &fk) {
		// The engine checks a key that was declared with foreign_key_checks = 0 when a statement meets it first, and says so
		// here. That is no schema change of the user's: it must not commit his transaction, nor disturb it. It is noted once
		// the transaction is through, and before its client hears of that: his next statement would lose against it.
		tx.after = append(tx.after, func() {
			err := t.eng.publish(t.eng.bg, t.desc.ID, func(d *catalog.Table) error {
				i := d.ForeignKey(name)
				if i < 0 || d.ForeignKeys[i].Resolved {
					return errNothing
				}
				return set(d)
			})
			if err != nil && !errors.Is(err, errNothing) {
				t.eng.log.Debug("foreign key will be checked again", "table", t.desc.Name, "key", name, "err", err)
			}
		})
		return nil
	}
	return t.change(ctx, set)
}

// resolves reports whether the only change to the key is that it has been checked.
func (t *Table) resolves(name string, fk *sql.ForeignKeyConstraint) bool {
	i := t.desc.ForeignKey(name)
	if i < 0 || t.desc.ForeignKeys[i].Resolved || !fk.IsResolved {
		return false
	}
	old, now := t.desc.ForeignKeys[i], catalog.NewForeignKey(fk)
	return equalFold(old.Name, now.Name) && equalFold(old.ParentTable, now.ParentTable) && equalFold(old.ParentDatabase, now.ParentDatabase) &&
		slices.EqualFunc(old.Columns, now.Columns, equalFold) && slices.EqualFunc(old.ParentColumns, now.ParentColumns, equalFold)
}

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
			case c < 0 || p >= 0 && parent.Columns[p].Type.Refers(ref.Table.Columns[c].Type):
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

// keyed refuses a table as the parent of foreign keys that look rows up by columns that no key of it begins
// with: nobody would find the rows. As in MySQL it is asked with
// foreign_key_checks = 1 only.
func (e *Engine) keyed(ctx *sql.Context, parent *catalog.Table, waiting []catalog.Reference) error {
	for _, ref := range waiting {
		if _, ok := parent.KeyFor(ref.Key.ParentColumns, true); ok || ref.Table.ID == parent.ID {
			continue
		}
		key := "constraint"
		if e.maySee(ctx, ref.Database.Name, ref.Table.Name) {
			key = "constraint '" + ref.Key.Name + "'"
		}
		return sqlerr.New(sqlerr.ForeignKeyAdd, "Failed to add the foreign key constraint. Missing index for "+
			"%s in the referenced table '%s'", key, parent.Name)
	}
	return nil
}

// keyedNew is keyed for CREATE TABLE, which makes the keys when the table is there.
func (e *Engine) keyedNew(ctx *sql.Context, n *plan.CreateTable) error {
	if n.Temporary() || !foreignKeyChecks(ctx) {
		return nil
	}
	v, err := e.viewOf(ctx)
	if err != nil {
		return err
	}
	waiting := v.snap.References(n.Database().Name(), n.Name())
	if len(waiting) == 0 {
		return nil
	}
	if d, ok := v.snap.Database(n.Database().Name()); ok {
		if _, there := d.Table(n.Name()); there {
			return nil
		}
	}
	schema := n.PkSchema()
	d := &catalog.Table{Name: n.Name()}
	for i, c := range schema.Schema {
		d.Columns = append(d.Columns, catalog.Column{ID: uint32(i + 1), Name: c.Name})
	}
	for _, o := range schema.PkOrdinals {
		d.PrimaryKey = append(d.PrimaryKey, catalog.IndexColumn{Column: uint32(o + 1)})
	}
	for _, def := range n.Indexes() {
		x := catalog.Index{Name: def.Name, FullText: def.IsFullText()}
		for _, c := range def.Columns {
			at := d.Column(c.Name)
			if at < 0 {
				break // the library words it
			}
			x.Columns = append(x.Columns, catalog.IndexColumn{Column: d.Columns[at].ID,
				PrefixLength: uint32(c.Length)})
		}
		if def.IsPrimary() {
			d.PrimaryKey = x.Columns
			continue
		}
		d.Indexes = append(d.Indexes, x)
	}
	return e.keyed(ctx, d, waiting)
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
