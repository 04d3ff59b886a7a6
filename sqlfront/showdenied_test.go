package sqlfront_test

import "testing"

// TestShowOfOthersIsDenied: SHOW of a database in which the user has no right is 1044, whether it is there or
// not, and whatever it has; the system's as well. Of a table it is 1142, as where only the table is out of
// sight. (SHOW TABLES FROM mysql listed the tables of accounts.)
func TestShowOfOthersIsDenied(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database vault", "create database shop",
		"create table vault.secret (id int primary key)", "create table shop.t (id int primary key)",
		"create table shop.u (id int primary key)",
		"create trigger shop.tt before insert on shop.t for each row set new.id = new.id",
		"create trigger shop.tu before insert on shop.u for each row set new.id = new.id",
		"create user nobody1", "create user some", "grant select on shop.t to some",
		"grant select on shop.u to some", "grant trigger on shop.u to some")
	nobody, some := s.open("nobody1", "", ""), s.open("some", "", "")
	for _, db := range []string{"mysql", "vault", "nowhere"} {
		for _, q := range []string{"show tables from " + db, "show full tables from " + db,
			"show table status from " + db, "show triggers from " + db,
			"show events from " + db} {
			script{{q, "error 1044"}}.run(t, nobody)
			script{{q, "error 1044"}}.run(t, some)
		}
		for _, q := range []string{"show columns from user from " + db, "show full columns from secret from " + db,
			"show index from secret from " + db, "show create table " + db + ".secret",
			"describe " + db + ".secret"} {
			script{{q, "error 1142"}}.run(t, nobody)
			script{{q, "error 1142"}}.run(t, some)
		}
	}
	script{{"show tables from shop", "t;u"}, {"select trigger_name from information_schema.triggers", "tu"},
		{"show triggers from shop like 't'", ""}}.run(t, some)
	if got := results(t, some, "show triggers from shop"); len(got) < 2 || got[:2] != "tu" {
		t.Errorf("show triggers: %q", got)
	}
	if got := results(t, root, "show tables from mysql like 'user'"); got != "user" {
		t.Errorf("root: %q", got)
	}
}
