package account

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
)

// Plugin is by what a client of a user name and an origin has to show its password: its account's method. For
// one without an account it is one of the two as well, or a client could tell which accounts there are from
// the methods that it is asked for: always the same for a name, and as often either as accounts have it.
// Which it is depends on what is stored of root's password, so that nobody can work it out.
func (d *Directory) Plugin(user string, from Origin) string {
	if u := d.Find(user, from); u != nil {
		switch u.Plugin {
		case string(mysql.MysqlNativePassword), string(mysql.CachingSha2Password):
			return u.Plugin
		}
	}
	s := d.now.Load()
	h := sha256.New()
	if root := s.users[Name{User: "root", Host: "localhost"}.key()]; root != nil {
		h.Write([]byte(root.AuthString))
	}
	h.Write([]byte{0})
	h.Write([]byte(user))
	if float64(binary.BigEndian.Uint32(h.Sum(nil))) < s.native*math.MaxUint32 {
		return string(mysql.MysqlNativePassword)
	}
	return string(mysql.CachingSha2Password)
}

// nativeShare is how many of the accounts have mysql_native_password, from 0 to 1. Everybody knows that there is root@localhost, and roles have
// a method that they do not use.
func nativeShare(users map[key]*mysql_db.User) float64 {
	native, all := 0, 0
	for k, u := range users {
		if u.IsRole || k == (Name{User: "root", Host: "localhost"}.key()) {
			continue
		}
		if all++; u.Plugin == string(mysql.MysqlNativePassword) {
			native++
		}
	}
	return float64(native) / float64(max(all, 1))
}
