package coordtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"moka/kv/coord"
)

func testWatchOrder(s *suite) {
	w := s.watch("w/", 0)
	r1 := s.put("w/a", "1")
	s.put("x", "outside")
	r2 := s.txn(nil, coord.Put("w/a", []byte("2")), coord.Put("w/b", []byte("2")), coord.Put("x", nil))
	r3 := s.txn(nil, coord.Delete("w/a"), coord.Delete("w/none"))
	want := []string{
		fmt.Sprintf("put w/a=1 @%d", r1),
		fmt.Sprintf("put w/a=2 @%d", r2),
		fmt.Sprintf("put w/b=2 @%d", r2),
		fmt.Sprintf("delete w/a= @%d", r3),
	}
	for _, line := range want {
		if got := show(s.next(w)); got != line {
			s.Fatalf("event %q, want %q", got, line)
		}
	}
	select {
	case ev := <-w.Events():
		s.Fatalf("one event too many: %s", show(ev))
	default:
	}
}

// A list and a watch from its revision meet without gap or overlap.
func testWatchPast(s *suite) {
	s.put("w/a", "1")
	_, rev, err := s.Service.List(s.ctx, "w/")
	if err != nil {
		s.Fatal(err)
	}
	s.put("w/a", "2")
	s.put("w/b", "2")
	w := s.watch("w/", rev)
	s.put("w/c", "3")
	var got []string
	for range 3 {
		ev := s.next(w)
		got = append(got, ev.KV.Key+"="+string(ev.KV.Value))
	}
	if g := strings.Join(got, " "); g != "w/a=2 w/b=2 w/c=3" {
		s.Fatalf("events after %d: %s", rev, g)
	}
}

// A watcher that does not read ends with ErrWatchGap; what it did get is complete up to there.
func testWatchOverflow(s *suite) {
	w := s.watch("w", 0)
	ended := func() bool { return w.Err() != nil }
	for i := 1; !ended(); i++ {
		if i > 20_000 {
			s.Fatal("20000 unread events and no gap: the buffer has no bound")
		}
		s.txn(nil, coord.Put("w1", fmt.Append(nil, i)), coord.Put("w2", fmt.Append(nil, i)))
	}
	s.wantErr(w.Err(), coord.ErrWatchGap)
	n := 0
	for ev := range w.Events() {
		if string(ev.KV.Value) != fmt.Sprint(n/2+1) {
			s.Fatalf("event %d has value %s", n, ev.KV.Value)
		}
		n++
	}
	if n == 0 || n%2 != 0 {
		s.Fatalf("%d events were delivered: a transaction was cut in two", n)
	}
	// The way back is the one the error names.
	_, rev, err := s.Service.List(s.ctx, "w")
	if err != nil {
		s.Fatal(err)
	}
	again := s.watch("w", rev)
	s.put("w1", "after")
	if ev := s.next(again); string(ev.KV.Value) != "after" {
		s.Fatalf("after the gap: %s", show(ev))
	}
}

func testWatchTooFarBack(s *suite) {
	first := s.put("w", "0")
	var err error
	for i := 0; err == nil; i++ {
		if i > 20_000 {
			s.Fatal("20000 changes back and no gap: the history has no bound")
		}
		s.put("w", "1")
		if i%16 == 0 {
			ctx, cancel := context.WithCancel(s.ctx)
			_, err = s.Service.Watch(ctx, "w", first)
			cancel()
		}
	}
	s.wantErr(err, coord.ErrWatchGap)
	// A revision that this store never had belongs to another life of it.
	_, err = s.Service.Watch(s.ctx, "w", s.put("w", "2")+1000)
	s.wantErr(err, coord.ErrWatchGap)
}

func testWatchEnds(s *suite) {
	ctx, cancel := context.WithCancel(s.ctx)
	byCtx, err := s.Service.Watch(ctx, "", 0)
	if err != nil {
		s.Fatal(err)
	}
	byClose := s.watch("", 0)
	s.put("a", "1")
	cancel()
	byClose.Close()
	byClose.Close()
	for _, w := range []coord.Watcher{byCtx, byClose} {
		n := 0
		for range w.Events() { // ends, or the test's own bound does
			n++
		}
		if n > 1 || w.Err() != nil {
			s.Fatalf("%d events, error %v after a wanted end", n, w.Err())
		}
	}
}

func testWatchExpiry(s *suite) {
	sess := s.session(ttl)
	created := s.txn(nil, coord.PutEphemeral("e/1", []byte("x"), sess.ID()), coord.PutEphemeral("e/2", []byte("x"), sess.ID()))
	w := s.watch("e/", created)
	s.Advance(ttl + ttl/10)
	for _, key := range []string{"e/1", "e/2"} {
		ev := s.next(w)
		if ev.Type != coord.EventDelete || ev.KV.Key != key || ev.KV.Session != sess.ID() || ev.KV.CreateRev != created || ev.KV.ModRev <= created {
			s.Fatalf("expiry shows as %s %+v", show(ev), ev.KV)
		}
	}
	if s.alive(sess.ID()) {
		s.Fatal("the event came before the session was dead")
	}
	if errors.Is(w.Err(), coord.ErrWatchGap) {
		s.Fatal(w.Err())
	}
}
