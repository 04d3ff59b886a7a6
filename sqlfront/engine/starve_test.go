package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
)

// What a user tried by hand, for an hour, who has no right but to log in: to take the memory and the processors from the others.

// TestKeptTextsAreShort: a session keeps the texts of its system variables and of its warnings, which were as long as a client liked and charged to
// nobody: 15 sessions had 3.6 GB (S4). An error whose text was longer than a packet ended the connection.
func TestKeptTextsAreShort(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	for _, name := range []string{"session_track_system_variables", "optimizer_switch", "debug_sync", "lc_time_names", "default_storage_engine", "sql_mode"} {
		if got := c.code("SET SESSION " + name + " = REPEAT('a', 100000)"); got != sqlerr.WrongValueForVariable {
			t.Errorf("%s: error %d, want 1231", name, got)
		}
	}
	c.exec("SET session_track_system_variables = '%s'", strings.Repeat("autocommit,", 500))
	for _, q := range []string{"SELECT * FROM `" + strings.Repeat("x", 10000) + "`.t", "SELECT CAST(REPEAT('é', 10000) AS DATE) + no_such_column", "SET lc_time_names = REPEAT('é', 3000), autocommit = REPEAT('é', 3000)"} {
		_, _, err := c.run(q)
		if e := sqlerr.Final(err, sqlerr.Statement{Query: q}); e == nil || len(e.Message) > 512 || strings.ToValidUTF8(e.Message, "") != e.Message {
			t.Errorf("%.40s: %v", q, e)
		}
	}
	c.exec("SELECT CAST(REPEAT('x', 100000) AS SIGNED), DATE_ADD(REPEAT('9', 1000), INTERVAL 1 DAY), REPEAT('é', 100000) + 1")
	warnings := c.sess.Warnings()
	if len(warnings) < 3 {
		t.Errorf("%d warnings, want 3", len(warnings))
	}
	for _, w := range warnings {
		if len(w.Message) > 512 {
			t.Errorf("a warning of %d bytes: %.60s…", len(w.Message), w.Message)
		}
	}
}

// TestSleepersLeaveRoom: what sessions keep between statements, which no statement's end gives back, leaves half of the memory to statements, and some
// of the rest to sessions that keep little. Three sessions that slept on 240 MB of user variables had every ORDER BY of everybody fail.
func TestSleepersLeaveRoom(t *testing.T) {
	s := newServer(t, spoken, func(o *engine.Options) { o.StatementsMemory = 64 << 20 })
	root := s.session("")
	root.exec("CREATE DATABASE d")
	root.exec("CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(100))")
	root.exec("INSERT INTO d.t VALUES (1, 'b'), (2, 'a')")
	var sleepers []*session
	for range 4 {
		c := s.session("")
		sleepers = append(sleepers, c)
		for v := 0; ; v++ {
			if got := c.code(fmt.Sprintf("SET @v%d = REPEAT('x', 4000000)", v)); got == sqlerr.CapacityExceeded {
				break
			} else if got != 0 || v > 20 {
				t.Fatalf("variable %d: error %d, want 3170 at last", v, got)
			}
		}
		for v := range 300 { // what is left, in smaller pieces
			c.code(fmt.Sprintf("SET @w%d = REPEAT('x', 100000)", v))
		}
	}
	if held := s.eng.Held(); held > 28<<20 || held < 23<<20 { // a quarter of it, and what is little
		t.Errorf("sessions keep %d bytes of 64 MiB", held)
	}
	root.want("SELECT id FROM d.t ORDER BY s", "2", "1")
	root.want("SELECT LENGTH(CONCAT(REPEAT('x', 10000000), 'y'))", "10000001")
	root.exec("SET @w = 'a word'")
	for _, c := range sleepers {
		c.sess.SessionEnd()
	}
	for v := range 5 {
		root.exec("SET @v%d = REPEAT('x', 4000000)", v)
	}
	root.sess.SessionEnd()
	if held := s.eng.Held(); held != 0 {
		t.Errorf("%d bytes are still charged", held)
	}
}

// TestSearchesEnd: LOCATE compared each place of the long text with all of the short one: what is here took hours, which no KILL ended, and kept
// twelve bytes for each of the long text's.
func TestSearchesEnd(t *testing.T) {
	s := newServer(t, spoken)
	c := s.session("")
	c.want("SELECT LOCATE(CONCAT(REPEAT('a', 400000), 'b'), REPEAT('a', 2000000))", "0")
	c.want("SELECT INSTR(CONCAT(REPEAT('a', 2000000), 'b'), CONCAT(REPEAT('a', 400000), 'b'))", "1600001")
	c.want("SELECT LOCATE(REPEAT('é', 500000), REPEAT('e', 1500000)), LOCATE(REPEAT('é', 500000), CONCAT(REPEAT('e', 1000000), REPEAT('é', 500000)))", "0 | 1000001")
	c.want("SELECT FIND_IN_SET('x', REPEAT('a,', 500000)), FIND_IN_SET('x', CONCAT(REPEAT('a,', 500000), 'X'))", "0 | 500001")
	c.exec("SET moka_query_memory = 24000000")
	c.want("SELECT LOCATE('b', REPEAT('a', 10000000))", "0")
	if got := c.code("SELECT LOCATE(REPEAT('a', 3000000), REPEAT('b', 3000001))"); got != sqlerr.CapacityExceeded {
		t.Errorf("a part of 3 MB: error %d, want 3170", got)
	}
	if held := s.eng.Held(); held != 0 {
		t.Errorf("%d bytes are still charged", held)
	}

	// What it finds is what comparing at each place finds.
	r := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString([]string{"a", "e", "é", "E"}[r.IntN(4)])
		}
		return b.String()
	}
	for range 150 {
		part, whole, from := word(4), word(12), r.IntN(8)
		for collation, equal := range map[string]func(a, b string) bool{
			"utf8mb4_0900_bin":   func(a, b string) bool { return a == b },
			"utf8mb4_0900_ai_ci": func(a, b string) bool { return foldE(a) == foldE(b) },
		} {
			want, all := 0, []rune(whole)
			for i := max(0, from-1); from > 0 && i <= len(all) && want == 0; i++ {
				for j := i; j <= len(all); j++ {
					if piece := string(all[i:j]); len(piece) == len(part) && equal(piece, part) {
						want = i + 1
					}
				}
			}
			c.want(fmt.Sprintf("SELECT LOCATE('%s' COLLATE %s, '%s', %d)", part, collation, whole, from), fmt.Sprint(want))
		}
	}
}

func foldE(s string) string { return strings.NewReplacer("é", "e", "E", "e").Replace(s) }
