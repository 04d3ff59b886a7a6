package sqlfront_test

import (
	"strings"
	"sync"
	"testing"

	"moka/kv/kvtest"
)

// TestShowSpeaksMySQL: what SHOW and information_schema say of a table, in the words that programs read.
func TestShowSpeaksMySQL(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", `create database sh character set utf8mb4 collate utf8mb4_general_ci`, `use sh`, `create table p (
		id int primary key, a int not null default 5, b varchar(10) default 'x''y', c char(3) character set latin1, e enum('a','b COLLATE c') default 'a',
		f set('x','y') default 'x,y', g datetime default current_timestamp on update current_timestamp, h timestamp null on update current_timestamp,
		k bit(4) default b'101', o text, r bigint unsigned auto_increment, s date default '2020-01-01', u varchar(5) collate utf8mb4_bin not null,
		v int generated always as (a + 1) stored, w int as (a * 2) virtual, key (r), unique key uu (b, a), unique key nn (u))`)
	lines := func(query string) string {
		return strings.Join(strings.Split(text(t, s.in("a"), query), "; "), "\n")
	}
	for query, want := range map[string]string{
		"show columns from p": `id int NO PRI NULL 
a int NO  5 
b varchar(10) YES MUL x'y 
c char(3) YES  NULL 
e enum('a','b COLLATE c') YES  a 
f set('x','y') YES  x,y 
g datetime YES  CURRENT_TIMESTAMP DEFAULT_GENERATED on update CURRENT_TIMESTAMP
h timestamp YES  NULL on update CURRENT_TIMESTAMP
k bit(4) YES  b'101' 
o text YES  NULL 
r bigint unsigned NO MUL NULL auto_increment
s date YES  2020-01-01 
u varchar(5) NO UNI NULL 
v int YES  NULL STORED GENERATED
w int YES  NULL VIRTUAL GENERATED`,
		"show full columns from p like 'u'": `u varchar(5) utf8mb4_bin NO UNI NULL  select,insert,update,references `,
		"select column_name, column_default, character_maximum_length, generation_expression from information_schema.columns where table_schema = 'sh' and column_name in ('s', 'o', 'v') order by 1": "o NULL 65535 \ns 2020-01-01 NULL \nv NULL NULL (`a` + 1)",
	} {
		if got := lines(query); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
	create := text(t, s.in("a"), "show create table p")
	for _, part := range []string{"`e` enum('a','b COLLATE c') DEFAULT 'a'", "`f` set('x','y') DEFAULT 'x,y'",
		"PRIMARY KEY (`id`),\n  UNIQUE KEY `nn` (`u`),\n  UNIQUE KEY `uu` (`b`,`a`),\n  KEY `r` (`r`)\n"} {
		if !strings.Contains(create, part) {
			t.Errorf("SHOW CREATE TABLE lacks %s:\n%s", part, create)
		}
	}
	// What it says is what makes the table again.
	s.do("a", "drop table p", strings.TrimPrefix(create, "p "))
	if again := text(t, s.in("a"), "show create table p"); again != create {
		t.Errorf("made again:\n%s\nwas\n%s", again, create)
	}
}

// TestShowCreateAgain: SHOW CREATE TABLE says what makes the same table again, word by word as MySQL 8 does
// where the test says how.
func TestShowCreateAgain(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", `create database other`, `create table other.p (id int primary key)`, `create database sc`, `use sc`)
	for _, c := range []struct{ create, part string }{
		{"create table t (a int, b text, c json, d blob, e timestamp, f timestamp not null, g varchar(3) not null)",
			"`a` int DEFAULT NULL,\n  `b` text,\n  `c` json,\n  `d` blob,\n  `e` timestamp NULL DEFAULT NULL,\n  `f` timestamp NOT NULL,\n  `g` varchar(3) NOT NULL\n"},
		{"create table t (a int, b int as (a + 1), c int as (a + 2) stored not null)",
			"`b` int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n  `c` int GENERATED ALWAYS AS ((`a` + 2)) STORED NOT NULL\n"},
		{"create table t (id int primary key, p int, constraint f foreign key (p) references other.p (id) on delete cascade)",
			"CONSTRAINT `f` FOREIGN KEY (`p`) REFERENCES `other`.`p` (`id`) ON DELETE CASCADE\n"},
		{"create table t (a text, b blob, primary key (a(10), b(5)), key (b(3)))", "PRIMARY KEY (`a`(10),`b`(5)),\n  KEY `b` (`b`(3))\n"},
		{`create table t (a int comment 'it''s \\ "x"') comment 'a\\b"c''d'`, `COMMENT 'it''s \\ "x"'` + "\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='a\\\\b\"c''d'"},
		{"create table t (a binary(3) default 'abc', b varbinary(3) default x'00ff', c int default (1 + 2), d bit(3) default b'101')",
			"`a` binary(3) DEFAULT 'abc',\n  `b` varbinary(3) DEFAULT 0x00FF,\n  `c` int DEFAULT ((1 + 2)),\n  `d` bit(3) DEFAULT b'101'\n"},
		{"create table t (a int, `my c` varchar(10), key k ((a + 3)), unique key ((lower(`my c`)), a), key ((a * 2)))",
			"UNIQUE KEY `functional_index` ((lower(`my c`)),`a`),\n  KEY `k` (((`a` + 3))),\n  KEY `functional_index_2` (((`a` * 2)))\n"},
		{"create table t (a int, u int, check (a > 0), constraint ne check (u > 1) not enforced)",
			"CONSTRAINT `t_chk_1` CHECK ((`a` > 0)),\n  CONSTRAINT `ne` CHECK ((`u` > 1)) /*!80016 NOT ENFORCED */\n"},
		{"create table t (a point not null srid 4326, b geometry)", "`a` point NOT NULL /*!80003 SRID 4326 */,\n  `b` geometry\n"},
	} {
		s.do("a", c.create)
		shown := text(t, s.in("a"), "show create table t")
		if !strings.Contains(shown, c.part) {
			t.Errorf("%s\nis shown as\n%s\nwhich lacks\n%s", c.create, shown, c.part)
		}
		s.do("a", "drop table t", strings.TrimPrefix(shown, "t "))
		if again := text(t, s.in("a"), "show create table t"); again != shown {
			t.Errorf("made again:\n%s\nwas\n%s", again, shown)
		}
		s.do("a", "drop table t")
	}
}

// TestFunctionalKeys: keys over expressions, from CREATE TABLE as from CREATE INDEX.
func TestFunctionalKeys(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", `create database fk`, `use fk`, "create table t (id int primary key, a int, b varchar(10), key k ((a + 3)), unique key u ((lower(b))))",
		"insert into t values (1, 1, 'X'), (2, 2, 'y'), (3, 3, null)")
	if got := text(t, s.in("a"), "select * from t where a + 3 = 5"); got != "2 2 y" {
		t.Error(got)
	}
	if plan := text(t, s.in("a"), "explain select * from t where a + 3 = 5"); !strings.Contains(plan, " ref k k ") {
		t.Errorf("the key is not used: %s", plan)
	}
	if _, err := s.in("a").ExecContext(t.Context(), "insert into t values (4, 4, 'Y')"); err == nil || !strings.Contains(err.Error(), "1062") {
		t.Errorf("lower(b) is there twice: %v", err)
	}
	if got := text(t, s.in("a"), "select column_name, index_name from information_schema.statistics where table_schema = 'fk' and seq_in_index = 1 and index_name = 'PRIMARY'"); got != "id PRIMARY" {
		t.Error(got)
	}
	for query, code := range map[string]string{
		"create table x (a int, primary key ((a + 1)))": "3756",
		"create table x (`!functional!x!0!0` int)":      "1166",
	} {
		if _, err := s.in("a").ExecContext(t.Context(), query); err == nil || !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestDescendingKeys: a column of a key that was declared DESC is shown so, survives changes of its table,
// and is read in either direction.
func TestDescendingKeys(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", `create database dk`, `use dk`, `create table p (id int primary key, a int, b varchar(10), c int, key one (a desc, b), unique key two (c desc) comment 'x')`,
		`create index three on p (b(3) desc, a)`, `alter table p add key four (c, a desc)`, `insert into p values (1, 1, 'a', 4), (2, 2, 'b', 3), (3, 3, 'c', 2), (4, null, 'd', 1)`)
	want := []string{"UNIQUE KEY `two` (`c` DESC) COMMENT 'x'", "KEY `one` (`a` DESC,`b`)", "KEY `three` (`b`(3) DESC,`a`)", "KEY `four` (`c`,`a` DESC)"}
	check := func() string {
		t.Helper()
		create := text(t, s.in("a"), "show create table p")
		for _, part := range want {
			if !strings.Contains(create, part) {
				t.Errorf("SHOW CREATE TABLE lacks %s:\n%s", part, create)
			}
		}
		return create
	}
	create := check()
	s.do("a", "alter table p add column d int default 3", "alter table p modify column b varchar(20)", "alter table p rename index one to uno", "alter table p rename index uno to one",
		"alter table p modify column a bigint", "alter table p drop column d", "alter table p modify column a int")
	check()
	for query, want := range map[string]string{
		"select index_name, seq_in_index, collation from information_schema.statistics where table_schema = 'dk' and table_name = 'p' and collation = 'D' order by 1": "four 2 D; one 1 D; three 1 D; two 1 D",
		"select id from p order by a desc limit 2": "3; 2", "select id from p order by a limit 2": "4; 1", "select id from p where a > 1 order by a desc": "3; 2", "select max(c), min(c) from p": "4 1",
	} {
		if got := text(t, s.in("a"), query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	s.do("a", "drop table p", strings.TrimPrefix(create, "p "))
	if again := text(t, s.in("a"), "show create table p"); again != create {
		t.Errorf("made again:\n%s\nwas\n%s", again, create)
	}
}

// TestDatabaseTogether: of many who create a database IF NOT EXISTS, or drop it IF EXISTS, one does, and
// nobody fails.
func TestDatabaseTogether(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	together := func(q string) {
		var wg sync.WaitGroup
		for range 8 {
			c := s.srv.conn("")
			wg.Go(func() {
				if _, err := c.ExecContext(t.Context(), q); err != nil {
					t.Errorf("%s: %v", q, err)
				}
			})
		}
		wg.Wait()
	}
	for range 5 {
		together("create database if not exists gone")
		s.do("a", "create table gone.t (a int primary key)")
		together("drop database if exists gone")
	}
}

// TestShowWhere: SHOW INDEX … WHERE shows what it was asked for, SHOW ERRORS what went wrong, SHOW CREATE
// VIEW whose it is.
func TestShowWhere(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.do("a", "create table tt (id int primary key, a int, b varchar(20), key a (a), key ab (a, b desc))",
		"create sql security invoker view v (x, `y z`) as select a, b from tt")
	if _, err := s.in("a").ExecContext(t.Context(), "select nope from tt"); err == nil {
		t.Fatal("there is a column nope")
	}
	for _, q := range [][2]string{
		{"show errors", "Error 1054 Unknown column 'nope' in 'field list'"},
		{"show index from tt where key_name = 'ab'", "tt 1 ab 1 a A 0 NULL NULL YES BTREE   YES NULL; tt 1 ab 2 b D 0 NULL NULL YES BTREE   YES NULL"},
		{"show keys in d.tt where Non_unique = 0", "tt 0 PRIMARY 1 id A 0 NULL NULL  BTREE   YES NULL"},
		{"show indexes from tt from d where seq_in_index = 2 or key_name = 'a'", "tt 1 a 1 a A 0 NULL NULL YES BTREE   YES NULL; tt 1 ab 2 b D 0 NULL NULL YES BTREE   YES NULL"},
		{"show create view v", "v CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY INVOKER VIEW `v` (`x`,`y z`) AS select a, b from tt utf8mb4 utf8mb4_general_ci"},
	} {
		if got := text(t, s.in("a"), q[0]); got != q[1] {
			t.Errorf("%s:\n%s\nwant\n%s", q[0], got, q[1])
		}
	}
}
