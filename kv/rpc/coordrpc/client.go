package coordrpc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// Conn returns the connection to the host as it is at the moment; rpc.Pool.Conn does, for a node.
type Conn func() (grpc.ClientConnInterface, error)

// Options of a Client; zero values mean the defaults.
type Options struct {
	WatchBuffer int          // events a watcher may lag behind before it ends with ErrWatchGap; default 256
	Logger      *slog.Logger // gets sessions that end; default discards
	// RetryFor is how long a call is repeated to which nothing has happened, because the node that Conn names
	// does not lead the service, or is gone. Default: not at all.
	RetryFor time.Duration
	// Missed is told so each time, for Conn to name another. Default: it finds out by itself.
	Missed func()
}

func (o Options) withDefaults() Options {
	if o.WatchBuffer <= 0 {
		o.WatchBuffer = 256
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Missed == nil {
		o.Missed = func() {}
	}
	return o
}

// Client is a coord.Service whose state is at another node.
type Client struct {
	conn    Conn
	opts    Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // goroutines of sessions and watchers

	mu     sync.Mutex
	closed bool
}

var _ coord.Service = (*Client)(nil)

// New makes a client of the host behind conn. It sends nothing yet.
func New(conn Conn, o Options) *Client {
	c := &Client{conn: conn, opts: o.withDefaults()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

var errClosed = errors.New("the client is closed")

// Close ends the client's watchers and waits for its goroutines. Its sessions are neither closed nor kept alive any more:
// close those first that shall end at once.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.running.Wait()
}

// spawn runs f in a goroutine that Close waits for, or returns false when it is too late for that.
func (c *Client) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.running.Go(f)
	return true
}

func (c *Client) stub(ctx context.Context, op string) (kvpb.CoordClient, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.ctx.Err() != nil {
		return nil, &coord.Error{Code: coord.CodeUnavailable, Op: op, Err: errClosed}
	}
	conn, err := c.conn()
	if err != nil {
		return nil, &coord.Error{Code: coord.CodeUnavailable, Op: op, Err: err}
	}
	return kvpb.NewCoordClient(conn), nil
}

// Get implements coord.Service.
func (c *Client) Get(ctx context.Context, key string) (coord.KV, error) {
	r, err := ask(ctx, c, "get", coord.CodeUnavailable, kvpb.CoordClient.Get, &kvpb.CoordGetRequest{Key: key})
	if err != nil {
		return coord.KV{}, err
	}
	return decodeKV(r.GetKv()), nil
}

// List implements coord.Service.
func (c *Client) List(ctx context.Context, prefix string) ([]coord.KV, coord.Revision, error) {
	req := &kvpb.CoordListRequest{Prefix: prefix}
	r, err := ask(ctx, c, "list", coord.CodeUnavailable, kvpb.CoordClient.List, req)
	if err != nil {
		return nil, 0, err
	}
	var kvs []coord.KV
	for _, k := range r.GetKvs() {
		kvs = append(kvs, decodeKV(k))
	}
	return kvs, coord.Revision(r.GetRevision()), nil
}

// Txn implements coord.Service.
func (c *Client) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	code := coord.CodeUnavailable
	if len(ops) > 0 {
		code = coord.CodeOutcomeUnknown
	}
	r, err := ask(ctx, c, "txn", code, kvpb.CoordClient.Txn, encodeTxn(conds, ops))
	if err != nil {
		return 0, err
	}
	return coord.Revision(r.GetRevision()), nil
}

// Alive implements coord.Service.
func (c *Client) Alive(ctx context.Context, id coord.SessionID) (bool, error) {
	req := &kvpb.CoordSessionRequest{Session: uint64(id)}
	r, err := ask(ctx, c, "alive", coord.CodeUnavailable, kvpb.CoordClient.Alive, req)
	if err != nil {
		return false, err
	}
	return r.GetAlive(), nil
}

// NewSession implements coord.Service. When its answer is lost, a session that nobody holds ends by its TTL.
func (c *Client) NewSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	sent := now() // or later
	req := &kvpb.CoordNewSessionRequest{TtlNanos: int64(ttl)}
	r, err := ask(ctx, c, "new session", coord.CodeUnavailable, kvpb.CoordClient.NewSession, req)
	if err != nil {
		return nil, err
	}
	s := &session{c: c, id: coord.SessionID(r.GetSession()), ttl: time.Duration(r.GetTtlNanos()), renewed: sent, done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(c.ctx)
	if !c.spawn(s.awaitEnd) {
		s.cancel()
		return nil, &coord.Error{Code: coord.CodeUnavailable, Op: "new session", Err: errClosed}
	}
	return s, nil
}
