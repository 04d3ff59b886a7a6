package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// peer is a client that speaks the protocol by the same package as the server does.
type peer struct {
	t            *testing.T
	c            net.Conn
	in           *mysqlproto.Reader
	out          *mysqlproto.Writer
	frames       *mysqlproto.Compressed
	capabilities uint32
}

// peer logs in as root with capabilities, zstd's level at the end of the login if there is one.
func (r *rig) peer(t *testing.T, capabilities uint32) *peer {
	t.Helper()
	c, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	capabilities |= mysqlproto.ClientProtocol41 | mysqlproto.ClientSecureConnection |
		mysqlproto.ClientPluginAuth
	p := &peer{t: t, c: c, in: mysqlproto.NewReader(c), out: mysqlproto.NewWriter(c),
		capabilities: capabilities}
	p.recv() // the greeting
	p.send(p.login("root"))
	if b := p.recv(); b[0] != mysqlproto.HeaderOK {
		t.Fatalf("login: %q", b)
	}
	if compress := capabilities & (mysqlproto.ClientCompress | mysqlproto.ClientZstd); compress != 0 {
		p.frames, err = mysqlproto.NewCompressed(struct {
			io.Reader
			io.Writer
		}{p.in.Source(), c}, compress == mysqlproto.ClientZstd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.frames.Close)
		p.in.Compress(p.frames)
		p.out.Reset(p.frames)
	}
	return p
}

func (p *peer) login(user string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, p.capabilities)
	b = append(append(b, 0, 0, 0, 1, 255), make([]byte, 23)...)
	b = append(b, user+"\x00\x00"...)
	if p.capabilities&mysqlproto.ClientConnectWithDB != 0 {
		b = append(b, "test\x00"...)
	}
	return append(b, "mysql_native_password\x00\x03"...)
}

func (p *peer) send(message []byte) {
	p.t.Helper()
	p.out.Seq = p.in.Seq
	p.out.Packet(message)
	if err := p.out.Flush(); err != nil {
		p.t.Fatal(err)
	}
	p.in.Seq = p.out.Seq
}

func (p *peer) recv() []byte {
	p.t.Helper()
	b, err := p.in.Next(1 << 26)
	if err != nil {
		p.t.Fatal(err)
	}
	return bytes.Clone(b)
}

// command sends a command and returns the first packet of its answer.
func (p *peer) command(command byte, arg string) []byte {
	p.t.Helper()
	p.in.Restart()
	p.send(append([]byte{command}, arg...))
	return p.recv()
}

// query runs a statement with one column and returns its rows, then the packet that ends them.
func (p *peer) query(text string) (rows []string, end []byte) {
	p.t.Helper()
	if p.capabilities&mysqlproto.ClientQueryAttributes != 0 {
		text = "\x00\x01" + text
	}
	b := p.command(mysqlproto.ComQuery, text)
	return p.rows(b)
}

func (p *peer) rows(b []byte) (rows []string, end []byte) {
	p.t.Helper()
	if b[0] == mysqlproto.HeaderOK || b[0] == mysqlproto.HeaderErr {
		return nil, b
	}
	for range b[0] {
		p.recv()
	}
	if p.capabilities&mysqlproto.ClientDeprecateEOF == 0 {
		p.recv()
	}
	for {
		b := p.recv()
		if b[0] == mysqlproto.HeaderEOF && len(b) < mysqlproto.MaxPayload || b[0] == mysqlproto.HeaderErr {
			return rows, b
		}
		rows = append(rows, string(b))
	}
}

// TestCompression: zlib and zstd, both ways, results that take several frames, and the command after them.
func TestCompression(t *testing.T) {
	r := newRig(t, nil)
	long := strings.Repeat("0123456789abcdef", 1<<16)
	for name, capability := range map[string]uint32{"zlib": mysqlproto.ClientCompress,
		"zstd": mysqlproto.ClientZstd, "plain": 0} {
		p := r.peer(t, capability)
		rows, end := p.query("select concat('" + long + "', 'x')")
		if len(rows) != 1 || len(rows[0]) != len(long)+5 || !strings.HasSuffix(rows[0], "efx") ||
			end[0] != mysqlproto.HeaderEOF {
			t.Errorf("%s: %d rows, %q", name, len(rows), end)
		}
		if b := p.command(mysqlproto.ComPing, ""); b[0] != mysqlproto.HeaderOK {
			t.Errorf("%s: ping %q", name, b)
		}
	}
	db := r.open("?compress=true")
	var got string
	if err := db.QueryRow("select concat(?, 'x')", long).Scan(&got); err != nil || got != long+"x" {
		t.Errorf("by the driver: %d bytes, %v", len(got), err)
	}
}

