package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
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
		keys[i] = constraint(now.db, now.desc.Name, &now.desc.ForeignKeys[i])
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
		keys = append(keys, constraint(r.Database.Name, r.Table.Name, &r.Key))
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
func (s *Session) ForeignKey(name, child string) string {
	for _, k := range s.foreign {
		if equalFold(k.Name, name) && equalFold(k.Table, child) {
			return quoteName(k.Database) + "." + quoteName(k.Table) + ", " + foreignText(k)
		}
	}
	return ""
}

// constraint is the engine's form of a foreign key. Slices are copied: the engine renames columns in place.
func constraint(db, table string, k *catalog.ForeignKey) sql.ForeignKeyConstraint {
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

func foreignKey(fk *sql.ForeignKeyConstraint) catalog.ForeignKey {
	action := func(a sql.ForeignKeyReferentialAction) string {
		if a == sql.ForeignKeyReferentialAction_DefaultAction {
			return ""
		}
		return string(a)
	}
	return catalog.ForeignKey{
		Name: fk.Name, ParentDatabase: fk.ParentDatabase, ParentTable: fk.ParentTable,
		Columns: slices.Clone(fk.Columns), ParentColumns: slices.Clone(fk.ParentColumns),
		OnUpdate: action(fk.OnUpdate), OnDelete: action(fk.OnDelete), Resolved: fk.IsResolved,
	}
}

func findForeignKey(d *catalog.Table, name string) int {
	return slices.IndexFunc(d.ForeignKeys, func(k catalog.ForeignKey) bool { return equalFold(k.Name, name) })
}

// AddForeignKey implements sql.ForeignKeyTable. The engine has checked the rows that exist. The parent gets a new version
// too: writers that do not know of the key must not delete its rows.
func (t *Table) AddForeignKey(ctx *sql.Context, fk sql.ForeignKeyConstraint) error {
	if err := t.freeForeignName(ctx, fk.Name); err != nil {
		return err
	}
	err := t.change(ctx, func(d *catalog.Table) error {
		if fk.Name == "" {
			fk.Name = freeName(strings.ToLower(d.Name)+"_ibfk_", func(n string) bool { return findForeignKey(d, n) >= 0 })
		}
		if findForeignKey(d, fk.Name) >= 0 {
			return sql.ErrForeignKeyDuplicateName.New(fk.Name)
		}
		d.ForeignKeys = append(d.ForeignKeys, foreignKey(&fk))
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
		if other.ID != t.desc.ID && findForeignKey(other, name) >= 0 {
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
		i := findForeignKey(d, name)
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
		i := findForeignKey(d, name)
		if i < 0 {
			return sql.ErrForeignKeyNotFound.New(name, d.Name)
		}
		d.ForeignKeys[i] = foreignKey(&fk)
		return nil
	}
	tx, err := txOf(ctx)
	if err == nil && !tx.ddl && t.resolves(name, &fk) {
		// The engine checks a key that was declared with foreign_key_checks = 0 when a statement meets it first, and says so
		// here. That is no schema change of the user's: it must not commit his transaction, nor disturb it. It is noted once
		// the transaction is through, and before its client hears of that: his next statement would lose against it.
		tx.after = append(tx.after, func() {
			err := t.eng.publish(t.eng.bg, t.desc.ID, func(d *catalog.Table) error {
				i := findForeignKey(d, name)
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
	i := findForeignKey(t.desc, name)
	if i < 0 || t.desc.ForeignKeys[i].Resolved || !fk.IsResolved {
		return false
	}
	old, now := t.desc.ForeignKeys[i], foreignKey(fk)
	return equalFold(old.Name, now.Name) && equalFold(old.ParentTable, now.ParentTable) && equalFold(old.ParentDatabase, now.ParentDatabase) &&
		slices.EqualFunc(old.Columns, now.Columns, equalFold) && slices.EqualFunc(old.ParentColumns, now.ParentColumns, equalFold)
}
