package conn

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"

	"moka/kv/peercred"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// TestRootWithoutPassword is S7: root, as a new server has it, is the operating system's user who runs the
// server, over TCP, the unix socket and COM_CHANGE_USER, until it has a password. Accounts that an
// administrator left without one are everybody's.
func TestRootWithoutPassword(t *testing.T) {
	var foreign atomic.Bool
	socket := filepath.Join(t.TempDir(), "s")
	r := newRig(t, func(o *Options) {
		o.Socket = socket
		o.OwnPeer = func(c net.Conn) error {
			if foreign.Load() {
				return peercred.ErrForeign
			}
			return peercred.Own(c)
		}
	})
	ping := func(name string) error {
		var errs error
		for _, at := range []string{"tcp(" + r.server.Addr().String() + ")", "unix(" + socket + ")"} {
			db, err := sql.Open("mysql", name+"@"+at+"/test")
			if err != nil {
				t.Fatal(err)
			}
			err = db.Ping()
			_ = db.Close()
			if err != nil {
				errs = err
			}
		}
		return errs
	}
	c := r.conn()
	if err := ping("root"); err != nil {
		t.Fatalf("the owner: %v", err)
	}
	exec(t, c, "create user open@localhost", "grant select on test.* to open@localhost",
		"create user root@'%'")
	change := r.raw(t)
	foreign.Store(true)
	wantErr(t, "another user", ping("root"), 1698, "28000", "ALTER USER root@localhost IDENTIFIED BY")
	wantErr(t, "a password where there is none", ping("root:x"), 1045, "28000", "Access denied")
	if err := ping("open"); err != nil {
		t.Errorf("an account that was made without a password: %v", err)
	}
	if b := change.command(append([]byte{mysqlproto.ComChangeUser},
		"root\x00\x00test\x00\xff\x00mysql_native_password\x00"...)...); b[0] != mysqlproto.HeaderAuthSwitch {
		t.Fatalf("%q", b)
	}
	change.packet(2, nil)
	_, b := change.recv()
	change.wantErr("COM_CHANGE_USER", b, 1698)

	exec(t, c, "alter user root@localhost identified by 'secret'")
	if err := ping("root:secret"); err != nil {
		t.Errorf("another user with the password: %v", err)
	}
	foreign.Store(false)
	wantErr(t, "the owner without the password", ping("root"), 1045, "28000", "Access denied")
}

// TestSilentClients is S12: sockets that say nothing before the login take nobody's place.
func TestSilentClients(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxConnections = 2 })
	for range 3 * minWaiting {
		c, err := net.Dial("tcp", r.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	c := r.conn() // was accepted behind them
	g := r.server.gate
	g.mu.Lock()
	waiting := g.waiting.Len()
	g.mu.Unlock()
	if waiting > minWaiting {
		t.Errorf("%d connections are logging in, want no more than %d", waiting, minWaiting)
	}
	// A connection that was dropped is open until who reads from it has seen that, which on a busy machine
	// is later than this login.
	for r.server.Stats().Connections > minWaiting+2 {
		exec(t, c, "do 1")
	}
}

// TestHalfLogins: sockets that have begun a login and do not end it are dropped for who comes, and not who
// comes for them (S12). He had said nothing yet, when all others had.
func TestHalfLogins(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxConnections, o.ConnectTimeout = 2, time.Hour })
	for range minWaiting {
		c, err := net.Dial("tcp", r.server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte{0xff, 0xff, 0, 1, 5, 0xa6, 0xff, 1, 0}); err != nil {
			t.Fatal(err)
		}
	}
	g := r.server.gate
	heard := func() (n int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for e := g.waiting.Front(); e != nil; e = e.Next() {
			if e.Value.(*gatedConn).heard.Load() {
				n++
			}
		}
		return n
	}
	for heard() < minWaiting {
		runtime.Gosched()
	}
	exec(t, r.conn(), "do 1")
}

