package core

import (
	"context"
	"fmt"

	"moka/kv/coord"
)

// watcher has no goroutine: whoever publishes a change puts its events into the channel, which has room or ends.
type watcher struct {
	svc    *Service
	prefix string
	events chan coord.Event
	stop   func() bool // undoes the hook on the context

	// Guarded by svc.mu.
	err    error
	closed bool
}

func (s *Service) Watch(ctx context.Context, prefix string, after coord.Revision) (coord.Watcher, error) {
	if err := s.usable(ctx, "watch"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A revision from the future comes from another store (an in-memory one that was restarted): the list is stale too.
	if after < s.mu.floor || after > s.mu.rev {
		return nil, fail("watch", prefix, coord.CodeWatchGap,
			fmt.Errorf("asked for changes after %d; have those after %d, up to %d", after, s.mu.floor, s.mu.rev))
	}
	var backlog []coord.Event
	for _, ev := range s.mu.history {
		if ev.KV.ModRev > after && hasPrefix(ev.KV.Key, prefix) {
			backlog = append(backlog, ev)
		}
	}
	w := &watcher{svc: s, prefix: prefix, events: make(chan coord.Event, len(backlog)+s.opts.WatchBuffer)}
	for _, ev := range backlog {
		w.events <- coord.Event{Type: ev.Type, KV: clone(ev.KV)}
	}
	s.mu.watchers[w] = struct{}{}
	w.stop = context.AfterFunc(ctx, w.Close)
	return w, nil
}

// deliverLocked hands over all matching events of one revision or none: a watcher that overflows ends between revisions.
func (s *Service) deliverLocked(w *watcher, events []coord.Event) {
	n := 0
	for _, ev := range events {
		if hasPrefix(ev.KV.Key, w.prefix) {
			n++
		}
	}
	if n == 0 {
		return
	}
	// Only this function sends, under mu, so the room seen here cannot shrink before it is used.
	if len(w.events)+n > cap(w.events) {
		s.dropLocked(w, fail("watch", w.prefix, coord.CodeWatchGap, fmt.Errorf("the watcher fell %d events behind", len(w.events))))
		return
	}
	for _, ev := range events {
		if hasPrefix(ev.KV.Key, w.prefix) {
			w.events <- coord.Event{Type: ev.Type, KV: clone(ev.KV)}
		}
	}
}

func (s *Service) dropLocked(w *watcher, err error) {
	if w.closed {
		return
	}
	w.closed, w.err = true, err
	delete(s.mu.watchers, w)
	close(w.events)
}

func (w *watcher) Events() <-chan coord.Event { return w.events }

func (w *watcher) Err() error {
	w.svc.mu.Lock()
	defer w.svc.mu.Unlock()
	return w.err
}

func (w *watcher) Close() {
	w.svc.mu.Lock()
	defer w.svc.mu.Unlock()
	w.svc.dropLocked(w, nil)
	if w.stop != nil {
		w.stop()
	}
}
