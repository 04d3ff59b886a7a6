package account

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// defaultPlugin is how passwords are kept unless a statement says otherwise: salted, and slow to try out. Old
// drivers may need IDENTIFIED WITH mysql_native_password.
const defaultPlugin = string(mysql.CachingSha2Password)

// maxPassword is how many bytes a password of caching_sha2_password has at most, as in MySQL: its hash takes
// time and memory by the square of them.
const maxPassword = 256

// secret is by what an account is to be identified, as it is stored.
type secret struct {
	plugin, text string
	shown        sql.Row // of a password that was made up
}

// give makes it the account's.
func (s secret) give(u *mysql_db.User) {
	u.Plugin, u.AuthString, u.Identity = s.plugin, s.text, ""
	u.PasswordLastChanged = time.Now().UTC()
	setExtraIf(u, func(x *extra) bool { was := x.Expired; x.Expired = false; return was })
}

// heard ends a statement that was killed or has taken too long.
func (r *run) heard() error {
	if r.ctx.Err() != nil {
		return sqlerr.From(context.Cause(r.ctx))
	}
	return nil
}

// secrets are those of a statement's accounts, made before the accounts are locked: every statement of
// everybody waits for that lock, and a hash takes some milliseconds. An account that is named twice is
// refused. of is the account as it is, nil for none: then there is no secret.
func (r *run) secrets(operation string, users []User,
	of func(Name) *mysql_db.User) (map[key]secret, error) {
	all, named := map[key]secret{}, map[key]bool{}
	for _, u := range users {
		n := r.name(u.Name)
		if named[n.key()] {
			return nil, failed(operation, []string{n.String()})
		}
		named[n.key()] = true
	}
	for _, u := range users {
		if err := r.heard(); err != nil {
			return nil, err
		}
		n := r.name(u.Name)
		now := of(n)
		if now == nil {
			continue
		}
		s := secret{plugin: now.Plugin, text: now.AuthString}
		if u.Auth != nil {
			var err error
			if s, err = secretOf(now, *u.Auth, n, operation); err != nil {
				return nil, err
			}
		}
		all[n.key()] = s
	}
	return all, nil
}

// secretOf makes what is stored of a password, or looks at what is to be stored.
func secretOf(u *mysql_db.User, a Auth, n Name, operation string) (secret, error) {
	plugin := a.Plugin
	if plugin == "" {
		if plugin = u.Plugin; u.AuthString == "" {
			plugin = defaultPlugin // the first password of an account, which may be older than this default
		}
	}
	s := secret{plugin: strings.ToLower(plugin)}
	if a.Random {
		var b [15]byte
		if _, err := rand.Read(b[:]); err != nil {
			return s, err
		}
		a.Password = hex.EncodeToString(b[:])[:20]
		s.shown = sql.Row{n.User, n.Host, a.Password, int64(1)}
	}
	if a.Hash == nil {
		if s.plugin == defaultPlugin && len(a.Password) > maxPassword {
			return s, sqlerr.New(sqlerr.CannotUser,
				"Operation %s failed for %s: a password has %d bytes at most", operation, n, maxPassword)
		}
		if err := checkPassword(a.Password, n); err != nil {
			return s, err
		}
	}
	var err error
	switch s.plugin {
	case string(mysql.MysqlNativePassword):
		if a.Hash == nil {
			s.text, err = plan.AuthenticationMysqlNativePassword(a.Password).AuthString()
			return s, err
		}
		if s.text = *a.Hash; s.text != "" {
			if b, err := hex.DecodeString(strings.TrimPrefix(s.text, "*")); err != nil || len(b) != 20 ||
				s.text[0] != '*' {
				return s, sqlerr.New(passwordFormat, "Password hash should be a 41-digit hexadecimal number")
			}
		}
	case string(mysql.CachingSha2Password):
		if a.Hash == nil {
			s.text, err = plan.NewCachingSha2PasswordAuthentication(a.Password).AuthString()
			return s, err
		}
		if s.text = *a.Hash; s.text != "" {
			if _, _, _, _, err := mysql.DeserializeCachingSha2PasswordAuthString([]byte(s.text)); err != nil {
				return s, sqlerr.New(1827, "The password hash doesn't have the expected format.")
			}
		}
	default:
		return s, sqlerr.New(pluginNotLoaded, "Plugin '%s' is not loaded", plugin)
	}
	return s, nil
}