// TestPlacesAreFreedAtOnce has a client close its connection and open another one at max_connections.
func TestPlacesAreFreedAtOnce(t *testing.T) {
	r := newRig(t, func(o *Options) { o.MaxConnections = 1 })
	c := r.conn()
	exec(t, c, "create user u", "grant all on test.* to u")
	_ = c.Raw(func(any) error { return driver.ErrBadConn }) // which closes it
	for i := range 100 {
		db := r.openAs("u", "")
		if err := db.Ping(); err != nil {
			t.Fatalf("login %d: %v", i, err)
		}
		_ = db.Close()
	}
}

// TestRequireSecureTransport is S9, without TLS at all: nobody could log in any more.
func TestRequireSecureTransport(t *testing.T) {
	none := newRig(t, nil)
	_, err := none.conn().ExecContext(context.Background(), "set global require_secure_transport = 1")
	wantErr(t, "without TLS", err, 3160, "HY000", "No secure transports")

	socket := filepath.Join(t.TempDir(), "s")
	r := newRig(t, func(o *Options) { o.TLS, o.Socket = serverTLS(t), socket })
	t.Cleanup(func() {
		_ = gms.SystemVariables.AssignValues(map[string]any{"require_secure_transport": int8(0)})
	})
	c, change := r.conn(), r.raw(t)
	exec(t, c, "create user u identified by 'p'", "grant all on test.* to u",
		"set global require_secure_transport = 1")
	wantErr(t, "in the clear", r.openAs("u:p", "").Ping(), 3159, "HY000", "--require_secure_transport=ON")
	wantErr(t, "root in the clear", r.open("").Ping(), 3159, "HY000", "--require_secure_transport=ON")
	if err := r.openAs("u:p", "?tls=skip-verify").Ping(); err != nil {
		t.Errorf("over TLS: %v", err)
	}
	db, err := sql.Open("mysql", "u:p@unix("+socket+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		t.Errorf("over the unix socket: %v", err)
	}
	if b := change.command(append([]byte{mysqlproto.ComChangeUser},
		"u\x00\x00test\x00\xff\x00mysql_native_password\x00"...)...); b[0] != mysqlproto.HeaderAuthSwitch {
		t.Fatalf("%q", b)
	}
	change.packet(2, nil)
	_, b := change.recv()
	change.wantErr("COM_CHANGE_USER in the clear", b, 3159)
	exec(t, c, "set global require_secure_transport = 0")
	if err := r.openAs("u:p", "").Ping(); err != nil {
		t.Errorf("when it is off again: %v", err)
	}
}

