package replicated

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/local"
)

// Options of a Host; all but Logger must be there.
type Options struct {
	// Shard is the one whose state the service is a part of.
	Shard kv.ShardID
	// Lead is called with the service when it begins here, for what leads with it: the oracle. Its sessions
	// end with the leadership. What it returns ends that.
	Lead func(svc coord.Service, lease Lease) (end func())
	// TakeOver is called where the shard has no service yet: it calls take with what keeps the service of a
	// release before, or fails.
	TakeOver func(take func(from local.Store, prefix []byte) error) error
	// Service are the settings of the service; its clock is one by default that counts only while the process
	// runs.
	Service local.Options
	// Logger gets when the service begins here; nil discards it.
	Logger *slog.Logger
}

// Host is a node's part of the service: all of it while the node leads the shard, else coord.ErrUnavailable.
// It is a coprocessor of the shard without commands, and what coordrpc serves.
type Host struct {
	o   Options
	now atomic.Pointer[tenure]
}

var (
	_ kv.Coprocessor = (*Host)(nil)
	_ coord.Service  = (*Host)(nil)
)

// New makes the host of a node that leads nothing yet.
func New(o Options) *Host {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Host{o: o}
}

// Name implements kv.Coprocessor.
func (h *Host) Name() string { return "coordination" }

// Groups implements kv.Coprocessor.
func (h *Host) Groups() []kv.GroupSpec { return nil }

// Commands implements kv.Coprocessor.
func (h *Host) Commands() []kv.Command { return nil }

// OpenShard implements kv.Coprocessor. The service opens beside it, for its first step is an entry of the
// log.
func (h *Host) OpenShard(s kv.ShardHandle) (any, error) {
	if s.ID() != h.o.Shard {
		return nil, nil
	}
	log, ok := s.(Log)
	if !ok {
		return nil, kv.Errorf(kv.CodeInternal, "coordination", "a %T is no leadership with records", s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &tenure{h: h, log: log, cancel: cancel}
	t.over.Go(func() { t.run(ctx) })
	return t, nil
}

// tenure is the present one.
func (h *Host) tenure(op string) (*tenure, error) {
	if t := h.now.Load(); t != nil {
		return t, nil
	}
	return nil, unavailable(op, errNotHere)
}

// Get implements coord.Service.
func (h *Host) Get(ctx context.Context, key string) (coord.KV, error) {
	t, err := h.tenure("get")
	if err != nil {
		return coord.KV{}, err
	}
	k, err := t.svc.Get(ctx, key)
	if err = t.answer(ctx, "get", err); err != nil {
		return coord.KV{}, err
	}
	return k, nil
}

// List implements coord.Service.
func (h *Host) List(ctx context.Context, prefix string) ([]coord.KV, coord.Revision, error) {
	t, err := h.tenure("list")
	if err != nil {
		return nil, 0, err
	}
	ks, rev, err := t.svc.List(ctx, prefix)
	if err = t.answer(ctx, "list", err); err != nil {
		return nil, 0, err
	}
	return ks, rev, nil
}

// Txn implements coord.Service.
func (h *Host) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	t, err := h.tenure("txn")
	if err != nil {
		return 0, err
	}
	rev, err := t.svc.Txn(ctx, conds, ops)
	if err == nil && len(ops) > 0 {
		return rev, nil // the entry is applied
	}
	if err = t.answer(ctx, "txn", err); err != nil {
		return 0, err
	}
	return rev, nil
}

// NewSession implements coord.Service.
func (h *Host) NewSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	return h.NewDetachedSession(ctx, ttl)
}

// NewDetachedSession implements coordrpc.Host: all sessions outlive the leadership in which they were opened.
func (h *Host) NewDetachedSession(ctx context.Context, ttl time.Duration) (coord.Session, error) {
	t, err := h.tenure("new session")
	if err != nil {
		return nil, err
	}
	s, err := t.svc.NewDetachedSession(ctx, ttl)
	if err != nil {
		return nil, t.answer(ctx, "new session", err)
	}
	return session{s, t}, nil
}

// Attach implements coordrpc.Host.
func (h *Host) Attach(ctx context.Context, id coord.SessionID) (coord.Session, error) {
	t, err := h.tenure("attach")
	if err != nil {
		return nil, err
	}
	s, err := t.svc.Attach(ctx, id)
	if err = t.answer(ctx, "attach", err); err != nil {
		return nil, err
	}
	return session{s, t}, nil
}

// Alive implements coord.Service.
func (h *Host) Alive(ctx context.Context, id coord.SessionID) (bool, error) {
	t, err := h.tenure("alive")
	if err != nil {
		return false, err
	}
	alive, err := t.svc.Alive(ctx, id)
	if err = t.answer(ctx, "alive", err); err != nil {
		return false, err
	}
	return alive, nil
}

// Watch implements coord.Service. A watcher ends with the leadership.
func (h *Host) Watch(ctx context.Context, prefix string, after coord.Revision) (coord.Watcher, error) {
	t, err := h.tenure("watch")
	if err != nil {
		return nil, err
	}
	w, err := t.svc.Watch(ctx, prefix, after)
	if aerr := t.answer(ctx, "watch", err); aerr != nil {
		if err == nil {
			w.Close()
		}
		return nil, aerr
	}
	return w, nil
}
