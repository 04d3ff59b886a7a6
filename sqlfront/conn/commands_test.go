package conn

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// raw is a client that sends what it is told, byte by byte.
type raw struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

// raw logs in as root.
func (r *rig) raw(t testing.TB) *raw {
	t.Helper()
	c, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	x := &raw{t, c, bufio.NewReader(c)}
	x.recv() // the greeting
	const capabilities = mysqlproto.ClientProtocol41 | mysqlproto.ClientSecureConnection |
		mysqlproto.ClientPluginAuth | mysqlproto.ClientMultiStatements
	login := binary.LittleEndian.AppendUint32(nil, capabilities)
	login = append(login, 0, 0, 0, 1, 255)
	login = append(login, make([]byte, 23)...)
	login = append(login, "root\x00\x00mysql_native_password\x00"...)
	x.packet(1, login)
	if _, b := x.recv(); b[0] != mysqlproto.HeaderOK {
		t.Fatalf("login: %q", b)
	}
	return x
}

func (x *raw) packet(seq byte, body []byte) {
	n := len(body)
	_, _ = x.c.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), seq},
		body...)) // a refusal shows at the next read
}

func (x *raw) recv() (seq byte, body []byte) {
	x.t.Helper()
	seq, body, err := x.read()
	if err != nil {
		x.t.Fatal(err)
	}
	return seq, body
}

func (x *raw) read() (seq byte, body []byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(x.r, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(x.r, body)
	return head[3], body, err
}

// command sends one and returns the first packet of the answer.
func (x *raw) command(body ...byte) []byte {
	x.t.Helper()
	x.packet(0, body)
	_, b := x.recv()
	return b
}

// prepare returns the statement's number as it is on the wire.
func (x *raw) prepare(text string) []byte {
	x.t.Helper()
	b := x.command(append([]byte{mysqlproto.ComStmtPrepare}, text...)...)
	if b[0] != mysqlproto.HeaderOK {
		x.t.Fatalf("%q", b)
	}
	for _, n := range []uint16{binary.LittleEndian.Uint16(b[5:]), binary.LittleEndian.Uint16(b[7:])} {
		for range n {
			x.recv()
		}
		if n > 0 {
			x.recv() // the end of them
		}
	}
	return b[1:5]
}

func (x *raw) wantErr(what string, b []byte, code int) {
	x.t.Helper()
	if len(b) < 9 || b[0] != mysqlproto.HeaderErr || int(binary.LittleEndian.Uint16(b[1:])) != code {
		x.t.Errorf("%s: got %q, want error %d", what, b, code)
	} else if want := "#" + sqlerr.State(code); string(b[3:9]) != want {
		x.t.Errorf("%s: state %q, want %q", what, b[3:9], want)
	}
}

func (x *raw) wantAlive(after string) {
	x.t.Helper()
	if b := x.command(mysqlproto.ComPing); b[0] != mysqlproto.HeaderOK {
		x.t.Errorf("ping after %s: %q", after, b)
	}
}

func (x *raw) wantClosed(after string) {
	x.t.Helper()
	if _, b, err := x.read(); err == nil {
		x.t.Errorf("after %s: got %q, want the end of the connection", after, b)
	} else if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		x.t.Errorf("after %s the connection is still open", after)
	}
}

