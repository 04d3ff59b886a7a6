package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
	"moka/tpce/schema"
)

// CheckReport says which consistency conditions hold.
type CheckReport struct {
	Target     string            `json:"target"`
	Seconds    float64           `json:"seconds"`
	Conditions []ConditionReport `json:"conditions"`
}

// ConditionReport is one condition. Violations is a sample of the offending rows, empty when the condition
// holds.
type ConditionReport struct {
	ID         string   `json:"id"`
	Text       string   `json:"text"`
	Seconds    float64  `json:"seconds"`
	Skipped    string   `json:"skipped,omitempty"` // the reason, if it could not be asked
	Violations []string `json:"violations,omitempty"`
}

// ErrInconsistent is in the error of a check that found violations.
var ErrInconsistent = errors.New("tpce: the database is inconsistent")

// condition holds when its queries return no row.
type condition struct {
	id, text string
	queries  []string
}

// The first three are the specification's; the others follow from what the transactions do. Each query
// returns the offending rows. BROKER_TOTAL is empty unless an observer keeps totals, so C1 and C2 are the
// same text in every mode.
var conditions = []condition{
	{"C1", "a broker's number of trades is that of its accounts' completed trades", []string{`
SELECT b.b_id, b.b_num_trades, o.bo_num_trades, x.n
FROM broker b LEFT JOIN broker_total o ON o.bo_b_id = b.b_id
LEFT JOIN (SELECT ca_b_id, COUNT(*) AS n FROM trade JOIN customer_account ON ca_id = t_ca_id WHERE t_st_id = 'CMPT' GROUP BY ca_b_id) x ON x.ca_b_id = b.b_id
WHERE b.b_num_trades + COALESCE(o.bo_num_trades, 0) <> COALESCE(x.n, 0)`}},
	{"C2", "a broker's commission is the sum over those trades", []string{`
SELECT b.b_id, b.b_comm_total, o.bo_comm_total, x.c
FROM broker b LEFT JOIN broker_total o ON o.bo_b_id = b.b_id
LEFT JOIN (SELECT ca_b_id, SUM(t_comm) AS c FROM trade JOIN customer_account ON ca_id = t_ca_id WHERE t_st_id = 'CMPT' GROUP BY ca_b_id) x ON x.ca_b_id = b.b_id
WHERE b.b_comm_total + COALESCE(o.bo_comm_total, 0) <> COALESCE(x.c, 0)`}},
	{"C3", "a position is the sum of its lots, all on one side, and there only if lots are", []string{`
SELECT s.hs_ca_id, s.hs_s_symb, s.hs_qty, x.q
FROM holding_summary s
LEFT JOIN (SELECT h_ca_id, h_s_symb, SUM(h_qty) AS q, MIN(h_qty) AS lo, MAX(h_qty) AS hi FROM holding GROUP BY h_ca_id, h_s_symb) x
  ON x.h_ca_id = s.hs_ca_id AND x.h_s_symb = s.hs_s_symb
WHERE x.q IS NULL OR x.q <> s.hs_qty OR s.hs_qty = 0 OR (x.lo < 0 AND x.hi > 0) OR x.lo = 0 OR x.hi = 0`}},
	{"C4", "a lot has its position", []string{`
SELECT h.h_t_id FROM holding h LEFT JOIN holding_summary s ON s.hs_ca_id = h.h_ca_id AND s.hs_s_symb = h.h_s_symb WHERE s.hs_ca_id IS NULL`}},
	{"C5", "a trade is complete if and only if it has a price and a settlement", []string{`
SELECT t.t_id, t.t_st_id FROM trade t LEFT JOIN settlement se ON se.se_t_id = t.t_id
WHERE (t.t_st_id = 'CMPT' AND (t.t_trade_price IS NULL OR se.se_t_id IS NULL))
   OR (t.t_st_id <> 'CMPT' AND (t.t_trade_price IS NOT NULL OR se.se_t_id IS NOT NULL))`}},
	{"C6", "a cash transaction is there for exactly the completed cash trades, with the settled amount", []string{`
SELECT t.t_id FROM trade t LEFT JOIN settlement se ON se.se_t_id = t.t_id LEFT JOIN cash_transaction ct ON ct.ct_t_id = t.t_id
WHERE (t.t_st_id = 'CMPT' AND t.t_is_cash = 1 AND (ct.ct_t_id IS NULL OR ct.ct_amt <> se.se_amt))
   OR (ct.ct_t_id IS NOT NULL AND (t.t_st_id <> 'CMPT' OR t.t_is_cash = 0))`}},
	{"C7", "a request is there for exactly the pending trades, and says the same", []string{`
SELECT t.t_id FROM trade t JOIN customer_account a ON a.ca_id = t.t_ca_id LEFT JOIN trade_request r ON r.tr_t_id = t.t_id
WHERE (t.t_st_id = 'PNDG' AND r.tr_t_id IS NULL)
   OR (r.tr_t_id IS NOT NULL AND (t.t_st_id <> 'PNDG' OR r.tr_tt_id <> t.t_tt_id OR r.tr_s_symb <> t.t_s_symb
       OR r.tr_qty <> t.t_qty OR r.tr_bid_price <> t.t_bid_price OR r.tr_b_id <> a.ca_b_id))`}},
	{"C8", "a trade's history matches its type and status", []string{`
SELECT x.t_id, x.t_tt_id, x.t_st_id, x.p, x.s, x.c, x.k FROM
 (SELECT t.t_id, t.t_tt_id, t.t_st_id,
    SUM(CASE WHEN th_st_id = 'PNDG' THEN 1 ELSE 0 END) AS p, SUM(CASE WHEN th_st_id = 'SBMT' THEN 1 ELSE 0 END) AS s,
    SUM(CASE WHEN th_st_id = 'CMPT' THEN 1 ELSE 0 END) AS c, SUM(CASE WHEN th_st_id = 'CNCL' THEN 1 ELSE 0 END) AS k
  FROM trade t LEFT JOIN trade_history ON th_t_id = t.t_id GROUP BY t.t_id, t.t_tt_id, t.t_st_id) x
WHERE x.p <> CASE WHEN x.t_tt_id IN ('TMB', 'TMS') THEN 0 ELSE 1 END
   OR x.s <> CASE WHEN x.t_st_id = 'PNDG' THEN 0 ELSE 1 END
   OR x.c <> CASE WHEN x.t_st_id = 'CMPT' THEN 1 ELSE 0 END
   OR x.k <> CASE WHEN x.t_st_id = 'CNCL' THEN 1 ELSE 0 END`}},
	{"C9", "what a trade moved is its quantity, once complete", []string{`
SELECT t.t_id, t.t_tt_id, t.t_qty, x.d FROM trade t
LEFT JOIN (SELECT hh_t_id, SUM(hh_after_qty - hh_before_qty) AS d FROM holding_history GROUP BY hh_t_id) x ON x.hh_t_id = t.t_id
WHERE (t.t_st_id = 'CMPT' AND COALESCE(x.d, 0) <> CASE WHEN t.t_tt_id IN ('TMB', 'TLB') THEN t.t_qty ELSE -t.t_qty END)
   OR (t.t_st_id <> 'CMPT' AND x.d IS NOT NULL)`}},
	{"C10", "what was moved in and out of a lot is what the lot holds", []string{`
SELECT x.hh_h_t_id, x.d, h.h_qty FROM
 (SELECT hh_h_t_id, SUM(hh_after_qty - hh_before_qty) AS d FROM holding_history GROUP BY hh_h_t_id) x
 LEFT JOIN holding h ON h.h_t_id = x.hh_h_t_id WHERE x.d <> COALESCE(h.h_qty, 0)`, `
SELECT h.h_t_id FROM holding h LEFT JOIN holding_history hh ON hh.hh_h_t_id = h.h_t_id AND hh.hh_t_id = h.h_t_id WHERE hh.hh_t_id IS NULL`}},
	{"C11", "taxes, charges and commissions are there when due", []string{`
SELECT t.t_id FROM trade t JOIN customer_account a ON a.ca_id = t.t_ca_id
WHERE (a.ca_tax_st = 0 AND t.t_tax <> 0) OR t.t_tax < 0 OR t.t_chrg <= 0 OR (t.t_st_id = 'CMPT' AND t.t_comm <= 0)`}},
	{"C12", "a settlement is what the trade's price, fees and tax make it", []string{`
SELECT t.t_id, se.se_amt FROM trade t JOIN settlement se ON se.se_t_id = t.t_id JOIN customer_account a ON a.ca_id = t.t_ca_id
WHERE se.se_amt <> CASE WHEN t.t_tt_id IN ('TMB', 'TLB') THEN -(t.t_qty * t.t_trade_price + t.t_chrg + t.t_comm)
                        ELSE t.t_qty * t.t_trade_price - t.t_chrg - t.t_comm END
                 - CASE WHEN a.ca_tax_st = 1 THEN t.t_tax ELSE 0 END`}},
	{"C18", "a customer has one country's and one division's tax rate", []string{`
SELECT cx_c_id, COUNT(*) AS n, SUM(CASE WHEN cx_tx_id LIKE 'US%' OR cx_tx_id LIKE 'CN%' THEN 1 ELSE 0 END) AS country
FROM customer_taxrate GROUP BY cx_c_id HAVING COUNT(*) <> 2 OR SUM(CASE WHEN cx_tx_id LIKE 'US%' OR cx_tx_id LIKE 'CN%' THEN 1 ELSE 0 END) <> 1`}},
	{"C19", "quantities and flags are of the kinds that are ordered", []string{`
SELECT t_id FROM trade WHERE t_lifo NOT IN (0, 1) OR t_is_cash NOT IN (0, 1) OR t_qty NOT IN (100, 200, 400, 800)
   OR (t_is_cash = 0 AND t_tt_id NOT IN ('TMB', 'TLB'))`}},
	{"C21", "the observer's totals are the sums of what was contributed", []string{`
SELECT o.bo_b_id, o.bo_num_trades, o.bo_comm_total, x.n, x.c
FROM broker_total o LEFT JOIN (SELECT bt_b_id, COUNT(*) AS n, SUM(bt_comm) AS c FROM broker_trade GROUP BY bt_b_id) x ON x.bt_b_id = o.bo_b_id
WHERE o.bo_num_trades <> COALESCE(x.n, 0) OR o.bo_comm_total <> COALESCE(x.c, 0)`, `
SELECT bt_t_id, bt_b_id FROM broker_trade LEFT JOIN broker_total ON bo_b_id = bt_b_id WHERE bo_b_id IS NULL`, `
SELECT bt_t_id, t_comm, bt_comm FROM broker_trade LEFT JOIN trade ON t_id = bt_t_id WHERE t_id IS NULL OR t_comm <> bt_comm OR t_st_id <> 'CMPT'`}},
}

