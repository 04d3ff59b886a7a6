package gen

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"sync"
)

// The history of a load unit is one sequence: orders arrive at a steady rate, wait for the curve if
// they carry a limit, and complete a moment later. Completions, not orders, move the holdings, so a
// priority queue stands between:
//
//	order j --[limit reached]--> submitted --[~1 s]--> price fixed --[1 s]--> completed: lots, money, rows
//
// Load units share securities but no account, hence no state.

type trade struct {
	id                    int64
	kind                  TradeType
	owner                 *tradingAccount
	security              int
	quantity              int64
	limit, price          Cents
	cash, lifo            bool
	ordered, sent, done   int64 // business time
	charge, comm, tax, in Cents // in: what the account receives
	closed                []Closed
	rest                  int64
}

// tradingAccount is an account with what each of its trades would otherwise draw again.
type tradingAccount struct {
	Account
	tier     int
	rate     TaxFraction
	basket   []int
	executor string
}

type openLot struct {
	Lot
	account  *tradingAccount
	security int
	done     int64
}

type position struct {
	account  int64
	security int
}

type pendingTrades []*trade

func (p pendingTrades) Len() int { return len(p) }
func (p pendingTrades) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(p[i].done, p[j].done), cmp.Compare(p[i].id, p[j].id)) < 0
}
func (p pendingTrades) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pendingTrades) Push(x any)   { *p = append(*p, x.(*trade)) }
func (p *pendingTrades) Pop() any {
	old := *p
	t := old[len(old)-1]
	*p = old[:len(old)-1]
	return t
}

type history struct {
	u         *Universe
	unit      int
	r         *Rand
	accounts  [][]tradingAccount // by customer of the unit
	positions map[position][]openLot
	queue     pendingTrades
}

func (u *Universe) newHistory(unit int) *history {
	h := &history{u: u, unit: unit, r: newRand(u.Seed, topicHistory, int64(unit)),
		positions: map[position][]openLot{}}
	for i := range u.unitSize {
		n := unit*u.unitSize + i + 1
		country, division := u.taxesOf(n)
		var list []tradingAccount
		for k := range u.Accounts(n) {
			list = append(list, tradingAccount{
				Account: u.Account(n, k), tier: u.Tier(n), rate: country.rate + division.rate,
				basket: u.Basket(n, k), executor: u.Customer(n).Name(),
			})
		}
		h.accounts = append(h.accounts, list)
	}
	return h
}

// run visits every trade of the unit in order of completion. The visitor may keep nothing of the trade.
func (h *history) run(visit func(*trade) error) error {
	total := h.u.tradesPerUnit()
	perDay := divRound(total*101, 100*int64(h.u.Days))
	gap := float64(dayMillis) / float64(perDay)
	made := int64(0)
	for j := int64(0); made < total; j++ {
		seq := int64(h.unit)*h.u.sequencePerUnit() + j + 1
		// The last day takes what rounding left over.
		day := min(j/perDay, int64(h.u.Days)-1)
		at := day*dayMillis + min(int64((float64(j-day*perDay)+h.r.Float())*gap), dayMillis-1)
		if err := h.complete(at, visit); err != nil {
			return err
		}
		if seq%101 == 51 {
			continue // an order that was rolled back: its number is burnt
		}
		heap.Push(&h.queue, h.order(firstTrade+seq, at))
		made++
	}
	return h.complete(1<<62, visit)
}

// order draws one order and everything that will become of it, except what depends on holdings.
func (h *history) order(id, at int64) *trade {
	r := h.r
	accounts := h.accounts[h.u.chooseIn(r, h.unit)-1-h.unit*h.u.unitSize]
	a := &accounts[r.Int(0, int64(len(accounts)-1))]
	t := &trade{
		id: id, kind: DrawTradeType(r), owner: a, security: a.basket[r.Int(0, int64(len(a.basket)-1))],
		quantity: DrawQuantity(r),
		ordered:  at, sent: at, lifo: r.Percent(35),
	}
	t.cash = t.kind.Sell() || !r.Percent(16)
	if t.kind.Market() {
		t.limit = PriceAt(t.security, at)
	} else {
		t.limit = DrawLimit(r)
		wait := WaitFor(t.kind, t.security, t.limit, at)
		if wait == 0 {
			wait = r.Int(500, 1500)
		}
		t.sent += wait
	}
	priced := t.sent + int64(r.Exponential(1000, 5000))
	t.price = ExecutionPrice(t.kind, t.limit, PriceAt(t.security, priced))
	t.done = priced + 1000
	return t
}

