package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"moka/kv"
)

// healthTime is how long the proof of health may take.
const healthTime = time.Second

// serves proves that the process can serve: a timestamp, and a read of METADATA, which is behind no cache.
func (s *stack) serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	if _, err := s.clock.Next(ctx); err != nil {
		return fmt.Errorf("no timestamp: %w", err)
	}
	if _, err := s.meta.Lookup(ctx, kv.MakeRowKey(kv.TableTxn, nil)); err != nil {
		return fmt.Errorf("METADATA cannot be read: %w", err)
	}
	return nil
}

// health answers /healthz, and /readyz, which wants no new clients while the process drains.
func (h *httpServer) health(w http.ResponseWriter, r *http.Request) {
	err := h.stack.serves(r.Context())
	if err == nil && r.URL.Path == "/readyz" && h.draining.Load() {
		err = errors.New("draining")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// httpGrace is how long requests that are being answered may take when the process stops.
const httpGrace = 2 * time.Second

// closeHTTP ends the operator's door. It closes behind the clients', so that it can be seen how a drain goes.
func (s *stack) closeHTTP(context.Context) error {
	if s.http == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
	defer cancel()
	if s.http.srv.Shutdown(ctx) != nil {
		return s.http.srv.Close()
	}
	return nil
}
