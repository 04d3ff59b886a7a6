package txn

import (
	"context"
	"sync"

	"moka/kv"
)

// fateCache remembers decided transactions: first in, first out. What is decided stays decided.
type fateCache struct {
	mu    sync.Mutex
	fates map[kv.Timestamp]*statusResponse
	order []kv.Timestamp
	next  int
}

const fateCacheSize = 2048

func (f *fateCache) init() {
	f.fates = make(map[kv.Timestamp]*statusResponse, fateCacheSize)
	f.order = make([]kv.Timestamp, fateCacheSize)
}

func (f *fateCache) get(startTS kv.Timestamp) (*statusResponse, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s, ok := f.fates[startTS]
	return s, ok
}

func (f *fateCache) put(startTS kv.Timestamp, s *statusResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.fates[startTS]; ok {
		return
	}
	delete(f.fates, f.order[f.next])
	f.order[f.next] = startTS
	f.fates[startTS] = s
	f.next = (f.next + 1) % fateCacheSize
}

// decided is a shard's memory of decisions that passed by, of this shard's primaries and of others': a reader that meets one of
// their locks before it is gone need not ask anybody. First in, first out; dies with the process.
type decided struct {
	mu    sync.RWMutex
	at    map[kv.Timestamp]kv.Timestamp // commit_ts by start_ts; zero: rolled back
	order []kv.Timestamp
	next  int
}

const decidedSize = 4096

func (d *decided) put(x decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at == nil {
		d.at, d.order = map[kv.Timestamp]kv.Timestamp{}, make([]kv.Timestamp, decidedSize)
	}
	if _, ok := d.at[x.startTS]; ok {
		return
	}
	delete(d.at, d.order[d.next])
	d.order[d.next] = x.startTS
	d.at[x.startTS] = x.commitTS
	d.next = (d.next + 1) % decidedSize
}

func (d *decided) get(startTS kv.Timestamp) (commitTS kv.Timestamp, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	commitTS, ok = d.at[startTS]
	return commitTS, ok
}

// flights lets those who want the same answer at the same time wait for one request.
type flights[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*flight[V]
}

type flight[V any] struct {
	done chan struct{}
	v    V
	err  error
	lost bool // the one who asked has gone away: no answer for the others
}

// do returns f's answer, from an earlier call if that is still under way.
func (fs *flights[K, V]) do(ctx context.Context, key K, f func() (V, error)) (V, error) {
	for {
		fs.mu.Lock()
		if fs.m == nil {
			fs.m = map[K]*flight[V]{}
		}
		fl, ok := fs.m[key]
		if !ok {
			fl = &flight[V]{done: make(chan struct{})}
			fs.m[key] = fl
			fs.mu.Unlock()
			fl.v, fl.err = f()
			fl.lost = fl.err != nil && ctx.Err() != nil
			fs.mu.Lock()
			delete(fs.m, key)
			fs.mu.Unlock()
			close(fl.done)
			return fl.v, fl.err
		}
		fs.mu.Unlock()
		select {
		case <-fl.done:
			if !fl.lost {
				return fl.v, fl.err
			}
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

// asked and settled are the questions that are worth sharing.
type (
	asked struct {
		startTS, push kv.Timestamp
		look          bool
	}
	settled struct {
		startTS kv.Timestamp
		tablet  kv.TabletID
	}
)
