package conn

import (
	"context"
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// TestLongStatementsLeaveRoom: a hundred clients whose statements never end are on the processor in turns,
// and who logs in stands behind a few of them, not behind all: it took 13 s behind seven hundred, longer
// than a login may.
func TestLongStatementsLeaveRoom(t *testing.T) {
	const clients = 100
	spinning := make(chan struct{}, clients)
	r := newRig(t, nil)
	r.engine.Analyzer.Catalog.RegisterFunction(gms.NewEmptyContext(),
		function("spin", func(ctx *gms.Context) (any, error) {
			spinning <- struct{}{}
			for ctx.Err() == nil {
			}
			return nil, context.Cause(ctx)
		}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, clients)
	db := r.open("")
	for range clients {
		go func() {
			_, _ = db.ExecContext(ctx, "DO spin()")
			ended <- struct{}{}
		}()
	}
	for range clients {
		<-spinning
	}
	most := 8 * runtime.GOMAXPROCS(0)
	s := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	low := 0
	for end := time.Now().Add(time.Minute); low < 20 && time.Now().Before(end); runtime.Gosched() {
		if metrics.Read(s); s[0].Value.Uint64() <= uint64(most) {
			low++
		}
	}
	if low < 20 {
		t.Errorf("%d goroutines wait for a processor", s[0].Value.Uint64())
	}
	cancel()
	for range clients {
		<-ended
	}
}

// TestStepsBackInProportion: a statement that has run for long waits where it asks whether it is to end, a
// multiple of what it has had; one that is short does not, nor one where the line is.
func TestStepsBackInProportion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := int64(80)
		p := newPacer()
		p.line, p.most = func() int64 { return line }, 8
		inner, cancel := context.WithCancelCause(t.Context())
		ctx, end := p.pace(inner)
		asked := func(ran time.Duration) time.Duration {
			time.Sleep(ran)
			began := time.Now()
			_ = ctx.Err()
			return time.Since(began)
		}
		if d := asked(shortStatement - time.Millisecond); d != 0 {
			t.Errorf("a short statement waits %v", d)
		}
		if d := asked(paceSlice); d < 5*paceSlice || d > 15*paceSlice {
			t.Errorf("a long one waits %v, want ten times %v, about", d, paceSlice)
		}
		time.Sleep(time.Second)
		began := time.Now()
		if ctx.Done(); time.Since(began) != 0 {
			t.Errorf("who makes a context of it waits %v", time.Since(began))
		}
		_ = ctx.Err()
		if d := asked(paceSlice / 2); d != 0 {
			t.Errorf("one that has just come back waits %v", d)
		}
		if line = 8; asked(time.Second) != 0 {
			t.Error("one waits although the line is short")
		}
		line = 1 << 40
		if d := asked(time.Second); d < longestPause/2 || d > 2*longestPause {
			t.Errorf("the longest pause is %v", d)
		}
		derived := ctx.over(t.Context())
		go func() {
			time.Sleep(2 * time.Second)
			cancel(errClientGone)
		}()
		if d := asked(time.Second); d != time.Second || context.Cause(ctx) != errClientGone {
			t.Errorf("KILL is heard after %v: %v", d, context.Cause(ctx))
		}
		if derived.Err() != nil || p.crowd.Load() != 1 {
			t.Errorf("%v, %d in the crowd", derived.Err(), p.crowd.Load())
		}
		if end(); p.crowd.Load() != 0 {
			t.Errorf("%d in the crowd after the end", p.crowd.Load())
		}
	})
}