// TestBrokenFrames: a frame that is none ends the connection, and takes no memory by what it says.
func TestBrokenFrames(t *testing.T) {
	r := newRig(t, nil)
	for _, frame := range []string{"\x03\x00\x00\x00\xff\xff\xffabc", "\x03\x00\x00\x05\x00\x00\x00abc",
		"\xff\xff\xff\x00\xff\xff\xffjunk"} {
		p := r.peer(t, mysqlproto.ClientCompress)
		if _, err := p.c.Write([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		_ = p.c.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, p.c); err != nil {
			t.Errorf("%q: %v", frame, err)
		}
	}
	if n := r.server.Stats().Panics; n != 0 {
		t.Errorf("%d panics", n)
	}
}

// TestDeprecateEOF: a client that says so gets an OK where rows end and nothing where columns end, in all
// places.
func TestDeprecateEOF(t *testing.T) {
	r := newRig(t, nil)
	for _, capability := range []uint32{0, mysqlproto.ClientDeprecateEOF} {
		p := r.peer(t, capability|mysqlproto.ClientMultiStatements)
		length := 5
		if capability != 0 {
			length = 7
		}
		if rows, end := p.query("select 7"); len(rows) != 1 || rows[0] != "\x017" || len(end) != length {
			t.Errorf("text: %q, %q", rows, end)
		}
		if b := p.command(mysqlproto.ComSetOption, "\x00\x00"); b[0] != mysqlproto.HeaderEOF ||
			len(b) != length {
			t.Errorf("set option: %q", b)
		}
		b := p.command(mysqlproto.ComStmtPrepare, "select ? + 1")
		id := string(b[1:5])
		p.recv() // the parameter
		if capability == 0 {
			p.recv()
		}
		p.recv() // the column
		if capability == 0 {
			p.recv()
		}
		rows, end := p.rows(p.command(mysqlproto.ComStmtExecute,
			id+"\x00\x01\x00\x00\x00\x00\x01\x08\x00\x05\x00\x00\x00\x00\x00\x00\x00"))
		if len(rows) != 1 || len(end) != length {
			t.Errorf("binary: %q, %q", rows, end)
		}
		// A cursor: its columns end with the flag, and so do fetched rows.
		first := p.command(mysqlproto.ComStmtExecute,
			id+"\x01\x01\x00\x00\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")
		p.recv()
		end = p.recv()
		status := end[3]
		if first[0] != 1 || end[0] != mysqlproto.HeaderEOF || len(end) != length ||
			status&mysqlproto.StatusCursorExists == 0 {
			t.Errorf("cursor: %q %q", first, end)
		}
		if row := p.command(mysqlproto.ComStmtFetch, id+"\x09\x00\x00\x00"); row[0] != 0 {
			t.Errorf("fetch: %q", row)
		}
		if end = p.recv(); len(end) != length || end[3]&mysqlproto.StatusLastRowSent == 0 {
			t.Errorf("the end of a fetch: %q", end)
		}
		// Several statements: each but the last says that there is more.
		if rows, end := p.query("select 1; select 2"); len(rows) != 1 ||
			end[3]&mysqlproto.StatusMoreResults == 0 {
			t.Errorf("the first of two: %q, %q", rows, end)
		}
		if rows, end := p.rows(p.recv()); len(rows) != 1 || end[3]&mysqlproto.StatusMoreResults != 0 {
			t.Errorf("the second of two: %q, %q", rows, end)
		}
		exec(t, r.open(""), "create table if not exists fields (abc int, abd int, xyz int)", "use test")
		p.query("use test")
		b = p.command(mysqlproto.ComFieldList, "fields\x00ab%")
		if c := p.recv(); !bytes.Contains(b, []byte("abc")) || !bytes.Contains(c, []byte("abd")) {
			t.Errorf("field list: %q %q", b, c)
		}
		if end = p.recv(); end[0] != mysqlproto.HeaderEOF || len(end) != length {
			t.Errorf("the end of a field list: %q", end)
		}
		if b = p.command(mysqlproto.ComFieldList, "nosuch\x00"); b[0] != mysqlproto.HeaderErr ||
			int(binary.LittleEndian.Uint16(b[1:])) != sqlerr.NoSuchTable {
			t.Errorf("fields of no table: %q", b)
		}
	}
}

// TestSessionTrack: a client that tracks its session is told of another database and of variables, once.
func TestSessionTrack(t *testing.T) {
	r := newRig(t, nil)
	p := r.peer(t, mysqlproto.ClientSessionTrack)
	changes := func(what string, ok []byte, want string) {
		t.Helper()
		if ok[0] != mysqlproto.HeaderOK {
			t.Fatalf("%s: %q", what, ok)
		}
		changed := binary.LittleEndian.Uint16(ok[3:])&mysqlproto.StatusSessionStateChanged != 0
		if changed != (want != "") || want != "" && !strings.HasSuffix(string(ok), want) {
			t.Errorf("%s: %q, want %q", what, ok, want)
		}
	}
	changes("init db", p.command(mysqlproto.ComInitDB, "test"), "\x00\x07\x01\x05\x04test")
	changes("ping", p.command(mysqlproto.ComPing, ""), "")
	_, ok := p.query("set autocommit = 0")
	changes("set", ok, "\x00\x11\x00\x0f\x0aautocommit\x03OFF")
	_, ok = p.query("set @x = 1")
	changes("set of what is not tracked", ok, "")
	_, ok = p.query("use information_schema")
	changes("use", ok, "\x12information_schema")
	q := r.peer(t, 0)
	changes("a client that does not track", q.command(mysqlproto.ComInitDB, "test"), "")
}

// TestQueryAttributesOfClients: clients that send attributes with their statements are understood.
func TestQueryAttributesOfClients(t *testing.T) {
	r := newRig(t, nil)
	p := r.peer(t, mysqlproto.ClientQueryAttributes|mysqlproto.ClientConnectWithDB)
	if rows, _ := p.query("select 3"); len(rows) != 1 || rows[0] != "\x013" {
		t.Errorf("without: %q", rows)
	}
	rows, end := p.rows(p.command(mysqlproto.ComQuery, "\x01\x01\x00\x01\xfd\x00\x05trace\x02idselect 4"))
	if len(rows) != 1 || rows[0] != "\x014" {
		t.Errorf("with one: %q, %q", rows, end)
	}
	if b := p.command(mysqlproto.ComQuery, "\x09\x01\x00"); b[0] != mysqlproto.HeaderErr ||
		int(binary.LittleEndian.Uint16(b[1:])) != sqlerr.MalformedPacket {
		t.Errorf("half of them: %q", b)
	}
	if b := p.command(mysqlproto.ComPing, ""); b[0] != mysqlproto.HeaderOK {
		t.Errorf("ping: %q", b)
	}
	b := p.command(mysqlproto.ComStmtPrepare, "select concat('<', ?, '>')")
	for range 4 {
		p.recv()
	}
	arg := string(b[1:5]) + "\x08\x01\x00\x00\x00\x02\x00\x01\xfd\x00\x00\xfd\x00\x01n\x02hi\x02no"
	if rows, _ := p.rows(p.command(mysqlproto.ComStmtExecute, arg)); len(rows) != 1 ||
		!strings.HasSuffix(rows[0], "<hi>") {
		t.Errorf("prepared: %q", rows)
	}
}

// TestTLSWithoutWaiting: a client may begin with TLS in the same breath as it asks for it.
func TestTLSWithoutWaiting(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TLS = serverTLS(t) })
	c := r.knock(t)
	const capabilities = mysqlproto.ClientProtocol41 | mysqlproto.ClientSSL |
		mysqlproto.ClientSecureConnection | mysqlproto.ClientPluginAuth
	p := &peer{t: t, capabilities: capabilities}
	request := append([]byte{32, 0, 0, 1}, p.login("root")[:32]...)
	within := tls.Client(&glued{Conn: c, first: request}, &tls.Config{InsecureSkipVerify: true})
	p.in, p.out = mysqlproto.NewReader(within), mysqlproto.NewWriter(within)
	p.in.Seq = 2
	p.send(p.login("root"))
	if b := p.recv(); b[0] != mysqlproto.HeaderOK {
		t.Fatalf("login: %q", b)
	}
	if rows, _ := p.query("select 5"); len(rows) != 1 || rows[0] != "\x015" {
		t.Errorf("%q", rows)
	}
}

