package wire

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/dolthub/vitess/go/mysql"
)

// What a client may make the server hold before it has logged in. The library takes the length of a packet from its head and makes room
// for it: 16 MiB for each socket, for as long as a login may take, and nobody has said who he is.

// maxLogin is how long a packet may be before the login, and all of them together with what TLS adds.
const (
	maxLogin      = 64 << 10
	maxLoginBytes = 4 * maxLogin
)

var errLoginTooLong = errors.New("a packet before the login was longer than 64 KiB")

// prelogin watches what a client sends until it has logged in. It is read by the goroutine of the connection alone.
type prelogin struct {
	// room is the library's buffer for the packet that it reads; nil before there is a connection of the library.
	room  **[]byte
	plain bool // the packets can be seen: there is no TLS
	total int
	head  [4]byte // of a packet
	have  int     // bytes of the head
	body  int     // bytes of the packet that are to come
}

// bufferField is where the library keeps the buffer of the packet that it reads. It is not exported.
var bufferField = func() reflect.StructField {
	f, ok := reflect.TypeFor[mysql.Conn]().FieldByName("currentEphemeralBuffer")
	if !ok || f.Type != reflect.TypeFor[*[]byte]() {
		panic("wire: this version of the protocol library has no buffer of a packet where it is expected")
	}
	return f
}()

func bufferOf(c *mysql.Conn) **[]byte {
	return (**[]byte)(unsafe.Add(unsafe.Pointer(c), bufferField.Offset))
}

// before is asked before more is read. A packet of TLS cannot be seen here, but what the library has made room for can: no record holds a
// packet that is too long, so there is always another read before the room is used.
func (p *prelogin) before() error {
	if p.total > maxLoginBytes {
		return errLoginTooLong
	}
	if p.room != nil && *p.room != nil && len(**p.room) > maxLogin {
		return errLoginTooLong
	}
	return nil
}

// saw looks at bytes of packets.
func (p *prelogin) saw(b []byte) error {
	p.total += len(b)
	for p.plain && len(b) > 0 {
		if p.body > 0 {
			n := min(p.body, len(b))
			p.body -= n
			b = b[n:]
			continue
		}
		n := copy(p.head[p.have:], b)
		p.have += n
		b = b[n:]
		if p.have == len(p.head) {
			p.have, p.body = 0, int(p.head[0])|int(p.head[1])<<8|int(p.head[2])<<16
			if p.body > maxLogin {
				return errLoginTooLong
			}
		}
	}
	return nil
}
