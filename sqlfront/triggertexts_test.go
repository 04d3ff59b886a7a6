package sqlfront_test

import (
	"context"
	"database/sql"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/sqlfront/catalog"
	"moka/txn"
)

// TestTriggerTextsAreShownAsTheyParse: CREATE /*!50003 TRIGGER … */ of somebody who has TRIGGER on one
// table made SHOW TRIGGERS, information_schema.triggers and DROP
// TABLE fail for everybody, as what the DEFINER clause was put into could not be parsed.
func TestTriggerTextsAreShownAsTheyParse(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "create table own.a (id int primary key)",
		"create table own.b (id int primary key)", "create user few",
		"grant insert, trigger on own.a to few")
	few := s.open("few", "own", "")
	for name, text := range map[string]string{
		"q1": "CREATE /*!50003 TRIGGER own.q1 BEFORE INSERT ON own.a FOR EACH ROW SET @q1=1 */",
		"q2": "CREATE DEFINER /*!50017 = `few`@`%`*/ TRIGGER own.q2 BEFORE INSERT ON own.a FOR EACH ROW " +
			"SET @q2=1",
		"q3": "CREATE DEFINER=few@`%`TRIGGER own.q3 BEFORE INSERT ON own.a FOR EACH ROW SET @q3=1",
		"q4": "CREATE/*!50017 DEFINER=`few`@`%`*//*!50003TRIGGER*/own.q4 BEFORE INSERT ON own.a FOR EACH " +
			"ROW SET @q4=1",
		"q5": "/*!50003 CREATE*/ /*!50017 DEFINER = few@'%' */ /*!50003 TRIGGER own.q5 BEFORE INSERT ON " +
			"own.a FOR EACH ROW SET @q5=1 */",
		"q6": "CREATE DEFINER=CURRENT_USER() TRIGGER own.q6 BEFORE INSERT ON own.a FOR EACH ROW SET " +
			"@q6='/*!50003 */'",
		"q7": "CREATE /* TRIGGER x */ DEFINER=CURRENT_USER # TRIGGER y\n TRIGGER own.q7 BEFORE INSERT ON " +
			"own.a FOR EACH ROW SET @q7=1",
		"q8": "CREATE DEFINER=few TRIGGER `after` BEFORE INSERT ON own.a FOR EACH ROW SET @q8=1",
	} {
		if got := results(t, few, text); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	run(t, few, "insert into a values (1)")
	want(t, root,
		"select trigger_name, definer, action_timing from information_schema.triggers where "+
			"trigger_schema = 'own' order by 1",
		"after few@% BEFORE; q1 few@% BEFORE; q2 few@% BEFORE; q3 few@% BEFORE; q4 few@% BEFORE; q5 "+
			"few@% BEFORE; q6 few@% BEFORE; q7 few@% BEFORE")
	if got := results(t, root, "show triggers in own"); strings.Count(got, "BEFORE") != 8 {
		t.Errorf("SHOW TRIGGERS: %s", got)
	}
	for _, name := range []string{"q1", "q3", "q4"} {
		if got := results(t, root, "show create trigger own."+name); !strings.Contains(got,
			"CREATE DEFINER=`few`@`%` TRIGGER") || !strings.Contains(got,
			"SET @"+name+"=1") || strings.Contains(got, "*/") {
			t.Errorf("SHOW CREATE TRIGGER %s: %s", name, got)
		}
	}
	if got := results(t, root, "show create trigger own.q6"); !strings.Contains(got,
		"SET @q6='/*!50003 */'") {
		t.Errorf("SHOW CREATE TRIGGER q6: %s", got)
	}
	run(t, root, "drop table own.b", "drop table own.a")
	want(t, root, "select count(*) from information_schema.triggers where trigger_schema = 'own'", "0")
}

