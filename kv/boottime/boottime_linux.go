package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is CLOCK_BOOTTIME, the time since the machine was started, which goes on in suspend and is not set by
// anybody.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic(err) // Linux has had this clock since 2.6.39
	}
	return time.Duration(ts.Nano())
}
