package txn_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/kvtest"
	"moka/kv/shardtest"
	"moka/txn"
	"moka/txn/txntest"
)

// The store below the simulation is kvtest.Mem, or real shards on a disk in memory: what Mem imitates in one step, a shard does in many.
// There a kill takes the whole node and leaves any beginning of what its log had not synced, proposals are refused, and leads are lost with
// a proposal under way, which the next leader has or has not.
//
// With yields, whoever evaluates a command is parked between its reads, before its guards and around its OnDurable functions, too.

// yielding parks the evaluation of commands at one in so many of its steps.
func yielding(oneIn uint32) func(*simulation) {
	return func(s *simulation) { s.yields = oneIn }
}

// onShards runs the simulation on real shards.
func onShards(s *simulation) { s.real = true }

// openStore makes the store; splits are its first tablets' boundaries.
func (s *simulation) openStore(coprocessor kv.Coprocessor, shards int, splits []kv.RowKey) {
	coprocessor = simCoprocessor{coprocessor, s}
	if !s.real {
		s.mem = kvtest.NewMem(kvtest.Options{
			Shards: shards, Splits: splits, Coprocessors: []kv.Coprocessor{coprocessor},
			Crash: true, StaleAnswers: s.stale,
			OnEvaluated: func(shard kv.ShardID, cmd kv.CommandID, req kv.Message) {
				s.park(&parkedCall{label: fmt.Sprintf("batch of shard %d for %s %x", shard, txn.CommandName(cmd), req.AppendTo(nil)), local: true})
			},
			OnSync: func(shard kv.ShardID, cmd kv.CommandID, req kv.Message) {
				s.park(&parkedCall{label: fmt.Sprintf("sync of shard %d for %s %x", shard, txn.CommandName(cmd), req.AppendTo(nil)), local: true})
			},
		})
		s.store = s.mem
		return
	}
	var err error
	s.node, err = shardtest.Open(shardtest.Options{
		Shards: shards + 1 + s.idle, Idle: 1 + s.idle, Splits: splits, Coprocessors: []kv.Coprocessor{coprocessor, notifyGroups{}},
		Turn: s.turn, StaleAnswers: s.stale,
		OnCopy: func(from, to kv.ShardHandle) {
			s.park(&parkedCall{label: fmt.Sprintf("copy from shard %d to %d", from.ID(), to.ID()), local: true, alone: []kv.ShardHandle{from, to}})
		},
	})
	if err != nil {
		panic(err)
	}
	s.store = s.client()
}

// client is the store as a client sees it: on real shards, through a cache of its own.
func (s *simulation) client() kv.Store {
	if s.node == nil {
		return s.mem
	}
	c, err := client.New(s.node, s.node, client.Options{Node: 1, Local: simHandler{s}, RetryFor: -1})
	if err != nil {
		panic(err)
	}
	return c
}

// simHandler is the node to its clients.
type simHandler struct{ s *simulation }

func (h simHandler) Handle(ctx context.Context, shard kv.ShardID, refs []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if h.s.split != nil {
		refs = slices.Clone(refs)
		h.s.mu.Lock()
		for i := range refs {
			for next := refs[i]; h.s.split[next]; {
				next.Generation++
				refs[i] = next
			}
		}
		h.s.mu.Unlock()
	}
	return h.s.node.Handle(ctx, shard, refs, cmd, req)
}

// splitsUnnoticed plants a mistake: who has routed a request before a split passes for one who has done it after.
func splitsUnnoticed(s *simulation) { s.split = map[kv.TabletRef]bool{} }

func (s *simulation) splitNode(row kv.RowKey) error {
	was, err := s.node.Lookup(context.Background(), row)
	if err != nil {
		return err
	}
	if err = s.node.Split(context.Background(), row); err == nil && s.split != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.split[kv.TabletRef{ID: was[0].ID, Generation: was[0].Generation}] = true
	}
	return err
}

// reader reads a shard from outside.
func (s *simulation) reader(id kv.ShardID) kv.Reader {
	if s.node == nil {
		return s.mem.Reader(id)
	}
	return s.node.Leader(id).Reader()
}

// simCallLabel is what names a call in its context.
type simCallLabel struct{}

