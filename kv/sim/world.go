package sim

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"moka/kv"
	"moka/kv/raft"
)

// Options of a run. What is zero is drawn from the seed.
type Options struct {
	Seed uint64
	// Lying makes one node's disk lose what it has synced: a run that has to be seen to fail.
	Lying bool
	// StoppedClocks makes processes stand still together with their clocks: against the assumption of leases.
	StoppedClocks bool
	// Leaseless makes all reads ask a quorum.
	Leaseless bool
	// Members has nodes without replicas, to which replicas come while others go.
	Members bool
	// Alone begins with one member, as a directory of one node that becomes a cluster; others come as of
	// Members.
	Alone bool
	// FullDisks makes the disk of one node after the other full for a while, and logs short.
	FullDisks bool
	// Verbose keeps a readable trace.
	Verbose bool
}

// Result is what a run came to.
type Result struct {
	// Violation says which promise was broken, and how; empty if none.
	Violation string
	Hash      uint64 // of everything that happened, in order
	Events    int
	Stats     Stats
	Trace     string
}

// Stats count what happened, so that a test can see that something did.
type Stats struct {
	Acked, Reads, Unknown, Leaderships, Crashes, Transfers, Leaseless, Truncated int
	Installs, Removed, Full                                                      int
}

// Add adds another run's counts.
func (s *Stats) Add(o Stats) {
	s.Acked += o.Acked
	s.Reads += o.Reads
	s.Unknown += o.Unknown
	s.Leaderships += o.Leaderships
	s.Crashes += o.Crashes
	s.Transfers += o.Transfers
	s.Leaseless += o.Leaseless
	s.Truncated += o.Truncated
	s.Installs += o.Installs
	s.Removed += o.Removed
	s.Full += o.Full
}

// event is something that happens at a moment; those of one moment happen in the order in which they were made.
type event struct {
	at  time.Duration
	seq int
	f   func()
}

func (a event) before(b event) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// world is one run: its time, its chance, and all who live in it.
type world struct {
	o       Options
	rng     *rand.Rand
	now     time.Duration // true time, which nobody in the world can read
	queue   []event       // a heap
	seq     int
	events  int
	hash    *xxhash.Digest
	trace   strings.Builder
	failure string
	stats   Stats

	et      time.Duration
	driver  raft.Options
	nodes   []*node // by id less one
	shards  []kv.ShardID
	clients []*client
	net     network
	check   *checker
	oracle  uint64
	healed  bool
	// voted and campaigned, if set, are told of votes, and of who asks for them, before they leave.
	voted      func(voter, candidate *node)
	campaigned func(candidate *node)
	// pace is how long clients pause, gaps how often a command stands still in the middle.
	pace time.Duration
	gaps float64
	// reading: nearly all that clients do is read.
	reading bool
}

// violation ends a run from anywhere below it.
type violation string

func (w *world) fail(format string, args ...any) {
	panic(violation(fmt.Sprintf("at %v: %s", w.now, fmt.Sprintf(format, args...))))
}

// note makes something part of the run's trace.
func (w *world) note(what string, numbers ...uint64) {
	var b [8]byte
	_, _ = w.hash.WriteString(what)
	binary.BigEndian.PutUint64(b[:], uint64(w.now))
	_, _ = w.hash.Write(b[:])
	for _, n := range numbers {
		binary.BigEndian.PutUint64(b[:], n)
		_, _ = w.hash.Write(b[:])
	}
	if w.o.Verbose {
		fmt.Fprintf(&w.trace, "%12v %s %v\n", w.now, what, numbers)
	}
}

// after makes f happen.
func (w *world) after(d time.Duration, f func()) {
	w.seq++
	e := event{w.now + max(d, 0), w.seq, f}
	q := append(w.queue, e)
	i := len(q) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !e.before(q[p]) {
			break
		}
		q[i] = q[p]
		i = p
	}
	q[i] = e
	w.queue = q
}

func (w *world) pop() event {
	q := w.queue
	top, last := q[0], q[len(q)-1]
	q[len(q)-1] = event{}
	q = q[:len(q)-1]
	for i := 0; len(q) > 0; {
		c := 2*i + 1
		if c+1 < len(q) && q[c+1].before(q[c]) {
			c++
		}
		if c >= len(q) || !q[c].before(last) {
			q[i] = last
			break
		}
		q[i] = q[c]
		i = c
	}
	w.queue = q
	return top
}

// run lets the world go on until a moment, or until done says so.
func (w *world) run(until time.Duration, done func() bool) bool {
	for len(w.queue) > 0 && w.queue[0].at <= until {
		e := w.pop()
		w.now = e.at
		w.events++
		e.f()
		if done != nil && w.events%32 == 0 && done() {
			return true
		}
	}
	w.now = max(w.now, until)
	return done != nil && done()
}

// chance is true with probability p.
func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// between draws a time, small ones as likely as large ones.
func (w *world) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	f := w.rng.Float64()
	return lo + time.Duration(f*f*float64(hi-lo))
}

// next is the oracle: it is not what is examined here, so it is always there and always right.
func (w *world) next() uint64 {
	w.oracle += 10
	return w.oracle
}

