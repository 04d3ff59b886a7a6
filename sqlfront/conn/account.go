package conn

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/statements"
)

// tally counts the rows of a statement's answers.
type tally struct{ sent, affected int64 }

// measured is a session that knows what its statement has done below.
type measured interface {
	// Measure begins a statement, and returns the context, made of the connection's, in which it is to be
	// run.
	Measure(connection context.Context) context.Context
	// Measured returns the text with '?' for literals, if it is known, the rows read, and the time spent
	// waiting for locks of others.
	Measured() (short []byte, examined int64, locked time.Duration)
	Planned() (planned bool, reason string)
}

// slowSettings say what goes into the slow log.
type slowSettings struct {
	read      time.Time // when they were looked at
	on        bool      // slow_query_log
	threshold time.Duration
	examined  int64 // min_examined_row_limit
	file      string
}

// slowAge is how long another session's SET GLOBAL may go unnoticed.
const slowAge = 100 * time.Millisecond

func (c *Connection) slowSettings() slowSettings {
	s := slowSettings{read: time.Now()}
	if c.srv.opts.Statements == nil || c.session == nil {
		return s
	}
	_, on, _ := sql.SystemVariables.GetGlobal("slow_query_log")
	if s.on = on == int8(1); !s.on {
		return s
	}
	_, output, _ := sql.SystemVariables.GetGlobal("log_output")
	s.on = outputIsFile(output)
	_, name, _ := sql.SystemVariables.GetGlobal("slow_query_log_file")
	s.file, _ = name.(string)
	s.examined = c.variable("min_examined_row_limit")
	if v, err := c.session.GetSessionVariable(nil, "long_query_time"); err == nil {
		seconds, _ := v.(float64)
		s.threshold = time.Duration(seconds * float64(time.Second))
	}
	return s
}

// outputIsFile reads log_output, a set of words; other values than FILE are taken and do nothing.
func outputIsFile(v any) bool {
	switch v := v.(type) {
	case string:
		return slices.Contains(strings.Split(strings.ToLower(v), ","), "file")
	case uint64: // TABLE, FILE, NONE
		return v&2 != 0
	}
	return true
}

// record accounts for a statement that has ended.
func (c *Connection) record(query string, rows tally, began time.Time, failed *sqlerr.Error) {
	r := c.srv.opts.Statements
	if r == nil || c.session == nil {
		return
	}
	x := statements.Execution{
		Database: c.session.GetCurrentDatabase(), Text: query, User: c.user, Connection: c.id,
		Began: began, Took: time.Since(began), Sent: rows.sent, Affected: rows.affected,
	}
	if m, ok := c.session.(measured); ok {
		x.Short, x.Examined, x.Locked = m.Measured()
		x.Planned, x.NoPlan = m.Planned()
	}
	if failed != nil {
		x.Error = failed.Num
	}
	r.Record(&x)
	l := c.limit()
	if began.Sub(l.slow.read) > slowAge {
		l.slow = c.slowSettings()
	}
	if l.slow.on && x.Took >= l.slow.threshold && x.Examined >= l.slow.examined {
		x.Host = c.session.Client().Address
		c.srv.counts.slow.Add(1)
		r.Slow(&x, l.slow.file)
	}
}
