package shardtest

import (
	"context"
	"sync"

	"moka/kv"
	"moka/kv/shard"
)

// Step is how far a proposal has come.
type Step uint8

const (
	Proposed Step = iota // it is not in the log yet: it can be refused or lost
	Applied              // it is in the log and visible, but not durable
	Durable              // it is durable (without a sync: applied), and its command does not know yet
)

func (s Step) String() string { return [...]string{"proposal", "sync", "end"}[s] }

// Fate is what happens to a proposal at Proposed.
type Fate uint8

const (
	Accept Fate = iota
	Refuse      // nothing happens, and the command is told so
	Lose        // the shard loses its lead; whether the next leader has the proposal is decided by Reopen
)

// replicator implements shard.Replicator.
type replicator struct {
	n     *Node
	disk  *Disk
	shard kv.ShardHandle

	mu   sync.Mutex
	lost bool
	late []record
}

// structural marks the context of changes of the tablet table, which hold the shard's structure lock alone: they wait for nobody.
type structural struct{}

func (r *replicator) turn(ctx context.Context, step Step) Fate {
	if r.n.o.Turn == nil || ctx.Value(structural{}) != nil {
		return Accept
	}
	return r.n.o.Turn(ctx, r.shard, step)
}

func (r *replicator) Propose(ctx context.Context, p *shard.Proposal) error {
	fate := r.turn(ctx, Proposed)
	r.mu.Lock()
	switch {
	case r.lost, fate == Refuse:
		r.mu.Unlock()
		return kv.Errorf(kv.CodeUnavailable, "shardtest", "the proposal was refused; nothing happened")
	case fate == Lose:
		r.lost = true
		r.late = append(r.late, readBatch(p.Batch))
		r.mu.Unlock()
		return kv.Errorf(kv.CodeOutcomeUnknown, "shardtest", "the lead was lost with a proposal under way")
	}
	if p.Applying != nil {
		p.Applying()
	}
	if !p.Batch.Empty() {
		r.disk.Apply(p.Batch, !p.NoSync)
	}
	r.mu.Unlock()
	if !p.Batch.Empty() && !p.NoSync {
		r.turn(ctx, Applied)
		r.disk.SyncWait(p.Batch)
	}
	r.turn(ctx, Durable)
	if p.Durable != nil {
		p.Durable()
	}
	return nil
}

func (r *replicator) Barrier(context.Context) error { r.disk.Barrier(); return nil }

func (r *replicator) Lease(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost {
		return kv.Errorf(kv.CodeUnavailable, "shardtest", "this replica does not lead the shard any more")
	}
	return nil
}
