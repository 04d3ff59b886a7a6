package replicated

import (
	"context"
	"errors"
	"sync"
	"time"

	"moka/kv/coord"
	"moka/kv/coord/local"
)

// tenure is the service in one leadership of the shard.
type tenure struct {
	h      *Host
	log    Log
	cancel context.CancelFunc
	over   sync.WaitGroup
	svc    *local.Service // once it is open
}

// Close ends it: the leadership is over, and nothing of it is of any use.
func (t *tenure) Close() error {
	t.cancel()
	t.over.Wait()
	return nil
}

// openPause is how long a tenure that could not begin waits before it tries again.
const openPause = 100 * time.Millisecond

func (t *tenure) run(ctx context.Context) {
	o := t.h.o.Service
	if o.Clock == nil {
		clock := newTicks()
		defer clock.close()
		o.Clock = clock
	}
	for said := false; ; {
		err := t.open(ctx, o)
		if err == nil {
			break
		}
		if ctx.Err() == nil && !said {
			said = true
			t.h.o.Logger.Warn("coordination does not begin yet; trying on", "err", err)
		}
		select {
		case <-time.After(openPause):
		case <-ctx.Done():
			return
		}
	}
	defer t.svc.Close()
	end := t.h.o.Lead(t.svc, t.log)
	defer end()
	t.h.now.Store(t)
	defer t.h.now.CompareAndSwap(t, nil)
	t.h.o.Logger.Info("this node leads coordination")
	<-ctx.Done()
}

// open reads the state. Before a release's state that had it elsewhere is taken over there is none.
func (t *tenure) open(ctx context.Context, o local.Options) error {
	s := store{ctx, t.log}
	there, err := local.Exists(s, nil)
	if err == nil && !there {
		err = t.h.o.TakeOver(func(from local.Store, prefix []byte) error {
			all, err := local.Read(from, prefix)
			if err == nil {
				err = s.Apply(all, nil)
			}
			return err
		})
	}
	if err == nil {
		t.svc, err = local.Open(s, nil, o)
	}
	return err
}

// confirm sees that what was seen is not the past of a leader that does not know of its successor (R22).
func (t *tenure) confirm(ctx context.Context, op string) error {
	if err := t.log.Lease(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return unavailable(op, err)
	}
	return nil
}

// answer lets an answer out that no entry of the log stands for. An unknown outcome promises nothing.
func (t *tenure) answer(ctx context.Context, op string, err error) error {
	if errors.Is(err, coord.ErrOutcomeUnknown) {
		return err
	}
	if lerr := t.confirm(ctx, op); lerr != nil {
		return lerr
	}
	return err
}

// session is one of the tenure's, whose answers are confirmed.
type session struct {
	coord.Session
	t *tenure
}

func (s session) KeepAlive(ctx context.Context) error {
	return s.t.answer(ctx, "keepalive", s.Session.KeepAlive(ctx))
}

func (s session) Valid() bool { return s.Session.Valid() && s.t.log.Leased() }

// Close comes back without an error when the end is in the log. A service that is closing lets go of a
// session without ending it.
func (s session) Close(ctx context.Context) error {
	if err := s.Session.Close(ctx); err != nil {
		return err
	}
	alive, err := s.t.svc.Alive(ctx, s.ID())
	if err == nil && alive {
		err = unavailable("close session", errNotHere)
	}
	return err
}

var errNotHere = errors.New("this node does not lead coordination")

func unavailable(op string, cause error) error {
	return &coord.Error{Code: coord.CodeUnavailable, Op: op, Err: cause}
}
