package main

import (
	"testing"
	"testing/fstest"
)

// TestSystemMemory: the least of the machine and the control groups, of both versions and of all
// levels, is what there is.
func TestSystemMemory(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	machine := file("MemTotal:       16777216 kB\nMemFree:  1 kB\n")
	for what, x := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nothing":   {fstest.MapFS{}, 0},
		"a machine": {fstest.MapFS{"proc/meminfo": machine}, 16 << 30},
		"version 2": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max": file("2147483648\n")}, 2 << 30},
		"no limit": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a\n"),
			"sys/fs/cgroup/a/memory.max": file("max\n")}, 16 << 30},
		"the group above": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max": file("max\n"),
			"sys/fs/cgroup/a/memory.max":   file("1073741824\n")}, 1 << 30},
		"in a container": {fstest.MapFS{"proc/self/cgroup": file("0::/host/path\n"),
			"sys/fs/cgroup/memory.max": file("1000000000\n")}, 1000000000},
		"version 1": {fstest.MapFS{"proc/meminfo": machine,
			"proc/self/cgroup": file("3:cpu:/x\n4:hugetlb,memory:/a\n"),
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("536870912\n")}, 512 << 20},
		"version 1, never": {fstest.MapFS{"proc/meminfo": machine, "proc/self/cgroup": file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n")}, 16 << 30},
	} {
		if got := systemMemory(x.files); got != x.want {
			t.Errorf("%s: %d, want %d", what, got, x.want)
		}
	}
}
