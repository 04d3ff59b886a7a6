package tpce

import (
	"context"
	"time"
)

// Order-Trigger releases one limit order whose price was reached. It is the part of the specification's Market-Feed that
// touches orders (Market-Feed does it for a batch of 20 price reports, and writes LAST_TRADE besides): the request goes,
// the trade becomes submitted, its history says so. After the commit the market carries the order out.
type orderTrigger struct {
	*session
	id   int64
	gone bool // somebody else has released or canceled it
}

func (t *orderTrigger) run(ctx context.Context) error {
	t.gone = false
	n, err := t.execCount(ctx, "DELETE FROM trade_request WHERE tr_t_id = ?", t.id)
	if err != nil {
		return err
	}
	if n == 0 {
		t.gone = true
		return nil
	}
	now := millis(time.Now())
	if err := t.exec(ctx, "UPDATE trade SET t_dts = ?, t_st_id = 'SBMT' WHERE t_id = ?", now, t.id); err != nil {
		return err
	}
	return insertTradeHistory(ctx, t.session, t.id, now, "SBMT")
}
