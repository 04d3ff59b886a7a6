package namedlock

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// most is how many locks a session may have: each is written again every few seconds.
const most = 1000

// releaseTimeout bounds how long the end of a session waits for its locks to be free. After
// that their time ends them.
const releaseTimeout = 5 * time.Second

// Held are the locks of one session. The zero value has none.
type Held struct {
	mu         sync.Mutex // not held while the store is asked, but by renew and release, which must not cross
	locks      *Locks
	owner      owner
	connection uint32
	depth      map[string]int // how often GET_LOCK was called for it
}

// acquire takes a lock, or counts one more for one that the session has.
func (h *Held) acquire(ctx context.Context, l *Locks, connection uint32, name string,
	timeout time.Duration) (bool, error) {
	h.mu.Lock()
	if h.depth == nil {
		h.locks, h.owner, h.connection, h.depth = l, owner{l.node, l.sessions.Add(1)}, connection,
			map[string]int{}
	}
	n, all := h.depth[name], len(h.depth)
	if n > 0 {
		h.depth[name]++
	}
	h.mu.Unlock()
	switch {
	case n > 0:
		return true, nil
	case all >= most:
		return false, sqlerr.New(sqlerr.TooManyLocks,
			"A session has at most %d named locks; release some with RELEASE_LOCK or RELEASE_ALL_LOCKS", most)
	}
	got, err := l.acquire(ctx, h, name, timeout)
	if !got {
		return false, err
	}
	h.mu.Lock()
	h.depth[name]++
	h.mu.Unlock()
	l.mu.Lock()
	l.holders[h] = true
	l.mu.Unlock()
	return true, nil
}

// Take takes a lock that the server itself names, if it is free. A name with capital letters cannot be a
// user's.
func (h *Held) Take(ctx context.Context, l *Locks, name string) (bool, error) {
	return h.acquire(ctx, l, 0, name, 0)
}

// release takes one GET_LOCK back. own is false for a lock that the session does not have.
func (h *Held) release(ctx context.Context, name string) (own bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch n := h.depth[name]; {
	case n == 0:
		return false, nil
	case n > 1:
		h.depth[name]--
		return true, nil
	}
	delete(h.depth, name)
	h.leave()
	return true, h.locks.release(ctx, h, []string{name})
}

// ReleaseAll frees all locks of the session and reports how many GET_LOCKs that takes back.
func (h *Held) ReleaseAll(ctx context.Context) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.depth) == 0 {
		return 0, nil
	}
	for _, d := range h.depth {
		n += d
	}
	names := slices.Collect(maps.Keys(h.depth))
	clear(h.depth)
	h.leave()
	return n, h.locks.release(ctx, h, names)
}

// End frees the session's locks when it is over. Nobody is there to be told of an error.
func (h *Held) End() {
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
	defer cancel()
	_, _ = h.ReleaseAll(ctx)
}

// leave takes a session without locks from the list of those to be renewed.
func (h *Held) leave() {
	if len(h.depth) > 0 {
		return
	}
	h.locks.mu.Lock()
	delete(h.locks.holders, h)
	h.locks.mu.Unlock()
}

// renew writes a new time for all locks of the session. A lock that is somebody else's by now is lost.
func (h *Held) renew(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := slices.Collect(maps.Keys(h.depth))
	if len(names) == 0 {
		return
	}
	own, err := h.locks.change(ctx, h, names, func(t *txn.Txn, name string) { h.locks.write(t, h, name) })
	switch {
	case err != nil && ctx.Err() == nil:
		h.locks.opts.Logger.Warn("named locks could not be renewed; trying again", "connection", h.connection,
			"locks", len(names), "err", err)
	case err == nil && len(own) < len(names):
		for _, name := range names {
			if !slices.Contains(own, name) {
				delete(h.depth, name)
				h.locks.opts.Logger.Error("a named lock was lost: this server could not reach the store "+
					"for longer than the lock's lease", "connection", h.connection, "lock", name)
			}
		}
		h.leave()
	}
}
