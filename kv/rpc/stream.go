package rpc

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"moka/kv"
	"moka/kv/kvpb"
)

// serverStream is one caller's stream on the answering side. run receives in gRPC's goroutine; one goroutine sends; each
// command has a goroutine to itself, one that a command before it has left behind if there is such: its stack has grown already
// (measured: growing the stacks of new goroutines was an eighth of a read). run returns only when all of them have ended.
type serverStream struct {
	srv    *Server
	grpc   grpc.BidiStreamingServer[kvpb.BatchRequest, kvpb.BatchResponse]
	ctx    context.Context
	cancel context.CancelFunc
	may    func(command string) error // nil: everything
	calls  sync.WaitGroup
	// workers are the goroutines that evaluate, also those that are idle.
	workers sync.WaitGroup

	mu struct {
		sync.Mutex
		// wake is signalled when the sender has something to look at, or when queue has room again.
		wake sync.Cond
		// active holds the commands that are being evaluated, by id.
		active map[uint64]*serverCall
		queue  []*kvpb.Response
		queued int // bytes of messages in queue
		// tellDrain: the draining mark is yet to be sent. draining: no command is accepted any more.
		tellDrain, draining bool
		// finished: all calls have answered and the caller sends no more; the sender ends when queue is empty.
		finished bool
		// idle are the goroutines that wait for a command, the one that came last at the end: its stack is warm.
		idle []chan task
		// broken: sending failed, or the stream's context ended; nothing queued will be delivered.
		broken bool
	}
}

// task is a command for a worker.
type task struct {
	c   *serverCall
	cmd kv.Command
	r   *kvpb.Request
}

// maxIdle bounds the goroutines that a stream keeps for later.
const maxIdle = 128

type serverCall struct {
	*callContext
	write bool
}

func newServerStream(s *Server, g grpc.BidiStreamingServer[kvpb.BatchRequest, kvpb.BatchResponse]) *serverStream {
	st := &serverStream{srv: s, grpc: g}
	st.ctx, st.cancel = context.WithCancel(g.Context())
	if s.opts.Allow != nil {
		st.may = s.opts.Allow(st.ctx)
	}
	st.mu.wake.L = &st.mu.Mutex
	st.mu.active = make(map[uint64]*serverCall)
	return st
}

func (st *serverStream) run() error {
	defer st.cancel()
	stopWatch := context.AfterFunc(st.ctx, st.abort)
	defer stopWatch()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		st.send()
	}()

	err := st.receive()
	if err != nil {
		st.abort() // the caller is gone: R4
	}
	st.calls.Wait()
	st.mu.Lock()
	st.mu.finished = true
	st.mu.wake.Broadcast()
	for _, w := range st.mu.idle {
		close(w)
	}
	st.mu.idle = nil
	st.mu.Unlock()
	st.workers.Wait()
	<-sent
	return err
}

// receive takes batches in until the caller half-closes (nil) or the stream breaks.
func (st *serverStream) receive() error {
	for {
		batch, err := st.grpc.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		st.srv.metrics.batches.Add(1)
		for _, r := range batch.GetRequests() {
			if err := st.accept(r); err != nil {
				return err
			}
		}
		st.cancelCalls(batch.GetCancels())
		st.awaitRoom()
	}
}

// awaitRoom stops the reading, and with it by flow control the sending, of a caller who sends more than he picks up
// answers: refusals are answers too and need room. It is far above what MaxInFlight admits.
func (st *serverStream) awaitRoom() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for len(st.mu.queue) > 4*st.srv.opts.MaxInFlight && !st.mu.broken {
		st.mu.wake.Wait()
	}
}

