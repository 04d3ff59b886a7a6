package observer_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/observer"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/triggers"
	"moka/txn"
	"moka/txn/txntest"
)

// world is a store in memory with SQL nodes over it.
type world struct {
	t     testing.TB
	mem   *kvtest.Mem
	clock *txntest.Clock // one for all nodes
	lease time.Duration  // of jobs; zero for the default
	// countRows and countTime bound counts of what was missed; zero for the default.
	countRows int
	countTime time.Duration
	hold      time.Duration // of tables; zero for the default
	withheld  time.Duration // the lease of what a worker has fetched; zero for the default
}

func newWorld(t testing.TB) *world {
	_, mem := txntest.NewStore(t, kvtest.Options{
		Coprocessors: []kv.Coprocessor{triggers.NewCoprocessor(nil)}}, txn.Options{})
	return &world{t: t, mem: mem, clock: &txntest.Clock{}}
}

// node is one process: a SQL engine, and a worker if it runs observers.
type node struct {
	*world
	eng    *engine.Engine
	reg    *observer.Registry
	worker *triggers.Worker
	read   *meter
	stop   func()
}

// meter counts what the store answers.
type meter struct {
	kv.Store
	bytes atomic.Int64
	left  atomic.Int64 // requests until the process is dead; zero for no end
	// asked is called with each request, if it is set.
	asked atomic.Pointer[func(kv.CommandID, kv.Message)]
}

func (m *meter) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, c kv.CommandID,
	req kv.Message) (kv.Message, error) {
	if n := m.left.Load(); n != 0 && (n == 1 || m.left.Add(-1) == 1) {
		return nil, kv.Errorf(kv.CodeClosed, "test", "the process is dead")
	}
	if f := m.asked.Load(); f != nil {
		(*f)(c, req)
	}
	resp, err := m.Store.Call(ctx, shard, tablets, c, req)
	if resp != nil {
		m.bytes.Add(int64(len(resp.AppendTo(nil))))
	}
	return resp, err
}

// node starts a process; works says whether it runs observers.
func (w *world) node(works bool) *node {
	w.t.Helper()
	return w.nodeWith(works, func(*node) {})
}

