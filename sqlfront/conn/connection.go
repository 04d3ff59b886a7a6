package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/account"
	"moka/sqlfront/charset"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// Connection is a client's. It is served by one goroutine, one command at a time; only what Drain, Close,
// KILL and the watch touch is behind the lock.
type Connection struct {
	srv    *Server
	id     uint32
	gate   *gatedConn // the socket, under TLS
	tls    *tls.ConnectionState
	in     *mysqlproto.Reader
	out    *mysqlproto.Writer
	frames *mysqlproto.Compressed // nil without

	capabilities uint32
	charset      sql.CollationID // that the client asked for in its handshake; 0 for none
	user         string          // as the client called itself
	who          account.Name    // the account, which may be of a pattern of hosts
	status       uint16

	mu      sync.Mutex
	session sql.Session
	busy    bool
	began   time.Time // of the command under way
	cancel  context.CancelCauseFunc
	watch   *watch
	unwatch bool // the client is about to send something that belongs to the command
	gone    bool // told to leave
	closing bool // the deadline of writes is the last one

	begun     uint64    // commands
	receiving bool      // a command has begun to come
	refused   error     // and is not to come to its end
	fileComes bool      // the statement reads a file of the client
	hurried   bool      // the statement has been told to end
	needed    bool      // what the statement holds is needed by others
	cut       time.Time // when nothing more is written, for the sake of others; zero for never

	sending     atomic.Bool
	writeWithin atomic.Int64 // net_write_timeout

	// inbound, outbound and rows are what the session is charged with for the command, for the packet at
	// hand of the answer, and for the answer's rows.
	inbound, outbound, rows int64

	// account is who, for others; behind the server's lock.
	account account.Name

	statement   string // what is left of a text of several statements, in UTF-8
	statements  map[uint32]*prepared
	texts       map[string]int // how many statements have a text, as the engine calls it
	lastID      uint32         // of a prepared statement
	params      []mysqlproto.Param
	cursors     int     // that are open
	limits      *limits // nil: to be read anew
	poisoned    bool    // a panic went through it: not to be used any more
	expectsFile bool    // the statement may ask for a file of the client
	noted       []byte  // changes of the session that the client is to be told of

	reply      reply // of the statement under way
	converting *sql.Context
}

// ID is the connection's number, which KILL takes.
func (c *Connection) ID() uint32 { return c.id }

// Account is who has logged in: a user of a host as the account is called.
func (c *Connection) Account() (user, host string) { return c.who.User, c.who.Host }

// Capabilities are those that both sides have.
func (c *Connection) Capabilities() uint32 { return c.capabilities }

// RemoteAddr is the client's address.
func (c *Connection) RemoteAddr() net.Addr { return c.gate.RemoteAddr() }

// TLS is the state of the connection's TLS, nil without.
func (c *Connection) TLS() *tls.ConnectionState { return c.tls }

func (c *Connection) has(capability uint32) bool { return c.capabilities&capability != 0 }

// errGone is what a connection ends with that was told to leave.
var errGone = errors.New("conn: the connection was told to leave")

// expect prepares for reading what the client sends next, of its own accord.
func (c *Connection) expect(within time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return errGone
	}
	c.receiving, c.refused = false, nil
	return c.gate.SetReadDeadline(time.Now().Add(within))
}

// begin opens a command. It fails when the server is draining.
func (c *Connection) begin(ctx context.Context) (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.srv.draining.Load() {
		return nil, sqlerr.Shutdown()
	}
	if c.refused != nil {
		return nil, c.refused
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	c.busy, c.unwatch, c.began = true, false, time.Now()
	c.begun++
	c.receiving, c.hurried, c.needed, c.cut = false, false, false, time.Time{}
	return ctx, nil
}

// end closes a command. While the server drains, a connection that is now at rest leaves after the answer
// has been sent.
func (c *Connection) end() {
	c.stopWatch(true)
	c.mu.Lock()
	c.cancel(nil)
	c.busy, c.cancel = false, nil
	settled := c.srv.draining.Load()
	if settled || c.gone || c.poisoned {
		c.gone = true
	}
	c.mu.Unlock()
	if settled {
		c.srv.notify()
	}
}

// inTransaction reports whether the client has begun a transaction. Only for the connection's own goroutine.
func (c *Connection) inTransaction() bool {
	return c.session != nil && (c.session.GetTransaction() != nil || c.session.GetIgnoreAutoCommit())
}

// hangUp ends the connection at the next read: an answer under way is written. The lock is held.
func (c *Connection) hangUp() {
	c.gone = true
	_ = c.gate.SetReadDeadline(time.Unix(1, 0))
}

// leave asks the connection to go, on behalf of Drain. One in a statement goes by itself at the end of it;
// an open transaction is rolled back.
func (c *Connection) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.busy {
		c.hangUp()
	}
}

// HangUp ends a connection, if it is there: KILL CONNECTION.
func (s *Server) HangUp(id uint32) {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c != nil {
		_ = c.gate.Close()
	}
}

// shutdown interrupts what runs and ends the connection. An answer that is being written gets a second to
// go out.
func (c *Connection) shutdown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		c.cancel(sqlerr.ErrShutdown)
	}
	c.closing = true
	_ = c.gate.SetWriteDeadline(time.Now().Add(time.Second))
	c.hangUp()
}

