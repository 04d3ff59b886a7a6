package wire

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// handler wraps go-mysql-server's handler of the protocol's commands.
type handler struct {
	srv  *Server
	next mysql.Handler
}

var (
	_ mysql.Handler              = (*handler)(nil)
	_ mysql.BinlogReplicaHandler = (*handler)(nil)
)

// greetTimeout bounds how long a login waits for accounts. After that it goes by those that are known.
const greetTimeout = 2 * time.Second

func (s *Server) greet() {
	if s.opts.Greet == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), greetTimeout)
	defer cancel()
	s.opts.Greet(ctx)
}

func (s *Server) wrap(next mysql.Handler) (mysql.Handler, error) {
	return &handler{srv: s, next: next}, nil
}

// NewConnection is called before the greeting is written.
func (h *handler) NewConnection(c *mysql.Conn) {
	// A driver that wants autocommit off and reads "off" here never says so. The library would set the flag only after
	// the first statement.
	c.StatusFlags = uint16(mysql.ServerStatusAutocommit)
	conn := &connection{srv: h.srv, handler: h, conn: c, socket: c.Conn}
	c.ClientData = conn
	if g := conn.gated(); g != nil {
		g.login.room = bufferOf(c)
	}
	h.srv.mu.Lock()
	if next := h.srv.opts.ConnectionID; next != nil { // before anybody knows the connection by the library's
		c.ConnectionID = next(func(id uint32) bool { return h.srv.conns[id] != nil })
	}
	h.srv.conns[c.ConnectionID] = conn
	h.srv.mu.Unlock()
	_ = h.guard("NewConnection", conn, func() error {
		h.srv.greet()
		h.next.NewConnection(c)
		return nil
	})
	if h.srv.draining.Load() { // Drain or Close may have gone over the list before this one was in it
		conn.leave()
	}
}

// ConnectionAuthenticated is called when the password was right.
func (h *handler) ConnectionAuthenticated(c *mysql.Conn) error {
	conn := of(c)
	err := h.guard("ConnectionAuthenticated", conn, func() error { return h.next.ConnectionAuthenticated(c) })
	if err != nil {
		return h.final(conn, err, "")
	}
	if err := conn.authenticated(); err != nil {
		h.srv.counts.aborted.Add(1)
		return h.final(conn, err, "")
	}
	return nil
}

// ConnectionAborted is called when a client did not get in.
func (h *handler) ConnectionAborted(c *mysql.Conn, reason string) error {
	h.srv.counts.aborted.Add(1)
	return h.guard("ConnectionAborted", of(c), func() error { return h.next.ConnectionAborted(c, reason) })
}

// ConnectionClosed is called once for each NewConnection.
func (h *handler) ConnectionClosed(c *mysql.Conn) {
	conn := of(c)
	if g := conn.gated(); g != nil {
		g.gate.leave(g)
	}
	if conn.filter != nil {
		conn.filter.closeCursor(0)
	}
	conn.unprepareAll()
	_ = h.guard("ConnectionClosed", conn, func() error { h.next.ConnectionClosed(c); return nil })
	h.srv.mu.Lock()
	delete(h.srv.conns, c.ConnectionID)
	h.srv.mu.Unlock()
	h.srv.notify()
}

// ComInitDB is USE, as a command and in the handshake.
func (h *handler) ComInitDB(c *mysql.Conn, db string) error {
	conn := of(c)
	if _, err := conn.begin(context.Background()); err != nil {
		return err
	}
	defer conn.end()
	return h.final(conn, h.guard("ComInitDB", conn, func() error { return h.next.ComInitDB(c, db) }), "")
}

// ComQuery runs a text statement.
func (h *handler) ComQuery(ctx context.Context, c *mysql.Conn, query string, callback mysql.ResultSpoolFn) error {
	query = of(c).decode(query)
	_, err := h.run(ctx, c, query, nil, callback, func(ctx context.Context, callback mysql.ResultSpoolFn) (string, error) {
		return "", h.next.ComQuery(ctx, c, query, callback)
	})
	return err
}

// ComMultiQuery runs the first statement of a text and returns the rest.
func (h *handler) ComMultiQuery(ctx context.Context, c *mysql.Conn, query string, callback mysql.ResultSpoolFn) (string, error) {
	conn := of(c)
	query = conn.decode(query)
	rest, err := h.run(ctx, c, query, nil, callback, func(ctx context.Context, callback mysql.ResultSpoolFn) (string, error) {
		return h.next.ComMultiQuery(ctx, c, query, callback)
	})
	conn.decoded = rest
	return rest, err
}

