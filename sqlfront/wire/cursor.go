package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"

	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// A cursor of the binary protocol (CURSOR_TYPE_READ_ONLY in an EXECUTE) is the whole result of a statement, kept on the server, of which
// COM_STMT_FETCH takes so many rows at a time: MySQL's are temporary tables, too. The rows are kept as the packets that they will
// be, in memory up to cursorMemory and then in a file that has no name.
//
//	EXECUTE, flags 1 ──▶ columns, EOF with SERVER_STATUS_CURSOR_EXISTS
//	FETCH id, n      ──▶ n rows, EOF with SERVER_STATUS_CURSOR_EXISTS, or with SERVER_STATUS_LAST_ROW_SENT behind the last
//	CLOSE, RESET, EXECUTE id, RESET_CONNECTION ──▶ the cursor is closed
//
// Statements that have no result, and those with several (CALL), open none; a client then gets its answer as without the flag.

const (
	statusCursorExists = 0x0040
	statusLastRowSent  = 0x0080

	cursorReadOnly = 1 // the flag of an EXECUTE

	// cursorMemory is how many bytes of a cursor's rows stay in memory.
	cursorMemory = 256 << 10
	// cursorBytes bounds a cursor: beyond it the statement fails as if a temporary table were full (1114).
	cursorBytes = 4 << 30
	// maxCursors is how many cursors a connection may have open, each of which may hold a file.
	maxCursors = 64
)

// cursor is the rows that have not been fetched yet: each a length of 4 bytes, little endian, and the packet's body.
type cursor struct {
	head   []byte // rows in memory; all of the cursor's if there is no file
	file   *os.File
	w      *bufio.Writer
	r      io.Reader // once the result is complete
	size   int64
	rows   uint64 // still to be fetched
	failed *mysql.SQLError
}

// add keeps a row. What goes wrong is told at the end of the result.
func (c *cursor) add(row []byte) {
	if c.failed != nil {
		return
	}
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(row)))
	c.size += int64(4 + len(row))
	switch {
	case c.size > cursorBytes:
		c.failed = sqlerr.New(sqlerr.RecordFileFull, "The table 'cursor' is full: fetch less than %d MiB at a time", cursorBytes>>20)
		return
	case c.file == nil && c.size <= cursorMemory:
		c.head = append(append(c.head, length[:]...), row...)
		c.rows++
		return
	case c.file == nil:
		if err := c.spill(); err != nil {
			c.failed = sqlerr.New(sqlerr.ErrorOnWrite, "Error writing the rows of a cursor: %v", err)
			return
		}
	}
	for _, b := range [][]byte{length[:], row} {
		if _, err := c.w.Write(b); err != nil {
			c.failed = sqlerr.New(sqlerr.ErrorOnWrite, "Error writing the rows of a cursor: %v", err)
			return
		}
	}
	c.rows++
}

// spill begins the file. It is removed at once: the space goes with the last that has it open, however the process ends.
func (c *cursor) spill() (err error) {
	if c.file, err = os.CreateTemp("", "moka-cursor-*"); err != nil {
		return err
	}
	c.w = bufio.NewWriterSize(c.file, 64<<10)
	return os.Remove(c.file.Name())
}

// complete makes the rows readable.
func (c *cursor) complete() *mysql.SQLError {
	c.r = bytes.NewReader(c.head)
	if c.failed == nil && c.file != nil {
		err := c.w.Flush()
		if err == nil {
			_, err = c.file.Seek(0, io.SeekStart)
		}
		if err != nil {
			c.failed = sqlerr.New(sqlerr.ErrorOnWrite, "Error writing the rows of a cursor: %v", err)
		}
		c.w, c.r = nil, io.MultiReader(c.r, bufio.NewReaderSize(c.file, 64<<10))
	}
	return c.failed
}

// next returns the next row.
func (c *cursor) next() ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.r, length[:]); err != nil {
		return nil, err
	}
	row := make([]byte, binary.LittleEndian.Uint32(length[:]))
	_, err := io.ReadFull(c.r, row)
	c.rows--
	return row, err
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close() // it has no name any more
	}
}

// opening is the answer to an EXECUTE that asks for a cursor, on its way from the library to the client: packets of columns go on, rows
// stay here.
type opening struct {
	statement uint32
	cursor    *cursor
	pending   []byte // the beginning of a packet
	row       []byte // of a row that is longer than a packet
	columns   int    // definitions still to come; -1 before the first packet
	ended     bool   // the columns have ended
	seq       byte   // of the next packet to the client
	over      bool   // the answer is complete, or is none that opens a cursor
}

// openCursor prepares for the answer to an EXECUTE.
func (f *commands) openCursor(id uint32) *mysql.SQLError {
	if len(f.cursors) >= maxCursors {
		return sqlerr.New(sqlerr.OutOfMemory, "Too many open cursors: %d; close a statement, or fetch one to its end", maxCursors)
	}
	f.opening = &opening{statement: id, cursor: &cursor{}, columns: -1, seq: 1}
	return nil
}

