package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"moka/cmd/moka/learn"
	"moka/cmd/moka/page"
	"moka/kv"
	"moka/kv/node"
	"moka/txn/gc"
)

// The parts of a process. Storage holds shards, coordination and the oracle; sql serves clients;
// worker runs observers.
const (
	roleStorage = "storage"
	roleSQL     = "sql"
	roleWorker  = "worker"
)

// stackOptions are the settings of "moka start".
type stackOptions struct {
	Data     string
	SQLAddr  string
	HTTPAddr string
	NodeAddr string
	// NodeListen is where the node listens, if others reach it at NodeAddr through something in between.
	NodeListen string
	Join       string
	Cluster    bool
	Members    []string
	Roles      []string
	Shards     int
	// shardsAsked says that Shards is a setting and not the default.
	shardsAsked bool
	// members and self are what Members and NodeAddr say.
	members []member
	self    kv.NodeID
	// joins says that this is a node with storage that joins a cluster, or has joined it before.
	joins bool
	// DeadAfter is for how long a node may be silent until its replicas are made on others; zero for ever.
	DeadAfter time.Duration
	// Zone is what this node shares with others that may fail together.
	Zone string

	Memory   bool
	CacheMiB int
	// SeparateValues is the size from which on values lie in files of their own, zero for none.
	SeparateValues int
	BallastMiB     int // -1: the engine chooses
	AcceptDataLoss bool
	Runners        int
	MaxConns       int
	Socket         string
	FileDir        string
	LogDir         string
	QueryMemory    int           // MiB of one statement; 0 is no limit
	TempDisk       int           // MiB of temporary files; 0 is half of what is free
	MemoryLimit    int           // MiB of the process; 0 is what the system allows
	PlanCache      string        // off, or anything else for on
	Retention      time.Duration // of old versions; zero keeps all
	MaxHold        time.Duration // by snapshots and observers
	TLSCert        string
	TLSKey         string
	RequireTLS     bool
	HTTPHosts      []string
	CertDir        string // of the certificates between nodes
	Insecure       bool
	Logger         *slog.Logger
	Log            *logTail          // what Logger has written, nil if nobody keeps it
	Settings       map[string]string // by their names, to be shown
	Origins        []page.Setting    // the same with where each comes from
	restores       bool              // a backup into Data: nothing else may open that
	Ephemeral      bool              // a demo: say nothing about the directory
	steps          *learn.Stepper    // a tutorial: commits take two phases, and are shown step by step
	leaveOrphans   bool              // a tutorial: nobody looks for the locks of the dead but who meets them
}

// logDir is where the slow log goes, empty for nowhere.
func (o *stackOptions) logDir() string {
	if o.LogDir == "" && !o.Memory && (o.Join == "" || o.joins) {
		return filepath.Join(o.Data, "log")
	}
	return o.LogDir
}

// dataDir is where the data is on this machine, empty for nowhere.
func (o *stackOptions) dataDir() string {
	if o.Memory || o.Join != "" {
		return ""
	}
	dir, err := filepath.Abs(o.Data)
	if err != nil {
		return o.Data
	}
	return dir
}

// tempDir is where large sorts put their rows: beside the data, since the system's directory is
// memory on many machines.
func (o *stackOptions) tempDir() string {
	if o.Memory || o.Join != "" && !o.joins {
		return ""
	}
	return filepath.Join(o.Data, "tmp")
}

// queryMemory is the limit in bytes, negative for none.
func (o *stackOptions) queryMemory() int64 {
	if o.QueryMemory == 0 {
		return -1
	}
	return int64(o.QueryMemory) << 20
}

