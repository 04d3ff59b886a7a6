package conn

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"moka/sqlfront/mysqlproto"
	"net"
	"testing"
	"time"
)

// knock connects and reads the greeting.
func (r *rig) knock(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(head[0])); err != nil {
		t.Fatal(err)
	}
	return c
}

// wantHungUp waits for the end of a connection, which comes before the time for a login is over: that is
// an hour here.
func wantHungUp(t *testing.T, what string, c net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, c); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Errorf("%s: the connection is still open", what)
		}
	}
}

// TestPacketsBeforeLoginAreShort: nobody who has not logged in has the server make room for more than 64
// KiB (S5).
func TestPacketsBeforeLoginAreShort(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ConnectTimeout, o.TLS = time.Hour, serverTLS(t) })
	for _, head := range [][]byte{{0xfe, 0xff, 0xff, 1}, {0xff, 0xff, 0xff, 1}, {1, 0, 1, 1}} {
		c := r.knock(t)
		if _, err := c.Write(head); err != nil {
			t.Fatal(err)
		}
		wantHungUp(t, "a long packet", c)
	}
	// After a login packet that asks for another method of authentication.
	login := binary.LittleEndian.AppendUint32(nil,
		mysqlproto.ClientProtocol41|mysqlproto.ClientSecureConnection|mysqlproto.ClientPluginAuth)
	login = append(append(login, 0, 0, 0, 1, 255), make([]byte, 23)...)
	login = append(login, "root\x00\x00dialog\x00"...)
	c := r.knock(t)
	_, _ = c.Write(append([]byte{byte(len(login)), 0, 0, 1}, login...))
	_, _ = c.Write([]byte{0xfe, 0xff, 0xff, 3})
	wantHungUp(t, "a long answer", c)

	// Within TLS.
	c = r.knock(t)
	request := binary.LittleEndian.AppendUint32(nil, mysqlproto.ClientProtocol41|mysqlproto.ClientSSL)
	request = append(request, make([]byte, 28)...)
	if _, err := c.Write(append([]byte{32, 0, 0, 1}, request...)); err != nil {
		t.Fatal(err)
	}
	within := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	if _, err := within.Write([]byte{0xfe, 0xff, 0xff, 2, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	wantHungUp(t, "a long packet in TLS", within)

	// What is as long as it may be gets an answer.
	c = r.knock(t)
	login = append(login[:len(login)-len("dialog\x00")], "mysql_native_password\x00"...)
	login = append(login, make([]byte, maxLogin-len(login))...)
	_, _ = c.Write(append([]byte{0, 0, 1, 1}, login...))
	var head [5]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[4] != mysqlproto.HeaderOK {
		t.Errorf("a login of 64 KiB: %v, %v", head, err)
	}
}

// TestMostLogins: those who have not logged in are no more than there are files for, however large
// max_connections is: together with those who have they could take more than there are.
func TestMostLogins(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ConnectTimeout, o.MostLogins = time.Hour, 5 })
	first := r.knock(t)
	for range 5 {
		r.knock(t)
	}
	wantHungUp(t, "the first of six", first)
	exec(t, r.conn(), "do 1")
}
