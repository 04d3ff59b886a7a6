package coordrpc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
)

// Valid must turn false before the host's lease can have run out, with nobody telling.
func TestValidEndsBeforeTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(func() (grpc.ClientConnInterface, error) { return nil, context.Canceled }, Options{})
		defer c.Close()
		s := &session{c: c, ttl: time.Second, renewed: now(), done: make(chan struct{}), cancel: func() {}}
		if !s.Valid() {
			t.Error("a fresh session is not valid")
		}
		time.Sleep(940 * time.Millisecond)
		if !s.Valid() {
			t.Error("gave up far too early")
		}
		time.Sleep(11 * time.Millisecond)
		if s.Valid() {
			t.Error("valid at the end of the lease")
		}
	})
}
