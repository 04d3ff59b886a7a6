package itest

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// stranger is a user of the operating system who has nothing to do with the server.
const stranger = 54321

// asStranger runs a client of MariaDB's as another user of the operating system.
func asStranger(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("mariadb", append([]string{"--no-defaults"}, args...)...)
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "HOME=/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestStrangerIsNotRoot is S7 with the ordinary client: root without a password is whoever started the server, and no other user
// of the machine, until root has one. Only root can be somebody else, so it is skipped for others: TestRootWithoutPassword of
// sqlfront/wire decides the same with a peer that is made up, and kv/peercred with tables of sockets as the kernel has them.
func TestStrangerIsNotRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a client as another user")
	}
	s := start(t, t.TempDir())
	for _, host := range []string{"127.0.0.1", "localhost"} {
		args := []string{"-h", host, "--protocol=tcp", "-P", s.sqlPort, "-u", "root", "-e", "SELECT CURRENT_USER()"}
		out, err := asStranger(t, args...)
		if err == nil || !strings.Contains(out, "ERROR 1698 (28000)") || !strings.Contains(out, "ALTER USER root@localhost IDENTIFIED BY") {
			t.Errorf("another user at %s: %v\n%s", host, err, out)
		}
		expect(t, command(t, nil, nil, "mariadb", append([]string{"--no-defaults"}, args...)...), "root@localhost")
	}
	mustExec(t, s.db(""), "ALTER USER root@localhost IDENTIFIED BY 'secret'")
	out, err := asStranger(t, "-h", "127.0.0.1", "-P", s.sqlPort, "-u", "root", "-psecret", "-e", "SELECT CURRENT_USER()")
	if err != nil {
		t.Errorf("with the password: %v\n%s", err, out)
	}
}
