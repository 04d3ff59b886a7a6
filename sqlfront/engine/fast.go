package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/digest"
	"moka/sqlfront/eval"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/past"
	"moka/sqlfront/resultset"
)

// The plan cache. Most statements of an OLTP load are of a handful of shapes: a row by its key, a short range of an index, a
// row inserted, changed or deleted. The SQL library parses, binds and analyses each of them anew, which costs ten times what
// running it does. Here such a statement is compiled once, by its digest (fast_digest.go), into a plan of our own
// (fast_compile.go), which runs on the transaction and the codecs directly (fast_read.go, fast_write.go).
//
// The library stays the judge of what a statement means. A plan is used only after the library has run the same statement
// once with success, and the head of its result is the one that the library made. Whatever a plan is not sure about when it
// runs (a value that needs a conversion, a warning to give, a privilege that is missing) it leaves to the library, before it
// has written anything, or with all of it undone. Triggers that a plan sets off are in fires.go, statements of routines in
// routine_fast.go. Turning the cache off (moka_plan_cache = 0) therefore changes the time that a statement takes and
// nothing else; TestPlanCacheChangesNothing runs random statements both ways.
//
// A plan is right for the version of the table that it was compiled for, and is looked at against the catalog in the
// statement's own snapshot each time; writes fence the table's version as all writes do. Privileges are asked each time.

// VarPlanCache switches the plan cache off for a session.
const VarPlanCache = "moka_plan_cache"

// maxPlans bounds the cache.
const maxPlans = 4096

type planKey struct {
	text     string
	db       string
	settings string
	kinds    string // of the parameters; empty where a plan is right for all
}

// planEntry is a plan, or the reason why there is none.
type planEntry struct {
	plan    *fastPlan
	reason  string
	version catalog.Stamp // for a reason
	typed   bool          // there are plans for each tuple of kinds of the parameters
	proved  atomic.Bool
	// large counts runs in a row that found more rows than a plan keeps: their work was done twice.
	large atomic.Int32
}

// maxLarge is after how many of those only each retryLarge-th run is by the plan.
const (
	maxLarge   = 4
	retryLarge = 64
)

// skips reports whether a run is not worth trying.
func (entry *planEntry) skips() bool {
	n := entry.large.Load()
	return n >= maxLarge && entry.large.Add(1)%retryLarge != 0
}

type planCache struct {
	mu      sync.RWMutex
	entries map[planKey]*planEntry

	hits, misses, evictions atomic.Int64
	bodyHits, bodyMisses    atomic.Int64 // triggers and observers
	fallbacks               [len(reasons)]atomic.Int64
	pids                    atomic.Uint64
	memory                  *sql.MemoryManager
}

var reasons = [...]string{reasonText, reasonShape, reasonTable, reasonIndex, reasonType, reasonValue, reasonSettings, reasonPrivilege}

// general counts a statement of a session that goes the general way.
func (c *planCache) general(s *Session, reason string) {
	s.cost.noPlan = reason
	c.fallback(reason)
}

func (c *planCache) fallback(reason string) {
	for i, r := range reasons {
		if r == reason {
			c.fallbacks[i].Add(1)
			return
		}
	}
}

// firstFastPid keeps the ids of plans' runs in the process list away from the library's, which count from 1.
const firstFastPid = 1 << 48

func (c *planCache) init() {
	c.entries = map[planKey]*planEntry{}
	c.pids.Store(firstFastPid)
	c.memory = sql.NewMemoryManager(sql.ProcessMemory)
}

func (c *planCache) get(k planKey) *planEntry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.entries[k]
}

func (c *planCache) put(k planKey, e *planEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[k]; !ok && len(c.entries) >= maxPlans {
		// Any eighth of them, in the map's order: a load that needs more plans than there is room for is not helped by a better choice.
		n := maxPlans / 8
		for old := range c.entries {
			delete(c.entries, old)
			if n--; n == 0 {
				break
			}
		}
		c.evictions.Add(maxPlans / 8)
	}
	c.entries[k] = e
}

// PlanCacheStats is what the plan cache has done since the engine was made.
type PlanCacheStats struct {
	Plans, Hits, Misses, Evictions int64
	// BodyHits counts runs of bodies of triggers and observers that were compiled before, BodyMisses those compiled for the run.
	BodyHits, BodyMisses int64
	// Fallbacks counts statements that went the general way, by reason.
	Fallbacks map[string]int64
}

