package conn

import (
	"errors"
	"os"
	"time"
)

// A client may go away while its statement runs, or waits for a lock; the statement is then worth nothing.
// What a socket has to say is heard by reading it, and only one may read. So a statement that has run for
// a while gets a watch that reads, and is called off before the connection reads on. Nearly all statements
// end before that, and pay nothing.

const (
	// watchAfter is how long a statement runs before somebody watches over its client.
	watchAfter = 10 * time.Millisecond
	// watchEvery is how often statements are looked at.
	watchEvery = 50 * time.Millisecond
)

var errClientGone = errors.New("connection was closed")

// watch reads what a client sends during a statement, without taking it.
type watch struct{ done chan struct{} }

// watchers starts watches until the server is closed. It rests while there are no connections.
func (s *Server) watchers() {
	defer s.background.Done()
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	var all []*Connection
	for {
		select {
		case <-t.C:
		case <-s.done:
			return
		}
		s.mu.Lock()
		all = all[:0]
		for _, c := range s.conns {
			all = append(all, c)
		}
		none, changed := len(all) == 0, s.changed
		s.mu.Unlock()
		now := time.Now()
		for _, c := range all {
			c.startWatch(now)
		}
		clear(all)
		if none {
			select {
			case <-changed:
			case <-s.done:
				return
			}
		}
	}
}

// startWatch begins to watch over the client if its statement has run for long enough.
func (c *Connection) startWatch(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.busy || c.gone || c.unwatch || c.watch != nil || now.Sub(c.began) < watchAfter || c.session == nil {
		return
	}
	w := &watch{make(chan struct{})}
	c.watch = w
	cancel := c.cancel
	if c.gate.SetReadDeadline(time.Time{}) != nil {
		c.watch = nil
		return
	}
	go func() {
		defer close(w.done)
		if err := c.in.Watch(); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			cancel(errClientGone)
		}
	}()
}

// stopWatch calls the watch off; hold says that there is to be none until allowWatch.
func (c *Connection) stopWatch(hold bool) {
	c.mu.Lock()
	c.unwatch = hold
	w := c.watch
	if w == nil {
		c.mu.Unlock()
		return
	}
	_ = c.gate.SetReadDeadline(time.Unix(1, 0))
	c.mu.Unlock()
	<-w.done
	c.mu.Lock()
	c.watch = nil
	c.mu.Unlock()
}

func (c *Connection) allowWatch() {
	c.mu.Lock()
	c.unwatch = false
	c.mu.Unlock()
}
