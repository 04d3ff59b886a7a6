package tpce

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"moka/tpce/gen"
	"moka/tpce/schema"
)

// dialect is what differs between engines for whoever speaks to them. Today there is one; the statements of the
// transactions keep to the common subset, so a second needs only its placeholders and its error codes.
var dialect = schema.MySQL

// Besides the 33 tables the workload keeps what it must remember itself: how the database was loaded, and where the
// run-time trade numbers continue. The two tables of broker totals are there in every mode, so that the consistency
// conditions are one text.
var ownTables = []string{
	`CREATE TABLE workload_parameter (
  wp_name VARCHAR(40) NOT NULL,
  wp_value VARCHAR(80) NOT NULL,
  PRIMARY KEY (wp_name)
)`,
	`CREATE TABLE workload_sequence (
  ws_name VARCHAR(40) NOT NULL,
  ws_next BIGINT NOT NULL,
  PRIMARY KEY (ws_name)
)`,
	`CREATE TABLE broker_trade (
  bt_t_id BIGINT NOT NULL,
  bt_b_id BIGINT NOT NULL,
  bt_comm DECIMAL(12,2) NOT NULL,
  bt_dts DATETIME(3) NOT NULL,
  PRIMARY KEY (bt_t_id)
)`,
	`CREATE TABLE broker_total (
  bo_b_id BIGINT NOT NULL,
  bo_num_trades BIGINT NOT NULL,
  bo_comm_total DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (bo_b_id)
)`,
}

var ownTableNames = []string{"workload_parameter", "workload_sequence", "broker_trade", "broker_total"}

// ObserverDDL declares the observer that keeps broker_total: one contribution, one increment. An observer commits at
// most once for each change, and every contribution is a row of its own, so the totals are exact once the backlog is empty.
const ObserverDDL = `CREATE OBSERVER IF NOT EXISTS broker_total_of_trades
  AFTER INSERT ON broker_trade FOR EACH ROW
  UPDATE broker_total
  SET bo_num_trades = bo_num_trades + 1, bo_comm_total = bo_comm_total + NEW.bt_comm
  WHERE bo_b_id = NEW.bt_b_id`

// open connects to the target's database; the pool grows to n connections.
func open(target string, n int) (*sql.DB, error) {
	c, err := parseTarget(target)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("tpce: target %s: %w", redact(target), err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// createDatabase makes the target's database if it is missing.
func createDatabase(ctx context.Context, target string) error {
	c, err := parseTarget(target)
	if err != nil {
		return err
	}
	name := c.DBName
	c.DBName = ""
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`")
	if err != nil {
		return fmt.Errorf("tpce: %s: is the server up, and may the user create databases? %w", redact(target), err)
	}
	return nil
}

func tableExists(ctx context.Context, db *sql.DB, name string) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?", name).Scan(&n)
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
		paramFormat: formatVersion, "customers": strconv.Itoa(p.Customers), "days": strconv.Itoa(p.Days), "scale_factor": strconv.Itoa(p.ScaleFactor),
		"seed": strconv.FormatUint(p.Seed, 10), "daily_market_weeks": strconv.Itoa(p.DailyMarketWeeks), "news_bytes": strconv.Itoa(p.NewsBytes),
	}
}

// setParameter is an upsert in two plain statements.
func setParameter(ctx context.Context, db *sql.DB, name, value string) error {
	if _, err := db.ExecContext(ctx, "DELETE FROM workload_parameter WHERE wp_name = ?", name); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO workload_parameter (wp_name, wp_value) VALUES (?, ?)", name, value)
	return err
}

func loadParameters(ctx context.Context, db *sql.DB) (map[string]string, error) {
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
func universeOf(ctx context.Context, db *sql.DB, cfg Config) (*gen.Universe, map[string]string, error) {
	stored, err := loadParameters(ctx, db)
	if err != nil {
		var e *mysql.MySQLError
		if errors.As(err, &e) && (e.Number == 1146 || e.Number == 1049) {
			return nil, nil, fmt.Errorf("tpce: %s holds no workload: load it first", redact(cfg.Target))
		}
		return nil, nil, fmt.Errorf("tpce: %s: %w", redact(cfg.Target), err)
	}
	if stored[paramLoaded] == "" {
		return nil, nil, fmt.Errorf("tpce: the load of %s did not finish: load it again, dropping its tables first", redact(cfg.Target))
	}
	if stored[paramFormat] != formatVersion {
		return nil, nil, fmt.Errorf("tpce: %s was loaded in format %q, this program reads %s: load it again", redact(cfg.Target), stored[paramFormat], formatVersion)
	}
	number := func(name string) int {
		n, perr := strconv.Atoi(stored[name])
		if perr != nil && err == nil {
			err = fmt.Errorf("tpce: parameter %s of %s is %q", name, redact(cfg.Target), stored[name])
		}
		return n
	}
	seed, err := strconv.ParseUint(stored["seed"], 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("tpce: parameter seed of %s is %q", redact(cfg.Target), stored["seed"])
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
			return nil, nil, fmt.Errorf("tpce: %s was loaded with %s = %s, not %s: leave it out, or load again", redact(cfg.Target), name, stored[name], v)
		}
	}
	u, err := gen.New(p)
	return u, stored, err
}

// tradeNumbers leases run-time trade ids in blocks: one small transaction for each block, no hot row, and inserts of
// different workers land apart.
type tradeNumbers struct {
	session    *session
	policy     retryPolicy
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
	// A lease whose outcome is unknown is simply not used: numbers may be sparse.
	p.happened = func(context.Context) (bool, error) { return false, nil }
	err := n.session.retry(ctx, p, func(ctx context.Context) error {
		if err := n.session.row(ctx, "SELECT ws_next FROM workload_sequence WHERE ws_name = 'trade' FOR UPDATE", nil, &first); err != nil {
			return err
		}
		return n.session.exec(ctx, "UPDATE workload_sequence SET ws_next = ? WHERE ws_name = 'trade'", first+tradeNumberBlock)
	})
	if err != nil {
		return fmt.Errorf("leasing trade numbers: %w", err)
	}
	n.next, n.last = first, first+tradeNumberBlock-1
	return nil
}

// millis is the resolution of DATETIME(3): a time that survives the database unchanged.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
