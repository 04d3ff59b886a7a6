// Package coordtest holds every coord.Service to the promises C1-C6 of package coord.
package coordtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"moka/kv/coord"
)

// Setup is one service under test.
type Setup struct {
	Service coord.Service
	// Advance lets d pass for the service: a manual clock moves, or the test really waits.
	Advance func(d time.Duration)
}

// Run runs the suite. New makes an empty service and has it closed by t.Cleanup. To keep the suite quick, give the service small
// watch buffers and a short history.
func Run(t *testing.T, new func(t *testing.T) Setup) {
	tests := []struct {
		name string
		f    func(*suite)
	}{
		{"KeysAndRevisions", testKeys},
		{"ListPrefix", testList},
		{"TxnAtomic", testTxn},
		{"TxnInvalid", testInvalid},
		{"BytesAreCopied", testCopies},
		{"CanceledContext", testCanceled},
		{"SessionLife", testSessionLife},
		{"SessionExpiry", testSessionExpiry},
		{"SessionClose", testSessionClose},
		{"SessionIDsUnique", testSessionIDs},
		{"EphemeralBecomesLasting", testEphemeralLasting},
		{"WatchOrder", testWatchOrder},
		{"WatchPast", testWatchPast},
		{"WatchOverflow", testWatchOverflow},
		{"WatchTooFarBack", testWatchTooFarBack},
		{"WatchEnds", testWatchEnds},
		{"WatchExpiry", testWatchExpiry},
		{"ConcurrentCAS", testConcurrentCAS},
		{"ElectionOne", testElectionOne},
		{"ElectionFence", testElectionFence},
		{"ElectionResign", testElectionResign},
		{"ElectionObserve", testElectionObserve},
		{"ElectionCandidateEnds", testElectionCandidateEnds},
		{"ElectionStorm", testElectionStorm},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			// Nothing here should take seconds; the bound turns a hang into a failure with a stack.
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			tc.f(&suite{T: t, Setup: new(t), ctx: ctx})
		})
	}
}

type suite struct {
	*testing.T
	Setup
	ctx context.Context
}

func (s *suite) txn(conds []coord.Cond, ops ...coord.Op) coord.Revision {
	s.Helper()
	rev, err := s.Service.Txn(s.ctx, conds, ops)
	if err != nil {
		s.Fatalf("txn: %v", err)
	}
	return rev
}

func (s *suite) put(key, value string) coord.Revision {
	s.Helper()
	return s.txn(nil, coord.Put(key, []byte(value)))
}

func (s *suite) get(key string) coord.KV {
	s.Helper()
	kv, err := s.Service.Get(s.ctx, key)
	if err != nil {
		s.Fatalf("get %q: %v", key, err)
	}
	return kv
}

func (s *suite) absent(key string) {
	s.Helper()
	if kv, err := s.Service.Get(s.ctx, key); !errors.Is(err, coord.ErrNotFound) {
		s.Fatalf("get %q = %v, %v; want ErrNotFound", key, kv, err)
	}
}

func (s *suite) session(ttl time.Duration) coord.Session {
	s.Helper()
	sess, err := s.Service.NewSession(s.ctx, ttl)
	if err != nil {
		s.Fatalf("new session: %v", err)
	}
	return sess
}

func (s *suite) alive(id coord.SessionID) bool {
	s.Helper()
	ok, err := s.Service.Alive(s.ctx, id)
	if err != nil {
		s.Fatalf("alive %d: %v", id, err)
	}
	return ok
}

func (s *suite) done(sess coord.Session) {
	s.Helper()
	select {
	case <-sess.Done():
	case <-s.ctx.Done():
		s.Fatalf("session %d did not end", sess.ID())
	}
}

func (s *suite) watch(prefix string, after coord.Revision) coord.Watcher {
	s.Helper()
	w, err := s.Service.Watch(s.ctx, prefix, after)
	if err != nil {
		s.Fatalf("watch %q after %d: %v", prefix, after, err)
	}
	s.Cleanup(w.Close)
	return w
}

