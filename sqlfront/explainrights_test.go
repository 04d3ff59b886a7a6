package sqlfront_test

import (
	"strings"
	"testing"
)

// TestExplainShowsNothingBelowViews: EXPLAIN of a view takes SHOW VIEW on it and the rights of its text, of
// who asks; and of a statement with triggers it does not show what they do. It showed tables, keys, literals
// and numbers of rows to who may only read the view, or only write to the table.
func TestExplainShowsNothingBelowViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database secret", "create database app", "use app",
		"create table secret.t (id int primary key, s varchar(20), key (s))",
		"insert into secret.t values (1, 'x')",
		"create table secret.audit (m varchar(20))", "create table rt (id int primary key)",
		"create view v as select id from secret.t where s <> 'literal-1'",
		"create view w as select id from v where id > 4711", "create view l as select 'literal-2' as c",
		"create sql security invoker view i as select id from rt",
		"create trigger bt before insert on rt for each row set new.id = new.id + "+
			"(select max(id) from secret.t where s = 'literal-3')",
		"create trigger at after insert on rt for each row insert into secret.audit "+
			"select s from secret.t where s = 'literal-4'",
		"create trigger dt after delete on rt for each row insert into secret.audit values ('literal-5')",
		"create user n@localhost, n@'127.0.0.1', o@localhost, o@'127.0.0.1', p@localhost, p@'127.0.0.1'")
	for _, host := range []string{"@localhost", "@'127.0.0.1'"} {
		run(t, root, "grant delete on app.v to o"+host, "grant delete on app.v to p"+host)
		for _, view := range []string{"v", "w", "l", "i"} {
			run(t, root, "grant select, update, delete, insert on app."+view+" to n"+host,
				"grant select, show view on app."+view+" to o"+host)
		}
		run(t, root, "grant all on app.* to p"+host, "grant select on secret.t to p"+host,
			"grant insert, delete, select on app.rt to n"+host, "grant insert on app.rt to o"+host)
	}
	n := s.open("n", "app", "")
	for _, how := range []string{"", "format=tree ", "format=json ", "analyze "} {
		for _, q := range []string{
			"select * from v", "select * from w", "select * from l",
			"select 1 from rt where exists (select 1 from v)",
			"with c as (select * from v) select * from c", "select id from rt union select id from w",
			"select * from i", "select * from (select v.id from v join rt using (id)) x",
		} {
			if got := results(t, n, "explain "+how+q); got != "error 1345" {
				t.Errorf("explain %s%s: %s", how, q, got)
			}
		}
	}
	script{
		{"select * from w", ""},
		{"explain update v set id = 2", "error 1345"},
		{"explain delete from v", "error 1345"},
		{"explain insert into v values (7)", "error 1345"},
		{"explain format=tree replace into v values (7)", "error 1345"},
		{"prepare x from 'explain delete from v'", "error 1345"},
		{"explain insert into rt select id from v", "error 1345"},
		{"prepare x from 'explain select * from v'", "error 1345"},
		{"select id from v", "1"},
	}.run(t, n)
	script{ // may see the text, and not the tables
		{"explain select * from v", "error 1345"},
		{"explain select * from w", "error 1345"},
		{"explain select id from i", "error 1356"},
		{"explain delete from v", "error 1345"},
		{"select id from v", "1"},
	}.run(t, s.open("o", "app", ""))
	for _, c := range []struct {
		user string
		q    string
		has  string
	}{
		{"p", "explain select * from v", "t"}, {"p", "explain format=tree select * from w", "4711"},
		{"p", "explain delete from v", "DELETE"},
		{"p", "explain select * from i", "rt"}, {"p", "explain format=tree select * from l", "literal-2"},
		{"o", "explain format=tree insert into rt values (1)", "Trigger(at)"},
	} {
		got := results(t, s.open(c.user, "app", ""), c.q)
		if !strings.Contains(got, c.has) || strings.HasPrefix(got, "error") {
			t.Errorf("%s: %s: %s", c.user, c.q, got)
		}
	}
	for _, how := range []string{"", "format=tree ", "format=json "} {
		for _, q := range []string{"insert into rt values (1)", "delete from rt",
			"replace into rt values (1)"} {
			got := results(t, n, "explain "+how+q)
			if strings.Contains(got, "literal") || strings.Contains(got, "secret") ||
				strings.HasPrefix(got, "error") {
				t.Errorf("explain %s%s: %s", how, q, got)
			}
		}
	}
}
