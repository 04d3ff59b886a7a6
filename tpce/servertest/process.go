package servertest

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Process is a server that runs.
type Process struct {
	Addr string // host:port
	PID  int
}

// server is what differs between the servers.
type server struct {
	name     string
	command  func(port string) *exec.Cmd
	ping     func(ctx context.Context, addr string) error
	farewell syscall.Signal // ends it at once: its data is about to be deleted
}

// start runs a server until the test ends. Another process may take the free port between our looking and the
// server's binding: another one is tried then.
func (s server) start(tb testing.TB) Process {
	tb.Helper()
	for range 5 {
		if p, ok := s.launch(tb, freePort(tb)); ok {
			return p
		}
	}
	tb.Fatalf("%s did not start on five ports", s.name)
	return Process{}
}

func freePort(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

func (s server) launch(tb testing.TB, port string) (Process, bool) {
	tb.Helper()
	var log bytes.Buffer
	cmd := s.command(port)
	cmd.Stdout, cmd.Stderr = &log, &log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL // it must not outlive a test binary that is killed
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ctx, exited := context.WithCancelCause(tb.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		exited(cmd.Wait())
	}()
	p := Process{Addr: net.JoinHostPort("127.0.0.1", port), PID: cmd.Process.Pid}
	if err := s.waitReady(ctx, p.Addr); err != nil {
		_ = cmd.Process.Kill()
		<-done
		tb.Logf("%s on port %s: %v\n%s", s.name, port, err, log.String())
		return Process{}, false
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(s.farewell)
		<-done
	})
	return p, true
}

// waitReady polls until the server answers, exits, or a minute is over; a server has no event to wait for.
func (s server) waitReady(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.ping(ctx, addr) == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
