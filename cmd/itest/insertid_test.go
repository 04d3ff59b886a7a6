package itest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
)

// TestInsertIDs compares the insert id of answers, and LAST_INSERT_ID() after them, with MariaDB. Numbers leave gaps where each likes; the statements
// here leave none, but where the next one says how it goes on.
func TestInsertIDs(t *testing.T) {
	runScripts(t, 1, func(t *testing.T, _ uint64, dbs [2]*sql.DB) (int, bool) {
		conns, done := freshConns(t, dbs)
		defer done()
		ctx := context.Background()
		for _, q := range []string{
			"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b INT)",
			"CREATE TABLE trail (n BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, id INT)",
			"CREATE TABLE fired (id INT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b INT)",
			"CREATE TRIGGER before_fired BEFORE INSERT ON fired FOR EACH ROW INSERT INTO trail (id) VALUES (NEW.a)",
			"CREATE TRIGGER after_fired AFTER INSERT ON fired FOR EACH ROW INSERT INTO trail VALUES (1000 + 2 * NEW.a, NEW.id)",
			"CREATE PROCEDURE p(x INT) INSERT INTO t (a) VALUES (x)",
			"CREATE FUNCTION f(x INT) RETURNS INT BEGIN INSERT INTO trail (id) VALUES (x); RETURN x; END",
			"CREATE TABLE seq (n INT)", "INSERT INTO seq VALUES (7)",
		} {
			for _, c := range conns {
				if _, err := c.ExecContext(ctx, q); err != nil {
					t.Fatalf("%s: %v", q, err)
				}
			}
		}
		statements := []string{
			"INSERT INTO t (a) VALUES (1), (2), (3)",
			"INSERT INTO t (a, id) VALUES (9, 3), (9, 2), (4, DEFAULT) ON DUPLICATE KEY UPDATE id = id", // as object mappers save what refers to each other
			"INSERT INTO t (a, id) VALUES (9, 3), (9, 2) ON DUPLICATE KEY UPDATE id = id",
			"INSERT INTO t (a, id) VALUES (9, 3), (9, 2) ON DUPLICATE KEY UPDATE b = 7",
			"INSERT INTO t (a, id) VALUES (20, 20)",
			"INSERT INTO t (a, id) VALUES (30, 30), (31, 31)",
			"INSERT INTO t (a, id) VALUES (40, 40), (41, DEFAULT)",
			"INSERT INTO t (id, a) VALUES (50, 50)",
			"INSERT INTO t (a, b) VALUES (42, LAST_INSERT_ID()), (43, LAST_INSERT_ID())",
			"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 8",
			"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)",
			"INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), b = 9",
			"INSERT IGNORE INTO t (a) VALUES (1)",
			"INSERT INTO t (id, a) VALUES (60, 60)",
			"REPLACE INTO t (a) VALUES (60)",
			"REPLACE INTO t (id, a) VALUES (3, 99)",
			"INSERT INTO t (id, a) SELECT id + 100, a + 100 FROM t WHERE id IN (2, 3) ORDER BY id",
			"UPDATE t SET b = 1 WHERE id = 2",
			"UPDATE seq SET n = LAST_INSERT_ID(n + 1)",
			"UPDATE seq SET n = LAST_INSERT_ID(n)",
			"DELETE FROM t WHERE id = 2",
			"INSERT INTO t SET id = 1000, a = 1000 ON DUPLICATE KEY UPDATE b = 1",
			"INSERT INTO t SET a = 1001",
			"CALL p(1002)",
			"INSERT INTO fired (a) VALUES (1)",
			"INSERT INTO fired (a) VALUES (2), (3)",
			"INSERT INTO fired (id, a) VALUES (10, 10)",
			"INSERT INTO fired (id, a) VALUES (10, 10) ON DUPLICATE KEY UPDATE b = 5",
			"INSERT INTO t (a, b) VALUES (1003, f(5))",
			"DO f(6)",
			"SELECT LAST_INSERT_ID(77)",
		}
		ok := true
		for _, prepared := range []bool{false, true} {
			for _, q := range statements {
				var got [2]string
				for i, c := range conns {
					var id uint64
					if prepared {
						st, err := c.PrepareContext(ctx, q)
						if err != nil {
							t.Fatalf("%s: %v", q, err)
						}
						id = insertID(t, q, func() (sql.Result, error) { return st.Exec() })
						st.Close()
					} else {
						id = insertID(t, q, func() (sql.Result, error) { return c.ExecContext(ctx, q) })
					}
					got[i] = fmt.Sprintf("insert id %d, LAST_INSERT_ID() %s", id, reply(t, c, "SELECT LAST_INSERT_ID()", nil))
				}
				if got[0] != got[1] {
					t.Errorf("%s (prepared: %v)\nMoka: %s\nMariaDB: %s", q, prepared, got[0], got[1])
					ok = false
				}
			}
			for _, q := range []string{"TRUNCATE t", "TRUNCATE fired", "TRUNCATE trail", "UPDATE seq SET n = 7"} {
				for _, c := range conns {
					if _, err := c.ExecContext(ctx, q); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got, want := reply(t, conns[0], "SELECT id, b FROM t", nil), reply(t, conns[1], "SELECT id, b FROM t", nil); got != want {
				t.Errorf("Moka: %s\nMariaDB: %s", got, want)
			}
		}
		return 2 * len(statements), ok
	})
}

func insertID(t *testing.T, q string, run func() (sql.Result, error)) uint64 {
	t.Helper()
	res, err := run()
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	id, err := res.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return uint64(id)
}
