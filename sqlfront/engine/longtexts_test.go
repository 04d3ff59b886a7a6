package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// longTexts are texts that a user without any right may make, by the short ones that mean the same date or time.
var longTexts = map[string]string{
	"'999999999999999'":          "REPEAT('9', 300000)",
	"'x'":                        "REPEAT('x', 300000)",
	"'2020-01-02 03:04:05x'":     "CONCAT('2020-01-02 03:04:05', REPEAT('x', 300000))",
	"'2020-01-02x'":              "CONCAT('2020-01-02', REPEAT('x9', 150000))",
	"'2020-01-02 03:04:05.5'":    "CONCAT('2020-01-02', REPEAT(' ', 300000), '03:04:05.5', REPEAT('0', 300000))",
	"'2020-01-02 03:04:05.125-'": "CONCAT('2020-01-02 03:04:05.125', REPEAT('0', 300000), '-')",
}

// TestLongTextsAsDatesEnd: the library tried each shorter beginning of a text for a date, and wrote all of the text into the error of each. What is
// here took hours, which no KILL ended.
func TestLongTextsAsDatesEnd(t *testing.T) {
	s := newServer(t, spoken)
	root := s.session("")
	root.exec("CREATE DATABASE d")
	root.exec("CREATE TABLE d.t (id INT PRIMARY KEY, d DATE, m DATETIME(3), s LONGTEXT)")
	c := s.session("d")
	c.exec("SET sql_mode = ''")
	c.exec("INSERT INTO t VALUES (1, '2020-01-02', '2020-01-02 03:04:05.500', NULL)")
	for short, long := range longTexts {
		for _, q := range []string{
			"SELECT DATE_ADD(%s, INTERVAL 1 DAY)", "SELECT %s + INTERVAL 1 DAY", "SELECT SUBDATE(%s, 1)", "SELECT CAST(%s AS DATETIME)",
			"SELECT CAST(%s AS DATETIME(6))", "SELECT CAST(%s AS DATE)", "SELECT DATE(%s)", "SELECT TIMESTAMP(%s)", "SELECT TIMESTAMP(%s, '01:00')",
			"SELECT YEAR(%s), MONTH(%s), DAYNAME(%s), WEEK(%s), QUARTER(%s), LAST_DAY(%s)", "SELECT EXTRACT(DAY FROM %s)", "SELECT EXTRACT(HOUR FROM %s)",
			"SELECT DATEDIFF(%s, '2019-01-01')", "SELECT TIMESTAMPDIFF(SECOND, '2019-01-01', %s)", "SELECT TIMEDIFF(%s, '2020-01-01 00:00:00')",
			"SELECT TO_DAYS(%s)", "SELECT TO_SECONDS(%s)", "SELECT UNIX_TIMESTAMP(%s)", "SELECT CONVERT_TZ(%s, '+00:00', '+01:00')",
			"SELECT DATE_FORMAT(%s, '%%Y/%%d %%f')", "SELECT STR_TO_DATE(%s, '%%Y-%%m-%%d')", "SELECT ADDTIME(%s, '01:00:00')", "SELECT HOUR(%s), MICROSECOND(%s)",
			"SELECT CAST('2020-01-02' AS DATE) < %s", "SELECT CAST('2020-01-02 03:04:05' AS DATETIME) BETWEEN %s AND %s",
			"SELECT CAST('2020-01-02' AS DATE) IN ('2019-01-01', %s)", "SELECT CASE CAST('2020-01-02' AS DATE) WHEN %s THEN 1 ELSE 2 END",
			"SELECT NULLIF(CAST('2020-01-02' AS DATE), %s)", "SELECT CAST('2020-01-02' AS DATE) IN (SELECT %s)", "SELECT CAST('2020-01-02' AS DATE) = ANY (SELECT %s)",
			"SELECT CAST('2020-01-02' AS DATE) = (SELECT %s)", "SELECT (CAST('2020-01-02' AS DATE), 1) = (%s, 1)",
			"SELECT COUNT(*) FROM t WHERE d = %s", "SELECT COUNT(*) FROM t WHERE m >= %s", "SELECT COUNT(*) FROM t WHERE d IN (%s, '2000-01-01')",
			"UPDATE t SET m = %s, d = %s", "SELECT d, m FROM t", "REPLACE INTO t VALUES (1, %s, %s, NULL)", "SELECT d, m FROM t",
		} {
			answer := func(text string) string {
				_, rows, err := c.run(strings.ReplaceAll(strings.ReplaceAll(q, "%%", "%"), "%s", text))
				out := fmt.Sprint(rows)
				if err != nil {
					out = fmt.Sprint("error ", sqlerr.Code(err))
				}
				if strings.HasPrefix(q, "UPDATE") {
					out = "" // it may have changed nothing
				}
				if strings.HasPrefix(q, "SELECT d, m") {
					out = c.text(q)
				}
				_, warnings, err := c.run("SHOW WARNINGS")
				if err != nil {
					t.Fatal(err)
				}
				var codes []string
				for _, w := range warnings {
					codes = append(codes, fmt.Sprint(w[1]))
				}
				return out + " with " + strings.Join(slices.Compact(codes), ",")
			}
			if got, want := answer(long), answer("CONCAT("+short+")"); got != want {
				t.Errorf("%s of %s is %s, and of %s %s", q, long, got, short, want)
			}
		}
	}
	if _, _, err := c.run("SELECT STR_TO_DATE(REPEAT('January', 100000), REPEAT('%M', 100000))"); err != nil { // all of the rest was written in small letters for each
		t.Error(err)
	}
}

