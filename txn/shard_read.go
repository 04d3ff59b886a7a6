package txn

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"moka/kv"
	"moka/txn/acks"
	"moka/txn/longread"
	"moka/txn/record"
)

// evalGet is Percolator's Get (figure 6, lines 8 to 26) for a batch of columns: note the snapshot, look for locks, then read
// the newest write record. The lock comes before the write record: in the other order a commit could slip between the two.
func evalGet(e kv.Eval, st *state, req *getRequest) (*getResponse, error) {
	resp, err := evalGetAt(e, st, req)
	switch tooOld := st.tooOld(req.snapshot); { // also where what was removed has made an error
	case tooOld && req.unchanged:
		return evalGetUnchanged(e, st, req)
	case tooOld:
		return &getResponse{values: make([]Value, len(req.columns)), safePoint: kv.Timestamp(st.safePoint.Load())}, nil
	}
	return resp, err
}

// evalGetUnchanged reads below the safe point. Of each column the newest version at or below that is there, unless it was a delete. If
// it was written before the snapshot, then nothing was in between: a delete goes only after all that it has deleted.
func evalGetUnchanged(e kv.Eval, st *state, req *getRequest) (*getResponse, error) {
	for {
		safePoint := kv.Timestamp(st.safePoint.Load())
		resp := &getResponse{values: make([]Value, len(req.columns)), charged: req.Asked()}
		err := func() error {
			for i, c := range req.columns {
				l, through, err := blockingLock(e, st, c, req.snapshot, req.bypass)
				if err != nil {
					return err
				}
				if through != nil {
					l = &lockInfo{}
					*l = infoOf(through.lock, c, through.startTS)
				}
				if l != nil {
					resp.locks = append(resp.locks, *l)
					continue
				}
				v, ok, err := acks.Latest(e, c, safePoint)
				if err != nil {
					return err
				}
				if !ok || v.Timestamp > req.snapshot {
					resp.safePoint = safePoint
					return nil
				}
				if resp.values[i], err = st.valueOf(e, &req.Question, c, v); err != nil {
					return err
				}
				if resp.full(i) {
					return nil
				}
			}
			return nil
		}()
		if safePoint == kv.Timestamp(st.safePoint.Load()) { // else what was seen may have been on its way out
			return resp, err
		}
	}
}

func evalGetAt(e kv.Eval, st *state, req *getRequest) (*getResponse, error) {
	st.raiseMaxTS(req.snapshot)
	resp := &getResponse{values: make([]Value, len(req.columns)), charged: req.Asked()}
	seeded, unseeded := st.readSeeded(req.tablets)
	resp.unseeded = unseeded
	for _, d := range req.known {
		st.decided.Put(d.startTS, d.commitTS)
	}
	for begin := 0; begin < len(req.columns); begin += getTogether {
		end := min(begin+getTogether, len(req.columns))
		if full, err := getSome(e, st, req, resp, begin, end, seeded); full || err != nil {
			return resp, err
		}
	}
	return resp, nil
}

// getTogether is how many columns are looked for in the store at once.
const getTogether = 128

// getSome answers for the columns [begin, end): it looks for the locks of all of them, and then reads, in the store
// in one go, what is behind none. full says that the response is as long as it may be.
func getSome(
	e kv.Eval, st *state, req *getRequest, resp *getResponse, begin, end int, seeded bool,
) (full bool, err error) {
	free := make([]int, 0, end-begin) // without a lock
	var decided []*foundLock          // of the others, those whose value is known
	for i := begin; i < end; i++ {
		l, through, err := blockingLock(e, st, req.columns[i], req.snapshot, req.bypass)
		switch {
		case err != nil:
			return false, err
		case through != nil:
			if decided == nil {
				decided = make([]*foundLock, end-begin)
			}
			decided[i-begin] = through
		case l != nil:
			resp.locks = append(resp.locks, *l)
		default:
			free = append(free, i)
		}
	}
	versions := make([]kv.Version, len(free))
	if err := st.versions(e, req.columns, free, req.snapshot, seeded, versions); err != nil {
		return false, err
	}
	for i := begin; i < end; i++ { // a long value at a time: there may be no room for the next
		switch {
		case len(free) > 0 && free[0] == i:
			if versions[0].Timestamp != 0 {
				resp.values[i], err = st.valueOf(e, &req.Question, req.columns[i], versions[0])
				if err != nil {
					return false, err
				}
			}
			free, versions = free[1:], versions[1:]
		case decided != nil && decided[i-begin] != nil:
			if resp.values[i], err = st.valueOfLock(e, &req.Question, decided[i-begin]); err != nil {
				return false, err
			}
		}
		if resp.full(i) {
			return true, nil
		}
	}
	return false, nil
}

