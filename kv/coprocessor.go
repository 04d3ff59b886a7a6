package kv

import "context"

// A coprocessor is how a layer runs code next to the data (Bigtable §4, "client-supplied scripts in the address space of the
// server"): commands that a shard's leader evaluates with a reader in and at most one atomic batch out. The store's own
// row operations are one coprocessor, Percolator's verbs another, notifications a third. kv imports none of them.
//
//	client ── Request{shard, tablets, command, message} ──► shard leader
//	   write command: latch Rows → check tablet generations → Evaluate → Batch → replicator (durable) → release → reply
//	   read command:  check tablet generations → Evaluate → reply
type Coprocessor interface {
	// Name is unique in the process, for logs and errors.
	Name() string
	// Groups lists the locality groups that the layer's commands address.
	Groups() []GroupSpec
	// Commands lists what the layer can be asked to do.
	Commands() []Command
	// OpenShard is called once for each shard that this process begins to lead, after its in-memory groups are loaded and
	// before its first command. What it returns is Eval.State() of every command on that shard; if it is an io.Closer it
	// is closed when the shard is.
	OpenShard(s ShardHandle) (any, error)
}

// GroupID numbers a locality group: a key range of its own within each shard, hence blocks and SSTables of its own.
type GroupID uint8

// Groups below 16 belong to the store's own tables; layers above take theirs from here, once and for all (they are on disk).
const (
	GroupTxnWrite    GroupID = 16 // write records: committed versions, short values inlined
	GroupTxnData     GroupID = 17 // long values, by start_ts
	GroupTxnLock     GroupID = 18 // locks; in memory
	GroupTxnRollback GroupID = 19 // rollback tombstones, by start_ts: never share a key range with commits
	GroupNotify      GroupID = 20 // notifications, one run of keys for each observer; in memory
	GroupNotifyMeta  GroupID = 21 // attempts and parked notifications
	GroupTxnAck      GroupID = 22 // write records of acknowledgements, which no scan of rows wants to meet
)

// GroupSpec declares a locality group.
type GroupSpec struct {
	ID   GroupID
	Name string
	// InMemory groups are served from an ordered table in memory that is part of the shard's state; Pebble keeps only
	// their image for restart. (Bigtable §6; measured: a lock key that was set and deleted a thousand times costs a
	// Pebble probe 277 µs.)
	InMemory bool
	// Bound, unless zero, is how many entries of an in-memory group a shard holds in memory; the others
	// are on disk alone, and are read there.
	Bound int
}

// Message is a request or response of a command. In one process the pointer itself is handed over (arguments are immutable
// after the call, results are owned by the caller); between processes it is encoded.
type Message interface {
	// AppendTo appends the wire form to b.
	AppendTo(b []byte) []byte
	// Decode reads the wire form; it must not keep b and must refuse junk with an error, never panic.
	Decode(b []byte) error
}

// Sizer is what a large Message implements so that its encoding need not be moved while it grows.
type Sizer interface {
	// SizeHint is about how many bytes AppendTo appends.
	SizeHint() int
}

// OwnDecoder is what a large Message implements that can live in the bytes that it is decoded from.
type OwnDecoder interface {
	// DecodeOwn does what Decode does, and may keep b: nobody else uses it from now on.
	DecodeOwn(b []byte) error
}

// Releaser is what a large response implements whose memory can be used again.
type Releaser interface {
	// Release is called when the response has been encoded for another process, and nobody will look at it again.
	Release()
}

// Encode returns a message's wire form.
func Encode(m Message) []byte {
	if s, ok := m.(Sizer); ok {
		return m.AppendTo(make([]byte, 0, s.SizeHint()))
	}
	return m.AppendTo(nil)
}

// CommandID is the command's number on the wire.
//
//	1.. 31  store   32.. 63  txn   64.. 95  triggers   96..127 sqlfront (push-down)
type CommandID uint16

// Command is one verb of a coprocessor.
type Command struct {
	ID   CommandID
	Name string
	// Write commands are evaluated under the latches of Rows into one batch. Read commands take no latches, may run many
	// at a time, and may block on Eval.Context (a long poll) without holding anything up.
	Write       bool
	NewRequest  func() Message
	NewResponse func() Message
	// Rows appends the rows that a write command must latch. A read command may have it too: then it says which rows are read, or where a
	// range begins, and the shard counts by it what is asked of its tablets.
	Rows func(req Message, rows []RowKey) []RowKey
	// Evaluate must not keep e, and for write commands must be a function of what it reads and of req: only the batch has
	// effects. An error means that nothing is written; outcomes that a client handles as a matter of course (a lock met, a
	// condition failed) belong into the response instead.
	Evaluate func(e Eval, req Message) (Message, error)
}

