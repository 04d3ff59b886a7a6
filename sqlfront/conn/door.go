package conn

import (
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv/peercred"
	"moka/sqlfront/account"
	"moka/sqlfront/sqlerr"
)

// door is a login by a plugin, with what holds for all of them: the transport is what
// require_secure_transport asks for, who guessed wrong before waits, and failures are counted and logged.
func (l *login) door(a *attempt, plugin func(*attempt) (account.Name, error)) (account.Name, error) {
	if secureTransport() && !a.c.private() {
		l.failed(a, "insecure transport")
		return account.Name{}, sqlerr.New(sqlerr.SecureTransport,
			"Connections using insecure transport are prohibited while --require_secure_transport=ON.")
	}
	if !l.delays.empty() {
		ok, waited := l.delays.await(l.place(a), l.srv.done)
		if waited {
			l.srv.counts.delayed.Add(1)
		}
		if !ok {
			l.failed(a, "too many logins at a time after wrong passwords")
			return account.Name{}, sqlerr.New(sqlerr.AccessDenied,
				"Access denied for user '%s'@'%s': too many logins at a time after wrong passwords; "+
					"try again in %v", a.user, a.from.Host, maxDelay)
		}
	}
	who, err := plugin(a)
	if err != nil {
		l.failed(a, err.Error())
		var e *sqlerr.Error
		if errors.As(err, &e) &&
			e.Num == sqlerr.AccessDenied { // and not a client that has gone, or an account that is locked
			l.delays.wrong(l.place(a))
		}
		return account.Name{}, err
	}
	if !l.delays.empty() {
		l.delays.right(l.place(a))
	}
	return who, nil
}

// place is where a login comes from and whose it is. It is asked for only while somebody guesses.
func (l *login) place(a *attempt) string {
	where := a.from.Host
	if uid, err := peercred.UID(a.c.gate.Conn); err == nil {
		where = fmt.Sprintf("user id %d", uid)
	}
	return where + "\x00" + a.user[:min(len(a.user), 64)]
}

// failed counts a login that failed and tells the operator, who hears of a flood of them no more than once
// a second.
func (l *login) failed(a *attempt, why string) {
	l.srv.counts.failedLogins.Add(1)
	sql.StatusVariables.IncrementGlobal("Aborted_connects", 1)
	if unsaid, ok := l.failures.may(); ok {
		l.srv.log.Warn("login failed", "user", a.user[:min(len(a.user), 64)], "from",
			a.c.RemoteAddr().String(), "err", why, "failures not logged", unsaid)
	}
}

// secureTransport is require_secure_transport.
func secureTransport() bool {
	_, v, _ := sql.SystemVariables.GetGlobal("require_secure_transport")
	return v == int8(1)
}
