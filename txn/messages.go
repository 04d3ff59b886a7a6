package txn

import (
	"time"

	"moka/kv"
	"moka/txn/longread"
	"moka/txn/record"
)

// The messages of the coprocessor's commands. They travel between processes of one version, or of neighbouring ones during a
// rolling upgrade: fields are only ever added at the end, under a new command id if the meaning changes.

// Command numbers (kv reserves 32..63 for this package).
const (
	cmdGet            kv.CommandID = 32
	cmdScan           kv.CommandID = 33
	cmdPrewrite       kv.CommandID = 34
	cmdCommitOnePhase kv.CommandID = 35
	cmdCommit         kv.CommandID = 36
	cmdRollback       kv.CommandID = 37
	cmdCheckStatus    kv.CommandID = 38
	cmdResolve        kv.CommandID = 39
	cmdHeartbeat      kv.CommandID = 40
	cmdScanLocks      kv.CommandID = 41
	cmdSeed           kv.CommandID = 42
	cmdScanSince      kv.CommandID = 44 // 43 is in program.go
	cmdScanAcks       kv.CommandID = 45
)

// lockInfo is what a client needs to know of a lock it met.
type lockInfo struct {
	column  kv.Column
	startTS kv.Timestamp
	kind    record.Kind
	guard   bool // of a one-phase commit: it will be gone in a moment, and there is nothing to resolve
	primary kv.Column
	ttl     time.Duration
	session string
	// row: a row lock of the owner startTS, in memory only. There is nothing to resolve; it ends with its owner.
	row bool
}

func (e *encoder) lock(l lockInfo) {
	e.column(l.column)
	e.timestamp(l.startTS)
	e.byte(byte(l.kind))
	e.bool(l.guard)
	e.column(l.primary)
	e.uvarint(uint64(l.ttl.Milliseconds()))
	e.string(l.session)
	e.bool(l.row)
}

func (d *decoder) lock() lockInfo {
	return lockInfo{
		column: d.column(), startTS: d.timestamp(), kind: record.Kind(d.byte()), guard: d.bool(), primary: d.column(),
		ttl: d.millis(), session: d.string(), row: d.bool(),
	}
}

