package replicated_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
	"moka/kv/keys"
	"moka/kv/rpc/coordrpc"
	"moka/kv/shard"
	"moka/kv/shardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ coordrpc.Host = (*replicated.Host)(nil)

// relay is the log of one leadership, which can be lost without anybody's being told.
type relay struct {
	disk *shardtest.Disk
	term uint64

	mu   sync.Mutex
	lost bool
}

func (r *relay) gone() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost {
		return kv.NotLeader("test", kv.Lead{Shard: 1})
	}
	return nil
}

func (r *relay) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

func (r *relay) Propose(_ context.Context, p *shard.Proposal) error {
	if err := r.gone(); err != nil {
		return err
	}
	r.disk.Commit(p.Batch)
	return nil
}
func (r *relay) Lease(context.Context) error { return r.gone() }
func (r *relay) Leased() bool                { return r.gone() == nil }
func (r *relay) Term() uint64                { return r.term }
func (r *relay) Durable() bool               { return true }

// member is a node's part: a host, and a replica that leads or does not.
type member struct {
	t       *testing.T
	host    *replicated.Host
	replica *shard.Replica
	disk    *shardtest.Disk
	lead    *shard.Leadership
	log     *relay
	begun   chan coord.Service // gets what each leadership leads with
}

func newMember(t *testing.T, disk *shardtest.Disk, o replicated.Options) *member {
	m := &member{t: t, disk: disk, begun: make(chan coord.Service, 8)}
	o.Shard = 1
	o.Lead = func(svc coord.Service, _ replicated.Lease) func() {
		m.begun <- svc
		return func() {}
	}
	m.host = replicated.New(o)
	registry, err := shard.NewRegistry([]kv.Coprocessor{m.host})
	if err != nil {
		t.Fatal(err)
	}
	if m.replica, err = shard.Open(shard.Options{ID: 1, Engine: disk, Registry: registry}); err != nil {
		t.Fatal(err)
	}
	return m
}

// begins leads in a term, and waits until the service answers.
func (m *member) begins(term uint64) coord.Service {
	m.t.Helper()
	m.log = &relay{disk: m.disk, term: term}
	var err error
	if m.lead, err = m.replica.Lead(m.log); err != nil {
		m.t.Fatal(err)
	}
	svc := <-m.begun
	for _, _, err := m.host.List(m.t.Context(), ""); err != nil; _, _, err = m.host.List(m.t.Context(), "") {
		if m.t.Context().Err() != nil {
			m.t.Fatal(err)
		}
	}
	return svc
}

func (m *member) ends() {
	m.t.Helper()
	<-m.lead.Depose()
	if err := m.lead.End(); err != nil {
		m.t.Error(err)
	}
}

// founded is the disk of a new cluster's member.
func founded(t *testing.T) *shardtest.Disk {
	disk := shardtest.NewDisk()
	b := disk.NewBatch()
	defer b.Close()
	set := func(k, v []byte) error { return b.Set(k, v, nil) }
	if err := replicated.Found(1, set); err != nil {
		t.Fatal(err)
	}
	disk.Commit(b)
	return disk
}

