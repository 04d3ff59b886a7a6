package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestQueryPlansChangeNothing runs random queries of several tables three ways: by the general planner, and
// twice in a session with the plan cache, whose second run is by a plan where there is one. What a client
// sees must be the same. The tables have foreign keys, checks, NULLs and collations; values are of the
// columns' types and of others, as text and as parameters. MOKA_PLANCACHE_SEEDS runs more.
func TestQueryPlansChangeNothing(t *testing.T) {
	seeds := planCacheSeeds / 2
	if n, err := strconv.Atoi(os.Getenv("MOKA_PLANCACHE_SEEDS")); err == nil {
		seeds = n
	}
	s := newDatabase(t).serve()
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			g := &queryGen{Rand: rand.New(rand.NewPCG(uint64(seed), 2))}
			db := fmt.Sprintf("q%d", seed)
			run(t, s.conn(""), "create database "+db)
			c := &comparison{t: t}
			for i := range c.conns {
				conn, err := s.open("root", db, "").Conn(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if i == 0 {
					run(t, conn, queryTables...)
					run(t, conn, g.rows()...)
				}
				run(t, conn, fmt.Sprintf("set moka_plan_cache = %d", 1-i))
				c.conns[i] = conn
			}
			before := s.Metrics()
			for range 100 {
				shape := g.query()
				for range 3 { // the general way, the plan, the plan with other values
					query, args := shape.with(g)
					c.check(query, args, shape.ordered)
				}
				if g.IntN(8) == 0 {
					run(t, c.conns[0], g.change())
				}
			}
			if hits := s.Metrics().PlanHits - before.PlanHits; hits < 50 {
				t.Errorf("only %d queries were run by plans", hits)
			}
		})
	}
}

var queryTables = []string{
	`create table a (id int primary key, k int, s varchar(10), d decimal(8,2), dt date, check (id >= 0),
	  key k (k), key ks (k, s), key s (s))`,
	`create table b (id bigint unsigned primary key, a_id int, n smallint not null, s varchar(12), at datetime,
	  e enum('x','y','z'), unique key an (a_id, n), key at (at), foreign key (a_id) references a (id))`,
	`create table c (x varchar(8) collate utf8mb4_bin, y int, b_id bigint unsigned, f double, ts timestamp null,
	  d decimal(8,2), t text, primary key (x, y), key b (b_id, ts),
	  foreign key (b_id) references b (id) on delete set null)`,
}

// queryGen makes random queries.
type queryGen struct{ *rand.Rand }

func pick[T any](g *queryGen, of ...T) T { return of[g.IntN(len(of))] }

func (g *queryGen) orNull(format string, of ...any) string {
	if g.IntN(6) == 0 {
		return "null"
	}
	return fmt.Sprintf(format, of...)
}

func (g *queryGen) rows() (statements []string) {
	var as, bs, cs []string
	for i := range 40 {
		as = append(as, g.rowOfA(i))
	}
	unique := map[string]bool{}
	for i := range 80 {
		a, n := g.orNull("%d", g.IntN(40)), g.IntN(6)
		if key := fmt.Sprint(a, n); a != "null" && unique[key] {
			continue
		} else {
			unique[key] = true
		}
		bs = append(bs, fmt.Sprintf("(%d, %s, %d, %s, %s, %s)", i, a, n, g.orNull("'%s'", g.text()),
			g.orNull("'%s'", g.time()), g.orNull("'%s'", pick(g, "x", "y", "z"))))
	}
	for i := range 120 {
		id, _, _ := strings.Cut(strings.TrimPrefix(pick(g, bs...), "("), ",")
		cs = append(cs, fmt.Sprintf("('%s', %d, %s, %s, %s, %s, %s)", pick(g, "p", "P", "q", "Q", "r "), i,
			g.orNull("%s", id), g.orNull("%d.5", g.IntN(9)), g.orNull("'%s'", g.time()),
			g.orNull("%d.%02d", g.IntN(6), g.IntN(3)*25), g.orNull("'%s'", g.text())))
	}
	return []string{
		"insert into a values " + strings.Join(as, ", "), "insert into b values " + strings.Join(bs, ", "),
		"insert into c values " + strings.Join(cs, ", "),
	}
}

func (g *queryGen) rowOfA(id int) string {
	return fmt.Sprintf("(%d, %s, %s, %s, %s)", id, g.orNull("%d", g.IntN(8)), g.orNull("'%s'", g.text()),
		g.orNull("%d.%02d", g.IntN(6), g.IntN(4)*25), g.orNull("'2024-01-%02d'", 1+g.IntN(5)))
}

