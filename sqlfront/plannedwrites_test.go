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
	run(t, c, "insert into chi values (1, 19)")
	for _, w := range []string{
		"update par set v = v + cast('%d.25' as decimal(12,2)) where id = 1",
		"update par set v = v * 2 + n, n = n + %d where id = 2",
		"update par set at = at + interval 1 day where id = 3 and n < 10%d",
		"update par set n = case when v > %d then 1 else 2 end where id = 4",
		"update par set v = v + %d.5 where id = 6",
		"delete from par where id = 5 + %d",
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
		{"start transaction read only", ""}, {"delete from par where id = 99", "error 1792"}, {"rollback", ""},
		{"select by_plan, no_plan from moka.statements_summary where digest_text = 'start transaction read only'",
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
	}.run(t, c)
}