func (h *history) complete(before int64, visit func(*trade) error) error {
	for len(h.queue) > 0 && h.queue[0].done <= before {
		t := heap.Pop(&h.queue).(*trade)
		h.settle(t)
		if err := visit(t); err != nil {
			return err
		}
	}
	return nil
}

// settle moves the holdings and computes the money.
func (h *history) settle(t *trade) {
	key := position{t.owner.ID, t.security}
	open := h.positions[key]
	signed := t.quantity
	if t.kind.Sell() {
		signed = -signed
	}
	lots := make([]Lot, len(open))
	for i, l := range open {
		lots[i] = l.Lot
	}
	if t.lifo {
		slices.Reverse(lots)
	}
	var gain Cents
	t.closed, t.rest, gain = Close(lots, signed, t.price)
	for _, c := range t.closed {
		i := slices.IndexFunc(open, func(l openLot) bool { return l.TradeID == c.TradeID })
		if c.After == 0 {
			open = slices.Delete(open, i, i+1)
		} else {
			open[i].Quantity = c.After
		}
	}
	if t.rest != 0 {
		open = append(open, openLot{Lot{t.id, t.rest, t.price}, t.owner, t.security, t.done})
	}
	if len(open) == 0 {
		delete(h.positions, key)
	} else {
		h.positions[key] = open
	}

	t.charge = ChargeFor(t.kind, t.owner.tier)
	t.comm = Commission(commissionRate(t.owner.tier, h.u.securities[t.security].exchange, band(t.quantity)),
		t.quantity, t.price)
	if t.owner.TaxStatus != 0 {
		t.tax = Tax(gain, t.owner.rate)
	}
	t.in = Settlement(t.kind.Sell(), t.quantity, t.price, t.charge, t.comm, t.tax, t.owner.TaxStatus)
}

// openLots are the holdings left at the end, by trade id.
func (h *history) openLots() []openLot {
	var all []openLot
	for _, lots := range h.positions {
		all = append(all, lots...)
	}
	slices.SortFunc(all, func(a, b openLot) int { return cmp.Compare(a.TradeID, b.TradeID) })
	return all
}

// Grown lists the tables that History fills, parents first. TRADE_REQUEST, the eighth table
// that grows, starts empty.
var Grown = []string{
	"trade", "trade_history", "settlement", "cash_transaction", "holding_history", "holding_summary",
	"holding",
}