// glued puts something before the first write.
type glued struct {
	net.Conn
	first []byte
}

func (g *glued) Write(b []byte) (int, error) {
	first := g.first
	g.first = nil
	n, err := g.Conn.Write(append(first, b...))
	return n - len(first), err
}

// TestClientGoesAway: the statement of a client that has gone ends, also if there is more to read of it
// than fits a buffer, or frames.
func TestClientGoesAway(t *testing.T) {
	r := newRig(t, nil)
	for name, capability := range map[string]uint32{"plain": 0, "compressed": mysqlproto.ClientCompress} {
		p := r.peer(t, capability)
		p.in.Restart()
		p.send([]byte("\x03select wait()"))
		<-r.entered
		_ = p.c.Close()
		for {
			r.server.mu.Lock()
			there, changed := len(r.server.conns), r.server.changed
			r.server.mu.Unlock()
			if there == 0 {
				break
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatalf("%s: the statement goes on", name)
			}
		}
	}
	// One that sends its next command early is still there, and gets both answers.
	p := r.peer(t, 0)
	p.in.Restart()
	p.send([]byte("\x03select wait()"))
	<-r.entered
	if _, err := p.c.Write([]byte("\x01\x00\x00\x00\x0e")); err != nil {
		t.Fatal(err)
	}
	for watched := false; !watched; {
		r.server.mu.Lock()
		for _, c := range r.server.conns {
			c.mu.Lock()
			watched = c.watch != nil
			c.mu.Unlock()
		}
		r.server.mu.Unlock()
	}
	r.release <- struct{}{}
	if rows, _ := p.rows(p.recv()); len(rows) != 1 {
		t.Errorf("%q", rows)
	}
	p.in.Seq = 1
	if b := p.recv(); b[0] != mysqlproto.HeaderOK {
		t.Errorf("ping: %q", b)
	}
}

