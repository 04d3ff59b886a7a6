package triggers

import (
	"context"
	"errors"
	"slices"

	"moka/kv"
	"moka/txn/record"
)

// Watch says where an observer's notifications are: the rows of a table.
type Watch struct {
	Observer ObserverID
	Span     kv.Span
}

// Until says which changes are asked about.
type Until struct {
	UpTo kv.Timestamp // those that were committed at or before this
	// Deep leaves out what clients have changed: of what is left, runs of observers may have made it.
	Deep bool
	// ParkedAfter leaves out parked notifications that no change behind this has come to.
	ParkedAfter kv.Timestamp
}

// Pending is what an observer has not acknowledged.
type Pending struct {
	Waiting bool // to be delivered, now or after a wait
	Parked  bool
}

// pendingBatch bounds how many stretches one question to a shard is about.
const pendingBatch = 512

// ListPending says which observers have changes to acknowledge; the others are not in the answer. It is exact
// for what has been committed and has left its notifications (see txn.Client.ResolveOrphans) before it is
// asked, whatever moves meanwhile: each tablet answers for itself, where it is served.
func ListPending(ctx context.Context, store kv.Store, ws []Watch, u Until) (map[ObserverID]Pending, error) {
	out := map[ObserverID]Pending{}
	const most = 16
	for moved := 0; len(ws) > 0; {
		asked, left, err := askPending(ctx, store, ws, u, out)
		switch {
		case err == nil && asked:
			moved = 0
		case err != nil && !errors.Is(err, kv.ErrMoved):
			return nil, err
		case err != nil:
			if moved++; moved == most {
				return nil, err
			}
		}
		ws = left
	}
	return out, nil
}

// askPending asks one shard: the one that has the first row, about the stretches at the front that it has. It
// returns what is left to be asked; with ErrMoved that is all.
func askPending(ctx context.Context, store kv.Store, ws []Watch, u Until,
	out map[ObserverID]Pending) (asked bool, left []Watch, err error) {
	var shard kv.ShardID
	var refs []kv.TabletRef
	req := &pendingRequest{Until: u}
	left = ws
	for len(left) > 0 && len(req.Watches) < pendingBatch {
		w := left[0]
		tablet, err := store.Locate(ctx, w.Span.Start)
		if err != nil {
			return false, ws, err
		}
		if len(refs) > 0 && tablet.Shard != shard {
			break
		}
		shard = tablet.Shard
		ref := kv.TabletRef{ID: tablet.ID, Generation: tablet.Generation}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
		end := tablet.Span.End
		last := len(end) == 0 || len(w.Span.End) > 0 && string(end) >= string(w.Span.End)
		if last {
			end, left = w.Span.End, left[1:]
		} else {
			left = append([]Watch{{w.Observer, kv.Span{Start: end, End: w.Span.End}}}, left[1:]...)
		}
		req.Watches = append(req.Watches, Watch{w.Observer, kv.Span{Start: w.Span.Start, End: end}})
	}
	m, err := store.Call(ctx, shard, refs, commandPending, req)
	if err != nil {
		return false, ws, err
	}
	for o, p := range m.(*pendingResponse).Found {
		was := out[o]
		out[o] = Pending{was.Waiting || p.Waiting, was.Parked || p.Parked}
	}
	return true, left, nil
}

// The first stretch is short: who waits for a long backlog asks again and again, and one cell is the answer.
const firstStretch, lastStretch = 16, 4096

// pending walks the notifications in stretches, so that commits need not wait for the whole of it.
func pending(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*pendingRequest), e.State().(*ready)
	res := &pendingResponse{Found: map[ObserverID]Pending{}}
	failed := r.shard.InMemory(kv.GroupNotifyMeta).Len() > 0
	for _, w := range req.Watches {
		p := res.Found[w.Observer]
		for next, n := w.Span, firstStretch; ; n = min(4*n, lastStretch) {
			cells, more, err := r.collect(w.Observer, next, n)
			if err != nil {
				return nil, err
			}
			for _, c := range cells {
				if !c.within(req.Until) {
					continue
				}
				if failed && r.meta(w.Observer, c.column).parks(c.newest) {
					p.Parked = p.Parked || c.newest > req.ParkedAfter
				} else {
					p.Waiting = true
				}
			}
			if err := e.Context().Err(); err != nil {
				return nil, err
			}
			if len(more) == 0 || p.Waiting && (p.Parked || !failed) {
				break
			}
			next.Start = more
		}
		if p != (Pending{}) {
			res.Found[w.Observer] = p
		}
	}
	return res, nil
}

