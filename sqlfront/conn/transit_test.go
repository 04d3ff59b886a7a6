package conn

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// meter keeps account of messages, of which there may be so many bytes.
type meter struct {
	keeps, kept int64 // keeps: 0 for no limit
	mu          sync.Mutex
	most, used  int64
	peak        int64
}

func (m *meter) now() (used, peak int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used, m.peak
}

// metered is a session that is charged.
type metered struct {
	gms.Session
	m *meter
}

func (s metered) Keep(n int64, _ string) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if n > 0 && s.m.keeps > 0 && s.m.kept+n > s.m.keeps {
		return sqlerr.New(sqlerr.CapacityExceeded, "no room")
	}
	s.m.kept += n
	return nil
}
func (metered) Reads(int64) error { return nil }
func (s metered) Transit(n int64) error {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if n > 0 && s.m.used+n > s.m.most {
		return sqlerr.New(sqlerr.CapacityExceeded, "no room")
	}
	s.m.used += n
	s.m.peak = max(s.m.peak, s.m.used)
	return nil
}

// isSending reports whether a connection sends something for which at least n bytes are charged.
func (m *meter) isSending(c *Connection, n int64) bool {
	used, _ := m.now()
	return used >= n && c.Sending()
}

func newMeteredRig(t *testing.T, most int64, change func(*Options)) (*rig, *meter) {
	m := &meter{most: most}
	return newRig(t, func(o *Options) {
		inner := o.Sessions
		o.Sessions = func(c *Connection, addr string) (gms.Session, error) {
			s, err := inner(c, addr)
			return metered{s, m}, err
		}
		if change != nil {
			change(o)
		}
	}), m
}

// only waits until the server has one connection that is as wanted, and returns it.
func (r *rig) only(t *testing.T, is func(*Connection) bool) *Connection {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		r.server.mu.Lock()
		for _, c := range r.server.conns {
			if is(c) {
				r.server.mu.Unlock()
				return c
			}
		}
		r.server.mu.Unlock()
		if time.Now().After(end) {
			t.Fatal("no connection gets there")
		}
	}
}

// gone waits until nobody is connected.
func (r *rig) gone(t *testing.T) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		r.server.mu.Lock()
		n, changed := len(r.server.conns), r.server.changed
		r.server.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%d connections are still there", n)
		}
	}
}

// TestHalfACommand: who has begun a command has to go on with it within net_read_timeout (1159), wherever
// he has stopped; who has not may take his time (usage-3).
func TestHalfACommand(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ReadTimeout = 50 * time.Millisecond })
	idle := r.raw(t)
	for name, sent := range map[string]string{
		"in the head": "\x05\x00", "behind the head": "\x05\x00\x00\x00",
		"in a short command": "\x05\x00\x00\x00\x03se", "in a long one": "\x00\x00\x10\x00" + string(
			bytes.Repeat([]byte{'x'}, 200_000)),
		"between its packets": "\xff\xff\xff\x00" + string(bytes.Repeat([]byte{'x'}, mysqlproto.MaxPayload)),
	} {
		x := r.raw(t)
		if _, err := io.WriteString(x.c, sent); err != nil {
			t.Fatal(err)
		}
		_, b := x.recv()
		x.wantErr(name, b, sqlerr.NetReadInterrupted)
		x.wantClosed(name)
	}
	for _, capability := range []uint32{mysqlproto.ClientCompress, mysqlproto.ClientZstd} {
		p := r.peer(t, capability)
		// A frame of ten bytes as they are, of which two come.
		if _, err := io.WriteString(p.c, "\x0a\x00\x00\x00\x00\x00\x00\x05\x00"); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(p.c); err != nil || len(b) == 0 {
			t.Errorf("in a frame: %q, %v", b, err)
		}
	}
	idle.wantAlive("half a second")
}

