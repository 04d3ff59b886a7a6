package client

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"moka/tpce/gen"
	"moka/tpce/schema"
)

// postgresFamily is PostgreSQL.
type postgresFamily struct {
	config   *pgx.ConnConfig
	database string
}

func newPostgres(target string, u *url.URL) (postgresFamily, error) {
	c, err := pgx.ParseConfig(target)
	if err != nil {
		return postgresFamily{}, fmt.Errorf("tpce: target %s: %w", Redact(target), err)
	}
	return postgresFamily{c, u.Path[1:]}, nil
}

func (f postgresFamily) connector(withDatabase bool) (driver.Connector, error) {
	c := f.config.Copy()
	if !withDatabase {
		c.Database = "postgres"
	}
	return stdlib.GetConnector(*c), nil
}

// createDatabase takes the template without a locale of its own; the columns carry their collation.
func (f postgresFamily) createDatabase(ctx context.Context, server *sql.DB) error {
	var n int
	err := server.QueryRowContext(ctx, "SELECT COUNT(*) FROM pg_database WHERE datname = $1",
		f.database).Scan(&n)
	if err != nil || n > 0 {
		return err
	}
	_, err = server.ExecContext(ctx,
		"CREATE DATABASE "+pgx.Identifier{f.database}.Sanitize()+" TEMPLATE template0 ENCODING 'UTF8'")
	return err
}

func (f postgresFamily) Dialect() schema.Dialect { return schema.Postgres }
func (f postgresFamily) LateKeys() bool          { return true }
func (f postgresFamily) CurrentSchema() string   { return "current_schema()" }
func (f postgresFamily) Settle() []string        { return []string{"VACUUM ANALYZE"} }
func (f postgresFamily) Batches() BatchFormat    { return copyFormat{} }

// statement numbers the arguments, and weakens row locks to what an UPDATE itself takes: a foreign key's
// check of a parent may pass them.
func (f postgresFamily) statement(query string) string {
	query = strings.Replace(query, " FOR UPDATE", " FOR NO KEY UPDATE", 1)
	if !strings.Contains(query, "?") {
		return query
	}
	var b strings.Builder
	n, quoted := 0, false
	for i := range len(query) {
		switch c := query[i]; {
		case c == '?' && !quoted:
			n++
			fmt.Fprintf(&b, "$%d", n)
		default:
			quoted = quoted != (c == '\'')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// begin asks for REPEATABLE READ at level 3 too: PostgreSQL's is a snapshot in which the first committer
// wins. That shows none of the phenomena that the level names, phantoms included, and no two Trade-Results
// can skew each other, since each writes the (account, symbol) row that it has read. SERIALIZABLE would be
// right as well, but aborts Trade-Results that only met on an index page: several times as many as there
// are, on a small database.
func (f postgresFamily) begin(level Isolation) string {
	switch level {
	case ReadOnly:
		return "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
	case ReadCommitted:
		return "BEGIN ISOLATION LEVEL READ COMMITTED"
	default:
		return "BEGIN ISOLATION LEVEL REPEATABLE READ"
	}
}

func (f postgresFamily) Isolation() string {
	return "Trade-Result, Trade-Order, Trade-Update and Market-Feed REPEATABLE READ; all others READ " +
		"COMMITTED"
}

// IndexProblems asks the extension amcheck, which comes with PostgreSQL's server and needs a
// superuser to be created.
func (f postgresFamily) IndexProblems(ctx context.Context, db *sql.DB, t schema.Table) ([]string, error) {
	if _, err := db.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS amcheck"); err != nil {
		return nil, fmt.Errorf("%w: amcheck is not to be had: %w", ErrNotAsked, err)
	}
	_, err := db.ExecContext(ctx, "SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = "+
		"to_regclass($1)", t.Name)
	if code := errorCode(err); code == "XX001" || code == "XX002" { // data or index corrupted
		return []string{err.Error()}, nil
	}
	return nil, err
}

// copyFormat is COPY in its text form: what PostgreSQL loads fastest.
type copyFormat struct{}

func (copyFormat) Prepare(context.Context, *sql.Conn) error   { return nil }
func (copyFormat) AppendHead(b []byte, _ schema.Table) []byte { return b }
func (copyFormat) AppendRow(b []byte, _ bool, r gen.Row) []byte {
	for i, v := range r {
		if i > 0 {
			b = append(b, '\t')
		}
		switch v := v.(type) {
		case nil:
			b = append(b, `\N`...)
		case string:
			b = appendCopyText(b, v)
		default:
			b = AppendPlain(b, v)
		}
	}
	return append(b, '\n')
}

func appendCopyText(b []byte, s string) []byte {
	for i := range len(s) {
		switch s[i] {
		case '\\':
			b = append(b, `\\`...)
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, s[i])
		}
	}
	return b
}

func (copyFormat) Send(ctx context.Context, conn *sql.Conn, t schema.Table, batch []byte) error {
	text := fmt.Sprintf("COPY %s (%s) FROM STDIN", t.Name, strings.Join(t.ColumnNames(), ", "))
	return conn.Raw(func(c any) error {
		_, err := c.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, bytes.NewReader(batch), text)
		return err
	})
}
