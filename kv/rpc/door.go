package rpc

import (
	"container/list"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
)

// door bounds the connections to a server, as those of clients of SQL and HTTP are: without it whoever
// reaches the port, and has no certificate, opened sockets and said nothing until the process had no file
// descriptor left for its store, which was its end.
//
//	accept ─▶ strangers ── handshake of Options.Credentials ──▶ admitted
//	          at most a quarter of MaxConnections,                the rest of them
//	          each for Options.HandshakeTime
//
// Where one stranger too many comes, one goes of those whose address has the most: so who has many
// connections, and says nothing, drops his own, and not the node that has just come. Who has been admitted
// has shown whose he is; one too many of those is refused.
type door struct {
	net.Listener
	strange, most int // how many there may be
	logger        func(msg string, args ...any)

	mu        sync.Mutex
	strangers list.List      // of *doorConn, who came first in front
	from      map[string]int // strangers by address
	admitted  int
	refused   int // since the start, for the log
}

func newDoor(l net.Listener, o Options) *door {
	strange := max(1, o.MaxConnections/4)
	return &door{
		Listener: l, strange: strange, most: max(1, o.MaxConnections-strange), logger: o.Logger.Warn,
		from: map[string]int{},
	}
}

// doorConn is a connection that counts as long as it is open.
type doorConn struct {
	net.Conn
	door  *door
	host  string
	heard atomic.Bool // it has sent something

	place    *list.Element // among the strangers; this and what follows is behind the door's lock
	admitted bool
}

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	dc := &doorConn{Conn: c, door: d, host: c.RemoteAddr().String()}
	if host, _, err := net.SplitHostPort(dc.host); err == nil {
		dc.host = host
	}
	d.mu.Lock()
	dc.place = d.strangers.PushBack(dc)
	d.from[dc.host]++
	var out *doorConn
	if d.strangers.Len() > d.strange {
		out = d.choose()
		out.leaveLine()
		d.note("a connection to the node port that had not finished its handshake has gone for another", out)
	}
	d.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // who reads it gives up
	}
	return dc, nil
}

// choose returns the stranger who goes: of those of the address that has the most of them the first that has
// said nothing, else the first. Who came in the newer half does not count as silent yet. The lock is held.
func (d *door) choose() *doorConn {
	most := 0
	for _, n := range d.from {
		most = max(most, n)
	}
	var first *doorConn
	older := d.strangers.Len() / 2
	for e := d.strangers.Front(); e != nil; e = e.Next() {
		c := e.Value.(*doorConn)
		if older--; d.from[c.host] < most {
			continue
		}
		if first == nil {
			first = c
		}
		if older >= 0 && !c.heard.Load() {
			return c
		}
	}
	return first
}

// note tells the operator, less and less often. The lock is held.
func (d *door) note(what string, c *doorConn) {
	if d.refused++; d.refused&(d.refused-1) == 0 {
		d.logger(what, "from", c.host, "strangers", d.strangers.Len(), "admitted", d.admitted,
			"so_far", d.refused)
	}
}

// admit counts a connection whose handshake is over, and reports whether there is a place for it.
func (d *door) admit(c *doorConn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.place == nil { // it was to go meanwhile
		return false
	}
	c.leaveLine()
	if d.admitted >= d.most {
		d.note("a node's connection was refused: there are too many", c)
		return false
	}
	d.admitted++
	c.admitted = true
	return true
}

// leaveLine takes a connection off the list of strangers. The lock is held.
func (c *doorConn) leaveLine() {
	if c.place == nil {
		return
	}
	c.door.strangers.Remove(c.place)
	c.place = nil
	if c.door.from[c.host]--; c.door.from[c.host] == 0 {
		delete(c.door.from, c.host)
	}
}

// Read implements net.Conn.
func (c *doorConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (c *doorConn) Close() error {
	err := c.Conn.Close()
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	c.leaveLine()
	if c.admitted {
		c.admitted = false
		c.door.admitted--
	}
	return err
}

// admitting are credentials whose server end tells the door when a handshake is over.
type admitting struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials. gRPC closes a connection whose handshake
// fails.
func (a admitting) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := a.TransportCredentials.ServerHandshake(c)
	if err != nil {
		return nil, nil, err
	}
	if dc, ok := c.(*doorConn); ok && !dc.door.admit(dc) {
		return nil, nil, errNoPlace
	}
	return secured, info, nil
}

// Clone implements credentials.TransportCredentials.
func (a admitting) Clone() credentials.TransportCredentials {
	return admitting{a.TransportCredentials.Clone()}
}

// errNoPlace ends a handshake that has gone well.
var errNoPlace = errors.New("rpc: this node has too many connections")
