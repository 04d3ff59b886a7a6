package engine_test

import "testing"

// Sessions share the values that they began with, and nothing that is set later.
func TestSessionVariablesAreTheSessionsOwn(t *testing.T) {
	s := newServer(t)
	a, b := s.session(""), s.session("")
	was := "28800"
	a.want("SELECT @@session.wait_timeout, @@global.wait_timeout", was+" | "+was)
	a.exec("SET wait_timeout = 77")
	b.want("SELECT @@session.wait_timeout", was)
	b.exec("SET GLOBAL wait_timeout = 99")
	defer b.exec("SET GLOBAL wait_timeout = DEFAULT")
	a.want("SELECT @@session.wait_timeout, @@global.wait_timeout", "77 | 99")
	b.want("SELECT @@session.wait_timeout", was)
	s.session("").want("SELECT @@session.wait_timeout", "99")
	a.exec("SET SESSION sql_mode = 'ANSI_QUOTES'")
	a.want("SHOW VARIABLES LIKE 'sql_mode'", "sql_mode | ANSI_QUOTES")
	b.want(`SELECT "x"`, "x")
	a.exec("SET collation_connection = 'utf8mb4_bin'")
	a.want("SELECT 'a' = 'A', @@collation_connection", "0 | utf8mb4_bin")
	b.want("SELECT 'a' = 'A'", "1")
	if code := a.code("SET SESSION version = 'x'"); code == 0 {
		t.Error("a variable that can only be read was set")
	}
	a.want("SHOW SESSION STATUS LIKE 'Com_insert'", "Com_insert | 0")
	a.exec("CREATE DATABASE d")
	a.sess.SetCurrentDatabase("d")
	a.exec("CREATE TABLE t (id INT PRIMARY KEY)")
	a.exec("INSERT INTO t VALUES (1)")
	a.want("SHOW SESSION STATUS LIKE 'Com_insert'", "Com_insert | 1")
	b.want("SHOW SESSION STATUS LIKE 'Com_insert'", "Com_insert | 0")
}
