package sqlfront_test

import (
	"context"
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
		if err := cat.CreateTrigger(ctx, tx, "own", bad); err != nil {
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
