package main

import (
	"context"
	"strconv"
	"sync"
	"time"

	"moka/kv/coord"
	"moka/txn"
)

// sessionUser has something that goes with the session.
type sessionUser interface{ SetSession(coord.Session) }

// keeper keeps this process's session, and opens another one when it is lost: the process stood still for
// longer than a session lasts. Others may have rolled back its locks by then, so the transactions that were
// open fail when they commit, or never locked anything; new ones go on under the new session, whose number no
// other has had.
type keeper struct {
	s *stack

	mu      sync.Mutex
	session coord.Session
	users   []sessionUser
}

// tell has somebody hear of other sessions. He has begun with the first.
func (k *keeper) tell(first coord.Session, u sessionUser) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.users = append(k.users, u)
	if k.session != first {
		u.SetSession(k.session)
	}
}

// locker writes the session into locks.
type locker struct{ *txn.Client }

func (l locker) SetSession(session coord.Session) { l.Client.SetSession(sessionName(session)) }

// sessionName is how a lock names its owner's session.
func sessionName(session coord.Session) string { return strconv.FormatUint(uint64(session.ID()), 10) }

// sessionPause is between attempts to open a session.
const sessionPause = time.Second

func (k *keeper) run(ctx context.Context) {
	for {
		err := coord.KeepAlive(ctx, k.session)
		if ctx.Err() != nil {
			return
		}
		k.s.o.Logger.Error("this process lost its session: it stood still, or did not reach the others, "+
			"for too long. Open transactions may have been rolled back; opening a new session",
			"longest", sessionTTL,
			"session", k.session.ID(), "err", err)
		if !k.renew(ctx) {
			return
		}
		k.s.o.Logger.Info("this process has a new session", "session", k.session.ID())
	}
}

func (k *keeper) renew(ctx context.Context) bool {
	for said := false; ; {
		fresh, err := k.s.coord.NewSession(ctx, sessionTTL)
		if err == nil {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.session = fresh
			for _, u := range k.users {
				u.SetSession(fresh)
			}
			return true
		}
		if !said && ctx.Err() == nil {
			said = true
			k.s.o.Logger.Warn("no new session yet; trying on", "err", err)
		}
		select {
		case <-time.After(sessionPause):
		case <-ctx.Done():
			return false
		}
	}
}

// close ends the session: its locks need not wait for anything.
func (k *keeper) close(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, closeSession)
	defer cancel()
	err := k.session.Close(ctx)
	if err != nil && (k.s.oracle == nil || k.s.replicated) { // who has the service may have stopped before
		k.s.o.Logger.Warn("the session could not be closed; it ends by itself", "within", sessionTTL,
			"err", err)
		return nil
	}
	return err
}

// closeSession bounds how long a process that stops looks for somebody to tell.
const closeSession = 2 * time.Second
