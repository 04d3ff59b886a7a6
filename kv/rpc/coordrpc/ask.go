package coordrpc

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// tryTime bounds one attempt of a call that is repeated: who is silent for so long hangs, and may not lead
// any more.
const tryTime = 3 * time.Second

// response is what all answers have.
type response interface{ GetError() *kvpb.CoordError }

// ask makes one call, and repeats it as long as Options.RetryFor says while nothing has happened. lost is
// what it means that no answer came.
func ask[Q any, R response](
	ctx context.Context, c *Client, op string, lost coord.Code,
	call func(kvpb.CoordClient, context.Context, Q, ...grpc.CallOption) (R, error), req Q,
) (r R, err error) {
	once := func(ctx context.Context) (r R, err error) {
		stub, err := c.stub(ctx, op)
		if err != nil {
			return r, err
		}
		if r, err = call(stub, ctx, req); err != nil {
			return r, transportError(ctx, op, "", lost, err)
		}
		return r, decodeError(r.GetError())
	}
	if c.opts.RetryFor <= 0 {
		return once(ctx)
	}
	giveUp := time.Now().Add(c.opts.RetryFor)
	for pause := minPause; ; pause = min(2*pause, maxPause/4) {
		try, cancel := ctx, context.CancelFunc(func() {})
		if lost == coord.CodeUnavailable { // it may be repeated although the first one arrives later
			try, cancel = context.WithTimeout(ctx, tryTime)
		}
		r, err = once(try)
		silent := err != nil && try.Err() != nil && ctx.Err() == nil
		cancel()
		if silent {
			err = &coord.Error{Code: coord.CodeUnavailable, Op: op, Err: err}
		}
		if !errors.Is(err, coord.ErrUnavailable) || time.Now().After(giveUp) {
			return r, err
		}
		c.opts.Missed()
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return r, err
		case <-c.ctx.Done():
			t.Stop()
			return r, err
		}
	}
}
