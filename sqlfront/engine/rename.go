package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// RenameTables is a RENAME TABLE, or an ALTER TABLE … RENAME, that names another database than the current
// one: the library takes the names alone, and renames what has them in the current database; or an ALTER
// TABLE … RENAME of a temporary table. It is nil for any other.
func (e *Engine) RenameTables(c context.Context, all []parse.Rename, alter bool) (ast.Statement, error) {
	ctx, ok := c.(*sql.Context)
	if !ok || ctx.Session == nil {
		return nil, nil
	}
	var named []parse.Rename
	moves := false
	for _, r := range all {
		from, err := currentDatabase(ctx, r.From)
		if err != nil {
			return nil, err
		}
		to, err := currentDatabase(ctx, r.To)
		if err != nil {
			return nil, err
		}
		named = append(named, parse.Rename{From: parse.Name{Database: from, Name: r.From.Name}, To: parse.Name{Database: to, Name: r.To.Name}})
		if alter && sessionOf(ctx).HasTemporary(from, r.From.Name) {
			auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE} // nobody else has it
			return routineDDL("ALTER TABLE", auth, func(ctx *sql.Context) error {
				return e.renameTemporary(ctx, named)
			}), nil
		}
		current := ctx.GetCurrentDatabase()
		moves = moves || !strings.EqualFold(from, current) || !strings.EqualFold(to, current)
	}
	if !moves {
		return nil, nil
	}
	auth := ast.AuthInformation{AuthType: ast.AuthType_IGNORE} // the rights on each table are asked for below
	return routineDDL("RENAME TABLE", auth, func(ctx *sql.Context) error { return e.renameTables(ctx, named) }), nil
}

// renameTemporary gives a temporary table another name, which a table that is stored may have. In a body, or
// a prepared statement, it may be gone by now.
func (e *Engine) renameTemporary(ctx *sql.Context, all []parse.Rename) error {
	s, r := sessionOf(ctx), all[0]
	t := s.temp.get(r.From.Database, r.From.Name, s.timeZone())
	if t == nil {
		return e.renameTables(ctx, all)
	}
	if !strings.EqualFold(r.From.Database, r.To.Database) &&
		!rights.OnTable(ctx, s.Accounts(), r.To.Database, "", sql.PrivilegeType_CreateTempTable) {
		return rights.DatabaseDenied(ctx, r.To.Database)
	}
	if other := s.temp.get(r.To.Database, r.To.Name, s.timeZone()); other != nil && other != t {
		return sql.ErrTableAlreadyExists.New(r.To.Name)
	}
	if d, err := e.provider.Database(ctx, r.To.Database); err != nil {
		return err
	} else if _, own := d.(*Database); !own {
		return rights.DatabaseDenied(ctx, r.To.Database)
	}
	desc := t.desc.Clone()
	desc.Name = r.To.Name
	if err := parse.CheckColumns(desc, nil); err != nil {
		return catalogError(err)
	}
	now, err := newTable(e, r.To.Database, desc, zoneOf(ctx))
	if err != nil {
		return catalogError(err)
	}
	now.temporary = true
	s.temp.remove(r.From.Database, r.From.Name)
	s.temp.put(now)
	return nil
}

