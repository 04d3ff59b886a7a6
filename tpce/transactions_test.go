package tpce

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// The transactions one by one, against answers computed another way: from the generator, or row by row.

// inTransaction runs body as a transaction on a connection of its own.
func inTransaction(t *testing.T, s *client.Session, body func(context.Context) error) {
	t.Helper()
	if err := s.Retry(t.Context(), testPolicy(t), body); err != nil {
		t.Fatal(err)
	}
}

func sessionOf(t *testing.T, cfg Config) (*client.Session, *gen.Universe) {
	t.Helper()
	db := database(t, cfg)
	s, err := client.OpenSession(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, universe(t, db, cfg)
}

func testTransactions(t *testing.T) {
	cfg := quick("transactions")
	cfg.DailyMarketWeeks = 8
	load(t, cfg)
	s, u := sessionOf(t, cfg)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *client.Session, *gen.Universe)
	}{
		{"SecurityDetail", testSecurityDetail}, {"MarketWatch", testMarketWatch},
		{"TradeLookup", testTradeLookup}, {"TradeUpdate", testTradeUpdate},
		{"FeedAndBrokerVolume", testFeedAndBrokerVolume}, {"DataMaintenance", testDataMaintenance},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s, u) })
	}
	check(t, cfg)
}

func testSecurityDetail(t *testing.T, s *client.Session, u *gen.Universe) {
	r := gen.NewRand(7, 1)
	for i := range 20 {
		d := &securityDetail{Session: s, in: drawSecurityDetail(u, r)}
		d.in.articles = i == 0
		inTransaction(t, s, d.run)
		company, issue := u.Issue(u.SecurityOf(d.in.symbol))
		if d.security[0].String != issue+" of "+company || d.security[2].String != company ||
			len(d.competitors) != 3 || d.price < 2000 || d.price > 3000 {
			t.Errorf("%s: %v, competitors %v, price %v", d.in.symbol, d.security, d.competitors, d.price)
		}
		for q := range d.quarters {
			if year := d.quarters[q][0].String; year != []string{"2000", "2001", "2002", "2003",
				"2004"}[q/4] {
				t.Errorf("quarter %d is of %s", q, year)
			}
		}
		for _, n := range d.news {
			if whole := len(n.whole) == u.NewsBytes; whole != d.in.articles || (n.headline == "") != whole {
				t.Errorf("articles %v: %d bytes, headline %q", d.in.articles, len(n.whole), n.headline)
			}
		}
	}
	wrong := &securityDetail{Session: s,
		in: securityDetailInput{symbol: u.Symbol(0),
			from: gen.Date{Time: time.Date(2004, 12, 31, 0, 0, 0, 0, time.UTC)}, days: 5}}
	if err := s.Retry(t.Context(), testPolicy(t), wrong.run); err == nil ||
		!strings.Contains(err.Error(), "status -511") {
		t.Errorf("one day instead of five: %v", err)
	}
}

