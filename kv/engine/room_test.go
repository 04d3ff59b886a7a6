package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
)

// smallDisk is a disk of so many bytes, in memory. What is written or set aside counts, and comes back when the file is removed.
type smallDisk struct {
	vfs.FS
	mu    sync.Mutex
	total int64
	taken map[string]int64
}

func newSmallDisk(total int64) *smallDisk {
	return &smallDisk{FS: vfs.NewCrashableMem(), total: total, taken: map[string]int64{}}
}

func (d *smallDisk) freeLocked() int64 {
	free := d.total
	for _, n := range d.taken {
		free -= n
	}
	return max(0, free)
}

// take lets a file have so many bytes, or what there is.
func (d *smallDisk) take(path string, size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	more := size - d.taken[path]
	if more <= 0 {
		return nil
	}
	if more > d.freeLocked() {
		return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
	d.taken[path] = size
	return nil
}

// leave makes another user of the disk take all but so many bytes.
func (d *smallDisk) leave(free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken["foreign"] = 0
	d.taken["foreign"] = max(0, d.freeLocked()-free)
}

func (d *smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free := uint64(d.freeLocked())
	return vfs.DiskUsage{AvailBytes: free, TotalBytes: uint64(d.total), UsedBytes: uint64(d.total) - free}, nil
}

func (d *smallDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, c)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.taken[name] = 0
	d.mu.Unlock()
	return &smallFile{File: f, disk: d, name: name}, nil
}

func (d *smallDisk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(old, name, c)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken[name] = d.taken[old]
	delete(d.taken, old)
	return &smallFile{File: f, disk: d, name: name}, nil
}

func (d *smallDisk) Rename(old, name string) error {
	err := d.FS.Rename(old, name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.taken[name] = d.taken[old]
		delete(d.taken, old)
	}
	return err
}

func (d *smallDisk) Remove(name string) error {
	err := d.FS.Remove(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.taken, name)
	}
	return err
}

func (d *smallDisk) Unwrap() vfs.FS { return d.FS }

type smallFile struct {
	vfs.File
	disk    *smallDisk
	name    string
	written int64
}