// History emits the rows of the chosen tables for one load unit. It runs the whole history each time: keeping
// it would cost gigabytes at 300 days, running it costs about a microsecond for each trade.
func (u *Universe) History(unit int, tables []string, emit func(table string, r Row) error) error {
	var perTrade []func(*trade, func(Row) error) error
	var names []string
	for _, name := range tables {
		if f, ok := map[string]func(*trade, func(Row) error) error{
			"trade": u.tradeRow, "trade_history": historyRows, "settlement": settlementRow,
			"cash_transaction": u.cashRow, "holding_history": holdingHistoryRows,
		}[name]; ok {
			perTrade, names = append(perTrade, f), append(names, name)
		}
	}
	h := u.newHistory(unit)
	err := h.run(func(t *trade) error {
		for i, f := range perTrade {
			if err := f(t, func(r Row) error { return emit(names[i], r) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if slices.Contains(tables, "holding_summary") {
		if err := h.summaryRows(func(r Row) error { return emit("holding_summary", r) }); err != nil {
			return err
		}
	}
	if slices.Contains(tables, "holding") {
		for _, l := range h.openLots() {
			r := row(l.TradeID, l.account.ID, u.Symbol(l.security), wall(l.done), l.Price, l.Quantity)
			if err := emit("holding", r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *Universe) tradeRow(t *trade, emit func(Row) error) error {
	return emit(row(t.id, wall(t.done), completed, string(t.kind), bit(t.cash), u.Symbol(t.security),
		t.quantity, t.limit,
		t.owner.ID, t.owner.executor, t.price, t.charge, t.comm, t.tax, bit(t.lifo)))
}

func historyRows(t *trade, emit func(Row) error) error {
	type step struct {
		at     int64
		status string
	}
	steps := []step{{t.ordered, submitted}, {t.done, completed}}
	if !t.kind.Market() {
		steps = []step{{t.ordered, pending}, {t.sent, submitted}, {t.done, completed}}
	}
	for _, s := range steps {
		if err := emit(row(t.id, wall(s.at), s.status)); err != nil {
			return err
		}
	}
	return nil
}

// CashType is SE_CASH_TYPE.
func CashType(cash bool) string {
	if cash {
		return "Cash Account"
	}
	return "Margin"
}

func settlementRow(t *trade, emit func(Row) error) error {
	return emit(row(t.id, CashType(t.cash), SettlementDate(wall(t.done)), t.in))
}

func (u *Universe) cashRow(t *trade, emit func(Row) error) error {
	if !t.cash {
		return nil
	}
	return emit(row(t.id, wall(t.done), t.in,
		CashName(t.kind.Name(), t.quantity, u.securities[t.security].name)))
}

func holdingHistoryRows(t *trade, emit func(Row) error) error {
	for _, c := range t.closed {
		if err := emit(row(c.TradeID, t.id, c.Quantity, c.After)); err != nil {
			return err
		}
	}
	if t.rest != 0 {
		return emit(row(t.id, t.id, int64(0), t.rest))
	}
	return nil
}

func (h *history) summaryRows(emit func(Row) error) error {
	keys := make([]position, 0, len(h.positions))
	for k := range h.positions {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.security, b.security))
	})
	for _, k := range keys {
		sum := int64(0)
		for _, l := range h.positions[k] {
			sum += l.Quantity
		}
		if err := emit(row(k.account, h.u.Symbol(k.security), sum)); err != nil {
			return err
		}
	}
	return nil
}

// CashName is CT_NAME, cut to the column's width.
func CashName(typeName string, quantity int64, securityName string) string {
	return clip(typeName+" "+itoa(quantity)+" shares of "+securityName, 100)
}

// BrokerTotal is what the initial trades of a broker's accounts sum up to.
type BrokerTotal struct {
	Trades     int64
	Commission Cents
}

// Totals are the figures that only the whole history knows.
type Totals struct {
	Rows    map[string]int64 // of every table
	Brokers []BrokerTotal    // by broker number, from 0
}

// Totals runs the history of every load unit once, on all processors, and remembers the answer.
func (u *Universe) Totals() Totals { return u.totals() }

func (u *Universe) countAll() Totals {
	out := Totals{Rows: map[string]int64{}, Brokers: make([]BrokerTotal, u.brokers())}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for unit := range u.units {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			rows, brokers := u.countUnit(unit)
			mu.Lock()
			defer mu.Unlock()
			for t, n := range rows {
				out.Rows[t] += n
			}
			for i, b := range brokers {
				out.Brokers[i].Trades += b.Trades
				out.Brokers[i].Commission += b.Commission
			}
		})
	}
	wg.Wait()
	u.countStatic(out.Rows)
	return out
}

func (u *Universe) countUnit(unit int) (map[string]int64, []BrokerTotal) {
	rows, brokers := map[string]int64{}, make([]BrokerTotal, u.brokers())
	h := u.newHistory(unit)
	_ = h.run(func(t *trade) error { // the visitor returns no error, so run returns none
		rows["trade"]++
		rows["settlement"]++
		rows["trade_history"] += 3 - bit(t.kind.Market())
		rows["cash_transaction"] += bit(t.cash)
		rows["holding_history"] += int64(len(t.closed)) + bit(t.rest != 0)
		b := &brokers[t.owner.BrokerID-u.brokerID(1)]
		b.Trades++
		b.Commission += t.comm
		return nil
	})
	rows["holding_summary"] = int64(len(h.positions))
	rows["holding"] = int64(len(h.openLots()))
	return rows, brokers
}

// countStatic counts by generating only where sizes are drawn.
func (u *Universe) countStatic(rows map[string]int64) {
	rows["broker"] = int64(u.brokers())
	for _, s := range u.Static() {
		switch s.Table {
		case "broker": // its rows need the totals that are being made
		case "daily_market":
			rows[s.Table] = int64(s.Units * 5 * u.DailyMarketWeeks)
		case "news_item", "news_xref":
			rows[s.Table] = int64(s.Units)
		default:
			n := int64(0)
			for i := range s.Units {
				s.Unit(i, func(Row) { n++ })
			}
			rows[s.Table] = n
		}
	}
	rows["trade_request"] = 0
}
