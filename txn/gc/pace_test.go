package gc

import (
	"testing"
	"testing/synctest"
	"time"
)

// Faults: the clock went a year ahead for 26 s and back, and all old versions were gone at once; AS OF now() was 9006 from then on.
func TestPaceOfAClockThatJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const year = 365 * 24 * time.Hour
		began := time.Now()
		var p pace
		jump := time.Duration(0)
		reach := func(elapsed time.Duration) (now time.Duration, ahead int64) {
			time.Sleep(elapsed)
			ms, ahead := p.reach(time.Now().Add(jump).UnixMilli(), time.Now())
			return time.UnixMilli(ms).Sub(began), ahead
		}
		if now, ahead := reach(0); now != 0 || ahead != 0 {
			t.Fatalf("%v, ahead %d", now, ahead)
		}
		jump = year
		if now, ahead := reach(26 * time.Second); now > 53*time.Second || ahead < (year-time.Minute).Milliseconds() {
			t.Fatalf("a year ahead: %v, ahead %d", now, ahead)
		}
		jump = 0
		if now, ahead := reach(10 * time.Second); now != 36*time.Second || ahead != 0 {
			t.Fatalf("back: %v, ahead %d", now, ahead)
		}
		// A clock that was set right for good, by an hour, is caught up with.
		jump = time.Hour
		for range 70 {
			reach(time.Minute)
		}
		if now, ahead := reach(time.Minute); now < time.Hour+70*time.Minute || ahead != 0 {
			t.Fatalf("an hour later: %v, ahead %d", now, ahead)
		}
	})
}