// TestLongNamesAreNotLogged: the name of a user who is refused was written to the log whole, 64 MiB of it
// (usage-10).
func TestLongNamesAreNotLogged(t *testing.T) {
	var log safeBuffer
	r := newRig(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	exec(t, r.conn(), "create user u identified by 'p'")
	x := r.raw(t)
	name := "1" + strings.Repeat("z", 1<<20) + "\x00\x00test\x00\xff\x00mysql_native_password\x00"
	b := x.command(append([]byte{mysqlproto.ComChangeUser}, name...)...)
	if b[0] != mysqlproto.HeaderAuthSwitch {
		t.Fatalf("%q", b)
	}
	x.packet(2, make([]byte, 20))
	_, b = x.recv()
	x.wantErr("a wrong user", b, sqlerr.AccessDenied)
	if n := len(log.String()); n > 2000 || !strings.Contains(log.String(), "login failed") {
		t.Errorf("%d bytes are logged: %.200s", n, log.String())
	}
}

// TestWrongPasswords is S13 at the door: what waits, what is counted, what is logged.
func TestWrongPasswords(t *testing.T) {
	var log safeBuffer
	r := newRig(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	exec(t, r.conn(), "create user u identified by 'p'", "grant all on test.* to u")
	for range freeGuesses + 1 {
		wantErr(t, "wrong", r.openAs("u:wrong", "").Ping(), 1045, "28000", "Access denied")
	}
	if err := r.open("").Ping(); err != nil { // at once
		t.Fatal(err)
	}
	if s := r.server.Stats(); s.LoginsWrong != freeGuesses+1 || s.LoginsLate != 1 {
		t.Errorf("%d wrong, %d late", s.LoginsWrong, s.LoginsLate)
	}
	if n := strings.Count(log.String(), "login failed"); n != freeGuesses+1 || !strings.Contains(log.String(),
		"user=u from=127.0.0.1:") {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	if err := r.openAs("u:p", "").Ping(); err != nil { // late
		t.Fatal(err)
	}
	if err := r.openAs("u:p", "").Ping(); err != nil {
		t.Fatal(err)
	}
	if s := r.server.Stats(); s.LoginsLate != 2 || !r.server.auth.delays.empty() {
		t.Errorf("%d late; a right password does not end it", s.LoginsLate)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// sha2Answer is what a client of caching_sha2_password answers a salt with.
func sha2Answer(password string, salt []byte) []byte {
	once := sha256.Sum256([]byte(password))
	twice := sha256.Sum256(once[:])
	out := sha256.Sum256(append(twice[:], salt...))
	for i := range out {
		out[i] ^= once[i]
	}
	return out[:]
}

// byKey is a password as a client sends it by the server's key.
func byKey(password string, salt []byte, key *rsa.PublicKey) ([]byte, error) {
	b := append([]byte(password), 0)
	for i := range b {
		b[i] ^= salt[i%len(salt)]
	}
	return rsa.EncryptOAEP(sha1.New(), rand.Reader, key, b, nil)
}

// TestSha2WithoutTLS is S15: caching_sha2_password in its full exchange, with the password under the
// server's RSA key, and the short one after that; also in COM_CHANGE_USER.
func TestSha2WithoutTLS(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TLS = serverTLS(t) })
	exec(t, r.conn(), "create user u identified with caching_sha2_password by 'p'",
		"grant all on test.* to u", "create user e identified with caching_sha2_password",
		"grant all on test.* to e")
	for range 2 {
		wantErr(t, "wrong", r.openAs("u:wrong", "").Ping(), 1045, "28000", "Access denied")
		wantErr(t, "none", r.openAs("u", "").Ping(), 1045, "28000", "Access denied")
		for _, params := range []string{"", "?tls=skip-verify"} {
			if err := r.openAs("u:p", params).Ping(); err != nil {
				t.Errorf("%q: %v", params, err)
			}
			if err := r.openAs("e", params).Ping(); err != nil {
				t.Errorf("%q, empty: %v", params, err)
			}
		}
	}
	clear(r.server.auth.scrambled)
	for _, password := range []string{"p", "wrong"} {
		x := r.raw(t)
		b := x.command(append([]byte{mysqlproto.ComChangeUser},
			"u\x00\x00test\x00\xff\x00caching_sha2_password\x00"...)...)
		name, salt, _ := bytes.Cut(b[1:], []byte{0})
		if b[0] != mysqlproto.HeaderAuthSwitch || string(name) != "caching_sha2_password" {
			t.Fatalf("%q", b)
		}
		salt = bytes.TrimSuffix(salt, []byte{0})
		x.packet(2, sha2Answer(password, salt))
		if seq, b := x.recv(); seq != 3 || !bytes.Equal(b, []byte{mysqlproto.HeaderMoreData,
			mysqlproto.SHA2SendAll}) {
			t.Fatalf("%d %q", seq, b)
		}
		x.packet(4, []byte{mysqlproto.SHA2RequestKey})
		_, b = x.recv()
		block, _ := pem.Decode(b[1:])
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := byKey(password, salt, key.(*rsa.PublicKey))
		if err != nil {
			t.Fatal(err)
		}
		x.packet(6, enc)
		_, b = x.recv()
		if password == "p" {
			if b[0] != mysqlproto.HeaderOK {
				t.Errorf("change user: %q", b)
			}
			x.wantAlive("change user")
		} else {
			x.wantErr("change user with a wrong password", b, sqlerr.AccessDenied)
		}
	}
}

// TestLoginsDoNotTellWhoIsThere: who has no account goes through what who has one goes through, packet by
// packet, whatever method he begins with: he is asked for the same methods as accounts are, always the
// same for a name, and is told the same.
func TestLoginsDoNotTellWhoIsThere(t *testing.T) {
	r := newRig(t, nil)
	c := r.conn()
	exec(t, c, "create user ann identified with caching_sha2_password by 'secret'")
	const native, sha2 = "mysql_native_password", "caching_sha2_password"
	// transcript is what the server says to a login with a password that is wrong.
	transcript := func(user, method string) (packets []string) {
		conn := r.knock(t)
		login := binary.LittleEndian.AppendUint32(nil,
			mysqlproto.ClientProtocol41|mysqlproto.ClientSecureConnection|mysqlproto.ClientPluginAuth)
		login = append(append(login, 0, 0, 0, 1, 255), make([]byte, 23)...)
		login = append(append(login, user+"\x00\x14"+strings.Repeat("x", 20)...), method+"\x00"...)
		send := func(sequence byte, body []byte) {
			if _, err := conn.Write(append([]byte{byte(len(body)), byte(len(body) >> 8), 0, sequence},
				body...)); err != nil {
				t.Fatal(err)
			}
		}
		send(1, login)
		for {
			var head [4]byte
			if _, err := io.ReadFull(conn, head[:]); err != nil {
				t.Fatalf("%s: %v behind %q", user, err, packets)
			}
			body := make([]byte, int(head[0])|int(head[1])<<8)
			if _, err := io.ReadFull(conn, body); err != nil {
				t.Fatal(err)
			}
			switch body[0] {
			case mysqlproto.HeaderAuthSwitch:
				name, _, _ := strings.Cut(string(body[1:]), "\x00")
				packets = append(packets, name)
				send(head[3]+1, make([]byte, 32))
			case mysqlproto.HeaderMoreData:
				if len(body) == 2 && body[1] == mysqlproto.SHA2SendAll {
					packets = append(packets, "send it")
					send(head[3]+1, []byte{mysqlproto.SHA2RequestKey})
				} else {
					packets = append(packets, "the key")
					send(head[3]+1, make([]byte, 256))
				}
			default:
				return append(packets, strings.ReplaceAll(string(body), user, "NAME"))
			}
		}
	}
	for _, method := range []string{native, sha2, "dialog"} {
		known := transcript("ann", method)
		for _, name := range []string{"nobody", "bob", "admin", "ann2", "Ann"} {
			if got := transcript(name, method); !slices.Equal(got, known) {
				t.Errorf("beginning with %s: %s is told %q, ann %q", method, name, got, known)
			}
		}
	}
	for _, name := range []string{"nobody:x", "nobody", "ann:x", "ann"} { // to the end of the exchange
		wantErr(t, name, r.openAs(name, "").Ping(), 1045, "28000", "Access denied")
	}
	exec(t, c, "create user old identified with mysql_native_password by 'secret'")
	like := map[string]string{}
	for _, name := range []string{"old", "ann"} {
		like[strings.Join(transcript(name, "dialog"), "|")] = name
	}
	seen := map[string]int{}
	for i := range 40 {
		name := fmt.Sprintf("nobody%d", i)
		said := strings.Join(transcript(name, "dialog"), "|")
		if like[said] == "" {
			t.Fatalf("%s is told what no account is told: %q", name, said)
		}
		if again := strings.Join(transcript(name, "dialog"), "|"); again != said {
			t.Errorf("%s is told %q and then %q", name, said, again)
		}
		seen[like[said]]++
	}
	if seen["old"] < 5 || seen["ann"] < 5 { // of 40, about half each
		t.Errorf("who has no account is asked for methods as %v are, with as many accounts of both", seen)
	}
}
