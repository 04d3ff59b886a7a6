package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
)

// text is the message of the test commands.
type text struct{ s string }

func (m *text) AppendTo(b []byte) []byte { return append(b, m.s...) }
func (m *text) Decode(b []byte) error    { m.s = string(b); return nil }

const (
	readCmd  kv.CommandID = 1
	writeCmd kv.CommandID = 2
)

type commands map[kv.CommandID]kv.Command

func (c commands) Command(id kv.CommandID) (kv.Command, bool) { cmd, ok := c[id]; return cmd, ok }

func newText() kv.Message { return new(text) }

var testCommands = commands{
	readCmd:  {ID: readCmd, Name: "test.Read", NewRequest: newText, NewResponse: newText},
	writeCmd: {ID: writeCmd, Name: "test.Write", Write: true, NewRequest: newText, NewResponse: newText},
}

// world is a cluster on paper: the tablet map as it is, and the map as METADATA has it. It is the Locator and the Remote
// of the client under test.
type world struct {
	mu      sync.Mutex
	tablets []kv.Tablet // by start
	meta    []kv.Tablet
	leaders map[kv.ShardID]kv.NodeID
	// term and replicas are those of all shards; asked counts the questions for them.
	term     uint64
	replicas []kv.NodeID
	asked    int
	lookups  int
	// failures are given out, one to each call, before anything else happens.
	failures []error
	calls    []kv.NodeID
	// onLookup, if set, runs before a lookup, without the lock.
	onLookup func(ctx context.Context) error
}

func tablet(id kv.TabletID, gen uint64, start, end string, shard kv.ShardID, node kv.NodeID) kv.Tablet {
	return kv.Tablet{ID: id, Generation: gen, Span: kv.Span{Start: kv.RowKey(start), End: kv.RowKey(end)}, Shard: shard, Node: node}
}

func newWorld(tablets ...kv.Tablet) *world {
	w := &world{tablets: tablets, meta: tablets, leaders: make(map[kv.ShardID]kv.NodeID)}
	for _, t := range tablets {
		w.leaders[t.Shard] = t.Node
	}
	return w
}

// become changes the map; METADATA follows with publish.
func (w *world) become(tablets ...kv.Tablet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tablets = tablets
	for _, t := range tablets {
		w.leaders[t.Shard] = t.Node
	}
}

func (w *world) publish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.meta = w.tablets
}

func (w *world) Lookup(ctx context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	if w.onLookup != nil {
		if err := w.onLookup(ctx); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lookups++
	for _, t := range w.meta {
		if t.Span.Contains(row) {
			return []kv.Tablet{t}, nil
		}
	}
	return nil, kv.Errorf(kv.CodeNotFound, "lookup", "no tablet")
}

func (w *world) Shards(context.Context) (map[kv.ShardID]Shard, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	shards := make(map[kv.ShardID]Shard)
	for id, n := range w.leaders {
		shards[id] = Shard{Node: n, Term: w.term, Replicas: w.replicas}
	}
	return shards, nil
}

// Call answers like a node: it refuses what does not hold, and says what does.
func (w *world) Call(_ context.Context, node kv.NodeID, shard kv.ShardID, refs []kv.TabletRef, _ kv.CommandID, req kv.Message) (kv.Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, node)
	if len(w.failures) > 0 {
		err := w.failures[0]
		w.failures = w.failures[1:]
		return nil, err
	}
	moved := kv.Errorf(kv.CodeMoved, "world", "not here")
	for _, r := range refs {
		ok := false
		for _, t := range w.tablets {
			ok = ok || t.ID == r.ID && t.Generation == r.Generation && t.Shard == shard && w.leaders[shard] == node
		}
		if !ok {
			moved.Tablets = w.tablets
			return nil, moved
		}
	}
	return &text{fmt.Sprintf("%d:%s", node, req.(*text).s)}, nil
}

func (w *world) client(t testing.TB) *Client {
	t.Helper()
	c, err := New(w, testCommands, Options{Remote: w})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func locate(t *testing.T, c *Client, row string) kv.Tablet {
	t.Helper()
	found, err := c.Locate(t.Context(), kv.RowKey(row))
	if err != nil {
		t.Fatalf("locate %s: %v", row, err)
	}
	return found
}

func call(ctx context.Context, c *Client, t kv.Tablet, cmd kv.CommandID) (string, error) {
	resp, err := c.Call(ctx, t.Shard, []kv.TabletRef{{ID: t.ID, Generation: t.Generation}}, cmd, &text{"x"})
	if err != nil {
		return "", err
	}
	return resp.(*text).s, nil
}

func TestLocateAsksOnce(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "m", 1, 1), tablet(2, 1, "m", "", 2, 1))
	c := w.client(t)
	for _, row := range []string{"a", "b", "lzz", "", "m", "z"} {
		want := w.tablets[0]
		if row >= "m" {
			want = w.tablets[1]
		}
		if got := locate(t, c, row); got.ID != want.ID {
			t.Errorf("%q is in tablet %d, want %d", row, got.ID, want.ID)
		}
	}
	if w.lookups != 2 {
		t.Errorf("%d lookups for two tablets", w.lookups)
	}
}

func TestCallersShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(tablet(1, 1, "", "", 1, 1))
		open := make(chan struct{})
		w.onLookup = func(ctx context.Context) error {
			select {
			case <-open:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c := w.client(t)
		first, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { _, err := c.Locate(first, kv.RowKey("a")); gone <- err }()
		synctest.Wait()
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { locate(t, c, fmt.Sprint(i)) })
		}
		synctest.Wait()
		cancel() // the one who asked goes; the others must not notice
		if err := <-gone; !errors.Is(err, context.Canceled) || !errors.Is(err, kv.ErrUnavailable) {
			t.Errorf("the one who left got %v", err)
		}
		close(open)
		wg.Wait()
		if w.lookups != 1 {
			t.Errorf("%d lookups", w.lookups)
		}
	})
}

func TestLookupThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(tablet(1, 1, "", "", 1, 1))
		w.onLookup = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		_, err := w.client(t).Locate(t.Context(), kv.RowKey("a"))
		if !errors.Is(err, kv.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	})
}

func TestMovedCorrectsTheCache(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "", 1, 1))
	c := w.client(t)
	old := locate(t, c, "x")
	w.become(tablet(1, 2, "", "m", 1, 1), tablet(7, 2, "m", "", 2, 3)) // split; the right half moves to another shard and node
	_, err := call(t.Context(), c, old, writeCmd)
	if !errors.Is(err, kv.ErrMoved) {
		t.Fatalf("got %v", err)
	}
	now := locate(t, c, "x")
	if now.ID != 7 || now.Generation != 2 || now.Shard != 2 {
		t.Errorf("after the correction x is in %+v", now)
	}
	if got, err := call(t.Context(), c, now, writeCmd); err != nil || got != "3:x" {
		t.Errorf("%q, %v", got, err)
	}
	if w.lookups != 1 {
		t.Errorf("%d lookups; the error had everything", w.lookups)
	}
}

func TestNewLeaderIsNoBusinessOfTheCaller(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "", 1, 1))
	c := w.client(t)
	at := locate(t, c, "x")
	w.become(tablet(1, 1, "", "", 1, 2)) // the same tablet in the same generation, led elsewhere
	if got, err := call(t.Context(), c, at, writeCmd); err != nil || got != "2:x" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMetadataThatLags(t *testing.T) {
	for name, catchesUp := range map[string]bool{"a moment": true, "for ever": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(tablet(1, 1, "", "", 1, 1))
				c := w.client(t)
				old := locate(t, c, "x")
				w.become(tablet(1, 2, "", "", 1, 1))
				w.failures = []error{kv.Errorf(kv.CodeMoved, "world", "does not say where")}
				if _, err := call(t.Context(), c, old, readCmd); !errors.Is(err, kv.ErrMoved) {
					t.Fatalf("got %v", err)
				}
				if catchesUp {
					go func() {
						time.Sleep(5 * time.Millisecond)
						w.publish()
					}()
				}
				got := locate(t, c, "x")
				if want := uint64(map[bool]int{true: 2, false: 1}[catchesUp]); got.Generation != want {
					t.Errorf("generation %d, want %d", got.Generation, want)
				}
				if !catchesUp && w.lookups != 1+maxStaleLookups {
					t.Errorf("%d lookups", w.lookups)
				}
			})
		})
	}
}

