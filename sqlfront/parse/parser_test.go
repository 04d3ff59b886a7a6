package parse

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/unions"
)

var ctx = context.Background()

// parse parses the first statement and returns its canonical text.
func parse(t *testing.T, p *Parser, query string) string {
	t.Helper()
	stmt, _, err := p.ParseOneWithOptions(ctx, query, ast.ParserOptions{})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	unions.Forget(stmt) // what is added for the binder is none of the text
	return ast.String(stmt)
}

func TestRewrites(t *testing.T) {
	p := New(Hooks{})
	for _, c := range []struct{ in, want string }{
		// Row locks become AS OF.
		{"SELECT a FROM t FOR UPDATE", "select a from t as of '@lock:update'"},
		{"select a from t for update nowait", "select a from t as of '@lock:update nowait'"},
		{"select a from t for update skip locked", "select a from t as of '@lock:update skip locked'"},
		{"select a from t for share", "select a from t as of '@lock:share'"},
		{"select a from t for share nowait", "select a from t as of '@lock:share nowait'"},
		{"select a from t lock in share mode", "select a from t as of '@lock:share'"},
		{"select a from t join u on t.a = u.a for update of u",
			"select a from t join u as of '@lock:update' on t.a = u.a"},
		{"select a from t x, u for share of x", "select a from t as of '@lock:share' as x, u"},
		{"(select a from t for update)", "select a from t as of '@lock:update'"},
		{"insert into u select a from t for update", "insert into u select a from t as of '@lock:update'"},
		{"with c as (select 1 as a) select c.a from c, t for update",
			"with c as (select 1 a) select c.a from c, t as of '@lock:update'"},
		{"select a from (select a from t) d for update", "select a from (select a from t) as d"},
		{"select a from (select a from t for update) d",
			"select a from (select a from t as of '@lock:update') as d"},
		{"select a from information_schema.tables for update", "select a from information_schema.`tables`"},
		{"select a from t union select a from u for update",
			"select a from t as of '@lock:update' union select a from u as of '@lock:update'"},
		{"select 'for update' from t", "select 'for update' from t"},

		// UPDATE and DELETE find ranges.
		{"update t set a = 1 where b between 2 and 3", "update t set a = 1 where (b >= 2 and b <= 3)"},
		{"delete from t where b not between 2 and 3", "delete from t where (b < 2 or b > 3)"},
		{"delete from t where not (b < 2) and c = 1", "delete from t where b >= 2 and c = 1"},
		{"delete from t where b + 1 between 2 and 3", "delete from t where b + 1 between 2 and 3"},
		{"update t set a = 1 where b like 'x%'", "update t set a = 1 where b like 'x%'"},
		{"select a from t where b between 2 and 3", "select a from t where b between 2 and 3"},

		// What the grammar does not know.
		{"create table t (a year(4) not null, b year, c int default (year('2020-01-01')))",
			"create table t (\n\ta year not null,\n\tb year,\n\tc int default (year('2020-01-01'))\n)"},
		{"create table t (a int, primary key using btree (a), unique u using hash (a), index i using btree " +
			"(a))", "create table t (\n\ta int,\n\tprimary key (a),\n\tunique u (a),\n\tindex i (a)\n)"},
		{"((select 1))", "select 1"},
		{"( (select a from t where (a = (1))) )", "select a from t where (a = (1))"},
		{"((select 1) union (select 2))", "(select 1) union (select 2)"},
		{"(select 1) union (select 2)", "(select 1) union (select 2)"},
		{"create table t (a int(4) zerofill)", "create table t (\n\ta int(4) unsigned zerofill\n)"},
		{"create definer=current_user view v as select 1", "create view v as select 1"},
		{"create or replace algorithm=merge definer = current_user() view v as select 1",
			"create or replace algorithm = merge view v as select 1"},
		{"insert into t values (1) on duplicate key update a = values(t.a) + t.a",
			"insert into t values (1) on duplicate key update a = values(a) + t.a"},
		{"select a from t use index for order by (i)", "select a from t use index (i)"},
		{"select a from t force index for join (i)", "select a from t force index (i)"},
		{"INSERT DELAYED INTO t VALUES (1)", "insert into t values (1)"},
		{"replace low_priority into t values (1)", "replace into t values (1)"},
		{"update low_priority t set a = 1", "update t set a = 1"},
		{"delete low_priority quick from t", "delete quick from t"},
		{"select high_priority distinctrow a from t", "select distinct a from t"},
		{"select sql_small_result a from t", "select a from t"},
		{"select a from t force index (primary) where a = 1",
			"select a from t force index (`PRIMARY`) where a = 1"},
		{"do sleep(0), f(1, 2)", "set `moka do` = (sleep(0)), `moka do` = (f(1, 2))"},
		{"describe t '%'", "show columns from t like '%'"},
		{"desc db.t col", "show columns from db.t like 'col'"},
		{"set @@character_set_database=binary", "set character_set_database = 'binary'"},
		{"SET NAMES utf8mb4", "set names 'utf8mb4', collation_connection = 'utf8mb4_0900_ai_ci'"},
		{"set names 'latin1'", "set names 'latin1', collation_connection = 'latin1_swedish_ci'"},
		{"set autocommit = 1, names utf8mb4 collate utf8mb4_bin",
			"set autocommit = 1, names 'utf8mb4', collation_connection = 'utf8mb4_bin'"},
		{"set names default", "set names default"},
		{"show storage engines", "show engines"},
		{"create table t (a blob(64), b text(64) not null, c text, key (c(10)))", ""},
		{"/*M!999999\\- enable the sandbox mode */ select 1", "select 1"},
		{"select '/*M! not a comment */'", "select '/*M! not a comment */'"},
	} {
		got := parse(t, p, c.in)
		if c.want != "" && !same(got, strings.ReplaceAll(c.want, "@lock:", LockPrefix)) {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// same compares without what the formatter decides.
func same(a, b string) bool {
	norm := func(s string) string {
		s = strings.ToLower(strings.Join(strings.Fields(s), " "))
		return strings.NewReplacer("`", "", "@", "", "@@", "", "global ", "", "session ", "", "user ",
			"").Replace(s)
	}
	return norm(a) == norm(b)
}

func TestSizedTypes(t *testing.T) {
	stmt, _, err := New(Hooks{}).ParseOneWithOptions(ctx,
		"create table t (a blob(64), b text(64), c text(63), d blob(70000), e text(20000000), `text` int, "+
			"text text(10), key k (text(10), a(5)))", ast.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range stmt.(*ast.DDL).TableSpec.Columns {
		got = append(got, c.Type.Type)
	}
	if want := []string{"tinyblob", "text", "tinytext", "mediumblob", "longtext", "int",
		"tinytext"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("%v", got)
	}
}

func TestLockCarrier(t *testing.T) {
	for _, l := range []Lock{{}, {Exclusive: true}, {Nowait: true}, {SkipLocked: true},
		{Exclusive: true, Nowait: true}, {Exclusive: true, SkipLocked: true}} {
		if got, ok := ParseLock(l.String()); !ok || got != l {
			t.Errorf("%v: %v %v", l, got, ok)
		}
	}
	for _, v := range []any{"2020-01-01", 7, nil, "__lock:", "__lock:update please"} {
		if _, ok := ParseLock(v); ok {
			t.Errorf("%v is a lock", v)
		}
	}
}

func TestSyntaxErrorsPoint(t *testing.T) {
	p := New(Hooks{CreateObserver: func(context.Context, CreateObserver) (ast.Statement, error) {
		return &ast.Commit{}, nil
	}})
	for _, c := range []struct{ in, near string }{
		{"selct 1", "near 'selct 1' at line 1"},
		{"select * from t where", "near '' at line 1"},
		{"foo", "near 'foo' at line 1"},
		{"select 1,\n2\nfrom t x y", "near 'y' at line 3"},
		{"select * from t limit a b", "near 'b' at line 1"},
		{"select * from t where a == 3", "near '= 3' at line 1"},
		{"create table t (a int,, b int)", "near ', b int)' at line 1"},
		{"insert delayed into t vals (1)", "near 'vals (1)' at line 1"},
		{"do 1, 2, from", "near '' at line 1"},
		{"/*M!1 x */ selct 1", "near 'selct 1' at line 1"},
		{"check table", "near '' at line 1"},
		{"check table t please", "near 'please' at line 1"},
		{"commit and chain x", "near 'x' at line 1"},
		{"create observer", "near '' at line 1"},
		{"create observer o before insert on t for each row set @a = 1",
			"near 'before insert on t for each row set @a = 1' at line 1"},
		{"create observer o after insert on t\nfor each row insert int u values (1)",
			"near 'int u values (1)' at line 2"},
		{"create observer o after insert on t for each row", "near '' at line 1"},
		{"create observer o after insert or insert on t for each row set @a = 1",
			"near 'insert on t for each row set @a = 1' at line 1"},
		{"create observer o after insert on t for each row begin\ninsert into u values (1);\ninsrt into v " +
			"values (1);\nend", "at line 3"},
		{"notify t where a = = 1", "near '= 1' at line 1"},
		{"notify t a", "near 'a' at line 1"},
		{"drop observer if o", "near 'o' at line 1"},
	} {
		_, _, err := p.ParseOneWithOptions(ctx, c.in, ast.ParserOptions{})
		var se *mysql.SQLError
		if !errors.As(err, &se) || se.Num != 1064 || se.State != "42000" {
			t.Errorf("%s: %v", c.in, err)
		} else if !strings.Contains(se.Message, c.near) {
			t.Errorf("%s\n got %s\nwant %s", c.in, se.Message, c.near)
		}
	}
}

func TestMultipleStatements(t *testing.T) {
	var observers []string
	var checked []Name
	p := New(Hooks{
		CreateObserver: func(_ context.Context, c CreateObserver) (ast.Statement, error) {
			observers = append(observers, c.Body)
			return &ast.Commit{}, nil
		},
		DropObserver: func(context.Context, DropObserver) (ast.Statement, error) {
			return &ast.Commit{}, nil
		},
		CheckTable: func(_ context.Context, c CheckTable) (ast.Statement, error) {
			checked = append(checked, c.Tables...)
			return &ast.Commit{}, nil
		},
	})
	rest := "do 1, 2; select 'a;b' from t for share; ; insert delayed into t values (1);" +
		"create observer o after insert on t for each row begin set @a = 1; set @b = 2; end; commit and " +
		"chain;" +
		"drop observer o;create table t (a blob(10)); check table t; admin check table a.b, c; select 1"
	var parsed []string
	for i := 0; rest != ""; i++ {
		if i > 20 {
			t.Fatal("no end")
		}
		var one string
		var err error
		_, one, rest, err = p.ParseWithOptions(ctx, rest, ';', true, ast.ParserOptions{})
		if err != nil && !errors.Is(err, ast.ErrEmpty) {
			t.Fatal(err)
		}
		parsed = append(parsed, strings.TrimSpace(one))
	}
	want := []string{"do 1, 2", "select 'a;b' from t for share", "", "insert delayed into t values (1)",
		"create observer o after insert on t for each row begin set @a = 1; set @b = 2; end",
		"commit and chain",
		"drop observer o", "create table t (a blob(10))", "check table t", "admin check table a.b, c",
		"select 1"}
	if !reflect.DeepEqual(parsed, want) {
		t.Errorf("%q", parsed)
	}
	if want := []Name{{"", "t"}, {"a", "b"}, {"", "c"}}; !reflect.DeepEqual(checked, want) {
		t.Errorf("%q", checked)
	}
	if !reflect.DeepEqual(observers, []string{"begin set @a = 1; set @b = 2; end"}) {
		t.Errorf("%q", observers)
	}
}

func TestChain(t *testing.T) {
	p := New(Hooks{})
	for q, want := range map[string]string{
		"COMMIT AND CHAIN": "COMMIT AND CHAIN", "commit work and chain no release;": "COMMIT AND CHAIN",
		"rollback and chain": "ROLLBACK AND CHAIN", "rollback and no chain": "rollback", "commit": "commit",
	} {
		if got := parse(t, p, q); got != want {
			t.Errorf("%s: %s", q, got)
		}
	}
}

func TestObserverStatements(t *testing.T) {
	var got any
	keep := func(v any) (ast.Statement, error) { got = v; return &ast.Commit{}, nil }
	p := New(Hooks{
		CreateObserver: func(_ context.Context, v CreateObserver) (ast.Statement, error) {
			return keep(v)
		},
		DropObserver: func(_ context.Context, v DropObserver) (ast.Statement, error) { return keep(v) },
		AlterObserver: func(_ context.Context, v AlterObserver) (ast.Statement, error) {
			return keep(v)
		},
		ShowObservers: func(_ context.Context, v ShowObservers) (ast.Statement, error) {
			return keep(v)
		},
		ShowCreateObserver: func(_ context.Context, v ShowCreateObserver) (ast.Statement, error) {
			return keep(v)
		},
		Notify: func(_ context.Context, v Notify) (ast.Statement, error) {
			v.Rows = nil
			return keep(v)
		},
	})
	for _, c := range []struct {
		in   string
		want any
	}{
		{"CREATE OBSERVER o AFTER INSERT ON t FOR EACH ROW INSERT INTO u VALUES (NEW.a)", CreateObserver{
			Observer: Name{"", "o"}, Table: Name{"", "t"}, Events: OnInsert,
			Body: "INSERT INTO u VALUES (NEW.a)", BodyStart: 49,
			Text: "CREATE OBSERVER o AFTER INSERT ON t FOR EACH ROW INSERT INTO u VALUES (NEW.a)"}},
		{" create observer if not exists db.`my o` after insert or update of a, `b` or delete on d.t for " +
			"each row with (batch = 100, mode='x') set @a = 1 ;", CreateObserver{
			Observer: Name{"db", "my o"}, IfNotExists: true, Table: Name{"d", "t"},
			Events: OnInsert | OnUpdate | OnDelete, Of: []string{"a", "b"},
			Options: map[string]string{"batch": "100", "mode": "x"}, Body: "set @a = 1", BodyStart: 132,
			Text: "create observer if not exists db.`my o` after insert or update of a, `b` or delete on " +
				"d.t for each row with (batch = 100, mode='x') set @a = 1"}},
		{"create observer o after notify on t for each row call p(new.id)", CreateObserver{
			Observer: Name{"", "o"}, Table: Name{"", "t"}, Events: OnNotify, Body: "call p(new.id)",
			BodyStart: 49,
			Text:      "create observer o after notify on t for each row call p(new.id)"}},
		{"drop observer if exists a.b", DropObserver{Name{"a", "b"}, true}},
		{"alter observer o enable", AlterObserver{Observer: Name{"", "o"}, Action: EnableObserver}},
		{"alter observer o disable;", AlterObserver{Observer: Name{"", "o"}, Action: DisableObserver}},
		{"ALTER OBSERVER o RETRY FAILED", AlterObserver{Observer: Name{"", "o"},
			Action: RetryFailedObserver}},
		{"alter observer o with (Max_Depth = 7, enabled='no')",
			AlterObserver{Observer: Name{"", "o"}, Action: SetObserver,
				Options: map[string]string{"max_depth": "7", "enabled": "no"}}},
		{"alter observer o enable with replay;",
			AlterObserver{Observer: Name{"", "o"}, Action: EnableObserver, Replay: true}},
		{"alter observer d.o discard failed",
			AlterObserver{Observer: Name{"d", "o"}, Action: DiscardFailedObserver}},
		{"alter observer o as begin set @a = 1; end;", AlterObserver{Observer: Name{"", "o"},
			Action: ReplaceObserver, Body: "begin set @a = 1; end", Written: "begin set @a = 1; end"}},
		{" alter observer o as signal sqlstate '45000'; ", AlterObserver{Observer: Name{"", "o"},
			Action: ReplaceObserver, Body: "BEGIN signal sqlstate '45000'; END",
			Written: "signal sqlstate '45000'"}},
		{"show observers", ShowObservers{}},
		{"show observers from d like 'a%'", ShowObservers{"d", "a%"}},
		{"show create observer d.o", ShowCreateObserver{Name{"d", "o"}}},
		{"notify d.t where a > 1 and b = 'x;y';",
			Notify{Table: Name{"d", "t"}, Where: "a > 1 and b = 'x;y'"}},
		{"notify t", Notify{Table: Name{"", "t"}}},
	} {
		got = nil
		parse(t, p, c.in)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\n got %+v\nwant %+v", c.in, got, c.want)
		}
		if o, ok := got.(CreateObserver); ok {
			if !strings.HasPrefix(o.Text[o.BodyStart:], o.Body) {
				t.Errorf("the body is not at %d", o.BodyStart)
			}
			text, start := o.TriggerText("UPDATE")
			if text[start:] != o.Body {
				t.Errorf("trigger body %q", text[start:])
			}
		}
	}
	// Without hooks they are refused by name, not as syntax errors.
	for _, q := range []string{"drop observer o", "show observers", "notify t",
		"create observer o after insert on t for each row set @a = 1"} {
		_, _, err := New(Hooks{}).ParseOneWithOptions(ctx, q, ast.ParserOptions{})
		var se *mysql.SQLError
		if !errors.As(err, &se) || se.Num != 1235 {
			t.Errorf("%s: %v", q, err)
		}
	}
}

func TestCompleteOrder(t *testing.T) {
	p := New(Hooks{CompleteOrder: func(_ context.Context, db, table string, eq []EqualColumn,
		order []string) []string {
		if table == "t" && len(eq) == 1 && eq[0].Column == "a" && !eq[0].Text &&
			reflect.DeepEqual(order, []string{"b"}) {
			return []string{"a"}
		}
		return nil
	}})
	for _, c := range []struct{ in, want string }{
		{"select * from t where a = 3 order by b limit 5",
			"select * from t where a = 3 order by t.a asc, b asc limit 5"},
		{"select * from t x where x.a = ? order by x.b desc limit 5",
			"select * from t as x where x.a = :v1 order by x.a desc, x.b desc limit 5"},
		{"select * from t where a = 'x' order by b limit 5",
			"select * from t where a = 'x' order by b asc limit 5"},
		{"select * from t where a = 3 order by b", "select * from t where a = 3 order by b asc"},
		{"select distinct b from t where a = 3 order by b limit 5",
			"select distinct b from t where a = 3 order by b asc limit 5"},
		{"select c as b from t where a = 3 order by b limit 5",
			"select c as b from t where a = 3 order by b asc limit 5"},
		{"select * from t where a = 3 or c = 1 order by b limit 5",
			"select * from t where a = 3 or c = 1 order by b asc limit 5"},
		{"select * from t, u where a = 3 order by b limit 5",
			"select * from t, u where a = 3 order by b asc limit 5"},
	} {
		if got := parse(t, p, c.in); !same(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// The wrapper must agree with go-mysql-server's own parser on everything that needs no edit.
func TestPlainStatementsUnchanged(t *testing.T) {
	p, plain := New(Hooks{}), sql.NewMysqlParser()
	for _, q := range []string{
		"select a, b + 1 as c from t where a in (1,2,3) order by c desc limit 3",
		"select 1; select 2", ";", "", "-- only a comment", "/* c */",
		"insert into t values (1,'a;b'); select 1",
		"create table t (a int primary key, b varchar(20) default 'x')", "update t set a = a + 1 where b = 2",
		"create trigger x before insert on t for each row begin set new.a = 1; set new.b = 2; end; select 1",
		"show tables", "set autocommit = 1", "start transaction", "explain select * from t",
		"select * from t as of '2020-01-01'",
		"select primary_thing from shares where updated = 1",
	} {
		for _, multi := range []bool{false, true} {
			s1, a1, b1, e1 := p.ParseWithOptions(ctx, q, ';', multi, ast.ParserOptions{})
			s2, a2, b2, e2 := plain.ParseWithOptions(ctx, q, ';', multi, ast.ParserOptions{})
			if (e1 == nil) != (e2 == nil) || a1 != a2 || b1 != b2 ||
				(e1 == nil && ast.String(s1) != ast.String(s2)) {
				t.Errorf("%q multi %v:\n%q %q %v\n%q %q %v", q, multi, a1, b1, e1, a2, b2, e2)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, q := range []string{
		"select a from t for share of t nowait; select 2", "/*M!9 x */ do 1,(2,3)",
		"create observer o after update of a on t for each row begin set @a = 1; end; x",
		"notify t where `a", "(select 1 from t for update)",
		"create table t (a blob(9), b text(99999999999999999999))", "check table a.b, c extended",
		"desc t 'x\\", "set a = binary", "alter observer", "show count(*) warnings", "commit and chain",
		"/*!40101 insert delayed */ into", "select \"", "select '\\",
		"create observer o after insert on t for each row with (a='", "do ((",
		"insert into t select * from (select 1 for share) x for update",
		"delete from t where not not a between 1 and 2",
		"create definer=`a`@b function if not exists d.f(a char(3) charset x, b int) returns enum('a','b') " +
			"collate c no sql return a = 1 and b; select 1",
		"create procedure p(out a int) begin declare b int default 1 or 2; get stacked diagnostics " +
			"condition a b = number; return 1; end", "create function f(", "drop function if exists x",
		"show function status like 'a'", "show create procedure p", "create procedure p() select 1 for share",
		"create procedure p() begin if a then return case when 1 then 2 end; end if; end",
	} {
		f.Add(q, true, false)
		f.Add(q, false, true)
	}
	stmt := func() (ast.Statement, error) { return &ast.Commit{}, nil }
	p := New(Hooks{
		CreateObserver: func(context.Context, CreateObserver) (ast.Statement, error) { return stmt() },
		DropObserver:   func(context.Context, DropObserver) (ast.Statement, error) { return stmt() },
		AlterObserver:  func(context.Context, AlterObserver) (ast.Statement, error) { return stmt() },
		ShowObservers:  func(context.Context, ShowObservers) (ast.Statement, error) { return stmt() },
		ShowCreateObserver: func(context.Context, ShowCreateObserver) (ast.Statement, error) {
			return stmt()
		},
		Notify:            func(context.Context, Notify) (ast.Statement, error) { return stmt() },
		CreateRoutine:     func(_ context.Context, r Routine) (ast.Statement, error) { return stmt() },
		DropRoutine:       func(context.Context, RoutineName) (ast.Statement, error) { return stmt() },
		ShowCreateRoutine: func(context.Context, RoutineName) (ast.Statement, error) { return stmt() },
		StoredFunction:    func(context.Context, string, string) bool { return false },
	})
	f.Fuzz(func(t *testing.T, q string, multi, ansi bool) {
		st, parsed, rest, err := p.ParseWithOptions(ctx, q, ';', multi, ast.ParserOptions{AnsiQuotes: ansi})
		if err == nil && st == nil {
			t.Fatal("no statement and no error")
		}
		if len(parsed)+len(rest) > len(q) {
			t.Fatalf("%q: %q and %q", q, parsed, rest)
		}
		if rest != "" && !strings.HasSuffix(sql.RemoveSpaceAndDelimiter(q, ';'), rest) {
			t.Fatalf("%q: the rest %q is not its end", q, rest)
		}
	})
}

func BenchmarkHead(b *testing.B) {
	p := New(Hooks{})
	q := "SELECT c FROM sbtest1 WHERE id = 12345"
	b.Run("wrapped", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = p.ParseOneWithOptions(ctx, q, ast.ParserOptions{})
		}
	})
	b.Run("vitess", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = ast.ParseOneWithOptions(ctx, q, ast.ParserOptions{})
		}
	})
	b.Run("head", func(b *testing.B) {
		for b.Loop() {
			r := rewriter{parser: p, src: q}
			_, _, _, _ = r.head(ctx, ast.ParserOptions{})
		}
	})
}
