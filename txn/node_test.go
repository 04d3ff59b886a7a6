package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/node"
	"moka/txn"
	"moka/txn/txntest"
)

// realStore is the store on Pebble, which loses what was not synced when it is killed.
type realStore struct {
	fs *vfs.MemFS
	n  *node.Node
	kv.Store

	mu   sync.RWMutex
	dead bool
}

func openReal(t testing.TB, fs *vfs.MemFS) *realStore { return openRealCache(t, fs, 8<<20) }

func openRealCache(t testing.TB, fs *vfs.MemFS, cache int64) *realStore {
	t.Helper()
	n, err := node.Open(node.Options{
		FS: fs, Dir: "data", Shards: 3, CacheBytes: cache, BalanceEvery: -1,
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{RangeFrom: 1}), notifyGroups{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &realStore{fs: fs, n: n}
	if s.Store, err = client.New(tabletsOf{n}, n, client.Options{Node: n.ID(), Local: s, RetryFor: -1}); err != nil {
		t.Fatal(err)
	}
	return s
}

// notifyGroups declares the groups of observers, which belong to the room above.
type notifyGroups struct{}

func (notifyGroups) Name() string { return "notify groups" }
func (notifyGroups) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{{ID: kv.GroupNotify, Name: "notify", InMemory: true}, {ID: kv.GroupNotifyMeta, Name: "notify.meta", InMemory: true}}
}
func (notifyGroups) Commands() []kv.Command                { return nil }
func (notifyGroups) OpenShard(kv.ShardHandle) (any, error) { return nil, nil }

// tabletsOf is a client.Locator without METADATA between.
type tabletsOf struct{ n *node.Node }

func (s tabletsOf) Lookup(_ context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	for _, t := range s.n.Tablets() {
		if t.Span.Contains(row) {
			return []kv.Tablet{t}, nil
		}
	}
	return nil, kv.Errorf(kv.CodeUnavailable, "test", "row %x is between two tablets at the moment", []byte(row))
}

func (s tabletsOf) Shards(context.Context) (map[kv.ShardID]client.Shard, error) {
	m := map[kv.ShardID]client.Shard{}
	for _, id := range s.n.Shards() {
		m[id] = client.Shard{Node: s.n.ID()}
	}
	return m, nil
}

// Handle is the way to the node until it is killed: an answer that comes later has not come.
func (s *realStore) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	resp, err := s.n.Handle(ctx, shard, tablets, cmd, req)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.dead {
		return nil, kv.Errorf(kv.CodeInternal, "test", "the node was killed")
	}
	return resp, err
}

// kill returns the disk as it is at this moment, without what was not synced.
func (s *realStore) kill() *vfs.MemFS {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead = true
	return s.fs.CrashClone(vfs.CrashCloneCfg{})
}

// bank is the load: transfers and audits, recorded.
type bank struct {
	t        *testing.T
	clock    txntest.Clock
	history  txntest.History
	accounts int
	mu       sync.Mutex
	bad      []string
}

func (b *bank) account(i int) kv.Column { return col(fmt.Sprintf("account%03d", i)) }

func (b *bank) open(c *txn.Client) {
	r := &txntest.Record{Name: "open", Began: b.history.Now(), Outcome: txntest.Committed}
	tx := c.Begin(txn.TxnOptions{})
	for i := range b.accounts {
		tx.Put(b.account(i), []byte("100 by open"), txn.WriteOptions{})
		r.Writes = append(r.Writes, txntest.Write{Column: columnName(b.account(i)), Value: "100 by open"})
	}
	r.Asked = b.history.Now()
	var err error
	if r.CommitTS, err = tx.Commit(context.Background()); err != nil {
		b.t.Fatal(err)
	}
	r.StartTS, r.Ended = txn.StartOf(tx), b.history.Now()
	b.history.Add(r)
}

