package conn

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{})
	goleak.VerifyTestMain(m)
}

// rig is a server over go-mysql-server's in-memory tables: what is tested here is the server, not the
// storage.
type rig struct {
	t      testing.TB
	server *Server
	engine *sqle.Engine

	conflicts atomic.Int64  // how many more calls of conflict() fail
	calls     atomic.Int64  // calls of conflict()
	entered   chan struct{} // a call of wait() has begun
	release   chan struct{} // lets wait() go on
}

// newRig starts a server. Functions: conflict() fails with 1213 as often as told, wait() blocks until
// released or cancelled, boom() panics.
func newRig(t testing.TB, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, entered: make(chan struct{}, 100), release: make(chan struct{})}
	db := memory.NewDatabase("test")
	pro := memory.NewDBProvider(db)
	overrides := gms.EngineOverrides{}
	overrides.Builder.Parser = parse.New(parse.Hooks{})
	r.engine = sqle.New(analyzer.NewBuilder(pro).AddOverrides(overrides).Build(), &sqle.Config{})
	r.engine.Analyzer.Catalog.RegisterFunction(gms.NewEmptyContext(),
		function("conflict", func(ctx *gms.Context) (any, error) {
			r.calls.Add(1)
			if r.conflicts.Add(-1) >= 0 {
				return nil, sqlerr.Conflict()
			}
			return int64(1), nil
		}),
		function("wait", func(ctx *gms.Context) (any, error) {
			r.entered <- struct{}{}
			select {
			case <-r.release:
				return int64(1), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}),
		function("boom", func(ctx *gms.Context) (any, error) { panic("boom") }),
	)
	o := Options{Engine: r.engine, Sessions: func(c *Connection, addr string) (gms.Session, error) {
		user, host := c.Account()
		client := gms.Client{User: user, Address: host, Capabilities: c.Capabilities()}
		return memory.NewSession(gms.NewBaseSessionWithClientServer(addr, client, c.ID()), pro), nil
	}, Addr: "127.0.0.1:0"}
	if change != nil {
		change(&o)
	}
	s, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r.server = s
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve() }()
	t.Cleanup(func() {
		_ = s.Close()
		<-served
		_ = r.engine.Close()
	})
	return r
}

func (r *rig) open(params string) *sql.DB {
	r.t.Helper()
	return r.openAs("root", params)
}

// openAs takes "name" or "name:password".
func (r *rig) openAs(user, params string) *sql.DB {
	r.t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+r.server.Addr().String()+")/test"+params)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	return db
}

// conn is one connection.
func (r *rig) conn() *sql.Conn {
	r.t.Helper()
	c, err := r.open("").Conn(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func exec(t *testing.T, c interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if _, err := c.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func wantErr(t *testing.T, what string, err error, code uint16, state, text string) {
	t.Helper()
	var me *mysql.MySQLError
	if !errors.As(err, &me) {
		t.Errorf("%s: %v, want %d", what, err, code)
		return
	}
	if me.Number != code || string(me.SQLState[:]) != state || !strings.Contains(me.Message, text) {
		t.Errorf("%s: %d (%s) %s, want %d (%s) … %s", what, me.Number, me.SQLState, me.Message, code, state,
			text)
	}
}

func TestGreetingSaysAutocommit(t *testing.T) {
	r := newRig(t, nil)
	c, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[0])|int(head[1])<<8)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Fatal(err)
	}
	end := 1 + bytes.IndexByte(body[1:], 0)
	if v := string(body[1:end]); v != DefaultVersion {
		t.Errorf("version %q", v)
	}
	// version 0 | id 4 | salt 8 | 0 | capabilities 2 | charset 1 | status 2
	at := end + 1 + 4 + 8 + 1 + 2 + 1
	if status := int(body[at]) | int(body[at+1])<<8; status != 2 {
		t.Errorf("status flags %#x, want autocommit (2)", status)
	}
}

