package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"moka/kv/node"
)

// Child is a server in a process of its own. It lives as long as the pipe to its standard input: when this
// process dies, however it dies, so does the child.
//
//	parent → child   one line: ServerOptions. Then questions: "stats", or "flush", which writes memtables
//	                 out first. End of input: shut down.
//	child → parent   one line: where it listens, or why not. Then one line of ServerStats for each question.
type Child struct {
	Addr string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

type hello struct {
	Addr  string `json:",omitempty"`
	Error string `json:",omitempty"`
}

// StartChild runs argv, which must end up in ServeChild.
func StartChild(ctx context.Context, argv []string, o ServerOptions) (_ *Child, err error) {
	if len(argv) == 0 {
		return nil, errors.New("bench: no command for the server's process")
	}
	c := &Child{cmd: exec.Command(argv[0], argv[1:]...)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the server's process: %w", err)
	}
	c.out = bufio.NewReader(out)
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() })
	defer stop()
	var h hello
	if err = c.exchange(o, &h); err == nil && h.Error != "" {
		err = errors.New(h.Error)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server's process did not come up: %w", err), c.Close())
	}
	c.Addr = h.Addr
	return c, nil
}

func (c *Child) exchange(question, answer any) error {
	if err := json.NewEncoder(c.in).Encode(question); err != nil {
		return err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, answer)
}

// ask puts one of the questions. Not for use by several goroutines.
func (c *Child) ask(question string) (s ServerStats, err error) {
	err = c.exchange(question, &s)
	if err == nil && s.Error != "" {
		err = errors.New(s.Error)
	}
	return s, err
}

// Close shuts the server down and waits for its process.
func (c *Child) Close() error {
	err := c.in.Close()
	timer := time.AfterFunc(30*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	return errors.Join(err, c.cmd.Wait())
}

// ServeChild is the child's side: a server that is described and questioned through in and answers
// through out, until in ends.
func ServeChild(ctx context.Context, in io.Reader, out io.Writer) error {
	dec, enc := json.NewDecoder(in), json.NewEncoder(out)
	var o ServerOptions
	if err := dec.Decode(&o); err != nil {
		return fmt.Errorf("this command is run by other bench commands: %w", err)
	}
	o.memoryLimit = node.LimitMemory(int64(o.CacheMiB)<<20, 0)
	srv, err := OpenServer(ctx, o)
	if err == nil {
		err = srv.Listen("127.0.0.1:0")
		if err != nil {
			err = errors.Join(err, srv.Close())
		}
	}
	if err != nil {
		return enc.Encode(hello{Error: err.Error()})
	}
	if err := enc.Encode(hello{Addr: srv.Addr()}); err != nil {
		return errors.Join(err, srv.Close())
	}
	for {
		var question string
		if err := dec.Decode(&question); err != nil {
			return srv.Close() // the parent is done, or gone
		}
		var failed error
		if question == "flush" {
			failed = srv.node.Flush(ctx)
		}
		st := srv.Stats()
		if failed != nil {
			st.Error = failed.Error()
		}
		if err := enc.Encode(st); err != nil {
			return errors.Join(err, srv.Close())
		}
	}
}
