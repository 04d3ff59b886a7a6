package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"moka/sqlfront/catalog"
	"moka/txn"
)

// TestTriggersThatOthersNameAreDropped: FOLLOWS and PRECEDES pinned the trigger that they name, DROP TRIGGER
// of it was 1105. The others stay in their order, whatever is dropped and made, and the texts that a dump has
// make the same order in one pass.
func TestTriggersThatOthersNameAreDropped(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d", "create database restored")
	c, r := s.conn("d"), s.conn("restored")
	for _, c := range []*sql.Conn{c, r} {
		run(t, c, "create table t (id int primary key)")
	}
	rng := rand.New(rand.NewPCG(23, 11))
	var before, after []string // in the order in which they should fire
	for i := range 60 {
		list, time := &before, "before"
		if rng.IntN(2) == 0 {
			list, time = &after, "after"
		}
		if n := len(*list); n > 0 && rng.IntN(3) == 0 {
			at := rng.IntN(n)
			run(t, c, "drop trigger "+(*list)[at])
			*list = slices.Delete(*list, at, at+1)
		} else {
			name, clause, to := fmt.Sprint("g", i), "", n
			if n > 0 && rng.IntN(4) > 0 {
				at := rng.IntN(n)
				clause, to = "/* of */ follows `"+(*list)[at]+"`", at+1
				if rng.IntN(2) == 0 {
					clause, to = "/*!50706 precedes "+(*list)[at]+" */", at
				}
			}
			run(t, c, fmt.Sprintf("create trigger %s %s insert on t for each row %s "+
				"set @f = concat(@f, '%s ')", name, time, clause, name))
			*list = slices.Insert(*list, to, name)
		}
		fired := strings.Join(append(slices.Clone(before), after...), " ")
		for _, cache := range []string{"1", "0"} {
			run(t, c, "set moka_plan_cache = "+cache, "set @f = ''", "insert into t values (1)",
				"delete from t")
			want(t, c, "select trim(@f)", fired)
		}
		want(t, c, "select trigger_name from information_schema.triggers where trigger_schema = 'd' "+
			"order by action_timing = 'AFTER', action_order", strings.ReplaceAll(fired, " ", "; "))
	}
	rows, err := c.QueryContext(context.Background(), "show triggers")
	if err != nil {
		t.Fatal(err)
	}
	names := lines(t, rows)
	for _, line := range names {
		name, _, _ := strings.Cut(line, " ")
		run(t, r, createTrigger(t, c, name))
	}
	run(t, r, "set @f = ''", "insert into t values (1)")
	want(t, r, "select trim(@f)", strings.Join(append(before, after...), " "))
}

// createTrigger is the text that SHOW CREATE TRIGGER has.
func createTrigger(t *testing.T, c *sql.Conn, name string) string {
	t.Helper()
	var text string
	var x [6]any
	if err := c.QueryRowContext(context.Background(), "show create trigger "+name).
		Scan(&x[0], &x[1], &text, &x[2], &x[3], &x[4], &x[5]); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestStoredClausesThatNameNone: releases that did not look at FOLLOWS have stored triggers of other tables
// and none at all there. information_schema.triggers panicked, and such a trigger is dropped as any other.
func TestStoredClausesThatNameNone(t *testing.T) {
	d := newDatabase(t)
	root := d.serve().conn("")
	run(t, root, "create database own", "use own", "create table a (id int primary key)",
		"create table b (id int primary key)", "create trigger tb before insert on b for each row set @b = 1")
	ctx := context.Background()
	cat, err := catalog.Open(ctx, d.client, catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tx := d.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	for i, clause := range []string{"follows nosuch", "precedes tb", "follows x3", "precedes x2"} {
		name := fmt.Sprint("x", i)
		if err := cat.CreateTrigger(ctx, tx, "own", "a", catalog.Trigger{Name: name,
			CreateStatement: "create trigger " + name + " before insert on a for each row " + clause +
				" set @f = concat(@f, '" + name + "')",
			Definer: "root@localhost", Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	script{
		{"set @f = ''", ""}, {"insert into a values (1)", ""}, {"select @f", "x0x1x3x2"},
		{"select trigger_name from information_schema.triggers where event_object_table = 'a' " +
			"order by action_order", "x0;x1;x3;x2"},
		{"drop trigger x2", ""}, {"drop trigger x3", ""}, {"drop trigger tb", ""},
		{"set @f = ''", ""}, {"insert into a values (2)", ""}, {"select @f", "x0x1"},
		{"drop table a", ""}, {"select trigger_name from information_schema.triggers", ""},
	}.run(t, root)
}
