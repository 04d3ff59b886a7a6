package node

import (
	"bytes"
	"context"
	"encoding/hex"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/namedlock"
	"moka/sqlfront/sqlerr"
	"moka/txn"
	"moka/txn/txntest"
)

func join(t *testing.T, client *txn.Client, kill func(context.Context, Kill) error) *Node {
	t.Helper()
	locks := namedlock.New(namedlock.Options{Client: client})
	t.Cleanup(locks.Close)
	n, err := Join(t.Context(), Options{Client: client, Locks: locks})
	if err != nil {
		t.Fatal(err)
	}
	if kill != nil {
		n.Serve(kill)
	}
	t.Cleanup(n.Close)
	return n
}

// TestNumbers: each node has a number of its own, ids of connections have it in front, and a number that was
// given back is the next node's.
func TestNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := txntest.New(t)
		a, b := join(t, client, nil), join(t, client, nil)
		free := func(uint32) bool { return false }
		if x, y := a.ConnectionID(free), b.ConnectionID(free); x != 1 || y != 1<<21|1 {
			t.Errorf("connections %d and %d", x, y)
		}
		a.last = 1<<21 - 2
		if x, y := a.ConnectionID(free), a.ConnectionID(func(id uint32) bool {
			return id < 3
		}); x != 1<<21-1 || y != 3 {
			t.Errorf("connections %d and %d", x, y)
		}
		if !b.Own(1<<21|7) || b.Own(7) {
			t.Error("a node does not know its own connections")
		}
		a.Close()
		if c := join(t, client, nil); c.number != 0 {
			t.Errorf("number %d", c.number)
		}
		time.Sleep(time.Hour) // numbers are renewed
		if c := join(t, client, nil); c.number != 2 {
			t.Errorf("number %d", c.number)
		}
	})
}

// TestKillElsewhere: the node that has the connection is asked, and its answer is the asker's.
func TestKillElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := txntest.New(t)
		var done []Kill
		a := join(t, client, func(context.Context, Kill) error { return nil })
		join(t, client, func(_ context.Context, k Kill) error {
			done = append(done, k)
			switch {
			case k.ID == 1<<21|9:
				return sqlerr.New(sqlerr.NoSuchThread, "no")
			case k.User != "ann" && !k.Everybody:
				return sqlerr.New(sqlerr.NotThreadOwner, "no")
			}
			return nil
		})
		for _, c := range []struct {
			kill Kill
			code int
		}{
			{Kill{ID: 1<<21 | 7, User: "ann"}, 0},
			{Kill{ID: 1<<21 | 7, User: "root", Everybody: true, Connection: true}, 0},
			{Kill{ID: 1<<21 | 7, User: "bob"}, sqlerr.NotThreadOwner},
			{Kill{ID: 1<<21 | 9, User: "ann"}, sqlerr.NoSuchThread},
			{Kill{ID: 5<<21 | 7, User: "ann"}, sqlerr.NoSuchThread}, // nobody has the number
		} {
			if err := a.Ask(t.Context(), c.kill); (err == nil) != (c.code == 0) ||
				err != nil && sqlerr.Code(err) != c.code {
				t.Errorf("%+v: %v, want %d", c.kill, err, c.code)
			}
		}
		if len(done) != 4 || done[1] != (Kill{1<<21 | 7, true, "root", true}) {
			t.Errorf("%+v", done)
		}
		rows := 0
		tx := client.Begin(txn.TxnOptions{ReadOnly: true})
		defer tx.Rollback()
		for s := tx.Scan(t.Context(), txn.ScanOptions{
			Span: kv.Span{Start: catalog.NodeCells(0).Start, End: catalog.NodeCells(9).End}}); s.Next(); {
			rows++
		}
		if rows != 0 {
			t.Errorf("%d requests are left", rows)
		}
	})
}

// TestNoAnswer: a node that has a number and does not answer is waited for, not for ever, and what was asked
// of it in vain is taken away by whoever has the number next.
func TestNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := txntest.New(t)
		a, deaf := join(t, client, nil), join(t, client, nil)
		began := time.Now()
		err := a.Ask(t.Context(), Kill{ID: 1<<21 | 7})
		if sqlerr.Code(err) != sqlerr.LockWaitTimeout || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		deaf.Serve(func(context.Context, Kill) error { t.Error("done too late"); return nil })
		time.Sleep(time.Second)
		vs := client.Begin(txn.TxnOptions{ReadOnly: true})
		defer vs.Rollback()
		if s := vs.Scan(t.Context(), txn.ScanOptions{Span: catalog.NodeCells(1)}); s.Next() {
			t.Error("a request that nobody waits for is left")
		}
	})
}

// The request is in people's stores: another encoding is another version.
func TestGoldenRequest(t *testing.T) {
	r := request{true, 1094, 1_700_000_000_000, 1<<21 | 7, true, true, "ann"}
	const want = "0101" + "0446" + "0000018bcfe56800" + "00200007" + "03" + "616e6e"
	if got := hex.EncodeToString(r.encode()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(request{id: 5, user: "x"}.encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decode(b); err == nil && !bytes.Equal(r.encode(), b) {
			t.Errorf("%x is read as %+v", b, r)
		}
	})
}
