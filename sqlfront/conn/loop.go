package conn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// serve is the life of a connection.
func (s *Server) serve(g *gatedConn) {
	defer s.open.Done()
	defer func() { _ = g.Close() }()
	c := &Connection{srv: s, gate: g, status: mysqlproto.StatusAutocommit,
		statements: map[uint32]*prepared{}, texts: map[string]int{}}
	c.in, c.out = mysqlproto.NewReader(g), mysqlproto.NewWriter(socket{g, c})
	s.enter(c)
	defer s.leave(c)
	_ = c.guard("connection", func() error {
		if !c.handshake() {
			return nil
		}
		c.in.Tell(messages{c})
		return c.commands()
	})
}

// enter makes a connection known. It has a number from here on.
func (s *Server) enter(c *Connection) {
	s.mu.Lock()
	if next := s.opts.ConnectionID; next != nil {
		c.id = next(func(id uint32) bool { return s.conns[id] != nil })
	} else {
		for s.lastID++; s.lastID == 0 || s.conns[s.lastID] != nil; s.lastID++ {
		}
		c.id = s.lastID
	}
	s.conns[c.id] = c
	n := len(s.conns)
	s.mu.Unlock()
	s.notify()
	s.greet()
	s.opts.Engine.ProcessList.AddConnection(c.id, c.RemoteAddr().String())
	countConnection(n)
	if s.draining.Load() { // Drain or Close may have gone over the list before this one was in it
		c.leave()
	}
}

// leave is the end of a connection: what its session holds is put in order.
func (s *Server) leave(c *Connection) {
	c.gate.gate.leave(c.gate)
	c.unprepareAll()
	if c.frames != nil {
		c.frames.Close()
	}
	_ = c.guard("end", func() error {
		if c.session != nil {
			c.releaseLocks()
			s.opts.Engine.CloseSession(c.id)
			c.endSession()
		}
		s.opts.Engine.ProcessList.RemoveConnection(c.id)
		return nil
	})
	s.mu.Lock()
	delete(s.conns, c.id)
	s.mu.Unlock()
	s.notify()
}

