package mysqlproto

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Compressed is a connection whose bytes go in frames, each of which is compressed or not:
//
//	 3 bytes  1 byte  3 bytes           length bytes
//	+--------+-------+-----------------+-----------------+
//	| length | seq   | length inflated | a part of the   |   length inflated is 0: not compressed
//	|        |       |                 | packets         |
//	+--------+-------+-----------------+-----------------+
//
// Frames know nothing of packets: one may have several, or a part of one.
type Compressed struct {
	rw   io.ReadWriter
	zstd bool
	seq  byte // of the next frame, whoever sends it

	frame    io.LimitedReader // what is left of the frame as it is on the wire
	inflated int              // bytes that the frame at hand still has to yield
	from     io.Reader        // what yields them
	unzlib   io.ReadCloser    // this and unzstd are there while a frame is read
	unzstd   *zstd.Decoder
	to       *Reader // of packets; nil for who only writes

	out bytes.Buffer
}

// minCompressed is from where on it pays to compress.
const minCompressed = 50

const (
	// maxWindow bounds what an inflater may take.
	maxWindow = 8 << 20
	// maxFrame is how much is written as one frame: it is held until the client has taken it.
	maxFrame = 128 << 10
)

// What compresses and inflates has tables of a megabyte or more. A connection that is at rest has none: all
// of them take theirs from here, and give them back when they have nothing more to write, or have read a
// frame. A client's level of zstd is not heard: the best one took 38 MB for each connection.
var (
	zlibWriters = sync.Pool{New: func() any { return zlib.NewWriter(io.Discard) }}
	zlibReaders sync.Pool
	zstdReaders sync.Pool
	zstdWriter  = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(maxFrame))
	})
)

// NewCompressed puts frames on rw: zstd's, or zlib's.
func NewCompressed(rw io.ReadWriter, useZstd bool) (*Compressed, error) {
	if useZstd {
		if _, err := zstdWriter(); err != nil {
			return nil, err
		}
	}
	return &Compressed{rw: rw, zstd: useZstd}, nil
}

// Restart begins with the next command: frames are numbered from 0 again.
func (c *Compressed) Restart() { c.seq = 0 }

// Close gives back what is left of a frame that has not been read to its end.
func (c *Compressed) Close() { c.release() }

// release gives back what inflates.
func (c *Compressed) release() {
	if c.unzlib != nil {
		zlibReaders.Put(c.unzlib)
	}
	if c.unzstd != nil {
		_ = c.to.inflates(0)    // giving back does not fail
		_ = c.unzstd.Reset(nil) // it holds nothing of the frame then
		zstdReaders.Put(c.unzstd)
	}
	c.unzlib, c.unzstd, c.from = nil, nil, nil
}

// Read implements io.Reader.
func (c *Compressed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for c.inflated == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n, err := c.from.Read(p[:min(len(p), c.inflated)])
	c.inflated -= n
	if c.inflated == 0 {
		// The end of what was compressed has a checksum, which is looked at when one reads on.
		if err = c.finish(); err != nil {
			return n, err
		}
		return n, nil
	}
	if err == io.EOF {
		err = ErrMalformed
	}
	return n, err
}

// next begins with the next frame.
func (c *Compressed) next() error {
	var head [7]byte
	if n, err := io.ReadFull(c.rw, head[:]); err != nil {
		if n > 0 {
			err = unexpected(err)
		}
		return err
	}
	if head[3] != c.seq {
		return ErrOutOfOrder
	}
	c.seq++
	length := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	c.inflated = int(head[4]) | int(head[5])<<8 | int(head[6])<<16
	c.frame = io.LimitedReader{R: c.rw, N: length}
	if c.inflated == 0 {
		c.inflated, c.from = int(length), &c.frame
		return nil
	}
	return c.inflate()
}

// inflate sets up what reads the frame at hand.
func (c *Compressed) inflate() (err error) {
	if c.zstd {
		if c.to != nil && c.to.socket.Buffered() < int(c.frame.N) { // one has to wait for the rest of it
			if err := c.to.inflates(maxWindow); err != nil {
				return err
			}
		}
		if c.unzstd, _ = zstdReaders.Get().(*zstd.Decoder); c.unzstd != nil {
			err = c.unzstd.Reset(&c.frame)
		} else {
			c.unzstd, err = zstd.NewReader(&c.frame, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		}
		c.from = c.unzstd
		return err
	}
	if c.unzlib, _ = zlibReaders.Get().(io.ReadCloser); c.unzlib != nil {
		err = c.unzlib.(zlib.Resetter).Reset(&c.frame, nil)
	} else {
		c.unzlib, err = zlib.NewReader(&c.frame)
	}
	c.from = c.unzlib
	return err
}

// finish looks whether the frame has yielded what it said, and no more.
func (c *Compressed) finish() error {
	if c.from != io.Reader(&c.frame) {
		var one [1]byte
		if n, err := c.from.Read(one[:]); n != 0 || err != io.EOF {
			return ErrMalformed
		}
		c.release()
	}
	_, err := io.Copy(io.Discard, &c.frame)
	return err
}

// Write implements io.Writer: what is written at a time is a frame, or several.
func (c *Compressed) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), maxFrame)]
		if err := c.writeFrame(part); err != nil {
			return 0, err
		}
		p = p[len(part):]
	}
	return total, nil
}

func (c *Compressed) writeFrame(part []byte) error {
	c.out.Reset()
	c.out.Write(make([]byte, 7))
	inflated := 0
	if len(part) >= minCompressed {
		if err := c.deflate(part); err != nil {
			return err
		}
		if inflated = len(part); c.out.Len()-7 >= inflated {
			inflated = 0
		}
	}
	if inflated == 0 {
		c.out.Truncate(7)
		c.out.Write(part)
	}
	b := c.out.Bytes()
	n := len(b) - 7
	copy(b, []byte{byte(n), byte(n >> 8), byte(n >> 16), c.seq, byte(inflated), byte(inflated >> 8),
		byte(inflated >> 16)})
	c.seq++
	_, err := c.rw.Write(b)
	if c.out.Cap() > keptMessage {
		c.out = bytes.Buffer{}
	}
	return err
}

func (c *Compressed) deflate(part []byte) error {
	if c.zstd {
		to, err := zstdWriter()
		if err != nil {
			return err
		}
		_, err = c.out.Write(to.EncodeAll(part, c.out.AvailableBuffer()))
		return err
	}
	to := zlibWriters.Get().(*zlib.Writer)
	defer zlibWriters.Put(to)
	to.Reset(&c.out)
	if _, err := to.Write(part); err != nil {
		return err
	}
	err := to.Close()
	to.Reset(io.Discard)
	return err
}
