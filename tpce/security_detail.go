package tpce

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Security-Detail is everything about one security: its company and exchange with their addresses,
// competitors, five years of figures, some days of prices, the last trade, the news; in one of a hundred
// calls the whole articles. One frame, six statements, reads only.

const securityQuery = `SELECT s_name, co_id, co_name, co_sp_rate, co_ceo, co_desc, co_open_date, co_st_id,
ca.ad_line1, ca.ad_line2, zca.zc_town, zca.zc_div, ca.ad_zc_code, ca.ad_ctry,
s_num_out, s_start_date, s_exch_date, s_pe, s_52wk_high, s_52wk_high_date, s_52wk_low, s_52wk_low_date, s_dividend, s_yield,
zea.zc_div, ea.ad_ctry, ea.ad_line1, ea.ad_line2, zea.zc_town, ea.ad_zc_code, ex_close, ex_desc, ex_name, ex_num_symb, ex_open
FROM security JOIN company ON co_id = s_co_id JOIN address ca ON ca.ad_id = co_ad_id JOIN zip_code zca ON zca.zc_code = ca.ad_zc_code
JOIN exchange ON ex_id = s_ex_id JOIN address ea ON ea.ad_id = ex_ad_id JOIN zip_code zea ON zea.zc_code = ea.ad_zc_code
WHERE s_symb = ?`

const securityColumns = 35

const (
	competitorsQuery = `SELECT co_name, in_name FROM company_competitor JOIN company ON co_id = cp_comp_co_id JOIN industry ON in_id = cp_in_id
WHERE cp_co_id = ? LIMIT 3`
	financialQuery = `SELECT fi_year, fi_qtr, fi_qtr_start_date, fi_revenue, fi_net_earn, fi_basic_eps, fi_dilut_eps, fi_margin, fi_inventory,
fi_assets, fi_liability, fi_out_basic, fi_out_dilut FROM financial WHERE fi_co_id = ? ORDER BY fi_year ASC, fi_qtr ASC LIMIT 20`
	// The number of days is text: it is one of sixteen, and no engine needs it as a value.
	dailyMarketQuery = `SELECT dm_date, dm_close, dm_high, dm_low, dm_vol FROM daily_market
WHERE dm_s_symb = ? AND dm_date >= ? ORDER BY dm_date ASC LIMIT %d`
	lastTradeQuery = "SELECT lt_price, lt_open_price, lt_vol FROM last_trade WHERE lt_s_symb = ?"
	articlesQuery  = `SELECT ni_item, ni_dts, ni_source, ni_author FROM news_xref JOIN news_item ON ni_id ` +
		`= nx_ni_id WHERE nx_co_id = ? LIMIT 2`
	headlinesQuery = `SELECT ni_dts, ni_source, ni_author, ni_headline, ni_summary FROM news_xref JOIN ` +
		`news_item ON ni_id = nx_ni_id WHERE nx_co_id = ? LIMIT 2`
)

type securityDetailInput struct {
	symbol   string
	from     gen.Date
	days     int
	articles bool
}

func drawSecurityDetail(u *gen.Universe, r *gen.Rand) securityDetailInput {
	in := securityDetailInput{symbol: u.Symbol(int(r.Int(0, int64(u.Securities()-1)))),
		articles: r.Percent(1)}
	in.from, in.days = u.ChooseMarketDays(r)
	return in
}

type newsLine struct {
	at                               time.Time
	source, headline, summary, whole string
	author                           sql.NullString
}

type securityDetail struct {
	*client.Session
	in securityDetailInput

	security      []sql.NullString // the 35 columns of the first join, as text
	competitors   [][2]string
	quarters      [][13]sql.NullString
	days          [][5]sql.NullString
	price, opened gen.Cents
	volume        int64
	news          []newsLine
}

func (t *securityDetail) run(ctx context.Context) error {
	t.competitors, t.quarters, t.days, t.news = t.competitors[:0], t.quarters[:0], t.days[:0], t.news[:0]
	t.security = make([]sql.NullString, securityColumns)
	if err := t.Row(ctx, securityQuery, []any{t.in.symbol}, pointers(t.security)...); err != nil {
		return err
	}
	company := t.security[1].String
	err := t.Each(ctx, competitorsQuery, []any{company}, func(rows *sql.Rows) error {
		var c [2]string
		err := rows.Scan(&c[0], &c[1])
		t.competitors = append(t.competitors, c)
		return err
	})
	if err != nil {
		return err
	}
	err = t.Each(ctx, financialQuery, []any{company}, func(rows *sql.Rows) error {
		var q [13]sql.NullString
		err := rows.Scan(pointers(q[:])...)
		t.quarters = append(t.quarters, q)
		return err
	})
	if err != nil {
		return err
	}
	err = t.Each(ctx, fmt.Sprintf(dailyMarketQuery, t.in.days), []any{t.in.symbol, t.in.from.String()},
		func(rows *sql.Rows) error {
			var d [5]sql.NullString
			err := rows.Scan(pointers(d[:])...)
			t.days = append(t.days, d)
			return err
		})
	if err != nil {
		return err
	}
	if err := t.Row(ctx, lastTradeQuery, []any{t.in.symbol}, &t.price, &t.opened, &t.volume); err != nil {
		return err
	}
	if err := t.readNews(ctx, company); err != nil {
		return err
	}
	return t.verify()
}

func (t *securityDetail) readNews(ctx context.Context, company string) error {
	query := headlinesQuery
	if t.in.articles {
		query = articlesQuery
	}
	return t.Each(ctx, query, []any{company}, func(rows *sql.Rows) error {
		var n newsLine
		dest := []any{&n.at, &n.source, &n.author, &n.headline, &n.summary}
		if t.in.articles {
			dest = []any{&n.whole, &n.at, &n.source, &n.author}
		}
		err := rows.Scan(dest...)
		t.news = append(t.news, n)
		return err
	})
}

// verify is the specification's check of the output.
func (t *securityDetail) verify() error {
	switch {
	case len(t.days) != t.in.days:
		return client.Status(-511, fmt.Sprintf("%d days of %s from %v, not %d", len(t.days), t.in.symbol,
			t.in.from, t.in.days))
	case len(t.quarters) != 20:
		return client.Status(-512, fmt.Sprintf("%d quarters of %s, not 20", len(t.quarters), t.in.symbol))
	case len(t.news) != 2:
		return client.Status(-513, fmt.Sprintf("%d news of %s, not 2", len(t.news), t.in.symbol))
	}
	return nil
}

func (t *securityDetail) warning() string { return "" }

// pointers are the destinations of a Scan into a row of texts.
func pointers(values []sql.NullString) []any {
	dest := make([]any, len(values))
	for i := range dest {
		dest[i] = &values[i]
	}
	return dest
}