func TestErrorsOverTheWire(t *testing.T) {
	r := newRig(t, nil)
	c := r.conn()
	exec(t, c,
		"create table t (id int primary key, v varchar(3) not null, n tinyint, check (n < 100))",
		"create table u (n tinyint)",
		"create table child (id int primary key, t int, foreign key (t) references t (id))",
		"insert into t values (1, 'a', 1)", "insert into child values (1, 1)")
	for _, q := range []struct {
		query string
		code  uint16
		state string
		text  string
	}{
		{"insert into t values (1, 'b', 1)", 1062, "23000", "Duplicate entry '1' for key "},
		{"selct 1", 1064, "42000", "near 'selct 1' at line 1"},
		{"select *\nfrom t\nwhere", 1064, "42000", "near '' at line 3"},
		{"select nope from t", 1054, "42S22", "Unknown column 'nope' in 'field list'"},
		{"select id from t where nope = 1", 1054, "42S22", "Unknown column 'nope' in 'where clause'"},
		{"select * from nope", 1146, "42S02", "Table 'test.nope' doesn't exist"},
		{"create table t (a int)", 1050, "42S01", "Table 't' already exists"},
		{"drop table nope", 1051, "42S02", "nope"},
		{"create database test", 1007, "HY000", "Can't create database 'test'; database exists"},
		{"use nope", 1049, "42000", "Unknown database 'nope'"},
		{"insert into t values (2, null, 1)", 1048, "23000", "Column 'v' cannot be null"},
		{"insert into t (id) values (2)", 1364, "HY000", "Field 'v' doesn't have a default value"},
		{"insert into t values (2, 'abcdef', 1)", 1406, "22001", "Data too long for column 'v'"},
		{"insert into u values (300)", 1264, "22003", "Out of range value"},
		{"insert into t values (2, 'a', 101)", 3819, "HY000", "Check constraint"},
		{"insert into child values (2, 7)", 1452, "23000", "Cannot add or update a child row"},
		{"delete from t where id = 1", 1451, "23000", "Cannot delete or update a parent row"},
		{"insert into t values (1)", 1136, "21S01", "Column count doesn't match value count"},
		{"set nope = 1", 1193, "HY000", "Unknown system variable 'nope'"},
		{"select @@nope", 1193, "HY000", "Unknown system variable 'nope'"},
		{"call nope()", 1305, "42000", "PROCEDURE test.nope does not exist"},
		{"select nope()", 1305, "42000", "FUNCTION test.nope does not exist"},
		{"alter table t drop column nope", 1091, "42000", "nope"},
		{"show observers", 1235, "42000", "doesn't yet support"},
		{"signal sqlstate '45000' set message_text = 'mine'", 1644, "45000", "mine"},
	} {
		_, err := c.ExecContext(context.Background(), q.query)
		wantErr(t, q.query, err, q.code, q.state, q.text)
	}
	// The same through binary PREPARE, where the protocol library parses before we are asked.
	for _, q := range []struct {
		query string
		code  uint16
		state string
		text  string
	}{
		{"selct ?", 1064, "42000", "selct"},
		{"select nope from t where id = ?", 1054, "42S22", "Unknown column 'nope'"},
		{"select * from nope where id = ?", 1146, "42S02", "Table 'test.nope' doesn't exist"},
		{"select " + strings.Repeat("?,", 65536) + "1", 1390, "HY000", "too many placeholders"},
	} {
		_, err := c.PrepareContext(context.Background(), q.query)
		wantErr(t, q.query[:min(len(q.query), 40)], err, q.code, q.state, q.text)
	}
	_, err := c.ExecContext(context.Background(), "insert into t values (?, 'b', 1)", 1)
	wantErr(t, "prepared duplicate", err, 1062, "23000", "Duplicate entry '1'")
	// And the connection is none the worse for all of it.
	var n int
	if err := c.QueryRowContext(context.Background(), "select count(*) from t where id >= ?",
		0).Scan(&n); err != nil || n != 1 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if got := r.server.Stats().Errors; got[1062] != 2 || got[1064] != 3 {
		t.Errorf("counted %v", got)
	}
}

