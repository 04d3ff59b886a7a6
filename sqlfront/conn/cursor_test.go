package conn

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/tempfile"
)

// openCursor executes with CURSOR_TYPE_READ_ONLY and returns the columns' number and the status behind them.
func (x *raw) openCursor(id []byte) (columns int, status uint16) {
	x.t.Helper()
	b := x.command(append(append([]byte{mysqlproto.ComStmtExecute}, id...), mysqlproto.CursorReadOnly, 1, 0,
		0, 0)...)
	if b[0] == mysqlproto.HeaderErr || b[0] == mysqlproto.HeaderOK {
		x.t.Fatalf("execute: %q", b)
	}
	columns = int(b[0])
	for range columns {
		x.recv()
	}
	_, b = x.recv()
	if b[0] != mysqlproto.HeaderEOF {
		x.t.Fatalf("behind the columns: %q", b)
	}
	return columns, binary.LittleEndian.Uint16(b[3:])
}

// fetch returns how many rows came, the first bytes of the last, and the status.
func (x *raw) fetch(id []byte, n uint32) (rows int, last []byte, status uint16) {
	x.t.Helper()
	b := x.command(binary.LittleEndian.AppendUint32(append([]byte{mysqlproto.ComStmtFetch}, id...), n)...)
	for b[0] == mysqlproto.HeaderOK {
		rows, last = rows+1, b
		_, b = x.recv()
	}
	if b[0] != mysqlproto.HeaderEOF {
		x.t.Fatalf("fetch: %q", b)
	}
	return rows, last, binary.LittleEndian.Uint16(b[3:])
}

// TestCursor: a result is fetched in parts, in step with other statements, and ends with the flags that
// clients look for. A client that got the whole result at once was out of step for good (Connector/C:
// "Commands out of sync").
func TestCursor(t *testing.T) {
	r := newRig(t, nil)
	exec(t, r.open(""), "create table test.n (i int primary key, s longtext)")
	for i := range 10 {
		exec(t, r.open(""), fmt.Sprintf("insert into test.n values (%d, repeat('x', %d))", i, 100_000*(i%2)))
	}
	x := r.raw(t)
	id, other := x.prepare("select i, s from test.n order by i"),
		x.prepare("select i from test.n where i > 100")
	if columns, status := x.openCursor(id); columns != 2 || status&mysqlproto.StatusCursorExists == 0 {
		t.Errorf("open: %d columns, status %x", columns, status)
	}
	if n, last, status := x.fetch(id, 3); n != 3 || last[2] != 2 ||
		status&mysqlproto.StatusCursorExists == 0 || status&mysqlproto.StatusLastRowSent != 0 {
		t.Errorf("fetch 3: %d rows, %x, status %x", n, last[:6], status)
	}
	if b := x.command(append([]byte{mysqlproto.ComQuery}, "set @a = 1"...)...); b[0] != mysqlproto.HeaderOK {
		t.Errorf("between fetches: %q", b)
	}
	x.openCursor(other)
	if n, _, status := x.fetch(other, 1); n != 0 || status&mysqlproto.StatusLastRowSent == 0 {
		t.Errorf("of nothing: %d rows, status %x", n, status)
	}
	x.wantErr("fetch behind the end", x.command(append(append([]byte{mysqlproto.ComStmtFetch}, other...), 1,
		0, 0, 0)...), sqlerr.NoOpenCursor)
	if n, last, status := x.fetch(id, 7); n != 7 || last[2] != 9 || len(last) < 100_000 ||
		status&mysqlproto.StatusLastRowSent != 0 {
		t.Errorf("fetch 7: %d rows, status %x", n, status)
	}
	if n, _, status := x.fetch(id, 1); n != 0 || status&mysqlproto.StatusLastRowSent == 0 ||
		status&mysqlproto.StatusCursorExists != 0 {
		t.Errorf("the last fetch: %d rows, status %x", n, status)
	}
	// What closes a cursor.
	x.openCursor(id)
	x.fetch(id, 1)
	x.openCursor(id)
	if _, last, _ := x.fetch(id, 1); last[2] != 0 {
		t.Errorf("a second EXECUTE does not begin anew: %x", last[:6])
	}
	if b := x.command(append([]byte{mysqlproto.ComStmtReset}, id...)...); b[0] != mysqlproto.HeaderOK {
		t.Errorf("reset: %q", b)
	}
	x.wantErr("fetch after a reset", x.command(append(append([]byte{mysqlproto.ComStmtFetch}, id...), 1, 0, 0,
		0)...), sqlerr.NoOpenCursor)
	// What opens none.
	insert := x.prepare("insert into test.n values (77, '')")
	if b := x.command(append(append([]byte{mysqlproto.ComStmtExecute}, insert...), mysqlproto.CursorReadOnly,
		1, 0, 0, 0)...); b[0] != mysqlproto.HeaderOK {
		t.Errorf("insert: %q", b)
	}
	failing := x.prepare("insert into test.n values (1, '')")
	x.wantErr("failing", x.command(append(append([]byte{mysqlproto.ComStmtExecute}, failing...),
		mysqlproto.CursorReadOnly, 1, 0, 0, 0)...), sqlerr.DuplicateKeyEntry)
	x.wantErr("a short fetch", x.command(mysqlproto.ComStmtFetch, 1, 0, 0, 0), sqlerr.MalformedPacket)
	x.wantAlive("all of these")
	// As many as there may be, and one more.
	for i := range maxCursors + 1 {
		one := x.prepare("select i from test.n")
		b := x.command(append(append([]byte{mysqlproto.ComStmtExecute}, one...), mysqlproto.CursorReadOnly, 1,
			0, 0, 0)...)
		if i == maxCursors {
			x.wantErr("one cursor too many", b, sqlerr.OutOfMemory)
			break
		}
		x.recv() // the column
		x.recv() // its end
	}
	x.wantAlive("one too many")
}

