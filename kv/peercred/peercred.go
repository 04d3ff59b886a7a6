// Package peercred says which user of the operating system is at the other end of a connection from this machine.
//
// A unix socket's peer is told by the kernel (SO_PEERCRED). The peer of a TCP connection within this machine is a socket of
// this machine, too: on Linux the kernel tells its owner (sock_diag), or it stands in /proc/net/tcp or
// tcp6, where PostgreSQL's ident method has a daemon look. So a server can know its owner over loopback
// without a password, and nobody can pretend to be him without being able to open sockets in his name.
package peercred

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
)

// ErrUnknown says that the operating system does not tell who the peer is: it is on another machine, it has closed its
// socket already, or this is not Linux.
var ErrUnknown = errors.New("the user at the other end of the connection is not known")

// ErrForeign says that the peer is another user of this machine.
var ErrForeign = errors.New("the connection is another user's")

// UID is the user that has the socket at the other end of a connection.
func UID(c net.Conn) (uint32, error) {
	if u, ok := c.(*net.UnixConn); ok {
		return unixPeer(u)
	}
	peer, own := addrPort(c.RemoteAddr()), addrPort(c.LocalAddr())
	if !peer.IsValid() || !own.IsValid() || !peer.Addr().IsLoopback() || !own.Addr().IsLoopback() {
		return 0, fmt.Errorf("%w: %v is not on this machine's loopback interface", ErrUnknown, c.RemoteAddr())
	}
	return loopbackPeer(peer, own)
}

// Own returns nil for a connection to a process of the user who runs this one, or of the system's root, who could take over
// this process anyway. Otherwise it returns ErrForeign or ErrUnknown.
func Own(c net.Conn) error {
	uid, err := UID(c)
	if err != nil {
		return err
	}
	return own(uid, os.Geteuid())
}

func own(peer uint32, us int) error {
	if peer == 0 || int64(peer) == int64(us) {
		return nil
	}
	return fmt.Errorf("%w: it comes from user id %d, and this process is run by user id %d", ErrForeign, peer, us)
}

func addrPort(a net.Addr) netip.AddrPort {
	t, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := t.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}