// ComStmtExecute runs a prepared statement.
func (h *handler) ComStmtExecute(ctx context.Context, c *mysql.Conn, prepare *mysql.PrepareData, callback func(*sqltypes.Result) error) error {
	if err := checkParams(prepare); err != nil {
		return h.final(of(c), err, prepare.PrepareStmt)
	}
	of(c).decodeValues(prepare)
	_, err := h.run(ctx, c, prepare.PrepareStmt, prepare,
		func(r *sqltypes.Result, _ bool) error { return callback(r) },
		func(ctx context.Context, callback mysql.ResultSpoolFn) (string, error) {
			return "", h.next.ComStmtExecute(ctx, c, prepare, func(r *sqltypes.Result) error { return callback(r, false) })
		})
	return err
}

// maxParams is how many parameters a prepared statement may have. From countedParams on the protocol library, which computes the length of
// the NULL bitmap in 16 bits, takes it for empty.
const (
	maxParams     = 65535
	countedParams = 65528
)

// ComPrepare prepares a statement in the binary protocol.
func (h *handler) ComPrepare(ctx context.Context, c *mysql.Conn, query string, prepare *mysql.PrepareData) (fields []*querypb.Field, err error) {
	conn := of(c)
	if text := conn.filter.prepared; text != "" { // the library was given a stand-in
		query, prepare.PrepareStmt, conn.filter.prepared = text, text, ""
	}
	ctx, err = conn.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.end()
	if err = conn.mustChange(query); err != nil {
		delete(c.PrepareData, prepare.StatementID)
		return nil, h.final(conn, err, query)
	}
	err = h.guard("ComPrepare", conn, func() error {
		fields, err = h.next.ComPrepare(ctx, c, query, prepare)
		return err
	})
	if err != nil {
		delete(c.PrepareData, prepare.StatementID)
		return nil, h.final(conn, err, query)
	}
	if err = conn.prepared(prepare); err != nil {
		return nil, h.final(conn, err, query)
	}
	h.srv.fixFields(fields)
	if results := conn.limit().results; results != nil {
		for _, f := range fields {
			conn.encodeField(results, f)
		}
	}
	return fields, nil
}

// ComResetConnection gives the client a session as new.
func (h *handler) ComResetConnection(c *mysql.Conn) error {
	conn := of(c)
	c.StatusFlags = uint16(mysql.ServerStatusAutocommit)
	conn.limits = nil
	if _, err := conn.begin(context.Background()); err != nil {
		return err
	}
	defer conn.end()
	err := h.guard("ComResetConnection", conn, func() error { return h.next.ComResetConnection(c) })
	if err == nil {
		conn.applyCharacterSet()
		err = conn.settleAccount() // which may be another now, and whose password has not been changed by this
	}
	return h.final(conn, err, "")
}

// WarningCount is asked for each answer.
func (h *handler) WarningCount(c *mysql.Conn) (n uint16) {
	_ = h.guard("WarningCount", of(c), func() error { n = h.next.WarningCount(c); return nil })
	return n
}

// ParserOptionsForConnection is called at the start of a binary PREPARE.
func (h *handler) ParserOptionsForConnection(c *mysql.Conn) (o ast.ParserOptions, err error) {
	conn := of(c)
	err = h.guard("ParserOptionsForConnection", conn, func() error {
		o, err = h.next.ParserOptionsForConnection(c)
		return err
	})
	return o, err
}

// ComRegisterReplica implements mysql.BinlogReplicaHandler; without an answer a replica would wait for ever.
func (h *handler) ComRegisterReplica(c *mysql.Conn, _ string, _ uint16, _, _ string) error {
	return sqlerr.Unsupported("replication to a MySQL replica")
}

// ComBinlogDumpGTID implements mysql.BinlogReplicaHandler.
func (h *handler) ComBinlogDumpGTID(c *mysql.Conn, _ string, _ uint64, _ mysql.GTIDSet) error {
	return sqlerr.Unsupported("reading the binary log")
}

func of(c *mysql.Conn) *connection { return c.ClientData.(*connection) }

// errPanic is the text that a client gets for a bug.
var errPanic = errors.New("internal error: the statement failed in a way it should not; the connection will be closed")

