package triggers

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"moka/kv"
)

// Messages between workers and shards. All integers are uvarints, byte strings are length-prefixed; each
// message begins with a version byte. A decoder refuses what it does not know and copies what it keeps.
const messageVersion = 1

// delivery is one notification on its way to a worker.
type delivery struct {
	Observer ObserverID
	Column   kv.Column
	CommitTS kv.Timestamp // newest known change of the cell
	OldestTS kv.Timestamp // oldest change that is not acknowledged
	Attempts uint32       // failed runs so far
	Depth    uint32       // of runs that led to the changes: of the one that the fewest did
}

// key is the identity under which notifications of a cell collapse.
type key struct {
	observer ObserverID
	row      string
	family   kv.FamilyID
	qual     string
}

func keyOf(o ObserverID, c kv.Column) key {
	return key{o, string(c.Row), c.Family, string(c.Qualifier)}
}

type writer struct{ b []byte }

func (w *writer) u(v uint64)     { w.b = binary.AppendUvarint(w.b, v) }
func (w *writer) bytes(v []byte) { w.u(uint64(len(v))); w.b = append(w.b, v...) }
func (w *writer) column(c kv.Column) {
	w.bytes(c.Row)
	w.b = append(w.b, byte(c.Family))
	w.bytes(c.Qualifier)
}

type reader struct {
	b   []byte
	bad bool
}

func (r *reader) u() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) bytes() []byte {
	n := r.u()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	v := append([]byte(nil), r.b[:n]...)
	r.b = r.b[n:]
	return v
}

func (r *reader) column() kv.Column {
	row := r.bytes()
	f := r.byte()
	q := r.bytes()
	if len(q) == 0 {
		q = nil
	}
	return kv.Column{Row: row, Family: kv.FamilyID(f), Qualifier: q}
}

// count reads a length and bounds it by what could still follow, so that junk cannot make us allocate.
func (r *reader) count() int {
	n := r.u()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) version() {
	if r.byte() != messageVersion {
		r.bad = true
	}
}

func (r *reader) done(what string) error {
	if r.bad || len(r.b) != 0 {
		return fmt.Errorf("triggers: %s does not decode", what)
	}
	return nil
}

// fetchRequest asks a shard for notifications. It waits up to WaitMillis for the first one.
type fetchRequest struct {
	Worker      string
	Observers   []ObserverID
	Credits     uint32
	WaitMillis  uint32
	LeaseMillis uint32
	// Done are deliveries that this worker took earlier and is done with, whatever came of them: their leases
	// end. CommitTS says up to where it has acknowledged the cell, zero if it has not.
	Done []delivery
}

// fetchResponse has the depths behind the deliveries, if clients have not made all the changes: workers of
// releases before that would not decode it.
type fetchResponse struct{ Deliveries []delivery }

func (m *fetchRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.bytes([]byte(m.Worker))
	w.u(uint64(len(m.Observers)))
	for _, o := range m.Observers {
		w.u(uint64(o))
	}
	w.u(uint64(m.Credits))
	w.u(uint64(m.WaitMillis))
	w.u(uint64(m.LeaseMillis))
	return appendDeliveries(w.b, m.Done)
}

func (m *fetchRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Worker = string(r.bytes())
	m.Observers = nil
	for n := r.count(); n > 0 && !r.bad; n-- {
		m.Observers = append(m.Observers, ObserverID(r.u()))
	}
	m.Credits, m.WaitMillis, m.LeaseMillis = uint32(r.u()), uint32(r.u()), uint32(r.u())
	m.Done = r.deliveries()
	return r.done("fetch request")
}

func (m *fetchResponse) AppendTo(b []byte) []byte {
	w := writer{appendDeliveries(append(b, messageVersion), m.Deliveries)}
	if slices.ContainsFunc(m.Deliveries, func(d delivery) bool { return d.Depth > 0 }) {
		for _, d := range m.Deliveries {
			w.u(uint64(d.Depth))
		}
	}
	return w.b
}

func (m *fetchResponse) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Deliveries = r.deliveries()
	if len(r.b) > 0 {
		for i := range m.Deliveries {
			m.Deliveries[i].Depth = uint32(r.u())
		}
	}
	return r.done("fetch response")
}

func appendDeliveries(b []byte, ds []delivery) []byte {
	w := writer{b}
	w.u(uint64(len(ds)))
	for _, d := range ds {
		w.u(uint64(d.Observer))
		w.column(d.Column)
		w.u(uint64(d.CommitTS))
		w.u(uint64(d.OldestTS))
		w.u(uint64(d.Attempts))
	}
	return w.b
}