func (g *queryGen) text() string { return pick(g, "", "a", "A", "b", "b ", "ab", "ä", "B", "abc") }

func (g *queryGen) time() string {
	return fmt.Sprintf("2024-01-%02d %02d:00:00", 1+g.IntN(5), g.IntN(3))
}

func (g *queryGen) change() string {
	return pick(g,
		fmt.Sprintf("replace into a (id, k, s) values (%d, %d, '%s')", 100+g.IntN(9), g.IntN(8), g.text()),
		fmt.Sprintf("update b set s = '%s' where id = %d", g.text(), g.IntN(80)),
		fmt.Sprintf("delete from c where y = %d", g.IntN(120)),
		"analyze table a, b, c")
}

// queryShape is a query with holes for values.
type queryShape struct {
	text     string
	holes    []string // of which kind
	ordered  bool
	prepared bool
	tables   int

	subqueries int
}

// with fills the holes.
func (q *queryShape) with(g *queryGen) (string, []any) {
	var args []any
	text := q.text
	for _, kind := range q.holes {
		v := g.value(kind)
		if q.prepared {
			args = append(args, v)
			continue
		}
		literal := "null"
		switch v := v.(type) {
		case string:
			literal = "'" + v + "'"
		case int64, float64:
			literal = fmt.Sprint(v)
		}
		text = strings.Replace(text, "?", literal, 1)
	}
	return text, args
}

func (g *queryGen) value(kind string) any {
	switch g.IntN(14) {
	case 0:
		return nil
	case 1: // of another type
		kind = pick(g, "int", "text", "decimal", "date")
	}
	switch kind {
	case "int":
		return int64(g.IntN(12)) - 1
	case "text":
		return g.text()
	case "decimal":
		return float64(g.IntN(20)) / 4
	case "date":
		return fmt.Sprintf("2024-01-%02d", 1+g.IntN(5))
	case "limit":
		return int64(g.IntN(7))
	}
	return g.time()
}

type queryColumn struct{ name, kind string }

var queryColumns = map[string][]queryColumn{
	"a": {{"id", "int"}, {"k", "int"}, {"s", "text"}, {"d", "decimal"}, {"dt", "date"}},
	"b": {{"id", "int"}, {"a_id", "int"}, {"n", "int"}, {"s", "text"}, {"at", "time"}},
	"c": {{"x", "text"}, {"y", "int"}, {"b_id", "int"}, {"ts", "time"}, {"d", "decimal"}, {"t", "text"}},
}

var queryKeys = map[string]string{"a": "id", "b": "id", "c": "y"}

