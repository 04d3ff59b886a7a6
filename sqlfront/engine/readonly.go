package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// read_only and super_read_only are one state of the database, which all SQL nodes share: a variable of one server would be gone around through
// the next one. Options.KeepReadOnly stores it in the catalog, whose version it moves; every statement that begins afterwards, on whichever node,
// has looked at the version and calls SetReadOnly first. Transactions that are open already are refused at their COMMIT; those of other nodes
// when that node has looked around, within a second.
//
// A statement is asked once, by its editor or as a schema change; a transaction that has changed anything but temporary tables is asked again
// when it commits. Observers go on under both, as the applier of a MySQL replica does: what they react to is committed, and to refuse them would
// park them. So do schema changes that were begun before.

// ReadOnly says who may change nothing.
type ReadOnly int32

// The states.
const (
	ReadWrite     ReadOnly = iota
	ReadOnlyUsers          // read_only: all but SUPER and CONNECTION_ADMIN
	ReadOnlyAll            // super_read_only
)

const (
	varReadOnly      = "read_only"
	varSuperReadOnly = "super_read_only"
)

func isReadOnlyVariable(name string) bool {
	return strings.EqualFold(name, varReadOnly) || strings.EqualFold(name, varSuperReadOnly)
}

// ReadOnly is the state in force.
func (e *Engine) ReadOnly() ReadOnly { return ReadOnly(e.readOnly.Load()) }

// SetReadOnly puts a state in force in this process.
func (e *Engine) SetReadOnly(state ReadOnly) error {
	e.readOnly.Store(int32(state))
	flag := func(on bool) int8 {
		if on {
			return 1
		}
		return 0
	}
	return sql.SystemVariables.AssignValues(map[string]any{varReadOnly: flag(state != ReadWrite), varSuperReadOnly: flag(state == ReadOnlyAll)})
}

// assignReadOnly is SET GLOBAL read_only or super_read_only. It waits for the commits under way in this process: when it has answered, none of
// them is to come.
func (s *Session) assignReadOnly(ctx *sql.Context, name string, value any) error {
	v, _, _ := sql.SystemVariables.GetGlobal(name)
	converted, _, err := v.GetType().Convert(ctx, value)
	if err != nil {
		return err
	}
	if s.tables != nil || !s.implicit() && s.tx() != nil && s.tx().t != nil {
		return sqlerr.New(sqlerr.LockOrActive, "Can't execute the given command because you have active locked tables or an active transaction")
	}
	state := ReadOnly(s.eng.readOnly.Load())
	switch on := converted == int8(1); {
	case on && strings.EqualFold(name, varReadOnly):
		state = max(state, ReadOnlyUsers)
	case on:
		state = ReadOnlyAll
	case strings.EqualFold(name, varReadOnly):
		state = ReadWrite
	default:
		state = min(state, ReadOnlyUsers)
	}
	s.eng.committing.Lock()
	defer s.eng.committing.Unlock()
	if keep := s.eng.opts.KeepReadOnly; keep != nil {
		return keep(ctx, state)
	}
	return s.eng.SetReadOnly(state)
}

// MayChange refuses with 1290 if the database is read-only to the session.
func MayChange(ctx *sql.Context) error {
	s := sessionOf(ctx)
	if s == nil {
		return nil
	}
	state := ReadOnly(s.eng.readOnly.Load())
	if state == ReadWrite || s.Accounts() == nil || nobody(s.Client()) { // a session of the server's own
		return nil
	}
	option := "--super-read-only"
	if state == ReadOnlyUsers {
		if rights.Has(ctx, s.Accounts(), sql.PrivilegeType_Super) ||
			s.Accounts().UserHasPrivileges(ctx, sql.NewDynamicPrivilegedOperation("connection_admin")) {
			return nil
		}
		option = "--read-only"
	}
	return sqlerr.New(sqlerr.ReadOnlyServer, "The MySQL server is running with the %s option so it cannot execute this statement", option)
}

// mayChange is MayChange for a transaction: an observer's has no session.
func (tx *Tx) mayChange(ctx *sql.Context) error {
	if tx.session == nil || tx.eng.readOnly.Load() == int32(ReadWrite) {
		return nil
	}
	return MayChange(ctx)
}
