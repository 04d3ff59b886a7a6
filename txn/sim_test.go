package txn_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/kv/shardtest"
	"moka/txn"
	"moka/txn/txntest"
)

// The simulator runs whole clients against the store in memory inside a bubble of fake time. Every request is parked; when
// nothing moves any more, a seeded generator picks whose request goes on, or is lost, or whose answer is, or is done twice, or
// takes its client with it; or it splits, moves or kills a part of the store. The same seed does the same again:
//
//	go test ./txn -run 'TestSimulation$' -sim.seed=N -sim.n=1 -v

var (
	simSeed = flag.Uint64("sim.seed", 1, "first seed of the simulation")
	simN    = flag.Int("sim.n", simSeeds(), "number of simulated histories; default 2000, or MOKA_SIM_SEEDS")
)

func simSeeds() int {
	if n, err := strconv.Atoi(os.Getenv("MOKA_SIM_SEEDS")); err == nil && n > 0 {
		return n
	}
	return 2000
}

// simulation is one seeded run.
type simulation struct {
	seed    uint64
	rng     *rand.Rand
	store   kv.Store // of whoever opens and settles
	mem     *kvtest.Mem
	node    *shardtest.Node // instead of mem
	clock   *txntest.Clock
	history txntest.History
	trace   []string
	badSums []string
	// repeat, if set, makes every so many-th timestamp one that was handed out before.
	repeat, ticks int
	// only, if set, is what clients do, by their case in run; calm, how rarely the store changes under them.
	only    []int
	calm    int
	last    kv.Timestamp
	removed []txntest.StoredVersion // by garbage collection
	// autocommit is how many of a hundred transactions are single statements; padded, that values have all lengths.
	autocommit int
	padded     bool
	// lists, if set, is what clients fill instead of the history that knows timestamps.
	lists *txntest.ListHistory
	// real and yields are set by onShards and yielding.
	real      bool
	yields    uint32
	badImages []error
	split     map[kv.TabletRef]bool // see splitsUnnoticed
	idle      int                   // shards that have no tablet at first, beside one
	moves     bool                  // real shards are not changed otherwise
	refusals  bool                  // proposals are refused, and leads lost
	// leads, unless nil, draws changes of lead in memory: beside the rest, which draws as it would without.
	leads  *rand.Rand
	late   [2]int // proposals of leaderships that were over: that never made it, and that were applied
	losing int    // percent of proposals of real shards with which the lead is lost; default 1
	stale  bool   // see kvtest.Options.StaleAnswers

	mu      sync.Mutex
	metrics []txn.Metrics // of the clients that have ended
	started bool          // until then nothing is parked
	parked  []*parkedCall
	running int             // clients that have not ended
	doubled map[string]bool // calls, by label
	// restructuring: a tablet of real shards is about to be split, merged or moved.
	restructuring bool
}

type parkedCall struct {
	label  string
	client *simClient
	ghost  bool // a duplicate: nobody waits for it
	local  bool // not a message: it cannot be lost
	held   int  // steps that it stays where it is
	// Evaluations that yield, and what real shards do: proposals, which can be refused; the shard in which a write is under way,
	// perhaps within OnDurable; the shards in which nothing may be under way when it goes on, or whether that is so for all.
	yield, proposal, hook, quiet, doubled bool
	writes                                kv.ShardHandle
	alone                                 []kv.ShardHandle
	resume                                chan kvtest.Fault
}

// simClient is one client's view of the store.
type simClient struct {
	kv.Store
	s      *simulation
	id     int
	ctx    context.Context
	kill   context.CancelFunc
	killed bool
	vary   *rand.Rand // beside the generator of what it does, so that that does the same whatever varies
}

const (
	simAccounts = 6
	simBalance  = 100
)

