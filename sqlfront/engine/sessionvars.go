package engine

import (
	"crypto/tls"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/assign"
	"moka/sqlfront/charset"
	"moka/sqlfront/expr"
	"moka/sqlfront/jsonsize"
	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/sqlfront/upcoming"
)

// The library gives each session a copy of all system variables and of all status variables, a thousand of them, and makes a session for
// each context without one. It makes such contexts while it plans (to ask a table for its name) and for each statement of a
// procedure: copying was two thirds of what a procedure cost. So a session here has the variables that were set in it, over a
// map that it shares with all sessions which began while the global variables were the same.

// systemRegistry is the library's registry of system variables; the maps it gives sessions are shared, and nobody writes to them.
type systemRegistry struct {
	sql.SystemVariableRegistry

	mu     sync.Mutex
	shared map[string]sql.SystemVarValue // nil after a change
	long   atomic.Pointer[time.Duration] // long_query_time; nil after a change
}

// systemVariables is the process's registry, installed by setup.
var systemVariables = &systemRegistry{}

var _ sql.SystemVariableRegistry = (*systemRegistry)(nil)

// longQuery is the global long_query_time.
func (r *systemRegistry) longQuery() time.Duration {
	if long := r.long.Load(); long != nil {
		return *long
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, v, _ := r.GetGlobal("long_query_time")
	seconds, _ := v.(float64)
	long := time.Duration(seconds * float64(time.Second))
	r.long.Store(&long)
	return long
}

// NewSessionMap implements sql.SystemVariableRegistry.
func (r *systemRegistry) NewSessionMap() map[string]sql.SystemVarValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shared == nil {
		r.shared = r.SystemVariableRegistry.NewSessionMap()
	}
	return r.shared
}

func (r *systemRegistry) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = nil
	r.long.Store(nil)
}

// AddSystemVariables implements sql.SystemVariableRegistry.
func (r *systemRegistry) AddSystemVariables(vars []sql.SystemVariable) {
	defer r.forget()
	r.SystemVariableRegistry.AddSystemVariables(vars)
}

// AssignValues implements sql.SystemVariableRegistry.
func (r *systemRegistry) AssignValues(values map[string]any) error {
	defer r.forget()
	return r.SystemVariableRegistry.AssignValues(values)
}

// SetGlobal implements sql.SystemVariableRegistry.
func (r *systemRegistry) SetGlobal(ctx *sql.Context, name string, value any) error {
	if err := maySetGlobal(ctx); err != nil {
		return err
	}
	if ctx != nil && isReadOnlyVariable(name) {
		if s := sessionOf(ctx); s != nil {
			return s.assignReadOnly(ctx, name, value)
		}
	}
	if strings.EqualFold(name, zoneVariable) {
		var err error
		if value, err = zoneValue(value); err != nil {
			return err
		}
	}
	if strings.EqualFold(name, sql.SqlModeSessionVar) {
		if v, _, ok := r.GetGlobal(name); ok {
			var err error
			if value, err = system.Modes(v.GetType(), value); err != nil {
				return err
			}
		}
	}
	if err := charset.Check(name, value); err != nil {
		return err
	}
	if v, _, ok := r.GetGlobal(name); ok {
		var err error
		if value, err = system.ForVariable(v, value); err != nil {
			return err
		}
	}
	defer r.forget()
	err := r.SystemVariableRegistry.SetGlobal(ctx, name, value)
	if ctx != nil && (strings.EqualFold(name, "mandatory_roles") || strings.EqualFold(name, "activate_all_roles_on_login")) {
		if s := sessionOf(ctx); s != nil { // what definers may has changed
			s.eng.directory.Touch()
		}
	}
	return err
}

// ownVariables are what was set in a session.
type ownVariables struct {
	system map[string]sql.SystemVarValue
	status map[string]sql.StatusVarValue
}

