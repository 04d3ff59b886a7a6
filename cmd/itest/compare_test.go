package itest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/mariadbtest"
)

// TestSameAnswers runs the scripts of testdata/compare on Moka and on MariaDB, in one session each, and compares what a client
// sees: rows as text, numbers of affected rows where MySQL's manual fixes them, numbers and states of errors. The texts of
// errors are not compared. A query without ORDER BY is compared as a set.
//
// In names.sql and using.sql the names of columns are compared, too.
//
// A statement behind a line "-- differs: reason" must have another answer on Moka: a note that is no longer true fails, too.
func TestSameAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/compare/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no scripts")
	}
	s := start(t, t.TempDir())
	moka := s.db("")
	maria, err := sql.Open("mysql", mariadbtest.Start(t).DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { maria.Close() })
	total, different := 0, 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a, b := session(t, moka), session(t, maria)
			for _, st := range script(t, string(text)) {
				named := filepath.Base(file) == "names.sql" || filepath.Base(file) == "using.sql"
				got, want := answer(t, a, st.text, named), answer(t, b, st.text, named)
				total++
				switch same := got == want; {
				case st.differs == "" && !same:
					t.Errorf("line %d: %s\nMoka:\n%s\nMariaDB:\n%s", st.line, st.text, got, want)
				case st.differs != "" && same:
					t.Errorf("line %d: %s\nthe answers are the same now, remove the note (%s):\n%s", st.line, st.text, st.differs, got)
				case st.differs != "":
					different++
				}
			}
		})
	}
	t.Logf("%d statements, %d of them with another answer on purpose", total, different)
}

type scripted struct {
	text, differs string
	line          int
}

// script splits a file at lines that end with a semicolon.
func script(t *testing.T, text string) (all []scripted) {
	t.Helper()
	var cur scripted
	for i, l := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(l, "-- differs: "):
			cur.differs = strings.TrimPrefix(l, "-- differs: ")
			continue
		case strings.HasPrefix(l, "--") || cur.text == "" && strings.TrimSpace(l) == "":
			continue
		}
		if cur.text == "" {
			cur.line = i + 1
		}
		cur.text += l + "\n"
		if strings.HasSuffix(l, ";") {
			cur.text = strings.TrimSuffix(strings.TrimSpace(cur.text), ";")
			all = append(all, cur)
			cur = scripted{}
		}
	}
	if cur.text != "" {
		t.Fatalf("the last statement has no end: %s", cur.text)
	}
	return all
}

func session(t *testing.T, db *sql.DB) *sql.Conn {
	t.Helper()
	ctx := context.Background()
	c, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	for _, q := range []string{
		"DROP DATABASE IF EXISTS cmp", "CREATE DATABASE cmp CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "USE cmp",
		"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SET time_zone = '+00:00'",
		"SET sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'",
	} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	return c
}

// answer runs a statement and writes down what came back, with the names of columns if it is to be named.
func answer(t *testing.T, c *sql.Conn, q string, named bool) string {
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
		fmt.Fprintf(&b, "%d rows affected\n", n)
		return b.String()
	}
	rows, err := c.QueryContext(context.Background(), q)
	if err != nil {
		return failure(t, q, err)
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() { // a CALL has several
		cols, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		lines := printed(t, rows, cols)
		if named {
			b.WriteString(strings.Join(cols, "\t") + "\n")
		}
		if err := rows.Err(); err != nil { // what came before it of the same result is not compared
			return b.String() + failure(t, q, err)
		}
		if !strings.Contains(strings.ToLower(q), "order by") {
			slices.Sort(lines)
		}
		b.WriteString(strings.Join(lines, "\n") + "\n")
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
			if line[i] = v.String; !v.Valid {
				line[i] = "NULL"
			}
		}
		lines = append(lines, strings.Join(line, "\t"))
	}
	return lines
}
