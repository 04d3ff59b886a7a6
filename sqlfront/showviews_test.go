package sqlfront_test

import "testing"

// TestShowOfViewsNeedsRightsOnThem: what SHOW says of a view was for everybody who had some right on one
// table of its database, its text included, and with SELECT alone SHOW CREATE TABLE gave the text that SHOW
// CREATE VIEW keeps. Rights of the database or the server with which nothing of a table is seen were enough
// for tables.
func TestShowOfViewsNeedsRightsOnThem(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "use d", "create table t (id int primary key, a int, key k (a))",
		"create view v as select id, a as x from t where a < 999",
		"create table base (id int primary key)",
		"create user other, calls, server, reads, shows, texts, writes, columns, temporary",
		"grant create temporary tables on d.* to temporary",
		"grant insert on d.t to other", "grant execute, lock tables on d.* to calls",
		"grant process, reload on *.* to server", "grant select on d.v to reads",
		"grant show view on d.v to shows", "grant select, show view on d.v to texts",
		"grant insert on d.v to writes", "grant select (id) on d.t to columns")
	const text = "v CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v` AS " +
		"select id, a as x from t where a < 999 utf8mb4 utf8mb4_general_ci"
	const refused = "error 1142"
	const columns = "id int NO  NULL ;x int YES  NULL "
	for _, c := range []struct{ user, create, columns, index string }{
		{"other", refused, refused, refused},
		{"calls", refused, refused, refused},
		{"server", refused, refused, refused},
		{"reads", refused, columns, ""},
		{"shows", refused, columns, ""},
		{"texts", text, columns, ""},
		{"writes", refused, columns, ""},
		{"columns", refused, refused, refused},
	} {
		u := s.open(c.user, "", "")
		script{
			{"show create table d.v", c.create},
			{"show create view d.v", c.create},
			{"show columns from d.v", c.columns},
			{"show columns from v from d", c.columns},
			{"describe d.v", c.columns},
			{"explain d.v", c.columns},
			{"show index from d.v", c.index},
			{"show create table d.base", refused},
			{"show columns from d.base", refused},
			{"show index from d.base", refused},
			{"show create table d.missing", refused},
			{"show columns from missing.missing", refused},
		}.run(t, u)
	}
	script{
		{"show create table d.t", refused},
		{"show columns from d.t", "id int NO PRI NULL "},
	}.run(t, s.open("columns", "", ""))
	script{ // what is the session's own is shown, and hides nothing
		{"create temporary table v (own int)", ""},
		{"show columns from v", "own int YES  NULL "},
		{"show create view v", refused},
		{"drop temporary table v", ""},
		{"show create table v", refused},
	}.run(t, s.open("temporary", "d", ""))
	script{
		{"show columns from t", "error 1046"},
		{"show create table missing.t", "error 1049"},
		{"show create table d.missing", "error 1146"},
		{"show columns from d.missing", "error 1146"},
	}.run(t, s.open("root", "", ""))
}
