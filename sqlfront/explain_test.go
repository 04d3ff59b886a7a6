package sqlfront_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"moka/kv/kvtest"
)

// TestExplain shows how each shape of statement is read: table, access, key, ref, Extra.
func TestExplain(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table p (id int primary key, name varchar(20), unique key byname (name))",
		"create table c (id int primary key, pid int, v int, key bypid (pid, v), constraint fk foreign key (pid) references p (id))",
		"insert into p values (1, 'a'), (2, 'b')", "insert into c values (1, 1, 5), (2, 1, 6), (3, 2, 7)")
	for _, q := range []struct{ query, want string }{
		{"select 1", "1 SIMPLE - - - - No tables used"},
		{"select * from p", "1 SIMPLE p ALL - - -"},
		{"select * from p for share", "1 SIMPLE p ALL - - -"},
		{"format = traditional select high_priority * from p for update nowait", "1 SIMPLE p ALL - - -"},
		{"select * from p where id = 1", "1 SIMPLE p const PRIMARY const Using where"},
		{"select * from p where id in (1, 2)", "1 SIMPLE p range PRIMARY - Using where"},
		{"select * from p where name = 'a'", "1 SIMPLE p const byname const Using where"},
		{"select * from p x where id > 1", "1 SIMPLE x range PRIMARY - Using where"},
		{"select v from c where pid = 1", "1 SIMPLE c ref bypid const Using where; Using index"},
		{"select * from c where pid = 1 and v > 3", "1 SIMPLE c range bypid - Using where; Using index"},
		{"select * from c where v = 5", "1 SIMPLE c ALL - - Using where; pushed filter: (c.v = 5)"},
		{"select v, count(*) from c group by v order by 2", "1 SIMPLE c ALL - - Using filesort; Using temporary; pushed aggregate: COUNT(1), c.v by c.v"},
		{"select sum(v), max(v) from c where pid + 0 = 1", "1 SIMPLE c ALL - - Using where"},
		{"select sum(v), max(v) from c where id > 1 and v < 9", "1 SIMPLE c range PRIMARY - Using where; pushed filter: (c.id > 1) AND (c.v < 9); pushed aggregate: MAX(c.v), SUM(c.v)"},
		{"select id from c order by v desc limit 2", "1 SIMPLE c ALL - - Using filesort; pushed limit: the first 2 by v DESC"},
		{"select * from p join c on c.pid = p.id where p.id = 1", "1 SIMPLE p const PRIMARY const Using where; 1 SIMPLE c ref bypid p.id Using index"},
		{"select * from (select v, count(*) n from c group by v) x", "1 PRIMARY <derived2> ALL - - -; 2 DERIVED c ALL - - Using temporary; pushed aggregate: COUNT(1), c.v by c.v"},
		{"select id from p union select id from c", "1 PRIMARY p ALL - - -; 2 UNION c ALL - - -; - UNION RESULT <union1,2> ALL - - Using temporary"},
		{"insert into p values (9, 'z')", "1 INSERT p ALL - - -"},
		{"update p set name = 'q' where id = 2", "1 UPDATE p const PRIMARY const Using where"},
		{"delete from c where id = 2", "1 DELETE c const PRIMARY const Using where"},
	} {
		var got []string
		for _, r := range explain(t, c, "explain "+q.query) {
			got = append(got, strings.Join([]string{r["id"], r["select_type"], r["table"], r["type"], r["key"], r["ref"], r["Extra"]}, " "))
		}
		if g := strings.Join(got, "; "); g != q.want {
			t.Errorf("%s:\n  got  %s\n  want %s", q.query, g, q.want)
		}
	}
	// Nothing was run.
	want(t, c, "select count(*) from p", "2")
}

