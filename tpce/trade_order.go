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

// Trade-Order enters an order to buy or sell. Six frames, one transaction:
//
//	1 account, customer, broker     2 permission, if somebody else orders     3 security, price, what the order would
//	cost and gain (reads only)      4 TRADE, TRADE_REQUEST for a limit, TRADE_HISTORY      5 roll back | 6 commit
//
// After the commit, and only then, the order goes to the market.

type tradeOrderInput struct {
	customer, account int // numbers of the generator
	security          int
	executor          gen.Person
	byName            bool
	quantity          int64
	limit             gen.Cents
	kind              gen.TradeType
	margin, lifo      bool
	rollBack          bool
}

func drawTradeOrder(u *gen.Universe, r *gen.Rand) tradeOrderInput {
	n := u.ChooseCustomer(r)
	k := int(r.Int(0, int64(u.Accounts(n)-1)))
	basket := u.Basket(n, k)
	in := tradeOrderInput{
		customer: n, account: k, security: basket[r.Int(0, int64(len(basket)-1))],
		executor: u.Executor(r, n, k), byName: r.Percent(40),
		quantity: gen.DrawQuantity(r), limit: gen.DrawLimit(r), kind: gen.DrawTradeType(r),
		lifo: r.Percent(35),
	}
	in.margin = !in.kind.Sell() && r.Percent(16)
	in.rollBack = r.Int(1, 101) == 1
	return in
}

// tradeOrder is one execution; what the frames learn from each other are its fields.
type tradeOrder struct {
	*client.Session
	in      tradeOrderInput
	u       *gen.Universe
	id      int64
	now     time.Time
	account int64

	broker, customer, company      int64
	taxStatus, tier                int
	symbol, securityName, exchange string
	price                          gen.Cents
	rate, charge, commission       gen.Cents
	tax, balance                   gen.Cents // outputs, computed and not stored
	byOwner                        bool
	status                         string
}

func (t *tradeOrder) run(ctx context.Context) error {
	t.account = gen.AccountID(t.in.customer, t.in.account)
	for _, frame := range []func(context.Context) error{t.frame1, t.frame2, t.frame3, t.frame4} {
		if err := frame(ctx); err != nil {
			return err
		}
	}
	if t.in.rollBack {
		return client.ErrRollBack
	}
	return nil
}

func (t *tradeOrder) frame1(ctx context.Context) error {
	var name sql.NullString
	err := t.Row(ctx, "SELECT ca_name, ca_b_id, ca_c_id, ca_tax_st FROM customer_account WHERE ca_id = ?",
		[]any{t.account},
		&name, &t.broker, &t.customer, &t.taxStatus)
	if errors.Is(err, sql.ErrNoRows) {
		return client.Status(-711, fmt.Sprintf("account %d not found", t.account))
	}
	if err != nil {
		return err
	}
	var first, last, taxID, broker string
	err = t.Row(ctx, "SELECT c_f_name, c_l_name, c_tier, c_tax_id FROM customer WHERE c_id = ?",
		[]any{t.customer}, &first, &last, &t.tier, &taxID)
	if err != nil {
		return err
	}
	if err := t.Row(ctx, "SELECT b_name FROM broker WHERE b_id = ?", []any{t.broker}, &broker); err != nil {
		return err
	}
	t.byOwner = first == t.in.executor.First && last == t.in.executor.Last && taxID == t.in.executor.TaxID
	return nil
}

func (t *tradeOrder) frame2(ctx context.Context) error {
	if t.byOwner {
		return nil
	}
	var acl string
	p := t.in.executor
	err := t.Row(ctx, "SELECT ap_acl FROM account_permission WHERE ap_ca_id = ? AND ap_tax_id = ? AND "+
		"ap_f_name = ? AND ap_l_name = ?",
		[]any{t.account, p.TaxID, p.First, p.Last}, &acl)
	if errors.Is(err, sql.ErrNoRows) {
		return client.Status(-721, fmt.Sprintf("%s may not trade on account %d", p.Name(), t.account))
	}
	return err
}