// testMarketWatch adds up symbol by symbol, as the kits do.
func testMarketWatch(t *testing.T, s *client.Session, u *gen.Universe) {
	r := gen.NewRand(7, 2)
	kinds := map[string]int{}
	for range 30 {
		in := drawMarketWatch(u, r)
		var list string
		var args []any
		switch {
		case in.customer != 0:
			list, args = "SELECT wi_s_symb FROM watch_list JOIN watch_item ON wi_wl_id = wl_id WHERE "+
				"wl_c_id = ?", []any{in.customer}
			kinds["list"]++
		case in.account != 0:
			list, args = "SELECT hs_s_symb FROM holding_summary WHERE hs_ca_id = ?", []any{in.account}
			kinds["account"]++
		default:
			list, args = "SELECT s_symb FROM security JOIN company ON co_id = s_co_id JOIN industry ON "+
				"in_id = co_in_id WHERE in_name = ?", []any{in.industry}
			kinds["industry"]++
		}
		var symbols []string
		var before, now gen.Cents
		inTransaction(t, s, func(ctx context.Context) error {
			symbols, before, now = nil, 0, 0
			err := s.Each(ctx, list, args, func(rows *sql.Rows) error {
				var symbol string
				err := rows.Scan(&symbol)
				symbols = append(symbols, symbol)
				return err
			})
			for _, symbol := range symbols {
				var price, closing gen.Cents
				var out int64
				if err == nil {
					err = s.Row(ctx, "SELECT lt_price, s_num_out FROM last_trade JOIN security ON s_symb = "+
						"lt_s_symb WHERE lt_s_symb = ?", []any{symbol}, &price, &out)
				}
				if err == nil {
					err = s.Row(ctx, "SELECT dm_close FROM daily_market WHERE dm_s_symb = ? AND dm_date = ?",
						[]any{symbol, in.day.String()}, &closing)
				}
				before, now = before+gen.Cents(out)*closing, now+gen.Cents(out)*price
			}
			return err
		})
		w := &marketWatch{Session: s, in: in}
		inTransaction(t, s, w.run)
		want := 0.0
		if before != 0 {
			want = 100 * (float64(now)/float64(before) - 1)
		}
		if math.Abs(w.change-want) > 1e-9 || len(symbols) > 0 && w.change == 0 {
			t.Errorf("%+v: %f %% instead of %f", in, w.change, want)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("only %v were drawn", kinds)
	}
}

// testTradeLookup compares the frames with the generator's history.
func testTradeLookup(t *testing.T, s *client.Session, u *gen.Universe) {
	type known struct {
		account int64
		symbol  string
		at      time.Time
		settled gen.Cents
	}
	history := map[int64]*known{}
	lots := map[int64][]int64{} // by trade: what it touched
	err := u.History(0, []string{"trade", "settlement", "holding_history"},
		func(table string, r gen.Row) error {
			switch id := r[0].(int64); table {
			case "trade":
				history[id] = &known{account: r[8].(int64), symbol: r[5].(string), at: r[1].(time.Time)}
			case "settlement":
				history[id].settled = r[3].(gen.Cents)
			default:
				lots[r[1].(int64)] = append(lots[r[1].(int64)], id)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	r := gen.NewRand(7, 3)
	for i := range 40 {
		l := &tradeLookup{tradeSearch: tradeSearch{Session: s, in: drawHistorySearch(u, r, i%4+1)}}
		inTransaction(t, s, l.run)
		var want []int64
		for id, k := range history {
			inRange := !k.at.Before(l.in.from) && !k.at.After(l.in.to)
			if slices.Contains(l.in.ids, id) ||
				inRange && (k.account == l.in.account || k.symbol == l.in.symbol) {
				want = append(want, id)
			}
		}
		slices.SortFunc(want, func(a, b int64) int { return history[a].at.Compare(history[b].at) })
		if l.in.frame == 4 {
			if len(want) == 0 != (l.traded == 0) ||
				len(want) > 0 && !history[l.traded].at.Equal(history[want[0]].at) {
				t.Errorf("frame 4 finds %d, first is %v", l.traded, want)
			}
			for _, m := range l.moves {
				if !slices.Contains(lots[l.traded], m.lot) {
					t.Errorf("trade %d touched %v, not %d", l.traded, lots[l.traded], m.lot)
				}
			}
			continue
		}
		if n := min(len(want), maxTrades); len(l.trades) != n {
			t.Errorf("frame %d finds %d trades instead of %d", l.in.frame, len(l.trades), n)
		}
		for i, f := range l.trades {
			k := history[f.id]
			if f.account != k.account || f.symbol != k.symbol || !f.at.Equal(k.at) ||
				f.settled != k.settled || l.in.frame != 1 && !k.at.Equal(history[want[i]].at) {
				t.Errorf("frame %d: %+v", l.in.frame, f)
			}
		}
	}
}

// testTradeUpdate makes every update twice: the second undoes the first, except where the specification's
// toggle has a third wording for what was loaded.
func testTradeUpdate(t *testing.T, s *client.Session, u *gen.Universe) {
	r := gen.NewRand(7, 4)
	for frame := 1; frame <= 3; frame++ {
		in := drawHistorySearch(u, r, frame)
		var wordings []map[int64]string
		for range 3 {
			up := &tradeUpdate{tradeSearch: tradeSearch{Session: s, in: in, update: true}}
			inTransaction(t, s, up.run)
			after := &tradeLookup{tradeSearch: tradeSearch{Session: s, in: in}}
			inTransaction(t, s, after.run)
			seen := map[int64]string{}
			for _, f := range after.trades {
				seen[f.id] = []string{f.executor, f.cashType, f.moveName}[frame-1]
			}
			wordings = append(wordings, seen)
			if len(seen) == 0 || up.updated == 0 || up.updated > len(seen) {
				t.Errorf("frame %d: %d of %d updated", frame, up.updated, len(seen))
			}
		}
		for id, first := range wordings[0] {
			second, third := wordings[1][id], wordings[2][id]
			if first != third || (first == second) != (first == "") {
				t.Errorf("frame %d, trade %d: %q, %q, %q", frame, id, first, second, third)
			}
		}
	}
}

// testFeedAndBrokerVolume places limit orders, asks for their volume, and feeds prices that reach some of
// them.
func testFeedAndBrokerVolume(t *testing.T, s *client.Session, u *gen.Universe) {
	const customer = 11
	account := u.Account(customer, 0)
	basket := u.Basket(customer, 0)
	type order struct {
		kind    gen.TradeType
		limit   gen.Cents
		reached bool
	}
	orders := []order{
		{gen.LimitBuy, 2400, true}, {gen.LimitBuy, 2399, false}, {gen.LimitSell, 2400, true},
		{gen.LimitSell, 2401, false},
		{gen.StopLoss, 2400, true}, {gen.StopLoss, 2399, false},
	}
	first := u.FirstRuntimeTrade() + 5000
	for i, o := range orders {
		in := marketOrderOf(u, customer, o.kind)
		in.limit = o.limit
		placed := &tradeOrder{Session: s, u: u, in: in, id: first + int64(i), now: millis(time.Now())}
		inTransaction(t, s, placed.run)
	}
	volume := func() gen.Cents {
		total := gen.Cents(0)
		for _, sector := range sectorsOf(t, s) {
			in := brokerVolumeInput{sector: sector}
			for n := range u.Brokers() {
				in.brokers = append(in.brokers, u.BrokerName(n+1))
			}
			b := &brokerVolume{Session: s, in: in}
			inTransaction(t, s, b.run)
			for i, v := range b.volumes {
				if b.names[i] != u.BrokerName(int(account.BrokerID-gen.CustomerID(0))) {
					t.Errorf("the volume is %s's", b.names[i])
				}
				total += v
			}
		}
		return total
	}
	if got := volume(); got != 200*(2400+2399+2400+2401+2400+2399) {
		t.Errorf("the volume of all orders is %v", got)
	}
	f := &marketFeed{Session: s, u: u, now: millis(time.Now())}
	for i := range feedSize {
		// The second report of the symbol is the one whose price stays.
		f.entries = append(f.entries, tickerEntry{basket[0], []gen.Cents{2500, 2400}[i%2], 100})
	}
	// At 25.00 the limit sells go, and none of the others.
	inTransaction(t, s, f.run)
	released := map[int64]bool{}
	for _, o := range f.released {
		released[o.trade] = true
		if o.security != basket[0] || o.quantity != 200 || !o.released {
			t.Errorf("released %+v", o)
		}
	}
	for i, o := range orders {
		if want := o.reached || o.kind == gen.LimitSell; released[first+int64(i)] != want {
			t.Errorf("%s at %v: released %v", o.kind, o.limit, !want)
		}
	}
	var price gen.Cents
	var sold int64
	var at time.Time
	inTransaction(t, s, func(ctx context.Context) error {
		return s.Row(ctx, "SELECT lt_price, lt_vol, lt_dts FROM last_trade WHERE lt_s_symb = ?",
			[]any{u.Symbol(basket[0])}, &price, &sold, &at)
	})
	if price != 2400 || sold != 100*feedSize || !at.Equal(f.now) {
		t.Errorf("the last trade is %v, %d at %v", price, sold, at)
	}
	if got := volume(); got != 200*(2399+2399) {
		t.Errorf("the volume of what is left is %v", got)
	}
	inTransaction(t, s, func(ctx context.Context) error {
		if done, err := f.happened(ctx); err != nil || !done {
			t.Errorf("the feed happened: %v, %v", done, err)
		}
		return nil
	})
	// What was released must be completed, or canceled, for the conditions to hold: Trade-Cleanup does.
	clean := &tradeCleanup{Session: s, firstRuntime: u.FirstRuntimeTrade(), policy: testPolicy(t)}
	if n, err := clean.run(t.Context()); err != nil || n != len(orders) {
		t.Errorf("%d orders canceled: %v", n, err)
	}
}

func sectorsOf(t *testing.T, s *client.Session) []string {
	t.Helper()
	var out []string
	inTransaction(t, s, func(ctx context.Context) error {
		out = nil
		return s.Each(ctx, "SELECT sc_name FROM sector", nil, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			out = append(out, name)
			return err
		})
	})
	return out
}

// testDataMaintenance changes each table three times; what it changed is looked up by a query of its own.
func testDataMaintenance(t *testing.T, s *client.Session, u *gen.Universe) {
	r := gen.NewRand(7, 5)
	look := map[string]string{
		"account_permission": "SELECT ap_acl FROM account_permission WHERE ap_ca_id = %a ORDER BY ap_acl " +
			"DESC",
		"address": "SELECT ad_line2 FROM address JOIN company ON co_ad_id = ad_id WHERE co_id = " +
			"%o",
		"company":          "SELECT co_sp_rate FROM company WHERE co_id = %o",
		"customer":         "SELECT c_email_2 FROM customer WHERE c_id = %c",
		"customer_taxrate": "SELECT cx_tx_id FROM customer_taxrate WHERE cx_c_id = %c ORDER BY cx_tx_id",
		"daily_market":     "SELECT dm_vol FROM daily_market WHERE dm_s_symb = '%s' ORDER BY dm_date",
		"exchange":         "SELECT ex_desc FROM exchange ORDER BY ex_id",
		"financial": "SELECT fi_qtr_start_date FROM financial WHERE fi_co_id = %o ORDER BY " +
			"fi_year, fi_qtr",
		"news_item": "SELECT ni_dts FROM news_item JOIN news_xref ON nx_ni_id = ni_id WHERE " +
			"nx_co_id = %o ORDER BY ni_id",
		"security": "SELECT s_exch_date FROM security WHERE s_symb = '%s'",
		"taxrate":  "SELECT tx_name FROM taxrate WHERE tx_id = '%t'",
		"watch_item": "SELECT wi_s_symb FROM watch_item JOIN watch_list ON wl_id = wi_wl_id WHERE " +
			"wl_c_id = %c ORDER BY wi_s_symb",
	}
	for table, m := range maintained {
		in := drawDataMaintenance(u, r, table, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
		in.company, in.day, in.customer = gen.CompanyID(table), 15, gen.CustomerID(table+1)
		query := strings.NewReplacer("%a", strconv.FormatInt(in.account, 10), "%o",
			strconv.FormatInt(in.company, 10), "%c", strconv.FormatInt(in.customer, 10), "%s", in.symbol,
			"%t", in.tax).Replace(look[m.name])
		states := []string{looked(t, s, query)}
		for i := range 3 {
			d := &dataMaintenance{Session: s, in: in}
			d.in.now = in.now.Add(time.Duration(i) * time.Hour)
			inTransaction(t, s, d.run)
			states = append(states, looked(t, s, query))
			if d.changed == 0 || states[i] == states[i+1] {
				t.Errorf("%s: %d rows changed, state %q", m.name, d.changed, states[i+1])
			}
		}
		if strings.Count(states[0], "\n") != strings.Count(states[3], "\n") {
			t.Errorf("%s: the number of rows changed from %q to %q", m.name, states[0], states[3])
		}
		if toggles := []string{"account_permission", "address", "company", "customer", "financial",
			"taxrate"}; slices.Contains(toggles, m.name) && states[1] != states[3] {
			t.Errorf("%s: %q, %q, %q", m.name, states[1], states[2], states[3])
		}
	}
}

func looked(t *testing.T, s *client.Session, query string) string {
	t.Helper()
	var out strings.Builder
	inTransaction(t, s, func(ctx context.Context) error {
		out.Reset()
		return s.Each(ctx, query, nil, func(rows *sql.Rows) error {
			var v sql.NullString
			err := rows.Scan(&v)
			out.WriteString(v.String + "\n")
			return err
		})
	})
	return out.String()
}
