package wire

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"reflect"
	"sync"
	"unsafe"

	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/account"
	"moka/sqlfront/sqlerr"
)

// sha2 is caching_sha2_password with its full exchange:
//
//	client                                            server
//	  ── scramble of the password ─────────────────────▶
//	  ◀── 01 03 (it is right) ── OK                       the password was seen before
//	  ◀── 01 04 (send it) ──                              it was not
//	  ── password 00 ──────────────────────────────────▶  over TLS or a unix socket
//	  ── 02 (send your key) ───────────────────────────▶  else
//	  ◀── 01 public key, PEM ──
//	  ── RSA-OAEP(password 00 XOR salt) ───────────────▶
//
// The library's speaks it over TLS only.
type sha2 struct{ login *login }

const (
	moreData   = 0x01
	fastDone   = 0x03
	sendAll    = 0x04
	requestKey = 0x02
	saltLength = 20
)

// Name implements mysql.AuthMethod.
func (sha2) Name() mysql.AuthMethodDescription { return mysql.CachingSha2Password }

// AllowClearTextWithoutTLS implements mysql.AuthMethod. No password goes in clear text over what others can listen to.
func (sha2) AllowClearTextWithoutTLS() bool { return true }

// HandleUser implements mysql.AuthMethod.
func (m sha2) HandleUser(conn *mysql.Conn, user string) bool {
	return uses{m.login, string(mysql.CachingSha2Password)}.HandleUser(user, conn.RemoteAddr())
}

// AuthPluginData implements mysql.AuthMethod.
func (sha2) AuthPluginData() ([]byte, error) {
	salt, err := mysql.NewSalt()
	return append(salt, 0), err
}

// HandleAuthPluginData implements mysql.AuthMethod.
func (m sha2) HandleAuthPluginData(conn *mysql.Conn, user string, salt, answer []byte, addr net.Addr) (mysql.Getter, error) {
	l := m.login
	u := l.accounts.Find(user, account.Host(addr))
	if u != nil && u.Plugin != string(mysql.CachingSha2Password) {
		u = nil
	}
	if len(answer) == 0 || len(answer) == 1 && answer[0] == 0 {
		return l.admit(conn, user, addr, u, u != nil && u.AuthString == "", false)
	}
	if len(salt) < saltLength {
		return nil, denied(user, addr, true)
	}
	salt = salt[:saltLength]
	x, err := packetsOf(conn)
	if err != nil {
		return nil, err
	}
	if u != nil && u.AuthString != "" && l.seen(u.AuthString, salt, answer) {
		getter, err := l.admit(conn, user, addr, u, true, true)
		if err == nil {
			err = x.write(moreData, fastDone)
		}
		return getter, err
	}
	// An account that is not there goes through the same.
	if err := x.write(moreData, sendAll); err != nil {
		return nil, err
	}
	password, ok, err := m.password(conn, x, salt)
	if err != nil {
		return nil, err
	}
	stored := ""
	if u != nil {
		stored = u.AuthString
	}
	right := ok && l.verify(stored, password) && u != nil
	return l.admit(conn, user, addr, u, right, true)
}

// password receives the password itself.
func (m sha2) password(conn *mysql.Conn, x packets, salt []byte) (password string, ok bool, err error) {
	body, err := x.read()
	if err != nil {
		return "", false, err
	}
	if !private(conn) {
		key, err := m.login.key.get()
		if err != nil {
			return "", false, err
		}
		if len(body) == 1 && body[0] == requestKey {
			if err := x.write(append([]byte{moreData}, key.public...)...); err != nil {
				return "", false, err
			}
			if body, err = x.read(); err != nil {
				return "", false, err
			}
		}
		body, err = rsa.DecryptOAEP(sha1.New(), nil, key.private, body, nil)
		if err != nil {
			return "", false, nil
		}
		for i := range body {
			body[i] ^= salt[i%len(salt)]
		}
	}
	if len(body) == 0 || body[len(body)-1] != 0 {
		return "", false, nil
	}
	return string(body[:len(body)-1]), true, nil
}

// seen compares a scramble with a password that was right before.
func (l *login) seen(stored string, salt, answer []byte) bool {
	l.mu.Lock()
	known, ok := l.scrambled[stored]
	l.mu.Unlock()
	return ok && len(answer) == sha256.Size && mysql.VerifyHashedCachingSha2Password(answer, salt, known[:])
}

// keyPair is the RSA key of this process, made when a client asks for it: clients that take what they are given without TLS cannot
// tell one from another anyway.
type keyPair struct {
	once    sync.Once
	private *rsa.PrivateKey
	public  []byte // PEM
	err     error
}

func (k *keyPair) get() (*keyPair, error) {
	k.once.Do(func() {
		var der []byte
		if k.private, k.err = rsa.GenerateKey(rand.Reader, 2048); k.err != nil {
			return
		}
		if der, k.err = x509.MarshalPKIXPublicKey(&k.private.PublicKey); k.err == nil {
			k.public = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		}
	})
	return k, k.err
}

// packets reads and writes packets of a login.
type packets interface {
	write(body ...byte) error
	read() ([]byte, error)
}

// maxLoginPacket bounds what a client may send for a password.
const maxLoginPacket = 1024

// libraryPackets are those of a connection that is logging in.
type libraryPackets struct {
	conn     *mysql.Conn
	sequence *uint8
}

// packetsOf is how packets are exchanged on a connection: by the filter once that is there (COM_CHANGE_USER), else beside the library,
// which does not export how it writes one. The number of the next packet is what they share; a test checks that it is there.
func packetsOf(conn *mysql.Conn) (packets, error) {
	if f := of(conn).filter; f != nil {
		return &f.exchange, nil
	}
	field := reflect.ValueOf(conn).Elem().FieldByName("sequence")
	if !field.IsValid() || field.Kind() != reflect.Uint8 {
		return nil, errors.New("wire: this version of the protocol library does not number its packets where it is expected")
	}
	return libraryPackets{conn, (*uint8)(unsafe.Pointer(field.UnsafeAddr()))}, nil
}

func (p libraryPackets) write(body ...byte) error {
	n := len(body)
	packet := append([]byte{byte(n), byte(n >> 8), byte(n >> 16), *p.sequence}, body...)
	*p.sequence++
	_, err := p.conn.Conn.Write(packet)
	return err
}

func (p libraryPackets) read() ([]byte, error) {
	body, err := p.conn.ReadPacket(context.Background())
	if err == nil && len(body) > maxLoginPacket {
		err = sqlerr.New(sqlerr.MalformedPacket, "Malformed communication packet")
	}
	return body, err
}