// park waits for the scheduler. Labels, not arrival, order what is parked, as goroutines arrive in any order.
func (s *simulation) park(p *parkedCall) kvtest.Fault {
	p.resume = make(chan kvtest.Fault)
	s.mu.Lock()
	if !s.started || p.client != nil && p.client.killed && !p.ghost {
		s.mu.Unlock()
		return kvtest.Pass
	}
	s.parked = append(s.parked, p)
	s.mu.Unlock()
	return <-p.resume
}

// simTxnName tells the labels of a transaction from those of its client's background work.
type simTxnName struct{}

// Next makes a client's view of the clock: whose turn it is to get a timestamp is the scheduler's choice, too.
func (c *simClient) Next(ctx context.Context) (kv.Timestamp, error) {
	c.s.park(&parkedCall{label: fmt.Sprintf("client %d clock for %v", c.id, ctx.Value(simTxnName{})), client: c, local: true})
	return c.s.tick(ctx)
}

func (s *simulation) tick(ctx context.Context) (kv.Timestamp, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ticks++; s.repeat > 0 && s.ticks%s.repeat == 0 && s.last != 0 {
		return s.last, nil
	}
	ts, err := s.clock.Next(ctx)
	if err == nil {
		s.last = ts
	}
	return ts, err
}

func (c *simClient) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	label := fmt.Sprintf("client %d %s shard %d for %v", c.id, txn.CommandName(cmd), shard, ctx.Value(simTxnName{}))
	if cmd != txn.CmdSeed { // whose incarnation is random
		label += fmt.Sprintf(" %x", req.AppendTo(nil))
	}
	fault := c.s.park(&parkedCall{label: label, client: c})
	c.s.mu.Lock()
	killed := c.killed
	c.s.mu.Unlock()
	if killed {
		return nil, kv.Errorf(kv.CodeClosed, "sim", "client %d was killed", c.id)
	}
	switch fault {
	case kvtest.DropRequest:
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, "sim", "request lost")
	case kvtest.Refuse:
		return nil, kv.Errorf(kv.CodeUnavailable, "sim", "refused")
	case kvtest.Duplicate:
		c.s.mu.Lock()
		c.s.doubled[label] = true
		c.s.mu.Unlock()
		go func() {
			if c.s.park(&parkedCall{label: "ghost of " + label, client: c, ghost: true}) != kvtest.DropRequest {
				_, _ = c.Store.Call(context.WithValue(context.Background(), simCallLabel{}, "ghost of "+label), shard, tablets, cmd, req)
			}
		}()
	}
	resp, err := c.Store.Call(context.WithValue(ctx, simCallLabel{}, label), shard, tablets, cmd, req)
	if fault == kvtest.DropReply {
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, "sim", "answer lost")
	}
	return resp, err
}

// schedule drives the simulation until all clients have ended and no message is under way.
func (s *simulation) schedule() {
	for step := 0; ; step++ {
		synctest.Wait()
		s.mu.Lock()
		slices.SortFunc(s.parked, func(a, b *parkedCall) int { return strings.Compare(a.label, b.label) })
		eligible, running := s.eligible(), s.running
		n := len(eligible)
		s.mu.Unlock()
		if s.node != nil && s.rng.IntN(20) == 0 {
			s.elect()
		}
		if s.leads != nil {
			s.changeLeads(running > 0)
		}
		switch {
		case n == 0 && len(s.parked) > 0:
			panic(fmt.Sprintf("seed %d: nobody may go on:\n%s", s.seed, s.lastLines(40)))
		case n == 0 && running == 0:
			return
		case step > 200_000:
			panic(fmt.Sprintf("the simulation of seed %d does not end:\n%s", s.seed, s.lastLines(40)))
		case n == 0 || s.rng.IntN(s.pace()) == 0:
			time.Sleep(s.nap())
			continue
		}
		if s.rng.IntN(cmp.Or(s.calm, 70)) == 0 && running > 0 {
			s.shake()
			continue
		}
		s.mu.Lock()
		p := eligible[s.rng.IntN(n)]
		if p.held > 0 || (!p.local || p.proposal || p.yield) && s.rng.IntN(50) == 0 { // some messages are under way for long
			if p.held == 0 {
				p.held = 20 + s.rng.IntN(200)
			}
			p.held--
			if s.mu.Unlock(); n == 1 {
				time.Sleep(s.nap())
			}
			continue
		}
		i := slices.Index(s.parked, p)
		s.parked = slices.Delete(s.parked, i, i+1)
		fault := s.draw(p, running)
		s.trace = append(s.trace, fmt.Sprintf("%v %s", faultNames[fault], p.label))
		s.mu.Unlock()
		p.resume <- fault
	}
}