// TestUnfinishedCommands: a command that has not come to its end is charged for as it grows; when there is no
// room for more, or the memory is needed elsewhere, it is refused. What it was charged with is given back
// (usage-3).
func TestUnfinishedCommands(t *testing.T) {
	r, m := newMeteredRig(t, 8<<20, nil)
	long := bytes.Repeat([]byte{'x'}, mysqlproto.MaxPayload)

	x := r.raw(t)
	x.packet(0, append([]byte{mysqlproto.ComQuery}, long[1:]...))
	_, b := x.recv()
	x.wantErr("16 MiB where 8 are allowed", b, sqlerr.CapacityExceeded)
	if _, peak := m.now(); peak < 1<<20 || peak > 8<<20 {
		t.Errorf("%d bytes were charged for", peak)
	}
	_ = x.c.Close()
	r.gone(t)

	x = r.raw(t)
	_, _ = x.c.Write(append([]byte("\x00\x00\x80\x00\x03"), long[:2<<20]...))
	c := r.only(t, func(*Connection) bool { used, _ := m.now(); return used > 1<<20 })
	if !c.Interrupt(sqlerr.New(sqlerr.CapacityExceeded, "the memory is needed")) {
		t.Error("half a command cannot be ended")
	}
	_, b = x.recv()
	x.wantErr("an unfinished command", b, sqlerr.CapacityExceeded)
	_ = x.c.Close()
	r.gone(t)

	// One that comes to its end, and the next, as ever; a connection at rest holds nothing.
	x = r.raw(t)
	x.packet(0, append([]byte("\x03select 1 /*"), append(long[:1<<20:1<<20], "*/"...)...))
	if _, b = x.recv(); b[0] != 1 {
		t.Errorf("a long command: %q", b)
	}
	for range 3 {
		x.recv()
	}
	x.recv()
	x.wantAlive("a long command")
	if used, _ := m.now(); used > 8<<20 {
		t.Errorf("%d bytes", used)
	}
	if c := r.only(t, func(*Connection) bool { return true }); c.Interrupt(errors.New("nothing")) {
		t.Error("a connection at rest was ended")
	}
}

// TestAnswerThatNobodyReads: a client that does not read what it has asked for is seen to be sent something,
// is charged for it, and hears KILL QUERY, the shortage of memory and net_write_timeout (usage-4).
func TestAnswerThatNobodyReads(t *testing.T) {
	ask := func(r *rig, bytes string) *raw {
		x := r.raw(t)
		x.packet(0, []byte("\x03select repeat('x', "+bytes+")"))
		return x
	}
	r, m := newMeteredRig(t, 1<<30, nil)
	sending := func(c *Connection) bool { return m.isSending(c, 50_000_000) }
	ends := map[string]func(*Connection){
		"memory":     func(c *Connection) { c.Interrupt(sqlerr.New(sqlerr.CapacityExceeded, "needed")) },
		"KILL QUERY": func(c *Connection) { r.engine.ProcessList.Kill(c.ID()) },
		"KILL":       func(c *Connection) { r.server.HangUp(c.ID()) },
	}
	for name, end := range ends {
		x := ask(r, "50000000")
		c := r.only(t, sending)
		end(c)
		r.gone(t)
		if _, err := io.Copy(io.Discard, x.r); err != nil && name != "KILL" {
			t.Logf("%s: %v", name, err)
		}
	}
	// Who reads on hears of it.
	x := ask(r, "50000000")
	c := r.only(t, sending)
	r.engine.ProcessList.Kill(c.ID())
	r.only(t, func(c *Connection) bool { c.mu.Lock(); defer c.mu.Unlock(); return c.hurried })
	for {
		_, b, err := x.read()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 0 && b[0] == mysqlproto.HeaderErr {
			x.wantErr("killed", b, sqlerr.QueryInterrupted)
			break
		}
	}
	x.wantAlive("KILL QUERY")

	// No room for the packet: the statement ends before anything of it is sent.
	r, m = newMeteredRig(t, 1<<20, nil)
	x = ask(r, "5000000")
	_, b := x.recv()
	x.wantErr("no room", b, sqlerr.CapacityExceeded)
	x.wantAlive("no room")
	if used, _ := m.now(); used != 0 {
		t.Errorf("%d bytes are charged for at rest", used)
	}

	r, _ = newMeteredRig(t, 1<<30, func(o *Options) { o.WriteTimeout = 100 * time.Millisecond })
	ask(r, "50000000")
	r.gone(t)
}

// TestFetchThatNobodyReads: the rows of a cursor are charged for as those of a statement are, and KILL QUERY
// ends the sending of them (usage-4).
func TestFetchThatNobodyReads(t *testing.T) {
	r, m := newMeteredRig(t, 1<<30, nil)
	x := r.raw(t)
	id := x.prepare("select repeat('x', 50000000)")
	x.openCursor(id)
	if used, _ := m.now(); used != 0 {
		t.Errorf("%d bytes are charged for an open cursor", used)
	}
	x.packet(0, append(append([]byte{mysqlproto.ComStmtFetch}, id...), 1, 0, 0, 0))
	c := r.only(t, func(c *Connection) bool { return m.isSending(c, 50_000_000) })
	r.engine.ProcessList.Kill(c.ID())
	r.gone(t)
}
