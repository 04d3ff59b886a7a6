package client

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"moka/tpce/gen"
)

// Session is one connection and the statements prepared on it. BEGIN and COMMIT are sent as statements rather
// than through sql.Tx, because database/sql prepares a statement anew for every sql.Tx of a sql.Conn, which
// would double the round trips.
type Session struct {
	db    *Pool
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func OpenSession(ctx context.Context, db *Pool) (*Session, error) {
	s := &Session{db: db}
	return s, s.connect(ctx)
}

func (s *Session) connect(ctx context.Context) error {
	s.Close()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	s.conn, s.stmts = conn, map[string]*sql.Stmt{}
	return nil
}

// Close gives the connection back to the pool. It is not to be called within a transaction, which would go
// on, with its locks, until somebody is given the connection again: see discard.
func (s *Session) Close() {
	if s.conn == nil {
		return
	}
	for _, st := range s.stmts {
		st.Close()
	}
	s.conn.Close()
	s.conn = nil
}

// discard closes the connection itself, which ends its transaction, whatever state that is in.
func (s *Session) discard() {
	if s.conn == nil {
		return
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes such a connection
	s.Close()
}

func (s *Session) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
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

// Exec runs a statement that must touch exactly one row.
func (s *Session) Exec(ctx context.Context, query string, args ...any) error {
	n, err := s.ExecCount(ctx, query, args...)
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows touched instead of 1 by: %s", n, query)
	}
	return err
}

func (s *Session) ExecCount(ctx context.Context, query string, args ...any) (int64, error) {
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

// Row reads one row; sql.ErrNoRows if there is none.
func (s *Session) Row(ctx context.Context, query string, args []any, dest ...any) error {
	st, err := s.prepared(ctx, query)
	if err != nil {
		return err
	}
	return st.QueryRowContext(ctx, args...).Scan(dest...)
}

// Each visits every row.
func (s *Session) Each(ctx context.Context, query string, args []any, visit func(*sql.Rows) error) error {
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
func (s *Session) plain(ctx context.Context, query string) error {
	if s.conn == nil {
		return driver.ErrBadConn
	}
	_, err := s.conn.ExecContext(ctx, query)
	return err
}

// ErrRollBack is returned by a body that wants its work undone: no failure.
var ErrRollBack = errors.New("rolled back on purpose")

// unknownOutcome wraps a COMMIT that was sent and not answered: the transaction may have happened.
type unknownOutcome struct{ err error }

func (e unknownOutcome) Error() string { return "outcome of COMMIT unknown: " + e.err.Error() }
func (e unknownOutcome) Unwrap() error { return e.err }

// Transact runs body in one transaction.
func (s *Session) Transact(ctx context.Context, level Isolation, body func(context.Context) error) error {
	if err := s.plain(ctx, s.db.begin(level)); err != nil {
		return err
	}
	if err := body(ctx); err != nil {
		if rerr := s.plain(ctx, "ROLLBACK"); rerr != nil {
			// Not rolled back, since ctx has ended, say: the transaction may still hold its locks.
			s.discard()
			if errors.Is(err, ErrRollBack) {
				return rerr
			}
		}
		return err
	}
	err := s.plain(ctx, "COMMIT")
	if err != nil && AbortReason(err) == "" {
		s.discard()
		return unknownOutcome{err}
	}
	// The rollback is harmless where the failed COMMIT has ended the transaction already.
	if err != nil && s.plain(ctx, "ROLLBACK") != nil {
		s.discard()
	}
	return err
}

// StatusError is a result that makes a transaction invalid, numbered as the specification numbers it.
type StatusError struct {
	Code int
	text string
}

// Status is the error of a status.
func Status(code int, text string) error { return StatusError{code, text} }

func (e StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Code, e.text) }

// RetryPolicy repeats a whole transaction, with the same input, while the engine asks for it.
type RetryPolicy struct {
	Attempts int
	Rand     *gen.Rand
	Level    Isolation
	OnRetry  func(reason string)
	// happened resolves an unknown outcome; nil for a transaction that only reads.
	Happened func(context.Context) (bool, error)
}

func (s *Session) Retry(ctx context.Context, p RetryPolicy, body func(context.Context) error) error {
	var err error
	for attempt := range p.Attempts {
		if attempt > 0 {
			if werr := BackOff(ctx, p.Rand, attempt); werr != nil {
				return errors.Join(err, werr)
			}
		}
		if s.conn == nil {
			if err = s.connect(ctx); err != nil {
				p.OnRetry("no connection")
				continue
			}
		}
		err = s.Transact(ctx, p.Level, body)
		var unknown unknownOutcome
		switch {
		case err == nil, errors.Is(err, ErrRollBack):
			return err
		case errors.As(err, &unknown):
			p.OnRetry("outcome unknown")
			done, rerr := s.resolve(ctx, p)
			if rerr != nil {
				return errors.Join(err, rerr)
			}
			if done {
				return nil
			}
		case AbortReason(err) != "":
			p.OnRetry(AbortReason(err))
		case connectionLost(err) && ctx.Err() == nil:
			p.OnRetry("connection lost")
			s.Close()
		default:
			return err
		}
	}
	return fmt.Errorf("gave up after %d attempts: %w", p.Attempts, err)
}

// resolve asks the database whether the transaction of a lost COMMIT is there.
func (s *Session) resolve(ctx context.Context, p RetryPolicy) (bool, error) {
	if p.Happened == nil {
		return true, nil
	}
	var err error
	for attempt := range p.Attempts {
		if werr := BackOff(ctx, p.Rand, attempt+1); werr != nil {
			return false, errors.Join(err, werr)
		}
		if err = s.connect(ctx); err != nil {
			continue
		}
		var done bool
		if done, err = p.Happened(ctx); err == nil {
			return done, nil
		}
		s.Close()
	}
	return false, fmt.Errorf("could not learn the outcome: %w", err)
}

// BackOff waits between 0 and 1 ms, doubled with each attempt up to half a second: spread, so that two losers
// of one conflict do not meet again.
func BackOff(ctx context.Context, r *gen.Rand, attempt int) error {
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
