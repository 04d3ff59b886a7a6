package txn_test

import (
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/delays"
	"moka/txn/txntest"
)

// What has kept work waiting is counted under its context, and under nobody else's.
func TestDelays(t *testing.T) {
	paper(t, delaysOfRead)
	synctest.Test(t, func(t *testing.T) {
		c, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
		put(t, c, "a", "1")
		holder, waiter := c.Begin(txn.TxnOptions{}), c.Begin(txn.TxnOptions{})
		mustLock(t, holder, "a")
		ended := make(chan delays.Counts, 1)
		go func() {
			var d delays.Counter
			if _, err := waiter.Lock(delays.With(t.Context(), &d), []kv.Column{col("a")}, txn.LockOptions{Wait: time.Hour}); err != nil {
				t.Error(err)
			}
			ended <- d.Counts()
		}()
		synctest.Wait()
		time.Sleep(20 * time.Minute)
		holder.Rollback()
		if got := <-ended; got.RowLocks != 1 || got.RowLockTime != 20*time.Minute || got.Locks != 0 || got.Resent != 0 {
			t.Errorf("%+v", got)
		}
		waiter.Rollback()
	})
}

// delaysOfRead reads what a dead transaction has locked, from a store that is slow to answer for it and refuses twice before.
func delaysOfRead(w *paperWorld) {
	if _, err := w.transfer(w.dies("after-prewrite"), txn.Options{}).Commit(w.Context()); err == nil {
		w.Fatal("committed after its client died")
	}
	slow, refused := &interposed{w.mem, nil}, 0
	slow.before = func(cmd kv.CommandID, _ kv.Message) error {
		switch {
		case cmd == txn.CmdCheckStatus:
			time.Sleep(time.Minute)
		case cmd == txn.CmdGet && refused < 2:
			refused++
			return kv.Errorf(kv.CodeUnavailable, "test", "not now")
		}
		return nil
	}
	c := w.client(slow, txn.Options{RetryTime: time.Hour})
	var statement, node, other delays.Counter
	_ = delays.With(w.Context(), &other)
	ctx := delays.With(delays.With(w.Context(), &other), &statement, &node)
	if _, _, err := c.Begin(txn.TxnOptions{}).Get(ctx, col("bob")); err != nil {
		w.Fatal(err)
	}
	got := statement.Counts()
	if got != node.Counts() || got.Locks != 1 || got.LockTime < time.Minute || got.Resent != 2 || got.RowLocks != 0 || got.Waited() != got.LockTime {
		w.Errorf("%+v, and %+v", got, node.Counts())
	}
	if n := other.Counts(); n != (delays.Counts{}) {
		w.Errorf("counted elsewhere, too: %+v", n)
	}
	if statement.Reset(); statement.Counts() != (delays.Counts{}) {
		w.Errorf("after the reset: %+v", statement.Counts())
	}
}
