package engine

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/expr"
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
	if name = strings.ToLower(name); name == warningCount || name == errorCount {
		return s.conditionCount(name), nil
	}
	if serverVariables()[name] {
		if _, v, ok := sql.SystemVariables.GetGlobal(name); ok {
			return v, nil
		}
	}
	if s.greeted != "" && name == "collation_connection" {
		return s.greeted, nil
	}
	if name == timestampVariable {
		return s.present(ctx), nil
	}
	return s.variable(ctx, name)
}

func (s *Session) variable(ctx *sql.Context, name string) (any, error) {
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
	all[timestampVariable] = s.present(nil)
	if s.greeted != "" {
		all["collation_connection"] = s.greeted
	}
	return all
}

// Greeted notes a collation of the client's handshake that is not Unicode's. It is what the client is told that its connection has, until
// it sets another; texts are still UTF-8, and compared as such. A client greets with latin1 because its locale says nothing, and sends
// UTF-8 more often than not.
func (s *Session) Greeted(collation string) { s.greeted = collation }

// inWords is a variable's value as SELECT has it: a set of bits is a text.
func inWords(v sql.SystemVarValue) (any, error) {
	if t, ok := v.Var.GetType().(sql.SetType); ok {
		if bits, ok := v.Val.(uint64); ok {
			return t.BitsToString(bits)
		}
	}
	return v.Val, nil
}

const (
	timestampVariable = "timestamp"
	insertIDVariable  = "insert_id"
)

var _ expr.Timed = (*Session)(nil)

// Told implements expr.Timed: the time that SET timestamp has given to the session.
func (s *Session) Told() (at time.Time, ok bool) {
	if s.told == 0 {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(math.Round(s.told * 1e6))), true
}

// present is @@timestamp.
func (s *Session) present(ctx *sql.Context) float64 {
	at := expr.Present(s)
	if ctx != nil && s.told == 0 {
		at = ctx.QueryTime()
	}
	return float64(at.UnixMicro()) / 1e6
}

// forcedID is what SET insert_id has asked for: the first AUTO_INCREMENT number that the next statement draws. Those behind it follow.
type forcedID struct {
	next int64 // 0 for none
	used bool
}
