package engine_test

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"moka/kv"
)

// What is let in while there is room must fit, all of it together. Pieces of large transactions that came at
// the same time were all let in, used up the ballast and ended the process, which could not be started then.
func TestWhatIsUnderWayFits(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	o := roomOptions(d, t)
	o.MemTableBytes = 64 * mebibyte          // the ballast makes it smaller
	o.Fatal = func(err error) { panic(err) } // who writes would wait for ever
	e := mustOpen(t, "data", o)
	d.leave(20 * mebibyte)
	const writers, pieces, piece = 8, 4, 2 * mebibyte
	var granted, refused atomic.Int64
	var acked sync.Map
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			value := make([]byte, piece)
			random := rand.NewChaCha8([32]byte{byte(w)})
			for i := range pieces {
				random.Read(value)
				if err := e.Room(kv.Adds, 0); err != nil {
					refused.Add(1)
					continue
				}
				if err := e.Enter(kv.Adds, piece, 0); err != nil {
					wantError(t, err, kv.ErrDiskFull, "delete rows")
					refused.Add(1)
					continue
				}
				put(t, e, w*pieces+i, string(value))
				e.Leave(piece)
				acked.Store(w*pieces+i, true)
				granted.Add(1)
			}
		})
	}
	wg.Wait()
	if granted.Load() < 3 || refused.Load() == 0 {
		t.Errorf("%d pieces had room, %d had none", granted.Load(), refused.Load())
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Errorf("what was let in does not fit into tables: %v", err)
	}
	if there(d) {
		d.leave(0)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, "data", o)
	acked.Range(func(i, _ any) bool {
		if _, ok, err := e.Get(key(i.(int))); !ok || err != nil {
			t.Errorf("piece %d is lost (%v)", i, err)
		}
		return true
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a batch is let in with is given back when it is applied, and when it is refused, and what was promised
// to its commit when that has come. The ends of what has begun are never refused. Who is refused by himself
// does not begin the state.
func TestEnter(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t)) // 8 MiB of ballast, the low mark is 4
	d.leave(24 * mebibyte)                      // so there are 28, but a memtable
	for range 100 {
		if err := e.Enter(kv.Adds, 4*mebibyte, 0); err != nil {
			t.Fatal(err)
		}
		e.Leave(4 * mebibyte)
		wantError(t, e.Enter(kv.Adds, 12*mebibyte, 4*mebibyte), kv.ErrDiskFull,
			"no room for 28.0 MiB more", "write less at a time")
		wantError(t, e.Enter(kv.Deletes, 12*mebibyte, 4*mebibyte), kv.ErrDiskFull, "fewer at a time")
	}
	enter := func(g kv.Growth, n, later int) {
		t.Helper()
		if err := e.Enter(g, n, later); err != nil {
			t.Fatal(err)
		}
	}
	enter(kv.Adds, 6*mebibyte, 0)
	wantError(t, e.Enter(kv.Adds, 8*mebibyte, 0), kv.ErrDiskFull) // beside the first
	enter(kv.Ends, 100*mebibyte, 0)
	enter(kv.Collects, 100*mebibyte, 0)
	e.Leave(206 * mebibyte)
	for range 3 {
		enter(kv.Adds, mebibyte, 12*mebibyte)
		e.Leave(mebibyte)
		wantError(t, e.Enter(kv.Adds, 8*mebibyte, 0), kv.ErrDiskFull) // its commit will come
		if err := e.Room(kv.Ends, 12*mebibyte); err != nil {
			t.Fatal(err)
		}
		enter(kv.Adds, 8*mebibyte, 0)
		e.Leave(8 * mebibyte)
	}
	if err := e.Room(kv.Ends, 1<<40); err != nil { // more than was promised
		t.Fatal(err)
	}
	wantError(t, e.Enter(kv.Adds, 14*mebibyte, 0), kv.ErrDiskFull)
	if err := e.Room(kv.Adds, 0); err != nil || !there(d) {
		t.Fatalf("the state has begun: %v", err)
	}
	d.leave(2 * mebibyte)
	awaitRoom(t, e, true)
	wantError(t, e.Enter(kv.Adds, 1, 0), kv.ErrDiskFull, "nothing is added before")
	if err := e.Room(kv.Deletes, mebibyte); err != nil {
		t.Fatal(err)
	}
	enter(kv.Deletes, mebibyte, mebibyte)
	e.Leave(mebibyte)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// A table that is written beside the store leaves room for what is written to it.
func TestTablesLeaveRoom(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t))
	d.leave(20 * mebibyte)
	tables := e.NewTables()
	value := make([]byte, 64<<10)
	random := rand.NewChaCha8([32]byte{3})
	var err error
	n := 0
	for ; err == nil && n < 400; n++ {
		random.Read(value)
		err = tables.Set(key(n), value)
	}
	wantError(t, err, kv.ErrDiskFull)
	if n < 100 {
		t.Errorf("%d values of 64 KiB had room", n)
	}
	u, _ := d.GetDiskUsage("")
	if there(d) {
		u.AvailBytes += 8 * mebibyte
	}
	if u.AvailBytes < 7*mebibyte {
		t.Errorf("%d bytes are left", u.AvailBytes)
	}
	tables.Discard()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a replica has taken of its leader's entries counts until it is applied, on a full disk and before.
func TestTakenEntriesCount(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t)) // 8 MiB of ballast, the low mark is 4
	d.leave(24 * mebibyte)
	take := func() (taken int) {
		for taken < 100 && e.Enter(kv.Follows, mebibyte, 0) == nil {
			taken++
		}
		return taken
	}
	for range 3 { // what is refused does not count, either
		if n := take(); n != 13 { // twice, in 24 and 8, but 4 and a memtable
			t.Errorf("before the disk is full %d MiB are taken", n)
		}
		wantError(t, e.Enter(kv.Follows, mebibyte, 0), kv.ErrDiskFull)
		if err := e.Enter(kv.Ends, 1<<30, 0); err != nil {
			t.Error(err)
		}
		e.Leave(1<<30 + 13*mebibyte)
	}
	d.leave(2 * mebibyte)
	awaitRoom(t, e, true)
	await(t, "the ballast is given up", func() bool { return !there(d) })
	for range 3 {
		if n := take(); n != 4 { // in 10, but an eighth of the ballast and a memtable
			t.Errorf("when the disk is full %d MiB are taken", n)
		}
		wantError(t, e.Room(kv.Deletes, mebibyte), kv.ErrDiskFull) // for which there is none beside that
		e.Leave(4 * mebibyte)
		if err := e.Room(kv.Collects, 0); err != nil {
			t.Error(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o := roomOptions(d, t)
	o.Ballast = 0 // nothing is refused then
	d.leave(20 * mebibyte)
	e = mustOpen(t, "data", o)
	if err := e.Enter(kv.Follows, 1<<40, 0); err != nil {
		t.Error(err)
	}
	e.Leave(1 << 40)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