const sampleSize = 5

// Check asks every condition, after the observer's backlog, if there is one, has drained. The database should
// be quiet: the questions are asked in one transaction, but not every engine gives a transaction one
// snapshot. The error wraps ErrInconsistent when a condition is violated; the report is complete then.
func Check(ctx context.Context, cfg Config) (CheckReport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return CheckReport{}, err
	}
	db, err := client.Open(cfg.Target, 2)
	if err != nil {
		return CheckReport{}, err
	}
	defer db.Close()
	u, stored, err := universeOf(ctx, db, cfg)
	if err != nil {
		return CheckReport{}, err
	}
	report := CheckReport{Target: client.Redact(cfg.Target)}
	started := time.Now()
	backlog := waitForObserver(ctx, db, cfg.DrainTimeout)
	s, err := client.OpenSession(ctx, db)
	if err != nil {
		return report, err
	}
	defer s.Close()
	c := &checker{session: s, u: u,
		progress: startProgress(cfg.Progress, "check", "conditions", int64(len(conditions)+5), nil)}
	defer c.progress.finish()
	if backlog != nil {
		c.add(ConditionReport{ID: "C20", Text: "the observer keeps up",
			Violations: []string{strings.TrimPrefix(backlog.Error(), "tpce: ")}})
	}
	err = s.Transact(ctx, client.RepeatableRead, func(ctx context.Context) error {
		return c.run(ctx, stored[paramTotalsLost] != "")
	})
	if err == nil {
		asked := time.Now()
		var r ConditionReport
		if r, err = checkIndexes(ctx, db); err == nil {
			r.Seconds = time.Since(asked).Seconds()
			c.add(r)
		}
	}
	report.Conditions, report.Seconds = c.reports, time.Since(started).Seconds()
	if err != nil {
		return report, fmt.Errorf("tpce: check: %w", err)
	}
	return report, report.Err()
}

