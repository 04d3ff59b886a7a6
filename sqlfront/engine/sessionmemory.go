package engine

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/operator"
)

// What a session keeps between statements, and what its statement takes before it has operators. All of it is in the session's account.

// sessionMemory is the limit of moka_session_memory.
func sessionMemory() int64 {
	if _, v, ok := sql.SystemVariables.GetGlobal(operator.VarSessionMemory); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return operator.DefaultSessionMemory
}

// Keep charges the session for n more bytes that it keeps, or fewer; what says for what.
func (s *Session) Keep(n int64, what string) error { return s.memory.Keep(n, sessionMemory(), what) }

// Reads charges n bytes for the reading of a statement, until it says 0.
func (s *Session) Reads(n int64) error {
	return s.memory.Reads(n, operator.StatementLimit(nil, s))
}

// Transit charges for n more bytes, or fewer, of messages between client and server.
func (s *Session) Transit(n int64) error { return s.memory.Transit(n, operator.StatementLimit(nil, s)) }

// ChargeValue implements expr.Charged.
func (s *Session) ChargeValue(ctx *sql.Context, by any, n int64) error {
	if n == 0 {
		return s.memory.Value(by, 0, 0)
	}
	return s.memory.Value(by, n, operator.StatementLimit(ctx, s))
}

// Holds implements longread.Meter: the statement is charged for the long values that it reads.
func (s *Session) Holds(by any, n int64) error {
	if n == 0 {
		return s.memory.Value(by, 0, 0)
	}
	return s.memory.Value(by, n, operator.StatementLimit(nil, s))
}

// RowMeter is one for rows that interrupt is told of when memory is short. It has to be closed.
func (e *Engine) RowMeter(interrupt func(error) bool) *operator.RowMeter {
	return e.memory.RowMeter(interrupt)
}

// buffered charges for what the transaction is going to write.
func (tx *Tx) buffered(ctx *sql.Context) error {
	if tx.t == nil {
		return nil
	}
	if s := tx.session; s != nil && !s.implicit() && tx.written.Keep == nil {
		tx.written.Keep = func(n int64) error { return s.Keep(n, "what a transaction writes") }
	}
	n, _ := tx.t.Size()
	return tx.written.Charge(ctx, n)
}

// keepVariable charges for what a user variable is about to be, and gives back what it was.
func (s *Session) keepVariable(ctx *sql.Context, name string, value any) error {
	_, was, err := s.BaseSession.GetUserVariable(ctx, name)
	if err != nil {
		return err
	}
	n := operator.ValueBytes(value) - operator.ValueBytes(was)
	if was == nil && value != nil {
		n += variableBytes + int64(len(name))
	}
	return s.Keep(n, "user variables")
}

// variableBytes is about what a user variable takes beside its value. A name that was set stays, with NULL in it.
const variableBytes = 128

// Held is what all statements and sessions have been charged for.
func (e *Engine) Held() int64 { return e.memory.Held() }

// WatchMemory ends the greediest statement whenever the process is near a limit, until ctx ends.
func (e *Engine) WatchMemory(ctx context.Context, limit int64) {
	e.memory.Watch(ctx, limit, func(now int64) {
		e.opts.Logger.Warn("memory is short: the statement that holds most was ended", "process", now, "limit", limit, "charged", e.memory.Held())
	})
}