// TestTriggerThatCannotBeParsed: a stored text that the grammar does not take fails the changes that would
// fire it, and no list.
func TestTriggerThatCannotBeParsed(t *testing.T) {
	d := newDatabase(t)
	root := d.serve().conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table b (id int primary key)", "create table c (id int primary key)",
		"create trigger good before insert on b for each row set @b = 1")
	ctx := context.Background()
	cat, err := catalog.Open(ctx, d.client, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tx := d.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	for _, bad := range []catalog.Trigger{
		{Name: "bad",
			CreateStatement: "create trigger bad after insert on a for each row begin what is this",
			Definer:         "root@localhost", Created: time.Now()},
		{Name: "worse", CreateStatement: "create trigger own.worse before update on own.a for each row }",
			Created: time.Now()},
	} {
		if err := cat.CreateTrigger(ctx, tx, "own", "", bad); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	script{
		{"insert into a values (1)", "error 1064"},
		{"insert into b values (1)", ""},
		{"insert into c values (1)", ""},
		{"update a set id = 2", "error 1064"},
		{"insert into a values (1) on duplicate key update id = 3", "error 1064"},
		{"select trigger_name, event_object_table from information_schema.triggers order by 1",
			"bad a;good b;worse a"},
		{"drop table b", ""},
	}.run(t, root)
	if got := results(t, root, "show triggers"); !strings.Contains(got, "worse UPDATE a SIGNAL") {
		t.Errorf("SHOW TRIGGERS: %s", got)
	}
	script{{"drop trigger worse", ""}, {"drop table a",
		""}, {"select trigger_name from information_schema.triggers", ""}}.run(t, root)
}

// TestLoadDataFiresTriggers: LOAD DATA fired no triggers at all, so that whoever has INSERT got past those
// that guard a table.
func TestLoadDataFiresTriggers(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database own", "use own", "create table g (id int primary key, v varchar(50))",
		"create trigger gb before insert on g for each row set new.v = concat('guarded ', new.v)",
		"create table no (id int primary key, v varchar(50))",
		"create trigger nb before insert on no for each row begin if new.id > 5 then signal sqlstate "+
			"'45000' set message_text = 'no'; end if; end",
		"create table log (id int primary key auto_increment, what varchar(50))",
		"create table f (id int auto_increment primary key, v varchar(50), n int generated always as (id "+
			"* 2) stored, key (v))",
		"create trigger fa after insert on f for each row insert into log (what) values (concat(new.v, ' "+
			"', new.n))",
		"create table k (id int primary key, v varchar(50))",
		"create trigger ki before insert on k for each row set new.v = concat(new.v, '+')",
		"create trigger kd after delete on k for each row insert into log (what) values (concat('deleted "+
			"', old.id))", "create trigger ka after insert on k for each row insert into log (what) "+
			"values (concat('put ', new.id))",
		"create user few", "grant insert on own.* to few")
	files := map[string]string{"x": "5\tx\n6\tx\n", "v": "a\nb\n"}
	for name, text := range files {
		mysql.RegisterReaderHandler("loadfires-"+name, func() io.Reader { return strings.NewReader(text) })
		defer mysql.DeregisterReaderHandler("loadfires-" + name)
	}
	few := s.open("few", "own", "")
	few.SetMaxOpenConns(1)
	load := func(name, rest string) string {
		return "load data local infile 'Reader::loadfires-" + name + "' " + rest
	}
	script{
		{load("x", "into table g (id, v)"), ""},
		{load("x", "into table g (@a, v) set id = @a + 100"), ""},
		{"begin", ""},
		{load("x", "into table g (@a, v) set id = @a + 200"), ""},
		{"commit", ""},
		{load("x", "into table no"), "error 1644"},
		{load("v", "into table f (v)"), ""},
	}.run(t, few)
	want(t, root, "select id, v from g order by id",
		"5 guarded x; 6 guarded x; 105 guarded x; 106 guarded x; 205 guarded x; 206 guarded x")
	want(t, root, "select count(*) from no", "0")
	want(t, root, "select id, v, n from f order by id", "1 a 2; 2 b 4")
	want(t, root, "select what from log order by id", "a 2; b 4")
	run(t, root, "delete from log", "insert into k values (5, 'old')", load("x", "replace into table k"),
		"delete from k where id = 6", load("x", "ignore into table k"))
	want(t, root, "select id, v from k order by id", "5 x+; 6 x+")
	want(t, root, "select what from log order by id", "put 5; deleted 5; put 5; put 6; deleted 6; put 6")
}

