package oracle

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"moka/kv"
	"moka/oracle/oraclepb"
)

// grpcCodes is how each kind of error looks to those who know gRPC only. The Error itself travels
// in the status details.
var grpcCodes = map[Code]codes.Code{
	CodeNotLeader:   codes.FailedPrecondition,
	CodeFenced:      codes.Aborted,
	CodeUnavailable: codes.Unavailable,
	CodeInvalid:     codes.InvalidArgument,
}

// toStatus makes an error of this package one that gRPC can carry.
func toStatus(err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	case !errors.As(err, &e):
		return status.Error(codes.Internal, err.Error())
	}
	code, ok := grpcCodes[e.Code]
	if !ok {
		code = codes.Unknown
	}
	msg := ""
	if e.Err != nil {
		msg = e.Err.Error()
	}
	st, err := status.New(code, msg).WithDetails(
		&oraclepb.ErrorInfo{Code: uint32(e.Code), Leader: e.Leader, Epoch: e.Epoch})
	if err != nil {
		return status.Error(code, msg)
	}
	return st.Err()
}

// fromStatus is its inverse. A status without our details comes from gRPC itself: nobody answered.
func fromStatus(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return &Error{Code: CodeUnavailable, Err: errors.New("the server ended the stream")}
	}
	st := status.Convert(err)
	for _, d := range st.Details() {
		if info, ok := d.(*oraclepb.ErrorInfo); ok {
			e := &Error{Code: Code(info.GetCode()), Leader: info.GetLeader(), Epoch: info.GetEpoch()}
			if st.Message() != "" {
				e.Err = errors.New(st.Message())
			}
			return e
		}
	}
	return &Error{Code: CodeUnavailable, Err: err}
}

// Register offers s to other processes.
func Register(l Listener, s Local) {
	oraclepb.RegisterOracleServer(l.Registrar(), &service{srv: s, draining: l.Draining()})
}

// Listener is the server whose port is shared.
type Listener interface {
	Registrar() grpc.ServiceRegistrar
	// Draining is closed when what waits without end has to stop.
	Draining() <-chan struct{}
}

type service struct {
	oraclepb.UnimplementedOracleServer
	srv      Local
	draining <-chan struct{}
}

type nextStream = grpc.BidiStreamingServer[oraclepb.NextRequest, oraclepb.NextResponse]

// Next answers requests until the client or the server has enough. A client keeps its stream for ever, and
// who waits for its next request cannot be woken, so the waiting is another goroutine's: it ends with the
// stream.
func (g *service) Next(stream nextStream) error {
	var one sync.Mutex // held while a request is answered
	ended := make(chan error, 1)
	go func() { ended <- g.answer(stream, &one) }()
	select {
	case err := <-ended:
		return err
	case <-g.draining:
		one.Lock() // for good: nothing is sent any more
		return toStatus(&Error{Code: CodeUnavailable, Err: errors.New("the server is shutting down")})
	}
}

// answer answers one request after the other; gRPC's flow control bounds what a client can queue.
func (g *service) answer(stream nextStream, one *sync.Mutex) error {
	ctx := stream.Context()
	for {
		req, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !one.TryLock() {
			return nil // the stream has ended
		}
		// Beyond int's range on a 32-bit machine the cast would turn negative, which is refused as well.
		b, err := g.srv.Next(ctx, int(req.GetN()))
		if err == nil {
			err = stream.Send(&oraclepb.NextResponse{
				First: uint64(b.First), N: uint32(b.N), SafePoint: uint64(b.SafePoint),
			})
		} else {
			err = toStatus(err)
		}
		one.Unlock()
		if err != nil {
			return err
		}
	}
}

func (g *service) SetSafePoint(ctx context.Context,
	req *oraclepb.SetSafePointRequest) (*oraclepb.SetSafePointResponse, error) {
	sp, err := g.srv.SetSafePoint(ctx, kv.Timestamp(req.GetTimestamp()))
	if err != nil {
		return nil, toStatus(err)
	}
	return &oraclepb.SetSafePointResponse{SafePoint: uint64(sp)}, nil
}
