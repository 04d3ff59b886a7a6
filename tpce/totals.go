package tpce

import (
	"context"
	"fmt"
	"moka/tpce/client"
)

// Broker totals, three ways:
//
//	inline     Trade-Result: UPDATE broker                  BROKER is exact, and its few rows are hot
//	omit       nothing                                      BROKER stands still
//	observer   Trade-Result: INSERT INTO broker_trade       BROKER holds the inline part (of the load and of earlier
//	           observer:     UPDATE broker_total            runs), BROKER_TOTAL the observed one; their sum is exact
//
// The sum of both tables equals the completed trades in TRADE whatever the order of inline and observer runs.

// setUpBrokerTotals gives every broker its row in broker_total, and declares the observer if the mode wants
// it.
func setUpBrokerTotals(ctx context.Context, db *client.Pool, cfg Config) error {
	if cfg.BrokerTotals != Observer {
		return nil
	}
	known := map[int64]bool{}
	if err := eachInt(ctx, db, "SELECT bo_b_id FROM broker_total", func(id int64) {
		known[id] = true
	}); err != nil {
		return err
	}
	var missing []int64
	err := eachInt(ctx, db, "SELECT b_id FROM broker", func(id int64) {
		if !known[id] {
			missing = append(missing, id)
		}
	})
	if err != nil {
		return err
	}
	for _, id := range missing {
		if _, err := db.ExecContext(ctx,
			"INSERT INTO broker_total (bo_b_id, bo_num_trades, bo_comm_total) VALUES (?, 0, 0)",
			id); err != nil {
			return err
		}
	}
	return cfg.declareObserver(ctx, db)
}

func declareObserver(ctx context.Context, db *client.Pool) error {
	_, err := db.ExecContext(ctx, ObserverDDL)
	switch {
	case err == nil:
		return nil
	case client.SyntaxError(err):
		return fmt.Errorf("tpce: the target has no observers: use broker totals inline or omit (%w)", err)
	default:
		return fmt.Errorf("tpce: declaring the observer: %w", err)
	}
}

func eachInt(ctx context.Context, db *client.Pool, query string, visit func(int64)) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return err
		}
		visit(v)
	}
	return rows.Err()
}