func (d *decoder) millis() time.Duration {
	ms := d.uvarint()
	if ms > uint64(record.MaxTTL.Milliseconds()) {
		d.fail("duration out of range")
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func (e *encoder) locks(ls []lockInfo) {
	e.uvarint(uint64(len(ls)))
	for _, l := range ls {
		e.lock(l)
	}
}

func (d *decoder) locks() []lockInfo { return list(d, 12, d.lock) }

// getRequest reads columns at a snapshot.
type getRequest struct {
	longread.Question

	snapshot kv.Timestamp
	columns  []kv.Column
	// bypass lists transactions whose locks need not be waited for: they were rolled back, or will commit above snapshot.
	bypass  []kv.Timestamp
	tablets []kv.TabletRef
	// known lists transactions that committed, with commit_ts: their values may be read from their locks.
	known []decision
	// unchanged asks for columns below the safe point, too, if they have not changed between the snapshot and it.
	unchanged bool
}

func (m *getRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.snapshot)
	e.columns(m.columns)
	e.timestamps(m.bypass)
	e.refs(m.tablets)
	e.decisions(m.known)
	e.bool(m.unchanged)
	return e.b
}

func (m *getRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = getRequest{snapshot: d.timestamp(), columns: d.columns(), bypass: d.timestamps(), tablets: d.refs(), known: d.decisions(), unchanged: d.bool()}
	return d.end()
}

// getResponse has one value for each column asked for, or for the first of them if those are many bytes: the others are asked for again.
// Where a lock is in the way, its column's value is not there yet.
type getResponse struct {
	values []Value
	bytes  int // of the values so far; not sent
	// charged: to whoever has asked, in this process; not sent.
	charged bool
	locks   []lockInfo
	// unseeded is the shard's incarnation if it has not been seeded for all of the tablets.
	unseeded uint64
	// safePoint, if set, is above the snapshot: nothing was read.
	safePoint kv.Timestamp
}

// maxResponse is how many bytes of values end the response to a Get: messages between nodes have a limit, into which this
// and one value more (maxValue) fit.
const maxResponse = 8 << 20

// full counts value i, and ends the response behind it if it is large enough.
func (m *getResponse) full(i int) bool {
	if m.bytes += len(m.values[i].Data); m.bytes < maxResponse {
		return false
	}
	m.values = m.values[:i+1]
	return true
}

func (m *getResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.values(m.values)
	e.locks(m.locks)
	e.uvarint(m.unseeded)
	e.timestamp(m.safePoint)
	return e.b
}

func (m *getResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = getResponse{
		values: d.values(), locks: d.locks(), unseeded: d.uvarint(), safePoint: d.timestamp(),
	}
	return d.end()
}

func (e *encoder) values(vs []Value) {
	e.uvarint(uint64(len(vs)))
	for _, v := range vs {
		e.bool(v.OK)
		e.bytes(v.Data)
	}
}

func (d *decoder) values() []Value {
	return list(d, 2, func() Value { return Value{OK: d.bool(), Data: d.bytes()} })
}

// scanRequest reads the columns of a span, in order, at a snapshot.
type scanRequest struct {
	longread.Question

	snapshot kv.Timestamp
	span     kv.Span
	reverse  bool
	limit    uint32 // columns with a value
	maxBytes uint32
	// after is the column behind which to go on, if resume is set.
	resume  bool
	after   kv.Column
	bypass  []kv.Timestamp
	tablets []kv.TabletRef
	acks    bool // of a scan that meets acknowledgements; says the command, not the message
}

func (m *scanRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.snapshot)
	e.span(m.span)
	e.bool(m.reverse)
	e.uvarint(uint64(m.limit))
	e.uvarint(uint64(m.maxBytes))
	e.bool(m.resume)
	e.column(m.after)
	e.timestamps(m.bypass)
	e.refs(m.tablets)
	return e.b
}

func (m *scanRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = scanRequest{
		snapshot: d.timestamp(), span: d.span(), reverse: d.bool(), limit: d.uint32(), maxBytes: d.uint32(),
		resume: d.bool(), after: d.column(), bypass: d.timestamps(), tablets: d.refs(),
	}
	return d.end()
}

// sinceRequest is a scan that leaves out what is as old as a timestamp. It is a command of its own, which older nodes refuse.
type sinceRequest struct {
	scan  scanRequest
	since kv.Timestamp
}

func (m *sinceRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bytes(m.scan.AppendTo(nil))
	e.timestamp(m.since)
	return e.b
}

func (m *sinceRequest) Decode(b []byte) error {
	d := decoder{b: b}
	scan := d.bytes()
	*m = sinceRequest{since: d.timestamp()}
	if err := d.end(); err != nil {
		return err
	}
	return m.scan.Decode(scan)
}

// acksRequest is a scan that meets acknowledgements of observers. Older nodes refuse it, too.
type acksRequest struct{ scanRequest }

func (m *acksRequest) Decode(b []byte) error {
	defer func() { m.acks = true }()
	return m.scanRequest.Decode(b)
}

// cell is a column with its value.
type cell struct {
	column kv.Column
	value  []byte
}

type scanResponse struct {
	charged bool // as in getResponse
	cells   []cell
	// more says that the span goes on behind last.
	more      bool
	last      kv.Column
	locks     []lockInfo // the lock that ended the batch, if one did
	unseeded  uint64
	safePoint kv.Timestamp // as in getResponse
}

func (m *scanResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(uint64(len(m.cells)))
	for _, c := range m.cells {
		e.column(c.column)
		e.bytes(c.value)
	}
	e.bool(m.more)
	e.column(m.last)
	e.locks(m.locks)
	e.uvarint(m.unseeded)
	e.timestamp(m.safePoint)
	return e.b
}