func TestMinorCommands(t *testing.T) {
	r := newRig(t, nil)
	x := r.raw(t)
	if b := x.command(mysqlproto.ComStatistics); !strings.HasPrefix(string(b), "Uptime: ") {
		t.Errorf("statistics: %q", b)
	}
	if b := x.command(mysqlproto.ComDebug); b[0] != mysqlproto.HeaderEOF {
		t.Errorf("debug: %q", b)
	}
	if b := x.command(mysqlproto.ComRefresh, 1); b[0] != mysqlproto.HeaderOK {
		t.Errorf("refresh: %q", b)
	}
	if b := x.command(mysqlproto.ComResetConnection); b[0] != mysqlproto.HeaderOK || b[3]&2 == 0 {
		t.Errorf("reset: %q (want OK, in autocommit)", b)
	}
	x.wantErr("shutdown", x.command(mysqlproto.ComShutdown), sqlerr.UnsupportedFeature)
	x.wantErr("unknown", x.command(0x1d), sqlerr.UnknownCommand)
	x.wantErr("fetch", x.command(mysqlproto.ComStmtFetch, 1, 0, 0, 0, 1, 0, 0, 0),
		sqlerr.UnknownStmtHandler)
	x.wantErr("set option", x.command(mysqlproto.ComSetOption, 7, 0), sqlerr.UnknownCommand)
	x.wantErr("reset of no statement", x.command(mysqlproto.ComStmtReset, 9, 0, 0, 0),
		sqlerr.UnknownStmtHandler)
	x.wantErr("execute of no statement", x.command(mysqlproto.ComStmtExecute, 9, 0, 0, 0, 0, 1, 0, 0, 0),
		sqlerr.UnknownStmtHandler)
	x.packet(0, []byte{mysqlproto.ComStmtLongData, 9, 0, 0, 0, 0, 0,
		'x'}) // no answer, whatever is wrong with it
	x.wantAlive("all of these")

	victim := r.conn()
	var id uint32
	if err := victim.QueryRowContext(context.Background(), "select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := victim.ExecContext(context.Background(), "select wait()"); failed <- err }()
	<-r.entered
	if b := x.command(binary.LittleEndian.AppendUint32([]byte{mysqlproto.ComProcessKill},
		id)...); b[0] != mysqlproto.HeaderOK {
		t.Errorf("kill: %q", b)
	}
	if err := <-failed; err == nil {
		t.Error("the killed statement went on")
	}
}

func nativeAnswer(password string, salt []byte) []byte {
	h1 := sha1.Sum([]byte(password))
	h2 := sha1.Sum(h1[:])
	h := sha1.New()
	h.Write(salt)
	h.Write(h2[:])
	out := h.Sum(nil)
	for i := range out {
		out[i] ^= h1[i]
	}
	return out
}

func TestChangeUser(t *testing.T) {
	r := newRig(t, nil)
	exec(t, r.open(""), "create user other identified by 'secret'", "grant all on test.* to other",
		"create user bare identified by 'secret'")
	change := func(user, database, password string) (*raw, []byte) {
		x := r.raw(t)
		for _, q := range []string{"set @mine = 1", "use test"} {
			if b := x.command(append([]byte{mysqlproto.ComQuery}, q...)...); b[0] != mysqlproto.HeaderOK {
				t.Fatalf("%s: %q", q, b)
			}
		}
		b := x.command(append([]byte{mysqlproto.ComChangeUser},
			user+"\x00\x00"+database+"\x00\xff\x00mysql_native_password\x00"...)...)
		if b[0] != mysqlproto.HeaderAuthSwitch {
			t.Fatalf("%q", b)
		}
		_, salt, _ := bytes.Cut(b, []byte{0})
		x.packet(2, nativeAnswer(password, bytes.TrimSuffix(salt, []byte{0})))
		_, b = x.recv()
		return x, b
	}
	x, b := change("other", "test", "secret")
	if b[0] != mysqlproto.HeaderOK {
		t.Fatalf("change user: %q", b)
	}
	x.command(append([]byte{mysqlproto.ComQuery},
		"select concat(substring_index(user(), '@', 1), ' ', database(), ' ', ifnull(@mine, 'new'))"...)...)
	x.recv() // the column
	x.recv() // its end
	if _, b = x.recv(); string(b[1:]) != "other test new" {
		t.Errorf("after the change: %q", b)
	}
	if _, b = change("bare", "",
		"secret"); b[0] != mysqlproto.HeaderOK { // who has no right to the database that was in use
		t.Errorf("change user without a database: %q", b)
	}
	x, b = change("other", "test", "wrong")
	x.wantErr("wrong password", b, sqlerr.AccessDenied)
	x.wantClosed("a wrong password")
	x = r.raw(t)
	x.wantErr("junk", x.command(mysqlproto.ComChangeUser, 'x'), sqlerr.MalformedPacket)
	x.wantClosed("junk")
}

func TestHostilePackets(t *testing.T) {
	r := newRig(t, nil)
	x := r.raw(t)
	id := x.prepare("select ? + ?")
	execute := func(tail ...byte) []byte {
		return append(append([]byte{mysqlproto.ComStmtExecute}, id...), tail...)
	}
	for what, body := range map[string][]byte{
		"nothing behind the id":     execute(),
		"no NULL bitmap":            execute(0, 1, 0, 0, 0),
		"NULL bitmap, no flag":      execute(0, 1, 0, 0, 0, 0),
		"types missing":             execute(0, 1, 0, 0, 0, 0, 1, 8),
		"the second type is halved": execute(0, 1, 0, 0, 0, 0, 1, 8, 0, 8),
	} {
		x.packet(0, body)
		_, b := x.recv()
		x.wantErr(what, b, sqlerr.WrongExecuteArguments)
		x.wantAlive(what)
	}
	// A value that says that it has twelve gigabytes.
	long := binary.LittleEndian.AppendUint64([]byte{0, 1, 0, 0, 0, 0, 1, 253, 0, 253, 0, 0xfe}, 12<<30)
	x.packet(0, execute(long...))
	_, b := x.recv()
	x.wantErr("twelve gigabytes", b, sqlerr.MalformedPacket)
	x.wantAlive("twelve gigabytes")
	x.packet(0, execute(append(long, make([]byte, 2*16<<10)...)...))
	_, b = x.recv()
	x.wantErr("twelve gigabytes behind more than fits the buffer", b, sqlerr.MalformedPacket)
	x.wantAlive("twelve gigabytes")

	// Values that are not there.
	if b := x.command(execute(0, 1, 0, 0, 0, 0, 1, 8, 0, 8, 0, 1, 2)...); b[0] != mysqlproto.HeaderErr {
		t.Errorf("half a number: %q", b)
	}
	x.wantAlive("half a number")

	x = r.raw(t)
	x.packet(0, nil)
	if _, b, err := x.read(); err == nil {
		x.wantErr("an empty packet", b, sqlerr.MalformedPacket)
	}
	x.wantClosed("an empty packet")
	x = r.raw(t)
	x.packet(7, []byte{mysqlproto.ComPing})
	x.wantErr("out of order", func() []byte { _, b := x.recv(); return b }(), sqlerr.MalformedPacket)
	x.wantClosed("a packet out of order")
	if n := r.server.Stats().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}

// A command may not be longer than max_allowed_packet, however many packets it comes in; it is refused
// before it is read.
func TestMaxAllowedPacket(t *testing.T) {
	r := newRig(t, nil)
	x := r.raw(t)
	_, _ = x.c.Write([]byte{0xff, 0xff, 0xff, 0, mysqlproto.ComQuery})
	piece := bytes.Repeat([]byte{' '}, mysqlproto.MaxPayload)
	_, _ = x.c.Write(piece[1:])
	var seq byte
	for sent := mysqlproto.MaxPayload; sent < 2*defaultMaxPacket; sent += mysqlproto.MaxPayload {
		seq++
		if _, err := x.c.Write([]byte{0xff, 0xff, 0xff, seq}); err != nil {
			break
		}
		if _, err := x.c.Write(piece); err != nil {
			break // the server has hung up
		}
	}
	// The answer is lost when the client is still writing: TCP's reset overtakes it. What counts is that
	// the server did.
	if _, b, err := x.read(); err == nil {
		x.wantErr("too long", b, sqlerr.PacketTooLarge)
	}
	x.wantClosed("too long a command")

	// A limit of the server, and a parameter in pieces.
	setGlobal(t, "max_allowed_packet", uint64(4096))
	x = r.raw(t)
	x.prepare("select length(?)")
	for range 5 {
		x.packet(0, append([]byte{mysqlproto.ComStmtLongData, 1, 0, 0, 0, 0, 0}, make([]byte, 1000)...))
	}
	x.wantErr("pieces", x.command(mysqlproto.ComStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 252, 0),
		sqlerr.PacketTooLarge)
	x.wantAlive("pieces")
	x.packet(0, append([]byte{mysqlproto.ComQuery}, make([]byte, 5000)...))
	x.wantErr("text", func() []byte { _, b := x.recv(); return b }(), sqlerr.PacketTooLarge)
	x.wantClosed("text")
}

// A parameter may be longer than a packet of the protocol, and its pieces as well.
func TestLongParameter(t *testing.T) {
	r := newRig(t, nil)
	db := r.open("?maxAllowedPacket=0")
	want := strings.Repeat("0123456789abcde\n", 18<<20/16)
	var n int
	var end string
	if err := db.QueryRow("select length(?), right(?, 3)", want, want).Scan(&n, &end); err != nil ||
		n != len(want) || end != want[len(want)-3:] {
		t.Errorf("%d bytes that end with %q, %v", n, end, err)
	}
	x := r.raw(t)
	id := x.prepare("select length(?)")
	closing := append([]byte{mysqlproto.ComStmtClose}, id...)
	x.packet(0, closing)
	x.wantErr("after close", x.command(append(append([]byte{mysqlproto.ComStmtExecute}, id...), 0, 1, 0, 0,
		0)...), sqlerr.UnknownStmtHandler)
}

// TestPreparedStatementsAreBounded: max_prepared_stmt_count is of all connections together, and what a
// connection had is free when it is gone (S4: prepared statements).
func TestPreparedStatementsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	setGlobal(t, "max_prepared_stmt_count", int64(5))
	x, y := r.raw(t), r.raw(t)
	refused := func(x *raw) {
		t.Helper()
		x.wantErr("one more", x.command(append([]byte{mysqlproto.ComStmtPrepare}, "do 1"...)...),
			sqlerr.TooManyPrepared)
	}
	for range 3 {
		x.prepare("do 1")
	}
	y.prepare("do 1")
	y.prepare("do 1")
	refused(y)
	refused(x)
	x.packet(0, []byte{mysqlproto.ComStmtClose, 1, 0, 0, 0})
	x.prepare("do 1")
	refused(x)
	if b := x.command(mysqlproto.ComResetConnection); b[0] != mysqlproto.HeaderOK {
		t.Fatalf("%q", b)
	}
	for range 3 {
		y.prepare("do 1")
	}
	refused(x)
	_ = y.c.Close()
	for r.server.prepared.Load() > 0 {
		r.server.mu.Lock()
		there, changed := len(r.server.conns), r.server.changed
		r.server.mu.Unlock()
		if there > 1 {
			<-changed
		}
	}
	x.prepare("do 1")
}

