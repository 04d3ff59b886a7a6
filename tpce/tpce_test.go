package tpce

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
	"moka/tpce/servertest"
)

// The tests share a server of each family; each test has a database of its own. server is the one under test.
var (
	server interface{ URL(database string) string }
	maria  servertest.MariaDB
)

// TestPostgres is what does not depend on MySQL's wire, against PostgreSQL.
func TestPostgres(t *testing.T) {
	server = servertest.StartPostgreSQL(t)
	t.Run("EndToEnd", testEndToEnd)
	t.Run("Transactions", testTransactions)
	t.Run("RollBackLeavesNothing", testRollBackLeavesNothing)
	t.Run("ResultsOfOnePosition", testResultsOfOnePosition)
	t.Run("NoObservers", func(t *testing.T) {
		cfg := quick("observers")
		cfg.BrokerTotals = Observer
		if _, err := Load(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "no observers") {
			t.Errorf("observers on PostgreSQL: %v", err)
		}
	})
}

// TestAll owns the server: it starts once and dies with the test.
func TestAll(t *testing.T) {
	maria = servertest.StartMariaDB(t)
	server = maria
	t.Run("EndToEnd", testEndToEnd)
	t.Run("Transactions", testTransactions)
	t.Run("ObserverMode", testObserverMode)
	t.Run("Compare", testCompare)
	t.Run("ChecksFindFaults", testChecksFindFaults)
	t.Run("RollBackLeavesNothing", testRollBackLeavesNothing)
	t.Run("ResultsOfOnePosition", testResultsOfOnePosition)
	t.Run("LostCommit", testLostCommit)
	t.Run("HungServer", testHungServer)
	t.Run("ErrorsAreShown", testErrorsAreShown)
	t.Run("BadTargets", testBadTargets)
	t.Run("DeferredIndexes", testDeferredIndexes)
}

// quick is a world that loads in a fraction of a second.
func quick(database string) Config {
	return Config{
		Target: server.URL(database), Customers: 100, Days: 1, ScaleFactor: 2000, DailyMarketWeeks: 1,
		NewsBytes:   300,
		Connections: 4, MarketDelay: 10 * time.Millisecond, CurvePeriod: 3 * time.Second,
	}
}

