package sqlfront_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"moka/sqlfront"
)

// TestRevokeReachesOpenTransactions is row S8 across SQL nodes: a transaction that was open on another node
// went by the old accounts for up to a second after REVOKE, DROP USER or DROP ROLE had answered.
func TestRevokeReachesOpenTransactions(t *testing.T) {
	d := newDatabase(t)
	seldom := func(o *sqlfront.Options) {
		// Nothing but statements looks for accounts, and not as long as the lease runs.
		o.FollowUsers, o.AccountsLease = time.Hour, 500*time.Millisecond
	}
	one, two := d.serve(seldom), d.serve(seldom)
	root := one.conn("")
	run(t, root, "create database d", "create table d.t (id int primary key, v int)",
		"insert into d.t values (1, 7)", "create role r", "grant select, insert, update on d.* to r",
		"create user other", "grant select, update on d.* to other")
	for _, away := range []string{
		"revoke select, insert, update on d.* from ann", "revoke all, grant option from ann", "drop user ann",
		"revoke r from ann", "drop role r",
	} {
		run(t, root, "create user if not exists ann", "grant select, insert, update on d.* to ann")
		if away == "revoke r from ann" || away == "drop role r" {
			run(t, root, "revoke all on d.* from ann", "grant r to ann", "alter user ann default role r")
		}
		ctx := context.Background()
		pool := two.open("ann", "d", "")
		ann, err := pool.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := ann.PrepareContext(ctx, "select v from t where id = ?")
		if err != nil {
			t.Fatal(err)
		}
		run(t, ann, "begin")
		for range 3 { // by what is kept of the first
			script{{"select v from t where id = 1", "7"}, {"select max(v) + 0 from t", "7"},
				{"update t set v = 7 where id = 1", ""}}.run(t, ann)
		}
		var v int
		if err := prepared.QueryRowContext(ctx, 1).Scan(&v); err != nil {
			t.Fatal(err)
		}
		run(t, root, away)
		err = prepared.QueryRowContext(ctx, 1).Scan(&v)
		if err == nil {
			t.Errorf("after %s: the prepared statement reads %d", away, v)
		}
		denied := "error 1142"
		if away == "drop user ann" {
			denied = "error 1045"
		}
		for _, q := range []string{"select v from t where id = 1", "select max(v) + 0 from t",
			"update t set v = 7 where id = 1", "insert into t values (2, 2)"} {
			if got := results(t, ann, q); got != denied {
				t.Errorf("after %s: %s: %q", away, q, got)
			}
		}
		run(t, ann, "rollback")
		if err := errors.Join(prepared.Close(), ann.Close(), pool.Close()); err != nil {
			t.Fatal(err)
		}
	}
	// Others are no worse off.
	script{{"begin", ""}, {"select v from t where id = 1", "7"}}.run(t, two.open("other", "d", ""))
}
