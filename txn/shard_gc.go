package txn

import (
	"bytes"
	"errors"
	"time"

	"moka/kv"
	"moka/txn/record"
)

const (
	cmdSafePoint kv.CommandID = 60
	cmdCollect   kv.CommandID = 61
)

// Runs of the rollback group in which the shard keeps what it knows of collections, one record for each tablet, at its first row,
// so that it moves along.
const (
	runSafePoint = 1 // the safe point: as of a lock-only write, a version byte and a timestamp
	runSwept     = 2 // the same: below which of them something has been removed
	runCollected = 4 // below which all has been removed that could be; see record.Collected
	// 3 was that of releases that left acknowledgements among the rows: a collection looks at all once.
)

func keptAt(run uint32, row kv.RowKey) kv.Address {
	return kv.Address{Group: kv.GroupTxnRollback, Run: run, Column: kv.Column{Row: row}}
}

// firstRow is the first row of transactions that a tablet may have.
func firstRow(t kv.Tablet) kv.RowKey {
	if base := kv.MakeRowKey(kv.TableTxn, nil); bytes.Compare(t.Span.Start, base) < 0 {
		return base
	}
	return t.Span.Start
}

// loadSafePoints finds what the shard was told before it was opened.
func (st *state) loadSafePoints(r kv.Reader) error {
	announced, err := loadSafePoint(r, runSafePoint)
	if err != nil {
		return err
	}
	swept, err := loadSafePoint(r, runSwept)
	raise(&st.safePoint, announced)
	raise(&st.swept, swept)
	return err
}

func loadSafePoint(r kv.Reader, run uint32) (newest kv.Timestamp, err error) {
	it, err := r.Iter(kv.IterOptions{Group: kv.GroupTxnRollback, Run: run})
	if err != nil {
		return 0, err
	}
	defer it.Close()
	for it.NextColumn() {
		ts, err := record.DecodeRollback(it.Version().Value)
		if err != nil {
			return 0, err
		}
		newest = max(newest, ts)
	}
	return newest, it.Err()
}

// CarryTablet implements kv.TabletCarrier. A tablet that has come from a split has no record of its own: without one, a shard that
// had no other would have forgotten the safe point after a restart, and served snapshots with holes.
func (st *state) CarryTablet(t kv.Tablet) []kv.Carried {
	row := firstRow(t)
	if !t.Span.Contains(row) || bytes.Compare(row, kv.MakeRowKey(kv.TableTxn+1, nil)) >= 0 {
		return nil
	}
	var carried []kv.Carried
	for run, ts := range map[uint32]kv.Timestamp{runSafePoint: kv.Timestamp(st.safePoint.Load()), runSwept: kv.Timestamp(st.swept.Load())} {
		if ts != 0 {
			carried = append(carried, kv.Carried{Address: keptAt(run, row), Version: kv.Version{Timestamp: record.RollbackMarker, Value: record.AppendRollback(nil, ts)}})
		}
	}
	return carried
}

// ReceiveTablet implements kv.TabletReceiver: what has been removed from a tablet is known where it goes.
func (st *state) ReceiveTablet(_ kv.Tablet, from any) {
	st.forgetVersions()
	if f, ok := from.(*state); ok {
		raise(&st.safePoint, kv.Timestamp(f.safePoint.Load()))
		raise(&st.swept, kv.Timestamp(f.swept.Load()))
	}
}

// tooOld reports whether a snapshot may miss versions that were removed. Reads ask when they are done: the safe point is
// raised before the first version goes, so a read that has missed one finds it raised.
func (st *state) tooOld(snapshot kv.Timestamp) bool {
	return snapshot < kv.Timestamp(st.safePoint.Load())
}

// forgotten reports whether "no record" means nothing for a transaction (C4). That is so once something has been removed, and
// not as soon as the safe point is known: locks from below it still have to be resolved then.
func (st *state) forgotten(startTS kv.Timestamp) bool {
	return startTS < kv.Timestamp(st.swept.Load())
}

// errTooLongAgo answers questions about transactions of which no trace need be left.
func errTooLongAgo(startTS kv.Timestamp) error {
	err := kv.Errorf(kv.CodeInternal, "txn.status", "the transaction of %v began before the safe point and has left no trace; what became of it is not known any more", startTS)
	err.Err = errForgotten
	return err
}

// errForgotten marks what errTooLongAgo makes, where it was made.
var errForgotten = errors.New("forgotten")

// evalSafePoint raises the safe point, for good. From then on nothing that began below it can be written here, so once no such
// lock is left there will be none.
func evalSafePoint(e kv.Eval, st *state, req *safePointRequest) (*safePointResponse, error) {
	// In this order: a prewrite puts its guard up before it looks at the safe point. Either it sees this one, or we see it.
	raise(&st.safePoint, req.safePoint)
	if oldest, ok := st.locks.Min(); ok && oldest < req.safePoint {
		return &safePointResponse{locked: true}, nil
	}
	// Set also if it is known: the sync is what the caller needs.
	e.Set(keptAt(runSafePoint, req.row), record.RollbackMarker, record.AppendRollback(nil, kv.Timestamp(st.safePoint.Load())))
	resp := &safePointResponse{}
	b, ok, err := e.Get(keptAt(runCollected, req.row), record.RollbackMarker)
	if err != nil || !ok {
		return resp, err
	}
	resp.collected, err = record.DecodeCollected(b)
	return resp, err
}

