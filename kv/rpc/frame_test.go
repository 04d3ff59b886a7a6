package rpc

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"moka/kv"
	"moka/kv/kvpb"
)

// fakeClient is the transport below a clientStream: what is sent waits in frames until the test takes it.
type fakeClient struct {
	grpc.ClientStream
	frames    chan *kvpb.BatchRequest
	responses chan *kvpb.BatchResponse
	halfClose chan struct{}
}

func (f *fakeClient) Send(b *kvpb.BatchRequest) error { f.frames <- b; return nil }
func (f *fakeClient) CloseSend() error                { close(f.halfClose); return nil }
func (f *fakeClient) Recv() (*kvpb.BatchResponse, error) {
	b, ok := <-f.responses
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	return b, nil
}

func newFakeStream(t *testing.T) (*clientStream, *fakeClient) {
	f := &fakeClient{frames: make(chan *kvpb.BatchRequest), responses: make(chan *kvpb.BatchResponse), halfClose: make(chan struct{})}
	p := NewPool(registry(t, readCmd, writeCmd), Options{})
	_, cancel := context.WithCancel(t.Context())
	st := newClientStream(&Peer{node: theNode, pool: p}, f, cancel)
	st.start()
	return st, f
}

func (st *clientStream) goCall(ctx context.Context, id kv.CommandID) <-chan error {
	cmd, _ := st.peer.pool.commands.Command(id)
	result := make(chan error, 1)
	go func() {
		_, err := st.call(ctx, cmd, &kvpb.Request{Command: uint32(id)})
		result <- err
	}()
	return result
}

// R2 and R3 at the edge: what waits behind a transport that is stuck was not sent, what the transport has may have been.
func TestSentOrNot(t *testing.T) {
	for name, lose := range map[string]bool{"lost stream": true, "callers gone": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, f := newFakeStream(t)
				ctx, cancel := context.WithCancel(t.Context())
				sentWrite := st.goCall(ctx, writeCmd)
				synctest.Wait() // the sender holds it, stuck in Send
				waitingWrite, waitingRead := st.goCall(ctx, writeCmd), st.goCall(ctx, readCmd)
				synctest.Wait()
				if lose {
					close(f.responses)
				} else {
					cancel()
				}
				wantCode(t, <-sentWrite, kv.ErrOutcomeUnknown)
				wantCode(t, <-waitingWrite, kv.ErrUnavailable)
				wantCode(t, <-waitingRead, kv.ErrUnavailable)
				if n := len((<-f.frames).Requests); n != 1 {
					t.Errorf("the first frame has %d requests", n)
				}
				if !lose {
					second := <-f.frames
					if len(second.Requests) != 0 || len(second.Cancels) != 1 || second.Cancels[0] != 1 {
						t.Errorf("after the cancels: %v", second)
					}
					close(f.responses)
				}
				cancel()
				st.peer.running.Wait()
			})
		})
	}
}

// What piles up behind a busy transport goes out in frames that keep their limits.
func TestBatchesKeepTheirLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, f := newFakeStream(t)
		first := st.goCall(t.Context(), readCmd)
		synctest.Wait()
		var rest []<-chan error
		for range 300 {
			rest = append(rest, st.goCall(t.Context(), readCmd))
		}
		synctest.Wait()
		sizes := []int{}
		for n := 0; n < 301; {
			b := <-f.frames
			n += len(b.Requests)
			sizes = append(sizes, len(b.Requests))
			answers := &kvpb.BatchResponse{}
			for _, r := range b.Requests {
				answers.Responses = append(answers.Responses, &kvpb.Response{Id: r.Id})
			}
			f.responses <- answers
		}
		if len(sizes) != 4 || sizes[1] != maxBatchCommands || sizes[2] != maxBatchCommands {
			t.Errorf("frames of %v", sizes)
		}
		for _, r := range append(rest, first) {
			if err := <-r; err != nil {
				t.Error(err)
			}
		}
		close(f.responses)
		st.peer.running.Wait()
	})
}

func TestSplitBatchByBytes(t *testing.T) {
	queue := make([]*kvpb.Response, 10)
	for i := range queue {
		queue[i] = &kvpb.Response{Id: uint64(i), Message: make([]byte, 30<<10)}
	}
	batch, rest := splitBatch(queue, func(r *kvpb.Response) int { return len(r.Message) })
	if len(batch) != 3 || len(rest) != 7 || rest[0].Id != 3 {
		t.Errorf("%d and %d, then %d", len(batch), len(rest), rest[0].Id)
	}
}

// A draining server gets a half-close once everything queued is out, and late calls are refused without a doubt.
func TestDrainMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, f := newFakeStream(t)
		first := st.goCall(t.Context(), writeCmd)
		r := (<-f.frames).Requests[0]
		f.responses <- &kvpb.BatchResponse{Draining: true}
		synctest.Wait()
		wantCode(t, <-st.goCall(t.Context(), writeCmd), kv.ErrClosed)
		<-f.halfClose
		f.responses <- &kvpb.BatchResponse{Responses: []*kvpb.Response{{Id: r.Id}}}
		if err := <-first; err != nil {
			t.Error(err)
		}
		close(f.responses)
		st.peer.running.Wait()
	})
}

func TestCallContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCallContext(t.Context(), time.Second)
		if c.Err() != nil {
			t.Error("ended at once")
		}
		child, stop := context.WithCancel(c)
		defer stop()
		start := time.Now()
		<-child.Done()
		if d := time.Since(start); d != time.Second || !errors.Is(c.Err(), context.DeadlineExceeded) || !errors.Is(child.Err(), context.DeadlineExceeded) {
			t.Errorf("after %v: %v, child %v", d, c.Err(), child.Err())
		}
		if c.cancel(context.Canceled); !errors.Is(c.Err(), context.DeadlineExceeded) {
			t.Error("a context ends once")
		}

		c = newCallContext(t.Context(), time.Second) // nobody asks for Done: no timer, and yet the deadline holds
		time.Sleep(time.Second)
		if !errors.Is(c.Err(), context.DeadlineExceeded) {
			t.Errorf("after the deadline: %v", c.Err())
		}
		<-c.Done()

		c = newCallContext(t.Context(), -1)
		<-c.Done()
		c = newCallContext(t.Context(), 0)
		if _, ok := c.Deadline(); ok || c.Err() != nil {
			t.Error("no timeout is no deadline")
		}
		c.cancel(context.Canceled)
		<-c.Done()
	})
}

// fakeServer is the transport above a serverStream.
type fakeServer struct {
	grpc.ServerStream
	ctx    context.Context
	in     []*kvpb.BatchRequest
	answer func(*kvpb.BatchResponse)
}

func (f *fakeServer) Context() context.Context { return f.ctx }
func (f *fakeServer) Send(b *kvpb.BatchResponse) error {
	f.answer(b)
	return nil
}
func (f *fakeServer) Recv() (*kvpb.BatchRequest, error) {
	if len(f.in) == 0 {
		return nil, io.EOF
	}
	b := f.in[0]
	f.in = f.in[1:]
	return b, nil
}

// FuzzRequests feeds frames of anybody's making to the answering side. Each request must get exactly one answer, unless the
// stream is broken for a reason; nothing may panic.
func FuzzRequests(f *testing.F) {
	for _, b := range []*kvpb.BatchRequest{
		{},
		{Requests: []*kvpb.Request{{Id: 1, Shard: 1, Command: 1, Message: []byte("x"), TimeoutNanos: -5, Tablets: []*kvpb.TabletRef{{Id: 1, Generation: 2}, {}}}}},
		{Requests: []*kvpb.Request{{Id: 1, Command: 2}, {Id: 1, Command: 2}, {Id: 1 << 63, Command: 1 << 31}}, Cancels: []uint64{1, 9}},
		{Requests: []*kvpb.Request{{Id: 3, Command: 1, Message: []byte("junk")}}},
	} {
		raw, err := proto.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		batch := new(kvpb.BatchRequest)
		if proto.Unmarshal(raw, batch) != nil {
			return // gRPC ends the stream
		}
		srv := NewServer(theNode, handlerFunc(echo), registry(t, readCmd, writeCmd), staticCluster{}, Options{})
		answers := make(map[uint64]int)
		total := 0
		g := &fakeServer{ctx: t.Context(), in: []*kvpb.BatchRequest{batch}, answer: func(b *kvpb.BatchResponse) {
			for _, r := range b.Responses {
				answers[r.Id]++
				total++
			}
		}}
		if err := newServerStream(srv, g).run(); err != nil {
			return
		}
		if total != len(batch.Requests) {
			t.Fatalf("%d answers to %d requests", total, len(batch.Requests))
		}
		for _, r := range batch.Requests {
			if answers[r.Id] == 0 {
				t.Fatalf("request %d has no answer", r.Id)
			}
		}
	})
}

// FuzzResponses feeds frames of anybody's making to the calling side: the caller gets an answer or an error, and nothing
// panics.
func FuzzResponses(f *testing.F) {
	for _, b := range []*kvpb.BatchResponse{
		{},
		{Responses: []*kvpb.Response{{Id: 1, Message: []byte("x")}, {Id: 1}, {Id: 77}}, Draining: true},
		{Responses: []*kvpb.Response{{Id: 1, Error: &kvpb.Error{Code: 1 << 20, Op: "\xff", Tablets: []*kvpb.Tablet{{}, {Id: 1}}}}}},
		{Responses: []*kvpb.Response{{Id: 1, Message: []byte("junk")}}},
	} {
		raw, err := proto.Marshal(b)
		if err != nil {
			f.Logf("seed %v: %v", b, err)
			continue
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		batch := new(kvpb.BatchResponse)
		if proto.Unmarshal(raw, batch) != nil {
			return
		}
		peer := &Peer{node: theNode, pool: NewPool(registry(t, readCmd), Options{})}
		st := newClientStream(peer, nil, func() {})
		c := &call{answer: make(chan answer, 1), op: "test.Read"}
		if err := st.enqueue(c, &kvpb.Request{}); err != nil {
			t.Fatal(err)
		}
		st.nextBatch()
		st.deliver(batch)
		st.deliver(batch)
		st.fail(io.EOF)
		a := <-c.answer
		if a.err == nil {
			cmd, _ := peer.pool.commands.Command(readCmd)
			if m, err := peer.decode(cmd, a.response); (m == nil) == (err == nil) {
				t.Fatalf("%v and %v", m, err)
			}
		}
		if len(c.answer) != 0 {
			t.Fatal("two answers to one call")
		}
	})
}
