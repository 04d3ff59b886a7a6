//go:build !linux

package coordrpc

import "time"

// sinceBoot is the wall clock: it goes on in suspend, and where somebody sets it back, the monotonic clock still counts.
func sinceBoot() time.Duration { return time.Duration(time.Now().UnixNano()) }
