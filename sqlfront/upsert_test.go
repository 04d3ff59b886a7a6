package sqlfront_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestUpsertsOfTablesWithForeignKeysFire: guards and audits were got round. On a table with a foreign key, or
// that one refers to, REPLACE, INSERT … ON DUPLICATE KEY UPDATE and LOAD DATA … REPLACE fired BEFORE INSERT
// and no other trigger.
func TestUpsertsOfTablesWithForeignKeysFire(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	const columns = "(id int primary key, a int, pid int, u int, g int as (a + 1), unique key (u)"
	run(t, c, "create database d", "use d", "create table par (id int primary key)",
		"insert into par values (1), (2)",
		"create table plain "+columns+")",
		"create table child "+columns+", foreign key (pid) references par (id))",
		"create table parent "+columns+")",
		"create table below (id int primary key, p int, "+
			"foreign key (p) references parent (id) on delete cascade on update cascade)",
		"create table self "+columns+", foreign key (pid) references self (id) on delete set null)",
		"create table restricted "+columns+")",
		"create table holder (id int primary key, p int, foreign key (p) references restricted (id))",
		"create table audit (n int auto_increment primary key, w varchar(100))")
	tables := []string{"plain", "child", "parent", "self", "restricted"}
	says := map[string]string{
		"insert": "'>', N.id",
		"update": "'<', O.id, ' ', '>', N.id",
		"delete": "'<', O.id",
	}
	row := strings.NewReplacer("O.id", "old.id, '/', old.a, '/', old.g",
		"N.id", "new.id, '/', new.a, '/', new.g")
	for _, table := range tables {
		for _, time := range []string{"before", "after"} {
			for event, what := range says {
				guard := ""
				if event == "update" && time == "before" {
					guard = "if new.a = 76 then set new.a = 77; end if; " +
						"if new.a = 99 then signal sqlstate '45000' set message_text = 'guarded'; end if;"
				}
				run(t, c, fmt.Sprintf("create trigger %[1]s_%[2]s_%[3]s %[2]s %[3]s on %[1]s for each row "+
					"begin %[4]s insert into audit (w) values (concat('%.1[2]s%.1[3]s', %[5]s)); end",
					table, time, event, guard, row.Replace(what)))
			}
		}
	}
	run(t, c, "create trigger below_delete after delete on below for each row "+
		"insert into audit (w) values ('below')")
	run(t, c, "insert into restricted values (7, 1, null, 7, default)", "insert into holder values (1, 7)")
	mysql.RegisterReaderHandler("upserts", func() io.Reader {
		return strings.NewReader("1\t8\t1\t21\n3\t8\t1\t23\n")
	})
	defer mysql.DeregisterReaderHandler("upserts")
	run(t, c, "set global local_infile = 1")
	for _, table := range tables {
		run(t, c, "truncate audit")
		for _, step := range []struct {
			query    string
			err      string
			affected int64
			audit    string
		}{
			{"insert into T (id, a, pid, u) values (1, 1, 1, 11), (2, 2, 1, 12)", "", 2,
				"bi>1/1/2; ai>1/1/2; bi>2/2/3; ai>2/2/3"},
			{"replace into T (id, a, pid, u) values (1, 3, 2, 11)", "", 2,
				"bi>1/3/4; bd<1/1/2; ad<1/1/2; ai>1/3/4"},
			{"replace into T (id, a, pid, u) values (3, 4, 1, 13)", "", 1, "bi>3/4/5; ai>3/4/5"},
			{"replace into T (id, a, pid, u) values (3, 5, 1, 12)", "", 3,
				"bi>3/5/6; bd<3/4/5; ad<3/4/5; bd<2/2/3; ad<2/2/3; ai>3/5/6"},
			{"insert into T (id, a, pid, u) values (1, 1, 1, 1) on duplicate key update a = 50", "", 2,
				"bi>1/1/2; bu<1/3/4 >1/50/51; au<1/3/4 >1/50/51"},
			{"insert into T (id, a, pid, u) values (1, 1, 1, 1) on duplicate key update a = 76", "", 2,
				"bi>1/1/2; bu<1/50/51 >1/77/77; au<1/50/51 >1/77/78"},
			{"insert into T (id, a, pid, u) values (1, 1, 1, 1) on duplicate key update a = 99", "error 1644",
				0, ""},
			{"insert into T (id, a, pid, u) values (4, 6, 1, 14) on duplicate key update a = 99", "", 1,
				"bi>4/6/7; ai>4/6/7"},
			{"load data local infile 'Reader::upserts' replace into table T (id, a, pid, u)", "", 3,
				"bi>1/8/9; bd<1/77/78; ad<1/77/78; ai>1/8/9; bi>3/8/9; bd<3/5/6; ad<3/5/6; ai>3/8/9"},
			{"replace into T (id, a, pid, u) select 4, 9, 1, 14", "", 2,
				"bi>4/9/10; bd<4/6/7; ad<4/6/7; ai>4/9/10"},
		} {
			query := strings.Replace(step.query, "T ", table+" ", 1)
			done, err := c.ExecContext(context.Background(), query)
			if step.err != "" {
				if err == nil || number(err) != step.err {
					t.Errorf("%s: %v, want %s", query, err, step.err)
				}
			} else if err != nil {
				t.Errorf("%s: %v", query, err)
			} else if n, _ := done.RowsAffected(); n != step.affected && !strings.HasPrefix(query, "load") {
				t.Errorf("%s: %d rows affected, want %d", query, n, step.affected)
			}
			if got := text(t, c, "select w from audit order by n"); got != step.audit {
				t.Errorf("%s: fired\n%s, want\n%s", query, got, step.audit)
			}
			if strings.HasPrefix(query, "insert into parent (id, a, pid, u) values (1, 1, 1, 11)") {
				run(t, c, "insert into below values (1, 1)")
			}
			run(t, c, "delete from audit")
		}
	}
	want(t, c, "select count(*) from below", "0") // by the cascade, which fires nothing
}

