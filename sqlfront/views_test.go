package sqlfront_test

import (
	"context"
	"strings"
	"testing"
)

// TestRightsThroughViews writes through views as accounts that may, on the view and below it, or may not.
func TestRightsThroughViews(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create database own", "use d", "create table t (id int primary key, a int, secret int default 5)", "insert into t values (1, 1, 1), (2, 2, 2)",
		"create view v as select id, a from t where a < 100", "create sql security invoker view byyou as select id, a from t", "create view above as select id from v",
		"create user writer", "grant select, insert, update, delete on d.v to writer", "grant select, insert, update, delete on d.byyou to writer",
		"create user reader", "grant select on d.v to reader", "grant insert on d.above to reader",
		"create user maker", "grant all on own.* to maker", "grant select on d.t to maker")
	writer, reader, maker := s.open("writer", "d", "?multiStatements=true"), s.open("reader", "d", ""), s.open("maker", "own", "")
	for _, c := range []struct {
		who   runner
		query string
		want  string
	}{
		{writer, "insert into v values (3, 3)", ""},
		{writer, "update v set a = 4 where id = 3", ""},
		{writer, "replace into v values (3, 5)", ""},
		{writer, "insert into v values (3, 3) on duplicate key update a = 6", ""},
		{writer, "delete from v where id = 2", ""},
		{writer, "update v set a = secret", "error 1054"},
		{writer, "update v set a = (select max(secret) from t)", "error 1142"},
		{writer, "insert into t values (9, 9, 9)", "error 1142"},
		{writer, "insert into byyou values (4, 4)", "error 1356"},
		{writer, "update byyou set a = 1", "error 1356"},
		{writer, "delete from byyou", "error 1356"},
		{reader, "update v set a = 1", "error 1142"},
		{reader, "delete from v", "error 1142"},
		{reader, "insert into v values (5, 5)", "error 1142"},
		{reader, "replace into above values (5)", "error 1142"},
		{reader, "insert into above values (5)", ""}, // the definer of above may insert into v, that of v into t
		// Who may only read a table makes no view through which he may write to it.
		{maker, "create view mine as select id, a from d.t", ""},
		{maker, "insert into mine values (6, 6)", "error 1356"},
		{maker, "update mine set a = 0", "error 1356"},
		{maker, "delete from mine", "error 1356"},
		{maker, "create definer = root@localhost view roots as select id, a from d.t", "error 1227"},
		{root, "grant update on d.t to maker", ""},
		{root, "select a, secret from t order by id", "1 1;6 5;NULL 5"},
	} {
		if got := results(t, c.who, c.query); got != c.want {
			t.Errorf("%s: got %q, want %q", c.query, got, c.want)
		}
	}
	if got := results(t, s.open("maker", "own", ""), "update mine set a = 7"); got != "" {
		t.Errorf("with the right below: %s", got)
	}
	want(t, root, "select a from t order by id", "7; 7; 7")
}

// TestPreparedThroughView runs a statement of the binary protocol on views that become others, and whose
// definition SHOW CREATE VIEW shows.
func TestPreparedThroughView(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key auto_increment, a int, b int)", "create view v as select id, a as x from t")
	insert, err := c.PrepareContext(context.Background(), "insert into v (x) values (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer insert.Close()
	execute := func(x int) string {
		res, err := insert.Exec(x)
		if err != nil {
			return refusal(err)
		}
		id, _ := res.LastInsertId()
		if n, _ := res.RowsAffected(); n != 1 || id == 0 {
			t.Errorf("%d rows, id %d", n, id)
		}
		return ""
	}
	steps := []struct {
		ddl, want string
		x         int
	}{
		{"set @a = 1", "", 1},
		{"create or replace view v as select id, b as x from t", "", 2},
		{"create or replace view v as select id, a as x from t where a < 10 with local check option", "error 1369", 30},
		{"alter table t add column c int first", "", 4},
		{"create or replace view v as select distinct id, a as x from t", "error 1471", 5},
	}
	for _, st := range steps {
		run(t, c, st.ddl)
		if got := execute(st.x); !strings.HasPrefix(got, st.want) || st.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", st.ddl, got, st.want)
		}
	}
	want(t, c, "select a, b from t order by id", "1 NULL; NULL 2; 4 NULL")
	run(t, c, "drop view v", "create view v as select a from t where a < 10 with cascaded check option")
	want(t, c, "select group_concat(check_option, is_updatable, definer) from information_schema.views where table_schema = 'd'", "CASCADEDYESroot@localhost")
	var name, text, charset, collation string
	if err := c.QueryRowContext(context.Background(), "show create view v").Scan(&name, &text, &charset, &collation); err != nil {
		t.Fatal(err)
	}
	run(t, c, "drop view v", text)
	want(t, c, "select check_option from information_schema.views where table_schema = 'd'", "CASCADED")
}
