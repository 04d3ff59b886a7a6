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
	d.leave(30 * mebibyte)
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
	d.leave(0) // for its ballast
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

// What a batch is let in with is given back when it is applied, and when it is refused; the ends of what has
// begun are never refused; deletes that have no room begin the state, in which there is more.
func TestEnter(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t)) // 8 MiB of ballast, the low mark is 4
	d.leave(24 * mebibyte)
	enter := func(g kv.Growth, n, later int) error { return e.Enter(g, n, later) }
	for range 100 {
		if err := enter(kv.Adds, 4*mebibyte, 0); err != nil {
			t.Fatal(err)
		}
		e.Leave(4 * mebibyte)
		wantError(t, enter(kv.Adds, 12*mebibyte, 4*mebibyte), kv.ErrDiskFull,
			"no room for 24.0 MiB more", "write less at a time")
	}
	if err := enter(kv.Adds, 6*mebibyte, 0); err != nil {
		t.Fatal(err)
	}
	wantError(t, enter(kv.Adds, 6*mebibyte, 0), kv.ErrDiskFull) // beside the first
	if err := enter(kv.Ends, 100*mebibyte, 0); err != nil {
		t.Error(err)
	}
	e.Leave(100 * mebibyte)
	e.Leave(6 * mebibyte)
	if err := enter(kv.Adds, mebibyte, 12*mebibyte); err != nil { // its commits will come
		t.Fatal(err)
	}
	e.Leave(mebibyte)
	wantError(t, enter(kv.Adds, 6*mebibyte, 0), kv.ErrDiskFull)
	if err := e.Room(kv.Adds, 0); err != nil || !there(d) {
		t.Fatalf("the state has begun for what adds: %v", err)
	}
	if err := enter(kv.Deletes, 5*mebibyte, 0); err != nil || there(d) {
		t.Errorf("deletes do not get the ballast's room: %v", err)
	}
	e.Leave(5 * mebibyte)
	wantError(t, enter(kv.Adds, 1, 0), kv.ErrDiskFull)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o := roomOptions(d, t)
	o.Ballast = 0 // nothing is counted then
	e = mustOpen(t, "data", o)
	if err := enter(kv.Adds, 1<<40, 0); err != nil {
		t.Error(err)
	}
	e.Leave(1 << 40)
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
	if u, _ := d.GetDiskUsage(""); u.AvailBytes < 3*mebibyte {
		t.Errorf("%d bytes are left", u.AvailBytes)
	}
	tables.Discard()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
