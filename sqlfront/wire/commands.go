package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
)

// Commands of the protocol that the library does not know, or does not survive.
const (
	comRefresh     = 0x07
	comShutdown    = 0x08
	comStatistics  = 0x09
	comProcessInfo = 0x0a
	comProcessKill = 0x0c
	comDebug       = 0x0d
	comChangeUser  = 0x11
)

// fullPacket is the length that says: the command goes on in the next packet.
const fullPacket = 1<<24 - 1

// readBuffer is how much of a command can be looked at without being taken from the socket. It holds the NULL bitmap of the
// longest EXECUTE.
const readBuffer = 16 << 10

// commands stands between the protocol library and a client that has logged in, and sees every packet of both directions.
//
//	client ──▶ Read: one command at a time ──▶ library ──▶ handler
//	             │ answered here: CHANGE_USER, RESET_CONNECTION, STATISTICS, what is malformed or too long
//	             │ rewritten: PROCESS_KILL (→ KILL n), PREPARE (→ as many parameters, no text: the engine parses it)
//	client ◀── Write: packets are counted; an error in the middle of a result takes the place of its end
//
// The library reads and writes it in the goroutine of the connection; while a statement runs, its watcher may read in order
// to notice that the client has gone, and LOAD DATA reads the client's file. None of these overlap.
type commands struct {
	net.Conn // the socket, or TLS over it
	c        *connection
	r        *bufio.Reader

	deliver []byte  // what the library gets before anything else
	pass    int     // bytes of the current packet that go to the library unseen
	limit   int     // bytes that the current command may still have
	cut     bool    // the current command is longer than one packet
	skip    bool    // and the library does not see it
	params  *params // of an EXECUTE that passes
	spare   params  // what params is, used again
	head    int     // bytes of the packet's head that are to pass

	out outbound

	opening *opening           // the answer at hand opens a cursor
	cursors map[uint32]*cursor // by statement

	prepared string // text of the PREPARE that the library has been given a stand-in for
	loading  bool   // the statement reads a file of the client
	exchange changeUserPackets
	long     map[longParam]int
	tooLong  map[uint32]*mysql.SQLError // what is wrong with a parameter that a statement was sent in pieces
}

type longParam struct {
	statement uint32
	param     uint16
}

// interpose puts the filter under the library's reader. The library offers no way to do this once TLS has been set up above the
// socket, and has one buffered reader in front of whatever the connection is by then; its field is not exported. A test
// checks that it is there.
func interpose(c *connection) (*commands, error) {
	f := &commands{Conn: c.conn.Conn, c: c, long: map[longParam]int{}, tooLong: map[uint32]*mysql.SQLError{}}
	library, err := libraryReader(c.conn)
	if err != nil {
		return nil, err
	}
	// A client that did not wait for the answer to its login has more than that in the buffer already.
	early, err := library.Peek(library.Buffered())
	if err != nil {
		return nil, err
	}
	f.r = bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), f.Conn), readBuffer)
	library.Reset(f)
	c.conn.Conn = f
	return f, nil
}

// libraryReader is the library's buffered reader of a connection.
func libraryReader(c *mysql.Conn) (*bufio.Reader, error) {
	field := reflect.ValueOf(c).Elem().FieldByName("bufferedReader")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*bufio.Reader]() {
		return nil, errors.New("wire: this version of the protocol library has no buffered reader where it is expected")
	}
	return *(**bufio.Reader)(unsafe.Pointer(field.UnsafeAddr())), nil
}

// Read implements net.Conn for the library.
func (f *commands) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case len(f.deliver) > 0:
			n := copy(p, f.deliver)
			f.deliver = f.deliver[n:]
			return n, nil
		case f.pass > 0:
			n, err := f.r.Read(p[:min(len(p), f.pass)])
			f.pass -= n
			head := min(f.head, n)
			if f.head -= head; f.params != nil && !f.params.feed(p[head:n]) {
				return 0, f.refuse(0, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
			}
			return n, err
		case f.loading:
			if err := f.file(); err != nil {
				return 0, err
			}
			continue
		case f.watched():
			return 0, f.watch()
		}
		if err := f.command(); err != nil {
			return 0, err
		}
	}
}

