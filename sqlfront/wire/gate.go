package wire

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// gate is the listener in front of the protocol library. It joins the TCP and the unix listener, survives errors of accept
// that pass (the library ends its loop at the first error: a server out of file descriptors for a second would be deaf for
// ever), and turns away clients that are too many, with a packet that says so.
type gate struct {
	srv       *Server
	listeners []net.Listener
	accepted  chan net.Conn
	done      chan struct{}
	once      sync.Once
	loops     sync.WaitGroup
	open      sync.WaitGroup // connections that the library has not closed
	count     atomic.Int64

	initial int64 // max_connections at start
}

func newGate(s *Server, ls []net.Listener) *gate {
	g := &gate{srv: s, listeners: ls, accepted: make(chan net.Conn), done: make(chan struct{}), initial: maxConnections()}
	for _, l := range ls {
		g.loops.Add(1)
		go g.loop(l)
	}
	return g
}

func (g *gate) loop(l net.Listener) {
	defer g.loops.Done()
	pause := 5 * time.Millisecond
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			if c = g.admit(c); c == nil {
				continue
			}
			select {
			case g.accepted <- c:
			case <-g.done:
				_ = c.Close()
				return
			}
		case errors.Is(err, net.ErrClosed):
			return
		default:
			g.srv.log.Warn("accept failed, trying again", "err", err, "pause", pause)
			select {
			case <-time.After(pause):
			case <-g.done:
				return
			}
			pause = min(2*pause, time.Second)
		}
	}
}

// admit lets the client in, or tells it why not and returns nil.
func (g *gate) admit(c net.Conn) net.Conn {
	if g.srv.draining.Load() {
		g.refuse(c, sqlerr.Shutdown())
		return nil
	}
	if g.count.Add(1) > g.limit() {
		g.count.Add(-1)
		g.refuse(c, sqlerr.TooManyConns())
		return nil
	}
	g.srv.counts.accepted.Add(1)
	g.open.Add(1)
	gc := &gatedConn{Conn: c, gate: g}
	gc.timer = time.AfterFunc(g.srv.opts.ConnectTimeout, func() {
		if !gc.loggedIn.Load() {
			g.srv.counts.aborted.Add(1)
			_ = c.Close()
		}
	})
	return gc
}

// limit is this server's MaxConnections until somebody sets the global variable to something else.
func (g *gate) limit() int64 {
	if now := maxConnections(); now != g.initial && now > 0 {
		return now
	}
	return int64(g.srv.opts.MaxConnections)
}

func maxConnections() int64 {
	if _, v, ok := sql.SystemVariables.GetGlobal("max_connections"); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return 0
}

// refuse answers in place of the greeting:
//
//	 3 bytes  1 byte   1 byte  2 bytes  6 bytes    …
//	+--------+--------+-------+--------+----------+---------+
//	| length | seq 0  | 0xFF  | number | # state  | message |
//	+--------+--------+-------+--------+----------+---------+
//
// It fits into the empty buffer of a new socket and cannot block.
func (g *gate) refuse(c net.Conn, e *mysql.SQLError) {
	g.srv.counts.refused.Add(1)
	body := []byte{0xFF, byte(e.Num), byte(e.Num >> 8), '#'}
	body = append(append(body, e.State...), e.Message...)
	packet := append([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), 0}, body...)
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = c.Write(packet)
	_ = c.Close()
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.accepted:
		return c, nil
	case <-g.done:
		return nil, net.ErrClosed
	}
}

// Addr implements net.Listener.
func (g *gate) Addr() net.Addr { return g.listeners[0].Addr() }

// Close implements net.Listener.
func (g *gate) Close() (err error) {
	g.once.Do(func() {
		close(g.done)
		for _, l := range g.listeners {
			if e := l.Close(); e != nil && !errors.Is(e, net.ErrClosed) {
				err = errors.Join(err, e)
			}
		}
		g.loops.Wait()
	})
	return err
}

// wait returns when every connection has been closed by the library.
func (g *gate) wait() { g.open.Wait() }

// gatedConn is a client's socket; closing it gives its place back.
type gatedConn struct {
	net.Conn
	gate     *gate
	timer    *time.Timer
	loggedIn atomic.Bool
	closed   sync.Once
	head     []byte // the first bytes that the client has sent
}

// headLength is as much of the client's first packet as says what it can do:
//
//	 3 bytes  1 byte  4 bytes         …
//	+--------+-------+--------------+---+
//	| length | seq   | capabilities |   |
//	+--------+-------+--------------+---+
const headLength = 8

// Read implements net.Conn.
func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if want := headLength - len(c.head); want > 0 && n > 0 {
		c.head = append(c.head, b[:min(n, want)]...)
	}
	return n, err
}

// capabilities are the client's, of which the library keeps only those that it uses. Read by who reads the connection.
func (c *gatedConn) capabilities() uint32 {
	if len(c.head) < headLength {
		return 0
	}
	return binary.LittleEndian.Uint32(c.head[4:])
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	err := c.Conn.Close()
	c.closed.Do(func() {
		c.timer.Stop()
		c.gate.count.Add(-1)
		c.gate.open.Done()
	})
	return err
}
