package engine

import (
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// A session of the library's has a copy of all variables, also of those that exist once for the server: SET GLOBAL slow_query_log = 1
// was not to be seen in SHOW VARIABLES of any session that was there before.

// serverVariables are the variables that only SET GLOBAL can change.
var serverVariables = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for name := range sql.SystemVariables.GetAllGlobalVariables() {
		v, _, _ := sql.SystemVariables.GetGlobal(name)
		if m, ok := v.(*sql.MysqlSystemVariable); ok && m.Scope.Type == sql.SystemVariableScope_Global && m.Dynamic && m.ValueFunction == nil {
			names[name] = true
		}
	}
	return names
})

// GetSessionVariable implements sql.Session.
func (s *Session) GetSessionVariable(ctx *sql.Context, name string) (any, error) {
	if name = strings.ToLower(name); serverVariables()[name] {
		if _, v, ok := sql.SystemVariables.GetGlobal(name); ok {
			return v, nil
		}
	}
	if v, ok := s.vars.system[name]; ok {
		return inWords(v)
	}
	return s.BaseSession.GetSessionVariable(ctx, name)
}

// GetAllSessionVariables implements sql.Session.
func (s *Session) GetAllSessionVariables() map[string]any {
	all := s.BaseSession.GetAllSessionVariables()
	for name, v := range s.vars.system {
		if val, err := inWords(v); err == nil {
			all[name] = val
		}
	}
	for name := range serverVariables() {
		if _, v, ok := sql.SystemVariables.GetGlobal(name); ok {
			all[name] = v
		}
	}
	return all
}

// inWords is a variable's value as SELECT has it: a set of bits is a text.
func inWords(v sql.SystemVarValue) (any, error) {
	if t, ok := v.Var.GetType().(sql.SetType); ok {
		if bits, ok := v.Val.(uint64); ok {
			return t.BitsToString(bits)
		}
	}
	return v.Val, nil
}
