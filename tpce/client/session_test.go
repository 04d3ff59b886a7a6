package client_test

import (
	"context"
	"errors"
	"testing"

	"moka/tpce/client"
	"moka/tpce/servertest"
)

// TestCanceledTransactionsHoldNoLocks: a transaction whose context ends between two statements cannot be
// rolled back by a statement any more. Its connection goes, and with it the locks, which otherwise lay in the
// pool until others' waits had ended with 1205.
func TestCanceledTransactionsHoldNoLocks(t *testing.T) {
	url := servertest.StartMariaDB(t).URL("locks")
	if err := client.CreateDatabase(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	pool, err := client.Open(url, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, q := range []string{"CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0)"} {
		if _, err := pool.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	var sessions [2]*client.Session
	for i := range sessions {
		if sessions[i], err = client.OpenSession(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		defer sessions[i].Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = sessions[0].Transact(ctx, client.ReadCommitted, func(ctx context.Context) error {
		defer cancel()
		return sessions[0].Exec(ctx, "UPDATE t SET n = n + 1 WHERE id = ?", 1)
	})
	if err == nil {
		t.Fatal("the transaction outlived its context")
	}
	if err := sessions[1].Exec(t.Context(), "UPDATE t SET n = n + 10 WHERE id = ?", 1); err != nil {
		t.Fatalf("another session's update: %v", err)
	}
	var n int
	err = sessions[1].Row(t.Context(), "SELECT n FROM t WHERE id = ?", []any{1}, &n)
	if err != nil || n != 10 {
		t.Fatalf("%d, %v", n, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	err = sessions[1].Transact(ctx, client.ReadCommitted, func(ctx context.Context) error {
		defer cancel()
		return errors.Join(sessions[1].Exec(ctx, "UPDATE t SET n = 0 WHERE id = ?", 1), errors.New("no"))
	})
	if err == nil {
		t.Fatal("a body's error was lost")
	}
	if _, err := pool.ExecContext(t.Context(), "UPDATE t SET n = n + 100 WHERE id = 1"); err != nil {
		t.Fatalf("the pool's update: %v", err)
	}
}
