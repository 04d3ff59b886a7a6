package wire

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/netutil"

	"moka/sqlfront/account"
	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// connection is what the handler knows of a client, kept in the ClientData of the protocol's connection. The protocol
// serves one command at a time, so only what Drain, Close and KILL touch is behind the lock.
type connection struct {
	srv  *Server
	conn *mysql.Conn
	// socket is the connection under TLS. Drain and Close use it from other goroutines, while conn.Conn is replaced during
	// the login. It is the library's wrapper with timeouts: a deadline set on it holds for the next read, whenever that
	// begins; set below it, it would be overwritten.
	socket net.Conn

	mu      sync.Mutex
	session sql.Session
	busy    bool
	cancel  context.CancelCauseFunc // of the running statement
	gone    bool                    // told to leave

	// account is whose connection it is, once logged in; behind the server's lock.
	account account.Name

	handler  *handler
	filter   *commands // once logged in
	limits   *limits   // nil: to be read anew
	planned  bool      // the result at hand is a plan's: its head is shared and as it should be
	binary   bool      // the statement was prepared: its rows go out in the binary protocol
	begun    bool      // columns of the statement's result have been sent
	poisoned bool      // a panic went through it: not to be used any more
	rows     tally     // of the statement at hand
	decoded  string    // what is left of a text of several statements, in UTF-8
}

func (c *connection) setSession(s sql.Session) {
	c.mu.Lock()
	c.session = s
	c.mu.Unlock()
	if r, ok := s.(resulting); ok {
		r.Results(c.sendResult)
	}
}

// begin opens a command. It fails when the server is draining.
func (c *connection) begin(ctx context.Context) (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.srv.draining.Load() {
		return nil, sqlerr.Shutdown()
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	c.busy = true
	return ctx, nil
}

// end closes a command. While the server drains, a connection that is now at rest leaves after the answer has been sent.
func (c *connection) end() {
	c.mu.Lock()
	c.cancel(nil)
	c.busy, c.cancel = false, nil
	settled := c.srv.draining.Load()
	if settled || c.gone || c.poisoned {
		c.gone = true
		c.hangUp()
	}
	c.mu.Unlock()
	if settled {
		c.srv.notify()
	}
}

// inTransaction reports whether the client has begun a transaction. Only for the connection's own goroutine.
func (c *connection) inTransaction() bool {
	return c.session != nil && (c.session.GetTransaction() != nil || c.session.GetIgnoreAutoCommit())
}

// hangUp lets the answer under way be written and ends the connection at the next read.
func (c *connection) hangUp() { _ = c.socket.SetReadDeadline(time.Unix(1, 0)) }

// leave asks the connection to go, on behalf of Drain. One in a statement goes by itself at the end of it; an open transaction is rolled back.
func (c *connection) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return
	}
	c.gone = true
	c.hangUp()
}

// HangUp ends a connection, if it is there: KILL CONNECTION.
func (s *Server) HangUp(id uint32) {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c != nil {
		c.conn.Close()
	}
}

// shutdown interrupts what runs and ends the connection. An answer that is being written gets a second to go out.
func (c *connection) shutdown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	if c.busy {
		c.cancel(sqlerr.ErrShutdown)
	}
	_ = c.socket.SetWriteDeadline(time.Now().Add(time.Second))
	c.hangUp()
}

// variable is a session variable as an integer, 0 if it is none.
func (c *connection) variable(name string) int64 {
	if c.session == nil {
		return 0
	}
	v, err := c.session.GetSessionVariable(nil, name)
	if err != nil {
		return 0
	}
	switch n := v.(type) {
	case int8:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	}
	return 0
}

// limits are variables of the session that every statement asks for, as of the last statement that may have changed one.
type limits struct {
	timeout  int64 // max_execution_time
	readOnly bool  // transaction_read_only
	idle     int64 // wait_timeout
	slow     slowSettings
	client   *charset.Codec // character_set_client
	results  *charset.Codec // character_set_results
}

func (c *connection) limit() *limits {
	if c.limits != nil {
		return c.limits
	}
	l := &limits{
		timeout: c.variable("max_execution_time"), readOnly: c.variable("transaction_read_only") != 0,
		idle: c.variable("wait_timeout"), slow: c.slowSettings(),
		client: c.codec("character_set_client"), results: c.codec("character_set_results"),
	}
	if c.srv.opts.Plans != nil && c.session != nil { // it is with plans that limits are forgotten
		c.limits = l
	}
	return l
}

// gated is the client's socket as it came through the gate.
func (c *connection) gated() *gatedConn {
	if t, ok := c.socket.(*netutil.ConnWithTimeouts); ok {
		g, _ := t.Conn.(*gatedConn)
		return g
	}
	return nil
}

