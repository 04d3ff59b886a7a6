package wire

import (
	"database/sql"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"

	vt "github.com/dolthub/vitess/go/mysql"

	"moka/kv/peercred"
)

// TestRootWithoutPassword is S7: root, as a new server has it, is the operating system's user who runs the server, over TCP, the
// unix socket and COM_CHANGE_USER, until it has a password. Accounts that an administrator left without one are everybody's.
func TestRootWithoutPassword(t *testing.T) {
	var foreign atomic.Bool
	socket := filepath.Join(t.TempDir(), "s")
	r := newRig(t, func(o *Options) {
		o.Socket = socket
		o.OwnPeer = func(c net.Conn) error {
			if foreign.Load() {
				return peercred.ErrForeign
			}
			return peercred.Own(c)
		}
	})
	ping := func(name string) error {
		var errs error
		for _, at := range []string{"tcp(" + r.server.Addr().String() + ")", "unix(" + socket + ")"} {
			db, err := sql.Open("mysql", name+"@"+at+"/test")
			if err != nil {
				t.Fatal(err)
			}
			err = db.Ping()
			_ = db.Close()
			if err != nil {
				errs = err
			}
		}
		return errs
	}
	c := r.conn()
	if err := ping("root"); err != nil {
		t.Fatalf("the owner: %v", err)
	}
	exec(t, c, "create user open@localhost", "grant select on test.* to open@localhost", "create user root@'%'")
	change := r.raw(t)
	foreign.Store(true)
	wantErr(t, "another user", ping("root"), 1698, "28000", "ALTER USER root@localhost IDENTIFIED BY")
	wantErr(t, "a password where there is none", ping("root:x"), 1045, "28000", "Access denied")
	if err := ping("open"); err != nil {
		t.Errorf("an account that was made without a password: %v", err)
	}
	if b := change.command(append([]byte{comChangeUser}, "root\x00\x00test\x00\xff\x00mysql_native_password\x00"...)...); b[0] != vt.AuthSwitchRequestPacket {
		t.Fatalf("%q", b)
	}
	change.packet(2, nil)
	_, b := change.recv()
	change.wantErr("COM_CHANGE_USER", b, 1698)

	exec(t, c, "alter user root@localhost identified by 'secret'")
	if err := ping("root:secret"); err != nil {
		t.Errorf("another user with the password: %v", err)
	}
	foreign.Store(false)
	wantErr(t, "the owner without the password", ping("root"), 1045, "28000", "Access denied")
}
