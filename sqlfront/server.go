package sqlfront

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/conn"
	"moka/sqlfront/engine"
	"moka/sqlfront/expr"
	"moka/sqlfront/namedlock"
	"moka/sqlfront/node"
	"moka/sqlfront/observer"
	"moka/sqlfront/operator"
	"moka/sqlfront/pace"
	"moka/sqlfront/parse"
	"moka/sqlfront/statements"
	"moka/sqlfront/system"
	"moka/sqlfront/tempfile"
	"moka/triggers"
	"moka/txn"
)

// Options of a Server. Client is required; the zero value of every other field is its default.
type Options struct {
	Client *txn.Client
	// Store is what Client stands on; observers read their backlog from it.
	Store kv.Store

	// Tablets lists the tablets for moka.tablets. Default: those that Store finds.
	Tablets func(context.Context) ([]kv.Tablet, error)

	// Addr is where to listen for SQL clients. Default 127.0.0.1:3306. Listener replaces it.
	Addr     string
	Listener net.Listener
	// Socket is the path of a unix socket to listen on as well.
	Socket string
	// TLS offers TLS to clients; RequireTLS is the first value of require_secure_transport.
	TLS        *tls.Config
	RequireTLS bool
	// NodeInsecure says that the process lets other nodes in without certificates, for SHOW STATUS to show.
	NodeInsecure bool
	// FileDir is the only directory of the server that LOAD DATA, SELECT … INTO OUTFILE and LOAD_FILE may touch; empty for none.
	FileDir string
	// DataDir is what datadir shows: where the process keeps its data, empty for nowhere.
	DataDir string
	// LogDir is where the slow log is written. Empty: there is none, whatever slow_query_log says.
	LogDir string
	// MaxConnections is the first value of max_connections. Default 1000.
	MaxConnections int
	// MostConnections bounds max_connections, whatever it is set to; zero does not.
	MostConnections int
	// MostLogins bounds the clients that are logging in, who do not count among those; zero does not.
	MostLogins int

	// TempDir is where sorts that are too large for memory put their rows; it is created. Default: the system's.
	TempDir string
	// TempDisk is how many bytes files there may have together. Default: half of what would be free without
	// them.
	TempDisk int64
	// DiskFull is an error while the disk below TempDir has no room for them. Default: never.
	DiskFull func() error
	// StatementsMemory is what all statements and sessions may hold together in bytes. Default: half of the runtime's soft limit.
	StatementsMemory int64
	// CatalogMemory is what tables, views and bodies may take in memory together in bytes, by an estimate;
	// DDL past it is refused. Default: anything.
	CatalogMemory int64
	// MemoryLimit is what the process is to stay below in bytes: near it the statement that holds most is ended. Default: none.
	MemoryLimit int64
	// QueryMemory is the global moka_query_memory in bytes, negative for no limit. Default 1 GiB.
	QueryMemory int64
	// NoPlanCache sets the global moka_plan_cache to 0.
	NoPlanCache bool

	// Worker runs the observers that SQL declares; it stays its owner's to start and to close. Nil declares them only.
	Worker *triggers.Worker
	// ObserverRunners is how many runs of observers the worker has at the same time.
	ObserverRunners int

	// Version is Moka's, e.g. "v0.1.0".
	Version string
	// AccountsLease is how long a server goes by accounts without having looked for newer ones; REVOKE and
	// DROP USER wait so long if there are several SQL nodes. It is the same on all of them. Default 1 s.
	AccountsLease time.Duration
	// FollowUsers is how often accounts and read_only that other servers changed are looked for. Default:
	// twice in a lease.
	FollowUsers time.Duration
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Version == "" {
		o.Version = "v0.1.0"
	}
	if o.AccountsLease <= 0 {
		o.AccountsLease = time.Second
	}
	if o.FollowUsers <= 0 {
		o.FollowUsers = o.AccountsLease / 2
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// mysqlVersion is the MySQL whose behaviour is followed; clients branch on it.
const mysqlVersion = "8.0.40"

func (o Options) listenAddr() string {
	if o.Listener != nil {
		return o.Listener.Addr().String()
	}
	return o.Addr
}

// Server is a SQL server.
type Server struct {
	opts       Options
	catalog    *catalog.Catalog
	engine     *engine.Engine
	observers  *observer.Registry
	conn       *conn.Server
	users      *userStore
	variables  *variableStore
	namedLocks *namedlock.Locks
	node       *node.Node
	tables     []system.Table // of the database moka
	lease      *lease         // of the accounts in memory
	readOnly   sync.Mutex     // held by who puts a state of read_only in force
	// statements keeps account of what clients run.
	statements *statements.Recorder

	cancel context.CancelFunc
	tasks  sync.WaitGroup
	once   sync.Once
	closed error
}

// New opens the catalog (an empty store gets one), builds the engine and listens. Clients are served by Serve.
func New(ctx context.Context, o Options) (_ *Server, err error) {
	o = o.withDefaults()
	if o.Client == nil {
		return nil, errors.New("sqlfront: Options.Client is required")
	}
	s := &Server{opts: o}
	if o.Tablets == nil {
		s.opts.Tablets = s.knownTablets
	}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	if s.catalog, err = catalog.Open(ctx, o.Client, catalog.Options{Memory: o.CatalogMemory}); err != nil {
		return nil, err
	}
	s.statements = statements.New(statements.Options{Dir: o.LogDir, Version: mysqlVersion + "-Moka-" +
		o.Version, Addr: o.listenAddr(), Logger: o.Logger})
	pacer := pace.New()
	s.observers = newObservers(o, s.catalog, s.backgroundID, pacer)
	hooks := s.observers.Hooks()
	hooks.CompleteOrder = s.completeOrder
	hooks.Call = func(c *ast.Call, inner bool) ast.Statement { return s.engine.Call(c, inner) }
	hooks.TriggerBody = engine.TriggerBody
	hooks.CreateRoutine = func(ctx context.Context, r parse.Routine) (ast.Statement, error) {
		return s.engine.CreateRoutine(ctx, r)
	}
	hooks.DropRoutine = func(ctx context.Context, r parse.RoutineName) (ast.Statement, error) {
		return s.engine.DropRoutine(ctx, r)
	}
	hooks.ShowCreateRoutine = func(ctx context.Context, r parse.RoutineName) (ast.Statement, error) {
		return s.engine.ShowCreateRoutine(ctx, r)
	}
	hooks.StoredFunction = func(ctx context.Context, db, name string) bool {
		return s.engine.HasFunction(ctx,
			db, name)
	}
	hooks.ThroughView = func(ctx context.Context, stmt ast.Statement, joins, stars bool) (ast.Statement,
		error) {
		return s.engine.ThroughView(ctx, stmt, joins, stars)
	}
	hooks.CheckTable = func(ctx context.Context, c parse.CheckTable) (ast.Statement, error) {
		return s.engine.CheckTable(ctx, c)
	}
	hooks.CreateLike = func(ctx context.Context, c parse.CreateLike) (ast.Statement, error) {
		return s.engine.CreateLike(ctx, c)
	}
	hooks.RenameTables = func(ctx context.Context, all []parse.Rename, alter bool) (ast.Statement, error) {
		return s.engine.RenameTables(ctx, all, alter)
	}
	hooks.ShowEngineStatus = func(ctx context.Context) (ast.Statement, error) {
		return s.showEngineStatus(ctx).Statement(ast.AuthType_PROCESS), nil
	}
	hooks.FlushLogs = func(context.Context) (ast.Statement, error) {
		return system.NewReport("FLUSH LOGS", nil, func(*sql.Context) ([]sql.Row, error) {
			return nil,
				s.statements.Rotate()
		}).Ending().Statement(ast.AuthType_RELOAD), nil
	}
	hooks.ResetPersist = func(_ context.Context, name string, ifExists bool) (ast.Statement, error) {
		return system.NewReport("RESET PERSIST", nil, func(ctx *sql.Context) ([]sql.Row, error) {
			return nil, ctx.Session.(*engine.Session).ResetPersist(ctx, name,
				ifExists) // which asks for the privilege
		}).Statement(ast.AuthType_IGNORE), nil
	}
	nothing := func(*sql.Context) ([]sql.Row, error) { return nil, nil }
	hooks.Nothing = func(context.Context) (ast.Statement, error) {
		return system.NewReport("nothing", nil, nothing).Statement(ast.AuthType_RELOAD), nil
	}
	hooks.Flush = func(context.Context) (ast.Statement, error) {
		return system.NewReport("FLUSH", nil, nothing).Ending().Statement(ast.AuthType_RELOAD), nil
	}
	hooks.ShowErrors = engine.ShowErrors
	hooks.Account = func(ctx context.Context, stmt account.Statement) (ast.Statement, error) {
		return s.engine.Account(ctx, stmt)
	}
	s.variables = &variableStore{blobStore{s.catalog, o.Client, variablePrefix}}
	s.namedLocks = namedlock.New(namedlock.Options{Client: o.Client, Logger: o.Logger})
	functions := expr.Functions()
	for _, f := range s.namedLocks.Functions() {
		functions = append(functions, expr.Volatile(f))
	}
	s.lease = newLease(o.AccountsLease)
	s.node, err = node.Join(ctx, node.Options{Client: o.Client, Locks: s.namedLocks, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	temp, err := tempfile.New(tempfile.Options{Dir: o.TempDir, Most: o.TempDisk, Full: o.DiskFull})
	if err != nil {
		return nil, err
	}
	s.tables = s.systemTables()
	s.engine, err = engine.New(ctx, engine.Options{
		Client: o.Client, Catalog: s.catalog, Store: o.Store, Parser: parse.New(hooks), Persist: s.variables,
		Logger: o.Logger, Temp: temp,
		StatementsMemory: o.StatementsMemory,
		Functions:        functions,
		Status: map[string]func() int64{
			"Moka_login_failures": func() int64 { return s.doors().LoginsWrong },
			"Moka_login_delays":   func() int64 { return s.doors().LoginsLate },
			"Moka_node_insecure": func() int64 {
				if o.NodeInsecure {
					return 1
				}
				return 0
			},
		},
		Databases: []sql.Database{
			system.New("moka", s.tables...),
			system.New("performance_schema", s.performanceTables()...),
		},
		Information: s.observers.Information(), HoldRuns: s.observers.Hold, Background: s.observers,
		Saw: s.saw, KeepUp: s.keepUp, Spread: s.spread, KeepReadOnly: s.keepReadOnly,
		KillElsewhere: func(ctx context.Context, id uint32, connection bool, user string,
			everybody bool) (bool, error) {
			if s.node.Own(id) {
				return false, nil
			}
			return true, s.node.Ask(ctx, node.Kill{ID: id, Connection: connection, User: user,
				Everybody: everybody})
		},
	})
	if err != nil {
		return nil, err
	}
	if err = s.observers.Start(ctx, s.engine); err != nil {
		return nil, err
	}
	s.users = &userStore{blobStore: blobStore{s.catalog, o.Client, usersBlob}}
	s.conn, err = conn.New(ctx, conn.Options{
		Engine: s.engine.SQL(), Sessions: s.session, Plans: s.engine.Plans(), Statements: s.statements,
		Retryable: engine.IsRetryable, TinyInt1: s.tinyInt1, Digits: s.digits,
		Addr: o.Addr, Listener: o.Listener, Socket: o.Socket, TLS: o.TLS, RequireTLS: o.RequireTLS,
		FileDir: cmp.Or(o.FileDir, engine.NoFiles), DataDir: o.DataDir, TempDir: o.TempDir,
		MaxConnections:  o.MaxConnections,
		MostConnections: o.MostConnections, MostLogins: o.MostLogins, Users: s.users, ConnectionID: s.connectionID,
		Accounts: s.engine.Directory(), Greet: func(ctx context.Context) { _ = s.lookAround(ctx) },
		Version: mysqlVersion + "-Moka-" + o.Version, Logger: o.Logger, Temp: temp,
		Pacer: pacer,
	})
	if err != nil {
		return nil, err
	}
	if o.QueryMemory != 0 {
		if err = sql.SystemVariables.AssignValues(map[string]any{operator.VarQueryMemory: max(0,
			o.QueryMemory)}); err != nil {
			return nil, err
		}
	}
	if o.NoPlanCache {
		if err = sql.SystemVariables.AssignValues(map[string]any{engine.VarPlanCache: int8(0)}); err != nil {
			return nil, err
		}
	}
	// After the server has set its own defaults: what a user has persisted wins.
	if err = s.variables.apply(ctx); err != nil {
		return nil, err
	}
	if err = s.followReadOnly(ctx); err != nil {
		return nil, err
	}
	background, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if o.MemoryLimit > 0 {
		s.tasks.Go(func() { s.engine.WatchMemory(background, o.MemoryLimit) })
	}
	s.tasks.Go(func() { s.follow(background) })
	s.node.Serve(s.kill)
	return s, nil
}

// connectionID numbers a connection; used are those that connections have.
func (s *Server) connectionID(used func(uint32) bool) uint32 {
	return s.node.ConnectionID(func(id uint32) bool { return used(id) || s.observers.Owns(id) })
}

// backgroundID numbers what SHOW PROCESSLIST shows besides connections.
func (s *Server) backgroundID() uint32 { return s.connectionID(s.engine.Connected) }

// session makes the session of a client.
func (s *Server) session(c *conn.Connection, addr string) (sql.Session, error) {
	return s.engine.ClientSession(c, addr), nil
}

// kill ends a connection of this server for a user of another one.
func (s *Server) kill(_ context.Context, k node.Kill) error {
	if err := s.engine.KillFor(k.ID, k.User, k.Everybody); err != nil {
		return err
	}
	if k.Connection {
		s.conn.HangUp(k.ID)
	}
	return nil
}

// doors are the counters of logins. A statement of the engine's own may ask before there is anybody to log in to.
func (s *Server) doors() conn.Stats {
	if s.conn == nil {
		return conn.Stats{}
	}
	return s.conn.Stats()
}

// Serve accepts clients until Drain or Close.
func (s *Server) Serve() error { return s.conn.Serve() }

// Addr is where clients connect.
func (s *Server) Addr() net.Addr { return s.conn.Addr() }

// Drain refuses new statements with 1053, lets what runs end, and closes. When ctx ends first, what still runs is
// interrupted.
func (s *Server) Drain(ctx context.Context) error {
	return errors.Join(s.conn.Drain(ctx), s.Close())
}

// Close interrupts what runs and waits until everything that New started is gone. The transaction client stays open.
func (s *Server) Close() error {
	s.once.Do(func() {
		var errs []error
		if s.conn != nil {
			errs = append(errs, s.conn.Close())
		}
		if s.statements != nil {
			errs = append(errs, s.statements.Close())
		}
		if s.cancel != nil {
			s.cancel()
			s.tasks.Wait()
		}
		if s.observers != nil {
			s.observers.Close()
		}
		if s.engine != nil {
			errs = append(errs, s.engine.Close())
		}
		if s.node != nil {
			s.node.Close()
		}
		if s.namedLocks != nil { // after the sessions, which free theirs
			s.namedLocks.Close()
		}
		if s.catalog != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			// Giving numbers back is a courtesy: without it AUTO_INCREMENT has a gap.
			if err := s.catalog.Close(ctx); err != nil {
				s.opts.Logger.Warn("unused AUTO_INCREMENT values could not be given back", "err", err)
			}
		}
		s.closed = errors.Join(errs...)
	})
	return s.closed
}

// Engine is the SQL engine, for code of this process that runs SQL without a connection.
func (s *Server) Engine() *engine.Engine { return s.engine }

// Metrics is what the server has done since it started.
type Metrics struct {
	Connections         int64 // open now
	ConnectionsAccepted int64
	ConnectionsRefused  int64 // over max_connections, or while draining
	ConnectionsAborted  int64 // did not log in
	LoginFailures       int64 // refused: password, transport, unknown account
	LoginDelays         int64 // made to wait because of wrong passwords before
	Sessions            int64
	Selects             int64
	Inserts             int64
	Updates             int64
	Deletes             int64
	Definitions         int64
	TransactionCommands int64
	OtherStatements     int64
	Errors              int64
	Conflicts           int64 // 1213 that a client saw
	Duplicates          int64 // 1062 that a client saw
	Retries             int64 // statements run again after a conflict
	RetriesGivenUp      int64
	Panics              int64
	PlanHits            int64 // statements run by a plan of the plan cache
	PlanMisses          int64 // statements whose plan was made
	Plans               int64 // in the cache now
	PlanBodyHits        int64 // runs of triggers and observers whose bodies were compiled before
	PlanBodyMisses      int64 // bodies that were compiled to be run
	// Statements that might have had a plan and went the general way, by reason.
	PlanFallbackText, PlanFallbackShape, PlanFallbackTable, PlanFallbackIndex        int64
	PlanFallbackType, PlanFallbackValue, PlanFallbackSettings, PlanFallbackPrivilege int64
}

// Metrics returns a snapshot.
func (s *Server) Metrics() Metrics {
	st := s.conn.Stats()
	m := Metrics{
		Connections: st.Connections, ConnectionsAccepted: st.Accepted, ConnectionsRefused: st.Refused,
		ConnectionsAborted: st.Aborted,
		LoginFailures:      st.LoginsWrong, LoginDelays: st.LoginsLate,
		Sessions: s.engine.Sessions(), Retries: st.Retries, RetriesGivenUp: st.GaveUp, Panics: st.Panics,
		Selects: st.Statements["select"], Inserts: st.Statements["insert"], Updates: st.Statements["update"],
		Deletes: st.Statements["delete"], Definitions: st.Statements["ddl"],
		TransactionCommands: st.Statements["transaction"],
		OtherStatements:     st.Statements["other"], Conflicts: st.Errors[1213], Duplicates: st.Errors[1062],
	}
	for _, n := range st.Errors {
		m.Errors += n
	}
	p := s.engine.PlanCacheStats()
	m.PlanHits, m.PlanMisses, m.Plans = p.Hits, p.Misses, p.Plans
	m.PlanBodyHits, m.PlanBodyMisses = p.BodyHits, p.BodyMisses
	f := p.Fallbacks
	m.PlanFallbackText, m.PlanFallbackShape, m.PlanFallbackTable, m.PlanFallbackIndex = f["text"], f["shape"],
		f["table"], f["index"]
	m.PlanFallbackType, m.PlanFallbackValue, m.PlanFallbackSettings, m.PlanFallbackPrivilege = f["type"],
		f["value"], f["settings"], f["privilege"]
	return m
}
