package txn_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/kvtest"
	"moka/kv/node"
	"moka/txn"
	"moka/txn/txntest"
)

// TestHotColumns: what is read twice is remembered; so is what is written after that, from the moment when it is durable; a snapshot
// from before reads what was there before; and what is only written costs no memory.
func TestHotColumns(t *testing.T) {
	var shard txn.Memory
	m := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{txn.PlantForgetful(func(m txn.Memory) { shard = m })}})
	defer m.Close()
	c, err := txn.NewClient(m, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get := func(at kv.Timestamp) string {
		t.Helper()
		v, ok, err := c.Begin(txn.TxnOptions{StartTS: at, ReadOnly: true}).Get(t.Context(), col("a"))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return "nothing"
		}
		return string(v)
	}
	remembers := func(name, want string) {
		t.Helper()
		if got, known := shard.Remembered(col(name)); known != (want != "") || known && got != want {
			t.Errorf("of %s it remembers %q, %v; want %q", name, got, known, want)
		}
	}
	put(t, c, "a", "1", "b", "1")
	before := now(t, c)
	remembers("a", "")
	get(now(t, c))
	remembers("a", "")
	get(now(t, c))
	remembers("a", "1")
	for _, value := range []string{"2", "3"} {
		put(t, c, "a", value, "b", value)
		remembers("a", value)
		remembers("b", "")
		if is, was := get(now(t, c)), get(before); is != value || was != "1" {
			t.Errorf("a is %s and was %s, want %s and 1", is, was, value)
		}
		remembers("a", value) // looking back does not change it
	}
	tx := c.Begin(txn.TxnOptions{})
	tx.Delete(col("a"), txn.WriteOptions{})
	mustCommit(t, tx)
	remembers("a", "deleted")
	if is, was := get(now(t, c)), get(before); is != "nothing" || was != "1" {
		t.Errorf("a is %s and was %s, want nothing and 1", is, was)
	}
	put(t, c, "a", "4")
	remembers("a", "4")
	if err := c.DropRange(t.Context(), kv.Span{Start: txntest.Split("a"), End: txntest.Split("b")}, now(t, c)); err != nil {
		t.Fatal(err)
	}
	remembers("a", "")
	if is := get(now(t, c)); is != "nothing" {
		t.Errorf("a is %s behind a range that was dropped", is)
	}
}

// inOneSlot finds two rows whose columns share a slot of recent.
func inOneSlot() (x, y string) {
	seen := map[int]string{}
	for i := 0; ; i++ {
		name := fmt.Sprintf("row%d", i)
		s := txn.SlotOf(col(name))
		if other, ok := seen[s]; ok {
			return other, name
		}
		seen[s] = name
	}
}

// commitBelow has y, which shares a slot with x, commit above a transaction that is about to write x in one statement, and which takes
// the least timestamp that it may.
func commitBelow(t *testing.T, c *txn.Client, x, y, value string, also ...string) (tx *txn.Txn) {
	t.Helper()
	get := func(tx *txn.Txn, name string) {
		t.Helper()
		if _, _, err := tx.Get(t.Context(), col(name)); err != nil {
			t.Fatal(err)
		}
	}
	ty := c.Begin(txn.TxnOptions{}) // of several statements: it asks the clock
	get(ty, y)
	tx = c.Begin(txn.TxnOptions{Autocommit: true})
	for _, name := range append([]string{x}, also...) {
		get(tx, name)
		tx.Put(col(name), []byte(value), txn.WriteOptions{})
	}
	for range 10 {
		now(t, c)
	}
	ty.Put(col(y), []byte(value), txn.WriteOptions{})
	mustCommit(t, ty)
	return tx
}

func latest(t *testing.T, c *txn.Client, name string) string {
	t.Helper()
	vs, err := c.Latest(t.Context(), []kv.Column{col(name)})
	if err != nil {
		t.Fatal(err)
	}
	return string(vs[0].Data)
}