// evalCollect removes garbage from a span. It takes no latches: nobody else writes below the safe point, except other
// collectors, which do the same.
func evalCollect(e kv.Eval, st *state, req *collectRequest) (*collectResponse, error) {
	if kv.Timestamp(st.safePoint.Load()) < req.safePoint {
		return &collectResponse{untold: true}, nil
	}
	if err := e.Room(kv.Collects, 0); err != nil {
		return nil, err
	}
	e.NoSync() // what a crash brings back is removed by the next sweep, as its record of this one goes with it
	if req.done {
		e.Set(keptAt(runCollected, req.row), record.RollbackMarker, record.Collected{SafePoint: req.safePoint, End: req.span.End}.AppendTo(nil))
		return &collectResponse{}, nil
	}
	raise(&st.swept, req.safePoint)
	e.Set(keptAt(runSwept, req.row), record.RollbackMarker, record.AppendRollback(nil, kv.Timestamp(st.swept.Load())))
	switch {
	case req.tombstones:
		return collectTombstones(e, req)
	case req.acks:
		return collectVersions(e, st, kv.GroupTxnAck, req)
	}
	return collectVersions(e, st, kv.GroupTxnWrite, req)
}

// collectVersions goes through the columns that have something to give: all of them in a first sweep; later only those with a
// version that has fallen below the safe point since the last. Those come from an iterator that skips what is older on disk; what
// lies below them, from another that does not.
//
// A column with many versions is left in the middle and gone on with from there: to go over what has been deleted already costs as
// much as the deletion, each time. A delete that is the newest version goes last of all, or what it deletes would be back.
func collectVersions(e kv.Eval, st *state, group kv.GroupID, req *collectRequest) (*collectResponse, error) {
	changed, err := e.Iter(kv.IterOptions{Group: group, Span: req.span, Min: req.since, Max: req.safePoint})
	if err != nil {
		return nil, err
	}
	defer changed.Close()
	k := &columnCollector{Eval: e, group: group, req: req, changed: changed, older: changed}
	if req.since != 0 {
		k.older, err = e.Iter(kv.IterOptions{Group: group, Span: req.span, Max: req.safePoint})
		if err != nil {
			return nil, err
		}
		defer k.older.Close()
	}
	defer k.close(st)
	below := req.below
	ok := false
	if below == 0 {
		ok = startAfter(changed, req)
	} else if ok = changed.SeekColumn(req.after); ok && compareColumns(changed.Column(), req.after) != 0 {
		below = 0 // another collector, with a newer safe point, has it in hand
	}
	for ; ok; ok, below = changed.NextColumn(), 0 {
		if k.resp.columns >= collectVisits || k.resp.versions >= collectDeletes {
			k.resp.more = true
			break
		}
		if err := k.collect(below); err != nil {
			return nil, err
		}
		if k.resp.more {
			break
		}
	}
	return &k.resp, changed.Err()
}

type columnCollector struct {
	kv.Eval
	group          kv.GroupID
	req            *collectRequest
	changed, older kv.Iterator // the same in a first sweep
	acks           ackCollector
	resp           collectResponse
}

// at is where the versions of a column are that are being collected.
func (k *columnCollector) at(c kv.Column) kv.Address { return kv.Address{Group: k.group, Column: c} }

// collect removes what the present column can spare. Unless below is zero, what is not below it is gone already.
func (k *columnCollector) collect(below kv.Timestamp) error {
	c, at := cloneColumn(k.changed.Column()), k.changed.Version().Timestamp
	stored := k.changed.Version().Value
	if record.IsAck(c) {
		stored = bytes.Clone(stored) // may be moved
	}
	newest, err := record.DecodeWrite(stored, at)
	if err != nil {
		return err
	}
	deleted := newest.Kind == record.KindDelete
	k.resp.columns++
	k.resp.last, k.resp.below = c, 0
	it, more := k.older, false
	switch {
	case below != 0:
		row := kv.Span{Start: c.Row, End: append(bytes.Clone(c.Row), 0)}
		if it, err = k.Iter(kv.IterOptions{Group: k.group, Span: row, Max: below - 1}); err != nil {
			return err
		}
		defer it.Close()
		more = it.SeekColumn(c) && compareColumns(it.Column(), c) == 0
	case k.older == k.changed:
		more = it.NextVersion()
	default:
		more = it.SeekColumn(c) && compareColumns(it.Column(), c) == 0 && it.NextVersion()
	}
	for ; more; more = it.NextVersion() {
		v := it.Version()
		if k.resp.versions >= collectDeletes {
			k.resp.below, k.resp.more = v.Timestamp+1, true
			return it.Err()
		}
		rec, err := record.DecodeWrite(v.Value, v.Timestamp)
		if err != nil {
			return err
		}
		k.Delete(k.at(c), v.Timestamp)
		if rec.Kind == record.KindPut && !rec.HasValue {
			k.Delete(record.DataAt(c), rec.StartTS)
		}
		k.resp.versions++
	}
	if err := it.Err(); err != nil {
		return err
	}
	switch {
	case record.IsAck(c):
		return k.collectAck(c, at, stored, newest)
	case deleted:
		k.Delete(k.at(c), at)
		k.resp.versions++
		return k.acksOf(c)
	}
	return nil
}

