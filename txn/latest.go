package txn

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"moka/kv"
	"moka/txn/acks"
	"moka/txn/longread"
	"moka/txn/record"
)

// Latest returns the newest committed values of columns, all as of one moment within the call, and not of a snapshot: it asks no
// clock. It is what a statement needs that stands alone and reads once, at its beginning and never again; a transaction that
// reads twice needs a snapshot.
//
// What it returns was committed (and durable) and nothing that was acknowledged before the call is missing. Columns of several
// tablets, and columns that are just being written, are read in an ordinary snapshot.
func (c *Client) Latest(ctx context.Context, columns []kv.Column) ([]Value, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	values, err := c.latest(ctx, columns)
	if values != nil || err != nil {
		return values, err
	}
	// With a timestamp, and not again without: a column that is written all the time would never hold still.
	c.metrics.latestFallbacks.Add(1)
	t := c.Begin(TxnOptions{ReadOnly: true, Autocommit: true})
	defer t.Rollback()
	return t.BatchGet(ctx, columns)
}

// latest returns nil if a snapshot is needed.
func (c *Client) latest(ctx context.Context, columns []kv.Column) ([]Value, error) {
	if len(columns) > 1 && slices.ContainsFunc(columns, record.IsAck) {
		return nil, nil // they are in two groups, of which no single look has both
	}
	b := newBackoff(c.o.RetryTime, kv.Timestamp(len(columns[0].Row)))
	for {
		groups, err := c.group(ctx, len(columns), func(i int) kv.RowKey { return columns[i].Row })
		if err != nil {
			return nil, err
		}
		if len(groups) > 1 || len(groups[0].tablets) > 1 {
			return nil, nil
		}
		c.metrics.reads.Add(uint64(len(columns)))
		req := &latestRequest{columns: columns, tablets: groups[0].tablets}
		req.Question = longread.Question{Context: ctx, Reads: &req.reads}
		m, err := c.call(ctx, b, groups[0], cmdGetLatest, req, nil)
		if errors.Is(err, kv.ErrMoved) && b.wait(ctx) {
			continue
		}
		if err != nil {
			return nil, req.reads.Refusal(err)
		}
		resp := m.(*latestResponse)
		if err := charge(&req.Question, resp.charged, resp.values); err != nil {
			return nil, err
		}
		if resp.blocked {
			return nil, nil
		}
		if len(resp.values) != len(columns) {
			return nil, kv.Errorf(kv.CodeCorrupt, "txn.Latest", "%d values for %d columns", len(resp.values), len(columns))
		}
		c.metrics.latest.Add(uint64(len(columns)))
		return resp.values, nil
	}
}

const cmdGetLatest kv.CommandID = 49

type latestRequest struct {
	longread.Question
	reads longread.Reads

	columns []kv.Column
	tablets []kv.TabletRef
}

func (m *latestRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.columns(m.columns)
	e.refs(m.tablets)
	return e.b
}

func (m *latestRequest) Decode(b []byte) error {
	d := decoder{b: b}
	m.columns, m.tablets = d.columns(), d.refs()
	return d.end()
}

// latestResponse has a value for each column, or says that some lock is in the way.
type latestResponse struct {
	blocked bool
	values  []Value
	charged bool // not sent
}

func (m *latestResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.blocked)
	e.uvarint(uint64(len(m.values)))
	for _, v := range m.values {
		e.bool(v.OK)
		e.bytes(v.Data)
	}
	return e.b
}

func (m *latestResponse) Decode(b []byte) error {
	d := decoder{b: b}
	*m = latestResponse{blocked: d.bool(), values: list(&d, 2, func() Value { return Value{OK: d.bool(), Data: d.bytes()} })}
	return d.end()
}

// evalGetLatest reads without a timestamp. It must not raise maxTS to infinity, nor to the newest commit here: a one-phase commit
// goes one above maxTS, and repeated, that would carry commits past what the clock has handed out, out of sight of the next
// snapshot. What it notes is state.latestTS; its moment is that of one look at the store:
//
//	before it   no lock, as it may be that of a transaction that committed elsewhere and was acknowledged
//	after it    no lock either: what was seen of a batch that is not durable yet has its locks and guards until it is
//
// A single column may have the lock of a primary of two phases, if its commit was not seen: it is certain not to have committed.
// (With several columns, its commit_ts may be below that of something else that was seen.)
func evalGetLatest(e kv.Eval, st *state, req *latestRequest) (*latestResponse, error) {
	for tries := 0; ; tries++ {
		resp, passing, err := tryLatest(e, st, req)
		if err != nil || passing == nil || tries > 0 || !waitPassing(e.Context(), st, passing.column, passing.startTS, passing.lock, e) {
			return resp, err
		}
	}
}

// foundLock is an exclusive lock as a read without a timestamp meets it.
type foundLock struct {
	column  kv.Column
	startTS kv.Timestamp
	lock    *record.Lock
}

func (l *foundLock) uncommitted(req *latestRequest) bool {
	return len(req.columns) == 1 && l.lock.IsPrimary && !l.lock.Guard && !l.lock.Async
}

