//go:build !linux

package boottime

import "time"

// Now is the wall clock: it goes on in suspend, and where somebody sets it back, the monotonic clock still
// counts.
func Now() time.Duration { return time.Duration(time.Now().UnixNano()) }