// query makes the shape of a query: tables in a chain, inner or outer, conditions, groups, an order that is
// total.
func (g *queryGen) query() *queryShape {
	q := &queryShape{prepared: g.IntN(2) == 0}
	var from strings.Builder
	var aliases, tables []string
	with := ""
	n := 1 + g.IntN(4)
	q.tables = n
	for i := range n {
		table, alias := pick(g, "a", "b", "c"), fmt.Sprintf("t%d", i)
		source := table + " as " + alias
		if g.IntN(6) == 0 {
			cond := g.condition(q, table, table)
			source = fmt.Sprintf("(select * from %s where %s order by %s limit %d)",
				table, cond, queryKeys[table], 1+g.IntN(9))
			if i == 0 && g.IntN(2) == 0 { // the parameters stay in their order
				with = "with w as " + source + " "
				source = "w"
			}
			source += " as " + alias
		}
		if i == 0 {
			from.WriteString(source)
		} else {
			join := pick(g, " join ", " join ", " left join ")
			from.WriteString(join + source + " on " + g.connection(aliases, tables, alias, table))
			if g.IntN(4) == 0 {
				from.WriteString(" and " + g.condition(q, alias, table))
			}
		}
		aliases, tables = append(aliases, alias), append(tables, table)
	}
	var conds []string
	for range g.IntN(3) {
		i := g.IntN(n)
		conds = append(conds, g.condition(q, aliases[i], tables[i]))
	}
	if g.IntN(2) == 0 { // a key, so that there is an index to begin with
		conds = append(conds, fmt.Sprintf("%s.%s = ?", aliases[0], queryKeys[tables[0]]))
		q.holes = append(q.holes, "int")
	}
	where := ""
	if len(conds) > 0 {
		where = " where " + strings.Join(conds, pick(g, " and ", " and ", " and ", " or "))
	}
	at := g.IntN(n)
	col := aliases[at] + "." + pick(g, queryColumns[tables[at]]...).name
	if g.IntN(3) == 0 {
		having := ""
		if g.IntN(3) == 0 {
			having = " having count(*) > ?"
		}
		if g.IntN(3) == 0 {
			q.text = with + fmt.Sprintf("select count(*), sum(%s.%s), count(%s) from %s%s",
				aliases[0], numberOf(g, tables[0]), col, from.String(), where)
			return q
		}
		q.text = with + fmt.Sprintf(
			"select %s as g, count(*) as n, sum(%s.%s) as s, max(%s.%s) as m from %s%s group by %s%s",
			col, aliases[0], numberOf(g, tables[0]), aliases[0], numberOf(g, tables[0]), from.String(), where,
			col, having)
		if having != "" {
			q.holes = append(q.holes, "limit")
		}
		if strings.HasSuffix(col, ".s") || strings.HasSuffix(col, ".t") {
			// which of equal texts is shown is open
			q.text = strings.Replace(q.text, col+" as g", "count("+col+") as g", 1)
		}
		return q
	}
	var keys []string
	for i := range n {
		keys = append(keys, aliases[i]+"."+queryKeys[tables[i]])
	}
	cols := slices.Clone(keys)
	for range 1 + g.IntN(3) {
		i := g.IntN(n)
		cols = append(cols, aliases[i]+"."+pick(g, queryColumns[tables[i]]...).name)
	}
	if g.IntN(4) == 0 {
		twice := "t0." + numberOf(g, tables[0]) + " * 2 + 1 as twice"
		cols = append(cols, fmt.Sprintf("coalesce(%s, %s) as co", col, col), twice)
	}
	behind := q.holes
	q.holes = nil
	switch {
	case n > 2, with != "" && len(behind) > 0: // whose holes come first
	case g.IntN(8) == 0:
		cols = append(cols, "("+g.valueOf(q, pick(g, "int", "time"))+") as one")
	case g.IntN(8) == 0:
		cols = append(cols, "exists ("+g.subquery(q, "int", 0)+") as there")
	}
	q.holes = append(q.holes, behind...)
	distinct := ""
	if g.IntN(6) == 0 {
		distinct = "distinct "
	}
	q.text = with + "select " + distinct + strings.Join(cols, ", ") + " from " + from.String() + where
	if g.IntN(2) == 0 {
		q.ordered = true
		by := ""
		if distinct == "" {
			by = col + pick(g, "", " desc") + ", "
		}
		q.text += " order by " + by + strings.Join(keys, pick(g, ", ", " desc, "))
		if g.IntN(2) == 0 {
			q.text += " limit ?"
			q.holes = append(q.holes, "limit")
		}
	}
	if g.IntN(5) == 0 && !q.ordered && n == 1 && with == "" {
		q.text = ""
		q.holes = nil
		parts, kind := 2+g.IntN(2), pick(g, " union ", " union all ")
		for i := range parts {
			table, of := pick(g, "a", "b", "c"), pick(g, "text", "time", "int")
			if i > 0 {
				q.text += kind
			}
			q.text += "select " + numberOf(g, table) + " as x"
			if g.IntN(2) == 0 {
				q.text += ", (" + g.valueOf(q, of) + ") as y"
			}
			q.text += " from " + table + " where " + g.condition(q, table, table)
		}
	}
	return q
}

func numberOf(g *queryGen, table string) string {
	switch table {
	case "a":
		return pick(g, "id", "k", "d")
	case "b":
		return pick(g, "a_id", "n")
	}
	return pick(g, "y", "d")
}

func (g *queryGen) connection(aliases, tables []string, alias, table string) string {
	i := g.IntN(len(aliases))
	left, right := aliases[i], alias
	lt, rt := tables[i], table
	switch lt + rt {
	case "ab":
		return pick(g, left+".id = "+right+".a_id", left+".k = "+right+".n", left+".s = "+right+".s")
	case "ba":
		return pick(g, right+".id = "+left+".a_id", left+".n = "+right+".k")
	case "bc":
		return pick(g, left+".id = "+right+".b_id", left+".at = "+right+".ts")
	case "cb":
		return left + ".b_id = " + right + ".id"
	case "ac", "ca":
		return pick(g, left+".d = "+right+".d", left+".d < "+right+".d")
	}
	return fmt.Sprintf("%s.%s = %s.%s", left, queryKeys[lt], right, queryKeys[rt])
}