func (o *stackOptions) bind(f *pflag.FlagSet) {
	f.StringVar(&o.Data, "data", "moka-data", "directory of the data; created on first start")
	f.StringVar(&o.SQLAddr, "sql-addr", "127.0.0.1:3306", "address of the MySQL protocol")
	f.StringVar(&o.HTTPAddr, "http-addr", "127.0.0.1:8090",
		"address of status page, /metrics, /healthz and pprof; empty for none")
	f.StringVar(&o.NodeAddr, "node-addr", "", "address for other nodes (gRPC); empty for none")
	f.StringVar(&o.NodeListen, "node-listen", "", "where to listen for other nodes if what they reach at "+
		"--node-addr is forwarded here, as in a container: HOST:PORT; empty for --node-addr itself")
	f.StringVar(&o.Join, "join", "",
		"node address of a running database: serve SQL for it instead of storing data here, or, with "+
			"--node-addr, be another node of its cluster (docs/cluster.md)")
	f.DurationVar(&o.DeadAfter, "dead-after", time.Minute, "in a cluster: for how long a node may be silent "+
		"until its replicas are made on others, if there are any without; 0 for ever")
	f.StringVar(&o.Zone, "zone", "", "in a cluster: what this node shares with others that may fail "+
		"together, a rack or a room; replicas of a shard are in different zones as far as there are any. Say "+
		"it at each start; empty: it shares nothing")
	f.BoolVar(&o.Cluster, "cluster", false,
		"be a node of a cluster, whose shards have a replica on every node (docs/cluster.md; a "+
			"laboratory's yet)")
	f.StringSliceVar(&o.Members, "members", nil,
		"with --cluster: the nodes that found it, as 1=HOST:PORT,2=HOST:PORT,3=HOST:PORT; this one is that "+
			"at --node-addr. Without them this node founds it alone, in its directory as it is, and others "+
			"--join")
	f.StringSliceVar(&o.Roles, "roles", nil,
		"parts to run: storage, sql, worker (default all; with --join and no --node-addr: sql)")
	f.IntVar(&o.Shards, "shards", 1, "number of shards, more than before if you "+
		"like: tablets are spread over them as they grow; what is in one shard commits in one step")
	f.BoolVar(&o.Memory, "memory", false, "keep everything in memory; nothing survives the process")
	f.IntVar(&o.CacheMiB, "cache-mib", 256, "block cache in MiB")
	f.IntVar(&o.SeparateValues, "separate-values", 0, "write values of so many bytes and more to files of "+
		"their own, which compactions need not copy; 0 for none (kv/DESIGN.md says when)")
	f.IntVar(&o.BallastMiB, "ballast-mib", -1, "room in MiB that is kept for a disk that is full, so that "+
		"rows can be deleted then (docs/faults.md); 0 for none; default: four memtables, at least 64, at "+
		"most a twentieth of the disk")
	f.BoolVar(&o.AcceptDataLoss, "accept-data-loss", false, "open a store whose log was cut or lost with "+
		"what is left of it, once; what is set aside goes to lost in the directory of the data "+
		"(docs/faults.md)")
	f.IntVar(&o.Runners, "observer-runners", 16, "observers that run at a time in this process")
	f.IntVar(&o.MaxConns, "max-connections", 1000, "SQL connections; more are refused with error 1040")
	f.StringVar(&o.LogDir, "log-dir", "", "directory of the slow log (SET GLOBAL slow_query_log = 1); "+
		"default: log in the directory of the data, if there is one")
	f.StringVar(&o.FileDir, "secure-file-priv", "", "the one directory of this machine that LOAD DATA, "+
		"SELECT ... INTO OUTFILE and LOAD_FILE may use; empty for none")
	f.StringVar(&o.Socket, "sql-socket", "", "unix socket for the MySQL protocol, beside the address")
	f.IntVar(&o.QueryMemory, "query-memory-mib", 1024, "memory of one SQL statement in MiB, 0 for no "+
		"limit; larger sorts go to disk, sessions may SET moka_query_memory")
	f.IntVar(&o.TempDisk, "temp-disk-mib", 0, "disk of all temporary files (sorts, hash joins, cursors) in "+
		"MiB; 0 for half of what is free on their disk")
	f.IntVar(&o.MemoryLimit, "memory-limit-mib", 0,
		"memory of the process in MiB: near it the statement that holds most is ended; 0 for nine tenths "+
			"of what the machine or its control group has")
	f.StringVar(&o.PlanCache, "plan-cache", "on", "on or off: run frequent shapes of SQL statements "+
		"without the planner; sessions may SET moka_plan_cache")
	f.DurationVar(&o.Retention, "gc-retention", gc.DefaultRetention,
		"how long old versions of rows are kept, for AS OF and long transactions; at least 1s, 0 to keep all")
	f.DurationVar(&o.MaxHold, "gc-max-hold", gc.DefaultMaxHold, "how long an open transaction or a waiting "+
		"observer may keep old versions beyond that; then its reads fail")
	f.StringVar(&o.TLSCert, "tls-cert", "", "certificate (PEM) for TLS on the MySQL protocol")
	f.StringVar(&o.TLSKey, "tls-key", "",
		"its private key (PEM); default: a certificate that the server makes for itself")
	f.BoolVar(&o.RequireTLS, "require-secure-transport", false,
		"refuse SQL clients that take neither TLS nor the unix socket")
	f.StringSliceVar(&o.HTTPHosts, "http-hosts", nil, "names by which the HTTP address is asked for, "+
		"besides its addresses, localhost and this machine's name")
	f.StringVar(&o.CertDir, "cert-dir", "",
		"directory of the certificates by which nodes know each other (moka cert)")
	f.BoolVar(&o.Insecure, "insecure", false,
		"let nodes in without certificates: whoever reaches --node-addr is root of the database")
}

