package main

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// systemMemory is how much memory this process may have before the system ends it: the least of what the
// machine has and what the process's control groups (version 1 or 2) allow. 0 if nothing says so.
func systemMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	consider := func(n int64) {
		if n > 0 {
			least = min(least, n)
		}
	}
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		for line := range bytes.Lines(text) {
			if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == "MemTotal:" {
				kib, _ := strconv.ParseInt(f[1], 10, 64)
				consider(kib << 10)
			}
		}
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup") // without one there are no groups
	for line := range strings.Lines(string(text)) {
		// number:controllers:path; version 2 has no controllers.
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) < 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if part[1] != "" {
			if !strings.Contains(","+part[1]+",", ",memory,") {
				continue
			}
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		// A group is within the groups above it. In a container the path may be the host's: then
		// the root is the group.
		for at := path.Clean("/" + part[2]); ; at = path.Dir(at) {
			if text, err := fs.ReadFile(root, path.Join(base, at, file)); err == nil {
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
					consider(n) // "max" is no number
				}
			}
			if at == "/" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// memoryLimit is what the process is to stay below, in bytes; 0 for no limit.
func (o *stackOptions) memoryLimit() int64 {
	if o.MemoryLimit > 0 {
		return int64(o.MemoryLimit) << 20
	}
	return systemMemory(os.DirFS("/")) / 10 * 9
}

// limitGarbage sets the runtime's soft limit in a process that has no storage, which would set it by the size
// of its cache: what statements are charged for is half of the memory that there is, and without a limit
// garbage grows to as much as lives. Values of megabytes that are gone in a moment (a packet, the row of an
// INSERT) took a process with 1.8 GiB to 2.8. The collector works hard before the watch ends statements
// (operator.Pool). What GOMEMLIMIT says holds.
func (o *stackOptions) limitGarbage() {
	if limit := o.memoryLimit(); limit > 0 && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit / 4 * 3)
	}
}

// processBytes is about what the process has beside its cache and what statements hold.
const processBytes = 160 << 20

// statementsMemory is what all statements may hold together: half of what is left, as the garbage
// collector needs room, too.
func (o *stackOptions) statementsMemory() int64 {
	limit := o.memoryLimit()
	if limit == 0 {
		return 0
	}
	return max(1, (limit-int64(o.CacheMiB)<<20-processBytes)/2)
}

// catalogMemory is what tables, views and bodies may take: a quarter of what is left.
func (o *stackOptions) catalogMemory() int64 {
	if o.memoryLimit() == 0 {
		return 0
	}
	return max(leastCatalog, o.statementsMemory()/2)
}

const leastCatalog = 32 << 20