// Run plays one history. The caller must have seeded crypto/rand with the same seed, from which raft draws its election timeouts.
func Run(o Options) (r Result) {
	o.Members = o.Members || o.Alone
	w := &world{o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x6d6f6b61)), hash: xxhash.New(), oracle: 1000}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case violation:
			w.failure = string(p)
		default:
			w.failure = fmt.Sprintf("at %v: panic: %v", w.now, p)
			if !strings.HasPrefix(fmt.Sprint(p), "raft: ") {
				panic(p) // a fault of the simulator itself
			}
		}
		r = Result{Violation: w.failure, Hash: w.hash.Sum64(), Events: w.events, Stats: w.stats, Trace: w.trace.String()}
	}()
	w.build()
	n := newNemesis(w)
	if o.Members {
		n.changeMembers()
	}
	if o.FullDisks {
		n.fillDisks()
	}
	for _, c := range w.clients {
		c.start()
	}
	w.run(40*w.et, nil)
	n.heal()
	w.settle()
	w.check.atTheEnd()
	return r
}

// build draws the world's constants and puts everybody into it.
func (w *world) build() {
	pick := func(ds ...time.Duration) time.Duration { return ds[w.rng.IntN(len(ds))] }
	w.et = pick(200*time.Millisecond, 500*time.Millisecond, time.Second)
	w.driver = raft.Options{
		ElectionTimeout: w.et, Leaseless: w.o.Leaseless || w.chance(0.1),
		TruncateEntries: []uint64{2, 20, 200}[w.rng.IntN(3)], TruncateBytes: 1 << 20,
		CacheBytes: []int{1, 2000, 1 << 20}[w.rng.IntN(3)], UncommittedBytes: []uint64{2000, 1 << 20}[w.rng.IntN(2)],
	}
	w.pace, w.gaps = pick(w.et/4, w.et/4, 3*w.et), []float64{0.01, 0.1}[w.rng.IntN(2)]
	w.reading = w.chance(0.25)
	members := []int{3, 3, 3, 5}[w.rng.IntN(4)]
	if w.o.Alone {
		members = 1
	}
	for i := range 1 + w.rng.IntN(2) {
		w.shards = append(w.shards, kv.ShardID(i+1))
	}
	w.check = newChecker(w)
	var voters, all []uint64
	for i := range members {
		voters = append(voters, uint64(i+1))
	}
	if all = voters; w.o.Members {
		all = append(slices.Clone(voters), uint64(members+1), uint64(members+2))
		if w.o.Alone {
			all = append(all, uint64(members+3))
		}
		w.driver.KeepBytes = []int{500, 1 << 20}[w.rng.IntN(2)]
	}
	if w.o.FullDisks {
		w.driver.KeepBytes = 500
	}
	w.net.init(w, len(all))
	for _, id := range all {
		n := &node{w: w, id: id, disk: newDisk(), rate: 0.95 + 0.1*w.rng.Float64()}
		var b batch
		for _, s := range w.shards {
			if slices.Contains(voters, id) {
				raft.Bootstrap(&b, s, voters)
				numbered{replica: id}.put(&b, n, s)
			}
		}
		n.disk.sync(n.disk.apply(b))
		w.nodes = append(w.nodes, n)
	}
	if w.o.Lying {
		w.nodes[w.rng.IntN(members)].disk.lying = 1 + w.rng.IntN(40)
	}
	for _, n := range w.nodes {
		n.start()
		if w.o.Members {
			n.watch()
		}
	}
	for i := range 3 + w.rng.IntN(4) {
		w.clients = append(w.clients, newClient(w, i+1))
	}
}

// settle is the time after all faults: everything must come to rest within it, in the same state everywhere.
func (w *world) settle() {
	w.healed = true
	if !w.run(w.now+30*w.et, w.rested) {
		w.fail("liveness: %d election timeouts after healing %s", 30, w.unrest())
	}
}

func (w *world) rested() bool { return w.unrest() == "" }

// unrest says what is still going on.
func (w *world) unrest() string {
	for _, c := range w.clients {
		if !c.idle {
			return fmt.Sprintf("client %d is waiting for %v", c.id, c.op)
		}
	}
	for _, s := range w.shards {
		leads := 0
		if why := w.membersRest(s); why != "" {
			return fmt.Sprintf("shard %d: %s", s, why)
		}
		rs := w.present(s)
		first := rs[0]
		for _, r := range rs {
			n := r.n
			if r.lead != nil {
				leads++
				if why := r.lead.unrest(); why != "" {
					return fmt.Sprintf("shard %d, node %d: %s", s, n.id, why)
				}
			}
			if len(r.strays) > 0 {
				return fmt.Sprintf("shard %d, node %d: guards that nobody takes away", s, n.id)
			}
			if r.applied != first.applied || r.chain != first.chain {
				return fmt.Sprintf("shard %d: node %d has applied %d, node %d %d", s, n.id, r.applied,
					first.n.id, first.applied)
			}
		}
		if leads != 1 {
			return fmt.Sprintf("shard %d has %d leaderships", s, leads)
		}
	}
	return ""
}