// TestUpsertLooksForParentsOfWhatItWrites: a row that ON DUPLICATE KEY UPDATE does not write need not have a
// parent; it was 1452.
func TestUpsertLooksForParentsOfWhatItWrites(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table p (id int primary key)",
		"insert into p values (1), (2)",
		"create table c (id int primary key, p int, u int unique, foreign key (p) references p (id))",
		"insert into c values (1, 1, 1)",
		"create table own (id int primary key, up int, n int, foreign key (up) references own (id))")
	script{
		{"insert into c values (1, 99, 5) on duplicate key update u = 7", ""},
		{"insert into c values (2, 99, 7) on duplicate key update u = 8", ""},
		{"insert into c values (3, 99, 70) on duplicate key update u = 8", "error 1452"},
		{"insert into c values (2, 2, 2), (1, 99, 9) on duplicate key update u = u + 1", ""},
		{"insert into c values (3, 1, 3), (1, 9, 9), (4, 9, 4) on duplicate key update u = 9", "error 1452"},
		{"insert into c values (1, 99, 9) on duplicate key update p = 99", "error 1452"},
		{"insert into c values (1, 99, 9) on duplicate key update p = 2", ""},
		{"insert into c values (5, null, 9) on duplicate key update u = 1", ""},
		{"insert into c select id, 99, 0 from p on duplicate key update u = u + 10", ""},
		{"replace into c values (1, 99, 8)", "error 1452"},
		{"select * from c order by id", "1 2 11;2 2 12"},
		{"insert into own values (1, 1, 0), (2, 1, 0) on duplicate key update n = 1", ""},
		{"insert into own values (3, 3, 0), (1, 9, 0) on duplicate key update n = n + 1", ""},
		{"select * from own order by id", "1 1 1;2 1 0;3 3 0"},
		{"create trigger i before insert on c for each row set new.p = coalesce(new.p, 99)", ""},
		{"create trigger a after insert on c for each row set @after = new.id", ""},
		{"insert into c values (5, null, 9) on duplicate key update u = u + 1", "error 1452"},
		{"insert into c values (5, null, 11) on duplicate key update u = 50", ""},
		{"insert into c values (6, null, 6) on duplicate key update u = u + 1", "error 1452"},
		{"insert into c values (6, 1, 6) on duplicate key update u = u + 1", ""},
		{"select @after, count(*) from c", "6 3"},
	}.run(t, c)
}

