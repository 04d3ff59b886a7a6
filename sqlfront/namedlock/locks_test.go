package namedlock

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"moka/txn"
	"moka/txn/txntest"
)

func newNode(t *testing.T, c *txn.Client, lease time.Duration) *Locks {
	l := New(Options{Client: c, Lease: lease})
	t.Cleanup(l.Close)
	return l
}

func take(t *testing.T, l *Locks, h *Held, connection uint32, timeout time.Duration) bool {
	t.Helper()
	got, err := h.acquire(t.Context(), l, connection, "l", timeout)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestOneLockForAllNodes: a lock that a session of one node has is taken on the other, until it is given back
// as often as it was taken.
func TestOneLockForAllNodes(t *testing.T) {
	client := txntest.New(t)
	one, two := newNode(t, client, time.Minute), newNode(t, client, time.Minute)
	var a, b Held
	if !take(t, one, &a, 1, 0) || !take(t, one, &a, 1, 0) {
		t.Fatal("a free lock was not given")
	}
	if take(t, two, &b, 1, 0) || take(t, two, &b, 1, time.Millisecond) {
		t.Fatal("two have the lock")
	}
	if c, ok, err := two.holder(t.Context(), "l"); c != 1 || !ok || err != nil {
		t.Errorf("the holder is %d, %t, %v", c, ok, err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := b.acquire(context.Background(), two, 1, "l", -1)
		got <- err
	}()
	if own, err := a.release(t.Context(), "l"); !own || err != nil {
		t.Fatal(own, err)
	}
	if own, err := a.release(t.Context(), "l"); !own || err != nil {
		t.Fatal(own, err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if own, err := a.release(t.Context(), "l"); own || err != nil {
		t.Errorf("somebody else's lock was given back: %v", err)
	}
	if take(t, one, &a, 1, 0) {
		t.Error("two have the lock")
	}
	b.End()
	if !take(t, one, &a, 1, 0) {
		t.Error("the end of a session does not free its locks")
	}
}

// TestLeaseOfADeadNode: a node that does not renew loses its locks after the lease, not before; one
// that renews keeps them.
func TestLeaseOfADeadNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := txntest.New(t)
		const lease = 10 * time.Second
		dead, alive, other := newNode(t, client, lease), newNode(t, client, lease), newNode(t, client, lease)
		var a, b, c Held
		if !take(t, alive, &b, 2, 0) {
			t.Fatal("a free lock was not given")
		}
		if take(t, other, &c, 3, 10*lease) {
			t.Fatal("the lock of a node that lives was given away")
		}
		if _, err := b.ReleaseAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !take(t, dead, &a, 1, 0) {
			t.Fatal("a free lock was not given")
		}
		dead.Close()
		died := time.Now()
		if !take(t, other, &c, 3, time.Hour) {
			t.Fatal("the lock of a dead node is never free")
		}
		if d := time.Since(died); d < lease || d > lease+mostWait*3/2 {
			t.Errorf("the lock was given away after %v", d)
		}
		a.renew(t.Context()) // the dead node comes back
		if len(a.depth) != 0 {
			t.Error("a session thinks that it has a lock which it has lost")
		}
		if take(t, alive, &b, 2, 0) {
			t.Error("two have the lock")
		}
	})
}

// TestManyTakeOneLock: whoever has the lock is alone.
func TestManyTakeOneLock(t *testing.T) {
	client := txntest.New(t)
	nodes := []*Locks{newNode(t, client, time.Minute), newNode(t, client, time.Minute)}
	const sessions, rounds = 6, 5
	// the race detector and the count say whether two were inside
	inside, errs := 0, make(chan error, sessions)
	for i := range sessions {
		go func() {
			var h Held
			for range rounds {
				if _, err := h.acquire(context.Background(), nodes[i%2], uint32(i), "l", -1); err != nil {
					errs <- err
					return
				}
				inside++
				if _, err := h.release(context.Background(), "l"); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range sessions {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	if inside != sessions*rounds {
		t.Errorf("%d, want %d", inside, sessions*rounds)
	}
}

func TestKilledWhileWaiting(t *testing.T) {
	client := txntest.New(t)
	l := newNode(t, client, time.Minute)
	var a, b Held
	take(t, l, &a, 1, 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(context.DeadlineExceeded)
	if got, err := b.acquire(ctx, l, 2, "l", -1); got || err == nil {
		t.Errorf("%t, %v", got, err)
	}
}
