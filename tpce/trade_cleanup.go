package tpce

import (
	"context"
	"database/sql"
	"moka/tpce/client"
	"time"
)

// Trade-Cleanup cancels what an earlier run left pending or submitted: no market knows those orders any more.
// It runs before a run, is in no mix, and works in batches.

const cleanupBatch = 100

type tradeCleanup struct {
	*client.Session
	policy       client.RetryPolicy
	firstRuntime int64
}

// run returns the number of canceled orders.
func (t *tradeCleanup) run(ctx context.Context) (int, error) {
	pending, err := t.ids(ctx, "SELECT tr_t_id FROM trade_request ORDER BY tr_t_id")
	if err != nil {
		return 0, err
	}
	submitted, err := t.ids(ctx, "SELECT t_id FROM trade WHERE t_id >= ? AND t_st_id = 'SBMT'",
		t.firstRuntime)
	if err != nil {
		return 0, err
	}
	for _, list := range []struct {
		ids     []int64
		pending bool
	}{{pending, true}, {submitted, false}} {
		for from := 0; from < len(list.ids); from += cleanupBatch {
			batch := list.ids[from:min(from+cleanupBatch, len(list.ids))]
			p := t.policy
			p.Happened = func(ctx context.Context) (bool, error) {
				state, err := tradeState(ctx, t.Session, batch[0])
				return state == "CNCL", err
			}
			err := t.Retry(ctx, p, func(ctx context.Context) error {
				return t.cancel(ctx, batch, list.pending)
			})
			if err != nil {
				return 0, err
			}
		}
	}
	return len(pending) + len(submitted), nil
}

func (t *tradeCleanup) ids(ctx context.Context, query string, args ...any) ([]int64, error) {
	var out []int64
	err := t.Each(ctx, query, args, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}

func (t *tradeCleanup) cancel(ctx context.Context, ids []int64, pending bool) error {
	now := millis(time.Now())
	for _, id := range ids {
		if pending {
			if err := insertTradeHistory(ctx, t.Session, id, now, "SBMT"); err != nil {
				return err
			}
			if err := t.Exec(ctx, "DELETE FROM trade_request WHERE tr_t_id = ?", id); err != nil {
				return err
			}
		}
		if err := t.Exec(ctx, "UPDATE trade SET t_st_id = 'CNCL', t_dts = ? WHERE t_id = ?", now,
			id); err != nil {
			return err
		}
		if err := insertTradeHistory(ctx, t.Session, id, now, "CNCL"); err != nil {
			return err
		}
	}
	return nil
}
