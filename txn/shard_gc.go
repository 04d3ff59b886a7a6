package txn

import (
	"moka/kv"
)

const (
	cmdSafePoint kv.CommandID = 60
	cmdCollect   kv.CommandID = 61
)

// runSafePoint is the run of the rollback group that keeps the safe point, once for each tablet so that it moves along. The
// record is that of a lock-only write: a version byte and a timestamp.
const (
	runSafePoint = 1
	runSwept     = 2 // and below which of them something has been removed
)

func safePointAt(run uint32, row kv.RowKey) kv.Address {
	return kv.Address{Group: kv.GroupTxnRollback, Run: run, Column: kv.Column{Row: row}}
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
		ts, err := decodeRollback(it.Version().Value)
		if err != nil {
			return 0, err
		}
		newest = max(newest, ts)
	}
	return newest, it.Err()
}

// ReceiveTablet implements kv.TabletReceiver: what has been removed from a tablet is known where it goes.
func (st *state) ReceiveTablet(_ kv.Tablet, from any) {
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
	return kv.Errorf(kv.CodeInternal, "txn.status", "the transaction of %v began before the safe point and has left no trace; what became of it is not known any more", startTS)
}

// evalSafePoint raises the safe point, for good. From then on nothing that began below it can be written here, so once no such
// lock is left there will be none.
func evalSafePoint(e kv.Eval, st *state, req *safePointRequest) (*safePointResponse, error) {
	// In this order: a prewrite puts its guard up before it looks at the safe point. Either it sees this one, or we see it.
	raise(&st.safePoint, req.safePoint)
	if oldest, ok := st.locks.Min(); ok && oldest < req.safePoint {
		return &safePointResponse{locked: true}, nil
	}
	// Set also if it is known: the sync is what the caller needs.
	e.Set(safePointAt(runSafePoint, req.row), rollbackMarker, appendRollback(nil, kv.Timestamp(st.safePoint.Load())))
	return &safePointResponse{}, nil
}

// evalCollect removes garbage from a span. It takes no latches: nobody else writes below the safe point, except other
// collectors, which do the same.
func evalCollect(e kv.Eval, st *state, req *collectRequest) (*collectResponse, error) {
	if kv.Timestamp(st.safePoint.Load()) < req.safePoint {
		return &collectResponse{untold: true}, nil
	}
	e.NoSync() // what a crash brings back is removed by the next sweep
	raise(&st.swept, req.safePoint)
	e.Set(safePointAt(runSwept, req.row), rollbackMarker, appendRollback(nil, kv.Timestamp(st.swept.Load())))
	resp := &collectResponse{}
	if err := collectVersions(e, req, resp); err != nil || resp.more {
		return resp, err
	}
	return resp, collectTombstones(e, req, resp)
}

// start positions an iterator behind what the last request has done.
func (m *collectRequest) start(it kv.Iterator) bool {
	if !m.resume {
		return it.NextColumn()
	}
	if !it.SeekColumn(m.after) {
		return false
	}
	if compareColumns(it.Column(), m.after) == 0 {
		return it.NextColumn()
	}
	return true
}

func collectVersions(e kv.Eval, req *collectRequest, resp *collectResponse) error {
	it, err := e.Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: req.span, Max: req.safePoint})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := req.start(it); ok; ok = it.NextColumn() {
		if resp.columns >= collectVisits || resp.versions >= collectDeletes {
			resp.more = true
			return it.Err()
		}
		resp.columns++
		c := cloneColumn(it.Column())
		resp.last = c
		for first, more := true, true; more; first, more = false, it.NextVersion() {
			v := it.Version()
			rec, err := decodeWrite(v.Value, v.Timestamp)
			if err != nil {
				return err
			}
			if first && rec.kind != kindDelete {
				continue // snapshots from the safe point on see it, until the next one
			}
			e.Delete(writeAt(c), v.Timestamp)
			if rec.kind == kindPut && !rec.hasValue {
				e.Delete(dataAt(c), rec.startTS)
			}
			resp.versions++
		}
	}
	return it.Err()
}

// collectTombstones removes those of transactions that cannot write any more. The markers of lock-only writes stay: there is one
// for each column, and removing it would need the row's latch.
func collectTombstones(e kv.Eval, req *collectRequest, resp *collectResponse) error {
	it, err := e.Iter(kv.IterOptions{Group: kv.GroupTxnRollback, Span: req.span, Max: req.safePoint - 1})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.NextColumn() {
		c := cloneColumn(it.Column())
		for more := true; more; more = it.NextVersion() {
			e.Delete(rollbackAt(c), it.Version().Timestamp)
			resp.tombstones++
		}
		if resp.tombstones >= collectDeletes {
			return it.Err() // the rest is for the next collection
		}
	}
	return it.Err()
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

// safePointResponse: locked says that a transaction from below still holds a lock here, and nothing was done.
type safePointResponse struct{ locked bool }

func (m *safePointResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.locked)
	return e.b
}

func (m *safePointResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.locked = d.bool()
	return d.end()
}

// collectRequest removes garbage of a span, from behind a column on if resume is set.
type collectRequest struct {
	safePoint kv.Timestamp
	row       kv.RowKey // the beginning of the tablet
	span      kv.Span
	resume    bool
	after     kv.Column
}

func (m *collectRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.safePoint)
	e.bytes(m.row)
	e.span(m.span)
	e.bool(m.resume)
	e.column(m.after)
	return e.b
}

func (m *collectRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = collectRequest{safePoint: d.timestamp(), row: d.bytes(), span: d.span(), resume: d.bool(), after: d.column()}
	return d.end()
}

type collectResponse struct {
	untold                        bool // the shard does not know the safe point
	more                          bool // the span goes on behind last
	last                          kv.Column
	columns, versions, tombstones uint32
}

func (m *collectResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.untold)
	e.bool(m.more)
	e.column(m.last)
	e.uvarint(uint64(m.columns))
	e.uvarint(uint64(m.versions))
	e.uvarint(uint64(m.tombstones))
	return e.b
}

func (m *collectResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = collectResponse{untold: d.bool(), more: d.bool(), last: d.column(), columns: d.uint32(), versions: d.uint32(), tombstones: d.uint32()}
	return d.end()
}
