package wire

import (
	"bytes"
	"io"

	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// changeUser is a login on a connection that has one:
//
//	 …         1+…        …          2         …
//	+------+---+--------+----------+---------+--------+
//	| user |00 | answer | database | charset | plugin |  strings end with 00, the answer has its length in front
//	+------+---+--------+----------+---------+--------+
//
// The answer to the greeting's challenge is not looked at; the client is given a new one, for the method of the account.
func (f *commands) changeUser(arg []byte) error {
	mc := f.c.conn
	user, arg, ok1 := bytes.Cut(arg, []byte{0})
	if !ok1 || len(arg) == 0 || len(arg) < 1+int(arg[0]) {
		return f.refuse(0, sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	arg = arg[1+int(arg[0]):]
	db, arg, _ := bytes.Cut(arg, []byte{0})
	f.c.srv.greet()
	var method mysql.AuthMethod
	for _, m := range f.c.srv.auth.AuthMethods() {
		if m.HandleUser(mc, string(user)) {
			method = m
			break
		}
	}
	if method == nil {
		return f.refuse(0, sqlerr.New(sqlerr.AccessDenied, "Access denied for user '%s' (the method of this account is not known here)", user))
	}
	salt, err := method.AuthPluginData()
	if err != nil {
		return f.refuse(0, asSQLError(err))
	}
	x := &f.exchange
	*x = changeUserPackets{f, 1}
	request := append([]byte{mysql.AuthSwitchRequestPacket}, method.Name()...)
	if err := x.write(append(append(request, 0), salt...)...); err != nil {
		return err
	}
	answer, err := x.read()
	if err != nil {
		return err
	}
	getter, err := method.HandleAuthPluginData(mc, string(user), salt, answer, mc.RemoteAddr())
	if err == io.EOF {
		return err
	}
	if err != nil {
		return f.refuse(x.next-1, asSQLError(err))
	}
	mc.User, mc.UserData = string(user), getter
	if len(arg) >= 2 {
		mc.CharacterSet = arg[0]
	}
	f.c.unprepareAll()
	f.forget(0)
	f.c.session.SetCurrentDatabase("") // to which the new account may have no right
	if err := f.c.handler.ComResetConnection(mc); err != nil {
		return f.refuse(x.next-1, asSQLError(err))
	}
	if len(db) > 0 {
		if err := f.c.handler.ComInitDB(mc, string(db)); err != nil {
			return f.refuse(x.next-1, asSQLError(err))
		}
	}
	return f.ok(x.next)
}

// changeUserPackets are those between COM_CHANGE_USER and its end.
type changeUserPackets struct {
	f    *commands
	next byte // number of the next packet
}

func (x *changeUserPackets) write(body ...byte) error {
	x.next++
	return x.f.send(x.next-1, body)
}

// read returns the client's next packet. After io.EOF the client has been told what was wrong with it, or is gone.
func (x *changeUserPackets) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(x.f.r, head[:]); err != nil {
		return nil, io.EOF
	}
	n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if n > maxLoginPacket || head[3] != x.next {
		return nil, x.f.refuse(head[3], sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet"))
	}
	x.next++
	body := make([]byte, n)
	if _, err := io.ReadFull(x.f.r, body); err != nil {
		return nil, io.EOF
	}
	return body, nil
}