func (m *scanResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = scanResponse{
		cells: list(&d, 4, func() cell { return cell{column: d.column(), value: d.bytes()} }),
		more:  d.bool(), last: d.column(), locks: d.locks(), unseeded: d.uvarint(), safePoint: d.timestamp(),
	}
	return d.end()
}

// mutation is one buffered write on its way.
type mutation struct {
	kind         record.Kind
	column       kv.Column
	value        []byte
	mustNotExist bool
	mustExist    bool
	observers    []uint32
	clears       []record.Clear
	// since is the snapshot that the write was computed from, if it is older than the transaction's last: nothing may have
	// been committed to the column after it.
	since kv.Timestamp
	// share: a kindLock that the row lock stands for, while its owner still holds it.
	share bool
}

func (e *encoder) mutation(m *mutation) {
	e.byte(byte(m.kind))
	e.column(m.column)
	e.bytes(m.value)
	e.bool(m.mustNotExist)
	e.bool(m.mustExist)
	e.observers(m.observers)
	e.clears(m.clears)
	e.timestamp(m.since)
	e.bool(m.share)
}

func (d *decoder) mutation() *mutation {
	m := &mutation{
		kind: record.Kind(d.byte()), column: d.column(), value: d.bytes(), mustNotExist: d.bool(), mustExist: d.bool(),
		observers: d.observers(), clears: d.clears(), since: d.timestamp(), share: d.bool(),
	}
	if m.kind < record.KindPut || m.kind > record.KindNotify {
		d.fail("unknown mutation " + m.kind.String())
	}
	return m
}

// writeRequest is both prewrite and one-phase commit: the checks are the same.
type writeRequest struct {
	startTS   kv.Timestamp
	primary   kv.Column
	session   string
	ttl       time.Duration
	mutations []*mutation
	tablets   []kv.TabletRef
	// floor: one-phase and asynchronous commit choose a commit_ts above it.
	floor kv.Timestamp
	// async asks for locks of an asynchronous commit; the primary's lists the secondaries.
	async       bool
	secondaries []kv.Column
	// owner of the transaction's row locks, zero if it has none.
	owner kv.Timestamp
	// growth is what the transaction does to a disk that is full; see Txn.SetAdds.
	growth kv.Growth
	// depth of the notifications. A zero is not sent: older nodes would not decode it.
	depth uint32
}

func (m *writeRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.startTS)
	e.column(m.primary)
	e.string(m.session)
	e.uvarint(uint64(m.ttl.Milliseconds()))
	e.uvarint(uint64(len(m.mutations)))
	for _, mu := range m.mutations {
		e.mutation(mu)
	}
	e.refs(m.tablets)
	e.timestamp(m.floor)
	e.bool(m.async)
	e.columns(m.secondaries)
	e.timestamp(m.owner)
	e.byte(byte(m.growth))
	if m.depth > 0 {
		e.uvarint(uint64(m.depth))
	}
	return e.b
}

func (m *writeRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = writeRequest{
		startTS: d.timestamp(), primary: d.column(), session: d.string(), ttl: d.millis(),
		mutations: list(&d, 11, d.mutation), tablets: d.refs(), floor: d.timestamp(), async: d.bool(), secondaries: d.columns(),
		owner: d.timestamp(), growth: d.growth(),
	}
	if len(d.b) > 0 {
		if m.depth = d.uint32(); m.depth == 0 {
			d.fail("a depth of zero is not sent")
		}
	}
	return d.end()
}

// outcome of a prewrite or commit.
type outcome uint8

const (
	outcomeOK            outcome = 1
	outcomeCommitted     outcome = 2 // this transaction committed before, at commitTS
	outcomeRolledBack    outcome = 3 // this transaction was rolled back, by itself or by somebody who thought it dead
	outcomeConflict      outcome = 4 // column was committed at commitTS, after the snapshot
	outcomeAlreadyExists outcome = 5
	outcomeMustExist     outcome = 6
	outcomeLocked        outcome = 7
	outcomeUnseeded      outcome = 8 // the shard's memory of reads is not there yet: seed incarnation, then ask again
	outcomeTooOld        outcome = 9 // what the transaction has seen may be gone: the safe point is at commitTS
)

