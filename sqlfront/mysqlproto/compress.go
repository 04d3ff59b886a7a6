package mysqlproto

import (
	"bytes"
	"compress/zlib"
	"io"

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
	unzlib   io.ReadCloser
	unzstd   *zstd.Decoder

	out    bytes.Buffer
	dozlib *zlib.Writer
	dozstd *zstd.Encoder
}

// minCompressed is from where on it pays to compress.
const minCompressed = 50

// maxWindow bounds what an inflater may take.
const maxWindow = 8 << 20

// NewCompressed puts frames on rw: zstd's at a level of 1 to 22, or zlib's.
func NewCompressed(rw io.ReadWriter, useZstd bool, level int) (*Compressed, error) {
	c := &Compressed{rw: rw, zstd: useZstd}
	if !useZstd {
		return c, nil
	}
	if level < 1 || level > 22 {
		level = 3
	}
	var err error
	c.dozstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(maxWindow>>3))
	if err != nil {
		return nil, err
	}
	c.unzstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	return c, err
}

// Restart begins with the next command: frames are numbered from 0 again.
func (c *Compressed) Restart() { c.seq = 0 }

// Close frees what the inflater has.
func (c *Compressed) Close() {
	if c.unzstd != nil {
		c.unzstd.Close()
	}
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
	switch {
	case c.zstd:
		err = c.unzstd.Reset(&c.frame)
		c.from = c.unzstd
	case c.unzlib == nil:
		c.unzlib, err = zlib.NewReader(&c.frame)
		c.from = c.unzlib
	default:
		err = c.unzlib.(zlib.Resetter).Reset(&c.frame, nil)
		c.from = c.unzlib
	}
	return err
}

// finish looks whether the frame has yielded what it said, and no more.
func (c *Compressed) finish() error {
	if c.from != io.Reader(&c.frame) {
		var one [1]byte
		if n, err := c.from.Read(one[:]); n != 0 || err != io.EOF {
			return ErrMalformed
		}
	}
	_, err := io.Copy(io.Discard, &c.frame)
	return err
}

// Write implements io.Writer: what is written at a time is a frame, or several.
func (c *Compressed) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		part := p[:min(len(p), MaxPayload)]
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
		b := c.dozstd.EncodeAll(part, c.out.AvailableBuffer())
		_, err := c.out.Write(b)
		return err
	}
	if c.dozlib == nil {
		c.dozlib = zlib.NewWriter(&c.out)
	} else {
		c.dozlib.Reset(&c.out)
	}
	if _, err := c.dozlib.Write(part); err != nil {
		return err
	}
	return c.dozlib.Close()
}
