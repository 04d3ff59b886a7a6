package itest

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"moka/tpce/servertest"
)

var (
	randomSeed  = flag.Uint64("random.seed", 1, "first seed of the random scripts")
	randomSeeds = flag.Int("random.n", soaked(40, 1000), "number of random scripts")
)

// TestRandomScripts runs the same random statements on Moka and on MariaDB and compares what a client sees,
// as TestSameAnswers does. The statements are drawn from what both define alike, over few rows and few
// values, so that keys collide, ranges are empty and NULLs are everywhere; half of them are prepared. One
// seed does the same again:
//
//	go test ./cmd/itest -run TestRandomScripts -random.seed=N -random.n=1 -v
func TestRandomScripts(t *testing.T) {
	runScripts(t, *randomSeeds, randomScript)
}

// runScripts runs n scripts on a Moka and on a MariaDB of its own. A script says how many statements it ran
// and whether the answers were the same.
func runScripts(t *testing.T, n int,
	script func(t *testing.T, seed uint64, dbs [2]*sql.DB) (statements int, ok bool)) {
	maria, err := sql.Open("mysql", servertest.StartMariaDB(t).DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { maria.Close() })
	dbs := [2]*sql.DB{start(t, t.TempDir()).db(""), maria}
	statements, failed := 0, 0
	for i := range uint64(n) {
		n, ok := script(t, *randomSeed+i, dbs)
		if statements += n; !ok {
			if failed++; failed == 10 {
				t.Fatal("ten scripts have failed: enough")
			}
		}
	}
	t.Logf("%d statements in %d scripts", statements, n)
}

// freshConns has a connection to each server, in an empty database.
func freshConns(t *testing.T, dbs [2]*sql.DB) (conns [2]*sql.Conn, done func()) {
	t.Helper()
	ctx := context.Background()
	for i, db := range dbs {
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			"ROLLBACK", "DROP DATABASE IF EXISTS rnd",
			"CREATE DATABASE rnd CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "USE rnd",
			"SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET time_zone = '+00:00'",
			"SET sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'",
		} {
			if _, err := c.ExecContext(ctx, q); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
		conns[i] = c
	}
	return conns, func() {
		for _, c := range conns {
			c.Close()
		}
	}
}

func randomScript(t *testing.T, seed uint64, dbs [2]*sql.DB) (n int, ok bool) {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(seed, 7))}
	var script []string
	conns, done := freshConns(t, dbs)
	defer done()
	run := func(q string, args ...any) bool {
		n++
		script = append(script, shown(q, args))
		got, want := reply(t, conns[0], q, args), reply(t, conns[1], q, args)
		// Of several things that are wrong with a statement, which is met first is nobody's promise.
		same := got == want || loose(q) && strings.HasSuffix(got, "affected\n") &&
			strings.HasSuffix(want, "affected\n") ||
			writes(q) && strings.HasPrefix(got, "ERROR") && strings.HasPrefix(want, "ERROR")
		if !same {
			t.Errorf("seed %d, again with -random.seed=%d -random.n=1:\n%s;\nMoka:\n%s\nMariaDB:\n%s", seed,
				seed, strings.Join(script, ";\n"), got, want)
			for _, tab := range g.tables {
				t.Logf("%s on MariaDB:\n%s", tab.name, reply(t, conns[1], "SELECT * FROM "+tab.name, nil))
			}
		}
		return same
	}
	for range 2 {
		if !run(g.createTable()) {
			return n, false
		}
	}
	for _, q := range g.surroundings() {
		if !run(q) {
			return n, false
		}
	}
	for range 60 {
		g.prepared, g.args = g.rng.IntN(2) == 0, nil
		q := g.statement()
		if !run(q, g.args...) {
			return n, false
		}
	}
	if !run("ROLLBACK") {
		return n, false
	}
	for _, tab := range g.tables {
		g.seen = append(g.seen, tab.name)
	}
	for _, tab := range g.seen {
		columns := "*"
		if tab == "trail" { // in which order a statement finds its rows is nobody's promise
			columns = "what, id, was, v"
		}
		if !run("SELECT " + columns + " FROM " + tab) {
			return n, false
		}
		if got := reply(t, conns[0], "CHECK TABLE "+tab, nil); !strings.Contains(got, "\tOK") {
			t.Errorf("seed %d:\n%s;\nCHECK TABLE: %s", seed, strings.Join(script, ";\n"), got)
			return n, false
		}
	}
	return n, true
}