func TestRetries(t *testing.T) {
	fail := func(codes ...kv.Code) (errs []error) {
		for _, c := range codes {
			errs = append(errs, kv.Errorf(c, "world", "failure"))
		}
		return errs
	}
	for name, c := range map[string]struct {
		failures []error
		want     *kv.Error // nil: success
		calls    int
	}{
		"busy":            {fail(kv.CodeBusy, kv.CodeBusy), nil, 3},
		"unavailable":     {fail(kv.CodeUnavailable, kv.CodeClosed), nil, 3},
		"outcome unknown": {fail(kv.CodeOutcomeUnknown), kv.ErrOutcomeUnknown, 1},
		"internal":        {fail(kv.CodeInternal), &kv.Error{Code: kv.CodeInternal}, 1},
		"disk":            {fail(kv.CodeBusy, kv.CodeDisk), kv.ErrDisk, 2},
		"plain":           {[]error{errors.New("plain")}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(tablet(1, 1, "", "", 1, 1))
				w.failures = c.failures
				cl := w.client(t)
				_, err := call(t.Context(), cl, locate(t, cl, "x"), writeCmd)
				switch {
				case c.want != nil && !errors.Is(err, c.want), c.want == nil && err != nil && name != "plain":
					t.Errorf("got %v, want %v", err, c.want)
				case name == "plain" && (err == nil || err.Error() != "plain"):
					t.Errorf("got %v", err)
				}
				if len(w.calls) != c.calls {
					t.Errorf("%d calls, want %d", len(w.calls), c.calls)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(tablet(1, 1, "", "", 1, 1))
		c := w.client(t)
		at := locate(t, c, "x")
		w.failures = slices.Repeat([]error{kv.Errorf(kv.CodeUnavailable, "world", "gone")}, 10000)
		start := time.Now()
		_, err := call(t.Context(), c, at, readCmd)
		if d := time.Since(start); !errors.Is(err, kv.ErrUnavailable) || d < 5*time.Second || d > 6*time.Second {
			t.Errorf("%v after %v", err, d)
		}
		if n := len(w.calls); n > 100 {
			t.Errorf("%d calls in five seconds is an attack", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err = call(ctx, c, at, readCmd); !errors.Is(err, kv.ErrUnavailable) || time.Since(start) > time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestShardThatLosesItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(tablet(1, 1, "", "", 1, 1))
		c := w.client(t)
		at := locate(t, c, "x")
		w.become(tablet(1, 1, "", "", 1, 2))
		w.failures = []error{kv.Errorf(kv.CodeUnavailable, "world", "node 1 is gone")}
		if got, err := call(t.Context(), c, at, readCmd); err != nil || got != "2:x" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestShards(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "m", 3, 1), tablet(2, 1, "m", "", 1, 1))
	c := w.client(t)
	got, err := c.Shards(t.Context())
	if err != nil || !slices.Equal(got, []kv.ShardID{1, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := c.Call(t.Context(), 3, nil, readCmd, &text{"x"}); err != nil {
		t.Errorf("a call to a shard as a whole: %v", err)
	}
	if _, err := c.Call(t.Context(), 9, nil, readCmd, &text{"x"}); !errors.Is(err, kv.ErrNotFound) {
		t.Errorf("a call to no shard: %v", err)
	}
}

type handlerFunc func(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error)

func (f handlerFunc) Handle(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	return f(ctx, shard, tablets, cmd, req)
}

// In an ordinary build the message itself arrives; in a race build, as over the network, another one.
func TestLocalNodeIsAFunctionCall(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "", 1, 1))
	req, resp := &text{"x"}, &text{"y"}
	var got kv.Message
	local := handlerFunc(func(_ context.Context, _ kv.ShardID, _ []kv.TabletRef, _ kv.CommandID, req kv.Message) (kv.Message, error) {
		got = req
		return resp, nil
	})
	c, err := New(w, testCommands, Options{Node: 1, Local: local})
	if err != nil {
		t.Fatal(err)
	}
	back, err := c.Call(t.Context(), 1, nil, readCmd, req)
	if err != nil {
		t.Fatal(err)
	}
	if same := got == kv.Message(req) && back == kv.Message(resp); same == isolate {
		t.Errorf("the same messages: %v, race build: %v", same, isolate)
	}
	if got.(*text).s != "x" || back.(*text).s != "y" {
		t.Errorf("got %v and %v", got, back)
	}
	w.become(tablet(1, 1, "", "", 1, 2))
	c.opts.RetryFor = 0
	if _, err := c.Shards(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), 1, nil, readCmd, req); !errors.Is(err, kv.ErrUnavailable) {
		t.Errorf("a shard elsewhere, and no way there: %v", err)
	}
	if m := c.Metrics(); m.Local != 1 || m.Remote != 0 {
		t.Errorf("metrics %v", m)
	}
}

func TestClosedLocalNodeIsFinal(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "", 1, 1))
	calls := 0
	c, err := New(w, testCommands, Options{Node: 1, Local: handlerFunc(func(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error) {
		calls++
		return nil, kv.Errorf(kv.CodeClosed, "node", "closed")
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), 1, nil, readCmd, &text{}); !errors.Is(err, kv.ErrClosed) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestClientNeedsANode(t *testing.T) {
	if _, err := New(newWorld(), testCommands, Options{}); err == nil {
		t.Error("a client without any node")
	}
}