// run transfers and audits until ctx ends.
func (b *bank) run(ctx context.Context, c *txn.Client, name string, rng *rand.Rand) {
	for i := 0; ctx.Err() == nil; i++ {
		r := &txntest.Record{Name: fmt.Sprintf("%s.%d", name, i), Began: b.history.Now()}
		o := txn.TxnOptions{Autocommit: rng.IntN(2) == 0}
		tx := c.Begin(o)
		var err error
		if rng.IntN(8) == 0 {
			err = b.audit(ctx, tx, r)
		} else {
			err = b.transfer(ctx, tx, r, rng)
		}
		r.Asked = b.history.Now()
		if o.Autocommit { // a single statement is asked for when it begins
			r.Asked = r.Began
		}
		if err != nil {
			tx.Rollback()
			r.Outcome, r.Writes = txntest.Aborted, nil
		} else {
			r.CommitTS, err = tx.Commit(ctx)
			switch {
			case err == nil:
				r.Outcome, r.Ended = txntest.Committed, b.history.Now()
			case errors.Is(err, txn.ErrConflict):
				r.Outcome = txntest.Aborted
			default:
				r.Outcome = txntest.Unknown
			}
		}
		r.StartTS = txn.StartOf(tx)
		b.history.Add(r)
	}
}

func (b *bank) transfer(ctx context.Context, tx *txn.Txn, r *txntest.Record, rng *rand.Rand) error {
	from := rng.IntN(b.accounts)
	to := (from + 1 + rng.IntN(b.accounts-1)) % b.accounts
	vs, err := tx.BatchGet(ctx, []kv.Column{b.account(from), b.account(to)})
	if err != nil {
		return err
	}
	amount := 1 + rng.IntN(10)
	for i, a := range []int{from, to} {
		v := fmt.Sprintf("%d by %s", balance(string(vs[i].Data))+[]int{-amount, amount}[i], r.Name)
		r.Reads = append(r.Reads, txntest.Read{Column: columnName(b.account(a)), Value: string(vs[i].Data)})
		r.Writes = append(r.Writes, txntest.Write{Column: columnName(b.account(a)), Value: v})
		tx.Put(b.account(a), []byte(v), txn.WriteOptions{Observers: []uint32{1}})
	}
	return nil
}

func (b *bank) audit(ctx context.Context, tx *txn.Txn, r *txntest.Record) error {
	s := tx.Scan(ctx, txn.ScanOptions{Span: kv.Span{Start: col("account").Row, End: col("accounu").Row}, Batch: 8})
	defer s.Close()
	sum, n := 0, 0
	for s.Next() {
		sum, n = sum+balance(string(s.Value())), n+1
		r.Reads = append(r.Reads, txntest.Read{Column: columnName(s.Column()), Value: string(s.Value())})
	}
	if err := s.Err(); err != nil {
		return err
	}
	if n != b.accounts || sum != 100*b.accounts {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bad = append(b.bad, fmt.Sprintf("%s: sum %d over %d accounts", r.Name, sum, n))
	}
	return nil
}

// TestBankOnPebble runs the bank on the real node: three shards, tablets that split and move, and a kill in the middle of each
// round, after which the disk holds what was synced and nothing else. The exact checker looks at all rounds together.
func TestBankOnPebble(t *testing.T) {
	ctx := context.Background()
	b := &bank{t: t, accounts: 24}
	alive := sessions{}
	var s *realStore
	fs := vfs.NewCrashableMem()
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		s = openReal(t, fs)
		session := fmt.Sprint("round", round)
		for k := range alive {
			alive[k] = false
		}
		alive[session] = true
		c, err := txn.NewClient(s, &b.clock, txn.Options{Session: session, Liveness: alive, RetryTime: 2 * time.Second, LockWait: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			b.spread(ctx, s)
			b.open(c)
		}
		running, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				b.run(running, c, fmt.Sprintf("r%dc%d", round, i), rand.New(rand.NewPCG(uint64(round), uint64(i))))
			})
		}
		b.shuffle(ctx, s, rand.New(rand.NewPCG(uint64(round), 99)))
		fs = s.kill()
		stop()
		wg.Wait()
		c.Close()
		if err := s.n.Close(); err != nil {
			t.Log("closing a killed node:", err)
		}
	}
	b.finish(ctx, openReal(t, fs), alive)
}

