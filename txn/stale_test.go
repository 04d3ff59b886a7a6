package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/node"
	"moka/txn"
	"moka/txn/txntest"
)

// staleTablets answers where tablets are with what was true a while ago, as often as not; and of shards' corrections it keeps the half.
type staleTablets struct {
	n   *node.Node
	mu  sync.Mutex
	rng *rand.Rand
	was [8][]kv.Tablet
	at  int
}

func (s *staleTablets) coin(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.IntN(n) == 0
}

// remember keeps the tablets as they are now.
func (s *staleTablets) remember() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.was[s.at%len(s.was)] = s.n.Tablets()
	s.at++
}

func (s *staleTablets) Lookup(ctx context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	if s.coin(3) {
		s.mu.Lock()
		old := s.was[s.rng.IntN(len(s.was))]
		s.mu.Unlock()
		for _, t := range old {
			if t.Span.Contains(row) {
				return []kv.Tablet{t}, nil
			}
		}
	}
	return tabletsOf{s.n}.Lookup(ctx, row)
}

func (s *staleTablets) Shards(ctx context.Context) (map[kv.ShardID]client.Shard, error) {
	return tabletsOf{s.n}.Shards(ctx)
}

func (s *staleTablets) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	resp, err := s.n.Handle(ctx, shard, tablets, cmd, req)
	var moved *kv.Error
	if errors.As(err, &moved) && moved.Code == kv.CodeMoved && s.coin(2) {
		err = kv.Errorf(kv.CodeMoved, moved.Op, "%s", moved.Msg)
	}
	return resp, err
}

// stale is the load of TestStaleClients: a bank on a node whose tablets change all the time.
type stale struct {
	*bank
	n       *node.Node
	maps    []*staleTablets
	listed  []*txn.Client // collection is told of their snapshots
	ended   atomic.Bool
	changes atomic.Int64 // of tablets
	mu      sync.Mutex
	recent  []kv.Timestamp // of commits, for readers of the past
	tooOld  int            // refused, as they should be
	past    int            // not refused
	removed atomic.Int64
	wg      sync.WaitGroup
}

func (w *stale) wrong(format string, args ...any) {
	w.bank.mu.Lock()
	defer w.bank.mu.Unlock()
	w.bad = append(w.bad, fmt.Sprintf(format, args...))
}

