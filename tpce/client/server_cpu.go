package client

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serverCPU reads how much processor time a local server has used: the process that listens on the target's
// port and all its descendants, those included that have ended and been waited for. It reads Linux's /proc;
// elsewhere, and for a server on another machine, there is no answer.
type serverCPU struct{ pid int }

// PID is the process that listens.
func (s serverCPU) PID() int { return s.pid }

// clockTick is the unit of /proc/PID/stat, fixed by the kernel's interface.
const clockTick = 10 * time.Millisecond

var errNoCPU = errors.New("not measured")

func FindServer(target string) (serverCPU, error) {
	u, err := url.Parse(target)
	if err != nil {
		return serverCPU{}, err
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return serverCPU{}, fmt.Errorf("%w: the server is not on this machine", errNoCPU)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"mysql": 3306}[u.Scheme]
		if port == 0 {
			port = 5432
		}
	}
	pid, err := listener(port)
	if err != nil {
		return serverCPU{}, err
	}
	if pid == os.Getpid() {
		return serverCPU{}, fmt.Errorf("%w: the server is this process", errNoCPU)
	}
	return serverCPU{pid}, nil
}

// listener finds the process that listens on a TCP port.
func listener(port int) (int, error) {
	inodes := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(text), "\n") {
			f := strings.Fields(line) // sl local remote state … inode
			const listening = "0A"
			if len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				inodes["socket:["+f[9]+"]"] = true
			}
		}
	}
	// A server that has forked since may share the socket: the oldest is the one.
	var owners []int
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && inodes[to] {
			if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil {
				owners = append(owners, pid)
			}
		}
	}
	if len(owners) == 0 {
		return 0, fmt.Errorf("%w: no process of this machine is seen to listen on port %d", errNoCPU, port)
	}
	return slices.Min(owners), nil
}

// Used is the time so far.
func (s serverCPU) Used() (time.Duration, error) {
	type process struct {
		parent int
		ticks  int64
	}
	all := map[int]process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended since; its time is its parent's now
		}
		pid, _ := strconv.Atoi(strings.Split(file, "/")[2]) // the pattern gives digits
		// The name, in parentheses, may hold anything.
		f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(f) < 15 {
			continue
		}
		p := process{}
		p.parent, _ = strconv.Atoi(f[1])
		for _, ticks := range f[11:15] { // user, system, and the same of children that were waited for
			n, _ := strconv.ParseInt(ticks, 10, 64)
			p.ticks += n
		}
		all[pid] = p
	}
	if _, there := all[s.pid]; !there {
		return 0, fmt.Errorf("%w: process %d has ended", errNoCPU, s.pid)
	}
	total := int64(0)
	for pid, p := range all {
		for at := pid; at > 0; at = all[at].parent {
			if at == s.pid {
				total += p.ticks
				break
			}
		}
	}
	return time.Duration(total) * clockTick, nil
}
