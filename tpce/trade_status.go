package tpce

import (
	"context"
	"database/sql"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Trade-Status lists the 50 latest trades of an account. One frame, reads only. The limit stands in a derived
// table so that no planner joins the whole history before cutting it.

const tradeStatusQuery = `SELECT t.t_id, t.t_dts, st_name, tt_name, t.t_s_symb, t.t_qty, t.t_exec_name, t.t_chrg, s_name, ex_name
FROM (SELECT t_id, t_dts, t_st_id, t_tt_id, t_s_symb, t_qty, t_exec_name, t_chrg FROM trade WHERE t_ca_id = ? ORDER BY t_dts DESC LIMIT 50) t
JOIN status_type ON st_id = t.t_st_id JOIN trade_type ON tt_id = t.t_tt_id JOIN security ON s_symb = t.t_s_symb JOIN exchange ON ex_id = s_ex_id
ORDER BY t.t_dts DESC`

type tradeStatusRow struct {
	id, quantity                                       int64
	at                                                 time.Time
	status, kind, symbol, executor, security, exchange string
	charge                                             gen.Cents
}

type tradeStatus struct {
	*client.Session
	account int64

	trades              []tradeStatusRow
	first, last, broker string
}

func (t *tradeStatus) run(ctx context.Context) error {
	t.trades = t.trades[:0]
	err := t.Each(ctx, tradeStatusQuery, []any{t.account}, func(rows *sql.Rows) error {
		var r tradeStatusRow
		err := rows.Scan(&r.id, &r.at, &r.status, &r.kind, &r.symbol, &r.quantity, &r.executor, &r.charge,
			&r.security, &r.exchange)
		t.trades = append(t.trades, r)
		return err
	})
	if err != nil {
		return err
	}
	return t.Row(ctx, "SELECT c_l_name, c_f_name, b_name FROM customer_account JOIN customer ON c_id = "+
		"ca_c_id JOIN broker ON b_id = ca_b_id WHERE ca_id = ?",
		[]any{t.account}, &t.last, &t.first, &t.broker)
}

// warning is the specification's check of the result, which a short history cannot always satisfy.
func (t *tradeStatus) warning() string {
	if len(t.trades) != 50 {
		return "911: fewer than 50 trades"
	}
	return ""
}
