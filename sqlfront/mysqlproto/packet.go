package mysqlproto

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// Errors of a Reader. After any of them the stream cannot be followed any more.
var (
	ErrTooLong    = errors.New("mysqlproto: the message is longer than it may be")
	ErrOutOfOrder = errors.New("mysqlproto: packets out of order")
	ErrMalformed  = errors.New("mysqlproto: malformed packet")
)

// readBuffer is how much is read from the socket at a time.
const readBuffer = 16 << 10

// keptMessage is how large a buffer of long messages may be to be kept for the next one.
const keptMessage = 64 << 10

// Reader puts messages together:
//
//	 3 bytes  1 byte  length bytes
//	+--------+-------+---------------+
//	| length | seq   | payload       |   after MaxPayload bytes the message goes on
//	+--------+-------+---------------+
type Reader struct {
	socket *bufio.Reader
	r      *bufio.Reader // what packets are read from: the socket, or what inflates its frames
	frames *Compressed
	long   []byte // of a message that has no room in r's buffer
	heard  Inbound
	// message and inflater are what heard was told of: for the message, and for what inflates its frames.
	message, inflater int
	// Seq is the number that the next packet must have. A command begins with 0.
	Seq byte
}

// Inbound is told how a message comes in. An error ends the reading of it.
type Inbound interface {
	// Begun is called whenever more is waited for of a message of which something is there.
	Begun() error
	// Holds says how much room a message takes that is longer than most, and 0 when it is given back.
	Holds(n int) error
}

// Tell has an Inbound told of each message from here on.
func (r *Reader) Tell(i Inbound) { r.heard = i }

func (r *Reader) begun() error {
	if r.heard == nil {
		return nil
	}
	return r.heard.Begun()
}

func (r *Reader) holds(n int) error {
	if r.heard == nil || n != 0 && n <= keptMessage {
		return nil
	}
	r.message = n
	return r.heard.Holds(n + r.inflater)
}

// inflates is told how much room is taken by what inflates a frame that has not come to its end.
func (r *Reader) inflates(n int) error {
	if r == nil || r.heard == nil || r.inflater == n {
		return nil
	}
	r.inflater = n
	return r.heard.Holds(r.message + n)
}

// NewReader returns a Reader of packets from r.
func NewReader(r io.Reader) *Reader {
	b := bufio.NewReaderSize(r, readBuffer)
	return &Reader{socket: b, r: b}
}

// Source is what follows the last message, whatever it is: a client that asks for TLS may begin with it at
// once.
func (r *Reader) Source() io.Reader { return r.socket }

// Replace goes on with another source, which reads the old one's bytes from Source.
func (r *Reader) Replace(from io.Reader) {
	b := bufio.NewReaderSize(from, readBuffer)
	r.socket, r.r = b, b
}

// Compress goes on with packets in frames, which are read from Source.
func (r *Reader) Compress(c *Compressed) {
	r.frames, r.r = c, bufio.NewReaderSize(c, readBuffer)
	c.to = r
}

// Restart begins with the next command: packets and frames are numbered from 0 again.
func (r *Reader) Restart() {
	if r.Seq = 0; r.frames != nil {
		r.frames.Restart()
	}
	if cap(r.long) > keptMessage {
		r.long = nil
		_ = r.holds(0) // giving back does not fail
	}
}

// Watch returns when more has come than was there before, with what went wrong, or when the buffer is
// full. What comes stays where it is. A client that says that it goes has gone (io.EOF).
func (r *Reader) Watch() error {
	for n := 1; n <= readBuffer; n = r.socket.Buffered() + 1 {
		b, err := r.socket.Peek(n)
		if err != nil {
			return err
		}
		if r.frames == nil && len(b) >= 5 && b[0] == 1 && b[1] == 0 && b[2] == 0 && b[4] == ComQuit {
			return io.EOF
		}
	}
	return nil
}

