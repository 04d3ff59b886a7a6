package conn

import (
	"crypto/sha256"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"

	"moka/sqlfront/account"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
)

// login says who gets in. An unknown user goes through the same exchange as a known one, and is told the
// same.
type login struct {
	accounts *account.Directory
	srv      *Server
	delays   *delays
	failures quiet
	key      mysqlproto.SHA2Key

	mu sync.Mutex
	// scrambled is what a caching_sha2_password that was right once is compared with, by what is stored of
	// it: SHA256(SHA256(password)). Another password is stored as something else, so nothing has to be
	// taken out.
	scrambled map[string][32]byte
}

// maxScrambled bounds what is remembered of passwords.
const maxScrambled = 1 << 12

func newLogin(srv *Server) *login {
	return &login{accounts: srv.opts.Accounts, srv: srv, delays: newDelays(),
		scrambled: map[string][32]byte{}}
}

// attempt is a login under way.
type attempt struct {
	c      *Connection
	user   string
	from   account.Origin
	salt   []byte
	answer []byte
}

// longestUser is how many bytes of a user's name are looked at: names of accounts have 32 characters at
// most, and a name that is refused is written to the log.
const longestUser = 4 * 32

// exchange asks for a password as the account wants it, and says whose it is. The client has answered the
// salt by a plugin already, or has not (plugin is empty).
func (l *login) exchange(c *Connection, user, plugin string, answer, salt []byte) (account.Name, error) {
	user = user[:min(len(user), longestUser)]
	a := &attempt{c, user, account.From(c.RemoteAddr()), salt, answer}
	wants := mysqlproto.NativePassword
	if l.accounts.Enabled() {
		wants = l.accounts.Plugin(user, a.from)
	}
	if wants != mysqlproto.NativePassword && wants != mysqlproto.CachingSHA2 {
		return account.Name{}, sqlerr.New(sqlerr.AccessDenied,
			"Access denied for user '%s' (the method of this account is not known here)", user)
	}
	if plugin == "" && salt != nil {
		plugin = mysqlproto.NativePassword // of clients that know no other
	}
	// Clients up to 8.0.25 name caching_sha2_password before they have computed anything by it.
	if plugin != wants || len(answer) == 0 && wants == mysqlproto.CachingSHA2 {
		var err error
		if a.salt, err = mysqlproto.NewSalt(); err != nil {
			return account.Name{}, err
		}
		if err := c.say(mysqlproto.AppendAuthSwitch(nil, wants, a.salt)); err != nil {
			return account.Name{}, err
		}
		b, err := c.hear(maxLogin)
		if err != nil {
			return account.Name{}, err
		}
		a.answer = append([]byte(nil), b...)
	}
	if wants == mysqlproto.CachingSHA2 {
		return l.door(a, l.sha2)
	}
	return l.door(a, l.native)
}

func (a *attempt) denied(password bool) *sqlerr.Error {
	using := "NO"
	if password {
		using = "YES"
	}
	return sqlerr.New(sqlerr.AccessDenied, "Access denied for user '%s'@'%s' (using password: %s)", a.user,
		a.from.Host, using)
}

// admit is the end of a login with a password that was right or wrong.
func (l *login) admit(a *attempt, u *mysql_db.User, right, gave bool) (account.Name, error) {
	if u == nil || !right || !a.c.secure(u) {
		return account.Name{}, a.denied(gave)
	}
	if u.Locked {
		return account.Name{}, sqlerr.New(sqlerr.AccountLocked,
			"Access denied for user '%s'@'%s'. Account is locked.", a.user, a.from.Host)
	}
	if builtIn(u) && u.AuthString == "" {
		if err := l.srv.opts.OwnPeer(a.c.gate.Conn); err != nil {
			return account.Name{}, sqlerr.New(sqlerr.AccessDeniedNoPassword,
				"Access denied for user '%s'@'%s': as long as it has no password, "+
					"only the operating system's user who runs the server, and its root, get in "+
					"(%v). As that "+
					"user, log in and give it one: "+
					"ALTER USER root@localhost IDENTIFIED BY '...'", a.user, a.from.Host, err)
		}
	}
	return account.Name{User: u.User, Host: u.Host}, nil
}

