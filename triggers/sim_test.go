package triggers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// The simulation runs writers and workers, each process with a bad network of its own, over a store
// whose tablets split and move and whose shards are killed, in fake time. Workers are killed, too, and
// others take their place.
//
//	account/i   ──observer 1──►  sum/s  ──observer 2──►  grand          (the sum of all accounts, kept by two observers in a row)
//	                └── log/1/account/i/start_ts      └── log/2/sum/s/start_ts
//
// What must hold when nothing moves any more: grand = Σ sum = Σ account; the log of each cell is a chain
// without a gap, an overlap or a run too many; every change lies in one link of it; nothing is left at rest.
//
//	go test ./triggers -run 'TestSimulation$' -sim.seed=N -sim.n=1
var (
	simSeed = flag.Uint64("sim.seed", 1, "first seed of the simulation")
	simN    = flag.Int("sim.n", 60, "number of simulated histories")
)

const (
	simAccounts = 6
	simSums     = 2
	logStart    = "log/"
)

type simulation struct {
	*world
	seed       uint64
	rng        *rand.Rand // of the director
	ignoreAcks bool
	flaky      bool // bodies fail now and then
	accounts   int
	sweepEvery time.Duration
}

// process is a client with a network of its own that can be killed.
type process struct {
	mortal *mortal
	faulty *kvtest.Faulty
	client *txn.Client
	worker *Worker
}

func (s *simulation) process(n int) *process {
	m := &mortal{Store: s.store}
	f := kvtest.NewFaulty(m, kvtest.Faults{
		Seed: s.seed<<8 + uint64(n), DropRequest: 0.01, DropReply: 0.02, Duplicate: 0.02, Delay: 0.1,
		Refuse: 0.01, MaxDelay: 20 * time.Millisecond,
	})
	c, err := txn.NewClient(f, s.clock, txn.Options{LockTTL: 500 * time.Millisecond})
	if err != nil {
		s.t.Fatal(err)
	}
	return &process{mortal: m, faulty: f, client: c}
}

func (p *process) end() {
	if p.worker != nil {
		p.worker.Close()
	}
	_ = p.client.Close()
	_ = p.faulty.Close()
}

// kill ends a process as kill -9 does: it says nothing more to anybody.
func (p *process) kill() {
	p.mortal.dead.Store(true)
	p.end()
}

func (s *simulation) newWorker(n int) *process {
	p := s.process(n)
	p.worker = NewWorker(p.client, p.faulty, fmt.Sprint("worker", n), Options{
		Runners: 3, Lease: 200 * time.Millisecond, SweepEvery: s.sweepEvery,
		SweepAge: 100 * time.Millisecond,
	})
	p.worker.ignoreAcks = s.ignoreAcks
	p.worker.Register(s.adder(1, func(row string) string {
		return "sum/" + string('0'+(row[len(row)-1]-'0')%simSums)
	}, 2))
	p.worker.Register(s.adder(2, func(string) string { return "grand" }))
	p.worker.Start()
	return p
}

// adder is an observer that adds what a cell has changed by to another cell.
func (s *simulation) adder(id ObserverID, target func(row string) string, notify ...ObserverID) Observer {
	return Observer{ID: id, Name: fmt.Sprint("adder", id), Attempts: 1000, Backoff: 10 * time.Millisecond,
		Run: func(ctx context.Context, tx *txn.Txn, e Event) error {
			row := string(e.Column.Row.Row())
			now, _, err := tx.Get(ctx, e.Column)
			if err != nil {
				return err
			}
			before, _, err := e.Previous(ctx)
			if err != nil {
				return err
			}
			start, err := tx.StartTS(ctx)
			if err != nil {
				return err
			}
			a, _ := strconv.Atoi(string(now))
			b, _ := strconv.Atoi(string(before))
			tx.Put(col(fmt.Sprintf("%s%d/%s/%020d", logStart, id, row, uint64(start))),
				[]byte(fmt.Sprint(uint64(e.PreviousTS))), txn.WriteOptions{})
			if s.flaky && rand.IntN(20) == 0 {
				return errors.New("the body fails now and then")
			}
			return count(ctx, tx, target(row), a-b, notify...)
		}}
}

// write changes one or two accounts.
func (s *simulation) write(ctx context.Context, p *process, rng *rand.Rand) {
	tx := p.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	var rows []string
	for range 1 + rng.IntN(2) {
		rows = append(rows, fmt.Sprint("account/", rng.IntN(s.accounts)))
	}
	for _, r := range rows {
		if count(ctx, tx, r, 1+rng.IntN(100), 1) != nil {
			return
		}
	}
	_, _ = tx.Commit(ctx) // committed or not: the store's history tells
}

