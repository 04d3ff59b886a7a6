package host

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
)

// A snapshot of a shard goes from the leader to a replica that has been away for too long, which
// fetches it:
//
//	loop: Wanted ─► fetch: Transport.Fetch ─ ─ ─ ► Host.Feed: state between two turns, in chunks
//	                  │ tables in DIR/incoming ◄ ─ ─ ─ ─ ┘
//	loop: Snapshots ◄─┘ ─► Turn.Installs ─► one ingest: state, empty log, records; Replica.Reload
//
// A node gives one snapshot and gets one at a time. Whatever breaks off leaves files that nobody
// reads, and the leader tells again that a snapshot is wanted.

// Feed is where a snapshot comes from.
type Feed interface {
	// Recv returns the next chunk; what it returns is the caller's.
	Recv() ([]byte, error)
	// Close says that no more is read. The sender keeps the log behind the snapshot until then.
	Close()
}

// chunkBytes is after how many bytes a chunk is sent; tests make it small.
var chunkBytes = 1 << 20

const (
	// pace is how long a chunk takes at least, 64 MiB/s: the disks have other things to do.
	pace = time.Second / 64
	// idle is how long a sender may be silent.
	idle = 30 * time.Second
)

var (
	errOver      = errors.New("the replica has gone on without it")
	errFeeding   = kv.Errorf(kv.CodeBusy, "raft", "this node gives another one a snapshot; ask later")
	errNoReplica = kv.Errorf(kv.CodeNotFound, "raft", "this node has no replica of the shard")
)

// feed is a snapshot that is to be read between two turns.
type feed struct {
	shard kv.ShardID
	to    kv.NodeID
	ready chan fed
}

// fed is the state of a shard behind an entry.
type fed struct {
	at   raft.Snapshot
	keys engine.Keys
	err  error
}

// Feed sends the state of a shard to another node: send gets chunk after chunk, and wait returns when
// the other has taken or given up what it got. Memory is bounded by send, which waits for the other
// end.
//
// The iterator keeps the tables and memtables of its moment, and no other. (An eventually-file-only
// snapshot would let go of memtables, but may be taken away in the middle, when this replica itself
// gets a snapshot.)
func (h *Host) Feed(
	ctx context.Context, to kv.NodeID, id kv.ShardID, send func([]byte) error, wait func(context.Context),
) error {
	if !h.feeding.CompareAndSwap(false, true) {
		return errFeeding
	}
	defer h.feeding.Store(false)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &feed{id, to, make(chan fed, 1)}
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return errClosed
	}
	h.feeds = append(h.feeds, f)
	h.stopFeed = cancel
	h.fed.Add(1)
	h.mu.Unlock()
	defer h.fed.Done()
	h.kick()
	state := <-f.ready
	if state.err != nil {
		return state.err
	}
	defer h.sendOver(f, state.at.Members.On(to))
	err := h.send(ctx, &state, send)
	if cerr := state.keys.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		wait(ctx)
	}
	level := h.o.Logger.Info
	if err != nil {
		level = h.o.Logger.Warn
	}
	level("gave the state of a shard to another node", "shard", id, "node", to, "index", state.at.Index,
		"error", err)
	return err
}

// sendOver lets the log behind a snapshot go.
func (h *Host) sendOver(f *feed, to uint64) {
	h.mu.Lock()
	h.in.Sends = append(h.in.Sends, raft.Send{Shard: f.shard, To: to, Over: true})
	h.mu.Unlock()
	h.kick()
}

func (h *Host) send(ctx context.Context, f *fed, send func([]byte) error) error {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	put := func(chunk []byte) error {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return send(seal(chunk))
	}
	if err := put(appendHead(nil, &f.at)); err != nil {
		return err
	}
	chunk, total := []byte{chunkData}, uint64(0)
	for ok := f.keys.First(); ok; ok = f.keys.Next() {
		v, err := f.keys.ValueAndErr()
		if err != nil {
			return err
		}
		chunk = appendPair(chunk, f.keys.Key(), v)
		if total++; len(chunk) >= chunkBytes {
			if err := put(chunk); err != nil {
				return err
			}
			chunk = []byte{chunkData} // the other one may still be on its way
		}
	}
	if err := f.keys.Error(); err != nil {
		return err
	}
	if len(chunk) > 1 {
		if err := put(chunk); err != nil {
			return err
		}
	}
	return put(appendEnd(nil, total))
}

// startFeeds reads the states that are asked for. It runs between two turns: what was applied is in
// the engine.
func (h *Host) startFeeds(in *raft.Input) {
	h.mu.Lock()
	feeds := h.feeds
	h.feeds = nil
	h.mu.Unlock()
	for _, f := range feeds {
		var state fed
		at, ok := h.driver.State(f.shard)
		if state.at = at; !ok {
			state.err = errNoReplica
		} else {
			lower, upper := keys.ShardSpan(f.shard)
			state.keys, state.err = h.o.Engine.NewIter(lower, upper)
		}
		if state.err == nil {
			to := at.Members.On(f.to)
			in.Sends = append(in.Sends, raft.Send{Shard: f.shard, To: to, Index: at.Index})
		}
		f.ready <- state
	}
}

