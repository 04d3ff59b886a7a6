package rpc

import (
	"context"
	"sync"
	"time"
)

// callContext is the context of one command on the answering side. context.WithDeadline would cost a timer and an entry
// in the stream's list of children for each command, a tenth of what a batched call costs altogether; most commands never
// ask for Done, so channel and timer are made when they do.
type callContext struct {
	context.Context // the stream's, for its values; its end is passed on by the stream, through cancel
	deadline        time.Time

	mu struct {
		sync.Mutex
		err   error
		done  chan struct{}
		timer *time.Timer
	}
}

// newCallContext starts the clock of a call. A timeout of zero means none, a negative one that it has passed already.
func newCallContext(stream context.Context, timeout time.Duration) *callContext {
	c := &callContext{Context: stream}
	if timeout != 0 {
		c.deadline = time.Now().Add(timeout)
	}
	return c
}

func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, !c.deadline.IsZero() }

func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.done == nil {
		c.mu.done = make(chan struct{})
		switch {
		case c.mu.err != nil:
			close(c.mu.done)
		case !c.deadline.IsZero():
			c.mu.timer = time.AfterFunc(time.Until(c.deadline), func() { c.cancel(context.DeadlineExceeded) })
		}
	}
	return c.mu.done
}

func (c *callContext) Err() error {
	c.mu.Lock()
	err := c.mu.err
	c.mu.Unlock()
	if err == nil && !c.deadline.IsZero() && !time.Now().Before(c.deadline) {
		return c.cancel(context.DeadlineExceeded)
	}
	return err
}

// cancel ends the context with the given reason unless it has ended already, and returns the reason that holds.
func (c *callContext) cancel(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return c.mu.err
	}
	c.mu.err = err
	if c.mu.timer != nil {
		c.mu.timer.Stop()
	}
	if c.mu.done != nil {
		close(c.mu.done)
	}
	return err
}