// PlanCacheStats returns a snapshot.
func (e *Engine) PlanCacheStats() PlanCacheStats {
	c := &e.plans
	c.mu.RLock()
	n := len(c.entries)
	c.mu.RUnlock()
	s := PlanCacheStats{
		Plans: int64(n), Hits: c.hits.Load(), Misses: c.misses.Load(), Evictions: c.evictions.Load(),
		BodyHits: c.bodyHits.Load(), BodyMisses: c.bodyMisses.Load(), Fallbacks: map[string]int64{},
	}
	for i, r := range reasons {
		s.Fallbacks[r] = c.fallbacks[i].Load()
	}
	return s
}

// settings are the session's variables that plans depend on, as of the last statement that may have changed one.
type settings struct {
	off         bool // no plans in this session
	autocommit  bool
	ansiQuotes  bool
	zeroIsZero  bool // NO_AUTO_VALUE_ON_ZERO
	foreignKeys bool // foreign_key_checks
	parser      ast.ParserOptions
	key         string // all of them that the library's work depends on
}

// planVariables go into the key of a plan.
var planVariables = []string{"sql_mode", "collation_connection", "character_set_results", "character_set_client", "character_set_connection", "time_zone"}

func (s *Session) settings(ctx *sql.Context) *settings {
	if s.cached != nil {
		return s.cached
	}
	v := &settings{}
	text := func(name string) string {
		x, err := s.GetSessionVariable(ctx, name)
		if err != nil {
			return ""
		}
		t, _ := x.(string)
		return t
	}
	truth := func(name string) bool {
		x, err := s.GetSessionVariable(ctx, name)
		if err != nil {
			return false
		}
		on, err := sql.ConvertToBool(ctx, x)
		return err == nil && on
	}
	v.autocommit = truth(sql.AutoCommitSessionVar)
	for _, name := range planVariables {
		v.key += text(name) + "\x00"
	}
	mode := sql.LoadSqlMode(ctx)
	v.parser = mode.ParserOptions()
	v.ansiQuotes = mode.AnsiQuotes()
	v.zeroIsZero = mode.ModeEnabled(sql.NoAutoValueOnZero)
	v.foreignKeys = truth("foreign_key_checks")
	unlimited, _ := sql.HasDefaultValue(ctx, s, "sql_select_limit")
	v.off = !truth(VarPlanCache) || !unlimited || text(past.Variable) != "" || !utf8Client(text("character_set_client")) || !utf8Client(text("character_set_connection")) ||
		!utf8Results(text("character_set_results"))
	s.cached = v
	return v
}

func utf8Client(name string) bool { return name == "utf8mb4" || name == "utf8mb3" || name == "utf8" }

func utf8Results(name string) bool { return name == "" || name == "utf8mb4" || name == "utf8" }

// Plans is the plan cache as the wire layer sees it.
type Plans struct{ eng *Engine }

// Plans returns the plan cache.
func (e *Engine) Plans() *Plans { return &Plans{e} }

// Run runs a SELECT, INSERT, UPDATE or DELETE if there is a plan for it, else result is nil and the statement has to go the general
// way: nothing has been done. learn, if it is not nil, wants the head of the general way's result, should that succeed. A
// statement with parameters is prepared; it has its values in params and a question mark for each in the text. status is the
// status variable that counts the statement.
func (p *Plans) Run(ctx context.Context, session sql.Session, text string, prepared bool,
	params []mysqlproto.Param, status string) (result *resultset.Result, learn func(*resultset.Head), err error) {
	s, ok := session.(*Session)
	if !ok {
		return nil, nil, nil
	}
	err = p.eng.command(ctx, s, text, func(ctx *sql.Context) error {
		st := &fastStatement{session: s, text: text, prepared: prepared, params: params, status: status}
		result, learn, err = p.eng.fast(ctx, st)
		if result == nil && err == nil {
			s.passOn(st.entered)
		}
		return err
	})
	return result, learn, err
}

// Transaction is BEGIN, BEGIN READ ONLY, COMMIT or ROLLBACK (verb is one of these, in small letters) without other options. It
// reports whether it was done; if not it has to go the general way.
func (p *Plans) Transaction(ctx context.Context, session sql.Session, verb string) (done bool, err error) {
	s, ok := session.(*Session)
	if !ok {
		return false, nil
	}
	err = p.eng.command(ctx, s, verb, func(ctx *sql.Context) error {
		done, err = p.eng.fastTransaction(ctx, s, verb)
		return err
	})
	return done, err
}