// TestUpsertsKeepErrorsOfTriggers: a key that a trigger AFTER INSERT found taken in another table was held to
// be one of the statement's. ON DUPLICATE KEY UPDATE changed a row as that table has it, REPLACE deleted it.
func TestUpsertsKeepErrorsOfTriggers(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table a (id int primary key, n int, s varchar(9), unique key (n))",
		"create table copies (id int primary key, n int, s varchar(9), unique key (n))",
		"create trigger ai after insert on a for each row "+
			"insert into copies values (new.id + 10, new.n, new.s)",
		"insert into a values (1, 1, 'one'), (2, 2, 'two')",
		"delete from a where id = 1", "insert into a values (11, 7, 'eleven')")
	// (5, 1) is new in a, and its copy meets (11, 1) there; a row of a has that id, too.
	for _, cache := range []int{1, 0} {
		run(t, c, fmt.Sprintf("set moka_plan_cache = %d", cache))
		for _, q := range []string{
			"insert into a values (5, 1, 'five'), (6, 6, 'six') on duplicate key update s = 'changed'",
			"insert into a values (5, 1, 'five') on duplicate key update s = 'changed'",
			"insert into a (id, n, s) select 5, 1, s from a where id = 2 on duplicate key update s = 'c'",
			"replace into a values (5, 1, 'five'), (6, 6, 'six')",
			"replace into a values (5, 1, 'five')",
			"insert ignore into a values (5, 1, 'five')",
		} {
			_, err := c.ExecContext(context.Background(), q)
			want := "Duplicate entry '1' for key 'copies.n'"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", q, err, want)
			}
			if got, want := text(t, c, "select * from a order by id"), "2 2 two; 11 7 eleven"; got != want {
				t.Errorf("%s left\n%s\nwant\n%s", q, got, want)
			}
		}
	}
}

// TestRefusedRowsLeaveNumbersToTheirOwn: of an INSERT … SELECT without a plan whose first row is refused,
// the rows behind it took numbers, too.
func TestRefusedRowsLeaveNumbersToTheirOwn(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table n (a int primary key)",
		"create table t (id int auto_increment primary key, a int unique)",
		"insert into n values (1), (2), (3)", "insert into t (a) values (1)")
	for i, cache := range []int{1, 1, 0, 0} {
		run(t, c, fmt.Sprintf("set moka_plan_cache = %d", cache))
		q := "insert into t (a) select a from n where a > 0"
		if _, err := c.ExecContext(context.Background(), q); err == nil {
			t.Fatal("1 is there already")
		}
		next := text(t, c, "select auto_increment from information_schema.tables where table_name = 't'")
		if want := fmt.Sprint(i + 3); next != want {
			t.Errorf("after %d statements whose first row is refused: number %s, want %s", i+1, next, want)
		}
	}
}

