package triggers

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// TestRunsAreNotStarved: four clients that lock one row in turns, for 5 ms each, kept every run that writes
// to it from committing for as long as they liked (O2).
func TestRunsAreNotStarved(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		w.worker("w", Options{}, Observer{ID: 1, Run: func(ctx context.Context, t *txn.Txn, _ Event) error {
			return count(ctx, t, "hot", 1)
		}})
		clients, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer stop()
		turns := 0 // under the row lock
		for range 4 {
			wg.Go(func() {
				for clients.Err() == nil {
					if err := w.hotTurn(&turns); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		w.until("the row is hot", time.Second, func() bool { return w.get("hot") != "<none>" })
		const changes = 500
		for i := range changes {
			w.put(string(rune('A'+i)), "1", 1)
		}
		w.drained(10 * time.Second)
		stop()
		wg.Wait()
		if got := w.get("hot"); got != strconv.Itoa(changes+turns) {
			t.Errorf("%s, want %d runs and %d of the clients", got, changes, turns)
		}
		w.atRest()
	})
}

// hotTurn is an explicit transaction of a client: it has the row, thinks, and commits.
func (w *world) hotTurn(turns *int) error {
	ctx := context.Background()
	tx := w.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	if _, err := tx.Lock(ctx, []kv.Column{col("hot")}, txn.LockOptions{}); err != nil {
		if !errors.Is(err, txn.ErrConflict) {
			return err
		}
		tx.Advance()
	}
	if err := count(ctx, tx, "hot", 1); err != nil {
		return err
	}
	time.Sleep(5 * time.Millisecond)
	*turns++
	_, err := tx.Commit(ctx)
	return err
}