// turn decides about a proposal.
func (s *simulation) turn(ctx context.Context, shard kv.ShardHandle, step shardtest.Step) shardtest.Fate {
	call := fmt.Sprint(ctx.Value(simCallLabel{}))
	s.mu.Lock()
	doubled := s.doubled[strings.TrimPrefix(call, "ghost of ")]
	s.mu.Unlock()
	fault := s.park(&parkedCall{
		label: fmt.Sprintf("%v of shard %d for %v", step, shard.ID(), call), doubled: doubled,
		local: true, proposal: step == shardtest.Proposed, writes: shard,
	})
	switch fault {
	case kvtest.Refuse:
		return shardtest.Refuse
	case kvtest.DropReply:
		return shardtest.Lose
	}
	return shardtest.Accept
}

// drawProposal picks what happens to a proposal.
func (s *simulation) drawProposal(p *parkedCall) kvtest.Fault {
	switch x := s.rng.IntN(100); {
	case x < 3 && !p.doubled: // "nothing happened" would be said of one copy and believed of both
		return kvtest.Refuse
	case x < 3+cmp.Or(s.losing, 1) && !s.restructuring:
		return kvtest.DropReply
	}
	return kvtest.Pass
}

// eligible leaves out whom a mutex of a shard would stop where the bubble does not see it: see package shardtest. The mutex of the simulation
// is held.
func (s *simulation) eligible() []*parkedCall {
	if s.node == nil {
		return s.parked
	}
	var hooked, writing []kv.ShardHandle
	for _, p := range s.parked {
		switch {
		case p.hook:
			hooked = append(hooked, p.writes)
			fallthrough
		case p.writes != nil:
			writing = append(writing, p.writes)
		}
	}
	return slices.DeleteFunc(slices.Clone(s.parked), func(p *parkedCall) bool {
		return p.writes != nil && !p.hook && slices.Contains(hooked, p.writes) || p.quiet && len(writing) > 0 ||
			slices.ContainsFunc(p.alone, func(h kv.ShardHandle) bool { return slices.Contains(writing, h) })
	})
}

// shakeNode changes real shards under their clients.
func (s *simulation) shakeNode() {
	row := account(s.rng.IntN(simAccounts)).Row
	shards, _ := s.store.Shards(context.Background())
	shard := shards[s.rng.IntN(len(shards))]
	what := s.rng.IntN(5)
	if s.moves {
		what = 2
	}
	if what == 4 {
		s.crash()
		return
	}
	if s.restructuring { // one at a time
		return
	}
	s.restructuring = true
	var label string
	var do func() error
	switch what {
	case 0:
		label, do = fmt.Sprintf("split at %s", row.Row()), func() error { return s.splitNode(row) }
	case 1:
		label, do = fmt.Sprintf("merge at %s", row.Row()), func() error { return s.node.Merge(context.Background(), row) }
	default:
		label, do = fmt.Sprintf("move %s to shard %d", row.Row(), shard), func() error { return s.node.Move(context.Background(), row, shard) }
	}
	go func() {
		s.park(&parkedCall{label: label, local: true, quiet: true})
		err := do() // it may be there already, or have nothing to join
		s.mu.Lock()
		s.restructuring = false
		s.trace = append(s.trace, fmt.Sprintf("%s: %v", label, err))
		s.mu.Unlock()
	}()
}

// crash kills the node. Of what was not synced a beginning is left.
func (s *simulation) crash() {
	s.checkImages()
	err := s.node.Crash(func(unsynced int) int {
		kept := s.rng.IntN(unsynced + 1)
		s.trace = append(s.trace, fmt.Sprintf("kill the node, and keep %d of %d", kept, unsynced))
		return kept
	})
	if err != nil {
		panic(err)
	}
	s.checkImages()
}

// checkImages compares memory and disk of the shards that nobody writes to at the moment.
func (s *simulation) checkImages() {
	shards, _ := s.store.Shards(context.Background())
	for _, id := range shards {
		if s.busy(s.node.Leader(id)) || !s.node.Led(id) || s.restructuring {
			continue
		}
		if err := s.node.CheckImages(id); err != nil {
			s.badImages = append(s.badImages, err)
		}
	}
}

