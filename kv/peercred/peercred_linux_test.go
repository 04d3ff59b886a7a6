package peercred

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// foreigner is a user id that no process of the tests has.
const foreigner = 54321

// TestMain lets this program, started again as another user, connect to an address and wait.
func TestMain(m *testing.M) {
	if to := os.Getenv("PEERCRED_DIAL"); to != "" {
		network := "tcp"
		if strings.HasPrefix(to, "/") {
			network = "unix"
		}
		c, err := net.Dial(network, to)
		if err != nil {
			os.Exit(1)
		}
		_, _ = c.Read(make([]byte, 1)) // until the test closes its end
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func listeners(t *testing.T) map[string]net.Listener {
	t.Helper()
	all := map[string]net.Listener{}
	dir, err := os.MkdirTemp("", "peer") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string][2]string{
		"IPv4": {"tcp", "127.0.0.1:0"}, "IPv6": {"tcp", "[::1]:0"}, "both": {"tcp", ":0"}, "unix": {"unix", filepath.Join(dir, "s")},
	} {
		l, err := net.Listen(at[0], at[1])
		if err != nil {
			t.Logf("no %s here: %v", name, err)
			continue
		}
		t.Cleanup(func() { l.Close() })
		if name == "unix" {
			if err := os.Chmod(at[1], 0o777); err != nil {
				t.Fatal(err)
			}
		}
		all[name] = l
	}
	return all
}

func target(l net.Listener) (network, addr string) {
	if l.Addr().Network() == "tcp" && strings.HasPrefix(l.Addr().String(), "[::]:") {
		return "tcp", "127.0.0.1" + strings.TrimPrefix(l.Addr().String(), "[::]")
	}
	return l.Addr().Network(), l.Addr().String()
}

// TestOwn knows a connection of this process over each kind of socket, and no longer when the other end was closed: the kernel
// shows closed sockets as root's.
func TestOwn(t *testing.T) {
	for name, l := range listeners(t) {
		client, err := net.Dial(target(l))
		if err != nil {
			t.Fatal(name, err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(name, err)
		}
		if err := Own(server); err != nil {
			t.Errorf("%s: the client: %v", name, err)
		}
		if err := Own(client); err != nil {
			t.Errorf("%s: the server: %v", name, err)
		}
		_ = client.Close()
		if _, err := server.Read(make([]byte, 1)); err == nil {
			t.Fatal("read from a closed connection")
		}
		if err := Own(server); name != "unix" && !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: a client that has closed: %v, want ErrUnknown", name, err)
		}
		_ = server.Close()
	}
}

// TestForeign has another user of the machine connect. Only root can start a process as somebody else; without root the table
// of sockets that TestTable reads stands in for him.
func TestForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user; TestTable covers what is decided")
	}
	// A copy that the other user may read and run: the test's own directory is not his.
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "peer")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "dial")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, l := range listeners(t) {
		_, addr := target(l)
		cmd := exec.Command(program)
		cmd.Dir = "/"
		cmd.Env = []string{"PEERCRED_DIAL=" + addr}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: foreigner, Gid: foreigner}}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if uid, err := UID(server); err != nil || uid != foreigner {
			t.Errorf("%s: user id %d, %v, want %d", name, uid, err, foreigner)
		}
		if err := Own(server); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v, want ErrForeign", name, err)
		}
		_ = server.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
