package sqlfront_test

import (
	"strings"
	"testing"
)

func TestRoles(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	root := s.conn("")
	run(t, root, "create database d", "create database Mixed", "use d", "create table t (id int primary key, a int)", "insert into t values (1, 10)", "create table Mixed.x (a int)")
	script{
		{"create role reader, writer, boss", ""},
		{"create role reader", "error 1396"},
		{"create role if not exists reader", ""},
		{"show warnings", "Note 3163 Authorization ID 'reader'@'%' already exists."},
		{"create user u, v, other", ""},
		{"grant select on d.* to reader", ""},
		{"grant insert on d.t to writer", ""},
		{"grant reader to writer", ""},
		{"grant writer to reader", "error 4027"},
		{"grant reader to reader", "error 4027"},
		{"grant writer to u", ""},
		{"grant nosuch to u", "error 3523"},
		{"grant reader to nobody", "error 3523"},
		{"grant boss to v with admin option", ""},
		{"show grants for u", "GRANT USAGE ON *.* TO `u`@`%`;GRANT `writer`@`%` TO `u`@`%`"},
		{"show grants for u using writer", "GRANT USAGE ON *.* TO `u`@`%`;GRANT SELECT ON `d`.* TO `u`@`%`;GRANT INSERT ON `d`.`t` TO `u`@`%`;GRANT `writer`@`%` TO `u`@`%`"},
		{"show grants for u using boss", "error 3530"},
		{"show grants for v", "GRANT USAGE ON *.* TO `v`@`%`;GRANT `boss`@`%` TO `v`@`%` WITH ADMIN OPTION"},
		{"show grants for nobody", "error 1141"},
		{"grant proxy on u to v", "error 1235"},
		{"show grants", "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, RELOAD, SHUTDOWN, PROCESS, FILE, REFERENCES, INDEX, ALTER, SHOW DATABASES, SUPER, CREATE TEMPORARY TABLES, LOCK TABLES, EXECUTE, REPLICATION SLAVE, " +
			"REPLICATION CLIENT, CREATE VIEW, SHOW VIEW, CREATE ROUTINE, ALTER ROUTINE, CREATE USER, EVENT, TRIGGER, CREATE TABLESPACE, CREATE ROLE, DROP ROLE ON *.* TO `root`@`localhost` WITH GRANT OPTION"},
		// What REVOKE takes, and what not.
		{"grant all on d.* to other with grant option", ""},
		{"grant select, insert (a) on d.t to other", ""},
		{"revoke all on d.* from other", ""},
		{"show grants for other", "GRANT USAGE ON *.* TO `other`@`%`;GRANT USAGE ON `d`.* TO `other`@`%` WITH GRANT OPTION;GRANT SELECT, INSERT (`a`) ON `d`.`t` TO `other`@`%`"},
		{"revoke grant option on d.* from other", ""},
		{"revoke insert on d.t from other", ""},
		{"show grants for other", "GRANT USAGE ON *.* TO `other`@`%`;GRANT SELECT ON `d`.`t` TO `other`@`%`"},
		{"revoke select on d.* from other", "error 1141"},
		{"revoke select on d.nope from other", "error 1147"},
		{"revoke if exists select on d.nope from other", ""},
		{"revoke select on d.t from nobody ignore unknown user", ""},
		{"revoke all, grant option from other", ""},
		{"show grants for other", "GRANT USAGE ON *.* TO `other`@`%`"},
		{"revoke all privileges, grant option from nobody", "error 1269"},
		{"grant select on Mixed.* to other", ""},
		{"grant insert on Mixed.x to other", ""},
		{"grant select on d.t to other with grant option", ""},
		{"grant backup_admin, select on *.* to boss", ""},
		{"grant nosuch_privilege on *.* to boss", "error 1064"},
		{"grant file on d.* to boss", "error 1221"},
		{"grant file on d.t to boss", "error 1144"},
		{"grant select on d.t to nobody", "error 1410"},
		{"grant select on *.x to boss", "error 1144"},
	}.run(t, root)
	wantLogin(t, s, "reader", "error 3118")

	u := s.open("u", "", "")
	u.SetMaxOpenConns(1)
	script{
		{"select a from d.t", "error 1142"},
		{"select current_role()", "NONE"},
		{"set role reader", "error 3530"}, // which is granted to a role of his only
		{"set role writer", ""},
		{"select current_role()", "`writer`@`%`"},
		{"select a from d.t", "10"},
		{"insert into d.t values (2, 20)", ""},
		{"update d.t set a = 1", "error 1142"},
		{"set role all except writer", ""},
		{"select a from d.t", "error 1142"},
		{"set role all", ""},
		{"select count(*) from d.t", "2"},
		{"set role none", ""},
		{"set default role writer to u", ""},
		{"set default role writer to v", "error 1227"},
		{"set default role boss to u", "error 3530"},
		{"set role default", ""},
		{"select count(*) from d.t", "2"},
		{"grant writer to v", "error 1227"},
		{"create role mine", "error 1227"},
	}.run(t, u)
	script{{"select count(*) from d.t", "2"}}.run(t, s.open("u", "", "")) // by default
	run(t, root, "revoke writer from u")
	script{{"select count(*) from d.t", "error 1142"}}.run(t, u)
	script{{"grant boss to u", ""}, {"revoke boss from u", ""}, {"grant reader to u", "error 1227"}}.run(t, s.open("v", "", ""))
	script{
		{"grant select on d.t to u", ""},
		{"grant insert on d.t to u", "error 1142"},
		{"grant select on d.* to u", "error 1044"},
		{"grant select (a) on d.t to u", ""},
		{"revoke select on d.t from u", ""},
		{"select * from Mixed.x", ""},
	}.run(t, s.open("other", "", ""))

	// For all: mandatory_roles, activate_all_roles_on_login.
	run(t, root, "set global mandatory_roles = 'reader, nosuch@localhost'", "set global activate_all_roles_on_login = on")
	script{{"select a from d.t where id = 1", "10"}, {"show grants", "GRANT USAGE ON *.* TO `u`@`%`;GRANT SELECT ON `d`.* TO `u`@`%`;GRANT `reader`@`%` TO `u`@`%`"}}.run(t, s.open("u", "", ""))
	script{{"drop role reader", "error 3628"}, {"revoke reader from u", "error 3628"}, {"set global activate_all_roles_on_login = off", ""}, {"set global mandatory_roles = ''", ""}}.run(t, root)

	run(t, root, "grant boss to u", "alter user u default role boss", "rename user boss to chief")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = d.serve()
	script{
		{"show create user u", "CREATE USER `u`@`%` IDENTIFIED WITH 'caching_sha2_password' DEFAULT ROLE `chief`@`%` REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"},
		{"show grants for v", "GRANT USAGE ON *.* TO `v`@`%`;GRANT `chief`@`%` TO `v`@`%` WITH ADMIN OPTION"},
		{"drop role chief, reader, writer", ""},
		{"show grants for v", "GRANT USAGE ON *.* TO `v`@`%`"},
	}.run(t, s.conn(""))
	script{{"insert into Mixed.x values (1)", ""}, {"select * from mixed.x", "1"}}.run(t, s.open("other", "", ""))
}

