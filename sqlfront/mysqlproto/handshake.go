package mysqlproto

import "encoding/binary"

// SaltLength is how many bytes of challenge a plugin gets.
const SaltLength = 20

// Greeting is the first packet of a connection, the server's.
type Greeting struct {
	Version      string
	ConnectionID uint32
	Salt         []byte // SaltLength bytes
	Capabilities uint32
	Charset      byte
	Status       uint16
	Plugin       string
}

// Append appends the packet:
//
//	 1    …             4    8      1    2              1         2        2
//	+----+---------+---+----+------+----+--------------+---------+--------+--------------+
//	| 10 | version | 0 | id | salt | 0  | capabilities | charset | status | capabilities |
//	+----+---------+---+----+------+----+--------------+---------+--------+--------------+
//	 1    10   13     …
//	+----+----+------+--------+---+
//	| 21 | 0… | salt | plugin | 0 |
//	+----+----+------+--------+---+
func (g *Greeting) Append(b []byte) []byte {
	b = append(append(append(b, 10), g.Version...), 0)
	b = binary.LittleEndian.AppendUint32(b, g.ConnectionID)
	b = append(append(b, g.Salt[:8]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(g.Capabilities))
	b = binary.LittleEndian.AppendUint16(append(b, g.Charset), g.Status)
	b = binary.LittleEndian.AppendUint16(b, uint16(g.Capabilities>>16))
	b = append(append(b, SaltLength+1), make([]byte, 10)...)
	b = append(append(b, g.Salt[8:SaltLength]...), 0)
	return append(append(b, g.Plugin...), 0)
}

// Attribute is something that a client says of itself, or of a statement.
type Attribute struct{ Name, Value string }

// Login is the client's answer to the greeting.
type Login struct {
	Capabilities uint32
	MaxPacket    uint32
	Charset      byte
	User         string
	Answer       []byte // to the greeting's salt
	Database     string
	Plugin       string // what the answer was computed with; empty if the client did not say
	Attributes   []Attribute
}

// tlsRequest is how long a login is that only asks for TLS.
const tlsRequest = 32

// ParseTLSRequest reports whether a packet in the place of the login asks for TLS, after which the login
// comes. Some clients put the user's name behind; nobody has listened to it.
func ParseTLSRequest(b []byte) (capabilities uint32, ok bool) {
	if len(b) < tlsRequest {
		return 0, false
	}
	capabilities = binary.LittleEndian.Uint32(b)
	return capabilities, capabilities&ClientSSL != 0
}

// ParseLogin decodes a login:
//
//	 4              4             1         23   …        …        …          …        …            1
//	+--------------+-------------+---------+----+------+--------+----------+--------+------------+-------+
//	| capabilities | max. packet | charset | 0… | user | answer | database | plugin | attributes | level |
//	+--------------+-------------+---------+----+------+--------+----------+--------+------------+-------+
func ParseLogin(b []byte) (*Login, error) {
	c := cursor{b: b}
	l := &Login{Capabilities: c.uint32(), MaxPacket: c.uint32(), Charset: c.byte()}
	if c.take(23); c.bad || l.Capabilities&ClientProtocol41 == 0 {
		return nil, ErrMalformed
	}
	has := func(flag uint32) bool { return l.Capabilities&flag != 0 }
	l.User = c.terminated()
	switch {
	case has(ClientPluginAuthLenenc):
		l.Answer = append([]byte(nil), c.take(c.int())...)
	case has(ClientSecureConnection):
		l.Answer = append([]byte(nil), c.take(uint64(c.byte()))...)
	default:
		l.Answer = []byte(c.terminated())
	}
	if has(ClientConnectWithDB) {
		l.Database = c.terminated()
	}
	if c.bad {
		return nil, ErrMalformed
	}
	if has(ClientPluginAuth) {
		l.Plugin = c.terminated()
	}
	if has(ClientConnectAttrs) && !c.bad {
		l.Attributes = c.attributes()
	}
	// Behind them is the level of zstd that the client would like, which is not heard; see Compressed.
	// What is wrong from the plugin on keeps nobody out: some clients announce more than they send.
	return l, nil
}

// attributes are pairs of texts, and before them the length of all.
func (c *cursor) attributes() (all []Attribute) {
	inner := cursor{b: c.take(c.int())}
	for len(inner.b) > 0 {
		a := Attribute{Name: inner.string(), Value: inner.string()}
		if inner.bad {
			return all
		}
		all = append(all, a)
	}
	return all
}

// ChangeUser is a login on a connection that has one.
type ChangeUser struct {
	User       string
	Answer     []byte // to the salt of the greeting
	Database   string
	Charset    uint16 // 0 if the client did not say
	Plugin     string
	Attributes []Attribute
}

// ParseChangeUser decodes COM_CHANGE_USER, without the command's byte:
//
//	 …             1+…        …                2         …            …
//	+------+----+--------+----------+----+---------+--------+----+------------+
//	| user | 00 | answer | database | 00 | charset | plugin | 00 | attributes |
//	+------+----+--------+----------+----+---------+--------+----+------------+
func ParseChangeUser(b []byte, capabilities uint32) (*ChangeUser, error) {
	c := cursor{b: b}
	u := &ChangeUser{User: c.terminated()}
	u.Answer = append([]byte(nil), c.take(uint64(c.byte()))...)
	if c.bad {
		return nil, ErrMalformed
	}
	if len(c.b) > 0 {
		u.Database = c.terminated()
	}
	if len(c.b) >= 2 {
		u.Charset = c.uint16()
	}
	if len(c.b) > 0 && capabilities&ClientPluginAuth != 0 {
		u.Plugin = c.terminated()
	}
	if len(c.b) > 0 && capabilities&ClientConnectAttrs != 0 {
		u.Attributes = c.attributes()
	}
	return u, nil
}

// AppendAuthSwitch appends the packet that asks for the answer of another plugin, to another salt.
func AppendAuthSwitch(b []byte, plugin string, salt []byte) []byte {
	b = append(append(append(b, HeaderAuthSwitch), plugin...), 0)
	return append(append(b, salt...), 0)
}
