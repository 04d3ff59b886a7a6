package wire

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/sqlerr"
)

// statement is what the first word of a text says about it.
type statement struct {
	verb   verb
	ping   bool // SELECT 1
	reads  bool // max_execution_time applies
	writes bool // refused under SET TRANSACTION READ ONLY
	loads  bool // reads a file, the client's perhaps
	again  bool // may be run again after a conflict, in autocommit
}

type verb uint8

const (
	verbOther verb = iota
	verbSelect
	verbInsert
	verbUpdate
	verbDelete
	verbDDL
	verbTransaction
	verbs
)

var verbNames = [verbs]string{"other", "select", "insert", "update", "delete", "ddl", "transaction"}

// classify looks at the first word only. What is not listed is not retried: CALL may have committed halfway, LOAD DATA has
// consumed its input, COMMIT belongs to the client's own transaction.
func classify(query string) statement {
	first, rest := firstWord(query)
	switch strings.ToLower(first) {
	case "select":
		return statement{verb: verbSelect, reads: true, again: true, ping: strings.TrimRight(rest, " \t\r\n;") == "1"}
	case "with", "table", "values", "(":
		return statement{verb: verbSelect, reads: true, again: true}
	case "explain", "describe", "desc":
		return statement{reads: true, again: true} // EXPLAIN ANALYZE runs what it explains
	case "insert", "replace":
		return statement{verb: verbInsert, writes: true, again: true}
	case "update":
		return statement{verb: verbUpdate, writes: true, again: true}
	case "delete":
		return statement{verb: verbDelete, writes: true, again: true}
	case "truncate", "create", "drop", "alter", "rename", "analyze":
		return statement{verb: verbDDL, writes: true, again: true}
	case "load":
		return statement{verb: verbInsert, writes: true, loads: true}
	case "notify":
		return statement{verb: verbOther, writes: true, again: true}
	case "begin", "start", "commit", "rollback", "savepoint", "release":
		return statement{verb: verbTransaction}
	}
	return statement{}
}

// firstWord skips space and comments.
func firstWord(q string) (word, rest string) {
	for {
		q = skipSpace(q)
		switch {
		case strings.HasPrefix(q, "/*") && !strings.HasPrefix(q, "/*!"):
			i := strings.Index(q, "*/")
			if i < 0 {
				return "", ""
			}
			q = q[i+2:]
			continue
		case strings.HasPrefix(q, "-- "), strings.HasPrefix(q, "#"):
			i := strings.IndexByte(q, '\n')
			if i < 0 {
				return "", ""
			}
			q = q[i+1:]
			continue
		case strings.HasPrefix(q, "("):
			return "(", q[1:]
		}
		break
	}
	i := 0
	for i < len(q) && (q[i]|0x20 >= 'a' && q[i]|0x20 <= 'z' || q[i] == '_') {
		i++
	}
	return q[:i], skipSpace(q[i:])
}

func skipSpace(q string) string {
	for q != "" && (q[0] == ' ' || q[0] == '\t' || q[0] == '\r' || q[0] == '\n') {
		q = q[1:]
	}
	return q
}

// deadline is how long a query may run: the hint in its head, or the session variable; 0 is for ever.
func (c *connection) deadline(query string) time.Duration {
	ms := c.limit().timeout
	if i := strings.Index(query, "/*+"); i >= 0 && i < 64 {
		hint := strings.ToLower(query[i:min(len(query), i+512)])
		if j := strings.Index(hint, "max_execution_time("); j >= 0 {
			text := hint[j+len("max_execution_time("):]
			if k := strings.IndexByte(text, ')'); k >= 0 {
				if n, err := strconv.ParseInt(strings.TrimSpace(text[:k]), 10, 32); err == nil {
					ms = n
				}
			}
		}
	}
	if ms <= 0 || ms > int64(1<<31) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func isConflict(err error) bool { return sqlerr.Code(err) == sqlerr.Deadlock }

// Pauses between attempts grow from firstPause to lastPause; each is drawn from its upper half.
const (
	firstPause = 500 * time.Microsecond
	lastPause  = 50 * time.Millisecond
)

// rerunner is a session whose statements can be run again within their transaction.
type rerunner interface {
	// ReRunsStatements says that Again will be asked.
	ReRunsStatements()
	// Again is asked after each failed statement, with whether it may be run again.
	Again(may bool) bool
	// Contended says that the next attempt follows a conflict in autocommit: it should stand in line.
	Contended(yes bool)
}

// attempts runs a statement, and runs it again after a conflict if the client cannot have seen anything of it: it is in
// autocommit (or is the first of its transaction) and no packet of its result was written.
func (h *handler) attempts(ctx context.Context, conn *connection, st statement, query string, prepared bool, callback mysql.ResultSpoolFn,
	exec func(context.Context, mysql.ResultSpoolFn) (string, error)) (rest string, err error) {
	again := st.again && !conn.inTransaction()
	pause := firstPause
	results := conn.limit().results
	session, _ := conn.session.(rerunner)
	if session != nil {
		session.ReRunsStatements()
		defer session.Contended(false)
	}
	for n := 0; ; n++ {
		sent := false
		err = h.guard("statement", conn, func() error {
			rest, err = exec(ctx, func(r *sqltypes.Result, more bool) error {
				if !sent && !conn.planned {
					origins(r.Fields, query)
					h.srv.fixFields(r.Fields)
					restoreCase(r.Fields, query)
				}
				fixRows(r, prepared)
				conn.rows.add(r)
				if results != nil {
					conn.encode(results, r, !sent)
				}
				sent = true
				conn.begun = conn.begun || len(r.Fields) > 0
				write := func() error { return callback(r, more) }
				if len(r.Fields) > 0 {
					return write()
				}
				n := h.WarningCount(conn.conn)
				if head, ok := strings.CutSuffix(r.Info, "Warnings: 0"); ok && n > 0 {
					r.Info = head + "Warnings: " + strconv.Itoa(int(n))
				}
				if prepared {
					if n > 0 || r.Info != "" {
						return conn.writeOK(func(b []byte) ([]byte, bool) { return completeOK(b, n, r.Info) }, write)
					}
				} else if r.Info != "" {
					return conn.writeOK(lengthenInfo, write)
				}
				return write()
			})
			return err
		})
		if err != nil && session != nil && session.Again(!sent && st.again && n < h.srv.opts.MaxRetries && !conn.poisoned && ctx.Err() == nil) {
			h.srv.counts.retries.Add(1)
			continue // at once: the row that it lost a race for is locked now
		}
		if err == nil || sent || !again || n >= h.srv.opts.MaxRetries || conn.poisoned || conn.inTransaction() || !h.srv.opts.Retryable(err) {
			if err != nil && n > 0 {
				h.srv.counts.gaveUp.Add(1)
			}
			return rest, err
		}
		h.srv.counts.retries.Add(1)
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return rest, err
		}
		pause = min(2*pause, lastPause)
		if session != nil {
			session.Contended(true)
		}
	}
}
