package bigtable

import (
	"errors"
	"sync"
	"testing"
	"time"

	"moka/kv"
)

// clockDisk is a ClockStore that survives its clock.
type clockDisk struct {
	ceiling, ahead kv.Timestamp
	saves          int
	broken         error
}

func (d *clockDisk) LoadClock() (ceiling, ahead kv.Timestamp, err error) {
	return d.ceiling, d.ahead, d.broken
}

func (d *clockDisk) SaveClock(ceiling, ahead kv.Timestamp) error {
	if d.broken != nil {
		return d.broken
	}
	d.saves++
	d.ceiling, d.ahead = ceiling, ahead
	return nil
}

func tick(seconds int) kv.Timestamp {
	return kv.TimestampAt(time.Unix(1_700_000_000+int64(seconds), 0))
}

func mustNext(t *testing.T, c *clock, now kv.Timestamp) kv.Timestamp {
	t.Helper()
	ts, ok, err := c.next(now)
	if err != nil || !ok {
		t.Fatalf("next: %v, %v", ok, err)
	}
	return ts
}

// C2: after a restart with a machine clock that went back, timestamps still grow.
func TestClockSurvivesRestartAndClockGoingBack(t *testing.T) {
	d := &clockDisk{}
	last := kv.Timestamp(0)
	for _, now := range []int{100, 101, 90, 10, 102} {
		c := &clock{store: d}
		for range 3 {
			ts := mustNext(t, c, tick(now))
			if ts <= last {
				t.Fatalf("at %d: %v after %v", now, ts, last)
			}
			if ts >= d.ceiling {
				t.Fatalf("%v is not below the durable ceiling %v", ts, d.ceiling)
			}
			last = ts
		}
	}
	if d.saves > 5 {
		t.Errorf("%d saves for 15 timestamps within a few windows", d.saves)
	}
}

// One mistaken caller does not take the others into the future, and nothing is given out below his timestamp without a look.
func TestClockAhead(t *testing.T) {
	d := &clockDisk{}
	c := &clock{store: d}
	mustNext(t, c, tick(1))
	if err := c.note(tick(1), tick(1000)); err != nil {
		t.Fatal(err)
	}
	restarted := *d
	for _, c := range []*clock{c, {store: &restarted}} {
		if ts, ok, err := c.next(tick(2)); ok || err != nil {
			t.Fatalf("%v was given out without a look at what is stored; %v", ts, err)
		}
		if ts := mustNext(t, c, tick(2000)); ts < tick(2000) {
			t.Errorf("%v when the clock has come there", ts)
		}
	}
	// A little ahead is followed instead.
	c = &clock{store: &clockDisk{}}
	near := tick(1) + windowTicks/2
	if err := c.note(tick(1), near); err != nil {
		t.Fatal(err)
	}
	if ts := mustNext(t, c, tick(1)); ts <= near {
		t.Errorf("%v is not above %v, which is stored", ts, near)
	}
}

func TestClockDoesNotGiveWhatItCannotSave(t *testing.T) {
	d := &clockDisk{broken: errors.New("disk")}
	c := &clock{store: d}
	if ts, ok, err := c.next(tick(1)); err == nil {
		t.Fatalf("%v, %v although nothing can be saved", ts, ok)
	}
	d.broken = nil
	mustNext(t, c, tick(1))
	if _, ok, err := new(clock).next(tick(1)); ok || err != nil {
		t.Errorf("a clock without a store knows nothing: %v, %v", ok, err)
	}
}

func TestClockConcurrently(t *testing.T) {
	c := &clock{store: &clockDisk{}}
	var mu sync.Mutex
	seen := map[kv.Timestamp]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			last := kv.Timestamp(0)
			for range 500 {
				ts, ok, err := c.next(tick(1))
				mu.Lock()
				if err != nil || !ok || ts <= last || seen[ts] {
					t.Errorf("%v after %v: %v, %v", ts, last, ok, err)
				}
				seen[ts], last = true, ts
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