// Savepoints in triggers and functions were those of the transaction: who had TRIGGER on one table undid what
// others had written, root's audit and the writes of an application behind a savepoint of its own.
func TestSavepointsOfBodiesAreTheirOwn(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database shop", "create table shop.t (id int primary key)",
		"create table shop.audit (id int)", "create table shop.log (m varchar(20))", "create user few",
		"grant insert, trigger on shop.t to few",
		"create trigger shop.aud after insert on shop.t for each row insert into audit values (new.id)")
	few := s.open("few", "shop", "")
	run(t, few, "create trigger s1 after insert on t for each row precedes aud begin savepoint q; end",
		"create trigger s2 after insert on t for each row follows aud begin rollback to savepoint q; end")
	wantError(t, root, "insert into shop.t values (1)", 1305)
	want(t, root, "select count(*) from shop.t, shop.audit", "0")
	run(t, few, "drop trigger s1", "drop trigger s2",
		"create trigger s3 before insert on t for each row begin rollback to savepoint a; end")
	run(t, root, "use shop", "begin", "savepoint a", "insert into log values ('kept')")
	wantError(t, root, "insert into t values (2)", 1305)
	run(t, root, "rollback to savepoint a", "commit")
	want(t, root, "select count(*) from log", "0")
	run(t, few, "drop trigger s3",
		"create trigger s3 before insert on t for each row begin savepoint a; savepoint b; end")
	run(t, root, "begin", "savepoint a", "insert into log values ('kept')", "insert into t values (3)")
	wantError(t, root, "rollback to savepoint b", 1305)
	want(t, root, "select * from log", "kept")
	run(t, root, "rollback to savepoint a", "commit") // the application's own, not the trigger's
	want(t, root, "select count(*) from log", "0")

	// Within one body they do what they say.
	run(t, few, "drop trigger s3")
	run(t, root, `create trigger own after insert on t for each row begin
			insert into log values ('one'); savepoint a; insert into log values ('two');
			rollback to savepoint a;
			insert into log values ('three');
		end`, "insert into t values (4)")
	want(t, root, "select m from log order by m", "one; three")
	want(t, root, "select id from audit", "4")
}

// What SHOW CREATE shows is run again by who restores a dump, root mostly: a comment of an event, or an
// element of an ENUM, that was shown without escapes ended its constant there, and what was behind it made
// its author root. Each object with hostile texts in all places is shown, made again from that, and shown as
// before, by one statement.
func TestShownTextsAreOneStatement(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create user u")
	run(t, root, "grant all on d.* to u")
	u := s.open("u", "d", "?multiStatements=true")
	hostile := []string{
		`'); grant all on *.* to u with grant option; -- x`, `\'); grant all on *.* to u; -- x`, `\`,
		`a''b\\'`,
		"`; grant all on *.* to u; -- x", `*/; grant all on *.* to u; /*`, " COLLATE utf8mb4_bin",
		"line\nend\x00'",
	}
	for i, h := range hostile {
		q := "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(h) + "'"
		name := strings.TrimSpace(strings.ReplaceAll(h, "\x00", ""))
		name = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		for what, text := range map[string]string{
			"table": "create table " + name + " (" + name + " enum(" + q + ", 'x') default " + q +
				" comment " + q + ", s set('y', " + q + ") default " + q + ", v varchar(90) default " +
				q + ", key " + name + " (v) comment " + q + ") comment " + q,
			"event": "create event " + name + " on schedule every 1 day starts '2030-01-01 00:00:00' " +
				"comment " + q +
				" do begin select " + q + "; end",
			"procedure": "create procedure " + name + " () comment " + q + " select " + q,
			"function": "create function " + name + " () returns varchar(90) deterministic comment " + q +
				" return " + q,
			"view": "create view " + name + " as select " + q + " as " + name,
		} {
			if got := results(t, u, text); got != "" {
				t.Errorf("%d, %s: %s\n%s", i, what, got, text)
				continue
			}
			show := func() string {
				t.Helper()
				rows, err := u.QueryContext(t.Context(), "show create "+what+" "+name)
				if err != nil {
					t.Errorf("%s %s: %v", what, name, err)
					return ""
				}
				defer rows.Close()
				columns, _ := rows.Columns()
				values := make([]any, len(columns))
				texts := make([]sql.NullString, len(columns))
				at := 1
				for c, n := range columns {
					values[c] = &texts[c]
					if strings.HasPrefix(n, "Create ") {
						at = c
					}
				}
				if !rows.Next() || rows.Scan(values...) != nil {
					t.Errorf("%s %s: %v", what, name, rows.Err())
				}
				return texts[at].String
			}
			shown := show()
			run(t, u, "drop "+what+" "+name)
			wrapped := shown
			if what == "event" {
				wrapped = "/*!50106 " + shown + " */"
			}
			if got := results(t, u, wrapped); got != "" {
				t.Errorf("%d, %s, made again: %s\n%s\n%s", i, what, got, text, shown)
				continue
			}
			if again := show(); again != shown {
				t.Errorf("%d, %s: shown as\n%s\nand then as\n%s", i, what, shown, again)
			}
			run(t, u, "drop "+what+" "+name)
		}
	}
	if got := results(t, root, "show grants for u"); strings.Contains(got, "ON *.* TO") &&
		!strings.Contains(got, "USAGE ON *.*") {
		t.Errorf("u has: %s", got)
	}
	// An event with a body of one statement, with something behind it in the text, and as dumps have it.
	for _, text := range []string{"create event e on schedule every 1 day do select 1;",
		"create event e on schedule every 1 day do select 1 ; ",
		"/*!50106 create event e on schedule every 1 day do select 1 */",
		"/*!50106 CREATE*/ /*!50117 DEFINER=u@`%`*/ /*!50106 EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1 */",
		"create event e on schedule every 1 day do select 1; select 2"} {
		if got := results(t, u, text); got != "" && got != "|2" && got != "2" {
			t.Errorf("%s: %s", text, got)
		}
		got := results(t, u, "show create event e")
		if !strings.Contains(strings.ToLower(got), "do select 1") || strings.Contains(got, "*/") ||
			strings.Contains(got, "1;") {
			t.Errorf("%s: %s", text, got)
		}
		run(t, u, "drop event e")
	}
}

