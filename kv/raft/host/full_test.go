package host_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/engine"
)

// smallDisk is an engine whose disk is full when it is told so.
type smallDisk struct {
	*engine.Engine
	full *atomic.Bool
}

func (d smallDisk) Room(g kv.Growth, bytes int) error {
	if d.full.Load() && g == kv.Follows {
		return kv.ErrDiskFull
	}
	return d.Engine.Room(g, bytes)
}

// A replica whose disk is full takes no entries, and holds nobody up; when there is room it gets what it has
// missed.
func TestFullDiskTakesNoEntries(t *testing.T) {
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := row(1, "r")
	push := func(from, to uint64) {
		t.Helper()
		for x := from; x < to; x++ {
			if _, err := c.call(ctx, 1, cmdAppend, &message{Row: r, X: x}); err != nil {
				t.Fatal(err)
			}
		}
	}
	push(0, 10)
	n := c.leader(ctx, 1)
	behind := n.id%3 + 1
	has := func(want int) func() bool {
		return func() bool {
			b, _, err := c.nodes[behind-1].e.GetVersion(1, disk(r), 1)
			return err == nil && len(numbers(b)) == want
		}
	}
	await(ctx, t, "ten numbers everywhere", has(10))
	c.full[behind].Store(true)
	push(10, 40)
	if has(40)() || !has(10)() {
		t.Errorf("node %d has taken entries without room for them", behind)
	}
	c.full[behind].Store(false)
	await(ctx, t, "what was missed", has(40))
}

func await(ctx context.Context, t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("never: %s", what)
		}
	}
}