// Err is nil when every condition holds.
func (r CheckReport) Err() error {
	var broken []string
	for _, c := range r.Conditions {
		if len(c.Violations) > 0 {
			broken = append(broken, c.ID)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInconsistent, strings.Join(broken, ", "))
}

// Text is one line for each condition.
func (r CheckReport) Text() string {
	var b strings.Builder
	for _, c := range r.Conditions {
		state := "holds"
		switch {
		case c.Skipped != "":
			state = "skipped: " + c.Skipped
		case len(c.Violations) > 0:
			state = "VIOLATED: " + strings.Join(c.Violations, "; ")
		}
		fmt.Fprintf(&b, "%-4s %s: %s (%.2f s)\n", c.ID, c.Text, state, c.Seconds)
	}
	return b.String()
}

type checker struct {
	session  *client.Session
	u        *gen.Universe
	progress *progress
	reports  []ConditionReport
}

func (c *checker) add(r ConditionReport) {
	c.reports = append(c.reports, r)
	c.progress.done.Add(1)
}

func (c *checker) run(ctx context.Context, totalsLost bool) error {
	for _, cond := range conditions {
		r := ConditionReport{ID: cond.id, Text: cond.text}
		if totalsLost && (cond.id == "C1" || cond.id == "C2") {
			r.Skipped = "a run left the broker totals out"
			c.add(r)
			continue
		}
		started := time.Now()
		for _, q := range cond.queries {
			sample, err := c.sample(ctx, fmt.Sprintf("%s LIMIT %d", strings.TrimSpace(q), sampleSize))
			if err != nil {
				return fmt.Errorf("%s: %w", cond.id, err)
			}
			r.Violations = append(r.Violations, sample...)
		}
		r.Seconds = time.Since(started).Seconds()
		c.add(r)
	}
	for _, special := range []func(context.Context) (ConditionReport, error){c.balances, c.orphans,
		c.fixedCounts} {
		started := time.Now()
		r, err := special(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID, err)
		}
		r.Seconds = time.Since(started).Seconds()
		c.add(r)
	}
	return nil
}

