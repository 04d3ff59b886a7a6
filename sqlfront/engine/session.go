package engine

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/digest"
	"moka/sqlfront/namedlock"
	"moka/sqlfront/operator"
	"moka/sqlfront/prepared"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/txn"
	"moka/txn/delays"
	"moka/txn/longread"
)

// Session is a client's session: go-mysql-server's base session plus the transaction rules that MySQL clients rely on and
// that the SQL engine leaves to its integrator. The rules, each pinned by a test in session_test.go:
//
//   - A transaction that nobody asked for (autocommit) never outlives its statement, however the statement ended. The SQL
//     engine drops it only when the error came up before there were iterators; a duplicate key, a conflict at commit, a
//     KILL or a COM_STMT_PREPARE would leave it for the next statement to join, and to commit what was refused.
//   - COMMIT ends the transaction whether or not it succeeded, and autocommit is back in force after it. This is also what
//     makes a DDL statement inside BEGIN end the transaction, as it does in MySQL.
//   - A transaction that has lost (1213) is over at the end of the statement that was told so.
//   - A client that goes away in the middle of a transaction has rolled it back.
type Session struct {
	*sql.BaseSession
	eng       *Engine
	temp      tempTables
	persisted PersistStore
	ended     atomic.Bool

	// calls is the depth of CALL statements being executed; ending says that the procedure itself asks for the end of the
	// transaction. See SetTransaction.
	calls  int
	ending bool
	call   *plan.Call // the CALL that the library is about to execute
	params procedureParams

	// routines are bodies that were compiled, and routineBytes what they take.
	routines     map[*catalog.Procedure]*compiled
	routineBytes int64
	results      ResultSink // takes the results of procedures

	kept    map[ast.Statement]*keptStatement // of bodies; see routine_fast.go
	using   []uint32                         // tables of the statements that wait for a trigger or a function; see inUse
	root    sql.Node                         // the plan that runs, of which functions ask what tables it uses
	vars    ownVariables                     // see sessionvars.go
	greeted string                           // see Greeted
	cached  *settings                        // see Session.settings
	lent    map[string]lentVariable          // see lending
	// creations are under what bodies ran; see under
	creations map[creation]*keptCreation
	lends     lends                       // a body runs
	zone      atomic.Pointer[sessionZone] // see timeZone
	digest    digest.Digest               // scratch of the plan cache
	counts    sessionCounts
	process   *process // see processList
	cost      cost
	memory    operator.Account
	// undrawn are the AUTO_INCREMENT numbers that a plan has drawn, by table, before it left the statement to the library.
	undrawn map[uint32][]uint64
	// upcoming are the next transaction's, spent those of one that has ended; see characteristics.
	upcoming, spent *characteristics
	told            float64 // SET timestamp, 0 for none
	forced          forcedID
	// inserting is the innermost statement under way that may change LAST_INSERT_ID(); nil for none.
	inserting *insertID

	// planning: a statement has begun, and no iterator of it is there yet. within is the database whose triggers the library binds then:
	// the names in them are of that database. It would bind them in the current one, and leave out triggers that do not fit there.
	planning bool
	within   string
	around   bool // see lookAround
	bound    bool // and the names in it were looked at
	copies   bool // it is a CREATE TABLE … LIKE
	pins     bool // it is a START TRANSACTION WITH CONSISTENT SNAPSHOT

	reads readView // see ReadsView
	// rewritten is the last statement that wrote to a view, or joined with USING or NATURAL: as it is run, and as it came.
	rewritten rewrittenStatement
	joining   map[string]bool // names of prepared statements with USING or NATURAL
	prepared  prepared.Names  // what those of PREPARE were charged
	ofClient  bool

	assigns bool                // the statement assigns to variables while it runs
	before  map[string]assigned // what they were

	foreign []sql.ForeignKeyConstraint // that the statement has looked at
	missed  []string                   // tables that the statement has looked for, and that are not there
	locks   namedlock.Held

	dropped *catalog.View // the view that CREATE OR REPLACE VIEW, or RENAME TABLE, has taken away

	// Of accounts with grants for patterns of databases; see grants.go.
	granted        mysql_db.PrivilegeSet
	patterns       []grantPattern
	named, matched map[string]struct{}

	login      account.Name   // whose the session is
	loginID    uint64         // account.Directory.ID
	acting     int            // how many definers deep what runs is; see ActAs
	posing     int            // how many routines deep whose definer is the user himself
	reading    *rights.Stored // see Within
	behind     string         // the database of the table below the view that the statement writes to
	calling    string
	explains   bool // see Explain
	guest      account.Guest
	tls        *tls.ConnectionState // of a client that came over TLS
	client     Client               // of a client's session
	roles      []account.Name       // that are switched on
	mustChange bool                 // its password, before anything else
	needs      []columnNeed         // of the statement being bound

	raised  conditions // by the statement at hand
	counted conditions // by the one before it: @@warning_count, @@error_count
	cleared bool       // what the one before has raised is gone
	early   earlyWarnings
	divided bool // by zero, since a row was written

	stage  stage         // of the client's statement; see implicit.go
	coming ast.Statement // while it has not begun
	// preparing: it is a PREPARE, after which the library commits if what was prepared is a schema change.
	preparing bool
	// tables are those of LOCK TABLES; nil for none. locking: those of a LOCK TABLES that is about to be run.
	tables, locking *tableLocks

	reruns    bool // the driver asks Again
	passing   bool // the statement is not over at CommandEnd
	contended bool
}