// TestJSONArraysMeet: each element of one array was compared with each of the other; two of 100,000 took minutes.
func TestJSONArraysMeet(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	array := func(of string, n int) string { return fmt.Sprintf("CONCAT('[', REPEAT('%s,', %d), '%s]')", of, n, of) }
	c.want(fmt.Sprintf("SELECT JSON_OVERLAPS(%s, %s)", array("1", 200000), array("2", 200000)), "0")
	c.want(fmt.Sprintf("SELECT JSON_CONTAINS(%s, %s)", array("1", 200000), array("1", 200000)), "1")
	c.want(fmt.Sprintf("SELECT JSON_CONTAINS(%s, CONCAT('[', REPEAT('1,', 200000), '2]'))", array("1", 200000)), "0")
	c.want(fmt.Sprintf("SELECT JSON_OVERLAPS(%s, %s)", array(`{"a": [1, {"b": 2}]}`, 20000), array(`{"a": [1, {"b": 3}]}`, 20000)), "0")
	if held := s.eng.Held(); held != 0 {
		t.Errorf("%d bytes are still charged", held)
	}
	for q, want := range map[string]string{
		"JSON_OVERLAPS('[1,3,5,7]', '[2,5,7]')": "1", "JSON_OVERLAPS('[1,3,5,7]', '[2,6,8]')": "0", "JSON_OVERLAPS('[[1,2],[3,4],5]', '[1,[2,3],[4,5]]')": "0",
		`JSON_OVERLAPS('{"a":1,"b":10,"d":10}', '{"c":1,"e":10,"f":1,"d":10}')`: "1", `JSON_OVERLAPS('{"a":1,"b":10,"d":10}', '{"a":5,"e":10,"f":1,"d":20}')`: "0",
		"JSON_OVERLAPS('5', '5')": "1", "JSON_OVERLAPS('[4,5,6,7]', '6')": "1", `JSON_OVERLAPS('[4,5,6,7]', '"6"')`: "0", "JSON_OVERLAPS('[0]', '-0.0')": "1",
		"JSON_OVERLAPS('null', '[null]')": "1", "JSON_OVERLAPS('[true]', '[1]')": "0", "JSON_OVERLAPS(NULL, '1')": "NULL", "JSON_OVERLAPS(JSON_ARRAY(1, 2.5), '[2.50]')": "1",
		`JSON_OVERLAPS(JSON_ARRAY(CAST('2020-01-02' AS DATE)), '"2020-01-02"')`: "1",
		`JSON_CONTAINS('{"a":1,"b":2,"c":{"d":4}}', '1', '$.a')`:                "1", `JSON_CONTAINS('{"a":1,"b":2,"c":{"d":4}}', '1', '$.b')`: "0",
		`JSON_CONTAINS('{"a":1,"b":2,"c":{"d":4}}', '{"d":4}', '$.c')`: "1", `JSON_CONTAINS('{"a":1}', '1', '$.z')`: "NULL", `JSON_CONTAINS('{"a":1}', '1', NULL)`: "NULL",
		"JSON_CONTAINS(JSON_ARRAY(1, 2), '1')": "1", "JSON_CONTAINS('[1,[2,3]]', '3')": "1", `JSON_CONTAINS('[{"a":[1,2]},{"b":1}]', '{"a":[2]}')`: "1",
		"JSON_CONTAINS('[1]', '[]')": "1", "JSON_CONTAINS('1', '[]')": "0", "JSON_CONTAINS('[true]', '1')": "0",
	} {
		c.want("SELECT "+q, want)
	}
	for q, want := range map[string]int{"SELECT JSON_CONTAINS('[', '1')": 3141, "SELECT JSON_OVERLAPS('1', '{')": 3141, "SELECT JSON_OVERLAPS(1, '1')": 3146} {
		if got := c.code(q); got != want {
			t.Errorf("%s: error %d, want %d", q, got, want)
		}
	}
}