// commands serves one command after another. What cannot be followed any more ends the connection.
func (c *Connection) commands() error {
	for {
		c.in.Restart()
		if err := c.expect(c.idle()); err != nil {
			return nil
		}
		b, err := c.in.Next(c.limit().packet)
		if err == nil {
			err = c.arrived(len(b))
		}
		c.out.Seq = c.in.Seq
		switch {
		case errors.Is(err, mysqlproto.ErrTooLong):
			c.fail(sqlerr.New(sqlerr.PacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes"))
			return c.farewell()
		case errors.Is(err, mysqlproto.ErrOutOfOrder), errors.Is(err, mysqlproto.ErrMalformed), err == nil &&
			len(b) == 0:
			c.fail(malformed())
			return c.out.Flush()
		case err != nil:
			return c.broken(err)
		case b[0] == mysqlproto.ComQuit:
			return nil
		}
		goOn := c.command(b[0], b[1:])
		c.reply.forget()
		if err := c.out.Flush(); err != nil || !goOn {
			return err
		}
		c.mu.Lock()
		gone := c.gone || c.poisoned
		c.mu.Unlock()
		if gone {
			return nil
		}
	}
}

// broken is the end of a connection whose next command does not come to its end. The client is told why if
// it is for a reason of ours.
func (c *Connection) broken(err error) error {
	var ours *sqlerr.Error
	if !errors.As(err, &ours) {
		if ours = c.refusal(errors.Is(err, os.ErrDeadlineExceeded)); ours == nil {
			return nil
		}
	}
	c.fail(ours)
	return c.farewell()
}

const (
	// lingerTime is how long the rest of a refused command is read for.
	lingerTime = 2 * time.Second
	// lingerBytes is how much of it, at most: the largest max_allowed_packet.
	lingerBytes = 1 << 30
)

// farewell writes the error that a connection ends with although the client has not sent all of its command.
// What is still coming is read and thrown away for a moment: a socket that is closed with bytes unread is
// reset, and the client, who sends before it reads, would never see the error.
func (c *Connection) farewell() error {
	if err := c.out.Flush(); err != nil {
		return err
	}
	c.in.Restart() // what was held of the command is free
	_ = c.gate.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c.gate, lingerBytes) // the connection ends either way
	return nil
}

// idle is how long the client may take until it sends the next command.
func (c *Connection) idle() time.Duration {
	return c.limit().idle
}

// command answers a command. goOn is false if the connection cannot go on after it.
func (c *Connection) command(command byte, arg []byte) (goOn bool) {
	var err *sqlerr.Error
	switch command {
	case mysqlproto.ComQuery:
		return c.query(arg)
	case mysqlproto.ComStmtExecute:
		c.execute(arg)
		return true
	case mysqlproto.ComStmtPrepare:
		err = c.prepare(string(arg))
	case mysqlproto.ComStmtLongData:
		c.longData(arg)
		return true // nobody waits for an answer to this command
	case mysqlproto.ComStmtClose:
		if id, err := mysqlproto.ParseStatement(arg); err == nil {
			c.unprepare(id)
		}
		return true
	case mysqlproto.ComStmtReset:
		err = c.resetStatement(arg)
	case mysqlproto.ComStmtFetch:
		err = c.fetch(arg)
	case mysqlproto.ComInitDB:
		if err = c.final(c.initDB(string(arg)), ""); err == nil {
			c.ok()
		}
	case mysqlproto.ComPing:
		c.ping()
		return true
	case mysqlproto.ComFieldList:
		return c.fieldList(arg)
	case mysqlproto.ComSetOption:
		err = c.setOption(arg)
	case mysqlproto.ComResetConnection:
		if err = c.resetSession(); err != nil {
			c.fail(err)
			return false
		}
		c.ok()
	case mysqlproto.ComChangeUser:
		err = c.changeUser(arg)
		c.out.Seq = c.in.Seq
		if err != nil {
			c.fail(err)
			return false
		}
		c.ok()
	case mysqlproto.ComProcessInfo:
		return c.query(c.asQuery("SHOW PROCESSLIST"))
	case mysqlproto.ComProcessKill:
		if len(arg) < 4 {
			err = malformed()
			break
		}
		return c.query(c.asQuery(fmt.Sprintf("KILL %d", binary.LittleEndian.Uint32(arg))))
	default:
		err = c.minor(command)
	}
	if err != nil {
		c.fail(err)
	}
	return true
}

// minor answers commands that have nothing inside.
func (c *Connection) minor(command byte) *sqlerr.Error {
	switch command {
	case mysqlproto.ComStatistics:
		c.out.Packet([]byte(c.srv.statistics()))
	case mysqlproto.ComRefresh:
		c.ok()
	case mysqlproto.ComDebug:
		c.out.End(mysqlproto.AppendEOF(c.out.Begin(), 0, c.status))
	case mysqlproto.ComShutdown:
		return sqlerr.Unsupported("SHUTDOWN by a client: end the moka process with SIGTERM")
	case mysqlproto.ComRegisterReplica:
		return sqlerr.Unsupported("replication to a MySQL replica")
	case mysqlproto.ComBinlogDump, mysqlproto.ComBinlogDumpGTID:
		return sqlerr.Unsupported("reading the binary log")
	default:
		return sqlerr.New(sqlerr.UnknownCommand, "Unknown command")
	}
	return nil
}

// asQuery is a statement in the layout of COM_QUERY.
func (c *Connection) asQuery(text string) []byte {
	if c.has(mysqlproto.ClientQueryAttributes) {
		return append([]byte{0, 1}, text...)
	}
	return []byte(text)
}

func (c *Connection) ping() {
	if c.srv.draining.Load() {
		c.fail(sqlerr.Shutdown())
		return
	}
	c.ok()
}

// setOption is COM_SET_OPTION: whether a text may have several statements.
func (c *Connection) setOption(arg []byte) *sqlerr.Error {
	if len(arg) != 2 || arg[0] > 1 || arg[1] != 0 {
		return sqlerr.New(sqlerr.UnknownCommand, "Unknown command")
	}
	c.capabilities |= mysqlproto.ClientMultiStatements
	if arg[0] == 1 {
		c.capabilities &^= mysqlproto.ClientMultiStatements
	}
	c.endRows(0, 0)
	return nil
}

// endRows ends columns or rows.
func (c *Connection) endRows(flags, warnings uint16) {
	b := c.out.Begin()
	if c.has(mysqlproto.ClientDeprecateEOF) {
		b = (&mysqlproto.OK{Status: c.status | flags, Warnings: warnings, OfRows: true,
			Changes: c.changes()}).Append(b, c.capabilities)
	} else {
		b = mysqlproto.AppendEOF(b, warnings, c.status|flags)
	}
	c.out.End(b)
}

// initDB is USE, as a command and in the handshake.
func (c *Connection) initDB(db string) error {
	ctx, err := c.begin(context.Background())
	if err != nil {
		return err
	}
	defer c.end()
	if codec := c.limit().client; codec != nil {
		db = codec.Decode(db)
	}
	before := c.track()
	err = c.guard("ComInitDB", func() error { return c.useDatabase(ctx, db) })
	c.limits = nil
	c.settle()
	c.noteChanges(before)
	return err
}

// fieldList is COM_FIELD_LIST, which old clients ask for the columns of a table with.
func (c *Connection) fieldList(arg []byte) bool {
	table, wildcard, err := mysqlproto.ParseFieldList(arg)
	if err != nil {
		c.fail(malformed())
		return true
	}
	text := "SELECT * FROM `" + strings.ReplaceAll(table, "`", "``") + "` LIMIT 0"
	if codec := c.limit().client; codec != nil {
		text = codec.Decode(text)
	}
	r := c.newReply(false)
	r.onlyColumns, r.like = true, wildcard
	if _, e := c.run(text, nil, nil, false, r); e != nil {
		r.fail(e)
	}
	return true
}

// guard keeps a panic inside its connection.
func (c *Connection) guard(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = c.panicked(what, fmt.Sprint(r), string(debug.Stack()))
		}
	}()
	if err = f(); err != nil {
		// One in a goroutine of the engine comes as an error, with the stack in its text.
		if text, ok := strings.CutPrefix(err.Error(), "panic recovered: "); ok {
			r, at, _ := strings.Cut(text, "\n")
			err = c.panicked(what, r, at)
		}
	}
	return err
}

