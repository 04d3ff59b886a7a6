package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// sampled is how many changes there are for each whose effect is waited for. More would make writers wait for
// effects instead of writing.
const sampled = 20

// effectTime bounds how long an effect is waited for.
const effectTime = 2 * time.Minute

// server is a target that is open.
type server struct {
	Target
	c    Config
	pool *client.Pool
	cpu  func() time.Duration // nil: not known
	next atomic.Int64         // the last id that was given to a change
}

func open(ctx context.Context, c Config, t Target) (*server, error) {
	if err := client.CreateDatabase(ctx, t.URL); err != nil {
		return nil, err
	}
	pool, err := client.Open(t.URL, c.Writers+c.Workers+2)
	if err != nil {
		return nil, err
	}
	s := &server{Target: t, c: c, pool: pool}
	s.cpu, _ = cpuOf(t.URL)
	for _, statement := range s.definitions() {
		if _, err := pool.DB.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", statement, err), pool.Close())
		}
	}
	return s, nil
}

func (s *server) close() error { return s.pool.Close() }

// definitions make the tables anew, and what fills effect.
func (s *server) definitions() []string {
	d := []string{
		"DROP TABLE IF EXISTS event", "DROP TABLE IF EXISTS outbox", "DROP TABLE IF EXISTS effect",
		"CREATE TABLE event (id BIGINT PRIMARY KEY, n INT NOT NULL)",
		"CREATE TABLE effect (id BIGINT PRIMARY KEY, n INT NOT NULL)",
	}
	switch {
	case s.Observer:
		return append(d, "CREATE OBSERVER derive AFTER INSERT ON event FOR EACH ROW "+
			"INSERT INTO effect VALUES (NEW.id, NEW.n + 1)")
	case strings.HasPrefix(s.URL, "postgres"):
		return append(d,
			"CREATE TABLE outbox (seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id BIGINT, n INT)",
			"CREATE OR REPLACE FUNCTION to_outbox() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+
				"INSERT INTO outbox (id, n) VALUES (NEW.id, NEW.n); RETURN NULL; END $$",
			"CREATE TRIGGER t AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION to_outbox()")
	}
	return append(d, "CREATE TABLE outbox (seq BIGINT AUTO_INCREMENT PRIMARY KEY, id BIGINT, n INT)",
		"CREATE TRIGGER t AFTER INSERT ON event FOR EACH ROW "+
			"INSERT INTO outbox (id, n) VALUES (NEW.id, NEW.n)")
}

// slice does some work until all of it has its effects.
func (s *server) slice(ctx context.Context, w work) (found slice, err error) {
	before, err := s.effects(ctx)
	if err != nil {
		return found, err
	}
	first := s.next.Load()
	deliver := true
	if w.backlog {
		if err := s.gather(ctx); err != nil {
			return found, err
		}
		first, deliver = s.next.Load()-int64(s.c.Backlog), false
	}
	var used time.Duration
	if s.cpu != nil {
		used = s.cpu()
	}
	began := time.Now()
	stop := s.work(ctx)
	found.latency = newLatency()
	if deliver {
		err = s.write(ctx, w.writers, began.Add(s.c.Slice), found.latency)
	} else if s.Observer {
		_, err = s.pool.DB.ExecContext(ctx, "ALTER OBSERVER derive RESUME")
	}
	found.changes = int(s.next.Load() - first)
	if err == nil {
		err = s.settled(ctx, before+found.changes)
	}
	found.took = time.Since(began)
	found.cpu = -1
	if s.cpu != nil {
		found.cpu = s.cpu() - used
	}
	return found, errors.Join(err, stop())
}