// TestCursorRows: rows come back as they were kept, from memory and from the file, and the file is nowhere
// to be found.
func TestCursorRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tmp")
	temp, err := tempfile.New(tempfile.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	srv := &Server{opts: Options{Temp: temp}}
	c := &cursor{srv: srv, keep: func(int64, string) error { return nil }}
	row := func(i int) []byte { return append([]byte(fmt.Sprint(i, ":")), make([]byte, i%997)...) }
	for i := range 2000 {
		c.add(row(i))
	}
	if c.file == nil {
		t.Fatal("a megabyte stays in memory")
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	if e := c.complete(); e != nil {
		t.Fatal(e)
	}
	from := c.reader()
	for i := range 2000 {
		if i == 1000 {
			from = c.reader() // another FETCH
		}
		if got, err := c.next(from, nil); err != nil || string(got) != string(row(i)) {
			t.Fatalf("row %d: %d bytes, %v", i, len(got), err)
		}
	}
	if _, err := c.next(from, nil); sqlerr.Code(err) != sqlerr.ErrorOnRead {
		t.Errorf("behind the last: %v", err)
	}
	if c.close(); temp.Used() != 0 || srv.cursors.Load() != 0 {
		t.Errorf("%d bytes are left, %d are counted", temp.Used(), srv.cursors.Load())
	}
	// No place for the file: the statement's end says so.
	if err := os.Remove(dir); err != nil {
		t.Error(err)
	}
	c = &cursor{srv: srv, keep: c.keep}
	c.add(make([]byte, cursorMemory+1))
	if e := c.complete(); e == nil || e.Num != sqlerr.ErrorOnWrite {
		t.Errorf("without a directory: %v", e)
	}
}

// TestCursorsAreBounded: the files of all cursors have temptable_max_mmap bytes together; beyond it a
// statement fails with the error of a full table, and what is closed, or whose client goes, is given back
// (usage-9).
func TestCursorsAreBounded(t *testing.T) {
	setGlobal(t, "temptable_max_mmap", uint64(20<<20))
	r := newRig(t, nil)
	open := func(x *raw) (id, b []byte) {
		id = x.prepare("select repeat('x', 8000000)")
		b = x.command(append(append([]byte{mysqlproto.ComStmtExecute}, id...), mysqlproto.CursorReadOnly, 1,
			0, 0, 0)...)
		for range 2 * int(b[0]&1) { // the column, and the end of them
			if b[0] == 1 {
				x.recv()
			}
		}
		return id, b
	}
	one, two := r.raw(t), r.raw(t)
	id, b := open(one)
	if b[0] != 1 {
		t.Fatalf("the first: %q", b)
	}
	if _, b = open(two); b[0] != 1 {
		t.Fatalf("the second: %q", b)
	}
	_, b = open(two)
	two.wantErr("the third", b, sqlerr.RecordFileFull)
	one.packet(0, append([]byte{mysqlproto.ComStmtClose}, id...))
	one.wantAlive("the first was closed")
	if _, b = open(two); b[0] != 1 {
		t.Fatalf("in its place: %q", b)
	}
	_ = two.c.Close()
	_ = one.c.Close()
	r.gone(t)
	if n, used := r.server.cursors.Load(), r.server.opts.Temp.Used(); n != 0 || used != 0 {
		t.Errorf("%d bytes are counted, %d used, when all have gone", n, used)
	}
}

// TestCursorsAreCharged: what open cursors have in memory is charged to the session, up to what it may keep;
// beyond that their rows are in files. 64 cursors of a connection kept 16 MB, charged to nobody (usage-1).
func TestCursorsAreCharged(t *testing.T) {
	r, m := newMeteredRig(t, 1<<30, nil)
	m.keeps = 1 << 20
	x := r.raw(t)
	kept := func() int64 {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.kept
	}
	var ids [][]byte
	for range 10 {
		id := x.prepare("select repeat('x', 200000) union all select repeat('y', 10)")
		x.openCursor(id)
		ids = append(ids, id)
	}
	if n := kept(); n < 4*200_000 || n > 1<<20 {
		t.Errorf("ten cursors are charged %d bytes", n)
	}
	if used := r.server.opts.Temp.Used(); used < 5*200_000 {
		t.Errorf("%d bytes are in files", used)
	}
	for i, id := range ids {
		if n, last, _ := x.fetch(id, 1); n != 1 || len(last) < 200_000 {
			t.Errorf("cursor %d: %d rows, the last of %d bytes", i, n, len(last))
		}
		if n, last, _ := x.fetch(id, 2); n != 1 || len(last) > 20 {
			t.Errorf("cursor %d: %d more rows, the last of %d bytes", i, n, len(last))
		}
		x.packet(0, append([]byte{mysqlproto.ComStmtClose}, id...))
	}
	x.wantAlive("all are closed")
	if n, used := kept(), r.server.opts.Temp.Used(); n != 0 || used != 0 {
		t.Errorf("%d bytes are charged and %d in files when all are closed", n, used)
	}
}

// TestLongDataIsCharged: the copies that EXECUTE makes of what was sent in pieces are charged: five values
// of 5 MB were in memory up to fifteen times (usage-4).
func TestLongDataIsCharged(t *testing.T) {
	r, m := newMeteredRig(t, 5<<20, nil)
	x := r.raw(t)
	id := x.prepare("select length(?)")
	piece := func(n int) {
		head := append(append([]byte{mysqlproto.ComStmtLongData}, id...), 0, 0)
		x.packet(0, append(head, make([]byte, n)...))
	}
	exec := append(append([]byte{mysqlproto.ComStmtExecute}, id...), 0, 1, 0, 0, 0, 0, 1,
		byte(mysqlproto.TypeVarString), 0)
	piece(1 << 20)
	if b := x.command(exec...); b[0] != 1 {
		t.Fatalf("a megabyte: %q", b)
	}
	for range 4 { // the column, its end, the row, its end
		x.recv()
	}
	if _, peak := m.now(); peak < 4<<20 {
		t.Errorf("a megabyte is charged %d bytes", peak)
	}
	piece(1 << 20)
	piece(1 << 20)
	x.wantErr("two megabytes", x.command(exec...), sqlerr.CapacityExceeded)
	x.wantAlive("two megabytes")
	if used, _ := m.now(); used != 0 {
		t.Errorf("%d bytes are charged afterwards", used)
	}
}
