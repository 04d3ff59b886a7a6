package failover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Cluster is a cluster on this machine, one process for each node. Its methods are not for use by several
// goroutines.
type Cluster struct {
	Nodes []*Node
	dir   string
}

// Node is one of the processes.
type Node struct {
	ID        int
	SQL, HTTP string // addresses, which it keeps
	command   []string
	log       string // file of its output
	cmd       *exec.Cmd
	over      chan struct{} // closed when the process is
	err       error         // of its end
}

// ClusterOptions describe a cluster.
type ClusterOptions struct {
	Program []string // moka, and what comes before "start"
	Dir     string   // of all its data
	Nodes   int
	Args    []string // more settings of each node
}

// startWithin bounds how long all nodes may take to serve.
const startWithin = 2 * time.Minute

// StartCluster starts a cluster and waits until all of its nodes serve.
func StartCluster(ctx context.Context, o ClusterOptions) (_ *Cluster, err error) {
	c := &Cluster{dir: o.Dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	addrs, err := freeAddresses(3 * o.Nodes)
	if err != nil {
		return nil, err
	}
	var members []string
	for i := range o.Nodes {
		members = append(members, fmt.Sprintf("%d=%s", i+1, addrs[3*i]))
	}
	for i := range o.Nodes {
		n := &Node{ID: i + 1, SQL: addrs[3*i+1], HTTP: addrs[3*i+2],
			log: filepath.Join(o.Dir, fmt.Sprintf("node%d.log", i+1))}
		n.command = slices.Concat(o.Program, []string{"start", "--cluster", "--members",
			strings.Join(members, ","), "--data", filepath.Join(o.Dir, fmt.Sprintf("node%d", i+1)),
			"--node-addr", addrs[3*i], "--sql-addr", n.SQL, "--http-addr", n.HTTP}, o.Args)
		c.Nodes = append(c.Nodes, n)
	}
	for _, n := range c.Nodes {
		if err := n.Start(); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for _, n := range c.Nodes {
		if err := n.Await(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// freeAddresses returns addresses that nobody has. They are of a loopback address of this cluster's own, if
// the system has more than one: on 127.0.0.1 a port that is free now may be another one's before a node that
// died is started again.
func freeAddresses(n int) (addrs []string, err error) {
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	if l, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		host = "127.0.0.1"
	} else {
		l.Close()
	}
	for range n {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, err
		}
		defer l.Close()
		addrs = append(addrs, l.Addr().String())
	}
	return addrs, nil
}

// Start starts the process, and does not wait for it to serve.
func (n *Node) Start() error {
	f, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // the process has its own
	n.cmd = exec.Command(n.command[0], n.command[1:]...)
	n.cmd.Stdout, n.cmd.Stderr = f, f
	n.cmd.SysProcAttr = goesWithParent()
	// What the caller's environment says of servers is not about these.
	n.cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "MOKA_") })
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("node %d: %w", n.ID, err)
	}
	n.over = make(chan struct{})
	go func(cmd *exec.Cmd, over chan struct{}) { // ends with the process, whose end Stop and Kill wait for
		n.err = cmd.Wait()
		close(over)
	}(n.cmd, n.over)
	return nil
}

// Await waits until the node serves: until the page of its process says that it is well.
func (n *Node) Await(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := get(ctx, "http://"+n.HTTP+"/readyz"); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-n.over:
			return fmt.Errorf("node %d ended: %w\n%s", n.ID, n.err, n.tail())
		case <-ctx.Done():
			return fmt.Errorf("node %d does not serve: %w\n%s", n.ID, ctx.Err(), n.tail())
		}
	}
}

// tail is the end of its log.
func (n *Node) tail() []byte {
	b, err := os.ReadFile(n.log)
	if err != nil {
		return []byte(err.Error())
	}
	return b[max(0, len(b)-4096):]
}

// Kill is kill -9.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it may be over
	<-n.over
}

// stopWithin bounds how long a node that is told to stop may take.
const stopWithin = 30 * time.Second

// Stop ends the process in an orderly way.
func (n *Node) Stop() error {
	if n.cmd == nil || n.over == nil {
		return nil
	}
	select {
	case <-n.over:
		return nil
	default:
	}
	_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may be over
	t := time.NewTimer(stopWithin)
	defer t.Stop()
	select {
	case <-n.over:
	case <-t.C:
		n.Kill()
		return fmt.Errorf("node %d did not stop within %v and was killed\n%s", n.ID, stopWithin, n.tail())
	}
	if n.err != nil {
		return fmt.Errorf("node %d: %w\n%s", n.ID, n.err, n.tail())
	}
	return nil
}

// Close stops all nodes at once.
func (c *Cluster) Close() error {
	errs := make([]error, len(c.Nodes))
	var wg sync.WaitGroup
	for i, n := range c.Nodes {
		wg.Go(func() { errs[i] = n.Stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Leader is the node that leads a shard, as one of the nodes says.
func (c *Cluster) Leader(ctx context.Context, shard int) (*Node, error) {
	var errs []error
	for _, at := range c.Nodes {
		b, err := get(ctx, "http://"+at.HTTP+"/ctl/replicas")
		var list struct{ Rows [][]string }
		if err == nil {
			err = json.Unmarshal(b, &list)
		}
		errs = append(errs, err)
		for _, r := range list.Rows {
			if len(r) < 4 || r[0] != strconv.Itoa(shard) || r[3] != "leader" {
				continue
			}
			for _, n := range c.Nodes {
				if strconv.Itoa(n.ID) == r[1] {
					return n, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("nobody leads shard %d: %w", shard, errors.Join(errs...))
}

// askWithin bounds a question to a node's page.
const askWithin = 5 * time.Second

func get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, bytes.TrimSpace(b))
	}
	return b, err
}