// TestLikeEnds: a LIKE that takes long ends with its statement; the library's went on for hours (expr has TestWildcardsStop, too).
func TestLikeEnds(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	within, cancel := context.WithCancel(context.Background())
	cancel()
	if is, err := expr.IsLike(sql.NewContext(within), strings.Repeat("a", 2000000), "%"+strings.Repeat("a", 1000000)+"b"); err == nil {
		t.Errorf("it is %v, after its statement", is)
	}
	c.want("SELECT REPEAT('a', 100000) LIKE CONCAT(REPEAT('%a', 200), '%b')", "0")
	c.want("SELECT REPEAT('a', 100000) LIKE CONCAT(REPEAT('%_', 50000), '%')", "1")
	c.want("SELECT REPEAT('a', 100000) NOT LIKE CONCAT(REPEAT('|%', 3), REPEAT('%a', 50), 'b') ESCAPE '|'", "1")
	c.exec("CREATE DATABASE d")
	c.exec("CREATE TABLE d.t (s VARCHAR(200) PRIMARY KEY)")
	c.exec("INSERT INTO d.t VALUES (REPEAT('a', 200)), ('xaya'), ('%')")
	c.want("SELECT COUNT(*) FROM d.t WHERE s LIKE CONCAT(REPEAT('%a', 30), '%b')", "0")
	c.want("SELECT COUNT(*) FROM d.t WHERE s LIKE '"+strings.Repeat("%a", 30)+"%b'", "0")
	c.want("SELECT s FROM d.t WHERE s LIKE 'x%y_'", "xaya")
	c.want(`SELECT s FROM d.t WHERE s LIKE '\%'`, "%")
	c.want("SHOW VARIABLES LIKE '"+strings.Repeat("%a", 30)+"%b'", "ok")
	c.want("SHOW VARIABLES LIKE 'version_com%t'", "version_comment | "+strings.TrimSpace(c.text("SELECT @@version_comment")))
	if got := c.code("SELECT 'a' LIKE 'a' ESCAPE 'xy'"); got != 1210 {
		t.Errorf("an ESCAPE of two characters: error %d, want 1210", got)
	}
}