var faultNames = map[kvtest.Fault]string{
	kvtest.Pass: "pass", kvtest.DropRequest: "lose", kvtest.DropReply: "lose answer of", kvtest.Duplicate: "double", kvtest.Refuse: "refuse",
}

// draw picks what happens to a call; the mutex is held.
func (s *simulation) draw(p *parkedCall, running int) kvtest.Fault {
	switch {
	case running > 0 && p.proposal && s.refusals:
		return s.drawProposal(p)
	case running == 0, p.local:
		return kvtest.Pass
	}
	switch x := s.rng.IntN(100); {
	case x < 3, x < 80 && strings.Contains(p.label, " Heartbeat "): // or living owners would hardly ever be taken for dead
		return kvtest.DropRequest
	case x < 8:
		return kvtest.DropReply
	case x < 13 && !p.ghost:
		return kvtest.Duplicate
	case x < 15:
		return kvtest.Refuse
	case x < 16 && !p.client.killed && p.client.id > 0:
		p.client.killed = true
		p.client.kill()
		s.trace = append(s.trace, fmt.Sprintf("kill client %d", p.client.id))
	}
	return kvtest.Pass
}

// shake changes the store under its clients.
func (s *simulation) shake() {
	if s.node != nil {
		s.shakeNode()
		return
	}
	row := account(s.rng.IntN(simAccounts)).Row
	shards, _ := s.mem.Shards(context.Background())
	shard := shards[s.rng.IntN(len(shards))]
	switch s.rng.IntN(3) {
	case 0:
		s.trace = append(s.trace, fmt.Sprintf("split at %s", row.Row()))
		go s.mem.Split(row)
	case 1:
		s.trace = append(s.trace, fmt.Sprintf("move %s to shard %d", row.Row(), shard))
		go s.mem.Move(row, shard)
	case 2:
		s.trace = append(s.trace, fmt.Sprintf("kill shard %d", shard))
		s.mem.Restart(shard)
	}
}

func account(i int) kv.Column { return col(fmt.Sprintf("account%d", i)) }

func columnName(c kv.Column) string { return string(c.Row.Row()) }

// simTxn is a transaction that records what it does.
type simTxn struct {
	*txn.Txn
	r *txntest.Record
	c *simClient
	// single statements are asked for when they begin
	single bool
}

func (c *simClient) begin(cl *txn.Client, name string, o txn.TxnOptions) *simTxn {
	o.Autocommit = c.vary.IntN(100) < c.s.autocommit
	return &simTxn{cl.Begin(o), &txntest.Record{Name: name, Began: c.s.history.Now()}, c, o.Autocommit}
}

func (t *simTxn) get(ctx context.Context, c kv.Column) (string, error) {
	v, _, err := t.Get(ctx, c)
	if err != nil {
		return "", err
	}
	t.r.Reads = append(t.r.Reads, txntest.Read{Column: columnName(c), Value: string(v)})
	return string(v), nil
}

func (t *simTxn) put(c kv.Column, value string, o txn.WriteOptions) {
	if t.c.s.padded { // around what the shards remember of hot columns
		value += " " + strings.Repeat(".", t.c.vary.IntN(80))
	}
	t.Put(c, []byte(value), o)
	t.r.Writes = append(t.r.Writes, txntest.Write{Column: columnName(c), Value: value})
}