func (s *simulation) busy(h kv.ShardHandle) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.parked, func(p *parkedCall) bool { return p.writes == h })
}

// elect gives shards without a leader one. It has what the last one did not live to log, or it has not.
func (s *simulation) elect() {
	shards, _ := s.store.Shards(context.Background())
	for _, id := range shards {
		if s.node.Led(id) || s.restructuring {
			continue
		}
		late := s.rng.IntN(2) == 0
		ok, err := s.node.Elect(id, late)
		if err != nil {
			panic(err)
		}
		if ok {
			s.trace = append(s.trace, fmt.Sprintf("shard %d has a new leader; what was under way is there: %v", id, late))
			if err := s.node.CheckImages(id); err != nil {
				s.badImages = append(s.badImages, err)
			}
		}
	}
}

// pace is how many steps are taken for each in which time passes: with yields a command takes many.
func (s *simulation) pace() int {
	if s.yields > 0 || s.real {
		return 16
	}
	return 8
}

// nap is how long nothing happens: on real shards now and then until who is under way must be taken for dead.
func (s *simulation) nap() time.Duration {
	if s.real && s.rng.IntN(20) == 0 {
		return 20 * time.Millisecond
	}
	return time.Duration(50+s.rng.IntN(950)) * time.Microsecond
}

// simCoprocessor lets the simulation into the evaluation of commands.
type simCoprocessor struct {
	kv.Coprocessor
	s *simulation
}

func (w simCoprocessor) Commands() []kv.Command {
	cs := w.Coprocessor.Commands()
	for i := range cs {
		c := cs[i]
		cs[i].Evaluate = func(e kv.Eval, req kv.Message) (kv.Message, error) {
			if c.ID == txn.CmdCollect {
				e = watchedEval{e, w.s}
			}
			if !w.s.real && w.s.yields == 0 {
				return c.Evaluate(e, req)
			}
			y := &yieldEval{Eval: e, s: w.s, label: fmt.Sprint(e.Context().Value(simCallLabel{}))}
			if c.Write {
				y.writes = e.Shard()
			}
			resp, err := c.Evaluate(y, req)
			if c.Write && w.s.real {
				// Each write stops here at the latest, so that none runs into an OnDurable function that is held up.
				w.s.park(&parkedCall{label: "end of " + y.label, local: true, yield: true, writes: y.writes})
			}
			return resp, err
		}
	}
	return cs
}

// yieldEval parks its command now and then.
type yieldEval struct {
	kv.Eval
	s      *simulation
	label  string
	writes kv.ShardHandle
	steps  int
}

// yield parks one in s.yields steps, which depends on nothing but seed, command and step.
func (y *yieldEval) yield(what string, hook bool) {
	if y.steps++; y.s.yields == 0 {
		return
	}
	label := fmt.Sprintf("%s %d of %s", what, y.steps, y.label)
	h := fnv.New32a()
	fmt.Fprint(h, y.s.seed, label)
	if h.Sum32()>>8%y.s.yields == 0 {
		y.s.park(&parkedCall{label: label, local: true, yield: true, writes: y.writes, hook: hook})
	}
}

func (y *yieldEval) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	y.yield("get", false)
	return y.Eval.Get(a, ts)
}

func (y *yieldEval) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	y.yield("latest", false)
	return y.Eval.Latest(a, max)
}

func (y *yieldEval) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(y, columns, max, found)
}

func (y *yieldEval) Iter(o kv.IterOptions) (kv.Iterator, error) {
	y.yield("iterator", false)
	return y.Eval.Iter(o)
}

func (y *yieldEval) Guard(a kv.Address, ts kv.Timestamp, value []byte) {
	y.yield("guard", false)
	y.Eval.Guard(a, ts, value)
}

func (y *yieldEval) OnDurable(f func()) {
	y.Eval.OnDurable(func() {
		y.yield("before durable", true)
		f()
		y.yield("behind durable", true)
	})
}

// lastLines are the end of a trace.
func (s *simulation) lastLines(n int) string {
	return strings.Join(s.trace[max(0, len(s.trace)-n):], "\n")
}