func TestTooManyConnections(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxConnections = 2 })
	exec(t, r.conn(), "create user u", "grant all on test.* to u")
	hold := func(user string) error {
		c, err := r.openAs(user, "").Conn(context.Background())
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return err
	}
	if err := hold("u"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "third", hold("u"), 1040, "08004", "Too many connections")
	// S12: one more for who can do something about it.
	if err := hold("root"); err != nil {
		t.Errorf("an administrator at max_connections: %v", err)
	}
	wantErr(t, "a second administrator", hold("root"), 1040, "08004", "Too many connections")
	wantErr(t, "still", hold("u"), 1040, "08004", "Too many connections")
	if err := gms.SystemVariables.AssignValues(map[string]any{"max_connections": int64(4)}); err != nil {
		t.Fatal(err)
	}
	if err := hold("u"); err != nil {
		t.Errorf("after raising the limit: %v", err)
	}
	if s := r.server.Stats(); s.Refused != 3 {
		t.Errorf("%+v", s)
	}
}

// txSession is the smallest session with transactions: one that drops an implicit transaction at the end
// of its command, as our engine's does.
type txSession struct{ *gms.BaseSession }

type noTx struct{}

func (noTx) String() string   { return "tx" }
func (noTx) IsReadOnly() bool { return false }

func (s *txSession) StartTransaction(*gms.Context, gms.TransactionCharacteristic) (gms.Transaction, error) {
	return noTx{}, nil
}
func (s *txSession) CommitTransaction(*gms.Context, gms.Transaction) error           { return nil }
func (s *txSession) Rollback(*gms.Context, gms.Transaction) error                    { return nil }
func (s *txSession) CreateSavepoint(*gms.Context, gms.Transaction, string) error     { return nil }
func (s *txSession) RollbackToSavepoint(*gms.Context, gms.Transaction, string) error { return nil }
func (s *txSession) ReleaseSavepoint(*gms.Context, gms.Transaction, string) error    { return nil }
func (s *txSession) CommandBegin() error                                             { return nil }
func (s *txSession) SessionEnd()                                                     {}
func (s *txSession) CommandEnd() {
	if !s.GetIgnoreAutoCommit() {
		s.SetTransaction(nil)
	}
}

func withTx(o *Options) {
	o.Sessions = func(c *Connection, addr string) (gms.Session, error) {
		user, _ := c.Account()
		return &txSession{gms.NewBaseSessionWithClientServer(addr, gms.Client{User: user,
			Address: "localhost"}, c.ID())}, nil
	}
}

func TestRetryOfAutocommit(t *testing.T) {
	r := newRig(t, func(o *Options) { withTx(o); o.MaxRetries = 5 })
	c := r.conn()
	ctx := context.Background()
	query := func() error {
		var n int
		return c.QueryRowContext(ctx, "select conflict()").Scan(&n)
	}
	r.conflicts.Store(3)
	if err := query(); err != nil || r.calls.Load() != 4 {
		t.Fatalf("%d calls, %v", r.calls.Load(), err)
	}
	if s := r.server.Stats(); s.Retries != 3 {
		t.Errorf("%+v", s)
	}

	r.conflicts.Store(100)
	r.calls.Store(0)
	wantErr(t, "bounded", query(), 1213, "40001", "try restarting transaction")
	if r.calls.Load() != 6 {
		t.Errorf("%d calls", r.calls.Load())
	}

	r.calls.Store(0)
	exec(t, c, "begin")
	wantErr(t, "in a transaction", query(), 1213, "40001", "try restarting transaction")
	if r.calls.Load() != 1 {
		t.Errorf("a client's transaction was retried: %d calls", r.calls.Load())
	}
	exec(t, c, "rollback")

	r.conflicts.Store(2)
	r.calls.Store(0)
	if err := c.QueryRowContext(ctx, "select conflict() + ?", 1).Scan(new(int)); err != nil ||
		r.calls.Load() != 3 {
		t.Errorf("prepared: %d calls, %v", r.calls.Load(), err)
	}
}

