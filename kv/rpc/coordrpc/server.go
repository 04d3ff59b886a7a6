package coordrpc

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// Host is a service whose sessions may belong to other processes; coord/local and coord/mem are.
type Host interface {
	coord.Service
	// NewDetachedSession opens a session that outlives this process.
	NewDetachedSession(ctx context.Context, ttl time.Duration) (coord.Session, error)
	// Attach returns a living session by its id, or coord.ErrSessionExpired.
	Attach(ctx context.Context, id coord.SessionID) (coord.Session, error)
}

// Listener is the server whose port is shared; *rpc.Server is one.
type Listener interface {
	Registrar() grpc.ServiceRegistrar
	// Draining is closed when what waits without end has to stop.
	Draining() <-chan struct{}
}

// Register makes the service reachable at the listener's port. Only before it serves.
func Register(l Listener, h Host) {
	kvpb.RegisterCoordServer(l.Registrar(), &server{host: h, draining: l.Draining()})
}

type server struct {
	kvpb.UnimplementedCoordServer
	host     Host
	draining <-chan struct{}
}

func (s *server) Get(ctx context.Context, r *kvpb.CoordGetRequest) (*kvpb.CoordGetResponse, error) {
	k, err := s.host.Get(ctx, r.GetKey())
	if err != nil {
		return &kvpb.CoordGetResponse{Error: encodeError(err)}, nil
	}
	return &kvpb.CoordGetResponse{Kv: encodeKV(k)}, nil
}

func (s *server) List(ctx context.Context, r *kvpb.CoordListRequest) (*kvpb.CoordListResponse, error) {
	kvs, rev, err := s.host.List(ctx, r.GetPrefix())
	if err != nil {
		return &kvpb.CoordListResponse{Error: encodeError(err)}, nil
	}
	out := &kvpb.CoordListResponse{Revision: uint64(rev)}
	for _, k := range kvs {
		out.Kvs = append(out.Kvs, encodeKV(k))
	}
	return out, nil
}

func (s *server) Txn(ctx context.Context, r *kvpb.CoordTxnRequest) (*kvpb.CoordTxnResponse, error) {
	conds, ops := decodeTxn(r)
	rev, err := s.host.Txn(ctx, conds, ops)
	return &kvpb.CoordTxnResponse{Error: encodeError(err), Revision: uint64(rev)}, nil
}

func (s *server) NewSession(ctx context.Context, r *kvpb.CoordNewSessionRequest) (*kvpb.CoordSessionResponse, error) {
	sess, err := s.host.NewDetachedSession(ctx, time.Duration(r.GetTtlNanos()))
	if err != nil {
		return &kvpb.CoordSessionResponse{Error: encodeError(err)}, nil
	}
	return &kvpb.CoordSessionResponse{Session: uint64(sess.ID()), TtlNanos: int64(sess.TTL())}, nil
}

func (s *server) KeepAlive(ctx context.Context, r *kvpb.CoordSessionRequest) (*kvpb.CoordSessionResponse, error) {
	sess, err := s.host.Attach(ctx, coord.SessionID(r.GetSession()))
	if err == nil {
		err = sess.KeepAlive(ctx)
	}
	return &kvpb.CoordSessionResponse{Error: encodeError(err), Session: r.GetSession()}, nil
}

func (s *server) CloseSession(ctx context.Context, r *kvpb.CoordSessionRequest) (*kvpb.CoordSessionResponse, error) {
	sess, err := s.host.Attach(ctx, coord.SessionID(r.GetSession()))
	if err == nil {
		err = sess.Close(ctx)
	}
	return &kvpb.CoordSessionResponse{Error: encodeError(err), Session: r.GetSession()}, nil
}

func (s *server) AwaitEnd(ctx context.Context, r *kvpb.CoordSessionRequest) (*kvpb.CoordSessionResponse, error) {
	id := coord.SessionID(r.GetSession())
	if sess, err := s.host.Attach(ctx, id); err == nil {
		select {
		case <-sess.Done():
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		case <-s.draining:
		}
	}
	// A host that closes lets go of its handles although the sessions live on, so the word that counts is Alive's.
	alive, err := s.host.Alive(ctx, id)
	switch {
	case err != nil:
		return nil, status.Error(codes.Unavailable, err.Error())
	case alive:
		return nil, status.Error(codes.Unavailable, "the session lives; its end cannot be awaited here at the moment")
	}
	return &kvpb.CoordSessionResponse{Session: r.GetSession()}, nil
}

func (s *server) Alive(ctx context.Context, r *kvpb.CoordSessionRequest) (*kvpb.CoordAliveResponse, error) {
	alive, err := s.host.Alive(ctx, coord.SessionID(r.GetSession()))
	return &kvpb.CoordAliveResponse{Error: encodeError(err), Alive: alive}, nil
}

func (s *server) Watch(r *kvpb.CoordWatchRequest, out grpc.ServerStreamingServer[kvpb.CoordWatchResponse]) error {
	w, err := s.host.Watch(out.Context(), r.GetPrefix(), coord.Revision(r.GetAfter()))
	if err != nil {
		return out.Send(&kvpb.CoordWatchResponse{Error: encodeError(err)})
	}
	defer w.Close()
	if err := out.Send(&kvpb.CoordWatchResponse{}); err != nil {
		return err
	}
	for {
		select {
		case ev, ok := <-w.Events():
			if !ok {
				if out.Context().Err() != nil {
					return status.FromContextError(out.Context().Err()).Err()
				}
				err := w.Err()
				if err == nil { // the host closed the watcher; nobody here did
					err = &coord.Error{Code: coord.CodeUnavailable, Op: "watch"}
				}
				return out.Send(&kvpb.CoordWatchResponse{Error: encodeError(err)})
			}
			if err := out.Send(pack(ev, w.Events())); err != nil {
				return err
			}
		case <-s.draining:
			return status.Error(codes.Unavailable, "the node is shutting down")
		}
	}
}

// maxPacked bounds the events of one message; with values of 64 KiB it stays far below the limit of a message.
const maxPacked = 64

// pack puts what is there already into one message.
func pack(first coord.Event, more <-chan coord.Event) *kvpb.CoordWatchResponse {
	out := &kvpb.CoordWatchResponse{Events: []*kvpb.CoordEvent{{Type: uint32(first.Type), Kv: encodeKV(first.KV)}}}
	for len(out.Events) < maxPacked {
		select {
		case ev, ok := <-more:
			if !ok {
				return out
			}
			out.Events = append(out.Events, &kvpb.CoordEvent{Type: uint32(ev.Type), Kv: encodeKV(ev.KV)})
		default:
			return out
		}
	}
	return out
}
