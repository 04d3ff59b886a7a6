package account

import (
	"crypto/x509/pkix"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// Host is where a client is, as accounts name it.
func Host(addr net.Addr) string {
	if addr == nil || addr.Network() == "unix" {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(addr.String())
	if err != nil {
		host = addr.String()
	}
	if host == "127.0.0.1" || host == "::1" {
		return "localhost"
	}
	return host
}

// matchHost reports whether an account of a host pattern is for clients of a host, and how closely it names it: higher is closer. MySQL
// sorts accounts by their hosts' literal names first, addresses with a mask next, then patterns by where their first wildcard is.
func matchHost(pattern, host string) (close int, ok bool) {
	const exact = 1 << 20
	p := strings.ToLower(pattern)
	h := strings.ToLower(host)
	switch {
	case p == h, h == "localhost" && (p == "127.0.0.1" || p == "::1"):
		return exact, true
	case p == "" || p == "%":
		return 0, true
	}
	if base, mask, found := strings.Cut(p, "/"); found {
		return maskClose(base, mask, h)
	}
	if !strings.ContainsAny(p, "%_") {
		return 0, false
	}
	if like(p, h) || h == "localhost" && (like(p, "127.0.0.1") || like(p, "::1")) {
		return 1 + strings.IndexAny(p, "%_"), true
	}
	return 0, false
}

// maskClose is matchHost of 10.1.0.0/255.255.0.0 and of 10.1.0.0/16.
func maskClose(base, mask, host string) (int, bool) {
	const masked = 1 << 16
	if host == "localhost" {
		host = "127.0.0.1"
	}
	b, err1 := netip.ParseAddr(base)
	h, err2 := netip.ParseAddr(host)
	if err1 != nil || err2 != nil || b.BitLen() != h.BitLen() {
		return 0, false
	}
	bits := 0
	if m, err := netip.ParseAddr(mask); err == nil && m.Is4() {
		a := m.As4()
		ones, size := net.IPv4Mask(a[0], a[1], a[2], a[3]).Size()
		if size == 0 {
			return 0, false
		}
		bits = ones
	} else {
		for _, c := range mask {
			if c < '0' || c > '9' || bits > 128 {
				return 0, false
			}
			bits = bits*10 + int(c-'0')
		}
	}
	prefix, err := b.Prefix(bits)
	if err != nil || !prefix.Contains(h) {
		return 0, false
	}
	return masked + bits, true
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