// loose tells statements whose number of rows is counted otherwise: REPLACE of a row in whose way are several
// counts one of them, and an upsert that changes nothing is sometimes counted by MariaDB.
func loose(q string) bool {
	return strings.HasPrefix(q, "ALTER") || strings.HasPrefix(q, "REPLACE") ||
		strings.Contains(q, "ON DUPLICATE KEY")
}

func writes(q string) bool { return !strings.Contains(q, "SELECT") }

func shown(q string, args []any) string {
	for _, a := range args {
		text := fmt.Sprint(a)
		switch a := a.(type) {
		case nil:
			text = "NULL"
		case string:
			text = "'" + a + "'"
		}
		q = strings.Replace(q, "?", text, 1)
	}
	if len(args) > 0 {
		q = "/* prepared */ " + q
	}
	return q
}

// reply is what a client sees of one statement.
func reply(t *testing.T, c *sql.Conn, q string, args []any) string {
	t.Helper()
	if w := strings.Fields(q)[0]; w != "SELECT" && w != "(SELECT" && w != "CHECK" && w != "WITH" {
		r, err := c.ExecContext(context.Background(), q, args...)
		if err != nil {
			return failure(t, q, err)
		}
		n, _ := r.RowsAffected()
		return fmt.Sprintf("%d rows affected\n", n)
	}
	rows, err := c.QueryContext(context.Background(), q, args...)
	if err != nil {
		return failure(t, q, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	lines := printed(t, rows, cols)
	if err := rows.Err(); err != nil {
		return failure(t, q, err)
	}
	if !strings.Contains(q, "ORDER BY") || strings.Contains(q, "UNION") || strings.Contains(q, " OVER (") {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n") + "\n"
}

type generator struct {
	rng      *rand.Rand
	tables   []*randomTable
	prepared bool
	args     []any
	began    bool
	points   int

	family, view, generated bool
	seen                    []string // more tables
	altered                 int
}

type randomTable struct {
	name    string
	key     []string // primary
	quiet   bool     // no statements over several tables change it
	watched bool     // by triggers, which upserts do not set off
	unique  []string // columns with a unique index of their own
}

func (g *generator) one(s ...string) string { return s[g.rng.IntN(len(s))] }

func (g *generator) sometimes(n int) bool { return g.rng.IntN(n) == 0 }

var randomColumns = []struct{ name, def string }{
	{"a", "INT"}, {"b", "BIGINT"}, {"c", "VARCHAR(12)"}, {"d", "DECIMAL(8,2)"}, {"e", "DATE"},
	{"f", "DATETIME"}, {"g", "VARCHAR(12) COLLATE utf8mb4_bin"},
	{"h", "TINYINT UNSIGNED"}, {"i", "ENUM('red','green','blue')"}, {"j", "VARBINARY(8)"},
}

// createTable has all columns, so that statements need not know which there are; keys differ.
func (g *generator) createTable() string {
	t := &randomTable{name: fmt.Sprintf("t%d", len(g.tables))}
	g.tables = append(g.tables, t)
	t.key = [][]string{{"id"}, {"id"}, {"c", "id"}, {"id", "d"}, {"g"}, {"e", "a"}}[g.rng.IntN(6)]
	defs := []string{"id INT NOT NULL DEFAULT 7"}
	for _, c := range randomColumns {
		null := g.one("", " DEFAULT 3", " NOT NULL DEFAULT 1")
		if c.name == "e" || c.name == "f" {
			null = g.one("", " DEFAULT '2020-01-01'")
		}
		if c.name == "i" {
			null = g.one("", " DEFAULT 'red'")
		}
		if slices.Contains(t.key, c.name) {
			null = " NOT NULL"
		}
		defs = append(defs, c.name+" "+c.def+null)
	}
	defs = append(defs, "PRIMARY KEY ("+strings.Join(t.key, ", ")+")")
	for i := range g.rng.IntN(4) {
		var cols []string
		for _, k := range g.rng.Perm(len(randomColumns))[:1+g.rng.IntN(3)] {
			cols = append(cols, randomColumns[k].name)
		}
		unique := ""
		if g.sometimes(3) {
			unique = "UNIQUE "
			if len(cols) == 1 {
				t.unique = append(t.unique, cols[0])
			}
		}
		defs = append(defs, fmt.Sprintf("%sKEY k%d (%s)", unique, i, strings.Join(cols, ", ")))
	}
	return "CREATE TABLE " + t.name + " (" + strings.Join(defs, ", ") + ")"
}

// lit gives a value to the statement: as a parameter or in its text.
func (g *generator) lit(v any) string {
	if g.prepared {
		g.args = append(g.args, v)
		return "?"
	}
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + v + "'"
	}
	return fmt.Sprint(v)
}

// value draws one for a column: few, so that they meet.
func (g *generator) value(col string) any {
	if g.sometimes(12) && col != "id" {
		return nil
	}
	n := g.rng.IntN(12)
	switch col {
	case "a", "b":
		if g.sometimes(30) {
			return g.one("9", "-1", "3000000000")
		}
		return int64(n - 4)
	case "c", "g":
		if g.sometimes(4) {
			if col == "g" { // with 'a\t' LIKE 'a%' MariaDB's index and its table have different answers
				return []string{" ", "a ", "A  ", "b ", "ab ", "a b", "abc ", "é ", "a!", "a  ", "a  b",
					"zebra "}[n]
			}
			return []string{" ", "a ", "A  ", "b ", "ab ", "a b", "abc ", "é ", "a!", "a \t", "a\t",
				"zebra "}[n]
		}
		return []string{"", "a", "A", "b", "ab", "Ab", "abc", "é", "e", "10", "B", "zebra"}[n]
	case "d":
		return fmt.Sprintf("%d.%02d", n-5, 25*g.rng.IntN(4))
	case "e":
		return fmt.Sprintf("2020-%02d-%02d", 1+n/4, 1+n)
	case "f":
		return fmt.Sprintf("2020-01-%02d %02d:00:00", 1+n/4, n)
	case "h":
		if g.sometimes(30) {
			return int64(300)
		}
		return int64(n)
	case "i":
		return g.one("red", "green", "blue", "Blue")
	case "j":
		return []string{"", "a", "A", "b", "ab", "abc", "b ", "x1", "x2", "x3", "x4", "x5"}[n]
	}
	return int64(n)
}

func (g *generator) table() *randomTable { return g.tables[g.rng.IntN(len(g.tables))] }

func (g *generator) column() string {
	if g.sometimes(4) {
		return "id"
	}
	return randomColumns[g.rng.IntN(len(randomColumns))].name
}

func (g *generator) statement() string {
	switch n := g.rng.IntN(100); {
	case n < 28:
		return g.insert()
	case n < 40:
		return g.update()
	case n < 46:
		return g.delete()
	case n < 48:
		return g.many()
	case n < 52:
		g.prepared = false
		return g.transaction()
	case n < 54 && !g.began:
		g.prepared = false
		return g.alter()
	case n < 70:
		return g.expression()
	default:
		return g.query()
	}
}

func (g *generator) transaction() string {
	if !g.began {
		g.began, g.points = true, 0
		return "BEGIN"
	}
	switch g.rng.IntN(4) {
	case 0:
		g.points++
		return fmt.Sprintf("SAVEPOINT s%d", g.points)
	case 1:
		if g.points > 0 {
			p := 1 + g.rng.IntN(g.points)
			g.points = p
			return fmt.Sprintf("ROLLBACK TO SAVEPOINT s%d", p)
		}
		fallthrough
	case 2:
		g.began = false
		return "ROLLBACK"
	}
	g.began = false
	return "COMMIT"
}

func (g *generator) insert() string {
	t := g.table()
	cols := slices.Clone(t.key)
	for _, c := range randomColumns {
		if !slices.Contains(cols, c.name) && !g.sometimes(4) {
			cols = append(cols, c.name)
		}
	}
	if !slices.Contains(cols, "id") && !g.sometimes(3) {
		cols = append(cols, "id")
	}
	verb := g.one("INSERT", "INSERT", "INSERT", "INSERT IGNORE", "REPLACE")
	if t.watched && verb == "REPLACE" {
		verb = "INSERT"
	}
	var rows []string
	for range 1 + g.rng.IntN(3)*g.rng.IntN(2) {
		var vs []string
		for _, c := range cols {
			v := g.value(c)
			if verb == "INSERT IGNORE" { // what is coerced with a warning is another script's subject
				for v == nil || v == "3000000000" || v == int64(300) {
					v = g.value(c)
				}
			}
			vs = append(vs, g.lit(v))
		}
		rows = append(rows, "("+strings.Join(vs, ", ")+")")
	}
	q := fmt.Sprintf("%s INTO %s (%s) VALUES %s", verb, t.name, strings.Join(cols, ", "),
		strings.Join(rows, ", "))
	if verb == "INSERT" && g.sometimes(4) && len(t.unique) == 0 && !t.watched {
		c := g.one("a", "b", "h")
		if !slices.Contains(t.key, c) {
			set := g.one("VALUES("+c+")", c+" + 1", "")
			if set == "" {
				set = g.lit(g.value(c))
			}
			q += " ON DUPLICATE KEY UPDATE " + c + " = " + set
		}
	}
	return q
}

func (g *generator) order(t *randomTable) string { return " ORDER BY " + strings.Join(t.key, ", ") }

func (g *generator) update() string {
	t := g.table()
	var sets []string
	for range 1 + g.rng.IntN(2) {
		c := g.column()
		if slices.ContainsFunc(sets, func(s string) bool { return strings.HasPrefix(s, c+" ") }) {
			continue
		}
		v := c + g.one(" + 1", " - 1", " * 2")
		if c != "a" && c != "b" && c != "id" || g.sometimes(2) {
			v = g.lit(g.value(c))
		}
		sets = append(sets, c+" = "+v)
	}
	q := "UPDATE " + t.name + " SET " + strings.Join(sets, ", ") + g.where(t, "") + g.order(t)
	if g.sometimes(3) {
		q += fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(3))
	}
	return q
}

func (g *generator) delete() string {
	t := g.table()
	q := "DELETE FROM " + t.name + " WHERE " + g.cond(t, "", 1)
	if g.sometimes(2) {
		q += g.order(t) + fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(2))
	}
	return q
}

