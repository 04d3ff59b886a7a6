package operator

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// TestWatchEndsTheGreediest: when the process is near its limit the statement that holds most ends, and no
// other; when that is not enough, the next one; never one that holds little, nor one that nobody can end.
func TestWatchEndsTheGreediest(t *testing.T) {
	p, err := NewPool(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string)
	open := func(name string, held int64, mayEnd bool) *Account {
		a := &Account{}
		var interrupt func(error) bool
		if mayEnd {
			interrupt = func(error) bool { ended <- name; return true }
		}
		p.Open(a, interrupt)
		if err := a.Value(name, held, 0); err != nil {
			t.Fatal(err)
		}
		return a
	}
	accounts := map[string]*Account{
		"most": open("most", 9<<20, true), "much": open("much", 5<<20, true),
		"a little": open("a little", leastGreed/2, true), "unstoppable": open("unstoppable", 20<<20, false),
	}
	told := func() (names []string) {
		for name, a := range accounts {
			if a.told.Load() {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return names
	}
	ctx, cancel := context.WithCancel(context.Background())
	logged := make(chan []string)
	var watch sync.WaitGroup
	// a process is always larger than that
	watch.Go(func() { p.Watch(ctx, 1, func(int64) { logged <- told() }) })
	collect := func() {
		for range 4 { // what an ended statement held is given back by the collector: Watch waits for it
			runtime.GC()
		}
	}
	collect()
	for i, want := range [][]string{{"most"}, {"most", "much"}} {
		if name := <-ended; name != want[i] {
			t.Errorf("%q was ended, want %q", name, want[i])
		}
		if got := <-logged; !slices.Equal(got, want) {
			t.Errorf("ended are %q, want %q", got, want)
		}
		collect()
	}
	cancel()
	watch.Wait()
	if got := told(); !slices.Equal(got, []string{"most", "much"}) || p.Ended() != 2 {
		t.Errorf("at the end %q were ended, %d", got, p.Ended())
	}
	for _, a := range accounts {
		a.Settle()
		a.Close()
	}
	if p.Held() != 0 {
		t.Errorf("%d bytes are still charged", p.Held())
	}
}

// TestWatchLooksRarelyFarFromTheLimit: a process that has much room left is looked at rarely, and in time
// whatever it does meanwhile.
func TestWatchLooksRarelyFarFromTheLimit(t *testing.T) {
	for _, c := range []struct {
		left int64
		want time.Duration
	}{
		{-1 << 40, watchEvery}, {0, watchEvery}, {100 << 20, watchEvery},
		{1 << 40, rarestWatch}, {math.MaxInt64, rarestWatch},
	} {
		if got := nextLook(c.left); got != c.want {
			t.Errorf("%d bytes left: %v, want %v", c.left, got, c.want)
		}
	}
	for left := int64(1 << 29); left < 1<<34; left += 1 << 28 {
		if got := nextLook(left); got <= watchEvery || int64(got.Seconds()*fastestGrowth) > left+left/10 {
			t.Errorf("%d bytes left: looks again in %v, when they may be gone", left, got)
		}
	}
}
