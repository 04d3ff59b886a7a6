// Package latch keeps commands that touch the same row apart while they are evaluated and made durable.
//
// A latch is short-lived and in memory, unlike a transaction's lock. A command takes all its latches before it begins, in one
// global order, so that two commands never wait for each other in a circle; waiters of a row are served in the order in which they
// came. A row is known by its hash: two rows with the same 64 bits share a latch, which costs a wait once in a universe.
package latch

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"moka/kv"
)

const stripes = 64

// Manager holds the latches of a shard. The zero value is not usable; see New.
type Manager struct {
	held atomic.Int64
	s    [stripes]stripe
}

type stripe struct {
	mu   sync.Mutex
	m    map[uint64]*latch
	free []*latch
	_    [24]byte // a cache line of its own
}

// latch exists while somebody holds it.
type latch struct {
	row     kv.RowKey // the holder's name for it
	waiters []*waiter // in order of arrival
	done    chan struct{}
}

type waiter struct {
	row     kv.RowKey
	granted chan struct{}
}

// New returns an empty manager.
func New() *Manager {
	m := &Manager{}
	for i := range m.s {
		m.s[i].m = map[uint64]*latch{}
	}
	return m
}

// Set is a group of latches that are held together. It can be used again after Release.
type Set struct {
	want []want
	n    int // how many of want are held
}

type want struct {
	hash uint64
	row  kv.RowKey
}

// Holds reports whether a row's latch is among those taken.
func (s *Set) Holds(row kv.RowKey) bool {
	i, ok := slices.BinarySearchFunc(s.want[:s.n], xxhash.Sum64(row), func(w want, h uint64) int {
		return cmp.Compare(w.hash, h)
	})
	return ok && bytes.Equal(s.want[i].row, row)
}

// Acquire takes the latches of all rows. If ctx ends first, none is held and its error is returned. The rows must not change
// until Release.
func (m *Manager) Acquire(ctx context.Context, s *Set, rows []kv.RowKey) error {
	s.want, s.n = s.want[:0], 0
	for _, r := range rows {
		s.want = append(s.want, want{xxhash.Sum64(r), r})
	}
	if len(s.want) > 1 {
		slices.SortFunc(s.want, func(a, b want) int {
			switch {
			case a.hash < b.hash:
				return -1
			case a.hash > b.hash:
				return 1
			}
			return 0
		})
		s.want = slices.CompactFunc(s.want, func(a, b want) bool { return a.hash == b.hash })
	}
	for _, w := range s.want {
		if err := m.acquire(ctx, w); err != nil {
			m.Release(s)
			return err
		}
		s.n++
	}
	m.held.Add(int64(s.n))
	return nil
}

func (m *Manager) acquire(ctx context.Context, w want) error {
	st := &m.s[w.hash%stripes]
	st.mu.Lock()
	l, ok := st.m[w.hash]
	if !ok {
		if n := len(st.free); n > 0 {
			l, st.free = st.free[n-1], st.free[:n-1]
		} else {
			l = &latch{}
		}
		l.row = w.row
		st.m[w.hash] = l
		st.mu.Unlock()
		return nil
	}
	me := &waiter{row: w.row, granted: make(chan struct{})}
	l.waiters = append(l.waiters, me)
	st.mu.Unlock()
	select {
	case <-me.granted:
		return nil
	case <-ctx.Done():
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if i := slices.Index(l.waiters, me); i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
		return ctx.Err()
	}
	// Granted while ctx ended: pass it on.
	m.releaseLocked(st, w.hash)
	return ctx.Err()
}

// Release gives all latches of the set back.
func (m *Manager) Release(s *Set) {
	if s.n == len(s.want) {
		m.held.Add(-int64(s.n))
	}
	for _, w := range s.want[:s.n] {
		st := &m.s[w.hash%stripes]
		st.mu.Lock()
		m.releaseLocked(st, w.hash)
		st.mu.Unlock()
	}
	clear(s.want) // do not keep the rows alive
	s.want, s.n = s.want[:0], 0
}

func (m *Manager) releaseLocked(st *stripe, hash uint64) {
	l := st.m[hash]
	if l.done != nil {
		close(l.done)
		l.done = nil
	}
	if len(l.waiters) > 0 {
		next := l.waiters[0]
		l.waiters = slices.Delete(l.waiters, 0, 1)
		l.row = next.row
		close(next.granted)
		return
	}
	delete(st.m, hash)
	l.row = nil
	if len(st.free) < 64 {
		st.free = append(st.free, l)
	}
}

// Watch returns a channel that is closed when whoever holds the row's latch now has released it, or nil if nobody holds it. It does not
// wait for those who queue behind.
func (m *Manager) Watch(row kv.RowKey) <-chan struct{} {
	hash := xxhash.Sum64(row)
	st := &m.s[hash%stripes]
	st.mu.Lock()
	defer st.mu.Unlock()
	if l, ok := st.m[hash]; ok {
		return l.watch()
	}
	return nil
}

// Wait waits for what Watch returns.
func (m *Manager) Wait(ctx context.Context, row kv.RowKey) error {
	if done := m.Watch(row); done != nil {
		return await(ctx, done)
	}
	return nil
}

// WaitSpan does what Wait does for all rows within the span.
func (m *Manager) WaitSpan(ctx context.Context, span kv.Span) error {
	if m.held.Load() == 0 {
		return nil
	}
	var all []chan struct{}
	for i := range m.s {
		st := &m.s[i]
		st.mu.Lock()
		for _, l := range st.m {
			if span.Contains(l.row) {
				all = append(all, l.watch())
			}
		}
		st.mu.Unlock()
	}
	for _, done := range all {
		if err := await(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

func (l *latch) watch() chan struct{} {
	if l.done == nil {
		l.done = make(chan struct{})
	}
	return l.done
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Held counts the latches that commands hold; one that still collects its set counts as none.
func (m *Manager) Held() int { return int(m.held.Load()) }
