package replicated

import (
	"testing"
	"testing/synctest"
	"time"
)

// The clock goes as the machine's does, and what a process stood still for it does not count. (Mistake 48.)
func TestTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTicks()
		defer c.close()
		began := time.Now()
		fired := make(chan time.Time, 1)
		c.AfterFunc(3*time.Second, func() { fired <- time.Now() })
		never := c.AfterFunc(time.Second, func() { t.Error("a timer that was stopped") })
		if !never.Stop() || never.Stop() {
			t.Error("Stop does not tell whether the timer was waiting")
		}
		if d := (<-fired).Sub(began); d < 3*time.Second || d > 3*time.Second+2*tickEvery {
			t.Errorf("a timer of 3s fires after %v", d)
		}
		// As if the process had been stopped: nothing ticks, an hour passes.
		c.mu.Lock()
		c.last = c.last.Add(-time.Hour)
		before := c.now
		c.mu.Unlock()
		if d := c.Now().Sub(before); d > 2*tickEvery {
			t.Errorf("%v were counted of an hour of standing still", d)
		}
	})
}
