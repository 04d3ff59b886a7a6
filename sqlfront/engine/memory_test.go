package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"moka/sqlfront/engine"
	"moka/sqlfront/expr"
)

// wide makes a table of n rows of some 1 kB.
func wide(t *testing.T, n int, opts ...func(*engine.Options)) (*server, *session) {
	t.Helper()
	s := newServer(t, opts...)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, k INT, n DECIMAL(10,2), at DATETIME(6), pad VARCHAR(2000))")
	for from := 0; from < n; from += 250 {
		var rows []string
		for i := from; i < min(n, from+250); i++ {
			k := fmt.Sprint((i * 7919) % n)
			if i%17 == 0 {
				k = "NULL"
			}
			rows = append(rows, fmt.Sprintf("(%d, %s, %d.25, '2020-01-01 00:00:00.%06d', '%d%s')", i, k, i%100, i, i%50, strings.Repeat("x", 1000)))
		}
		c.exec("INSERT INTO t VALUES %s", strings.Join(rows, ", "))
	}
	return s, c
}

// A sort that does not fit into memory goes to disk and gives the same rows in the same order; it leaves no file.
func TestSortOnDisk(t *testing.T) {
	dir := t.TempDir()
	s, c := wide(t, 1900, func(o *engine.Options) { o.TempDir = dir })
	queries := []string{
		"SELECT * FROM t ORDER BY k, id", "SELECT id, at, n FROM t ORDER BY n DESC, pad", "SELECT pad, id FROM t ORDER BY pad DESC",
		"SELECT id, k + 1, pad FROM t ORDER BY k + 1 DESC, id",
		"SELECT id, pad FROM t ORDER BY k + 1, id LIMIT 1800",
	}
	for _, q := range queries {
		c.exec("SET moka_query_memory = 0")
		before := s.eng.ReadStats().Spilled
		want := c.text(q)
		if s.eng.ReadStats().Spilled != before {
			t.Fatalf("%s: on disk without need", q)
		}
		c.exec("SET moka_query_memory = 4000000")
		if got := c.text(q); got != want {
			t.Errorf("%s: another result from disk", q)
		}
		if strings.Contains(q, "pad") && s.eng.ReadStats().Spilled == before {
			t.Errorf("%s: nothing went to disk", q)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if held := s.eng.HeldMemory(); held != 0 {
		t.Errorf("%d bytes are still charged", held)
	}
}

// What cannot be put on disk ends with an error that says why, and what the statement held is given back.
func TestMemoryLimits(t *testing.T) {
	s, c := wide(t, 3000)
	c.exec("CREATE TABLE j (id INT PRIMARY KEY, doc JSON)")
	c.exec("INSERT INTO j SELECT id, JSON_OBJECT('a', pad) FROM t")
	c.exec("SET moka_query_memory = 200000")
	for q, code := range map[string]int{
		"SELECT * FROM j ORDER BY doc":                                                       1038,
		"SELECT * FROM j ORDER BY JSON_EXTRACT(doc, '$.a') LIMIT 2900":                       1038,
		"SELECT CONCAT(id, pad), COUNT(*) FROM t GROUP BY CONCAT(id, pad)":                   3170,
		"SELECT GROUP_CONCAT(pad) FROM t":                                                    3170,
		"SELECT COUNT(DISTINCT pad, id) FROM t":                                              3170,
		"SELECT DISTINCT pad, id + x.a FROM t, (SELECT 0 a UNION ALL SELECT 10000) x":        3170,
		"SELECT 'x' EXCEPT SELECT CONCAT(t.id, m) FROM t, (SELECT 0 m UNION ALL SELECT 1) x": 3170,
		"SELECT id, ROW_NUMBER() OVER (ORDER BY k), pad FROM t":                              3170,
		"SELECT /*+ HASH_JOIN(a,b) */ COUNT(a.pad) FROM t a JOIN t b ON a.pad = b.pad":       3170,
	} {
		if got := c.code(q); got != code {
			t.Errorf("%s: error %d, want %d", q, got, code)
		}
		if held := s.eng.HeldMemory(); held != 0 {
			t.Errorf("%s: %d bytes are still charged", q, held)
		}
	}
	// What streams, or is small, has nothing to do with it.
	for _, q := range []string{
		"SELECT * FROM t", "SELECT * FROM t ORDER BY id", "SELECT k MOD 5, COUNT(*) FROM t GROUP BY k MOD 5", "SELECT * FROM t ORDER BY pad, id LIMIT 5",
		"SELECT a.id FROM t a JOIN t b ON a.id = b.k WHERE a.id < 5", "SELECT DISTINCT k MOD 7 FROM t",
	} {
		if got := c.code(q); got != 0 {
			t.Errorf("%s: error %d", q, got)
		}
	}
}

// An aggregate that fails ends the statement; it hung when more rows were to come than fit a channel.
func TestFailingAggregate(t *testing.T) {
	_, c := wide(t, 3000)
	if got := c.code("SELECT k, MAX(JSON_EXTRACT(IF(id < 5, pad, '{}'), '$')) FROM t GROUP BY k"); got == 0 {
		t.Error("no error")
	}
}

// Strings do not grow beyond a packet, however they are put together.
func TestStringsAreBounded(t *testing.T) {
	s := newServer(t, func(o *engine.Options) { o.Functions = expr.Functions() })
	c := s.session("")
	c.exec("SET SESSION max_allowed_packet = 1048576")
	big := "REPEAT('x', 600000)"
	for _, q := range []string{
		"CONCAT(" + big + ", " + big + ")", "CONCAT_WS('-', " + big + ", " + big + ")", "CONCAT(" + strings.Repeat("REPEAT('x', 200000), ", 6) + "'')",
		"REPLACE(REPEAT('x', 1000), 'x', REPEAT('y', 2000))", "HEX(" + big + ")", "TO_BASE64(REPEAT('x', 900000))", "INSERT(" + big + ", 1, 1, " + big + ")",
		"CONCAT_WS(" + big + ", 'a', 'b', 'c', 'd', 'e')",
	} {
		c.want("SELECT "+q+" IS NULL", "1")
	}
	c.want("SELECT CONCAT('a', NULL), CONCAT('a', 1, 2.5), CONCAT_WS(',', 'a', NULL, 'b'), REPLACE('abcabc', 'b', 'xx'), HEX('a'), HEX(255), QUOTE('a''b'), INSERT('abcd', 2, 1, 'xyz'), CONCAT('a','b','c','d','e',6)",
		`NULL | a12.5 | a,b | axxcaxxc | 61 | FF | 'a\'b' | axyzcd | abcde6`)
}