func (t *tradeOrder) frame3(ctx context.Context) error {
	if err := t.findSecurity(ctx); err != nil {
		return err
	}
	var isSell, isMarket int
	var market gen.Cents
	if err := t.Row(ctx, "SELECT lt_price FROM last_trade WHERE lt_s_symb = ?", []any{t.symbol},
		&market); err != nil {
		return err
	}
	if err := t.Row(ctx, "SELECT tt_is_mrkt, tt_is_sell FROM trade_type WHERE tt_id = ?",
		[]any{string(t.in.kind)}, &isMarket, &isSell); err != nil {
		return err
	}
	t.status, t.price = "PNDG", t.in.limit
	if isMarket == 1 {
		t.status, t.price = "SBMT", market
	}
	if err := t.estimateGain(ctx, isSell == 1); err != nil {
		return err
	}
	if err := t.fees(ctx); err != nil {
		return err
	}
	if t.in.margin {
		return t.assets(ctx)
	}
	return nil
}

func (t *tradeOrder) findSecurity(ctx context.Context) error {
	if !t.in.byName {
		var company string
		t.symbol = t.u.Symbol(t.in.security)
		err := t.Row(ctx, "SELECT s_co_id, s_ex_id, s_name FROM security WHERE s_symb = ?", []any{t.symbol},
			&t.company, &t.exchange, &t.securityName)
		if err != nil {
			return err
		}
		return t.Row(ctx, "SELECT co_name FROM company WHERE co_id = ?", []any{t.company}, &company)
	}
	company, issue := t.u.Issue(t.in.security)
	if err := t.Row(ctx, "SELECT co_id FROM company WHERE co_name = ?", []any{company},
		&t.company); err != nil {
		return err
	}
	return t.Row(ctx, "SELECT s_ex_id, s_name, s_symb FROM security WHERE s_co_id = ? AND s_issue = ?",
		[]any{t.company, issue},
		&t.exchange, &t.securityName, &t.symbol)
}

// estimateGain walks the lots the order would close, as Trade-Result will, and reads only.
func (t *tradeOrder) estimateGain(ctx context.Context, sell bool) error {
	held, err := heldQuantity(ctx, t.Session, t.account, t.symbol)
	if err != nil {
		return err
	}
	signed := t.in.quantity
	if sell {
		signed = -signed
	}
	t.tax = 0
	if held*signed >= 0 {
		return nil
	}
	lots, err := openLots(ctx, t.Session, t.account, t.symbol, t.in.lifo, t.in.quantity)
	if err != nil {
		return err
	}
	_, _, gain := gen.Close(lots, signed, t.price)
	if gain > 0 && t.taxStatus != 0 {
		rate, err := taxRate(ctx, t.Session, t.customer)
		if err != nil {
			return err
		}
		t.tax = gen.Tax(gain, rate)
	}
	return nil
}

func (t *tradeOrder) fees(ctx context.Context) error {
	var err error
	if t.rate, err = commissionRate(ctx, t.Session, t.tier, string(t.in.kind), t.exchange,
		t.in.quantity); err != nil {
		return err
	}
	if err := t.Row(ctx, "SELECT ch_chrg FROM charge WHERE ch_c_tier = ? AND ch_tt_id = ?",
		[]any{t.tier, string(t.in.kind)}, &t.charge); err != nil {
		return err
	}
	switch {
	case t.rate <= 0:
		return client.Status(-732, "no commission rate")
	case t.charge <= 0:
		return client.Status(-733, "no charge")
	}
	t.commission = gen.Commission(t.rate, t.in.quantity, t.price)
	return nil
}

// assets is what a margin order is weighed against. The specification computes it and checks nothing.
func (t *tradeOrder) assets(ctx context.Context) error {
	var holdings gen.Cents
	if err := t.Row(ctx, "SELECT ca_bal FROM customer_account WHERE ca_id = ?", []any{t.account},
		&t.balance); err != nil {
		return err
	}
	return t.Row(ctx, "SELECT COALESCE(SUM(hs_qty * lt_price), 0) FROM holding_summary JOIN last_trade ON "+
		"lt_s_symb = hs_s_symb WHERE hs_ca_id = ?",
		[]any{t.account}, &holdings)
}