// arrival is a snapshot that has been fetched.
type arrival struct {
	tables *engine.Tables
	done   chan error
}

// want begins to fetch what a replica needs, unless something is being fetched: then it will be told
// again.
func (h *Host) want(w raft.Wanted) {
	if h.fetching.CompareAndSwap(false, true) {
		h.wg.Go(func() {
			defer h.fetching.Store(false)
			if err := h.fetch(w); err != nil && h.ctx.Err() == nil {
				h.o.Logger.Warn("a shard's state could not be fetched; trying again", "shard", w.Shard,
					"node", raft.Node(w.From), "error", err)
			}
		})
	}
}

func (h *Host) fetch(w raft.Wanted) error {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	silent := time.AfterFunc(idle, cancel)
	defer silent.Stop()
	began := time.Now()
	h.o.Logger.Info("this node lacks the state of a shard: fetching it", "shard", w.Shard,
		"node", raft.Node(w.From))
	from, err := h.o.Transport.Fetch(ctx, raft.Node(w.From), w.Shard)
	if err != nil {
		return err
	}
	defer from.Close()
	a := &arrival{tables: h.o.Engine.NewTables(), done: make(chan error, 1)}
	defer a.tables.Discard()
	s, err := receive(from, w, a.tables, func() { silent.Reset(idle) })
	if err != nil {
		return err
	}
	silent.Stop()
	h.mu.Lock()
	h.arrivals[s] = a
	h.in.Snapshots = append(h.in.Snapshots, s)
	h.mu.Unlock()
	h.kick()
	select {
	case err = <-a.done:
	case <-h.ctx.Done(): // the loop stands still by then
		err = errClosed
	}
	if err == nil {
		h.o.Logger.Info("the state of a shard is there", "shard", w.Shard, "index", s.Index,
			"took", time.Since(began))
	}
	return err
}

// receive writes a snapshot into tables, which are whole when it returns without an error.
func receive(from Feed, w raft.Wanted, to *engine.Tables, heard func()) (*raft.Snapshot, error) {
	next := func() (byte, []byte, error) {
		b, err := from.Recv()
		if err != nil {
			return 0, nil, err
		}
		heard()
		return unseal(b)
	}
	kind, b, err := next()
	if err != nil {
		return nil, err
	}
	if kind != chunkHead {
		return nil, corrupt("a snapshot begins in the middle")
	}
	s, err := decodeHead(b)
	if err != nil {
		return nil, err
	}
	s.Wanted = w
	var order order
	order.lower, order.upper = keys.ShardSpan(w.Shard)
	for {
		if kind, b, err = next(); err != nil {
			return nil, err
		}
		switch kind {
		case chunkData:
			for len(b) > 0 {
				var k, v []byte
				if k, v, b, err = decodePair(b); err == nil {
					err = order.next(k)
				}
				if err == nil {
					err = to.Set(k, v)
				}
				if err != nil {
					return nil, err
				}
			}
		case chunkEnd:
			if total, err := decodeEnd(b); err != nil || total != order.n {
				what := fmt.Sprintf("a snapshot of %d keys has brought %d", total, order.n)
				return nil, errors.Join(err, corrupt(what))
			}
			return s, to.Finish()
		default:
			return nil, corrupt("a snapshot has a chunk of an unknown kind")
		}
	}
}

// install puts a snapshot in the place of a replica's state. An error is the end of the node: what is
// on disk is the old state or the new one, and which the next start sees.
func (h *Host) install(in *raft.Install) error {
	s := in.Snapshot
	h.mu.Lock()
	a := h.arrivals[s]
	delete(h.arrivals, s)
	h.mu.Unlock()
	err := a.tables.Replace(in.Lower, in.Upper, func(set func(key, value []byte) error) error {
		for _, r := range in.Records {
			if err := set(r.Key, r.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		lower, upper := keys.ShardSpan(s.Wanted.Shard)
		err = a.tables.Ingest(context.Background(), lower, upper)
	}
	if err == nil {
		err = h.group(s.Wanted.Shard).replica.Reload()
	}
	a.done <- err
	if err != nil {
		return &kv.Error{Code: kv.CodeOf(err), Op: "raft", Err: err,
			Msg: "the state of a shard that another node has sent cannot be put in place; start this node " +
				"again when the reason is gone"}
	}
	return nil
}

// discard tells that a snapshot was not needed any more.
func (h *Host) discard(s *raft.Snapshot) {
	h.mu.Lock()
	a := h.arrivals[s]
	delete(h.arrivals, s)
	h.mu.Unlock()
	if a != nil {
		a.done <- errOver
	}
}

// exchange is what a host keeps of snapshots.
type exchange struct {
	ctx    context.Context // ends with the host
	cancel context.CancelFunc

	feeding, fetching atomic.Bool
	// The host's mu guards these.
	feeds    []*feed
	stopFeed context.CancelCauseFunc
	arrivals map[*raft.Snapshot]*arrival
}
