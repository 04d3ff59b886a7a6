package tpce

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"

	"moka/tpce/gen"
	"moka/tpce/schema"
)

// family is what differs between the servers that the workload speaks to. The statements of the transactions
// are one text for all, in the subset that all read; a family only rewrites it. There are two: the MySQL wire
// (Moka, MariaDB, MySQL) and PostgreSQL.
type family interface {
	// connector speaks to the target's database, or, if that is not there yet, to the server.
	connector(withDatabase bool) (driver.Connector, error)
	createDatabase(ctx context.Context, server *sql.DB) error
	// dialect prints definitions; lateKeys says that foreign keys are declared after the rows are in.
	dialect() schema.Dialect
	lateKeys() bool
	// statement turns a text with ? for its arguments into the family's.
	statement(query string) string
	begin(level isolation) string
	// isolation says in a report what begin asks for.
	isolation() string
	// currentSchema is the SQL expression for information_schema's table_schema.
	currentSchema() string
	batches() batchFormat
	// indexProblems holds a table's indexes against its rows.
	indexProblems(ctx context.Context, db *sql.DB, t schema.Table) ([]string, error)
	// settle are statements after a load: statistics, where the engine does not see to them itself.
	settle() []string
}

// batchFormat carries many rows of one table in one message.
type batchFormat interface {
	prepare(ctx context.Context, conn *sql.Conn) error
	appendHead(b []byte, t schema.Table) []byte
	appendRow(b []byte, first bool, r gen.Row) []byte
	send(ctx context.Context, conn *sql.Conn, t schema.Table, batch []byte) error
}

// familyOf reads the target's URL.
func familyOf(target string) (family, error) {
	u, err := url.Parse(target)
	if err == nil && u.Host != "" && len(u.Path) > 1 {
		switch u.Scheme {
		case "mysql":
			return newMySQL(u), nil
		case "postgres", "postgresql":
			return newPostgres(target, u)
		}
	}
	return nil, fmt.Errorf("tpce: target %q: want mysql://user:password@host:port/database or "+
		"postgres://user:password@host:port/database", redact(target))
}

// redact keeps a password out of messages.
func redact(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return "(unreadable URL)"
	}
	return u.Redacted()
}

// pool is connections to one database, and the family it belongs to.
type pool struct {
	*sql.DB
	family
}

// open connects to the target's database; the pool grows to n connections.
func open(target string, n int) (*pool, error) {
	f, err := familyOf(target)
	if err != nil {
		return nil, err
	}
	c, err := f.connector(true)
	if err != nil {
		return nil, fmt.Errorf("tpce: target %s: %w", redact(target), err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return &pool{db, f}, nil
}

func (p *pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.DB.ExecContext(ctx, p.statement(query), args...)
}

func (p *pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.DB.QueryContext(ctx, p.statement(query), args...)
}

func (p *pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return p.DB.QueryRowContext(ctx, p.statement(query), args...)
}

// createDatabase makes the target's database if it is missing.
func createDatabase(ctx context.Context, target string) error {
	f, err := familyOf(target)
	if err != nil {
		return err
	}
	c, err := f.connector(false)
	if err != nil {
		return err
	}
	server := sql.OpenDB(c)
	defer server.Close()
	if err := f.createDatabase(ctx, server); err != nil {
		return fmt.Errorf("tpce: %s: is the server up, and may the user create databases? %w",
			redact(target), err)
	}
	return nil
}