// leastMemory is what a process needs beside its cache, in MiB.
const leastMemory = 256

// minBallast, in MiB, is about what a store with the least cache needs to delete anything on a full disk.
const minBallast = 16

// ballast is in bytes.
func (o *stackOptions) ballast() int64 {
	if o.BallastMiB < 0 {
		return node.AutoBallast
	}
	return int64(o.BallastMiB) << 20
}

// minSeparate is below what a reference to a value and its block cost.
const minSeparate = 512

func (o *stackOptions) has(role string) bool { return slices.Contains(o.Roles, role) }

// validate fills defaults that depend on other settings, and refuses combinations that make no sense.
func (o *stackOptions) validate() error {
	if len(o.Roles) == 0 {
		o.Roles = []string{roleStorage, roleSQL, roleWorker}
		if o.Join != "" && o.NodeAddr == "" {
			o.Roles = []string{roleSQL}
		}
	}
	for _, r := range o.Roles {
		if r != roleStorage && r != roleSQL && r != roleWorker {
			return fmt.Errorf("--roles: %q is not storage, sql or worker", r)
		}
	}
	if err := o.validateSizes(); err != nil {
		return err
	}
	if err := o.validatePlaces(); err != nil {
		return err
	}
	if err := o.validateCluster(); err != nil {
		return err
	}
	switch {
	case o.Shards < 1 || o.Shards > 64:
		return fmt.Errorf("--shards %d: a node serves 1 to 64 shards", o.Shards)
	case o.BallastMiB < -1 || o.BallastMiB > 0 && o.BallastMiB < minBallast:
		return fmt.Errorf("--ballast-mib %d: 0 is none, and the least is %d", o.BallastMiB, minBallast)
	case o.SeparateValues != 0 && o.SeparateValues < minSeparate:
		return fmt.Errorf("--separate-values %d: the least is %d; smaller values are better off in their "+
			"tables", o.SeparateValues, minSeparate)
	case o.Retention != 0 && o.Retention < gc.MinRetention:
		return fmt.Errorf("--gc-retention %v: the least is %v; 0 keeps all versions for ever", o.Retention,
			gc.MinRetention)
	case o.Retention != 0 && o.MaxHold < o.Retention:
		return fmt.Errorf("--gc-max-hold %v is less than --gc-retention %v", o.MaxHold, o.Retention)
	case o.Join == "" && !o.has(roleStorage):
		return fmt.Errorf("--roles %s without storage needs --join ADDR, the --node-addr of a process that "+
			"has it", strings.Join(o.Roles, ","))
	case o.has(roleWorker) && !o.has(roleSQL):
		return errors.New("--roles worker needs sql too: observers are SQL")
	case o.MemoryLimit != 0 && o.MemoryLimit < o.CacheMiB+leastMemory:
		return fmt.Errorf("--memory-limit-mib %d: the least is %d with a cache of %d MiB; allow more, or "+
			"make the cache smaller with --cache-mib", o.MemoryLimit, o.CacheMiB+leastMemory, o.CacheMiB)
	case o.PlanCache != "" && o.PlanCache != "on" && o.PlanCache != "off":
		return fmt.Errorf("--plan-cache %q is neither on nor off", o.PlanCache)
	case (o.TLSCert == "") != (o.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case o.Insecure && o.CertDir != "":
		return errors.New("--insecure with --cert-dir: leave one of them away")
	case o.NodeListen != "" && o.NodeAddr == "":
		return errors.New("--node-listen without --node-addr: say at which address the others reach this " +
			"node")
	case o.NodeListen != "" && strings.HasSuffix(o.NodeAddr, ":0"):
		return fmt.Errorf("--node-addr %s with --node-listen: the address at which the others reach this "+
			"node has a port of its own", o.NodeAddr)
	case o.Data == "" && !o.Memory && o.has(roleStorage):
		return errors.New("--data is empty: name a directory, or use --memory")
	}
	return nil
}

// Bounds of settings: those of connections are MySQL's.
const (
	minCache         = 8 // MiB
	maxOfConnections = 100_000
	maxOfRunners     = 4096
)

// validateSizes refuses numbers that no machine, or not this one, can keep to.
func (o *stackOptions) validateSizes() error {
	within := func(flag string, n, least, most int) error {
		if n < least || n > most {
			return fmt.Errorf("--%s %d: the least is %d, the most %d", flag, n, least, most)
		}
		return nil
	}
	most := math.MaxInt32 // of MiB
	if has := systemMemory(os.DirFS("/")); has > 0 {
		most = int(has >> 20)
	}
	for _, err := range []error{
		within("max-connections", o.MaxConns, 1, maxOfConnections),
		within("observer-runners", o.Runners, 1, maxOfRunners),
		within("query-memory-mib", o.QueryMemory, 0, math.MaxInt32),
		within("temp-disk-mib", o.TempDisk, 0, math.MaxInt32),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case o.CacheMiB < minCache:
		return fmt.Errorf("--cache-mib %d: the least is %d", o.CacheMiB, minCache)
	case o.CacheMiB > most:
		return fmt.Errorf("--cache-mib %d: this process may have %d MiB of memory in all", o.CacheMiB, most)
	case o.MemoryLimit > most:
		return fmt.Errorf("--memory-limit-mib %d: this process may have %d MiB of memory; leave the setting "+
			"away to use nine tenths of them", o.MemoryLimit, most)
	}
	return nil
}

// validatePlaces refuses addresses and directories that cannot be ones. Directories that the server makes for
// itself need not be there.
func (o *stackOptions) validatePlaces() error {
	for _, a := range []struct{ flag, addr string }{{"sql-addr", o.SQLAddr}, {"http-addr", o.HTTPAddr},
		{"node-addr", o.NodeAddr}, {"node-listen", o.NodeListen}, {"join", o.Join}} {
		if a.addr == "" {
			continue
		}
		_, port, err := net.SplitHostPort(a.addr)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return fmt.Errorf("--%s %q is not HOST:PORT, such as 127.0.0.1:3306: %w", a.flag, a.addr, err)
		}
	}
	if o.FileDir == "" {
		return nil
	}
	switch info, err := os.Stat(o.FileDir); {
	case err != nil:
		return fmt.Errorf("--secure-file-priv: %w; make the directory first", err)
	case !info.IsDir():
		return fmt.Errorf("--secure-file-priv %s is not a directory", o.FileDir)
	}
	return nil
}

// listen opens an address of a flag and words the usual mistakes.
func listen(flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another process; stop it, or choose another address with "+
			"--%s HOST:PORT", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no permission to listen on %s; choose a port above 1023 with --%s HOST:PORT",
			addr, flag)
	}
	return nil, fmt.Errorf("--%s %s: %w", flag, addr, err)
}