func (r *reader) deliveries() (ds []delivery) {
	for n := r.count(); n > 0 && !r.bad; n-- {
		ds = append(ds, r.delivery())
	}
	return ds
}

func (r *reader) delivery() delivery {
	return delivery{Observer: ObserverID(r.u()), Column: r.column(), CommitTS: kv.Timestamp(r.u()),
		OldestTS: kv.Timestamp(r.u()), Attempts: uint32(r.u())}
}

// settleRequest ends a notification's attempt outside of a run's commit.
type settleRequest struct {
	Kind     settleKind
	Observer ObserverID
	Column   kv.Column
	// UpTo bounds what settleClear removes and settlePark parks: entries at or below it.
	UpTo     kv.Timestamp
	Attempts uint32
	Error    string
	// RetryMillis is the wait before the next delivery (settleFail).
	RetryMillis uint32
}

type settleKind byte

const (
	settleClear settleKind = 1 // acknowledged at or above UpTo: remove entries at or below it
	settleFail  settleKind = 2 // a run failed: count it, deliver again later
	settlePark  settleKind = 3 // too many failures: keep, do not deliver
	settleRetry settleKind = 4 // deliver a parked one again
	// settleDrop is what processes of the version before send for a dropRequest of one cell.
	settleDrop settleKind = 5
)

func (m *settleRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion, byte(m.Kind))}
	w.u(uint64(m.Observer))
	w.column(m.Column)
	w.u(uint64(m.UpTo))
	w.u(uint64(m.Attempts))
	w.bytes([]byte(m.Error))
	w.u(uint64(m.RetryMillis))
	return w.b
}

func (m *settleRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Kind = settleKind(r.byte())
	m.Observer = ObserverID(r.u())
	m.Column = r.column()
	m.UpTo = kv.Timestamp(r.u())
	m.Attempts = uint32(r.u())
	m.Error = string(r.bytes())
	m.RetryMillis = uint32(r.u())
	if m.Kind < settleClear || m.Kind > settleDrop {
		r.bad = true
	}
	return r.done("settle request")
}

// dropRequest removes everything about cells of one tablet for an observer that is gone.
type dropRequest struct {
	Observer ObserverID
	Columns  []kv.Column
}

func (m *dropRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.u(uint64(m.Observer))
	w.u(uint64(len(m.Columns)))
	for _, c := range m.Columns {
		w.column(c)
	}
	return w.b
}

func (m *dropRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Observer = ObserverID(r.u())
	m.Columns = make([]kv.Column, r.count())
	for i := range m.Columns {
		m.Columns[i] = r.column()
	}
	return r.done("drop request")
}

// empty is the response of commands that have nothing to say.
type empty struct{}

func (*empty) AppendTo(b []byte) []byte { return append(b, messageVersion) }
func (*empty) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	return r.done("empty response")
}

// backlogRequest asks for counts (Observer zero: of all observers) and, with Limit, for single notifications.
type backlogRequest struct {
	Observer ObserverID
	Limit    uint32
	List     listKind
	From     kv.RowKey // of listAll: the first row
}

// listKind says which notifications a backlogRequest lists.
type listKind byte

const (
	listWaiting listKind = 0 // to be delivered, now or after a wait
	listParked  listKind = 1
	listFailing listKind = 2 // those of both kinds that have failed
	listAll     listKind = 3 // both kinds; the walk ends when it has Limit of them, and counts no others
)

type backlogResponse struct {
	Counts []backlogCount
	Items  []backlogItem
}

type backlogCount struct {
	Observer ObserverID
	Waiting  uint64       // cells with changes to be acknowledged
	Parked   uint64       // cells whose changes are parked
	Oldest   kv.Timestamp // oldest waiting change; zero if none
}

type backlogItem struct {
	delivery
	Error  string
	Parked bool
}

func (m *backlogRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.u(uint64(m.Observer))
	w.u(uint64(m.Limit))
	w.b = append(w.b, byte(m.List))
	if m.List == listAll {
		w.bytes(m.From)
	}
	return w.b
}

func (m *backlogRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Observer, m.Limit = ObserverID(r.u()), uint32(r.u())
	if m.List = listKind(r.byte()); m.List > listAll {
		r.bad = true
	}
	if m.List == listAll {
		m.From = r.bytes()
	}
	return r.done("backlog request")
}

