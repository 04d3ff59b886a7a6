package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"moka/sqlfront/engine"
	"moka/sqlfront/tempfile"
)

// joined makes two tables with values that are equal under a collation, NULLs, many of the same, and documents.
func joined(t *testing.T, rng *rand.Rand, n int, opts ...func(*engine.Options)) (*server, *session) {
	t.Helper()
	s := newServer(t, opts...)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	texts := []string{"NULL", "'a'", "'A'", "'b'", "'ab'", "'ä'", "'ß'", "'ss'", "'B'", "''"}
	for _, table := range []string{"l", "r"} {
		c.exec("CREATE TABLE %s (id INT PRIMARY KEY, a INT, b BIGINT, s VARCHAR(10), n DECIMAL(8,2), doc JSON, pad VARCHAR(100))", table)
		for from := 0; from < n; from += 100 {
			var rows []string
			for id := from; id < from+100; id++ {
				a := strconv.Itoa(rng.IntN(n))
				switch rng.IntN(8) {
				case 0:
					a = "NULL"
				case 1:
					a = "7" // a value that is more than a partition
				}
				rows = append(rows, fmt.Sprintf("(%d, %s, %d, %s, %d.50, '{\"k\": %d}', '%s')", id, a, rng.IntN(n/2), texts[rng.IntN(len(texts))], rng.IntN(50), rng.IntN(9), strings.Repeat("x", rng.IntN(60))))
			}
			c.exec("INSERT INTO %s VALUES %s", table, strings.Join(rows, ", "))
		}
	}
	return s, c
}

// temporary has an engine put what does not fit into memory into a directory.
func temporary(t *testing.T, dir string) func(*engine.Options) {
	space, err := tempfile.New(tempfile.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *engine.Options) { o.Temp = space }
}

