package wire

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/account"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
)

// login says who gets in. The exchanges of packets are the protocol library's; which account a client gets and whether its password is
// right are asked here. An unknown user goes through the same exchange as a known one, and is told the same.
type login struct {
	accounts *account.Directory
	srv      *Server
	methods  []mysql.AuthMethod
	delays   *delays
	failures quiet
	key      keyPair

	mu sync.Mutex
	// scrambled is what a caching_sha2_password that was right once is compared with, by what is stored of it: SHA256(SHA256(password)).
	// Another password is stored as something else, so nothing has to be taken out.
	scrambled map[string][32]byte
}

var (
	_ mysql.AuthServer  = (*login)(nil)
	_ mysql.HashStorage = (*login)(nil)
)

// maxScrambled bounds what is remembered of passwords.
const maxScrambled = 1 << 12

func newLogin(srv *Server) *login {
	l := &login{accounts: srv.opts.Accounts, srv: srv, delays: newDelays(), scrambled: map[string][32]byte{}}
	native := mysql.NewMysqlNativeAuthMethod(l, uses{l, string(mysql.MysqlNativePassword)})
	l.methods = []mysql.AuthMethod{door{native, l}, door{sha2{l}, l}}
	return l
}

// AuthMethods implements mysql.AuthServer.
func (l *login) AuthMethods() []mysql.AuthMethod { return l.methods }

// DefaultAuthMethodDescription implements mysql.AuthServer.
func (l *login) DefaultAuthMethodDescription() mysql.AuthMethodDescription {
	return mysql.MysqlNativePassword
}

// uses says which accounts have their passwords in a form.
type uses struct {
	login  *login
	plugin string
}

// HandleUser implements mysql.UserValidator.
func (u uses) HandleUser(user string, addr net.Addr) bool {
	if !u.login.accounts.Enabled() {
		return u.plugin == string(mysql.MysqlNativePassword)
	}
	return u.login.accounts.Plugin(user, account.Host(addr)) == u.plugin
}

func denied(user string, addr net.Addr, password bool) *mysql.SQLError {
	using := "NO"
	if password {
		using = "YES"
	}
	return sqlerr.New(sqlerr.AccessDenied, "Access denied for user '%s'@'%s' (using password: %s)", user, account.Host(addr), using)
}

// admit is the end of a login with a password that was right or wrong.
func (l *login) admit(conn *mysql.Conn, user string, addr net.Addr, u *mysql_db.User, right, gave bool) (mysql.Getter, error) {
	if u == nil || !right || !secure(u, conn) {
		return nil, denied(user, addr, gave)
	}
	if u.Locked {
		return nil, sqlerr.New(sqlerr.AccountLocked, "Access denied for user '%s'@'%s'. Account is locked.", user, account.Host(addr))
	}
	if builtIn(u) && u.AuthString == "" {
		if err := l.srv.opts.OwnPeer(of(conn).peer()); err != nil {
			return nil, sqlerr.New(sqlerr.AccessDeniedNoPassword, "Access denied for user '%s'@'%s': as long as it has no password, only the operating system's user who runs "+
				"the server, and its root, get in (%v). As that user, log in and give it one: ALTER USER root@localhost IDENTIFIED BY '...'", user, account.Host(addr), err)
		}
	}
	return sql.MysqlConnectionUser{User: u.User, Host: u.Host}, nil
}

// builtIn says whether an account is the one that a new server begins with, which nobody has had the chance to give a password.
// Accounts that an administrator made without one are open to everybody, as in MySQL: he has said so. The name decides, not a
// mark, so that servers of older releases are as closed as new ones.
func builtIn(u *mysql_db.User) bool {
	return u.User == "root" && strings.EqualFold(u.Host, "localhost")
}

// UserEntryWithHash implements mysql.HashStorage: mysql_native_password.
func (l *login) UserEntryWithHash(conn *mysql.Conn, salt []byte, user string, answer []byte, addr net.Addr) (mysql.Getter, error) {
	if !l.accounts.Enabled() {
		return sql.MysqlConnectionUser{User: user, Host: account.Host(addr)}, nil
	}
	u := l.accounts.Find(user, account.Host(addr))
	right := false
	switch {
	case u == nil || u.Plugin != string(mysql.MysqlNativePassword):
	case u.AuthString == "":
		right = len(answer) == 0
	default:
		hash, err := mysql.DecodeMysqlNativePasswordHex(u.AuthString)
		// The library's comparison takes an answer for as long as a hash.
		right = err == nil && len(answer) == len(hash) && mysql.VerifyHashedMysqlNativePassword(answer, salt, hash)
	}
	return l.admit(conn, user, addr, u, right, len(answer) > 0)
}