// TestOldClients: what has no protocol of 4.1 is told so.
func TestOldClients(t *testing.T) {
	r := newRig(t, nil)
	c := r.knock(t)
	if _, err := c.Write([]byte("\x08\x00\x00\x01\x05\x00\x00\x00\x00me\x00")); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil || len(b) < 7 || b[4] != mysqlproto.HeaderErr ||
		int(binary.LittleEndian.Uint16(b[5:])) != sqlerr.HandshakeFailed {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFoundRows: affected rows are those found, for a client that says so.
func TestFoundRows(t *testing.T) {
	r := newRig(t, nil)
	exec(t, r.open(""), "create table found (i int primary key, j int)",
		"insert into found values (1, 1), (2, 2)")
	for params, want := range map[string]int64{"": 1, "?clientFoundRows=true": 2} {
		res, err := r.open(params).ExecContext(context.Background(), "update found set j = 2")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != want {
			t.Errorf("%q: %d rows, want %d", params, n, want)
		}
		exec(t, r.open(""), "update found set j = i")
	}
}

// TestLocalInfile: a file of the client, in packets of any length; a client that has not said that it
// sends files is not asked for one, which would leave it out of step for good.
func TestLocalInfile(t *testing.T) {
	r := newRig(t, nil)
	exec(t, r.open(""), "create table loaded (i int primary key)")
	const load = "load data local infile 'x' into table test.loaded"
	p := r.peer(t, 0)
	if _, b := p.query(load); b[0] != mysqlproto.HeaderErr ||
		int(binary.LittleEndian.Uint16(b[1:])) != sqlerr.LocalInfileOff {
		t.Errorf("without the capability: %q", b)
	}
	for name, capability := range map[string]uint32{"plain": 0, "compressed": mysqlproto.ClientCompress} {
		exec(t, r.open(""), "delete from loaded")
		p := r.peer(t, mysqlproto.ClientLocalFiles|capability)
		if b := p.command(mysqlproto.ComQuery, load); string(b) != "\xfbx" {
			t.Fatalf("%s: %q", name, b)
		}
		p.send([]byte("1\n2"))
		p.send([]byte("\n3\n"))
		p.send(nil)
		if b := p.recv(); b[0] != mysqlproto.HeaderOK || b[1] != 3 {
			t.Errorf("%s: %q", name, b)
		}
		if rows, _ := p.query("select count(*) from test.loaded"); len(rows) != 1 || rows[0] != "\x013" {
			t.Errorf("%s: %q", name, rows)
		}
	}
}
