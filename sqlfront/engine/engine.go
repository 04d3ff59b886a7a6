package engine

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/memo"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/go-mysql-server/sql/variables"

	"moka/kv"
	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/charset"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/operator"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/spare"
	"moka/sqlfront/stats"
	"moka/sqlfront/system"
	"moka/sqlfront/tempfile"
	"moka/txn"
)

// rowFamily is the family of the cell that holds a row or an index entry. Families from 0x80 up belong to others (0xFF are
// the acknowledgements of observers) and are skipped by scans.
const rowFamily kv.FamilyID = 0

// ChangeEvent says which kind of change a write makes.
type ChangeEvent uint8

const (
	ChangeInsert ChangeEvent = iota + 1
	ChangeUpdate
	ChangeDelete
)

// Observers names the observers that a write of a row has to notify. changed holds the ids of the columns whose values
// differ; it is nil for inserts and deletes, which change all of them. It is called for each row written to a table that
// has observers in the catalog of the transaction.
type Observers func(table *catalog.Table, observers []*catalog.Observer, event ChangeEvent, changed []uint32) []uint32

// Options of an Engine. Client and Catalog are required; the zero value of every other field is its default.
type Options struct {
	Client  *txn.Client
	Catalog *catalog.Catalog
	// Store is where notifications of observers wait; nil: a table that is copied leaves them behind.
	Store kv.Store
	// Parser replaces MySQL's, for grammar of our own.
	Parser sql.Parser
	// Observers decides which observers a write notifies. Default: the catalog's observers by their events and columns.
	Observers Observers
	// HoldRuns keeps observers from writing to a table while a schema change of it is under way, until release: those of this process, or,
	// as soon as they hear of it, of all.
	HoldRuns func(ctx context.Context, table uint32, everywhere bool) (release func(), err error)
	// Background is what runs in this process beside the statements of clients.
	Background Background
	// Persist keeps SET PERSIST. Default: refused.
	Persist PersistStore
	// Functions and TableFunctions are added to the library's; a function of the same name replaces it.
	Functions      []sql.Function
	TableFunctions []sql.TableFunction
	// Procedures are Go functions that CALL finds.
	Procedures []sql.ExternalStoredProcedureDetails
	// Databases are read-only databases that exist beside the stored ones (system tables).
	Databases []sql.Database
	// Information are tables that information_schema has besides MySQL's.
	Information []system.Table
	// KillElsewhere ends a connection, or its statement, of another server. done is false if the connection is one of this server.
	KillElsewhere func(ctx context.Context, id uint32, connection bool, user string, everybody bool) (done bool, err error)
	// Saw is called when a client's statement sees a version of the catalog that none saw before: accounts may have changed, which the
	// statement's rights depend on. If it fails it is called again by the next statement.
	Saw func(ctx context.Context, snap *catalog.Snapshot) error
	// KeepUp is called when a client's statement begins in a transaction that is open, which does not see new
	// versions of the catalog: when it returns nil, the accounts in memory are none that Spread has waited for.
	// Nil: there is no other server.
	KeepUp func(ctx context.Context) error
	// Spread is called when rights were taken away: it returns when no server goes by older accounts any more.
	// Nil: there is no other server.
	Spread func(ctx context.Context) error
	// KeepReadOnly stores a state as the one of all SQL nodes, which moves the catalog's version, and calls SetReadOnly. Nil: it is this
	// process's alone.
	KeepReadOnly func(ctx context.Context, state ReadOnly) error
	// Hooks run around table DDL.
	Hooks sql.ExecutionHooks
	// BackfillBatch is how many rows one transaction of an index backfill or a table rewrite covers. Default 512.
	BackfillBatch int
	// JobLease is how long a schema change of another process may stand still before this one goes on with it. Default 10 s.
	JobLease time.Duration
	// VersionPostfix and IncludeRootAccount are go-mysql-server's.
	VersionPostfix     string
	IncludeRootAccount bool
	// Temp is where large sorts put their rows. Default: the system's directory for temporary files.
	Temp *tempfile.Space
	// Status are counters of the server that SHOW GLOBAL STATUS has besides.
	Status map[string]func() int64
	// StatementsMemory is what all statements and sessions may hold together in bytes. Default: half of the runtime's soft limit.
	StatementsMemory int64
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Observers == nil {
		o.Observers = matchObservers
	}
	if o.BackfillBatch <= 0 {
		o.BackfillBatch = 512
	}
	if o.JobLease <= 0 {
		o.JobLease = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Engine is go-mysql-server over our transactions.
type Engine struct {
	open     openTransactions
	opts     Options
	seen     atomic.Uint64 // the version of the catalog for which Options.Saw was called
	readOnly atomic.Int32  // a ReadOnly
	// committing is held by transactions that commit changes, against a database that becomes read-only meanwhile.
	committing sync.RWMutex
	client     *txn.Client
	catalog    *catalog.Catalog
	log        *slog.Logger
	provider   *provider
	sql        *sqle.Engine
	directory  *account.Directory
	views      viewCache
	newest     catalog.Newest
	stats      *stats.Store
	reads      readCounters
	memory     *operator.Pool
	plans      planCache
	counts     engineCounts
	processes  *processList
	triggers   parse.TriggerHeads[catalog.Trigger]
	bodies     spare.Pool[bodyKey, *Body]
	analyzers  analyzers
	janitor    janitor
	jobs       jobs
	sessions   atomic.Int64
	closed     atomic.Bool

	bg     context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// New builds provider, analyzer and engine, and takes up schema changes that a crash left half done.
func New(ctx context.Context, o Options) (*Engine, error) {
	o = o.withDefaults()
	if err := Setup(); err != nil {
		return nil, err
	}
	e := &Engine{opts: o, client: o.Client, catalog: o.Catalog, log: o.Logger}
	e.bg, e.cancel = context.WithCancel(context.Background())
	e.stats = stats.New(stats.Options{Client: e.client, Logger: e.log, Go: e.goTask, Commit: e.retry})
	var err error
	if e.memory, err = operator.NewPool(operator.Options{Temp: o.Temp, Total: o.StatementsMemory}); err != nil {
		return nil, err
	}
	e.bodies = spare.Pool[bodyKey, *Body]{Most: e.SpareBodies(), Each: maxIdleBodies}
	e.plans.init()
	e.janitor.init()
	e.jobs.init()
	e.provider = newProvider(e)

	overrides := sql.EngineOverrides{Hooks: o.Hooks}
	overrides.Builder.Parser = o.Parser
	a := analyzer.NewBuilder(e.provider).AddOverrides(overrides).Build()
	e.install(a, true)
	info := a.Catalog.InfoSchema
	a.Catalog.InfoSchema = &extendedInfo{Database: info, eng: e, extra: system.New(info.Name(), o.Information...)}
	e.sql = sqle.New(a, &sqle.Config{VersionPostfix: o.VersionPostfix, IncludeRootAccount: o.IncludeRootAccount})
	e.directory = account.New(a.Catalog.MySQLDb)
	e.processes = &processList{ProcessList: e.sql.ProcessList, known: map[uint32]*process{}}
	e.sql.ProcessList = e.processes
	status.add(e)
	if err := e.recover(ctx); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

// Install puts our cost model and execution seam into an analyzer. New does it; it is exported for test suites that build
// analyzers of their own over the provider, and expect the library's words of SHOW.
func (e *Engine) Install(a *analyzer.Analyzer) { e.install(a, false) }

func (e *Engine) install(a *analyzer.Analyzer, shows bool) {
	a.Coster = gms.Coster{Coster: memo.NewDefaultCoster(), Indexes: costs{e}}
	a.Catalog.StatsProvider = stats.Provider{Store: e.stats, TableOf: countedOf}
	runner := a.ExecBuilder.Runner
	b := &execBuilder{eng: e, shows: shows}
	b.base = rowexec.NewBuilder(b, a.Overrides)
	b.base.Runner = runner
	b.keeping = operator.Builder{Pool: e.memory, Base: b.base, Store: storeRecursive}
	a.ExecBuilder = b.base
}

// SQL is go-mysql-server's engine.
func (e *Engine) SQL() *sqle.Engine { return e.sql }

// Provider is the database provider, for servers and test suites that build their own engine over it.
func (e *Engine) Provider() sql.DatabaseProvider { return e.provider }

// Catalog is the descriptor store.
func (e *Engine) Catalog() *catalog.Catalog { return e.catalog }

// Client is the transaction client.
func (e *Engine) Client() *txn.Client { return e.client }

// Sessions is the number of sessions that have not ended.
func (e *Engine) Sessions() int64 { return e.sessions.Load() }

// Close refuses new statements and waits for the background work.
func (e *Engine) Close() error {
	if e.closed.Swap(true) {
		return nil
	}
	status.remove(e)
	e.cancel()
	e.tasks.Wait()
	if e.sql != nil {
		return e.sql.Close()
	}
	return nil
}

// goTask runs f in the background until it returns or the engine closes; Close waits for it.
func (e *Engine) goTask(f func(ctx context.Context)) {
	if e.closed.Load() {
		return
	}
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		f(e.bg)
	}()
}

var setupOnce = sync.OnceValue(setup)

// Setup gives the process-wide system variables the values that MySQL 8 clients expect. go-mysql-server keeps them in one
// registry for the whole process, so it runs once however many engines there are.
func Setup() error { return setupOnce() }

func setup() error {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, columnRights, mending)
	rights.Install()
	planbuilder.IsWindowFunc = expr.IsWindowFunction
	widenStamps()
	if err := errors.Join(addPlanRules(), replaceWriteRules(), addCreatorsRights(),
		gms.KeepOutputColumns(), gms.IdentifyUnions(), gms.LookForPositions(), gms.KeepComputed(),
		gms.ReplaceCrossJoins(), gms.LeaveOuterConditions(), gms.KeepEscapes(), gms.RefuseWritesOfReadOnly(),
		gms.ReadLocksOfReadOnly(), gms.MendConstants(mendAlone), gms.InsertInTime(), gms.PlaceUpserts(),
		gms.AnswerReturning()); err != nil {
		return err
	}
	gms.HeedContext()
	sql.SupportedCharsets = charset.All()
	status.began = time.Now()
	variables.InitStatusVariables()
	status.StatusVariableRegistry = sql.StatusVariables
	sql.StatusVariables = status
	systemVariables.SystemVariableRegistry = sql.SystemVariables
	sql.SystemVariables = systemVariables
	sql.SystemVariables.AddSystemVariables(account.PolicyVariables())
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{
		// The library knows these not at all, or with a range that refuses what clients set.
		&sql.MysqlSystemVariable{
			Name: "optimizer_switch", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemStringType("optimizer_switch"), Default: "",
		},
		// Names keep their case and are compared without it; see catalog.Fold.
		&sql.MysqlSystemVariable{
			Name: "lower_case_table_names", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global),
			Type: types.NewSystemIntType("lower_case_table_names", 0, 2, false), Default: int64(2),
		},
		&sql.MysqlSystemVariable{
			Name: "lower_case_file_system", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Type: types.NewSystemBoolType("lower_case_file_system"), Default: int8(1),
		},
		// Nobody runs events: they are kept, shown and dumped, and no statement can have them run.
		&sql.MysqlSystemVariable{
			Name: "event_scheduler", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global),
			Type: types.NewSystemEnumType("event_scheduler", "ON", "OFF", "DISABLED"), Default: "DISABLED",
		},
		&sql.MysqlSystemVariable{
			Name: "profiling", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemBoolType("profiling"), Default: int8(0),
		},
		&sql.MysqlSystemVariable{
			Name: txnModeVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemEnumType(txnModeVariable, modePessimistic, modeOptimistic), Default: modePessimistic,
		},
		&sql.MysqlSystemVariable{
			Name: "innodb_lock_wait_timeout", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemIntType("innodb_lock_wait_timeout", 1, 1073741824, false), Default: int64(50),
		},
		&sql.MysqlSystemVariable{
			Name: warningCount, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Type: types.NewSystemUintType(warningCount, 0, math.MaxUint64), Default: uint64(0),
		},
		&sql.MysqlSystemVariable{
			Name: errorCount, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Type: types.NewSystemUintType(errorCount, 0, math.MaxUint64), Default: uint64(0),
		},
		&sql.MysqlSystemVariable{
			Name: "sql_select_limit", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true, SetVarHintApplies: true,
			Type: types.NewSystemUintType("sql_select_limit", 0, math.MaxUint64), Default: uint64(math.MaxUint64),
		},
		&sql.MysqlSystemVariable{
			Name: "binlog_format", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemEnumType("binlog_format", "MIXED", "STATEMENT", "ROW"), Default: "ROW",
		},
		&sql.MysqlSystemVariable{
			Name: timestampVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Dynamic: true,
			Type: types.NewSystemDoubleType(timestampVariable, 0, math.MaxInt32), Default: float64(0),
		},
		&sql.MysqlSystemVariable{
			Name: past.Variable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Session), Dynamic: true,
			Type: types.NewSystemStringType(past.Variable), Default: "", NotifyChanged: past.CheckVariable,
		},
		&sql.MysqlSystemVariable{
			Name: VarPlanCache, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemBoolType(VarPlanCache), Default: int8(1),
		},
		&sql.MysqlSystemVariable{
			Name: operator.VarQueryMemory, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemIntType(operator.VarQueryMemory, 0, 1<<62, false), Default: int64(operator.DefaultQueryMemory),
		},
		&sql.MysqlSystemVariable{
			Name: operator.VarSessionMemory, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Dynamic: true,
			Type:    types.NewSystemIntType(operator.VarSessionMemory, 1<<20, 1<<40, false),
			Default: int64(operator.DefaultSessionMemory),
		},
		&sql.MysqlSystemVariable{
			Name: VarPushDown, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemBoolType(VarPushDown), Default: int8(1),
		},
	})
	// The library's own default is utf8mb4_0900_bin, under which 'a' = 'A' is false, and an SQL mode that is less strict than MySQL's.
	return system.Defaults(map[string]any{
		"sql_mode":             "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
		"collation_server":     "utf8mb4_0900_ai_ci",
		"collation_connection": "utf8mb4_0900_ai_ci",
		"collation_database":   "utf8mb4_0900_ai_ci",
	})
}

// matchObservers is the default of Options.Observers.
func matchObservers(table *catalog.Table, observers []*catalog.Observer, event ChangeEvent, changed []uint32) []uint32 {
	var ids []uint32
	for _, o := range observers {
		if !o.Enabled || !wants(o, event, changed) {
			continue
		}
		ids = append(ids, o.ID)
	}
	return ids
}

func wants(o *catalog.Observer, event ChangeEvent, changed []uint32) bool {
	switch event {
	case ChangeInsert:
		return o.Events&catalog.OnInsert != 0
	case ChangeDelete:
		return o.Events&catalog.OnDelete != 0
	}
	if o.Events&catalog.OnUpdate == 0 {
		return false
	}
	if len(o.Columns) == 0 {
		return true
	}
	for _, want := range o.Columns {
		for _, c := range changed {
			if c == want {
				return true
			}
		}
	}
	return false
}
