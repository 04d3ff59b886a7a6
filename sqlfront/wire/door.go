package wire

import (
	"errors"
	"fmt"
	"net"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/kv/peercred"
	"moka/sqlfront/account"
	"moka/sqlfront/sqlerr"
)

// door is a method of logging in with what holds for all of them: the transport is what require_secure_transport asks for, who
// guessed wrong before waits, and failures are counted and logged.
type door struct {
	mysql.AuthMethod
	login *login
}

// HandleAuthPluginData implements mysql.AuthMethod.
func (d door) HandleAuthPluginData(conn *mysql.Conn, user string, salt, answer []byte, addr net.Addr) (mysql.Getter, error) {
	l := d.login
	if secureTransport() && !private(conn) {
		l.failed(user, addr, "insecure transport")
		return nil, sqlerr.New(sqlerr.SecureTransport, "Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	if !l.delays.empty() {
		ok, waited := l.delays.await(l.place(conn, user, addr), l.srv.done)
		if waited {
			l.srv.counts.delayed.Add(1)
		}
		if !ok {
			l.failed(user, addr, "too many logins at a time after wrong passwords")
			return nil, sqlerr.New(sqlerr.AccessDenied, "Access denied for user '%s'@'%s': too many logins at a time after wrong passwords; try again in %v", user, account.Host(addr), maxDelay)
		}
	}
	getter, err := d.AuthMethod.HandleAuthPluginData(conn, user, salt, answer, addr)
	if err != nil {
		l.failed(user, addr, err.Error())
		var e *mysql.SQLError
		if errors.As(err, &e) && e.Num == sqlerr.AccessDenied { // and not a client that has gone, or an account that is locked
			l.delays.wrong(l.place(conn, user, addr))
		}
		return nil, err
	}
	if !l.delays.empty() {
		l.delays.right(l.place(conn, user, addr))
	}
	return getter, nil
}

// place is where a login comes from and whose it is. It is asked for only while somebody guesses.
func (l *login) place(conn *mysql.Conn, user string, addr net.Addr) string {
	where := account.Host(addr)
	if uid, err := peercred.UID(of(conn).peer()); err == nil {
		where = fmt.Sprintf("user id %d", uid)
	}
	return where + "\x00" + user[:min(len(user), 64)]
}

// failed counts a login that failed and tells the operator, who hears of a flood of them no more than once a second.
func (l *login) failed(user string, addr net.Addr, why string) {
	l.srv.counts.failedLogins.Add(1)
	sql.StatusVariables.IncrementGlobal("Aborted_connects", 1)
	if unsaid, ok := l.failures.may(); ok {
		l.srv.log.Warn("login failed", "user", user[:min(len(user), 64)], "from", addr.String(), "err", why, "failures not logged", unsaid)
	}
}

// secureTransport is require_secure_transport.
func secureTransport() bool {
	_, v, _ := sql.SystemVariables.GetGlobal("require_secure_transport")
	return v == int8(1)
}
