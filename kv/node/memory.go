package node

import (
	"os"
	"runtime/debug"
)

// The resident memory of a storage process is its cache and a quarter of it, whatever is loaded, for caches of 256 MiB and more:
//
//	| blocks and memtables: ⅞ of the cache | everything else, garbage included | the program itself |
//	|◄────────────────────── soft limit of the runtime ───────────────────────►|◄── not counted ──►|
//
// Pebble takes memtables out of the cache; each is an eighth of it at most. Without a limit Go would let garbage grow to the size
// of what lives, and a cache lives for ever: the process would take twice its cache. (Measured with 2 million cells and a cache of 256 MiB: 353 MiB
// with a limit of a fifth above the cache, of which 43 MiB are pages of the program, which the runtime does not count.)
const (
	// programBytes is the resident part of the program and of what the runtime does not count.
	programBytes = 60 << 20
	// workBytes is what a storage process needs beside its cache at least; less, and it would do nothing but collect garbage.
	workBytes = 36 << 20
)

// LimitMemory sets the soft limit of this process's memory by the size of its cache, unless GOMEMLIMIT says otherwise, and returns it. layers is what
// others in the process need, such as a SQL server. It is for the program that opens the node: a limit is the whole process's.
func LimitMemory(cacheBytes, layers int64) int64 {
	if cacheBytes <= 0 {
		cacheBytes = DefaultCacheBytes
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	limit := max(cacheBytes+cacheBytes/4-programBytes, cacheBytes-cacheBytes/8+workBytes+layers)
	debug.SetMemoryLimit(limit)
	return limit
}
