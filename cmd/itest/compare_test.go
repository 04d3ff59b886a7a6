package itest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/servertest"
)

var record = flag.Bool("record", false,
	"TestSameAnswers asks a MariaDB, and writes its answers into the scripts")

// TestSameAnswers runs the scripts of testdata/compare, each in a session of its own, and compares what a
// client sees with the answers that MariaDB gave and the scripts keep: rows as text, numbers of affected rows
// where MySQL's manual fixes them, numbers and states of errors. The texts of errors are not compared. A
// query without ORDER BY is compared as a set.
//
//	go test ./cmd/itest -run TestSameAnswers -record
//
// asks a MariaDB and writes the answers anew. Where Moka's is another one on purpose, a line "-- differs:
// reason" in front of the statement says why, and both are kept; a note that is no longer true fails.
func TestSameAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/compare/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no scripts")
	}
	moka := start(t, t.TempDir()).db("")
	moka.SetMaxIdleConns(0) // each session is a new one
	var maria *sql.DB
	if *record {
		if maria, err = sql.Open("mysql", servertest.StartMariaDB(t).DSN("")); err != nil {
			t.Fatal(err)
		}
		maria.SetMaxIdleConns(0)
		t.Cleanup(func() { maria.Close() })
	}
	total, different := 0, 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			s := readScript(t, file)
			if *record {
				recordAnswers(t, s, moka, maria)
			}
			compareAnswers(t, s, session(t, moka), false)
			if s.insertIDs || s.prepared {
				compareAnswers(t, s, session(t, moka), true)
			}
			total += len(s.statements)
			for _, st := range s.statements {
				if st.differs != "" {
					different++
				}
			}
		})
	}
	t.Logf("%d statements, %d of them with another answer on purpose", total, different)
}

// recordAnswers runs a script on MariaDB, and on Moka for what differs on purpose, and writes the
// file with what came back.
func recordAnswers(t *testing.T, s *script, moka, maria *sql.DB) {
	t.Helper()
	theirs, ours := session(t, maria), session(t, moka)
	for i := range s.statements {
		st := &s.statements[i]
		st.mariadb = s.answer(t, theirs, st.text, false)
		if got := s.answer(t, ours, st.text, false); st.differs != "" {
			st.moka = got
		} else {
			st.moka = st.mariadb
		}
	}
	if err := os.WriteFile(s.path, []byte(s.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compareAnswers(t *testing.T, s *script, c *sql.Conn, prepared bool) {
	t.Helper()
	for _, st := range s.statements {
		got := s.answer(t, c, st.text, prepared)
		if noted, differ := st.differs != "", !slices.Equal(st.moka, st.mariadb); noted != differ {
			t.Errorf("%s:%d: %s\nthe kept answers differ: %v, which a note says: %v", s.path, st.line,
				st.text, differ, noted)
		}
		if !slices.Equal(got, st.moka) {
			t.Errorf("%s:%d: %s (prepared: %v)\nthe answer is\n%s\nkept is\n%s\n-record keeps what MariaDB "+
				"answers",
				s.path, st.line, st.text, prepared, strings.Join(got, "\n"), strings.Join(st.moka, "\n"))
		}
	}
}

// session is a connection with a database of its own.
func session(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, q := range []string{
		"DROP DATABASE IF EXISTS cmp", "CREATE DATABASE cmp CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
		"USE cmp",
		"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SET time_zone = '+00:00'",
		"SET sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'",
	} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return c
}

// answer runs a statement of a script and writes down what the script is about.
func (s *script) answer(t *testing.T, c *sql.Conn, q string, prepared bool) []string {
	t.Helper()
	word := strings.ToLower(strings.Fields(q)[0])
	if s.insertIDs && slices.Contains([]string{"insert", "update", "delete", "replace", "call", "do"}, word) {
		return insertIDs(t, c, q, prepared)
	}
	return lines(answer(t, c, q, s.columns, prepared && s.prepared))
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// answer runs a statement and writes down what came back, with the names of columns if it is to be named.
// Queries are prepared if it says so, which is the protocol's other way to write values.
func answer(t *testing.T, c *sql.Conn, q string, named, prepared bool) string {
	t.Helper()
	var b strings.Builder
	word := strings.ToLower(strings.Fields(q)[0])
	switch word {
	case "insert", "update", "delete", "replace":
		r, err := c.ExecContext(context.Background(), q)
		if err != nil {
			return failure(t, q, err)
		}
		n, _ := r.RowsAffected()
		return fmt.Sprintf("rows affected: %d\n", n)
	}
	query := c.QueryContext
	if prepared && (word == "select" || word == "with") {
		stmt, err := c.PrepareContext(context.Background(), q)
		if err != nil {
			return failure(t, q, err)
		}
		defer stmt.Close()
		query = func(ctx context.Context, _ string, args ...any) (*sql.Rows, error) {
			return stmt.QueryContext(ctx, args...)
		}
	}
	rows, err := query(context.Background(), q)
	if err != nil {
		return failure(t, q, err)
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() { // a CALL has several
		cols, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		if b.Len() > 0 {
			b.WriteString("(the next result)\n")
		}
		result := printed(t, rows, cols)
		if named && len(cols) > 0 {
			b.WriteString("# " + strings.Join(cols, "\t") + "\n")
		}
		if err := rows.Err(); err != nil { // what came before it of the same result is not compared
			return b.String() + failure(t, q, err)
		}
		if !strings.Contains(strings.ToLower(q), "order by") {
			slices.Sort(result)
		}
		switch {
		case len(cols) == 0:
			result = []string{success}
		case len(result) == 0:
			result = []string{"(no rows)"}
		}
		for _, l := range result {
			b.WriteString(l + "\n")
		}
	}
	if err := rows.Err(); err != nil {
		return b.String() + failure(t, q, err)
	}
	return b.String()
}

func failure(t *testing.T, q string, err error) string {
	t.Helper()
	var my *mysql.MySQLError
	if !errors.As(err, &my) {
		t.Fatalf("%s: %v", q, err)
	}
	return fmt.Sprintf("ERROR %d (%s)\n", my.Number, my.SQLState)
}

// printed writes the rest of a result as text, one row a line.
func printed(t *testing.T, rows *sql.Rows, cols []string) (lines []string) {
	t.Helper()
	for rows.Next() {
		vals, ptrs := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(cols))
		for i, v := range vals {
			if line[i] = plain(v.String); !v.Valid {
				line[i] = "NULL"
			}
		}
		lines = append(lines, strings.Join(line, "\t"))
	}
	return lines
}

// plain is a value as it stands in a line: in quotes where it would be taken for something else, or not be
// seen.
func plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if s == "" || s == "NULL" || s[0] == '"' || s[0] == ' ' || s[len(s)-1] == ' ' || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// insertIDs runs a write and writes down the insert id of its answer, and LAST_INSERT_ID() after it.
func insertIDs(t *testing.T, c *sql.Conn, q string, prepared bool) []string {
	t.Helper()
	ctx := context.Background()
	run := func() (sql.Result, error) { return c.ExecContext(ctx, q) }
	if prepared {
		st, err := c.PrepareContext(ctx, q)
		if err != nil {
			return lines(failure(t, q, err))
		}
		defer st.Close()
		run = func() (sql.Result, error) { return st.ExecContext(ctx) }
	}
	res, err := run()
	if err != nil {
		return lines(failure(t, q, err))
	}
	id, err := res.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return []string{fmt.Sprintf("insert id %d, LAST_INSERT_ID() %s", uint64(id),
		strings.TrimSpace(answer(t, c, "SELECT LAST_INSERT_ID()", false, false)))}
}
