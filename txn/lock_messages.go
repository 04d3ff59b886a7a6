package txn

import (
	"time"

	"moka/kv"
	"moka/txn/deadlock"
	"moka/txn/longread"
)

// The commands of row locks and of the detector.
const (
	cmdLock      kv.CommandID = 51
	cmdAwaitLock kv.CommandID = 52
	cmdUnlock    kv.CommandID = 53
	cmdKeepLocks kv.CommandID = 54
	cmdDetect    kv.CommandID = 55
	cmdListLocks kv.CommandID = 56
	cmdDeadlocks kv.CommandID = 57
)

// lockRequest asks for the row locks of columns, in order, up to the first that cannot be had.
type lockRequest struct {
	longread.Question

	owner   kv.Timestamp
	session string
	note    string
	ttl     time.Duration
	shared  bool
	wait    bool // stand in line for the first that is taken
	// since is the owner's snapshot: a column that has changed after it is a conflict (with the lock granted).
	since   kv.Timestamp
	columns []kv.Column
	tablets []kv.TabletRef
	read    bool // the values are wanted
}

func (m *lockRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.owner)
	e.string(m.session)
	e.string(m.note)
	e.uvarint(uint64(m.ttl.Milliseconds()))
	e.bool(m.shared)
	e.bool(m.wait)
	e.timestamp(m.since)
	e.columns(m.columns)
	e.refs(m.tablets)
	e.bool(m.read)
	return e.b
}

func (m *lockRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = lockRequest{
		owner: d.timestamp(), session: d.string(), note: d.string(), ttl: d.millis(), shared: d.bool(), wait: d.bool(),
		since: d.timestamp(), columns: d.columns(), tablets: d.refs(), read: d.bool(),
	}
	return d.end()
}

// lockStatus says why a lockRequest stopped.
type lockStatus uint8

const (
	lockDone     lockStatus = 1 // all are held, and as the snapshot knows them
	lockTaken    lockStatus = 2 // the next column is somebody's, see blockers
	lockInDoubt  lockStatus = 3 // the next column is held, but a transaction is committing it: see lock
	lockConflict lockStatus = 4 // the next column is held, and was changed at commitTS
)

type lockResponse struct {
	status   lockStatus
	done     uint32 // columns that are held and unchanged
	fresh    bool   // the owner did not hold the next column before this request
	blockers []deadlock.Holder
	locks    []lockInfo // lockInDoubt: the one in the way
	commitTS kv.Timestamp
	exists   bool    // lockConflict: the column has a value now
	values   []Value // of the columns that are held and unchanged, if they were asked for
	charged  bool    // as in getResponse
}

func (e *encoder) blockers(bs []deadlock.Holder) {
	e.uvarint(uint64(len(bs)))
	for _, b := range bs {
		e.timestamp(b.Owner)
		e.string(b.Note)
	}
}

func (d *decoder) blockers() []deadlock.Holder {
	return list(d, 2, func() deadlock.Holder { return deadlock.Holder{Owner: d.timestamp(), Note: d.string()} })
}

func (m *lockResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(byte(m.status))
	e.uvarint(uint64(m.done))
	e.bool(m.fresh)
	e.blockers(m.blockers)
	e.locks(m.locks)
	e.timestamp(m.commitTS)
	e.bool(m.exists)
	e.values(m.values)
	return e.b
}

func (m *lockResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = lockResponse{
		status: lockStatus(d.byte()), done: d.uint32(), fresh: d.bool(), blockers: d.blockers(), locks: d.locks(),
		commitTS: d.timestamp(), exists: d.bool(), values: d.values(),
	}
	if m.status < lockDone || m.status > lockConflict || m.status == lockInDoubt && len(m.locks) == 0 {
		d.fail("unknown lock status")
	}
	return d.end()
}

// awaitRequest waits, for a while, for the turn of an owner that stands in line.
type awaitRequest struct {
	owner  kv.Timestamp
	column kv.Column
	ttl    time.Duration
	slice  time.Duration
	// leave ends the wait instead; with giveBack also a lock that was granted already.
	leave, giveBack bool
	// seen is how many blockers the client knows of: other ones are told at once.
	seen []kv.Timestamp
}

func (m *awaitRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.owner)
	e.column(m.column)
	e.uvarint(uint64(m.ttl.Milliseconds()))
	e.uvarint(uint64(m.slice.Milliseconds()))
	e.bool(m.leave)
	e.bool(m.giveBack)
	e.timestamps(m.seen)
	return e.b
}

