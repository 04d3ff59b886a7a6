package client

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"moka/kv"
)

func notLeader(node kv.NodeID, term uint64) error {
	return kv.NotLeader("world", kv.Lead{Shard: 1, Node: node, Term: term})
}

// A shard of three replicas on nodes 1 to 3, led by 1 in term 5, for all that the client has heard; the
// failures come first, then whoever is asked answers.
func TestCallFollowsTheLead(t *testing.T) {
	down := kv.Errorf(kv.CodeUnavailable, "world", "does not answer")
	for name, c := range map[string]struct {
		failures []error
		asked    []kv.NodeID
		pauses   uint64
		later    []kv.NodeID // by the next call
	}{
		"named":                {[]error{notLeader(3, 6)}, []kv.NodeID{1, 3}, 0, []kv.NodeID{3}},
		"named twice":          {[]error{notLeader(3, 6), notLeader(2, 7)}, []kv.NodeID{1, 3, 2}, 0, []kv.NodeID{2}},
		"named with no term":   {[]error{notLeader(0, 6)}, []kv.NodeID{1, 2}, 0, []kv.NodeID{2}},
		"an older term's name": {[]error{notLeader(3, 6), notLeader(2, 5)}, []kv.NodeID{1, 3, 2}, 0, []kv.NodeID{2}},
		// 3 is next as the one replica that is left, not because 2 names 1 again: that was in an older term.
		"in circles":      {[]error{notLeader(2, 6), notLeader(1, 5)}, []kv.NodeID{1, 2, 3}, 0, []kv.NodeID{3}},
		"dead":            {[]error{down}, []kv.NodeID{1, 2}, 0, []kv.NodeID{2}},
		"dead, named":     {[]error{down, notLeader(3, 6)}, []kv.NodeID{1, 2, 3}, 0, []kv.NodeID{3}},
		"an election":     {[]error{down, notLeader(0, 0), notLeader(0, 0)}, []kv.NodeID{1, 2, 3, 1}, 1, []kv.NodeID{1}},
		"a long one":      {[]error{down, notLeader(0, 0), notLeader(0, 0), down, notLeader(3, 7)}, []kv.NodeID{1, 2, 3, 1, 2, 3}, 1, []kv.NodeID{3}},
		"it names itself": {[]error{notLeader(1, 5)}, []kv.NodeID{1, 2}, 0, []kv.NodeID{2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(tablet(1, 1, "", "", 1, 1))
				w.term, w.replicas = 5, []kv.NodeID{1, 2, 3}
				cl := w.client(t)
				if _, err := cl.Shards(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.failures = c.failures
				if _, err := cl.Call(t.Context(), 1, nil, writeCmd, &text{"x"}); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(w.calls, c.asked) || cl.Metrics().Retries != c.pauses {
					t.Errorf("asked %v with %d pauses, want %v with %d", w.calls, cl.Metrics().Retries, c.asked, c.pauses)
				}
				w.calls = nil
				if _, err := cl.Call(t.Context(), 1, nil, writeCmd, &text{"x"}); err != nil || !slices.Equal(w.calls, c.later) {
					t.Errorf("later %v, %v, want %v", w.calls, err, c.later)
				}
			})
		})
	}
}

// What the cluster says of all shards is a hint with a term as well: a node that has slept does not undo what
// is known.
func TestOldNewsOfTheClusterIsNone(t *testing.T) {
	w := newWorld(tablet(1, 1, "", "", 1, 1))
	w.term, w.replicas = 5, []kv.NodeID{1, 2}
	c := w.client(t)
	if _, err := c.Shards(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !c.cache.heard(kv.Lead{Shard: 1, Node: 2, Term: 6}) {
		t.Error("a later term is no news")
	}
	if _, err := c.Shards(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, _ := c.cache.node(1); n != 2 {
		t.Errorf("led by node %d", n)
	}
	c.cache.add([]kv.Tablet{tablet(1, 2, "", "", 1, 1)}, true)
	if n, _ := c.cache.node(1); n != 2 {
		t.Errorf("led by node %d after a tablet named another, with no term", n)
	}
	w.term, w.leaders[1] = 7, 1
	if _, err := c.Shards(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, _ := c.cache.node(1); n != 1 {
		t.Errorf("led by node %d, although term 7 has another", n)
	}
}

// A shard that nobody leads keeps its callers for a bounded time, and the answer says so: nothing happened.
func TestNobodyLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(tablet(1, 1, "", "", 1, 1))
		w.term, w.replicas = 5, []kv.NodeID{1, 2, 3}
		for range 10_000 {
			w.failures = append(w.failures, notLeader(0, 0))
		}
		c := w.client(t)
		_, err := c.Call(t.Context(), 1, nil, writeCmd, &text{"x"})
		if kv.CodeOf(err) != kv.CodeUnavailable || !errors.Is(err, kv.ErrNotLeader) {
			t.Errorf("got %v", err)
		}
		if r, n := c.Metrics().Retries, len(w.calls); r < 10 || uint64(n) > 3*(r+1) {
			t.Errorf("%d calls and %d pauses in five seconds", n, r)
		}
	})
}
