package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// filled makes a table of n rows: skew has 90 of 100 rows with the value 0, few has ten values, many has n/4.
func filled(t *testing.T, n int) (*server, *session) {
	t.Helper()
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, few INT, many INT, skew INT, text VARCHAR(20), pad INT, KEY few (few), KEY many (many, few), KEY skew (skew), UNIQUE KEY text (text))")
	for from := 0; from < n; from += 500 {
		var rows []string
		for i := from; i < min(n, from+500); i++ {
			skew := 0
			if i%10 == 0 {
				skew = i
			}
			text := fmt.Sprintf("'t%d'", i)
			if i%50 == 7 {
				text = "NULL"
			}
			rows = append(rows, fmt.Sprintf("(%d, %d, %d, %d, %s, %d)", i, i%10, i%(n/4), skew, text, i))
		}
		c.exec("INSERT INTO t VALUES %s", strings.Join(rows, ", "))
	}
	return s, c
}

func between(t *testing.T, what, got string, low, high int) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(got))
	if err != nil || n < low || n > high {
		t.Errorf("%s: %s, want %d to %d", what, got, low, high)
	}
}

func TestAnalyze(t *testing.T) {
	const n = 12_000 // more than a sample
	s, c := filled(t, n)
	c.want("ANALYZE TABLE t", "t | analyze | status | OK")
	card := func(index string, seq int) string {
		return c.text(fmt.Sprintf("SELECT cardinality FROM information_schema.statistics WHERE table_name = 't' AND index_name = '%s' AND seq_in_index = %d", index, seq))
	}
	between(t, "PRIMARY", card("PRIMARY", 1), n, n)
	between(t, "few", card("few", 1), 10, 10)
	between(t, "many", card("many", 1), n/4*8/10, n/4*12/10)
	between(t, "many, few", card("many", 2), n/4*8/10, n/4*12/10) // many says what few is
	between(t, "skew", card("skew", 1), n/10*6/10, n/10*15/10)
	between(t, "rows", c.text("SELECT table_rows FROM information_schema.tables WHERE table_name = 't'"), n, n)
	if out := c.text("SHOW INDEX FROM t"); !strings.Contains(out, "| few | 1 | few | A | 10 |") {
		t.Error(out)
	}
	// Another node, and this one after a restart, has the same.
	before := card("many", 1)
	s.start()
	again := s.session("d")
	c = again
	if got := card("many", 1); got != before {
		t.Errorf("after a restart: %s, before %s", got, before)
	}
}

// With statistics the index is chosen that leaves fewer rows, and a scan if an index would leave most.
func TestStatisticsChooseIndexes(t *testing.T) {
	s, c := filled(t, 4000)
	c.exec("ANALYZE TABLE t")
	for _, q := range []struct {
		query string
		rows  uint64 // at most so many rows and entries are looked at
	}{
		{"SELECT pad FROM t WHERE few = 3 AND many = 77", 20},
		{"SELECT pad FROM t WHERE skew = 10 AND few = 0", 20},
		{"SELECT pad FROM t WHERE skew = 0 AND many = 3", 30},
		{"SELECT pad FROM t WHERE skew BETWEEN 100 AND 120 AND few < 8", 30},
	} {
		before := s.eng.ReadStats().Rows
		c.text(q.query)
		if n := s.eng.ReadStats().Rows - before; n > q.rows {
			t.Errorf("%s looked at %d rows\n%s", q.query, n, c.text("EXPLAIN PLAN "+q.query))
		}
	}
}

// A table that has changed a lot is analysed by itself.
func TestAutomaticAnalyze(t *testing.T) {
	s, c := filled(t, 3000)
	c.text("SELECT pad FROM t WHERE few = 3") // whoever plans notices
	s.eng.Settle()
	between(t, "few", c.text("SELECT cardinality FROM information_schema.statistics WHERE table_name = 't' AND index_name = 'few'"), 10, 10)
}