func (m *awaitRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = awaitRequest{owner: d.timestamp(), column: d.column(), ttl: d.millis(), slice: d.millis(), leave: d.bool(), giveBack: d.bool(), seen: d.timestamps()}
	return d.end()
}

type awaitResponse struct {
	state    waitState
	blockers []deadlock.Holder
}

func (m *awaitResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.byte(byte(m.state))
	e.blockers(m.blockers)
	return e.b
}

func (m *awaitResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = awaitResponse{state: waitState(d.byte()), blockers: d.blockers()}
	if m.state < waitGranted || m.state > waitGone {
		d.fail("unknown state of a wait")
	}
	return d.end()
}

// ownersRequest is about owners as a whole: cmdUnlock ends them, cmdKeepLocks says that they live.
type ownersRequest struct {
	owners []kv.Timestamp
	ttl    time.Duration
}

func (m *ownersRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamps(m.owners)
	e.uvarint(uint64(m.ttl.Milliseconds()))
	return e.b
}

func (m *ownersRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = ownersRequest{owners: d.timestamps(), ttl: d.millis()}
	return d.end()
}

// detectRequest tells the detector for whom an owner waits, or (without blockers) that it waits no more.
type detectRequest struct{ deadlock.Wait }

func (m *detectRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.Waiter)
	e.string(m.Note)
	e.column(m.Column)
	e.blockers(m.WaitsOn)
	e.uvarint(uint64(m.TTL.Milliseconds()))
	e.bool(m.Confirm)
	return e.b
}

func (m *detectRequest) Decode(b []byte) error {
	d := decoder{b: b}
	m.Wait = deadlock.Wait{
		Waiter: d.timestamp(), Note: d.string(), Column: d.column(), WaitsOn: d.blockers(), TTL: d.millis(), Confirm: d.bool(),
	}
	return d.end()
}

// detectResponse has the cycle that the wait would close, from the waiter on; it is empty if there is none.
type detectResponse struct{ cycle []deadlock.Edge }

func (e *encoder) edges(ws []deadlock.Edge) {
	e.uvarint(uint64(len(ws)))
	for _, w := range ws {
		e.timestamp(w.Waiter)
		e.timestamp(w.Holder)
		e.string(w.Note)
		e.string(w.HolderNote)
		e.column(w.Column)
	}
}

func (d *decoder) edges() []deadlock.Edge {
	return list(d, 7, func() deadlock.Edge {
		return deadlock.Edge{Waiter: d.timestamp(), Holder: d.timestamp(), Note: d.string(), HolderNote: d.string(), Column: d.column()}
	})
}

func (m *detectResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.edges(m.cycle)
	return e.b
}

func (m *detectResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.cycle = d.edges()
	return d.end()
}

// limitRequest asks for a list of bounded length.
type limitRequest struct{ limit uint32 }

func (m *limitRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(uint64(m.limit))
	return e.b
}

func (m *limitRequest) Decode(b []byte) error {
	d := decoder{b: b}
	m.limit = d.uint32()
	return d.end()
}

type listLocksResponse struct{ locks []RowLock }

func (m *listLocksResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(uint64(len(m.locks)))
	for _, l := range m.locks {
		e.column(l.Column)
		e.timestamp(l.Owner)
		e.string(l.Session)
		e.string(l.Note)
		e.bool(l.Shared)
		e.bool(l.Waiting)
		e.uvarint(uint64(max(0, l.Age.Milliseconds())))
		e.timestamps(l.WaitsFor)
	}
	return e.b
}

func (m *listLocksResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.locks = list(&d, 10, func() RowLock {
		return RowLock{
			Column: d.column(), Owner: d.timestamp(), Session: d.string(), Note: d.string(), Shared: d.bool(), Waiting: d.bool(),
			Age: d.millis(), WaitsFor: d.timestamps(),
		}
	})
	return d.end()
}

type deadlocksResponse struct{ deadlocks []deadlock.Deadlock }

func (m *deadlocksResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.uvarint(uint64(len(m.deadlocks)))
	for _, x := range m.deadlocks {
		e.uvarint(x.ID)
		e.uvarint(uint64(max(0, x.Time.UnixMilli())))
		e.timestamp(x.Victim)
		e.edges(x.Cycle)
	}
	return e.b
}

func (m *deadlocksResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.deadlocks = list(&d, 4, func() deadlock.Deadlock {
		return deadlock.Deadlock{ID: d.uvarint(), Time: time.UnixMilli(int64(d.uvarint() & (1<<62 - 1))), Victim: d.timestamp(), Cycle: d.edges()}
	})
	return d.end()
}
