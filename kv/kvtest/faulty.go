package kvtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"moka/kv"
)

// Fault is what happens to one call.
type Fault uint8

const (
	Pass        Fault = iota
	DropRequest       // nothing is done; the caller cannot know: ErrOutcomeUnknown
	DropReply         // it is done, and the caller cannot know: ErrOutcomeUnknown
	Duplicate         // it is done twice; the second time after a while
	Delay             // it is done after a while
	Refuse            // nothing is done and the caller is told so: ErrUnavailable
	NotLead           // nothing is done, because the shard is led elsewhere: ErrNotLeader. Only a Hook does it
)

// Faults are probabilities of what Faulty does to a call; what is left passes.
type Faults struct {
	Seed                                             uint64
	DropRequest, DropReply, Duplicate, Delay, Refuse float64
	// MaxDelay bounds delays and the distance of duplicates. Default 1ms.
	MaxDelay time.Duration
	// Hook, if set, decides instead of the probabilities.
	Hook func(shard kv.ShardID, command kv.CommandID, req kv.Message) Fault
}

// Faulty is a kv.Store whose network is bad. Close waits for late duplicates.
type Faulty struct {
	kv.Store
	f  Faults
	mu sync.Mutex
	r  *rand.Rand
	wg sync.WaitGroup
}

// NewFaulty wraps a store.
func NewFaulty(s kv.Store, f Faults) *Faulty {
	if f.MaxDelay <= 0 {
		f.MaxDelay = time.Millisecond
	}
	return &Faulty{Store: s, f: f, r: rand.New(rand.NewPCG(f.Seed, 0x6d6f6b61))}
}

func (f *Faulty) draw(shard kv.ShardID, cmd kv.CommandID, req kv.Message) (Fault, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := time.Duration(f.r.Int64N(int64(f.f.MaxDelay)))
	if f.f.Hook != nil {
		return f.f.Hook(shard, cmd, req), wait
	}
	x := f.r.Float64()
	for _, c := range []struct {
		p float64
		f Fault
	}{{f.f.DropRequest, DropRequest}, {f.f.DropReply, DropReply}, {f.f.Duplicate, Duplicate}, {f.f.Delay, Delay}, {f.f.Refuse, Refuse}} {
		if x < c.p {
			return c.f, wait
		}
		x -= c.p
	}
	return Pass, wait
}

// Call runs, loses, doubles or delays a call.
func (f *Faulty) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	fault, wait := f.draw(shard, cmd, req)
	switch fault {
	case DropRequest:
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, "kvtest.Faulty", "no answer to command %d", cmd)
	case Refuse:
		return nil, kv.Errorf(kv.CodeUnavailable, "kvtest.Faulty", "connection refused")
	case NotLead:
		return nil, kv.NotLeader("kvtest.Faulty", kv.Lead{Shard: shard})
	case Delay:
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, kv.Errorf(kv.CodeOutcomeUnknown, "kvtest.Faulty", "%v", ctx.Err())
		}
	case Duplicate:
		late := context.WithoutCancel(ctx)
		f.wg.Go(func() {
			time.Sleep(wait)
			_, _ = f.Store.Call(late, shard, tablets, cmd, req) // nobody waits for the answer to a duplicate
		})
	}
	resp, err := f.Store.Call(ctx, shard, tablets, cmd, req)
	if fault == DropReply {
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, "kvtest.Faulty", "the answer to command %d was lost", cmd)
	}
	return resp, err
}

// Close waits for duplicates that are still under way.
func (f *Faulty) Close() error { f.wg.Wait(); return nil }
