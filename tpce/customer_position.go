package tpce

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Customer-Position is a customer's profile and the value of each account; half of the calls add the
// latest history of one account. Frame 1 reads the position, frame 2 the history, frame 3 ends
// without it. Reads only.

const customerQuery = `SELECT c_st_id, c_l_name, c_f_name, c_m_name, c_gndr, c_tier, c_dob, c_ad_id,
c_ctry_1, c_area_1, c_local_1, c_ext_1, c_ctry_2, c_area_2, c_local_2, c_ext_2, c_ctry_3, c_area_3, c_local_3, c_ext_3, c_email_1, c_email_2
FROM customer WHERE c_id = ?`

// Two outer joins: an account without holdings has a position too.
const positionQuery = `SELECT ca_id, ca_bal, COALESCE(SUM(hs_qty * lt_price), 0) AS asset_total
FROM customer_account LEFT JOIN holding_summary ON hs_ca_id = ca_id LEFT JOIN last_trade ON lt_s_symb = hs_s_symb
WHERE ca_c_id = ? GROUP BY ca_id, ca_bal ORDER BY asset_total ASC LIMIT 10`

const accountHistoryQuery = `SELECT t.t_id, t.t_s_symb, t.t_qty, st_name, th_dts
FROM (SELECT t_id, t_s_symb, t_qty FROM trade WHERE t_ca_id = ? ORDER BY t_dts DESC LIMIT 10) t
JOIN trade_history ON th_t_id = t.t_id JOIN status_type ON st_id = th_st_id
ORDER BY th_dts DESC LIMIT 30`

type customerPositionInput struct {
	customer int // number of the generator
	taxID    string
	accounts int
	history  int // index of the account whose history is wanted, -1 for none
}

func drawCustomerPosition(u *gen.Universe, r *gen.Rand) customerPositionInput {
	in := customerPositionInput{customer: u.ChooseCustomer(r), history: -1}
	in.accounts = u.Accounts(in.customer)
	if r.Percent(50) {
		in.taxID = u.Customer(in.customer).TaxID
	}
	if r.Percent(50) {
		in.history = int(r.Int(0, int64(in.accounts-1)))
	}
	return in
}

type position struct {
	account       int64
	balance, held gen.Cents
}

type historyLine struct {
	trade, quantity int64
	symbol, status  string
	at              time.Time
}

type customerPosition struct {
	*client.Session
	in customerPositionInput

	profile   []sql.NullString // c_st_id … c_email_2 as text
	positions []position
	lines     []historyLine
}

func (t *customerPosition) run(ctx context.Context) error {
	t.positions, t.lines = t.positions[:0], t.lines[:0]
	if err := t.frame1(ctx); err != nil {
		return err
	}
	if t.in.history >= 0 {
		return t.frame2(ctx)
	}
	return nil
}

func (t *customerPosition) frame1(ctx context.Context) error {
	id := gen.CustomerID(t.in.customer)
	if t.in.taxID != "" {
		id = 0
		if err := t.Row(ctx, "SELECT c_id FROM customer WHERE c_tax_id = ?", []any{t.in.taxID},
			&id); err != nil {
			return err
		}
	}
	const columns = 22
	t.profile = make([]sql.NullString, columns)
	dest := make([]any, columns)
	for i := range dest {
		dest[i] = &t.profile[i]
	}
	if err := t.Row(ctx, customerQuery, []any{id}, dest...); err != nil {
		return err
	}
	err := t.Each(ctx, positionQuery, []any{id}, func(rows *sql.Rows) error {
		var p position
		err := rows.Scan(&p.account, &p.balance, &p.held)
		t.positions = append(t.positions, p)
		return err
	})
	if err != nil {
		return err
	}
	if len(t.positions) != t.in.accounts {
		return client.Status(-211, fmt.Sprintf("customer %d has %d accounts, %d found", id, t.in.accounts,
			len(t.positions)))
	}
	return nil
}

func (t *customerPosition) frame2(ctx context.Context) error {
	return t.Each(ctx, accountHistoryQuery, []any{t.positions[t.in.history].account},
		func(rows *sql.Rows) error {
			var l historyLine
			err := rows.Scan(&l.trade, &l.symbol, &l.quantity, &l.status, &l.at)
			t.lines = append(t.lines, l)
			return err
		})
}

// warning is the specification's check of the result, which a short history cannot always satisfy.
func (t *customerPosition) warning() string {
	if t.in.history >= 0 && len(t.lines) < 10 {
		return "221: fewer than 10 lines of history"
	}
	return ""
}
