package mem_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	coordtest.Run(t, func(t *testing.T) coordtest.Setup {
		clock := coordtest.NewClock()
		svc := mem.New(mem.Options{Clock: clock, WatchBuffer: 256, History: 64})
		t.Cleanup(func() { closeService(t, svc) })
		return coordtest.Setup{Service: svc, Advance: clock.Advance}
	})
}

// In a bubble the machine's clock is the bubble's, and the loop that keeps a session runs on it.
func TestKeepAliveInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mem.New(mem.Options{})
		defer closeService(t, svc)
		sess, err := svc.NewSession(t.Context(), 3*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- coord.KeepAlive(ctx, sess) }()
		time.Sleep(time.Hour)
		if !sess.Valid() {
			t.Fatal("session was lost although it was kept alive")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatalf("keeping alive ended with %v", err)
		}
		stopped := time.Now()
		<-sess.Done()
		if d := time.Since(stopped); d < 2*time.Second || d > 3*time.Second {
			t.Fatalf("session ended %v after the last keep-alive or so, ttl is 3s", d)
		}
		if err := coord.KeepAlive(t.Context(), sess); !errors.Is(err, coord.ErrSessionExpired) {
			t.Fatalf("keeping a dead session alive: %v", err)
		}
	})
}

// A service that was stopped itself does not hold the silence of that time against its sessions, but neither does it wait for ever.
func TestStoppedProcess(t *testing.T) {
	clock := coordtest.NewClock()
	svc := mem.New(mem.Options{Clock: clock})
	defer closeService(t, svc)
	speaks, silent := session(t, svc), session(t, svc)
	clock.Set(clock.Now().Add(time.Hour)) // no timer has run meanwhile
	clock.Advance(0)
	if !speaks.Valid() || !silent.Valid() {
		t.Fatal("sessions ended before their holders had a turn")
	}
	if err := speaks.KeepAlive(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(speaks.TTL() / 2)
	<-silent.Done()
	if !speaks.Valid() {
		t.Error("the session that was kept alive has ended")
	}
}

func session(t *testing.T, svc coord.Service) coord.Session {
	t.Helper()
	s, err := svc.NewSession(t.Context(), 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClose(t *testing.T) {
	svc := mem.New(mem.Options{})
	sess, err := svc.NewSession(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	w, err := svc.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	closeService(t, svc)
	<-sess.Done()
	if sess.Valid() {
		t.Error("a session is valid after its service was closed")
	}
	if _, open := <-w.Events(); open || !errors.Is(w.Err(), coord.ErrUnavailable) {
		t.Errorf("watcher of a closed service: open %v, %v", open, w.Err())
	}
	if _, err := svc.Txn(t.Context(), nil, nil); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("txn on a closed service: %v", err)
	}
	if _, err := svc.Get(t.Context(), "a"); !errors.Is(err, coord.ErrUnavailable) {
		t.Errorf("get on a closed service: %v", err)
	}
	if err := sess.Close(t.Context()); err != nil {
		t.Errorf("session close on a closed service: %v", err)
	}
	closeService(t, svc) // twice is fine
}

func closeService(t *testing.T, svc *mem.Service) {
	t.Helper()
	if err := svc.Close(); err != nil {
		t.Error(err)
	}
}
