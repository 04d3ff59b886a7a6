package oracle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/coord"
)

// Batch is a run of consecutive timestamps: First, First+1, … First+N-1.
type Batch struct {
	First     kv.Timestamp
	N         int
	SafePoint kv.Timestamp // versions older than what a read at this timestamp sees may be gone
}

// Source hands out timestamps. Server is one; Remote is one behind a network.
type Source interface {
	// Next returns exactly n timestamps, all greater than any that was returned before the call began.
	Next(ctx context.Context, n int) (Batch, error)
}

// MaxBatch bounds what one call may ask for.
const MaxBatch = 1 << 16

// Options of a Server; zero values mean the defaults.
type Options struct {
	Address string // where other processes reach this server; told to those who ask a follower
	Prefix  string // of the oracle's keys in the coordination service; default "oracle/"
	// how far ahead a ceiling is reserved, hence what a crash may skip; default 3s, at least 10ms
	Window     time.Duration
	SessionTTL time.Duration // how long a dead leader holds up its successor; default 3s
	Clock      coord.Clock   // default coord.SystemClock
	Logger     *slog.Logger  // default: discard
	// Lease is the right to answer, on top of the session that holds the leadership: it is asked behind each
	// taking. Default: none, the session is enough.
	Lease Lease

	// afterTake runs between taking timestamps and the check that they may be given away: the place where
	// a test pauses a leader.
	afterTake func()
}

// Lease is what a server needs whose session cannot tell that it was deposed: the coordination service, which
// ends sessions, is in the same process, and may itself be deposed without knowing.
type Lease interface {
	// Lease is nil if nobody else led at some moment within the call.
	Lease(ctx context.Context) error
	// Leased is Lease for who cannot wait: false if nobody can tell without asking others.
	Leased() bool
}

func (o Options) withDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.Window <= 0 {
		o.Window = 3 * time.Second
	}
	// A window must hold the greatest batch, or that batch could never be served.
	o.Window = max(o.Window, 10*time.Millisecond)
	if o.SessionTTL <= 0 {
		o.SessionTTL = 3 * time.Second
	}
	if o.Clock == nil {
		o.Clock = coord.SystemClock
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Server campaigns for the leadership of the oracle and hands out timestamps while it has it.
type Server struct {
	opts     Options
	svc      coord.Service
	election *coord.Election
	window   kv.Timestamp

	term   atomic.Pointer[term]   // nil unless leading
	leader atomic.Pointer[string] // address of the last leader seen
	stats  counters

	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu struct {
		sync.Mutex
		leading chan struct{} // closed while term is set
	}
}

var _ Source = (*Server)(nil)

// Start begins to campaign. Close ends it.
func Start(svc coord.Service, o Options) *Server {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		opts: o, svc: svc, cancel: cancel, window: windowOf(o.Window),
		election: coord.NewElection(svc, o.Prefix+"leader"),
	}
	s.mu.leading = make(chan struct{})
	s.wg.Go(func() { s.campaign(ctx) })
	s.wg.Go(func() { s.observe(ctx) })
	return s
}

// Close hands the leadership over and waits for the server's goroutines. Calls that are under way
// end with ErrNotLeader.
func (s *Server) Close() {
	s.cancel()
	s.wg.Wait()
}

