package tpce

import (
	"testing"
	"testing/synctest"
	"time"

	"moka/tpce/gen"
)

// TestOpenLoop arrives at the rate asked for, and counts from the intended start when the customer was busy.
func TestOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, seconds = 10.0, 100
		start := time.Now()
		p := newPacer(rate, start, gen.NewRand(1, 1))
		arrivals := 0
		for at, ok := p.wait(t.Context()); ok && at.Sub(start) < seconds*time.Second; at,
			ok = p.wait(t.Context()) {
			if time.Now().Before(at) || time.Since(at) > time.Millisecond {
				t.Fatalf("started %v after it should", time.Since(at))
			}
			arrivals++
		}
		if want := rate * customersPerResult * seconds; float64(arrivals) < want*0.9 ||
			float64(arrivals) > want*1.1 {
			t.Errorf("%d arrivals instead of %.0f", arrivals, want)
		}
		// A stall of ten seconds: what should have started in it is late, and says so.
		stalled := time.Now()
		<-time.After(10 * time.Second)
		late := 0
		for at, _ := p.wait(t.Context()); at.Before(stalled.Add(10 * time.Second)); at,
			_ = p.wait(t.Context()) {
			late++
		}
		if want := 10 * rate * customersPerResult; float64(late) < want*0.8 || float64(late) > want*1.2 {
			t.Errorf("%d late starts instead of %.0f", late, want)
		}
	})
}