func TestPanicStaysInItsConnection(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	other := r.conn()
	// The first panics in the connection's goroutine, the second in one that the library begins for
	// results of several rows.
	for i, q := range []string{"select boom()", "select boom() union all select 2"} {
		rows, err := r.conn().QueryContext(context.Background(), q)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
		}
		if err == nil || !strings.Contains(err.Error(), errPanic.Error()) || strings.Contains(err.Error(),
			"goroutine") {
			t.Fatalf("%s: %v", q, err)
		}
		if n := r.server.Stats().Panics; n != int64(i+1) {
			t.Fatalf("%d panics counted", n)
		}
	}
	var n int
	if err := other.QueryRowContext(context.Background(), "select 1 + 1").Scan(&n); err != nil || n != 2 {
		t.Fatalf("the other connection: %v", err)
	}
	if err := r.open("").Ping(); err != nil {
		t.Fatalf("a new connection: %v", err)
	}
}

func TestDeadlineAndKill(t *testing.T) {
	r := newRig(t, nil)
	c, killer := r.conn(), r.conn()
	ctx := context.Background()
	exec(t, c, "set max_execution_time = 20")
	wantErr(t, "variable", c.QueryRowContext(ctx, "select wait()").Scan(new(int)), 3024, "HY000",
		"maximum statement execution time")
	exec(t, c, "set max_execution_time = 0")
	wantErr(t, "hint", c.QueryRowContext(ctx, "select /*+ MAX_EXECUTION_TIME(20) */ wait()").Scan(new(int)),
		3024, "HY000", "maximum statement")
	for len(r.entered) > 0 {
		<-r.entered
	}

	var id int
	if err := c.QueryRowContext(ctx, "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.QueryRowContext(ctx, "select wait()").Scan(new(int)) }()
	<-r.entered
	if _, err := killer.ExecContext(ctx, "kill query "+itoa(id)); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "killed", <-done, 1317, "70100", "interrupted")
	// A killed statement leaves the connection alive; KILL CONNECTION does not.
	if err := c.PingContext(ctx); err != nil {
		t.Fatal(err)
	}
	exec(t, killer, "kill "+itoa(id))
	if err := c.QueryRowContext(ctx, "select 2").Scan(new(int)); err == nil {
		t.Error("the connection survived")
	}
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }

