package rpc

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"moka/kv/rpc/nodecert"
)

// TestSilentStrangers: sockets that say nothing, or begin a handshake and do not end it, are dropped for
// those that come, those first whose address has the most, and nodes get in among them. There was no bound,
// and each had 120 seconds: two processes took all file descriptors, and the store ended for want of one.
func TestSilentStrangers(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(nodecert.CreateCA(dir+"/ca"), nodecert.CreateNode(dir+"/storage", dir+"/ca",
		nodecert.RoleStorage, []string{"127.0.0.1"})); err != nil {
		t.Fatal(err)
	}
	server, err := nodecert.Server(dir + "/storage")
	if err != nil {
		t.Fatal(err)
	}
	client, err := nodecert.Client(dir + "/storage")
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(t, echo, Options{Credentials: credentials.NewTLS(server)},
		Options{Credentials: credentials.NewTLS(client)})
	var from net.Dialer
	if runtime.GOOS == "linux" { // where all of 127/8 is here
		from.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}
	}
	const strangers, most = 400, 512 / 4
	hungUp := make(chan struct{}, strangers)
	for i := range strangers {
		c, err := from.Dial("tcp", l.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			_, _ = c.Write([]byte{0x16, 3, 1, 2, 0, 1}) // the beginning of a handshake
		}
		go func() {
			_, _ = io.Copy(io.Discard, c) // until the server hangs up
			hungUp <- struct{}{}
		}()
	}
	late := time.NewTimer(time.Minute) // half of what each had
	defer late.Stop()
	for n := range strangers - most {
		select {
		case <-hungUp:
		case <-late.C:
			t.Fatalf("%d of %d silent connections are still open", strangers-n, strangers)
		}
	}
	if got, err := l.call(t.Context(), readCmd, "x"); err != nil || got == "" {
		t.Errorf("a node among the silent: %q, %v", got, err)
	}
}

// hosts is a listener whose connections come from where they say.
type hosts struct {
	net.Listener
	next chan net.Conn
}

func (h hosts) Accept() (net.Conn, error) { return <-h.next, nil }

type hostConn struct {
	net.Conn
	host string
}

func (c hostConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.host), Port: 1} }

// TestDoor has connections come, be admitted and go, and looks at who is dropped.
func TestDoor(t *testing.T) {
	h := hosts{next: make(chan net.Conn, 1)}
	// 4 strangers, 12 admitted
	d := newDoor(h, Options{MaxConnections: 16, Logger: slog.New(slog.DiscardHandler)})
	come := func(host string) (*doorConn, net.Conn) {
		t.Helper()
		here, there := net.Pipe()
		t.Cleanup(func() { _ = there.Close() })
		h.next <- hostConn{here, host}
		c, err := d.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c.(*doorConn), there
	}
	gone := func(c *doorConn) bool {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_, err := c.Conn.Read(make([]byte, 1))
		return errors.Is(err, io.ErrClosedPipe)
	}
	lone, _ := come("10.0.0.1")
	var many []*doorConn
	for range 10 {
		c, _ := come("10.0.0.2")
		many = append(many, c)
	}
	if gone(lone) {
		t.Error("who has one connection makes room for who has many")
	}
	open := 0
	for _, c := range many {
		if !gone(c) {
			open++
		}
	}
	if open != 3 || d.strangers.Len() != 4 || len(d.from) != 2 {
		t.Errorf("%d of the many are open, %d strangers of %d addresses", open, d.strangers.Len(),
			len(d.from))
	}
	creds := admitting{insecure.NewCredentials()}
	if _, _, err := creds.ServerHandshake(many[0]); !errors.Is(err, errNoPlace) {
		t.Errorf("one that has been dropped is admitted: %v", err)
	}
	enter := func(c *doorConn) error {
		_, _, err := creds.Clone().ServerHandshake(c)
		return err
	}
	if err := enter(lone); err != nil {
		t.Error(err)
	}
	var nodes []*doorConn
	for range 11 {
		c, _ := come("10.0.0.3")
		if err := enter(c); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, c)
	}
	last, _ := come("10.0.0.4")
	if err := enter(last); !errors.Is(err, errNoPlace) {
		t.Errorf("one too many is admitted: %v", err)
	}
	for range 2 { // closing twice gives one place
		_ = nodes[0].Close()
	}
	_ = last.Close()
	if last, _ = come("10.0.0.4"); enter(last) != nil {
		t.Error("a place that is free again is not given")
	}
	if another, _ := come("10.0.0.4"); enter(another) == nil {
		t.Error("a place was given twice")
	}
	// Of equals the first that has said nothing goes.
	heard, other := come("10.0.0.5")
	go func() { _, _ = other.Write([]byte("x")) }()
	if _, err := heard.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for d.strangers.Len() > 1 {
		_ = d.strangers.Front().Value.(*doorConn).Close()
	}
	silent, _ := come("10.0.0.5")
	for range 3 {
		come("10.0.0.5")
	}
	if gone(heard) || !gone(silent) {
		t.Errorf("gone are: who has spoken %v, who has not %v", gone(heard), gone(silent))
	}
}
