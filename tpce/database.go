package tpce

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
	"moka/tpce/schema"
)

// Besides the 33 tables the workload keeps what it must remember itself: how the database was loaded, and
// where the run-time trade numbers continue. The two tables of broker totals are there in every mode, so that
// the consistency conditions are one text.
var ownTables = []schema.Table{
	{
		Name: "workload_parameter", PrimaryKey: []string{"wp_name"},
		Columns: []schema.Column{{Name: "wp_name", Type: schema.Char, Len: 40},
			{Name: "wp_value", Type: schema.Char, Len: 80}},
	},
	{
		Name: "workload_sequence", PrimaryKey: []string{"ws_name"},
		Columns: []schema.Column{{Name: "ws_name", Type: schema.Char, Len: 40},
			{Name: "ws_next", Type: schema.Trade}},
	},
	{
		Name: "broker_trade", PrimaryKey: []string{"bt_t_id"},
		Columns: []schema.Column{
			{Name: "bt_t_id", Type: schema.Trade}, {Name: "bt_b_id", Type: schema.Ident},
			{Name: "bt_comm", Type: schema.Balance}, {Name: "bt_dts", Type: schema.DateTime},
		},
	},
	{
		Name: "broker_total", PrimaryKey: []string{"bo_b_id"},
		Columns: []schema.Column{
			{Name: "bo_b_id", Type: schema.Ident}, {Name: "bo_num_trades", Type: schema.Count},
			{Name: "bo_comm_total", Type: schema.Balance},
		},
	},
}

// ObserverDDL declares the observer that keeps broker_total: one contribution, one increment. An observer
// commits at most once for each change, and every contribution is a row of its own, so the totals are exact
// once the backlog is empty.
const ObserverDDL = `CREATE OBSERVER IF NOT EXISTS broker_total_of_trades
  AFTER INSERT ON broker_trade FOR EACH ROW
  UPDATE broker_total
  SET bo_num_trades = bo_num_trades + 1, bo_comm_total = bo_comm_total + NEW.bt_comm
  WHERE bo_b_id = NEW.bt_b_id`

func tableExists(ctx context.Context, db *client.Pool, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx,
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "+db.CurrentSchema()+" AND table_name = ?", name).Scan(&n)
	return n > 0, err
}

// Parameters of the load, as stored.
const (
	paramFormat     = "format"
	paramLoaded     = "loaded"
	paramTotalsLost = "totals_omitted" // a run in Omit mode has left the totals behind
	formatVersion   = "1"
)

func storedParams(p gen.Params) map[string]string {
	return map[string]string{
		paramFormat: formatVersion, "customers": strconv.Itoa(p.Customers), "days": strconv.Itoa(p.Days),
		"scale_factor":       strconv.Itoa(p.ScaleFactor),
		"seed":               strconv.FormatUint(p.Seed, 10),
		"daily_market_weeks": strconv.Itoa(p.DailyMarketWeeks),
		"news_bytes":         strconv.Itoa(p.NewsBytes),
	}
}

// setParameter is an upsert in two plain statements.
func setParameter(ctx context.Context, db *client.Pool, name, value string) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM workload_parameter WHERE wp_name = ?", name); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO workload_parameter (wp_name, wp_value) VALUES (?, ?)",
		name, value)
	return err
}

func loadParameters(ctx context.Context, db *client.Pool) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT wp_name, wp_value FROM workload_parameter")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, rows.Err()
}

// universeOf reads how the database was loaded, and refuses a Config that says otherwise.
func universeOf(ctx context.Context, db *client.Pool, cfg Config) (*gen.Universe, map[string]string, error) {
	stored, err := loadParameters(ctx, db)
	if err != nil {
		if client.NoSuchTable(err) {
			return nil, nil, fmt.Errorf("tpce: %s holds no workload: load it first",
				client.Redact(cfg.Target))
		}
		return nil, nil, fmt.Errorf("tpce: %s: %w", client.Redact(cfg.Target), err)
	}
	if stored[paramLoaded] == "" {
		return nil, nil, fmt.Errorf("tpce: the load of %s did not finish: load it again, dropping its "+
			"tables first", client.Redact(cfg.Target))
	}
	if stored[paramFormat] != formatVersion {
		return nil, nil, fmt.Errorf("tpce: %s was loaded in format %q, this program reads %s: load it again",
			client.Redact(cfg.Target), stored[paramFormat], formatVersion)
	}
	number := func(name string) int {
		n, perr := strconv.Atoi(stored[name])
		if perr != nil && err == nil {
			err = fmt.Errorf("tpce: parameter %s of %s is %q", name, client.Redact(cfg.Target), stored[name])
		}
		return n
	}
	seed, err := strconv.ParseUint(stored["seed"], 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("tpce: parameter seed of %s is %q", client.Redact(cfg.Target),
			stored["seed"])
	}
	p := gen.Params{
		Customers: number("customers"), Days: number("days"), ScaleFactor: number("scale_factor"), Seed: seed,
		DailyMarketWeeks: number("daily_market_weeks"), NewsBytes: number("news_bytes"),
	}
	if err != nil {
		return nil, nil, err
	}
	wanted := storedParams(cfg.params())
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if v := wanted[name]; v != "0" && v != stored[name] {
			return nil, nil, fmt.Errorf("tpce: %s was loaded with %s = %s, not %s: leave it out, or load "+
				"again", client.Redact(cfg.Target), name, stored[name], v)
		}
	}
	u, err := gen.New(p)
	return u, stored, err
}

// tradeNumbers leases run-time trade ids in blocks: one small transaction for each block, no hot row, and
// inserts of different workers land apart.
type tradeNumbers struct {
	session    *client.Session
	policy     client.RetryPolicy
	next, last int64
}

const tradeNumberBlock = 2000

func (n *tradeNumbers) take(ctx context.Context) (int64, error) {
	if n.next == 0 || n.next > n.last {
		if err := n.lease(ctx); err != nil {
			return 0, err
		}
	}
	id := n.next
	n.next++
	return id, nil
}

func (n *tradeNumbers) lease(ctx context.Context) error {
	var first int64
	p := n.policy
	p.Level = client.ReadCommitted
	// A lease whose outcome is unknown is simply not used: numbers may be sparse.
	p.Happened = func(context.Context) (bool, error) { return false, nil }
	err := n.session.Retry(ctx, p, func(ctx context.Context) error {
		if err := n.session.Row(ctx, "SELECT ws_next FROM workload_sequence WHERE ws_name = 'trade' FOR "+
			"UPDATE", nil, &first); err != nil {
			return err
		}
		return n.session.Exec(ctx, "UPDATE workload_sequence SET ws_next = ? WHERE ws_name = 'trade'",
			first+tradeNumberBlock)
	})
	if err != nil {
		return fmt.Errorf("leasing trade numbers: %w", err)
	}
	n.next, n.last = first, first+tradeNumberBlock-1
	return nil
}

// millis is the resolution of DATETIME(3): a time that survives the database unchanged.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