// client makes one with a map of its own.
func (w *stale) client(seed uint64) *txn.Client {
	w.t.Helper()
	m := &staleTablets{n: w.n, rng: rand.New(rand.NewPCG(seed, uint64(len(w.maps))))}
	for range m.was {
		m.remember()
	}
	store, err := client.New(m, w.n, client.Options{Node: w.n.ID(), Local: m, RetryFor: 20 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := txn.NewClient(store, &w.clock, txn.Options{Session: "all", Liveness: sessions{"all": true}, RetryTime: 20 * time.Second, LockWait: 5 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	w.maps = append(w.maps, m)
	return c
}

// allowed reports whether an error is one that a client of a healthy node may get.
func allowed(err error) bool { return errors.Is(err, txn.ErrConflict) || errors.Is(err, txn.ErrLocked) }

// transact transfers and audits.
func (w *stale) transact(c *txn.Client, name string, rng *rand.Rand) {
	ctx := context.Background()
	for i := 0; !w.ended.Load(); i++ {
		r := &txntest.Record{Name: fmt.Sprintf("%s.%d", name, i), Began: w.history.Now(), Outcome: txntest.Aborted}
		tx := c.Begin(txn.TxnOptions{Autocommit: rng.IntN(2) == 0})
		var err error
		if rng.IntN(6) == 0 {
			err = w.audit(ctx, tx, r)
		} else {
			err = w.transfer(ctx, tx, r, rng)
		}
		r.Asked = r.Began
		if err == nil {
			r.CommitTS, err = tx.Commit(ctx)
		} else {
			tx.Rollback()
		}
		switch r.StartTS = txn.StartOf(tx); {
		case err == nil:
			r.Outcome, r.Ended = txntest.Committed, w.history.Now()
			w.note(r.CommitTS)
		case allowed(err):
			r.Reads, r.Writes = nil, nil
		default:
			w.wrong("%s: %v", r.Name, err)
		}
		w.history.Add(r)
	}
}

func (w *stale) note(ts kv.Timestamp) {
	if ts == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent = append(w.recent, ts)
}

// readSlowly reads all accounts one by one in one snapshot, with changes of the tablets between. Collection knows of it.
func (w *stale) readSlowly(c *txn.Client, name string, _ *rand.Rand) {
	for i := 0; !w.ended.Load(); i++ {
		tx := c.Begin(txn.TxnOptions{ReadOnly: true})
		if err := w.sum(tx, fmt.Sprintf("%s.%d", name, i), 2); err != nil {
			w.wrong("%s.%d: %v", name, i, err)
		}
		tx.Rollback()
	}
}

// readPast reads in snapshots of a while ago, of which collection does not know: all is there, or the snapshot is refused.
func (w *stale) readPast(c *txn.Client, name string, rng *rand.Rand) {
	for i := 0; !w.ended.Load(); i++ {
		w.mu.Lock()
		n := len(w.recent)
		ts := w.recent[max(0, n-1-rng.IntN(min(n, 200)))]
		w.mu.Unlock()
		tx := c.Begin(txn.TxnOptions{ReadOnly: true, StartTS: ts})
		var err error
		if one := rng.IntN(w.accounts); i%4 == 0 {
			err = w.sum(tx, fmt.Sprintf("%s.%d", name, i), 0)
		} else { // one shard alone decides
			var v []byte
			if v, _, err = tx.Get(context.Background(), w.account(one)); err == nil {
				w.history.Add(&txntest.Record{Name: fmt.Sprintf("%s.%d", name, i), Outcome: txntest.Committed, StartTS: ts,
					Reads: []txntest.Read{{Column: columnName(w.account(one)), Value: string(v)}}})
			}
		}
		tx.Rollback()
		w.mu.Lock()
		switch {
		case err == nil:
			w.past++
		case errors.Is(err, txn.ErrSnapshotTooOld):
			w.tooOld++
		default:
			w.wrong("%s.%d: %v", name, i, err)
		}
		w.mu.Unlock()
	}
}

// sum reads the accounts one by one, and between two of them lets the tablets change so often.
func (w *stale) sum(tx *txn.Txn, name string, changes int64) error {
	r := &txntest.Record{Name: name, Began: w.history.Now(), Outcome: txntest.Committed}
	total := 0
	for i := range w.accounts {
		v, _, err := tx.Get(context.Background(), w.account(i))
		if err != nil {
			return err
		}
		total += balance(string(v))
		r.Reads = append(r.Reads, txntest.Read{Column: columnName(w.account(i)), Value: string(v)})
		if i%6 == 5 {
			w.await(changes)
		}
	}
	if total != 100*w.accounts {
		w.wrong("%s: sum %d in snapshot %v", name, total, txn.StartOf(tx))
	}
	r.StartTS = txn.StartOf(tx)
	r.Began = 0 // a snapshot of the past may begin long after what it does not see
	w.history.Add(r)
	return nil
}

// await waits until the tablets have changed so often more, or all is over.
func (w *stale) await(changes int64) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for until := w.changes.Load() + changes; w.changes.Load() < until && !w.ended.Load(); {
		<-tick.C
	}
}

// collect removes what no listed snapshot needs, as far as it may.
func (w *stale) collect(c *txn.Client, name string, _ *rand.Rand) {
	ctx := context.Background()
	for round := 0; !w.ended.Load(); round++ {
		w.await(4) // so that tablets come to shards that have not heard of the last
		oldest, err := w.clock.Next(ctx)
		for _, l := range w.listed {
			use, uerr := l.Snapshots(ctx)
			if uerr != nil {
				err = uerr
			}
			oldest = min(oldest, use.Oldest)
		}
		if err == nil {
			var stats txn.GarbageStats
			stats, err = c.CollectGarbage(ctx, oldest-1, txn.GarbageOptions{})
			w.removed.Add(stats.Versions)
		}
		if err != nil && !errors.Is(err, kv.ErrBusy) { // locks are left: later
			w.wrong("%s, round %d: %v", name, round, err)
		}
	}
}

// change splits, moves and merges tablets.
func (w *stale) change(rng *rand.Rand) {
	ctx := context.Background()
	for !w.ended.Load() {
		row := w.account(rng.IntN(w.accounts)).Row
		ts := w.n.Tablets()
		i := 0
		for ; i < len(ts) && !ts[i].Span.Contains(row); i++ {
		}
		if i == len(ts) {
			continue // between two states
		}
		var err error
		guest := slices.IndexFunc(ts, func(t kv.Tablet) bool { return t.Shard == 3 })
		switch rng.IntN(4) {
		case 0:
			_, _, err = w.n.Split(ctx, row)
		case 1:
			_, err = w.n.Merge(ctx, ts[i].ID)
		case 2:
			_, err = w.n.Move(ctx, ts[i].ID, kv.ShardID(1+rng.IntN(2)))
		default: // on the third shard there is rarely a tablet: it learns of collections, and of what has changed, by those that come
			to := kv.ShardID(3)
			if guest >= 0 {
				i, to = guest, kv.ShardID(1+rng.IntN(2))
			}
			_, err = w.n.Move(ctx, ts[i].ID, to)
		}
		switch {
		case err == nil:
			w.changes.Add(1)
			for _, m := range w.maps {
				m.remember()
			}
		case !errors.Is(err, kv.ErrInvalidArgument) && !errors.Is(err, kv.ErrAlreadyExists) && !errors.Is(err, kv.ErrNotFound):
			w.wrong("changing tablets: %v", err)
		}
		wait := time.NewTimer(time.Millisecond) // some transactions run between
		<-wait.C
	}
}

// TestStaleClients runs clients whose maps of the tablets are out of date against tablets that are split, moved and merged all the time, and two
// collectors that remove all that no reader needs, on a real node. All money is there in each snapshot, what was acknowledged is read by
// who comes later, and a snapshot that collection has passed is refused rather than answered in part.
func TestStaleClients(t *testing.T) {
	events, seeds := 4000, uint64(2)
	if os.Getenv("MOKA_SOAK") != "" {
		events, seeds = 20_000, 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { staleClients(t, seed, events) })
	}
}

func staleClients(t *testing.T, seed uint64, events int) {
	ctx := t.Context()
	s := openReal(t, vfs.NewMem())
	w := &stale{bank: &bank{t: t, accounts: 24}, n: s.n}
	w.spread(ctx, s)
	var clients []*txn.Client
	for range 8 {
		clients = append(clients, w.client(seed))
	}
	w.listed = clients[:5]
	w.open(clients[0])
	w.note(w.history.Records()[0].CommitTS)
	begin := func(f func(c *txn.Client, name string, rng *rand.Rand), i int, name string) {
		w.wg.Go(func() { f(clients[i], name, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
	}
	for i := range 4 {
		begin(w.transact, i, fmt.Sprint("t", i))
	}
	begin(w.readSlowly, 4, "slow")
	begin(w.readPast, 5, "past")
	begin(w.collect, 6, "collector1")
	begin(w.collect, 7, "collector2")
	w.wg.Go(func() { w.change(rand.New(rand.NewPCG(seed, 99))) })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := 0; n < events || n < 4*events && !w.enough(); n = w.history.Now() {
		<-tick.C
	}
	w.ended.Store(true)
	w.wg.Wait()
	w.verdict(clients[0])
	for _, c := range clients {
		c.Close()
	}
	if err := s.n.Close(); err != nil {
		t.Error(err)
	}
}

// verdict checks the history, and that the load has done what it is for.
func (w *stale) verdict(c *txn.Client) {
	tx := c.Begin(txn.TxnOptions{ReadOnly: true})
	if err := w.sum(tx, "last", 0); err != nil {
		w.t.Error(err)
	}
	tx.Rollback()
	// What was removed cannot be compared with what was told: that it was there is what all those who read it later say.
	var stored []txntest.StoredVersion
	committed := 0
	for _, r := range w.history.Records() {
		if r.Outcome != txntest.Committed {
			continue
		}
		committed++
		for _, x := range r.Writes {
			stored = append(stored, txntest.StoredVersion{Column: x.Column, StartTS: r.StartTS, CommitTS: r.CommitTS, Value: x.Value})
		}
	}
	wrong := w.history.Check(stored)
	for i, err := range wrong {
		if i == 10 {
			w.t.Errorf("… and %d more", len(wrong)-i)
			break
		}
		w.t.Error(err)
	}
	if n := min(len(w.bad), 10); n > 0 {
		w.t.Errorf("%d wrong:\n%s", len(w.bad), strings.Join(w.bad[:n], "\n"))
	}
	w.t.Logf("%d committed, %d changes of tablets, %d versions removed; of readers of the past %d were served, %d refused",
		committed, w.changes.Load(), w.removed.Load(), w.past, w.tooOld)
	if !w.enough() {
		w.t.Error("the load was too tame to prove anything, or snapshots are served that collection has passed")
	}
}

// enough reports whether the load has done what it is for.
func (w *stale) enough() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changes.Load() >= 40 && w.removed.Load() >= 100 && w.past >= 10 && w.tooOld >= 10
}
