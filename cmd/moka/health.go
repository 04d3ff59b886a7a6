package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"moka/kv"
)

// healthTime is how long the proof of health may take.
const healthTime = time.Second

// check is one thing that a process has to be able to do.
type check struct {
	name string
	err  error
	took time.Duration
}

// checks prove that the process can serve: a timestamp, and a read of METADATA, which is behind no cache.
func (s *stack) checks(ctx context.Context) (list []check) {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	prove := func(name string, f func() error) {
		began := time.Now()
		err := f()
		list = append(list, check{name, err, time.Since(began)})
	}
	prove("timestamp", func() error {
		_, err := s.clock.Next(ctx)
		return err
	})
	prove("METADATA", func() error {
		_, err := s.meta.Lookup(ctx, kv.MakeRowKey(kv.TableTxn, nil))
		return err
	})
	return list
}

// health answers /healthz, and /readyz, which wants no new clients while the process drains: a line for each
// check, and the status 503 if one failed.
func (h *httpServer) health(w http.ResponseWriter, r *http.Request) {
	list := h.stack.checks(r.Context())
	if r.URL.Path == "/readyz" {
		c := check{name: "takes clients"}
		if h.draining.Load() {
			c.err = errors.New("draining")
		}
		list = append(list, c)
	}
	var b strings.Builder
	status := http.StatusOK
	for _, c := range list {
		what := "ok"
		if c.err != nil {
			status, what = http.StatusServiceUnavailable, oneLine(c.err)
		}
		fmt.Fprintf(&b, "%-14s %-6s %s\n", c.name, c.took.Round(10*time.Microsecond), what)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(b.String()))
}

// httpGrace is how long requests that are being answered may take when the process stops.
const httpGrace = 2 * time.Second

// closeHTTP ends the operator's door. It closes behind the clients', so that it can be seen how a drain goes.
func (s *stack) closeHTTP(context.Context) error {
	if s.http == nil {
		return nil
	}
	defer s.http.page.Close() // behind its last answer
	ctx, cancel := context.WithTimeout(context.Background(), httpGrace)
	defer cancel()
	if s.http.srv.Shutdown(ctx) != nil {
		return s.http.srv.Close()
	}
	return nil
}