type writeResponse struct {
	outcome     outcome
	commitTS    kv.Timestamp
	column      kv.Column
	locks       []lockInfo
	incarnation uint64
	// minCommitTS is the least commit_ts that the locks of an asynchronous prewrite allow; zero if any of them is plain.
	minCommitTS kv.Timestamp
}

func (m *writeResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(byte(m.outcome))
	e.timestamp(m.commitTS)
	e.column(m.column)
	e.locks(m.locks)
	e.uvarint(m.incarnation)
	e.timestamp(m.minCommitTS)
	return e.b
}

func (m *writeResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = writeResponse{outcome: outcome(d.byte()), commitTS: d.timestamp(), column: d.column(), locks: d.locks(), incarnation: d.uvarint(), minCommitTS: d.timestamp()}
	if m.outcome < outcomeOK || m.outcome > outcomeTooOld {
		d.fail("unknown outcome")
	}
	return d.end()
}

// commitRequest commits the primary, and with it, in the same batch, all other locks of the transaction within spans.
type commitRequest struct {
	startTS kv.Timestamp
	// commitTS is the least commit_ts: it was fetched after all prewrites. The answer says which one it became.
	commitTS kv.Timestamp
	primary  kv.Column
	spans    []kv.Span
	tablets  []kv.TabletRef
}

func (m *commitRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.startTS)
	e.timestamp(m.commitTS)
	e.column(m.primary)
	e.spans(m.spans)
	e.refs(m.tablets)
	return e.b
}

func (m *commitRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = commitRequest{startTS: d.timestamp(), commitTS: d.timestamp(), primary: d.column(), spans: d.spans(), tablets: d.refs()}
	return d.end()
}

// rollbackRequest removes the transaction's locks within spans. Columns without one get a tombstone, and so does the primary.
type rollbackRequest struct {
	startTS kv.Timestamp
	primary kv.Column
	columns []kv.Column
	spans   []kv.Span
}

func (m *rollbackRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.startTS)
	e.column(m.primary)
	e.columns(m.columns)
	e.spans(m.spans)
	return e.b
}

func (m *rollbackRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = rollbackRequest{startTS: d.timestamp(), primary: d.column(), columns: d.columns(), spans: d.spans()}
	return d.end()
}

// statusRequest asks the primary what became of a transaction, and may decide it.
type statusRequest struct {
	primary kv.Column
	startTS kv.Timestamp
	// push, if set: when the transaction is alive, make it commit above.
	push kv.Timestamp
	// now is a fresh timestamp, for TTLs.
	now kv.Timestamp
	// give up on the owner: its session is gone (Chubby's part in Percolator §2.2), or it is the owner who asks.
	force bool
	// expired says that the lock which was met has outlived its TTL; it decides if the primary has no lock (yet).
	expired bool
	// rollback: an asynchronous commit is rolled back, if it is not committed, without a look at its secondaries, because
	// whoever asks knows that it is not decided by them: one of them can never be locked, or is locked plainly, or it is
	// the owner who asks and has told nobody that it committed.
	rollback bool
}

func (m *statusRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.column(m.primary)
	e.timestamp(m.startTS)
	e.timestamp(m.push)
	e.timestamp(m.now)
	e.bool(m.force)
	e.bool(m.expired)
	e.bool(m.rollback)
	return e.b
}

func (m *statusRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = statusRequest{primary: d.column(), startTS: d.timestamp(), push: d.timestamp(), now: d.timestamp(), force: d.bool(), expired: d.bool(), rollback: d.bool()}
	return d.end()
}

// fate is what the primary says of a transaction.
type fate uint8

const (
	fateCommitted  fate = 1
	fateRolledBack fate = 2
	fateAlive      fate = 3
	fateUndecided  fate = 4 // an asynchronous commit whose owner had its time: its secondaries tell
	fateForgotten  fate = 5 // it began below the safe point and has left no trace
)