func (s *suite) next(w coord.Watcher) coord.Event {
	s.Helper()
	select {
	case ev, ok := <-w.Events():
		if !ok {
			s.Fatalf("watcher ended: %v", w.Err())
		}
		return ev
	case <-s.ctx.Done():
		s.Fatal("no event")
	}
	panic("unreachable")
}

func (s *suite) wantErr(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("error %v, want %v", err, want)
	}
}

func show(ev coord.Event) string {
	return fmt.Sprintf("%v %s=%s @%d", ev.Type, ev.KV.Key, ev.KV.Value, ev.KV.ModRev)
}

func testKeys(s *suite) {
	s.absent("a")
	r1 := s.put("a", "1")
	if kv := s.get("a"); string(kv.Value) != "1" || kv.CreateRev != r1 || kv.ModRev != r1 || kv.Session != 0 || kv.Key != "a" {
		s.Fatalf("after create at %d: %+v", r1, kv)
	}
	r2 := s.put("a", "")
	if r2 <= r1 {
		s.Fatalf("revision %d after %d", r2, r1)
	}
	if kv := s.get("a"); len(kv.Value) != 0 || kv.CreateRev != r1 || kv.ModRev != r2 {
		s.Fatalf("after update at %d: %+v", r2, kv)
	}
	r3 := s.txn(nil, coord.Delete("a"))
	s.absent("a")
	r4 := s.put("a", "3")
	if kv := s.get("a"); kv.CreateRev != r4 || r4 <= r3 || r3 <= r2 {
		s.Fatalf("recreated at %d (deleted at %d): %+v", r4, r3, kv)
	}
	s.txn(nil, coord.Delete("never was")) // no error
}

func testList(s *suite) {
	for _, k := range []string{"n/b", "n/a", "m", "n/c", "o", "n"} {
		s.put(k, k)
	}
	last := s.txn(nil, coord.Delete("n/b"))
	kvs, rev, err := s.Service.List(s.ctx, "n/")
	if err != nil {
		s.Fatal(err)
	}
	got := ""
	for _, kv := range kvs {
		got += kv.Key + "=" + string(kv.Value) + " "
	}
	if got != "n/a=n/a n/c=n/c " || rev != last {
		s.Fatalf("list = %q at %d, want the two keys at %d", got, rev, last)
	}
	all, _, err := s.Service.List(s.ctx, "")
	if err != nil || len(all) != 5 {
		s.Fatalf("list all: %d keys, %v", len(all), err)
	}
}

func testTxn(s *suite) {
	rev := s.txn([]coord.Cond{coord.Absent("a"), coord.Absent("b")}, coord.Put("a", []byte("1")), coord.Put("b", []byte("1")))
	if a, b := s.get("a"), s.get("b"); a.ModRev != rev || b.ModRev != rev {
		s.Fatalf("one transaction, revisions %d and %d, returned %d", a.ModRev, b.ModRev, rev)
	}
	// One failing condition among good ones: nothing happens, and the revision stays.
	conds := []coord.Cond{coord.AtModRev("a", rev), coord.AtCreateRev("b", rev), coord.Absent("a")}
	_, err := s.Service.Txn(s.ctx, conds, []coord.Op{coord.Put("a", []byte("2")), coord.Delete("b"), coord.Put("c", nil)})
	s.wantErr(err, coord.ErrConflict)
	var e *coord.Error
	if !errors.As(err, &e) || e.Key != "a" {
		s.Fatalf("conflict does not name the key: %v", err)
	}
	s.absent("c")
	if a, b := s.get("a"), s.get("b"); string(a.Value) != "1" || string(b.Value) != "1" {
		s.Fatalf("failed transaction changed %v %v", a, b)
	}
	now := s.txn([]coord.Cond{coord.AtModRev("a", rev)})
	if now != rev {
		s.Fatalf("revision %d after a failed and an empty transaction, want %d", now, rev)
	}
	rev2 := s.txn([]coord.Cond{coord.AtModRev("a", rev)}, coord.Put("a", []byte("2")))
	_, err = s.Service.Txn(s.ctx, []coord.Cond{coord.AtModRev("a", rev)}, nil)
	s.wantErr(err, coord.ErrConflict)
	s.txn([]coord.Cond{coord.AtCreateRev("a", rev), coord.AtModRev("a", rev2)})
	// Gone and back is another key to a condition on its creation.
	s.txn(nil, coord.Delete("a"))
	s.txn([]coord.Cond{coord.Absent("a")}, coord.Put("a", []byte("2")))
	_, err = s.Service.Txn(s.ctx, []coord.Cond{coord.AtCreateRev("a", rev)}, nil)
	s.wantErr(err, coord.ErrConflict)
}