func getAt(t *testing.T, c *txn.Client, at kv.Timestamp, name string) string {
	t.Helper()
	tx := c.Begin(txn.TxnOptions{StartTS: at, ReadOnly: true})
	defer tx.Rollback()
	v, _, err := tx.Get(t.Context(), col(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(v)
}

// newPlanted opens a store with a mistake, or a delay, in its coprocessor.
func newPlanted(t *testing.T, o kvtest.Options, co txn.Options, broken func(kv.CommandID, kv.Eval) kv.Eval) (*txn.Client, *kvtest.Mem) {
	t.Helper()
	o.Coprocessors = []kv.Coprocessor{txn.Plant(broken)}
	m := kvtest.NewMem(o)
	c, err := txn.NewClient(m, &txntest.Clock{}, co)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		m.Close()
	})
	return c, m
}

// pausing stops a command at its first look at one row's cells of a group, behind the look or before it, once it is armed.
type pausing struct {
	kv.Eval
	*pause
}

type pause struct {
	group    kv.GroupID
	row      string
	before   bool
	armed    atomic.Bool
	in, hold chan struct{}
}

func newPause(g kv.GroupID, row string) *pause {
	return &pause{group: g, row: row, in: make(chan struct{}), hold: make(chan struct{})}
}

// during plants the pause in a command.
func (p *pause) during(command kv.CommandID) func(kv.CommandID, kv.Eval) kv.Eval {
	return func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == command {
			return pausing{e, p}
		}
		return e
	}
}

func (p *pause) at(a kv.Address, before bool) {
	if before == p.before && a.Group == p.group && string(a.Row.Row()) == p.row && p.armed.CompareAndSwap(true, false) {
		close(p.in)
		<-p.hold
	}
}

func (p pausing) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	p.at(a, true)
	v, ok, err := p.Eval.Latest(a, max)
	p.at(a, false)
	return v, ok, err
}

func (p pausing) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(p, columns, max, found)
}

func (p pausing) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	p.at(a, true)
	v, ok, err := p.Eval.Get(a, ts)
	p.at(a, false)
	return v, ok, err
}

// TestHotColumnTooLong: a version that is too long to be remembered ends what was remembered before it, also where another column of its
// slot has committed at a higher timestamp.
func TestHotColumnTooLong(t *testing.T) {
	x, y := inOneSlot()
	c, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
	long := strings.Repeat("x", 1024) // the longest that its record holds
	put(t, c, x, "1", y, "1")
	tx := commitBelow(t, c, x, y, long)
	latest(t, c, x) // remembered now
	at := mustCommit(t, tx)
	if got := getAt(t, c, now(t, c), x); got != long {
		t.Errorf("%s committed at %v, acknowledged; a snapshot after that reads %q", x, at, got)
	}
}

// TestHotColumnReadWhileItIsWritten: a reader that remembers what it has read while a commit passes by, below what its slot says, must
// not make the shard serve the old version, nor let the conflict check believe it.
func TestHotColumnReadWhileItIsWritten(t *testing.T) {
	x, y := inOneSlot()
	p := newPause(kv.GroupTxnWrite, x)
	c, _ := newPlanted(t, kvtest.Options{}, txn.Options{}, p.during(txn.CmdGetLatest))
	put(t, c, x, "1", y, "1")
	tx := commitBelow(t, c, x, y, "2") // has looked at x once; the next look is remembered
	p.armed.Store(true)
	var reader sync.WaitGroup
	reader.Go(func() { latest(t, c, x) })
	<-p.in
	at := mustCommit(t, tx)
	close(p.hold)
	reader.Wait()
	if got := latest(t, c, x); got != "2" {
		t.Errorf("%s committed at %v, acknowledged; the latest is %q, want 2", x, at, got)
	}
	if got := getAt(t, c, now(t, c), x); got != "2" {
		t.Errorf("a snapshot after that reads %q, want 2", got)
	}
	inc := c.Begin(txn.TxnOptions{})
	v, _, err := inc.Get(t.Context(), col(x))
	if err != nil {
		t.Fatal(err)
	}
	inc.Put(col(x), append(v, "+1"...), txn.WriteOptions{})
	if _, err := inc.Commit(t.Context()); err == nil {
		if got := getAt(t, c, now(t, c), x); got != "2+1" {
			t.Errorf("lost update: after an increment %s=%q, want 2+1", x, got)
		}
	}
}

