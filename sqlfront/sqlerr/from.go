package sqlerr

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// Causes with which a statement's context is cancelled. go-mysql-server hands the cause up as the statement's error; From
// and Final turn it into the number.
var (
	ErrKilled   = errors.New("query execution was interrupted")
	ErrTimeout  = errors.New("maximum statement execution time exceeded")
	ErrShutdown = errors.New("server shutdown in progress")
)

// DuplicateEntry is MySQL's 1062. The key is named table.index, as MySQL 8 does; ORMs take the name from the text.
func DuplicateEntry(values []string, table, index string) *mysql.SQLError {
	return New(DuplicateKeyEntry, "%s", DuplicateText(values, table, index))
}

// DuplicateText is the text of DuplicateEntry. The engine gives it to sql.NewUniqueKeyErr as key string: that error has
// to keep its own type inside go-mysql-server (ON DUPLICATE KEY UPDATE and REPLACE read the existing row from it), and
// Final finds the text again behind the library's prefix.
func DuplicateText(values []string, table, index string) string {
	if index == "" {
		index = "PRIMARY"
	}
	key := index
	if table != "" {
		key = table + "." + index
	}
	return "Duplicate entry '" + strings.Join(values, "-") + "' for key '" + key + "'"
}

// Conflict is the 1213 of a write-write conflict: first committer wins, this transaction did not.
func Conflict() *mysql.SQLError {
	return New(Deadlock, "Deadlock found when trying to get lock; try restarting transaction")
}

// LockTimeout is the 1205 of a lock not obtained within innodb_lock_wait_timeout. The transaction lives on.
func LockTimeout() *mysql.SQLError {
	return New(LockWaitTimeout, "Lock wait timeout exceeded; try restarting transaction")
}

// LockNotAvailable is the 3572 of NOWAIT. The transaction lives on.
func LockNotAvailable() *mysql.SQLError {
	return New(LockNowait, "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")
}

// OutcomeUnknown says that the reply to the commit point was lost: the transaction may have committed. It names the next
// step, because retrying blindly is the one wrong answer.
func OutcomeUnknown() *mysql.SQLError {
	return mysql.NewSQLError(Unknown, StateOutcomeUnknown,
		"The outcome of the transaction is unknown: the reply to its commit was lost. Read back what it wrote before running it again")
}

// ReadOnlyTxn is 1792.
func ReadOnlyTxn() *mysql.SQLError {
	return New(ReadOnlyTransaction, "Cannot execute statement in a READ ONLY transaction.")
}

// SchemaChanged is the 1412 of a transaction that wrote by a table definition which is no longer current.
func SchemaChanged() *mysql.SQLError {
	return New(TableDefChanged, "Table definition has changed, please retry transaction")
}

// Shutdown is 1053; drivers answer it with a reconnect.
func Shutdown() *mysql.SQLError { return New(ServerShutdown, "Server shutdown in progress") }

// NotPreparable is 1295.
func NotPreparable() *mysql.SQLError {
	return New(UnsupportedPrepared, "This command is not supported in the prepared statement protocol yet")
}

// Killed is 1317.
func Killed() *mysql.SQLError { return New(QueryInterrupted, "Query execution was interrupted") }

// Timeout is 3024.
func Timeout() *mysql.SQLError {
	return New(QueryTimeout, "Query execution was interrupted, maximum statement execution time exceeded")
}

// TooManyConns is 1040.
func TooManyConns() *mysql.SQLError { return New(TooManyConnections, "Too many connections") }

// UnknownTable is 1146.
func UnknownTable(db, table string) *mysql.SQLError {
	if db != "" {
		table = db + "." + table
	}
	return New(NoSuchTable, "Table '%s' doesn't exist", table)
}

// TooOld is the 9006 of a read of what garbage collection may have removed.
func TooOld(err error) *mysql.SQLError {
	return New(SnapshotTooOld, "The snapshot is too old: garbage collection has passed it; begin a new transaction, or read a later time, or keep more with --gc-retention and --gc-max-hold (%v)", err)
}

// Future is the 1525 of AS OF a time that has not come.
func Future(at time.Time) *mysql.SQLError {
	return New(WrongValue, "Incorrect AS OF TIMESTAMP value: '%s' lies in the future", at.UTC().Format("2006-01-02 15:04:05.000 UTC"))
}

// Unsupported is 1235: MySQL has it, Moka does not (yet).
func Unsupported(what string) *mysql.SQLError {
	return New(UnsupportedFeature, "This version of Moka doesn't yet support '%s'", what)
}

// rule translates one sentinel of a lower layer.
type rule struct {
	is   error
	make func(err error) *mysql.SQLError
}

func fixed(f func() *mysql.SQLError) func(error) *mysql.SQLError {
	return func(error) *mysql.SQLError { return f() }
}

// From translates an error of txn, kv or context into the MySQL error that a client should see. nil stays nil, an error
// that is MySQL's already and one that is not ours come back as they are.
func From(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*mysql.SQLError); ok {
		return err
	}
	if se, ok := Known(err); ok {
		return se
	}
	return err
}

// OfBody is an error of a trigger's body for the statement that has fired it. A key that is taken in the body
// is not one of the statement's own: ON DUPLICATE KEY UPDATE and REPLACE would go on with the row that the
// library's error carries, a row of another table.
func OfBody(err error) error {
	if sql.ErrPrimaryKeyViolation.Is(err) || sql.ErrUniqueKeyViolation.Is(err) {
		return Final(err, Statement{})
	}
	return err
}

// Known is From with the answer to "did you know it?".
func Known(err error) (*mysql.SQLError, bool) {
	var se *mysql.SQLError
	if errors.As(err, &se) {
		return se, true
	}
	for _, r := range rules {
		if errors.Is(err, r.is) {
			return r.make(err), true
		}
	}
	return nil, false
}

// The order matters: a more specific sentinel stands before one that it may wrap.
var rules = append(ownRules,
	rule{ErrKilled, fixed(Killed)},
	rule{ErrTimeout, fixed(Timeout)},
	rule{ErrShutdown, fixed(Shutdown)},
	rule{context.DeadlineExceeded, fixed(Timeout)},
	rule{context.Canceled, fixed(Killed)},
)