func TestDrain(t *testing.T) {
	r := newRig(t, withTx)
	ctx := context.Background()
	idle, busy, open := r.conn(), r.conn(), r.conn()
	exec(t, open, "begin")
	result := make(chan error, 1)
	go func() { result <- busy.QueryRowContext(ctx, "select wait()").Scan(new(int)) }()
	<-r.entered

	drained := make(chan error, 1)
	go func() { drained <- r.server.Drain(ctx) }()
	// The idle connection is closed; that is the sign that the drain has begun.
	for idle.PingContext(ctx) == nil {
	}
	wantErr(t, "new client", r.open("").Ping(), 1053, "08S01", "Server shutdown in progress")
	// The open transaction in which nothing runs is over: its client might be idle for hours.
	if _, err := open.ExecContext(ctx, "commit"); err == nil {
		t.Error("an idle transaction outlived the drain")
	}
	select {
	case err := <-drained:
		t.Fatalf("drained (%v) under a running statement", err)
	default:
	}
	close(r.release)
	if err := <-result; err != nil {
		t.Errorf("the running statement: %v", err)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	if n := r.server.Stats().Connections; n != 0 {
		t.Errorf("%d connections left", n)
	}
}

func TestDrainOutOfTime(t *testing.T) {
	r := newRig(t, nil)
	busy := r.conn()
	result := make(chan error, 1)
	go func() { result <- busy.QueryRowContext(context.Background(), "select wait()").Scan(new(int)) }()
	<-r.entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.server.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	wantErr(t, "interrupted", <-result, 1053, "08S01", "shutdown")
}

// memoryUsers is a UserStore.
type memoryUsers struct {
	mu   sync.Mutex
	data []byte
}

func (m *memoryUsers) LoadUsers(context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data, nil
}

func (m *memoryUsers) SaveUsers(_ context.Context, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data = data
	return nil
}

func TestUsersSurvive(t *testing.T) {
	store := &memoryUsers{}
	r := newRig(t, func(o *Options) { o.Users = store })
	c := r.conn()
	exec(t, c, "create table t (id int primary key)", "create user ann@'%' identified by 'secret'",
		"grant select on test.* to ann@'%'",
		"alter user root@localhost identified by 'rootpw'")
	_ = r.server.Close()

	r = newRig(t, func(o *Options) { o.Users = store })
	login := func(user string) error {
		db, err := sql.Open("mysql", user+"@tcp("+r.server.Addr().String()+")/test")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		return db.Ping()
	}
	wantErr(t, "root without password", login("root"), 1045, "28000", "Access denied")
	wantErr(t, "wrong password", login("ann:guess"), 1045, "28000", "Access denied")
	wantErr(t, "nobody", login("nobody"), 1045, "28000", "Access denied")
	if err := login("root:rootpw"); err != nil {
		t.Error(err)
	}
	ann, err := sql.Open("mysql", "ann:secret@tcp("+r.server.Addr().String()+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	_, err = ann.Exec("create table u (a int)")
	wantErr(t, "privilege", err, 1142, "42000", "command denied to user")
}

func TestRootOnlyFromLoopback(t *testing.T) {
	r := newRig(t, nil)
	db := r.engine.Analyzer.Catalog.MySQLDb
	rd := db.Reader()
	defer rd.Close()
	for host, want := range map[string]bool{"127.0.0.1": true, "::1": true, "localhost": true,
		"192.168.1.7": false, "10.0.0.1": false, "example.com": false} {
		if got := db.GetUser(rd, "root", host, false) != nil; got != want {
			t.Errorf("root@%s: %v", host, got)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.sock")
	// A socket file that a crash left behind is taken over.
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = stale.Close()
	r := newRig(t, func(o *Options) { o.Socket = path })
	db, err := sql.Open("mysql", "root@unix("+path+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(context.Background(), Options{Engine: r.engine, Sessions: r.server.opts.Sessions,
		Addr: "127.0.0.1:0", Socket: path}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a second server on the socket: %v", err)
	}
	if _, err := New(context.Background(), Options{Engine: r.engine, Sessions: r.server.opts.Sessions,
		Addr: r.server.Addr().String()}); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server on the port: %v", err)
	}
	_ = r.server.Close()
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the socket file is left: %v", err)
	}
}

// serverTLS is a certificate of the server's own.
func serverTLS(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		MinVersion: tls.VersionTLS12}
}

func TestTLS(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TLS = serverTLS(t) })
	db := r.open("?tls=skip-verify")
	_, err := db.Prepare("selct ?") // the reply goes through our writer, above TLS
	wantErr(t, "prepare", err, 1064, "42000", "selct")
	if err := db.QueryRow("select 1 + ?", 1).Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	if err := r.open("").Ping(); err != nil {
		t.Errorf("without TLS, which is not required: %v", err)
	}
}

func TestMetadata(t *testing.T) {
	r := newRig(t, nil)
	c := r.conn()
	ctx := context.Background()
	exec(t, c, "create table m (d double, f float, i int not null, dec1 decimal(5,2), s varchar(5), b "+
		"bit(8), e enum('x','y') not null, dt datetime)",
		"insert into m values (0.5, 0.25, 7, 1.25, 'a', b'101', 'y', '2020-01-02 03:04:05')")
	rows, err := c.QueryContext(ctx, "select * from m where i = ?", 7)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	cols, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, ct := range cols {
		got = append(got, ct.Name()+" "+ct.DatabaseTypeName())
	}
	if s := strings.Join(got,
		", "); s != "d DOUBLE, f FLOAT, i INT, dec1 DECIMAL, s VARCHAR, b BIT, e ENUM, dt DATETIME" {
		t.Error(s)
	}
	var d, f float64
	var i int
	var dec1, s, e, dt string
	var b []byte
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&d, &f, &i, &dec1, &s, &b, &e, &dt); err != nil {
		t.Fatal(err)
	}
	if d != 0.5 || f != 0.25 || i != 7 || dec1 != "1.25" || s != "a" || !bytes.Equal(b, []byte{5}) ||
		e != "y" || dt != "2020-01-02 03:04:05" {
		t.Error(d, f, i, dec1, s, b, e, dt)
	}
}

