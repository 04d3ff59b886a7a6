package sqlfront_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestCreateTableLike(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE p (id INT PRIMARY KEY)",
		`CREATE TABLE s (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(100) COLLATE utf8mb4_bin, b TEXT, c INT DEFAULT 5, g INT AS (c + 1) STORED, p INT,
			KEY ka (a(10)), KEY kb (b(20) DESC), KEY kc (c DESC, a(5)), UNIQUE KEY ue ((c * 3)), FOREIGN KEY (p) REFERENCES p (id)) COMMENT 'x' AUTO_INCREMENT = 50`,
		"CREATE TABLE k (id INT PRIMARY KEY, a INT CHECK (a > 1))",
		"ALTER TABLE s ADD COLUMN filled INT NOT NULL DEFAULT 3",
		"CREATE TABLE t LIKE s", "CREATE TABLE IF NOT EXISTS t LIKE k", "CREATE TEMPORARY TABLE tt LIKE s", "CREATE TABLE kk LIKE k")
	shown := func(table string) string {
		s := text(t, c, "SHOW CREATE TABLE "+table)
		return s[strings.Index(s, "("):]
	}
	want := shown("s")
	i, j := strings.Index(want, ",\n  CONSTRAINT"), strings.Index(want, "\n) ENGINE")
	want = strings.Replace(want[:i]+want[j:], " AUTO_INCREMENT=50", "", 1)
	for _, table := range []string{"t", "tt"} {
		if got := shown(table); got != want {
			t.Errorf("%s: %s\nwant %s", table, got, want)
		}
		run(t, c, "INSERT INTO "+table+" (a, c) VALUES ('x', 7)")
		if got := text(t, c, "SELECT id, a, g, filled FROM "+table); got != "1 x 8 3" {
			t.Errorf("%s: %s", table, got)
		}
		refused(t, c, "INSERT INTO "+table+" (c) VALUES (7)", 1062)
	}
	refused(t, c, "INSERT INTO kk VALUES (1, 1)", 3819)
	refused(t, c, "CREATE TABLE t LIKE k", 1050)
	refused(t, c, "CREATE TABLE u LIKE nothing", 1146)
	run(t, c, "CREATE VIEW v AS SELECT 1")
	refused(t, c, "CREATE TABLE u LIKE v", 1347)
	if got := text(t, c, "CHECK TABLE t, kk"); strings.Count(got, "status OK") != 2 {
		t.Error(got)
	}
}

// TestConvertTable converts the columns, not the default alone.
func TestConvertTable(t *testing.T) {
	d := newDatabase(t)
	c := d.serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), b VARBINARY(10), c TEXT, UNIQUE KEY (a)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
		"INSERT INTO t VALUES (1, 'a', 'a', 'a'), (2, 'A', 'A', 'A')", "ALTER TABLE t COLLATE utf8mb4_general_ci, COMMENT 'convert to character set latin1'")
	const columns = "SELECT GROUP_CONCAT(collation_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't'"
	if got := text(t, c, columns); got != "utf8mb4_bin,utf8mb4_bin" {
		t.Error(got)
	}
	refused(t, c, "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", 1062)
	run(t, c, "DELETE FROM t WHERE id = 2", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "INSERT INTO t VALUES (3, 'é€', '', '')")
	if got := text(t, c, columns) + text(t, c, "SELECT id FROM t WHERE a = 'A'"); got != "utf8mb4_general_ci,utf8mb4_general_ci1" {
		t.Error(got)
	}
	refused(t, c, "ALTER TABLE t CONVERT TO CHARACTER SET ascii", 1366)
	if got := text(t, c, "CHECK TABLE t"); !strings.HasSuffix(got, "status OK") {
		t.Error(got)
	}
}

func refused(t *testing.T, c runner, query string, number uint16) {
	t.Helper()
	_, err := c.ExecContext(t.Context(), query)
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != number {
		t.Errorf("%s: %v, want %d", query, err, number)
	}
}