// accept starts one command or answers it with a refusal. Its error breaks the stream.
func (st *serverStream) accept(r *kvpb.Request) error {
	m := &st.srv.metrics
	m.calls.Add(1)
	m.bytesReceived.Add(uint64(len(r.GetMessage())))
	cmd, ok := st.command(r)
	if !ok {
		st.refuse(r.GetId(), kv.Errorf(kv.CodeInvalidArgument, "rpc.Handle",
			"this node does not know command %d; it runs another version or lacks a layer", r.GetCommand()))
		return nil
	}
	if st.may != nil {
		if err := st.may(cmd.Name); err != nil {
			st.refuse(r.GetId(), &kv.Error{Code: kv.CodeInvalidArgument, Op: cmd.Name, Msg: "not allowed", Err: err})
			return nil
		}
	}
	c := &serverCall{callContext: newCallContext(st.ctx, time.Duration(r.GetTimeoutNanos())), write: cmd.Write}
	st.mu.Lock()
	if _, dup := st.mu.active[r.GetId()]; dup {
		st.mu.Unlock()
		return status.Errorf(codes.InvalidArgument, "request id %d is in use", r.GetId())
	}
	var refusal *kv.Error
	var worker chan task
	switch o := st.srv.opts; {
	case st.mu.broken:
		st.mu.Unlock()
		return nil
	case st.mu.draining:
		refusal = kv.Errorf(kv.CodeClosed, "rpc.Handle", "node %d is shutting down", st.srv.node)
	case len(st.mu.active)+len(st.mu.queue) >= o.MaxInFlight, st.mu.queued >= o.MaxQueuedBytes:
		refusal = kv.Errorf(kv.CodeBusy, "rpc.Handle", "node %d has %d commands of this caller in flight", st.srv.node, len(st.mu.active))
	default:
		st.mu.active[r.GetId()] = c
		st.calls.Add(1)
		if n := len(st.mu.idle); n > 0 {
			worker, st.mu.idle = st.mu.idle[n-1], st.mu.idle[:n-1]
		}
	}
	st.mu.Unlock()
	if refusal != nil {
		st.refuse(r.GetId(), refusal)
		return nil
	}
	t := task{c, cmd, r}
	if worker != nil {
		worker <- t // it has a place for one
		return nil
	}
	st.workers.Go(func() { st.work(t) })
	return nil
}

// work evaluates one command after the other until there are too many who could.
func (st *serverStream) work(t task) {
	next := make(chan task, 1)
	for ok := true; ok; t, ok = <-next {
		st.evaluate(t.c, t.cmd, t.r)
		t = task{} // hold nothing while waiting
		st.mu.Lock()
		leave := st.mu.finished || len(st.mu.idle) >= maxIdle
		if !leave {
			st.mu.idle = append(st.mu.idle, next)
		}
		st.mu.Unlock()
		if leave {
			return
		}
	}
}

func (st *serverStream) command(r *kvpb.Request) (kv.Command, bool) {
	if r.GetCommand() > 1<<16-1 {
		return kv.Command{}, false
	}
	return st.srv.commands.Command(kv.CommandID(r.GetCommand()))
}

func (st *serverStream) refuse(id uint64, e *kv.Error) {
	st.srv.metrics.refused.Add(1)
	st.reply(&kvpb.Response{Id: id, Error: encodeError(e, false)})
}

func (st *serverStream) evaluate(c *serverCall, cmd kv.Command, r *kvpb.Request) {
	defer st.calls.Done()
	resp := &kvpb.Response{Id: r.GetId()}
	if message, err := st.handle(c, cmd, r); err != nil {
		resp.Error = encodeError(err, cmd.Write)
	} else {
		resp.Message = message
	}
	c.cancel(context.Canceled) // releases what was derived from the context
	st.reply(resp)
}