// startAfter positions an iterator behind what the last request has done.
func startAfter(it kv.Iterator, req *collectRequest) bool {
	if !req.resume {
		return it.NextColumn()
	}
	if !it.SeekColumn(req.after) {
		return false
	}
	if compareColumns(it.Column(), req.after) == 0 {
		return it.NextColumn()
	}
	return true
}

// lateTombstones is how much older than the last collection a tombstone may be and still be found by the next: one of a transaction from
// below the safe point may be written after it has passed. What is later yet stays; it is harmless.
const lateTombstones = time.Hour

// collectTombstones removes those of transactions that cannot write any more. The markers of lock-only writes stay: there is one
// for each column, and removing it would need the row's latch.
func collectTombstones(e kv.Eval, req *collectRequest) (*collectResponse, error) {
	resp := &collectResponse{}
	since := req.since
	if since != 0 {
		since = kv.NewTimestamp(max(0, since.Physical()-lateTombstones.Milliseconds()), 0)
	}
	it, err := e.Iter(kv.IterOptions{Group: kv.GroupTxnRollback, Span: req.span, Min: since, Max: req.safePoint - 1})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for ok := startAfter(it, req); ok; ok = it.NextColumn() {
		if resp.tombstones >= collectDeletes {
			resp.more = true
			return resp, it.Err()
		}
		c := cloneColumn(it.Column())
		resp.last = c
		for more := true; more; more = it.NextVersion() {
			e.Delete(record.RollbackAt(c), it.Version().Timestamp)
			resp.tombstones++
		}
	}
	return resp, it.Err()
}

// safePointRequest tells a shard the safe point; row is the beginning of one of its tablets.
type safePointRequest struct {
	safePoint kv.Timestamp
	row       kv.RowKey
}

func (m *safePointRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.safePoint)
	e.bytes(m.row)
	return e.b
}

func (m *safePointRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = safePointRequest{safePoint: d.timestamp(), row: d.bytes()}
	return d.end()
}

// safePointResponse: locked says that a transaction from below still holds a lock here, and nothing was done. collected is what is
// known of earlier collections of the rows from the tablet's first on.
type safePointResponse struct {
	locked    bool
	collected record.Collected
}

func (m *safePointResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.locked)
	e.timestamp(m.collected.SafePoint)
	e.bytes(m.collected.End)
	return e.b
}

func (m *safePointResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = safePointResponse{locked: d.bool(), collected: record.Collected{SafePoint: d.timestamp(), End: d.bytes()}}
	return d.end()
}

// collectRequest removes garbage of a span, from behind a column on if resume is set.
type collectRequest struct {
	safePoint kv.Timestamp
	row       kv.RowKey // the first of the tablet
	span      kv.Span
	resume    bool
	after     kv.Column
	below     kv.Timestamp // unless zero, after has more versions, below this one
	since     kv.Timestamp // nothing that was removable before is left
	// acks and tombstones ask for those instead of rows' versions, done notes that row to the span's end is.
	acks, tombstones, done bool
}

func (m *collectRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.safePoint)
	e.bytes(m.row)
	e.span(m.span)
	e.bool(m.resume)
	e.column(m.after)
	e.timestamp(m.below)
	e.timestamp(m.since)
	e.bool(m.acks)
	e.bool(m.tombstones)
	e.bool(m.done)
	return e.b
}

func (m *collectRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = collectRequest{
		safePoint: d.timestamp(), row: d.bytes(), span: d.span(), resume: d.bool(), after: d.column(),
		below: d.timestamp(), since: d.timestamp(), acks: d.bool(), tombstones: d.bool(), done: d.bool(),
	}
	return d.end()
}

type collectResponse struct {
	untold                        bool // the shard does not know the safe point
	more                          bool // the span goes on behind last, or with its versions below
	last                          kv.Column
	below                         kv.Timestamp
	columns, versions, tombstones uint32
}

func (m *collectResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.untold)
	e.bool(m.more)
	e.column(m.last)
	e.timestamp(m.below)
	e.uvarint(uint64(m.columns))
	e.uvarint(uint64(m.versions))
	e.uvarint(uint64(m.tombstones))
	return e.b
}

func (m *collectResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = collectResponse{
		untold: d.bool(), more: d.bool(), last: d.column(), below: d.timestamp(),
		columns: d.uint32(), versions: d.uint32(), tombstones: d.uint32(),
	}
	return d.end()
}
