package host

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/cespare/xxhash/v2"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
	"moka/kv/shard"
)

// The replicas of a shard are compared without stopping anybody:
//
//	Host.Check at the leader ─► an entry of the log ─► each replica, when it applies that one:
//	    an iterator over the state of exactly that moment ─► sums, beside the turns ─► Host.Checked
//
// What is summed up is keys and values in their order, not how they lie on the disk. What in-memory groups
// hold is summed up as the engine has it, which is what a start would load.

// Sum is what a part of a shard's state comes to: the versions of a locality group within a tablet. What
// lies in no tablet, the table of tablets and records, has the tablet zero, and the group zero.
type Sum struct {
	Group  kv.GroupID
	Tablet kv.TabletID
	Keys   uint64
	Bytes  uint64
	Hash   uint64
}

// State is a replica's state behind an entry, or how far it has come with reading it.
type State struct {
	Replica uint64
	Index   uint64 // of the entry; zero: this replica has come to no such entry in this life
	Chain   uint64 // over all entries up to it
	Done    bool
	Keys    uint64
	Bytes   uint64
	Hash    uint64 // of all
	Sums    []Sum  // in the order of the state
	Failed  string // why the state cannot be read
}

const (
	// checkBytes are read at a time, each such piece taking at least checkPace: 64 MiB/s.
	checkBytes = 1 << 20
	checkPace  = time.Second / 64
	// maxSums bounds the parts of a state: what comes behind has the tablet zero.
	maxSums = 16 << 10
)

// check is one state that is being read, or was.
type check struct {
	state  State // the host's mu guards it
	cancel context.CancelFunc
}

// Check has the replicas of a shard that is led here look at their state behind one entry of its log, whose
// index it returns. Each tells by Checked what it has found. A later one takes its place.
func (h *Host) Check(ctx context.Context, id kv.ShardID) (index uint64, err error) {
	b := h.o.Engine.NewBatch()
	defer b.Close()
	w := &proposal{change: &shard.Proposal{Batch: b}, fate: make(chan error, 1)}
	h.between(func() {
		g := h.group(id)
		if g == nil || g.lead == nil {
			w.fate <- h.notLeader(id)
			return
		}
		w.Proposal = raft.Proposal{Lead: g.lead.lead, Flags: raft.Check}
		w.Command.Batch = b.Repr()
		h.mu.Lock()
		h.waiting[&w.Proposal] = w
		h.in.Proposals = append(h.in.Proposals, &w.Proposal)
		h.mu.Unlock()
		h.kick()
	})
	select {
	case err = <-w.fate:
		return w.index, err
	case <-h.ctx.Done():
		select {
		case err = <-w.fate: // Close has answered
			return w.index, err
		default:
			return 0, errClosed // it came too late for any turn
		}
	}
}

// Checked is what this node's replica of a shard has found behind the latest entry at which it was asked.
func (h *Host) Checked(id kv.ShardID) State {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.checks[id]; c != nil {
		return c.state
	}
	return State{Replica: h.statuses[id].Replica}
}

// look begins to read the state as it is behind an entry that was just applied.
func (h *Host) look(a *raft.Applied) {
	g := h.group(a.Shard)
	ctx, cancel := context.WithCancel(h.ctx)
	c := &check{cancel: cancel, state: State{Replica: g.number, Index: a.Index, Chain: a.Chain}}
	lower, upper := keys.ShardSpan(a.Shard)
	it, err := h.o.Engine.NewIter(lower, upper)
	h.mu.Lock()
	if old := h.checks[a.Shard]; old != nil {
		old.cancel()
	}
	h.checks[a.Shard] = c
	if err != nil {
		c.state.Failed, c.state.Done = err.Error(), true
	}
	h.mu.Unlock()
	if err != nil {
		cancel()
		return
	}
	tablets := g.replica.Tablets()
	h.wg.Go(func() {
		defer cancel()
		s := &summer{shard: a.Shard, tablets: tablets, all: xxhash.New(), part: xxhash.New()}
		err := s.read(ctx, it, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			c.state.Keys, c.state.Bytes = s.keys, s.bytes
		})
		if cerr := it.Close(); err == nil {
			err = cerr
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		st := &c.state
		st.Done, st.Keys, st.Bytes, st.Hash, st.Sums = true, s.keys, s.bytes, s.all.Sum64(), s.sums
		if err != nil {
			st.Failed = err.Error()
		}
	})
}

// summer adds up a state in the order of its keys.
type summer struct {
	shard   kv.ShardID
	tablets []kv.Tablet // by start
	all     *xxhash.Digest
	part    *xxhash.Digest
	keys    uint64
	bytes   uint64
	sums    []Sum
	end     []byte // where the last of them ends; nil: there is none yet
	row     []byte
	head    [16]byte
}

func (s *summer) read(ctx context.Context, it engine.Keys, progress func()) error {
	tick := time.NewTicker(checkPace)
	defer tick.Stop()
	read := uint64(0)
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := s.add(it.Key(), v); err != nil {
			return err
		}
		if s.bytes-read < checkBytes {
			continue
		}
		read = s.bytes
		progress()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.finish()
	return it.Error()
}

func (s *summer) add(key, value []byte) error {
	if s.end == nil || engine.Compare(key, s.end) >= 0 {
		if err := s.begin(key); err != nil {
			return err
		}
	}
	binary.BigEndian.PutUint64(s.head[:], uint64(len(key)))
	binary.BigEndian.PutUint64(s.head[8:], uint64(len(value)))
	for _, d := range [...]*xxhash.Digest{s.all, s.part} {
		_, _ = d.Write(s.head[:])
		_, _ = d.Write(key)
		_, _ = d.Write(value)
	}
	n := uint64(len(key) + len(value))
	s.keys, s.bytes = s.keys+1, s.bytes+n
	last := &s.sums[len(s.sums)-1]
	last.Keys, last.Bytes = last.Keys+1, last.Bytes+n
	return nil
}

// begin opens the part of the state in which a key lies, behind all others so far.
func (s *summer) begin(key []byte) error {
	s.finish()
	next := Sum{}
	_, s.end = keys.ShardSpan(s.shard)
	if lower, _ := keys.DataSpan(s.shard); engine.Compare(key, lower) < 0 {
		s.end = lower
	} else {
		k, row, err := keys.Decode(key, s.row)
		if err != nil {
			return err
		}
		s.row = row
		next.Group = k.Address.Group
		span := kv.Span{}
		if len(s.sums) < maxSums {
			for _, t := range s.tablets {
				if t.Span.Contains(k.Address.Row) {
					next.Tablet, span = t.ID, t.Span
					break
				}
			}
		}
		if next.Tablet != 0 {
			_, s.end = keys.AppendSpan(nil, s.shard, k.Address.Group, k.Address.Run, span)
		} else {
			_, s.end = keys.GroupSpan(s.shard, k.Address.Group)
		}
	}
	if n := len(s.sums); n > 0 && s.sums[n-1].Group == next.Group && s.sums[n-1].Tablet == next.Tablet {
		return nil // another run of the same: its sum goes on
	}
	s.sums = append(s.sums, next)
	s.part.Reset()
	return nil
}

// finish notes what the last part has come to.
func (s *summer) finish() {
	if n := len(s.sums); n > 0 {
		s.sums[n-1].Hash = s.part.Sum64()
	}
}