// worlds are the stores that TestSimulationYields runs on.
var worlds = map[string]func(seed uint64) []func(*simulation){
	"memory": func(uint64) []func(*simulation) { return []func(*simulation){yielding(3)} },
	"leads": func(seed uint64) []func(*simulation) {
		return []func(*simulation){changesOfLead, func(s *simulation) {
			if seed%2 == 0 {
				s.yields = 3
			}
			if s.calm = 70; seed%3 == 0 { // leads change, and hardly anything else does
				s.calm = 1000
			}
		}}
	},
	"shards": func(seed uint64) []func(*simulation) {
		return []func(*simulation){onShards, yielding(4), func(s *simulation) {
			if seed%2 == 0 { // after each kill memory is what the disk says: some live longer
				s.calm = 600
			}
			s.refusals = seed%3 != 0
		}}
	},
}

// simulateYields runs one seed in one of the worlds.
func simulateYields(t *testing.T, world string, seed uint64) (*simulation, []error) {
	o := txn.CoprocessorOptions{RangeFrom: 1}
	vary := rand.New(rand.NewPCG(seed, 1_000_001))
	if vary.IntN(2) == 0 {
		o.RecentSlots, o.HotBytes, o.ScanFrom = 1<<vary.IntN(3), 40, 2
	}
	return simulate(t, seed, txn.NewCoprocessor(o), append(worlds[world](seed), func(s *simulation) {
		s.autocommit, s.padded = 25*vary.IntN(4), vary.IntN(4) > 0
		if vary.IntN(4) == 0 {
			s.only = []int{0, 1, 7, 8, 9, 12, 13}
		}
	})...)
}

// TestSimulationYields: histories in which commands are interrupted between their reads, in memory and on real shards.
func TestSimulationYields(t *testing.T) {
	for name := range worlds {
		committed, seeds := 0, max(100, *simN/20)
		if *simN == 1 {
			seeds = 1
		}
		for i := range uint64(seeds) {
			seed := *simSeed + i
			synctest.Test(t, func(t *testing.T) {
				s, wrong := simulateYields(t, name, seed)
				for _, r := range s.history.Records() {
					if r.Outcome == txntest.Committed {
						committed++
					}
				}
				if len(wrong) > 0 {
					if *simN == 1 {
						t.Log(strings.Join(s.trace, "\n"))
						for _, r := range s.history.Records() {
							t.Logf("%s [%v, %v] outcome %d, reads %v, writes %v", r.Name, r.StartTS, r.CommitTS, r.Outcome, r.Reads, r.Writes)
						}
					}
					t.Errorf("%s, seed %d: %v", name, seed, errors.Join(wrong...))
				}
			})
		}
		t.Logf("%s: %d histories, %d transactions committed", name, seeds, committed)
		if committed < 4*seeds {
			t.Errorf("%s: the load is too tame", name)
		}
	}
}

// TestYieldsFound are histories that once went wrong: a doubled commit that came through when what it requires was there again, and
// one when a lock was gone, each after its first copy was refused; and a child whose parent was deleted between its look for the
// deleter's lock and that for the guard before it. And, on real shards, an asynchronous commit whose owner could not ask its primary in time,
// and took it for refused, when another had carried it there; in memory, a killed prewrite whose guard was put up in the shard's next life, in
// place of the lock of its first copy, and taken down with it.
func TestYieldsFound(t *testing.T) {
	for _, seed := range []uint64{50, 121, 2621} {
		synctest.Test(t, func(t *testing.T) {
			families := func(s *simulation) { s.only, s.calm = []int{7, 8}, 30 }
			o := txn.CoprocessorOptions{MaxRequires: 1024, RangeFrom: 1}
			if _, wrong := simulate(t, seed, txn.NewCoprocessor(o), yielding(4), families); len(wrong) > 0 {
				t.Errorf("seed %d: %v", seed, errors.Join(wrong...))
			}
		})
	}
	for seed, world := range map[uint64]string{4689: "shards", 16728: "memory"} {
		synctest.Test(t, func(t *testing.T) {
			if _, wrong := simulateYields(t, world, seed); len(wrong) > 0 {
				t.Errorf("%s, seed %d: %v", world, seed, errors.Join(wrong...))
			}
		})
	}
}
