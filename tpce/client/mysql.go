package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/gen"
	"moka/tpce/schema"
)

// mysqlFamily is Moka, MariaDB and MySQL.
type mysqlFamily struct{ config *mysql.Config }

func newMySQL(u *url.URL) mysqlFamily {
	c := mysql.NewConfig()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = u.Host + ":3306"
	}
	c.DBName = u.Path[1:]
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.ParseTime = true
	c.Loc = time.UTC
	// An UPDATE that finds its row but does not change it must count: the transactions check
	// that they hit one row.
	c.ClientFoundRows = true
	c.Timeout = 10 * time.Second
	// every error is returned and counted; the driver's own lines would only garble the progress
	c.Logger = &mysql.NopLogger{}
	return mysqlFamily{c}
}

func (f mysqlFamily) connector(withDatabase bool) (driver.Connector, error) {
	c := f.config.Clone()
	if !withDatabase {
		c.DBName = ""
	}
	return mysql.NewConnector(c)
}

func (f mysqlFamily) createDatabase(ctx context.Context, server *sql.DB) error {
	_, err := server.ExecContext(ctx,
		"CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(f.config.DBName, "`", "``")+"`")
	return err
}

func (f mysqlFamily) Dialect() schema.Dialect       { return schema.MySQL }
func (f mysqlFamily) LateKeys() bool                { return false }
func (f mysqlFamily) statement(query string) string { return query }
func (f mysqlFamily) CurrentSchema() string         { return "DATABASE()" }
func (f mysqlFamily) Settle() []string              { return nil }
func (f mysqlFamily) Batches() BatchFormat          { return insertFormat{} }

// begin leaves the session's level, REPEATABLE READ: another one would cost a round trip for each
// transaction. It is what level 2 asks for and more than level 1 does; Trade-Result's row locks make
// it enough for level 3.
func (f mysqlFamily) begin(level Isolation) string {
	if level == ReadOnly {
		return "START TRANSACTION READ ONLY"
	}
	return "BEGIN"
}

func (f mysqlFamily) Isolation() string {
	return "REPEATABLE READ for all, Trade-Result with row locks"
}

// IndexProblems is CHECK TABLE; anything but its "OK" is a problem.
func (f mysqlFamily) IndexProblems(ctx context.Context, db *sql.DB, t schema.Table) ([]string, error) {
	rows, err := db.QueryContext(ctx, "CHECK TABLE "+t.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var problems []string
	for rows.Next() {
		var table, op, kind, text string
		if err := rows.Scan(&table, &op, &kind, &text); err != nil {
			return nil, err
		}
		if kind != "status" || text != "OK" {
			problems = append(problems, kind+" "+text)
		}
	}
	return problems, rows.Err()
}

// insertFormat is one INSERT of many rows. The text protocol carries it: a statement with thousands of
// placeholders costs more to bind than to parse, and a single round trip needs no preparing.
type insertFormat struct{}

// Prepare needs no undoing: the session goes with the load.
func (insertFormat) Prepare(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SET foreign_key_checks = 0")
	return err
}

func (insertFormat) AppendHead(b []byte, t schema.Table) []byte {
	return fmt.Appendf(b, "INSERT INTO %s (%s) VALUES ", t.Name, strings.Join(t.ColumnNames(), ", "))
}

func (insertFormat) AppendRow(b []byte, first bool, r gen.Row) []byte {
	if !first {
		b = append(b, ',')
	}
	b = append(b, '(')
	for i, v := range r {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendLiteral(b, v)
	}
	return append(b, ')')
}

func (insertFormat) Send(ctx context.Context, conn *sql.Conn, _ schema.Table, batch []byte) error {
	_, err := conn.ExecContext(ctx, string(batch))
	return err
}

// appendLiteral writes a generated value as SQL.
func appendLiteral(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "NULL"...)
	case time.Time, gen.Date:
		return append(AppendPlain(append(b, '\''), v), '\'')
	case string:
		b = append(b, '\'')
		for i := range len(v) {
			if v[i] == '\'' || v[i] == '\\' {
				b = append(b, '\\')
			}
			b = append(b, v[i])
		}
		return append(b, '\'')
	default:
		return AppendPlain(b, v)
	}
}

// AppendPlain writes a value that is neither NULL nor a string as every engine reads it.
func AppendPlain(b []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return fmt.Appendf(b, "%d", v)
	case gen.Cents:
		return append(b, v.String()...)
	case gen.TaxFraction:
		return append(b, v.String()...)
	case time.Time:
		return v.AppendFormat(b, "2006-01-02 15:04:05.000")
	case gen.Date:
		return v.AppendFormat(b, time.DateOnly)
	default:
		// a generator's mistake, found by any test that loads
		panic(fmt.Sprintf("tpce: no literal for %T", v))
	}
}