// TestFoundRowsOfAJoin: with CLIENT_FOUND_ROWS an UPDATE that the planner makes a join of counted the rows
// that it changed.
func TestFoundRowsOfAJoin(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	conn, err := s.open("root", "d", "?clientFoundRows=true").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run(t, conn, "create table t (id int primary key, a int)", "create table u (id int primary key, a int)",
		"insert into t values (1, 0), (2, 5), (3, 0)", "insert into u values (1, 1), (2, 1), (4, 1)")
	for _, cache := range []int{1, 0} {
		run(t, conn, fmt.Sprintf("set moka_plan_cache = %d", cache))
		for _, q := range []string{
			"update t set a = 0 where id in (select id from u where a = 1)",
			"update t join u using (id) set t.a = 0 where u.a = 1",
		} {
			run(t, conn, "update t set a = 5 where id = 2")
			res, err := conn.ExecContext(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := res.RowsAffected(); n != 2 {
				t.Errorf("%s, moka_plan_cache = %d: %d rows were found, want 2", q, cache, n)
			}
			if got := text(t, conn, "select row_count()"); got != "2" {
				t.Errorf("%s, moka_plan_cache = %d: ROW_COUNT() is %s, want 2", q, cache, got)
			}
		}
	}
}

// TestSubqueriesOfUpserts: a subquery in ON DUPLICATE KEY UPDATE was 1105 beside VALUES, and beside a SELECT
// it read columns of the row that is there where it meant those of its own tables: also such as a view hides.
func TestSubqueriesOfUpserts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a int, b varchar(20), "+
		"h varchar(20))",
		"create table l (w varchar(20), k int)", "insert into l values ('l1', 1), ('l2', 2)",
		"create table e (x int)", "create view v as select id, b from t")
	for _, source := range []string{"t (id, a) values (30, 2)", "t (id, a) select 30, 2", "t set id = " +
		"30, a = 2",
		"t (id, a) select k + 28, k from l where k = 2", "v (id) values (30)", "v (id) select 30"} {
		for _, q := range [][2]string{
			{"(select concat('c', count(*)) from e)", "c0"},
			{"(select count(*) from l)", "2"},
			{"(select max(w) from l)", "l2"},
			{"(select max(x) from e)", "NULL"},
			{"(select w from l order by k desc limit 1)", "l2"},
			{"(select group_concat(w, k order by w desc) from l)", "l22,l11"},
			{"(select concat(l.w, m.k) from l join l m on l.w = m.w where m.k = 2)", "l22"},
			{"(select w from l group by w having count(*) = 1 order by w limit 1)", "l1"},
			{"(select w from (select w, k from l) x where k = 1)", "l1"},
			{"concat((select max(k) from l), if(exists (select 1 from l where k = 2), 'y', 'n'), " +
				"30 in (select k + 28 from l))", "2y1"},
			{"(select concat(w, %.id) from l where k + 28 = %.id)", "l230"},
			{"(select concat(w, (select count(*) from l n where n.k <= l.k), %.b) from l where k = 2)",
				"l22was"},
		} {
			run(t, c, "replace into t values (30, 1, 'was', 'SECRET')")
			run(t, c, "insert into "+source+" on duplicate key update b = "+
				strings.ReplaceAll(q[0], "%", source[:1]))
			if got := results(t, c, "select b, a, h from t"); got != q[1]+" 1 SECRET" {
				t.Errorf("%s: %s: %q", source, q[0], got)
			}
		}
	}
	script{
		{"insert into t (id, a) values (30, 8) as n on duplicate key update a = (select max(k) + n.a + " +
			"t.a from l)", ""},
		{"insert into t (id, a) values (30, 8) on duplicate key update a = values(a) + (select count(*) " +
			"from t x where x.id = t.id)", ""},
		{"select a from t", "9"},
		{"insert into t (id) values (30) on duplicate key update b = (select w from l)", "error 1242"},
		{"insert into t (id) values (30) on duplicate key update b = (select h from l limit 1)", ""},
		{"select b from t", "SECRET"},
		{"create trigger l_ai after insert on l for each row insert into t (id) values (30) on " +
			"duplicate key update a = (select count(*) from e) + new.k", ""},
		{"insert into l values ('l3', 50)", ""},
		{"select a from t", "50"},
	}.run(t, c)
}
