package gen

// Lot is an open position bought (or sold short, Quantity < 0) by one trade.
type Lot struct {
	TradeID  int64
	Quantity int64
	Price    Cents
}

// Closed is a lot touched by an opposite trade.
type Closed struct {
	Lot
	After int64 // what is left of it; 0 when the lot is gone
}

// Close lets a trade of the given signed quantity (+ buy, - sell) close opposite lots, in the order given:
// oldest first for FIFO, newest first for LIFO. Rest is the signed quantity that nothing opposed. Gain is
// what was earned on the closed part when the trade's price is price.
func Close(lots []Lot, signed int64, price Cents) (closed []Closed, rest int64, gain Cents) {
	sign := int64(1)
	if signed < 0 {
		sign = -1
	}
	needed := signed * sign
	for _, lot := range lots {
		have := -sign * lot.Quantity // > 0: the lot is on the other side
		if needed == 0 || have <= 0 {
			break
		}
		n := min(needed, have)
		needed -= n
		closed = append(closed, Closed{Lot: lot, After: lot.Quantity + sign*n})
		// A sell earns the difference to the price paid; a short cover, to the price once received.
		gain += Cents(-sign*n) * (price - lot.Price)
	}
	return closed, sign * needed, gain
}
