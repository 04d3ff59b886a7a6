package peercred

import (
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

func unixPeer(c *net.UnixConn) (uint32, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var cred *unix.Xucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if failed != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, failed)
	}
	return cred.Uid, nil
}

func loopbackPeer(netip.AddrPort, netip.AddrPort) (uint32, error) {
	return 0, fmt.Errorf("%w: this operating system does not say whose a TCP connection is; use a unix socket", ErrUnknown)
}
