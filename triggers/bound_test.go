package triggers

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/kv/shardtest"
	"moka/txn"
)

// watched notes what a coprocessor opens on shards.
type watched struct {
	*coprocessor
	mu    sync.Mutex
	ready map[kv.ShardID]*ready
}

func (c *watched) OpenShard(s kv.ShardHandle) (any, error) {
	st, err := c.coprocessor.OpenShard(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ready[s.ID()] = st.(*ready)
	return st, err
}

// bounds fails if a shard has more in memory than it may. Nothing runs.
func (c *watched) bounds(t *testing.T, n *shardtest.Node) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.ready {
		if err := n.CheckImages(id); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		for o, q := range r.mu.queues {
			// What has waited, or been leased, is queued again whatever the bound.
			if len(q.byAge) > 3*c.bound || len(q.timed) > 2*c.bound {
				t.Errorf("shard %d, observer %d: %d queued, %d waiting or leased", id, o, len(q.byAge),
					len(q.timed))
			}
		}
		r.mu.Unlock()
	}
}

// TestBoundedBacklog is the simulation on real shards that hold next to nothing in memory: of many more
// changes that wait than a shard may hold each has one run that commits, while tablets split and move, the
// node is killed, and workers are; and what is in memory never exceeds the bound. There is no backstop.
//
//	go test ./triggers -run 'TestBoundedBacklog$' -sim.seed=N -sim.n=1
func TestBoundedBacklog(t *testing.T) {
	spilled := 0
	for seed := *simSeed; seed < *simSeed+uint64(*simN)/2+1; seed++ {
		synctest.Test(t, func(t *testing.T) { spilled += boundedBacklog(t, seed) })
		if t.Failed() {
			t.Fatalf("go test ./triggers -run 'TestBoundedBacklog$' -sim.n=1 -sim.seed=%d", seed)
		}
	}
	if spilled == 0 {
		t.Error("nothing was ever on disk alone; the test does not test")
	}
}

func boundedBacklog(t *testing.T, seed uint64) (spilled int) {
	s := &simulation{seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), flaky: true, accounts: 60,
		sweepEvery: 1000 * time.Hour}
	c := &watched{coprocessor: &coprocessor{now: time.Now, bound: 4, notifyMost: 4, metaMost: 4},
		ready: map[kv.ShardID]*ready{}}
	s.world = newRealWorld(t, shardtest.Options{Shards: 3, Coprocessors: []kv.Coprocessor{c},
		Splits: []kv.RowKey{col("account/3").Row, col("grand").Row, col("log/2").Row, col("sum/1").Row}})
	ctx, stop := context.WithCancel(context.Background())
	var background, writers sync.WaitGroup
	background.Go(func() { // what a node does
		for pause(ctx, 100*time.Millisecond) {
			// the next round finds what this one missed
			_, _ = s.client.ResolveOrphans(ctx, 600*time.Millisecond)
		}
	})
	for i := range 3 {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(10+i)))
			p := s.process(i)
			defer p.end()
			for range 40 {
				s.write(ctx, p, rng)
				time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			}
		})
	}
	time.Sleep(time.Duration(s.rng.IntN(500)) * time.Millisecond)
	workers := []*process{s.newWorker(100), s.newWorker(101)}
	for n := range 14 {
		time.Sleep(time.Duration(s.rng.IntN(60)) * time.Millisecond)
		synctest.Wait()
		c.bounds(t, s.node)
		spilled += s.spilled()
		s.disturb(workers, n)
	}
	writers.Wait()
	time.Sleep(2 * time.Second) // for orphaned locks to expire
	s.until("nothing left to do", 10*time.Minute, func() bool {
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		c.bounds(t, s.node)
		bs, err := Backlogs(ctx, s.store)
		sum := uint64(0)
		for _, b := range bs {
			sum += b.Waiting + b.Parked
		}
		return err == nil && sum == 0
	})
	for _, p := range workers {
		p.end()
	}
	stop()
	background.Wait()
	if _, err := s.client.ResolveOrphans(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	for _, w := range s.check() {
		t.Error(w)
	}
	return spilled
}

// disturb is one thing that happens to the node, or to a worker.
func (s *simulation) disturb(workers []*process, n int) {
	rows := []string{"account/0", "account/2", "account/31", "account/5", "grand", "log/1/account/3", "sum/0"}
	row := col(rows[s.rng.IntN(len(rows))]).Row
	ctx := context.Background()
	switch s.rng.IntN(6) {
	case 0: // it is refused where there is a boundary already
		_ = s.node.Split(ctx, row)
	case 1, 2: // or where it is already
		_ = s.node.Move(ctx, row, kv.ShardID(1+s.rng.IntN(3)))
	case 3:
		if err := s.node.Crash(func(unsynced int) int { return s.rng.IntN(unsynced + 1) }); err != nil {
			s.t.Fatal(err)
		}
	case 4:
		i := s.rng.IntN(len(workers))
		workers[i].kill()
		workers[i] = s.newWorker(200 + n)
	case 5: // a quiet moment
	}
}

// spilled counts the runs of notifications that have entries on disk alone.
func (s *simulation) spilled() (n int) {
	for id := kv.ShardID(1); id <= 3; id++ {
		table := s.node.Leader(id).InMemory(kv.GroupNotify)
		n += len(table.(interface {
			Spills() map[uint32]kv.Timestamp
		}).Spills())
	}
	return n
}

// TestPassMeetsCorrectedRows: a parked change that a newer one has come to is delivered by a pass, as one
// since the older.
func TestPassMeetsCorrectedRows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		first := w.put("x", "1", 1)
		err := sendSettle(t.Context(), w.mem,
			&settleRequest{Kind: settlePark, Observer: 1, Column: col("x"), UpTo: first, Error: "no"})
		if err != nil {
			t.Fatal(err)
		}
		second := w.put("x", "2", 1)
		w.mem.Restart(1) // what is delivered is what a pass finds
		var got Event
		w.worker("w", Options{SweepEvery: 1000 * time.Hour},
			Observer{ID: 1, Run: func(_ context.Context, _ *txn.Txn, e Event) error { got = e; return nil }})
		w.drained(time.Minute)
		if got.CommitTS != second || got.PreviousTS != first-1 {
			t.Errorf("a run for what came between %v and %v, want %v and %v", got.PreviousTS,
				got.CommitTS, first-1, second)
		}
	})
}
