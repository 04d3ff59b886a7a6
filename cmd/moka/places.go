package main

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// boundListener lets no more HTTP connections in than there are places. Who comes when all are taken has
// the place of the one that has been without a request under way for longest, be it that its client says
// nothing, or half a request, or has been answered: 64 such sockets would else keep everybody from
// /healthz for ever, and who asks there then kills the server. While all are being answered, further ones
// wait in the system's queue.
type boundListener struct {
	net.Listener
	most int

	mu    sync.Mutex
	open  int
	quiet list.List     // of *boundConn without a request under way, who is for longest first
	freed chan struct{} // closed and replaced when a place is given back, or a connection becomes quiet
	done  chan struct{}
	once  sync.Once
}

func bound(l net.Listener, most int) *boundListener {
	return &boundListener{Listener: l, most: most, freed: make(chan struct{}), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (b *boundListener) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		b.mu.Lock()
		if b.open < b.most {
			break
		}
		oldest, freed := b.quiet.Front(), b.freed
		b.mu.Unlock()
		if oldest != nil {
			_ = oldest.Value.(*boundConn).Close() // its client is gone, or will ask again
			continue
		}
		select {
		case <-freed:
		case <-b.done:
			_ = c.Close()
			return nil, net.ErrClosed
		}
	}
	defer b.mu.Unlock()
	b.open++
	bc := &boundConn{Conn: c, of: b}
	bc.place = b.quiet.PushBack(bc)
	return bc, nil
}

// Close implements net.Listener.
func (b *boundListener) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

// tell has Accept look again. The lock is held.
func (b *boundListener) tell() {
	close(b.freed)
	b.freed = make(chan struct{})
}

type boundConn struct {
	net.Conn
	of     *boundListener
	place  *list.Element // in of.quiet, nil while a request is under way; this and closed are behind of.mu
	closed bool
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.of.mu.Lock()
	if !c.closed {
		c.closed = true
		c.leave()
		c.of.open--
		c.of.tell()
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// leave takes the connection off the list of the quiet ones. The lock is held.
func (c *boundConn) leave() {
	if c.place != nil {
		c.of.quiet.Remove(c.place)
		c.place = nil
	}
}

// works says whether a request of the connection is being answered.
func (c *boundConn) works(now bool) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.leave()
	if !now && !c.closed {
		c.place = c.of.quiet.PushBack(c)
		c.of.tell()
	}
}

type boundKey struct{}

const (
	// answerTime is how long a client may take to read an answer, if it has not shown the token.
	answerTime = 30 * time.Second
	// restTime is how long it may take to send what nobody reads of its request.
	restTime = time.Second
)

// boundHTTP is a server behind a boundListener.
func boundHTTP(h http.Handler) *http.Server {
	return &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, boundKey{}, c)
		},
		ConnState: func(c net.Conn, now http.ConnState) {
			if bc, ok := c.(*boundConn); ok && now == http.StateIdle { // the answer is on its way
				bc.works(false)
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, ok := r.Context().Value(boundKey{}).(*boundConn); ok {
				c.works(true)
			}
			rc := http.NewResponseController(w)
			_ = rc.SetWriteDeadline(time.Now().Add(answerTime)) // where this fails the connection is gone
			h.ServeHTTP(w, r)
			_ = rc.SetReadDeadline(time.Now().Add(restTime))
		}),
	}
}
