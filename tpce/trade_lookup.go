package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Trade-Lookup answers questions about historical trades; one of four frames, reads only:
//
//	1 twenty trades by their ids   2 an account's from a moment on   3 a symbol's from a moment on
//	4 what became of the lots that an account's first trade after a moment touched

func drawTradeLookup(u *gen.Universe, r *gen.Rand) historySearch {
	frame := 4
	switch p := r.Int(1, 100); {
	case p <= 30:
		frame = 1
	case p <= 60:
		frame = 2
	case p <= 90:
		frame = 3
	}
	return drawHistorySearch(u, r, frame)
}

const (
	firstTradeOfAccount = "SELECT t_id FROM trade WHERE t_ca_id = ? AND t_dts >= ? ORDER BY t_dts ASC LIMIT 1"
	lotsOfTrade         = `SELECT hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty FROM holding_history
WHERE hh_h_t_id IN (SELECT hh_h_t_id FROM holding_history WHERE hh_t_id = ?) LIMIT 20`
)

type holdingMove struct{ lot, trade, before, after int64 }

type tradeLookup struct {
	tradeSearch
	traded int64 // frame 4: the trade that was found, 0 if none
	moves  []holdingMove
}

func (t *tradeLookup) run(ctx context.Context) error {
	if t.in.frame == 4 {
		return t.frame4(ctx)
	}
	if err := t.find(ctx); err != nil {
		return err
	}
	if t.in.frame == 1 && len(t.trades) != maxTrades {
		return client.Status(-611, fmt.Sprintf("%d of %d trades found", len(t.trades), maxTrades))
	}
	return t.details(ctx)
}

func (t *tradeLookup) frame4(ctx context.Context) error {
	t.traded, t.moves = 0, t.moves[:0]
	err := t.Row(ctx, firstTradeOfAccount, []any{t.in.account, t.in.from}, &t.traded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return t.Each(ctx, lotsOfTrade, []any{t.traded}, func(rows *sql.Rows) error {
		var m holdingMove
		err := rows.Scan(&m.lot, &m.trade, &m.before, &m.after)
		t.moves = append(t.moves, m)
		return err
	})
}

// warning is the specification's check of the result, which a short history cannot always satisfy.
func (t *tradeLookup) warning() string {
	switch {
	case t.in.frame == 4 && t.traded == 0:
		return "641: no trade of the account after the moment"
	case t.in.frame == 4 || len(t.trades) > 0:
		return ""
	default:
		return fmt.Sprintf("6%d1: no trade in the range", t.in.frame)
	}
}