// TestNamesAreTakenOnce: who repeats a name in a list has it worked on once, and kept once. A long list was
// gone through for each account of another one, with the accounts locked.
func TestNamesAreTakenOnce(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	again := func(name string) string { return strings.Repeat(name+", ", 100_000) + name }
	run(t, root, "create database d", "create table d.t (a int, b int)", "create role r",
		"create user u", "grant r to u with admin option", "create user v",
		"grant all on d.* to u with grant option")
	u := s.open("u", "d", "")
	u.SetMaxOpenConns(1)
	script{
		{"set role " + again("r"), ""},
		{"select current_role()", "`r`@`%`"},
		{"set default role " + again("r") + " to " + again("u"), ""},
		{"grant " + again("r") + " to " + again("v"), ""},
		{"grant select (" + again("a") + "), insert (" + again("b") + ") on d.t to " + again("v"), ""},
		{"revoke insert (" + again("b") + ") on d.t from " + again("v"), ""},
		{"grant create, select (c) on d.nope to v", "error 1146"},
	}.run(t, u)
	script{
		{"show grants for v using " + again("r"), "GRANT USAGE ON *.* TO `v`@`%`;" +
			"GRANT SELECT (`a`) ON `d`.`t` TO `v`@`%`;GRANT `r`@`%` TO `v`@`%`"},
	}.run(t, root)
}