// TestDiagnosticsInTriggers: GET DIAGNOSTICS was a syntax error in the body of a trigger.
func TestDiagnosticsInTriggers(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database d", "use d",
		"create table t (id int primary key, n int, s varchar(100))",
		"create table full (id int primary key)", "insert into full values (1)",
		"create trigger g before insert on t for each row begin declare exit handler for "+
			"sqlexception begin declare k int;"+
			" get diagnostics condition 1 @m = message_text, @e = mysql_errno; get current "+
			"diagnostics k = number; set new.n = k; set new.s = @m; end; insert into full values "+
			"(new.id); end",
		"insert into t (id) values (1), (2)")
	want(t, root, "select n from t where id = 1", "1")
	want(t, root, "select count(*) from t where s like 'Duplicate entry%' and id = 1 or s is null "+
		"and id = 2", "2")
	want(t, root, "select @e", "1062")
	want(t, root, "select count(*) from information_schema.triggers where action_statement like "+
		"'%get diagnostics condition 1 @m = message_text%'", "1")
}

// TestOrderOfTriggersIsChecked: FOLLOWS and PRECEDES name a trigger of the same table, time and event (3011).
// Others made information_schema.triggers panic, and with it every dump, and two that followed each other
// could not be dropped.
func TestOrderOfTriggersIsChecked(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	const make = "create trigger n1 before insert on t for each row "
	script{
		{"create table t (id int primary key)", ""}, {"create table o (id int primary key)", ""},
		{"create trigger guard before insert on t for each row set @g = 1", ""},
		{"create trigger late after insert on t for each row set @g = 1", ""},
		{"create trigger upd before update on t for each row set @g = 1", ""},
		{"create trigger other before insert on o for each row set @g = 1", ""},
		{make + "follows nosuch set @o = 1", "error 3011"},
		{make + "precedes n1 set @o = 1", "error 3011"},
		{make + "follows GUARD set @o = 1", "error 3011"},
		{make + "follows late set @o = 1", "error 3011"},
		{make + "precedes upd set @o = 1", "error 3011"},
		{make + "follows other set @o = 1", "error 3011"},
		{make + "follows guard set @o = 1", ""}, {"insert into t values (1)", ""},
		{"select trigger_name, action_order from information_schema.triggers " +
			"where event_object_table = 't' and action_timing = 'before' " +
			"and event_manipulation = 'insert' order by 1", "guard 1;n1 2"},
	}.run(t, c)
}