// direct is what happens to the store and to workers while writers write.
func (s *simulation) direct(workers []*process) []*process {
	rows := []string{"account/0", "account/2", "account/4", "grand", "log/1/account/3", "sum/0", "sum/1"}
	n := len(workers)
	for range 12 {
		time.Sleep(time.Duration(s.rng.IntN(40)) * time.Millisecond)
		row := col(rows[s.rng.IntN(len(rows))]).Row
		switch s.rng.IntN(5) {
		case 0:
			s.mem.Split(row)
		case 1:
			s.mem.Move(row, kv.ShardID(1+s.rng.IntN(3)))
		case 2:
			s.mem.Restart(kv.ShardID(1 + s.rng.IntN(3)))
		case 3:
			i := s.rng.IntN(len(workers))
			workers[i].kill()
			n++
			workers[i] = s.newWorker(100 + n)
		case 4: // a quiet moment
		}
	}
	return workers
}

func simulate(t *testing.T, seed uint64, ignoreAcks bool) (wrong []string) {
	s := &simulation{seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), ignoreAcks: ignoreAcks, flaky: true,
		accounts: simAccounts, sweepEvery: 50 * time.Millisecond}
	s.world = newWorld(t, kvtest.Options{
		Shards: 3, Splits: []kv.RowKey{col("account/3").Row, col("grand").Row, col("log/2").Row,
			col("sum/1").Row}, Crash: true,
		SyncDelay: time.Duration(s.rng.IntN(3)) * 100 * time.Microsecond,
	})
	workers := []*process{s.newWorker(100), s.newWorker(101)}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
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
			for range 10 {
				s.write(ctx, p, rng)
				time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
			}
			if i == 0 {
				p.mortal.dead.Store(true) // in the midst of its secondaries, perhaps
			}
			p.end()
		})
	}
	workers = s.direct(workers)
	writers.Wait()
	time.Sleep(2 * time.Second) // for orphaned locks to expire
	s.until("nothing left to do", 10*time.Minute, func() bool {
		time.Sleep(200 * time.Millisecond)
		a, b := s.backlog()
		return a+b == 0
	})
	for _, p := range workers {
		p.end()
	}
	stop()
	background.Wait()
	if _, err := s.client.ResolveOrphans(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	return s.check()
}

