package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"google.golang.org/grpc/credentials"

	"moka/cmd/moka/page"
	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/client"
	"moka/kv/coord"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/kv/rpc/raftrpc"
	"moka/kv/schedule"
	"moka/oracle"
	"moka/sqlfront"
	"moka/sqlfront/pushdown"
	"moka/triggers"
	"moka/txn"
	"moka/txn/gc"
)

const (
	// coordPrefix is where the coordination service keeps itself in the node's own key space.
	coordPrefix = "coord/"
	// sessionTTL is how long a process that fell silent keeps its locks from being rolled back at once.
	sessionTTL = 10 * time.Second
	// orphanSweep is how often locks of dead transactions are looked for. Readers that meet
	// one do not wait for it.
	orphanSweep = 5 * time.Second
	startTime   = 30 * time.Second
	// sqlMemory is what sessions, plans and results may take before the garbage collector works harder than
	// usual. It is no bound.
	sqlMemory = 512 << 20
)

// stack is one process with its rooms wired together, bottom up:
//
//	node (Pebble, shards) ← coordination ← oracle ← client (routing) ← txn ← triggers ← sqlfront
//	 or: pool to a node that has them     ←  remote oracle ┘
type stack struct {
	o                           stackOptions
	started                     time.Time
	sqlAddr, httpAddr, nodeAddr string

	node   *node.Node
	coord  coord.Service
	oracle oracle.Local // where there is storage
	clock  *oracle.Client
	// raise sets the oracle's safe point, where there is storage.
	raise   func(context.Context, kv.Timestamp) (kv.Timestamp, error)
	meta    *client.Metadata
	store   *client.Client
	txn     *txn.Client
	gc      *gc.Collector // nil where there is no storage, and where all versions are kept
	worker  *triggers.Worker
	sql     *sqlfront.Server
	held    atomic.Pointer[func() int64] // what statements hold, once there is an SQL server
	http    *httpServer
	rpc     *rpc.Server
	closers []func(context.Context) error // in order of opening

	listeners listeners
	trusted   credentials.TransportCredentials // by which nodes that join are known
	token     *token                           // nil without HTTP
	files     fileShares
	mix       atomic.Pointer[page.Mix] // what a workload has told last

	replicated bool // shards have several replicas, and are elected
	// Of a member of a cluster: what it has of coordination and the oracle while it leads the first shard.
	coordination *replicated.Host
	oracles      *oracle.Host
	keeper       *keeper
	transport    *raftrpc.Transport
	nodeCalls    nodeCalls // of a member
	met          []member  // that a node which joins was told of
	short        bool      // said of the disk of the node; of followNodes
	registry     atomic.Pointer[schedule.Registry]

	failed chan error // a part that should go on for ever has ended
	wg     sync.WaitGroup
}

