package txn

import (
	"errors"
	"fmt"

	"moka/kv"
	"moka/txn/deadlock"
)

// Code is the kind of an Error.
type Code uint8

const (
	CodeConflict       Code = 1 // somebody else committed first; run the transaction again
	CodeAlreadyExists  Code = 2 // a MustNotExist column exists
	CodeMustExist      Code = 3 // a required column does not exist
	CodeOutcomeUnknown Code = 4 // the commit may or may not have happened
	CodeTooLarge       Code = 5 // the write buffer is over its cap
	CodeReadOnly       Code = 6 // a write in a read-only transaction
	CodeFinished       Code = 7 // the transaction was committed or rolled back before
	CodeLocked         Code = 8 // a lock of a live transaction did not go away in time
	CodeClosed         Code = 9 // the client is closed

	CodeLockTimeout      Code = 10 // a row lock was not to be had in time; the transaction lives on
	CodeLockNotAvailable Code = 11 // a row is locked and the user does not want to wait; the transaction lives on
	CodeSnapshotTooOld   Code = 13 // the snapshot is below the safe point: versions that it needs may have been removed
	CodeDeadlock         Code = 12 // the transaction waits for others that wait for it; roll it back
)

// Sentinels for errors.Is. Only ErrOutcomeUnknown leaves open whether the transaction committed; after every other error
// of Commit it did not and never will.
var (
	ErrConflict       = &Error{Code: CodeConflict}
	ErrAlreadyExists  = &Error{Code: CodeAlreadyExists}
	ErrMustExist      = &Error{Code: CodeMustExist}
	ErrOutcomeUnknown = &Error{Code: CodeOutcomeUnknown}
	ErrTooLarge       = &Error{Code: CodeTooLarge}
	ErrReadOnly       = &Error{Code: CodeReadOnly}
	ErrFinished       = &Error{Code: CodeFinished}
	ErrLocked         = &Error{Code: CodeLocked}
	ErrClosed         = &Error{Code: CodeClosed}

	ErrLockTimeout      = &Error{Code: CodeLockTimeout}
	ErrLockNotAvailable = &Error{Code: CodeLockNotAvailable}
	ErrDeadlock         = &Error{Code: CodeDeadlock}
	ErrSnapshotTooOld   = &Error{Code: CodeSnapshotTooOld}
)

var codeNames = map[Code]string{
	CodeConflict: "conflict", CodeAlreadyExists: "already exists", CodeMustExist: "must exist",
	CodeOutcomeUnknown: "outcome unknown", CodeTooLarge: "transaction too large", CodeReadOnly: "read-only transaction",
	CodeFinished: "transaction finished", CodeLocked: "locked", CodeClosed: "client closed",
	CodeLockTimeout: "lock wait timeout", CodeLockNotAvailable: "lock not available", CodeDeadlock: "deadlock",
	CodeSnapshotTooOld: "snapshot too old",
}

// String names the code for people.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is what the transaction layer reports. Errors of the store that say nothing about the transaction's fate are passed
// through as they are.
type Error struct {
	Code Code
	Msg  string
	Err  error
}

func (e *Error) Error() string {
	s := "txn: " + e.Code.String()
	if e.Msg != "" {
		s += ": " + e.Msg
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Is matches the sentinels by code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Err == nil && t.Code == e.Code
}

// ConstraintError says which column's constraint failed; it is ErrAlreadyExists or ErrMustExist.
type ConstraintError struct {
	Code   Code
	Column kv.Column
}

func (e *ConstraintError) Error() string {
	return fmt.Sprintf("txn: %s: row %x family %d qualifier %x", e.Code, []byte(e.Column.Row), e.Column.Family, e.Column.Qualifier)
}

// Is matches ErrAlreadyExists and ErrMustExist.
func (e *ConstraintError) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Err == nil && t.Code == e.Code
}

// ConflictError says where somebody else was first; it is ErrConflict.
type ConflictError struct {
	Column kv.Column
	// CommitTS is the commit that was met, zero if it was a lock or a roll-back.
	CommitTS kv.Timestamp
	// StartTS is this transaction's snapshot.
	StartTS kv.Timestamp
	Reason  string
}

func (e *ConflictError) Error() string {
	s := fmt.Sprintf("txn: conflict: %s: row %x family %d qualifier %x, start_ts %v", e.Reason, []byte(e.Column.Row), e.Column.Family, e.Column.Qualifier, e.StartTS)
	if e.CommitTS != 0 {
		s += fmt.Sprintf(", commit_ts %v", e.CommitTS)
	}
	return s
}

// Is matches ErrConflict.
func (e *ConflictError) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Err == nil && t.Code == CodeConflict
}

func errTooOld(snapshot, safePoint kv.Timestamp) error {
	return errorf(CodeSnapshotTooOld, nil, "snapshot %v is below the safe point %v of garbage collection; begin a new transaction", snapshot, safePoint)
}

// DeadlockError says who waits for whom; it is ErrDeadlock.
type DeadlockError struct {
	Column kv.Column // for which the victim waited
	Cycle  []deadlock.Edge
}

func (e *DeadlockError) Error() string {
	s := fmt.Sprintf("txn: deadlock of %d transactions", len(e.Cycle))
	for _, w := range e.Cycle {
		s += fmt.Sprintf("; %v waits for %v at row %x", w.Waiter, w.Holder, []byte(w.Column.Row))
	}
	return s
}

// Is matches ErrDeadlock.
func (e *DeadlockError) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Msg == "" && t.Err == nil && t.Code == CodeDeadlock
}

func errorf(c Code, err error, format string, args ...any) *Error {
	return &Error{Code: c, Msg: fmt.Sprintf(format, args...), Err: err}
}

// notCommitted hides an ErrOutcomeUnknown of the store in an error about a transaction that certainly did not commit: the
// unknown was about a lock, not about the commit point.
func notCommitted(what string, err error) error {
	if errors.Is(err, kv.ErrOutcomeUnknown) {
		return &kv.Error{Code: kv.CodeUnavailable, Op: "txn." + what, Msg: "the store did not answer; nothing was committed: " + err.Error()}
	}
	return fmt.Errorf("txn: %s: %w", what, err)
}
