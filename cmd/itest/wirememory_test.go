package itest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/sqlfront/mysqlproto"
)

// wire logs in with an account without a password, and returns the connection and its packets.
func (s *server) wire(t testing.TB, user string, capabilities uint32) (net.Conn, *mysqlproto.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+s.sqlPort)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	in, out := mysqlproto.NewReader(c), mysqlproto.NewWriter(c)
	if _, err := in.Next(1 << 16); err != nil {
		t.Fatal(err)
	}
	login := binary.LittleEndian.AppendUint32(nil, capabilities|mysqlproto.ClientProtocol41|
		mysqlproto.ClientSecureConnection|mysqlproto.ClientPluginAuth)
	login = append(append(login, 0, 0, 0, 1, 255), make([]byte, 23)...)
	out.Seq, in.Seq = 1, 2
	out.Packet(append(login, user+"\x00\x00mysql_native_password\x00\x16"...))
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if b, err := in.Next(1 << 16); err != nil || b[0] != mysqlproto.HeaderOK {
		t.Fatalf("login: %q, %v", b, err)
	}
	in.Restart()
	return c, in
}

// peakMiB is how much memory the process has had at a time.
func (s *server) peakMiB() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	peak, _ := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status)[1]))
	return peak >> 10
}

// TestMessagesOnTheirWay has an account without any right send commands that it does not end, and ask for
// answers that it does not read: the process stays below its limit, and others go on (usage-3, usage-4).
func TestMessagesOnTheirWay(t *testing.T) {
	s := start(t, t.TempDir(), "--memory-limit-mib", "1024", "--cache-mib", "32")
	root := s.db("")
	mustExec(t, root, "CREATE USER poor IDENTIFIED WITH mysql_native_password")
	long := bytes.Repeat([]byte{'x'}, mysqlproto.MaxPayload)
	for round, attack := range map[string]func(net.Conn){
		"half of a command": func(c net.Conn) {
			for k := range byte(4) {
				n := len(long)
				if k == 3 {
					n -= 100 // and wait
				}
				if _, err := c.Write([]byte{0xff, 0xff, 0xff, k}); err != nil {
					return // it was ended
				}
				if _, err := c.Write(long[:n]); err != nil {
					return
				}
			}
		},
		"an answer that nobody reads": func(c net.Conn) {
			text := "\x03SELECT REPEAT('x', 60000000), REPEAT('y', 60000000)"
			_, _ = c.Write(append([]byte{byte(len(text)), 0, 0, 0}, text...))
		},
	} {
		var all sync.WaitGroup
		var held []net.Conn
		for range 20 {
			c, _ := s.wire(t, "poor", 0)
			held = append(held, c)
			all.Go(func() { attack(c) })
		}
		all.Wait()
		if strings.HasPrefix(round, "an answer") {
			eventually(t, "somebody is sent something", time.Minute, func() bool {
				return one[int](t, root, "SELECT COUNT(*) FROM information_schema.processlist WHERE "+
					"state = 'Sending to client' AND command = 'Query' AND user = 'poor'") > 0
			})
		}
		for range 20 { // the answers are on their way by then
			if got := one[string](t, root, "SELECT CONCAT('a', SLEEP(0.05))"); got != "a0" {
				t.Errorf("%s: others get %q", round, got)
			}
		}
		if peak := s.peakMiB(); peak > 1024 {
			t.Errorf("%s: the process had %d MiB", round, peak)
		}
		for _, c := range held {
			_ = c.Close()
		}
	}
}