func TestConformance(t *testing.T) {
	coordtest.Run(t, func(t *testing.T) coordtest.Setup {
		clock := coordtest.NewClock()
		m := newMember(t, founded(t), replicated.Options{
			Service: local.Options{Clock: clock, WatchBuffer: 256, History: 64},
		})
		m.begins(1)
		t.Cleanup(m.ends)
		return coordtest.Setup{Service: m.host, Advance: clock.Advance}
	})
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A change of the lead loses nothing: keys, revisions, sessions of others, which have a full lease again
// however long nobody led; the sessions of what led with the last leader end, with their keys, before anybody
// is answered. (Mistake 40 of the design.)
func TestChangeOfLead(t *testing.T) {
	ctx := t.Context()
	clock := coordtest.NewClock()
	disk := founded(t)
	o := replicated.Options{Service: local.Options{Clock: clock}}
	first := newMember(t, disk, o)
	svc := first.begins(1)
	theirs := must[coord.Session](t)(first.host.NewSession(ctx, 10*time.Second))
	oracle := must[coord.Session](t)(svc.NewSession(ctx, 10*time.Second))
	last := must[coord.Revision](t)(first.host.Txn(ctx, nil, []coord.Op{
		coord.Put("stays", []byte("1")), coord.PutEphemeral("theirs", nil, theirs.ID()),
		coord.PutEphemeral("oracle", nil, oracle.ID()),
	}))
	clock.Advance(9 * time.Second)
	first.ends()
	if _, err := first.host.Get(ctx, "stays"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("who does not lead answers %v", err)
	}
	clock.Advance(time.Hour)

	second := newMember(t, disk, o)
	second.begins(2)
	defer second.ends()
	for _, key := range []string{"stays", "theirs"} {
		if _, err := second.host.Get(ctx, key); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := second.host.Get(ctx, "oracle"); !errors.Is(err, coord.ErrNotFound) {
		t.Errorf("a key of what led with the last leader: %v", err)
	}
	if alive := must[bool](t)(second.host.Alive(ctx, oracle.ID())); alive {
		t.Error("a session of what led with the last leader lives")
	}
	clock.Advance(9 * time.Second)
	again := must[coord.Session](t)(second.host.Attach(ctx, theirs.ID()))
	if err := again.KeepAlive(ctx); err != nil {
		t.Errorf("a session has had no full lease at the new leader: %v", err)
	}
	put := []coord.Op{coord.Put("x", nil)}
	if rev := must[coord.Revision](t)(second.host.Txn(ctx, nil, put)); rev <= last {
		t.Errorf("revision %d after %d", rev, last)
	}
	if fresh := must[coord.Session](t)(second.host.NewSession(ctx, time.Second)); fresh.ID() <= theirs.ID() {
		t.Errorf("session %d after %d", fresh.ID(), theirs.ID())
	}
}

// A leader that was deposed and does not know answers nothing: not what it sees, not that a session lives or
// was kept alive, not that a condition fails; and changes nothing. (Mistakes 41 and 46.)
func TestDeposed(t *testing.T) {
	ctx := t.Context()
	disk := founded(t)
	m := newMember(t, disk, replicated.Options{})
	m.begins(1)
	defer m.ends()
	s := must[coord.Session](t)(m.host.NewSession(ctx, time.Minute))
	must[coord.Revision](t)(m.host.Txn(ctx, nil, []coord.Op{coord.Put("k", nil)}))
	if !s.Valid() {
		t.Fatal("a new session is not valid")
	}
	m.log.lose()
	if s.Valid() {
		t.Error("a session is valid at a leader that was deposed")
	}
	absent, put := []coord.Cond{coord.Absent("k")}, []coord.Op{coord.Put("k", nil)}
	for name, f := range map[string]func() error{
		"get":         func() error { _, err := m.host.Get(ctx, "k"); return err },
		"get nothing": func() error { _, err := m.host.Get(ctx, "none"); return err },
		"list":        func() error { _, _, err := m.host.List(ctx, ""); return err },
		"alive":       func() error { _, err := m.host.Alive(ctx, s.ID()); return err },
		"dead":        func() error { _, err := m.host.Alive(ctx, s.ID()+100); return err },
		"attach":      func() error { _, err := m.host.Attach(ctx, s.ID()); return err },
		"attach none": func() error { _, err := m.host.Attach(ctx, s.ID()+100); return err },
		"keep alive":  func() error { return s.KeepAlive(ctx) },
		"watch":       func() error { _, err := m.host.Watch(ctx, "", 0); return err },
		"conflict":    func() error { _, err := m.host.Txn(ctx, absent, put); return err },
		"condition":   func() error { _, err := m.host.Txn(ctx, nil, nil); return err },
	} {
		if err := f(); !errors.Is(err, coord.ErrUnavailable) {
			t.Errorf("%s: a leader that was deposed answers %v", name, err)
		}
	}
	if rev, err := m.host.Txn(ctx, nil, []coord.Op{coord.Put("late", nil)}); err == nil {
		t.Errorf("a leader that was deposed makes revision %d", rev)
	}
	if err := s.Close(ctx); err == nil {
		t.Error("a session is closed at a leader that was deposed")
	}
	lower, upper := keys.RecordSpan(1, keys.StateCoord, []byte("klate"))
	if err := disk.Scan(lower, upper, func(k, _ []byte) error {
		t.Errorf("%q was written", k)
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// The service of a cluster that was founded by a release before goes on, from where node 1 kept it: no
// revision and no session comes twice, and the ceiling of timestamps is there. Until then nobody serves.
// (Mistake 39.)
func TestTakeOver(t *testing.T) {
	ctx := t.Context()
	was := newMember(t, founded(t), replicated.Options{}) // any store will do
	was.begins(1)
	ceiling := []byte("how far the oracle has come")
	old := must[coord.Session](t)(was.host.NewSession(ctx, time.Hour))
	rev := must[coord.Revision](t)(was.host.Txn(ctx, nil, []coord.Op{coord.Put("oracle/ceiling", ceiling)}))
	was.ends()

	asked := make(chan struct{}, 1)
	var mu sync.Mutex
	there := false
	m := newMember(t, shardtest.NewDisk(), replicated.Options{
		TakeOver: func(take func(local.Store, []byte) error) error {
			mu.Lock()
			defer mu.Unlock()
			if !there {
				select {
				case asked <- struct{}{}:
				default:
				}
				return kv.Errorf(kv.CodeUnavailable, "test", "not here")
			}
			return take(kept{was.disk}, []byte{})
		},
	})
	m.log = &relay{disk: m.disk, term: 1}
	lead, err := m.replica.Lead(m.log)
	if err != nil {
		t.Fatal(err)
	}
	m.lead = lead
	<-asked
	if _, err := m.host.Get(ctx, "oracle/ceiling"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("served before it was taken over: %v", err)
	}
	mu.Lock()
	there = true
	mu.Unlock()
	<-m.begun
	m.ends()
	m.begins(2) // and once more without asking: it is there
	defer m.ends()
	k := must[coord.KV](t)(m.host.Get(ctx, "oracle/ceiling"))
	if string(k.Value) != string(ceiling) || k.ModRev != rev {
		t.Errorf("the ceiling is %q of revision %d", k.Value, k.ModRev)
	}
	if !must[bool](t)(m.host.Alive(ctx, old.ID())) {
		t.Error("a session has ended by it")
	}
	if s := must[coord.Session](t)(m.host.NewSession(ctx, time.Hour)); coord.Revision(s.ID()) <= rev {
		t.Errorf("session %d after revision %d", s.ID(), rev)
	}
}

// kept is a service's keys as a store of its own.
type kept struct{ disk *shardtest.Disk }

func (k kept) Get(key []byte) ([]byte, bool, error) {
	return k.disk.Get(keys.AppendRecord(nil, 1, keys.StateCoord, key[:len(key)-1]))
}

func (k kept) Scan(prefix []byte, fn func(key, value []byte) error) error {
	lower, upper := keys.RecordSpan(1, keys.StateCoord, prefix)
	return k.disk.Scan(lower, upper, func(key, v []byte) error {
		bare, _ := keys.RecordKey(key)
		return fn(append(bare[:len(bare):len(bare)], 0), v)
	})
}

func (k kept) Apply([]local.KV, [][]byte) error { return errors.New("read only") }