// explain returns the rows of a statement by column name, NULL as "-".
func explain(t *testing.T, c runner, query string) (out []map[string]string) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		vals, ptrs := make([]*string, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		r := map[string]string{}
		for i, v := range vals {
			r[cols[i]] = "-"
			if v != nil {
				r[cols[i]] = *v
			}
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

var times = regexp.MustCompile(`time=[0-9.]+`)

// TestExplainAnalyze counts rows and loops where they arise.
func TestExplainAnalyze(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table p (id int primary key, name varchar(20))",
		"create table c (id int primary key, pid int, v int, key bypid (pid))",
		"insert into p values (1, 'a'), (2, 'b'), (3, 'c')", "insert into c values (1, 1, 5), (2, 1, 6), (3, 2, 7), (4, 9, 9)")
	var got []string
	for _, r := range explain(t, c, "explain analyze select p.name, c.v from p join c on c.pid = p.id where p.id < 3 order by c.v limit 2") {
		got = append(got, times.ReplaceAllString(r["plan"], "time=T"))
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{
		"rows=2 loops=1", // the limit
		"-> Sort: c.v ASC",
		"-> Index range scan on p using PRIMARY",
		"rows=2 loops=1", // two parents
		"-> Index lookup on c using bypid (p.id)",
		"rows=1.50 loops=2", // three children in two lookups
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	for q, want := range map[string]string{
		"select * from c where v > 5":      "-> Table scan on c, pushed filter: (c.v > 5) (requests=1 examined=4)",
		"select count(*), max(v) from c":   "-> Table scan on c, pushed aggregate: COUNT(1), MAX(c.v) (requests=1 examined=4)",
		"select * from c where pid = 1":    "(requests=2 examined=4)", // two entries, two rows
		"select * from c where v + 0 = 7 ": "(requests=1 examined=4)",
	} {
		text := ""
		for _, r := range explain(t, c, "explain analyze "+q) {
			text += r["plan"] + "\n"
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", q, want, text)
		}
	}
}

// EXPLAIN FORMAT=JSON says what EXPLAIN says, in one document; FORMAT=TRADITIONAL is EXPLAIN.
func TestExplainFormats(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a int, key (a))")
	if plain, traditional := explain(t, c, "explain select * from t where id = 3"), explain(t, c, "explain format=traditional select * from t where id = 3"); !reflect.DeepEqual(plain, traditional) {
		t.Errorf("EXPLAIN: %v\nFORMAT=TRADITIONAL: %v", plain, traditional)
	}
	for query, want := range map[string]string{
		"select * from t where id = 3":                    `"table_name": "t", "access_type": "const", "possible_keys": [ "PRIMARY" ], "key": "PRIMARY"`,
		"select count(*) from t x join t y on x.id = y.a": `"nested_loop": [`,
		"select 1":                               `"message": "No tables used"`,
		"select id from t union select a from t": `"subqueries": [ { "query_block": { "select_id": 2, "select_type": "UNION"`,
	} {
		var got string
		for _, r := range explain(t, c, "explain format=JSON "+query) {
			for _, text := range r {
				got += text
			}
		}
		if words := strings.Join(strings.Fields(got), " "); !strings.Contains(words, want) || !json.Valid([]byte(got)) {
			t.Errorf("%s: no %s in\n%s", query, want, got)
		}
	}
	if _, err := c.ExecContext(t.Context(), "explain format=verse select 1"); err == nil || !strings.Contains(err.Error(), "1791") {
		t.Errorf("a format that is none: %v", err)
	}
}

// TestExplainAnalyzeShowsWaits: who has waited for a row lock sees how long, at the node that did, or, if the
// statement was run again because of it, at the statement's own line; so does who reads the digests.
func TestExplainAnalyzeShowsWaits(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	const query = "explain analyze select * from t where id = 1 for update"
	plain := func(name, q string) string {
		var lines []string
		for _, r := range explain(t, s.in(name), q) {
			lines = append(lines, times.ReplaceAllString(r["plan"], "time=T"))
		}
		return strings.Join(lines, "\n")
	}
	s.do("b", "begin")
	if got := plain("b", query); strings.Contains(got, "wait") || strings.Contains(got, "Statement") {
		t.Errorf("nobody was in the way:\n%s", got)
	}
	s.do("b", "rollback")
	waits := func(isolation, holder string) string {
		t.Helper()
		s.do("a", "begin", "update t set v = v + 1 where id = 1")
		s.do("b", "set transaction isolation level "+isolation, "begin")
		before, got := s.waiting(), ""
		s.wg.Go(func() { got = plain("b", query) })
		s.until("a wait", func() bool { return s.waiting() > before })
		s.do("a", holder)
		s.wg.Wait()
		s.do("b", "rollback")
		return got
	}
	node := regexp.MustCompile(`Index (lookup|range scan) on t using PRIMARY.*\(requests=1 examined=1\) \(row lock waits=1 time=T\)`)
	for _, isolation := range []string{"repeatable read", "read committed"} {
		got := waits(isolation, "rollback")
		if !node.MatchString(got) || !strings.HasSuffix(got, "\nStatement: (row lock waits=1 time=T)") {
			t.Errorf("%s: the holder gave up:\n%s", isolation, got)
		}
		if got = waits(isolation, "commit"); !strings.HasSuffix(got, "\nStatement: (row lock waits=1 time=T) (restarts=1)") || node.MatchString(got) {
			t.Errorf("%s: the holder has changed the row:\n%s", isolation, got)
		}
	}
	s.want("b", "select count_star, sum_lock_time > 0, sum_lock_time <= sum_timer_wait from performance_schema.events_statements_summary_by_digest where digest_text like 'explain%'", "5 1 1")
	s.do("b", "begin", "select v from t where id = 3 for update", "rollback") // a row that nobody else has locked
	s.want("b", "select count_star, sum_lock_time from performance_schema.events_statements_summary_by_digest where digest_text like 'select v%'", "1 0")
}