// end commits unless the body failed, and records.
func (t *simTxn) end(ctx context.Context, err error) {
	history := &t.c.s.history
	if t.r.Asked = history.Now(); t.single {
		t.r.Asked = t.r.Began
	}
	if err == nil {
		t.r.CommitTS, err = t.Commit(ctx)
		switch {
		case err == nil:
			t.r.Outcome, t.r.Ended = txntest.Committed, history.Now()
		case ctx.Err() != nil || errors.Is(err, txn.ErrOutcomeUnknown):
			t.r.Outcome = txntest.Unknown
		default:
			t.r.Outcome = txntest.Aborted
		}
	} else {
		t.Rollback()
		t.r.Outcome = txntest.Aborted
	}
	t.r.StartTS = txn.StartOf(t.Txn)
	history.Add(t.r)
}

// run is one client's life. Its choices come from its own generator, so that the scheduler's do not shift them.
func (c *simClient) run(txns int, rng *rand.Rand) {
	// The TTL is short against the delays, so that living transactions are taken for dead, too.
	cl, err := txn.NewClient(c, c, txn.Options{
		LockTTL: 15 * time.Millisecond, RetryTime: 200 * time.Millisecond, LockWait: 200 * time.Millisecond,
		LockLease: 60 * time.Millisecond, RowLockWait: 150 * time.Millisecond, NoAsyncCommit: rng.IntN(3) == 0,
	})
	if err != nil {
		panic(err)
	}
	defer func() {
		cl.Close()
		c.s.mu.Lock()
		c.s.metrics = append(c.s.metrics, cl.Metrics())
		c.s.mu.Unlock()
	}()
	life := c.ctx
	for i := range txns {
		if life.Err() != nil {
			return
		}
		name := fmt.Sprintf("c%dt%d", c.id, i)
		c.ctx = context.WithValue(life, simTxnName{}, name)
		what := rng.IntN(19)
		if only := c.s.only; len(only) > 0 {
			what = only[what%len(only)]
		}
		switch what {
		case 0, 1, 2:
			c.transfer(cl, name, rng)
		case 3:
			c.audit(cl, name, rng.IntN(2) == 0)
		case 4:
			c.skew(cl, name, rng)
		case 5:
			c.blind(cl, name, rng)
		case 6:
			c.insert(cl, name, rng)
		case 7, 8:
			c.family(cl, name, rng)
		case 9, 10:
			c.onCall(cl, name, rng)
		case 11, 12:
			c.latest(cl, name, rng)
		case 18:
			c.collect(cl, rng)
		case simWritePair:
			c.writePair(cl, name, rng)
		case simReadPair:
			c.readLatest(cl, name, []kv.Column{pair(0), pair(1)})
		case 14:
			c.lockedTransfer(cl, name, rng)
		case 15:
			c.statements(cl, name, rng)
		case 16, 17:
			c.guard(cl, name, rng)
		case 13:
			if _, err := cl.ResolveOrphans(c.ctx, 0); err != nil && c.ctx.Err() == nil && kv.CodeOf(err) == kv.CodeCorrupt {
				panic(err)
			}
		}
	}
}

// transfer moves money between two accounts. Values are "balance by name", unique for each write.
func (c *simClient) transfer(cl *txn.Client, name string, rng *rand.Rand) {
	from := rng.IntN(simAccounts)
	to := (from + 1 + rng.IntN(simAccounts-1)) % simAccounts
	t := c.begin(cl, name, txn.TxnOptions{})
	a, err := t.get(c.ctx, account(from))
	var b string
	if err == nil {
		b, err = t.get(c.ctx, account(to))
	}
	if err == nil {
		amount := 1 + rng.IntN(20)
		t.put(account(from), fmt.Sprintf("%d by %s", balance(a)-amount, name), txn.WriteOptions{Observers: []uint32{1}})
		t.put(account(to), fmt.Sprintf("%d by %s", balance(b)+amount, name), txn.WriteOptions{})
	}
	t.end(c.ctx, err)
}