func (g *generator) where(t *randomTable, alias string) string {
	if g.sometimes(5) {
		return ""
	}
	return " WHERE " + g.cond(t, alias, 2)
}

func (g *generator) cond(t *randomTable, alias string, depth int) string {
	if depth > 0 && g.sometimes(2) {
		op := g.one(" AND ", " AND ", " OR ")
		return "(" + g.cond(t, alias, depth-1) + op + g.cond(t, alias, depth-1) + ")"
	}
	if depth > 0 && g.sometimes(10) {
		return "NOT (" + g.cond(t, alias, depth-1) + ")"
	}
	c := g.column()
	if g.sometimes(3) {
		c = t.key[g.rng.IntN(len(t.key))]
	}
	name, v := alias+c, func() string { return g.lit(g.value(c)) }
	n := g.rng.IntN(12)
	if c == "g" && n == 6 && g.prepared {
		n = 0 // MariaDB compares the column with parameters by the connection's collation, not the column's
	}
	switch n {
	case 0, 1, 2, 3:
		return name + " = " + v()
	case 4:
		return name + g.one(" < ", " <= ", " > ", " >= ") + v()
	case 5:
		return name + g.one(" < ", " <= ", " > ", " >= ") + v()
	case 6:
		return name + g.one(" BETWEEN ", " NOT BETWEEN ") + v() + " AND " + v()
	case 7:
		return name + g.one(" IN (", " NOT IN (") + v() + ", " + v() + ", " + v() + ")"
	case 8:
		return name + g.one(" IS NULL", " IS NOT NULL")
	case 9:
		return name + g.one(" <> ", " <=> ") + v()
	case 10:
		if c == "c" || c == "g" {
			return name + " LIKE " + g.lit(
				g.one("a%", "A%", "%b", "_b%", "zebra", "%", "a ", "a %", "a_", "zebra "))
		}
		return name + " = " + v()
	}
	return g.one(alias+"a", alias+"id") + g.one(" = ", " < ", " <> ") + g.one(alias+"b", alias+"h")
}

