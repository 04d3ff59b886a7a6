package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// SHOW STATUS takes its variables from a registry that the library keeps once for the whole process. Ours
// stands in front of it and adds what the plan caches of all engines of the process have done, and how far
// back garbage collection is.
type statusRegistry struct {
	sql.StatusVariableRegistry

	began time.Time // when the process was set up

	mu      sync.Mutex
	engines map[*Engine]struct{}
}

var _ sql.StatusVariableRegistry = (*statusRegistry)(nil)

func (r *statusRegistry) add(e *Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engines[e] = struct{}{}
}

func (r *statusRegistry) remove(e *Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.counts.settle(r.StatusVariableRegistry)
	delete(r.engines, e)
}

// settle takes over what engines have counted by themselves.
func (r *statusRegistry) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := range r.engines {
		e.counts.settle(r.StatusVariableRegistry)
	}
}

type ownVariable struct {
	name  string
	value func(*Engine) int64
}

// ownStatus are the variables that are added.
var ownStatus = []ownVariable{
	{"Moka_plan_cache_hits", func(e *Engine) int64 { return e.PlanCacheStats().Hits }},
	{"Moka_plan_cache_misses", func(e *Engine) int64 { return e.PlanCacheStats().Misses }},
	{"Moka_plan_cache_body_hits", func(e *Engine) int64 { return e.PlanCacheStats().BodyHits }},
	{"Moka_plan_cache_body_misses", func(e *Engine) int64 { return e.PlanCacheStats().BodyMisses }},
	{"Moka_plan_cache_plans", func(e *Engine) int64 { return e.PlanCacheStats().Plans }},
	{"Moka_plan_cache_fallbacks", func(e *Engine) (n int64) {
		for _, f := range e.PlanCacheStats().Fallbacks {
			n += f
		}
		return n
	}},
	{"Innodb_row_lock_waits", func(e *Engine) int64 { return int64(e.client.Metrics().RowLockWaits) }},
	reported("Moka_login_failures"), reported("Moka_login_delays"), reported("Moka_node_insecure"),
	{"Moka_safe_point_age_seconds", func(e *Engine) int64 { // how far back one can read; zero while nothing was collected
		if at, told := e.client.SafePoint(); told && at != 0 {
			return int64(time.Since(at.Time()).Seconds())
		}
		return 0
	}},
}

// reported is a variable that the server of an engine keeps: Options.Status.
func reported(name string) ownVariable {
	return ownVariable{name, func(e *Engine) int64 {
		if f := e.opts.Status[name]; f != nil {
			return f()
		}
		return 0
	}}
}

// notStatus are variables of a dictionary of forbidden passwords, which there is not. The library has them
// under the names of MySQL's plugin and of its component, which monitors that take '.' for '_' refuse as
// doubles.
var notStatus = []string{
	"validate_password_dictionary_file_last_parsed", "validate_password_dictionary_file_words_count",
	"validate_password.dictionary_file_last_parsed", "validate_password.dictionary_file_words_count",
}

// NewSessionMap implements sql.StatusVariableRegistry. Sessions of ours count for themselves; see
// sessionvars.go.
func (r *statusRegistry) NewSessionMap() map[string]sql.StatusVarValue { return nil }

// NewGlobalMap implements sql.StatusVariableRegistry.
func (r *statusRegistry) NewGlobalMap() map[string]sql.StatusVarValue {
	r.settle()
	m := r.StatusVariableRegistry.NewGlobalMap()
	for _, name := range notStatus {
		delete(m, name)
	}
	if v := m[threadsRunning]; v != nil {
		n, _ := v.Value().(uint64)
		m[threadsRunning] = &sql.ImmutableStatusVarValue{Var: v.Variable(), Val: n + r.running()}
	}
	for i := range ownStatus {
		v, n := r.value(i)
		m[ownStatus[i].name] = &sql.ImmutableStatusVarValue{Var: v, Val: n}
	}
	for _, name := range uptimes {
		m[name] = &sql.ImmutableStatusVarValue{Var: m[name].Variable(), Val: r.uptime()}
	}
	return m
}

