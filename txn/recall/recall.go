// Package recall remembers answers, so that nobody need ask twice: those that were given, and those that
// are under way.
package recall

import (
	"context"
	"sync"
)

// Cache remembers what does not change, first in, first out: the first answer to a question stays.
type Cache[K comparable, V any] struct {
	// Size is how many answers it has, up to.
	Size int

	mu    sync.RWMutex
	known map[K]V
	order []K
	next  int
}

// Get returns the answer to a question if it is remembered.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v, ok := c.known[k]
	return v, ok
}

// Put remembers an answer, in place of the oldest.
func (c *Cache[K, V]) Put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known, c.order = map[K]V{}, make([]K, c.Size)
	}
	if _, ok := c.known[k]; ok {
		return
	}
	delete(c.known, c.order[c.next])
	c.order[c.next] = k
	c.known[k] = v
	c.next = (c.next + 1) % c.Size
}

// Flights lets those who want the same answer at the same time wait for one request.
type Flights[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]*flight[V]
}

type flight[V any] struct {
	done chan struct{}
	v    V
	err  error
	lost bool // the one who asked has gone away: no answer for the others
}

// Do returns f's answer, from an earlier call if that is still under way.
func (fs *Flights[K, V]) Do(ctx context.Context, key K, f func() (V, error)) (V, error) {
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