func (g *generator) query() string {
	t := g.table()
	switch g.rng.IntN(10) {
	case 0:
		return "SELECT " + g.one("COUNT(*), MIN(a), MAX(b)", "COUNT(c), LOWER(TRIM(MIN(c))), MAX(e)",
			"COUNT(DISTINCT a), SUM(b)", "SUM(a), MAX(f), MIN(d)", "MIN(id), RTRIM(MAX(g)), COUNT(i)") +
			" FROM " + t.name + g.where(t, "")
	case 1:
		c := g.column()
		q := "SELECT " + g.keyText(c) + " AS v, COUNT(*), SUM(id), MIN(b) FROM " + t.name + g.where(t, "") +
			" GROUP BY " + c
		if g.sometimes(3) {
			q += " HAVING COUNT(*) > 1"
		}
		return q
	case 2:
		u := g.table()
		on := g.one("x.id = y.id", "x.a = y.a", "x.c = y.c", "x.g = y.g AND x.a = y.b", "x.e = y.e",
			"x.b = y.id", "x.d = y.d", "x.id = y.h")
		return "SELECT x.id, x.a, y.id, y.g FROM " + t.name + " x " + g.one("JOIN ", "LEFT JOIN ", "JOIN ") +
			u.name + " y ON " + on + g.where(t, "x.")
	case 3:
		u := g.table()
		c := g.one("a", "b", "id", "c", "e")
		return "SELECT id, a, b FROM " + t.name + " WHERE " + c + g.one(" IN ", " NOT IN ") + "(SELECT " + c +
			" FROM " + u.name + g.where(u, "") + ")"
	case 4:
		u := g.table()
		return "SELECT id, c FROM " + t.name + " x WHERE " + g.one("EXISTS", "NOT EXISTS") +
			" (SELECT 1 FROM " + u.name + " y WHERE " +
			g.one("y.a = x.b", "y.id = x.id AND y.a < x.b", "y.c = x.c", "y.id > x.id") + ")"
	case 5:
		c := g.column()
		return "SELECT DISTINCT " + g.keyText(c) + " FROM " + t.name + g.where(t, "")
	}
	cols := g.one("*", "id, a, b", "c, d, e, f", "g, h, i, j", "id + 1, a * 2, UPPER(g), b IS NULL",
		"COALESCE(a, b, id), LENGTH(c), CONCAT(g, '-', id)")
	q := "SELECT " + cols + " FROM " + t.name + g.where(t, "")
	switch g.rng.IntN(3) {
	case 0:
		q += g.order(t)
		if g.sometimes(2) {
			q += fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(4))
			if g.sometimes(3) {
				q += fmt.Sprintf(" OFFSET %d", g.rng.IntN(4))
			}
		}
	case 1:
		c := g.column()
		q += " ORDER BY " + c + g.one("", " DESC") + ", " + strings.Join(t.key, ", ")
		if g.sometimes(2) {
			q += fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(4))
		}
	}
	if g.began && g.sometimes(5) {
		q += " FOR UPDATE"
	}
	return q
}