// Next reads a message of at most limit bytes. It is valid until the next call of Next or Watch.
func (r *Reader) Next(limit int) ([]byte, error) {
	n, err := r.head()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, ErrTooLong
	}
	if 4+n <= readBuffer {
		if r.r.Buffered() < 4+n {
			if err := r.begun(); err != nil {
				return nil, err
			}
		}
		b, err := r.r.Peek(4 + n)
		if err != nil {
			return nil, unexpected(err)
		}
		_, _ = r.r.Discard(4 + n) // which are there
		return b[4:], nil
	}
	_, _ = r.r.Discard(4)
	r.long = r.long[:0]
	for {
		if err := r.grow(n); err != nil {
			return nil, err
		}
		if n < MaxPayload {
			return r.long, nil
		}
		if n, err = r.head(); err != nil {
			return nil, unexpected(err)
		}
		if len(r.long)+n > limit {
			return nil, ErrTooLong
		}
		_, _ = r.r.Discard(4)
	}
}

// Part reads one packet, which may be a part of a message: more says that it goes on. It is for messages
// without a bound.
func (r *Reader) Part() (b []byte, more bool, err error) {
	n, err := r.head()
	if err != nil {
		return nil, false, err
	}
	_, _ = r.r.Discard(4)
	r.long = r.long[:0]
	err = r.grow(n)
	return r.long, n == MaxPayload, err
}

// head looks at the next packet's head, and counts the packet.
func (r *Reader) head() (n int, err error) {
	if r.r.Buffered() < 4 {
		if err := r.wait(); err != nil {
			return 0, err
		}
	}
	b, err := r.r.Peek(4)
	if err != nil {
		if len(b) > 0 {
			err = unexpected(err)
		}
		return 0, err
	}
	if b[3] != r.Seq {
		return 0, ErrOutOfOrder
	}
	r.Seq++
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16, nil
}

// wait waits for the first byte of a packet, which may take as long as the client likes, and says that it is
// there. A whole packet mostly comes with it, and nobody needs to be told.
func (r *Reader) wait() error {
	if r.r.Buffered() == 0 && (r.frames == nil || r.frames.inflated == 0) {
		if _, err := r.socket.Peek(1); err != nil {
			return err
		}
		if r.r == r.socket && r.r.Buffered() >= 4 {
			return nil
		}
	}
	return r.begun()
}

// grow appends n bytes to the message. There is never more room than twice what has arrived: a length is
// easily said.
func (r *Reader) grow(n int) error {
	for n > 0 {
		room := cap(r.long) - len(r.long)
		if room == 0 {
			if err := r.widen(); err != nil {
				return err
			}
			continue
		}
		if r.r.Buffered() == 0 {
			if err := r.begun(); err != nil {
				return err
			}
		}
		got, err := r.r.Read(r.long[len(r.long):min(cap(r.long), len(r.long)+n)])
		r.long, n = r.long[:len(r.long)+got], n-got
		if err != nil {
			return unexpected(err)
		}
	}
	return nil
}

