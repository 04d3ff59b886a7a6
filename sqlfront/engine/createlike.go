package engine

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

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
	desc := src.desc.Like(c.Table.Name)
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
	isView := sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not BASE TABLE", db, name)
	if !ok {
		if views, is := d.(sql.ViewDatabase); is {
			if _, view, err := views.GetViewDefinition(ctx, name); err != nil {
				return nil, err
			} else if view {
				return nil, isView
			}
		}
		return nil, sqlerr.UnknownTable(db, name)
	}
	// Nobody would keep the copy of an incremental view, and whoever may read the view could drop what keeps it.
	src := ownTable(found)
	if src == nil || src.desc.Maintained() {
		return nil, isView
	}
	return src.current(ctx)
}
