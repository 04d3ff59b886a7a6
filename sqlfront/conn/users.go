package conn

import (
	"context"
	"fmt"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/account"
)

// UserStore keeps accounts and privileges as one opaque value.
type UserStore interface {
	// LoadUsers returns the value, nil if none was ever saved.
	LoadUsers(ctx context.Context) ([]byte, error)
	// SaveUsers replaces it; when it returns, the value is durable.
	SaveUsers(ctx context.Context, data []byte) error
}

// openUsers loads the accounts and has changes saved. In a store that was never written root@localhost
// exists, without a password: the operating system's user who runs the server gets in over the loopback
// interface or the socket, nobody else. He may drop it or give it a password, so it is not brought back
// later.
func openUsers(ctx context.Context, e *sqle.Engine, accounts *account.Directory, store UserStore) error {
	db := e.Analyzer.Catalog.MySQLDb
	db.SetPersister(userPersister{store, accounts})
	var data []byte
	if store != nil {
		var err error
		if data, err = store.LoadUsers(ctx); err != nil {
			return fmt.Errorf("wire: cannot load the accounts: %w", err)
		}
	}
	if len(data) == 0 {
		db.AddRootAccount()
		ed := db.Editor()
		defer ed.Close()
		accounts.Adopt(ed)
		return nil
	}
	db.SetEnabled(true)
	if err := accounts.Replace(sql.NewContext(ctx), data); err != nil {
		return fmt.Errorf("wire: the stored accounts cannot be read: %w", err)
	}
	return nil
}

type userPersister struct {
	store    UserStore
	accounts *account.Directory
}

// Persist implements mysql_db.MySQLDbPersistence; it runs inside of CREATE USER, GRANT and their like,
// whose failure it is.
func (p userPersister) Persist(ctx *sql.Context, data []byte) error {
	data = append([]byte(nil), data...)
	if p.store != nil {
		if err := p.store.SaveUsers(ctx, data); err != nil {
			return err
		}
	}
	return p.accounts.Follow(ctx, data)
}

var _ mysql_db.MySQLDbPersistence = userPersister{}
