package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv/coord"
	"moka/kv/coord/coordtest"
	"moka/kv/coord/local"
)

var prefix = []byte("\x01coord/")

func TestConformance(t *testing.T) {
	coordtest.Run(t, func(t *testing.T) coordtest.Setup {
		store := openPebble(t, vfs.NewMem())
		clock := coordtest.NewClock()
		svc, err := local.Open(store, prefix, local.Options{Clock: clock, WatchBuffer: 256, History: 64})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(svc.Close(), store.db.Close()); err != nil {
				t.Error(err)
			}
		})
		return coordtest.Setup{Service: svc, Advance: clock.Advance}
	})
}

// process is one life of a service on a file system that can crash.
type process struct {
	*local.Service
	store pebbleStore
	clock *coordtest.Clock
}

func start(t *testing.T, fs vfs.FS) process {
	t.Helper()
	p := process{store: openPebble(t, fs), clock: coordtest.NewClock()}
	var err error
	if p.Service, err = local.Open(p.store, prefix, local.Options{Clock: p.clock}); err != nil {
		t.Fatal(err)
	}
	return p
}

// stop lets go of the process; what is on the file system by then is not looked at by a test that crashed it before.
func (p process) stop(t *testing.T) {
	t.Helper()
	if err := errors.Join(p.Close(), p.store.db.Close()); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, svc coord.Service, op coord.Op) coord.Revision {
	t.Helper()
	rev, err := svc.Txn(t.Context(), nil, []coord.Op{op})
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

func TestRestart(t *testing.T) {
	fs := vfs.NewMem()
	one := start(t, fs)
	ctx := t.Context()
	put(t, one, coord.Put("stays", []byte("v1")))
	stays := put(t, one, coord.Put("stays", []byte("v2")))
	put(t, one, coord.Put("gone", nil))
	put(t, one, coord.Delete("gone"))
	mine, err := one.NewSession(ctx, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := one.NewDetachedSession(ctx, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	silent, err := one.NewDetachedSession(ctx, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	election := coord.NewElection(one, "leader")
	old, err := election.Campaign(ctx, mine, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, one, coord.PutEphemeral("renewed", nil, renewed.ID()))
	last := put(t, one, coord.PutEphemeral("silent", nil, silent.ID()))
	one.stop(t)
	if mine.Valid() || renewed.Valid() {
		t.Error("handles outlive their service")
	}

	two := start(t, fs)
	defer two.stop(t)
	if kv, err := two.Get(ctx, "stays"); err != nil || string(kv.Value) != "v2" || kv.ModRev != stays {
		t.Errorf("stays = %+v, %v", kv, err)
	}
	for _, key := range []string{"gone", "leader"} {
		if _, err := two.Get(ctx, key); !errors.Is(err, coord.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", key, err)
		}
	}
	alive := func(id coord.SessionID) bool {
		ok, err := two.Alive(ctx, id)
		if err != nil {
			t.Error(err)
		}
		return ok
	}
	if alive(mine.ID()) || !alive(renewed.ID()) || !alive(silent.ID()) {
		t.Errorf("alive after restart: own %v, detached %v %v; want false true true", alive(mine.ID()), alive(renewed.ID()), alive(silent.ID()))
	}

	// The watcher of the former life must list again; one that listed now goes on.
	if _, err := two.Watch(ctx, "", last-1); !errors.Is(err, coord.ErrWatchGap) {
		t.Errorf("watch from the former life: %v", err)
	}
	again, err := two.Attach(ctx, renewed.ID())
	if err != nil {
		t.Fatal(err)
	}
	other, err := two.Attach(ctx, silent.ID())
	if err != nil {
		t.Fatal(err)
	}
	two.clock.Advance(8 * time.Second)
	if err := again.KeepAlive(ctx); err != nil {
		t.Fatal(err)
	}
	two.clock.Advance(3 * time.Second)
	<-other.Done()
	if !alive(renewed.ID()) || alive(silent.ID()) {
		t.Errorf("after the fresh ttl: renewed %v, silent %v", alive(renewed.ID()), alive(silent.ID()))
	}
	if _, err := two.Attach(ctx, silent.ID()); !errors.Is(err, coord.ErrSessionExpired) {
		t.Errorf("attach to the dead: %v", err)
	}

	// Revisions, session ids and epochs only grow.
	fresh, err := two.NewSession(ctx, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if uint64(fresh.ID()) <= uint64(last) {
		t.Errorf("session id %d, the former life had got to %d", fresh.ID(), last)
	}
	now, err := coord.NewElection(two, "leader").Campaign(ctx, fresh, []byte("two"))
	if err != nil {
		t.Fatal(err)
	}
	if now.Epoch() <= old.Epoch() {
		t.Errorf("epoch %d after %d", now.Epoch(), old.Epoch())
	}
}

// Random changes; after each, perhaps, the power goes: unsynced bytes survive or not by chance. What was acknowledged is there, as is
// what every reader could see, and nothing else.
func TestCrash(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			fs := vfs.NewCrashableMem()
			p := start(t, fs)
			defer func() { p.stop(t) }()
			var sess coord.Session
			var rev coord.Revision
			for range 60 {
				rev = step(t, rng, p, &sess, rev)
				if rng.IntN(8) != 0 {
					continue
				}
				before, at := list(t, p)
				if at != rev {
					t.Fatalf("revision is %d, the last change returned %d", at, rev)
				}
				crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				p.stop(t)
				fs, sess = crashed, nil
				p = start(t, fs)
				after, at := list(t, p)
				if at < rev || at > rev+1 { // one more if there were sessions to end
					t.Fatalf("revision %d after the crash, was %d", at, rev)
				}
				rev = at
				for key, kv := range before {
					if kv.Session != 0 {
						delete(before, key)
					}
				}
				if !reflect.DeepEqual(before, after) {
					t.Fatalf("after the crash\n%v\nwant\n%v", after, before)
				}
			}
		})
	}
}

func step(t *testing.T, rng *rand.Rand, p process, sess *coord.Session, rev coord.Revision) coord.Revision {
	t.Helper()
	if *sess == nil || rng.IntN(10) == 0 {
		s, err := p.NewSession(t.Context(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		*sess = s
		return coord.Revision(s.ID())
	}
	key := fmt.Sprint("k", rng.IntN(8))
	value := fmt.Appendf(nil, "%d", rng.IntN(1000))
	var op coord.Op
	switch rng.IntN(4) {
	case 0:
		op = coord.Delete(key)
	case 1:
		op = coord.PutEphemeral(key, value, (*sess).ID())
	default:
		op = coord.Put(key, value)
	}
	got := put(t, p, op)
	if got <= rev {
		t.Fatalf("revision %d after %d", got, rev)
	}
	return got
}

func list(t *testing.T, svc coord.Service) (map[string]coord.KV, coord.Revision) {
	t.Helper()
	kvs, rev, err := svc.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]coord.KV)
	for _, kv := range kvs {
		m[kv.Key] = kv
	}
	return m, rev
}

// sick fails its next Apply, after doing it or without.
type sick struct {
	local.Store
	fail, applied bool
}

var errDisk = errors.New("disk is on fire")

func (s *sick) Apply(sets []local.KV, deletes [][]byte) error {
	if !s.fail {
		return s.Store.Apply(sets, deletes)
	}
	if s.applied {
		if err := s.Store.Apply(sets, deletes); err != nil {
			return err
		}
	}
	return errDisk
}

// A change whose write failed is neither done nor undone. The service says so, shows only what is known to be durable, and takes no further
// change: the next one might contradict it.
func TestStoreFails(t *testing.T) {
	for _, applied := range []bool{false, true} {
		t.Run(fmt.Sprint("applied=", applied), func(t *testing.T) {
			ctx := t.Context()
			store := openPebble(t, vfs.NewMem())
			defer store.db.Close()
			s := &sick{Store: store, applied: applied}
			svc, err := local.Open(s, prefix, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			put(t, svc, coord.Put("a", []byte("1")))
			sess, err := svc.NewSession(ctx, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			s.fail = true
			_, err = svc.Txn(ctx, nil, []coord.Op{coord.Put("a", []byte("2"))})
			if !errors.Is(err, coord.ErrOutcomeUnknown) || !errors.Is(err, errDisk) {
				t.Fatalf("txn on a failing disk: %v", err)
			}
			if kv, err := svc.Get(ctx, "a"); err != nil || string(kv.Value) != "1" {
				t.Errorf("a = %s, %v; the new value is not known to be durable", kv.Value, err)
			}
			s.fail = false
			if _, err := svc.Txn(ctx, nil, []coord.Op{coord.Put("b", nil)}); !errors.Is(err, coord.ErrUnavailable) {
				t.Errorf("change after a failure: %v", err)
			}
			if _, err := svc.NewSession(ctx, time.Hour); !errors.Is(err, coord.ErrUnavailable) {
				t.Errorf("session after a failure: %v", err)
			}
			// The end cannot be made durable: the holder knows, the others must not act on it.
			if err := sess.Close(ctx); err != nil {
				t.Error(err)
			}
			if ok, err := svc.Alive(ctx, sess.ID()); !ok || err != nil || sess.Valid() {
				t.Errorf("alive %v, %v; valid %v", ok, err, sess.Valid())
			}
			svc.Close()

			again, err := local.Open(store, prefix, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			want := map[bool]string{false: "1", true: "2"}[applied]
			if kv, err := again.Get(ctx, "a"); err != nil || string(kv.Value) != want {
				t.Errorf("after opening again a = %s, %v; want %s", kv.Value, err, want)
			}
		})
	}
}

// A stalled disk holds up changes and their callers' contexts end the waiting; nothing that only reads waits.
func TestStalledDisk(t *testing.T) {
	store := openPebble(t, vfs.NewMem())
	defer store.db.Close()
	s := &stalled{Store: store, entered: make(chan struct{}), release: make(chan struct{})}
	svc, err := local.Open(s, prefix, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	ctx := t.Context()
	close(s.release)
	sess, err := svc.NewSession(ctx, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.release = make(chan struct{})
	s.stall = true
	first := make(chan error, 1)
	go func() {
		_, err := svc.Txn(ctx, nil, []coord.Op{coord.Put("a", nil)})
		first <- err
	}()
	<-s.entered
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if _, err := svc.Txn(short, nil, []coord.Op{coord.Put("b", nil)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second change: %v", err)
	}
	if ok, err := svc.Alive(ctx, sess.ID()); !ok || err != nil {
		t.Error(ok, err)
	}
	if err := sess.KeepAlive(ctx); err != nil || !sess.Valid() {
		t.Error(err)
	}
	if _, err := svc.Get(ctx, "a"); !errors.Is(err, coord.ErrNotFound) {
		t.Errorf("a change is visible before it is durable: %v", err)
	}
	close(s.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := svc.Get(ctx, "a"); err != nil {
		t.Error(err)
	}
}

type stalled struct {
	local.Store
	stall            bool
	entered, release chan struct{}
}

func (s *stalled) Apply(sets []local.KV, deletes [][]byte) error {
	if s.stall {
		s.entered <- struct{}{}
		<-s.release
	}
	return s.Store.Apply(sets, deletes)
}

func TestDamage(t *testing.T) {
	meta := func(rev byte) local.KV {
		return local.KV{Key: []byte("\x01coord/m\x00"), Value: []byte{1, 0, 0, 0, 0, 0, 0, 0, rev}}
	}
	for name, tc := range map[string]struct {
		sets []local.KV
		want string
	}{
		"newer format":     {[]local.KV{{Key: meta(9).Key, Value: []byte{2, 0}}}, "format version 2"},
		"short meta":       {[]local.KV{{Key: meta(9).Key, Value: []byte{1, 0}}}, "expected 8"},
		"lost meta":        {[]local.KV{{Key: []byte("\x01coord/ka\x00"), Value: []byte{1, 1, 1, 0}}}, "restore it from a backup"},
		"old meta":         {[]local.KV{meta(3), {Key: []byte("\x01coord/ka\x00"), Value: []byte{1, 1, 7, 0}}}, "newer than revision 3"},
		"orphan":           {[]local.KV{meta(9), {Key: []byte("\x01coord/ka\x00"), Value: []byte{1, 1, 2, 5}}}, "session 5, which does not exist"},
		"unknown flag":     {[]local.KV{meta(9), {Key: []byte("\x01coord/s\x00\x00\x00\x00\x00\x00\x00\x05\x00"), Value: []byte{1, 2, 100}}}, "not known to this version"},
		"short session id": {[]local.KV{meta(9), {Key: []byte("\x01coord/sabc\x00"), Value: []byte{1, 0, 100}}}, "expected 8 bytes"},
		"future session":   {[]local.KV{meta(3), {Key: []byte("\x01coord/s\x00\x00\x00\x00\x00\x00\x00\x05\x00"), Value: []byte{1, 0, 100}}}, "newer than revision 3"},
		"short key record": {[]local.KV{meta(9), {Key: []byte("\x01coord/ka\x00"), Value: []byte{1, 1}}}, "cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			store := openPebble(t, vfs.NewMem())
			defer store.db.Close()
			if err := store.Apply(tc.sets, nil); err != nil {
				t.Fatal(err)
			}
			_, err := local.Open(store, prefix, local.Options{})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("open: %v, want a complaint with %q", err, tc.want)
			}
		})
	}
}
