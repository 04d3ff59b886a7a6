package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
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
	Dialect() schema.Dialect
	LateKeys() bool
	// statement turns a text with ? for its arguments into the family's.
	statement(query string) string
	begin(level Isolation) string
	// isolation says in a report what begin asks for.
	Isolation() string
	// currentSchema is the SQL expression for information_schema's table_schema.
	CurrentSchema() string
	Batches() BatchFormat
	// indexProblems holds a table's indexes against its rows.
	IndexProblems(ctx context.Context, db *sql.DB, t schema.Table) ([]string, error)
	// settle are statements after a load: statistics, where the engine does not see to them itself.
	Settle() []string
}

// Isolation is what a transaction asks of the engine; the zero value asks for the most.
type Isolation int

const (
	Serializable   Isolation = iota // the specification's level 3
	RepeatableRead                  // level 2
	ReadCommitted                   // level 1, for transactions that write
	ReadOnly                        // level 1, for those that do not
)

// ErrNotAsked wraps the reason why a condition cannot be asked.
var ErrNotAsked = errors.New("not asked")

// BatchFormat carries many rows of one table in one message.
type BatchFormat interface {
	Prepare(ctx context.Context, conn *sql.Conn) error
	AppendHead(b []byte, t schema.Table) []byte
	AppendRow(b []byte, first bool, r gen.Row) []byte
	Send(ctx context.Context, conn *sql.Conn, t schema.Table, batch []byte) error
}

// FamilyOf reads the target's URL.
func FamilyOf(target string) (family, error) {
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
		"postgres://user:password@host:port/database", Redact(target))
}

// Redact keeps a password out of messages.
func Redact(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return "(unreadable URL)"
	}
	return u.Redacted()
}

// Pool is connections to one database, and the family it belongs to.
type Pool struct {
	*sql.DB
	family
}

// Open connects to the target's database; the pool grows to n connections.
func Open(target string, n int) (*Pool, error) {
	f, err := FamilyOf(target)
	if err != nil {
		return nil, err
	}
	c, err := f.connector(true)
	if err != nil {
		return nil, fmt.Errorf("tpce: target %s: %w", Redact(target), err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return &Pool{db, f}, nil
}

func (p *Pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.DB.ExecContext(ctx, p.statement(query), args...)
}

func (p *Pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.DB.QueryContext(ctx, p.statement(query), args...)
}

func (p *Pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return p.DB.QueryRowContext(ctx, p.statement(query), args...)
}

// CreateDatabase makes the target's database if it is missing.
func CreateDatabase(ctx context.Context, target string) error {
	f, err := FamilyOf(target)
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
			Redact(target), err)
	}
	return nil
}