func (g *queryGen) condition(q *queryShape, alias, table string) string {
	c := pick(g, queryColumns[table]...)
	name := alias + "." + c.name
	hole := func() { q.holes = append(q.holes, c.kind) }
	kinds := 11
	depth := 2
	if q.tables > 1 { // the planner takes its time for subqueries beside joins
		depth = 0
		if q.tables > 2 || q.subqueries > 0 {
			kinds = 8
		}
	}
	switch g.IntN(kinds + 1) {
	case kinds:
		if c = queryColumns[table][0]; c.kind != "int" {
			c = queryColumns[table][1]
		}
		q.holes = append(q.holes, "int", "int", "int", "int")
		return fmt.Sprintf("(%s.%s, %s.%s) in ((?, ?), (?, ?))", alias, c.name, alias, numberOf(g, table))
	case 8:
		return name + pick(g, " in (", " in (", " not in (") + g.subquery(q, c.kind, depth) + ")"
	case 9:
		return name + pick(g, " = (", " = (", " > (", " <= (") + g.valueOf(q, c.kind) + ")"
	case 10:
		return pick(g, "", "not ") + "exists (" + g.subquery(q, c.kind, depth) + ")"
	case 0:
		hole()
		hole()
		return name + " between ? and ?"
	case 1:
		hole()
		hole()
		hole()
		return name + pick(g, " in (?, ?, ?)", " not in (?, ?, ?)")
	case 2:
		return name + pick(g, " is null", " is not null")
	case 3:
		hole()
		hole()
		return fmt.Sprintf("(%s = ? or %s > ?)", name, name)
	}
	hole()
	return name + pick(g, " = ?", " = ?", " < ?", " >= ?", " <> ?")
}

// subquery is one of a column of a kind, deeper ones in it.
func (g *queryGen) subquery(q *queryShape, kind string, depth int) string {
	q.subqueries++
	table := pick(g, "a", "b", "c")
	name := "null"
	for _, c := range queryColumns[table] {
		if c.kind == kind && (name == "null" || g.IntN(2) == 0) {
			name = c.name
		}
	}
	cond := g.condition(q, table, table)
	if depth > 0 && g.IntN(4) == 0 {
		cond += " and " + queryKeys[table] + " in (" + g.subquery(q, "int", depth-1) + ")"
	}
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("select distinct %s from %s where %s", name, table, cond)
	case 1:
		return fmt.Sprintf("select max(%s) from %s where %s", name, table, cond)
	}
	return fmt.Sprintf("select %s from %s where %s", name, table, cond)
}

// valueOf is a subquery of one row, or of several, or of none.
func (g *queryGen) valueOf(q *queryShape, kind string) string {
	if g.IntN(4) == 0 {
		return g.subquery(q, kind, 0)
	}
	table := pick(g, "a", "b", "c")
	for _, c := range queryColumns[table] {
		if c.kind == kind {
			q.holes = append(q.holes, "int")
			return fmt.Sprintf("select %s from %s where %s = ?", c.name, table, queryKeys[table])
		}
	}
	return "select max(n) from b"
}

// TestQueriesWithNamesHavePlans: common table expressions are run by plans, also where one is read twice, or
// has the name of a table.
func TestQueriesWithNamesHavePlans(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, n int, key (n))",
		"insert into t values (1, 10), (2, 10), (3, 30)")
	for q, want := range map[string]string{
		"with w as (select id, n from t where n = 10) select count(*) from w where id > 1":         "1",
		"with w as (select id, n from t where n = 10) select a.id from w a join w b on a.id = b.n": "",
		"with t as (select id, n from t where id = 3) select n from t":                             "30",
	} {
		if got := text(t, c, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
		if !planHit(t, s, c, q) {
			t.Errorf("%s has no plan", q)
		}
		if got := text(t, c, q); got != want {
			t.Errorf("%s by a plan: %s, want %s", q, got, want)
		}
	}
	// Without the right to read what stands in one, nobody reads it by a plan.
	run(t, c, "create user u@'%'", "grant select on d.* to u@'%'", "create database e",
		"create table e.s (id int primary key)")
	q := "with w as (select id from e.s where id = 1) select count(*) from w"
	text(t, c, q)
	u, err := s.open("u", "d", "").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if got := answer(u, q, nil, true); !strings.HasPrefix(got, "error 1142") {
		t.Errorf("without the privilege: %s", got)
	}
}