// TestHotColumnResolvedTwice: a resolver that is late writes a commit again after somebody else has written the column. That is no news, and must
// not be remembered as the newest version.
func TestHotColumnResolvedTwice(t *testing.T) {
	p := newPause(kv.GroupTxnRollback, "a")
	c, m := newPlanted(t, kvtest.Options{Shards: 2, Splits: []kv.RowKey{txntest.Split("m")}}, txn.Options{NoAsyncCommit: true}, p.during(txn.CmdResolve))
	put(t, c, "b", "1")
	for range 2 { // remembered now
		latest(t, c, "b")
	}
	p.armed.Store(true)
	tx := c.Begin(txn.TxnOptions{})
	for _, name := range []string{"x", "y", "z"} { // the primary lies where most are
		tx.Put(col(name), []byte("2"), txn.WriteOptions{})
	}
	tx.LockForUpdate(col("a"))
	tx.Put(col("b"), []byte("2"), txn.WriteOptions{})
	mustCommit(t, tx)
	<-p.in                                    // the owner's own resolver has listed the locks of a and b
	if got := latest(t, c, "b"); got != "2" { // resolves them
		t.Fatalf("b=%q, want 2", got)
	}
	if _, err := c.ResolveOrphans(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	put(t, c, "b", "3")
	close(p.hold)
	if err := c.Close(); err != nil { // waits for the resolver
		t.Fatal(err)
	}
	c, err := txn.NewClient(m, txn.ClockOf(c), txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if l, s := latest(t, c, "b"), getAt(t, c, now(t, c), "b"); l != "3" || s != "3" {
		t.Errorf("the latest b is %q, that of a new snapshot %q; want 3", l, s)
	}
}

// slowHook is a coprocessor with a write command whose OnDurable waits, and with it all hooks of the shard.
type slowHook struct{ in, hold chan struct{} }

type nothing struct{}

func (*nothing) AppendTo(b []byte) []byte { return b }
func (*nothing) Decode([]byte) error      { return nil }

const cmdSlowHook kv.CommandID = 120

func (h slowHook) Name() string                          { return "slow hook" }
func (h slowHook) Groups() []kv.GroupSpec                { return nil }
func (h slowHook) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }
func (h slowHook) Commands() []kv.Command {
	return []kv.Command{{
		ID: cmdSlowHook, Name: "slow hook", Write: true,
		NewRequest: func() kv.Message { return new(nothing) }, NewResponse: func() kv.Message { return new(nothing) },
		Rows: func(_ kv.Message, rows []kv.RowKey) []kv.RowKey { return rows },
		Evaluate: func(e kv.Eval, _ kv.Message) (kv.Message, error) {
			e.OnDurable(func() { close(h.in); <-h.hold })
			return new(nothing), nil
		},
	}}
}

// TestHotColumnBeforeTheHooks: a commit's guards go before its hooks run, and those wait for each other. What it has overwritten must not be
// remembered for that long: a snapshot would see half of the transaction.
func TestHotColumnBeforeTheHooks(t *testing.T) {
	h := slowHook{make(chan struct{}), make(chan struct{})}
	n, err := node.Open(node.Options{
		FS: vfs.NewMem(), Dir: "data", Shards: 1, CacheBytes: 8 << 20, BalanceEvery: -1,
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{}), notifyGroups{}, h},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	st, err := client.New(tabletsOf{n}, n, client.Options{Node: n.ID(), Local: n, RetryFor: -1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := txn.NewClient(st, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x, y := inOneSlot()
	put(t, c, x, "old", y, "old", "other", "old")
	tx := commitBelow(t, c, x, y, "new", "other")
	latest(t, c, x)
	latest(t, c, x) // remembered now

	var slow, committer sync.WaitGroup
	slow.Go(func() {
		if _, err := n.Handle(t.Context(), 1, nil, cmdSlowHook, new(nothing)); err != nil {
			t.Error(err)
		}
	})
	<-h.in
	committer.Go(func() {
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
		}
	})
	// It is durable soon, and the guards are gone; its hooks wait for their turn.
	shard, _ := n.Shard(1)
	for done := false; !done; runtime.Gosched() {
		vs, err := txn.StoredVersions(shard.Reader())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			done = done || columnName(v.Column) == x && string(v.Value) == "new" && shard.InMemory(kv.GroupTxnLock).Len() == 0
		}
	}
	at := now(t, c)
	if a, b := getAt(t, c, at, x), getAt(t, c, at, "other"); a != b {
		t.Errorf("one transaction wrote both, a snapshot above its commit sees half of it: %s=%s, other=%s", x, a, b)
	}
	close(h.hold)
	slow.Wait()
	committer.Wait()
}
