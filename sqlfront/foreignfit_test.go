package sqlfront_test

import "testing"

// TestParentsFitTheirChildren: what gets the name of a parent that foreign keys wait for has columns of
// their types, and no ALTER TABLE takes those away. The owner of the parent wrote texts into numbers of
// other people's tables, or left their rows without parents.
func TestParentsFitTheirChildren(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database mine", "create database vic",
		"create table mine.fp (id int primary key, k varchar(20) unique)",
		"insert into mine.fp values (11, 'a'), (12, 'b')",
		"create table vic.fc (id int primary key, pid int, foreign key (pid) references mine.fp (id) "+
			"on delete cascade on update cascade)",
		"create table vic.fk (id int primary key, k varchar(20), foreign key (k) references mine.fp (k) "+
			"on delete cascade on update cascade)",
		"insert into vic.fc values (2, 12), (3, 11)", "insert into vic.fk values (1, 'A'), (2, 'b')",
		"create user u@localhost, u@'127.0.0.1'",
		"grant all on mine.* to u@localhost", "grant all on mine.* to u@'127.0.0.1'")
	u := s.open("u", "mine", "")
	u.SetMaxOpenConns(1)
	script{
		{"alter table fp convert to character set utf8mb4 collate utf8mb4_bin", "error 1833"},
		{"alter table fp convert to character set latin1", "error 1833"},
		{"alter table fp convert to character set utf8mb4, add column n int", ""}, // as they are
		{"alter table fp drop column n", ""},
		{"set foreign_key_checks = 0", ""},
		{"alter table fp convert to character set latin1", "error 3780"},
		{"drop table fp", ""},
		{"create table fp (id varchar(2000), k varchar(20) unique, key (id(10)))", "error 3780"},
		{"create table fp (id int unsigned primary key, k varchar(20) unique)", "error 3780"},
		{"create table fp (id int primary key, k int unique)", "error 3780"},
		{"create table fp (id int primary key, k varchar(20) character set latin1 unique)", "error 3780"},
		{"create table fp (x int)", "error 3780"},
		{"create table fp as select 'x' as id", "error 3780"},
		{"create table other (id varchar(20) primary key, k varchar(20) unique)", ""},
		{"rename table other to fp", "error 3780"},
		{"alter table other rename to fp", "error 3780"},
		{"create table fp like other", "error 3780"},
		{"alter table other modify id bigint, rename to fp", "error 3780"},
		{"show tables", "other"},
		{"create table fp (id int primary key, k varchar(40) unique)", ""},
		{"insert into fp values (12, 'b'), (11, 'a')", ""},
		{"set foreign_key_checks = 1", ""},
		{"update fp set id = 13 where id = 12", ""},
		{"delete from fp where k = 'a'", ""},
	}.run(t, u)
	script{
		{"select * from vic.fc", "2 13"},
		{"select * from vic.fk", "2 b"},
		{"alter table vic.fk convert to character set latin1", "error 1832"},
		{"set foreign_key_checks = 0", ""},
	}.run(t, root)
	own := s.open("root", "vic", "")
	own.SetMaxOpenConns(1)
	script{ // who may see both tables is told which
		{"set foreign_key_checks = 0", ""},
		{"drop table mine.fp", ""},
		{"create table mine.fp (x int)", "error 3734"},
		{"create table mine.fp (id text)", "error 3780"},
	}.run(t, own)
}

// TestForeignKeysKeepTypesAndKeys: a parent that is made anew without the key that its children look for was
// taken, and ON UPDATE CASCADE wrote more characters into a child than its column has.
func TestForeignKeysKeepTypesAndKeys(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	script{
		{"create database d", ""},
		{"use d", ""},
		{"create table p (id int primary key, k int unique)", ""},
		{"create table c (id int primary key, p int, k int, foreign key (p) references p (id) " +
			"on delete cascade, foreign key (k) references p (k) on update cascade)", ""},
		{"insert into p values (1, 2)", ""},
		{"insert into c values (1, 1, 2)", ""},
		{"set foreign_key_checks = 0", ""},
		{"drop table p", ""},
		{"set foreign_key_checks = 1", ""},
		{"create table p (id int, k int unique)", "error 1822"},
		{"create table p (id int primary key, k int)", "error 1822"},
		{"create table p (id int primary key, k int, key (id, k))", "error 1822"},
		{"create table p as select 1 as id, 2 as k", "error 1822"},
		{"create table o (id int, k int)", ""},
		{"create table p like o", "error 1822"},
		{"rename table o to p", "error 1822"},
		{"alter table o rename to p", "error 1822"},
		{"show tables", "c;o"},
		{"create table p (k int, id int, key (id), key (k, id))", ""},
		{"insert into p values (2, 1)", ""},
		{"update p set k = 3", ""},
		{"select * from c", "1 1 3"},
		{"delete from p", "error 1451"},
		{"create table tp (id varchar(10) primary key)", ""},
		{"create table tc (p varchar(3), q char(2), foreign key (p) references tp (id) on update cascade, " +
			"foreign key (q) references tp (id) on update cascade)", ""},
		{"insert into tp values ('a'), ('b')", ""},
		{"insert into tc values ('a', null), (null, 'b')", ""},
		{"update tp set id = 'abcd' where id = 'a'", "error 1451"},
		{"update tp set id = 'abc' where id = 'b'", "error 1451"},
		{"update tp set id = 'abc' where id = 'a'", ""},
		{"update tp set id = 'bc' where id = 'b'", ""},
		{"select * from tc order by p", "NULL bc;abc NULL"},
		{"select * from tp", "abc;bc"},
	}.run(t, c)
}
