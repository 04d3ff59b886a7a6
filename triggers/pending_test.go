package triggers

import (
	"context"
	"fmt"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// pendingOf asks about all rows of an observer.
func (w *world) pendingOf(o ObserverID, u Until) Pending {
	w.t.Helper()
	all := kv.Span{Start: kv.MakeRowKey(kv.TableTxn, nil), End: kv.MakeRowKey(kv.TableTxn+1, nil)}
	got, err := ListPending(context.Background(), w.mem, []Watch{{o, all}}, u)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[o]
}

// TestPendingUpTo: what was committed up to a timestamp is pending until it is acknowledged, also where its
// notification has gone with a newer one, and what came later is not asked for.
func TestPendingUpTo(t *testing.T) {
	w := newWorld(t, kvtest.Options{})
	waits := func(u Until, want bool) {
		t.Helper()
		if got := w.pendingOf(1, u); got != (Pending{Waiting: want}) {
			t.Errorf("up to %v: %+v, want waiting %v", u.UpTo, got, want)
		}
	}
	a := w.put("x", "1", 1)
	waits(Until{UpTo: a - 1}, false)
	waits(Until{UpTo: a}, true)
	b := w.put("x", "2", 1)
	c := w.put("x", "3", 1) // its notification takes the place of b's
	err := sendSettle(t.Context(), w.mem,
		&settleRequest{Kind: settleClear, Observer: 1, Column: col("x"), UpTo: a})
	if err != nil {
		t.Fatal(err)
	}
	waits(Until{UpTo: a}, false)
	waits(Until{UpTo: b}, true)
	waits(Until{UpTo: c}, true)
	waits(Until{UpTo: b, Deep: true}, true) // nobody knows who made b
	for range 2 {
		w.put("x", "4", 1) // what has been since b stays known
		waits(Until{UpTo: b}, true)
	}
	y := w.put("y", "1", 2)
	if got := w.pendingOf(2, Until{UpTo: y, Deep: true}); got != (Pending{}) {
		t.Errorf("a client's change: %+v", got)
	}
	if got := w.pendingOf(2, Until{UpTo: y}); !got.Waiting {
		t.Errorf("%+v", got)
	}
}

// TestPendingOfRuns: what a run has written is deep; what is parked says so, from a change on.
func TestPendingOfRuns(t *testing.T) { bubble(t, pendingOfRuns) }

func pendingOfRuns(t *testing.T) {
	w := newWorld(t, kvtest.Options{})
	w.worker("w", Options{}, Observer{ID: 1, Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
		return count(ctx, tx, "sum", 1, 2)
	}})
	w.put("x", "1", 1)
	w.until("the run", time.Second, func() bool { return w.get("sum") == "1" })
	now, err := w.clock.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := w.pendingOf(2, Until{UpTo: now, Deep: true}); got != (Pending{Waiting: true}) {
		t.Fatalf("%+v", got)
	}
	err = sendSettle(t.Context(), w.mem,
		&settleRequest{Kind: settlePark, Observer: 2, Column: col("sum"), UpTo: now, Error: "boom"})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.pendingOf(2, Until{UpTo: now, Deep: true}); got != (Pending{Parked: true}) {
		t.Errorf("%+v", got)
	}
	if got := w.pendingOf(2, Until{UpTo: now, ParkedAfter: now}); got != (Pending{}) {
		t.Errorf("%+v", got)
	}
}

// TestPendingAcrossTablets: every tablet answers, on whichever shard it is.
func TestPendingAcrossTablets(t *testing.T) {
	w := newWorld(t, kvtest.Options{Shards: 2})
	for i, at := range []string{"k", "p"} {
		w.mem.Split(col(at).Row)
		w.mem.Move(col(at).Row, kv.ShardID(1+i))
	}
	for _, row := range []string{"a", "l", "q"} {
		ts := w.put(row, "1", 1)
		if got := w.pendingOf(1, Until{UpTo: ts}); !got.Waiting {
			t.Errorf("row %s is not seen", row)
		}
		err := sendSettle(t.Context(), w.mem,
			&settleRequest{Kind: settleClear, Observer: 1, Column: col(row), UpTo: ts})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.pendingOf(1, Until{UpTo: ts}); got != (Pending{}) {
			t.Errorf("row %s: %+v", row, got)
		}
	}
}

// TestNewCellsWereNotSeen: to an observer that says so a cell is new until it has acknowledged it, in a run
// and where it is moved; it is so once.
func TestNewCellsWereNotSeen(t *testing.T) { bubble(t, newCellsWereNotSeen) }

func newCellsWereNotSeen(t *testing.T) {
	w := newWorld(t, kvtest.Options{})
	w.put("x", "before")
	w.put("x", "behind", 1)
	us, err := ListUnacknowledged(t.Context(), w.mem, 1, 10)
	if err != nil || len(us) != 1 {
		t.Fatal(us, err)
	}
	for _, isNew := range []bool{false, true} {
		us[0].New = isNew
		tx := w.client.Begin(txn.TxnOptions{})
		if s, _, err := us[0].Seen(t.Context(), w.client, tx); err != nil || s.OK == isNew {
			t.Errorf("new %v: it has seen %q, %v", isNew, s.Value, err)
		}
		tx.Rollback()
	}
	w.worker("w", Options{}, Observer{ID: 1, New: func(kv.Column) bool { return true },
		Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			was, ok, err := e.Previous(ctx)
			if err != nil {
				return err
			}
			log, _, err := tx.Get(ctx, col("log"))
			tx.Put(col("log"), fmt.Appendf(log, "%s %v;", was, ok), txn.WriteOptions{})
			return err
		}})
	w.drained(time.Second)
	w.put("x", "again", 1)
	w.drained(time.Second)
	if got := w.get("log"); got != " false;behind true;" {
		t.Errorf("it has seen %s", got)
	}
}
