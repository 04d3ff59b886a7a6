package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/mem"
)

// host stands for the machine of one server: while it is paused, nothing that the server starts gets on, and
// when it goes on, what was started arrives late.
type host struct {
	coord.Service
	mu     sync.Mutex
	paused chan struct{} // nil while running
}

func (h *host) pass() {
	for {
		h.mu.Lock()
		p := h.paused
		h.mu.Unlock()
		if p == nil {
			return
		}
		<-p
	}
}

func (h *host) pause() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paused == nil {
		h.paused = make(chan struct{})
	}
}

func (h *host) resume() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paused != nil {
		close(h.paused)
		h.paused = nil
	}
}

func (h *host) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	h.pass()
	// a message under way does not heed its sender's deadline
	return h.Service.Txn(context.WithoutCancel(ctx), conds, ops)
}

func (h *host) NewSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	h.pass()
	s, err := h.Service.NewSession(ctx, ttl)
	return hostSession{s, h}, err
}

type hostSession struct {
	coord.Session
	h *host
}

func (s hostSession) KeepAlive(ctx context.Context) error {
	s.h.pass()
	return s.Session.KeepAlive(ctx)
}

// simulate runs three servers and five clients for a minute of bubble time while machines are paused for up
// to eight seconds, replies of the coordination service get lost, and wall clocks are set.
func simulate(t *testing.T, seed uint64) (log *orderLog, m []Metrics) {
	svc := mem.New(mem.Options{})
	defer svc.Close()
	rng := rand.New(rand.NewPCG(seed, 11))
	hosts := make([]*host, 3)
	servers := make([]*Server, 3)
	for i := range servers {
		h := &host{Service: &flaky{Service: svc, rng: rand.New(rand.NewPCG(seed, uint64(i))), lose: 10}}
		skew := time.Duration(rng.IntN(4000)-2000) * time.Millisecond
		hosts[i] = h
		servers[i] = Start(h, Options{
			Address: fmt.Sprint("s", i), Window: time.Second, SessionTTL: time.Second,
			Clock: skewed{skew}, afterTake: h.pass,
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log = &orderLog{}
	var wg sync.WaitGroup
	for i := range 5 {
		r := rand.New(rand.NewPCG(seed, 100+uint64(i)))
		wg.Go(func() {
			for ctx.Err() == nil {
				s, n := servers[r.IntN(len(servers))], 1+r.IntN(100)
				call, cancel := context.WithTimeout(ctx, time.Second)
				_ = log.do(i, func() (Batch, error) { return s.Next(call, n) }) // no answer is no violation
				cancel()
				time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
			}
		})
	}
	for ctx.Err() == nil {
		h := hosts[rng.IntN(len(hosts))]
		h.pause()
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Millisecond)
		h.resume()
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
	}
	wg.Wait()
	for _, s := range servers {
		s.Close()
		m = append(m, s.Metrics())
	}
	return log, m
}

type skewed struct{ by time.Duration }

func (c skewed) Now() time.Time { return time.Now().Add(c.by) }
func (c skewed) AfterFunc(d time.Duration, f func()) coord.Timer {
	return time.AfterFunc(d, f)
}

func TestSimulation(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	var answered int
	var terms, withheld uint64
	for seed := range seeds {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, ms := simulate(t, seed)
				log.check(t)
				answered += len(log.ops)
				for _, m := range ms {
					terms += m.Terms
					withheld += m.Withheld
				}
			})
		})
	}
	t.Logf("%d answers, %d terms, %d answers withheld", answered, terms, withheld)
	if answered == 0 || terms < 4*seeds || withheld == 0 {
		t.Errorf("%d answers, %d terms, %d withheld over %d seeds: the faults do not bite", answered, terms,
			withheld, seeds)
	}
}

// The oracle as porcupine sees it: a register that only grows, and each call moves it beyond what it returns.
var model = porcupine.Model{
	Init: func() any { return kv.Timestamp(0) },
	Step: func(state, _, output any) (bool, any) {
		b := output.(op)
		return b.first > state.(kv.Timestamp), b.first + kv.Timestamp(b.n) - 1
	},
}

func operations(ops []op) []porcupine.Operation {
	out := make([]porcupine.Operation, 0, len(ops))
	for _, o := range ops {
		out = append(out, porcupine.Operation{ClientId: o.client, Call: o.call, Return: o.ret, Output: o})
	}
	return out
}

func TestLinearizable(t *testing.T) {
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) {
			log, _ := simulate(t, 1000+seed)
			if r := porcupine.CheckOperationsTimeout(model, operations(log.ops),
				30*time.Second); r != porcupine.Ok {
				t.Errorf("seed %d: history of %d calls is %s", seed, len(log.ops), r)
			}
		})
	}
	t.Run("concurrent", func(t *testing.T) {
		svc := mem.New(mem.Options{})
		t.Cleanup(func() { svc.Close() })
		s := lead(t, svc, Options{})
		var log orderLog
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for k := range 200 {
					if err := log.do(i, func() (Batch, error) {
						return s.Next(t.Context(), 1+k%5)
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if r := porcupine.CheckOperationsTimeout(model, operations(log.ops),
			30*time.Second); r != porcupine.Ok {
			t.Errorf("history is %s", r)
		}
	})
	// What the paused leader of TestPausedLeader would have done.
	bad := []op{{0, 1, 6, 10, 1}, {1, 2, 3, 20, 1}, {1, 4, 5, 15, 1}}
	if porcupine.CheckOperations(model, operations(bad)) {
		t.Error("a history with a timestamp from the past is called linearizable")
	}
}
