package host_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/engine"
)

// smallDisk is an engine whose disk is full when it is told so, and which counts what is under way.
type smallDisk struct {
	*engine.Engine
	t     *testing.T
	full  *atomic.Bool
	under *atomic.Int64
	slow  *sync.Mutex // who has it holds writes up
}

func (d smallDisk) Enter(g kv.Growth, bytes, later int) error {
	if d.full.Load() && g == kv.Follows {
		return kv.ErrDiskFull
	}
	d.under.Add(int64(bytes))
	return d.Engine.Enter(g, bytes, later)
}

func (d smallDisk) Leave(bytes int) {
	if n := d.under.Add(-int64(bytes)); n < 0 {
		d.t.Errorf("%d bytes have left that have not entered", -n)
	}
	d.Engine.Leave(bytes)
}

func (d smallDisk) Apply(b engine.Batch, sync bool) {
	d.slow.Lock()
	defer d.slow.Unlock()
	d.Engine.Apply(b, sync)
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

// What a replica has taken counts until it is applied: while it waits for a turn, in the turn, and in the log
// until it is committed. All but the first was not, and a node on a full disk took several times what it had
// room for.
func TestTakenEntriesCount(t *testing.T) {
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
	behind := c.leader(ctx, 1).id%3 + 1
	under := &c.under[behind]
	zero := func() bool { return under.Load() == 0 }
	await(ctx, t, "nothing is under way", zero)
	c.slow[behind].Lock()
	push(10, 40)
	await(ctx, t, "what comes is counted", func() bool { return under.Load() > 2*30*64 })
	most := under.Load()
	push(40, 60)
	await(ctx, t, "what comes later, too", func() bool { return under.Load() > most+2*20*64 })
	c.slow[behind].Unlock()
	await(ctx, t, "all is applied", zero)
	has := func() bool {
		b, _, err := c.nodes[behind-1].e.GetVersion(1, disk(r), 1)
		return err == nil && len(numbers(b)) == 60
	}
	await(ctx, t, "sixty numbers", has)
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
