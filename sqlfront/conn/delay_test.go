package conn

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestDelays is S13: logins after wrong ones wait longer and longer, up to a bound; a right one ends it;
// others do not wait; and neither those who wait nor what is remembered grows without bound.
func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDelays()
		took := func(key string) time.Duration {
			at := time.Now()
			if ok, _ := d.await(key, nil); !ok {
				t.Errorf("%s was refused", key)
			}
			return time.Since(at)
		}
		var total time.Duration
		for range 310 {
			total += took("a")
			d.wrong("a")
		}
		if want := 300 * maxDelay; total < want {
			t.Errorf("310 wrong passwords took %v, want more than %v", total, want)
		}
		if took("b") != 0 {
			t.Error("another account waits")
		}
		if got := took("a"); got != maxDelay {
			t.Errorf("waited %v, want %v", got, maxDelay)
		}
		d.right("a")
		if took("a") != 0 {
			t.Error("waits after a right password")
		}
		for range 10 {
			d.wrong("a")
		}
		time.Sleep(guessesForgo + 1)
		if took("a") != 0 {
			t.Error("waits for what was long ago")
		}

		for range 10 {
			d.wrong("a")
		}
		var wg sync.WaitGroup
		var let, refused atomic.Int64
		for range 100 {
			wg.Go(func() {
				if ok, _ := d.await("a", nil); ok {
					let.Add(1)
				} else {
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if let.Load() != maxDelayed || refused.Load() != 100-maxDelayed {
			t.Errorf("%d waited and %d were refused, want %d at a time", let.Load(), refused.Load(),
				maxDelayed)
		}
		stop := make(chan struct{})
		close(stop)
		if ok, _ := d.await("a", stop); ok {
			t.Error("a server that is closed lets somebody in")
		}

		for i := range 2 * maxGuessers {
			d.wrong(fmt.Sprint(i))
		}
		if d.order.Len() != maxGuessers || len(d.entries) != maxGuessers {
			t.Errorf("%d places are remembered, want %d", d.order.Len(), maxGuessers)
		}
	})
}

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q quiet
		n := 0
		for range 1000 {
			if _, ok := q.may(); ok {
				n++
			}
		}
		time.Sleep(3 * time.Second)
		dropped, ok := q.may()
		if n != quietBurst || !ok || dropped != 1000-quietBurst {
			t.Errorf("%d messages, then %v after %d that were dropped", n, ok, dropped)
		}
	})
}
