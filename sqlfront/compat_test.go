package sqlfront_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestLimitOfNothing binds what is no number of rows to LIMIT, in the binary protocol. It used to end the
// connection.
func TestLimitOfNothing(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	ctx := context.Background()
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)")
	for _, q := range []struct {
		query string
		args  []any
		want  string
		code  uint16
	}{
		{"SELECT id FROM t ORDER BY id LIMIT ?", []any{nil}, "", 0},
		{"SELECT id FROM t ORDER BY id LIMIT ?", []any{2}, "1; 2", 0},
		{"SELECT id FROM t ORDER BY id LIMIT ?", []any{uint64(1<<64 - 1)}, "1; 2; 3", 0},
		{"SELECT id FROM t ORDER BY id LIMIT ?", []any{-1}, "", 1210},
		{"SELECT id FROM t ORDER BY v LIMIT ? OFFSET ?", []any{2, nil}, "1; 2", 0},
		{"SELECT id FROM t ORDER BY v LIMIT ? OFFSET ?", []any{2, -5}, "", 1210},
		{"SELECT id FROM t UNION SELECT 4 ORDER BY id LIMIT ?", []any{nil}, "", 0},
		{"SELECT id FROM (SELECT id FROM t LIMIT ?) x", []any{nil}, "", 0},
		{"WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9 LIMIT ?) SELECT COUNT(*) FROM r", []any{nil}, "0", 0},
	} {
		var my *mysql.MySQLError
		rows, err := c.QueryContext(ctx, q.query, q.args...)
		if q.code != 0 {
			if !errors.As(err, &my) || my.Number != q.code {
				t.Errorf("%s %v: %v, want %d", q.query, q.args, err, q.code)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %v: %v", q.query, q.args, err)
			continue
		}
		rows.Close()
		if got := text(t, c, q.query, q.args...); got != q.want {
			t.Errorf("%s %v: %q, want %q", q.query, q.args, got, q.want)
		}
	}
	for _, q := range []string{"DELETE FROM t ORDER BY id LIMIT ?", "UPDATE t SET v = 0 ORDER BY id LIMIT ?"} {
		if _, err := c.ExecContext(ctx, q, nil); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if got := text(t, c, "SELECT SUM(v) FROM t"); got != "60" {
		t.Errorf("something was changed: %s", got)
	}
	if n := s.Metrics().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}

// TestExactSumsHaveTypes looks at the head of results: a driver makes a decimal of DECIMAL, and a rounded
// double of DOUBLE.
func TestExactSumsHaveTypes(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, b BIGINT, u BIGINT UNSIGNED, d DECIMAL(10,2), f DOUBLE)",
		"INSERT INTO t VALUES (1, 9223372036854775807, 18446744073709551615, 1.50, 0.5), (2, 1, 5, 2, 1)")
	for _, q := range []struct{ query, typ, value string }{
		{"SELECT SUM(id) FROM t", "DECIMAL(32,0)", "3"},
		{"SELECT SUM(b) FROM t", "DECIMAL(41,0)", "9223372036854775808"},
		{"SELECT SUM(d) FROM t", "DECIMAL(32,2)", "3.50"},
		{"SELECT AVG(d) FROM t", "DECIMAL(14,6)", "1.750000"},
		{"SELECT AVG(id) FROM t", "DECIMAL(14,4)", "1.5000"},
		{"SELECT SUM(f) FROM t", "DOUBLE", "1.5"},
		{"SELECT u + 0 FROM t WHERE id = 1", "UNSIGNED BIGINT", "18446744073709551615"},
		{"SELECT SUM(id) FROM t WHERE id BETWEEN 1 AND 2", "DECIMAL(32,0)", "3"},
	} {
		for range 3 { // the plan cache answers from the second time on, for some of them
			rows, err := c.QueryContext(context.Background(), q.query)
			if err != nil {
				t.Fatal(q.query, err)
			}
			types, err := rows.ColumnTypes()
			if err != nil {
				t.Fatal(err)
			}
			typ := types[0].DatabaseTypeName()
			if p, s, ok := types[0].DecimalSize(); ok && typ == "DECIMAL" {
				typ = fmt.Sprintf("DECIMAL(%d,%d)", p, s)
			}
			var v string
			for rows.Next() {
				if err := rows.Scan(&v); err != nil {
					t.Fatal(err)
				}
			}
			if rows.Close(); typ != q.typ || v != q.value {
				t.Errorf("%s is %s %s, want %s %s", q.query, typ, v, q.typ, q.value)
			}
		}
	}
}

// TestRefusedByName is the answer to what MySQL knows and Moka does not: that, and not a syntax error; and an
// answer of our own to what the library takes and does not do.
func TestRefusedByName(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "CREATE TABLE c (a INT, CHECK (a > 0))")
	for query, want := range map[string]struct {
		code uint16
		text string
	}{
		"XA START 'x'":                {1235, "XA"},
		"HANDLER t OPEN":              {1235, "HANDLER"},
		"CALL p() AS OF NOW()":        {1235, "AS OF"},
		"SELECT 1 FROM d":             {1146, ""},
		"GET DIAGNOSTICS @a = NUMBER": {1235, "GET DIAGNOSTICS"},
		"SELEC 1":                     {1064, "SELEC 1"},
		"CREATE TABLE p (a INT PRIMARY KEY, b INT PRIMARY KEY)":     {1068, ""},
		"CREATE TABLE p (a INT PRIMARY KEY, b INT, PRIMARY KEY(b))": {1068, ""},
		"KILL 4000000000":       {1094, "4000000000"},
		"KILL QUERY 4000000000": {1094, "4000000000"},
	} {
		_, err := c.ExecContext(context.Background(), query)
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != want.code || !strings.Contains(my.Message, want.text) {
			t.Errorf("%s: %v, want %d with %q", query, err, want.code, want.text)
		}
	}
	run(t, c, "ALTER TABLE c ADD COLUMN b INT AS (a + 1)", "OPTIMIZE TABLE t", "OPTIMIZE LOCAL TABLE t, c", "INSERT INTO c (a) VALUES (1)")
	if _, err := c.ExecContext(context.Background(), "INSERT INTO c (a) VALUES (0)"); !strings.Contains(fmt.Sprint(err), "3819") {
		t.Errorf("a violated check: %v", err)
	}
}

// TestFractionsOfSeconds reads what has them in both protocols, the second time by the plan cache.
func TestFractionsOfSeconds(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a DATETIME(6), b DATETIME(3), c DATETIME, d TIMESTAMP(6) NULL, e TIMESTAMP(3) NULL, f TIMESTAMP NULL)",
		"INSERT INTO t SELECT 1, x, x, x, x, x, x FROM (SELECT CAST('2024-02-29 10:11:12.345678' AS DATETIME(6)) AS x) q")
	const want = "1 2024-02-29 10:11:12.345678 2024-02-29 10:11:12.346 2024-02-29 10:11:12 2024-02-29 10:11:12.345678 2024-02-29 10:11:12.346 2024-02-29 10:11:12"
	for range 3 {
		if got := text(t, c, "SELECT * FROM t WHERE id = 1"); got != want {
			t.Errorf("text: %s", got)
		}
		if got := text(t, c, "SELECT * FROM t WHERE id = ?", 1); got != want {
			t.Errorf("binary: %s", got)
		}
		if got := text(t, c, "SELECT * FROM t WHERE a > ?", "2024-02-29 10:11:12.345677"); got != want {
			t.Errorf("by a parameter: %s", got)
		}
	}
}