func (t *tradeOrder) frame4(ctx context.Context) error {
	cash, lifo := 1, 0
	if t.in.margin {
		cash = 0
	}
	if t.in.lifo {
		lifo = 1
	}
	err := t.Exec(ctx, "INSERT INTO trade (t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty, "+
		"t_bid_price, t_ca_id, t_exec_name,"+
		" t_trade_price, t_chrg, t_comm, t_tax, t_lifo) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, "+
		"0, ?)",
		t.id, t.now, t.status, string(t.in.kind), cash, t.symbol, t.in.quantity, t.price, t.account,
		t.in.executor.Name(), t.charge, t.commission, lifo)
	if err != nil {
		return err
	}
	if t.status == "PNDG" {
		err := t.Exec(ctx, "INSERT INTO trade_request (tr_t_id, tr_tt_id, tr_s_symb, tr_qty, tr_bid_price, "+
			"tr_b_id) VALUES (?, ?, ?, ?, ?, ?)",
			t.id, string(t.in.kind), t.symbol, t.in.quantity, t.price, t.broker)
		if err != nil {
			return err
		}
	}
	return insertTradeHistory(ctx, t.Session, t.id, t.now, t.status)
}

// The reads that Trade-Order and Trade-Result share.

func heldQuantity(ctx context.Context, s *client.Session, account int64, symbol string) (int64, error) {
	var q int64
	err := s.Row(ctx, "SELECT hs_qty FROM holding_summary WHERE hs_ca_id = ? AND hs_s_symb = ?",
		[]any{account, symbol}, &q)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return q, err
}

const (
	oldestLots = "SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = ? AND h_s_symb = ? ORDER BY " +
		"h_dts ASC"
	newestLots = "SELECT h_t_id, h_qty, h_price FROM holding WHERE h_ca_id = ? AND h_s_symb = ? ORDER BY " +
		"h_dts DESC"
)

// errEnough ends a walk early; it never leaves this file.
var errEnough = errors.New("enough lots")

// openLots reads lots in the order a trade closes them, until they cover the quantity.
func openLots(ctx context.Context, s *client.Session, account int64, symbol string, lifo bool,
	quantity int64) ([]gen.Lot, error) {
	query := oldestLots
	if lifo {
		query = newestLots
	}
	var lots []gen.Lot
	err := s.Each(ctx, query, []any{account, symbol}, func(rows *sql.Rows) error {
		var l gen.Lot
		if err := rows.Scan(&l.TradeID, &l.Quantity, &l.Price); err != nil {
			return err
		}
		lots = append(lots, l)
		if quantity -= max(l.Quantity, -l.Quantity); quantity <= 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return lots, err
}

func taxRate(ctx context.Context, s *client.Session, customer int64) (gen.TaxFraction, error) {
	var sum gen.TaxFraction
	err := s.Each(ctx, "SELECT tx_rate FROM customer_taxrate JOIN taxrate ON tx_id = cx_tx_id WHERE "+
		"cx_c_id = ?", []any{customer}, func(rows *sql.Rows) error {
		var f gen.TaxFraction
		err := rows.Scan(&f)
		sum += f
		return err
	})
	if err == nil && sum <= 0 {
		err = client.Status(-731, fmt.Sprintf("customer %d has no tax rate", customer))
	}
	return sum, err
}

func commissionRate(ctx context.Context, s *client.Session, tier int, kind, exchange string,
	quantity int64) (gen.Cents, error) {
	var rate gen.Cents
	err := s.Row(ctx, "SELECT cr_rate FROM commission_rate WHERE cr_c_tier = ? AND cr_tt_id = ? AND "+
		"cr_ex_id = ? AND cr_from_qty <= ? AND cr_to_qty >= ?",
		[]any{tier, kind, exchange, quantity, quantity}, &rate)
	return rate, err
}

func insertTradeHistory(ctx context.Context, s *client.Session, id int64, at time.Time, status string) error {
	return s.Exec(ctx, "INSERT INTO trade_history (th_t_id, th_dts, th_st_id) VALUES (?, ?, ?)", id,
		at, status)
}