// maxVariableText is how long a text a session's system variable may have: it is kept as long as the session, and charged to nobody. The longest
// that mean something are lists of switches and modes, of less than a kilobyte.
const maxVariableText = 8 << 10

func (s *Session) assign(ctx *sql.Context, v sql.SystemVariable, value any, init bool) error {
	set := v.SetValue
	if init {
		set = v.InitValue
	}
	val, err := valueOf(ctx, v, value, set)
	if err != nil {
		return err
	}
	if !init && strings.EqualFold(v.GetName(), operator.VarQueryMemory) {
		if err := mayUnbound(ctx, v, val.Val); err != nil {
			return err
		}
	}
	s.store(v.GetName(), val)
	if name := v.GetName(); name == upcoming.IsolationVariable || name == upcoming.AccessModeVariable {
		s.recharacterize(ctx)
	}
	return nil
}

// valueOf is what a value comes to as one of a session's variable, which set makes.
func valueOf(ctx *sql.Context, v sql.SystemVariable, value any,
	set func(*sql.Context, any, bool) (sql.SystemVarValue, error)) (none sql.SystemVarValue, err error) {
	if n := operator.ValueBytes(value); n > maxVariableText {
		return none, sqlerr.New(sqlerr.WrongValueForVariable,
			"Variable '%s' can't be set to a value of %d bytes, which is more than %d", v.GetName(), n, maxVariableText)
	}
	if strings.EqualFold(v.GetName(), zoneVariable) {
		if value, err = zoneValue(value); err != nil {
			return none, err
		}
	}
	if strings.EqualFold(v.GetName(), sql.SqlModeSessionVar) {
		if value, err = system.Modes(v.GetType(), value); err != nil {
			return none, err
		}
	}
	if err := charset.Check(v.GetName(), value); err != nil {
		return none, err
	}
	if value, err = system.ForVariable(v, value); err != nil {
		return none, err
	}
	return set(ctx, value, false)
}

// systemValue is a text as a value of a variable.
func systemValue(ctx *sql.Context, v sql.SystemVariable, text string) (sql.SystemVarValue, error) {
	if !strings.EqualFold(v.GetName(), sql.SqlModeSessionVar) {
		return v.SetValue(ctx, text, false)
	}
	mode, err := system.Modes(v.GetType(), text)
	if err != nil {
		return sql.SystemVarValue{}, err
	}
	return v.SetValue(ctx, mode, false)
}

func (s *Session) store(name string, val sql.SystemVarValue) {
	if s.vars.system == nil {
		s.vars.system = map[string]sql.SystemVarValue{}
	}
	name = strings.ToLower(name)
	s.keepForBody(name)
	s.vars.system[name] = val
	s.cached, s.creations = nil, nil
	switch name {
	case timestampVariable:
		s.told, _ = val.Val.(float64)
	case insertIDVariable:
		s.forced.next, _ = val.Val.(int64)
		s.forced.used = false
	}
	if name == zoneVariable {
		s.zone.Store(nil)
	}
	if name == "collation_connection" || name == "character_set_connection" {
		s.greeted = ""
	}
}

// SetSessionVariable implements sql.Session.
func (s *Session) SetSessionVariable(ctx *sql.Context, name string, value any) error {
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	if v.IsReadOnly() {
		return sql.ErrSystemVariableReadOnly.New(name)
	}
	if strings.EqualFold(name, "max_allowed_packet") { // it bounds what a client can make the server hold
		return sqlerr.New(sqlerr.VariableIsReadonly, "SESSION variable 'max_allowed_packet' is read-only. Use SET GLOBAL to assign the value")
	}
	return s.assign(ctx, v, value, false)
}

// InitSessionVariable implements sql.Session.
func (s *Session) InitSessionVariable(ctx *sql.Context, name string, value any) error {
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	if now, ok := s.vars.system[strings.ToLower(name)]; ok && now.Val != v.GetDefault() {
		return sql.ErrSystemVariableReinitialized.New(name)
	}
	return s.assign(ctx, v, value, true)
}

