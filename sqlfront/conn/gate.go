package conn

import (
	"container/list"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// gate is where clients come in. It joins the TCP and the unix listener, survives errors of accept that
// pass (a server out of file descriptors for a second must not be deaf for ever), and keeps count of the
// places: of clients that have logged in, of those that are about to, and of the one for an administrator.
type gate struct {
	srv       *Server
	listeners []net.Listener
	accepted  chan *gatedConn
	done      chan struct{}
	once      sync.Once
	loops     sync.WaitGroup
	count     atomic.Int64

	mu      sync.Mutex
	waiting list.List     // of *gatedConn that have not logged in, the oldest first
	places  int64         // taken by those that have
	freed   chan struct{} // closed and replaced when a place is given back

	initial int64 // max_connections at start
}

func newGate(s *Server, ls []net.Listener) *gate {
	g := &gate{srv: s, listeners: ls, accepted: make(chan *gatedConn), done: make(chan struct{}),
		freed: make(chan struct{}), initial: maxConnections()}
	for _, l := range ls {
		g.loops.Add(1)
		go g.loop(l)
	}
	return g
}

func (g *gate) loop(l net.Listener) {
	defer g.loops.Done()
	pause := 5 * time.Millisecond
	failures := 0 // since the start: a client that comes and goes at the limit does not begin anew
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			admitted := g.admit(c)
			if admitted == nil {
				continue
			}
			select {
			case g.accepted <- admitted:
			case <-g.done:
				_ = admitted.Close()
				return
			}
		case errors.Is(err, net.ErrClosed):
			return
		default:
			if failures++; failures&(failures-1) == 0 { // less and less often
				g.srv.log.Warn("accept failed, trying again", "err", err, "pause", pause, "failures",
					failures)
			}
			select {
			case <-time.After(pause):
			case <-g.done:
				return
			}
			pause = min(2*pause, time.Second)
		}
	}
}

// admit lets the client in as far as the login, or tells it why not and returns nil. Places of
// max_connections are for those who have logged in: who only connects could take them all.
func (g *gate) admit(c net.Conn) *gatedConn {
	if g.srv.draining.Load() {
		g.refuse(c, sqlerr.Shutdown())
		return nil
	}
	g.count.Add(1)
	g.srv.counts.accepted.Add(1)
	gc := &gatedConn{Conn: c, gate: g}
	gc.timer = time.AfterFunc(g.srv.opts.ConnectTimeout, func() {
		if !gc.loggedIn.Load() {
			g.srv.counts.aborted.Add(1)
			_ = c.Close()
		}
	})
	g.mu.Lock()
	defer g.mu.Unlock()
	gc.waiting = g.waiting.PushBack(gc)
	if g.waiting.Len() > g.mostWaiting() {
		g.dropOldest()
	}
	return gc
}

// mostWaiting is how many clients may be logging in.
func (g *gate) mostWaiting() int {
	n := int(max(g.limit(), minWaiting))
	if most := g.srv.opts.MostLogins; most > 0 {
		n = min(n, most) // there are no files for more
	}
	return n
}

// minWaiting is how many clients may be logging in at the same time, however few may have logged in.
const minWaiting = 100

// dropOldest makes room for a client that wants to log in: the one goes that has been silent for longest,
// else the first. Nobody who came in the newer half of the line counts as silent yet: a client answers the
// greeting at once, and where all others have begun a login that they never end, it would be the only
// silent one. So others have to come in hundreds within that time to have it dropped.
func (g *gate) dropOldest() {
	out := g.waiting.Front()
	for e, older := out, g.waiting.Len()/2; older > 0; e, older = e.Next(), older-1 {
		if !e.Value.(*gatedConn).heard.Load() {
			out = e
			break
		}
	}
	gc := out.Value.(*gatedConn)
	g.leaveLine(gc)
	g.srv.counts.aborted.Add(1)
	_ = gc.Conn.Close() // who reads it gives up
}

// leaveLine takes a connection off the list of those that are logging in. The lock is held.
func (g *gate) leaveLine(c *gatedConn) {
	if c.waiting != nil {
		g.waiting.Remove(c.waiting)
		c.waiting = nil
	}
}

// placeWait is how long a login waits for a place: a client that closes a connection and opens another may
// be quicker than the end of the first.
const placeWait = time.Second

// take gives a connection that has logged in one of max_connections places. As in MySQL there is one more
// for who administers connections, so that he can find out what has taken the others. False means that
// there is none.
func (g *gate) take(c *gatedConn, administers bool) bool {
	late := time.NewTimer(placeWait)
	defer late.Stop()
	for {
		g.mu.Lock()
		most := g.limit()
		if administers {
			most++
		}
		if g.places < most {
			g.places++
			c.placed = true
			g.leaveLine(c)
			g.mu.Unlock()
			return true
		}
		freed := g.freed
		g.mu.Unlock()
		select {
		case <-freed:
		case <-late.C:
			g.srv.counts.refused.Add(1)
			return false
		case <-g.done:
			return false
		}
	}
}

// leave gives a connection's place back, as soon as it is known that the client has gone. What its session
// has to put in order may take longer.
func (g *gate) leave(c *gatedConn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveLine(c)
	if c.placed {
		c.placed = false
		g.places--
		close(g.freed)
		g.freed = make(chan struct{})
	}
}

// limit is this server's MaxConnections until somebody sets the global variable to something else.
func (g *gate) limit() int64 {
	limit := int64(g.srv.opts.MaxConnections)
	if now := maxConnections(); now != g.initial && now > 0 {
		limit = now
	}
	if most := int64(g.srv.opts.MostConnections); most > 0 {
		limit = min(limit, most)
	}
	return limit
}

func maxConnections() int64 {
	if _, v, ok := sql.SystemVariables.GetGlobal("max_connections"); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return 0
}

// refuse answers in place of the greeting.
//
// It fits into the empty buffer of a new socket and cannot block.
func (g *gate) refuse(c net.Conn, e *sqlerr.Error) {
	g.srv.counts.refused.Add(1)
	w := mysqlproto.NewWriter(c)
	w.End(mysqlproto.AppendError(w.Begin(), uint16(e.Num), e.State, e.Message))
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	_ = w.Flush()
	_ = c.Close()
}

// accept waits for the next client.
func (g *gate) accept() (*gatedConn, error) {
	select {
	case c := <-g.accepted:
		return c, nil
	case <-g.done:
		return nil, net.ErrClosed
	}
}

// Addr is where the first listener listens.
func (g *gate) Addr() net.Addr { return g.listeners[0].Addr() }

// Close ends the listeners.
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

// gatedConn is a client's socket; closing it gives its place back.
type gatedConn struct {
	net.Conn
	gate     *gate
	timer    *time.Timer
	loggedIn atomic.Bool
	heard    atomic.Bool // it has sent something
	closed   sync.Once

	waiting *list.Element // in gate.waiting; this and placed are behind the gate's lock
	placed  bool
	before  int // bytes read before the login
}

// errLoginTooLong is what a login ends with that has no end.
var errLoginTooLong = errors.New("conn: more than 256 KiB before the login")

// Read implements net.Conn.
func (c *gatedConn) Read(b []byte) (int, error) {
	if c.loggedIn.Load() {
		return c.Conn.Read(b)
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(true)
	}
	if c.before += n; c.before > maxLoginBytes {
		return 0, errLoginTooLong
	}
	return n, err
}

// Close implements net.Conn.
func (c *gatedConn) Close() error {
	err := c.Conn.Close()
	c.closed.Do(func() {
		c.timer.Stop()
		c.gate.leave(c)
		c.gate.count.Add(-1)
	})
	return err
}
