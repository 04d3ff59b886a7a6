package sqlfront_test

import (
	"context"
	"database/sql"
	"slices"
	"testing"
)

// TestReturningAnswersItsExpressions: REPLACE … RETURNING answered the whole row that was there and the whole
// new one, whatever it named, and INSERT … ON DUPLICATE KEY UPDATE … RETURNING the first columns of the row
// that was there, or ended the connection.
func TestReturningAnswersItsExpressions(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d",
		"create table t (id int primary key, a int default 7, b varchar(20), g int as (a * 2), unique "+
			"key (a))",
		"create table n (id int auto_increment primary key, a int unique)", "create table log (w "+
			"varchar(20))",
		"create table f (id int primary key, a int, b varchar(20))",
		"create trigger f_bi before insert on f for each row set new.b = concat('bi', new.a)",
		"create trigger f_bu before update on f for each row set new.b = concat('bu', new.a)",
		"create trigger f_ai after insert on f for each row insert into log values ('ai')",
		"create trigger f_au after update on f for each row insert into log values ('au')",
		"create trigger f_ad after delete on f for each row insert into log values ('ad')",
		"create table par (id int primary key)", "insert into par values (1), (2)",
		"create table kid (id int primary key, p int, foreign key (p) references par (id))",
		"create temporary table tmp (id int primary key, b varchar(20))",
		"insert into t (id, a, b) values (1, 1, 'x'), (2, 2, 'y')")
	script{
		{"replace into t (id, a, b) values (1, 2, 'z') returning id", "1"},
		{"replace into t (id, a, b) values (1, 3, 'z'), (5, 5, 'v') returning *", "1 3 z 6;5 5 v 10"},
		{"replace into t (id, a) select id + 5, a + 5 from t where id = 5 returning t.*, b is null",
			"10 10 NULL 20 1"},
		{"replace into t set id = 10 returning a, g, d.t.id", "7 14 10"},
		{"insert into t (id, b) values (1, 'q') on duplicate key update a = a + 1 returning a", "4"},
		{"insert into t (id, a, b) values (1, 9, 'q'), (20, 20, 'n') on duplicate key update a = 40 " +
			"returning id, a as x, g", "1 40 80;20 20 40"},
		{"insert into t (id, b) values (1, 'q') on duplicate key update id = id " +
			"returning 'a', 'b', 'c', 'd', 'e', 'f', 'g', id, concat(b, '!')", "a b c d e f g 1 z!"},
		{"insert into t (id, a, b) select 1, 1, 'q' on duplicate key update b = 'w' returning b, id", "w 1"},
		{"insert ignore into t (id, a) values (1, 9), (30, 30), (31, 30) returning id, a", "30 30"},
		{"insert ignore into t (id, a) values (1, 9) returning id", ""},
		{"replace into t (id, a) values (30, 31) returning (select 5), (select a + 1), exists (select 1 " +
			"from log), id in (select 30)", "5 32 0 1"},
		{"insert into t (id, a) values (30, 31) on duplicate key update b = (select concat('c', " +
			"count(*)) from log) returning b, (select b)", "c0 c0"},
		{"insert into t (id, a) values (32, 32) returning (select max(a) from t t2)", "40"},
		{"insert into t (id) values (30) on duplicate key update a = (select max(x.a) + 1 from t x " +
			"where x.id < t.id) returning a", "41"},

		{"insert into n (a) values (1), (2) returning id", "1;2"},
		{"insert into n (a) values (2) on duplicate key update a = 3 returning id, a", "2 3"},
		{"replace into n (a) values (3) returning id + 0 > 2, a", "1 3"},

		{"insert into f values (1, 1, 'c') returning *", "1 1 bi1"},
		{"insert into f values (1, 2, 'c') on duplicate key update a = 3 returning *", "1 3 bu3"},
		{"replace into f values (1, 4, 'c') returning b", "bi4"},
		{"select group_concat(w) from log", "ai,au,ad,ai"},
		{"insert into kid values (1, 1) returning *", "1 1"},
		{"insert into kid values (1, 1) on duplicate key update p = 2 returning p", "2"},
		{"replace into kid values (1, 1) returning id, p", "1 1"},
		{"replace into tmp values (1, 'a'), (1, 'b') returning b", "a;b"},
		{"insert into tmp values (1, 'c') on duplicate key update b = concat(b, 'c') returning b, id",
			"bc 1"},

		{"create procedure p(x int) replace into t (id, a) values (x, 60) returning id, a", ""},
		{"call p(60)", "60 60"},
		{"call p(61)", "61 60"},
		{"create function fn() returns int begin replace into t (id) values (1) returning id; return 1; " +
			"end", "error 1415"},
		{"insert into t (id) values (90) returning count(*)", "error 1111"},
		{"replace into t (id) values (90) returning max(id) + 1", "error 1111"},
		{"insert into t (id) values (90) on duplicate key update a = max(a)", "error 1111"},
		{"insert into t (id) values (90) returning row_number() over ()", "error 3593"},
		{"insert into t (id) values (90) returning nothing", "error 1054"},
		{"replace into t (id) values (90) returning x.id", "error 1054"},
		{"replace into t (id) values (90) returning x.*", "error 1051"},
		{"explain replace into t (id) values (90) returning id", "1 INSERT t NULL ALL NULL NULL NULL " +
			"NULL NULL NULL NULL"},
	}.run(t, c)

	// RETURNING that fails takes the statement back, within a transaction too.
	run(t, c, "begin", "insert into log values ('kept')")
	script{
		{"insert into t (id, a) values (91, 91), (92, 92) returning id, (select w from log)", "error 1242"},
		{"replace into t (id, a) values (1, 91) returning (select w from log)", "error 1242"},
		{"insert into f values (1, 2, 'c') on duplicate key update a = 9 returning (select w from log)",
			"error 1242"},
	}.run(t, c)
	run(t, c, "commit")
	script{
		{"select count(*) from t where a > 90", "0"},
		{"select * from f", "1 4 bi4"},
		{"select group_concat(w) from log", "ai,au,ad,ai,kept"},
		{"insert into t (id, a) values (91, 91), (92, 92) returning id, (select w from log)", "error 1242"},
		{"select count(*) from t where a > 90", "0"},
	}.run(t, c)
	returningIsPrepared(t, c)
}

