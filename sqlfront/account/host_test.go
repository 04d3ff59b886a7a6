package account

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// TestFind: which of several accounts a client logs in to goes by MySQL's order of hosts, and never by the
// order in which they are kept: of x@localhost and x@'127.0.0.1' it was now the one, now the other.
func TestFind(t *testing.T) {
	// Each list is what a client of an address may log in to, the best first.
	for _, c := range []struct {
		from net.Addr
		best []Name
		none []string // hosts of no account of his
	}{
		{&net.TCPAddr{IP: net.ParseIP("127.0.0.1"), Port: 5}, []Name{
			{User: "x", Host: "127.0.0.1"}, {User: "", Host: "127.0.0.1"},
			{User: "x", Host: "127.0.0.0/30"}, {User: "x", Host: "127.0.0.0/8"},
			{User: "x", Host: "127.0.0.0/255.255.255.0"}, {User: "x", Host: "127.0.0.0/255.0.0.0"},
			{User: "x", Host: "LocalHost"}, {User: "", Host: "localhost"},
			{User: "x", Host: "127.0.0.%"}, {User: "x", Host: "127.0.%.%"}, {User: "x", Host: "127.0.%"},
			{User: "x", Host: "local%"}, {User: "x", Host: "l%t"}, {User: "x", Host: "l_%"},
			{User: "", Host: "l%"}, {User: "x", Host: "%"}, {User: "", Host: "%"},
			{User: "x", Host: ""}, {User: "", Host: ""},
		}, []string{"::1", "127.0.0.2", "127.0.0.0/33", "127.0.0.0/255.0.255.0", "::/0", "/", "10.%",
			"127.0.0.1%_"}},
		{&net.TCPAddr{IP: net.ParseIP("::1"), Port: 5}, []Name{
			{User: "x", Host: "::1"}, {User: "x", Host: "::/64"}, {User: "x", Host: "localhost"},
			{User: "x", Host: "::%"}, {User: "x", Host: "%"},
		}, []string{"127.0.0.1", "127.0.0.0/8", "127.%"}},
		{&net.UnixAddr{Name: "@", Net: "unix"}, []Name{
			{User: "x", Host: "localhost"}, {User: "x", Host: "local%"}, {User: "", Host: "l%"},
			{User: "x", Host: "%"},
		}, []string{"127.0.0.1", "::1", "127.0.0.0/8", "::/0", "127.%"}},
		{&net.TCPAddr{IP: net.ParseIP("10.1.2.3"), Port: 5}, []Name{
			{User: "x", Host: "10.1.2.3"}, {User: "x", Host: "10.1.0.0/16"}, {User: "x", Host: "10.1.2.%"},
			{User: "x", Host: "10.1.2._"}, {User: "x", Host: "10.%"}, {User: "", Host: "%"},
		}, []string{"localhost", "127.0.0.1", "l%"}},
	} {
		for _, host := range c.none {
			if u := directoryOf([]Name{{User: "x", Host: host}}).Find("x", From(c.from)); u != nil {
				t.Errorf("a client at %v logs in to x@%q", c.from, u.Host)
			}
		}
		for i := range c.best {
			list := append([]Name(nil), c.best[i:]...)
			for range 8 {
				rand.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
				if u := directoryOf(list).Find("x", From(c.from)); u == nil || nameOf(u) != c.best[i] {
					t.Errorf("a client at %v logs in to %v, want %v", c.from, u, c.best[i])
				}
			}
		}
	}
}

func directoryOf(list []Name) *Directory {
	d := New(mysql_db.CreateEmptyMySQLDb())
	s := &snapshot{byUser: map[string][]*mysql_db.User{}}
	for _, n := range list {
		s.byUser[n.User] = append(s.byUser[n.User], &mysql_db.User{User: n.User, Host: n.Host})
	}
	d.now.Store(s)
	return d
}
