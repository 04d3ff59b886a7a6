package coordrpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"moka/kv/coord"
	"moka/kv/kvpb"
)

// session is the holder's end of a session at the host.
type session struct {
	c    *Client
	id   coord.SessionID
	ttl  time.Duration
	done chan struct{}

	ctx    context.Context // of awaitEnd; ends with the session, or with the client
	cancel context.CancelFunc

	mu      sync.Mutex
	renewed instant // when the last KeepAlive was sent that the host has acknowledged
	ended   bool
}

func (s *session) ID() coord.SessionID   { return s.id }
func (s *session) TTL() time.Duration    { return s.ttl }
func (s *session) Done() <-chan struct{} { return s.done }

// Valid is certain without asking: the lease that the host granted began after the request was sent and lasts for TTL on the
// host's clock. A twentieth is far more than two clocks drift apart meanwhile.
func (s *session) Valid() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && s.renewed.elapsed() < s.ttl-s.ttl/20
}

func (s *session) KeepAlive(ctx context.Context) error {
	sent := now() // or later
	req := &kvpb.CoordSessionRequest{Session: uint64(s.id)}
	_, err := ask(ctx, s.c, "keepalive", coord.CodeUnavailable, kvpb.CoordClient.KeepAlive, req)
	if err != nil {
		if errors.Is(err, coord.ErrSessionExpired) {
			s.end()
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Two calls may overlap; the later one sent proves more.
	if sent.elapsed() < s.renewed.elapsed() {
		s.renewed = sent
	}
	return nil
}

func (s *session) Close(ctx context.Context) error {
	select {
	case <-s.done:
		return nil
	default:
	}
	req := &kvpb.CoordSessionRequest{Session: uint64(s.id)}
	_, err := ask(ctx, s.c, "close session", coord.CodeUnavailable, kvpb.CoordClient.CloseSession, req)
	if err != nil && !errors.Is(err, coord.ErrSessionExpired) {
		return err
	}
	s.end()
	return nil
}

func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended = true
		close(s.done)
		s.cancel()
	}
}

// Pauses between attempts to await the end of a session at a host that cannot be reached.
const (
	minPause = 50 * time.Millisecond
	maxPause = 2 * time.Second
)

// awaitEnd learns of the end without anybody calling: a holder that only waits for Done must hear of it.
func (s *session) awaitEnd() {
	pause := minPause
	for !s.askEnd() {
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-s.ctx.Done():
			t.Stop()
			return
		}
		pause = min(2*pause, maxPause)
	}
	s.c.opts.Logger.Info("session of the coordination service has ended", "session", s.id)
	s.end()
}

func (s *session) askEnd() bool {
	stub, err := s.c.stub(s.ctx, "await end")
	if err != nil {
		return false
	}
	r, err := stub.AwaitEnd(s.ctx, &kvpb.CoordSessionRequest{Session: uint64(s.id)})
	return err == nil && r.GetError() == nil
}
