package sqlfront_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
)

// TestUsageReadsNoNames walks the system tables that information_schema.tables lists, and what SHOW
// shows, as a user who has USAGE only: no cell has the name of what others have made. Each of these
// names begins with zq.
func TestUsageReadsNoNames(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database zqvault", "use zqvault",
		"create table zqparent (zqid int primary key)",
		"create table zqsecret (zqid int primary key, zqtext varchar(20) default 'zqdefault' comment "+
			"'zqcomment', zqother int generated always as (zqid + 1) virtual,"+
			" index zqindex (zqtext), fulltext index zqwords (zqtext), constraint zqforeign foreign "+
			"key (zqid) references zqparent (zqid),"+
			" constraint zqcheck check (zqtext <> 'zqvalue')) comment 'zqtable'",
		"create table zqparts (zqid int primary key)",
		"insert into zqparent values (1), (2)",
		"insert into zqsecret (zqid, zqtext) values (1, 'zqone'), (2, 'zqtwo')", "analyze table zqsecret",
		"create view zqview as select zqtext as zqalias from zqsecret",
		"create trigger zqtrigger before insert on zqsecret for each row set new.zqtext = 'zqset'",
		"create procedure zqprocedure(zqparameter int) select zqtext from zqsecret",
		"create function zqfunction(zqparameter int) returns int deterministic return zqparameter",
		"create event zqevent on schedule every 1 day do insert into zqparent values (100)",
		"create observer zqobserver after insert on zqsecret for each row with (attempts = 1) insert "+
			"into zqparent values (1)",
		"insert into zqsecret (zqid) select 2 from zqparent where zqid = 3", // its text is in the digests
		"create user zquser", "create role zqrole", "grant zqrole to zquser",
		"grant select (zqtext) on zqvault.zqsecret to zquser",
		"grant execute on function zqvault.zqfunction to zquser",
		"create user uma")
	run(t, root, "insert into zqparent values (3)",
		"insert into zqsecret (zqid, zqtext) values (3, 'zqthree')")
	eventually(t, root, "select parked from moka.observer_backlog", "1") // an error with names in it
	holder := s.open("zquser", "zqvault", "")
	open, err := holder.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = open.Rollback() }()
	run(t, root, "begin", "select zqid from zqvault.zqsecret for update")
	if _, err := open.Exec("select zqtext as zqopen from zqvault.zqsecret"); err != nil {
		t.Fatal(err)
	}
	walk := []string{
		"show databases", "show processlist", "show full processlist", "show open tables",
		"show table status from information_schema",
		"show procedure status", "show function status", "show status", "show global status",
		"show variables", "show warnings",
		"show grants", "show privileges", "show observers from zqvault", "show events from zqvault",
		"show triggers from zqvault", "show full tables from zqvault",
		"show tables from sys", "show tables from mysql", "show tables from moka",
		"show engine innodb status", "show master status", "show binary logs",
		"show create table zqvault.zqsecret", "show create view zqvault.zqview",
		"show create procedure zqvault.zqprocedure", "show create function zqvault.zqfunction",
		"show create trigger zqvault.zqtrigger", "show create event zqvault.zqevent",
		"show create observer zqvault.zqobserver", "show create database zqvault",
		"show index from zqvault.zqsecret", "show columns from zqvault.zqsecret",
		"show create user zquser", "show grants for zquser",
		"select zqvault.zqfunction(1)", "select zqvault.nosuch(1)",
	}
	tables := strings.Split(results(t, root,
		"select concat(table_schema, '.', table_name) from information_schema.tables"+
			" where table_schema in "+
			"('information_schema', 'performance_schema', 'sys', 'mysql', 'moka')"), ";")
	if len(tables) < 50 {
		t.Fatalf("the walk finds %d system tables only: %v", len(tables), tables)
	}
	for _, name := range tables {
		schema, table, _ := strings.Cut(name, ".")
		walk = append(walk, "select * from `"+schema+"`.`"+table+"`")
	}
	uma := s.open("uma", "", "")
	for _, query := range walk {
		if cell := cellWith(t, uma, query, "zq"); cell != "" {
			t.Errorf("%s shows a user with USAGE only: %.200s", query, cell)
		}
	}
	seen := 0 // that the walk would find them: root reads the names in many places
	for _, query := range walk {
		if cellWith(t, s.conn(""), query, "zq") != "" {
			seen++
		}
	}
	if seen < 30 {
		t.Errorf("root reads the names in %d places only", seen)
	}
}

// cellWith is the first cell of the answer that has the word in it, empty for none or when the
// statement is refused.
func cellWith(t *testing.T, c runner, query, word string) string {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), query)
	if err != nil {
		return ""
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	cells, into := make([]sql.RawBytes, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for i, cell := range cells {
			if text := string(cell); strings.Contains(strings.ToLower(text), word) {
				return names[i] + ": " + text
			}
		}
	}
	return ""
}
