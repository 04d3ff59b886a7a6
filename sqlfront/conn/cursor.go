package conn

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/tempfile"
)

// A cursor of the binary protocol (CURSOR_TYPE_READ_ONLY in an EXECUTE) is the whole result of a
// statement, kept on the server, of which COM_STMT_FETCH takes so many rows at a time: MySQL's are
// temporary tables, too. The rows are kept as the packets that they will be, in memory, for which the session
// is charged, up to cursorMemory or as far as it may keep them, and otherwise in a file that has no name. A
// cursor whose rows are in a file has nothing in memory between two FETCHes.
//
//	EXECUTE, flags 1 ──▶ columns, EOF with SERVER_STATUS_CURSOR_EXISTS
//	FETCH id, n      ──▶ n rows, EOF with SERVER_STATUS_CURSOR_EXISTS, or, after the last,
//	                     with SERVER_STATUS_LAST_ROW_SENT
//	CLOSE, RESET, EXECUTE id, RESET_CONNECTION ──▶ the cursor is closed
//
// The files of all cursors together are bounded by temptable_max_mmap, as the files of MySQL's temporary
// tables are; beyond it a statement fails with the error of a full table (1114).
//
// Statements that have no result, and those with several (CALL), open none; a client then gets its answer
// as without the flag.

const (
	// cursorMemory is how many bytes of a cursor's rows stay in memory.
	cursorMemory = 256 << 10
	// cursorStep is by how much a file grows before it is counted.
	cursorStep = 1 << 20
	// maxCursors is how many cursors a connection may have open, each of which may hold a file.
	maxCursors = 64
)

// cursor is the rows that have not been fetched yet: each a length of 4 bytes, little endian, and the
// packet's body.
type cursor struct {
	head   []byte                           // rows in memory, if there is no file
	keep   func(n int64, what string) error // charges the session for head
	kept   int64                            // what it was charged
	srv    *Server
	file   *tempfile.File
	taken  int64 // of Server.cursors
	w      *bufio.Writer
	at     int64 // how much has been fetched
	size   int64
	rows   uint64 // still to be fetched
	failed *sqlerr.Error
}

// add keeps a row. What goes wrong is told at the end of the result.
func (c *cursor) add(row []byte) {
	if c.failed != nil {
		return
	}
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(row)))
	c.size += int64(4 + len(row))
	if c.file == nil {
		if c.size <= cursorMemory && c.room() {
			c.head = append(append(c.head, length[:]...), row...)
			c.rows++
			return
		}
		if err := c.spill(); err != nil {
			c.failed = unwritable(err)
			return
		}
	}
	if c.failed = c.take(); c.failed != nil {
		return
	}
	for _, b := range [][]byte{length[:], row} {
		if _, err := c.w.Write(b); err != nil {
			c.failed = unwritable(err)
			return
		}
	}
	c.rows++
}

// take counts what the file is about to have.
func (c *cursor) take() *sqlerr.Error {
	if c.size <= c.taken {
		return nil
	}
	n := max(c.size-c.taken, cursorStep)
	c.taken += n
	if most := variable("temptable_max_mmap"); c.srv.cursors.Add(n) > most {
		return sqlerr.New(sqlerr.RecordFileFull,
			"The table 'cursor' is full: all cursors together may have %d bytes on disk "+
				"(temptable_max_mmap); fetch the open ones to their end, or close them", most)
	}
	return nil
}

// room makes room in memory for all rows so far, and reports whether the session may keep them.
func (c *cursor) room() bool {
	if c.size <= int64(cap(c.head)) {
		return true
	}
	room := min(max(c.size, 2*int64(cap(c.head)), leastHead), cursorMemory)
	if c.keep(room-c.kept, "cursors") != nil {
		return false
	}
	c.kept = room
	c.head = append(make([]byte, 0, room), c.head...)
	return true
}

// leastHead is what a cursor of few rows has room for.
const leastHead = 512

// forgetHead gives back the memory.
func (c *cursor) forgetHead() {
	_ = c.keep(-c.kept, "") // giving back does not fail
	c.head, c.kept = nil, 0
}

