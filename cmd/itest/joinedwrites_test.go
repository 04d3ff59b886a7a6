package itest

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRandomJoinedWrites runs random UPDATEs and DELETEs of several tables on Moka and on MariaDB, between
// tables with triggers that change what is stored, foreign keys, a CHECK, a generated column, and one without
// a primary key. What a row is assigned does not depend on which of its matches the join meets first, and
// what triggers add up not on the order of the tables: neither is anybody's promise.
func TestRandomJoinedWrites(t *testing.T) { runScripts(t, *randomSeeds, joinedWrites) }

// joinedFrom is one FROM clause: the tables by their aliases. No column that leads to a third table is
// assigned to: MariaDB, which may change the first table while it reads, goes on with the new value.
type joinedFrom struct {
	from    string
	aliases []string // with the table behind a slash
	more    string   // an assignment that a match determines
}

var joins = []joinedFrom{
	{"p JOIN c ON c.pid = p.id", []string{"p/p", "c/c"}, "c.y = p.a"},
	{"p LEFT JOIN c ON c.pid = p.id", []string{"p/p", "c/c"}, "c.y = p.a"},
	{"c LEFT JOIN p ON c.pid = p.id", []string{"c/c", "p/p"}, "c.y = p.id"},
	{"c RIGHT JOIN p ON c.pid = p.id AND c.x > 2", []string{"c/c", "p/p"}, "c.y = p.t"},
	{"p, c", []string{"p/p", "c/c"}, ""},
	{"p JOIN c ON c.pid = p.id JOIN k ON k.a = c.id", []string{"p/p", "c/c", "k/k"}, ""},
	{"k JOIN p ON k.a = p.id", []string{"k/k", "p/p"}, "k.b = p.id"},
	{"p LEFT JOIN k ON k.a = p.id", []string{"p/p", "k/k"}, ""},
	{"p x JOIN p y ON y.id = x.id + 1", []string{"x/p1", "y/p2"}, ""},
	{"c x JOIN p ON x.pid = p.id JOIN c y ON y.pid = p.id", []string{"x/c1", "p/p", "y/c2"}, ""},
	{"k x JOIN k y ON x.a = y.b", []string{"x/k1", "y/k2"}, ""},
	{"p JOIN (SELECT pid, COUNT(*) AS n FROM c GROUP BY pid) g ON g.pid = p.id", []string{"p/p"},
		"p.a = g.n"},
	{"k JOIN k z ON k.a = z.a", []string{"k/k"}, ""},
}

// assignments are by the table, and for a table that is joined with itself by the alias: two that assign to
// one column of the same row would be a matter of their order.
var assignments = map[string][]string{
	"p": {"@.a = @.a + 1", "@.a = 7", "@.n = @.id", "@.s = CONCAT('v', @.a)", "@.a = @.a", "@.q = ?",
		"@.a = 60", "@.n = @.a, @.a = @.n", "@.s = UPPER(@.s)"},
	"c":  {"@.x = @.x + 1", "@.x = 3", "@.y = NULL", "@.x = NULL", "@.y = @.x, @.x = 1", "@.pid = ?"},
	"k":  {"@.b = @.b + 1", "@.b = @.a, @.a = @.b", "@.a = ?"},
	"p1": {"@.a = @.a + 1", "@.s = 'one'"}, "p2": {"@.n = @.id", "@.q = NULL"},
	"c1": {"@.x = @.x + 1"}, "c2": {"@.y = @.x"},
	"k1": {"@.b = 3"}, "k2": {"@.a = 4"},
}