// cost is what the statement at hand has done. Rows are read by goroutines of the library.
type cost struct {
	digested bool // digest is the statement's
	planned  bool // a plan of the cache ran it
	noPlan   string
	examined atomic.Int64
	restarts atomic.Int64 // by Again and Contended
	delays   delays.Counter
	// counted is the connection's context with delays and the meter of reads in it.
	connection, counted context.Context
}

// Measure begins to count for a statement. It is to be run in the context that is returned, which is made of its connection's.
func (s *Session) Measure(connection context.Context) context.Context {
	s.cost.digested, s.cost.planned, s.cost.noPlan = false, false, ""
	s.cost.examined.Store(0)
	s.cost.restarts.Store(0)
	s.cost.delays.Reset()
	s.cleared, s.divided = false, false
	s.missed, s.foreign = s.missed[:0], s.foreign[:0]
	if s.cost.connection != connection {
		s.cost.connection = connection
		s.cost.counted = longread.With(delays.With(connection, &s.cost.delays), s)
	}
	return s.cost.counted
}

// Missed reports whether the statement has looked for a table of this name in vain: an error may be about it, or about the name of a column.
func (s *Session) Missed(table string) bool {
	return slices.ContainsFunc(s.missed, func(m string) bool { return strings.EqualFold(m, table) })
}

func (s *Session) miss(table string) {
	if len(s.missed) < 64 {
		s.missed = append(s.missed, table)
	}
}

// examined counts what a scan has read, for the server and for the statement.
func (tx *Tx) examined(s txn.ScanStats) {
	tx.eng.reads.add(s)
	if tx.session != nil {
		tx.session.cost.examined.Add(int64(s.Examined))
	}
}

// Measured returns the statement's text with '?' for each literal, if the plan cache has looked at it (it is overwritten by the next
// statement), how many rows and index entries it has read, and how long it has waited for locks of others.
func (s *Session) Measured() (short []byte, examined int64, locked time.Duration) {
	if s.cost.digested {
		short = s.digest.Text
	}
	return short, s.cost.examined.Load(), s.cost.delays.Counts().Waited()
}

// Planned reports whether a plan of the cache ran the statement, and else why not, if the cache was asked.
func (s *Session) Planned() (planned bool, reason string) { return s.cost.planned, s.cost.noPlan }

var (
	_ sql.TransactionSession    = (*Session)(nil)
	_ sql.LifecycleAwareSession = (*Session)(nil)
	_ sql.PersistableSession    = (*Session)(nil)
)

// PersistStore keeps what SET PERSIST writes. The zero store of a session (nil) refuses.
type PersistStore interface {
	Persist(ctx context.Context, name string, value any) error
	Forget(ctx context.Context, name string) error
	ForgetAll(ctx context.Context) error
	Persisted(ctx context.Context, name string) (value any, ok bool, err error)
}

// NewSession wraps a base session that the caller has built for a connection (or for a background worker).
func (e *Engine) NewSession(base *sql.BaseSession) *Session {
	s := &Session{BaseSession: base, eng: e, persisted: e.opts.Persist}
	e.memory.Open(&s.memory, s.interrupt)
	e.sessions.Add(1)
	return s
}

