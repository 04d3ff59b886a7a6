package pace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errGone = errors.New("the client is gone")

// TestStepsBackInProportion: a statement that has run for long waits where it asks whether it is to end, a
// multiple of what it has had; one that is short does not, nor one where the line is.
func TestStepsBackInProportion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := int64(80)
		p := New()
		p.line, p.most = func() int64 { return line }, 8
		inner, cancel := context.WithCancelCause(t.Context())
		ctx, end := p.Pace(inner)
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
		derived := ctx.Over(t.Context())
		go func() {
			time.Sleep(2 * time.Second)
			cancel(errGone)
		}()
		if d := asked(time.Second); d != time.Second || context.Cause(ctx) != errGone {
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
