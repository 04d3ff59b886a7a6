package host

import (
	"context"

	"moka/kv"
	"moka/kv/raft"
	"moka/kv/shard"
)

var (
	errUnknown = kv.Errorf(kv.CodeOutcomeUnknown, "raft", "the shard has lost its leader meanwhile")
	errStale   = kv.Errorf(kv.CodeMoved, "raft", "the tablets have changed meanwhile; nothing happened")
)

// leadership is a shard.Leadership that opens, is open, and closes.
type leadership struct {
	h      *Host
	lead   *raft.Leadership
	opened chan struct{}     // closed when it is open, or cannot be
	shard  *shard.Leadership // then; nil if it cannot
}

func (g *group) begin(l *raft.Leadership) {
	h := g.h
	x := &leadership{h: h, lead: l, opened: make(chan struct{})}
	g.lead = x
	h.wg.Go(func() {
		defer close(x.opened)
		led, err := g.replica.Lead(&replicator{h: h, lead: l})
		switch {
		case err == nil:
			x.shard = led
			h.o.Logger.Info("this node leads a shard", "shard", l.Shard, "term", l.Term)
		case kv.CodeOf(err) != kv.CodeClosed:
			h.o.Fatal(&kv.Error{Code: kv.CodeOf(err), Op: "raft", Err: err,
				Msg: "a shard cannot be led with the state that it has here"})
		}
	})
}

func (g *group) end() {
	x := g.lead
	g.lead = nil
	x.end(func() {
		h := g.h
		h.o.Logger.Info("this node leads a shard no more", "shard", x.lead.Shard, "term", x.lead.Term)
		h.mu.Lock()
		h.in.Ended = append(h.in.Ended, x.lead)
		h.mu.Unlock()
		h.kick()
	})
}

// end waits, beside the turns, for the commands of a leadership and closes it.
func (x *leadership) end(then func()) {
	x.h.wg.Go(func() {
		<-x.opened
		if x.shard != nil {
			<-x.shard.Depose()
			if err := x.shard.End(); err != nil {
				x.h.o.Logger.Warn("closing what a leadership had open", "shard", x.lead.Shard, "error", err)
			}
		}
		if then != nil {
			then()
		}
	})
}

// proposal is one that waits for its fate.
type proposal struct {
	raft.Proposal
	change *shard.Proposal
	fate   chan error
	err    error
	index  uint64 // of its entry, once it is applied
}

// replicator is the log of one leadership.
type replicator struct {
	h    *Host
	lead *raft.Leadership
}

var _ shard.Replicator = (*replicator)(nil)

// Propose implements shard.Replicator. It comes back with an answer even when ctx has ended before: until
// then the rows must stay latched.
func (r *replicator) Propose(_ context.Context, p *shard.Proposal) error {
	w := &proposal{change: p, fate: make(chan error, 1)}
	w.Proposal = raft.Proposal{Lead: r.lead, Command: raft.Command{Tablets: p.Tablets, Batch: p.Batch.Repr()}}
	if p.Structure {
		w.Flags |= raft.Structure
	}
	h := r.h
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return errClosed
	}
	h.waiting[&w.Proposal] = w
	h.in.Proposals = append(h.in.Proposals, &w.Proposal)
	h.mu.Unlock()
	h.kick()
	return <-w.fate
}

// Lease implements shard.Replicator.
func (r *replicator) Lease(ctx context.Context) error {
	h := r.h
	if r.Leased() {
		return nil
	}
	q := &raft.Read{Lead: r.lead}
	answer := make(chan error, 1)
	h.mu.Lock()
	if h.over {
		h.mu.Unlock()
		return errClosed
	}
	h.asking[q] = answer
	h.in.Reads = append(h.in.Reads, q)
	h.mu.Unlock()
	h.kick()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		h.mu.Lock()
		delete(h.asking, q)
		h.mu.Unlock()
		return &kv.Error{Code: kv.CodeUnavailable, Op: "raft", Err: ctx.Err(),
			Msg: "the caller gave up while the leader asked the others"}
	}
}

// Leased implements shard.Replicator.
func (r *replicator) Leased() bool { return r.lead.Valid(r.h.clock.now()) }

// Term implements shard.Replicator.
func (r *replicator) Term() uint64 { return r.lead.Term }

// Durable implements shard.Replicator: most of the replicas have synced what is applied.
func (r *replicator) Durable() bool { return true }

// forget takes a proposal off the list of those that wait.
func (h *Host) forget(p *raft.Proposal) *proposal {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.waiting[p]
	delete(h.waiting, p)
	return w
}

func (h *Host) resolve(p *raft.Proposal, err error) {
	if w := h.forget(p); w != nil {
		w.fate <- err
	}
}