// Yield ends the server's part for good, before what it leads with is handed to another process: it hands
// out nothing more, and its successor begins where it has ended. An error says that it may begin later.
func (s *Server) Yield(ctx context.Context) error {
	t := s.term.Load()
	if t == nil {
		return nil
	}
	done := make(chan error, 1)
	select {
	case t.yields <- done:
	case <-t.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-done
}

// WaitLeading returns when this server leads, or with ctx's error.
func (s *Server) WaitLeading(ctx context.Context) error {
	s.mu.Lock()
	leading := s.mu.leading
	s.mu.Unlock()
	select {
	case <-leading:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to lead the timestamp oracle: %w", ctx.Err())
	}
}

// Next implements Source.
func (s *Server) Next(ctx context.Context, n int) (Batch, error) {
	if n < 1 || n > MaxBatch {
		return Batch{}, &Error{Code: CodeInvalid,
			Err: fmt.Errorf("asked for %d timestamps; one call may ask for 1 to %d", n, MaxBatch)}
	}
	t := s.term.Load()
	if t == nil {
		return Batch{}, s.notLeader()
	}
	// More than one turn is needed only if the clock leaps over a whole window between reservation and use.
	for range 8 {
		b, ok := t.take(s.now(), n)
		if ok {
			return s.release(ctx, t, b)
		}
		if err := t.awaitRaise(ctx); err != nil {
			return Batch{}, err
		}
	}
	return Batch{}, &Error{Code: CodeUnavailable, Epoch: t.epoch(),
		Err: errors.New("the clock outruns the reserved timestamps; check the machine's time service")}
}

// tryNext is Next where it need not wait; ok is false where it would have to, or fail.
func (s *Server) tryNext(n int) (Batch, bool) {
	t := s.term.Load()
	if t == nil {
		return Batch{}, false
	}
	b, ok := t.take(s.now(), n)
	if !ok {
		return Batch{}, false
	}
	if s.opts.afterTake != nil {
		s.opts.afterTake()
	}
	if !t.valid() {
		s.stats.withheld.Add(1)
		return Batch{}, false
	}
	return b, s.opts.Lease == nil || s.opts.Lease.Leased()
}

// leads reports whether there is a term.
func (s *Server) leads() bool { return s.term.Load() != nil }

// release is the gate of invariant O3 (DESIGN.md): timestamps already taken leave the server only if its
// leadership was held at some moment after they were taken. A leader that was paused in between, for however
// long, answers nothing.
func (s *Server) release(ctx context.Context, t *term, b Batch) (Batch, error) {
	if s.opts.afterTake != nil {
		s.opts.afterTake()
	}
	if !t.valid() {
		s.stats.withheld.Add(1)
		return Batch{}, &Error{Code: CodeFenced, Leader: s.leaderHint(), Epoch: t.epoch()}
	}
	if s.opts.Lease == nil {
		return b, nil
	}
	if err := s.opts.Lease.Lease(ctx); err != nil {
		s.stats.withheld.Add(1)
		return Batch{}, &Error{Code: CodeFenced, Leader: s.leaderHint(), Epoch: t.epoch(), Err: err}
	}
	return b, nil
}

// SetSafePoint raises the point below which old versions may be collected, and returns the one in force: a
// safe point never goes down, so a lower one than the present is answered with the present. It is durable
// before it is returned.
func (s *Server) SetSafePoint(ctx context.Context, ts kv.Timestamp) (kv.Timestamp, error) {
	t := s.term.Load()
	if t == nil {
		return 0, s.notLeader()
	}
	return t.setSafePoint(ctx, ts)
}

func (s *Server) now() kv.Timestamp { return kv.TimestampAt(s.opts.Clock.Now()) }

func (s *Server) leaderHint() string {
	if p := s.leader.Load(); p != nil && *p != s.opts.Address {
		return *p
	}
	return ""
}

func (s *Server) notLeader() error { return &Error{Code: CodeNotLeader, Leader: s.leaderHint()} }

// observe keeps the hint for those who ask the wrong server.
func (s *Server) observe(ctx context.Context) {
	for b := (backoff{}); ctx.Err() == nil; b.wait(ctx) {
		err := s.election.Observe(ctx, func(l coord.Leader) {
			addr := string(l.Value)
			s.leader.Store(&addr)
		})
		if ctx.Err() == nil {
			s.opts.Logger.Warn("cannot observe the oracle's election", "err", err)
		}
	}
}

// backoff is a bounded pause between attempts; its bound of attempts is the context.
type backoff struct{ d time.Duration }

func (b *backoff) wait(ctx context.Context) {
	b.d = min(max(2*b.d, time.Millisecond), 200*time.Millisecond)
	t := time.NewTimer(b.d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