// variable is a session variable as an integer, 0 if it is none.
func (c *Connection) variable(name string) int64 {
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

// limits are variables of the session that every statement asks for, as of the last statement that may
// have changed one.
type limits struct {
	timeout    int64 // max_execution_time
	autocommit bool
	idle       time.Duration // wait_timeout
	read       time.Duration // net_read_timeout
	packet     int           // max_allowed_packet
	ansiQuotes bool
	slow       slowSettings
	client     *charset.Codec // character_set_client
	results    *charset.Codec // character_set_results
}

// timeout is a variable in seconds, unless it has its default: that is the server's own.
func (c *Connection) timeout(name string, usual int64, own time.Duration) time.Duration {
	if seconds := c.variable(name); seconds > 0 && seconds != usual {
		return time.Duration(min(seconds, mostSeconds)) * time.Second
	}
	return own
}

// mostSeconds is as good as for ever.
const mostSeconds = 1 << 32

func (c *Connection) limit() *limits {
	if c.limits != nil {
		return c.limits
	}
	l := &limits{
		timeout:    c.variable("max_execution_time"),
		autocommit: c.variable(sql.AutoCommitSessionVar) != 0,
		idle:       c.timeout("wait_timeout", defaultWaitTimeout, c.srv.opts.IdleTimeout),
		packet:     int(c.variable("max_allowed_packet")),
		slow:       c.slowSettings(), client: c.codec("character_set_client"),
		results: c.codec("character_set_results"),
	}
	if l.packet <= 0 {
		l.packet = defaultMaxPacket
	}
	l.read = c.timeout("net_read_timeout", defaultReadTimeout, c.srv.opts.ReadTimeout)
	c.writeWithin.Store(int64(c.timeout("net_write_timeout", defaultWriteTimeout, c.srv.opts.WriteTimeout)))
	if c.session != nil {
		l.ansiQuotes = sql.LoadSqlMode(sql.NewContext(context.Background(),
			sql.WithSession(c.session))).AnsiQuotes()
	}
	if c.srv.opts.Plans != nil && c.session != nil { // it is with plans that limits are forgotten
		c.limits = l
	}
	return l
}

// settle sets the flags of the answer by the state of the session.
func (c *Connection) settle() {
	if c.session == nil {
		return
	}
	c.status &^= mysqlproto.StatusAutocommit | mysqlproto.StatusInTransaction
	autocommit := false
	if c.limits != nil {
		autocommit = c.limits.autocommit
	} else {
		autocommit = c.variable(sql.AutoCommitSessionVar) != 0
	}
	if autocommit {
		c.status |= mysqlproto.StatusAutocommit
	}
	if c.session.GetTransaction() != nil {
		c.status |= mysqlproto.StatusInTransaction
	}
}

func (c *Connection) warnings() uint16 {
	if c.session == nil {
		return 0
	}
	return c.session.WarningCount()
}

// greeter is a session that is told of a collation that is not Unicode's.
type greeter interface{ Greeted(collation string) }

// applyCharacterSet honours the collation that the client asked for in its handshake.
func (c *Connection) applyCharacterSet() {
	id := c.charset
	if c.session == nil || id == 0 {
		return
	}
	if set := id.CharacterSet().Name(); charset.Quotes(set) {
		ctx := sql.NewContext(context.Background(), sql.WithSession(c.session))
		for _, v := range []string{"character_set_client", "character_set_results"} {
			_ = c.session.SetSessionVariable(ctx, v, set)
		}
		return
	}
	if id.CharacterSet() != sql.CharacterSet_utf8mb4 {
		if g, ok := c.session.(greeter); ok && id.CharacterSet() != sql.CharacterSet_utf8mb3 &&
			id.CharacterSet() != sql.CharacterSet_Unspecified {
			g.Greeted(id.Name())
		}
		return
	}
	_ = c.session.SetSessionVariable(sql.NewContext(context.Background(), sql.WithSession(c.session)),
		"collation_connection", id.Name())
}

// say sends a packet of an exchange in which each side waits for the other.
func (c *Connection) say(payload []byte) error {
	c.out.Seq = c.in.Seq
	c.out.Packet(payload)
	err := c.out.Flush()
	c.in.Seq = c.out.Seq
	return err
}

// hear receives a packet of such an exchange.
func (c *Connection) hear(limit int) ([]byte, error) {
	b, err := c.in.Next(limit)
	if errors.Is(err, mysqlproto.ErrTooLong) || errors.Is(err, mysqlproto.ErrOutOfOrder) {
		return nil, malformed()
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

func malformed() *sqlerr.Error {
	return sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet")
}

// ok answers a command that has nothing to say.
func (c *Connection) ok() {
	c.out.End((&mysqlproto.OK{Status: c.status, Changes: c.changes()}).Append(c.out.Begin(), c.capabilities))
}

// fail answers a command with an error.
func (c *Connection) fail(e *sqlerr.Error) {
	c.srv.counts.failed(e.Num)
	c.out.End(mysqlproto.AppendError(c.out.Begin(), uint16(e.Num), e.State, e.Message))
}

func asSQLError(err error) *sqlerr.Error { return sqlerr.Final(err, sqlerr.Statement{}) }