// Forget says that a statement has gone the general way. It may have been a SET: the session's variables are read again.
func (p *Plans) Forget(session sql.Session) {
	if s, ok := session.(*Session); ok {
		s.cached, s.creations = nil, nil
	}
}

// command brackets a statement as package conn does those of the general way.
func (e *Engine) command(parent context.Context, s *Session, text string, f func(*sql.Context) error) error {
	var cancel context.CancelFunc
	if !s.interruptible() {
		parent, cancel = context.WithCancel(parent)
		defer cancel()
	}
	ctx := sql.NewContext(parent, sql.WithSession(s), sql.WithPid(e.plans.pids.Add(1)), sql.WithQuery(text),
		sql.WithMemoryManager(e.plans.memory), sql.WithProcessList(e.sql.ProcessList))
	if at, ok := s.Told(); ok {
		ctx.SetQueryTime(at)
	}
	defer e.processes.begin(s, text, cancel).finish(ctx)
	if err := s.CommandBegin(); err != nil {
		return err
	}
	defer s.CommandEnd()
	if err := f(ctx); err != nil {
		return sql.CastSQLError(err)
	}
	return nil
}

type fastStatement struct {
	session  *Session
	text     string
	prepared bool
	params   []mysqlproto.Param
	status   string
	entered  bool // the session knows that a statement has begun
}

// takeDigest takes the digest of a text.
func takeDigest(d *digest.Digest, st *fastStatement, set *settings) bool {
	many := len(st.text) >= digest.MinRowsText && st.status == comInsert
	return many && d.ScanRows(st.text) || d.Scan(st.text, set.ansiQuotes)
}

const comInsert = "Com_insert"

// fast runs the statement if there is a plan for it.
func (e *Engine) fast(ctx *sql.Context, st *fastStatement) (*resultset.Result, func(*resultset.Head), error) {
	s := st.session
	set := s.settings(ctx)
	if set.off || s.calls > 0 || s.temp.any() || s.tables != nil {
		e.plans.general(s, reasonSettings)
		return nil, nil, nil
	}
	d := &s.digest
	if st.prepared {
		if !d.Bind(st.text, st.params) {
			e.plans.general(s, reasonType)
			return nil, nil, nil
		}
	} else if !takeDigest(d, st, set) {
		e.plans.general(s, reasonText)
		return nil, nil, nil
	}
	defer d.Release()
	s.cost.digested = true
	if err := s.ValidateSession(ctx); err != nil {
		return nil, nil, err
	}
	st.entered = true
	run := &fastRun{eng: e, ctx: ctx, session: s, set: set, values: d.Values, width: d.Width,
		found: s.Client().Capabilities&mysqlproto.ClientFoundRows != 0}
	db := s.GetCurrentDatabase()
	entry := e.plans.get(planKey{text: string(d.Text), db: db, settings: set.key})
	if entry != nil && entry.typed {
		entry = e.plans.get(planKey{string(d.Text), db, set.key, eval.Kinds(d.Values)})
	}
	if entry == nil {
		return nil, e.planned(run, db), nil
	}
	if entry.plan == nil {
		if snap := e.catalog.Latest(); snap != nil && snap.Stamp() == entry.version {
			e.plans.general(s, entry.reason)
			return nil, nil, nil
		}
		return nil, e.planned(run, db), nil
	}
	p := entry.plan
	if !entry.proved.Load() {
		e.plans.misses.Add(1)
		return nil, entry.learn(ctx), nil
	}
	if entry.skips() {
		e.plans.general(s, reasonValue)
		return nil, nil, nil
	}
	if s.tx() != nil && e.keepUp(ctx) != nil {
		return nil, nil, nil // the general way refuses it
	}
	run.accounts = e.directory.Version()
	if !e.sql.Analyzer.Catalog.MySQLDb.UserHasPrivileges(ctx, p.allow...) {
		e.plans.general(s, reasonPrivilege)
		return nil, nil, nil
	}
	run.plan = p
	result, err := run.run()
	switch {
	case err == errStalePlan:
		run.plan = nil
		return nil, e.planned(run, db), nil
	case err == errTooLarge:
		entry.large.Add(1)
		fallthrough
	case err == errFallback:
		e.plans.general(s, reasonValue)
		return nil, nil, nil
	}
	if entry.large.Load() != 0 {
		entry.large.Store(0)
	}
	e.plans.hits.Add(1)
	s.cost.planned = true
	e.count(ctx, s, st.status)
	return result, nil, err
}

