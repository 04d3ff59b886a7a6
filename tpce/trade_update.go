package tpce

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Trade-Update corrects historical trades; one of three frames, each the search of Trade-Lookup with an
// update of every row that was found:
//
//	1 T_EXEC_NAME gets or loses a middle X   2 SE_CASH_TYPE changes its wording   3 CT_NAME changes the case of a word
//
// The updates go in order of trade ids, so that two that meet do not deadlock.

func drawTradeUpdate(u *gen.Universe, r *gen.Rand) historySearch {
	frame := 3
	switch p := r.Int(1, 100); {
	case p <= 33:
		frame = 1
	case p <= 66:
		frame = 2
	}
	return drawHistorySearch(u, r, frame)
}

type tradeUpdate struct {
	tradeSearch
	updated int
}

func (t *tradeUpdate) run(ctx context.Context) error {
	t.updated = 0
	if err := t.find(ctx); err != nil {
		return err
	}
	if t.in.frame == 1 && len(t.trades) != maxTrades {
		return client.Status(-1011, fmt.Sprintf("%d of %d trades found", len(t.trades), maxTrades))
	}
	if err := t.details(ctx); err != nil {
		return err
	}
	slices.SortFunc(t.trades, func(a, b foundTrade) int { return cmp.Compare(a.id, b.id) })
	for i := range t.trades {
		if err := t.correct(ctx, &t.trades[i]); err != nil {
			return err
		}
	}
	return nil
}

// correct makes one update, of a row that the search has read in this transaction.
func (t *tradeUpdate) correct(ctx context.Context, f *foundTrade) error {
	var err error
	switch t.in.frame {
	case 1:
		f.executor = toggleMiddle(f.executor)
		err = t.Exec(ctx, "UPDATE trade SET t_exec_name = ? WHERE t_id = ?", f.executor, f.id)
	case 2:
		f.cashType = toggleCashType(f.cash, f.cashType)
		err = t.Exec(ctx, "UPDATE settlement SET se_cash_type = ? WHERE se_t_id = ?", f.cashType, f.id)
	default:
		if !f.cash {
			return nil
		}
		f.moveName = toggleShares(f)
		err = t.Exec(ctx, "UPDATE cash_transaction SET ct_name = ? WHERE ct_t_id = ?", f.moveName, f.id)
	}
	if err == nil {
		t.updated++
	}
	return err
}

func toggleMiddle(name string) string {
	if strings.Contains(name, " X ") {
		return strings.Replace(name, " X ", " ", 1)
	}
	return strings.Replace(name, " ", " X ", 1)
}

func toggleCashType(cash bool, was string) string {
	long, short := "Margin Account", "Margin"
	if cash {
		long, short = "Cash Account", "Cash"
	}
	if was == long {
		return short
	}
	return long
}

func toggleShares(f *foundTrade) string {
	name := gen.CashName(f.kindName, f.quantity, f.security)
	if strings.Contains(f.moveName, " shares of ") {
		name = strings.Replace(name, " shares of ", " Shares of ", 1)
	}
	return name
}

// warning is the specification's check of the result, which a short history cannot always satisfy.
func (t *tradeUpdate) warning() string {
	if len(t.trades) == 0 {
		return fmt.Sprintf("10%d1: no trade in the range", t.in.frame)
	}
	return ""
}
