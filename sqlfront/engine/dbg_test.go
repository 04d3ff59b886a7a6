package engine_test

import "testing"

func TestDbg(t *testing.T) {
	s := newServer(t).session("")
	s.exec("CREATE DATABASE d")
	s = newSess(s)
	s.exec("USE d")
	s.exec("CREATE TABLE o (s2 VARCHAR(20) NOT NULL, i2 BIGINT NOT NULL PRIMARY KEY)")
	s.exec("CREATE TABLE t (i INT PRIMARY KEY, s VARCHAR(20) NOT NULL)")
	s.exec("INSERT INTO o VALUES ('third',1),('second',2),('first',3)")
	s.exec("INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c')")
	t.Log(s.text("EXPLAIN PLAN UPDATE o CROSS JOIN t SET o.i2 = o.i2 * 10"))
	t.Log(s.text("UPDATE o CROSS JOIN t SET o.i2 = o.i2 * 10"))
	t.Log(s.text("SELECT * FROM o"))
}

func newSess(s *session) *session { return s }
