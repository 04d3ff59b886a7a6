package account

import (
	"cmp"
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Origin is where a client comes from, as accounts name it.
type Origin struct {
	// Host is localhost over the unix socket and from this machine's own addresses 127.0.0.1 and ::1, else
	// the address: names are not looked up.
	Host string
	// address is that of a client over TCP: one from 127.0.0.1 has an account of either.
	address string
}

// From is the origin of a client's address.
func From(addr net.Addr) Origin {
	if addr == nil || addr.Network() == "unix" {
		return Origin{Host: local}
	}
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		host = addr.String()
	}
	o := Origin{Host: strings.ToLower(host), address: strings.ToLower(host)}
	if host == "127.0.0.1" || host == "::1" {
		o.Host = local
	}
	return o
}

const local = "localhost"

// Kinds of hosts in MySQL's order (ACL_compare), the least specific first. Within a kind, more bits of a
// mask, or a later first wildcard, say more.
const (
	anyHost   = iota << 16 // ''
	byPattern              // 10.1.%, and % last
	byName
	byMask    // 10.1.0.0/255.255.0.0
	byPrefix  // 10.1.0.0/16
	byAddress // 10.1.2.3
)

// Find is the account that a client of a user name gets, nil for none: the one whose host says most of where
// he comes from, and of two with one host the one that has his name. An anonymous account is everybody's.
// The order is complete: to which of two accounts somebody logs in is never chance. Where MySQL leaves it
// open, of two patterns whose first wildcards are at the same place, the longer comes first, then the one
// that sorts first.
func (d *Directory) Find(user string, from Origin) *mysql_db.User {
	s := d.now.Load()
	var best *mysql_db.User
	closest := -1
	for _, name := range []string{user, ""} {
		for _, u := range s.byUser[name] {
			n, ok := matchHost(u.Host, from)
			if !ok {
				continue
			}
			before := func() bool {
				return cmp.Or(len(best.Host)-len(u.Host), strings.Compare(u.Host, best.Host)) < 0
			}
			if n > closest || n == closest && u.User == best.User && before() {
				best, closest = u, n
			}
		}
	}
	return best
}

// matchHost reports whether an account of a host is for clients of an origin, and how specific the host is.
func matchHost(host string, from Origin) (specific int, ok bool) {
	switch p := strings.ToLower(host); {
	case p == "":
		return anyHost, true
	case p == from.address:
		if _, err := netip.ParseAddr(p); err == nil {
			return byAddress, true
		}
		return byName, true
	case p == from.Host:
		return byName, true
	case strings.Contains(p, "/"):
		return matchMask(p, from.address)
	case !strings.ContainsAny(p, "%_"):
		return 0, false
	case like(p, from.Host) || from.address != "" && like(p, from.address):
		return byPattern + strings.IndexAny(p, "%_"), true
	}
	return 0, false
}

// matchMask is matchHost of 10.1.0.0/255.255.0.0 and of 10.1.0.0/16.
func matchMask(host, address string) (int, bool) {
	base, mask, _ := strings.Cut(host, "/")
	b, err1 := netip.ParseAddr(base)
	a, err2 := netip.ParseAddr(address)
	if err1 != nil || err2 != nil || b.BitLen() != a.BitLen() {
		return 0, false
	}
	bits, kind := 0, byPrefix
	if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
		a := m.As4()
		ones, size := net.IPv4Mask(a[0], a[1], a[2], a[3]).Size()
		if size == 0 {
			return 0, false
		}
		bits, kind = ones, byMask
	} else {
		for _, c := range mask {
			if c < '0' || c > '9' || bits > 128 {
				return 0, false
			}
			bits = bits*10 + int(c-'0')
		}
	}
	prefix, err := b.Prefix(bits)
	if err != nil || !prefix.Contains(a) {
		return 0, false
	}
	return kind + bits, true
}

// like matches % and _ in a pattern of bytes.
func like(pattern, s string) bool {
	for pattern != "" {
		if pattern[0] == '%' {
			for pattern = strings.TrimLeft(pattern, "%"); ; s = s[1:] {
				if like(pattern, s) {
					return true
				}
				if s == "" {
					return false
				}
			}
		}
		if s == "" || pattern[0] != '_' && pattern[0] != s[0] {
			return false
		}
		pattern, s = pattern[1:], s[1:]
	}
	return s == ""
}

// DistinguishedName writes a name of a certificate as MySQL does: /C=…/O=…/CN=….
func DistinguishedName(n pkix.Name) string {
	var b strings.Builder
	parts := strings.Split(n.String(), ",")
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString("/" + parts[i])
	}
	return b.String()
}

// Expired reports whether an account has to change its password before it may do anything else.
func Expired(u *mysql_db.User, now time.Time) bool {
	x := extraOf(u)
	days := int64(0)
	if x.Lifetime != nil {
		days = int64(*x.Lifetime)
	} else if _, v, ok := sql.SystemVariables.GetGlobal("default_password_lifetime"); ok {
		switch n := v.(type) {
		case int64:
			days = n
		case uint64:
			days = int64(n)
		}
	}
	return x.Expired || days > 0 && now.Sub(u.PasswordLastChanged) > time.Duration(days)*24*time.Hour
}

// Connections is how many connections an account may have, 0 for as many as the server has for one.
func Connections(u *mysql_db.User) int64 { return extraOf(u).Connections }