// tryLatest returns the lock in the way if it will be gone in a moment.
func tryLatest(e kv.Eval, st *state, req *latestRequest) (resp *latestResponse, passing *foundLock, err error) {
	blocked := func(l *foundLock) (*latestResponse, *foundLock, error) {
		if !l.lock.Passing() {
			l = nil
		}
		return &latestResponse{blocked: true}, l, nil
	}
	for _, c := range req.columns {
		l, err := newestLock(e, st, c)
		if err != nil {
			return nil, nil, err
		}
		if l != nil && !l.uncommitted(req) {
			return blocked(l)
		}
	}
	seeded, _ := st.readSeeded(req.tablets)
	versions, err := newestVersions(e, st, req.columns, seeded)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range versions { // before the second look: who is not seen there sees this
		raise(&st.latestTS, v.Timestamp)
	}
	resp = &latestResponse{values: make([]Value, len(req.columns)), charged: req.Asked()}
	size := 0
	for i, c := range req.columns {
		l, err := newestLock(e, st, c)
		if err != nil {
			return nil, nil, err
		}
		if l != nil {
			seen := kv.Timestamp(0)
			if versions[i].Value != nil {
				w, err := record.DecodeWrite(versions[i].Value, versions[i].Timestamp)
				if err != nil {
					return nil, nil, err
				}
				seen = w.StartTS
			}
			if !l.uncommitted(req) || seen == l.startTS {
				return blocked(l)
			}
		}
		if versions[i].Value == nil {
			continue
		}
		if resp.values[i], err = st.valueOf(e, &req.Question, c, versions[i]); err != nil {
			return nil, nil, err
		}
		if size += len(resp.values[i].Data); size >= maxResponse && i+1 < len(req.columns) {
			return &latestResponse{blocked: true}, nil, nil // BatchGet reads them in pieces
		}
	}
	return resp, nil, nil
}

// newestLock returns the lock or guard of whoever is changing a column, if anybody is.
func newestLock(e kv.Eval, st *state, c kv.Column) (*foundLock, error) {
	if st.locks.Len() == 0 {
		return nil, nil
	}
	v, ok, err := e.Latest(record.LockAt(record.RunExclusive, c), kv.MaxTimestamp)
	if err != nil || !ok {
		return nil, err
	}
	l, err := record.DecodeLock(v.Value)
	if err != nil || !l.Kind.Changes() {
		return nil, err
	}
	return &foundLock{column: c, startTS: v.Timestamp, lock: l}, nil
}

// newestVersions looks at the store once: an iterator sees it as it is at its creation.
func newestVersions(e kv.Eval, st *state, columns []kv.Column, seeded bool) ([]kv.Version, error) {
	versions := make([]kv.Version, len(columns))
	if len(columns) == 1 {
		v, ok, err := st.version(e, columns[0], kv.MaxTimestamp, seeded)
		if ok {
			versions[0] = v
		}
		return versions, err
	}
	if seeded {
		if done, err := newestButOne(e, st, columns, versions); done || err != nil {
			return versions, err
		}
	}
	span := kv.Span{Start: columns[0].Row, End: columns[0].Row}
	for _, c := range columns {
		if string(c.Row) < string(span.Start) {
			span.Start = c.Row
		}
		if string(c.Row) > string(span.End) {
			span.End = c.Row
		}
	}
	span.End = append(append(kv.RowKey{}, span.End...), 0)
	it, err := e.Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: span})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for i, c := range columns {
		if it.SeekColumn(c) && compareColumns(it.Column(), c) == 0 {
			v := it.Version()
			versions[i] = kv.Version{Timestamp: v.Timestamp, Value: append([]byte{}, v.Value...)}
		}
	}
	return versions, it.Err()
}

// newestButOne is newestVersions where all columns but one are remembered: they are the newest before the look at that one and
// behind it, so that they are at the moment of the look.
func newestButOne(e kv.Eval, st *state, columns []kv.Column, versions []kv.Version) (done bool, err error) {
	one := -1
	for i, c := range columns {
		v, ok, known := st.newestIfHot(c)
		switch {
		case known && ok:
			versions[i] = kv.Version{Timestamp: v.Timestamp, Value: bytes.Clone(v.Value)}
		case known:
		case one < 0:
			one = i
		default:
			for _, c := range columns {
				if _, _, _, err := st.remember(e, c); err != nil { // for the next time
					return false, err
				}
			}
			clear(versions)
			return false, nil
		}
	}
	if one >= 0 {
		v, ok, err := acks.Latest(e, columns[one], kv.MaxTimestamp)
		if err != nil {
			return false, err
		}
		if ok {
			versions[one] = v
		}
	}
	for i, c := range columns {
		if i == one {
			continue
		}
		if v, ok, known := st.newestIfHot(c); !known || ok != (versions[i].Value != nil) || v.Timestamp != versions[i].Timestamp {
			clear(versions)
			return false, nil
		}
	}
	return true, nil
}