// InitSessionVariableDefault implements sql.Session.
func (s *Session) InitSessionVariableDefault(ctx *sql.Context, name string, value any) error {
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	v.SetDefault(value)
	return s.assign(ctx, v, value, true)
}

// text is the value of a text variable; ok is false for NULL.
func (s *Session) text(name string) (value string, ok bool) {
	v, err := s.variable(nil, name)
	if err != nil {
		return "", false
	}
	value, ok = v.(string)
	return value, ok
}

// GetCharacterSet implements sql.Session.
func (s *Session) GetCharacterSet() sql.CharacterSetID {
	return s.characterSet("character_set_connection")
}

// GetCharacterSetResults implements sql.Session. What leaves the engine is UTF-8, or bytes as they are stored: the connection translates
// (package charset), also to sets that go-mysql-server does not know.
func (s *Session) GetCharacterSetResults() sql.CharacterSetID {
	switch set := s.characterSet("character_set_results"); set {
	case sql.CharacterSet_Unspecified, sql.CharacterSet_binary, sql.CharacterSet_utf8mb3:
		return set
	}
	return sql.CharacterSet_utf8mb4
}

func (s *Session) characterSet(variable string) sql.CharacterSetID {
	if len(s.vars.system) == 0 {
		if variable == "character_set_results" {
			return s.BaseSession.GetCharacterSetResults()
		}
		return s.BaseSession.GetCharacterSet()
	}
	name, ok := s.text(variable)
	if !ok {
		return sql.CharacterSet_Unspecified
	}
	id, err := sql.ParseCharacterSet(name)
	if err != nil {
		return sql.CharacterSet_Unspecified
	}
	return id
}

// GetCollation implements sql.Session.
func (s *Session) GetCollation() sql.CollationID {
	if len(s.vars.system) == 0 {
		return s.BaseSession.GetCollation()
	}
	name, ok := s.text("collation_connection")
	if !ok {
		return sql.Collation_Unspecified
	}
	id, err := sql.ParseCollation("", name, false)
	if err != nil {
		return sql.Collation_Unspecified
	}
	return id
}

// maxVariableName is how many characters the name of a user variable has at most, in MySQL.
const maxVariableName = 64

// SetUserVariable implements sql.Session: a text has the connection's collation. The library makes its type of the value alone, and then
// its bytes are compared.
func (s *Session) SetUserVariable(ctx *sql.Context, name string, value any, typ sql.Type) error {
	if err := jsonsize.Shallow(value); err != nil { // an aggregate's, one level deeper with each statement
		return err
	}
	if utf8.RuneCountInString(name) > maxVariableName {
		return sqlerr.New(sqlerr.IllegalVariableName, "User variable name '%s' is illegal",
			sqlerr.Shortened(name))
	}
	if name == upcoming.NoVariable {
		return nil
	}
	value = expr.Copied(value)
	if err := s.keepVariable(ctx, strings.ToLower(name), value); err != nil {
		return err
	}
	if err := s.remember(ctx, strings.ToLower(name)); err != nil {
		return err
	}
	if assign.Typed(typ) {
		var err error
		if value, err = assign.Of(ctx, value, typ, types.LongText); err != nil {
			return err
		}
		typ = types.CreateLongText(s.GetCollation())
	}
	if t, ok := typ.(sql.StringType); ok && types.IsTextOnly(typ) && t.Collation() == sql.Collation_Default {
		typ = types.CreateLongText(s.GetCollation())
	}
	return s.BaseSession.SetUserVariable(ctx, name, value, typ)
}