// A hash join gives the same from disk as from memory, and as a join without a hash table.
func TestHashJoinOnDisk(t *testing.T) {
	dir := t.TempDir()
	for seed := range seeds(1) {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		s, c := joined(t, rng, 100, temporary(t, dir))
		spilled := 0
		on := []string{"l.a = r.a", "l.b = r.b", "l.s = r.s AND l.b = r.b", "l.n = r.n AND l.s = r.s", "l.a = r.b", "l.a = r.a AND l.id < r.id", "l.a = r.a AND l.pad < r.pad", "l.b = r.n"}
		for _, on := range on {
			for _, q := range []string{
				"SELECT /*+ %[2]s_JOIN(l,r) */ l.id, r.id, l.doc, r.pad FROM l JOIN r ON %[1]s",
				"SELECT /*+ %[2]s_JOIN(l,r) */ l.id, r.id, r.doc FROM l LEFT JOIN r ON %[1]s",
				"SELECT l.id, l.pad FROM l WHERE EXISTS (SELECT /*+ %[2]s_JOIN(l,r) */ 1 FROM r WHERE %[1]s)",
				"SELECT l.id, l.pad FROM l WHERE NOT EXISTS (SELECT /*+ %[2]s_JOIN(l,r) */ 1 FROM r WHERE %[1]s)",
			} {
				spilled += compareJoin(t, s, c, fmt.Sprintf(q, on, "HASH"), fmt.Sprintf(q, on, "INNER"))
			}
		}
		for _, col := range []string{"a", "s", "n", "b"} {
			for _, where := range []string{"", " WHERE " + col + " IS NOT NULL", " WHERE id < 3 OR id BETWEEN 20 AND 80 AND " + col + " IS NOT NULL"} {
				for _, in := range []string{"IN", "NOT IN"} {
					q := fmt.Sprintf("SELECT id, %[1]s FROM l WHERE %[1]s %[2]s (SELECT %[1]s FROM r%[3]s)", col, in, where)
					spilled += compareJoin(t, s, c, q, fmt.Sprintf("SELECT id, %[1]s FROM l WHERE IF(%[1]s %[2]s (SELECT %[1]s FROM r%[3]s), 1, 0) = 1", col, in, where))
				}
			}
		}
		compareJoin(t, s, c, "SELECT l.id FROM l WHERE (a, b) NOT IN (SELECT a, b FROM r WHERE id < 50)",
			"SELECT l.id FROM l WHERE (SELECT SUM(IF((l.a = r.a AND l.b = r.b) IS NOT FALSE, 1, 0)) FROM r WHERE id < 50) = 0")
		compareJoin(t, s, c, "SELECT /*+ HASH_JOIN(x,y) HASH_JOIN(y,z) */ x.id, y.id, z.id FROM l x JOIN r y ON x.b = y.b JOIN l z ON z.n = y.n AND z.s = x.s", "SELECT x.id, y.id, z.id FROM l x JOIN r y ON x.b + 0 = y.b JOIN l z ON z.n + 0 = y.n AND z.s = x.s")
		for _, q := range []string{
			"SELECT b, s, COUNT(*), SUM(n), MAX(id), MIN(pad), COUNT(DISTINCT a) FROM l GROUP BY b, s, n", "SELECT n, GROUP_CONCAT(id ORDER BY id), AVG(a) FROM l GROUP BY n, b",
			"SELECT a, COUNT(*) FROM l GROUP BY a HAVING COUNT(*) > 1", "SELECT DISTINCT a, b, n FROM l", "SELECT DISTINCT s, n FROM r", "SELECT COUNT(*) FROM (SELECT DISTINCT s, b, n FROM l) x",
		} {
			spilled += compareJoin(t, s, c, q, q)
		}
		if spilled < 40 {
			t.Errorf("only %d joins went to disk", spilled)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func compareJoin(t *testing.T, s *server, c *session, query, control string) (spilled int) {
	t.Helper()
	s.eng.SpillAt(0)
	want := sortedLines(c.text(control))
	memory := sortedLines(c.text(query))
	if memory != want {
		t.Errorf("%s: in memory another result than by\n%s\n%s\n%s", query, control, c.text("EXPLAIN PLAN "+query), difference(memory, want))
	}
	plan := c.text("EXPLAIN PLAN " + query)
	for _, at := range []int64{2000, 9000} {
		before := s.eng.ReadStats().Spilled
		s.eng.SpillAt(at)
		if got := sortedLines(c.text(query)); got != want {
			t.Errorf("%s: another result from disk (%d)\n%s\n%s", query, at, plan, difference(got, want))
		}
		if s.eng.ReadStats().Spilled > before {
			spilled++
		}
	}
	s.eng.SpillAt(0)
	if held := s.eng.Held(); held != 0 {
		t.Errorf("%s: %d bytes are still charged", query, held)
	}
	if n := openRuns(t); n != 0 {
		t.Errorf("%s: %d files are still open", query, n)
	}
	return spilled
}

// openRuns counts this process's open files without a name.
func openRuns(t *testing.T) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc to see open files in")
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.Contains(to, tempfile.Name) {
			n++
		}
	}
	return n
}

// DISTINCT keeps the order of what comes to it, from disk, too; and of rows that are equal under a collation the first.
func TestDistinctOnDiskKeepsTheOrder(t *testing.T) {
	s, c := joined(t, rand.New(rand.NewPCG(2, 3)), 300)
	c.exec("CREATE INDEX b ON l (b)")
	for _, q := range []string{"SELECT DISTINCT s, b FROM l ORDER BY b DESC, id", "SELECT DISTINCT pad, a FROM l ORDER BY pad, a", "SELECT DISTINCT b, n FROM l ORDER BY b", "SELECT DISTINCT s, n FROM l ORDER BY id"} {
		want := c.text(q)
		before := s.eng.ReadStats().Spilled
		s.eng.SpillAt(2000)
		if got := c.text(q); got != want || strings.HasPrefix(got, "error") {
			t.Errorf("%s\n%s", q, difference(got, want))
		}
		if s.eng.ReadStats().Spilled == before {
			t.Errorf("%s: nothing went to disk", q)
		}
		s.eng.SpillAt(0)
	}
}

// What ends a statement in the middle closes its files: an error, KILL, a LIMIT, a disk that is full.
func TestSpillsAreGivenBack(t *testing.T) {
	s, c := joined(t, rand.New(rand.NewPCG(1, 3)), 500)
	s.eng.SpillAt(2000)
	queries := []string{
		"SELECT /*+ HASH_JOIN(l,r) */ l.id, r.doc FROM l JOIN r ON l.a = r.a", "SELECT * FROM l ORDER BY pad, id",
		"SELECT pad, s, COUNT(*), MAX(doc) FROM l GROUP BY pad, s, id", "SELECT DISTINCT id, pad FROM l",
	}
	for _, q := range queries {
		if n := strings.Count(c.text(q+" LIMIT 3"), "\n"); n != 3 {
			t.Errorf("%s: %d rows of 3", q, n)
		}
		failing := strings.Replace(q, "FROM l", ", l.id / (SELECT COUNT(*) FROM l x WHERE x.id < 0) FROM l", 1)
		_ = c.text(failing)
		// The client is gone in the middle.
		if err := c.leave(q, 5); err != nil {
			t.Errorf("%s: %v", q, err)
		}
		s.eng.MakeTemp(func() (*os.File, error) { // of which nothing can be written
			f, err := os.CreateTemp(t.TempDir(), tempfile.Name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return os.Open(f.Name())
		})
		if got := c.text(q); !strings.Contains(got, "disk failed") {
			t.Errorf("%s: the disk is full, and it says\n%.200s", q, got)
		}
		s.eng.MakeTemp(func() (*os.File, error) { return nil, errors.New("no space left") })
		if got := c.text(q); !strings.Contains(got, "no space left") {
			t.Errorf("%s: the disk is full, and it says\n%.200s", q, got)
		}
		s.eng.MakeTemp(nil)
		if n, held := openRuns(t), s.eng.Held(); n != 0 || held != 0 {
			t.Errorf("%s: %d files are still open, %d bytes charged", q, n, held)
		}
	}
}

// leave runs a query, reads some rows, and goes with its context cancelled.
func (c *session) leave(query string, rows int) error {
	if err := c.sess.CommandBegin(); err != nil {
		return err
	}
	defer c.sess.CommandEnd()
	ctx, cancel := c.context().NewSubContext()
	defer cancel()
	_, it, _, err := c.eng.SQL().Query(ctx, query)
	if err != nil {
		return err
	}
	for range rows {
		if _, err := it.Next(ctx); err != nil {
			return err
		}
	}
	cancel()
	for range 10000 {
		if _, err = it.Next(ctx); err != nil {
			break
		}
	}
	_ = it.Close(ctx)
	if err == nil {
		return errors.New("it goes on although the client is gone")
	}
	return nil
}

// difference is the lines that are in one of two texts.
func difference(got, want string) string {
	count := map[string]int{}
	for line := range strings.SplitSeq(got, "\n") {
		count[line]++
	}
	for line := range strings.SplitSeq(want, "\n") {
		count[line]--
	}
	var b strings.Builder
	for line, n := range count {
		if n != 0 && b.Len() < 1000 {
			fmt.Fprintf(&b, "%+d %s\n", n, line)
		}
	}
	return b.String()
}
