package tpce

import (
	"context"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Market-Watch tells by how many per cent the capitalisation of a set of securities has changed since a day:
// those of a customer's watch list, of an account's holdings, or of an industry. One frame, reads only. The
// specification's kits read security by security; here one join adds up both sums, which it permits.

// A security that lacks a price on that day is left out, as the inner join does.
const watchSums = `SELECT COALESCE(SUM(s_num_out * dm_close), 0), COALESCE(SUM(s_num_out * lt_price), 0)
FROM `

const (
	watchListQuery = watchSums + `watch_list JOIN watch_item ON wi_wl_id = wl_id JOIN security ON s_symb = wi_s_symb
JOIN last_trade ON lt_s_symb = s_symb JOIN daily_market ON dm_s_symb = s_symb
WHERE wl_c_id = ? AND dm_date = ?`
	watchHoldingsQuery = watchSums + `holding_summary JOIN security ON s_symb = hs_s_symb
JOIN last_trade ON lt_s_symb = s_symb JOIN daily_market ON dm_s_symb = s_symb
WHERE hs_ca_id = ? AND dm_date = ?`
	watchIndustryQuery = watchSums + `industry JOIN company ON co_in_id = in_id JOIN security ON s_co_id = co_id
JOIN last_trade ON lt_s_symb = s_symb JOIN daily_market ON dm_s_symb = s_symb
WHERE in_name = ? AND co_id BETWEEN ? AND ? AND dm_date = ?`
)

type marketWatchInput struct {
	// One of the three is set.
	customer, account int64
	industry          string
	from, to          int64 // companies of the industry
	day               gen.Date
}

const industryWindow = 500

func drawMarketWatch(u *gen.Universe, r *gen.Rand) marketWatchInput {
	in := marketWatchInput{day: u.ChooseMarketDay(r)}
	switch p := r.Int(1, 100); {
	case p <= 60:
		in.customer = gen.CustomerID(u.ChooseCustomer(r))
	case p <= 95:
		in.account = gen.AccountID(u.ChooseAccount(r))
	default:
		in.industry = gen.ChooseIndustry(r)
		window := min(industryWindow, u.Companies())
		first := int(r.Int(0, int64(u.Companies()-window)))
		in.from, in.to = gen.CompanyID(first), gen.CompanyID(first+window-1)
	}
	return in
}

type marketWatch struct {
	*client.Session
	in     marketWatchInput
	change float64 // per cent
}

func (t *marketWatch) run(ctx context.Context) error {
	var query string
	var args []any
	switch {
	case t.in.customer != 0:
		query, args = watchListQuery, []any{t.in.customer}
	case t.in.account != 0:
		query, args = watchHoldingsQuery, []any{t.in.account}
	case t.in.industry != "":
		query, args = watchIndustryQuery, []any{t.in.industry, t.in.from, t.in.to}
	default:
		return client.Status(-411, "nothing to watch")
	}
	var before, now gen.Cents
	if err := t.Row(ctx, query, append(args, t.in.day.String()), &before, &now); err != nil {
		return err
	}
	t.change = 0
	if before != 0 {
		t.change = 100 * (float64(now)/float64(before) - 1)
	}
	return nil
}

func (t *marketWatch) warning() string { return "" }
