// Package spare keeps what is costly to make and used by one at a time, such as the compiled body of a
// trigger, while nobody uses it: no more of it than a number of bytes, and nothing that is of another version
// than the newest that was asked for.
package spare

import "sync"

// Pool has spares by key. The zero Pool keeps nothing.
type Pool[K comparable, V any] struct {
	// Most is how many bytes all spares may weigh together; Each how many spares there are of a key.
	Most int64
	Each int

	mu     sync.Mutex
	kept   map[K]*spares[V]
	weighs int64
}

type spares[V any] struct {
	version uint64
	each    int64 // what one weighs
	idle    []V
}

// Take returns a spare of that version, ok is false if there is none.
func (p *Pool[K, V]) Take(k K, version uint64) (v V, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.kept[k]
	switch {
	case x == nil || x.version > version:
		return v, false
	case x.version < version:
		p.dropLocked(k)
		return v, false
	}
	n := len(x.idle) - 1
	v = x.idle[n]
	clear(x.idle[n:])
	if x.idle = x.idle[:n]; n == 0 {
		delete(p.kept, k)
	}
	p.weighs -= x.each
	return v, true
}

// Put keeps a spare of n bytes, in the place of others if need be, or lets go of it.
func (p *Pool[K, V]) Put(k K, version uint64, v V, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.kept[k]
	if x != nil && x.version < version {
		p.dropLocked(k)
		x = nil
	}
	if n > p.Most || x != nil && (x.version > version || len(x.idle) >= p.Each) {
		return
	}
	for other := range p.kept {
		if p.weighs+n <= p.Most {
			break
		}
		p.dropLocked(other)
	}
	if p.kept == nil {
		p.kept = map[K]*spares[V]{}
	}
	if x = p.kept[k]; x == nil {
		x = &spares[V]{version: version, each: n}
		p.kept[k] = x
	}
	x.idle = append(x.idle, v)
	p.weighs += x.each
}

// Drop lets go of all spares of a key.
func (p *Pool[K, V]) Drop(k K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropLocked(k)
}

func (p *Pool[K, V]) dropLocked(k K) {
	if x := p.kept[k]; x != nil {
		p.weighs -= int64(len(x.idle)) * x.each
		delete(p.kept, k)
	}
}

// Weighs is what all spares weigh together.
func (p *Pool[K, V]) Weighs() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.weighs
}
