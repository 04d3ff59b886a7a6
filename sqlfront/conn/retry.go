package conn

import (
	"strconv"
	"strings"
	"time"

	"moka/sqlfront/sqlerr"
)

// statement is what the first word of a text says about it.
type statement struct {
	verb   verb
	ping   bool // SELECT 1
	reads  bool // max_execution_time applies
	loads  bool // reads a file, the client's perhaps
	again  bool // may be run again after a conflict, in autocommit
	schema bool // changes the catalog
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

// classify looks at the first word only. What is not listed is not retried: CALL may have committed
// halfway, LOAD DATA has consumed its input, COMMIT belongs to the client's own transaction.
func classify(query string) statement {
	first, rest := firstWord(query)
	switch strings.ToLower(first) {
	case "select":
		return statement{verb: verbSelect, reads: true, again: true, ping: strings.TrimRight(rest,
			" \t\r\n;") == "1"}
	case "with", "table", "values", "(":
		return statement{verb: verbSelect, reads: true, again: true}
	case "explain", "describe", "desc":
		return statement{reads: true, again: true} // EXPLAIN ANALYZE runs what it explains
	case "insert", "replace":
		return statement{verb: verbInsert, again: true}
	case "update":
		return statement{verb: verbUpdate, again: true}
	case "delete":
		return statement{verb: verbDelete, again: true}
	case "truncate", "create", "drop", "alter", "rename":
		return statement{verb: verbDDL, again: true, schema: true}
	case "analyze":
		return statement{verb: verbDDL, again: true}
	case "load":
		return statement{verb: verbInsert, loads: true}
	case "notify":
		return statement{verb: verbOther, again: true}
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
func (c *Connection) deadline(query string) time.Duration {
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
