package wire

import (
	"github.com/dolthub/vitess/go/mysql"
)

// outbound is what is known of the packets to the client, which the library writes in pieces of its own choice.
type outbound struct {
	header [4]byte
	have   int  // bytes of the header
	left   int  // bytes of the packet that are still to come
	seq    byte // of the last packet that began

	drop  bool                        // the answer has ended with an error: nothing more of it goes out
	fixOK func([]byte) ([]byte, bool) // what to do with an OK packet, which comes alone
}

// follow keeps count of packets.
func (o *outbound) follow(b []byte) {
	for len(b) > 0 {
		if o.left > 0 {
			n := min(o.left, len(b))
			o.left -= n
			b = b[n:]
			continue
		}
		n := copy(o.header[o.have:], b)
		o.have += n
		b = b[n:]
		if o.have == 4 {
			o.left = int(o.header[0]) | int(o.header[1])<<8 | int(o.header[2])<<16
			o.seq, o.have = o.header[3], 0
		}
	}
}

// Write implements net.Conn for the library.
func (f *commands) Write(b []byte) (int, error) {
	o := &f.out
	if o.drop {
		return len(b), nil
	}
	if f.opening != nil {
		return len(b), f.keep(b)
	}
	if o.fixOK != nil {
		if fixed, ok := o.fixOK(b); ok {
			o.follow(fixed)
			if _, err := f.Conn.Write(fixed); err != nil {
				return 0, err
			}
			return len(b), nil
		}
	}
	o.follow(b)
	return f.Conn.Write(b)
}

// breakOff ends a result that has begun with an error packet, as MySQL does. The library would end the connection instead; it is
// told that all went well, and what it writes then is dropped.
func (f *commands) breakOff(e *mysql.SQLError) error {
	if err := f.c.conn.FlushBuffer(); err != nil {
		return err
	}
	if f.out.left > 0 || f.out.have > 0 { // in the middle of a packet, which cannot be helped
		return e
	}
	if f.opening != nil {
		f.opening.cursor.close()
		f.opening = nil
	}
	f.out.drop = true
	return f.send(f.out.seq+1, errorPacket(e))
}
