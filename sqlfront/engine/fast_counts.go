package engine

import (
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
)

// Statements that run by their plans are counted here, by what they are, and go into the library's status
// variables when somebody asks for these. To count one there took a dozen searches of maps by name, 1 % of
// what a server does under sysbench, and a session's map, a copy of all variables, with its first
// statement.

// comStatus are the variables that such statements are counted by, each besides Questions and Queries.
var comStatus = [...]string{
	"Com_select", "Com_insert", "Com_update", "Com_delete", "Com_begin", "Com_commit", "Com_rollback",
}

// engineCounts are those of an engine's sessions.
type engineCounts [len(comStatus)]atomic.Uint64

// sessionCounts are those of one session, for its goroutine.
type sessionCounts [len(comStatus)]uint64

// count counts a statement.
func (e *Engine) count(ctx *sql.Context, s *Session, variable string) {
	for i := range comStatus {
		if comStatus[i] == variable {
			e.counts[i].Add(1)
			s.counts[i]++
			return
		}
	}
	sql.IncrementStatusVariable(ctx, questions, 1)
	sql.IncrementStatusVariable(ctx, variable, 1)
}

// settle takes what has been comStatus over into the library's variables.
func (c *engineCounts) settle(r sql.StatusVariableRegistry) {
	for i := range c {
		if n := int(c[i].Swap(0)); n > 0 {
			r.IncrementGlobal(comStatus[i], n)
			r.IncrementGlobal(questions, n)
			r.IncrementGlobal(queries, n)
		}
	}
}

// settle takes what has been comStatus over into the session's variables.
func (c *sessionCounts) settle(vars map[string]sql.StatusVarValue) {
	for i, n := range c {
		if n == 0 {
			continue
		}
		c[i] = 0
		for _, name := range []string{comStatus[i], questions, queries} {
			if v := vars[name]; v != nil {
				v.Increment(n)
			}
		}
	}
}
