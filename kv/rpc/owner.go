package rpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"

	"moka/kv/peercred"
)

// OwnerOnly are credentials for connections within this machine that need no certificates: each end asks the system whose the
// other end is, and goes on only with the user that runs it, or root. Others could do as they like with the data, since whoever
// speaks to a storage node is trusted.
func OwnerOnly() credentials.TransportCredentials { return ownerOnly{} }

type ownerOnly struct{}

type ownerInfo struct{ credentials.CommonAuthInfo }

// AuthType implements credentials.AuthInfo.
func (ownerInfo) AuthType() string { return "owner" }

func info() ownerInfo {
	return ownerInfo{credentials.CommonAuthInfo{SecurityLevel: credentials.NoSecurity}}
}

// ServerHandshake implements credentials.TransportCredentials.
func (ownerOnly) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	socket := c
	if dc, ok := c.(*doorConn); ok {
		socket = dc.Conn
	}
	if err := peercred.Own(socket); err != nil {
		return nil, nil, err
	}
	return c, info(), nil
}

// ClientHandshake implements credentials.TransportCredentials. A connection that the server has not taken up yet is nobody's, so that
// the question waits for its first bytes. gRPC sends no call before them.
func (ownerOnly) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return &ownedConn{Conn: c}, info(), nil
}

// Info implements credentials.TransportCredentials.
func (ownerOnly) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "owner"}
}

// Clone implements credentials.TransportCredentials.
func (o ownerOnly) Clone() credentials.TransportCredentials { return o }

// OverrideServerName implements credentials.TransportCredentials.
func (ownerOnly) OverrideServerName(string) error { return nil }

type ownedConn struct {
	net.Conn
	once sync.Once
	err  error
}

// Read implements net.Conn.
func (c *ownedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.once.Do(func() { c.err = peercred.Own(c.Conn) })
		if c.err != nil {
			_ = c.Conn.Close()
			return 0, c.err
		}
	}
	return n, err
}
