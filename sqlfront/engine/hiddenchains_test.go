package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestLongChains asks conditions of a hundred parts and more, which the planner does not see, and each of the parts.
func TestLongChains(t *testing.T) {
	for seed := range seeds(3) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			c := newServer(t).session("")
			c.exec("CREATE DATABASE d")
			c.sess.SetCurrentDatabase("d")
			g := &pushGen{rand.New(rand.NewPCG(uint64(seed), 17)), pushColumns}
			var defs []string
			for _, col := range pushColumns {
				defs = append(defs, col.name+" "+col.def)
			}
			c.exec("CREATE TABLE t (id INT NOT NULL, late INT, %s, PRIMARY KEY (id), %s)", strings.Join(defs, ", "), pathKeys[seed%3])
			for id := range 100 {
				vs := []string{strconv.Itoa(id), "1"}
				for i := range pushColumns {
					v := g.pick(pushColumns[i].values)
					if g.rng.IntN(6) == 0 {
						v = "NULL"
					}
					vs = append(vs, v)
				}
				c.exec("INSERT IGNORE INTO t VALUES (%s)", strings.Join(vs, ", "))
			}
			column := func() (string, string) {
				col := &g.cols[g.rng.IntN(len(g.cols))]
				return col.name, g.literal(col)
			}
			// One part of a hundred and more, most of them about one column, as programs write them.
			part := func(op string) string {
				name, value := column()
				id := g.rng.IntN(300)
				switch n := g.rng.IntN(12); {
				case n < 3:
					return fmt.Sprintf("id %s %d", op, id)
				case n == 3:
					return fmt.Sprintf("%s %s %s", name, op, value)
				case op == "<>":
					return fmt.Sprintf("id <> %d", id)
				case n == 4:
					return g.pick([]string{"id = NULL", "id IN (7, NULL)", "i IS NULL AND id = 3", "id = 5 AND NULL"})
				case n == 5:
					return fmt.Sprintf("id = %d AND %s", id, g.condition(1))
				}
				return fmt.Sprintf("id = %d AND %s %s %s", id, name, g.pick([]string{"=", "<>", "<"}), value)
			}
			texts := func(n int) (list []string) {
				for range n {
					list = append(list, g.literal(&g.cols[slices.IndexFunc(g.cols, func(c pushColumn) bool { return c.name == "s" })]))
				}
				return list
			}
			ids := func(cond string) (map[int32]bool, error) {
				_, rows, err := c.run("SELECT id FROM t WHERE " + cond)
				found := map[int32]bool{}
				for _, r := range rows {
					found[r[0].(int32)] = true
				}
				return found, err
			}
			asked := 0
			for n := range 16 {
				var parts []string
				op, join := "=", " OR "
				if n%4 == 3 {
					op, join = "<>", " AND "
				}
				for range 100 + g.rng.IntN(60) {
					parts = append(parts, "("+part(op)+")")
				}
				cond := strings.Join(parts, join)
				if n%8 == 1 {
					join, parts = " AND ", texts(120)
					cond = "s NOT IN (" + strings.Join(parts, ", ") + ")"
					for i, v := range parts {
						parts[i] = "s <> " + v
					}
				}
				if n%8 == 4 {
					cond, join = "NOT ("+cond+")", " AND "
					for i, p := range parts {
						parts[i] = "NOT " + p
					}
				}
				in := map[int32]int{}
				failed := false
				for _, p := range parts {
					found, err := ids(p)
					failed = failed || err != nil
					for id := range found {
						in[id]++
					}
				}
				if failed {
					continue
				}
				asked++
				maps.DeleteFunc(in, func(_ int32, n int) bool { return join == " AND " && n < len(parts) })
				for _, push := range []int{0, 1} {
					c.exec("SET moka_push_down = %d", push)
					found, err := ids(cond)
					want, got := slices.Sorted(maps.Keys(in)), slices.Sorted(maps.Keys(found))
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("moka_push_down = %d: WHERE %s:\n%v %v\npart by part:\n%v", push, cond, got, err, want)
					}
				}
			}
			if asked < 8 {
				t.Errorf("%d of 16 were asked", asked)
			}
		})
	}
}

// A chain is found by an index, and planned in no time to speak of: the library's search would look at half a billion pairs of ranges.
func TestLongChainsUseIndexes(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY (a))")
	var values, points, pairs []string
	for i := range 5000 {
		values = append(values, fmt.Sprintf("(%d, %d)", i, i%1000))
	}
	c.exec("INSERT INTO t VALUES %s", strings.Join(values, ", "))
	for i := range 30_000 {
		points = append(points, fmt.Sprintf("id = %d", i*1000))
		pairs = append(pairs, fmt.Sprintf("(id = %d AND a = %d)", i*1000, i%2))
	}
	c.exec("ANALYZE TABLE t")
	list := func(n int) string { return strings.ReplaceAll(strings.Join(points[:n], ", "), "id = ", "") }
	for _, q := range []struct {
		query, want string
		rows        uint64 // which may be looked at; 0: all of them are
	}{
		{"SELECT COUNT(*) FROM t WHERE " + strings.Join(points[:500], " OR "), "5", 500},
		{"SELECT COUNT(*) FROM t WHERE " + strings.Join(pairs[:500], " OR "), "3", 500},
		{"SELECT COUNT(*) FROM t WHERE id IN (" + list(1000) + ") AND a >= 0", "5", 1000},
		{"SELECT COUNT(*) FROM t x JOIN t y ON y.id = x.id + 1 WHERE x.id IN (" + list(1000) + ") AND y.a > 0", "5", 1010},
		{"SELECT COUNT(*) FROM t WHERE " + strings.Join(points, " OR "), "5", 0},
		{"SELECT COUNT(*) FROM t WHERE id NOT IN (" + list(30_000) + ")", "4995", 0},
		{"UPDATE t SET a = -1 WHERE " + strings.Join(pairs[:500], " OR "), "ok, 3 rows", 500},
		{"DELETE FROM t WHERE " + strings.Join(points[:500], " OR "), "ok, 5 rows", 520},
	} {
		before := s.eng.ReadStats().Rows
		if got := strings.TrimSpace(c.text(q.query)); got != q.want {
			t.Errorf("%.60s…: %s, not %s", q.query, got, q.want)
		}
		if rows := s.eng.ReadStats().Rows - before; q.rows > 0 && rows > q.rows {
			t.Errorf("%.60s…: %d rows were looked at", q.query, rows)
		}
	}
}