// keyText is a column such that what stands for a group of equal texts does not show.
func (g *generator) keyText(c string) string {
	if c == "c" {
		return "LOWER(TRIM(REPLACE(c, 'é', 'e')))"
	}
	if c == "g" {
		return "RTRIM(g)"
	}
	return c
}

// surroundings are things that statements set off, for some scripts.
func (g *generator) surroundings() (qs []string) {
	if g.sometimes(3) {
		qs = append(qs, "CREATE TABLE trail (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(10), id INT, "+
			"was INT, v BIGINT)")
		g.tables[0].watched = true
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			if g.sometimes(2) {
				continue
			}
			row := "NEW"
			if event == "DELETE" {
				row = "OLD"
			}
			was := row + ".id"
			if event == "UPDATE" {
				was = "OLD.id"
			}
			qs = append(qs, fmt.Sprintf("CREATE TRIGGER tr_%s AFTER %s ON t0 FOR EACH ROW INSERT INTO "+
				"trail (what, id, was, v) VALUES ('%s', %s.id, %s, %s.b)",
				event, event, event, row, was, row))
		}
		g.tables[0].quiet = true
		g.seen = append(g.seen, "trail")
	}
	if g.sometimes(3) {
		action := g.one("", " ON DELETE CASCADE", " ON DELETE SET NULL",
			" ON DELETE CASCADE ON UPDATE CASCADE", " ON UPDATE CASCADE")
		qs = append(qs, "CREATE TABLE parent (id INT PRIMARY KEY, v INT)",
			"INSERT INTO parent VALUES (0,0),(1,1),(2,2),(3,3),(4,4),(5,5)",
			"CREATE TABLE child (id INT PRIMARY KEY, p INT, v INT, FOREIGN KEY (p) REFERENCES parent (id)"+action+")")
		g.family = true
		g.seen = append(g.seen, "parent", "child")
	}
	if g.sometimes(3) {
		qs = append(qs, "CREATE VIEW vw AS SELECT id, a, b, c, UPPER(g) AS ug FROM t0 WHERE a IS NOT NULL")
		g.view = true
	}
	if g.sometimes(3) {
		qs = append(qs, "CREATE TABLE gen (id INT PRIMARY KEY, a INT, b VARCHAR(12), s INT AS (a * 2 + id) "+
			"STORED, u VARCHAR(20) AS (CONCAT(b, '/', a)) STORED, KEY (s), KEY (u, id))")
		g.generated = true
		g.seen = append(g.seen, "gen")
	}
	return qs
}

