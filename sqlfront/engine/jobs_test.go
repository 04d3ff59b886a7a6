package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/txn"
	"moka/txn/txntest"
)

// mortal is the way of one process to the store. After a number of requests it leads nowhere, as if the process had been killed:
// nothing of what it still tries arrives.
type mortal struct {
	kv.Store
	left  atomic.Int64 // requests; negative for no end
	onEnd func()
	ended chan struct{} // closed when onEnd is over, which a goroutine of the process may run that nobody waits for
}

func (m *mortal) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, c kv.CommandID, req kv.Message) (kv.Message, error) {
	switch n := m.left.Add(-1); {
	case n == 0 && m.onEnd != nil:
		func() {
			defer close(m.ended) // also if onEnd ends the goroutine
			m.onEnd()
		}()
		fallthrough
	case n == 0 || n > -1<<30 && n < 0:
		return nil, kv.Errorf(kv.CodeClosed, "test", "the process is dead")
	}
	return m.Store.Call(ctx, shard, tablets, c, req)
}

func (m *mortal) live() { m.left.Store(-1 << 40) }

func (m *mortal) die(n int64) {
	m.ended = make(chan struct{})
	m.left.Store(n)
}

// cluster is a store with processes over it.
type cluster struct {
	t     *testing.T
	mem   *kvtest.Mem
	clock *txntest.Clock
	opts  txn.Options
}

func newCluster(t *testing.T) *cluster {
	_, mem := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
	return &cluster{t: t, mem: mem, clock: &txntest.Clock{}}
}

const testLease = 60 * time.Millisecond

// process starts one. One that is to die looks for nobody else's jobs: its requests are counted.
func (c *cluster) process(lease time.Duration) (*server, *mortal) {
	c.t.Helper()
	return c.processWith(lease)
}

func (c *cluster) processWith(lease time.Duration, opts ...func(*engine.Options)) (*server, *mortal) {
	c.t.Helper()
	m := &mortal{Store: c.mem}
	m.live()
	client, err := txn.NewClient(m, c.clock, c.opts)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = client.Close() })
	s := &server{t: c.t, client: client, store: c.mem}
	s.start(append(opts, func(o *engine.Options) { o.BackfillBatch, o.JobLease = 8, lease })...)
	return s, m
}

const jobRows = 400

func fill(s *session) {
	s.exec("create database d")
	s.sess.SetCurrentDatabase("d")
	s.exec("create table t (id int primary key, a int, b varchar(20))")
	var rows []string
	for i := range jobRows {
		rows = append(rows, fmt.Sprintf("(%d, %d, 'b%d')", i, i%50, i))
	}
	s.exec("insert into t values " + strings.Join(rows, ","))
}

// job waits for a job to come to a state, and returns it.
func (s *server) job(want catalog.JobState) catalog.Job {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); ; <-tick.C {
		all, err := s.eng.Jobs(context.Background())
		if err != nil {
			s.t.Fatal(err)
		}
		if len(all) > 0 && all[len(all)-1].State == want {
			return all[len(all)-1]
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("no job is %s: %+v", want, all)
		}
	}
}

func (s *server) checked() {
	s.t.Helper()
	wrong, err := s.eng.CheckAll(context.Background())
	if err != nil || len(wrong) > 0 {
		s.t.Errorf("%v %v", wrong, err)
	}
}

// TestBackfillGoesOnElsewhere kills the process that builds an index at many places. Another one finishes it, and begins where the first
// one was, not at the start.
func TestBackfillGoesOnElsewhere(t *testing.T) {
	for _, after := range []int64{5, 12, 25, 60, 90, 140} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			c := newCluster(t)
			a, way := c.process(time.Hour)
			s := a.session("")
			fill(s)
			var at catalog.Job                 // the record at the moment of death
			witness, _ := c.process(time.Hour) // who does not take it up
			way.onEnd = func() {
				if all, err := witness.eng.Jobs(context.Background()); err == nil && len(all) > 0 {
					at = all[0]
				}
			}
			way.die(after)
			if s.code("create index ia on t (a)") == 0 {
				t.Fatalf("the statement takes fewer than %d requests", after)
			}
			<-way.ended
			b, _ := c.process(testLease)
			if w := b.session("d"); at.ID == 0 { // before anything was published
				w.want("select count(*) from information_schema.statistics where index_name = 'ia'", "0")
				b.checked()
				return
			}
			j := b.job(catalog.JobDone)
			if j.Rows != jobRows || j.Resumed != 1 || j.Owner == at.Owner || j.Index != "ia" || j.Finished.Before(j.Started) || at.Rows >= jobRows {
				t.Errorf("when it died: %+v\nin the end: %+v", at, j)
			}
			t.Logf("died after %d rows", at.Rows)
			w := b.session("d")
			w.want("select count(*) from t where a = 7", "8")
			w.want("select count(*) from information_schema.statistics where index_name = 'ia'", "1")
			b.checked()
		})
	}
}

