package sqlerr

import (
	"context"
	"errors"

	"github.com/dolthub/vitess/go/mysql"

	"moka/kv"
	"moka/txn"
)

// ownRules translate the sentinels of the layers below.
var ownRules = []rule{
	{txn.ErrConflict, fixed(Conflict)},
	{txn.ErrDeadlock, fixed(Conflict)},
	{txn.ErrLockTimeout, fixed(LockTimeout)},
	{txn.ErrLockNotAvailable, fixed(LockNotAvailable)},
	{txn.ErrOutcomeUnknown, fixed(OutcomeUnknown)},
	{txn.ErrLocked, fixed(LockTimeout)},
	{txn.ErrReadOnly, fixed(ReadOnlyTxn)},
	{txn.ErrSnapshotTooOld, TooOld},
	{txn.ErrTooLarge, func(err error) *mysql.SQLError {
		return New(TransactionTooLarge, "Transaction is too large; write it in smaller parts (%v)", err)
	}},
	{txn.ErrClosed, fixed(Shutdown)},
	// The engine knows the key and says so itself with DuplicateEntry; this is the answer where it did not.
	{txn.ErrAlreadyExists, func(err error) *mysql.SQLError { return New(DuplicateKeyEntry, "Duplicate entry (%v)", err) }},
	{txn.ErrMustExist, func(err error) *mysql.SQLError {
		return New(NoReferencedRow, "Cannot add or update a child row: a foreign key constraint fails (%v)", err)
	}},
	{kv.ErrOutcomeUnknown, fixed(OutcomeUnknown)},
	{kv.ErrClosed, fixed(Shutdown)},
	{kv.ErrCorrupt, func(err error) *mysql.SQLError {
		return New(crashedOnUsage, "The table is damaged in the storage: %v", err)
	}},
	{kv.ErrDisk, func(err error) *mysql.SQLError { return New(DiskFull, "Storage refused the write: %v", err) }},
	{kv.ErrDiskFull, func(err error) *mysql.SQLError {
		var full *kv.Error
		errors.As(err, &full)
		return New(DiskFull, "Disk full: %s", full.Msg)
	}},
	{kv.ErrBusy, func(err error) *mysql.SQLError {
		return New(LockWaitTimeout, "Storage is busy and nothing was written; try restarting transaction (%v)", err)
	}},
	{kv.ErrUnavailable, unreachable},
	{kv.ErrNotLeader, unreachable},
}

func unreachable(err error) *mysql.SQLError {
	if errors.Is(err, context.Canceled) { // it was the caller who went away
		return Killed()
	}
	return New(Unknown, "Storage cannot be reached and nothing was written; try again (%v)", err)
}

const (
	// DiskFull is what there is no room for.
	DiskFull       = 1021
	crashedOnUsage = 1194
)
