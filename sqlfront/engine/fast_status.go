package engine

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// SHOW STATUS takes its variables from a registry that the library keeps once for the whole process. Ours stands in front of it
// and adds what the plan caches of all engines of the process have done.
type statusRegistry struct {
	sql.StatusVariableRegistry

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
	delete(r.engines, e)
}

// planStatus are the variables that are added.
var planStatus = []struct {
	name  string
	value func(*PlanCacheStats) int64
}{
	{"Moka_plan_cache_hits", func(s *PlanCacheStats) int64 { return s.Hits }},
	{"Moka_plan_cache_misses", func(s *PlanCacheStats) int64 { return s.Misses }},
	{"Moka_plan_cache_plans", func(s *PlanCacheStats) int64 { return s.Plans }},
	{"Moka_plan_cache_fallbacks", func(s *PlanCacheStats) (n int64) {
		for _, f := range s.Fallbacks {
			n += f
		}
		return n
	}},
}

// NewGlobalMap implements sql.StatusVariableRegistry.
func (r *statusRegistry) NewGlobalMap() map[string]sql.StatusVarValue {
	m := r.StatusVariableRegistry.NewGlobalMap()
	for i := range planStatus {
		v, n := r.value(i)
		m[planStatus[i].name] = &sql.ImmutableStatusVarValue{Var: v, Val: n}
	}
	return m
}

// GetGlobal implements sql.StatusVariableRegistry.
func (r *statusRegistry) GetGlobal(name string) (sql.StatusVariable, any, bool) {
	for i := range planStatus {
		if planStatus[i].name == name {
			v, n := r.value(i)
			return v, n, true
		}
	}
	return r.StatusVariableRegistry.GetGlobal(name)
}

func (r *statusRegistry) value(i int) (sql.StatusVariable, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var n int64
	for e := range r.engines {
		s := e.PlanCacheStats()
		n += planStatus[i].value(&s)
	}
	return &sql.MySQLStatusVariable{Name: planStatus[i].name, Scope: sql.StatusVariableScope_Global, Default: uint64(0)}, uint64(n)
}

// status is the process's registry, installed by setup.
var status = &statusRegistry{engines: map[*Engine]struct{}{}}
