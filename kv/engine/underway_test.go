package engine_test

import (
	"testing"

	"moka/kv"
)

// What a replica has taken of its leader's entries counts until it is applied, on a full disk and before.
func TestTakenEntriesCount(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t)) // 8 MiB of ballast, the low mark is 4
	d.leave(24 * mebibyte)
	take := func() (taken int) {
		for taken < 100 && e.Enter(kv.Follows, mebibyte) == nil {
			taken++
		}
		return taken
	}
	for range 3 { // what is refused does not count, either
		if n := take(); n != 13 { // twice, in 24 and 8, but 4 and a memtable
			t.Errorf("before the disk is full %d MiB are taken", n)
		}
		wantError(t, e.Enter(kv.Follows, mebibyte), kv.ErrDiskFull)
		if err := e.Enter(kv.Ends, 1<<30); err != nil {
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
	if err := e.Enter(kv.Follows, 1<<40); err != nil {
		t.Error(err)
	}
	e.Leave(1 << 40)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
