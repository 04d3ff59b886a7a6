package oracle

import (
	"context"
	"sync/atomic"

	"moka/kv"
)

// Local is a source in this process that may lead: a Server, or a Host.
type Local interface {
	Source
	SetSafePoint(ctx context.Context, ts kv.Timestamp) (kv.Timestamp, error)
	Metrics() Metrics
	// tryNext is Next where it need not wait; ok is false where it would have to, or fail.
	tryNext(n int) (b Batch, ok bool)
	leads() bool
}

var (
	_ Local = (*Server)(nil)
	_ Local = (*Host)(nil)
)

// Host is a process's part in an oracle that leads where something else is led, the shard that keeps the
// ceiling: each leadership has a server of its own, and whoever asks in between is sent to the leader.
type Host struct {
	srv  atomic.Pointer[Server]
	hint func() string
}

// NewHost makes the host of a process that does not lead. hint is the address of who does, as far as known,
// else empty.
func NewHost(hint func() string) *Host { return &Host{hint: hint} }

// Lead makes s the server, until the leadership ends with end, which closes s.
func (h *Host) Lead(s *Server) (end func()) {
	h.srv.Store(s)
	return func() {
		h.srv.CompareAndSwap(s, nil)
		s.Close()
	}
}

// Yield is the server's, before the leadership is handed over.
func (h *Host) Yield(ctx context.Context) error {
	if s := h.srv.Load(); s != nil {
		return s.Yield(ctx)
	}
	return nil
}

// Next implements Source.
func (h *Host) Next(ctx context.Context, n int) (Batch, error) {
	if s := h.srv.Load(); s != nil {
		return s.Next(ctx, n)
	}
	return Batch{}, h.notLeader()
}

// SetSafePoint is the server's.
func (h *Host) SetSafePoint(ctx context.Context, ts kv.Timestamp) (kv.Timestamp, error) {
	if s := h.srv.Load(); s != nil {
		return s.SetSafePoint(ctx, ts)
	}
	return 0, h.notLeader()
}

// Metrics are those of the present leadership; zero without one.
func (h *Host) Metrics() Metrics {
	if s := h.srv.Load(); s != nil {
		return s.Metrics()
	}
	return Metrics{}
}

func (h *Host) tryNext(n int) (Batch, bool) {
	if s := h.srv.Load(); s != nil {
		return s.tryNext(n)
	}
	return Batch{}, false
}

func (h *Host) leads() bool {
	s := h.srv.Load()
	return s != nil && s.leads()
}

func (h *Host) notLeader() error { return &Error{Code: CodeNotLeader, Leader: h.hint()} }
