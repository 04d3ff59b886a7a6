package coordrpc

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// watcher takes events off the wire as they come (receive) and hands them to the consumer as he asks for them (deliver). In
// between is a queue with a bound, so that a consumer that has stopped reading learns it as a gap instead of holding up
// the host through flow control.
type watcher struct {
	stream    grpc.ServerStreamingClient[kvpb.CoordWatchResponse]
	endStream context.CancelFunc
	ctx       context.Context // as long as the watcher is wanted
	cancel    context.CancelFunc
	limit     int
	events    chan coord.Event
	more      chan struct{} // has one place: the queue or its end has changed

	mu      sync.Mutex
	queue   []coord.Event
	lastRev coord.Revision
	over    bool // nothing will be added to queue
	err     error
}

// Watch implements coord.Service.
func (c *Client) Watch(ctx context.Context, prefix string, after coord.Revision) (coord.Watcher, error) {
	stub, err := c.stub(ctx, "watch")
	if err != nil {
		return nil, err
	}
	w := &watcher{limit: c.opts.WatchBuffer, events: make(chan coord.Event), more: make(chan struct{}, 1)}
	wanted, cancel := context.WithCancel(ctx)
	stopWithClient := context.AfterFunc(c.ctx, cancel)
	w.ctx, w.cancel = wanted, func() { stopWithClient(); cancel() }
	streamCtx, endStream := context.WithCancel(wanted)
	w.endStream = endStream

	w.stream, err = stub.Watch(streamCtx, &kvpb.CoordWatchRequest{Prefix: prefix, After: uint64(after)})
	var first *kvpb.CoordWatchResponse
	if err == nil {
		first, err = w.stream.Recv()
	}
	if err != nil {
		w.cancel()
		return nil, transportError(ctx, "watch", prefix, coord.CodeUnavailable, err)
	}
	if err := decodeError(first.GetError()); err != nil {
		w.cancel()
		return nil, err
	}
	if !c.spawn(w.run) {
		w.cancel()
		return nil, &coord.Error{Code: coord.CodeUnavailable, Op: "watch", Key: prefix, Err: errClosed}
	}
	return w, nil
}

func (w *watcher) Events() <-chan coord.Event { return w.events }

func (w *watcher) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *watcher) Close() { w.cancel() }

func (w *watcher) run() {
	var receiving sync.WaitGroup
	receiving.Go(w.receive)
	w.deliver()
	w.cancel()
	receiving.Wait()
	close(w.events)
}

func (w *watcher) receive() {
	defer w.endStream() // the host need not go on for a watcher that has lost events
	for {
		r, err := w.stream.Recv()
		switch {
		case w.ctx.Err() != nil:
			w.finish(nil)
			return
		case err != nil:
			w.finish(&coord.Error{Code: coord.CodeUnavailable, Op: "watch", Err: err})
			return
		}
		for _, pb := range r.GetEvents() {
			if !w.add(coord.Event{Type: coord.EventType(narrow(pb.GetType())), KV: decodeKV(pb.GetKv())}) {
				w.finish(&coord.Error{Code: coord.CodeWatchGap, Op: "watch"})
				return
			}
		}
		if err := decodeError(r.GetError()); err != nil {
			w.finish(err)
			return
		}
	}
}

// add queues an event, or returns false when there is no room. What belongs to a revision whose first event had room is let
// in: the queue ends between revisions (C6), and is above its bound by one revision at most.
func (w *watcher) add(ev coord.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ev.KV.ModRev != w.lastRev && len(w.queue) >= w.limit {
		return false
	}
	w.lastRev = ev.KV.ModRev
	w.queue = append(w.queue, ev)
	w.signal()
	return true
}

func (w *watcher) finish(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over, w.err = true, err
	w.signal()
}

func (w *watcher) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// deliver hands the queue to the consumer, also after the stream has ended; the end of the watcher's context drops the rest.
func (w *watcher) deliver() {
	for {
		ev, ok, over := w.head()
		switch {
		case ok:
			select {
			case w.events <- ev:
				w.pop()
			case <-w.ctx.Done():
				return
			}
		case over:
			return
		default:
			select {
			case <-w.more:
			case <-w.ctx.Done():
				return
			}
		}
	}
}

func (w *watcher) head() (ev coord.Event, ok, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		return w.queue[0], true, false
	}
	return coord.Event{}, false, w.over
}

func (w *watcher) pop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue[0] = coord.Event{}
	w.queue = w.queue[1:]
}