func balance(v string) int {
	n, err := strconv.Atoi(strings.Fields(v + " x")[0])
	if err != nil {
		return 0
	}
	return n
}

// audit reads all accounts in one snapshot.
func (c *simClient) audit(cl *txn.Client, name string, reverse bool) {
	t := c.begin(cl, name, txn.TxnOptions{ReadOnly: true})
	s := t.Scan(c.ctx, txn.ScanOptions{Span: kv.Span{Start: col("account").Row, End: col("accounu").Row}, Batch: 2, Reverse: reverse})
	sum, n := 0, 0
	for s.Next() {
		sum, n = sum+balance(string(s.Value())), n+1
		t.r.Reads = append(t.r.Reads, txntest.Read{Column: columnName(s.Column()), Value: string(s.Value())})
	}
	if s.Err() == nil && (sum != simAccounts*simBalance || n != simAccounts) {
		c.s.mu.Lock()
		c.s.badSums = append(c.s.badSums, fmt.Sprintf("%s: sum %d over %d accounts", name, sum, n))
		c.s.mu.Unlock()
	}
	t.end(c.ctx, s.Err())
}

// latest reads one or two accounts without a snapshot.
func (c *simClient) latest(cl *txn.Client, name string, rng *rand.Rand) {
	i := rng.IntN(simAccounts)
	columns := []kv.Column{account(i)}
	if rng.IntN(2) == 0 {
		columns = append(columns, account(i^1)) // often in the same tablet
	}
	c.readLatest(cl, name, columns)
}

func (c *simClient) readLatest(cl *txn.Client, name string, columns []kv.Column) {
	r := &txntest.Record{Name: name, Began: c.s.history.Now(), Latest: true, Outcome: txntest.Aborted}
	vs, err := cl.Latest(c.ctx, columns)
	if r.Ended = c.s.history.Now(); err != nil {
		return
	}
	for i, v := range vs {
		r.Reads = append(r.Reads, txntest.Read{Column: columnName(columns[i]), Value: string(v.Data)})
	}
	c.s.history.Add(r)
}

// skew reads two cells and writes one of them.
func (c *simClient) skew(cl *txn.Client, name string, rng *rand.Rand) {
	t := c.begin(cl, name, txn.TxnOptions{})
	cells := []kv.Column{col("a-skew"), col("z-skew")}
	_, err := t.get(c.ctx, cells[0])
	if err == nil {
		_, err = t.get(c.ctx, cells[1])
	}
	t.put(cells[rng.IntN(2)], name, txn.WriteOptions{})
	t.end(c.ctx, err)
}

// blind writes without reading; long values go to the data column.
func (c *simClient) blind(cl *txn.Client, name string, rng *rand.Rand) {
	t := c.begin(cl, name, txn.TxnOptions{})
	long := strings.Repeat(name, 500)
	t.put(col("a-blind"), long, txn.WriteOptions{})
	if rng.IntN(2) == 0 {
		t.put(col("z-blind"), long, txn.WriteOptions{})
	}
	t.end(c.ctx, nil)
}

// insert and delete contend for a few keys.
func (c *simClient) insert(cl *txn.Client, name string, rng *rand.Rand) {
	t := c.begin(cl, name, txn.TxnOptions{})
	k := col(fmt.Sprintf("%c-insert", "az"[rng.IntN(2)]))
	v, err := t.get(c.ctx, k)
	if err == nil && v != "" {
		t.Delete(k, txn.WriteOptions{})
		t.r.Writes = append(t.r.Writes, txntest.Write{Column: columnName(k)})
	} else {
		t.put(k, name, txn.WriteOptions{MustNotExist: true})
	}
	t.put(col("m-insert-"+name), name, txn.WriteOptions{})
	t.end(c.ctx, err)
}