// spill begins the file, with what was in memory.
func (c *cursor) spill() (err error) {
	if c.file, err = c.srv.opts.Temp.Create(); err != nil {
		return err
	}
	c.w = bufio.NewWriterSize(c.file, 64<<10)
	_, err = c.w.Write(c.head)
	c.forgetHead()
	return err
}

// unwritable is the error of a file that cannot be written.
func unwritable(err error) *sqlerr.Error {
	if code := sqlerr.Code(err); code == sqlerr.RecordFileFull || code == sqlerr.DiskFull {
		return asSQLError(err)
	}
	return sqlerr.New(sqlerr.ErrorOnWrite, "Error writing the rows of a cursor: %v", err)
}

// complete makes the rows readable.
func (c *cursor) complete() *sqlerr.Error {
	if c.failed == nil && c.w != nil {
		if err := c.w.Flush(); err != nil {
			c.failed = unwritable(err)
		}
	}
	c.w = nil
	return c.failed
}

// reader reads on where the last FETCH has ended.
func (c *cursor) reader() io.Reader {
	if c.file == nil {
		return bytes.NewReader(c.head[c.at:])
	}
	return bufio.NewReaderSize(io.NewSectionReader(c.file, c.at, c.size-c.at), 64<<10)
}

// next returns the next row. widen is asked before a long one is read, which is there twice when it is sent.
func (c *cursor) next(from io.Reader, widen func(int) error) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, unreadable(err)
	}
	n := int(binary.LittleEndian.Uint32(length[:]))
	if n > longText {
		if err := widen(2 * n); err != nil {
			return nil, err
		}
	}
	row := make([]byte, n)
	if _, err := io.ReadFull(from, row); err != nil {
		return nil, unreadable(err)
	}
	c.at += int64(len(length) + n)
	c.rows--
	return row, nil
}

func unreadable(err error) error {
	return sqlerr.New(sqlerr.ErrorOnRead, "Error reading the rows of a cursor: %v", err)
}

func (c *cursor) close() {
	c.forgetHead()
	if c.file != nil {
		_ = c.file.Close() // it has no name any more
		c.srv.cursors.Add(-c.taken)
		c.taken = 0
	}
}

// closeCursor closes a statement's cursor if it has one.
func (c *Connection) closeCursor(p *prepared) {
	if p.cursor != nil {
		p.cursor.close()
		p.cursor = nil
		c.cursors--
	}
}

// fetch answers COM_STMT_FETCH.
func (c *Connection) fetch(arg []byte) *sqlerr.Error {
	id, n, err := mysqlproto.ParseFetch(arg)
	if err != nil {
		return malformed()
	}
	p := c.statements[id]
	if p == nil {
		return unknownStatement(id, "mysqld_stmt_fetch")
	}
	if p.cursor == nil {
		return sqlerr.New(sqlerr.NoOpenCursor, "The statement (%d) has no open cursor.", id)
	}
	ctx, err := c.begin(context.Background())
	if err != nil {
		return c.final(err, "")
	}
	defer c.end()
	var flag uint16
	err = c.operation(ctx, p.text, func(ctx *sql.Context) error {
		stop := c.heed(ctx)
		defer stop()
		flag, err = c.fetchRows(ctx, p, n)
		return err
	})
	if err != nil {
		c.closeCursor(p)
		return c.final(err, p.text)
	}
	c.endRows(flag, c.warnings())
	return nil
}

// fetchRows sends the next n rows. The flag is that of the packet behind them.
func (c *Connection) fetchRows(ctx context.Context, p *prepared, n uint32) (flag uint16, err error) {
	defer c.sent()
	from := p.cursor.reader()
	for ; n > 0 && p.cursor.rows > 0; n-- {
		row, err := p.cursor.next(from, c.widen)
		if err != nil {
			return 0, err
		}
		c.out.Packet(row)
		c.sent()
		if err := cmp.Or(c.out.Err(), context.Cause(ctx)); err != nil {
			return 0, err
		}
	}
	if n == 0 {
		return mysqlproto.StatusCursorExists, nil
	}
	c.closeCursor(p) // it asked for more than there are
	return mysqlproto.StatusLastRowSent, nil
}