// TestBackfillResumedMeetsWritersAndADuplicate: between the death and the takeover rows come and go; then a unique index meets a duplicate and
// is taken back by the process that has taken over.
func TestBackfillResumedMeetsWritersAndADuplicate(t *testing.T) {
	c := newCluster(t)
	a, way := c.process(time.Hour)
	s := a.session("")
	fill(s)
	b, _ := c.process(testLease)
	w := b.session("d")
	way.onEnd = func() {
		w.exec("update t set a = a + 1000 where id % 3 = 0")
		w.exec("delete from t where id % 7 = 0")
		w.exec("insert into t values (-5, 3, 'low'), (5000, 4, 'high')")
	}
	way.die(60)
	if s.code("create index ia on t (a)") == 0 {
		t.Fatal("not killed")
	}
	<-way.ended
	b.job(catalog.JobDone)
	w.want("select count(*) from t where a = 3 and id = -5", "1")
	b.checked()

	d, way2 := c.process(time.Hour)
	s = d.session("d")
	w.exec("insert into t values (9000, 1, 'b399')") // at the end, twice there; id 399 is a multiple of 7: it went
	w.exec("insert into t values (9001, 1, 'b398')")
	way2.die(60)
	if s.code("create unique index ub on t (b)") == 0 {
		t.Fatal("not killed")
	}
	j := b.job(catalog.JobFailed)
	if !strings.Contains(j.Error, "b398") || j.Resumed != 1 {
		t.Errorf("%+v", j)
	}
	w.want("select count(*) from information_schema.statistics where index_name = 'ub'", "0")
	b.checked()
}

// TestKillOfAJob cancels a backfill that nobody waits for.
func TestKillOfAJob(t *testing.T) {
	c := newCluster(t)
	a, way := c.process(time.Hour)
	s := a.session("")
	fill(s)
	way.die(60)
	if s.code("create index ia on t (a)") == 0 {
		t.Fatal("not killed")
	}
	// It is cancelled before it is taken over; whoever takes it over cleans up.
	killer, _ := c.process(time.Hour)
	all, err := killer.eng.Jobs(context.Background())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	w := killer.session("d")
	w.exec("kill %d", 1<<31+all[0].ID)
	b, _ := c.process(testLease)
	j := b.job(catalog.JobCancelled)
	if j.Error == "" {
		t.Errorf("%+v", j)
	}
	if got := w.code(fmt.Sprintf("kill %d", 1<<31+j.ID)); got != 1094 {
		t.Errorf("KILL of a job that has ended: %d", got)
	}
	w.want("select count(*) from information_schema.statistics where index_name = 'ia'", "0")
	b.checked()
	// It can be made again.
	w.exec("create index ia on t (a)")
	if j := b.job(catalog.JobDone); j.Rows != jobRows || j.Resumed != 0 {
		t.Errorf("%+v", j)
	}
	b.checked()
}

// meddler does something once, after a number of requests, while a statement waits for the answer to one.
type meddler struct {
	kv.Store
	left atomic.Int64
	do   func()
}

func (m *meddler) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, c kv.CommandID,
	req kv.Message) (kv.Message, error) {
	if m.left.Add(-1) == 0 {
		m.do()
	}
	return m.Store.Call(ctx, shard, tablets, c, req)
}

// TestManyIndexesAreBuiltOnce: a statement with several built the second one in its own transaction, which
// lost against any CREATE TABLE elsewhere; then the first one was thrown away and built anew, without an end.
func TestManyIndexesAreBuiltOnce(t *testing.T) {
	for _, after := range []int64{0, 60, 150, 240, 260, 280, 300} {
		c := newCluster(t)
		other, _ := c.process(time.Hour)
		w := other.session("")
		fill(w)
		m := &meddler{Store: c.mem, do: func() { w.exec("create table elsewhere (id int primary key)") }}
		client, err := txn.NewClient(m, c.clock, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		a := &server{t: t, client: client, store: c.mem}
		a.start(func(o *engine.Options) { o.BackfillBatch, o.JobLease = 8, time.Hour })
		s := a.session("d")
		m.left.Store(after)
		s.exec("alter table t add index ia (a), add index ib (b)")
		left := m.left.Load()
		all, err := other.eng.Jobs(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var built []string
		for _, j := range all {
			built = append(built, j.Index)
		}
		slices.Sort(built)
		if got := strings.Join(built, " "); got != "ia ib" {
			t.Errorf("beside a statement after %d requests (%d left): %s", after, left, got)
		}
		w.want("select count(*) from t where a = 7", "8")
		w.want("select count(*) from t where b = 'b7'", "1")
		if got := s.code("alter table t add index ic (a, b), add unique id (a)"); got != 1062 {
			t.Errorf("a duplicate in the second: %d", got)
		}
		w.want("select count(distinct index_name) from information_schema.statistics "+
			"where table_name = 't'", "3")
		other.checked()
	}
}

// TestOldJobsAreForgotten keeps the list of jobs bounded.
func TestOldJobsAreForgotten(t *testing.T) {
	c := newCluster(t)
	b, _ := c.process(testLease)
	s := b.session("")
	s.exec("create database d")
	s.sess.SetCurrentDatabase("d")
	s.exec("create table t (id int primary key, a int)")
	s.exec("insert into t values (1,1),(2,2),(3,3),(4,4),(5,5),(6,6),(7,7),(8,8),(9,9),(10,10)")
	for i := range 110 {
		s.exec("create index i%d on t (a)", i)
		s.exec("drop index i%d on t", i)
	}
	all, err := b.eng.Jobs(context.Background())
	if err != nil || len(all) != 100 || all[99].Index != "i109" || all[0].Index != "i10" {
		t.Errorf("%d jobs, %v", len(all), err)
	}
}
