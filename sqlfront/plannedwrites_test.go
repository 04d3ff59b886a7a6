package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestWritesHavePlans: what real schemas write with has plans: values that are computed from the row, rows
// that others may refer to, transactions that only read. A statement is planned when it first runs, and each
// later one that differs in values only is run by the plan.
func TestWritesHavePlans(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, `create table par (id int primary key, v decimal(12,2) not null default 0, at date, n int)`,
		`create table chi (id int primary key, p int, foreign key (p) references par (id))`)
	for i := range 20 {
		run(t, c, fmt.Sprintf("insert into par values (%d, %d.5, '2024-01-%02d', %d)", i, i, 1+i, i))
	}
	run(t, c, "insert into chi values (1, 19)",
		`create table st (id int primary key auto_increment, n int, v varchar(20), made datetime default current_timestamp,
		  seen timestamp(3) not null default current_timestamp(3) on update current_timestamp(3),
		  twice int as (n * 2) stored, key (n))`)
	for _, w := range []string{
		"update par set v = v + cast('%d.25' as decimal(12,2)) where id = 1",
		"update par set v = v * 2 + n, n = n + %d where id = 2",
		"update par set at = at + interval 1 day where id = 3 and n < 10%d",
		"update par set n = case when v > %d then 1 else 2 end where id = 4",
		"update par set v = v + %d.5 where id = 6",
		"delete from par where id = 5 + %d",
		"insert into st (n) values (%d)",
		"insert into st (n, v, made, seen) values (%d, upper('a%d'), now(), default)",
		"insert into st set n = 1 + %d, v = concat('a', %d)",
		"update st set n = n + 1 where id = %d",
		"update st set v = 'a%d', made = now() where n = 2",
		"insert into st (id, n) values (5%d, 4) on duplicate key update n = n + values(n), v = 'b'",
		"insert into st (id, n) values (51, 5) on duplicate key update n = values(n), v = concat(v, 'y%d')",
		"replace into st (id, n, v) values (5%d, 4, 'c')",
		"insert into chi values (6%d, 1), (61, 3) on duplicate key update p = values(p)",
		"replace into chi values (7%d, 1), (71, 4)",
	} {
		of := func(i int) string {
			return strings.ReplaceAll(strings.ReplaceAll(w, "5 + %d", fmt.Sprint(5+i)), "%d", fmt.Sprint(i))
		}
		run(t, c, of(1))
		if !planHit(t, s, c, of(2)) {
			t.Errorf("%s has no plan: %s", w, text(t, c, "select no_plan from moka.statements_summary "+
				"where schema_name = 'd' order by last_seen desc limit 1"))
		}
	}
	run(t, c, "start transaction read only", "select v from par where id = 1", "commit")
	script{
		{"insert into par (id) values (99)", ""},
		{"start transaction read only", ""}, {"delete from par where id = 99", "error 1792"},
		{"rollback", ""},
		{"select by_plan, no_plan from moka.statements_summary " +
			"where digest_text = 'start transaction read only'",
			"2 NULL"},
		{"select by_plan, executions, no_plan from moka.statements_summary where schema_name = 'd' and " +
			"digest_text = 'delete from par where id = ?'", "2 3 NULL"},
		{"select sum(id) over () from par where id = 1", "1"},
		{"select by_plan, no_plan from moka.statements_summary where digest_text like '%over%'", "0 shape"},
		{"update par set n = default where id = 1", ""}, {"update par set n = default(v) where id = 2", ""},
		{"select id, n from par where id < 3 and id > 0", "1 NULL;2 0"},
		{"update par set n = 1 where id = 1", ""},
		{"delete from par where id = 19", "error 1451"},
		{"select v, n from par where id = 1", "5.00 1"},
		{"select id, n, v, twice from st where id > 50 order by id", "51 4 c 8;52 4 c 8"},
		{"select id, p from chi where id > 60 order by id", "61 3;62 1;71 4;72 1"},
		{"insert into st (n) values (70)", ""}, {"set insert_id = 900", ""},
		{"insert into st (n) values (71)", ""}, {"insert into st (n) values (72)", ""},
		{"select id, n from st where n > 70", "900 71;901 72"},
	}.run(t, c)
}

