package engine_test

import (
	"strings"
	"testing"
)

// Statements in bodies find their rows by key: each shape reads about as many rows as it has to. off is the same body put so that no
// index helps, for what it leaves behind.
func TestPlansOfBodies(t *testing.T) {
	const n = 1000
	s, c := planned(t, n)
	c.exec("CREATE TABLE ev (id INT AUTO_INCREMENT PRIMARY KEY, k INT, lo INT, hi INT)")
	c.exec("CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, x INT, y INT)")
	for _, q := range []struct {
		name, body, off string
		rows            uint64
	}{
		{"update by key", "UPDATE t SET pad = pad + 1 WHERE id = NEW.k", "UPDATE t SET pad = pad + 1 WHERE id + 0 = NEW.k", 2},
		{"update by key and more", "UPDATE t SET pad = pad + 1 WHERE NEW.k = id AND pad < 5000", "UPDATE t SET pad = pad + 1 WHERE id + 0 = NEW.k AND pad < 5000", 2},
		{"update by range", "UPDATE t SET pad = pad + 1 WHERE id >= NEW.lo AND id < NEW.hi", "UPDATE t SET pad = pad + 1 WHERE id + 0 >= NEW.lo AND id + 0 < NEW.hi", 24},
		{"update by between", "UPDATE t SET pad = pad + 1 WHERE b BETWEEN NEW.lo AND NEW.hi", "UPDATE t SET pad = pad + 1 WHERE b + 0 BETWEEN NEW.lo AND NEW.hi", 50},
		{"update by list", "UPDATE t SET pad = pad + 1 WHERE id IN (NEW.k, NEW.lo, 3)", "UPDATE t SET pad = pad + 1 WHERE id + 0 IN (NEW.k, NEW.lo, 3)", 6},
		{"update by what another table says", "UPDATE t SET pad = pad + 1 WHERE id IN (SELECT tid FROM child WHERE child.id = NEW.k)",
			"UPDATE t SET pad = pad + 1 WHERE id + 0 IN (SELECT tid FROM child WHERE child.id + 0 = NEW.k)", 0},
		{"update to a subquery", "UPDATE t SET pad = (SELECT MAX(v) FROM child WHERE child.tid = NEW.k) WHERE id = NEW.k",
			"UPDATE t SET pad = (SELECT MAX(v) FROM child WHERE child.tid + 0 = NEW.k) WHERE id + 0 = NEW.k", 10},
		{"delete by index", "DELETE FROM child WHERE tid = NEW.k", "DELETE FROM child WHERE tid + 0 = NEW.k", 10},
		{"delete by range", "DELETE FROM child WHERE id > NEW.lo AND id <= NEW.hi", "DELETE FROM child WHERE id + 0 > NEW.lo AND id + 0 <= NEW.hi", 24},
		{"insert from a range behind a key", "INSERT INTO log (x, y) SELECT id, b FROM t WHERE a = NEW.k AND b > NEW.lo ORDER BY id",
			"INSERT INTO log (x, y) SELECT id, b FROM t WHERE a + 0 = NEW.k AND b + 0 > NEW.lo ORDER BY id", 60},
		{"insert from a join", "INSERT INTO log (x, y) SELECT child.id, t.b FROM t JOIN child ON child.tid = t.id WHERE t.id = NEW.k ORDER BY 1",
			"INSERT INTO log (x, y) SELECT child.id, t.b FROM t JOIN child ON child.tid + 0 = t.id WHERE t.id + 0 = NEW.k ORDER BY 1", 12},
		{"insert from a join with NEW", "INSERT INTO log (x, y) SELECT child.id, t.b FROM t JOIN child ON child.tid = NEW.k AND t.id = child.tid ORDER BY 1",
			"INSERT INTO log (x, y) SELECT child.id, t.b FROM t JOIN child ON child.tid + 0 = NEW.k AND t.id + 0 = child.tid ORDER BY 1", 12},
		{"insert from a join by range", "INSERT INTO log (x, y) SELECT c.id, t.b FROM child c JOIN t ON t.id = c.tid WHERE c.id BETWEEN NEW.lo AND NEW.hi ORDER BY 1",
			"INSERT INTO log (x, y) SELECT c.id, t.b FROM child c JOIN t ON t.id + 0 = c.tid WHERE c.id + 0 BETWEEN NEW.lo AND NEW.hi ORDER BY 1", 60},
		{"insert of a subquery", "INSERT INTO log (x, y) VALUES (NEW.k, (SELECT b FROM t WHERE id = NEW.k))",
			"INSERT INTO log (x, y) VALUES (NEW.k, (SELECT b FROM t WHERE id + 0 = NEW.k))", 2},
		{"insert of two subqueries", "INSERT INTO log (x, y) VALUES ((SELECT MAX(v) FROM child WHERE tid = NEW.k), (SELECT b FROM t WHERE id = NEW.k)), (1, EXISTS (SELECT 1 FROM t WHERE id = NEW.hi))",
			"INSERT INTO log (x, y) VALUES ((SELECT MAX(v) FROM child WHERE tid + 0 = NEW.k), (SELECT b FROM t WHERE id + 0 = NEW.k)), (1, EXISTS (SELECT 1 FROM t WHERE id + 0 = NEW.hi))", 12},
		{"select into", "BEGIN DECLARE v INT; SELECT b INTO v FROM t WHERE id = NEW.k; INSERT INTO log (x) VALUES (v); END",
			"BEGIN DECLARE v INT; SELECT b INTO v FROM t WHERE id + 0 = NEW.k; INSERT INTO log (x) VALUES (v); END", 2},
		{"count into", "BEGIN DECLARE v INT; SELECT COUNT(*) INTO v FROM child WHERE tid = NEW.k; INSERT INTO log (x) VALUES (v); END",
			"BEGIN DECLARE v INT; SELECT COUNT(*) INTO v FROM child WHERE tid + 0 = NEW.k; INSERT INTO log (x) VALUES (v); END", 10},
		{"set to a subquery", "BEGIN DECLARE v INT; SET v = (SELECT b FROM t WHERE id = NEW.k); INSERT INTO log (x) VALUES (v); END",
			"BEGIN DECLARE v INT; SET v = (SELECT b FROM t WHERE id + 0 = NEW.k); INSERT INTO log (x) VALUES (v); END", 2},
		{"if exists", "BEGIN IF EXISTS (SELECT 1 FROM child WHERE tid = NEW.k) THEN INSERT INTO log (x) VALUES (1); END IF; END",
			"BEGIN IF EXISTS (SELECT 1 FROM child WHERE tid + 0 = NEW.k) THEN INSERT INTO log (x) VALUES (1); END IF; END", 10},
		{"by a variable", "BEGIN DECLARE v INT DEFAULT NEW.k; UPDATE t SET pad = pad + 1 WHERE id = v; DELETE FROM child WHERE tid = v + 1; END",
			"BEGIN DECLARE v INT DEFAULT NEW.k; UPDATE t SET pad = pad + 1 WHERE id + 0 = v; DELETE FROM child WHERE tid + 0 = v + 1; END", 12},
		{"range by a variable", "BEGIN DECLARE v INT DEFAULT NEW.lo; UPDATE t SET pad = pad + 1 WHERE id BETWEEN v AND v + 10; END",
			"BEGIN DECLARE v INT DEFAULT NEW.lo; UPDATE t SET pad = pad + 1 WHERE id + 0 BETWEEN v AND v + 10; END", 24},
	} {
		t.Run(q.name, func(t *testing.T) {
			after := func(body string) string {
				c.exec("CREATE TRIGGER x AFTER INSERT ON ev FOR EACH ROW " + body)
				defer c.exec("DROP TRIGGER x")
				c.exec("BEGIN")
				defer c.exec("ROLLBACK")
				c.exec("INSERT INTO ev (k, lo, hi) VALUES (7, 40, 60)")
				return strings.Join([]string{c.text("SELECT * FROM t ORDER BY id"), c.text("SELECT * FROM child ORDER BY id"), c.text("SELECT x, y FROM log ORDER BY n")}, "--\n")
			}
			want, got := after(q.off), after(q.body)
			if got != want {
				t.Error("the body leaves something else behind than one that reads everything")
			}
			c.exec("CREATE TRIGGER x AFTER INSERT ON ev FOR EACH ROW " + q.body)
			defer c.exec("DROP TRIGGER x")
			c.exec("BEGIN")
			defer c.exec("ROLLBACK")
			c.text("SELECT 1 FROM t WHERE id = 1")
			before := s.eng.ReadStats().Rows
			c.exec("INSERT INTO ev (k, lo, hi) VALUES (7, 40, 60)")
			if rows := s.eng.ReadStats().Rows - before; q.rows > 0 && rows > q.rows {
				t.Errorf("%d rows were looked at, %d are enough", rows, q.rows)
			}
		})
	}
}