// setGlobal sets a global variable for the length of a test.
func setGlobal(t testing.TB, name string, v any) {
	t.Helper()
	_, was, _ := gms.SystemVariables.GetGlobal(name)
	if err := gms.SystemVariables.AssignValues(map[string]any{name: v}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gms.SystemVariables.AssignValues(map[string]any{name: was}) })
}

// TestParametersThatAreNoNumbers: NaN and infinity as DOUBLE or FLOAT parameters are refused, and the
// connection goes on (S17).
func TestParametersThatAreNoNumbers(t *testing.T) {
	r := newRig(t, nil)
	x := r.raw(t)
	id := x.prepare("select ? + 1")
	const typeFloat, typeDouble = 4, 5
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.NaN()} {
		execute := append(append([]byte{mysqlproto.ComStmtExecute}, id...), 0, 1, 0, 0, 0, 0, 1)
		double := binary.LittleEndian.AppendUint64(append(bytes.Clone(execute), typeDouble, 0),
			math.Float64bits(f))
		x.wantErr(fmt.Sprint(f), x.command(double...), sqlerr.WrongExecuteArguments)
		float := binary.LittleEndian.AppendUint32(append(bytes.Clone(execute), typeFloat, 0),
			math.Float32bits(float32(f)))
		x.wantErr(fmt.Sprint(f), x.command(float...), sqlerr.WrongExecuteArguments)
		x.wantAlive(fmt.Sprint(f))
	}
	if n := r.server.Stats().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}