// many are statements over several tables, and those of the surroundings.
func (g *generator) many() string {
	t, u := g.tables[0], g.tables[1]
	id := func() string { return g.lit(int64(g.rng.IntN(7))) }
	switch n := g.rng.IntN(10); {
	case n < 4 && g.family:
		switch g.rng.IntN(6) {
		case 0, 1:
			return "INSERT INTO child VALUES (" + id() + ", " + id() + ", 1)"
		case 2:
			return "UPDATE child SET p = " + id() + " WHERE id = " + id()
		case 3:
			return "DELETE FROM parent WHERE id = " + id()
		case 4:
			return "UPDATE parent SET id = " + id() + " WHERE id = " + id()
		}
		return "INSERT INTO parent VALUES (" + id() + ", 9)"
	case n < 6 && g.generated:
		switch g.rng.IntN(4) {
		case 0, 1:
			return "INSERT INTO gen (id, a, b) VALUES (" + id() + ", " + g.lit(g.value("a")) + ", " +
				g.lit(g.value("c")) + ")"
		case 2:
			return "UPDATE gen SET a = " + g.lit(int64(g.rng.IntN(9))) + " WHERE s > " + id()
		}
		return "DELETE FROM gen WHERE u = " + g.lit(g.one("a/1", "b/2", "A/3"))
	case n == 6 && !g.tables[0].quiet:
		return "UPDATE " + t.name + " x JOIN " + u.name + " y ON x.id = y.id SET x.a = 5, x.j = 'x1' WHERE " +
			g.cond(u, "y.", 1)
	case n == 7 && !g.tables[0].quiet:
		return "DELETE x FROM " + t.name + " x JOIN " + u.name + " y ON x.id = y.id AND x.a = y.b WHERE " +
			g.cond(u, "y.", 1)
	}
	return "INSERT IGNORE INTO " + u.name + " (id, a, b, c, d, e, g, h) SELECT id, 1, 2, COALESCE(c, 'n'), " +
		"1.5, '2020-02-02', COALESCE(g, 'n'), 3 FROM " + t.name + " WHERE " + g.cond(t, "", 1) +
		" ORDER BY id, " + strings.Join(t.key, ", ")
}