// Version is one timestamped value of a column.
type Version struct {
	Timestamp Timestamp
	Value     []byte
}

// Address is a column's place in a shard: its locality group, and within it the run. Run is zero but in groups that keep
// several runs of rows side by side (notifications: one run for each observer).
type Address struct {
	Group GroupID
	Run   uint32
	Column
}

// Reader reads a shard's state. Values are the caller's to keep. All reads of in-memory groups see the table as it is at the
// call; reads of other groups see Pebble as it is at the call (an Iterator: at its creation).
type Reader interface {
	// Get returns the value of exactly that version.
	Get(a Address, ts Timestamp) (value []byte, ok bool, err error)
	// Latest returns the newest version with a timestamp of at most max.
	Latest(a Address, max Timestamp) (v Version, ok bool, err error)
	// LatestOf is Latest of several columns: found[i] becomes that of columns[i], with timestamp zero where
	// there is none. Each is as of a moment within the call, not all as of the same.
	LatestOf(columns []Address, max Timestamp, found []Version) error
	// Iter walks columns and their versions in key order: rows ascending, within a row family and qualifier ascending,
	// within a column newest first. With Reverse, columns descend (versions still newest first).
	Iter(o IterOptions) (Iterator, error)
}

// EachLatest is LatestOf by one Latest after the other.
func EachLatest(r interface {
	Latest(a Address, max Timestamp) (v Version, ok bool, err error)
}, columns []Address, max Timestamp, found []Version) error {
	for i, a := range columns {
		v, ok, err := r.Latest(a, max)
		if err != nil {
			return err
		}
		if !ok {
			v = Version{}
		}
		found[i] = v
	}
	return nil
}

// IterOptions bound an Iterator.
type IterOptions struct {
	Group   GroupID
	Run     uint32
	Span    Span // rows; must lie within the shard's tablets to mean anything
	Reverse bool
	// Max hides versions above it; zero means no bound.
	Max Timestamp
	// Min hides versions below it: what has changed since. Blocks and tables on disk without such versions are not read. Forward
	// only.
	Min Timestamp
}

// Iterator is positioned before the first column at creation.
//
//	for it.NextColumn() { for ok := true; ok; ok = it.NextVersion() { use(it.Column(), it.Version()) } }
//
// What Column and Version return is valid until the next move only; copy what you keep.
type Iterator interface {
	// NextColumn moves to the newest admitted version of the next column that has one.
	NextColumn() bool
	// NextVersion moves to the next older version of the same column; false when there is none.
	NextVersion() bool
	// SeekColumn moves to the newest admitted version of the first column at or after c (at or before, if Reverse).
	SeekColumn(c Column) bool
	Column() Column
	Version() Version
	Err() error
	Close() error
}

// Eval is what a command sees of its shard while it is evaluated.
type Eval interface {
	Reader
	Context() context.Context
	Shard() ShardHandle
	// State is what OpenShard returned.
	State() any

	// Room says of which kind the command's writes are, and is ErrDiskFull while the disk is too full for
	// them. The layer knows the kind, and how many bytes follow from them later: what their commits take, and
	// with deletes all there is until it is in tables. With Ends, which is never refused, it says that so
	// many of those have come. The batch itself is counted when it is complete, and refused then if there is
	// no room for it.
	Room(g Growth, bytes int) error

	// Set and Delete add to the batch (write commands only). They do not change what Reader returns. Sets in in-memory
	// groups become visible to others just before the batch is applied, deletes there only once it is durable: a lock is
	// never missing while what it protects is not safe. (Pebble shows a batch before its sync.)
	Set(a Address, ts Timestamp, value []byte)
	Delete(a Address, ts Timestamp)
	// DeleteRange adds the removal of all rows of a span, with all their versions, at the price of one record. The span lies within
	// one tablet, the group on disk, and nothing else of the batch in it. The caller knows that nobody writes there.
	DeleteRange(g GroupID, run uint32, span Span)
	// Guard puts an entry into an in-memory group at once, visible to everybody, never persisted, and takes it away when
	// the command has ended: after the batch is durable, or after it failed. One-phase commit guards its columns before it
	// reads the clock of reads, so that no reader with a larger snapshot slips between the two.
	Guard(a Address, ts Timestamp, value []byte)
	// NoSync lets the reply go out before the batch is durable. Only for effects that a restart can derive again: commits of
	// secondaries, removals of locks whose fate is decided elsewhere.
	NoSync()
	// OnDurable runs f after the batch is applied and durable (with NoSync: applied) and before the reply: keep it short.
	// The calls of a shard never overlap, and the rows' latches are still held. It does not run if the batch fails.
	OnDurable(f func())
}