// family adds and removes parents and children. A child requires its parent; a parent goes only if its snapshot has no child.
func (c *simClient) family(cl *txn.Client, name string, rng *rand.Rand) {
	p := fmt.Sprint(rng.IntN(2))
	parent, children := col("a-parent"+p), kv.Span{Start: col("z-child" + p).Row, End: col("z-child" + p + "~").Row}
	t := c.begin(cl, name, txn.TxnOptions{})
	v, err := t.get(c.ctx, parent)
	switch {
	case err != nil:
	case v == "":
		t.put(parent, name, txn.WriteOptions{MustNotExist: true})
	case rng.IntN(2) == 0:
		t.Require(parent)
		t.put(col("z-child"+p+name), name, txn.WriteOptions{})
	default:
		s := t.Scan(c.ctx, txn.ScanOptions{Span: children})
		found := kv.Column{}
		for s.Next() {
			t.r.Reads = append(t.r.Reads, txntest.Read{Column: columnName(s.Column()), Value: string(s.Value())})
			found = s.Column()
		}
		if err = s.Err(); err == nil {
			if len(found.Row) == 0 {
				found = parent
			}
			t.Delete(found, txn.WriteOptions{})
			t.r.Writes = append(t.r.Writes, txntest.Write{Column: columnName(found)})
		}
	}
	t.end(c.ctx, err)
}

// onCall: of two doctors one must stay. Each looks at both, locks the other's cell and leaves if the other stays.
func (c *simClient) onCall(cl *txn.Client, name string, rng *rand.Rand) {
	cells := []kv.Column{col("a-doctor"), col("z-doctor")}
	i := rng.IntN(2)
	t := c.begin(cl, name, txn.TxnOptions{})
	mine, err := t.get(c.ctx, cells[i])
	var other string
	if err == nil {
		other, err = t.get(c.ctx, cells[1-i])
	}
	t.LockForUpdate(cells[1-i])
	switch {
	case strings.HasPrefix(mine, "off"):
		t.put(cells[i], "on by "+name, txn.WriteOptions{})
	case !strings.HasPrefix(other, "off"):
		t.put(cells[i], "off by "+name, txn.WriteOptions{})
	}
	t.end(c.ctx, err)
}

// simulate runs one seed and returns what was wrong.
func simulate(t *testing.T, seed uint64, coprocessor kv.Coprocessor, with ...func(*simulation)) (s *simulation, wrong []error) {
	s = &simulation{seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), clock: &txntest.Clock{}, doubled: map[string]bool{}}
	for _, f := range with {
		f(s)
	}
	if plain := kv.ShardID(s.rng.IntN(6)); plain > 0 {
		coprocessor = txn.PlainShards(coprocessor, func(id kv.ShardID) bool { return id == plain })
	}
	s.openStore(coprocessor, 1+s.rng.IntN(3), []kv.RowKey{account(0).Row, account(2).Row, account(4).Row, col("b").Row, col("y").Row})
	s.open()
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	clients := 3 + s.rng.IntN(2)
	s.running = clients
	var wg sync.WaitGroup
	for i := range clients {
		c := &simClient{Store: s.client(), s: s, id: i, vary: rand.New(rand.NewPCG(seed, uint64(1000+i)))}
		c.ctx, c.kill = context.WithCancel(context.Background())
		rng := rand.New(rand.NewPCG(seed, uint64(2+i)))
		wg.Go(func() {
			if s.lists != nil {
				c.appendToLists(8, rng)
			} else {
				c.run(6, rng)
			}
			c.kill()
			s.mu.Lock()
			s.running--
			s.mu.Unlock()
		})
	}
	s.schedule()
	wg.Wait()
	synctest.Wait()
	s.mu.Lock()
	s.started = false
	s.mu.Unlock()
	return s, s.settle()
}

