package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"moka/kv"
)

func TestAllocTake(t *testing.T) {
	const ms = kv.Timestamp(1) << kv.LogicalBits
	for _, tc := range []struct {
		name      string
		a         alloc
		now       kv.Timestamp
		n         int
		first     kv.Timestamp
		ok        bool
		nextAfter kv.Timestamp
	}{
		{"first of a window", alloc{10, 100}, 0, 1, 10, true, 11},
		{"follows the clock", alloc{10, 100}, 50, 3, 50, true, 53},
		{"clock went back", alloc{60, 100}, 50, 3, 60, true, 63},
		{"exactly the rest", alloc{90, 100}, 0, 10, 90, true, 100},
		{"one too many", alloc{90, 100}, 0, 11, 0, false, 90},
		{"nothing left", alloc{100, 100}, 0, 1, 0, false, 100},
		{"clock beyond the ceiling", alloc{10, 100}, 1000, 1, 0, false, 10},
		{"no ceiling yet", alloc{}, 5, 1, 0, false, 0},
		{"logical part carries", alloc{5*ms - 2, 9 * ms}, 4 * ms, 4, 5*ms - 2, true, 5*ms + 2},
		{"the last there is", alloc{kv.MaxTimestamp - 1, kv.MaxTimestamp}, 0, 1, kv.MaxTimestamp - 1, true,
			kv.MaxTimestamp},
		{"after the last", alloc{kv.MaxTimestamp, kv.MaxTimestamp}, 0, 1, 0, false, kv.MaxTimestamp},
	} {
		a := tc.a
		first, ok := a.take(tc.now, tc.n)
		if first != tc.first || ok != tc.ok || a.next != tc.nextAfter || a.ceiling != tc.a.ceiling {
			t.Errorf("%s: take = %v, %v, then next %v; want %v, %v, %v", tc.name, first, ok, a.next, tc.first,
				tc.ok, tc.nextAfter)
		}
	}
}

func TestAllocReserve(t *testing.T) {
	a := alloc{next: 100, ceiling: 200}
	if a.low(0, 100) || a.low(150, 100) || !a.low(151, 100) || !a.low(500, 100) {
		t.Error("low is not at half a window")
	}
	if a.target(50, 100) != 200 || a.target(150, 100) != 250 {
		t.Error("target is not a window ahead of what comes next")
	}
	if a.target(kv.MaxTimestamp-5, 100) != kv.MaxTimestamp {
		t.Error("target wraps around")
	}
	a.raise(150)
	if a.ceiling != 200 {
		t.Error("the ceiling went down")
	}
	if w := windowOf(3 * time.Second); w != kv.NewTimestamp(3000, 0) {
		t.Errorf("3s is %v", w)
	}
}

// dumbAlloc hands out one timestamp at a time and remembers all of them: it is the specification.
type dumbAlloc struct {
	issued  map[kv.Timestamp]bool
	highest kv.Timestamp
	start   kv.Timestamp
	ceiling kv.Timestamp
}

func (d *dumbAlloc) take(now kv.Timestamp, n int) []kv.Timestamp {
	var out []kv.Timestamp
	next := max(d.highest+1, d.start, now)
	for range n {
		if next >= d.ceiling {
			return nil
		}
		out = append(out, next)
		next++
	}
	return out
}

func (d *dumbAlloc) record(t *testing.T, tss []kv.Timestamp) {
	for _, ts := range tss {
		if d.issued[ts] || ts <= d.highest {
			t.Fatalf("timestamp %v after %v", ts, d.highest)
		}
		d.issued[ts], d.highest = true, ts
	}
}

// A clock that jumps both ways, batches of all sizes, ceilings raised and not, restarts: the allocator does
// what the dumb copy does.
func TestAllocModel(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			now := kv.Timestamp(1000)
			const window = 64
			a := alloc{next: now}
			d := dumbAlloc{issued: make(map[kv.Timestamp]bool), start: now}
			refused := 0
			for range 500 {
				switch rng.IntN(10) {
				case 0:
					now += kv.Timestamp(rng.IntN(200))
				case 1:
					now -= kv.Timestamp(rng.IntN(150))
				case 2:
					now++
				case 3, 4: // the ceiling is durable, then used
					c := a.target(now, window)
					d.ceiling = max(d.ceiling, c)
					a.raise(c)
				case 5: // crash: the successor knows the ceiling only
					a = alloc{next: max(now, d.ceiling), ceiling: d.ceiling}
					d.start = a.next
				default:
					n := 1 + rng.IntN(window/2)
					want := d.take(now, n)
					first, ok := a.take(now, n)
					if ok != (want != nil) || ok && first != want[0] {
						t.Fatalf("take(%v, %d) = %v, %v; the dumb copy says %v", now, n, first, ok, want)
					}
					if !ok {
						refused++
					}
					d.record(t, want)
				}
				if len(d.issued) > 0 && d.highest >= d.ceiling {
					t.Fatalf("A2: %v handed out, the durable ceiling is %v", d.highest, d.ceiling)
				}
				if now > 1<<40 {
					now = 1000 // the clock fell below zero
				}
			}
			if len(d.issued) == 0 || refused == 0 {
				t.Fatalf("%d issued, %d refused: the run proves little", len(d.issued), refused)
			}
		})
	}
}