// sample prints the rows a query returns.
func (c *checker) sample(ctx context.Context, query string) ([]string, error) {
	var out []string
	err := c.session.Each(ctx, query, nil, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		values := make([]sql.NullString, len(columns))
		dest := make([]any, len(columns))
		for i := range dest {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		line := make([]string, len(columns))
		for i, v := range values {
			line[i] = columns[i] + " NULL"
			if v.Valid {
				line[i] = columns[i] + " " + v.String
			}
		}
		out = append(out, strings.Join(line, ", "))
		return nil
	})
	return out, err
}

// balances is C13. The balances after the load are the generator's, so no copy of the table is needed.
func (c *checker) balances(ctx context.Context) (ConditionReport, error) {
	r := ConditionReport{ID: "C13",
		Text: "an account's balance moved by the sum of its run-time cash transactions"}
	moved := map[int64]gen.Cents{}
	err := c.session.Each(ctx, "SELECT t_ca_id, SUM(ct_amt) FROM trade JOIN cash_transaction ON ct_t_id = "+
		"t_id WHERE t_id >= ? GROUP BY t_ca_id",
		[]any{c.u.FirstRuntimeTrade()}, func(rows *sql.Rows) error {
			var account int64
			var amount gen.Cents
			err := rows.Scan(&account, &amount)
			moved[account] = amount
			return err
		})
	if err != nil {
		return r, err
	}
	err = c.session.Each(ctx, "SELECT ca_id, ca_bal FROM customer_account", nil, func(rows *sql.Rows) error {
		var account int64
		var balance gen.Cents
		if err := rows.Scan(&account, &balance); err != nil {
			return err
		}
		n := gen.AccountOwner(account)
		loaded := c.u.Account(n, int(account-gen.AccountID(n, 0))).Balance
		if balance-loaded != moved[account] && len(r.Violations) < sampleSize {
			r.Violations = append(r.Violations,
				fmt.Sprintf("account %d moved by %v, its cash transactions by %v", account, balance-loaded,
					moved[account]))
		}
		return nil
	})
	return r, err
}

// orphans is C16. Many children share a parent except below TRADE, so elsewhere the distinct values are
// joined.
func (c *checker) orphans(ctx context.Context) (ConditionReport, error) {
	r := ConditionReport{ID: "C16", Text: "every foreign key finds its parent"}
	for _, t := range schema.Tables() {
		for _, f := range t.ForeignKeys {
			parent, err := schema.Lookup(f.Parent)
			if err != nil {
				return r, err
			}
			var on []string
			for i, column := range f.Columns {
				on = append(on, fmt.Sprintf("p.%s = c.%s", parent.PrimaryKey[i], column))
			}
			columns := strings.Join(f.Columns, ", ")
			children := fmt.Sprintf("(SELECT %s FROM %s GROUP BY %s) c", columns, t.Name, columns)
			if f.Parent == "trade" {
				children = t.Name + " c"
			}
			sample, err := c.sample(ctx, fmt.Sprintf(
				"SELECT c.%s FROM %s LEFT JOIN %s p ON %s WHERE p.%s IS NULL LIMIT %d",
				strings.Join(f.Columns, ", c."), children, f.Parent, strings.Join(on, " AND "),
				parent.PrimaryKey[0], sampleSize))
			if err != nil {
				return r, err
			}
			for _, s := range sample {
				r.Violations = append(r.Violations, t.Name+": "+s)
			}
		}
	}
	return r, nil
}

// fixedCounts is C17: no transaction changes the size of these tables.
func (c *checker) fixedCounts(ctx context.Context) (ConditionReport, error) {
	r := ConditionReport{ID: "C17", Text: "tables that do not grow have the rows they were loaded with"}
	want := c.u.Totals().Rows
	for _, s := range c.u.Static() {
		var n int64
		if err := c.session.Row(ctx, "SELECT COUNT(*) FROM "+s.Table, nil, &n); err != nil {
			return r, err
		}
		if n != want[s.Table] {
			r.Violations = append(r.Violations,
				fmt.Sprintf("%s has %d rows, not %d", s.Table, n, want[s.Table]))
		}
	}
	return r, nil
}
