package txn

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"moka/kv"
	"moka/txn/record"
)

// Timestamps is what a transaction needs of the oracle: each value is greater than every value that was returned before the
// call began, to anybody.
type Timestamps interface {
	Next(ctx context.Context) (kv.Timestamp, error)
}

// Liveness answers whether the session of a lock's owner (Percolator §2.2: the worker's Chubby token) is alive. An owner that
// is not may be rolled back at once; without a Liveness only the lock's TTL tells.
type Liveness interface {
	Alive(ctx context.Context, session string) (bool, error)
}

// Options of a Client. The zero value of each field means its default.
type Options struct {
	// Session is written into each lock, for Liveness, until SetSession. Default: none, locks die by TTL
	// only.
	Session string
	// Liveness answers for the sessions of others. Default: nil, TTL only.
	Liveness Liveness
	// LockTTL is how long a silent owner's locks are respected. Default 3s.
	LockTTL time.Duration
	// LockWait bounds how long a read waits for the lock of a live transaction that cannot be pushed. Default 10s.
	LockWait time.Duration
	// LockLease is how long row locks outlive the last sign of life of their owner, which gives one each third of it. Default 10s.
	LockLease time.Duration
	// RowLockWait bounds how long a row lock is waited for where the transaction does not say. Default 50s, as in InnoDB.
	RowLockWait time.Duration
	// RetryTime bounds how long a commit goes on asking a store that does not answer or is busy. Default 10s.
	RetryTime time.Duration
	// NoAsyncCommit makes every commit that crosses shards wait for two phases.
	NoAsyncCommit bool
	// AsyncMaxKeys and AsyncMaxBytes bound the transactions that commit asynchronously: each of their columns is listed in the
	// primary's lock. Default 256 columns and 4 KiB.
	AsyncMaxKeys, AsyncMaxBytes int
	// MaxBytes caps the write buffer of one transaction (keys, values and a fixed overhead for each). Default 64 MiB.
	MaxBytes int64
	// MaxPending bounds the transactions whose secondaries are being committed in the background; beyond it, Commit does
	// it before it returns. Default 4096.
	MaxPending int
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.LockTTL = cmp.Or(max(o.LockTTL, 0), 3*time.Second)
	o.LockWait = cmp.Or(max(o.LockWait, 0), 10*time.Second)
	o.LockLease = cmp.Or(max(o.LockLease, 0), 10*time.Second)
	o.RowLockWait = cmp.Or(max(o.RowLockWait, 0), 50*time.Second)
	o.RetryTime = cmp.Or(max(o.RetryTime, 0), 10*time.Second)
	o.AsyncMaxKeys = cmp.Or(max(o.AsyncMaxKeys, 0), 256)
	o.AsyncMaxBytes = cmp.Or(max(o.AsyncMaxBytes, 0), 4<<10)
	o.MaxBytes = cmp.Or(max(o.MaxBytes, 0), 64<<20)
	o.MaxPending = cmp.Or(max(o.MaxPending, 0), 4096)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// TxnOptions of one transaction.
type TxnOptions struct {
	// ReadOnly refuses writes.
	ReadOnly bool
	// StartTS reads a snapshot in the past; such a transaction is read-only. Zero: the newest snapshot, taken at the first
	// read (or, in a transaction that never reads, at commit).
	StartTS kv.Timestamp
	// Unchanged lets Get and BatchGet read at a StartTS below the safe point what has not changed from there to it: what is known for
	// certain although the snapshot is gone. Anything else is ErrSnapshotTooOld, and so are scans. The snapshot is not kept.
	Unchanged bool
	// Autocommit says that the transaction is a single statement, so that its snapshot was taken after the user asked for
	// it. It spares one-phase commit a timestamp; see DESIGN.md on linearizability.
	Autocommit bool
	// Depth counts the runs of observers that led to the transaction, its own included.
	Depth uint32
	// LockWait bounds how long a row lock is waited for. Default: the client's RowLockWait.
	LockWait time.Duration
	// Connection is whose it is, for people who look for what keeps old versions. SetNote overrides it.
	Connection uint32
	// Prefetched is a timestamp that was asked for when the user's statement arrived. It becomes the snapshot, or start_ts of an
	// autocommit transaction that reads nothing.
	Prefetched *Prefetch
}

// Value is a result of BatchGet.
type Value struct {
	Data []byte
	OK   bool
}

// WriteOptions go with a write to its commit.
type WriteOptions struct {
	// MustNotExist fails the commit with ErrAlreadyExists if the column has a value.
	MustNotExist bool
	// Observers are notified of this column when the write commits.
	Observers []uint32
	// ClearNotify removes notifications with the commit of this column.
	ClearNotify []record.Clear
}

// Write is a column of PutAll.
type Write struct {
	Column kv.Column
	Value  []byte
	// MustNotExist and Observers are as in WriteOptions.
	MustNotExist bool
	Observers    []uint32
}

// ScanOptions bound a Scan.
type ScanOptions struct {
	Span    kv.Span
	Reverse bool
	// Limit ends the scan after so many columns; zero means no limit.
	Limit int
	// Batch is the size of the first request in columns; later ones grow. Zero means 32.
	Batch int
	// At, if set, merges the own writes as of that savepoint instead of those so far: a statement that opens several scans
	// one after the other (the inner side of a join) must not meet what it has written in between.
	At *Savepoint
	// Since, if set, leaves out columns whose newest version in the snapshot is not younger than that: what has not been written since. What was
	// written again with the same value is there, what was deleted is not, as in other scans. Own writes are merged in; no program runs. A
	// node of an older release refuses such a scan.
	Since kv.Timestamp
	// Acks has the scan meet acknowledgements of observers, too, each behind the cells of its row. Not with Since
	// or a program. Nodes of older releases refuse it.
	Acks bool
	// Program, if set, runs beside the data; see Program. It may leave out and shorten cells. Own writes are merged in as they
	// are, and a shard that cannot run it returns all cells as they are: the caller looks at what comes.
	Program []byte
	// Whole says that the caller cannot look at cells itself: if the program cannot see all there is to see (own writes, another
	// release), the scan fails with ErrNoProgram.
	Whole bool
}
