package engine_test

import (
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// TestViewReplacedMeanwhile binds a statement that was read before the view became another one: it is refused as a conflict, which the
// wire layer answers with another run.
func TestViewReplacedMeanwhile(t *testing.T) {
	s := newServer(t)
	c, other := s.session(""), s.session("")
	c.exec("create database d")
	c.exec("use d")
	other.exec("use d")
	c.exec("create table t (id int primary key, a int, b int)")
	c.exec("create view v as select id, a as x from t")
	stmt, err := ast.Parse("insert into v (id, x) values (1, 1)")
	if err != nil {
		t.Fatal(err)
	}
	ctx := c.context()
	now, err := c.eng.ThroughView(ctx, stmt)
	if err != nil || now == stmt {
		t.Fatal(now, err)
	}
	other.exec("create or replace view v as select id, b as x from t")
	if err := c.sess.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	_, _, _, err = c.eng.SQL().QueryWithBindings(ctx, "", now, nil, nil)
	c.sess.CommandEnd()
	if sqlerr.Code(err) != sqlerr.Deadlock {
		t.Fatalf("got %v", err)
	}
	c.want("select count(*) from t", "0")
}
