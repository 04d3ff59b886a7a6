package tpce

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Market-Feed is the ticker: a batch of twenty price reports. Each writes LAST_TRADE and releases the limit
// orders that its price reaches: the request goes, the trade becomes submitted, its history says so. One
// frame, one transaction. After the commit, and only then, the released orders go to the market.
//
// The reports are worked on in order of symbols, so that two feeds cannot deadlock; reports of one symbol
// keep theirs, the last one's price stays.

// tickerEntry is one price report.
type tickerEntry struct {
	security int
	price    gen.Cents
	quantity int64
}

// feedSize is the number of reports that the exchange collects.
const feedSize = 20

const reachedRequests = `SELECT tr_t_id, tr_bid_price, tr_tt_id, tr_qty FROM trade_request
WHERE tr_s_symb = ? AND ((tr_tt_id = 'TSL' AND tr_bid_price >= ?) OR (tr_tt_id = 'TLS' AND tr_bid_price <= ?) OR (tr_tt_id = 'TLB' AND tr_bid_price >= ?))`

type marketFeed struct {
	*client.Session
	u       *gen.Universe
	entries []tickerEntry
	now     time.Time

	updated  int
	released []marketOrder
}

func (t *marketFeed) run(ctx context.Context) error {
	t.updated, t.released = 0, t.released[:0]
	entries := slices.Clone(t.entries)
	slices.SortStableFunc(entries, func(a, b tickerEntry) int {
		return cmp.Compare(t.u.Symbol(a.security), t.u.Symbol(b.security))
	})
	for _, e := range entries {
		n, err := t.ExecCount(ctx, "UPDATE last_trade SET lt_price = ?, lt_vol = lt_vol + ?, lt_dts = ? "+
			"WHERE lt_s_symb = ?",
			e.price, e.quantity, t.now, t.u.Symbol(e.security))
		if err != nil {
			return err
		}
		t.updated += int(n)
		if err := t.release(ctx, e); err != nil {
			return err
		}
	}
	if t.updated != len(entries) {
		return client.Status(-311, fmt.Sprintf("%d rows of LAST_TRADE updated for %d reports", t.updated,
			len(entries)))
	}
	return nil
}

// release lets every order go that the report's price reaches.
func (t *marketFeed) release(ctx context.Context, e tickerEntry) error {
	var reached []marketOrder
	err := t.Each(ctx, reachedRequests, []any{t.u.Symbol(e.security), e.price, e.price, e.price},
		func(rows *sql.Rows) error {
			o := marketOrder{security: e.security, released: true}
			err := rows.Scan(&o.trade, &o.quote, &o.kind, &o.quantity)
			reached = append(reached, o)
			return err
		})
	if err != nil {
		return err
	}
	for _, o := range reached {
		n, err := t.ExecCount(ctx, "DELETE FROM trade_request WHERE tr_t_id = ?", o.trade)
		if err != nil {
			return err
		}
		if n == 0 {
			// an engine that shows the row but lets another delete it: whoever did carries on with the order
			continue
		}
		if err := t.Exec(ctx, "UPDATE trade SET t_dts = ?, t_st_id = 'SBMT' WHERE t_id = ?", t.now,
			o.trade); err != nil {
			return err
		}
		if err := insertTradeHistory(ctx, t.Session, o.trade, t.now, "SBMT"); err != nil {
			return err
		}
		t.released = append(t.released, o)
	}
	return nil
}

// happened asks the database whether a feed whose COMMIT was not answered is there: its first symbol carries
// its time, which no other feed has, since feeds run one after the other.
func (t *marketFeed) happened(ctx context.Context) (bool, error) {
	var at time.Time
	err := t.Row(ctx, "SELECT lt_dts FROM last_trade WHERE lt_s_symb = ?",
		[]any{t.u.Symbol(t.entries[0].security)}, &at)
	return at.Equal(t.now), err
}

// volume is what the feed adds to LT_VOL.
func (t *marketFeed) volume() (n int64) {
	for _, e := range t.entries {
		n += e.quantity
	}
	return n
}
