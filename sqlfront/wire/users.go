package wire

import (
	"context"
	"fmt"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// UserStore keeps accounts and privileges as one opaque value.
type UserStore interface {
	// LoadUsers returns the value, nil if none was ever saved.
	LoadUsers(ctx context.Context) ([]byte, error)
	// SaveUsers replaces it; when it returns, the value is durable.
	SaveUsers(ctx context.Context, data []byte) error
}

// openUsers loads the accounts and has changes saved. In a store that was never written root@localhost exists, without a
// password: whoever can reach the loopback interface of a new server owns it, nobody else gets in. Its owner may drop it or
// give it a password, so it is not brought back later.
func openUsers(ctx context.Context, e *sqle.Engine, store UserStore) error {
	db := e.Analyzer.Catalog.MySQLDb
	db.SetPersister(userPersister{store})
	var data []byte
	if store != nil {
		var err error
		if data, err = store.LoadUsers(ctx); err != nil {
			return fmt.Errorf("wire: cannot load the accounts: %w", err)
		}
	}
	if len(data) == 0 {
		db.AddRootAccount()
		return nil
	}
	db.SetEnabled(true)
	ed := db.Editor()
	defer ed.Close()
	if err := db.OverwriteUsersAndGrantData(sql.NewContext(ctx), ed, data); err != nil {
		return fmt.Errorf("wire: the stored accounts cannot be read: %w", err)
	}
	return nil
}

type userPersister struct{ store UserStore }

// Persist implements mysql_db.MySQLDbPersistence; it runs inside of CREATE USER, GRANT and their like, whose failure it is.
func (p userPersister) Persist(ctx *sql.Context, data []byte) error {
	if p.store == nil {
		return nil
	}
	return p.store.SaveUsers(ctx, append([]byte(nil), data...))
}

var _ mysql_db.MySQLDbPersistence = userPersister{}

// ReloadUsers replaces the accounts in memory by those of another server's SaveUsers.
func ReloadUsers(ctx context.Context, e *sqle.Engine, data []byte) error {
	db := e.Analyzer.Catalog.MySQLDb
	ed := db.Editor()
	defer ed.Close()
	return db.OverwriteUsersAndGrantData(sql.NewContext(ctx), ed, data)
}
