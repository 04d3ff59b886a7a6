package sqlfront_test

import (
	"strings"
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