func testInvalid(s *suite) {
	many := make([]coord.Op, 1000)
	for i := range many {
		many[i] = coord.Put(fmt.Sprint(i), nil)
	}
	for name, ops := range map[string][]coord.Op{
		"empty key":    {coord.Put("", nil)},
		"zero byte":    {coord.Put("a\x00b", nil)},
		"long key":     {coord.Put(string(make([]byte, 5000)), nil)},
		"long value":   {coord.Put("a", make([]byte, 1<<20))},
		"twice":        {coord.Put("a", nil), coord.Delete("a")},
		"too many":     many,
		"no operation": {{Key: "a"}},
	} {
		if _, err := s.Service.Txn(s.ctx, nil, ops); !errors.Is(err, coord.ErrInvalid) {
			s.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	_, err := s.Service.Txn(s.ctx, []coord.Cond{{Key: "a"}}, nil)
	s.wantErr(err, coord.ErrInvalid)
	_, err = s.Service.NewSession(s.ctx, 0)
	s.wantErr(err, coord.ErrInvalid)
	s.absent("a")
}

func testCopies(s *suite) {
	in := []byte("value")
	s.txn(nil, coord.Put("a", in))
	w := s.watch("", 0)
	in[0] = 'X'
	s.get("a").Value[0] = 'Y'
	kvs, _, err := s.Service.List(s.ctx, "")
	if err != nil {
		s.Fatal(err)
	}
	kvs[0].Value[0] = 'Z'
	s.next(w).KV.Value[0] = 'W'
	if v := string(s.get("a").Value); v != "value" {
		s.Fatalf("stored value is %q: somebody's slice is shared", v)
	}
	if v := string(s.next(s.watch("", 0)).KV.Value); v != "value" {
		s.Fatalf("event value is %q: somebody's slice is shared", v)
	}
}

func testCanceled(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	_, err := s.Service.Txn(ctx, nil, []coord.Op{coord.Put("a", nil)})
	s.wantErr(err, context.Canceled)
	_, err = s.Service.Get(ctx, "a")
	s.wantErr(err, context.Canceled)
	_, err = s.Service.NewSession(ctx, time.Second)
	s.wantErr(err, context.Canceled)
	_, err = s.Service.Alive(ctx, 1)
	s.wantErr(err, context.Canceled)
	s.absent("a")
}

func testConcurrentCAS(s *suite) {
	const workers, each = 8, 25
	start := s.put("n", "")
	w := s.watch("n", start)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for done := 0; done < each; {
				kv, err := s.Service.Get(s.ctx, "n")
				if err != nil {
					s.Error(err)
					return
				}
				_, err = s.Service.Txn(s.ctx, []coord.Cond{coord.AtModRev("n", kv.ModRev)}, []coord.Op{coord.Put("n", append(kv.Value, 'x'))})
				switch {
				case err == nil:
					done++
				case !errors.Is(err, coord.ErrConflict):
					s.Error(err)
					return
				}
			}
		})
	}
	// The watcher runs along: it sees each increment once, in order.
	for want := 1; want <= workers*each && !s.Failed(); want++ {
		if ev := s.next(w); len(ev.KV.Value) != want {
			s.Fatalf("event %d shows %d", want, len(ev.KV.Value))
		}
	}
	wg.Wait()
	if n := len(s.get("n").Value); n != workers*each {
		s.Fatalf("%d increments survived of %d", n, workers*each)
	}
}
