package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Trade-Result completes a trade; the throughput of the workload counts these. Six frames, one transaction:
//
//	1 trade, type, position   2 move the holdings   3 tax on a gain   4 commission rate
//	5 complete the trade, its history, the broker's totals            6 settlement, cash
//
// The specification asks for serializable isolation here. The trade and then the account are read FOR
// UPDATE before any plain read, so that two results of one account follow each other, and every plain read
// happens after the wait: under MySQL's REPEATABLE READ that is a serial order of the account's trades, and
// under snapshot isolation first-committer-wins gives it anyway, since every result writes the (account,
// symbol) row it has read.

type tradeResultInput struct {
	id    int64
	price gen.Cents
	mode  BrokerTotals
}

type tradeResult struct {
	*client.Session
	in  tradeResultInput
	now time.Time

	account, customer, broker int64
	taxStatus                 int
	kind, kindName, symbol    string
	quantity                  int64
	charge                    gen.Cents
	lifo, cash, sell          bool
	held                      int64
	gain, tax, commission     gen.Cents
	securityName              string
	settled                   gen.Cents

	already bool      // found complete: an earlier try's lost COMMIT
	balance gen.Cents // output
}

func (t *tradeResult) run(ctx context.Context) error {
	t.already, t.gain, t.tax = false, 0, 0
	if err := t.frame1(ctx); err != nil || t.already {
		return err
	}
	for _, frame := range []func(context.Context) error{t.frame2, t.frame3, t.frame4, t.frame6, t.frame5} {
		if err := frame(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *tradeResult) frame1(ctx context.Context) error {
	var status string
	var isMarket int
	err := t.Row(ctx, "SELECT t_ca_id, t_tt_id, t_s_symb, t_qty, t_chrg, t_lifo, t_is_cash, t_st_id FROM "+
		"trade WHERE t_id = ? FOR UPDATE", []any{t.in.id},
		&t.account, &t.kind, &t.symbol, &t.quantity, &t.charge, &t.lifo, &t.cash, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return client.Status(-811, fmt.Sprintf("trade %d not found", t.in.id))
	}
	if err != nil {
		return err
	}
	switch status {
	case "SBMT":
	case "CMPT":
		t.already = true
		return nil
	default:
		return client.Status(-811, fmt.Sprintf("trade %d is %s, not submitted", t.in.id, status))
	}
	err = t.Row(ctx, "SELECT ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = ? FOR UPDATE",
		[]any{t.account},
		&t.broker, &t.customer, &t.taxStatus)
	if err != nil {
		return err
	}
	err = t.Row(ctx, "SELECT tt_name, tt_is_sell, tt_is_mrkt FROM trade_type WHERE tt_id = ?", []any{t.kind},
		&t.kindName, &t.sell, &isMarket)
	if err != nil {
		return err
	}
	t.held, err = heldQuantity(ctx, t.Session, t.account, t.symbol)
	return err
}

// frame2 moves the holdings. The summary row is there before a lot refers to it and goes after
// the last one has gone.
func (t *tradeResult) frame2(ctx context.Context) error {
	t.now = millis(time.Now())
	signed := t.quantity
	if t.sell {
		signed = -signed
	}
	var err error
	switch {
	case t.held == 0:
		err = t.Exec(ctx, "INSERT INTO holding_summary (hs_ca_id, hs_s_symb, hs_qty) VALUES (?, ?, ?)",
			t.account, t.symbol, signed)
	case t.held != -signed:
		err = t.Exec(ctx, "UPDATE holding_summary SET hs_qty = ? WHERE hs_ca_id = ? AND hs_s_symb = ?",
			t.held+signed, t.account, t.symbol)
	}
	if err != nil {
		return err
	}
	rest := signed
	if t.held*signed < 0 {
		if rest, err = t.closeLots(ctx, signed); err != nil {
			return err
		}
	}
	if rest != 0 {
		if err := t.insertHoldingHistory(ctx, t.in.id, 0, rest); err != nil {
			return err
		}
		err := t.Exec(ctx, "INSERT INTO holding (h_t_id, h_ca_id, h_s_symb, h_dts, h_price, h_qty) VALUES "+
			"(?, ?, ?, ?, ?, ?)",
			t.in.id, t.account, t.symbol, t.now, t.in.price, rest)
		if err != nil {
			return err
		}
	}
	if t.held == -signed {
		return t.Exec(ctx, "DELETE FROM holding_summary WHERE hs_ca_id = ? AND hs_s_symb = ?",
			t.account, t.symbol)
	}
	return nil
}

func (t *tradeResult) closeLots(ctx context.Context, signed int64) (rest int64, err error) {
	lots, err := openLots(ctx, t.Session, t.account, t.symbol, t.lifo, t.quantity)
	if err != nil {
		return 0, err
	}
	closed, rest, gain := gen.Close(lots, signed, t.in.price)
	t.gain = gain
	for _, c := range closed {
		if err := t.insertHoldingHistory(ctx, c.TradeID, c.Quantity, c.After); err != nil {
			return 0, err
		}
		if c.After == 0 {
			err = t.Exec(ctx, "DELETE FROM holding WHERE h_t_id = ?", c.TradeID)
		} else {
			err = t.Exec(ctx, "UPDATE holding SET h_qty = ? WHERE h_t_id = ?", c.After, c.TradeID)
		}
		if err != nil {
			return 0, err
		}
	}
	return rest, nil
}

func (t *tradeResult) insertHoldingHistory(ctx context.Context, lot, before, after int64) error {
	return t.Exec(ctx, "INSERT INTO holding_history (hh_h_t_id, hh_t_id, hh_before_qty, hh_after_qty) "+
		"VALUES (?, ?, ?, ?)", lot, t.in.id, before, after)
}

func (t *tradeResult) frame3(ctx context.Context) error {
	if t.taxStatus == 0 || t.gain <= 0 {
		return nil
	}
	rate, err := taxRate(ctx, t.Session, t.customer)
	if err != nil {
		return err
	}
	// Rounded once: the trade and its settlement carry the same cents.
	t.tax = gen.Tax(t.gain, rate)
	return t.Exec(ctx, "UPDATE trade SET t_tax = ? WHERE t_id = ?", t.tax, t.in.id)
}

func (t *tradeResult) frame4(ctx context.Context) error {
	var exchange string
	var tier int
	if err := t.Row(ctx, "SELECT s_ex_id, s_name FROM security WHERE s_symb = ?", []any{t.symbol}, &exchange,
		&t.securityName); err != nil {
		return err
	}
	if err := t.Row(ctx, "SELECT c_tier FROM customer WHERE c_id = ?", []any{t.customer}, &tier); err != nil {
		return err
	}
	rate, err := commissionRate(ctx, t.Session, tier, t.kind, exchange, t.quantity)
	if err != nil {
		return err
	}
	if rate <= 0 {
		return client.Status(-841, "no commission rate")
	}
	t.commission = gen.Commission(rate, t.quantity, t.in.price)
	return nil
}

// frame5 runs last, and the broker's row is its last statement: the hottest row of all is locked for one
// round trip and the commit. The order of statements inside a transaction is ours to choose.
func (t *tradeResult) frame5(ctx context.Context) error {
	err := t.Exec(ctx, "UPDATE trade SET t_comm = ?, t_dts = ?, t_st_id = 'CMPT', t_trade_price = ? WHERE "+
		"t_id = ?", t.commission, t.now, t.in.price, t.in.id)
	if err != nil {
		return err
	}
	if err := insertTradeHistory(ctx, t.Session, t.in.id, t.now, "CMPT"); err != nil {
		return err
	}
	switch t.in.mode {
	case Inline:
		return t.Exec(ctx, "UPDATE broker SET b_comm_total = b_comm_total + CAST(? AS DECIMAL(12,2)), "+
			"b_num_trades = b_num_trades + 1 WHERE b_id = ?",
			t.commission, t.broker)
	case Observer:
		return t.Exec(ctx, "INSERT INTO broker_trade (bt_t_id, bt_b_id, bt_comm, bt_dts) VALUES (?, ?, ?, ?)",
			t.in.id, t.broker, t.commission, t.now)
	default:
		return nil
	}
}

func (t *tradeResult) frame6(ctx context.Context) error {
	t.settled = gen.Settlement(t.sell, t.quantity, t.in.price, t.charge, t.commission, t.tax, t.taxStatus)
	err := t.Exec(ctx, "INSERT INTO settlement (se_t_id, se_cash_type, se_cash_due_date, se_amt) VALUES "+
		"(?, ?, ?, ?)",
		t.in.id, gen.CashType(t.cash), gen.SettlementDate(t.now).String(), t.settled)
	if err != nil {
		return err
	}
	if t.cash {
		// The cast keeps the sum exact: a bare placeholder would be a string, and MySQL adds strings as
		// doubles.
		err := t.Exec(ctx, "UPDATE customer_account SET ca_bal = ca_bal + CAST(? AS DECIMAL(12,2)) WHERE "+
			"ca_id = ?", t.settled, t.account)
		if err != nil {
			return err
		}
		err = t.Exec(ctx, "INSERT INTO cash_transaction (ct_t_id, ct_dts, ct_amt, ct_name) VALUES (?, ?, "+
			"?, ?)",
			t.in.id, t.now, t.settled, gen.CashName(t.kindName, t.quantity, t.securityName))
		if err != nil {
			return err
		}
	}
	return t.Row(ctx, "SELECT ca_bal FROM customer_account WHERE ca_id = ?", []any{t.account}, &t.balance)
}

// tradeState answers what became of a trade whose COMMIT was not answered.
func tradeState(ctx context.Context, s *client.Session, id int64) (string, error) {
	var status string
	err := s.Row(ctx, "SELECT t_st_id FROM trade WHERE t_id = ?", []any{id}, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return status, err
}