// waitingCell is what the notifications of a cell say together.
type waitingCell struct {
	column        kv.Column
	oldest        kv.Timestamp // of the changes that they stand for
	newest        kv.Timestamp
	several, deep bool
}

// within reports whether a change that is asked about may be among those of the cell. Of an entry that stands
// for several, nobody knows which of them runs have made.
func (c *waitingCell) within(u Until) bool {
	return c.oldest <= u.UpTo && (!u.Deep || c.deep || c.several)
}

// collect reads the first cells of a stretch that have notifications, whole rows only, and where to go on.
func (r *ready) collect(o ObserverID, span kv.Span, stretch int) (cells []waitingCell, next kv.RowKey,
	err error) {
	err = r.shard.InMemory(kv.GroupNotify).Ascend(o, span, func(a kv.Address, v kv.Version) bool {
		if len(cells) > 0 {
			last := &cells[len(cells)-1]
			if compareColumns(last.column, a.Column) == 0 {
				last.add(v)
				return true
			}
			if len(cells) >= stretch && string(last.column.Row) != string(a.Row) {
				next = slices.Clone(a.Row)
				return false
			}
		}
		cells = append(cells, waitingCell{column: cloneColumn(a.Column), newest: v.Timestamp})
		cells[len(cells)-1].add(v)
		return true
	})
	return cells, next, err
}

// add takes in an entry; they come newest first.
func (c *waitingCell) add(v kv.Version) {
	n, _ := record.DecodeNotify(v.Value) // one that does not decode is that of one change, by a client
	c.oldest = v.Timestamp
	if n.Since != 0 {
		c.oldest, c.several = min(c.oldest, n.Since), true
	}
	c.deep = c.deep || n.Depth > 0
}

type pendingRequest struct {
	Until
	Watches []Watch
}

// pendingResponse has those observers that have something.
type pendingResponse struct{ Found map[ObserverID]Pending }

func (m *pendingRequest) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.u(uint64(m.UpTo))
	w.u(uint64(m.ParkedAfter))
	w.u(bit(m.Deep))
	w.u(uint64(len(m.Watches)))
	for _, x := range m.Watches {
		w.u(uint64(x.Observer))
		w.bytes(x.Span.Start)
		w.bytes(x.Span.End)
	}
	return w.b
}

func (m *pendingRequest) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.UpTo, m.ParkedAfter, m.Deep = kv.Timestamp(r.u()), kv.Timestamp(r.u()), r.u() == 1
	m.Watches = nil
	for n := r.count(); n > 0 && !r.bad; n-- {
		m.Watches = append(m.Watches, Watch{ObserverID(r.u()), kv.Span{Start: r.bytes(), End: r.bytes()}})
	}
	return r.done("pending request")
}

func (m *pendingResponse) AppendTo(b []byte) []byte {
	w := writer{append(b, messageVersion)}
	w.u(uint64(len(m.Found)))
	for o, p := range m.Found {
		w.u(uint64(o))
		w.u(bit(p.Waiting) | bit(p.Parked)<<1)
	}
	return w.b
}

func (m *pendingResponse) Decode(b []byte) error {
	r := reader{b: b}
	r.version()
	m.Found = map[ObserverID]Pending{}
	for n := r.count(); n > 0 && !r.bad; n-- {
		o, is := ObserverID(r.u()), r.u()
		m.Found[o] = Pending{Waiting: is&1 != 0, Parked: is&2 != 0}
	}
	return r.done("pending response")
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