// openStack opens everything. Addresses are taken before the directory is touched, so that a port
// in use leaves no trace.
func openStack(ctx context.Context, o stackOptions) (_ *stack, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if !o.restores && !o.Memory && o.has(roleStorage) {
		if err := checkRestored(o.Data); err != nil {
			return nil, err
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	keepFilesPrivate()
	s := &stack{o: o, started: time.Now(), failed: make(chan error, 8)}
	within := startTime
	if o.Cluster {
		within = clusterStart
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	defer func() {
		if err != nil {
			_ = s.close(context.Background())
		}
	}()
	if err := s.takeFiles(); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	switch {
	case o.Cluster:
		err = s.openCluster(ctx)
	case o.Join != "":
		err = s.join(ctx)
	default:
		err = s.openStorage(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := s.openTransactions(ctx); err != nil {
		return nil, err
	}
	s.onClose(s.closeHTTP)
	if err := s.openSQL(ctx); err != nil {
		return nil, err
	}
	if !o.Cluster {
		s.serveNodes() // a member has done so before
	}
	if s.listeners.http != nil {
		if s.token, err = s.openToken(); err != nil {
			return nil, err
		}
		s.http = newHTTPServer(s)
		s.serve("http", func() error { return s.http.serve(bound(s.listeners.http, s.files.http)) })
	}
	return s, nil
}

type listeners struct{ sql, http, node net.Listener }

// listen takes all addresses at once. What is open is closed with the stack, also if a later one fails.
func (s *stack) listen() error {
	take := func(l *net.Listener, bound *string, flag, addr string) (err error) {
		if *l, err = listen(flag, addr); err != nil {
			return err
		}
		*bound = (*l).Addr().String()
		// closed already if its server ran
		s.onClose(func(context.Context) error { _ = (*l).Close(); return nil })
		return nil
	}
	var errs []error
	if s.o.has(roleSQL) {
		errs = append(errs, take(&s.listeners.sql, &s.sqlAddr, "sql-addr", s.o.SQLAddr))
	}
	if s.o.HTTPAddr != "" {
		errs = append(errs, take(&s.listeners.http, &s.httpAddr, "http-addr", s.o.HTTPAddr))
	}
	if s.o.NodeAddr != "" {
		flag, addr := "node-addr", s.o.NodeAddr
		if s.o.NodeListen != "" {
			flag, addr = "node-listen", s.o.NodeListen
		}
		if err := take(&s.listeners.node, &s.nodeAddr, flag, addr); err != nil {
			errs = append(errs, err)
		} else {
			errs = append(errs, s.trustNodes(s.nodeAddr))
		}
		if s.o.NodeListen != "" {
			s.nodeAddr = s.o.NodeAddr
		}
	}
	return errors.Join(errs...)
}

// coprocessors are the layers that run next to the data, the same in every process of a cluster.
func coprocessors(memory int64) []kv.Coprocessor {
	return []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{Programs: pushdown.Load,
		LongReads: int(min(max(2, memory/longRead), mostLongReads))}), triggers.NewCoprocessor(nil)}
}

// remoteCoprocessors are those of which a process without the shard knows the commands.
func remoteCoprocessors() []kv.Coprocessor {
	return append([]kv.Coprocessor{bigtable.New(nil), node.Replicas{}}, coprocessors(0)...)
}

// longRead is the memory of a process for each of the long values that are read at a time, of which each may
// take a quarter.
const (
	longRead      = 512 << 20
	mostLongReads = 64
)

// nodeOptions are the settings of a node of its own.
func (s *stack) nodeOptions() node.Options {
	no := node.Options{
		Dir: s.o.Data, Shards: s.o.Shards, CacheBytes: int64(s.o.CacheMiB) << 20,
		SeparateValues: s.o.SeparateValues, Coprocessors: coprocessors(s.o.memoryLimit()), Logger: s.o.Logger,
		AcceptDataLoss: s.o.AcceptDataLoss, OpenTables: s.files.store, Ballast: s.o.ballast(),
	}
	if s.o.Memory {
		no.Dir, no.FS = "moka", vfs.NewMem()
	}
	var layers int64
	if s.o.has(roleSQL) {
		layers = sqlMemory
	}
	no.MemoryLimit = node.LimitMemory(no.CacheBytes, layers)
	no.MaxMemory = s.o.memoryLimit() / 4 * 3
	no.Held = func() int64 {
		if held := s.held.Load(); held != nil {
			return (*held)()
		}
		return 0
	}
	s.o.Logger.Debug("memory", "limit", debug.SetMemoryLimit(-1))
	return no
}

// openStorage opens the node and what only a process with storage has: coordination and the oracle.
func (s *stack) openStorage(ctx context.Context) error {
	n, err := node.Open(s.nodeOptions())
	if err != nil {
		return err
	}
	if s.o.shardsAsked && len(n.Shards()) > s.o.Shards {
		s.o.Logger.Warn("shards are added and never taken away: this directory keeps those that it has",
			"--shards", s.o.Shards, "has", len(n.Shards()))
	}
	s.node = n
	s.onClose(func(context.Context) error { return n.Close() })
	if err := s.openCoordination(ctx); err != nil {
		return err
	}
	co := client.Options{Node: n.ID(), Local: n, Logger: s.o.Logger}
	if s.meta, err = client.NewMetadata(cluster{s}, n, co); err != nil {
		return err
	}
	s.store, err = client.New(s.meta, n, co)
	return err
}

// openCoordination starts the coordination service and the oracle on what the node keeps for them.
func (s *stack) openCoordination(ctx context.Context) error {
	c, err := local.Open(s.node.CoordStore(), []byte(coordPrefix), local.Options{})
	if err != nil {
		return err
	}
	s.coord = c
	s.onClose(func(context.Context) error { c.Close(); return nil })
	server := oracle.Start(c, oracle.Options{Address: s.nodeAddr, Logger: s.o.Logger})
	s.oracle = server
	s.onClose(func(context.Context) error { server.Close(); return nil })
	if err := server.WaitLeading(ctx); err != nil {
		return fmt.Errorf("the timestamp oracle did not start: %w", err)
	}
	s.raise = server.SetSafePoint
	s.clock = oracle.NewClient(server, oracle.ClientOptions{})
	s.onClose(func(context.Context) error { s.clock.Close(); return nil })
	return nil
}

// openTransactions makes the transaction client, with a session of the coordination service as its token
// (§2.2: the paper's Chubby lockservice token), and keeps looking for locks that nobody will come back for.
func (s *stack) openTransactions(ctx context.Context) error {
	session, err := s.coord.NewSession(ctx, sessionTTL)
	if err != nil {
		return fmt.Errorf("opening a session: %w", err)
	}
	k := &keeper{s: s, session: session}
	s.keeper = k
	s.onClose(k.close)
	s.background(k.run)
	to := txn.Options{Session: sessionName(session), Liveness: liveness{s.coord}, Logger: s.o.Logger}
	if s.replicated {
		to.LockTTL = clusterLockTTL
	}
	var store kv.Store = s.store
	if s.o.steps != nil {
		store, to.NoAsyncCommit = s.o.steps.Over(store), true
	}
	s.txn, err = txn.NewClient(store, s.clock, to)
	if err != nil {
		return err
	}
	s.onClose(func(context.Context) error { return s.txn.Close() })
	k.tell(session, locker{s.txn})
	if s.node != nil && !s.o.leaveOrphans {
		s.background(s.sweepOrphans)
	}
	if s.o.Cluster {
		s.background(s.followNodes)
	}
	told, err := s.openGC(ctx, session)
	for _, u := range told {
		k.tell(session, u)
	}
	return err
}

// liveness answers for the sessions in locks.
type liveness struct{ c coord.Service }

func (l liveness) Alive(ctx context.Context, session string) (bool, error) {
	id, err := strconv.ParseUint(session, 10, 64)
	if err != nil {
		return false, fmt.Errorf("session %q in a lock is not a number: %w", session, err)
	}
	return l.c.Alive(ctx, coord.SessionID(id))
}

func (s *stack) sweepOrphans(ctx context.Context) {
	t := time.NewTicker(orphanSweep)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if n, err := s.txn.ResolveOrphans(ctx, orphanSweep); err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("resolving orphaned locks failed; trying again", "err", err)
		} else if n > 0 {
			s.o.Logger.Info("resolved orphaned locks", "locks", n)
		}
	}
}

// openSQL starts the SQL server and, where the role says so, the worker that runs observers.
func (s *stack) openSQL(ctx context.Context) error {
	if !s.o.has(roleSQL) {
		return nil
	}
	if s.o.has(roleWorker) {
		s.worker = triggers.NewWorker(s.txn, s.store, s.sqlAddr,
			triggers.Options{Runners: s.o.Runners, Logger: s.o.Logger})
	}
	so := sqlfront.Options{
		Client: s.txn, Store: s.store, Listener: s.listeners.sql, Worker: s.worker,
		ObserverRunners: s.o.Runners,
		MaxConnections:  s.o.MaxConns, MostConnections: s.files.clients, MostLogins: s.files.logins,
		FileDir: s.o.FileDir,
		LogDir:  s.o.logDir(), DataDir: s.o.dataDir(), Tablets: s.tablets(),
		Socket: s.o.Socket, Version: version, Logger: s.o.Logger,
		NoPlanCache: s.o.PlanCache == "off", TempDir: s.o.tempDir(), TempDisk: int64(s.o.TempDisk) << 20,
		QueryMemory: s.o.queryMemory(),
		RequireTLS:  s.o.RequireTLS, NodeInsecure: s.o.Insecure,
		MemoryLimit: s.o.memoryLimit(), StatementsMemory: s.o.statementsMemory(),
		CatalogMemory: s.o.catalogMemory(),
	}
	if s.node != nil {
		so.DiskFull = s.node.Room // they are beside the data
	}
	var err error
	if so.TLS, err = s.clientTLS(); err != nil {
		return err
	}
	if s.sql, err = sqlfront.New(ctx, so); err != nil {
		return err
	}
	held := s.sql.Engine().Held
	s.held.Store(&held)
	s.onClose(func(ctx context.Context) error { return errors.Join(s.sql.Drain(ctx), s.sql.Close()) })
	if s.worker != nil {
		s.worker.Start()
		s.onClose(func(context.Context) error { s.worker.Close(); return nil })
	}
	s.serve("sql", s.sql.Serve)
	return nil
}

// serve runs a part that goes on until it is closed; if it ends before, the process stops.
func (s *stack) serve(what string, f func() error) {
	s.wg.Go(func() {
		if err := f(); err != nil {
			s.failed <- fmt.Errorf("%s: %w", what, err)
		}
	})
}

// background runs f until its turn to close, and waits for it then.
func (s *stack) background(f func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.wg.Go(func() { defer close(done); f(ctx) })
	s.onClose(func(context.Context) error { cancel(); <-done; return nil })
}

func (s *stack) onClose(f func(context.Context) error) { s.closers = append(s.closers, f) }

// close stops everything, the last opened first. ctx bounds how long statements may go on.
func (s *stack) close(ctx context.Context) error {
	if s.http != nil {
		s.http.draining.Store(true)
	}
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i](ctx))
	}
	s.wg.Wait()
	return errors.Join(errs...)
}
