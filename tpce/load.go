package tpce

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"moka/tpce/client"
	"moka/tpce/gen"
	"moka/tpce/schema"
)

// LoadReport says what Load did.
type LoadReport struct {
	Target      string           `json:"target"`
	Customers   int              `json:"customers"`
	Days        int              `json:"days"`
	Rows        map[string]int64 `json:"rows"`
	TotalRows   int64            `json:"total_rows"`
	Seconds     float64          `json:"seconds"`       // everything
	DataSeconds float64          `json:"data_seconds"`  // inserting rows
	IndexSecs   float64          `json:"index_seconds"` // building deferred indexes
	RowsPerSec  float64          `json:"rows_per_second"`
	Retries     int64            `json:"retries"`
}

// Text is the report in a few lines.
func (r LoadReport) Text() string {
	return fmt.Sprintf("loaded %s rows in %.1f s (%s rows/s): %d customers, %d days, %d retries\n",
		grouped(r.TotalRows), r.Seconds, grouped(int64(r.RowsPerSec)), r.Customers, r.Days, r.Retries)
}

// Load creates the tables and fills them. Foreign keys are declared with the tables but not checked row by
// row while loading, as with any dump of a database; Check looks for orphans. The order is nevertheless
// parents before children, level by level, so that a reader never sees a child alone.
func Load(ctx context.Context, cfg Config) (LoadReport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return LoadReport{}, err
	}
	u, err := gen.New(cfg.params())
	if err != nil {
		return LoadReport{}, err
	}
	if err := client.CreateDatabase(ctx, cfg.Target); err != nil {
		return LoadReport{}, err
	}
	db, err := client.Open(cfg.Target, cfg.Connections+1)
	if err != nil {
		return LoadReport{}, err
	}
	defer db.Close()

	l := &loader{cfg: cfg, u: u, db: db}
	started := time.Now()
	if err := l.createTables(ctx); err != nil {
		return LoadReport{}, err
	}
	totals := u.Totals()
	report := LoadReport{Target: client.Redact(cfg.Target), Customers: u.Customers, Days: u.Days,
		Rows: totals.Rows}
	for _, n := range totals.Rows {
		report.TotalRows += n
	}
	dataStarted := time.Now()
	if err := l.fill(ctx, report.TotalRows); err != nil {
		return report, fmt.Errorf("tpce: load: %w (to try again, drop the tables first)", err)
	}
	report.DataSeconds = time.Since(dataStarted).Seconds()
	indexStarted := time.Now()
	if err := l.createIndexes(ctx); err != nil {
		return report, err
	}
	report.IndexSecs = time.Since(indexStarted).Seconds()
	if err := l.finish(ctx); err != nil {
		return report, err
	}
	report.Seconds = time.Since(started).Seconds()
	report.RowsPerSec = float64(report.TotalRows) / report.Seconds
	report.Retries = l.retries()
	return report, nil
}

type loader struct {
	cfg     Config
	u       *gen.Universe
	db      *client.Pool
	writers []*batchWriter
}

func (l *loader) schemaOptions() schema.Options {
	return schema.Options{OmitForeignKeys: l.cfg.OmitForeignKeys || l.db.LateKeys(),
		DeferIndexes: l.cfg.DeferIndexes}
}

func (l *loader) createTables(ctx context.Context) error {
	if l.cfg.Drop {
		if err := l.dropTables(ctx); err != nil {
			return err
		}
	}
	for _, name := range []string{"workload_parameter", "trade"} {
		if exists, err := tableExists(ctx, l.db, name); err != nil {
			return err
		} else if exists {
			return fmt.Errorf("tpce: %s already holds a table %s: choose another database, or drop the "+
				"workload's tables first", client.Redact(l.cfg.Target), name)
		}
	}
	var ddl []string
	for _, t := range append(slices.Clone(ownTables), schema.Tables()...) {
		ddl = append(ddl, l.db.Dialect().CreateTable(t, l.schemaOptions()))
	}
	for _, text := range ddl {
		if _, err := l.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("tpce: %s: %w", firstLine(text), err)
		}
	}
	return nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (l *loader) dropTables(ctx context.Context) error {
	var names []string
	for _, t := range append(slices.Clone(ownTables), schema.Tables()...) {
		names = append(names, t.Name)
	}
	slices.Reverse(names) // children first
	for _, n := range names {
		if _, err := l.db.ExecContext(ctx, "DROP TABLE IF EXISTS "+n); err != nil {
			return fmt.Errorf("tpce: dropping %s: %w", n, err)
		}
	}
	return nil
}

