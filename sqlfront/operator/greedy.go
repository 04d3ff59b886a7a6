package operator

import (
	"cmp"
	"context"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"time"

	"moka/sqlfront/sqlerr"
)

// When memory is short the statement that holds most of it ends, not the one that asks for a little more: a
// sort of a thousand rows should not fail because somebody else fills the memory. Two things are short at
// different times: what statements are charged for, which is known exactly and before it is taken, and the
// memory of the process, which has also what nobody is charged for.

// slack is how far above the pool's limit a statement may go while a greedier one is about to end.
const slack = 4 // a quarter

// leastGreed is what a statement must hold to be ended for the sake of others.
const leastGreed = 1 << 20

// room reports whether a may have n bytes more. If that is over the limit, the greediest statement is ended;
// when that is a's own, or the others do not end soon enough, there is none.
func (p *Pool) room(a *Account, n int64) bool {
	all := p.used.Load() + n
	if all <= p.total {
		return true
	}
	for _, g := range p.greediest() {
		if g == a || g.held() < a.held()+n {
			return false
		}
		if g.end(p.full("statements")) {
			return all <= p.total+p.total/slack
		}
	}
	return false
}

func (p *Pool) full(what string) error {
	return sqlerr.New(sqlerr.CapacityExceeded,
		"Memory capacity of %d bytes for '%s' of all connections exceeded. The statement was ended because "+
			"it holds most; see --memory-limit-mib.",
		p.total, what)
}

// greediest are the accounts, who holds most first.
func (p *Pool) greediest() []*Account {
	p.mu.Lock()
	all := make([]*Account, 0, len(p.accounts))
	held := make(map[*Account]int64, len(p.accounts)) // one value for each, while others go on
	for a := range p.accounts {
		if n := a.held(); n >= leastGreed {
			all = append(all, a)
			held[a] = n
		}
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(a, b *Account) int { return cmp.Compare(held[b], held[a]) })
	return all
}

// end has the account's statement end with err; it reports whether one is ending.
func (a *Account) end(err error) bool {
	if a.interrupt == nil || a.ends() == 0 {
		// a statement that nobody can end, or memory of the session, which no statement's end gives back
		return false
	}
	if a.told.Load() {
		return true
	}
	if !a.interrupt(err) {
		return false
	}
	a.told.Store(true)
	a.pool.ended.Add(1)
	return true
}

// Watch ends the greediest statement whenever the process has come near limit, until ctx ends. What counts is
// the memory that the runtime has from the system and has not given back, which is nearly the resident size.
// The garbage collector has tried before: the soft limit is below.
func (p *Pool) Watch(ctx context.Context, limit int64, log func(held int64)) {
	t := time.NewTimer(0)
	defer t.Stop()
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	from := limit - limit/watchMargin
	var collected uint64 // the collection at which something was done last
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		metrics.Read(samples)
		now := int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
		t.Reset(nextLook(from - now))
		// What has ended gives nothing back before the next collection.
		if cycle := samples[2].Value.Uint64(); now < from || cycle < collected+2 {
			continue
		} else if p.relieve() {
			log(now)
			collected = cycle
		} else {
			debug.FreeOSMemory() // nobody to blame: caches, or pages that the runtime keeps for later
			metrics.Read(samples)
			collected = samples[2].Value.Uint64() + idleCycles
		}
	}
}

// nextLook is when to look again while left bytes may come before there is something to do. A look costs
// some 50 µs with the wakeups that it takes, a quarter of a percent of a processor when it is taken each
// 20 ms, idle or not.
func nextLook(left int64) time.Duration {
	return min(max(watchEvery, time.Duration(left/(fastestGrowth/int64(time.Second)))), rarestWatch)
}

const (
	watchEvery  = 20 * time.Millisecond // near the limit
	rarestWatch = 500 * time.Millisecond
	// fastestGrowth is how fast, in bytes a second, a process is believed to grow between two looks: a
	// core clears some 10 GB a second.
	fastestGrowth = 16 << 30
	// watchMargin is the part of the limit that is left when statements begin to be ended.
	watchMargin = 6
	// idleCycles is for how many collections a process that is large of itself is left alone.
	idleCycles = 20
)

// relieve ends the greediest statement that can be ended and is not ending.
func (p *Pool) relieve() bool {
	for _, g := range p.greediest() {
		if !g.told.Load() && g.end(sqlerr.New(sqlerr.CapacityExceeded,
			"Memory capacity of the process exceeded. The statement was ended because it holds most, %d "+
				"bytes; see --memory-limit-mib.", g.held())) {
			return true
		}
	}
	return false
}
