package peercred

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// TestTable reads tables as the kernel writes them.
func TestTable(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	peer, us := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:3306")
	a, b := socketName(peer, false), socketName(us, false)
	row := func(local, remote, state, uid, inode string) string {
		return "   1: " + local + " " + remote + " " + state + " 00000000:00000000 00:00000000 00000000 " + uid + "        0 " + inode + " 1 0 100 0 0 10 0\n"
	}
	for _, c := range []struct {
		what, table string
		uid         uint32
		found       bool
	}{
		{"the socket", row(a, b, "01", "1000", "17"), 1000, true},
		{"ours comes first", row(b, a, "01", "7", "16") + row(a, b, "01", "1000", "17"), 1000, true},
		{"only ours", row(b, a, "01", "7", "16"), 0, false},
		{"another port", row(a+"1", b, "01", "7", "16"), 0, false},
		{"closed by its process", row(a, b, "01", "0", "0"), 0, false},
		{"TIME_WAIT", row(a, b, "06", "0", "0"), 0, false},
		{"FIN_WAIT2", row(a, b, "05", "0", "9"), 0, false},
		{"nothing", "", 0, false},
		{"a line cut short", "   1: " + a + " " + b + " 01\n", 0, false},
	} {
		uid, found, err := findOwner(strings.NewReader(head+c.table), a, b)
		if err != nil || uid != c.uid || found != c.found {
			t.Errorf("%s: %d %v %v, want %d %v", c.what, uid, found, err, c.uid, c.found)
		}
	}
	if _, _, err := findOwner(strings.NewReader(row(a, b, "01", "-1", "17")), a, b); err == nil {
		t.Error("a user id that is none was taken")
	}
}

// TestOwnerOrRoot is the decision.
func TestOwnerOrRoot(t *testing.T) {
	for _, c := range []struct {
		peer uint32
		us   int
		ok   bool
	}{{0, 1000, true}, {1000, 1000, true}, {1001, 1000, false}, {1001, 0, false}, {0, 0, true}, {4294967295, -1, false}} {
		if err := own(c.peer, c.us); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("user %d at a server of %d: %v", c.peer, c.us, err)
		}
	}
}