// createIndexes makes what the family or the options have left for after the rows: secondary indexes, then
// foreign keys, then statistics.
func (l *loader) createIndexes(ctx context.Context) error {
	var texts []string
	for _, t := range schema.Tables() {
		texts = append(texts, l.db.Dialect().CreateIndexes(t, l.schemaOptions())...)
	}
	if l.db.LateKeys() && !l.cfg.OmitForeignKeys {
		for _, t := range schema.Tables() {
			texts = append(texts, l.db.Dialect().AddForeignKeys(t)...)
		}
	}
	for _, text := range append(texts, l.db.Settle()...) {
		fmt.Fprintln(l.cfg.Progress, text)
		if _, err := l.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("tpce: %s: %w", text, err)
		}
	}
	return nil
}

// finish writes what later runs need to know, the mark of a complete load last.
func (l *loader) finish(ctx context.Context) error {
	for name, value := range storedParams(l.u.Params) {
		if err := setParameter(ctx, l.db, name, value); err != nil {
			return err
		}
	}
	_, err := l.db.ExecContext(ctx, "INSERT INTO workload_sequence (ws_name, ws_next) VALUES ('trade', ?)",
		l.u.FirstRuntimeTrade())
	if err != nil {
		return err
	}
	if err := setUpBrokerTotals(ctx, l.db, l.cfg); err != nil {
		return err
	}
	return setParameter(ctx, l.db, paramLoaded, time.Now().UTC().Format(time.RFC3339))
}

// job produces rows into a writer.
type job func(ctx context.Context, w *batchWriter) error

