package tpce

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Trade-Lookup and Trade-Update find historical trades in the same three ways, and read the same about them.
// The kits ask trade by trade, with up to 78 statements; here what belongs to a list of trades is read with
// one IN list for each table, which the specification leaves open. Lists are padded to their full length by
// repeating a member, so that one prepared statement serves all of them.

// maxTrades is the number of trades that a search returns at most.
const maxTrades = 20

type historySearch struct {
	// 1 by trade ids, 2 by account, 3 by symbol, 4 (Trade-Lookup) the holdings of an account's trade
	frame    int
	ids      []int64 // frame 1
	account  int64   // frames 2 and 4
	symbol   string  // frame 3
	from, to time.Time
}

func drawHistorySearch(u *gen.Universe, r *gen.Rand, frame int) historySearch {
	in := historySearch{frame: frame}
	backOff := gen.BackOffAccount
	switch frame {
	case 1:
		in.ids = u.ChooseTrades(r, maxTrades)
		return in
	case 3:
		in.symbol = u.Symbol(int(r.Int(0, int64(u.Securities()-1))))
		backOff = gen.BackOffSymbol
	case 4:
		backOff = gen.BackOffHolding
		fallthrough
	default:
		in.account = gen.AccountID(u.ChooseAccount(r))
	}
	in.from, in.to = u.ChooseTradeTime(r, backOff), u.EndOfHistory()
	return in
}

// foundTrade is one trade with what belongs to it.
type foundTrade struct {
	id, account, quantity  int64
	at                     time.Time
	kind, kindName, symbol string
	executor, security     string
	bid                    gen.Cents
	price                  gen.Cents
	cash, market           bool

	settled  gen.Cents
	due      time.Time
	cashType string
	moved    gen.Cents // of the cash transaction, if cash
	movedAt  time.Time
	moveName string
	steps    []historyStep
}

type historyStep struct {
	at     time.Time
	status string
}

const foundColumns = `SELECT t_id, t_ca_id, t_qty, t_dts, t_tt_id, tt_name, t_s_symb, t_exec_name, ` +
	`t_bid_price, t_trade_price, t_is_cash, tt_is_mrkt`

var (
	tradesByID = foundColumns + ` FROM trade JOIN trade_type ON tt_id = t_tt_id WHERE t_id IN (` +
		placeholders(maxTrades) + `)`
	tradesOfAccount = foundColumns + ` FROM trade JOIN trade_type ON tt_id = t_tt_id
WHERE t_ca_id = ? AND t_dts >= ? AND t_dts <= ? ORDER BY t_dts ASC LIMIT 20`
	tradesOfSymbol = foundColumns + ` FROM trade JOIN trade_type ON tt_id = t_tt_id
WHERE t_s_symb = ? AND t_dts >= ? AND t_dts <= ? ORDER BY t_dts ASC LIMIT 20`
	// Trade-Update wants the security's name besides.
	namedTradesOfSymbol = foundColumns + `, s_name FROM trade JOIN trade_type ON tt_id = t_tt_id JOIN security ON s_symb = t_s_symb
WHERE t_s_symb = ? AND t_dts >= ? AND t_dts <= ? ORDER BY t_dts ASC LIMIT 20`

	settlementsOf = `SELECT se_t_id, se_amt, se_cash_due_date, se_cash_type FROM settlement WHERE se_t_id ` +
		`IN (` + placeholders(maxTrades) + `)`
	cashOf = `SELECT ct_t_id, ct_amt, ct_dts, ct_name FROM cash_transaction WHERE ct_t_id IN (` +
		placeholders(maxTrades) + `)`
	historyOf = `SELECT th_t_id, th_dts, th_st_id FROM trade_history WHERE th_t_id IN (` +
		placeholders(maxTrades) + `) ORDER BY th_t_id, th_dts`
)

// placeholders is "?, ?, …".
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// padded turns at most maxTrades ids into exactly as many arguments.
func padded(ids []int64) []any {
	args := make([]any, maxTrades)
	for i := range args {
		args[i] = ids[min(i, len(ids)-1)]
	}
	return args
}

// tradeSearch is one execution of a search; both transactions embed it.
type tradeSearch struct {
	*client.Session
	in     historySearch
	update bool // Trade-Update's; its frame 3 reads the securities' names too
	trades []foundTrade
}