// open fills the accounts.
func (s *simulation) open() {
	cl, err := txn.NewClient(s.store, s.clock, txn.Options{})
	if err != nil {
		panic(err)
	}
	defer cl.Close()
	r := &txntest.Record{Name: "open", Began: s.history.Now(), Outcome: txntest.Committed}
	tx := cl.Begin(txn.TxnOptions{})
	for i := range simAccounts {
		v := fmt.Sprintf("%d by open", simBalance)
		tx.Put(account(i), []byte(v), txn.WriteOptions{})
		r.Writes = append(r.Writes, txntest.Write{Column: columnName(account(i)), Value: v})
	}
	r.Asked = s.history.Now()
	if r.CommitTS, err = tx.Commit(context.Background()); err != nil {
		panic(err)
	}
	r.StartTS, r.Ended = txn.StartOf(tx), s.history.Now()
	s.history.Add(r)
}

// settle lets a last, healthy client clean up, and checks everything.
func (s *simulation) settle() (wrong []error) {
	cl, err := txn.NewClient(s.store, s.clock, txn.Options{})
	if err != nil {
		panic(err)
	}
	defer cl.Close()
	if s.node != nil {
		s.elect()
		s.checkImages()
	}
	if s.leads != nil {
		s.changeLeads(false)
	}
	time.Sleep(time.Minute) // all TTLs are over
	if _, err := cl.ResolveOrphans(context.Background(), 0); err != nil {
		wrong = append(wrong, fmt.Errorf("sweep: %w", err))
	}
	if s.node != nil {
		s.checkImages()
	}
	var stored []txntest.StoredVersion
	shards, _ := s.store.Shards(context.Background())
	for _, id := range shards {
		r := s.reader(id)
		vs, err := txn.StoredVersions(r)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, v := range vs {
			stored = append(stored, txntest.StoredVersion{Column: columnName(v.Column), StartTS: v.StartTS, CommitTS: v.CommitTS, Value: string(v.Value)})
		}
		cells, err := txn.DumpCells(r)
		if err != nil {
			wrong = append(wrong, err)
		}
		for c, vs := range cells {
			for _, v := range vs {
				if strings.HasPrefix(v, "lock@") {
					wrong = append(wrong, fmt.Errorf("left behind: %s %s", c, v))
				}
			}
		}
	}
	for _, m := range append(s.metrics, cl.Metrics()) { // C2, C3
		if m.LocksForgotten > 0 {
			wrong = append(wrong, fmt.Errorf("%d locks of transactions from below the safe point were there again", m.LocksForgotten))
		}
	}
	stored = s.withRemoved(stored)
	wrong = append(wrong, s.history.Check(stored)...)
	wrong = append(wrong, s.invariants(stored)...)
	wrong = append(wrong, s.badImages...)
	for _, b := range s.badSums {
		wrong = append(wrong, errors.New("bank: "+b))
	}
	return wrong
}

// TestSimulationRepeats: the same seed gives the same history, or failing seeds would be worth nothing.
func TestSimulationRepeats(t *testing.T) {
	if kvtest.RaceEnabled {
		t.Skip("the race detector's scheduler picks at random among goroutines that can run; seeds repeat only without it")
	}
	// One thing is not in the seed: the scheduler takes the processor from a goroutine that has had it for 10 ms of real time, which
	// on a busy machine it may have slept through. So a history counts as repeated when two of a few runs give it; a simulation that
	// depends on anything else gives a new one each time.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed := uint64(1); seed <= 20; seed++ {
		seen := map[string]bool{}
		var traces []string
		for repeated := false; !repeated; {
			if len(traces) == 5 {
				t.Fatalf("seed %d: five runs, five histories; the first two differ from here on:\n%s", seed, difference(traces[0], traces[1]))
			}
			synctest.Test(t, func(t *testing.T) {
				s, _ := simulate(t, seed, txn.NewCoprocessor(txn.CoprocessorOptions{}), changesOfLead)
				traces = append(traces, strings.Join(s.trace, "\n"))
			})
			last := traces[len(traces)-1]
			repeated = seen[last]
			seen[last] = true
		}
	}
}