func load(t *testing.T, cfg Config) {
	t.Helper()
	if _, err := Load(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, cfg Config) CheckReport {
	t.Helper()
	r, err := Check(t.Context(), cfg)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	return r
}

func database(t *testing.T, cfg Config) *client.Pool {
	t.Helper()
	db, err := client.Open(cfg.Target, 20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *client.Pool, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func count(t *testing.T, db *client.Pool, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// testEndToEnd is the life of the demo: load, check, run, check, run again over what the first run left,
// check.
func testEndToEnd(t *testing.T) {
	var lines strings.Builder
	cfg := Config{
		Target: server.URL("demo"), Preset: "demo", Connections: 4, Transactions: 1500, Progress: &lines,
		MarketDelay: 10 * time.Millisecond, CurvePeriod: 4 * time.Second,
	}
	loaded, err := Load(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(loaded.Text())
	if loaded.TotalRows != 93_479 || loaded.Rows["trade"] != 5760 {
		t.Errorf("loaded %d rows, %d trades", loaded.TotalRows, loaded.Rows["trade"])
	}
	check(t, cfg)

	for run, pendingBefore := 0, int64(0); run < 2; run++ {
		// What is not said is read from the database.
		r, err := Run(t.Context(), Config{
			Target: cfg.Target, Connections: 4, Transactions: cfg.Transactions, MarketDelay: cfg.MarketDelay,
			CurvePeriod:         cfg.CurvePeriod,
			MaintenanceInterval: 20 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + r.Text())
		if err := r.Err(); err != nil {
			t.Error(err)
		}
		if int64(r.Canceled) != pendingBefore {
			t.Errorf("canceled %d orders, %d were pending", r.Canceled, pendingBefore)
		}
		pendingBefore = r.LimitPending
		total := int64(0)
		seen := map[string]TxnReport{}
		for _, x := range r.Transactions {
			seen[x.Name] = x
		}
		for _, kind := range kinds {
			name := kind.name
			x := seen[name]
			if x.Measured == 0 || x.Latency.P50 <= 0 || x.Latency.P50 > x.Latency.P99 ||
				x.Latency.P99 > x.Latency.Max {
				t.Errorf("%s: %+v", name, x)
			}
			if kind.cards > 0 {
				total += x.Measured
			}
		}
		if total != cfg.Transactions || r.TRTPS <= 0 {
			t.Errorf("%d customers' transactions instead of %d; %f trtps", total, cfg.Transactions, r.TRTPS)
		}
		text, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var back RunReport
		if err := json.Unmarshal(text, &back); err != nil || back.TRTPS != r.TRTPS ||
			len(back.Transactions) != len(r.Transactions) {
			t.Errorf("JSON does not carry the report: %v", err)
		}
		check(t, cfg)
	}
	if _, err := Load(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "already holds") {
		t.Errorf("a second load says %v", err)
	}
	wrong := cfg
	wrong.Days = 2
	if _, err := Run(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "days = 1") {
		t.Errorf("a wrong number of days says %v", err)
	}
	omit := cfg
	omit.BrokerTotals, omit.Transactions = Omit, 200
	if _, err := Run(t.Context(), omit); err != nil {
		t.Fatal(err)
	}
	if r := check(t, cfg); r.Conditions[0].Skipped == "" {
		t.Error("C1 is asked although a run left the totals out")
	}
}

// testObserverMode lets a trigger play the observer: what is tested is the driver's part, the side table, the
// lag, the conditions. A second run in inline mode must add up with the first.
func testObserverMode(t *testing.T) {
	cfg := quick("observer")
	cfg.BrokerTotals, cfg.Transactions = Observer, 400
	if _, err := Load(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "no observers") {
		t.Fatalf("an engine without observers: %v", err)
	}
	cfg.Drop = true
	cfg.declareObserver = func(ctx context.Context, db *client.Pool) error {
		_, err := db.ExecContext(ctx, `CREATE TRIGGER IF NOT EXISTS totals AFTER INSERT ON broker_trade FOR EACH ROW
			UPDATE broker_total SET bo_num_trades = bo_num_trades + 1, bo_comm_total = bo_comm_total + NEW.bt_comm WHERE bo_b_id = NEW.bt_b_id`)
		return err
	}
	load(t, cfg)
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Fatalf("%v\n%s", err, r.Text())
	}
	if r.ObserverLag == nil || !strings.Contains(r.Text(), "observer lag") {
		t.Error("the report has no observer lag")
	}
	db := database(t, cfg)
	if n := count(t, db, "SELECT SUM(bo_num_trades) FROM broker_total"); n == 0 {
		t.Error("nothing was aggregated")
	}
	check(t, cfg)
	cfg.BrokerTotals = Inline
	if r, err = Run(t.Context(), cfg); err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	check(t, cfg)

	// An observer that lost one contribution is found, after the bounded wait.
	mustExec(t, db, "UPDATE broker_total SET bo_num_trades = bo_num_trades - 1")
	cfg.DrainTimeout = 50 * time.Millisecond
	report, err := Check(t.Context(), cfg)
	if !errors.Is(err, ErrInconsistent) {
		t.Errorf("a lost contribution: %v\n%s", err, report.Text())
	}
	for _, id := range []string{"C1", "C20", "C21"} {
		if !strings.Contains(err.Error(), id) {
			t.Errorf("%s is not in %v", id, err)
		}
	}
}

// testChecksFindFaults breaks each condition in turn, and mends it again.
func testChecksFindFaults(t *testing.T) {
	cfg := quick("faults")
	cfg.Transactions = 300
	load(t, cfg)
	if r, err := Run(t.Context(), cfg); err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	check(t, cfg)
	db := database(t, cfg)
	db.SetMaxOpenConns(1) // the settings below belong to the connection
	mustExec(t, db, "SET foreign_key_checks = 0, check_constraint_checks = 0")
	id := func(query string) int64 { return count(t, db, query) }
	bought := id("SELECT t_id FROM trade WHERE t_tt_id = 'TMB' AND t_is_cash = 1 AND t_st_id = 'CMPT' " +
		"ORDER BY t_id LIMIT 1")
	limit := id("SELECT t_id FROM trade WHERE t_tt_id = 'TLS' AND t_st_id = 'CMPT' ORDER BY t_id LIMIT 1")
	runtime := id("SELECT MAX(t_id) FROM trade WHERE t_is_cash = 1 AND t_st_id = 'CMPT'")
	lot := id("SELECT MIN(h_t_id) FROM holding")
	closed := id("SELECT MIN(hh_h_t_id) FROM holding_history WHERE hh_h_t_id <> hh_t_id")
	free := id("SELECT t_id FROM trade JOIN customer_account ON ca_id = t_ca_id WHERE ca_tax_st = 0 ORDER " +
		"BY t_id LIMIT 1")
	for _, f := range []struct {
		ids, damage, repair string
		arg                 int64
	}{
		{"C1", "UPDATE broker SET b_num_trades = b_num_trades + 1 WHERE b_id = ?",
			"UPDATE broker SET b_num_trades = b_num_trades - 1 WHERE b_id = ?", gen.CustomerID(1)},
		{"C2", "UPDATE broker SET b_comm_total = b_comm_total + 0.01 WHERE b_id = ?",
			"UPDATE broker SET b_comm_total = b_comm_total - 0.01 WHERE b_id = ?", gen.CustomerID(1)},
		{"C3 C10", "UPDATE holding SET h_qty = h_qty + 1 WHERE h_t_id = ?",
			"UPDATE holding SET h_qty = h_qty - 1 WHERE h_t_id = ?", lot},
		{"C4 C16", "UPDATE holding_summary JOIN holding ON h_ca_id = hs_ca_id AND h_s_symb = hs_s_symb SET " +
			"hs_ca_id = hs_ca_id + 4 WHERE h_t_id = ?",
			"UPDATE holding_summary JOIN holding ON h_ca_id + 4 = hs_ca_id AND h_s_symb = hs_s_symb SET " +
				"hs_ca_id = hs_ca_id - 4 WHERE h_t_id = ?", lot},
		{"C5 C8", "UPDATE trade SET t_st_id = 'SBMT' WHERE t_id = ?",
			"UPDATE trade SET t_st_id = 'CMPT' WHERE t_id = ?", bought},
		{"C6", "UPDATE cash_transaction SET ct_amt = ct_amt + 0.01 WHERE ct_t_id = ?",
			"UPDATE cash_transaction SET ct_amt = ct_amt - 0.01 WHERE ct_t_id = ?", bought},
		{"C7", "INSERT INTO trade_request SELECT t_id, t_tt_id, t_s_symb, t_qty, t_bid_price, ca_b_id FROM " +
			"trade JOIN customer_account ON ca_id = t_ca_id WHERE t_id = ?",
			"DELETE FROM trade_request WHERE tr_t_id = ?", limit},
		{"C8", "DELETE FROM trade_history WHERE th_t_id = ? AND th_st_id = 'PNDG'",
			"INSERT INTO trade_history VALUES (?, NOW(), 'PNDG')", limit},
		{"C9 C10", "UPDATE holding_history SET hh_after_qty = hh_after_qty + 1 WHERE hh_h_t_id = hh_t_id " +
			"AND hh_t_id = ?",
			"UPDATE holding_history SET hh_after_qty = hh_after_qty - 1 WHERE hh_h_t_id = hh_t_id AND " +
				"hh_t_id = ?", closed},
		{"C11", "UPDATE trade SET t_tax = 1 WHERE t_id = ?",
			"UPDATE trade SET t_tax = 0 WHERE t_id = ?", free},
		{"C12", "UPDATE settlement SET se_amt = se_amt + 0.01 WHERE se_t_id = ?",
			"UPDATE settlement SET se_amt = se_amt - 0.01 WHERE se_t_id = ?", bought},
		{"C13", "UPDATE cash_transaction SET ct_amt = ct_amt + 0.01 WHERE ct_t_id = ?",
			"UPDATE cash_transaction SET ct_amt = ct_amt - 0.01 WHERE ct_t_id = ?", runtime},
		{"C16", "UPDATE trade SET t_s_symb = CONCAT(t_s_symb, '?') WHERE t_id = ?",
			"UPDATE trade SET t_s_symb = TRIM(TRAILING '?' FROM t_s_symb) WHERE t_id = ?", bought},
		{"C17", "INSERT INTO watch_list VALUES (1, ?)",
			"DELETE FROM watch_list WHERE wl_id = 1 AND wl_c_id = ?", gen.CustomerID(1)},
		{"C18 C17", "INSERT INTO customer_taxrate VALUES ('US1', ?), ('CN1', 7)",
			"DELETE FROM customer_taxrate WHERE cx_tx_id IN ('US1', 'CN1') AND cx_c_id IN (?, 7)", 8},
		{"C19", "UPDATE trade SET t_lifo = 2 WHERE t_id = ?",
			"UPDATE trade SET t_lifo = 0 WHERE t_id = ?", bought},
		{"C21", "INSERT INTO broker_total VALUES (?, 0, 1)", "DELETE FROM broker_total WHERE bo_b_id = ?",
			gen.CustomerID(1)},
	} {
		mustExec(t, db, f.damage, f.arg)
		r, err := Check(t.Context(), cfg)
		if !errors.Is(err, ErrInconsistent) {
			t.Errorf("%s: %v", f.ids, err)
		} else {
			for _, want := range strings.Fields(f.ids) {
				if !strings.Contains(err.Error(), " "+want) {
					t.Errorf("%s finds %v\n%s", f.damage, err, r.Text())
				}
			}
		}
		mustExec(t, db, f.repair, f.arg)
	}
	check(t, cfg)
}

// placeOrder runs one Trade-Order on a connection of its own.
func placeOrder(t *testing.T, u *gen.Universe, db *client.Pool, id int64, in tradeOrderInput) error {
	t.Helper()
	s, err := client.OpenSession(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	o := &tradeOrder{Session: s, u: u, in: in, id: id, now: millis(time.Now())}
	return s.Retry(t.Context(), testPolicy(t), o.run)
}

func testPolicy(t *testing.T) client.RetryPolicy {
	return client.RetryPolicy{Attempts: 50, Rand: gen.NewRand(1, time.Now().UnixNano()),
		OnRetry: func(reason string) {
			t.Log("retry:", reason)
		}}
}

func universe(t *testing.T, db *client.Pool, cfg Config) *gen.Universe {
	t.Helper()
	u, _, err := universeOf(t.Context(), db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func marketOrderOf(u *gen.Universe, customer int, kind gen.TradeType) tradeOrderInput {
	return tradeOrderInput{customer: customer, security: u.Basket(customer, 0)[0],
		executor: u.Customer(customer), quantity: 200, kind: kind, limit: 2500}
}

func testRollBackLeavesNothing(t *testing.T) {
	cfg := quick("rollback")
	load(t, cfg)
	db := database(t, cfg)
	u := universe(t, db, cfg)
	first := u.FirstRuntimeTrade()
	for i, kind := range []gen.TradeType{gen.MarketBuy, gen.LimitSell} {
		in := marketOrderOf(u, 5, kind)
		in.rollBack, in.byName = true, i == 1
		if err := placeOrder(t, u, db, first+int64(i), in); !errors.Is(err, client.ErrRollBack) {
			t.Fatal(err)
		}
	}
	rows := func(id int64) int64 {
		return count(t, db, "SELECT (SELECT COUNT(*) FROM trade WHERE t_id = ?) + (SELECT COUNT(*) FROM "+
			"trade_request WHERE tr_t_id = ?) + (SELECT COUNT(*) FROM trade_history WHERE th_t_id = ?)",
			id, id, id)
	}
	if rows(first)+rows(first+1) != 0 {
		t.Error("a rolled back order left rows")
	}
	if err := placeOrder(t, u, db, first+2, marketOrderOf(u, 5, gen.LimitSell)); err != nil ||
		rows(first+2) != 3 {
		t.Errorf("a committed limit order: %v, %d rows", err, rows(first+2))
	}
	stranger := marketOrderOf(u, 5, gen.MarketBuy)
	stranger.executor = gen.Person{First: "No", Last: "Body", TaxID: "x"}
	var status client.StatusError
	if err := placeOrder(t, u, db, first+3, stranger); !errors.As(err, &status) || status.Code != -721 {
		t.Errorf("a stranger's order: %v", err)
	}
}

// testResultsOfOnePosition completes many orders of one account and symbol at once, from many connections:
// the lots must come out as after some serial order, which C3, C9, C10 and C13 would deny otherwise.
func testResultsOfOnePosition(t *testing.T) {
	cfg := quick("position")
	load(t, cfg)
	db := database(t, cfg)
	u := universe(t, db, cfg)
	const orders, workers = 48, 8
	kinds := []gen.TradeType{gen.MarketBuy, gen.MarketSell, gen.MarketSell, gen.MarketBuy, gen.MarketSell,
		gen.MarketBuy, gen.MarketBuy, gen.MarketSell}
	for i := range int64(orders) {
		in := marketOrderOf(u, 9, kinds[i%8])
		in.quantity = 100 << (i % 4)
		in.lifo = i%3 == 0
		if err := placeOrder(t, u, db, u.FirstRuntimeTrade()+i, in); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for w := range int64(workers) {
		wg.Go(func() {
			s, err := client.OpenSession(t.Context(), db)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for i := w; i < orders; i += workers {
				r := &tradeResult{Session: s, in: tradeResultInput{id: u.FirstRuntimeTrade() + i,
					price: gen.Cents(2000 + 10*i), mode: Inline}}
				if err := s.Retry(t.Context(), testPolicy(t), r.run); err != nil || r.already {
					t.Errorf("trade %d: %v, already %v", i, err, r.already)
				}
			}
		})
	}
	wg.Wait()
	check(t, cfg)

	// A second result of a completed trade changes nothing.
	s, err := client.OpenSession(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	again := &tradeResult{Session: s,
		in: tradeResultInput{id: u.FirstRuntimeTrade(), price: 2100, mode: Inline}}
	if err := s.Retry(t.Context(), testPolicy(t), again.run); err != nil || !again.already {
		t.Errorf("a second result: %v, already %v", err, again.already)
	}
	check(t, cfg)
}

func testErrorsAreShown(t *testing.T) {
	cfg := quick("errors")
	load(t, cfg)
	db := database(t, cfg)
	cfg.Transactions = 300
	// Most customers' tier has no charges: their orders fail. Of the first tier's a short run may have none.
	mustExec(t, db, "DELETE FROM charge WHERE ch_c_tier = 2")
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Errors == 0 || r.Err() == nil || !strings.Contains(r.Text(), "Trade-Order") ||
		!strings.Contains(r.Text(), "ERRORS") {
		t.Errorf("errors are hidden: %v\n%s", r.Err(), r.Text())
	}
	// A database that is not what it should be ends the run.
	mustExec(t, db, "DROP TABLE account_permission")
	mustExec(t, db, "DROP TABLE charge")
	mustExec(t, db, "RENAME TABLE status_type TO elsewhere")
	cfg.Transactions = 1 << 40
	if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "failures in a row") {
		t.Errorf("a broken database: %v", err)
	}
}

func testBadTargets(t *testing.T) {
	for target, want := range map[string]string{
		"":                                      "mysql://",
		"http://h/db":                           "mysql://",
		"mysql://h:1":                           "mysql://",
		"postgres://root:secret@127.0.0.1:1/db": "refused",
		"mysql://root:secret@127.0.0.1:1/db":    "refused",
		server.URL("nothing_here"):              "load it first",
	} {
		_, err := Run(t.Context(), Config{Target: target})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", target, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in %v", err)
		}
	}
	if _, err := Load(t.Context(), Config{Target: server.URL("x"), Preset: "huge"}); err == nil ||
		!strings.Contains(err.Error(), "demo") {
		t.Errorf("an unknown preset: %v", err)
	}
	if _, err := Load(t.Context(), Config{Target: server.URL("x"), Customers: 150}); err == nil {
		t.Error("150 customers are accepted")
	}
}

func testDeferredIndexes(t *testing.T) {
	cfg := quick("deferred")
	cfg.DeferIndexes = true
	load(t, cfg)
	db := database(t, cfg)
	if n := count(t, db, "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = "+
		"DATABASE() AND index_name = 'trade_account_dts'"); n != 2 {
		t.Errorf("the index on TRADE has %d columns", n)
	}
	check(t, cfg)
}