func (st *serverStream) handle(ctx context.Context, cmd kv.Command, r *kvpb.Request) ([]byte, error) {
	req := cmd.NewRequest()
	if err := decode(req, r.GetMessage()); err != nil {
		return nil, &kv.Error{Code: kv.CodeInvalidArgument, Op: cmd.Name, Msg: "the request does not decode", Err: err}
	}
	out, err := st.srv.handler.Handle(ctx, kv.ShardID(r.GetShard()), decodeRefs(r.GetTablets()), cmd.ID, req)
	if err != nil {
		return nil, err
	}
	if out == nil {
		return nil, kv.Errorf(kv.CodeInternal, cmd.Name, "the handler returned neither a response nor an error")
	}
	b := encode(out)
	if r, ok := out.(kv.Releaser); ok {
		r.Release()
	}
	if len(b) > st.srv.opts.MaxMessage {
		// For a write this comes too late to mean that nothing happened; the caller must not take it for a refusal.
		code := kv.CodeInvalidArgument
		if cmd.Write {
			code = kv.CodeOutcomeUnknown
		}
		return nil, kv.Errorf(code, cmd.Name, "the response has %d bytes, the limit is %d; ask for less at a time", len(b), st.srv.opts.MaxMessage)
	}
	return b, nil
}

func (st *serverStream) reply(r *kvpb.Response) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.mu.active, r.GetId())
	if st.mu.broken {
		return
	}
	st.mu.queue = append(st.mu.queue, r)
	st.mu.queued += len(r.GetMessage())
	st.mu.wake.Broadcast()
}

// send writes whatever is queued, as large as limits allow, as soon as the previous write has returned.
func (st *serverStream) send() {
	for {
		batch, ok := st.nextBatch()
		if !ok {
			return
		}
		if err := st.grpc.Send(batch); err != nil {
			st.cancel() // runs abort, and the caller learns of it by the end of the stream
			return
		}
	}
}

// nextBatch waits for something to send. It returns false when nothing will come any more, or nothing can be sent.
func (st *serverStream) nextBatch() (*kvpb.BatchResponse, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for len(st.mu.queue) == 0 && !st.mu.tellDrain && !st.mu.finished && !st.mu.broken {
		st.mu.wake.Wait()
	}
	st.mu.Unlock()
	runtime.Gosched() // as in clientStream.send
	st.mu.Lock()
	if st.mu.broken || len(st.mu.queue) == 0 && !st.mu.tellDrain {
		return nil, false
	}
	batch := &kvpb.BatchResponse{Draining: st.mu.tellDrain}
	st.mu.tellDrain = false
	batch.Responses, st.mu.queue = splitBatch(st.mu.queue, func(r *kvpb.Response) int {
		st.mu.queued -= len(r.GetMessage())
		st.srv.metrics.bytesSent.Add(uint64(len(r.GetMessage())))
		return len(r.GetMessage())
	})
	st.mu.wake.Broadcast() // room for awaitRoom
	return batch, true
}

// splitBatch cuts the next batch off a queue. What remains is copied down when it is short, so that the array of a queue
// that drains is used again. size is called once for each element of the batch.
func splitBatch[T proto.Message](queue []T, size func(T) int) (batch, rest []T) {
	n, bytes := 0, 0
	for n < len(queue) && n < maxBatchCommands && bytes < maxBatchBytes {
		bytes += size(queue[n])
		n++
	}
	batch = append(batch, queue[:n]...)
	m := copy(queue, queue[n:])
	clear(queue[m:])
	return batch, queue[:m]
}

func (st *serverStream) cancelCalls(ids []uint64) {
	for _, id := range ids {
		st.mu.Lock()
		c := st.mu.active[id]
		st.mu.Unlock()
		if c != nil {
			st.srv.metrics.cancels.Add(1)
			c.cancel(context.Canceled)
		}
	}
}

// drain makes the stream refuse further commands, tells the caller, and interrupts the reads: they may be long polls,
// and to ask again elsewhere does no harm. Writes run to their end. The stream ends when the caller has half-closed it.
func (st *serverStream) drain() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.mu.draining, st.mu.tellDrain = true, true
	st.mu.wake.Broadcast()
	for _, c := range st.mu.active {
		if !c.write {
			c.cancel(context.Canceled)
		}
	}
}

// abort gives the stream up: nobody will see the answers. Contexts of all commands end; what writes have done stays done.
func (st *serverStream) abort() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.mu.broken = true
	st.mu.queue, st.mu.queued = nil, 0
	st.mu.wake.Broadcast()
	for _, c := range st.mu.active {
		c.cancel(context.Canceled)
	}
}
