package tpce

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"moka/tpce/gen"
)

// session is one connection and the statements prepared on it. BEGIN and COMMIT are sent as statements rather
// than through sql.Tx, because database/sql prepares a statement anew for every sql.Tx of a sql.Conn, which
// would double the round trips.
type session struct {
	db    *pool
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func openSession(ctx context.Context, db *pool) (*session, error) {
	s := &session{db: db}
	return s, s.connect(ctx)
}

func (s *session) connect(ctx context.Context) error {
	s.close()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	s.conn, s.stmts = conn, map[string]*sql.Stmt{}
	return nil
}

func (s *session) close() {
	if s.conn == nil {
		return
	}
	for _, st := range s.stmts {
		st.Close()
	}
	s.conn.Close()
	s.conn = nil
}

func (s *session) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s.conn == nil {
		return nil, driver.ErrBadConn
	}
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(ctx, s.db.statement(query))
	if err == nil {
		s.stmts[query] = st
	}
	return st, err
}

// exec runs a statement that must touch exactly one row.
func (s *session) exec(ctx context.Context, query string, args ...any) error {
	n, err := s.execCount(ctx, query, args...)
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows touched instead of 1 by: %s", n, query)
	}
	return err
}

func (s *session) execCount(ctx context.Context, query string, args ...any) (int64, error) {
	st, err := s.prepared(ctx, query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row reads one row; sql.ErrNoRows if there is none.
func (s *session) row(ctx context.Context, query string, args []any, dest ...any) error {
	st, err := s.prepared(ctx, query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dest...)
}

// each visits every row.
func (s *session) each(ctx context.Context, query string, args []any, visit func(*sql.Rows) error) error {
	st, err := s.prepared(ctx, query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// plain runs a statement without arguments and without preparing it.
func (s *session) plain(ctx context.Context, query string) error {
	if s.conn == nil {
		return driver.ErrBadConn
	}
	_, err := s.conn.ExecContext(ctx, query)
	return err
}

// errRollBack is returned by a body that wants its work undone: no failure.
var errRollBack = errors.New("rolled back on purpose")

// unknownOutcome wraps a COMMIT that was sent and not answered: the transaction may have happened.
type unknownOutcome struct{ err error }

func (e unknownOutcome) Error() string { return "outcome of COMMIT unknown: " + e.err.Error() }
func (e unknownOutcome) Unwrap() error { return e.err }

// transact runs body in one transaction.
func (s *session) transact(ctx context.Context, level isolation, body func(context.Context) error) error {
	if err := s.plain(ctx, s.db.begin(level)); err != nil {
		return err
	}
	if err := body(ctx); err != nil {
		if rerr := s.plain(ctx, "ROLLBACK"); rerr != nil {
			// Without a rollback the session's state is unknown; a new connection has a known one.
			s.close()
			if errors.Is(err, errRollBack) {
				return rerr
			}
		}
		return err
	}
	err := s.plain(ctx, "COMMIT")
	if err != nil && abortReason(err) == "" {
		s.close()
		return unknownOutcome{err}
	}
	if err != nil {
		_ = s.plain(ctx, "ROLLBACK") // harmless where the failed COMMIT has ended the transaction already
	}
	return err
}

// statusError is a result that makes a transaction invalid, numbered as the specification numbers it.
type statusError struct {
	code int
	text string
}

func (e statusError) Error() string { return fmt.Sprintf("status %d: %s", e.code, e.text) }

// retryPolicy repeats a whole transaction, with the same input, while the engine asks for it.
type retryPolicy struct {
	attempts int
	rand     *gen.Rand
	level    isolation
	onRetry  func(reason string)
	// happened resolves an unknown outcome; nil for a transaction that only reads.
	happened func(context.Context) (bool, error)
}

func (s *session) retry(ctx context.Context, p retryPolicy, body func(context.Context) error) error {
	var err error
	for attempt := range p.attempts {
		if attempt > 0 {
			if werr := backOff(ctx, p.rand, attempt); werr != nil {
				return errors.Join(err, werr)
			}
		}
		if s.conn == nil {
			if err = s.connect(ctx); err != nil {
				p.onRetry("no connection")
				continue
			}
		}
		err = s.transact(ctx, p.level, body)
		var unknown unknownOutcome
		switch {
		case err == nil, errors.Is(err, errRollBack):
			return err
		case errors.As(err, &unknown):
			p.onRetry("outcome unknown")
			done, rerr := s.resolve(ctx, p)
			if rerr != nil {
				return errors.Join(err, rerr)
			}
			if done {
				return nil
			}
		case abortReason(err) != "":
			p.onRetry(abortReason(err))
		case connectionLost(err) && ctx.Err() == nil:
			p.onRetry("connection lost")
			s.close()
		default:
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", p.attempts, err)
}

// resolve asks the database whether the transaction of a lost COMMIT is there.
func (s *session) resolve(ctx context.Context, p retryPolicy) (bool, error) {
	if p.happened == nil {
		return true, nil
	}
	var err error
	for attempt := range p.attempts {
		if werr := backOff(ctx, p.rand, attempt+1); werr != nil {
			return false, errors.Join(err, werr)
		}
		if err = s.connect(ctx); err != nil {
			continue
		}
		var done bool
		if done, err = p.happened(ctx); err == nil {
			return done, nil
		}
		s.close()
	}
	return false, fmt.Errorf("could not learn the outcome: %w", err)
}

// backOff waits between 0 and 1 ms, doubled with each attempt up to half a second: spread, so that two losers
// of one conflict do not meet again.
func backOff(ctx context.Context, r *gen.Rand, attempt int) error {
	ceiling := min(time.Millisecond<<min(attempt, 9), 500*time.Millisecond)
	t := time.NewTimer(time.Duration(r.Int(0, int64(ceiling))))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