// peer is the client's socket itself.
func (c *connection) peer() net.Conn {
	if g := c.gated(); g != nil {
		return g.Conn
	}
	return c.socket
}

// authenticated prepares the connection for statements.
func (c *connection) authenticated() (err error) {
	if err := c.settleAccount(); err != nil {
		return err
	}
	if g := c.gated(); g != nil {
		g.loggedIn.Store(true)
		g.timer.Stop()
		if !g.gate.take(g, c.administersConnections()) {
			return sqlerr.TooManyConns()
		}
	}
	if c.filter, err = interpose(c); err != nil {
		return err
	}
	c.applyCharacterSet()
	return nil
}

// administersConnections reports whether the account has SUPER or CONNECTION_ADMIN.
func (c *connection) administersConnections() bool {
	who, ok := c.conn.UserData.(sql.MysqlConnectionUser)
	if !ok {
		return false
	}
	accounts := c.srv.opts.Accounts
	name := account.Name{User: who.User, Host: who.Host}
	set, ok := accounts.Effective(name, accounts.Defaults(name))
	return ok && (set.Has(sql.PrivilegeType_Super) || set.HasDynamic("connection_admin"))
}

// greeter is a session that is told of a collation that is not Unicode's.
type greeter interface{ Greeted(collation string) }

// applyCharacterSet honours the collation that the client asked for in its handshake.
func (c *connection) applyCharacterSet() {
	id := sql.CollationID(c.conn.CharacterSet)
	if c.session == nil || id == 0 {
		return
	}
	if id.CharacterSet() != sql.CharacterSet_utf8mb4 {
		if g, ok := c.session.(greeter); ok && id.CharacterSet() != sql.CharacterSet_utf8mb3 && id.CharacterSet() != sql.CharacterSet_Unspecified {
			g.Greeted(id.Name())
		}
		return
	}
	_ = c.session.SetSessionVariable(sql.NewContext(context.Background(), sql.WithSession(c.session)), "collation_connection", id.Name())
}

// writeOK has an OK packet written by write, and mended by fix on its way out.
func (c *connection) writeOK(fix func([]byte) ([]byte, bool), write func() error) error {
	if c.filter == nil {
		return write()
	}
	if err := c.conn.FlushBuffer(); err != nil {
		return err
	}
	c.filter.out.fixOK = fix
	defer func() { c.filter.out.fixOK = nil }()
	if err := write(); err != nil {
		return err
	}
	return c.conn.FlushBuffer()
}

// completeOK puts warnings and the text into the OK packet of an EXECUTE, where the library has 0 and none. The packet is drawn below.
func completeOK(b []byte, warnings uint16, text string) ([]byte, bool) {
	pos, ok := okFlags(b)
	if !ok || len(b) != pos+4 {
		return nil, false
	}
	out := append([]byte(nil), b[:pos+2]...)
	out = append(out, byte(warnings), byte(warnings>>8))
	if text = text[:min(len(text), 250)]; text != "" {
		out = append(append(out, byte(len(text))), text...)
	}
	n := len(out) - 4
	out[0], out[1], out[2] = byte(n), byte(n>>8), byte(n>>16)
	return out, true
}

// lengthenInfo puts the length of the text where the library has '#':
//
//	 4 bytes  1    lenenc     lenenc     2       2          1     …
//	+--------+----+----------+----------+-------+----------+-----+------+
//	| header | 00 | affected | insert id| flags | warnings |  #  | text |
//	+--------+----+----------+----------+-------+----------+-----+------+
func lengthenInfo(b []byte) ([]byte, bool) {
	pos, ok := okFlags(b)
	pos += 4
	if !ok || pos >= len(b) || b[pos] != '#' {
		return nil, false
	}
	text := b[pos+1:]
	if len(text) > 250 {
		text = text[:250]
	}
	out := append([]byte(nil), b[:pos]...)
	out = append(append(out, byte(len(text))), text...)
	n := len(out) - 4
	out[0], out[1], out[2] = byte(n), byte(n>>8), byte(n>>16)
	return out, true
}

// okFlags is where the flags of an OK packet are; ok is false if b is something else.
func okFlags(b []byte) (pos int, ok bool) {
	if len(b) < 5 || b[4] != mysql.OKPacket || len(b) != 4+(int(b[0])|int(b[1])<<8|int(b[2])<<16) {
		return 0, false
	}
	pos = 5
	for range 2 {
		if pos >= len(b) {
			return 0, false
		}
		switch b[pos] {
		case 0xFC:
			pos += 3
		case 0xFD:
			pos += 4
		case 0xFE:
			pos += 9
		default:
			pos++
		}
	}
	return pos, pos+4 <= len(b)
}