// find reads the trades themselves.
func (t *tradeSearch) find(ctx context.Context) error {
	t.trades = t.trades[:0]
	var query string
	var args []any
	switch t.in.frame {
	case 1:
		query, args = tradesByID, padded(t.in.ids)
	case 2:
		query, args = tradesOfAccount, []any{t.in.account, t.in.from, t.in.to}
	default:
		query, args = tradesOfSymbol, []any{t.in.symbol, t.in.from, t.in.to}
		if t.update {
			query = namedTradesOfSymbol
		}
	}
	return t.Each(ctx, query, args, func(rows *sql.Rows) error {
		var f foundTrade
		dest := []any{&f.id, &f.account, &f.quantity, &f.at, &f.kind, &f.kindName, &f.symbol, &f.executor,
			&f.bid, &f.price, &f.cash, &f.market}
		if query == namedTradesOfSymbol {
			dest = append(dest, &f.security)
		}
		err := rows.Scan(dest...)
		t.trades = append(t.trades, f)
		return err
	})
}

func (t *tradeSearch) ids() []int64 {
	ids := make([]int64, len(t.trades))
	for i, f := range t.trades {
		ids[i] = f.id
	}
	return ids
}

// trade finds one of the list by its id.
func (t *tradeSearch) trade(id int64) (*foundTrade, error) {
	i := slices.IndexFunc(t.trades, func(f foundTrade) bool { return f.id == id })
	if i < 0 {
		return nil, fmt.Errorf("trade %d was not asked for", id)
	}
	return &t.trades[i], nil
}

// details reads what belongs to the trades, table by table.
func (t *tradeSearch) details(ctx context.Context) error {
	if len(t.trades) == 0 {
		return nil
	}
	ids := padded(t.ids())
	err := t.Each(ctx, settlementsOf, ids, func(rows *sql.Rows) error {
		var id int64
		var f foundTrade
		if err := rows.Scan(&id, &f.settled, &f.due, &f.cashType); err != nil {
			return err
		}
		found, err := t.trade(id)
		if err == nil {
			found.settled, found.due, found.cashType = f.settled, f.due, f.cashType
		}
		return err
	})
	if err != nil {
		return err
	}
	err = t.Each(ctx, cashOf, ids, func(rows *sql.Rows) error {
		var id int64
		var f foundTrade
		if err := rows.Scan(&id, &f.moved, &f.movedAt, &f.moveName); err != nil {
			return err
		}
		found, err := t.trade(id)
		if err == nil {
			found.moved, found.movedAt, found.moveName = f.moved, f.movedAt, f.moveName
		}
		return err
	})
	if err != nil {
		return err
	}
	err = t.Each(ctx, historyOf, ids, func(rows *sql.Rows) error {
		var id int64
		var step historyStep
		if err := rows.Scan(&id, &step.at, &step.status); err != nil {
			return err
		}
		found, err := t.trade(id)
		if err == nil {
			found.steps = append(found.steps, step)
		}
		return err
	})
	if err != nil {
		return err
	}
	return t.verify()
}

// verify holds the details against the trades: a completed trade has its settlement, a cash trade its cash
// transaction of the same amount, and every trade two or three steps of history, in order of time.
func (t *tradeSearch) verify() error {
	for _, f := range t.trades {
		steps := 3
		if f.market {
			steps = 2
		}
		switch {
		case f.cashType == "":
			return client.Status(t.status(), fmt.Sprintf("trade %d has no settlement", f.id))
		case f.cash && (f.moveName == "" || f.moved != f.settled), !f.cash && f.moveName != "":
			return client.Status(t.status(),
				fmt.Sprintf("trade %d, cash %v: settled %v, moved %v", f.id, f.cash, f.settled, f.moved))
		case len(f.steps) != steps:
			return client.Status(t.status(),
				fmt.Sprintf("trade %d has %d steps of history, not %d", f.id, len(f.steps), steps))
		}
	}
	return nil
}

// status is the number of a wrong result of the frame: -611 to -631 for Trade-Lookup, -1011 to
// -1031 for Trade-Update.
func (t *tradeSearch) status() int {
	if t.update {
		return -1001 - 10*t.in.frame
	}
	return -601 - 10*t.in.frame
}
