package suite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// server is moka in a process of its own, so that its processor time is told from the clients'.
type server struct {
	addr string // of MySQL's protocol
	cmd  *exec.Cmd
	over chan struct{} // closed when the process is
}

const (
	startWithin = time.Minute      // how long it may take to serve
	endWithin   = 20 * time.Second // how long it may take to end; then it is killed
)

// port is how the greeting tells where it listens.
var port = regexp.MustCompile(`mariadb -h (\S+) -P (\d+)`)

// startServer starts one on any free port, with its data below dir.
func startServer(ctx context.Context, program []string, dir string) (*server, error) {
	args := append(program[1:len(program):len(program)], "start", "--data", filepath.Join(dir, "server"),
		"--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--log-level", "error")
	s := &server{cmd: exec.Command(program[0], args...), over: make(chan struct{})}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	addr := make(chan string, 1)
	go func() {
		defer close(s.over)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := port.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case addr <- m[1] + ":" + m[2]:
				default: // it was told before
				}
			}
		}
		_, _ = io.Copy(io.Discard, out) // a line that was too long; the process must not wait for a reader
		_ = s.cmd.Wait()
	}()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	select {
	case s.addr = <-addr:
		return s, nil
	case <-s.over:
		return nil, errors.New("the server of moka ended before it served: its messages are above")
	case <-ctx.Done():
		s.end()
		return nil, fmt.Errorf("the server of moka: %w", ctx.Err())
	}
}

// end asks it to end and waits until it has.
func (s *server) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	t := time.NewTimer(endWithin)
	defer t.Stop()
	select {
	case <-s.over:
	case <-t.C:
		_ = s.cmd.Process.Kill()
		<-s.over
	}
}