// valueOf returns what a committed version holds.
func (st *state) valueOf(e kv.Eval, q *longread.Question, c kv.Column, v kv.Version) (Value, error) {
	w, err := record.DecodeWrite(v.Value, v.Timestamp)
	switch {
	case err != nil:
		return Value{}, err
	case w.Kind == record.KindDelete:
		return Value{}, nil
	case w.HasValue:
		return Value{Data: w.Value, OK: true}, nil
	}
	value, ok, err := st.longValue(e, q, c, w.StartTS)
	if err == nil && !ok {
		return Value{}, kv.Errorf(kv.CodeCorrupt, "txn.Get", "row %x: commit %v points to data at %v, which is missing", []byte(c.Row), v.Timestamp, w.StartTS)
	}
	return value, err
}

// longValue reads the value of startTS that is not in its record, and charges for it.
func (st *state) longValue(
	e kv.Eval, q *longread.Question, c kv.Column, startTS kv.Timestamp,
) (Value, bool, error) {
	if !q.Within {
		if err := st.options.longReads.Enter(e); err != nil {
			return Value{}, false, err
		}
		defer st.options.longReads.Leave()
	}
	b, ok, err := e.Get(record.DataAt(c), startTS)
	if err != nil || !ok {
		return Value{}, ok, err
	}
	if err := q.Add(len(b)); err != nil {
		return Value{}, false, &kv.Error{Code: kv.CodeInvalidArgument, Op: "txn.Read", Err: err,
			Msg: "whoever reads may not have more in memory"}
	}
	data, err := record.DecodeData(b)
	return Value{Data: data, OK: true}, true, err
}

// blockingLock returns the lock that keeps a reader from knowing the column's value at the snapshot; or the lock that has it,
// because its transaction is known to have committed.
func blockingLock(e kv.Eval, st *state, c kv.Column, snapshot kv.Timestamp, bypass []kv.Timestamp) (info *lockInfo, through *foundLock, err error) {
	for waits := 0; ; waits++ {
		if st.locks.Len() == 0 {
			return nil, nil, nil
		}
		v, ok, err := e.Latest(record.LockAt(record.RunExclusive, c), snapshot)
		if err != nil || !ok {
			return nil, nil, err
		}
		l, err := record.DecodeLock(v.Value)
		if err != nil {
			return nil, nil, err
		}
		if !blocks(st, l, v.Timestamp, snapshot, bypass) {
			return nil, nil, nil
		}
		// What committed later waited for this lock to go, so nothing newer is at or below the snapshot. A decided transaction's
		// locks stay what they are.
		if commitTS, ok := st.decided.Get(v.Timestamp); ok && commitTS <= snapshot && !l.Guard {
			return nil, &foundLock{column: c, startTS: v.Timestamp, lock: l}, nil
		}
		if !l.Passing() || waits > 1 || !waitPassing(e.Context(), st, c, v.Timestamp, l, e) {
			info := infoOf(l, c, v.Timestamp)
			return &info, nil, nil
		}
	}
}

// valueOfLock returns what a lock will be when it is committed.
func (st *state) valueOfLock(e kv.Eval, q *longread.Question, l *foundLock) (Value, error) {
	switch {
	case l.lock.Kind == record.KindDelete:
		return Value{}, nil
	case l.lock.HasValue:
		return Value{Data: l.lock.Value, OK: true}, nil
	}
	value, ok, err := st.longValue(e, q, l.column, l.startTS)
	if err == nil && !ok {
		return Value{}, kv.Errorf(kv.CodeCorrupt, "txn.Get", "row %x: lock of %v has no data", []byte(l.column.Row), l.startTS)
	}
	return value, err
}

// blocks says whether a lock may still put a version at or below the snapshot.
func blocks(st *state, l *record.Lock, startTS, snapshot kv.Timestamp, bypass []kv.Timestamp) bool {
	if startTS > snapshot || !l.Kind.Changes() || l.MinCommitTS > snapshot || slices.Contains(bypass, startTS) {
		return false
	}
	if l.Guard {
		if p := st.findOnePhase(startTS); p != nil && kv.Timestamp(p.commitTS.Load()) > snapshot {
			return false // it went above us
		}
	}
	commitTS, known := st.decided.Get(startTS)
	return !known || commitTS != 0 && commitTS <= snapshot
}

