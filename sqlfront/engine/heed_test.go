package engine_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// askedContext counts how often it is asked whether the statement is to end.
type askedContext struct {
	context.Context
	asked int
}

func (c *askedContext) Err() error {
	c.asked++
	return c.Context.Err()
}

// TestJoinsOfInformationAsk: of a join of tables of information_schema, which are in memory, nothing asked
// whether the statement is to end or to step back.
func TestJoinsOfInformationAsk(t *testing.T) {
	c := newServer(t).session("")
	if err := c.sess.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	defer c.sess.CommandEnd()
	row, asked := askedOf(t, c, "SELECT COUNT(*) FROM information_schema.collations a, "+
		"information_schema.character_sets b")
	if n := row[0].(int64); n < 1000 || int64(asked) < n {
		t.Errorf("of %d rows it asked %d times", n, asked)
	}
}

// TestFiltersOfWritesAsk: what an UPDATE computes for each row may take a millisecond, and it asked once for
// each page of a scan whether it is to end or to step back.
func TestFiltersOfWritesAsk(t *testing.T) {
	c := newServer(t).session("")
	for _, q := range []string{"create database d", "use d", "create table t (a int primary key, b text)",
		"insert into t with recursive r as (select 1 as i union all select i + 1 from r where i < 1000) " +
			"select i, 'x' from r"} {
		c.exec(q)
	}
	if err := c.sess.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	defer c.sess.CommandEnd()
	if _, asked := askedOf(t, c, "UPDATE t SET b = 'y' WHERE SHA2(REPEAT(b, 100), 512) = 'x'"); asked < 60 {
		t.Errorf("of 1,000 rows it asked %d times", asked)
	}
}

// askedOf is the one row of a statement, and how often it asked when it ran.
func askedOf(t *testing.T, c *session, query string) (sql.Row, int) {
	t.Helper()
	asked := &askedContext{Context: c.sess.Measure(t.Context())}
	ctx := sql.NewContext(asked, sql.WithSession(c.sess), sql.WithPid(uint64(c.sess.ID())),
		sql.WithProcessList(c.eng.SQL().ProcessList)).WithQuery(query)
	_, rows, _, err := c.eng.SQL().Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	asked.asked = 0
	row, err := rows.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows.Next(ctx); err != io.EOF {
		t.Error(err)
	}
	if err := rows.Close(ctx); err != nil {
		t.Error(err)
	}
	return row, asked.asked
}

// TestSearchesOfOrdersAreBounded: a join of 11 tables on one key had all their orders tried, 57,000 joins of
// sets of tables and each in several ways; 13 took minutes, and nobody could end it.
func TestSearchesOfOrdersAreBounded(t *testing.T) {
	c := newServer(t).session("")
	if err := c.sess.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	defer c.sess.CommandEnd()
	for _, tables := range []int{8, 9, 10, 13} {
		query := "SELECT COUNT(*) FROM (SELECT 1 a) d0"
		for i := range tables - 1 {
			query += fmt.Sprintf(" JOIN (SELECT 1 a) d%d ON d%d.a = d%d.a", i+1, i+1, i)
		}
		asked := &askedContext{Context: c.sess.Measure(t.Context())}
		ctx := sql.NewContext(asked, sql.WithSession(c.sess), sql.WithPid(uint64(c.sess.ID())),
			sql.WithProcessList(c.eng.SQL().ProcessList)).WithQuery(query)
		_, rows, _, err := c.eng.SQL().Query(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(ctx); err != nil {
			t.Error(err)
		}
		// It asks before it estimates what a join costs.
		if asked.asked > 40_000 {
			t.Errorf("of %d tables it asked %d times", tables, asked.asked)
		}
	}
}

// TestNestedQueriesAreBounded: EXISTS in EXISTS over derived tables became joins whose planning doubled with
// each; 45 were minutes. LATERAL in LATERAL is refused where it would.
func TestNestedQueriesAreBounded(t *testing.T) {
	c := newServer(t).session("")
	exists := func(levels int) string {
		query := "SELECT d0.a FROM (SELECT 1 a UNION SELECT 2) d0 WHERE "
		for i := range levels {
			query += fmt.Sprintf("EXISTS (SELECT 1 FROM (SELECT 1 a UNION SELECT 2) d%d "+
				"WHERE d%d.a = d%d.a AND ", i+1, i+1, i)
		}
		return query + fmt.Sprintf("d%d.a = 2", levels) + strings.Repeat(")", levels)
	}
	for _, levels := range []int{1, 7, 8, 9, 10, 12, 45} {
		if got := c.text(exists(levels)); strings.TrimSpace(got) != "2" {
			t.Errorf("%d levels: %q", levels, got)
		}
	}
	lateral := func(levels int) string {
		query := "SELECT 1 a"
		for range levels {
			query = "SELECT y.a FROM (SELECT 1 a) x, LATERAL (" + query + ") y"
		}
		return query
	}
	if got := c.text(lateral(8)); strings.TrimSpace(got) != "1" {
		t.Errorf("8 laterals: %q", got)
	}
	if _, _, err := c.run(lateral(30)); sqlerr.Code(err) != sqlerr.SelectsNested {
		t.Errorf("30 laterals: %v", err)
	}
}
