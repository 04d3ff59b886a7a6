package micro

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/go-sql-driver/mysql"
)

const maxLatency = time.Minute

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, maxLatency.Microseconds(), 3)
}

// worker is one connection during one slice.
type worker struct {
	statement statement
	conn      *sql.Conn
	prepared  *sql.Stmt
	latency   *hdrhistogram.Histogram
	count     int64
	retries   int64
	err       error
}

func (w *worker) open(ctx context.Context, db *sql.DB, st statement) error {
	w.statement, w.latency = st, newHistogram()
	var err error
	if w.conn, err = db.Conn(ctx); err != nil {
		return err
	}
	if st.prepared {
		w.prepared, err = w.conn.PrepareContext(ctx, st.text)
	}
	return err
}

func (w *worker) close() {
	if w.prepared != nil {
		w.prepared.Close()
	}
	if w.conn != nil {
		w.conn.Close()
	}
}

// maxConflicts bounds how often one update is tried again.
const maxConflicts = 100

func (w *worker) run(ctx context.Context, cfg Config, deadline time.Time, seed uint64, issued *atomic.Int64) {
	r := rand.New(rand.NewPCG(cfg.Seed, seed))
	for ctx.Err() == nil {
		if cfg.Statements > 0 {
			if issued.Add(1) > cfg.Statements {
				return
			}
		} else if !time.Now().Before(deadline) {
			return
		}
		id := 1 + r.Int64N(int64(cfg.Rows))
		start := time.Now()
		if w.err = w.once(ctx, id); w.err != nil {
			return
		}
		// clamped
		_ = w.latency.RecordValue(min(max(time.Since(start), time.Microsecond), maxLatency).Microseconds())
		w.count++
	}
	w.err = ctx.Err()
}

// once runs the statement; a conflict is tried again and is part of its latency.
func (w *worker) once(ctx context.Context, id int64) error {
	for attempt := 0; ; attempt++ {
		err := w.execute(ctx, id)
		var e *mysql.MySQLError
		if err == nil || attempt >= maxConflicts || !errors.As(err, &e) ||
			e.Number != 1213 && e.Number != 1205 {
			return err
		}
		w.retries++
	}
}

func (w *worker) execute(ctx context.Context, id int64) error {
	if !w.statement.write {
		var v int64
		if w.prepared != nil {
			return w.prepared.QueryRowContext(ctx, id).Scan(&v)
		}
		return w.conn.QueryRowContext(ctx, w.statement.text, id).Scan(&v)
	}
	var res sql.Result
	var err error
	if w.prepared != nil {
		res, err = w.prepared.ExecContext(ctx, id)
	} else {
		res, err = w.conn.ExecContext(ctx, w.statement.text, id)
	}
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("update of row %d touched %d rows", id, n))
	}
	return nil
}

// clockTick is the kernel's USER_HZ, 100 on every architecture that Go runs Linux on.
const clockTick = 10 * time.Millisecond

// cpuTime is what the server's process has used so far.
func (t *target) cpuTime() (time.Duration, error) {
	if t.PID == 0 {
		return 0, nil
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", t.PID))
	if err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", t.PID, err)
	}
	return parseStat(string(text))
}

// parseStat reads utime and stime, the 14th and 15th field; the 2nd is the command in parentheses
// and may hold anything.
func parseStat(text string) (time.Duration, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const utime = 14 - 3 // the first field after the command is the 3rd
	if len(fields) <= utime+1 {
		return 0, fmt.Errorf("unexpected /proc stat: %q", text)
	}
	var ticks int64
	for _, f := range fields[utime : utime+2] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("unexpected /proc stat: %q", text)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