// TestUnsignedIsAboveNegative: a plan that looked at the rows took a parameter of -1 for more than all
// numbers of an UNSIGNED column.
func TestUnsignedIsAboveNegative(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table t (id bigint unsigned primary key, n int unsigned, key (n))",
		"insert into t values (1, 1), (2, 2), (3, 18)")
	for _, cond := range []string{"b.id between ? and ?", "b.n between ? and ?",
		"(b.n between ? and ? or b.n = 77)",
		"b.n > ? and b.n <= ? + 0", "b.id in (?, ?)"} {
		query := "select count(*), sum(b.n) from t a join t b on a.id = b.id and " + cond
		for _, args := range [][]any{{0, -1}, {-1, 2}, {-5, -1}, {-1, int64(1) << 62}} {
			run(t, c, "set moka_plan_cache = 0")
			want := answer(c, query, args, true)
			run(t, c, "set moka_plan_cache = 1")
			for range 2 {
				if got := answer(c, query, args, true); got != want {
					t.Errorf("%s %v: %s, want %s", query, args, got, want)
				}
			}
		}
	}
}

// TestRangeToNull: a range of a joined table that ends at NULL has no rows, with an index or without. It had
// all of them.
func TestRangeToNull(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table a (id int primary key, n int)",
		"create table b (id int primary key auto_increment, n int, v int, key (n, v))",
		"insert into a values (1, 1), (2, 2)", "insert into b (n, v) values (1, 10), (2, 20), (2, 30)"+
			strings.Repeat(", (3, 1)", 400), "analyze table a, b")
	count := func(from any) (n int) {
		t.Helper()
		before := s.Metrics().PlanHits
		const q = "select b.v from a join b on b.n = a.n where b.v between ? and 100"
		rows, err := c.QueryContext(t.Context(), q, from)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		if from == nil && s.Metrics().PlanHits == before {
			t.Error("the query has no plan")
		}
		return n
	}
	for range 2 {
		if n := count(0); n != 3 {
			t.Errorf("%d rows from 0, want 3", n)
		}
	}
	if n := count(nil); n != 0 {
		t.Errorf("%d rows from NULL, want none", n)
	}
}

// TestQueryPlansAreOfTheMoment: what a session or a clock says is not kept with a plan.
func TestQueryPlansAreOfTheMoment(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c, other := s.conn("d"), s.conn("d")
	run(t, c, "create table a (id int primary key, k int, at datetime(6))", "create table b (id int primary key, a_id int)",
		"insert into a values (1, 1, '2020-01-01')", "insert into b values (1, 1)")
	const from = " from a join b on b.a_id = a.id where b.id = ?"
	ask := func(conn *sql.Conn, what string) (v any) {
		t.Helper()
		if err := conn.QueryRowContext(t.Context(), "select "+what+" as v"+from, 1).Scan(&v); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return v
	}
	before := s.Metrics().PlanHits
	ask(c, "k + 1")
	ask(c, "k + 1")
	if s.Metrics().PlanHits == before {
		t.Fatal("the query has no plan")
	}
	for _, what := range []string{"now(6)", "current_timestamp(6)", "rand()", "uuid()", "sysdate(6)", "unix_timestamp(now(6))"} {
		seen := map[string]bool{}
		for range 4 {
			seen[fmt.Sprint(ask(c, what))] = true
		}
		if len(seen) != 4 {
			t.Errorf("%s had %d values in four runs", what, len(seen))
		}
	}
	for _, what := range []string{"connection_id()", "last_insert_id()", "@x", "@@session.sql_select_limit", "@@auto_increment_increment", "database()"} {
		for range 3 {
			ask(c, what)
		}
		run(t, other, "set @x = 7, auto_increment_increment = 3, sql_select_limit = 1000", "select last_insert_id(77)")
		run(t, other, "set moka_plan_cache = 0")
		want := fmt.Sprint(ask(other, what))
		run(t, other, "set moka_plan_cache = 1")
		if got := fmt.Sprint(ask(other, what)); got != want {
			t.Errorf("%s is %s, and %s by a plan", what, want, got)
		}
	}
	run(t, c, "set timestamp = 1000000000")
	want := fmt.Sprint(ask(c, "now()"))
	if got := fmt.Sprint(ask(c, "now()")); got != want {
		t.Errorf("now() is %s, then %s", want, got)
	}
}