// counters are the session's status variables.
func (s *Session) counters() map[string]sql.StatusVarValue {
	if s.vars.status == nil {
		s.vars.status = status.StatusVariableRegistry.NewSessionMap()
		if s.tls != nil {
			s.vars.status["Ssl_cipher"].Set(tls.CipherSuiteName(s.tls.CipherSuite))
			s.vars.status["Ssl_version"].Set(strings.Replace(tls.VersionName(s.tls.Version), "TLS ", "TLSv", 1))
		}
	}
	s.counts.settle(s.vars.status)
	return s.vars.status
}

// GetStatusVariable implements sql.Session.
func (s *Session) GetStatusVariable(_ *sql.Context, name string) (any, error) {
	v, ok := s.counters()[name]
	if !ok {
		return nil, sql.ErrUnknownSystemVariable.New(name)
	}
	return v.Value(), nil
}

// SetStatusVariable implements sql.Session.
func (s *Session) SetStatusVariable(_ *sql.Context, name string, value any) error {
	v, ok := s.counters()[name]
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	v.Set(value)
	return nil
}

// GetAllStatusVariables implements sql.Session.
func (s *Session) GetAllStatusVariables(*sql.Context) map[string]sql.StatusVarValue {
	all := make(map[string]sql.StatusVarValue, len(s.counters()))
	for name, v := range s.counters() {
		all[name] = v
	}
	return all
}

// IncrementStatusVariable implements sql.Session.
func (s *Session) IncrementStatusVariable(ctx *sql.Context, name string, by int) {
	if name == questions {
		s.IncrementStatusVariable(ctx, queries, by)
	}
	v, ok := s.counters()[name]
	switch {
	case !ok:
	case by < 0:
		v.Increment(-(uint64(-by)))
	default:
		v.Increment(uint64(by))
	}
}

// lent are the variables that the body of a procedure sets for itself only, as in MySQL: they are as they were when it has ended. The others it sets
// for who calls it. The bodies of triggers and functions, which run unasked, set nothing that stays: who may have a trigger on a table would else
// have the SELECTs of whoever writes to it end after no row (sql_select_limit), or read the past (moka_snapshot).
var lent = map[string]bool{"sql_mode": true, "character_set_client": true, "character_set_connection": true, "collation_connection": true}

// lentVariable is what a variable was before a body set it, if the session had a value of its own.
type lentVariable struct {
	value sql.SystemVarValue
	had   bool
}

// lends is which variables are taken back from the body that runs.
type lends uint8

const (
	lendsNone lends = iota // there is no body
	lendsSome
	lendsAll
)

// lending runs f, a body, and takes the variables back that are lent to it: those in lent from one that was called, all from others, and from
// what others call.
func (s *Session) lending(called bool, f func() error) error {
	outer, within := s.lent, s.lends
	s.lent, s.lends = nil, lendsAll
	if called && within != lendsAll {
		s.lends = lendsSome
	}
	err := f()
	mine := s.lent
	s.lent, s.lends = nil, lendsNone
	for name, was := range mine {
		if was.had {
			s.store(name, was.value)
			continue
		}
		s.store(name, sql.SystemVarValue{})
		delete(s.vars.system, name)
	}
	s.lent, s.lends = outer, within
	return err
}

// keepForBody notes what a variable is that a body is about to set.
func (s *Session) keepForBody(name string) {
	if s.lends == lendsNone || s.lends == lendsSome && !lent[name] {
		return
	}
	if _, kept := s.lent[name]; kept {
		return
	}
	if s.lent == nil {
		s.lent = map[string]lentVariable{}
	}
	value, had := s.vars.system[name]
	s.lent[name] = lentVariable{value, had}
}

// setsAutocommit reports whether a statement is a SET of autocommit, which would end the transaction that fires a trigger, or begin one.
func setsAutocommit(stmt ast.Statement) bool {
	set, ok := stmt.(*ast.Set)
	return ok && slices.ContainsFunc(set.Exprs, func(e *ast.SetVarExpr) bool {
		return e.Scope != ast.SetScope_User && e.Scope != ast.SetScope_Global && e.Name.Name.EqualString("autocommit")
	})
}