// TestDecimalParameters: a DECIMAL parameter is one, with all its digits. As a text it was added as a DOUBLE,
// and compared as one or letter by letter.
func TestDecimalParameters(t *testing.T) {
	for _, text := range []string{"0.10", "-12345678901234567890.12", "9007199254740993"} {
		all, err := expressions([]mysqlproto.Param{{Kind: mysqlproto.KindDecimal, Text: text}})
		v, ok := all["v1"].(*ast.SQLVal)
		if err != nil || !ok || v.Type != ast.FloatVal || string(v.Val) != text {
			t.Errorf("%s: %v, %v", text, all["v1"], err)
		}
	}
}

// TestDefaultOfMaxAllowedPacket: SET GLOBAL max_allowed_packet = DEFAULT is MySQL's 64 MiB, not the
// library's 1 GiB.
func TestDefaultOfMaxAllowedPacket(t *testing.T) {
	r := newRig(t, nil)
	c := r.conn()
	exec(t, c, "set global max_allowed_packet = 4096", "set global max_allowed_packet = default")
	var n int
	if err := c.QueryRowContext(context.Background(),
		"select @@global.max_allowed_packet + 0").Scan(&n); err != nil || n != 64<<20 {
		t.Errorf("%d, %v", n, err)
	}
}

// FuzzExecute sends what it likes as the parameters of a statement, whole and in pieces: an error, or a
// result, and the connection goes on.
func FuzzExecute(f *testing.F) {
	r := newRig(f, nil)
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, 5, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, uint16(0), []byte("piece"))
	f.Add([]byte{0, 1, 0, 0, 0, 3, 1, 12, 0, 11, 0}, uint16(1), []byte{})
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, 253, 0, 254, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		uint16(7), []byte{1})
	f.Add([]byte{0, 1, 0, 0, 0, 0, 1, 11, 0, 7, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 4, 1, 2, 3, 4},
		uint16(0), []byte{0})
	f.Fuzz(func(t *testing.T, body []byte, param uint16, piece []byte) {
		if len(body) > 1<<12 || len(piece) > 1<<12 {
			t.Skip()
		}
		x := r.raw(t)
		id := x.prepare("select ?, ?")
		long := binary.LittleEndian.AppendUint16(append([]byte{mysqlproto.ComStmtLongData}, id...), param)
		x.packet(0, append(long, piece...))
		x.packet(0, append(append([]byte{mysqlproto.ComStmtExecute}, id...), body...))
		x.packet(0, []byte{mysqlproto.ComQuit})
		if _, err := io.Copy(io.Discard, x.r); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		if n := r.server.Stats().Panics; n != 0 {
			t.Fatalf("%d panics", n)
		}
	})
}