// verify compares a password with what is stored of it, and remembers one that is right. It takes as long if nothing is stored: how long a refusal takes
// does not tell whether there is such an account.
func (l *login) verify(stored, password string) bool {
	if stored == "" {
		_, _ = mysql.SerializeCachingSha2PasswordAuthString(password, make([]byte, saltLength), decoyIterations)
		return password == ""
	}
	kind, iterations, salt, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(stored))
	if err != nil || kind != "SHA256" {
		return false
	}
	now, err := mysql.SerializeCachingSha2PasswordAuthString(password, salt, iterations)
	if err != nil || subtle.ConstantTimeCompare(now, []byte(stored)) != 1 {
		return false
	}
	once := sha256.Sum256([]byte(password))
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.scrambled) >= maxScrambled {
		clear(l.scrambled)
	}
	l.scrambled[stored] = sha256.Sum256(once[:])
	return true
}

// decoyIterations are those of an account that was given its password here.
const decoyIterations = mysql.DefaultCachingSha2PasswordHashIterations

// private reports whether nobody between client and server can listen.
func private(conn *mysql.Conn) bool {
	_, unix := of(conn).peer().(*net.UnixConn)
	return unix || conn.TLSEnabled()
}

// secure reports whether the connection is what REQUIRE asks for.
func secure(u *mysql_db.User, conn *mysql.Conn) bool {
	switch u.SslType {
	case "":
		return true
	case "ANY":
		return private(conn)
	case "X509":
		return len(conn.GetTLSClientCerts()) > 0
	}
	t, ok := conn.Conn.(*tls.Conn)
	if !ok {
		return false
	}
	if u.SslCipher != "" && tls.CipherSuiteName(t.ConnectionState().CipherSuite) != u.SslCipher {
		return false
	}
	if u.X509Issuer == "" && u.X509Subject == "" {
		return true
	}
	certs := conn.GetTLSClientCerts()
	if len(certs) == 0 {
		return false
	}
	return (u.X509Issuer == "" || account.DistinguishedName(certs[0].Issuer) == u.X509Issuer) &&
		(u.X509Subject == "" || account.DistinguishedName(certs[0].Subject) == u.X509Subject)
}

// canChangePassword is the capability of clients that show the user an expired password instead of failing.
const canChangePassword = 1 << 22

// expiring is a session that may do nothing before its password is changed.
type expiring interface {
	MustChangePassword() bool
	SetMustChangePassword()
}

// settleAccount applies to a connection what its account is subject to besides its password.
func (c *connection) settleAccount() error {
	who, ok := c.conn.UserData.(sql.MysqlConnectionUser)
	if !ok {
		return nil
	}
	accounts := c.srv.opts.Accounts
	u := accounts.Account(account.Name{User: who.User, Host: who.Host})
	if u == nil {
		return nil
	}
	if err := c.countConnections(u); err != nil {
		return err
	}
	if account.Expired(u, time.Now()) {
		s, ok := c.session.(expiring)
		if g := c.gated(); !ok || g != nil && g.capabilities()&canChangePassword == 0 {
			return sqlerr.New(sqlerr.MustChangeToLogIn, "Your password has expired. To log in you must change it using a client that supports expired passwords.")
		}
		s.SetMustChangePassword()
	}
	return nil
}

// countConnections refuses a connection that is one too many for its account.
func (c *connection) countConnections(u *mysql_db.User) error {
	limit := account.Connections(u)
	_, v, _ := sql.SystemVariables.GetGlobal("max_user_connections")
	all, _ := v.(int64)
	if n, ok := v.(uint64); ok {
		all = int64(n)
	}
	name := account.Name{User: u.User, Host: u.Host}
	n := int64(0)
	c.srv.mu.Lock()
	c.account = name
	for _, other := range c.srv.conns {
		if other.account == name {
			n++
		}
	}
	c.srv.mu.Unlock()
	switch {
	case limit > 0 && n > limit:
		return sqlerr.New(sqlerr.UserLimit, "User '%s' has exceeded the '%s' resource (current value: %d)", u.User, "max_user_connections", limit)
	case limit <= 0 && all > 0 && n > all:
		return sqlerr.New(sqlerr.TooManyUserConnections, "User %s already has more than 'max_user_connections' active connections", u.User)
	}
	return nil
}

// mustChange refuses a statement of a session whose password has expired, unless it changes that.
func (c *connection) mustChange(query string) error {
	if s, ok := c.session.(expiring); ok && s.MustChangePassword() && !parse.ChangesPassword(query) {
		return sqlerr.New(sqlerr.MustChangePassword, "You must reset your password using ALTER USER statement before executing this statement.")
	}
	return nil
}
