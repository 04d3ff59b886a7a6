package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// CreateLike is CREATE TABLE t LIKE s: the descriptor of s with nothing in it. The library makes the table out of what it knows of s, which
// leaves out how much of a column is in a key, DESC, and what a key over an expression is made of.
func (e *Engine) CreateLike(_ context.Context, c parse.CreateLike) (ast.Statement, error) {
	create := func(ctx *sql.Context) error { return e.createLike(ctx, c) }
	if !c.Temporary {
		return routineDDL("CREATE TABLE", c.Auth, create), nil
	}
	// Nothing of the catalog's: a transaction that is open goes on.
	return ast.InjectedStatement{Auth: c.Auth, Statement: &ddlStatement{system.NewReport("CREATE TABLE", nil, func(ctx *sql.Context) ([]sql.Row, error) {
		return nil, create(ctx)
	}), c.Temporary}}, nil
}

func (e *Engine) createLike(ctx *sql.Context, c parse.CreateLike) error {
	db, err := currentDatabase(ctx, c.Table)
	if err != nil {
		return err
	}
	from, err := currentDatabase(ctx, c.Source)
	if err != nil {
		return err
	}
	src, err := e.likeSource(ctx, from, c.Source.Name)
	if err != nil {
		return err
	}
	desc := src.desc.Clone()
	likeNew(desc, c.Table.Name)
	d, err := e.provider.Database(ctx, db)
	if err != nil {
		return err
	}
	to, ok := d.(*Database)
	if !ok {
		return sqlerr.New(sqlerr.DBAccessDenied, "Access denied to database '%s'", db)
	}
	if c.Temporary {
		err = to.putTemporary(ctx, desc)
	} else {
		err = e.ddl(ctx, func(tx *Tx) error {
			snap, err := e.catalog.Snapshot(ctx, tx.store())
			if err != nil {
				return err
			}
			if foreignKeyChecks(ctx) {
				if err := e.keyed(ctx, desc, snap.References(to.name, desc.Name)); err != nil {
					return err
				}
			}
			return e.addTable(ctx, tx.store(), to.name, desc)
		})
	}
	if c.IfNotExists && sql.ErrTableAlreadyExists.Is(err) {
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: sqlerr.TableExists, Message: fmt.Sprintf("Table '%s' already exists", c.Table.Name)})
		return nil
	}
	return err
}

// likeSource finds the table that another one is to be like.
func (e *Engine) likeSource(ctx *sql.Context, db, name string) (*Table, error) {
	if s := sessionOf(ctx); s != nil && !s.HasTemporary(db, name) &&
		!rights.OnTable(ctx, s.Accounts(), db, name, sql.PrivilegeType_Select) { // whether there is one or not
		return nil, rights.TableDenied(ctx, "SELECT", name)
	}
	d, err := e.provider.Database(ctx, db)
	if err != nil {
		return nil, err
	}
	found, ok, err := d.GetTableInsensitive(ctx, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		if views, is := d.(sql.ViewDatabase); is {
			if _, view, err := views.GetViewDefinition(ctx, name); err != nil {
				return nil, err
			} else if view {
				return nil, sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not BASE TABLE", db, name)
			}
		}
		return nil, sqlerr.UnknownTable(db, name)
	}
	src := ownTable(found)
	if src == nil {
		return nil, sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not BASE TABLE", db, name)
	}
	return src.current(ctx)
}

// likeNew makes a descriptor that of a table without rows, which is not related to any other.
func likeNew(d *catalog.Table, name string) {
	d.ID, d.DatabaseID, d.Version, d.Name, d.Copy = 0, 0, 0, name, nil
	d.ForeignKeys, d.AutoIncrement, d.RowIDs = nil, catalog.Sequence{}, catalog.Sequence{}
	d.Created = time.Time{}
	for i := range d.Columns {
		d.Columns[i].Fill = nil
	}
	d.Indexes = slices.DeleteFunc(d.Indexes, func(x catalog.Index) bool { return x.State != catalog.StatePublic })
	for i := range d.Indexes {
		d.Indexes[i].Implicit = false
	}
	for i := range d.Checks { // their names are one name space with those of other tables, to MySQL
		d.Checks[i].Name = fmt.Sprintf("%s_chk_%d", name, i+1)
	}
}