// builtIn says whether an account is the one that a new server begins with, which nobody has had the
// chance to give a password. Accounts that an administrator made without one are open to everybody, as in
// MySQL: he has said so. The name decides, not a mark, so that servers of older releases are as closed as
// new ones.
func builtIn(u *mysql_db.User) bool {
	return u.User == "root" && strings.EqualFold(u.Host, "localhost")
}

// native is mysql_native_password.
func (l *login) native(a *attempt) (account.Name, error) {
	if !l.accounts.Enabled() {
		return account.Name{User: a.user, Host: a.from.Host}, nil
	}
	u := l.accounts.Find(a.user, a.from)
	right := false
	switch {
	case u == nil || u.Plugin != mysqlproto.NativePassword:
	case u.AuthString == "":
		right = len(a.answer) == 0
	default:
		stored, err := account.NativeHash(u.AuthString)
		right = err == nil && mysqlproto.VerifyNative(a.answer, a.salt, stored)
	}
	return l.admit(a, u, right, len(a.answer) > 0)
}

// verify compares a password with what is stored of it, and remembers one that is right. It takes as long
// if nothing is stored: how long a refusal takes does not tell whether there is such an account.
func (l *login) verify(stored, password string) bool {
	if !account.VerifySHA2(stored, password) {
		return false
	}
	if stored == "" {
		return true
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

// private reports whether nobody between client and server can listen.
func (c *Connection) private() bool {
	_, unix := c.gate.Conn.(*net.UnixConn)
	return unix || c.tls != nil
}

// secure reports whether the connection is what REQUIRE asks for.
func (c *Connection) secure(u *mysql_db.User) bool {
	switch {
	case u.SslType == "":
		return true
	case u.SslType == "ANY":
		return c.private()
	case c.tls == nil:
		return false
	case u.SslType == "X509":
		return len(c.tls.PeerCertificates) > 0
	}
	if u.SslCipher != "" && tls.CipherSuiteName(c.tls.CipherSuite) != u.SslCipher {
		return false
	}
	if u.X509Issuer == "" && u.X509Subject == "" {
		return true
	}
	certs := c.tls.PeerCertificates
	if len(certs) == 0 {
		return false
	}
	return (u.X509Issuer == "" || account.DistinguishedName(certs[0].Issuer) == u.X509Issuer) &&
		(u.X509Subject == "" || account.DistinguishedName(certs[0].Subject) == u.X509Subject)
}

// expiring is a session that may do nothing before its password is changed.
type expiring interface {
	MustChangePassword() bool
	SetMustChangePassword()
}

// settleAccount applies to a connection what its account is subject to besides its password.
func (c *Connection) settleAccount() error {
	u := c.srv.opts.Accounts.Account(c.who)
	if u == nil {
		return nil
	}
	if err := c.countConnections(u); err != nil {
		return err
	}
	if account.Expired(u, time.Now()) {
		s, ok := c.session.(expiring)
		if !ok || !c.has(mysqlproto.ClientExpiredPasswords) {
			return sqlerr.New(sqlerr.MustChangeToLogIn,
				"Your password has expired. To log in you must change it using a client that supports "+
					"expired passwords.")
		}
		s.SetMustChangePassword()
	}
	return nil
}

// countConnections refuses a connection that is one too many for its account.
func (c *Connection) countConnections(u *mysql_db.User) error {
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
		return sqlerr.New(sqlerr.UserLimit, "User '%s' has exceeded the '%s' resource (current value: %d)",
			u.User, "max_user_connections", limit)
	case limit <= 0 && all > 0 && n > all:
		return sqlerr.New(sqlerr.TooManyUserConnections,
			"User %s already has more than 'max_user_connections' active connections", u.User)
	}
	return nil
}

// mustChange refuses a statement of a session whose password has expired, unless it changes that.
func (c *Connection) mustChange(query string) error {
	if s, ok := c.session.(expiring); ok && s.MustChangePassword() && !parse.ChangesPassword(query) {
		return sqlerr.New(sqlerr.MustChangePassword,
			"You must reset your password using ALTER USER statement before executing this statement.")
	}
	return nil
}