// spread deals the accounts to all shards.
func (b *bank) spread(ctx context.Context, s *realStore) {
	for i := range 6 {
		_, right, err := s.n.Split(ctx, b.account(4*i).Row)
		if to := kv.ShardID(1 + i%3); err == nil && right.Shard != to {
			_, err = s.n.Move(ctx, right.ID, to)
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// shuffle splits and moves tablets for a while: as long as it takes to see a few hundred transactions.
func (b *bank) shuffle(ctx context.Context, s *realStore, rng *rand.Rand) {
	start := b.history.Now()
	for deadline := time.Now().Add(20 * time.Second); b.history.Now() < start+3000 && time.Now().Before(deadline); {
		row := b.account(rng.IntN(b.accounts)).Row
		if rng.IntN(10) == 0 {
			if _, _, err := s.n.Split(ctx, row); err != nil && !errors.Is(err, kv.ErrInvalidArgument) && !errors.Is(err, kv.ErrAlreadyExists) {
				b.t.Error("split:", err)
			}
			continue
		}
		for _, tb := range s.n.Tablets() {
			if tb.Span.Contains(row) && tb.Span.Start.Table() == kv.TableTxn {
				if _, err := s.n.Move(ctx, tb.ID, kv.ShardID(1+rng.IntN(3))); err != nil && !errors.Is(err, kv.ErrInvalidArgument) && !errors.Is(err, kv.ErrNotFound) {
					b.t.Error("move:", err)
				}
				break
			}
		}
		wait := time.NewTimer(5 * time.Millisecond) // let some transactions run between two moves
		<-wait.C
	}
}

// finish resolves what the killed left behind and checks everything.
func (b *bank) finish(ctx context.Context, s *realStore, alive sessions) {
	t := b.t
	for k := range alive {
		alive[k] = false
	}
	defer s.n.Close()
	c, err := txn.NewClient(s, &b.clock, txn.Options{Session: "last", Liveness: alive})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	resolved, err := c.ResolveOrphans(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := &txntest.Record{Name: "last audit", Began: b.history.Now()}
	tx := c.Begin(txn.TxnOptions{})
	if err := b.audit(ctx, tx, r); err != nil {
		t.Error(err)
	}
	r.StartTS = txn.StartOf(tx)
	b.history.Add(r)
	var stored []txntest.StoredVersion
	notified := 0
	for _, id := range s.n.Shards() {
		h, _ := s.n.Shard(id)
		vs, err := txn.StoredVersions(h.Reader())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			stored = append(stored, txntest.StoredVersion{Column: columnName(v.Column), StartTS: v.StartTS, CommitTS: v.CommitTS, Value: string(v.Value)})
		}
		if n := h.InMemory(kv.GroupTxnLock).Len(); n != 0 {
			t.Errorf("%d locks are left on shard %d", n, id)
		}
		notified += h.InMemory(kv.GroupNotify).Len()
	}
	if notified == 0 {
		t.Error("no notification was stored")
	}
	for _, err := range b.history.Check(stored) {
		t.Error(err)
	}
	if len(b.bad) > 0 {
		t.Error(strings.Join(b.bad, "\n"))
	}
	outcomes := map[txntest.Outcome]int{}
	for _, r := range b.history.Records() {
		outcomes[r.Outcome]++
	}
	t.Logf("%d committed, %d aborted; %d orphaned locks at the end; %d versions", outcomes[txntest.Committed], outcomes[txntest.Aborted], resolved, len(stored))
	if outcomes[txntest.Committed] < 100 {
		t.Errorf("only %d transactions committed", outcomes[txntest.Committed])
	}
}