func (f *smallFile) Write(p []byte) (int, error) {
	if err := f.disk.take(f.name, f.written+int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	f.written += int64(n)
	return n, err
}

func (f *smallFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.disk.take(f.name, at+int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

func (f *smallFile) Preallocate(offset, n int64) error {
	if strings.HasSuffix(f.name, ".log") {
		return nil // Pebble does not mind if there is no room
	}
	return f.disk.take(f.name, offset+n)
}

const mebibyte = 1 << 20

func roomOptions(d *smallDisk, t *testing.T) engine.Options {
	return engine.Options{
		FS: d, Ballast: 8 * mebibyte, MemTableBytes: 256 << 10,
		Fatal: func(err error) { t.Errorf("died: %v", err) },
	}
}

// await asks until it is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !so(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}

// awaitRoom asks until the engine says what is wanted of its room.
func awaitRoom(t *testing.T, e *engine.Engine, full bool) {
	t.Helper()
	await(t, fmt.Sprintf("the disk is full: %v", full), func() bool {
		return errors.Is(e.Room(kv.Adds, 0), kv.ErrDiskFull) == full
	})
}

func there(d *smallDisk) bool {
	_, err := d.Stat("data/BALLAST")
	return err == nil
}

// Faults, "the disk is full": the ballast is made, goes when room gets short, and comes back; who asks is told what to do.
func TestBallast(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t))
	if !there(d) || e.Room(kv.Adds, 0) != nil {
		t.Fatalf("no ballast on an empty disk, or no room: %v", e.Room(kv.Adds, 0))
	}
	d.leave(3 * mebibyte) // the low mark is 4
	awaitRoom(t, e, true)
	wantError(t, e.Room(kv.Adds, 0), kv.ErrDiskFull, "MiB free", "16.0 MiB", "delete rows", "data")
	await(t, "the ballast is given up", func() bool { // the state begins before that
		u, _ := d.GetDiskUsage("")
		return !there(d) && u.AvailBytes >= 10*mebibyte
	})
	put(t, e, 1, "deletes and such go on")
	d.leave(14 * mebibyte) // not enough for the ballast and some more
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e = mustOpen(t, "data", roomOptions(d, t)); there(d) {
		t.Fatal("there is a ballast though there is no room")
	}
	wantError(t, e.Room(kv.Adds, 0), kv.ErrDiskFull)
	d.leave(40 * mebibyte)
	awaitRoom(t, e, false)
	if !there(d) {
		t.Fatal("the state is over, but there is no ballast")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	o := roomOptions(d, t)
	o.Ballast = 0
	if e = mustOpen(t, "data", o); there(d) || e.Room(kv.Adds, 0) != nil {
		t.Fatalf("a ballast though none is wanted, or %v", e.Room(kv.Adds, 0))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// Before the disk is full it is short of room, and is so until there is clearly some; nothing is refused.
func TestShortOfRoom(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t))
	if e.Short() {
		t.Fatal("an empty disk is short of room")
	}
	short := func(want bool) {
		t.Helper()
		await(t, fmt.Sprintf("the disk is short: %v", want), func() bool { return e.Short() == want })
	}
	d.leave(5 * mebibyte) // the marks are 6 and 4
	short(true)
	if e.Room(kv.Adds, 0) != nil || !there(d) {
		t.Errorf("it is full already: %v", e.Room(kv.Adds, 0))
	}
	d.leave(9 * mebibyte) // 8 is the mark
	short(false)
	d.leave(3 * mebibyte)
	awaitRoom(t, e, true)
	await(t, "the ballast is given up", func() bool { return !there(d) })
	if !e.Short() {
		t.Error("it is full, and not short of room")
	}
	d.leave(14 * mebibyte) // beside no ballast
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e = mustOpen(t, "data", roomOptions(d, t)); !e.Short() {
		t.Error("it begins full, and not short of room")
	}
	d.leave(17 * mebibyte) // 16 is the mark
	awaitRoom(t, e, false)
	short(false)
	d.leave(7 * mebibyte) // between the marks: neither begins nor ends it
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// A disk that is full at once, before anybody has looked, loses nothing and ends nothing: who meets ENOSPC gives the ballast up and tries again.
func TestBallastAtENOSPC(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t))
	value := strings.Repeat("x", 1000)
	acked := 0
	d.leave(5 * mebibyte)
	for ; e.Room(kv.Adds, 0) == nil; acked++ {
		if acked%100 == 0 {
			d.leave(0)
		}
		put(t, e, acked, value)
	}
	wantError(t, e.Room(kv.Adds, 0), kv.ErrDiskFull)
	again, err := engine.Open("data", roomOptions(&smallDisk{
		FS: d.FS.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{}), total: d.total, taken: map[string]int64{"foreign": d.total - 8*mebibyte},
	}, t))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, again.Room(kv.Adds, 0), kv.ErrDiskFull)
	for i := range acked {
		if _, ok, err := again.Get(key(i)); !ok || err != nil {
			t.Fatalf("write %d of %d acknowledged ones is lost (%v)", i, acked, err)
		}
	}
	for _, e := range []*engine.Engine{e, again} {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A store is opened on a disk without a byte of room but its ballast, and takes what makes it smaller; compactions leave room to the log.
func TestOpenOnFullDisk(t *testing.T) {
	d := newSmallDisk(100 * mebibyte)
	e := mustOpen(t, "data", roomOptions(d, t))
	value := strings.Repeat("0123456789", 100)
	for i := range 4000 {
		put(t, e, i, value)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	d.leave(0)
	e = mustOpen(t, "data", roomOptions(d, t))
	wantError(t, e.Room(kv.Adds, 0), kv.ErrDiskFull)
	for i := range 4000 {
		b := e.NewBatch()
		if err := b.Delete(key(i), nil); err != nil {
			t.Fatal(err)
		}
		e.Commit(b)
		b.Close()
	}
	for _, f := range []func() error{
		func() error { return e.Flush(t.Context()) },
		func() error { return e.Compact(t.Context(), key(0), key(4000)) },
	} {
		if err := f(); err != nil && !errors.Is(err, kv.ErrDisk) {
			t.Fatal(err)
		}
	}
	d.leave(30 * mebibyte)
	awaitRoom(t, e, false)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// The ballast is nobody else's to read, and really takes its room.
func TestBallastFile(t *testing.T) {
	dir := t.TempDir()
	e := mustOpen(t, dir, engine.Options{Ballast: mebibyte})
	if e.Room(kv.Adds, 0) != nil {
		t.Fatal(e.Room(kv.Adds, 0))
	}
	info, err := os.Stat(filepath.Join(dir, "BALLAST"))
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); info.Size() != mebibyte || s.Blocks*512 < mebibyte {
		t.Errorf("%d bytes, %d blocks", info.Size(), s.Blocks)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// Faults, "the disk is full": what was deleted gives its room back although nobody writes any more. Pebble alone leaves the tombstones of a part of
// the data above it for ever.
func TestDeletesMakeRoom(t *testing.T) {
	d := newSmallDisk(200 * mebibyte)
	o := roomOptions(d, t)
	o.Ballast = 24 * mebibyte
	e := mustOpen(t, "data", o)
	value := make([]byte, 64<<10)
	random := rand.NewChaCha8([32]byte{1})
	const rows = 1600
	write := func(every int) {
		for i := 0; i < rows; i += every {
			random.Read(value)
			put(t, e, i, string(value))
		}
	}
	write(1)
	if err := e.Compact(t.Context(), key(0), key(rows)); err != nil {
		t.Fatal(err)
	}
	write(20) // so that the lowest level is not the only one
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "what is compacted gives its room back before the disk is filled up", func() bool {
		m := e.Metrics()
		return m.Compact.NumInProgress == 0 && m.Flush.NumInProgress == 0
	})
	d.leave(11 * mebibyte)
	awaitRoom(t, e, true)
	await(t, "the ballast is given up", func() bool { return !there(d) }) // 35 MiB are free then, and 48 are wanted
	for i := range rows * 15 / 100 {
		b := e.NewBatch()
		if err := b.Delete(key(i), nil); err != nil {
			t.Fatal(err)
		}
		e.Commit(b)
		b.Close()
	}
	awaitRoom(t, e, false)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// On a full disk deletes go on until the room is needed for what must go on: they ended the process, and the
// next start had no room either. What removes old versions may go further, and the ends of transactions are
// never refused.
func TestDeletesLeaveRoom(t *testing.T) {
	d := newSmallDisk(128 * mebibyte)
	o := roomOptions(d, t)
	// Memtables grow in steps of their own size, which are to be small beside the marks.
	o.Ballast, o.MemTableBytes = 32*mebibyte, mebibyte
	e := mustOpen(t, "data", o)
	d.leave(2 * mebibyte)
	awaitRoom(t, e, true)
	await(t, "the ballast is given up", func() bool { return !there(d) })
	value := make([]byte, 64<<10)
	random := rand.NewChaCha8([32]byte{2})
	// Who comes when all is used up that the last look has let in has it looked at again.
	d.leave(15 * mebibyte) // 8 are for others, and a quarter of the rest is let in
	look := func() { wantError(t, e.Enter(kv.Follows, 1<<30, 0), kv.ErrDiskFull) }
	look()
	large := make([]byte, 7*mebibyte/4)
	random.Read(large)
	put(t, e, 20_000, string(large))
	if err := e.Room(kv.Collects, 0); err != nil {
		t.Errorf("with room: %v", err)
	}
	d.leave(34 * mebibyte)
	look()
	ask := func(g kv.Growth) error {
		if g != kv.Follows {
			return e.Room(g, 2*len(value))
		}
		err := e.Enter(g, len(value), 0)
		if err == nil {
			e.Leave(len(value))
		}
		return err
	}
	granted, written := map[kv.Growth]int{}, 0
	for _, g := range []kv.Growth{kv.Deletes, kv.Collects, kv.Follows} {
		err := ask(g)
		for ; err == nil; err = ask(g) {
			random.Read(value)
			put(t, e, written, string(value))
			written++
			if granted[g]++; granted[g] > 1000 {
				t.Fatalf("writes of kind %d are never refused", g)
			}
		}
		wantError(t, err, kv.ErrDiskFull, "truncate")
		if g != kv.Follows {
			wantError(t, err, kv.ErrDiskFull, "cannot be deleted")
		}
	}
	if granted[kv.Deletes] == 0 || granted[kv.Collects] == 0 || granted[kv.Follows] == 0 {
		t.Errorf("by kind, so many writes had room: %v", granted)
	}
	if err := e.Room(kv.Ends, 0); err != nil {
		t.Error(err)
	}
	for i := range 8 { // what had begun before
		random.Read(value)
		put(t, e, 10_000+i, string(value))
	}
	if err := e.Flush(t.Context()); err != nil {
		t.Errorf("what was written does not fit into tables: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, "data", o)
	wantError(t, e.Room(kv.Adds, 0), kv.ErrDiskFull)
	for i := range written {
		if _, ok, err := e.Get(key(i)); !ok || err != nil {
			t.Fatalf("write %d is lost (%v)", i, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