func (e *Engine) renameTables(ctx *sql.Context, all []parse.Rename) error {
	for _, r := range all {
		if err := mayRename(ctx, r); err != nil {
			return err
		}
		for _, name := range []parse.Name{r.To, r.From} {
			d, err := e.provider.Database(ctx, name.Database)
			if err != nil {
				return err
			}
			own, ok := d.(*Database)
			if !ok {
				return sqlerr.New(sqlerr.DBAccessDenied, "Access denied to database '%s'", name.Database)
			}
			if own.temporary(ctx, name.Name) != nil {
				return sqlerr.Unsupported("moving tables from or onto the names of temporary tables")
			}
		}
	}
	return e.ddl(ctx, func(tx *Tx) error {
		for _, r := range all {
			snap, err := e.catalog.Snapshot(ctx, tx.store()) // with the renames before this one
			if err != nil {
				return err
			}
			if err := e.renamable(snap, r); err != nil {
				return err
			}
			if d, ok := snap.Database(r.From.Database); ok {
				if v, ok := d.View(r.From.Name); ok {
					if err := e.renameView(ctx, tx.store(), d.Name, v, r.To.Name); err != nil {
						return err
					}
					continue
				}
			}
			err = e.renameTable(ctx, tx.store(), r.From.Database, r.From.Name, r.To.Database, r.To.Name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// mayRename asks for the rights that MySQL asks for: to drop the old table, and to make and fill the new one.
func mayRename(ctx *sql.Context, r parse.Rename) error {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	for _, need := range []struct {
		table parse.Name
		what  string
		right sql.PrivilegeType
	}{
		{r.From, "ALTER", sql.PrivilegeType_Alter}, {r.From, "DROP", sql.PrivilegeType_Drop},
		{r.To, "CREATE", sql.PrivilegeType_Create}, {r.To, "INSERT", sql.PrivilegeType_Insert},
	} {
		if !rights.OnTable(ctx, s.Accounts(), need.table.Database, need.table.Name, need.right) {
			return rights.TableDenied(ctx, need.what, need.table.Name)
		}
	}
	for _, name := range []parse.Name{r.From, r.To} {
		if strings.EqualFold(name.Database, "mysql") {
			return rights.SystemTable(name.Name)
		}
	}
	return nil
}

// renamable refuses what cannot follow a table into another database: bodies name tables of their own.
func (e *Engine) renamable(snap *catalog.Snapshot, r parse.Rename) error {
	d, ok := snap.Database(r.From.Database)
	if !ok {
		return sqlerr.New(sqlerr.BadDatabase, "Unknown database '%s'", r.From.Database)
	}
	moves := !strings.EqualFold(r.From.Database, r.To.Database)
	if _, view := d.View(r.From.Name); view {
		if moves {
			return sqlerr.New(sqlerr.ViewChangesSchema, "Changing schema from '%s' to '%s' is not allowed.", r.From.Database, r.To.Database)
		}
		return nil
	}
	t, ok := d.Table(r.From.Name)
	if !ok || !moves {
		return nil // the catalog words it
	}
	if slices.ContainsFunc(d.Triggers(), func(x *catalog.Trigger) bool { return strings.EqualFold(e.triggerHead(x).Table, t.Name) }) {
		return sqlerr.New(sqlerr.TriggerInWrongSchema, "Trigger in wrong schema")
	}
	if len(snap.Observers(t.ID)) > 0 {
		return sqlerr.New(sqlerr.TriggerInWrongSchema, "Observer in wrong schema: drop the table's observers first, and create them again")
	}
	return nil
}

// renameView gives a view of a database another name. What the names in it mean is said when it is read.
func (e *Engine) renameView(ctx context.Context, st *txn.Txn, database string, v *catalog.View,
	name string) error {
	if err := e.catalog.DropView(ctx, st, database, v.Name); err != nil {
		return err
	}
	renamed := *v
	renamed.Name = name
	return e.catalog.CreateView(ctx, st, database, renamed)
}

// renameTable renames a table in the catalog, and with it its triggers, which name it in their texts: that is where a trigger's table is kept. What
// bodies say of the table stays as it was written, as in MySQL.
func (e *Engine) renameTable(ctx context.Context, st *txn.Txn, database, name, newDatabase, newName string) error {
	snap, err := e.catalog.Snapshot(ctx, st)
	if err != nil {
		return err
	}
	if d, ok := snap.Database(database); ok {
		stays := strings.EqualFold(database, newDatabase) && strings.EqualFold(name, newName)
		if t, ok := d.Table(name); ok && !stays {
			who, _ := ctx.(*sql.Context)
			waiting := snap.References(newDatabase, newName)
			if err := e.fits(who, t, waiting); err != nil {
				return err
			}
			if who != nil && foreignKeyChecks(who) {
				if err := e.keyed(who, t, waiting); err != nil {
					return err
				}
			}
		}
	}
	var texts []*catalog.Trigger
	if d, ok := snap.Database(database); ok && strings.EqualFold(database, newDatabase) {
		texts = d.Triggers()
	}
	if _, err := e.catalog.RenameTable(ctx, st, database, name, newDatabase, newName); err != nil {
		return err
	}
	for _, x := range texts {
		h := e.triggerHead(x)
		if h.Bad || !h.On(database, name) {
			continue
		}
		ansi := sql.NewSqlModeFromString(x.SQLMode).AnsiQuotes()
		renamed := *x
		renamed.CreateStatement = parse.RetargetTrigger(x.CreateStatement, newName, ansi)
		if now := e.parseTrigger(&renamed); now.Bad || now.Table != newName || now.Database != h.Database {
			return sqlerr.New(sqlerr.Unknown, "Trigger '%s' cannot be given its table's new name; drop it first, and create it again", x.Name)
		}
		if err := e.catalog.UpdateTrigger(ctx, st, database, renamed); err != nil {
			return err
		}
	}
	return nil
}