func TestPingShortCut(t *testing.T) {
	r := newRig(t, nil)
	for _, params := range []string{"", "?multiStatements=true"} {
		db := r.open(params)
		for _, q := range []string{"SELECT 1", "select 1;", "/* ping */ SELECT 1"} {
			var n int
			if err := db.QueryRow(q).Scan(&n); err != nil || n != 1 {
				t.Errorf("%s: %d %v", q, n, err)
			}
		}
	}
	var a, b int
	rows, err := r.open("?multiStatements=true").Query("select 1; select 1 + 1")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	rows.Next()
	_ = rows.Scan(&a)
	if rows.NextResultSet() && rows.Next() {
		_ = rows.Scan(&b)
	}
	if a != 1 || b != 2 {
		t.Errorf("multi: %d %d %v", a, b, rows.Err())
	}
}

func TestHandshakeCollation(t *testing.T) {
	r := newRig(t, nil)
	var name string
	if err := r.open("?collation=utf8mb4_bin").QueryRow("select " +
		"@@collation_connection").Scan(&name); err != nil || name != "utf8mb4_bin" {
		t.Errorf("%q %v", name, err)
	}
}

// A client that does not log in is shown the door.
func TestConnectTimeout(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ConnectTimeout = 20 * time.Millisecond })
	c, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.EOF) {
		t.Log(err) // a reset is as good as an end
	}
}

func TestWaitTimeout(t *testing.T) {
	r := newRig(t, nil)
	c := r.conn()
	exec(t, c, "set wait_timeout = 1")
	id := 0
	if err := c.QueryRowContext(context.Background(), "select connection_id() + 0").Scan(&id); err != nil {
		t.Fatal(err)
	}
	// The server closes the idle connection; its leaving is an event of the server's.
	for {
		r.server.mu.Lock()
		_, there := r.server.conns[uint32(id)]
		changed := r.server.changed
		r.server.mu.Unlock()
		if !there {
			break
		}
		<-changed
	}
	if err := c.QueryRowContext(context.Background(), "select 2").Scan(&id); err == nil {
		t.Error("the idle connection is still served")
	}
}

func TestClassify(t *testing.T) {
	for q, want := range map[string]statement{
		"select 1":                              {verb: verbSelect, reads: true, again: true, ping: true},
		" /* x */ SELECT 1 ; ":                  {verb: verbSelect, reads: true, again: true, ping: true},
		"select 1 from t":                       {verb: verbSelect, reads: true, again: true},
		"(select 1)":                            {verb: verbSelect, reads: true, again: true},
		"-- c\n# d\nupdate t":                   {verb: verbUpdate, again: true},
		"call p()":                              {},
		"load data local infile 'x' into table": {verb: verbInsert, loads: true},
		"commit":                                {verb: verbTransaction},
		"/* unclosed":                           {},
		"":                                      {},
	} {
		if got := classify(q); got != want {
			t.Errorf("%q: %+v", q, got)
		}
	}
}

// function makes a SQL function without arguments.
func function(name string, f func(*gms.Context) (any, error)) gms.Function {
	return gms.FunctionN{Name: name, Fn: func(*gms.Context, ...gms.Expression) (gms.Expression,
		error) {
		return &call{name, f}, nil
	}}
}

type call struct {
	name string
	f    func(*gms.Context) (any, error)
}

func (c *call) Resolved() bool                                { return true }
func (c *call) String() string                                { return c.name + "()" }
func (c *call) Type(*gms.Context) gms.Type                    { return types.Int64 }
func (c *call) IsNullable(*gms.Context) bool                  { return true }
func (c *call) Children() []gms.Expression                    { return nil }
func (c *call) IsNonDeterministic() bool                      { return true }
func (c *call) FunctionName() string                          { return c.name }
func (c *call) Description() string                           { return c.name }
func (c *call) Eval(ctx *gms.Context, _ gms.Row) (any, error) { return c.f(ctx) }
func (c *call) WithChildren(*gms.Context, ...gms.Expression) (gms.Expression, error) {
	return c, nil
}