// keep takes what the library writes while a cursor is being opened.
func (f *commands) keep(b []byte) error {
	o := f.opening
	o.pending = append(o.pending, b...)
	for len(o.pending) >= 4 && !o.over {
		n := int(o.pending[0]) | int(o.pending[1])<<8 | int(o.pending[2])<<16
		if len(o.pending) < 4+n {
			return nil
		}
		if err := f.keepPacket(o.pending[4 : 4+n]); err != nil {
			return err
		}
		o.pending = o.pending[4+n:]
	}
	if !o.over {
		return nil
	}
	f.opening = nil
	if len(o.pending) > 0 {
		_, err := f.Write(o.pending)
		return err
	}
	return nil
}

// keepPacket decides about one packet of the answer.
func (f *commands) keepPacket(body []byte) error {
	o := f.opening
	deprecateEOF := f.c.conn.Capabilities&mysql.CapabilityClientDeprecateEOF != 0
	switch {
	case o.columns < 0 && (len(body) == 0 || body[0] == mysql.OKPacket || body[0] == mysql.ErrPacket || body[0] == 0xfb):
		o.over = true // no result
		return f.on(body)
	case o.columns < 0:
		o.columns, o.ended = int(body[0]), deprecateEOF
		if body[0] == 0xfc && len(body) == 3 { // 251 columns and more
			o.columns = int(binary.LittleEndian.Uint16(body[1:]))
		}
		return f.on(body)
	case o.columns > 0:
		o.columns--
		return f.on(body)
	case !o.ended: // the EOF behind the columns, which is sent when the rows are known to be there
		o.ended = true
		return nil
	case len(o.row) > 0 || len(body) == fullPacket:
		if o.row = append(o.row, body...); len(body) < fullPacket {
			o.cursor.add(o.row)
			o.row = nil
		}
		return nil
	case len(body) > 0 && body[0] == mysql.ErrPacket:
		o.over = true
		o.cursor.close()
		return f.on(body)
	case len(body) > 0 && body[0] == mysql.EOFPacket:
		o.over = true
		if e := o.cursor.complete(); e != nil {
			o.cursor.close()
			return f.on(errorPacket(e))
		}
		if f.cursors == nil {
			f.cursors = map[uint32]*cursor{}
		}
		f.cursors[o.statement] = o.cursor
		return f.on(f.endOfRows(statusCursorExists))
	}
	o.cursor.add(body)
	return nil
}

// on sends a packet of the answer to the client.
func (f *commands) on(body []byte) error {
	o := f.opening
	n := len(body)
	packet := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), o.seq}, body...)
	o.seq++
	f.out.follow(packet)
	_, err := f.Conn.Write(packet)
	return err
}

// closeCursor closes a statement's cursor if it has one; 0 is all statements.
func (f *commands) closeCursor(id uint32) {
	for statement, c := range f.cursors {
		if statement == id || id == 0 {
			c.close()
			delete(f.cursors, statement)
		}
	}
}

// endOfRows is the packet that ends columns or rows, with a flag of cursors.
func (f *commands) endOfRows(flag uint16) []byte {
	status, warnings := f.c.conn.StatusFlags|flag, f.c.handler.WarningCount(f.c.conn)
	out := []byte{mysql.EOFPacket}
	if f.c.conn.Capabilities&mysql.CapabilityClientDeprecateEOF != 0 {
		out = append(out, 0, 0) // an OK packet: rows, insert id
		return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(out, status), warnings)
	}
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(out, warnings), status)
}

// fetch answers COM_STMT_FETCH.
//
//	 1    4            4
//	+----+------------+------+
//	| 28 | statement  | rows |
//	+----+------------+------+
func (f *commands) fetch(arg []byte) error {
	if len(arg) < 8 {
		return f.fail(1, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	id, n := binary.LittleEndian.Uint32(arg), uint64(binary.LittleEndian.Uint32(arg[4:]))
	c := f.cursors[id]
	if c == nil {
		return f.fail(1, sqlerr.New(sqlerr.NoOpenCursor, "The statement (%d) has no open cursor.", id))
	}
	w := bufio.NewWriterSize(f.Conn, 64<<10)
	seq := byte(1)
	packet := func(body []byte) {
		for {
			part := body[:min(len(body), fullPacket)]
			n := len(part)
			_, _ = w.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq}) // the error comes with Flush
			_, _ = w.Write(part)
			seq++
			if body = body[n:]; n < fullPacket {
				return
			}
		}
	}
	flag := uint16(statusCursorExists)
	for ; n > 0 && c.rows > 0; n-- {
		row, err := c.next()
		if err != nil {
			f.closeCursor(id)
			packet(errorPacket(sqlerr.New(sqlerr.ErrorOnRead, "Error reading the rows of a cursor: %v", err)))
			return w.Flush()
		}
		packet(row)
	}
	if n > 0 { // it asked for more than there are
		flag = statusLastRowSent
		f.closeCursor(id)
	}
	packet(f.endOfRows(flag))
	return w.Flush()
}
