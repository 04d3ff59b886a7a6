package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv/peercred"
	"moka/sqlfront/account"
	"moka/sqlfront/pace"
	"moka/sqlfront/resultset"
	"moka/sqlfront/statements"
	"moka/sqlfront/tempfile"
)

// DefaultVersion is what the server says it is. Clients branch on the number, so it is that of the MySQL
// whose behaviour we follow; the rest is for people.
const DefaultVersion = "8.0.40-Moka-v0.1.0"

// Options of a Server. Engine and Sessions are required; the zero value of every other field is its default.
type Options struct {
	Engine *sqle.Engine
	// Sessions makes the session of a client that has logged in. addr is where the server listens.
	Sessions func(c *Connection, addr string) (sql.Session, error)
	// Plans runs statements without the engine. Default: none.
	Plans Plans
	// Retryable says whether a failed autocommit statement may succeed when it is run again. Default:
	// error 1213.
	Retryable func(error) bool

	// Statements keeps account of what is run. Default: nobody does.
	Statements *statements.Recorder

	// TinyInt1 says whether a column is declared TINYINT(1), which drivers take for a boolean by its
	// length; the engine does not pass the length on. Default: no column is.
	TinyInt1 func(db, table, column string) bool
	// Digits is how many digits behind the point a TIMESTAMP, TIME, FLOAT or DOUBLE column was declared
	// with; ok is false for a column that has no such declaration, or is none. Default: no column has.
	Digits func(db, table, column string) (n int, ok bool)

	// Addr is where to listen, "host:port". Default 127.0.0.1:3306. Listener replaces it.
	Addr     string
	Listener net.Listener
	// Socket is the path of a unix socket to listen on as well. Default: none.
	Socket string
	// TLS offers TLS to clients; RequireTLS is the first value of require_secure_transport, which refuses
	// those that take neither that nor a unix socket.
	TLS        *tls.Config
	RequireTLS bool

	// FileDir is the value of secure_file_priv.
	FileDir string
	// DataDir and TempDir are the values of datadir and tmpdir.
	DataDir, TempDir string
	// MaxConnections is the first value of max_connections. Default 1000.
	MaxConnections int
	// MostConnections bounds max_connections, whatever it is set to: there are no files for more. Zero
	// does not.
	MostConnections int
	// MostLogins bounds how many clients may be logging in at the same time, who do not count among those.
	// Zero does not.
	MostLogins int
	// ConnectTimeout is how long a client may take to log in. Default 10 s.
	ConnectTimeout time.Duration
	// IdleTimeout ends connections on which nothing happens. Default 8 h, which is MySQL's wait_timeout.
	IdleTimeout time.Duration
	// ReadTimeout is how long a client may make us wait in the middle of a command. Default 30 s.
	ReadTimeout time.Duration
	// WriteTimeout bounds one write to a client that does not read. Default 60 s.
	WriteTimeout time.Duration
	// MaxRetries bounds how often one statement is run again after conflicts. Default 30; negative for never.
	MaxRetries int

	// Users keeps accounts and privileges. Default: in memory. Accounts is the directory of them. Default:
	// one of the server's own.
	Users    UserStore
	Accounts *account.Directory
	// OwnPeer says whether a connection comes from who runs the server; who does gets in as root@localhost
	// while that has no password. Default: peercred.Own.
	OwnPeer func(net.Conn) error
	// ConnectionID numbers a new connection; used says which numbers are taken. Default: 1, 2, 3 …
	ConnectionID func(used func(uint32) bool) uint32
	// Greet is called before somebody logs in, to have accounts that were changed elsewhere known. It gets
	// two seconds.
	Greet func(ctx context.Context)
	// Temp is where cursors put their rows. Default: the system's directory for temporary files.
	Temp *tempfile.Space
	// Pacer has long statements step back. Default: one of the server's own.
	Pacer *pace.Pacer
	// Version is the server version. Default DefaultVersion.
	Version string
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Retryable == nil {
		o.Retryable = isConflict
	}
	if o.Addr == "" {
		o.Addr = "127.0.0.1:3306"
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 1000
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 8 * time.Hour
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = defaultReadTimeout * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = time.Minute
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = 30
	}
	if o.OwnPeer == nil {
		o.OwnPeer = peercred.Own
	}
	if o.Pacer == nil {
		o.Pacer = pace.New()
	}
	if o.Version == "" {
		o.Version = DefaultVersion
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// schemaTurn is how long a schema change is the only one that its process begins.
const schemaTurn = 500 * time.Millisecond

// Server serves MySQL clients.
type Server struct {
	opts    Options
	columns resultset.Options
	log     *slog.Logger
	gate    *gate
	auth    *login
	schema  *pace.Line // of schema changes
	counts  counters
	panics  quiet         // messages about them
	pid     atomic.Uint64 // of statements in the process list
	// prepared is how many prepared statements all connections have.
	prepared atomic.Int64
	// cursors is how many bytes of files they have.
	cursors atomic.Int64
	// started is for the clients' statistics.
	started time.Time

	mu       sync.Mutex
	conns    map[uint32]*Connection
	lastID   uint32
	changed  chan struct{} // closed and replaced whenever a connection comes, leaves or settles
	draining atomic.Bool
	closed   atomic.Bool
	done     chan struct{} // closed by Close

	serving, open, background sync.WaitGroup // Serve, connections, watchers
}

// New listens, but serves nobody before Serve.
func New(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	if o.Engine == nil || o.Sessions == nil {
		return nil, errors.New("conn: Options.Engine and Options.Sessions are required")
	}
	if err := setupVariables(o); err != nil {
		return nil, fmt.Errorf("conn: system variables: %w", err)
	}
	bridgeLogs(o.Logger)
	if o.Accounts == nil {
		o.Accounts = account.New(o.Engine.Analyzer.Catalog.MySQLDb)
	}
	if err := openUsers(ctx, o.Engine, o.Accounts, o.Users); err != nil {
		return nil, err
	}
	if o.Temp == nil {
		var err error
		if o.Temp, err = tempfile.New(tempfile.Options{}); err != nil {
			return nil, err
		}
	}
	s := &Server{opts: o, log: o.Logger, started: time.Now(), columns: resultset.Options{TinyInt1: o.TinyInt1,
		Digits: o.Digits}, conns: map[uint32]*Connection{}, changed: make(chan struct{}),
		done: make(chan struct{}), schema: pace.NewLine(schemaTurn)}
	s.auth = newLogin(s)
	var err error
	if s.gate, err = s.listen(); err != nil {
		return nil, err
	}
	if err := s.announce(); err != nil {
		return nil, errors.Join(err, s.gate.Close())
	}
	s.background.Add(1)
	go s.watchers()
	return s, nil
}

func (s *Server) listen() (*gate, error) {
	l := s.opts.Listener
	if l == nil {
		var err error
		if l, err = net.Listen("tcp", s.opts.Addr); err != nil {
			return nil, fmt.Errorf("conn: cannot listen for SQL clients on %s: %w (is another server "+
				"running there? choose another address)", s.opts.Addr, err)
		}
	}
	all := []net.Listener{l}
	if path := s.opts.Socket; path != "" {
		u, err := listenUnix(path)
		if err != nil {
			_ = l.Close()
			return nil, err
		}
		all = append(all, u)
	}
	return newGate(s, all), nil
}

// listenUnix takes over a socket file that nobody listens on any more, as a crash leaves it. Every user of
// the machine may connect, as to MySQL's: accounts say who gets in.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil && abandoned(path) && os.Remove(path) == nil {
		l, err = net.Listen("unix", path)
	}
	if err != nil {
		return nil, fmt.Errorf("conn: cannot listen on socket %s: %w (another server may have it; choose "+
			"another path)", path, err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, errors.Join(fmt.Errorf("conn: socket %s: %w", path, err), l.Close())
	}
	return l, nil
}

// abandoned reports whether a path is a socket at which nobody answers.
func abandoned(path string) bool {
	if c, err := net.Dial("unix", path); err == nil {
		_ = c.Close()
		return false
	}
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&os.ModeSocket != 0
}

// Addr is where clients connect.
func (s *Server) Addr() net.Addr { return s.gate.Addr() }

// Serve accepts clients until Drain or Close.
func (s *Server) Serve() error {
	s.serving.Add(1)
	defer s.serving.Done()
	if s.closed.Load() {
		return nil
	}
	s.log.Info("accepting SQL clients", "addr", s.Addr().String())
	for {
		g, err := s.gate.accept()
		if err != nil {
			return nil
		}
		s.open.Add(1)
		go s.serve(g)
	}
}

// Drain stops taking clients and statements, waits for the statements under way, and closes. Transactions
// in which no statement runs are rolled back at once, as MySQL does: their clients may be idle for hours.
// When ctx ends first, what still runs is cancelled with 1053 and ctx's error is returned. Drain includes
// Close.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Store(true)
	// The listener stays open until the end: who connects now is told 1053 instead of "connection refused".
	for {
		s.mu.Lock()
		left, changed := len(s.conns), s.changed
		for _, c := range s.conns {
			c.leave()
		}
		s.mu.Unlock()
		// Wait for the connections to be gone, not only at rest: the last answer may still be on its way
		// to the socket.
		if left == 0 {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.log.Warn("drain: out of time, statements are interrupted", "connections", left)
			return errors.Join(ctx.Err(), s.Close())
		}
	}
	return s.Close()
}

// Close interrupts statements with 1053, closes all connections and waits until they are gone.
func (s *Server) Close() error {
	s.draining.Store(true)
	if s.closed.Swap(true) {
		s.serving.Wait()
		return nil
	}
	close(s.done)
	err := s.gate.Close()
	s.serving.Wait()
	s.mu.Lock()
	for _, c := range s.conns {
		c.shutdown()
	}
	s.mu.Unlock()
	s.open.Wait()
	s.background.Wait()
	return err
}

// notify wakes Drain.
func (s *Server) notify() {
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

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