// widen doubles the room for the message.
func (r *Reader) widen() error {
	had := cap(r.long)
	room := max(2*had, readBuffer)
	if err := r.holds(had + room); err != nil {
		return err
	}
	more := make([]byte, len(r.long), room)
	copy(more, r.long)
	r.long = more
	return r.holds(room)
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Writer makes packets. It keeps them until Flush, or until there are enough for a write. What goes wrong
// is told by Flush and from then on by Err; nothing is written any more.
type Writer struct {
	w   io.Writer
	buf []byte
	at  int // where the packet at hand begins
	err error
	// writes counts them: what has been written cannot be taken back.
	writes uint64
	// Seq is the number of the next packet. The answer to a command begins with 1.
	Seq byte
}

// enough is how many bytes are kept before they are written.
const enough = 16 << 10

// buffers are those of Writers that have written everything: most connections are at rest most of the time.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, enough+1<<10); return &b }}

// NewWriter returns a Writer of packets to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Destination is where packets go.
func (w *Writer) Destination() io.Writer { return w.w }

// Reset goes on with another destination.
func (w *Writer) Reset(to io.Writer) { w.w = to }

// Err is what has gone wrong.
func (w *Writer) Err() error { return w.err }

// Begin begins a packet. What the caller appends to the returned bytes is its payload; End takes them.
func (w *Writer) Begin() []byte {
	if w.buf == nil {
		w.buf = (*buffers.Get().(*[]byte))[:0]
	}
	w.at = len(w.buf)
	return append(w.buf, 0, 0, 0, 0)
}

// End ends the packet that Begin began.
func (w *Writer) End(b []byte) {
	n := len(b) - w.at - 4
	if n < MaxPayload {
		head := b[w.at : w.at+4]
		head[0], head[1], head[2], head[3] = byte(n), byte(n>>8), byte(n>>16), w.Seq
		w.Seq++
		if w.buf = b; len(b) >= enough {
			w.write()
		}
		return
	}
	rest := b[w.at+4:]
	w.buf = b[:w.at]
	w.write()
	for {
		part := rest[:min(len(rest), MaxPayload)]
		n := len(part)
		w.direct([]byte{byte(n), byte(n >> 8), byte(n >> 16), w.Seq})
		w.direct(part)
		w.Seq++
		if rest = rest[n:]; n < MaxPayload {
			return
		}
	}
}

// Keep takes back the packet that Begin began; its bytes were for something else. The buffer may have grown.
func (w *Writer) Keep(b []byte) {
	if w.buf = b[:w.at]; cap(b) > keptMessage {
		w.buf = append(make([]byte, 0, max(w.at, enough)), w.buf...)
	}
}

// Packet writes a packet that is there already.
func (w *Writer) Packet(payload []byte) { w.End(append(w.Begin(), payload...)) }

// Packets writes packets that Packed has made, with numbers that continue those before.
func (w *Writer) Packets(packed []byte) {
	b := w.Begin()[:w.at]
	for at := len(b); len(packed) >= 4; {
		n := 4 + (int(packed[0]) | int(packed[1])<<8 | int(packed[2])<<16)
		b = append(b, packed[:n]...)
		b[at+3] = w.Seq
		w.Seq++
		at, packed = at+n, packed[n:]
	}
	if w.buf = b; len(b) >= enough {
		w.write()
	}
}

// Pack appends a packet of less than MaxPayload bytes to others, for Packets.
func Pack(packed, payload []byte) []byte {
	n := len(payload)
	return append(append(packed, byte(n), byte(n>>8), byte(n>>16), 0), payload...)
}

// Mark is a place between packets.
type Mark struct {
	writes uint64
	at     int
	seq    byte
}

// Mark is where the next packet will begin.
func (w *Writer) Mark() Mark { return Mark{w.writes, len(w.buf), w.Seq} }

// Rewind forgets the packets since a mark. It does nothing, and says so, if some have been written.
func (w *Writer) Rewind(m Mark) bool {
	if w.writes != m.writes {
		return false
	}
	w.buf, w.Seq = w.buf[:m.at], m.seq
	return true
}

// Flush writes what there is, and gives the buffer back.
func (w *Writer) Flush() error {
	if len(w.buf) > 0 {
		w.write()
	}
	if w.buf != nil {
		if cap(w.buf) <= keptMessage {
			b := w.buf[:0]
			buffers.Put(&b)
		}
		w.buf = nil
	}
	return w.err
}

func (w *Writer) write() {
	w.direct(w.buf)
	if w.buf = w.buf[:0]; cap(w.buf) > keptMessage {
		w.buf = nil
	}
}

func (w *Writer) direct(b []byte) {
	w.writes++
	if w.err == nil && len(b) > 0 {
		_, w.err = w.w.Write(b)
	}
}
