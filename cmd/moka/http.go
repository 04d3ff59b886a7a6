package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"moka/cmd/moka/page"
)

// httpServer is the operator's door: what is measured, whether it lives, and what "moka ctl" asks.
type httpServer struct {
	srv      *http.Server
	draining atomic.Bool
	stack    *stack
	metrics  http.Handler
	page     *page.Server
	// backingUp says that a backup is being sent: one at a time.
	backingUp atomic.Bool
}

func newHTTPServer(s *stack) *httpServer {
	h := &httpServer{stack: s}
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &collector{stack: s})
	mux := http.NewServeMux()
	h.metrics = promhttp.HandlerFor(reg, promhttp.HandlerOpts{})
	mux.Handle("GET /metrics", h.metrics)
	mux.HandleFunc("GET /healthz", h.health)
	mux.HandleFunc("GET /readyz", h.health)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { h.answer(w, r, s.status) })
	h.page = page.New(page.Options{Source: source{s}, Authorized: s.token.shown, Refuse: s.token.refuse,
		Logger: s.o.Logger})
	h.page.Register(mux)
	mux.HandleFunc("POST "+mixPath, s.token.required(h.takeMix))
	mux.HandleFunc("GET /ctl/{what}", h.control)
	mux.HandleFunc("POST /ctl/{what}", h.control)
	mux.HandleFunc("GET "+backupPath, s.token.required(h.backup))
	mux.HandleFunc("GET "+zipPath, s.token.required(h.debugZip))
	mux.HandleFunc("GET /debug/pprof/", s.token.required(pprof.Index))
	mux.HandleFunc("GET /debug/pprof/cmdline", s.token.required(pprof.Cmdline))
	mux.HandleFunc("GET /debug/pprof/profile", s.token.required(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/symbol", s.token.required(pprof.Symbol))
	mux.HandleFunc("GET /debug/pprof/trace", s.token.required(pprof.Trace))
	h.srv = boundHTTP(guard(mux, s.hosts()))
	h.srv.RegisterOnShutdown(h.page.Leave)
	return h
}

func (h *httpServer) serve(l net.Listener) error {
	if err := h.srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (h *httpServer) answer(w http.ResponseWriter, r *http.Request, f func(context.Context) (any, error)) {
	v, err := f(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v)
}

// control carries out what "moka ctl" asks: reading with GET, changing with POST.
func (h *httpServer) control(w http.ResponseWriter, r *http.Request) {
	what := r.PathValue("what")
	c, ok := controls[what]
	if !ok || c.changes != (r.Method == http.MethodPost) {
		http.Error(w, "no such command: "+r.Method+" "+what, http.StatusNotFound)
		return
	}
	run := func(w http.ResponseWriter, r *http.Request) {
		h.answer(w, r, func(ctx context.Context) (any, error) {
			return c.run(ctx, h.stack, r.URL.Query()["arg"])
		})
	}
	if c.guarded() {
		run = h.stack.token.required(run)
	}
	run(w, r)
}