// errPanic is the text that a client gets for a bug.
var errPanic = errors.New("internal error: the statement failed in a way it should not; the connection " +
	"will be closed")

func (c *Connection) panicked(what, r, at string) error {
	c.srv.counts.panics.Add(1)
	if dropped, ok := c.srv.panics.may(); ok { // a client may have thousands of them in a second
		c.srv.log.Error("panic in a connection", "in", what, "connection", c.id, "panic", r, "stack", at,
			"not logged", dropped)
	}
	c.poisoned = true
	return errPanic
}

// final words an error for the client, in the client's character set.
func (c *Connection) final(err error, query string) *sqlerr.Error {
	if err == nil {
		return nil
	}
	return c.encodeError(c.worded(err, query))
}

// worded words an error.
func (c *Connection) worded(err error, query string) *sqlerr.Error {
	st := sqlerr.Statement{Query: query}
	if c.session != nil {
		st.Database = c.session.GetCurrentDatabase()
		if m, ok := c.session.(interface{ Missed(string) bool }); ok {
			st.Missed = m.Missed
		}
		if k, ok := c.session.(interface {
			ForeignKey(name, child string) (string, bool)
		}); ok {
			st.ForeignKey = k.ForeignKey
		}
	}
	worded := sqlerr.Final(err, st)
	if v, ok := c.session.(interface{ InvalidView() error }); ok && worded.Num == sqlerr.BadField {
		if invalid := v.InvalidView(); invalid != nil {
			return sqlerr.Final(invalid, st)
		}
	}
	return worded
}

func (s *Server) statistics() string {
	up := max(time.Since(s.started), time.Second)
	st := s.Stats()
	var n int64
	for _, k := range st.Statements {
		n += k
	}
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: %d  Opens: 0  Open tables: 0 "+
		" Queries per second avg: %.3f",
		int(up.Seconds()), st.Connections, n, st.Slow, float64(n)/up.Seconds())
}
