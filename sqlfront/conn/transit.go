package conn

import (
	"context"
	"net"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// What is on its way between client and server: a command that has not come to its end, and an answer that
// the client does not read. Both take memory for as long as the client likes, so both are charged to its
// session when they are long, have a deadline for the next step (net_read_timeout, net_write_timeout), and
// end for the sake of others.

// messages is the Inbound of a connection that has logged in.
type messages struct{ c *Connection }

// Begun implements mysqlproto.Inbound: what has begun has to go on within net_read_timeout.
func (m messages) Begun() error {
	c := m.c
	within := c.limit().read
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.refused != nil:
		return c.refused
	case c.gone:
		return errGone
	}
	c.receiving = true
	return c.gate.SetReadDeadline(time.Now().Add(within))
}

// Holds implements mysqlproto.Inbound.
func (m messages) Holds(n int) error { return m.c.charge(&m.c.inbound, int64(n)) }

// arrived charges for the copies that are made of a long command: its text, and that in UTF-8.
func (c *Connection) arrived(n int) error {
	if n <= longText {
		return nil
	}
	return c.charge(&c.inbound, c.inbound+2*int64(n))
}

// charge has the session charged with now bytes of messages, in the place of what it was charged with
// before.
func (c *Connection) charge(charged *int64, now int64) error {
	k, ok := c.session.(keeper)
	if !ok || now == *charged {
		return nil
	}
	if err := k.Transit(now - *charged); err != nil {
		return err
	}
	*charged = now
	return nil
}

// widen is asked before a row of an answer takes n bytes.
func (c *Connection) widen(n int) error { return c.charge(&c.outbound, max(c.outbound, int64(n))) }

// sent gives back what a row was charged for that has been written.
func (c *Connection) sent() {
	if c.outbound != 0 {
		_ = c.charge(&c.outbound, 0) // giving back does not fail
	}
}

// fewRows is how many rows a plan's result has that is not worth charging for: such rows are short, or few.
const fewRows = 128

// holdRows charges for the rows of a plan, which are all there before the first is written.
func (c *Connection) holdRows(rows []sql.Row) error {
	if len(rows) <= fewRows {
		return nil
	}
	n := int64(0)
	for _, row := range rows {
		n += 24
		for _, v := range row {
			n += 16
			switch v := v.(type) {
			case string:
				n += int64(len(v))
			case []byte:
				n += int64(len(v))
			}
		}
	}
	if n <= longText {
		return nil
	}
	return c.charge(&c.rows, n)
}

// dropRows gives back what holdRows has charged.
func (c *Connection) dropRows() {
	if c.rows != 0 {
		_ = c.charge(&c.rows, 0) // giving back does not fail
	}
}

// refusal is what a command is refused with that has not come to its end, nil if it is not: somebody else
// needs the memory, or the client took too long.
func (c *Connection) refusal(timeout bool) *sqlerr.Error {
	c.mu.Lock()
	refused, begun := c.refused, c.receiving
	c.mu.Unlock()
	switch {
	case refused != nil:
		return c.final(refused, "")
	case begun && timeout:
		return sqlerr.New(sqlerr.NetReadInterrupted, "Got timeout reading communication packets")
	}
	return nil
}

// socket is the client's socket with the deadlines of this package: one for each piece that is written,
// which is the last one when the server closes.
type socket struct {
	net.Conn
	c *Connection
}

// writePiece is how much has to be taken by the client within net_write_timeout.
const writePiece = 256 << 10

// Write implements net.Conn.
func (s socket) Write(b []byte) (n int, err error) {
	for {
		s.c.writing()
		k, err := s.Conn.Write(b[n:min(len(b), n+writePiece)])
		n += k
		s.c.sending.Store(false)
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// Deadlines of writes once the statement has ended.
const (
	// lastPiece is for each piece if its statement was killed: what has begun has to be written to its end
	// if the client is to hear of anything else.
	lastPiece = 2 * time.Second
	// lastPieces is for all of them together if the memory is needed.
	lastPieces = time.Second
)

// writing sets the deadline of a write.
func (c *Connection) writing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending.Store(true)
	if c.closing {
		return
	}
	within := time.Duration(c.writeWithin.Load())
	if within == 0 {
		within = c.srv.opts.WriteTimeout
	}
	if c.hurried {
		within = min(within, lastPiece)
	}
	if c.needed && c.cut.IsZero() {
		c.cut = time.Now().Add(lastPieces)
	}
	at := time.Now().Add(within)
	if !c.cut.IsZero() && c.cut.Before(at) {
		at = c.cut
	}
	_ = c.gate.SetWriteDeadline(at)
}

// Sending reports whether something is being written to the client, who may not read it.
func (c *Connection) Sending() bool { return c.sending.Load() }

// Interrupt ends the statement under way with an error, if there is one: what MySQL's KILL QUERY does,
// with words of its own. A command that has not come to its end is refused.
func (c *Connection) Interrupt(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.busy:
		c.cancel(err)
		// The time for what is written begins with the writing: a statement may take longer to hear of it,
		// and its error has to reach the client all the same.
		c.needed = c.needed || err != context.Canceled
		if c.needed && c.cut.IsZero() && c.sending.Load() {
			c.cut = time.Now().Add(lastPieces)
		}
		c.hurry()
	case c.receiving && c.refused == nil:
		c.refused = err
		_ = c.gate.SetReadDeadline(time.Unix(1, 0))
	default:
		return false
	}
	return true
}

// hurry has what the statement reads or writes come to its end. The lock is held.
func (c *Connection) hurry() {
	c.hurried = true
	if c.sending.Load() && !c.closing {
		at := time.Now().Add(lastPiece)
		if !c.cut.IsZero() && c.cut.Before(at) {
			at = c.cut
		}
		_ = c.gate.SetWriteDeadline(at)
	}
	if c.fileComes {
		_ = c.gate.SetReadDeadline(time.Unix(1, 0))
	}
}

// heed has the end of a context, by KILL QUERY or max_execution_time, heard where the statement waits for
// the client. stop is called when the statement is over.
func (c *Connection) heed(ctx context.Context) (stop func() bool) {
	c.mu.Lock()
	command := c.begun
	c.mu.Unlock()
	return context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.busy && c.begun == command {
			c.hurry()
		}
	})
}