// fill loads the tables level by level; inside a level every connection takes the next job.
func (l *loader) fill(ctx context.Context, total int64) error {
	for range l.cfg.Connections {
		w, err := l.newWriter(ctx)
		if err != nil {
			return err
		}
		l.writers = append(l.writers, w)
		defer w.conn.Close()
	}
	bar := startProgress(l.cfg.Progress, "load", "rows", total, nil)
	defer bar.finish()
	for _, w := range l.writers {
		w.bar = bar
	}
	static := map[string]gen.Static{}
	for _, s := range l.u.Static() {
		static[s.Table] = s
	}
	for _, level := range schema.Levels() {
		var fixed []gen.Static
		var grown []string
		for _, t := range level {
			if s, ok := static[t.Name]; ok {
				fixed = append(fixed, s)
			} else if slices.Contains(gen.Grown, t.Name) {
				grown = append(grown, t.Name)
			}
		}
		if err := l.fillLevel(ctx, fixed, grown); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) fillLevel(ctx context.Context, fixed []gen.Static, grown []string) error {
	jobs := make(chan job)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(jobs)
		return l.produce(ctx, fixed, grown, jobs)
	})
	for _, w := range l.writers {
		g.Go(func() error {
			for j := range jobs {
				if err := j(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// produce cuts the static tables into ranges of units that each writer generates itself, and runs the
// histories, which cannot be cut, beside it.
func (l *loader) produce(ctx context.Context, fixed []gen.Static, grown []string, jobs chan<- job) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(1 + len(l.writers))
	send := func(j job) error {
		select {
		case jobs <- j:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	g.Go(func() error {
		for _, s := range fixed {
			rows := max(l.u.Totals().Rows[s.Table], 1)
			step := int(max(1, int64(l.cfg.BatchRows)*int64(s.Units)/rows))
			for from := 0; from < s.Units; from += step {
				if err := send(unitsJob(s, from, min(from+step, s.Units))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if len(grown) > 0 {
		for unit := range l.u.LoadUnits() {
			g.Go(func() error { return l.produceHistory(unit, grown, send) })
		}
	}
	return g.Wait()
}

func unitsJob(s gen.Static, from, to int) job {
	return func(ctx context.Context, w *batchWriter) error {
		var err error
		for i := from; i < to && err == nil; i++ {
			s.Unit(i, func(r gen.Row) {
				if err == nil {
					err = w.add(ctx, s.Table, r)
				}
			})
		}
		if err != nil {
			return err
		}
		return w.flush(ctx)
	}
}

func (l *loader) produceHistory(unit int, tables []string, send func(job) error) error {
	batches := map[string][]gen.Row{}
	flush := func(table string) error {
		rows := batches[table]
		delete(batches, table)
		return send(func(ctx context.Context, w *batchWriter) error {
			for _, r := range rows {
				if err := w.add(ctx, table, r); err != nil {
					return err
				}
			}
			return w.flush(ctx)
		})
	}
	err := l.u.History(unit, tables, func(table string, r gen.Row) error {
		batches[table] = append(batches[table], r)
		if len(batches[table]) >= l.cfg.BatchRows {
			return flush(table)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range tables {
		if len(batches[t]) > 0 {
			if err := flush(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loader) retries() int64 {
	n := int64(0)
	for _, w := range l.writers {
		n += w.retries
	}
	return n
}

// batchWriter collects rows of one table into one message of the family's batch format.
type batchWriter struct {
	conn    *sql.Conn
	format  client.BatchFormat
	bar     *progress
	rand    *gen.Rand
	maxRows int
	tables  map[string]schema.Table
	table   string
	rows    int
	batch   []byte
	retries int64
}

const maxBatchBytes = 1 << 20 // well below every engine's packet limit

func (l *loader) newWriter(ctx context.Context) (*batchWriter, error) {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("tpce: connection %d of %d: %w", len(l.writers)+1, l.cfg.Connections, err)
	}
	w := &batchWriter{
		conn: conn, format: l.db.Batches(), rand: gen.NewRand(l.u.Seed, int64(-1-len(l.writers))),
		maxRows: l.cfg.BatchRows, tables: map[string]schema.Table{},
	}
	for _, t := range schema.Tables() {
		w.tables[t.Name] = t
	}
	if err := w.format.Prepare(ctx, conn); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

func (w *batchWriter) add(ctx context.Context, table string, r gen.Row) error {
	if w.rows > 0 && (w.table != table || w.rows >= w.maxRows || len(w.batch) >= maxBatchBytes) {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	if w.rows == 0 {
		w.table = table
		w.batch = w.format.AppendHead(w.batch[:0], w.tables[table])
	}
	w.batch = w.format.AppendRow(w.batch, w.rows == 0, r)
	w.rows++
	return nil
}

const loadAttempts = 30

func (w *batchWriter) flush(ctx context.Context) error {
	if w.rows == 0 {
		return nil
	}
	var err error
	for attempt := range loadAttempts {
		if attempt > 0 {
			w.retries++
			if werr := client.BackOff(ctx, w.rand, attempt); werr != nil {
				return werr
			}
		}
		if err = w.format.Send(ctx, w.conn, w.tables[w.table], w.batch); err == nil {
			w.bar.done.Add(int64(w.rows))
			w.rows = 0
			return nil
		}
		if client.AbortReason(err) == "" {
			break // a lost connection too: the batch may be in, and only a fresh load is sure
		}
	}
	if client.DuplicateKey(err) {
		return fmt.Errorf("table %s holds other rows: %w", w.table, err)
	}
	return fmt.Errorf("table %s: %w", w.table, err)
}
