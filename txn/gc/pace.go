package gc

import "time"

// pace is the present as garbage collection takes it. A clock that jumps a year ahead, for seconds or for good, would otherwise make all that is kept
// older than the retention, at once and past recall. So the present goes on no faster than twice a clock that cannot be set, and is never later than
// the machine's, which timestamps may be when it has been set back. A present that lags keeps versions for longer than it needs to, and catches up in as much time as it
// has lost.
type pace struct {
	now int64     // milliseconds since 1970
	at  time.Time // when, on the monotonic clock
}

// paceSlack is what clocks may differ by from round to round without a word.
const paceSlack = 1000

// reach moves the present on, to what a clock says if that can be. ahead is by how many milliseconds it cannot.
func (p *pace) reach(clock int64, at time.Time) (now, ahead int64) {
	if !p.at.IsZero() {
		if most := p.now + 2*at.Sub(p.at).Milliseconds() + paceSlack; clock > most {
			clock, ahead = most, clock-most
		}
	}
	p.now, p.at = clock, at
	return clock, ahead
}
