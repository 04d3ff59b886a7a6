package kvtest

import (
	"context"
	"slices"
	"sync"

	"moka/kv"
)

// latches are row latches that wait on channels: a goroutine that waits for a mutex would stop the clock of a synctest
// bubble, while whoever holds the latch sleeps through its sync. They are handed over first come, first served, so that a
// simulation repeats itself.
type latches struct {
	mu sync.Mutex
	// held has an entry for each held latch: those who wait for it.
	held map[string][]chan struct{}
}

func (l *latches) acquire(ctx context.Context, rows []kv.RowKey) (release func(), err error) {
	names := make([]string, 0, len(rows))
	for _, r := range rows {
		names = append(names, string(r))
	}
	slices.Sort(names) // one order for everybody, so no deadlock
	names = slices.Compact(names)
	for i, n := range names {
		if err := l.acquireOne(ctx, n); err != nil {
			l.release(names[:i])
			return nil, err
		}
	}
	return func() { l.release(names) }, nil
}

func (l *latches) acquireOne(ctx context.Context, name string) error {
	l.mu.Lock()
	queue, busy := l.held[name]
	if !busy {
		l.held[name] = nil
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.held[name] = append(queue, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(l.held[name], turn)
	if i >= 0 {
		l.held[name] = slices.Delete(l.held[name], i, i+1)
	}
	l.mu.Unlock()
	if i < 0 { // it had just become ours
		l.release([]string{name})
	}
	return ctx.Err()
}

func (l *latches) release(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		queue := l.held[n]
		if len(queue) == 0 {
			delete(l.held, n)
			continue
		}
		l.held[n] = queue[1:]
		close(queue[0])
	}
}
