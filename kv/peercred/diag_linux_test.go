package peercred

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
)

// TestDiagAnswer: only the established socket with both ends that belongs to an open file counts.
func TestDiagAnswer(t *testing.T) {
	peer, us := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:3306")
	answer := func(change func(b []byte)) []byte {
		b := make([]byte, diagAnswer)
		binary.NativeEndian.PutUint16(b[4:], sockDiagByFamily)
		r := b[netlinkHead:]
		r[0], r[1] = syscall.AF_INET, tcpEstablished
		copy(r[4:], diagQuestion(peer, us)[netlinkHead+8:])
		binary.NativeEndian.PutUint32(r[64:], 1000)
		binary.NativeEndian.PutUint32(r[68:], 17)
		change(r)
		return b
	}
	mapped := netip.AddrFrom16(peer.Addr().As16()).As16()
	for _, c := range []struct {
		what   string
		change func(r []byte)
		found  bool
	}{
		{"the socket", func([]byte) {}, true},
		{"one for both families", func(r []byte) {
			r[0] = syscall.AF_INET6
			copy(r[8:], mapped[:])
			copy(r[24:], mapped[:])
		}, true},
		{"a listener", func(r []byte) { r[1] = 10; clear(r[6:8]); clear(r[24:40]) }, false},
		{"another port", func(r []byte) { r[5]++ }, false},
		{"another address", func(r []byte) { r[8]++ }, false},
		{"another remote port", func(r []byte) { r[7]++ }, false},
		{"another remote address", func(r []byte) { r[24]++ }, false},
		{"FIN_WAIT2", func(r []byte) { r[1] = 5 }, false},
		{"closed by its process", func(r []byte) { clear(r[68:72]) }, false},
	} {
		uid, found, err := diagOwner(answer(c.change), peer, us)
		if err != nil || found != c.found || found && uid != 1000 {
			t.Errorf("%s: %d %v %v, want %v", c.what, uid, found, err, c.found)
		}
	}
	refused := make([]byte, netlinkHead+4)
	binary.NativeEndian.PutUint16(refused[4:], syscall.NLMSG_ERROR)
	none := -int32(syscall.ENOENT)
	binary.NativeEndian.PutUint32(refused[netlinkHead:], uint32(none))
	if _, found, err := diagOwner(refused, peer, us); found || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("an error: %v %v", found, err)
	}
	for n := range diagAnswer {
		if _, found, err := diagOwner(answer(func([]byte) {})[:n], peer, us); found || err == nil {
			t.Errorf("%d bytes of an answer were taken for one", n)
		}
	}
}

// TestKernelAndTableAgree: both ways of asking know the same owner.
func TestKernelAndTableAgree(t *testing.T) {
	for name, l := range listeners(t) {
		if name == "unix" {
			continue
		}
		client, err := net.Dial(target(l))
		if err != nil {
			t.Fatal(name, err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatal(name, err)
		}
		defer server.Close()
		for _, c := range []net.Conn{server, client} {
			peer, own := addrPort(c.RemoteAddr()), addrPort(c.LocalAddr())
			table, err := askTable(peer, own)
			if err != nil || table != uint32(os.Geteuid()) {
				t.Errorf("%s: the table: %d, %v", name, table, err)
			}
			uid, found, err := askKernel(peer, own)
			if err != nil {
				t.Logf("%s: this kernel does not answer: %v", name, err)
			} else if !found || uid != table {
				t.Errorf("%s: the kernel: %d, %v", name, uid, found)
			}
		}
	}
}