// TestErrorInTheMiddle breaks a result off after its first rows: the client gets the rows and the error,
// and goes on.
func TestErrorInTheMiddle(t *testing.T) {
	r := newRig(t, nil)
	db := r.open("?multiStatements=true")
	db.SetMaxOpenConns(1)
	exec(t, db, "create table n (i int primary key)")
	var b strings.Builder
	for i := range 2000 {
		b.WriteString(",(" + itoa(i) + ")")
	}
	exec(t, db, "insert into n values "+b.String()[1:])
	const q = "select i, if(i < 1500, repeat('x', 100), (select i from n)) from n order by i"
	count := func(rows *sql.Rows, err error) (n int, _ error) {
		if err != nil {
			return 0, err
		}
		defer rows.Close()
		for rows.Next() {
			n++
		}
		return n, rows.Err()
	}
	stmt, err := db.Prepare(q)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var id, now int
	if err := db.QueryRow("select connection_id()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func() (*sql.Rows, error){
		"text":   func() (*sql.Rows, error) { return db.Query(q) },
		"binary": func() (*sql.Rows, error) { return stmt.Query() },
		"multi":  func() (*sql.Rows, error) { return db.Query(q + "; insert into n values (-1)") },
	} {
		n, err := count(run())
		wantErr(t, name, err, sqlerr.SubqueryOneRow, "21000", "Subquery returns more than 1 row")
		if n == 0 || n > 1500 {
			t.Errorf("%s: %d rows before the error, want some", name, n)
		}
		if err := db.QueryRow("select connection_id()").Scan(&now); err != nil || now != id {
			t.Errorf("%s: the connection is another (%d, was %d), %v", name, now, id, err)
		}
	}
	var n int
	if err := db.QueryRow("select count(*) from n").Scan(&n); err != nil || n != 2000 {
		t.Errorf("%d rows, %v: the statement behind the failed one was run", n, err)
	}
}

