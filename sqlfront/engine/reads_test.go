package engine_test

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever a statement reads or writes of long rows is charged to it, row by row: one is too much for its
// limit or is not, however many there are.
func TestLongRowsAreCharged(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, n INT, b LONGBLOB, s LONGTEXT, KEY (n))")
	const size, rows = 200_000, 60
	for i := range rows {
		c.exec("INSERT INTO t VALUES (%d, %d, REPEAT('b', %d), REPEAT('s', %d))", i, i, size, size)
	}
	reads := []string{
		"SELECT LENGTH(b) FROM t WHERE id = 3", "SELECT LENGTH(b) FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7)",
		"SELECT LENGTH(s) FROM t WHERE n = 3",
		"SELECT SUM(LENGTH(b)) FROM t",
		"SELECT SUM(LENGTH(s)) FROM t WHERE n > 0",
		"SELECT SUM(LENGTH(x.s)) FROM t x JOIN t y ON x.n = y.n",
		"SELECT LENGTH(s) FROM t WHERE id = 3 FOR UPDATE",
		"SELECT COUNT(*) FROM t WHERE s LIKE '%x'",
		"SELECT COUNT(*) FROM t x WHERE n + 0 IN (SELECT n FROM t y WHERE y.b > 'a')",
		"SELECT LENGTH(b) FROM t WHERE n = 3 OR id = 5",
	}
	writes := []string{
		"UPDATE t SET n = n + 1 WHERE id = 3",
		"UPDATE t SET n = n + 1 WHERE n = 7", "UPDATE t SET n = n + 100",
		"INSERT INTO t SELECT id + 1000, n, b, s FROM t WHERE id = 2",
		"REPLACE INTO t SELECT id, n, b, s FROM t WHERE id = 2",
		"INSERT INTO t VALUES (4, 4, '', '') ON DUPLICATE KEY UPDATE n = n + 1", "DELETE FROM t WHERE id = 9",
	}
	try := func(q string, limit int) string {
		c.exec("SET moka_query_memory = %d", limit)
		_, _, err := c.run(q)
		c.exec("SET moka_query_memory = 0")
		if err == nil {
			return ""
		}
		return fmt.Sprint(err)
	}
	for _, q := range append(reads, writes...) {
		if got := try(q, size); !strings.Contains(got, "Memory capacity") {
			t.Errorf("%s, with less than a row takes: %q", q, got)
		}
	}
	for _, q := range reads {
		if got := try(q, 60*size); got != "" { // what is read by keys together has 8 MiB
			t.Errorf("%s, with what some rows take: %v", q, got)
		}
	}
	if got := s.eng.Held(); got > 0 {
		t.Errorf("%d bytes are held by nobody's statements", got)
	}
	c.exec("BEGIN")
	c.exec("UPDATE t SET n = n + 1 WHERE id = 3")
	if got := s.eng.Held(); got < 2*size {
		t.Errorf("an open transaction with a long row: %d bytes are held", got)
	}
	c.exec("COMMIT")
	c.exec("BEGIN")
	c.exec("UPDATE t SET n = n + 1 WHERE id = 3")
	c.exec("ROLLBACK")
	if got := s.eng.Held(); got > 0 {
		t.Errorf("%d bytes are held behind the transaction's end", got)
	}
}