func (m *backlogResponse) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.u(uint64(len(m.Counts)))
	for _, c := range m.Counts {
		w.u(uint64(c.Observer))
		w.u(c.Waiting)
		w.u(c.Parked)
		w.u(uint64(c.Oldest))
	}
	w.u(uint64(len(m.Items)))
	for _, i := range m.Items {
		w.u(uint64(i.Observer))
		w.column(i.Column)
		w.u(uint64(i.CommitTS))
		w.u(uint64(i.OldestTS))
		w.u(uint64(i.Attempts))
		w.bytes([]byte(i.Error))
		p := uint64(0)
		if i.Parked {
			p = 1
		}
		w.u(p)
	}
	return w.b
}

func (m *backlogResponse) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Counts, m.Items = nil, nil
	for n := r.count(); n > 0 && !r.bad; n-- {
		m.Counts = append(m.Counts, backlogCount{ObserverID(r.u()), r.u(), r.u(), kv.Timestamp(r.u())})
	}
	for n := r.count(); n > 0 && !r.bad; n-- {
		m.Items = append(m.Items, backlogItem{r.delivery(), string(r.bytes()), r.u() == 1})
	}
	return r.done("backlog response")
}

// sweepRequest is one step of the backstop scan: from Start on, look at up to Limit notifications of the
// observer that are older than Before, and put those that nobody has taken into the ready queue.
type sweepRequest struct {
	Worker   string
	Observer ObserverID
	Start    kv.RowKey
	Limit    uint32
	Before   kv.Timestamp
}

type sweepResponse struct {
	Claimed bool // another worker is scanning here: jump elsewhere
	Seen    uint32
	Queued  uint32
	Next    kv.RowKey // where to go on; empty at the end of the run
}

func (m *sweepRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.bytes([]byte(m.Worker))
	w.u(uint64(m.Observer))
	w.bytes(m.Start)
	w.u(uint64(m.Limit))
	w.u(uint64(m.Before))
	return w.b
}

func (m *sweepRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Worker = string(r.bytes())
	m.Observer = ObserverID(r.u())
	m.Start = r.bytes()
	m.Limit, m.Before = uint32(r.u()), kv.Timestamp(r.u())
	return r.done("sweep request")
}

func (m *sweepResponse) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	c := byte(0)
	if m.Claimed {
		c = 1
	}
	w.b = append(w.b, c)
	w.u(uint64(m.Seen))
	w.u(uint64(m.Queued))
	w.bytes(m.Next)
	return w.b
}

func (m *sweepResponse) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Claimed = r.byte() == 1
	m.Seen, m.Queued = uint32(r.u()), uint32(r.u())
	m.Next = r.bytes()
	return r.done("sweep response")
}

// The state of a notification that failed, in kv.GroupNotifyMeta at timestamp metaTimestamp (run and column
// as the notification's):
//
//	| version 1 | parked u8 | up to uvarint | attempts uvarint | not before, unix ms uvarint | error length uvarint | error |
//
// A parked state holds for changes up to a timestamp. A newer change, perhaps the correction of what the
// observer stumbled over, is worth an attempt of its own.
type meta struct {
	Parked    bool
	UpTo      kv.Timestamp
	Attempts  uint32
	NotBefore int64
	Error     string
}

const (
	metaVersion                = 1
	metaTimestamp kv.Timestamp = 1
)

func metaAddress(o ObserverID, c kv.Column) kv.Address {
	return kv.Address{Group: kv.GroupNotifyMeta, Run: o, Column: c}
}

// parks reports whether a notification whose newest change is ts is parked.
func (m meta) parks(ts kv.Timestamp) bool { return m.Parked && ts <= m.UpTo }

func (m meta) notBefore() time.Time {
	if m.Parked || m.NotBefore == 0 {
		return time.Time{}
	}
	return time.UnixMilli(m.NotBefore)
}

func (m meta) encode() []byte {
	p := byte(0)
	if m.Parked {
		p = 1
	}
	w := writer{[]byte{metaVersion, p}}
	w.u(uint64(m.UpTo))
	w.u(uint64(m.Attempts))
	w.u(uint64(m.NotBefore))
	w.bytes([]byte(m.Error))
	return w.b
}

func decodeMeta(b []byte) (meta, error) {
	r := reader{b: b}
	if r.byte() != metaVersion {
		r.bad = true
	}
	m := meta{Parked: r.byte() == 1, UpTo: kv.Timestamp(r.u()), Attempts: uint32(r.u()),
		NotBefore: int64(r.u()), Error: string(r.bytes())}
	if err := r.done("notification state"); err != nil {
		return meta{}, kv.Errorf(kv.CodeCorrupt, "triggers.meta", "%v", err)
	}
	return m, nil
}
