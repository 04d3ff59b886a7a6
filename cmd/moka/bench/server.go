package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/client"
	"moka/kv/coord/local"
	"moka/kv/engine"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/oracle"
	"moka/triggers"
	"moka/txn"
)

// ServerOptions describe the server of an experiment. They go to the child as JSON.
type ServerOptions struct {
	Dir      string // of the node; it is created
	Memory   bool   // keep everything in memory: no disk, no fsync
	CacheMiB int    // zero: the node's default
	// SeparateValues is the node's.
	SeparateValues int

	memoryLimit int64 // of the process, if it is the server's own
}

// Server is the storage side of a Moka: a node with one shard, local coordination on its Pebble, the oracle.
// It is put together as "moka start" does it, without what is above transactions.
type Server struct {
	node    *node.Node
	coord   *local.Service
	oracle  *oracle.Server
	rpc     *rpc.Server
	addr    string
	serving sync.WaitGroup
}

func coprocessors() []kv.Coprocessor {
	return []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{}), triggers.NewCoprocessor(nil)}
}

// OpenServer opens the node and waits until the oracle leads.
func OpenServer(ctx context.Context, o ServerOptions) (_ *Server, err error) {
	s := &Server{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	no := node.Options{Dir: o.Dir, Shards: 1, CacheBytes: int64(o.CacheMiB) << 20, MemoryLimit: o.memoryLimit,
		SeparateValues: o.SeparateValues, Coprocessors: coprocessors()}
	if o.Memory {
		no.FS = vfs.NewMem()
	}
	if s.node, err = node.Open(no); err != nil {
		return nil, err
	}
	if s.coord, err = local.Open(s.node.CoordStore(), []byte("coord/"), local.Options{}); err != nil {
		return nil, err
	}
	s.oracle = oracle.Start(s.coord, oracle.Options{})
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return s, s.oracle.WaitLeading(ctx)
}

// Listen offers the server to other processes.
func (s *Server) Listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.addr = l.Addr().String()
	s.rpc = rpc.NewServer(s.node.ID(), s.node, s.node, s, rpc.Options{})
	oracle.Register(s.rpc, s.oracle)
	s.serving.Go(func() { _ = s.rpc.Serve(l) }) // its end is Close's doing, or the callers' errors
	return nil
}

// Addr is where it listens.
func (s *Server) Addr() string { return s.addr }

// ClusterInfo implements client's and rpc's idea of a cluster: this node.
func (s *Server) ClusterInfo(context.Context) (rpc.ClusterInfo, error) {
	info := rpc.ClusterInfo{
		ClusterID: "bench", Node: s.node.ID(), Root: node.MetaShard,
		Nodes: []rpc.NodeInfo{{ID: s.node.ID(), Address: s.addr}},
	}
	for _, sh := range s.node.Shards() {
		info.Shards = append(info.Shards, rpc.ShardInfo{ID: sh, Node: s.node.ID()})
	}
	return info, nil
}

// Close closes all of it.
func (s *Server) Close() error {
	var errs []error
	if s.rpc != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		errs = append(errs, s.rpc.Shutdown(ctx))
		cancel()
		s.serving.Wait()
	}
	if s.oracle != nil {
		s.oracle.Close()
	}
	if s.coord != nil {
		s.coord.Close()
	}
	if s.node != nil {
		errs = append(errs, s.node.Close())
	}
	return errors.Join(errs...)
}

// ServerStats are the figures of the server's process.
type ServerStats struct {
	Error         string        `json:",omitempty"` // of the question
	CPU           time.Duration // user and system, since the process began
	ResidentBytes uint64
	GoBytes       uint64 // of Go's heap in use
	MemoryLimit   int64  // of the runtime
	Collections   uint32
	CollectCPU    float64 // share of one processor that collections took since the process began
	OracleIssued  uint64
	OracleRaises  uint64 // ceilings made durable
	Engine        engine.Stats
}

// Stats returns the figures of this process.
func (s *Server) Stats() ServerStats {
	om := s.oracle.Metrics()
	st := ServerStats{CPU: processCPU(), ResidentBytes: residentBytes(), OracleIssued: om.Issued,
		OracleRaises: om.Raises}
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	st.GoBytes, st.Collections = ms.HeapInuse, ms.NumGC
	st.MemoryLimit = debug.SetMemoryLimit(-1)
	st.CollectCPU = ms.GCCPUFraction * float64(runtime.GOMAXPROCS(0))
	st.Engine = s.node.Stats().Engine
	return st
}

