package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/txn"
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
	now, err := c.eng.ThroughView(ctx, stmt, false, false)
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

// TestViewsThatReadThemselves opens a catalog in which views read themselves, as older releases left it (K, recursive views): whatever names one of
// them is refused, it can be dropped, and the rest goes on. The planner called itself until the stack was full, and the server was gone.
func TestViewsThatReadThemselves(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("create database d")
	c.exec("use d")
	c.exec("create table t (a int)")
	c.exec("insert into t values (1)")
	ctx := context.Background()
	tx := s.client.Begin(txn.TxnOptions{})
	for name, query := range map[string]string{
		"v1": "select a from v2", "v2": "select a from v1", "own": "select a from d.OWN", "beside": "select t.a from t join v1 on t.a = v1.a",
		"sorted": "select a from t union select a from t order by (select a from sorted limit 1)",
		"within": "with x as (select a from within) select a from x",
		"fine":   "with fine as (select a from t) select a from fine",
		"counts": "with recursive counts as (select 1 as a union all select a + 1 from counts where a < 3) select a from counts",
	} {
		if err := s.eng.Catalog().CreateView(ctx, tx, "d", catalog.View{Name: name, Definition: query, CreateStatement: "create view " + name + " as " + query}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v1", "v2", "own", "beside", "sorted", "within"} {
		for _, q := range []string{
			"select * from " + name, "select 1 from t where exists (select 1 from " + name + ")", "show create view " + name, "show columns from " + name,
			"create view another as select * from " + name, "explain select * from " + name,
		} {
			if got := c.code(q); got != sqlerr.ViewRecursive {
				t.Errorf("%s: %d", q, got)
			}
		}
	}
	c.want("select * from fine", "1")
	c.want("select * from counts", "1", "2", "3")
	c.want("select count(*) from information_schema.tables where table_schema = 'd'", "9")
	c.want("select table_name from information_schema.columns where table_schema = 'd' and table_name in ('t', 'v1', 'fine') order by 1", "fine", "t")
	c.exec("drop view v2")
	c.exec("create view v2 as select a from t")
	c.want("select * from beside", "1")
	c.exec("drop view own, sorted, within")
}

// TestDeepViews builds views on views until they are refused.
func TestDeepViews(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("create database d")
	c.exec("use d")
	c.exec("create table t (a int)")
	c.exec("insert into t values (1)")
	ctx := context.Background()
	tx := s.client.Begin(txn.TxnOptions{})
	view := func(name, query string) {
		t.Helper()
		if err := s.eng.Catalog().CreateView(ctx, tx, "d", catalog.View{Name: name, Definition: query, CreateStatement: "create view " + name + " as " + query}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5000 {
		view(fmt.Sprint("v", i), fmt.Sprint("select a from v", i+1))
		if i < 40 {
			view(fmt.Sprint("w", i), fmt.Sprint("select x.a from w", i+1, " as x join w", i+1, " as y on x.a = y.a"))
		}
		if i < 10 {
			view(fmt.Sprint("x", i), fmt.Sprint("select a", strings.Repeat("-1", 1500), " as a from x", i+1))
		}
	}
	view("v5000", "select a from t")
	view("w40", "select a from t")
	view("x10", "select a from t")
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]int{
		"select * from v0": sqlerr.StackOverrun, "select * from v4900": sqlerr.StackOverrun, "select * from w0": sqlerr.TooManyTables, "select * from x0": sqlerr.StackOverrun,
	} {
		if got := c.code(q); got != want {
			t.Errorf("%s: %d, want %d", q, got, want)
		}
	}
	c.want("select * from v4950", "1")
	c.want("select * from w37", "1")
}