// Client is the connection that a session is of.
type Client interface {
	ID() uint32
	// Account is who has logged in: a user of a host as the account is called.
	Account() (user, host string)
	Capabilities() uint32
	RemoteAddr() net.Addr
	// TLS is nil for a connection without.
	TLS() *tls.ConnectionState
	// Interrupt ends the statement under way with an error, or the command that has not come to its end, if
	// there is one.
	Interrupt(err error) bool
	// Sending reports whether something is being written to the client, who may not read it.
	Sending() bool
}

// ClientSession makes the session of a client. addr is where the server listens.
func (e *Engine) ClientSession(c Client, addr string) *Session {
	client := sql.Client{Capabilities: c.Capabilities()}
	client.User, client.Address = c.Account()
	s := e.NewSession(sql.NewBaseSessionWithClientServer(addr, client, c.ID()))
	s.ofClient = true
	s.guest, s.client, s.tls = account.GuestAt(c.RemoteAddr()), c, c.TLS()
	s.login = s.Account()
	s.loginID = e.directory.ID(s.login)
	s.roles = e.directory.Defaults(s.login)
	return s
}

// Restricted implements rights.restricted: what the session does is asked of an account, its client's or a definer's.
func (s *Session) Restricted() bool { return s.ofClient || s.acting > 0 }

// CommandBegin is called before each command of the client.
func (s *Session) CommandBegin() error { return nil }

// CommandEnd is called after each command of the client, successful or not.
func (s *Session) CommandEnd() {
	s.coming, s.stage, s.preparing = nil, stageIdle, false
	// An idle session keeps nothing of its last statement.
	s.root, s.rewritten, s.behind = nil, rewrittenStatement{}, ""
	s.planning, s.around, s.bound, s.within, s.copies, s.pins = false, false, false, "", false, false
	s.params = nil
	s.memory.Settle()
	if s.passing {
		s.passing = false
		return
	}
	s.spend()
	s.undrawn, s.inserting = nil, nil
	if s.forced.used {
		s.forced = forcedID{}
		delete(s.vars.system, insertIDVariable)
	}
	if tx := s.tx(); tx != nil && tx.lost == nil {
		tx.rerun = false
	}
	s.settle()
}

// passOn says that the statement goes on elsewhere: what has been read of it so far, nobody has seen. What statements before it
// have read is another matter: entered says that tx.fresh is of this statement already.
func (s *Session) passOn(entered bool) {
	s.passing, s.spent = true, nil
	if tx := s.tx(); tx != nil && entered {
		tx.unlook()
	}
}

// SessionEnd is called when the connection is gone.
func (s *Session) SessionEnd() {
	if s.ended.Swap(true) {
		return
	}
	if tx := s.tx(); tx != nil {
		tx.rollback()
	}
	s.SetTransaction(nil)
	s.SetIgnoreAutoCommit(false)
	s.unlockTables()
	s.temp.drop(s.eng)
	s.locks.End()
	s.memory.Close()
	s.eng.sessions.Add(-1)
}

// ValidateSession is called at the start of each statement, before there is a transaction for it.
func (s *Session) ValidateSession(ctx *sql.Context) error {
	if s.eng.closed.Load() {
		return errShutdown()
	}
	s.planning, s.around, s.bound, s.within = true, false, false, ""
	s.root, s.needs, s.reads, s.dropped = nil, nil, readView{}, nil
	s.forgetAssigned(false)
	if s.calls > 0 || ctx.IsInterpreted() {
		if tx := s.tx(); tx != nil && len(s.using) == 0 {
			tx.hear()
		}
		return nil // a statement within a procedure lives in the transaction of the CALL
	}
	// Callers that drive the engine without a connection (workers, tests) have no CommandEnd; the start of the next
	// statement is as good a moment.
	s.params = nil
	s.memory.Settle()
	if tx := s.tx(); tx != nil && tx.lost != nil {
		tx.ended, tx.lost = tx.lost, nil // nobody asked Again
	}
	if tx := s.tx(); tx != nil && tx.rerun {
		tx.statement()
		return nil
	}
	s.settle()
	if err := s.begins(ctx); err != nil {
		return err
	}
	if tx := s.tx(); tx != nil {
		tx.statement()
		tx.refresh()
	}
	return nil
}

// PinsSnapshot implements parse.SnapshotPinner.
func (s *Session) PinsSnapshot() { s.pins = true }

// GetCurrentDatabase implements sql.Session.
func (s *Session) GetCurrentDatabase() string {
	if s.within != "" {
		return s.within
	}
	return s.BaseSession.GetCurrentDatabase()
}