type statusResponse struct {
	fate     fate
	commitTS kv.Timestamp
	pushed   bool // alive, and will commit above the push
	// async says that the primary holds the lock of an asynchronous commit; what follows is from that.
	async       bool
	minCommitTS kv.Timestamp
	secondaries []kv.Column
}

func (m *statusResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(byte(m.fate))
	e.timestamp(m.commitTS)
	e.bool(m.pushed)
	e.bool(m.async)
	e.timestamp(m.minCommitTS)
	e.columns(m.secondaries)
	return e.b
}

func (m *statusResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = statusResponse{fate: fate(d.byte()), commitTS: d.timestamp(), pushed: d.bool(), async: d.bool(), minCommitTS: d.timestamp(), secondaries: d.columns()}
	if m.fate < fateCommitted || m.fate > fateForgotten {
		d.fail("unknown fate")
	}
	return d.end()
}

// decision is a transaction whose primary has decided. A zero commitTS means rolled back.
type decision struct{ startTS, commitTS kv.Timestamp }

func (e *encoder) decisions(ds []decision) {
	e.uvarint(uint64(len(ds)))
	for _, x := range ds {
		e.timestamp(x.startTS)
		e.timestamp(x.commitTS)
	}
}

func (d *decoder) decisions() []decision {
	return list(d, 2, func() decision { return decision{d.timestamp(), d.timestamp()} })
}

// resolveRequest carries decisions to the other locks within spans, found by start_ts.
type resolveRequest struct {
	decisions []decision
	spans     []kv.Span
	// primaries are columns whose locks go along although they are primaries: of asynchronous commits that all their locks
	// have decided.
	primaries []kv.Column
}

func (m *resolveRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.decisions(m.decisions)
	e.spans(m.spans)
	e.columns(m.primaries)
	return e.b
}

func (m *resolveRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = resolveRequest{
		decisions: d.decisions(), spans: d.spans(), primaries: d.columns(),
	}
	return d.end()
}

type resolveResponse struct{ resolved uint64 }

func (m *resolveResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(m.resolved)
	return e.b
}

func (m *resolveResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.resolved = d.uvarint()
	return d.end()
}

// heartbeatRequest raises the TTL of a primary lock.
type heartbeatRequest struct {
	primary kv.Column
	startTS kv.Timestamp
	ttl     time.Duration
}

func (m *heartbeatRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.column(m.primary)
	e.timestamp(m.startTS)
	e.uvarint(uint64(m.ttl.Milliseconds()))
	return e.b
}

func (m *heartbeatRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = heartbeatRequest{primary: d.column(), startTS: d.timestamp(), ttl: d.millis()}
	return d.end()
}

type heartbeatResponse struct{ found bool }

func (m *heartbeatResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.found)
	return e.b
}

func (m *heartbeatResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.found = d.bool()
	return d.end()
}

// scanLocksRequest lists locks of transactions that began at or before max.
type scanLocksRequest struct {
	max   kv.Timestamp
	limit uint32
}

func (m *scanLocksRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.max)
	e.uvarint(uint64(m.limit))
	return e.b
}

func (m *scanLocksRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = scanLocksRequest{max: d.timestamp(), limit: d.uint32()}
	return d.end()
}

type scanLocksResponse struct{ locks []lockInfo }

func (m *scanLocksResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.locks(m.locks)
	return e.b
}

func (m *scanLocksResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.locks = d.locks()
	return d.end()
}

// seedRequest gives a freshly opened shard a timestamp above all reads that its predecessor served; see state.seed.
type seedRequest struct {
	incarnation uint64
	tablets     []kv.TabletRef
	ts          kv.Timestamp
}

func (m *seedRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(m.incarnation)
	e.refs(m.tablets)
	e.timestamp(m.ts)
	return e.b
}

func (m *seedRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = seedRequest{incarnation: d.uvarint(), tablets: d.refs(), ts: d.timestamp()}
	return d.end()
}

// empty is the response of commands that have nothing to say.
type empty struct{}

func (m *empty) AppendTo(b []byte) []byte { return b }

func (m *empty) Decode(b []byte) error {
	d := decoder{b: b}
	return d.end()
}
