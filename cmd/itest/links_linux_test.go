package itest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// links are the connections between the nodes of a cluster. Each node is reached through a forwarder, which
// finds out which process has connected, so that each direction between two nodes can be cut by itself: what
// is sent there does not arrive while it is cut, as from a network that loses packets, and no end is told.
// When it heals, half of the connections go on with what was held back, and the others are reset.
type links struct {
	t     testing.TB
	pid   func(node int) int // of the node's process, 0 while there is none
	mu    sync.Mutex
	cuts  map[[2]int]bool
	conns map[*forwarded]bool
	moved chan struct{} // closed when anything changes
	over  bool
	wg    sync.WaitGroup
}

// forwarded is one connection, from the node that made it to another one.
type forwarded struct {
	ends  [2]net.Conn // of who dialled, and of who listens
	nodes [2]int
	held  bool
}

// nobody is who is none of the nodes: a command, the test.
const nobody = -1

func newLinks(t testing.TB, pid func(node int) int) *links {
	l := &links{t: t, pid: pid, cuts: map[[2]int]bool{}, conns: map[*forwarded]bool{},
		moved: make(chan struct{})}
	t.Cleanup(l.wg.Wait)
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
		close(l.moved)
		for c := range l.conns {
			c.close()
		}
	})
	return l
}

func (c *forwarded) close() {
	for _, e := range c.ends {
		e.Close()
	}
}

// reset ends a connection in a way that both ends notice at once.
func (c *forwarded) reset() {
	for _, e := range c.ends {
		_ = e.(*net.TCPConn).SetLinger(0)
	}
	c.close()
}

// forward lets connections to addr reach a node where it listens.
func (l *links) forward(addr string, node int, listens string) {
	l.t.Helper()
	front, err := net.Listen("tcp", addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { front.Close() })
	l.wg.Go(func() {
		for {
			from, err := front.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() { l.connection(from, node, listens) })
		}
	})
}

func (l *links) connection(from net.Conn, node int, listens string) {
	source := l.who(from)
	to, err := net.Dial("tcp", listens)
	if err != nil { // the node is down: so is its port, to who connects
		_ = from.(*net.TCPConn).SetLinger(0)
		from.Close()
		return
	}
	c := &forwarded{ends: [2]net.Conn{from, to}, nodes: [2]int{source, node}}
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		c.close()
		return
	}
	l.conns[c] = true
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.pump(c, 0) })
	both.Go(func() { l.pump(c, 1) })
	both.Wait()
	l.mu.Lock()
	delete(l.conns, c)
	l.mu.Unlock()
}

// pump carries what one end says to the other one.
func (l *links) pump(c *forwarded, end int) {
	defer c.close()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.ends[end].Read(buf)
		if n > 0 {
			if !l.pass(c, end) {
				return
			}
			if _, err := c.ends[1-end].Write(buf[:n]); err != nil {
				l.pass(c, 1-end) // the answer that nobody is there any more does not pass a cut either
				return
			}
		}
		if err != nil {
			l.pass(c, end)
			return
		}
	}
}

// pass waits until what one end has said may reach the other one; false if that is never.
func (l *links) pass(c *forwarded, end int) bool {
	for {
		l.mu.Lock()
		over, moved := l.over || !l.conns[c], l.moved
		cut := l.cuts[[2]int{c.nodes[end], c.nodes[1-end]}]
		c.held = c.held || cut
		l.mu.Unlock()
		if over || !cut {
			return !over
		}
		<-moved
	}
}

// cut lets nothing pass from one node to another one.
func (l *links) cut(pairs ...[2]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range pairs {
		l.cuts[p] = true
	}
}

// heal ends all cuts.
func (l *links) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.cuts)
	for c := range l.conns {
		if c.held && rand.IntN(2) == 0 {
			delete(l.conns, c)
			c.reset()
		}
		c.held = false
	}
	close(l.moved)
	l.moved = make(chan struct{})
}

// who finds the node whose process has the other end of a connection: by the socket's number, which the
// kernel lists under its addresses, among the files that each process has open.
func (l *links) who(c net.Conn) int {
	inode := socketInode(c.RemoteAddr().(*net.TCPAddr).AddrPort(), c.LocalAddr().(*net.TCPAddr).AddrPort())
	if inode == "" {
		return nobody
	}
	for node := range 3 {
		pid := l.pid(node)
		files, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)) // none if the process is over
		if pid != 0 && slices.ContainsFunc(files, func(f os.DirEntry) bool {
			name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, f.Name()))
			return err == nil && name == "socket:["+inode+"]"
		}) {
			return node
		}
	}
	return nobody
}

// socketInode is the number of the socket with these ends, empty if there is none any more.
func socketInode(own, other netip.AddrPort) string {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return ""
	}
	defer f.Close()
	name := func(a netip.AddrPort) string {
		ip := a.Addr().Unmap().As4()
		return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), a.Port())
	}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if f := strings.Fields(sc.Text()); len(f) > 9 && f[1] == name(own) && f[2] == name(other) {
			return f[9]
		}
	}
	return ""
}
