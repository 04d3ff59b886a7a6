package raft

import (
	"sync/atomic"

	"moka/kv"
)

// Instant is a moment on the host's own clock, in nanoseconds. It must count what the process slept through. Instants of two hosts
// are never compared: only rates are believed, and they to a tenth.
type Instant int64

// Leadership is one time of leading a shard, named (Term, N): a term may have two (R18). What a host keeps in memory for it is
// thrown away whole when it ends.
type Leadership struct {
	Shard kv.ShardID
	Term  uint64
	// N grows with each leadership of this replica. Another replica cannot have the same term, so the pair is unique.
	N uint64

	until  atomic.Int64
	closed atomic.Bool
	used   atomic.Bool
}

// Valid reports whether the lease holds. Ask *behind* the read that it is to vouch for (R14): between question and read a process may
// stand still for any time. It may be asked from any goroutine, and asking is what keeps the lease renewed.
func (l *Leadership) Valid(now Instant) bool {
	if !l.used.Load() {
		l.used.Store(true)
	}
	return !l.closed.Load() && int64(now) < l.until.Load()
}

// Closed reports that the leadership is over, or about to be.
func (l *Leadership) Closed() bool { return l.closed.Load() }

// extend moves the end of the lease: sent is when the round began that a quorum has confirmed since.
func (l *Leadership) extend(sent Instant, length int64) {
	l.until.Store(max(l.until.Load(), int64(sent)+length))
}

// Expires is when the lease ends unless it is extended; zero if the leadership is closed. Unlike Valid it does not keep the lease renewed.
func (l *Leadership) Expires() Instant {
	if l.closed.Load() {
		return 0
	}
	return Instant(l.until.Load())
}