// ShardHandle is a shard as a layer sees it outside of commands.
type ShardHandle interface {
	ID() ShardID
	// Tablets returns the descriptions of the tablets that the shard serves, ordered by start.
	Tablets() []Tablet
	// Reader reads the current state; also outside of commands.
	Reader() Reader
	// InMemory returns the ordered table behind an in-memory group.
	InMemory(g GroupID) MemTable
}

// Growth is what a write does to a disk that is full, where room is kept for what makes it smaller.
type Growth byte

const (
	// Ends ends what has begun, or keeps house: the second phase of a commit, the record of a dropped table.
	// It is never refused.
	Ends Growth = iota
	// Adds makes the store larger, and is refused first.
	Adds
	// Deletes makes it smaller in the end: it adds until old versions may go and have gone. So it is refused
	// while no more room is left than flushes and the ends of what goes on need.
	Deletes
	// Collects removes old versions, and is refused last of what is begun here.
	Collects
	// Follows is what a shard's leader on another node has begun: the entries of its log.
	Follows
)

// TabletReceiver is what the state that OpenShard returned implements if the layer keeps knowledge of rows in memory that
// must go with them, such as how far the clock of reads has come.
type TabletReceiver interface {
	// ReceiveTablet is called at the shard that a tablet moves to, when no command of the tablet runs on either shard and before
	// the first one runs here. from is the state of the shard that it comes from. It must not block.
	ReceiveTablet(t Tablet, from any)
}

// TabletCarrier is what that state implements if it knows something of a tablet's rows that is stored elsewhere, outside of the
// tablet or not at all, and has to be found where the tablet goes.
type TabletCarrier interface {
	// CarryTablet is called at the shard that a tablet leaves, under the same conditions, before ReceiveTablet. What it returns is
	// stored at the destination together with the tablet; rows must lie within it, and groups on disk. It is
	// called for the tablets that stay as well, when no write runs there, and what it returns is stored with
	// them: the one that leaves may have had the only record.
	CarryTablet(t Tablet) []Carried
}

// Carried is one version that a tablet takes along.
type Carried struct {
	Address
	Version
}

// MemTable is an in-memory locality group: ordered by (run, row, family, qualifier, newest first), indexed by timestamp.
// It is safe for concurrent use.
type MemTable interface {
	// Len counts entries; it is a single atomic load, so that an empty table costs a reader next to nothing.
	// Of a group with a Bound it is an estimate, zero only if there is none.
	Len() int
	// ByTimestamp calls f for all entries in memory of that timestamp (all locks of a transaction) until it
	// returns false.
	ByTimestamp(ts Timestamp, f func(a Address, value []byte) bool)
	// Ascend calls f for the entries of a run within the span in order until it returns false. f must not
	// call back. There is an error only if a disk had to be read.
	Ascend(run uint32, span Span, f func(a Address, v Version) bool) error
	// Min returns the smallest timestamp in memory.
	Min() (Timestamp, bool)
	// OnSet registers f to be called for each entry that a batch set, after the batch is applied and durable: keep it short.
	// The calls of a shard never overlap; the entries of one row come in the order in which they were applied. Entries loaded
	// at open are not reported: read them with Ascend. Entries of a tablet that moves here are reported when
	// it arrives, but for those that are on disk alone: TabletReceiver hears of the tablet.
	// Only OpenShard may call it.
	OnSet(f func(a Address, v Version))
	// Runs lists the runs that have entries, with their counts.
	Runs() map[uint32]int
}

// Store is how layers above reach shards, wherever they are. kv/client implements it over the network and in process,
// kv/kvtest in memory, kv/shardtest on real shards above a disk in memory.
type Store interface {
	// Locate returns the tablet that holds the row, from the cache if it can.
	Locate(ctx context.Context, row RowKey) (Tablet, error)
	// Call runs a command on a shard. tablets names every tablet that the request touches with the generation it was routed
	// by. ErrMoved means that nothing was done and the cache has been corrected: locate and group again.
	// ErrOutcomeUnknown means that a write may or may not have happened.
	Call(ctx context.Context, shard ShardID, tablets []TabletRef, command CommandID, req Message) (Message, error)
	// Shards lists all shards, for background work (orphaned locks, notifications).
	Shards(ctx context.Context) ([]ShardID, error)
}
