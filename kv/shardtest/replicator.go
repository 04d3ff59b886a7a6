package shardtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"moka/kv"
	"moka/kv/keys"
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
	Lose        // the shard loses its lead; whether the next leader has the proposal is decided by Elect
)

// replicator implements shard.Replicator.
type replicator struct {
	n    *Node
	disk *Disk
	lead *shard.Leadership
	term uint64

	mu   sync.Mutex
	lost bool
	late []shard.Entry
}

// structural marks the context of changes of the tablet table, which hold the shard's structure lock alone: they wait for nobody.
type structural struct{}

func (r *replicator) turn(ctx context.Context, step Step) Fate {
	if r.n.o.Turn == nil || ctx.Value(structural{}) != nil {
		return Accept
	}
	return r.n.o.Turn(ctx, r.lead, step)
}

func (r *replicator) Propose(ctx context.Context, p *shard.Proposal) error {
	fate := r.turn(ctx, Proposed)
	r.check(p)
	r.mu.Lock()
	switch {
	case r.lost:
		r.mu.Unlock()
		return r.notLeader()
	case fate == Refuse:
		r.mu.Unlock()
		return kv.Errorf(kv.CodeUnavailable, "shardtest", "the proposal was refused; nothing happened")
	case fate == Lose:
		r.lost = true
		b := r.disk.NewBatch()
		if err := b.SetRepr(bytes.Clone(p.Batch.Repr())); err != nil {
			panic(err)
		}
		r.late = append(r.late, shard.Entry{Batch: b, Tablets: slices.Clone(p.Tablets), Structure: p.Structure})
		r.mu.Unlock()
		// It is Elect that deposes: until then the leadership goes on, and only a question for its
		// lease tells it that it is over.
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

func (r *replicator) Leased() bool { return r.Lease(context.Background()) == nil }

func (r *replicator) Lease(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost && !r.n.o.StaleAnswers {
		return r.notLeader()
	}
	return nil
}

func (r *replicator) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

func (r *replicator) notLeader() error {
	return kv.NotLeader("shardtest", kv.Lead{Shard: r.lead.ID()})
}

// check sees that a proposal says where it belongs: what decides below a replicated log whether it has
// effects.
func (r *replicator) check(p *shard.Proposal) {
	if p.Term != r.term {
		panic(fmt.Sprintf("shardtest: a proposal of term %d in term %d", p.Term, r.term))
	}
	named := map[kv.TabletID]bool{}
	for _, x := range p.Tablets {
		if t, ok := r.lead.Tablet(x.ID); !ok || t.Generation != x.Generation {
			panic(fmt.Sprintf("shardtest: a proposal for tablet %d, generation %d, which is %+v", x.ID, x.Generation, t))
		}
		named[x.ID] = true
	}
	err := p.Batch.Points(func(key, _ []byte, _ bool) error {
		if k, _, err := keys.Decode(key, nil); err == nil {
			if t, ok := r.lead.Find(k.Address.Row); !ok || !named[t.ID] {
				return fmt.Errorf("row %x is in tablet %d", []byte(k.Address.Row), t.ID)
			}
		}
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("shardtest: a proposal does not name what it changes: %v", err))
	}
}

func (r *replicator) Term() uint64 { return r.term }

func (r *replicator) Durable() bool { return false }
