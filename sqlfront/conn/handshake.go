package conn

import (
	"context"
	"crypto/tls"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/account"
	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// offered are the capabilities that every client may have.
const offered = mysqlproto.ClientLongPassword | mysqlproto.ClientFoundRows | mysqlproto.ClientLongFlag |
	mysqlproto.ClientConnectWithDB | mysqlproto.ClientCompress | mysqlproto.ClientLocalFiles |
	mysqlproto.ClientProtocol41 | mysqlproto.ClientTransactions | mysqlproto.ClientSecureConnection |
	mysqlproto.ClientMultiStatements | mysqlproto.ClientMultiResults | mysqlproto.ClientPSMultiResults |
	mysqlproto.ClientPluginAuth | mysqlproto.ClientConnectAttrs | mysqlproto.ClientPluginAuthLenenc |
	mysqlproto.ClientExpiredPasswords | mysqlproto.ClientSessionTrack | mysqlproto.ClientDeprecateEOF |
	mysqlproto.ClientZstd | mysqlproto.ClientQueryAttributes

// greetingCharset is utf8mb3's default collation, which every client knows.
const greetingCharset = 33

// What a client may make the server hold before it has logged in is little: nobody has said who he is.
const (
	// maxLogin is how long a packet may be before the login.
	maxLogin = 64 << 10
	// maxLoginBytes is how long all of them may be together, with what TLS adds.
	maxLoginBytes = 4 * maxLogin
	// maxLoginPacket bounds what a client may send for a password.
	maxLoginPacket = 1024
)

// handshake is all that comes before the first command. false means that the client is not let in, and has
// been told why if it is able to hear that.
func (c *Connection) handshake() bool {
	salt, err := mysqlproto.NewSalt()
	if err != nil {
		return c.aborted(err)
	}
	g := mysqlproto.Greeting{
		Version: c.srv.opts.Version, ConnectionID: c.id, Salt: salt, Capabilities: c.srv.capabilities(),
		Charset: greetingCharset,
		Status:  c.status, Plugin: mysqlproto.NativePassword,
	}
	if err := c.say(g.Append(nil)); err != nil {
		return false
	}
	l, err := c.readLogin()
	if err != nil {
		return c.aborted(err)
	}
	c.capabilities = l.Capabilities & c.srv.capabilities()
	c.charset, c.user = sql.CollationID(l.Charset), l.User
	if err := c.logIn(l, salt); err != nil {
		c.srv.counts.aborted.Add(1)
		c.srv.counts.failed(err.Num)
		_ = c.say(mysqlproto.AppendError(nil, uint16(err.Num), err.State, err.Message))
		return false
	}
	if err := c.say((&mysqlproto.OK{Status: c.status, Changes: c.changes()}).Append(nil,
		c.capabilities)); err != nil {
		return false
	}
	if err := c.compress(); err != nil {
		return c.aborted(err)
	}
	return true
}

func (s *Server) capabilities() uint32 {
	if s.opts.TLS != nil {
		return offered | mysqlproto.ClientSSL
	}
	return offered
}

// aborted counts a client that did not get as far as a password. It is told what it can understand.
func (c *Connection) aborted(err error) bool {
	c.srv.counts.aborted.Add(1)
	sql.StatusVariables.IncrementGlobal("Aborted_connects", 1)
	if err == mysqlproto.ErrMalformed {
		e := sqlerr.New(sqlerr.HandshakeFailed, "Bad handshake")
		_ = c.say(mysqlproto.AppendError(nil, uint16(e.Num), e.State, e.Message))
	}
	if err != io.EOF {
		c.srv.log.Debug("login broken off", "connection", c.id, "err", err)
	}
	return false
}

// readLogin reads the client's answer to the greeting, and sets up TLS before it if the client wants that.
func (c *Connection) readLogin() (*mysqlproto.Login, error) {
	b, err := c.in.Next(maxLogin)
	if err != nil {
		return nil, err
	}
	if _, wants := mysqlproto.ParseTLSRequest(b); wants && c.srv.opts.TLS != nil {
		if err := c.startTLS(); err != nil {
			return nil, err
		}
		if b, err = c.in.Next(maxLogin); err != nil {
			return nil, err
		}
	}
	return mysqlproto.ParseLogin(b)
}

// early is a socket of which some bytes have been read already: a client need not wait before it begins
// with TLS.
type early struct {
	socket
	r io.Reader
}

// Read implements net.Conn.
func (e early) Read(b []byte) (int, error) { return e.r.Read(b) }

func (c *Connection) startTLS() error {
	t := tls.Server(early{socket{c.gate, c}, c.in.Source()}, c.srv.opts.TLS)
	if err := t.HandshakeContext(context.Background()); err != nil { // the gate's timer ends it
		return err
	}
	state := t.ConnectionState()
	c.tls = &state
	c.in.Replace(t)
	c.out.Reset(t)
	return nil
}

// compress puts frames around packets, if both sides want that.
func (c *Connection) compress() error {
	if !c.has(mysqlproto.ClientCompress) && !c.has(mysqlproto.ClientZstd) {
		return nil
	}
	frames, err := mysqlproto.NewCompressed(struct {
		io.Reader
		io.Writer
	}{c.in.Source(), c.out.Destination()}, !c.has(mysqlproto.ClientCompress))
	if err != nil {
		return err
	}
	c.frames = frames
	c.in.Compress(frames)
	c.out.Reset(frames)
	return nil
}

// logIn looks at the password and whatever else an account is subject to, and makes the session.
func (c *Connection) logIn(l *mysqlproto.Login, salt []byte) *sqlerr.Error {
	who, err := c.srv.auth.exchange(c, l.User, l.Plugin, l.Answer, salt)
	if err == nil {
		c.who = who
		err = c.guard("login", func() error {
			if err := c.openSession(); err != nil {
				return err
			}
			c.srv.opts.Engine.ProcessList.ConnectionReady(c.session)
			return c.authenticated()
		})
	}
	if err == nil && l.Database != "" {
		err = c.initDB(l.Database)
	}
	if err != nil {
		return c.final(err, "")
	}
	return nil
}

// authenticated applies to a connection what its account is subject to.
func (c *Connection) authenticated() error {
	if err := c.settleAccount(); err != nil {
		return err
	}
	c.gate.loggedIn.Store(true)
	c.gate.timer.Stop()
	if !c.gate.gate.take(c.gate, c.administersConnections()) {
		return sqlerr.TooManyConns()
	}
	c.applyCharacterSet()
	return nil
}

// administersConnections reports whether the account has SUPER or CONNECTION_ADMIN.
func (c *Connection) administersConnections() bool {
	accounts := c.srv.opts.Accounts
	name := account.Name{User: c.who.User, Host: c.who.Host}
	set, ok := accounts.Effective(name, accounts.Defaults(name))
	return ok && (set.Has(sql.PrivilegeType_Super) || set.HasDynamic("connection_admin"))
}

// changeUser is COM_CHANGE_USER: a login on a connection that has one. The answer to the greeting's salt
// is not looked at; the client is given a new one, for the plugin of the account.
func (c *Connection) changeUser(arg []byte) *sqlerr.Error {
	u, err := mysqlproto.ParseChangeUser(arg, c.capabilities)
	if err != nil {
		return malformed()
	}
	c.srv.greet()
	if err := c.expect(c.srv.opts.ConnectTimeout); err != nil {
		return asSQLError(err)
	}
	who, err := c.srv.auth.exchange(c, u.User, "", nil, nil)
	if err != nil {
		return c.final(err, "")
	}
	c.user, c.who = u.User, who
	if u.Charset != 0 {
		// Those beyond are utf8mb4 of a language, which a login cannot name.
		if c.charset = sql.CollationID(u.Charset); u.Charset > 255 {
			c.charset = 0
		}
	}
	c.session.SetCurrentDatabase("") // to which the new account may have no right
	if err := c.resetSession(); err != nil {
		return err
	}
	if u.Database != "" {
		if err := c.initDB(u.Database); err != nil {
			return c.final(err, "")
		}
	}
	return nil
}

// resetSession gives the client a session as new.
func (c *Connection) resetSession() *sqlerr.Error {
	c.unprepareAll()
	c.status, c.limits = mysqlproto.StatusAutocommit, nil
	if _, err := c.begin(context.Background()); err != nil {
		return c.final(err, "")
	}
	defer c.end()
	err := c.guard("reset", func() error {
		db := c.session.GetCurrentDatabase()
		c.releaseLocks()
		c.srv.opts.Engine.CloseSession(c.id)
		if err := c.openSession(); err != nil {
			return err
		}
		if err := c.useDatabase(context.Background(), db); err != nil {
			return err
		}
		c.applyCharacterSet()
		c.limits = nil
		return c.settleAccount() // which may be another now, and whose password has not been changed by this
	})
	if err != nil {
		return c.final(err, "")
	}
	return nil
}
