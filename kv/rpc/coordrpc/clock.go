package coordrpc

import (
	"time"

	"moka/kv/boottime"
)

// instant is a moment on all clocks that there are. A lease must not seem to last because the machine slept: Go's monotonic
// clock stands still in suspend, so the time since an instant is what the fastest of the clocks says. To err upwards costs
// a renewal, to err downwards would let two leaders act.
type instant struct {
	at   time.Time
	boot time.Duration // on a clock that counts suspension, where there is one
}

func now() instant { return instant{time.Now(), boottime.Now()} }

func (i instant) elapsed() time.Duration {
	n := now()
	return max(n.at.Sub(i.at), n.boot-i.boot)
}