func joinedWrites(t *testing.T, seed uint64, dbs [2]*sql.DB) (n int, ok bool) {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(seed, 11))}
	conns, done := freshConns(t, dbs)
	defer done()
	var script []string
	run := func(q string, args ...any) bool {
		n++
		script = append(script, shown(q, args))
		got, want := reply(t, conns[0], q, args), reply(t, conns[1], q, args)
		failed := strings.HasPrefix(got, "ERROR") && strings.HasPrefix(want, "ERROR")
		if got == want || failed && !strings.HasPrefix(q, "SELECT") {
			return true
		}
		t.Errorf("seed %d:\n%s;\nMoka:\n%s\nMariaDB:\n%s", seed, strings.Join(script, ";\n"), got, want)
		return false
	}
	action := g.one("", "", ", FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE")
	setup := []string{
		"CREATE TABLE p (id INT PRIMARY KEY, a INT, n INT, s VARCHAR(10), q INT UNIQUE, " +
			"t INT NOT NULL DEFAULT 0, g INT AS (a * 2) STORED, CHECK (a < 50))",
		"CREATE TABLE c (id INT PRIMARY KEY, pid INT, x INT NOT NULL DEFAULT 0, y INT, KEY (pid)" +
			action + ")",
		"CREATE TABLE k (a INT, b INT" + g.one("", ", KEY (a)") + ")",
		"CREATE TABLE log (n INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(10), id INT, was INT, v INT)",
	}
	for _, trigger := range []string{
		"p1 BEFORE UPDATE ON p FOR EACH ROW SET NEW.t = OLD.t + 1",
		"p2 AFTER UPDATE ON p FOR EACH ROW INSERT INTO log (what, id) VALUES ('p', OLD.id)",
		"p3 BEFORE DELETE ON p FOR EACH ROW INSERT INTO log (what, id, was) VALUES ('p gone', OLD.id, OLD.t)",
		"c1 BEFORE UPDATE ON c FOR EACH ROW SET NEW.x = COALESCE(NEW.x, 0)",
		"c2 AFTER UPDATE ON c FOR EACH ROW INSERT INTO log (what, id) VALUES ('c', NEW.id)",
		"c3 AFTER DELETE ON c FOR EACH ROW INSERT INTO log (what, id, was) VALUES ('c gone', OLD.id, OLD.x)",
		"k1 BEFORE UPDATE ON k FOR EACH ROW INSERT INTO log (what, was, v) VALUES ('k', OLD.a, NEW.a)",
	} {
		if g.sometimes(2) {
			setup = append(setup, "CREATE TRIGGER "+trigger)
		}
	}
	for _, q := range setup {
		if !run(q) {
			return n, false
		}
	}
	tables := []string{"SELECT * FROM p", "SELECT * FROM c", "SELECT * FROM k",
		"SELECT what, id, was, v FROM log"}
	for i := range 50 {
		g.prepared, g.args = g.sometimes(2), nil
		q := g.joinedWrite(action != "")
		if !run(q, g.args...) {
			return n, false
		}
		if i%10 != 9 {
			continue
		}
		for _, q := range tables {
			if !run(q) {
				return n, false
			}
		}
	}
	for _, table := range []string{"p", "c", "k", "log"} {
		if got := reply(t, conns[0], "CHECK TABLE "+table, nil); !strings.Contains(got, "\tOK") {
			t.Errorf("seed %d:\n%s;\nCHECK TABLE: %s", seed, strings.Join(script, ";\n"), got)
			return n, false
		}
	}
	return n, true
}

func (g *generator) joinedWrite(family bool) string {
	small := func() string { return g.lit(int64(g.rng.IntN(7))) }
	perhaps := func() string {
		if g.sometimes(2) {
			return "NULL"
		}
		return small()
	}
	if g.sometimes(2) {
		switch g.rng.IntN(3) {
		case 0:
			return fmt.Sprintf("INSERT INTO p (id, a, n, s, q) VALUES (%s, %s, %s, 'a', %s)", small(),
				small(), small(), perhaps())
		case 1:
			return fmt.Sprintf("INSERT INTO c VALUES (%s, %s, %s, %s)", g.lit(int64(g.rng.IntN(30))), small(),
				small(), small())
		}
		return fmt.Sprintf("INSERT INTO k VALUES (%s, %s), (1, 1)", small(), perhaps())
	}
	where := ""
	j := joins[g.rng.IntN(len(joins))]
	aliases := j.aliases
	if g.sometimes(2) {
		alias, _, _ := strings.Cut(aliases[0], "/")
		column := map[byte]string{'k': "b"}[aliases[0][len(alias)+1]]
		if column == "" {
			column = "id"
		}
		where = " WHERE " + alias + "." + column + g.one(" < ", " > ", " <> ")
	}
	bound := func() string {
		if where == "" {
			return ""
		}
		return where + small()
	}
	switch g.rng.IntN(6) {
	case 0:
		return g.one("UPDATE p SET a = a + 1, n = a", "UPDATE p SET n = n", "DELETE FROM p") + " WHERE id " +
			g.one("IN", "NOT IN") + " (SELECT pid FROM c WHERE x > " + small() + ")"
	case 1, 2:
		alias, table, _ := strings.Cut(aliases[g.rng.IntN(len(aliases))], "/")
		if family && j.from == "p, c" {
			// MariaDB deletes while it reads, and a cascade takes what it has not read yet.
			alias, table = "c", "c"
		}
		names := alias
		if other, second, _ := strings.Cut(aliases[0], "/"); other != alias && table[0] != second[0] &&
			!(family && strings.Contains("pc", table[:1]) && strings.Contains("pc", second[:1])) {
			names += ", " + other
		}
		return "DELETE " + names + " FROM " + j.from + bound()
	}
	var sets []string
	for _, a := range aliases {
		alias, table, _ := strings.Cut(a, "/")
		if len(sets) > 0 && g.sometimes(3) {
			continue
		}
		set := assignments[table][g.rng.IntN(len(assignments[table]))]
		set = strings.ReplaceAll(set, "@", alias)
		if strings.Contains(set, "?") {
			set = strings.Replace(set, "?", small(), 1)
		}
		sets = append(sets, set)
	}
	if j.more != "" && g.sometimes(3) {
		column, _, _ := strings.Cut(j.more, " =")
		if !slices.ContainsFunc(sets, func(s string) bool { return strings.Contains(s, column+" =") }) {
			sets = append(sets, j.more)
		}
	}
	return "UPDATE " + j.from + " SET " + strings.Join(sets, ", ") + bound()
}
