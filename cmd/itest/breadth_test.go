package itest

import (
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var breadthSeeds = flag.Int("breadth.n", soaked(15, 1000), "number of random scripts of TestBreadth")

// TestBreadth is TestRandomScripts for what it does not draw: windows, subqueries of all kinds, common
// table expressions, JSON, dates, texts under several collations, set operations, statements over
// several tables, views.
//
//	go test ./cmd/itest -run TestBreadth -random.seed=N -breadth.n=1 -v
func TestBreadth(t *testing.T) {
	runScripts(t, *breadthSeeds, breadthScript)
}

func breadthScript(t *testing.T, seed uint64, dbs [2]*sql.DB) (n int, ok bool) {
	t.Helper()
	g := &breadth{&generator{rng: rand.New(rand.NewPCG(seed, 11))}}
	conns, done := freshConns(t, dbs)
	defer done()
	var changes []string // what the tables hold is theirs
	run := func(q string) bool {
		n++
		if w := strings.Fields(q)[0]; w != "SELECT" && w != "WITH" && !strings.HasPrefix(w, "(") {
			changes = append(changes, q)
		}
		got, want := sorted(reply(t, conns[0], q, nil)), sorted(reply(t, conns[1], q, nil))
		if got == want || loose(q) && strings.Contains(got, "affected") &&
			strings.Contains(want, "affected") ||
			writes(q) && strings.Contains(got, "ERROR") && strings.Contains(want, "ERROR") {
			return true
		}
		t.Errorf("seed %d:\n%s;\n%s;\nMoka:\n%s\nMariaDB:\n%s", seed, strings.Join(changes, ";\n"), q,
			got, want)
		return false
	}
	for _, q := range g.tables() {
		if !run(q) {
			return n, false
		}
	}
	for range 50 {
		if !run(g.statement()) {
			return n, false
		}
	}
	for _, tab := range []string{"t0", "t1", "t2"} {
		if !run("SELECT * FROM " + tab) {
			return n, false
		}
	}
	return n, true
}

// sorted are the lines of a reply: an order of their own have few of these queries.
func sorted(reply string) string {
	lines := strings.Split(reply, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

type breadth struct{ *generator }

func (g *breadth) n(most int) int { return g.rng.IntN(most) }

func (g *breadth) tables() (qs []string) {
	for i := range 3 {
		tab := fmt.Sprintf("t%d", i)
		qs = append(qs, "CREATE TABLE "+tab+" (id INT PRIMARY KEY, a INT, b BIGINT, c VARCHAR(10), g "+
			"VARCHAR(10) COLLATE utf8mb4_bin, d DECIMAL(8,2), e DATE, f DATETIME, k TINYINT NOT NULL, js "+
			"TEXT"+
			g.one("", ", KEY (a)", ", KEY (c, k)", ", UNIQUE KEY (k, id)", ", KEY (e), KEY (b)")+")")
		var rows []string
		for id := range 6 + g.n(8) {
			v := func(c string) string {
				x := g.value(c)
				if s, ok := x.(string); ok {
					return "'" + strings.TrimRight(strings.Trim(s, "\t"), " \t") + "'"
				}
				if x == nil {
					return "NULL"
				}
				return fmt.Sprint(x)
			}
			num := func() string { return g.one("NULL", "0", "1", "2", "3", "3", "5", "-2", "7") }
			rows = append(rows, fmt.Sprintf("(%d, %s, %s, %s, %s, %s, %s, %s, %d, %s)", id+1, num(), num(),
				v("c"), v("g"), v("d"), v("e"), v("f"), g.n(4),
				g.one("NULL", `'{"a": 1, "b": [1, 2, "x"]}'`, `'[1, 2, 3]'`, `'{"a": {"c": null}, "b": "y"}'`,
					`'{"a": "z"}'`, `'5'`, `'[]'`, `'"text"'`)))
		}
		qs = append(qs, "INSERT INTO "+tab+" VALUES "+strings.Join(rows, ", "))
	}
	return append(qs, "CREATE VIEW v0 AS SELECT id, a, k, UPPER(c) AS u, d * 2 AS dd FROM t0 WHERE k < 3",
		"CREATE VIEW v1 AS SELECT k, COUNT(*) AS n, SUM(a) AS s, MIN(e) AS m FROM t1 GROUP BY k",
		"CREATE VIEW v2 AS SELECT x.id, x.a, y.b FROM t0 x LEFT JOIN t1 y ON x.id = y.k")
}

func (g *breadth) tab() string { return g.one("t0", "t1", "t2") }

// num is an expression of numbers over the table of an alias.
func (g *breadth) num(p string) string {
	return strings.ReplaceAll(g.one("~a", "~b", "~id", "~k", "~d", "~a + ~b", "~a * ~k", "~id % 3",
		"IFNULL(~a, 0)", "COALESCE(~a, ~b, -1)", "ABS(~a)", "LENGTH(~c)", "CHAR_LENGTH(~g)",
		"IF(~a > ~k, ~a, ~k)",
		"CASE ~k WHEN 0 THEN ~a WHEN 1 THEN ~b ELSE ~id END", "GREATEST(~id, ~k)", "LEAST(~a, ~k)",
		"~id DIV 2", "-~a", "NULLIF(~a, 3)", "ROUND(~d)", "FLOOR(~d)", "YEAR(~e)", "DAYOFMONTH(~e)",
		"HOUR(~f)", "DATEDIFF(~e, '2020-01-01')",
		"(~a = ~b)", "(~a IN (1, 3))", "(~c LIKE 'a%')", "SIGN(~d)", "(~a <=> ~b)", "(~a IS NULL)", "~k & 1",
		"~k ^ 3", "~k << 2", "ROUND(~d, 1)", "GREATEST(~d, ~k)", "IF(~k, ~d, ~k)", "(~a > 2 XOR ~k)"), "~", p)
}

func (g *breadth) text(p string) string {
	return strings.ReplaceAll(g.one("~g", "LOWER(~c)", "CONCAT(~id, '-', ~k)", "UPPER(~g)", "LEFT(~g, 1)",
		"RIGHT(~g, 2)", "SUBSTRING(~g, 2, 2)", "REVERSE(~g)", "REPLACE(~g, 'b', 'xy')", "LPAD(~k, 3, '0')",
		"CONCAT_WS(',', ~a, ~g)", "HEX(~g)",
		"TRIM(LEADING 'a' FROM ~g)", "TRIM(BOTH 'b' FROM ~g)", "INSERT(~g, 1, 1, 'Q')", "REPEAT(~g, ~k)",
		"SUBSTRING_INDEX(~g, 'b', 1)", "IFNULL(~g, 'none')", "ELT(~k, 'one', 'two', 'three')", "QUOTE(~g)",
		"FORMAT(~d, 1)", "CAST(~d AS CHAR)",
		"DATE_FORMAT(~f, '%d.%m.%y %H:%i')", "DAYNAME(~e)", "CONV(~id, 10, 2)", "BIN(~id)", "OCT(~id)",
		"MD5(~g)", "SPACE(~k)", "MAKE_SET(~k, 'x', 'y')", "EXPORT_SET(~k, 'Y', 'N', '', 4)", "SHA1(~g)",
		"TO_BASE64(~g)", "SOUNDEX(~g)"), "~", p)
}

func (g *breadth) date(p string) string {
	return strings.ReplaceAll(g.one("~e + INTERVAL 1 MONTH", "DATE_SUB(~e, INTERVAL ~k WEEK)",
		"DATE_ADD(~f, INTERVAL ~a HOUR)", "~f - INTERVAL '1:30' HOUR_MINUTE", "LAST_DAY(~e)", "DATE(~f)",
		"TIMESTAMPDIFF(MINUTE, ~f, '2020-02-01')", "TIMESTAMPDIFF(MONTH, ~e, ~f)",
		"WEEK(~e, 1)", "YEARWEEK(~e)", "QUARTER(~e)", "DAYOFYEAR(~e)", "WEEKDAY(~f)", "TO_DAYS(~e)",
		"EXTRACT(YEAR_MONTH FROM ~f)", "MAKEDATE(2020, ~id * 30)",
		"STR_TO_DATE(CONCAT('2020-0', ~k + 1, '-10'), '%Y-%m-%d')", "ADDTIME(~f, '1:00:00')",
		"DATEDIFF(~f, ~e)", "TIMEDIFF(~f, '2020-01-01 00:00:00')", "UNIX_TIMESTAMP(~f)",
		"FROM_UNIXTIME(~id * 86400)", "SEC_TO_TIME(~id * 1000)", "TIME_TO_SEC(~f)", "~e + INTERVAL ~k YEAR",
		"CAST(~e AS DATETIME)", "CAST(~f AS DATE)", "CAST(~f AS TIME)",
		"GREATEST(~e, DATE'2020-02-01')", "IFNULL(~e, DATE'2000-01-01')",
		"~e BETWEEN '2020-01-02' AND '2020-02-06'", "~f > DATE'2020-01-02'", "ADDDATE(~e, 10)",
		"MONTHNAME(~e)", "PERIOD_ADD(202001, ~k)", "DATE_FORMAT(~e, '%W %M %j %U')",
		"HOUR(~f) * 60 + MINUTE(~f)"), "~", p)
}

func (g *breadth) json(p string) string {
	return strings.ReplaceAll(g.one("JSON_EXTRACT(~js, '$.a')", "JSON_UNQUOTE(JSON_EXTRACT(~js, '$.b'))",
		"JSON_LENGTH(~js)", "JSON_VALID(~js)", "JSON_TYPE(~js)", "JSON_KEYS(~js)", "JSON_CONTAINS(~js, '1')",
		"JSON_EXTRACT(~js, '$[1]')",
		"JSON_ARRAY(~id, ~g, NULL)", "JSON_OBJECT('k', ~k)", "JSON_DEPTH(~js)",
		"JSON_CONTAINS_PATH(~js, 'one', '$.a', '$.z')", "JSON_SET('{\"a\": 1}', '$.a', ~k)",
		"JSON_REMOVE('[1, 2, 3]', '$[1]')", "JSON_QUOTE(~g)", "JSON_VALUE('{\"x\": 7}', '$.x')",
		"JSON_ARRAY_APPEND('[1]', '$', ~k)", "JSON_SEARCH('[\"a\", \"b\"]', 'one', 'b')",
		"JSON_MERGE_PATCH('{\"a\": 1}', '{\"a\": 2}')", "JSON_LENGTH(~js, '$.b')",
		"JSON_REPLACE('[1, 2]', '$[0]', ~a)", "JSON_INSERT('{}', '$.q', ~id)",
		"JSON_EXTRACT(JSON_OBJECT('n', ~k), '$.n') + 1", "JSON_OVERLAPS('[1, 2]', JSON_ARRAY(~k))"), "~", p)
}

func (g *breadth) cond(p string) string {
	switch g.n(5) {
	case 0:
		return g.num(p) + g.one(" = ", " < ", " >= ", " <> ") + g.num(p)
	case 1:
		return g.text(p) + g.one(" = ", " < ", " LIKE ", " > ") + g.one("'a'", "'b%'", "'10'", "''")
	case 2:
		return "(" + g.num(p) + " > " + fmt.Sprint(g.n(4)) + g.one(" AND ", " OR ") + p + "k " +
			g.one("= 1", "<> 2", "BETWEEN 1 AND 2", "IN (0, 3)") + ")"
	case 3:
		return "NOT (" + p + "a " + g.one("> 1", "= 3", "IS NULL", "IN (1, NULL, 3)") + ")"
	}
	return p + g.one("a", "b", "k", "id") + " " + g.one("= ", "> ", "<= ") + fmt.Sprint(g.n(5))
}

func (g *breadth) statement() string {
	switch g.n(24) {
	case 0, 1, 2:
		return g.windows()
	case 3, 4, 5, 6:
		return g.subquery()
	case 7, 8:
		return g.cte()
	case 9, 10:
		return "SELECT id, " + g.json("") + ", " + g.json("") + " FROM " + g.tab()
	case 11, 12:
		return "SELECT id, " + g.date("") + ", " + g.date("") + " FROM " + g.tab()
	case 13:
		return "SELECT id, " + g.text("") + ", " + g.text("") + ", " + g.num("") + " FROM " + g.tab() +
			" WHERE " + g.cond("")
	case 14, 15:
		return g.sets()
	case 16, 17:
		return g.groups()
	case 18:
		return g.collations()
	case 19:
		return g.views()
	case 20:
		return g.joins()
	}
	return g.writing()
}

func (g *breadth) windows() string {
	part := g.one("", "PARTITION BY k ", "PARTITION BY a ", "PARTITION BY k % 2 ", "PARTITION BY g ")
	order := "ORDER BY " + g.one("id", "id DESC", "a, id", "b DESC, id", "k, id DESC", "e, id", "d DESC, id")
	frame := g.one("", "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING",
		" ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
		" ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING", " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
	over := func() string {
		switch g.n(3) {
		case 0:
			return g.one("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "NTILE(3)", "LAG(a)", "LAG(b, 2)",
				"LEAD(a, 1)", "LEAD(e)", "LAG(d, 1)") + " OVER (" + part + order + ")"
		case 1:
			return g.one("RANK()", "DENSE_RANK()", "COUNT(*)", "SUM(a)", "MAX(b)", "COUNT(a)") + " OVER (" +
				part + g.one("ORDER BY a", "ORDER BY k", "ORDER BY b DESC", "ORDER BY c", "ORDER BY e") + ")"
		}
		return g.one("SUM(a)", "COUNT(a)", "MIN(d)", "MAX(e)", "FIRST_VALUE(a)", "LAST_VALUE(b)", "SUM(d)",
			"COUNT(*)", "MAX(id)", "MIN(b)") + " OVER (" + part + order + frame + ")"
	}
	tab := g.tab()
	switch g.n(5) {
	case 0:
		w := over()
		for strings.Contains(w, "(e)") { // a date is compared with a number below
			w = over()
		}
		return "SELECT * FROM (SELECT id, " + w + " AS w FROM " + tab + ") q WHERE w " +
			g.one("> 1", "= 2", "IS NULL", "<= 3")
	case 1:
		return "SELECT id, SUM(a) OVER w, ROW_NUMBER() OVER w FROM " + tab + " WINDOW w AS (" + part +
			order + ")"
	case 2:
		return "SELECT k, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)), SUM(COUNT(*)) OVER (ORDER BY k) " +
			"FROM " + tab + " GROUP BY k"
	case 3:
		return "SELECT x.id, SUM(y.k) OVER (PARTITION BY x.k ORDER BY x.id, y.id) FROM " + tab + " x JOIN " +
			g.tab() + " y ON x.a = y.a"
	}
	return "SELECT id, " + over() + " AS w1, " + over() + " AS w2 FROM " + tab + " WHERE " + g.cond("")
}

func (g *breadth) subquery() string {
	t, u := g.tab(), g.tab()
	link := g.one("y.k = x.k", "y.a = x.a", "y.id = x.k", "y.a < x.b", "y.c = x.c", "y.g = x.g", "y.e = x.e",
		"y.id <> x.id AND y.k = x.k")
	agg := g.one("COUNT(*)", "MAX(y.a)", "SUM(y.d)", "MIN(y.e)", "COUNT(DISTINCT y.k)", "SUM(y.a + x.k)",
		"AVG(y.a)")
	switch g.n(14) {
	case 0:
		return "SELECT x.id, (SELECT " + agg + " FROM " + u + " y WHERE " + link + ") AS s FROM " + t + " x"
	case 1:
		return "SELECT x.id FROM " + t + " x WHERE " + g.one("EXISTS", "NOT EXISTS") + " (SELECT 1 FROM " +
			u + " y WHERE " + link + " AND " + g.cond("y.") + ")"
	case 2:
		return "SELECT x.id FROM " + t + " x WHERE " + g.num("x.") + g.one(" IN ", " NOT IN ") + "(SELECT " +
			g.num("y.") + " FROM " + u + " y WHERE " + g.one(link, g.cond("y.")) + ")"
	case 3:
		return "SELECT x.id FROM " + t + " x WHERE " + g.one("x.a", "x.b", "x.k", "x.id") +
			g.one(" > ", " < ", " = ", " <> ", " >= ") + g.one("ANY", "ALL", "SOME") + " (SELECT " +
			g.one("y.a", "y.b", "y.k", "y.id") + " FROM " + u + " y WHERE " + g.one(link, g.cond("y.")) + ")"
	case 4:
		return "SELECT x.id FROM " + t + " x WHERE (x.a, x.k)" + g.one(" IN ", " NOT IN ") +
			"(SELECT y.a, y.k FROM " + u + " y WHERE " + g.cond("y.") + ")"
	case 5:
		return "SELECT q.k, q.s, x.id FROM (SELECT k, SUM(a) AS s FROM " + u + " GROUP BY k) q " +
			g.one("JOIN", "LEFT JOIN") + " " + t + " x ON x.k = q.k"
	case 6:
		return "SELECT x.id FROM " + t + " x WHERE " + g.one("x.a", "x.d", "x.id") +
			g.one(" = ", " > ", " <= ") + "(SELECT " + g.one("MAX(a)", "MIN(d)", "COUNT(*)", "AVG(a)") +
			" FROM " + u + " WHERE " + g.cond("") + ")"
	case 7:
		return "SELECT k, SUM(a) FROM " + t + " GROUP BY k HAVING SUM(a) > (SELECT MIN(a) FROM " + u + ")"
	case 8:
		return "SELECT x.id FROM " + t + " x WHERE EXISTS (SELECT 1 FROM " + u +
			" y WHERE y.k = x.k AND EXISTS (SELECT 1 FROM " + g.tab() + " z WHERE z.a = y.a AND z.id " +
			g.one("<> ", "= ", "> ") + "x.id))"
	case 9:
		return "SELECT x.id, CASE WHEN x.a IN (SELECT a FROM " + u +
			") THEN 'in' WHEN EXISTS (SELECT 1 FROM " + u + " y WHERE " + link +
			") THEN 'ex' ELSE 'no' END FROM " + t + " x"
	case 10:
		return "SELECT x.id, (SELECT y.id FROM " + u + " y WHERE " + link +
			" ORDER BY y.id DESC LIMIT 1) AS s FROM " + t + " x ORDER BY s, x.id"
	case 11:
		return "SELECT q.id, q.v FROM (SELECT id, " + g.num("") + " AS v FROM " + t + " WHERE " + g.cond("") +
			" ORDER BY id LIMIT 4) q WHERE q.v " + g.one("IS NOT NULL", "> 0", "= 1")
	case 12:
		return "SELECT x.id FROM " + t + " x WHERE x.a = (SELECT MAX(y.a) FROM " + u + " y WHERE " + link +
			") OR x.k IN (SELECT z.k FROM " + g.tab() + " z WHERE z.id = x.id)"
	}
	return "SELECT x.id FROM " + t + " x LEFT JOIN " + u + " y ON " + link +
		" WHERE y.id IS NULL AND x.k NOT IN (SELECT k FROM " + g.tab() + " WHERE a > 2)"
}

func (g *breadth) cte() string {
	t, u := g.tab(), g.tab()
	switch g.n(8) {
	case 0:
		return "WITH q AS (SELECT id, " + g.num("") + " AS v FROM " + t +
			"), r AS (SELECT v, COUNT(*) AS n FROM q GROUP BY v) SELECT q.id, r.n FROM q JOIN r ON q.v = r.v"
	case 1:
		return fmt.Sprintf("WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < %d) "+
			"SELECT r.n, COUNT(x.id), SUM(x.a) FROM r LEFT JOIN %s x ON x.k = r.n GROUP BY r.n", 3+g.n(6), t)
	case 2:
		return "WITH RECURSIVE r AS (SELECT id, a FROM " + t + " WHERE id = 1 UNION SELECT x.id, x.a FROM " +
			t + " x JOIN r ON x.id = r.a) SELECT * FROM r"
	case 3:
		return "WITH q AS (SELECT k, MAX(d) AS m FROM " + t + " GROUP BY k) SELECT x.id FROM " + t +
			" x JOIN q ON x.k = q.k AND x.d = q.m WHERE " + g.cond("x.")
	case 4:
		return "WITH q AS (SELECT * FROM " + t + " WHERE " + g.cond("") + ") SELECT (SELECT COUNT(*) FROM " +
			"q), (SELECT SUM(a) FROM q WHERE k > 0), (SELECT COUNT(*) FROM q x JOIN q y ON x.k = y.k)"
	case 5:
		return fmt.Sprintf("WITH RECURSIVE f (n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b "+
			"FROM f WHERE n < %d) SELECT * FROM f", 5+g.n(20))
	case 6:
		return fmt.Sprintf("WITH RECURSIVE d (day) AS (SELECT DATE'2020-01-01' UNION ALL SELECT day + "+
			"INTERVAL 1 DAY FROM d WHERE day < '2020-01-%02d') SELECT DATE(day), COUNT(x.id) FROM d LEFT "+
			"JOIN %s x ON x.e = d.day GROUP BY day", 2+g.n(20), t)
	}
	return "WITH q AS (SELECT k, a FROM " + t + " UNION SELECT k, b FROM " + u +
		") SELECT k, COUNT(*), SUM(a) FROM q GROUP BY k"
}

func (g *breadth) sets() string {
	cols := g.one("k", "a, k", "id, a", "g", "e", "k, g", "a, b, k", "d")
	part := func() string { return "SELECT " + cols + " FROM " + g.tab() + " WHERE " + g.cond("") }
	op := func() string {
		return g.one(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " UNION ", " EXCEPT ",
			" INTERSECT ALL ", " EXCEPT ALL ")
	}
	switch g.n(4) {
	case 0:
		return part() + op() + part() + op() + part()
	case 1:
		return "(" + part() + ")" + op() + "(" + part() + op() + part() + ")"
	case 2:
		return "SELECT COUNT(*) FROM (" + part() + op() + part() + ") q"
	}
	return part() + op() + part()
}

func (g *breadth) groups() string {
	agg := func() string {
		return g.one("COUNT(*)", "SUM(a)", "AVG(k)", "MIN(d)", "MAX(e)", "COUNT(DISTINCT a)", "COUNT(a)",
			"SUM(DISTINCT k)", "GROUP_CONCAT(id ORDER BY id)",
			"GROUP_CONCAT(DISTINCT k ORDER BY k DESC SEPARATOR '/')", "SUM(d)", "AVG(d)", "BIT_OR(k)",
			"BIT_AND(k)", "BIT_XOR(id)",
			"SUM(a > 1)", "MAX(f)", "MIN(b)", "COUNT(DISTINCT a, k)", "SUM(IF(k > 1, d, 0))",
			"GROUP_CONCAT(g ORDER BY id)", "MAX(a) - MIN(a)", "SUM(a * k)", "COUNT(NULLIF(k, 0))",
			"JSON_LENGTH(JSON_ARRAYAGG(k))")
	}
	by := g.one("k", "k % 2", "a", "LENGTH(c)", "YEAR(e)", "k, a", "a IS NULL", "g", "LEFT(g, 1)",
		"MONTH(e), k")
	q := "SELECT " + by + ", " + agg() + " AS x, " + agg() + " AS y FROM " + g.tab() +
		g.one("", " WHERE "+g.cond("")) + " GROUP BY " + by
	switch g.n(4) {
	case 0:
		return q + " HAVING " + g.one("COUNT(*) > 1", "MAX(k) > 1", "SUM(a) IS NOT NULL", "MIN(id) < 4",
			"MAX(k) >= 1 AND COUNT(*) < 5")
	case 1:
		return "SELECT " + agg() + ", " + agg() + ", " + agg() + " FROM " + g.tab() + " WHERE " + g.cond("")
	case 2:
		by = g.one("k", "k, a", "a", "g, k")
		return "SELECT " + by + ", COUNT(*), SUM(a) FROM " + g.tab() + " GROUP BY " + by + " WITH ROLLUP"
	}
	return q
}

func (g *breadth) collations() string {
	collation := g.one("utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci")
	switch g.n(5) {
	case 0:
		return "SELECT id FROM " + g.tab() + " WHERE c COLLATE " + collation +
			g.one(" = ", " < ", " >= ", " LIKE ") + g.one("'a'", "'AB'", "'b'", "'é'")
	case 1:
		return "SELECT COUNT(DISTINCT c COLLATE " + collation + "), COUNT(DISTINCT g) FROM " + g.tab()
	case 2:
		return "SELECT COUNT(*) FROM " + g.tab() + " GROUP BY c COLLATE " + collation
	case 3:
		return "SELECT id, c " + g.one("REGEXP", "NOT REGEXP", "RLIKE") +
			g.one(" '^a'", " 'b$'", " '[0-9]+'", " 'a|z'") + ", STRCMP(c, 'b'), c IN ('A', 'B'), " +
			"LOCATE('B', c), FIELD(c, 'a', 'b'), c BETWEEN 'a' AND 'B' FROM " + g.tab()
	}
	return "SELECT x.id, y.id FROM " + g.tab() + " x JOIN " + g.tab() + " y ON x.c COLLATE " +
		collation + " = y.c"
}

func (g *breadth) views() string {
	return g.one("SELECT * FROM v0", "SELECT k, COUNT(*), SUM(dd) FROM v0 GROUP BY k",
		"SELECT * FROM v1 WHERE n > 1",
		"SELECT v1.k, v0.id FROM v1 JOIN v0 ON v0.k = v1.k WHERE v1.s IS NOT NULL",
		"SELECT * FROM v2 WHERE b IS NULL",
		"SELECT u, COUNT(*) FROM v0 WHERE id > 2 GROUP BY u ORDER BY u", "SELECT SUM(n) FROM v1",
		"SELECT id FROM v0 WHERE a IN (SELECT s FROM v1)",
		"SELECT x.k FROM v1 x LEFT JOIN v2 y ON x.n = y.id WHERE y.id IS NULL OR y.a > 1")
}

func (g *breadth) joins() string {
	t, u, v := g.tab(), g.tab(), g.tab()
	on := func(p, q string) string {
		return strings.NewReplacer("~", p, "^", q).Replace(g.one("~id = ^id", "~k = ^k", "~a = ^a", "~c = ^c",
			"~a = ^k AND ~id > ^id", "~id = ^a OR ~k = ^id", "~e = ^e", "~a <=> ^a", "~id BETWEEN ^k AND ^a",
			"~g = ^g AND ~k <> ^k"))
	}
	switch g.n(4) {
	case 0:
		return "SELECT x.id, y.id, z.id FROM " + t + " x " + g.one("JOIN ", "LEFT JOIN ") + u + " y ON " +
			on("x.", "y.") + " " + g.one("JOIN ", "LEFT JOIN ", "RIGHT JOIN ") + v + " z ON " +
			on("y.", "z.") + " WHERE " + g.cond("x.")
	case 1:
		return "SELECT x.id, y.id FROM " + t + " x RIGHT JOIN " + u + " y ON " + on("x.", "y.") + " WHERE " +
			g.cond("y.")
	case 2:
		return "SELECT COUNT(*), SUM(k), MAX(id) FROM " + t + " NATURAL JOIN (SELECT id, a FROM " + u + ") y"
	}
	return "SELECT id, x.a, y.b FROM " + t + " x " + g.one("JOIN ", "LEFT JOIN ") + u + " y USING (id" +
		g.one("", ", k") + ") WHERE " + g.cond("x.")
}

func (g *breadth) writing() string {
	t, u := g.tab(), g.tab()
	for u == t {
		u = g.tab()
	}
	switch g.n(10) {
	case 0:
		return "INSERT INTO " + t + " (id, a, k) SELECT id + 20, " + g.one("a", "k", "b + 1") + ", k FROM " +
			u + " WHERE " + g.cond("") + " ON DUPLICATE KEY UPDATE " + t + ".a = VALUES(a) + 1, " + t +
			".b = " + t + ".id"
	case 1:
		return "REPLACE INTO " + t + " (id, a, c, k) SELECT id, a, 'r', k FROM " + u + " WHERE " + g.cond("")
	case 2:
		return "UPDATE " + t + " x JOIN " + u + " y ON x.id = y.id SET x.a = " +
			g.one("y.a", "y.k + 1", "y.id") + ", x.c = 'j' WHERE " + g.cond("y.")
	case 3:
		return "DELETE x FROM " + t + " x JOIN " + u + " y ON x.id = y.id AND x.k = y.k WHERE " + g.cond("y.")
	case 4:
		return "UPDATE " + t + " SET a = (SELECT MAX(k) FROM " + u + " WHERE " + u + ".id = " + t +
			".k) WHERE " + g.cond("")
	case 5:
		return "DELETE FROM " + t + " WHERE id IN (SELECT k FROM " + u + " WHERE a > 4) ORDER BY id LIMIT 2"
	case 6:
		return fmt.Sprintf("INSERT INTO %s (id, a, k, g) VALUES (%d, %d, 1, 'n') ON DUPLICATE KEY UPDATE a "+
			"= IF(VALUES(a) > a, VALUES(a), -a), g = CONCAT(g, '+')", t, 1+g.n(30), g.n(6))
	case 7:
		return "UPDATE " + t + " x, " + u + " y SET x.b = y.b, y.a = 9 WHERE x.id = y.id AND " + g.cond("x.")
	case 8:
		return "DELETE FROM " + t + " WHERE NOT EXISTS (SELECT 1 FROM " + u + " y WHERE y.k = " + t +
			".k) AND id > 8"
	}
	return "UPDATE " + t + " SET d = d + 1.25, e = e + INTERVAL 1 DAY, k = (k + 1) % 4 WHERE " + g.cond("") +
		" ORDER BY id LIMIT 3"
}