// threadsRunning is what the library counts, and the statements that run by their plans.
const threadsRunning = "Threads_running"

func (r *statusRegistry) running() (n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := range r.engines {
		n += e.processes.running()
	}
	return n
}

// uptimes are what the library leaves at zero. FLUSH STATUS does not begin anew.
var uptimes = []string{"Uptime", "Uptime_since_flush_status"}

func (r *statusRegistry) uptime() uint64 { return uint64(time.Since(r.began).Seconds()) }

// SetGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) SetGlobal(name string, value any) error {
	r.settle()
	return r.StatusVariableRegistry.SetGlobal(name, value)
}

// IncrementGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) IncrementGlobal(name string, by int) {
	r.StatusVariableRegistry.IncrementGlobal(name, by)
	if name == questions {
		r.StatusVariableRegistry.IncrementGlobal(queries, by)
	}
}

// Queries is Questions. In MySQL only the former has the statements within routines; here both have those
// that are not run by their plans.
const questions, queries = "Questions", "Queries"

// GetGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) GetGlobal(name string) (sql.StatusVariable, any, bool) {
	for i := range ownStatus {
		if ownStatus[i].name == name {
			v, n := r.value(i)
			return v, n, true
		}
	}
	if slices.Contains(notStatus, name) {
		return nil, nil, false
	}
	r.settle()
	v, n, ok := r.StatusVariableRegistry.GetGlobal(name)
	if ok && slices.Contains(uptimes, name) {
		n = r.uptime()
	}
	if listed, ok := n.(uint64); ok && name == threadsRunning {
		n = listed + r.running()
	}
	return v, n, ok
}

func (r *statusRegistry) value(i int) (sql.StatusVariable, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var n int64
	for e := range r.engines {
		n += ownStatus[i].value(e)
	}
	return &sql.MySQLStatusVariable{Name: ownStatus[i].name, Scope: sql.StatusVariableScope_Global, Default: uint64(0)}, uint64(n)
}

// status is the process's registry, installed by setup.
var status = &statusRegistry{engines: map[*Engine]struct{}{}}

// Statements that run by their plans are counted here, by what they are, and go into the library's status
// variables when somebody asks for these. To count one there took a dozen searches of maps by name, 1 % of
// what a server does under sysbench, and a session's map, a copy of all variables, with its first
// statement.

// comStatus are the variables that such statements are counted by, each besides Questions and Queries.
var comStatus = [...]string{
	"Com_select", "Com_insert", "Com_update", "Com_delete", "Com_begin", "Com_commit", "Com_rollback",
}

// engineCounts are those of an engine's sessions.
type engineCounts [len(comStatus)]atomic.Uint64

// sessionCounts are those of one session, for its goroutine.
type sessionCounts [len(comStatus)]uint64

// count counts a statement.
func (e *Engine) count(ctx *sql.Context, s *Session, variable string) {
	for i := range comStatus {
		if comStatus[i] == variable {
			e.counts[i].Add(1)
			s.counts[i]++
			return
		}
	}
	sql.IncrementStatusVariable(ctx, questions, 1)
	sql.IncrementStatusVariable(ctx, variable, 1)
}

// settle takes what has been comStatus over into the library's variables.
func (c *engineCounts) settle(r sql.StatusVariableRegistry) {
	for i := range c {
		if n := int(c[i].Swap(0)); n > 0 {
			r.IncrementGlobal(comStatus[i], n)
			r.IncrementGlobal(questions, n)
			r.IncrementGlobal(queries, n)
		}
	}
}

// settle takes what has been comStatus over into the session's variables.
func (c *sessionCounts) settle(vars map[string]sql.StatusVarValue) {
	for i, n := range c {
		if n == 0 {
			continue
		}
		c[i] = 0
		for _, name := range []string{comStatus[i], questions, queries} {
			if v := vars[name]; v != nil {
				v.Increment(n)
			}
		}
	}
}
