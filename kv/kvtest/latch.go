package kvtest

import (
	"context"
	"slices"
	"sync"

	"moka/kv"
)

// latches are row latches that wait on channels: a goroutine that waits for a mutex would stop the clock of a synctest
// bubble, while whoever holds the latch sleeps through its sync.
type latches struct {
	mu   sync.Mutex
	held map[string]chan struct{}
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
	for {
		l.mu.Lock()
		busy, ok := l.held[name]
		if !ok {
			l.held[name] = make(chan struct{})
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *latches) release(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		close(l.held[n])
		delete(l.held, n)
	}
}
