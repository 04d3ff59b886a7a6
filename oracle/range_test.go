package oracle

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

// Callers of Next and of Range share a request, and each gets what nobody else has.
func TestClientRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScript()
		c := NewClient(src, ClientOptions{})
		defer c.Close()
		first := c.Async()
		<-src.asked // everybody below boards the next request
		owner := map[int]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 20 {
			n := 1 + i%7
			wg.Go(func() {
				ts, err := c.Range(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for k := range n {
					if o, taken := owner[int(ts)+k]; taken {
						t.Errorf("timestamp %d went to callers %d and %d", int(ts)+k, o, i)
					}
					owner[int(ts)+k] = i
				}
			})
		}
		synctest.Wait()
		src.answer <- answerOf{b: Batch{First: 1, N: 1}}
		n := <-src.asked
		src.answer <- answerOf{b: Batch{First: 100, N: n}}
		wg.Wait()
		if _, err := first.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if n != len(owner) || owner[99] != 0 || len(owner) == 0 {
			t.Errorf("%d were asked for, %d given", n, len(owner))
		}
		for ts := range owner {
			if ts < 100 || ts >= 100+n {
				t.Errorf("%d lies outside of the answer", ts)
			}
		}
		for _, n := range []int{0, -1, MaxRange + 1} {
			if _, err := c.Range(t.Context(), n); !errors.Is(err, ErrInvalid) {
				t.Errorf("Range(%d): %v", n, err)
			}
		}
	})
}

func TestClientRangeDirect(t *testing.T) {
	svc, clock := newCoord(t)
	c := NewClient(lead(t, svc, Options{Clock: clock}), ClientOptions{})
	defer c.Close()
	a, err := c.Range(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := c.Next(t.Context()); err != nil || b < a+10 {
		t.Errorf("after the range from %v of 10: %v, %v", a, b, err)
	}
}