// nodeWith is node, which before is shown before it begins to run observers.
func (w *world) nodeWith(works bool, before func(*node)) *node {
	w.t.Helper()
	n := &node{world: w, read: &meter{Store: w.mem}}
	ctx := context.Background()
	client, err := txn.NewClient(n.read, w.clock, txn.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	cat, err := catalog.Open(ctx, client, catalog.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	const runners = 4
	if works {
		n.worker = triggers.NewWorker(client, n.read, "node",
			triggers.Options{Runners: runners, SweepEvery: 20 * time.Millisecond, Lease: w.withheld})
	}
	n.reg = observer.New(observer.Options{
		Client: client, Catalog: cat, Store: n.read, Worker: n.worker, Runners: runners,
		Follow: 5 * time.Millisecond, HoldTime: w.hold,
		CountRows: w.countRows, CountTime: w.countTime,
	})
	n.eng, err = engine.New(ctx, engine.Options{
		Client: client, Catalog: cat, Store: n.read, Parser: parse.New(n.reg.Hooks()), JobLease: w.lease,
		Databases:   []sql.Database{system.New("moka", n.reg.SystemTables()...)},
		Information: n.reg.Information(), HoldRuns: n.reg.Hold, Background: n.reg,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	before(n)
	if err := n.reg.Start(ctx, n.eng); err != nil {
		w.t.Fatal(err)
	}
	if works {
		n.worker.Start()
	}
	stopped := false
	n.stop = func() {
		if stopped {
			return
		}
		stopped = true
		if n.worker != nil {
			n.worker.Close()
		}
		n.reg.Close()
		if err := n.eng.Close(); err != nil {
			w.t.Error(err)
		}
		if err := client.Close(); err != nil {
			w.t.Error(err)
		}
	}
	w.t.Cleanup(n.stop)
	return n
}

// start is a database d with one node that runs observers, and a session in d.
func start(t testing.TB) (*node, *session) {
	t.Helper()
	n := newWorld(t).node(true)
	n.session("").exec("create database d")
	return n, n.session("d")
}

type session struct {
	t    testing.TB
	eng  *engine.Engine
	sess *engine.Session
}

var connections atomic.Uint32

func (n *node) session(db string) *session {
	base := sql.NewBaseSessionWithClientServer("test", sql.Client{User: "root", Address: "localhost"},
		connections.Add(1))
	s := &session{t: n.t, eng: n.eng, sess: n.eng.NewSession(base)}
	s.sess.SetCurrentDatabase(db)
	n.t.Cleanup(s.sess.SessionEnd)
	return s
}

// run executes a statement as the wire layer does: in autocommit, again after a conflict.
func (s *session) run(query string) (schema sql.Schema, rows []sql.Row, err error) {
	defer s.sess.Contended(false)
	for range 100 {
		schema, rows, err = s.once(query)
		if err == nil || !engine.IsRetryable(err) || s.sess.GetTransaction() != nil {
			break
		}
		s.sess.Contended(true)
	}
	return schema, rows, err
}

func (s *session) once(query string) (sql.Schema, []sql.Row, error) {
	if err := s.sess.CommandBegin(); err != nil {
		return nil, nil, err
	}
	defer s.sess.CommandEnd()
	ctx := sql.NewContext(context.Background(), sql.WithSession(s.sess), sql.WithPid(uint64(s.sess.ID())),
		sql.WithProcessList(s.eng.SQL().ProcessList)).WithQuery(query)
	schema, iter, _, err := s.eng.SQL().Query(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	var rows []sql.Row
	for {
		row, err := iter.Next(ctx)
		if err == io.EOF {
			return schema, rows, iter.Close(ctx)
		}
		if err != nil {
			_ = iter.Close(ctx)
			return schema, rows, err
		}
		rows = append(rows, row)
	}
}

func (s *session) exec(queries ...string) {
	s.t.Helper()
	for _, q := range queries {
		if _, _, err := s.run(q); err != nil {
			s.t.Fatalf("%s: %v", q, err)
		}
	}
}

// text prints a result: columns with spaces, rows with semicolons.
func (s *session) text(query string) string {
	schema, rows, err := s.run(query)
	if err != nil {
		e := sqlerr.Final(err, sqlerr.Statement{Query: query, Database: s.sess.GetCurrentDatabase()})
		return fmt.Sprintf("error %d %s", e.Num, e.Message)
	}
	var out []string
	for _, r := range rows {
		if types.IsOkResultSchema(schema) {
			continue
		}
		var cols []string
		for i, v := range r {
			text := "NULL"
			if v != nil {
				val, err := schema[i].Type.SQL(sql.NewEmptyContext(), nil, v)
				if err != nil {
					s.t.Fatal(err)
				}
				text = val.ToString()
			}
			cols = append(cols, text)
		}
		out = append(out, strings.Join(cols, " "))
	}
	return strings.Join(out, "; ")
}

func (s *session) want(query, expect string) {
	s.t.Helper()
	if got := s.text(query); got != expect {
		s.t.Fatalf("%s:\n got %s\nwant %s", query, got, expect)
	}
}

// wantCode expects an error with the number and the words.
func (s *session) wantCode(query string, code int, words string) {
	s.t.Helper()
	if got := s.text(query); !strings.HasPrefix(got, fmt.Sprintf("error %d ", code)) ||
		!strings.Contains(got, words) {
		s.t.Errorf("%s: %s, want error %d with %q", query, got, code, words)
	}
}

// eventually asks again until the answer is the expected one.
func (s *session) eventually(query, expect string) {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); ; <-tick.C {
		got := s.text(query)
		if got == expect {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s:\n still %s\n  want %s\nfailures: %s", query, got, expect,
				s.text("select * from moka.observer_errors"))
		}
	}
}

// rest waits until every observer has acknowledged everything.
func (s *session) rest() {
	s.t.Helper()
	s.eventually("select coalesce(sum(waiting), 0) from moka.observer_backlog", "0")
}
