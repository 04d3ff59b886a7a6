//go:build !linux && !darwin

package peercred

import (
	"fmt"
	"net"
	"net/netip"
)

func unixPeer(*net.UnixConn) (uint32, error) {
	return 0, fmt.Errorf("%w on this operating system", ErrUnknown)
}

func loopbackPeer(netip.AddrPort, netip.AddrPort) (uint32, error) {
	return 0, fmt.Errorf("%w on this operating system", ErrUnknown)
}
