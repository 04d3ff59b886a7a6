package node

import (
	"context"
	"os"
	"runtime/debug"
	"time"
)

// The resident memory of a storage process is its cache and a quarter of it, whatever is loaded, for caches of 256 MiB and more:
//
//	| blocks and memtables: ¾ of the cache | everything else, garbage included | the program itself |
//	|◄────────────────────── soft limit of the runtime ───────────────────────►|◄── not counted ──►|
//
// Pebble takes memtables out of the cache; each is an eighth of it at most. Without a limit Go would let garbage grow to the size
// of what lives, and a cache lives for ever: the process would take twice its cache. (Measured with 2 million cells and a cache of 256 MiB: 353 MiB
// with a limit of a fifth above the cache, of which 43 MiB are pages of the program, which the runtime does not count.)
const (
	// programBytes is the resident part of the program and of what the runtime does not count, and what it takes to stay below a soft limit:
	// with 60 MiB, ten million cells brought a process with a cache of 512 MiB to 641.
	programBytes = 72 << 20
	// workBytes is what a storage process needs beside its cache at least; less, and it would do nothing but collect garbage.
	workBytes = 64 << 20
	// leastBytes is the limit of a process with a small cache: 9 MiB above what lived, collections took half of a scan.
	leastBytes = 128 << 20
)

// LimitMemory sets the soft limit of this process's memory by the size of its cache and returns it, for Options.MemoryLimit. If GOMEMLIMIT says
// otherwise, that holds and zero is returned. layers is what others in the process need, such as a SQL server. It is for the program that
// opens the node: a limit is the whole process's.
func LimitMemory(cacheBytes, layers int64) int64 {
	if cacheBytes <= 0 {
		cacheBytes = DefaultCacheBytes
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit := max(cacheBytes+cacheBytes/4-programBytes, cacheBytes-cacheBytes/4+workBytes+layers, leastBytes+layers)
	debug.SetMemoryLimit(limit)
	return limit
}

// raisedLimit is the soft limit with what in-memory groups hold on top: they are data, not garbage, and as large as somebody has made
// them. (Measured: with 50 MB in a group, above a cache of 64 MiB, the limit was below what lived; collections ran 60 times a second and took
// half of a random write.)
type raisedLimit struct {
	base, raised int64
	most         int64 // that the limit may become, 0 for any
}

// raiseStep keeps the limit from being set all the time: setting it stops the world.
const raiseStep = 2 << 20

func (l *raisedLimit) follow(held int64) {
	want := held + held/4 // as for the cache: what lives must be marked, and the more room, the more rarely
	if l.most > 0 {
		want = max(0, min(want, l.most-l.base))
	}
	if d := want - l.raised; d > raiseStep || d < -raiseStep {
		l.raised = want
		debug.SetMemoryLimit(l.base + l.raised)
	}
}

// followEvery is how often the limit is compared with what the groups hold. It is a sum of a few counters.
const followEvery = 500 * time.Millisecond

func (n *Node) followMemory(ctx context.Context, l *raisedLimit) {
	t := time.NewTicker(followEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			l.follow(n.memoryBytes())
		}
	}
}

func (n *Node) memoryBytes() (bytes int64) {
	for _, s := range n.here() {
		bytes += s.MemoryBytes()
	}
	if n.o.Held != nil {
		bytes += n.o.Held()
	}
	return bytes
}
