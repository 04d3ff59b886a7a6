package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"moka/kv"
	"moka/oracle/oraclepb"
)

// RemoteOptions of a Remote; zero values mean the defaults.
type RemoteOptions struct {
	// Local is in this process, if there is one that may lead. It is asked first, without a network,
	// whenever it leads.
	Local Local
	// Dial opens a connection; default: gRPC without transport security. Remote closes what it opens.
	Dial func(addr string) (*grpc.ClientConn, error)
}

func (o RemoteOptions) withDefaults() RemoteOptions {
	if o.Dial == nil {
		o.Dial = func(addr string) (*grpc.ClientConn, error) {
			return grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		}
	}
	return o
}

// Remote is a Source in another process. It knows a few addresses of servers and finds the leader among
// them, by the hints of those it asks. It holds one stream and has one request on it at a time; Client
// batches the callers. It does not repeat a request: an error says that this server did not answer, and the
// next call asks another.
type Remote struct {
	opts RemoteOptions
	busy chan struct{} // a mutex of capacity one that heeds contexts; guards everything below

	addrs  []string // as configured; tried in turn
	turn   int
	target string // the server to ask
	conns  map[string]*grpc.ClientConn
	stream grpc.BidiStreamingClient[oraclepb.NextRequest, oraclepb.NextResponse]
	hangUp context.CancelFunc // ends stream
	closed bool
}

var _ Source = (*Remote)(nil)

// NewRemote makes a source of the servers at addrs. It connects when it is asked for the first time.
func NewRemote(addrs []string, o RemoteOptions) (*Remote, error) {
	if len(addrs) == 0 && o.Local == nil {
		return nil, errors.New("oracle: no address of a server; give at least one")
	}
	r := &Remote{
		opts: o.withDefaults(), busy: make(chan struct{}, 1), addrs: slices.Clone(addrs),
		conns: make(map[string]*grpc.ClientConn),
	}
	if len(addrs) > 0 {
		r.target = addrs[0]
	}
	return r, nil
}

// Close ends the stream and the connections.
func (r *Remote) Close() error {
	r.busy <- struct{}{}
	defer func() { <-r.busy }()
	r.closed = true
	r.drop()
	var errs []error
	for addr, conn := range r.conns {
		errs = append(errs, conn.Close())
		delete(r.conns, addr)
	}
	return errors.Join(errs...)
}

// Next implements Source.
func (r *Remote) Next(ctx context.Context, n int) (Batch, error) {
	if r.opts.Local != nil && r.opts.Local.leads() {
		return r.opts.Local.Next(ctx, n)
	}
	if n < 1 || n > MaxBatch {
		return Batch{}, &Error{Code: CodeInvalid,
			Err: fmt.Errorf("asked for %d timestamps; one call may ask for 1 to %d", n, MaxBatch)}
	}
	if err := r.acquire(ctx); err != nil {
		return Batch{}, err
	}
	defer func() { <-r.busy }()
	b, err := r.exchange(ctx, n)
	if err != nil {
		r.redirect(err)
		return Batch{}, err
	}
	return b, nil
}

// SetSafePoint raises the safe point at the leader; see Server.SetSafePoint.
func (r *Remote) SetSafePoint(ctx context.Context, ts kv.Timestamp) (kv.Timestamp, error) {
	if r.opts.Local != nil && r.opts.Local.leads() {
		return r.opts.Local.SetSafePoint(ctx, ts)
	}
	if err := r.acquire(ctx); err != nil {
		return 0, err
	}
	defer func() { <-r.busy }()
	conn, err := r.conn()
	if err != nil {
		return 0, err
	}
	resp, err := oraclepb.NewOracleClient(conn).SetSafePoint(ctx,
		&oraclepb.SetSafePointRequest{Timestamp: uint64(ts)})
	if err != nil {
		err = answer(ctx, err)
		r.redirect(err)
		return 0, err
	}
	return kv.Timestamp(resp.GetSafePoint()), nil
}

func (r *Remote) acquire(ctx context.Context) error {
	select {
	case r.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.closed {
		<-r.busy
		return &Error{Code: CodeUnavailable, Err: errors.New("the connection was closed")}
	}
	return nil
}

// exchange sends one request and receives its answer. A stream that fails, or on which an answer was not
// awaited, is never used again: the answer still on it would be taken for that of the next request.
func (r *Remote) exchange(ctx context.Context, n int) (Batch, error) {
	if err := r.open(ctx); err != nil {
		return Batch{}, err
	}
	stop := context.AfterFunc(ctx, r.hangUp)
	resp, err := r.roundTrip(n)
	if !stop() || err != nil {
		r.drop()
		return Batch{}, answer(ctx, err)
	}
	if resp.GetN() != uint32(n) || kv.Timestamp(resp.GetFirst()) > kv.MaxTimestamp-kv.Timestamp(n) {
		r.drop()
		return Batch{}, &Error{Code: CodeUnavailable,
			Err: fmt.Errorf("asked %s for %d timestamps, received %d from %d", r.target, n, resp.GetN(),
				resp.GetFirst())}
	}
	return Batch{First: kv.Timestamp(resp.GetFirst()), N: n,
		SafePoint: kv.Timestamp(resp.GetSafePoint())}, nil
}

func (r *Remote) roundTrip(n int) (*oraclepb.NextResponse, error) {
	// Send's io.EOF means that the status is to be had from Recv.
	_ = r.stream.Send(&oraclepb.NextRequest{N: uint32(n)})
	return r.stream.Recv()
}

// answer prefers the caller's own reason to give up over what gRPC made of it.
func answer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fromStatus(err)
}

func (r *Remote) open(ctx context.Context) error {
	if r.stream != nil {
		return nil
	}
	conn, err := r.conn()
	if err != nil {
		return err
	}
	// The stream serves many calls, so it lives by its own context; that of the call that opens it only
	// bounds the opening, which may wait for a connection.
	life, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel)
	stream, err := oraclepb.NewOracleClient(conn).Next(life)
	if !stop() || err != nil {
		cancel()
		return answer(ctx, err)
	}
	r.stream, r.hangUp = stream, cancel
	return nil
}

func (r *Remote) conn() (*grpc.ClientConn, error) {
	if r.target == "" {
		return nil, &Error{Code: CodeNotLeader,
			Err: errors.New("this process does not lead and knows no other server")}
	}
	if c := r.conns[r.target]; c != nil {
		return c, nil
	}
	c, err := r.opts.Dial(r.target)
	if err != nil {
		return nil, &Error{Code: CodeUnavailable, Err: fmt.Errorf("dial %s: %w", r.target, err)}
	}
	r.conns[r.target] = c
	return c, nil
}

func (r *Remote) drop() {
	if r.stream != nil {
		r.hangUp()
		r.stream = nil
	}
}

// redirect picks the server for the next call: the one that the answer named, else the next of the list.
// Connections to hinted servers that are in no list are kept too; leaders are few.
func (r *Remote) redirect(err error) {
	e := &Error{}
	silent := errors.Is(err, context.DeadlineExceeded) // a machine that hangs
	if !silent && (!errors.As(err, &e) || e.Code == CodeInvalid) {
		return
	}
	r.drop()
	switch {
	case e.Leader != "" && e.Leader != r.target:
		r.target = e.Leader
	case len(r.addrs) > 0:
		r.turn = (r.turn + 1) % len(r.addrs)
		r.target = r.addrs[r.turn]
	}
}