// watched reports whether the read is not for a command but to see whether the client is still there.
func (f *commands) watched() bool {
	f.c.mu.Lock()
	defer f.c.mu.Unlock()
	return f.c.busy
}

// watch returns when the client has gone, or when the watcher is called off by a deadline. A client that sends its next command
// early is still there; one that says QUIT is not.
func (f *commands) watch() error {
	for n := 1; n <= readBuffer; n = f.r.Buffered() + 1 {
		b, err := f.r.Peek(n)
		if err != nil {
			return err
		}
		if len(b) >= 5 && b[0] == 1 && b[1] == 0 && b[2] == 0 && b[4] == mysql.ComQuit {
			return io.EOF
		}
	}
	return mysql.ErrClientWroteWhileBusy
}

// file lets the next packet of a client's file through; an empty one ends the file.
func (f *commands) file() error {
	head, err := f.r.Peek(4)
	if err != nil {
		return err
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	f.loading = n > 0
	return f.forward(n)
}

// command reads the head of the next packet and decides what the library sees of it.
func (f *commands) command() error {
	head, err := f.r.Peek(4)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	n, seq := int(head[0])|int(head[1])<<8|int(head[2])<<16, head[3]
	if f.cut { // the rest of a long command
		f.cut = n == fullPacket
		if f.limit -= n; f.limit < 0 {
			return f.refuse(seq, tooLarge())
		}
		if f.skip {
			return f.discard(n)
		}
		f.head = 4
		return f.forward(n)
	}
	f.skip, f.head, f.params = false, 0, nil
	if seq != 0 || n == 0 { // not the start of a command
		return f.refuse(seq, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	f.out.drop = false
	if f.limit = f.c.maxPacket() - n; f.limit < 0 {
		return f.refuse(0, tooLarge())
	}
	head, err = f.r.Peek(5)
	if err != nil {
		return err
	}
	f.cut = n == fullPacket
	switch head[4] {
	case mysql.ComQuit, mysql.ComInitDB, mysql.ComQuery, mysql.ComFieldList, mysql.ComPing,
		mysql.ComBinlogDumpGTID, mysql.ComRegisterReplica:
		return f.forward(n)
	case mysql.ComStmtExecute:
		return f.execute(n)
	case mysql.ComStmtSendLongData:
		return f.longData(n)
	}
	if f.cut { // none of the others is that long
		return f.refuse(0, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	body := make([]byte, 4+n)
	if _, err := io.ReadFull(f.r, body); err != nil {
		return err
	}
	return f.small(body[4:])
}

// forward gives the library the packet as it comes.
func (f *commands) forward(n int) error {
	f.pass = 4 + n
	return nil
}

// give hands the library a command in place of the client's.
func (f *commands) give(command byte, body string) {
	n := 1 + len(body)
	f.deliver = append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0, command}, body...)
}

// small deals with a command that was read whole.
func (f *commands) small(body []byte) error {
	arg := body[1:]
	switch body[0] {
	case mysql.ComPrepare:
		return f.prepare(string(arg))
	case mysql.ComSetOption:
		if len(arg) != 2 || arg[0] > 1 || arg[1] != 0 {
			return f.fail(1, unknownCommand())
		}
		f.give(body[0], string(arg))
		return nil
	case mysql.ComStmtReset:
		return f.resetStatement(body)
	case mysql.ComStmtClose:
		if len(arg) >= 4 {
			id := binary.LittleEndian.Uint32(arg)
			f.forget(id)
			f.c.unprepare(id)
		}
		f.give(body[0], string(arg))
		return nil
	case mysql.ComStmtFetch:
		return f.fetch(arg)
	case mysql.ComResetConnection:
		return f.resetConnection()
	case comChangeUser:
		return f.changeUser(arg)
	case comStatistics:
		return f.send(1, []byte(f.c.srv.statistics()))
	case comProcessInfo:
		f.give(mysql.ComQuery, "SHOW PROCESSLIST")
		return nil
	case comProcessKill:
		if len(arg) < 4 {
			return f.fail(1, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
		}
		f.give(mysql.ComQuery, fmt.Sprintf("KILL %d", binary.LittleEndian.Uint32(arg)))
		return nil
	case comRefresh:
		return f.ok(1)
	case comDebug:
		return f.send(1, []byte{mysql.EOFPacket, 0, 0, byte(f.c.conn.StatusFlags), byte(f.c.conn.StatusFlags >> 8)})
	case comShutdown:
		return f.fail(1, sqlerr.Unsupported("SHUTDOWN by a client: end the moka process with SIGTERM"))
	}
	return f.fail(1, unknownCommand())
}

func unknownCommand() *mysql.SQLError { return sqlerr.New(sqlerr.UnknownCommand, "Unknown command") }

func tooLarge() *mysql.SQLError {
	return sqlerr.New(sqlerr.PacketTooLarge, "Got a packet bigger than 'max_allowed_packet' bytes")
}

// prepare keeps the text of a PREPARE for the handler and gives the library a statement with as many parameters: it would parse
// the text itself, and refuse what only our parser knows.
func (f *commands) prepare(text string) error {
	text = f.c.limit().client.Decode(text)
	o, err := f.c.handler.ParserOptionsForConnection(f.c.conn)
	if err != nil {
		return f.fail(1, asSQLError(err))
	}
	if strings.TrimSpace(text) == "" {
		return f.fail(1, sqlerr.New(sqlerr.EmptyQuery, "Query was empty"))
	}
	if err := f.c.mayPrepare(); err != nil {
		return f.fail(1, asSQLError(err))
	}
	if at, more := parse.Second(text, o.AnsiQuotes); more {
		return f.fail(1, asSQLError(sqlerr.Syntax(text, at)))
	}
	n := parse.Params(text, o.AnsiQuotes)
	if n > maxParams {
		return f.fail(1, sqlerr.New(sqlerr.TooManyParameters, "Prepared statement contains too many placeholders"))
	}
	f.prepared = text
	f.give(mysql.ComPrepare, "SELECT "+strings.TrimSuffix("0,"+strings.Repeat("?,", n), ","))
	return nil
}

// execute checks what the library takes for granted.
//
//	 1    4            1       4          (params+7)/8   1              2*params
//	+----+------------+-------+----------+--------------+--------------+---------+--------+
//	| 17 | statement  | flags | 1        | NULL bitmap  | types follow | types   | values |
//	+----+------------+-------+----------+--------------+--------------+---------+--------+
func (f *commands) execute(n int) error {
	const fixed = 10
	b, err := f.r.Peek(4 + min(n, fixed))
	if err != nil {
		return err
	}
	malformed := func(e *mysql.SQLError) error {
		if f.cut {
			return f.refuse(0, e)
		}
		if _, err := f.r.Discard(4 + n); err != nil {
			return err
		}
		return f.fail(1, e)
	}
	b = b[4:]
	if n < fixed {
		return malformed(sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute"))
	}
	id, flags := binary.LittleEndian.Uint32(b[1:]), b[5]
	p := f.c.conn.PrepareData[id]
	if p == nil || id == 0 {
		return malformed(unknownStatement(id, "mysqld_stmt_execute"))
	}
	if e := f.tooLong[id]; e != nil {
		delete(f.tooLong, id)
		return malformed(e)
	}
	params := int(p.ParamsCount)
	need := fixed
	if params > 0 {
		need += (params+7)/8 + 1
		if n < need {
			return malformed(sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute"))
		}
		if b, err = f.r.Peek(4 + need); err != nil {
			return err
		}
		if b[4+need-1] == 1 {
			need += 2 * params
		}
	}
	if n < need {
		return malformed(sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute"))
	}
	if params > countedParams {
		if f.cut {
			return f.refuse(0, tooLarge())
		}
		return f.executeWide(p, id, n)
	}
	if params > 0 {
		length := n
		if f.cut {
			length = f.c.maxPacket()
		}
		w := &f.spare
		w.start(p, length)
		if 4+n <= readBuffer && !f.cut {
			if b, err = f.r.Peek(4 + n); err != nil {
				return err
			}
			if !w.feed(b[4:]) {
				clear(p.BindVars)
				f.forget(id)
				return malformed(sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
			}
		} else { // while it passes
			f.params = w
			_ = w.feed(b[:fixed])
		}
	}
	f.forget(id)
	if flags&cursorReadOnly != 0 {
		if verb, _ := firstWord(p.PrepareStmt); !strings.EqualFold(verb, "call") {
			if e := f.openCursor(id); e != nil {
				return malformed(e)
			}
		}
	}
	f.deliver = make([]byte, 4+fixed)
	if _, err := io.ReadFull(f.r, f.deliver); err != nil {
		return err
	}
	f.deliver[4+5] = flags & byte(mysql.ParameterCountAvailable)
	f.pass = n - fixed
	return nil
}

// executeWide reads the values of more parameters than the library can count, and gives it an EXECUTE without any: it leaves alone
// what has a value, and takes the bitmap for empty.
func (f *commands) executeWide(p *mysql.PrepareData, id uint32, n int) error {
	const fixed = 10
	body := make([]byte, 4+n)
	if _, err := io.ReadFull(f.r, body); err != nil {
		return err
	}
	body = body[4:]
	if f.spare.start(p, n); !f.spare.feed(body) {
		clear(p.BindVars)
		return f.fail(1, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	params := int(p.ParamsCount)
	nulls, pos := body[fixed:fixed+(params+7)/8], fixed+(params+7)/8
	pos++
	if body[pos-1] == 1 {
		for i := range params {
			typ, err := sqltypes.MySQLToType(int64(body[pos]), int64(body[pos+1])>>2)
			if err != nil {
				return f.fail(1, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute"))
			}
			p.ParamsType[i] = int32(typ)
			pos += 2
		}
	}
	for i := range params {
		name := paramName(i)
		if p.BindVars[name] != nil { // sent in pieces
			continue
		}
		value, ok := sqltypes.NULL, true
		if nulls[i/8]&(1<<(i%8)) == 0 {
			value, pos, ok = parseStmtArgs(f.c.conn, body, querypb.Type(p.ParamsType[i]), pos)
		}
		if !ok {
			clear(p.BindVars)
			return f.fail(1, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
		}
		p.BindVars[name] = sqltypes.ValueBindVariable(value)
	}
	f.forget(id)
	empty := append([]byte{}, body[1:fixed]...)
	empty[4] = 0 // no cursor
	f.give(mysql.ComStmtExecute, string(append(empty, 0)))
	return nil
}

func unknownStatement(id uint32, in string) *mysql.SQLError {
	return sqlerr.New(sqlerr.UnknownStmtHandler, "Unknown prepared statement handler (%d) given to %s", id, in)
}

// longData lets a piece of a parameter through if it has a place, and if all pieces of it are not too much.
//
//	 1    4            2
//	+----+------------+-----------+-------+
//	| 18 | statement  | parameter | bytes |
//	+----+------------+-----------+-------+
func (f *commands) longData(n int) error {
	const fixed = 7
	if n < fixed {
		return f.discard(n) // nobody waits for an answer to this command
	}
	b, err := f.r.Peek(4 + fixed)
	if err != nil {
		return err
	}
	key := longParam{binary.LittleEndian.Uint32(b[5:]), binary.LittleEndian.Uint16(b[9:])}
	p := f.c.conn.PrepareData[key.statement]
	if p == nil || p.BindVars == nil || key.param >= p.ParamsCount {
		return f.discard(n)
	}
	size := f.long[key] + n - fixed
	var e *mysql.SQLError
	if size > f.c.maxPacket() {
		e = sqlerr.New(sqlerr.PacketTooLarge, "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes")
	} else if err := f.c.keep(int64(n-fixed), "parameters sent in pieces"); err != nil {
		e = asSQLError(err)
	}
	if e != nil {
		f.tooLong[key.statement] = e
		delete(p.BindVars, paramName(int(key.param)))
		f.forgetParam(key)
		return f.discard(n)
	}
	f.long[key] = size
	return f.forward(n)
}

// discard keeps a packet, and what follows it of the same command, from the library.
func (f *commands) discard(n int) error {
	f.skip = true
	_, err := f.r.Discard(4 + n)
	return err
}

func (f *commands) resetStatement(body []byte) error {
	if len(body) < 5 {
		return f.fail(1, unknownStatement(0, "mysqld_stmt_reset"))
	}
	id := binary.LittleEndian.Uint32(body[1:])
	p := f.c.conn.PrepareData[id]
	if p == nil {
		return f.fail(1, unknownStatement(id, "mysqld_stmt_reset"))
	}
	clear(p.BindVars) // the library would leave nil values in it, and trip over them later
	f.forget(id)
	f.give(body[0], string(body[1:5]))
	return nil
}

// forget drops what is known of parameters sent in pieces, and the open cursor; 0 is all statements.
func (f *commands) forget(id uint32) {
	f.closeCursor(id)
	for k := range f.long {
		if k.statement == id || id == 0 {
			f.forgetParam(k)
		}
	}
	if delete(f.tooLong, id); id == 0 {
		clear(f.tooLong)
	}
}

func (f *commands) forgetParam(k longParam) {
	_ = f.c.keep(-int64(f.long[k]), "") // giving back does not fail
	delete(f.long, k)
}

func (f *commands) resetConnection() error {
	mc := f.c.conn
	f.c.unprepareAll()
	f.forget(0)
	if err := f.c.handler.ComResetConnection(mc); err != nil {
		return f.refuse(0, asSQLError(err))
	}
	return f.ok(1)
}

func asSQLError(err error) *mysql.SQLError { return sqlerr.Final(err, sqlerr.Statement{}) }

func (f *commands) ok(seq byte) error {
	s := f.c.conn.StatusFlags
	return f.send(seq, []byte{mysql.OKPacket, 0, 0, byte(s), byte(s >> 8), 0, 0})
}

func (f *commands) fail(seq byte, e *mysql.SQLError) error {
	f.c.srv.counts.failed(e.Num)
	return f.send(seq, errorPacket(e))
}

// refuse tells the client what was wrong and ends the connection: what follows on it cannot be trusted.
func (f *commands) refuse(seq byte, e *mysql.SQLError) error {
	if err := f.fail(seq+1, e); err != nil {
		return err
	}
	return io.EOF
}

func errorPacket(e *mysql.SQLError) []byte {
	b := []byte{mysql.ErrPacket, byte(e.Num), byte(e.Num >> 8), '#'}
	return append(append(b, e.State...), e.Message...)
}

// send writes a packet of our own to the client.
func (f *commands) send(seq byte, body []byte) error {
	n := len(body)
	_, err := f.Conn.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}, body...))
	return err
}

// maxPacket is the longest command that the client may send.
func (c *connection) maxPacket() int {
	if n := c.variable("max_allowed_packet"); n > 0 {
		return int(n)
	}
	return defaultMaxPacket
}

func (s *Server) statistics() string {
	up := max(time.Since(s.started), time.Second)
	st := s.Stats()
	var n int64
	for _, k := range st.Statements {
		n += k
	}
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: %d  Opens: 0  Open tables: 0  Queries per second avg: %.3f",
		int(up.Seconds()), st.Connections, n, st.Slow, float64(n)/up.Seconds())
}