// difference shows where two histories part.
func difference(one, other string) string {
	a, b := strings.Split(one, "\n"), strings.Split(other, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return strings.Join(a[max(0, i-3):min(i+3, len(a))], "\n") + "\n--\n" + strings.Join(b[max(0, i-3):min(i+3, len(b))], "\n")
}

// TestSimulationFound are histories that once went wrong: a commit of unknown outcome after a move; a doubled commit whose record was collected
// before its repetition was refused.
func TestSimulationFound(t *testing.T) {
	for _, seed := range []uint64{6372, 76721} {
		synctest.Test(t, func(t *testing.T) {
			if _, wrong := simulate(t, seed, txn.NewCoprocessor(txn.CoprocessorOptions{})); len(wrong) > 0 {
				t.Errorf("seed %d: %v", seed, errors.Join(wrong...))
			}
		})
	}
}

func TestSimulation(t *testing.T) {
	skews, committed, aborted := 0, 0, 0
	var async, decided uint64
	var late [2]int
	for i := range uint64(*simN) {
		seed := *simSeed + i
		synctest.Test(t, func(t *testing.T) {
			o := txn.CoprocessorOptions{}
			if seed%2 == 1 {
				o.ScanFrom = 2
			}
			if seed%3 != 0 {
				o.RangeFrom = 1
			}
			vary := rand.New(rand.NewPCG(seed, 1000_000))
			if vary.IntN(4) > 0 { // columns share slots, in which they commit in any order
				o.RecentSlots, o.HotBytes = 1<<vary.IntN(3), 40
			}
			with := []func(*simulation){changesOfLead, func(s *simulation) {
				s.autocommit, s.padded = 25*vary.IntN(4), vary.IntN(4) > 0
			}}
			if seed%4 == 3 { // more of them that scan what others write
				with = append(with, func(s *simulation) { s.only = []int{0, 0, 3, 3, 3, 5, 6, 8, 18} })
			}
			s, wrong := simulate(t, seed, txn.NewCoprocessor(o), with...)
			skews += s.history.WriteSkews()
			late[0], late[1] = late[0]+s.late[0], late[1]+s.late[1]
			for _, m := range s.metrics {
				async, decided = async+m.CommitsAsync, decided+m.AsyncDecided
			}
			for _, r := range s.history.Records() {
				switch r.Outcome {
				case txntest.Committed:
					committed++
				case txntest.Aborted:
					aborted++
				}
			}
			if len(wrong) > 0 {
				if *simN == 1 {
					t.Log(strings.Join(s.trace, "\n"))
					for _, r := range s.history.Records() {
						t.Logf("%s [%v, %v] outcome %d, reads %v, writes %v", r.Name, r.StartTS, r.CommitTS, r.Outcome, r.Reads, r.Writes)
					}
				}
				t.Fatalf("seed %d: %v\nagain, with a trace: go test -tags gms_pure_go ./txn -run 'TestSimulation$' -sim.seed=%d -sim.n=1 -v", seed, errors.Join(wrong...), seed)
			}
		})
		if t.Failed() {
			return
		}
	}
	load := fmt.Sprintf("%d transactions committed (%d asynchronously), %d aborted, %d write skews, %d asynchronous commits decided by others", committed, async, aborted, skews, decided)
	load += fmt.Sprintf(", %d proposals lost with a lead and %d applied late", late[0], late[1])
	t.Logf("%d histories: %s", *simN, load)
	if *simN >= 100 && (min(skews, aborted) == 0 || min(async, decided) == 0 || min(late[0], late[1]) == 0) {
		t.Errorf("the load is too tame: %s", load)
	}
}