func returningIsPrepared(t *testing.T, c *sql.Conn) {
	t.Helper()
	ctx := context.Background()
	p, err := c.PrepareContext(ctx, "replace into t (id, a) values (?, ?) returning a, concat(id, '!')")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 3 {
		rows, err := p.QueryContext(ctx, 70, 71)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil || !slices.Equal(columns, []string{"a", "concat(id, '!')"}) {
			t.Errorf("columns %q: %v", columns, err)
		}
		if got := lines(t, rows); !slices.Equal(got, []string{"71 70!"}) {
			t.Errorf("%q", got)
		}
		rows.Close()
	}
	script{
		{"prepare s from 'insert into t (id, a) values (?, ?) on duplicate key update a = a + 1 " +
			"returning a'", ""},
		{"set @id = 70, @a = 71", ""},
		{"execute s using @id, @a", "72"},
		{"execute s using @id, @a", "73"},
	}.run(t, c)
}

// TestReturningHides: what RETURNING answered beyond its expressions were columns that views and rights on
// columns hide, and rows that a view does not have.
func TestReturningHides(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database victim", "create database own",
		"create table victim.acct (id int primary key, par int, amt decimal(10,2), note varchar(50))",
		"insert into victim.acct values (1, 1, 10, 'SECRET1'), (2, 2, 20, 'SECRET2'), (3, 3, 30, 'SECRET3')",
		"create view own.v as select id, amt from victim.acct where id < 3 with check option",
		"create view own.w as select id, amt from victim.acct where id < 3",
		"create user mallory", "grant all on own.* to mallory",
		"create table victim.ct (id int primary key, a int, sec varchar(30))",
		"insert into victim.ct values (1, 1, 'SECRET'), (2, 2, 'SECRET')",
		"create user few, none", "grant select (id), insert, delete, update (a) on victim.ct to few",
		"grant insert, delete, update on victim.ct to none")
	script{
		{"replace into v values (2, 2) returning id", "2"},
		{"replace into v values (2, 2) returning *", "2 2.00"},
		{"replace into w values (3, 9) returning 1", "1"},
		{"insert into w values (3, 9) on duplicate key update amt = 3 returning 'a', 'b', 'c', 'd'",
			"a b c d"},
		{"insert into v values (1, 1) on duplicate key update amt = 4 returning v.*, own.v.amt + 1",
			"1 4.00 5.00"},
	}.run(t, s.open("mallory", "own", ""))
	script{
		{"replace into ct (id, a) values (1, 1) returning id", "1"},
		{"replace into ct (id, a) values (1, 1) returning sec", "error 1143"},
		{"replace into ct (id, a) values (1, 1) returning id, a", "error 1143"},
		{"replace into ct (id, a) values (1, 1) returning *", "error 1142"},
		{"replace into ct (id, a) values (1, 1) returning (select sec)", "error 1143"},
		{"insert into ct (id, a) values (2, 1) on duplicate key update a = 5 returning 'x', 'y', 'z', id",
			"x y z 2"},
		{"insert into ct (id, a) values (2, 1) on duplicate key update a = 5 returning length(sec)",
			"error 1143"},
	}.run(t, s.open("few", "victim", ""))
	script{
		{"replace into ct (id, a) values (1, 1) returning 1", "error 1142"},
		{"insert into ct (id, a) values (2, 1) on duplicate key update a = 5 returning id", "error 1142"},
	}.run(t, s.open("none", "victim", ""))
}
