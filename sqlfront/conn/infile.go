package conn

import (
	"errors"
	"io"
	"os"
	"time"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/sqlerr"
)

// loadInfile asks the client for a file of its own, LOAD DATA LOCAL. The statement reads it before it
// answers anything.
func (c *Connection) loadInfile(name string) (io.ReadCloser, error) {
	if !c.expectsFile {
		return nil, errors.New("conn: only LOAD DATA LOCAL asks for a file of the client")
	}
	if !c.has(mysqlproto.ClientLocalFiles) {
		return nil, sqlerr.New(sqlerr.LocalInfileOff,
			"Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	c.stopWatch(true)
	if err := c.say(append([]byte{mysqlproto.HeaderLocalInfile}, name...)); err != nil {
		return nil, err
	}
	return &clientFile{c: c}, nil
}

// clientFile is a file as the client sends it: packets, of which an empty one is the end.
type clientFile struct {
	c    *Connection
	part []byte // of the packet at hand
	more bool   // the next packet is of the same message: an empty one does not end the file
	err  error
}

// Read implements io.Reader.
func (f *clientFile) Read(p []byte) (int, error) {
	for len(f.part) == 0 && f.err == nil {
		f.next()
	}
	if len(f.part) > 0 {
		n := copy(p, f.part)
		f.part = f.part[n:]
		return n, nil
	}
	return 0, f.err
}

// next reads a packet.
func (f *clientFile) next() {
	c := f.c
	if f.err = c.expectFile(true); f.err != nil {
		return
	}
	defer func() { _ = c.expectFile(false) }()
	goesOn := f.more
	f.part, f.more, f.err = c.in.Part()
	switch {
	case errors.Is(f.err, mysqlproto.ErrOutOfOrder):
		f.err = sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet")
		c.poisoned = true // nobody knows what follows
	case errors.Is(f.err, os.ErrDeadlineExceeded):
		f.err = sqlerr.New(sqlerr.NetReadInterrupted, "Got timeout reading communication packets")
		c.poisoned = true
	case f.err == io.EOF:
		f.err = io.ErrUnexpectedEOF
	case f.err == nil && len(f.part) == 0 && !goesOn:
		f.err = io.EOF
	}
}

// expectFile says that the statement waits for the client, or does not any more. It fails when the statement
// has been told to end: nobody knows then what the client sends next.
func (c *Connection) expectFile(yes bool) error {
	within := c.limit().read
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fileComes = yes; !yes {
		return nil
	}
	if c.hurried || c.gone {
		c.poisoned = true
		return errGone
	}
	return c.gate.SetReadDeadline(time.Now().Add(within))
}

// Close implements io.Closer. What the client has still to send is read and forgotten.
func (f *clientFile) Close() error {
	for f.err == nil {
		f.part = nil
		f.next()
	}
	f.part = nil
	f.c.out.Seq = f.c.in.Seq
	f.c.reply.from = f.c.out.Mark()
	f.c.allowWatch()
	if f.err == io.EOF {
		return nil
	}
	return f.err
}