// write has some writers make changes until the deadline.
func (s *server) write(ctx context.Context, writers int, until time.Time,
	all *hdrhistogram.Histogram) error {
	var mu sync.Mutex
	return together(writers, func(int) error {
		session, err := client.OpenSession(ctx, s.pool)
		if err != nil {
			return err
		}
		defer session.Close()
		latency := newLatency()
		for i := 0; time.Now().Before(until); i++ {
			id := s.next.Add(1)
			if err := session.Exec(ctx, "INSERT INTO event VALUES (?, ?)", id, i); err != nil {
				return err
			}
			if i%sampled == 0 {
				if err := s.seen(ctx, session, id, latency); err != nil {
					return err
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all.Merge(latency)
		return nil
	})
}

// seen asks for a change's effect until it is there.
func (s *server) seen(ctx context.Context, session *client.Session, id int64,
	h *hdrhistogram.Histogram) error {
	began := time.Now()
	for time.Since(began) < effectTime {
		var n int
		err := session.Row(ctx, "SELECT n FROM effect WHERE id = ?", []any{id}, &n)
		if err == nil {
			return h.RecordValue(min(time.Since(began), highest).Microseconds())
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return fmt.Errorf("change %d had no effect within %v", id, effectTime)
}

// gather lets changes wait: nobody takes them until the backlog is whole.
func (s *server) gather(ctx context.Context) error {
	if s.Observer {
		if _, err := s.pool.DB.ExecContext(ctx, "ALTER OBSERVER derive PAUSE"); err != nil {
			return err
		}
	}
	const rows = 500
	for left := s.c.Backlog; left > 0; left -= rows {
		n := min(left, rows)
		last := s.next.Add(int64(n))
		values := make([]string, n)
		for i := range values {
			values[i] = fmt.Sprintf("(%d, %d)", last-int64(i), i)
		}
		insert := "INSERT INTO event VALUES " + strings.Join(values, ", ")
		if _, err := s.pool.DB.ExecContext(ctx, insert); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) effects(ctx context.Context) (n int, err error) {
	err = s.pool.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM effect").Scan(&n)
	return n, err
}

// settled waits until there are so many effects. It asks seldom: counting costs the server something.
func (s *server) settled(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, effectTime)
	defer cancel()
	if s.Observer { // the server tells when it is done
		if _, err := s.pool.DB.ExecContext(ctx, "WAIT FOR OBSERVERS derive"); err != nil {
			return err
		}
	}
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		n, err := s.pending(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d changes have no effect after %v", n, effectTime)
		case <-t.C:
		}
	}
	if n, err := s.effects(ctx); err != nil || n != want {
		return errors.Join(err, fmt.Errorf("%d changes had %d effects", want, n))
	}
	return nil
}

// pending is how many events wait in the outbox.
func (s *server) pending(ctx context.Context) (n int, err error) {
	if s.Observer {
		return 0, nil
	}
	err = s.pool.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM outbox").Scan(&n)
	return n, err
}

// work starts the outbox's workers; what it returns ends them.
func (s *server) work(ctx context.Context) (stop func() error) {
	if s.Observer {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- together(s.c.Workers, func(i int) error { return s.worker(ctx, i) }) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// worker takes batches of events, makes their effects, and deletes them, until ctx ends.
func (s *server) worker(ctx context.Context, number int) error {
	session, err := client.OpenSession(ctx, s.pool)
	if err != nil && ctx.Err() != nil {
		return nil // the slice has ended before the worker was connected
	}
	if err != nil {
		return err
	}
	defer session.Close()
	take := fmt.Sprintf("SELECT seq FROM outbox ORDER BY seq LIMIT %d FOR UPDATE SKIP LOCKED", s.c.Batch)
	marks := strings.TrimSuffix(strings.Repeat("?, ", s.c.Batch), ", ")
	effect := "INSERT INTO effect SELECT id, n + 1 FROM outbox WHERE seq IN (" + marks + ")"
	remove := "DELETE FROM outbox WHERE seq IN (" + marks + ")"
	retry := client.RetryPolicy{Attempts: 1000, Rand: gen.NewRand(1, int64(number)),
		Level: client.ReadCommitted, OnRetry: func(string) {}}
	for ctx.Err() == nil {
		found := 0
		err := session.Retry(ctx, retry, func(ctx context.Context) error {
			var seqs []any
			err := session.Each(ctx, take, nil, func(rows *sql.Rows) error {
				var seq int64
				err := rows.Scan(&seq)
				seqs = append(seqs, seq)
				return err
			})
			if found = len(seqs); err != nil || found == 0 {
				return err
			}
			for len(seqs) < s.c.Batch { // one statement for every number of events
				seqs = append(seqs, seqs[found-1])
			}
			if _, err := session.ExecCount(ctx, effect, seqs...); err != nil {
				return err
			}
			_, err = session.ExecCount(ctx, remove, seqs...)
			return err
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case found == 0:
			rest(ctx, s.c.Poll)
		}
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// together runs f n times at once and joins the errors.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