// NamedLocks are the locks that the session has by GET_LOCK.
func (s *Session) NamedLocks() *namedlock.Held { return &s.locks }

// Memory is what the session and the statement under way hold.
func (s *Session) Memory() *operator.Account { return &s.memory }

// interrupt ends the statement that the client waits for, if there is one.
func (s *Session) interrupt(err error) bool {
	if s.client == nil {
		return false
	}
	return s.client.Interrupt(err)
}

// sending reports whether the client is being sent something, which it may not read.
func (s *Session) sending() bool { return s.client != nil && s.client.Sending() }

// interruptible reports whether interrupt can end anything.
func (s *Session) interruptible() bool { return s.client != nil }

// settle removes a transaction that must not be seen by the next statement.
func (s *Session) settle() {
	tx := s.tx()
	if tx == nil {
		return
	}
	if !tx.over() && (tx.lost != nil || tx.rerun) {
		return // until the driver has asked Again, and has run the statement again
	}
	if !tx.over() && !tx.ddl && !s.implicit() {
		return
	}
	tx.rollback()
	s.SetTransaction(nil)
	s.SetIgnoreAutoCommit(false)
}

// implicit reports whether the session's transaction was begun by the engine for one statement.
func (s *Session) implicit() bool {
	if s.GetIgnoreAutoCommit() {
		return false
	}
	v, err := s.GetSessionVariable(nil, sql.AutoCommitSessionVar)
	if err != nil {
		return true
	}
	on, err := sql.ConvertToBool(nil, v)
	return err != nil || on
}

// Engaged reports whether the session is within a transaction, or runs a body: a statement of it is not alone.
func (s *Session) Engaged() bool {
	tx := s.tx()
	return s.calls > 0 || s.GetIgnoreAutoCommit() || tx != nil && tx.t != nil && !s.implicit()
}

// procedureParams are the parameters of the procedures that the statement calls, by name. The library keeps them for the rest of the
// session: a later procedure would find the parameter of an earlier one where it means a column.
type procedureParams map[string]*sql.StoredProcParam

// NewStoredProcParam implements sql.Session.
func (s *Session) NewStoredProcParam(name string, p *sql.StoredProcParam) *sql.StoredProcParam {
	name = strings.ToLower(name)
	if known, ok := s.params[name]; ok {
		return known
	}
	if s.params == nil {
		s.params = procedureParams{}
	}
	s.params[name] = p
	return p
}

// GetStoredProcParam implements sql.Session.
func (s *Session) GetStoredProcParam(name string) *sql.StoredProcParam {
	return s.params[strings.ToLower(name)]
}

// SetStoredProcParam implements sql.Session.
func (s *Session) SetStoredProcParam(name string, value any) error {
	p := s.GetStoredProcParam(name)
	if p == nil {
		return fmt.Errorf("procedure parameter %s is not declared", name)
	}
	p.SetValue(value)
	return nil
}

// SetTransaction implements sql.Session.
//
// The library takes the transaction away for the time of a CALL, lets each statement of the procedure begin and commit one of its own, and
// puts the first one back. Inside BEGIN the procedure's work would be lost that way, inside a trigger it would be committed before
// the statement that fired it, and a cursor would outlive its snapshot. It also takes the transaction away when any statement fails
// in autocommit, also one whose error a handler in the procedure takes. So: a transaction that has not ended is not taken
// away. A CALL is one transaction, the caller's if there is one, unless the procedure ends it with COMMIT, ROLLBACK, START
// TRANSACTION or DDL. What has to go is rolled back at the end of the command.
func (s *Session) SetTransaction(t sql.Transaction) {
	now := s.tx()
	live := now != nil && !now.over() && (now.session != nil || s.calls > 0)
	if t == nil && live {
		return
	}
	if tx, ok := t.(*Tx); ok && live && tx != now && tx.over() {
		return // the procedure has begun another one meanwhile
	}
	s.BaseSession.SetTransaction(t)
}

func (s *Session) tx() *Tx {
	tx, _ := s.GetTransaction().(*Tx)
	return tx
}

// StartTransaction begins a transaction. It is free: neither a timestamp nor a message is spent before the first read.
func (s *Session) StartTransaction(ctx *sql.Context, c sql.TransactionCharacteristic) (sql.Transaction, error) {
	at, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	s.spend()
	tx := s.eng.begin(s)
	tx.asOf, tx.optimistic, tx.contended = at, s.optimistic(ctx), s.contended
	s.characterize(ctx, tx)
	tx.readOnly = tx.readOnly || c == sql.ReadOnly
	return tx, nil
}

