package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/engine"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
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
	s, c := wide(t, 1900, temporary(t, dir))
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
	if held := s.eng.Held(); held != 0 {
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
		if held := s.eng.Held(); held != 0 {
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

// spoken has the functions and the grammar of a server.
func spoken(o *engine.Options) { o.Functions, o.Parser = expr.Functions(), parse.New(parse.Hooks{}) }

// packetOf sets max_allowed_packet for the length of a test. A session takes it when it begins.
func packetOf(t *testing.T, n uint64) {
	t.Helper()
	_, was, _ := sql.SystemVariables.GetGlobal("max_allowed_packet")
	if err := sql.SystemVariables.AssignValues(map[string]any{"max_allowed_packet": n}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sql.SystemVariables.AssignValues(map[string]any{"max_allowed_packet": was}) })
}

// TestStringsAreBounded: what functions make does not grow beyond a packet, however they are put together: it is NULL, with warning 1301
// (S4).
func TestStringsAreBounded(t *testing.T) {
	packetOf(t, 1<<20)
	s := newServer(t, spoken)
	c := s.session("")
	if got := c.code("SET SESSION max_allowed_packet = 1073741824"); got != 1621 {
		t.Errorf("a session's own max_allowed_packet: error %d, want 1621", got)
	}
	big, doc := "REPEAT('x', 600000)", "CAST(CONCAT('[', REPEAT('\"abcdefgh\",', 20000), '1]') AS JSON)"
	for _, q := range []string{
		"CONCAT(" + big + ", " + big + ")", "CONCAT_WS('-', " + big + ", " + big + ")", "CONCAT(" + strings.Repeat("REPEAT('x', 200000), ", 6) + "'')",
		"REPLACE(REPEAT('x', 1000), 'x', REPEAT('y', 2000))", "HEX(" + big + ")", "TO_BASE64(REPEAT('x', 900000))", "INSERT(" + big + ", 1, 1, " + big + ")",
		"CONCAT_WS(" + big + ", 'a', 'b', 'c', 'd', 'e')", "REPEAT('x', 10000000000)", "REPEAT('xx', 600000)", "SPACE(2000000)",
		"LPAD('x', 2000000, 'y')", "RPAD('x', 2000000, 'y')", "QUOTE(REPEAT('\\\\', 900000))", "MAKE_SET(7, " + big + ", " + big + ")",
		"EXPORT_SET(5, REPEAT('x', 60000), 'y')", "DATE_FORMAT(NOW(), REPEAT('%W', 400000))", "TIME_FORMAT(NOW(), REPEAT('%r', 400000))",
		"AES_ENCRYPT(REPEAT('x', 1048570), 'k')", "CAST('a' AS BINARY(2000000))", "CONVERT('a', BINARY(2000000))",
		"REGEXP_REPLACE(REPEAT('a', 10000), 'a', REPEAT('b', 1000))", "UNCOMPRESS(CONCAT(UNHEX('00000020'), REPEAT('x', 100)))",
		"JSON_ARRAY(" + big + ", " + big + ")", "JSON_OBJECT('a', " + big + ", 'b', " + big + ")", "JSON_QUOTE(REPEAT('\\t', 900000))",
		"JSON_EXTRACT(" + doc + ", '$', '$', '$', '$', '$')", "JSON_MERGE_PRESERVE(" + strings.Repeat(doc+", ", 5) + doc + ")",
		"JSON_ARRAY_APPEND(" + doc + strings.Repeat(", '$', "+doc, 5) + ")", "JSON_SET('[]', '$[0]', " + big + ", '$[1]', " + big + ")",
		"JSON_PRETTY(CONCAT(REPEAT('[', 90), REPEAT('1,', 20000), '1', REPEAT(']', 90)))",
		"JSON_SEARCH(CONCAT('{\"', REPEAT('k', 10000), '\":[', REPEAT('\"v\",', 200), '1]}'), 'all', 'v')",
	} {
		if got := strings.TrimSpace(c.text("SELECT " + q + " IS NULL")); got != "1" {
			t.Errorf("%.200s IS NULL: %q", q, got)
		}
		want := "1301"
		if strings.HasPrefix(q, "UNCOMPRESS") {
			want = "1256"
		}
		if got := c.text("SHOW WARNINGS"); !strings.Contains(got, want) {
			t.Errorf("%.200s: warnings %q", q, got)
		}
	}
	c.exec("SET @a = '[]'")
	for range 40 { // each holds the one before twice: 2^40 documents, and no memory
		c.exec("SET @a = JSON_ARRAY(@a, @a)")
	}
	c.want("SELECT @a IS NULL OR JSON_LENGTH(@a) > 0", "1")
	c.want(`SELECT CONCAT('a', NULL), CONCAT('a', 1, 2.5), CONCAT_WS(',', 'a', NULL, 'b'), REPLACE('abcabc', 'b', 'xx'), HEX('a'), HEX(255),
		QUOTE('a''b'), INSERT('abcd', 2, 1, 'xyz'), CONCAT('a','b','c','d','e',6), REPEAT('ab', -1), REPEAT('ab', '2'), SPACE(2), LPAD('x', 3, 'yz'),
		MAKE_SET(5, 'a', 'b', 'c'), EXPORT_SET(5, 'Y', 'N', ',', 4), UNCOMPRESS(COMPRESS('abc')), CAST('a' AS BINARY(2)) = 'a\0'`,
		`NULL | a12.5 | a,b | axxcaxxc | 61 | FF | 'a\'b' | axyzcd | abcde6 |  | abab |    | yzx | a,c | Y,N,Y,N | abc | 1`)
	c.want(`SELECT JSON_ARRAY(1, NULL, 'x'), JSON_OBJECT('k', CAST('[1]' AS JSON)), JSON_EXTRACT('{"a": [1, 2]}', '$.a[1]'), JSON_QUOTE('a"b'),
		JSON_SEARCH('{"a": "x"}', 'one', 'x'), JSON_PRETTY('1'), JSON_MERGE_PATCH('{"a": 1}', '{"b": 2}'), JSON_VALID('x'), JSON_EXTRACT(NULL, '$')`,
		`[1, null, "x"] | {"k": [1]} | 2 | "a\"b" | "$.a" | 1 | {"a": 1, "b": 2} | 0 | NULL`)
}

// TestValuesAreCharged: a statement is charged for the large values that its functions make, while they are needed (S4).
func TestValuesAreCharged(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	c.exec("SET moka_query_memory = 8000000")
	many := strings.TrimSuffix(strings.Repeat("REPEAT('x', 1000000), ", 12), ", ")
	for _, q := range []string{
		"SELECT LENGTH(CONCAT(" + many + "))", "SELECT LENGTH(CONCAT(" + strings.ReplaceAll(many, "REPEAT", "REVERSE(REPEAT") + "))",
		"SELECT JSON_LENGTH(JSON_ARRAY(" + many + "))", "SELECT JSON_VALID(REPEAT('[1,2,', 400000))",
		"SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 1000000), 'a', 'bbbbbb'))", "SELECT LENGTH(LPAD('a', 2500000, 'b'))",
		"SELECT GREATEST(" + many + ") = 'x'", "SELECT LENGTH(CONCAT(" + strings.TrimSuffix(strings.Repeat("UPPER(REPEAT('x', 900000)), ", 12), ", ") + "))",
		"SELECT " + many,
	} {
		q = strings.ReplaceAll(q, "REVERSE(REPEAT('x', 1000000)", "REVERSE(REPEAT('x', 1000000))")
		if got := c.code(q); got != 3170 {
			t.Errorf("%.100s: error %d, want 3170", q, got)
		}
		if held := s.eng.Held(); held != 0 {
			t.Errorf("%.100s: %d bytes are still charged", q, held)
		}
	}
	c.exec("CREATE DATABASE d")
	c.exec("CREATE TABLE d.n (n INT PRIMARY KEY)")
	c.exec("INSERT INTO d.n VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)")
	// The values of one row are gone when the next row's are made, and what was taken up by another value is gone at once.
	c.want("SELECT SUM(LENGTH(REPEAT('x', 1000000))) FROM d.n", "12000000")
	c.want("SELECT SUM(LENGTH(CONCAT(UPPER(REPEAT('x', 1000000)), 'y'))) FROM d.n", "12000012")
	c.want("SELECT COUNT(*) FROM d.n WHERE REPEAT('x', 1000000) REGEXP 'y'", "0")
	for _, q := range []string{
		"SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT('x', 1000000))) FROM d.n", "SELECT JSON_LENGTH(JSON_OBJECTAGG(n, REPEAT('x', 1000000))) FROM d.n",
		"SELECT LENGTH(GROUP_CONCAT(REPEAT('x', 1000000))) FROM d.n", "SELECT LENGTH(GROUP_CONCAT(DISTINCT REPEAT(n, 1000000))) FROM d.n",
		"SELECT n MOD 2, JSON_LENGTH(JSON_ARRAYAGG(REPEAT('x', 1800000))) FROM d.n GROUP BY n MOD 2",
		"SELECT COUNT(DISTINCT REPEAT(n, 1000000)) FROM d.n",
		"SELECT MAX(k) FROM (SELECT REPEAT(n, 1000000) k FROM d.n ORDER BY JSON_ARRAY(k)) x",
	} {
		if got := c.code(q); got != 3170 && got != 1038 {
			t.Errorf("%s: error %d, want 3170", q, got)
		}
		if held := s.eng.Held(); held != 0 {
			t.Errorf("%s: %d bytes are still charged", q, held)
		}
	}
}

// TestUserVariablesAreBounded: a session keeps moka_session_memory at most, and gives it back when it ends (S4).
func TestUserVariablesAreBounded(t *testing.T) {
	s := newServer(t, spoken)
	if err := sql.SystemVariables.AssignValues(map[string]any{"moka_session_memory": int64(8 << 20)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sql.SystemVariables.AssignValues(map[string]any{"moka_session_memory": int64(256 << 20)}) })
	c := s.session("")
	for i := range 8 {
		c.exec("SET @v%d = REPEAT('x', 1000000)", i)
	}
	for _, q := range []string{
		"SET @w = REPEAT('x', 1000000)", "SELECT REPEAT('x', 1000000) INTO @w", "SELECT @w := REPEAT('x', 1000000)", "SET @v1 = REPEAT('x', 2000000)",
	} {
		if got := c.code(q); got != 3170 {
			t.Errorf("%s: error %d, want 3170", q, got)
		}
	}
	c.want("SELECT @w IS NULL AND LENGTH(@v1) = 1000000", "1")
	c.exec("SET @v0 = NULL")
	c.exec("SET @w = REPEAT('x', 1000000)")
	c.sess.SessionEnd()
	if held := s.eng.Held(); held != 0 {
		t.Errorf("%d bytes are still charged", held)
	}
}

// TestRegularExpressionsAreBounded: a pattern's length and program, the steps and the text that is made are bounded (S4); what they find is
// what it was.
func TestRegularExpressionsAreBounded(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	if err := sql.SystemVariables.AssignValues(map[string]any{"regexp_time_limit": int64(1)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sql.SystemVariables.AssignValues(map[string]any{"regexp_time_limit": int64(32)}) })
	for q, code := range map[string]int{
		"SELECT REGEXP_LIKE('aaa', REPEAT('(a|b)*', 200000))":                             3700,
		"SELECT 'aaa' REGEXP REPEAT('(a|b)*', 200000)":                                    3700,
		"SELECT 'aaa' NOT REGEXP REPEAT('(a|b)*', 200000)":                                3700,
		"SELECT REGEXP_LIKE('aaa', '((a{100}){100}){100}')":                               3688,
		"SELECT REGEXP_LIKE('aaa', REPEAT('x{1000}', 100))":                               3700,
		"SELECT REGEXP_LIKE('aaa', REPEAT('(.*)(.*)', 4000))":                             0,
		"SELECT REGEXP_INSTR(REPEAT('a', 3000000), REPEAT('(x+x+)+y', 1000))":             3699,
		"SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 100000), 'a.*b|a', 'c'))":               3699,
		"SELECT REGEXP_LIKE('a', '')":                                                     3685,
		"SELECT REGEXP_LIKE('a', '(')":                                                    3688,
		"SELECT REGEXP_SUBSTR('abc', 'b', 9)":                                             3686,
		"SELECT REGEXP_LIKE('a', 'a', 'z')":                                               1210,
		"SELECT LENGTH(REGEXP_SUBSTR(REPEAT('a', 3000000), '^(a|b)*$')) = 3000000 OR 1/0": 0,
	} {
		if got := c.code(q); got != code {
			t.Errorf("%s: error %d, want %d", q, got, code)
		}
	}
	c.want(`SELECT 'abc' REGEXP '^A', 'abc' REGEXP BINARY '^A', 'abc' NOT REGEXP 'd', REGEXP_LIKE('abc', 'B'), REGEXP_LIKE('abc', 'B', 'c'),
		REGEXP_LIKE('a\nb', '^b$', 'm'), REGEXP_LIKE('a\nb', 'a.b', 'n'), NULL REGEXP 'a', 'a' REGEXP NULL`, "1 | 0 | 1 | 1 | 0 | 1 | 1 | NULL | NULL")
	c.want(`SELECT REGEXP_INSTR('dog cat dog', 'dog'), REGEXP_INSTR('dog cat dog', 'dog', 2), REGEXP_INSTR('dog cat dog', 'dog', 1, 2),
		REGEXP_INSTR('dog cat dog', 'dog', 1, 1, 1), REGEXP_INSTR('ääb', 'b'), REGEXP_INSTR('abab', '^a', 2), REGEXP_INSTR('a', 'b')`, "1 | 9 | 9 | 4 | 3 | 0 | 0")
	c.want(`SELECT REGEXP_SUBSTR('abc def ghi', '[a-z]+'), REGEXP_SUBSTR('abc def ghi', '[a-z]+', 1, 3), REGEXP_SUBSTR('abc', 'x'),
		REGEXP_SUBSTR('xäöü', '.', 2, 2)`, "abc | ghi | NULL | ö")
	c.want(`SELECT REGEXP_REPLACE('a b c', 'b', 'X'), REGEXP_REPLACE('abc def ghi', '[a-z]+', 'X', 1, 3),REGEXP_REPLACE('abc', 'x*', '-'),
		REGEXP_REPLACE('aab', 'a*', '-'), REGEXP_REPLACE('abc', 'x', 'y'), REGEXP_REPLACE('', 'a', 'b'), REGEXP_REPLACE('ab ab', '\\bab', 'X', 2)`,
		"a X c | abc def X | -a-b-c- | -b- | abc |  | ab X")
	// A search that is more than a moment's work finds the same as one that is not.
	for _, n := range []int{10, 200_000} {
		c.want(fmt.Sprintf(`SELECT REGEXP_INSTR(CONCAT(REPEAT('a', %d), 'xby'), 'x(b|c)y$') - %[1]d, REGEXP_INSTR(CONCAT(REPEAT('ä', %[1]d), 'xaxa'), 'xa', 1, 2) - %[1]d,
			LENGTH(REGEXP_REPLACE(CONCAT(REPEAT('ab', %[1]d), 'c'), '(b|c)+a?', '')) , REGEXP_SUBSTR(CONCAT(REPEAT(' ', %[1]d), 'foo bar'), '\\b[a-z]+$', 3)`, n),
			"1 | 3 | 1 | bar")
	}
}
