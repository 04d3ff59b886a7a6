package tpce

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// muteProxy forwards to a server until a COMMIT comes by; then it cuts the connection: after the server has
// answered, so that only the answer is lost, or before the server has seen anything; or it hangs. It does
// so once for each arming.
type muteProxy struct {
	net.Listener
	server string
	mu     sync.Mutex
	mode   string // "", "cut after", "cut before", "hang"
	cuts   int
}

func startProxy(t *testing.T, server string) *muteProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &muteProxy{Listener: l, server: server}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return p
}

func (p *muteProxy) arm(mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
}

func (p *muteProxy) take() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	mode := p.mode
	if mode != "" {
		p.cuts++
	}
	p.mode = ""
	return mode
}

func (p *muteProxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	answers := make(chan struct{})
	var mute atomic.Bool // the next answer is the one that gets lost
	go func() {
		defer close(answers)
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if err != nil || mute.Load() {
				return
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			break
		}
		mode := ""
		if bytes.HasSuffix(buf[:n], []byte("\x03COMMIT")) {
			mode = p.take()
		}
		if mode == "cut before" {
			break
		}
		if mode == "hang" { // forward nothing until the client gives up
			_, _ = io.Copy(io.Discard, client)
			break
		}
		mute.Store(mode == "cut after")
		if _, err := server.Write(buf[:n]); err != nil {
			break
		}
		if mode == "cut after" {
			<-answers // the server has committed
			break
		}
	}
	server.Close()
	<-answers
}

// testHungServer stops the server's answers in the middle of a run: the run must end by itself, and say so.
func testHungServer(t *testing.T) {
	cfg := quick("hung")
	load(t, cfg)
	proxy := startProxy(t, maria.Addr)
	cfg.Target = "mysql://root@" + proxy.Addr().String() + "/hung"
	cfg.Duration, cfg.DrainTimeout, cfg.Connections = 300*time.Millisecond, 200*time.Millisecond, 2
	proxy.arm("hang")
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() == nil || !strings.Contains(r.Text(), "did not finish in time") {
		t.Errorf("a server that hangs is hidden: %v\n%s", r.Err(), r.Text())
	}
}

// testLostCommit loses the answer of a COMMIT that happened, and one that did not: either way the order is
// placed once and completed once.
func testLostCommit(t *testing.T) {
	cfg := quick("lostcommit")
	load(t, cfg)
	direct := database(t, cfg)
	u := universe(t, direct, cfg)
	proxy := startProxy(t, maria.Addr)
	cfg.Target = "mysql://root@" + proxy.Addr().String() + "/lostcommit"
	db := database(t, cfg)
	s, err := client.OpenSession(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, mode := range []string{"cut after", "cut before"} {
		id := u.FirstRuntimeTrade() + int64(i)
		policy := testPolicy(t)
		policy.Happened = func(ctx context.Context) (bool, error) {
			state, err := tradeState(ctx, s, id)
			return state != "", err
		}
		proxy.arm(mode)
		o := &tradeOrder{Session: s, u: u, in: marketOrderOf(u, 7, gen.MarketBuy), id: id,
			now: millis(time.Now())}
		if err := s.Retry(t.Context(), policy, o.run); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		policy.Happened = func(ctx context.Context) (bool, error) {
			state, err := tradeState(ctx, s, id)
			return state == "CMPT", err
		}
		proxy.arm(mode)
		r := &tradeResult{Session: s, in: tradeResultInput{id: id, price: 2222, mode: Inline}}
		if err := s.Retry(t.Context(), policy, r.run); err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if n := count(t, direct, "SELECT COUNT(*) FROM trade WHERE t_id = ? AND t_st_id = 'CMPT'",
			id); n != 1 {
			t.Errorf("%s: the trade is there %d times", mode, n)
		}
	}
	if proxy.cuts != 4 {
		t.Errorf("%d connections were cut instead of 4", proxy.cuts)
	}
	check(t, cfg)
}