// TestManyRowsHaveOnePlan: an INSERT of many rows is run by the plan of one row, however many there are, with
// foreign keys, checks, secondary indexes, and generated numbers, in autocommit and in transactions. What
// does not go is refused as ever, and nothing of it is there.
func TestManyRowsHaveOnePlan(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table par (id int primary key)",
		`create table t (id int primary key auto_increment, p int, v varchar(20), n int not null,
		  d decimal(8,2),
		  key (v, n), unique key u (v, p), check (n >= 0), foreign key (p) references par (id))`,
		"insert into par values (1), (2), (3)")
	rows := func(from, n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(", " + row(from+i))
		}
		return b.String()[2:]
	}
	plain := func(i int) string { return fmt.Sprintf("(%d, 'v''%d', %d, -%d.5)", 1+i%3, i, i, i%100) }
	insert := func(from, n int, row func(i int) string) string {
		return "insert into t (p, v, n, d) values " + rows(from, n, row)
	}
	run(t, c, insert(0, 200, plain))
	if !planHit(t, s, c, insert(200, 300, plain)) {
		t.Errorf("another number of rows has no plan: %s", text(t, c, "select no_plan from "+
			"moka.statements_summary where digest_text like 'insert into t%'"))
	}
	run(t, c, "begin")
	if !planHit(t, s, c, insert(500, 300, plain)) {
		t.Error("no plan in a transaction")
	}
	run(t, c, "rollback", "begin", insert(500, 500, plain), "commit")
	count := script{
		{"select count(*), count(distinct id), sum(n), sum(d), max(v) from t",
			"1000 1000 499500 -50000.00 v'999"},
		{"select count(*) from t force index (v) where v > ''", "1000"},
	}
	count.run(t, c)
	with := func(bad string) func(i int) string {
		return func(i int) string {
			if i == 2050 {
				return bad
			}
			return plain(i)
		}
	}
	for bad, code := range map[string]string{
		"(9, 'x', 1, 1)": "1452", "(1, 'x', -1, 1)": "3819",
		"(1, 'v''0', 1, 1)": "1062", "(1, 'x', null, 1)": "1048",
		"(1, 'v''2001', 1, 1), (3, 'v''2000', 1, 1)": "1062", "(1, 'x', 'y', 1)": "1366",
	} {
		for _, around := range []string{"", "begin"} {
			if around != "" {
				run(t, c, around)
			}
			_, err := c.ExecContext(t.Context(), insert(2000, 100, with(bad)))
			if err == nil || !strings.Contains(refusal(err), code) {
				t.Errorf("%s with %s: %v, want error %s", around, bad, err, code)
			}
			if around != "" {
				run(t, c, "commit")
			}
			count.run(t, c)
		}
	}
	explicit := func(i int) string { return fmt.Sprintf("(%d, null, 'e%d', 1)", i, i) }
	run(t, c, "insert into t (id, p, v, n) values "+rows(5000, 100, explicit))
	if !planHit(t, s, c, "insert into t (id, p, v, n) values "+rows(6000, 50, explicit)) {
		t.Error("rows with their own numbers have no plan")
	}
	run(t, c, "insert into t (p, v, n) values (1, 'last', 1)")
	script{{"select last_insert_id(), id from t where v = 'last'", "6050 6050"}}.run(t, c)
}

// TestDumpsAreRestoredByPlans: under foreign_key_checks = 0, which every dump sets, writes to tables with foreign
// keys have plans, too, which look for no parent and no child, and for checks as ever. The same plans look
// again when it is 1.
func TestDumpsAreRestoredByPlans(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table par (id int primary key)",
		"create table chi (id int primary key, p int, n int, check (n > 0), "+
			"foreign key (p) references par (id) on delete cascade)",
		"insert into par values (1), (2), (3), (4)", "insert into chi values (1, 1, 1), (2, 2, 1)",
		"set foreign_key_checks = 0")
	for _, w := range []string{
		"insert into chi values (%d0, 77, 1), (%d1, 78, 1)",
		"update chi set p = 9%d where id = 10",
		"delete from par where id = %d",
	} {
		run(t, c, strings.ReplaceAll(w, "%d", "1"))
		if !planHit(t, s, c, strings.ReplaceAll(w, "%d", "2")) {
			t.Errorf("%s has no plan: %s", w, text(t, c, "select no_plan from moka.statements_summary "+
				"where schema_name = 'd' order by last_seen desc limit 1"))
		}
	}
	script{
		{"select * from chi order by id", "1 1 1;2 2 1;10 92 1;11 78 1;20 77 1;21 78 1"},
		{"select id from par", "3;4"},
		{"insert into chi values (30, 77, 1), (31, 78, 0)", "error 3819"},
		{"update chi set n = 0 where id = 10", "error 3819"},
		{"set foreign_key_checks = 1", ""},
		{"insert into chi values (30, 77, 1), (31, 78, 1)", "error 1452"},
		{"update chi set p = 93 where id = 10", "error 1452"},
		{"insert into chi values (40, 3, 1)", ""}, {"delete from par where id = 3", ""},
		{"select * from chi where id >= 30", ""},
		{"select * from chi where id < 3", "1 1 1;2 2 1"},
	}.run(t, c)
}
