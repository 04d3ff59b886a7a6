//go:build planted

package sim

import "moka/kv/raft"

// The simulator makes mistakes where it stands for what is above the driver; the driver makes its own.
func planted(n int) bool { return raft.Planted == n }