// guardWait bounds how long a read command waits inside the shard for a one-phase commit to become durable, before it tells
// its client to come back; asyncWait, for the second phase of an asynchronous commit, which its client sends as soon as it
// has told its user.
const (
	guardWait = 100 * time.Millisecond
	asyncWait = 5 * time.Millisecond
)

// waitPassing waits until a guard or the lock of an asynchronous commit is gone or has become something else; it reports whether
// it has. A one-phase commit tells us; for the others, and should it have failed, polling does.
func waitPassing(ctx context.Context, st *state, c kv.Column, startTS kv.Timestamp, l *record.Lock, r kv.Reader) bool {
	pause, bound := 50*time.Microsecond, guardWait
	if !l.Guard {
		bound = asyncWait
	}
	for deadline := time.Now().Add(bound); time.Now().Before(deadline); pause = min(2*pause, 5*time.Millisecond) {
		var done chan struct{} // nil blocks for ever, so that only the timer counts
		if p := st.findOnePhase(startTS); p != nil {
			done = p.done
		}
		timer := time.NewTimer(pause)
		select {
		case <-done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		b, ok, err := r.Get(record.LockAt(record.RunExclusive, c), startTS)
		if err != nil || ctx.Err() != nil {
			return false
		}
		if !ok {
			return true
		}
		if now, err := record.DecodeLock(b); err != nil || now.Guard != l.Guard {
			return err == nil
		}
	}
	return false
}

func infoOf(l *record.Lock, c kv.Column, startTS kv.Timestamp) lockInfo {
	p := l.Primary
	if l.IsPrimary {
		p = c
	}
	return lockInfo{column: c, startTS: startTS, kind: l.Kind, guard: l.Guard, primary: p, ttl: l.TTL, session: l.Session}
}

// scanVisits bounds the columns that one scan request looks at, found or deleted, so that it cannot run for ever.
const scanVisits = 16384

// evalScan reads a batch of columns in order. A lock in the way ends the batch before it; what lies behind it is not read,
// since the reader has to come back anyway.
func evalScan(e kv.Eval, st *state, req *scanRequest) (*scanResponse, error) {
	return scanAt(e, st, req, 0)
}

// evalScanSince is evalScan without what was there before.
func evalScanSince(e kv.Eval, st *state, req *sinceRequest) (*scanResponse, error) {
	return scanAt(e, st, &req.scan, req.since)
}

// evalScanAcks is evalScan with acknowledgements.
func evalScanAcks(e kv.Eval, st *state, req *acksRequest) (*scanResponse, error) {
	return scanAt(e, st, &req.scanRequest, 0)
}

func scanAt(e kv.Eval, st *state, req *scanRequest, since kv.Timestamp) (*scanResponse, error) {
	resp, err := evalScanAt(e, st, req, since)
	if st.tooOld(req.snapshot) {
		return &scanResponse{safePoint: kv.Timestamp(st.safePoint.Load())}, nil
	}
	return resp, err
}

func evalScanAt(e kv.Eval, st *state, req *scanRequest, since kv.Timestamp) (*scanResponse, error) {
	st.raiseMaxTS(req.snapshot)
	seeded, unseeded := st.readSeeded(req.tablets)
	resp := &scanResponse{unseeded: unseeded, charged: req.Asked()}
	lock, err := firstBlockingLock(e, st, req) // before anything is read, as in evalGet
	if err != nil {
		return nil, err
	}
	if err := st.options.longReads.Enter(e); err != nil {
		return nil, err
	}
	defer st.options.longReads.Leave()
	q := longread.Question{Context: req.Context, Reads: req.Reads, Within: true}
	s, err := scanRange(e, st, req, seeded)
	if err != nil {
		return nil, err
	}
	defer s.close()
	size, visits := 0, 0
	for s.next() {
		if lock != nil && !before(s.column, lock.column, req.reverse) {
			break
		}
		if visits++; len(resp.cells) >= int(req.limit) || size >= int(req.maxBytes) || visits > scanVisits {
			resp.more = true
			return resp, s.failed()
		}
		var v Value
		if s.version.Timestamp > since {
			if v, err = st.valueOf(e, &q, s.column, s.version); err != nil {
				return nil, err
			}
		}
		if !v.OK {
			resp.last = cloneColumn(s.column)
			continue
		}
		if len(resp.cells) == cap(resp.cells) {
			resp.cells = slices.Grow(resp.cells, max(1, min(max(s.ahead(), 3*len(resp.cells), 8), int(req.limit)-len(resp.cells))))
		}
		var c cell
		if len(v.Data) > record.ShortValueMax { // a copy of the request's own
			c = cell{column: cloneColumn(s.column), value: v.Data}
		} else {
			c = cloneCell(s.column, v.Data)
		}
		resp.cells, resp.last = append(resp.cells, c), c.column
		size += len(c.column.Row) + len(c.column.Qualifier) + len(v.Data)
	}
	if lock != nil {
		resp.more = true
		resp.locks = []lockInfo{*lock}
		if visits == 0 {
			resp.last = req.after
		}
	}
	return resp, s.failed()
}

// start positions the iterator on the first column of the batch.
func (m *scanRequest) start(it kv.Iterator) bool {
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

// firstBlockingLock finds the lock that the scan will meet first.
func firstBlockingLock(e kv.Eval, st *state, req *scanRequest) (*lockInfo, error) {
	for waits := 0; ; waits++ {
		if st.locks.Len() == 0 {
			return nil, nil
		}
		info, l, err := findBlockingLock(e, st, req)
		if err != nil || info == nil {
			return nil, err
		}
		if !l.Passing() || waits > 1 || !waitPassing(e.Context(), st, info.column, info.startTS, l, e) {
			return info, nil
		}
	}
}

func findBlockingLock(e kv.Eval, st *state, req *scanRequest) (*lockInfo, *record.Lock, error) {
	it, err := e.Iter(kv.IterOptions{Group: kv.GroupTxnLock, Run: record.RunExclusive, Span: req.span, Reverse: req.reverse, Max: req.snapshot})
	if err != nil {
		return nil, nil, err
	}
	defer it.Close()
	for ok := req.start(it); ok; ok = it.NextColumn() {
		if record.IsAck(it.Column()) && !req.acks {
			continue
		}
		v := it.Version()
		l, err := record.DecodeLock(v.Value)
		if err != nil {
			return nil, nil, err
		}
		if blocks(st, l, v.Timestamp, req.snapshot, req.bypass) {
			info := infoOf(l, cloneColumn(it.Column()), v.Timestamp)
			return &info, l, nil
		}
	}
	return nil, nil, it.Err()
}

// evalScanLocks lists old locks for the sweep. Guards are no locks.
func evalScanLocks(e kv.Eval, st *state, req *scanLocksRequest) (*scanLocksResponse, error) {
	resp := &scanLocksResponse{}
	if oldest, ok := st.locks.Min(); !ok || oldest > req.max {
		return resp, nil
	}
	var err error
	for _, run := range []uint32{record.RunExclusive, record.RunShared} {
		st.locks.Ascend(run, kv.Span{}, func(a kv.Address, v kv.Version) bool {
			if v.Timestamp > req.max {
				return true
			}
			var l *record.Lock
			if l, err = record.DecodeLock(v.Value); err != nil {
				return false
			}
			if !l.Guard {
				resp.locks = append(resp.locks, infoOf(l, cloneColumn(a.Column), v.Timestamp))
			}
			return len(resp.locks) < int(req.limit)
		})
		if err != nil {
			return nil, err
		}
	}
	return resp, nil
}

func evalSeed(_ kv.Eval, st *state, req *seedRequest) (*empty, error) {
	st.seed(req.incarnation, req.tablets, req.ts)
	return &empty{}, nil
}

func cloneColumn(c kv.Column) kv.Column {
	return kv.Column{Row: bytes.Clone(c.Row), Family: c.Family, Qualifier: bytes.Clone(c.Qualifier)}
}

// cloneCell copies what belongs to an iterator or to the cache, in one piece: whoever keeps a row keeps its key.
func cloneCell(c kv.Column, value []byte) cell {
	b := make([]byte, 0, len(c.Row)+len(c.Qualifier)+len(value))
	b = append(append(append(b, c.Row...), c.Qualifier...), value...)
	r, q := len(c.Row), len(c.Row)+len(c.Qualifier)
	return cell{column: kv.Column{Row: kv.RowKey(b[:r:r]), Family: c.Family, Qualifier: b[r:q:q]}, value: b[q:]}
}

func compareColumns(a, b kv.Column) int {
	if c := bytes.Compare(a.Row, b.Row); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Family, b.Family); c != 0 {
		return c
	}
	return bytes.Compare(a.Qualifier, b.Qualifier)
}

// before says whether a comes before b in the direction of a scan.
func before(a, b kv.Column, reverse bool) bool {
	if reverse {
		a, b = b, a
	}
	return compareColumns(a, b) < 0
}