// check reads everything and returns what is wrong.
func (s *simulation) check() (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	sums := map[string]int{}
	logs := map[string][][2]kv.Timestamp{} // by observer/row: previous, start; in order of start
	sc := s.client.Begin(txn.TxnOptions{ReadOnly: true}).Scan(context.Background(),
		txn.ScanOptions{Span: kv.Span{Start: col("").Row}})
	defer sc.Close()
	for sc.Next() {
		row := string(sc.Column().Row.Row())
		n, err := strconv.ParseUint(string(sc.Value()), 10, 64)
		if err != nil {
			bad("%s is %q", row, sc.Value())
		}
		if rest, ok := strings.CutPrefix(row, logStart); ok {
			i := strings.LastIndexByte(rest, '/')
			start, _ := strconv.ParseUint(rest[i+1:], 10, 64)
			logs[rest[:i]] = append(logs[rest[:i]], [2]kv.Timestamp{kv.Timestamp(n), kv.Timestamp(start)})
			continue
		}
		sums[strings.SplitN(row, "/", 2)[0]] += int(n)
	}
	if err := sc.Err(); err != nil {
		bad("%v", err)
	}
	if sums["account"] != sums["sum"] || sums["sum"] != sums["grand"] {
		bad("the accounts' sum is %d, the first observer's %d, the second's %d", sums["account"], sums["sum"],
			sums["grand"])
	}
	if sums["account"] == 0 {
		bad("nothing happened")
	}
	for cell, runs := range logs {
		for i := 1; i < len(runs); i++ {
			if runs[i][0] != runs[i-1][1] {
				bad("%s: a run compares %v with %v, the one before ended at %v", cell, runs[i][1], runs[i][0],
					runs[i-1][1])
			}
		}
	}
	for cell, changes := range s.history() {
		runs := logs[cell]
		for i, run := range runs {
			if !slices.ContainsFunc(changes, func(ts kv.Timestamp) bool {
				return run[0] < ts && ts <= run[1]
			}) {
				bad("%s: run %d, from %v to %v, is about no change", cell, i, run[0], run[1])
			}
		}
		for _, ts := range changes {
			n := 0
			for _, run := range runs {
				if run[0] < ts && ts <= run[1] {
					n++
				}
			}
			if n != 1 {
				bad("%s: the change at %v was observed by %d runs", cell, ts, n)
			}
		}
	}
	for _, line := range strings.Split(s.cells(), "\n") {
		if strings.HasPrefix(line, "notify") || strings.HasPrefix(line, "failed") {
			bad("left at rest: %s", line)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// history reads all commits of observed cells out of the write records, by observer and row.
func (s *simulation) history() map[string][]kv.Timestamp {
	h := map[string][]kv.Timestamp{}
	ids, _ := s.store.Shards(context.Background())
	for _, id := range ids {
		s.walk(s.reader(id), kv.GroupTxnWrite, 0, func(c kv.Column, v kv.Version) {
			row := string(c.Row.Row())
			switch {
			case strings.HasPrefix(row, "account/"):
				h["1/"+row] = append(h["1/"+row], v.Timestamp)
			case strings.HasPrefix(row, "sum/"):
				h["2/"+row] = append(h["2/"+row], v.Timestamp)
			}
		})
	}
	return h
}

func TestSimulation(t *testing.T) {
	n := *simN
	if testing.Short() {
		n = min(n, 20)
	}
	for i := range n {
		seed := *simSeed + uint64(i)
		synctest.Test(t, func(t *testing.T) {
			for _, w := range simulate(t, seed, false) {
				t.Errorf("seed %d: %s", seed, w)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// The simulation must notice if workers do not ask whether a change is acknowledged.
func TestSimulationCatchesIgnoredAcks(t *testing.T) {
	caught := 0
	for seed := uint64(1); seed <= 30; seed++ {
		synctest.Test(t, func(t *testing.T) {
			if len(simulate(t, seed, true)) > 0 {
				caught++
			}
		})
	}
	if caught == 0 {
		t.Error("a worker that ignores acknowledgements passes the simulation")
	}
	t.Logf("caught in %d of 30 histories", caught)
}

// An observer's writes notify another. The workers' process loses the reply of, or does not send, its n-th
// request, or is killed with it, for each n: the end is always the same.
func TestChainSurvivesEachStep(t *testing.T) {
	for name, fault := range map[string]kvtest.Fault{"lost reply": kvtest.DropReply,
		"lost request": kvtest.DropRequest, "refused": kvtest.Refuse, "killed": kvtest.Pass} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				reached := false
				synctest.Test(t, func(t *testing.T) { reached = chain(t, name, fault, n) })
				if !reached || t.Failed() {
					t.Logf("%d steps", n-1)
					if n < 8 {
						t.Errorf("only %d steps; the test does not test", n-1)
					}
					return
				}
			}
		})
	}
}

func chain(t *testing.T, name string, fault kvtest.Fault, n int) (reached bool) {
	s := &simulation{seed: uint64(n)}
	s.world = newWorld(t, kvtest.Options{Shards: 3,
		Splits: []kv.RowKey{col("grand").Row, col("log").Row, col("sum").Row}, Crash: true})
	m := &mortal{Store: s.mem}
	calls := 0
	var mu sync.Mutex
	f := kvtest.NewFaulty(m, kvtest.Faults{
		Hook: func(_ kv.ShardID, cmd kv.CommandID, req kv.Message) kvtest.Fault {
			if r, ok := req.(*fetchRequest); ok && r.Credits > 0 || cmd == commandSweep {
				return kvtest.Pass // not a step of a run
			}
			mu.Lock()
			defer mu.Unlock()
			if calls++; calls != n {
				return kvtest.Pass
			}
			reached = true
			if name == "killed" {
				m.dead.Store(true)
			}
			return fault
		}})
	c, err := txn.NewClient(f, s.clock, txn.Options{LockTTL: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{mortal: m, faulty: f, client: c}
	p.worker = NewWorker(c, f, "first", Options{})
	observers := []Observer{s.adder(1, func(string) string {
		return "sum/0"
	}, 2), s.adder(2, func(string) string { return "grand" })}
	for _, o := range observers {
		p.worker.Register(o)
	}
	p.worker.Start()
	tx := s.client.Begin(txn.TxnOptions{})
	tx.Put(col("account/1"), []byte("7"), txn.WriteOptions{Observers: []ObserverID{1}})
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if m.dead.Load() {
		p.end()
		q := s.worker("second", Options{}, observers...)
		defer q.Close()
	} else {
		defer p.end()
	}
	s.until("grand", 10*time.Minute, func() bool {
		time.Sleep(time.Second)
		_, _ = s.client.ResolveOrphans(context.Background(), 600*time.Millisecond)
		a, b := s.backlog()
		return a+b == 0 && s.get("grand") == "7"
	})
	_, _ = s.client.ResolveOrphans(context.Background(), 0)
	for _, w := range s.check() {
		t.Errorf("step %d: %s", n, w)
	}
	return reached
}
