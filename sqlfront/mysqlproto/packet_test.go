package mysqlproto

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
)

// written is what f writes, as bytes of the wire.
func written(f func(w *Writer)) []byte {
	var out bytes.Buffer
	w := NewWriter(&out)
	f(w)
	if err := w.Flush(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// TestLongMessages: a message of any length comes back, cut where the protocol cuts it, with an empty
// packet after one that fills its last packet.
func TestLongMessages(t *testing.T) {
	for _, n := range []int{0, 1, readBuffer - 4, readBuffer - 3, readBuffer, MaxPayload - 1, MaxPayload,
		MaxPayload + 1, 2 * MaxPayload} {
		message := bytes.Repeat([]byte("0123456789abcdef "), n/17+1)[:n]
		wire := written(func(w *Writer) { w.Packet(message); w.Packet([]byte("next")) })
		if want := n + 4*(n/MaxPayload+1) + 8; len(wire) != want {
			t.Errorf("%d bytes make %d on the wire, want %d", n, len(wire), want)
		}
		r := NewReader(bytes.NewReader(wire))
		if got, err := r.Next(n); err != nil || !bytes.Equal(got, message) {
			t.Errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
		if got, err := r.Next(4); err != nil || string(got) != "next" {
			t.Errorf("after %d bytes: %q, %v", n, got, err)
		}
		if _, err := r.Next(1); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
		if n > 0 {
			if _, err := NewReader(bytes.NewReader(wire)).Next(n - 1); err != ErrTooLong {
				t.Errorf("%d bytes where one less is allowed: %v", n, err)
			}
		}
	}
}

// TestBrokenStreams: what cannot be followed is told apart.
func TestBrokenStreams(t *testing.T) {
	for _, c := range []struct {
		wire string
		want error
	}{
		{"", io.EOF}, {"\x01", io.ErrUnexpectedEOF}, {"\x02\x00\x00\x00a", io.ErrUnexpectedEOF},
		{"\x01\x00\x00\x01a", ErrOutOfOrder},
		{"\xff\xff\xff\x00", ErrTooLong}, {"\xff\xff\x0f\x00abc", io.ErrUnexpectedEOF},
	} {
		slow := iotest.OneByteReader(bytes.NewReader([]byte(c.wire)))
		if _, err := NewReader(slow).Next(1 << 20); err != c.want {
			t.Errorf("%q: %v, want %v", c.wire, err, c.want)
		}
	}
	// A length alone makes no room.
	r := NewReader(bytes.NewReader([]byte("\xff\xff\xff\x00abc")))
	if _, err := r.Next(1 << 30); err != io.ErrUnexpectedEOF || cap(r.long) > 2*readBuffer {
		t.Errorf("%v, room for %d bytes", err, cap(r.long))
	}
}

// TestPartsOfAFile: packets without a bound are read one by one.
func TestPartsOfAFile(t *testing.T) {
	wire := written(func(w *Writer) {
		w.Packet(make([]byte,
			MaxPayload))
		w.Packet([]byte("x"))
		w.Packet(nil)
	})
	r := NewReader(bytes.NewReader(wire))
	for i, want := range []struct {
		n    int
		more bool
	}{{MaxPayload, true}, {0, false}, {1, false}, {0, false}} {
		if b, more, err := r.Part(); err != nil || len(b) != want.n || more != want.more {
			t.Errorf("part %d: %d bytes, more %v, %v", i, len(b), more, err)
		}
	}
}

// TestRewind: what has not been written can be taken back, and nothing else.
func TestRewind(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	w.Packet([]byte("kept"))
	m := w.Mark()
	w.Packet([]byte("dropped"))
	if !w.Rewind(m) {
		t.Error("a packet that was not written cannot be taken back")
	}
	w.Packets(Pack(Pack(nil, []byte("a")), []byte("b")))
	w.Packet(make([]byte, enough))
	if w.Rewind(m) {
		t.Error("a packet was taken back that had been written")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(&out)
	for _, want := range []int{4, 1, 1, enough} {
		if b, err := r.Next(1 << 20); err != nil || len(b) != want {
			t.Errorf("%d bytes, %v, want %d", len(b), err, want)
		}
	}
}

// broken is a socket that fails.
type broken struct{ writes int }

var errBroken = errors.New("broken")

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errBroken }

// TestWriteErrors: after a write has failed there is no other.
func TestWriteErrors(t *testing.T) {
	b := &broken{}
	w := NewWriter(b)
	for range 10 {
		w.Packet(make([]byte, enough))
	}
	if err := w.Flush(); err != errBroken || b.writes != 1 {
		t.Errorf("%v after %d writes", err, b.writes)
	}
}

// FuzzReader reads junk in small pieces: messages are as long as they say, and no longer than allowed.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00a\x02\x00\x00\x01bc"), uint16(10))
	f.Add([]byte("\xff\xff\xff\x00aaaa"), uint16(100))
	f.Fuzz(func(t *testing.T, wire []byte, limit uint16) {
		r := NewReader(iotest.HalfReader(bytes.NewReader(wire)))
		total := 0
		for {
			b, err := r.Next(int(limit))
			if err != nil {
				return
			}
			if len(b) > int(limit) {
				t.Fatalf("%d bytes of at most %d", len(b), limit)
			}
			if total += 4 + len(b); total > len(wire) {
				t.Fatalf("%d bytes out of %d", total, len(wire))
			}
		}
	})
}

// pipe is a connection to oneself.
type pipe struct{ bytes.Buffer }

// TestCompressed: packets come back through frames, whatever they are cut into; small ones are not
// compressed.
func TestCompressed(t *testing.T) {
	for _, zstd := range []bool{false, true} {
		p := &pipe{}
		c, err := NewCompressed(p, zstd)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		messages := [][]byte{[]byte("short"), bytes.Repeat([]byte("long "), 1<<12), make([]byte,
			MaxPayload+100), []byte("end")}
		w := NewWriter(c)
		for _, m := range messages {
			w.Packet(m)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if p.Len() > 1<<20 {
			t.Errorf("zstd %v: %d bytes on the wire", zstd, p.Len())
		}
		r := NewReader(p)
		back, err := NewCompressed(struct {
			io.Reader
			io.Writer
		}{r.Source(), p}, zstd)
		if err != nil {
			t.Fatal(err)
		}
		defer back.Close()
		r.Compress(back)
		for i, m := range messages {
			if got, err := r.Next(1 << 26); err != nil || !bytes.Equal(got, m) {
				t.Errorf("zstd %v: message %d: %d bytes, %v", zstd, i, len(got), err)
			}
		}
	}
}

// TestFramesAtRest: a connection that has written and read keeps nothing of what compresses, whatever level
// it asked for: a hundred of them took 4 GB (usage-1 of the second trial). Half a frame is told of as a
// message is.
func TestFramesAtRest(t *testing.T) {
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(i * i >> 3)
	}
	for _, zstd := range []bool{false, true} {
		var all []*Compressed
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range 100 {
			p := &pipe{}
			c, err := NewCompressed(p, zstd)
			if err != nil {
				t.Fatal(err)
			}
			w := NewWriter(c)
			w.Packet(random)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			back, err := NewCompressed(struct {
				io.Reader
				io.Writer
			}{p, io.Discard}, zstd)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, back); n < 1<<20 || err != nil {
				t.Fatalf("%d bytes, %v", n, err)
			}
			p.Buffer = bytes.Buffer{}
			all = append(all, c, back)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc-before.HeapAlloc) / 100; kept > 256<<10 && kept < 1<<40 {
			t.Errorf("zstd %v: %d bytes are kept for each connection", zstd, kept)
		}
		runtime.KeepAlive(all)
	}

	p := &pipe{}
	c, err := NewCompressed(p, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(random[:100_000]); err != nil {
		t.Fatal(err)
	}
	p.Truncate(p.Len() - 1)
	r := NewReader(p)
	if c, err = NewCompressed(struct {
		io.Reader
		io.Writer
	}{r.Source(), p}, true); err != nil {
		t.Fatal(err)
	}
	r.Compress(c)
	m := &most{}
	r.Tell(m)
	if _, _, err := r.Part(); err == nil || m.now < maxWindow {
		t.Errorf("in half a frame: %v, %d bytes are told of", err, m.now)
	}
	if c.Close(); m.now >= maxWindow {
		t.Errorf("behind it %d bytes", m.now)
	}
}

// most is an Inbound that notes what is held.
type most struct{ now int }

func (*most) Begun() error        { return nil }
func (m *most) Holds(n int) error { m.now = n; return nil }

// FuzzCompressed inflates junk: no more comes out than the frames say.
func FuzzCompressed(f *testing.F) {
	for _, zstd := range []bool{false, true} {
		p := &pipe{}
		c, err := NewCompressed(p, zstd)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := c.Write(bytes.Repeat([]byte("abc"), 100)); err != nil {
			f.Fatal(err)
		}
		c.Close()
		f.Add(p.Bytes(), zstd)
	}
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00abc"), false)
	f.Fuzz(func(t *testing.T, wire []byte, zstd bool) {
		said := 0
		for b := wire; len(b) >= 7; {
			n, inflated := int(b[0])|int(b[1])<<8|int(b[2])<<16, int(b[4])|int(b[5])<<8|int(b[6])<<16
			if said += max(n, inflated); 7+n > len(b) {
				break
			}
			b = b[7+n:]
		}
		c, err := NewCompressed(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(wire), io.Discard}, zstd)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n, _ := io.Copy(io.Discard, c); n > int64(said) {
			t.Errorf("%d bytes of frames that have %d", n, said)
		}
	})
}