// A binary PREPARE is parsed by our parser alone.
func TestPrepareByOurParser(t *testing.T) {
	r := newRig(t, nil)
	db := r.open("?multiStatements=true")
	exec(t, db, "create table p (a int primary key, b varchar(20))", "insert into p values (1, 'x')")
	for _, q := range []string{"select high_priority b from p where a = ?",
		"/* ? */ select b from p where a = ? and '?' = \"?\" -- ?"} {
		s, err := db.Prepare(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		var got string
		if err := s.QueryRow(1).Scan(&got); err != nil || got != "x" {
			t.Errorf("%s: %q, %v", q, got, err)
		}
		s.Close()
	}
	for q, text := range map[string]string{
		"select b frm p where a = ?": "near 'p where a = ?' at line 1",
		"select 1; select 2":         "near",
		"selec ?":                    "near 'selec ?' at line 1",
	} {
		_, err := db.Prepare(q)
		wantErr(t, q, err, sqlerr.SyntaxError, "42000", text)
	}
	// As many as there may be.
	most, err := db.Prepare("select ? in (" + strings.Repeat("?,", mysqlproto.MaxParams-2) + "?)")
	if err != nil {
		t.Fatal(err)
	}
	defer most.Close()
	for last, want := range map[any]sql.NullInt64{int64(7): {Int64: 1, Valid: true}, "7": {Int64: 1,
		Valid: true}, int64(8): {Valid: true}, nil: {}} {
		args := make([]any, mysqlproto.MaxParams)
		for i := range args {
			args[i] = i%5 - 10
		}
		args[0], args[mysqlproto.MaxParams-1] = 7, last
		var got sql.NullInt64
		if err := most.QueryRow(args...).Scan(&got); err != nil || got != want {
			t.Errorf("the last parameter is %v: %v, %v, want %v", last, got, err, want)
		}
	}
	_, err = db.Prepare("select " + strings.Repeat("?,", mysqlproto.MaxParams) + "?")
	wantErr(t, "many", err, sqlerr.TooManyParameters, "HY000", "too many placeholders")
	_, err = db.Prepare(" ")
	wantErr(t, "nothing", err, sqlerr.EmptyQuery, "42000", "Query was empty")
}

// FuzzCommands sends junk to a connection that has logged in. Whatever it is, nothing panics, and others
// are served.
func FuzzCommands(f *testing.F) {
	r := newRig(f, nil)
	packet := func(body string) string {
		return string([]byte{byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16), 0}) + body
	}
	prepare := packet("\x16select ?, ?")
	for _, seed := range []string{
		"", "\x00\x00\x00\x00", "\x01\x00\x00\x00\x01", "\xff\xff\xff\x00\x03", packet("\x03select 1"),
		packet("\x03set @a = 1; select @a; junk"),
		prepare + packet("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\xfe\x00"), prepare +
			packet("\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00\x03"),
		prepare + packet("\x18\x01\x00\x00\x00\x00\x00abc") + packet("\x1a\x01\x00\x00\x00") +
			packet("\x18\x01\x00\x00\x00\x00\x00abc"),
		prepare + packet("\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x0c\x00\x0b\x00\x0b") +
			packet("\x19\x01\x00\x00\x00") + packet("\x1c\x01\x00\x00\x00\x09\x00\x00\x00"),
		packet("\x11root\x00\x00\x00"), packet("\x04t\x00%"), packet("\x02test"), packet("\x09") +
			packet("\x1f") + packet("\x0c\x01"), packet("\x1b\x01\x00"),
		packet("\x16") + packet("\x17"), packet("\x1e\x00\x00"), packet("\x15\x01\x00\x00\x00"),
	} {
		f.Add([]byte(seed))
	}
	other := r.open("")
	f.Fuzz(func(t *testing.T, data []byte) {
		x := r.raw(t)
		if _, err := x.c.Write(data); err == nil {
			_ = x.c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, x.r)
		}
		_ = x.c.Close()
		if n := r.server.Stats().Panics; n != 0 {
			t.Fatalf("%d panics", n)
		}
		if err := other.Ping(); err != nil {
			t.Fatal(err)
		}
	})
}