// processCPU is what this process has used, in user and system mode.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes is 0 where the system does not tell.
func residentBytes() uint64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")),
				10, 64)
			return kb << 10
		}
	}
	return 0
}

// Store is an experiment's way to a server.
type Store struct {
	KV    *client.Client
	Clock *oracle.Client
	Txn   *txn.Client

	server  *Server // in this process
	child   *Child  // in another
	closers []func() error
}

// OpenStore starts a server and connects to it: in this process without argv, else in one of its own.
func OpenStore(ctx context.Context, argv []string, o ServerOptions) (_ *Store, err error) {
	s := &Store{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if len(argv) == 0 {
		err = s.openLocal(ctx, o)
	} else {
		err = s.openChild(ctx, argv, o)
	}
	return s, err
}

// build puts transactions on what reaches the store.
func (s *Store) build() (err error) {
	s.onClose(func() error { s.Clock.Close(); return nil })
	if s.Txn, err = txn.NewClient(s.KV, s.Clock, txn.Options{}); err == nil {
		s.onClose(s.Txn.Close)
	}
	return err
}

func (s *Store) onClose(f func() error) { s.closers = append(s.closers, f) }

func (s *Store) openLocal(ctx context.Context, o ServerOptions) (err error) {
	if s.server, err = OpenServer(ctx, o); err != nil {
		return err
	}
	s.onClose(s.server.Close)
	n := s.server.node
	co := client.Options{Node: n.ID(), Local: n}
	meta, err := client.NewMetadata(s.server, n, co)
	if err != nil {
		return err
	}
	s.Clock = oracle.NewClient(s.server.oracle, oracle.ClientOptions{})
	if s.KV, err = client.New(meta, n, co); err != nil {
		return err
	}
	return s.build()
}

func (s *Store) openChild(ctx context.Context, argv []string, o ServerOptions) (err error) {
	if s.child, err = StartChild(ctx, argv, o); err != nil {
		return err
	}
	s.onClose(s.child.Close)
	return s.connect(ctx, s.child.Addr)
}

func (s *Store) connect(ctx context.Context, addr string) error {
	commands, err := rpc.NewRegistry(append([]kv.Coprocessor{bigtable.New(nil)}, coprocessors()...)...)
	if err != nil {
		return err
	}
	pool := rpc.NewPool(commands, rpc.Options{})
	s.onClose(func() error { pool.Close(); return nil })
	if _, err := pool.Join(ctx, addr, ""); err != nil {
		return err
	}
	remote, err := oracle.NewRemote([]string{addr}, oracle.RemoteOptions{})
	if err != nil {
		return err
	}
	s.onClose(remote.Close)
	s.Clock = oracle.NewClient(remote, oracle.ClientOptions{})
	co := client.Options{Remote: pool}
	meta, err := client.NewMetadata(joined{pool, addr}, commands, co)
	if err != nil {
		return err
	}
	if s.KV, err = client.New(meta, commands, co); err != nil {
		return err
	}
	return s.build()
}

type joined struct {
	pool *rpc.Pool
	addr string
}

func (j joined) ClusterInfo(ctx context.Context) (rpc.ClusterInfo, error) {
	return j.pool.Join(ctx, j.addr, "")
}

// Stats returns the server's figures.
func (s *Store) Stats() (ServerStats, error) {
	if s.child != nil {
		return s.child.ask("stats")
	}
	return s.server.Stats(), nil
}

// Flush writes the server's memtables out, so that what was loaded lies where it lies in a server
// that has run for a while.
func (s *Store) Flush(ctx context.Context) error {
	if s.child != nil {
		_, err := s.child.ask("flush")
		return err
	}
	return s.server.node.Flush(ctx)
}

// CPU is the processor time of caller and server.
func (s *Store) CPU() (time.Duration, error) {
	if s.child == nil {
		return processCPU(), nil
	}
	st, err := s.child.ask("stats")
	return st.CPU + processCPU(), err
}

// Close ends the connections and the server.
func (s *Store) Close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	return errors.Join(errs...)
}

// Machine says where figures come from.
func Machine() string {
	model := runtime.GOARCH
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	version := "unversioned"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, set := range info.Settings {
			if set.Key == "vcs.revision" && len(set.Value) >= 8 {
				version = set.Value[:8]
			}
		}
	}
	return fmt.Sprintf("%d × %s, %s/%s, %s, commit %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH,
		runtime.Version(), version)
}
