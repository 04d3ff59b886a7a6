package peercred

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
)

func unixPeer(c *net.UnixConn) (uint32, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var cred *syscall.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if failed != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, failed)
	}
	return cred.Uid, nil
}

// loopbackPeer looks for the peer's socket, whose own end is the peer's address and whose remote end is ours. A client may
// have an IPv6 socket for an IPv4 address, as Java's do. A kernel that does not answer for one socket, or
// may not (in some containers), has the table of all.
func loopbackPeer(peer, own netip.AddrPort) (uint32, error) {
	uid, found, err := askKernel(peer, own)
	switch {
	case err != nil:
		return askTable(peer, own)
	case !found:
		return 0, noSocket(peer)
	}
	return uid, nil
}

// askTable looks into the table of all sockets.
func askTable(peer, own netip.AddrPort) (uint32, error) {
	tables := []string{"/proc/net/tcp6"}
	if peer.Addr().Is4() {
		tables = []string{"/proc/net/tcp", "/proc/net/tcp6"}
	}
	for _, name := range tables {
		v6 := name == "/proc/net/tcp6"
		f, err := os.Open(name)
		if os.IsNotExist(err) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
		uid, found, err := findOwner(f, socketName(peer, v6), socketName(own, v6))
		_ = f.Close()
		switch {
		case err != nil:
			return 0, fmt.Errorf("%w: %s: %w", ErrUnknown, name, err)
		case found:
			return uid, nil
		}
	}
	return 0, noSocket(peer)
}

func noSocket(peer netip.AddrPort) error {
	return fmt.Errorf("%w: no open socket of this machine has the address %v", ErrUnknown, peer)
}