// CommitTransaction ends the transaction, whether or not the commit succeeds.
func (s *Session) CommitTransaction(ctx *sql.Context, t sql.Transaction) error {
	if tx, ok := t.(*Tx); ok && s.calls > 0 && !s.ending && !tx.ddl {
		return nil // autocommit of a statement within a procedure
	}
	if s.preparing && !s.implicit() {
		return nil
	}
	s.ending = false
	defer func() {
		s.SetTransaction(nil)
		s.SetIgnoreAutoCommit(false)
	}()
	tx, ok := t.(*Tx)
	if !ok {
		return nil
	}
	return tx.commit(ctx)
}

// Rollback forgets the transaction.
func (s *Session) Rollback(ctx *sql.Context, t sql.Transaction) error {
	if tx, ok := t.(*Tx); ok {
		tx.rollback()
	}
	return nil
}

// CreateSavepoint marks the write buffer; a savepoint of the same name is replaced.
func (s *Session) CreateSavepoint(ctx *sql.Context, t sql.Transaction, name string) error {
	tx, ok := t.(*Tx)
	if !ok {
		return nil
	}
	if len(tx.saved) >= maxSavepoints {
		return sqlerr.New(sqlerr.CapacityExceeded,
			"A transaction can have %d savepoints; RELEASE SAVEPOINT takes one away", maxSavepoints)
	}
	tx.savepoint(name)
	return nil
}

// maxSavepoints bounds what a transaction keeps of them; each is looked for among all.
const maxSavepoints = 4096

// RollbackToSavepoint forgets what was written after the savepoint.
func (s *Session) RollbackToSavepoint(ctx *sql.Context, t sql.Transaction, name string) error {
	tx, ok := t.(*Tx)
	if !ok || !tx.rollbackTo(name) {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	return nil
}

// ReleaseSavepoint forgets the savepoint and those made after it.
func (s *Session) ReleaseSavepoint(ctx *sql.Context, t sql.Transaction, name string) error {
	tx, ok := t.(*Tx)
	if !ok || !tx.release(name) {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	return nil
}

// PersistGlobal stores a system variable's value for the next start.
func (s *Session) PersistGlobal(ctx *sql.Context, name string, value any) error {
	if s.persisted == nil {
		return errNoPersist()
	}
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	if err := maySetGlobal(ctx); err != nil {
		return err
	}
	if isReadOnlyVariable(name) { // which the catalog keeps anyway
		return s.assignReadOnly(ctx, name, value)
	}
	if c, _, err := v.GetType().Convert(ctx, value); err == nil {
		value = c // as it will be read back: the type of a literal says nothing
	}
	return s.persisted.Persist(ctx, name, value)
}

// ResetPersist is RESET PERSIST: it forgets the stored value of a variable, or of all if name is empty. What the variable is now stays.
func (s *Session) ResetPersist(ctx *sql.Context, name string, ifExists bool) error {
	if s.persisted == nil {
		return errNoPersist()
	}
	if err := maySetGlobal(ctx); err != nil {
		return err
	}
	if name == "" {
		return s.persisted.ForgetAll(ctx)
	}
	_, ok, err := s.persisted.Persisted(ctx, name)
	switch {
	case err != nil:
		return err
	case ok:
		return s.persisted.Forget(ctx, name)
	}
	const text = "Variable %s does not exist in persisted config file"
	if ifExists {
		ctx.Warn(sqlerr.VariableNotPersisted, text, name)
		return nil
	}
	return sqlerr.New(sqlerr.VariableNotPersisted, text, name)
}

// RemovePersistedGlobal forgets a stored value.
func (s *Session) RemovePersistedGlobal(name string) error {
	if s.persisted == nil {
		return errNoPersist()
	}
	return s.persisted.Forget(context.Background(), name)
}

// RemoveAllPersistedGlobals forgets all stored values.
func (s *Session) RemoveAllPersistedGlobals() error {
	if s.persisted == nil {
		return errNoPersist()
	}
	return s.persisted.ForgetAll(context.Background())
}

// GetPersistedValue returns a stored value.
func (s *Session) GetPersistedValue(name string) (any, error) {
	if s.persisted == nil {
		return nil, nil
	}
	v, _, err := s.persisted.Persisted(context.Background(), name)
	return v, err
}