// planned makes the plan of a statement that has none, or none that is right any more. The statement itself goes the general
// way, and the plan is used when that has succeeded.
func (e *Engine) planned(run *fastRun, db string) (learn func(*resultset.Head)) {
	e.plans.misses.Add(1)
	v, err := run.view()
	defer run.leave()
	if err != nil {
		return nil // the general way meets it too, and words it
	}
	key := planKey{text: string(run.session.digest.Text), db: db, settings: run.set.key}
	entry := &planEntry{version: v.snap.Stamp()}
	values := run.session.digest.Values
	plan, typed, err := e.compile(run.ctx, v, db, key.text, values, run.set.parser)
	entry.plan = plan
	if err == unplanned(reasonPrivilege) {
		e.plans.general(run.session, reasonPrivilege)
		return nil // what others may is another matter
	}
	if typed {
		e.plans.put(key, &planEntry{typed: true})
		key.kinds = eval.Kinds(values)
	}
	if err != nil {
		entry.plan, entry.reason = nil, err.Error()
		e.plans.put(key, entry)
		e.plans.general(run.session, entry.reason)
		return nil
	}
	e.plans.put(key, entry)
	return entry.learn(run.ctx)
}

// learn takes over the head of the library's result. It is refused when it is not of the columns that the plan delivers: the
// library may have run under another version of the table.
func (entry *planEntry) learn(ctx *sql.Context) func(*resultset.Head) {
	return func(head *resultset.Head) {
		p := entry.plan
		if p.sel != nil {
			width := p.sel.width
			if n := len(p.sel.aggregates); n > 0 {
				width = n
			}
			if head == nil || len(head.Fields) != width || width == 0 {
				return
			}
			if len(p.sel.aggregates) == 0 {
				of, ok := shownAs(head.Fields, p.sel.types)
				if !ok {
					return
				}
				head = resultset.NewHead(ctx, head.Fields, of) // the types that the plan has
			}
			p.sel.head.Store(head)
		} else if head != nil {
			return
		}
		entry.proved.Store(true)
	}
}

// shownAs are the types of a plan's columns as the library's result has them; ok is false if it has others.
// Of an expression it shows no numbers of one byte.
func shownAs(fields []*querypb.Field, of []sql.Type) (shown []sql.Type, ok bool) {
	shown = slices.Clone(of[:len(fields)])
	for i, f := range fields {
		t := of[i].Type()
		switch {
		case f.Type == t:
		case f.Type == sqltypes.Int64 && f.Database == "" && (t == sqltypes.Int8 || t == sqltypes.Uint8):
			shown[i] = types.Int64
		default:
			return nil, false
		}
	}
	return shown, true
}

// beginReadOnly is the verb of START TRANSACTION READ ONLY.
const beginReadOnly = "begin read only"

// fastTransaction is BEGIN, READ ONLY or not, COMMIT and ROLLBACK without options.
func (e *Engine) fastTransaction(ctx *sql.Context, s *Session, verb string) (handled bool, err error) {
	set := s.settings(ctx)
	if set.off || s.calls > 0 {
		return false, nil
	}
	if err := s.ValidateSession(ctx); err != nil {
		return true, err
	}
	mode := sql.ReadWrite
	if verb == beginReadOnly {
		verb, mode = "begin", sql.ReadOnly
	}
	e.count(ctx, s, "Com_"+verb)
	s.cost.planned = true
	s.ClearWarnings()
	tx := s.tx()
	switch verb {
	case "begin":
		s.unlockTables()
		if tx != nil {
			if err := s.CommitTransaction(ctx, tx); err != nil {
				return true, err
			}
		}
		next, err := s.StartTransaction(ctx, mode)
		if err != nil {
			return true, err
		}
		s.SetTransaction(next)
		s.SetIgnoreAutoCommit(true)
	case "commit":
		if tx != nil {
			if err := s.CommitTransaction(ctx, tx); err != nil {
				return true, err
			}
		}
		s.SetIgnoreAutoCommit(false)
		s.upcoming = nil
	case "rollback":
		if tx != nil {
			tx.rollback()
			s.SetTransaction(nil)
		}
		s.SetIgnoreAutoCommit(false)
		s.upcoming = nil
	}
	s.GetLastQueryInfo().RowCount.Store(-1)
	return true, nil
}