// guard keeps a panic inside its connection.
func (h *handler) guard(what string, conn *connection, f func() error) (err error) {
	report := func(r, stack string) {
		h.srv.counts.panics.Add(1)
		h.srv.log.Error("panic in a connection", "in", what, "connection", conn.conn.ConnectionID, "panic", r, "stack", stack)
		conn.poisoned = true
		err = errPanic
	}
	defer func() {
		if r := recover(); r != nil {
			report(fmt.Sprint(r), string(debug.Stack()))
		}
	}()
	if err = f(); err != nil {
		// One in a goroutine of the library comes as an error, with the stack in its text.
		if text, ok := strings.CutPrefix(err.Error(), "panic recovered: "); ok {
			r, stack, _ := strings.Cut(text, "\n")
			report(r, stack)
		}
	}
	return err
}

// final words an error for the client, in the client's character set.
func (h *handler) final(conn *connection, err error, query string) error {
	if err == nil {
		return nil
	}
	return conn.encodeError(h.worded(conn, err, query))
}

// worded words an error.
func (h *handler) worded(conn *connection, err error, query string) *mysql.SQLError {
	st := sqlerr.Statement{Query: query}
	if conn.session != nil {
		st.Database = conn.session.GetCurrentDatabase()
		if m, ok := conn.session.(interface{ Missed(string) bool }); ok {
			st.Missed = m.Missed
		}
		if k, ok := conn.session.(interface {
			ForeignKey(name, child string) (string, bool)
		}); ok {
			st.ForeignKey = k.ForeignKey
		}
	}
	se := sqlerr.Final(err, st)
	h.srv.counts.failed(se.Num)
	return se
}

// failing is a session that is told of the error that a statement ends with.
type failing interface{ Failed(*mysql.SQLError) }

// run is the life of one statement.
func (h *handler) run(ctx context.Context, c *mysql.Conn, query string, prepare *mysql.PrepareData, callback mysql.ResultSpoolFn,
	exec func(context.Context, mysql.ResultSpoolFn) (string, error)) (rest string, err error) {
	conn := of(c)
	began := time.Now()
	if m, ok := conn.session.(measured); ok {
		ctx = m.Measure(ctx)
	}
	ctx, err = conn.begin(ctx)
	if err != nil {
		return "", err
	}
	defer conn.end()
	conn.begun, conn.binary, conn.rows = false, prepare != nil, tally{}
	defer func() { h.account(conn, query[:len(query)-len(rest)], began, err) }()
	if err := conn.mustChange(query); err != nil {
		return "", h.final(conn, err, query)
	}
	done, err := conn.reads(query)
	if err != nil {
		return "", h.final(conn, err, query)
	}
	defer done()
	st := classify(query)
	conn.filter.loading = st.loads
	defer func() { conn.filter.loading = false }()
	h.srv.counts.statement(st.verb)
	if st.ping && conn.session != nil {
		conn.rows.sent = 1
		return "", h.ping(conn, callback)
	}
	if st.writes && conn.limit().readOnly {
		return "", h.final(conn, sqlerr.ReadOnlyTxn(), query)
	}
	if st.reads {
		if d := conn.deadline(query); d > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, d, sqlerr.ErrTimeout)
			defer stop()
		}
	}
	rest, err = h.attempts(ctx, conn, st, query, prepare != nil, callback, h.planned(conn, st, query, prepare, exec))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			err = cause // the deadline or the shutdown, whatever the statement made of it
		}
		// Nothing that follows in a multi-statement is run.
		se := h.worded(conn, err, query)
		if s, ok := conn.session.(failing); ok {
			s.Failed(se)
		}
		if se = conn.encodeError(se); conn.begun {
			return "", conn.filter.breakOff(se)
		}
		return "", se
	}
	if idle := conn.limit().idle; idle > 0 && idle != defaultWaitTimeout {
		_ = c.Conn.SetReadDeadline(time.Now().Add(time.Duration(idle) * time.Second))
	}
	return rest, nil
}

// ping answers SELECT 1, with which pools ask whether a connection lives. The planner spends a quarter of a millisecond on
// it, most of it for a session that it builds to find out that there is no table.
func (h *handler) ping(conn *connection, callback mysql.ResultSpoolFn) error {
	conn.session.ClearWarnings()
	for _, name := range []string{"Questions", "Com_select"} {
		sql.StatusVariables.IncrementGlobal(name, 1)
		conn.session.IncrementStatusVariable(nil, name, 1)
	}
	return callback(&sqltypes.Result{
		Fields: []*querypb.Field{{
			Name: "1", Type: sqltypes.Int64, ColumnLength: 2, Charset: charsetBinary,
			Flags: uint32(querypb.MySqlFlag_NOT_NULL_FLAG | querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG),
		}},
		Rows:         [][]sqltypes.Value{{sqltypes.MakeTrusted(sqltypes.Int64, []byte("1"))}},
		RowsAffected: 1,
	}, false)
}