// alter changes a table between transactions.
func (g *generator) alter() string {
	t := g.table()
	g.altered++
	switch g.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("ALTER TABLE %s ADD COLUMN x%d INT DEFAULT %d", t.name, g.altered, g.altered)
	case 1:
		return fmt.Sprintf("ALTER TABLE %s ADD COLUMN x%d VARCHAR(5) NOT NULL DEFAULT 'q' AFTER a", t.name,
			g.altered)
	case 2:
		return fmt.Sprintf("CREATE INDEX y%d ON %s (%s)", g.altered, t.name,
			g.one("a", "b, c", "h, g", "c", "f", "e, a"))
	case 3:
		return fmt.Sprintf("ALTER TABLE %s MODIFY b DECIMAL(20,0)", t.name)
	}
	return fmt.Sprintf("ALTER TABLE %s MODIFY c VARCHAR(20)%s", t.name, g.one(" NOT NULL DEFAULT 'z'", ""))
}

// expression asks for what functions and operators make of values.
func (g *generator) expression() string {
	t := g.table()
	number := func() string {
		return g.one("a", "b", "id", "h", "d", "LENGTH(c)", "CHAR_LENGTH(g)", "ABS(a)", "MOD(id, 3)",
			"id DIV 2", "a - b", "d * 2", "d + a", "FLOOR(d)", "CEIL(d)", "ROUND(d, 1)", "ROUND(d)",
			"TRUNCATE(d, 1)", "LOCATE('b', g)", "INSTR(c, 'A')", "FIELD(g, 'a', 'b')",
			"FIND_IN_SET(c, 'b,a,ab')", "SIGN(a)",
			"GREATEST(id, h)", "IFNULL(a, -1)", "NULLIF(id, 3)", "YEAR(e)", "MONTH(f)", "DAYOFMONTH(e)",
			"HOUR(f)", "DATEDIFF(e, '2020-01-01')", "CAST(d AS SIGNED)", "(a & 3)", "(id | 8)", "(a IS NULL)",
			"(a <=> b)", "(a = b)", "(NOT a)", "(a AND b)", "(a OR h)", "-a", "ASCII(g)",
			"CASE WHEN a > 2 THEN 1 WHEN a IS NULL THEN 2 ELSE 3 END", "IF(a > b, a, b)",
			"COALESCE(b, a)", "TIMESTAMPDIFF(DAY, '2020-01-01', f)", "STRCMP(g, 'b')", "CRC32(g)", "i + 0",
			"(a IN (1, 2, NULL))", "(a BETWEEN 1 AND b)")
	}
	texts := func() string {
		return g.one("c", "g", "UPPER(c)", "LOWER(g)", "CONCAT(g, '+', a)", "CONCAT_WS('-', g, c, a)",
			"SUBSTRING(g, 2)", "LEFT(c, 1)", "RIGHT(g, 2)", "REPLACE(g, 'b', 'xx')", "TRIM(g)",
			"RPAD(id, 4, '-')",
			"REVERSE(g)", "LPAD(g, 3, 'é')", "RPAD(g, 4, 'xy')", "INSERT(g, 2, 1, 'é')", "LEFT(g, 2)",
			"REPEAT(g, 2)", "DATE_FORMAT(f, '%Y/%m-%d %H')", "DATE_ADD(e, INTERVAL 3 DAY)",
			"e + INTERVAL 1 MONTH", "DATE_SUB(f, INTERVAL 90 MINUTE)", "LAST_DAY(e)", "DATE(f)", "HEX(g)",
			"IFNULL(g, 'none')", "i", "ELT(h, 'one', 'two')",
			"CAST(a AS CHAR)", "SUBSTRING_INDEX(CONCAT(g, '.', c), '.', 1)",
			"CASE g WHEN 'a' THEN 'first' ELSE g END", "MID(g, 1, 2)", "HEX(j)", "CAST(e AS DATETIME)")
	}
	switch g.rng.IntN(8) {
	case 0:
		return "SELECT " + g.one("AVG(a)", "SUM(d)", "AVG(d)", "SUM(a + b)", "COUNT(DISTINCT a, b)", "MAX(d)",
			"SUM(DISTINCT h)", "GROUP_CONCAT(id ORDER BY id SEPARATOR ':')", "BIT_OR(h)",
			"COUNT(NULLIF(a, 1))", "RTRIM(MIN(UPPER(g)))", "SUM(a > 1)") +
			" FROM " + t.name + g.where(t, "")
	case 1:
		n := number()
		if g.sometimes(4) {
			n = g.one("UPPER(LEFT(g, 1))", "RTRIM(CONCAT(g, '-'))", "LOWER(TRIM(REPLACE(c, 'é', 'e')))",
				"LPAD(g, 2, '.')")
		}
		return "SELECT " + n + " AS v, COUNT(*), SUM(d), MAX(id) FROM " + t.name + g.where(t, "") +
			" GROUP BY " + n
	case 2:
		u := g.table()
		return "SELECT id, (SELECT " + g.one("COUNT(*)", "MAX(y.a)", "RTRIM(MIN(y.g))", "SUM(y.d)") +
			" FROM " + u.name + " y WHERE y.id = x.id) AS v FROM " + t.name + " x" + g.where(t, "x.")
	case 3:
		return "SELECT id, a FROM " + t.name + g.where(t, "") + g.one(" UNION ", " UNION ALL ") +
			"SELECT b, h FROM " + g.table().name + g.where(t, "")
	case 4:
		u := g.table()
		return "SELECT x.id, y.a, z.b FROM " + t.name + " x " + g.one("JOIN ", "LEFT JOIN ") + u.name +
			" y ON x.id = y.a " + g.one("JOIN ", "LEFT JOIN ") + g.table().name + " z ON z.id = y.id" +
			g.where(t, "x.")
	case 5:
		if g.view {
			return "SELECT " + g.one("*", "ug, COUNT(*)", "id, a") + " FROM vw" +
				g.one(" GROUP BY ug, id, a, b, c", " WHERE id > 3 GROUP BY ug, id, a, b, c")
		}
		return "SELECT id, ROW_NUMBER() OVER (ORDER BY id, " + strings.Join(t.key, ", ") +
			"), SUM(id) OVER (PARTITION BY h), COUNT(*) OVER (ORDER BY " +
			g.one("h, g", "c, a", "a, b, d", "g", "i, c") + "), SUM(id) OVER (PARTITION BY " +
			g.one("g", "c", "a") + " ORDER BY " + g.one("c, h", "b, g") + ") FROM " + t.name + g.where(t, "")
	case 6:
		return "SELECT " + strings.Join(t.key, ", ") + ", " + number() + " AS v, " + texts() + " AS w FROM " +
			t.name + " ORDER BY v, " + strings.Join(t.key, ", ") + fmt.Sprintf(" LIMIT %d", 1+g.rng.IntN(5))
	}
	return "SELECT " + number() + ", " + number() + ", " + texts() + ", " + texts() + " FROM " + t.name +
		" WHERE " + g.one(number()+" > "+number(), number()+" = "+number(),
		number()+" < "+g.one("0", "2", "3.5"), number()+" IS NOT NULL")
}
